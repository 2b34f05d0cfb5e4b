#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/common/fields.h"
#include "app/common/pair.h"
#include "core/result.h"
#include "core/tensor.h"

namespace attn {
struct PairBias;
}  // namespace attn

namespace attn::view {

struct BiasStroke;
struct Document;

// For whoever includes this: link attn::json too.
// The explicit mask of a document, given by its file or painted by hand: 1 may attend, 0 forbidden.

/// Whether it allows the pair; true where there is none.
bool paint_allows(const Document& document, Index batch, Index head, Index query, Index key);
/// With an entry for every query and key; batch and heads are as many as it has, 1 where there is none yet.
Mask paintable_mask(const Document& document);
/// Puts `mask` in its place; one that forbids nothing is none.
void set_paint(Document& document, Mask mask);
/// Of other numbers of queries and keys: every pair that was there stays, new ones are allowed.
std::shared_ptr<const Mask> resized_paint(const std::shared_ptr<const Mask>& mask, Index queries,
                                          Index keys);

/// ["1011", …], a text for each query; with batch entries or heads {"batch": 2, "heads": 1, "rows": […]}; of none
/// "none".
std::string paint_json(const std::shared_ptr<const Mask>& mask);
/// The mask under "mask"; false where there is none.
bool read_paint(Fields& fields, std::shared_ptr<const Mask>& mask);

/// Calls `paint(query, key)` for every pair of a rectangle, or along the straight line from one pair to another.
template <class Paint>
void for_stroke(Pair from, Pair to, bool rectangle, const Paint& paint) {
    if (rectangle) {
        const auto [top, bottom] = std::minmax(from.query, to.query);
        const auto [left, right] = std::minmax(from.key, to.key);
        for (Index i = top; i <= bottom; ++i)
            for (Index j = left; j <= right; ++j) paint(i, j);
        return;
    }
    const Index rows = to.query - from.query, columns = to.key - from.key;
    const Index steps = std::max({std::abs(rows), std::abs(columns), Index{1}});
    for (Index n = 0; n <= steps; ++n) {
        const double share = static_cast<double>(n) / static_cast<double>(steps);
        paint(from.query + std::llround(share * static_cast<double>(rows)),
              from.key + std::llround(share * static_cast<double>(columns)));
    }
}

// The bias, number by number.

/// Painted numbers lie between −kMostBias and kMostBias.
inline constexpr double kMostBias = 1e6;

/// Whether numbers can be painted into a bias: the call has one, or it is a toy's, where the first stroke makes one.
bool takes_bias(const Document& document);
/// The bias of the layer that is looked at, with a number for every query and key, 0 without a bias; batch and heads are as many
/// as it has.
Tensor paintable_bias(const Document& document);
/// Paints the pairs of the stroke that exist, and remembers it. A toy's bias of zeros is dropped.
void paint_bias(Document& document, const BiasStroke& stroke);
/// The document with these strokes, as a session has them. An error names the stroke that has no place in it.
Result<Document> with_strokes(Document document, const std::vector<BiasStroke>& strokes);
/// Of other numbers of queries and keys: every number that was there stays, new ones are 0. Strokes that make it of zeros.
std::vector<BiasStroke> resized_strokes(const Document& document, Index queries, Index keys);

}  // namespace attn::view
