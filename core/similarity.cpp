#include "core/similarity.h"

#include <utility>

#include "core/engine.h"
#include "core/trace.h"

namespace attn {
namespace {

Tensor transposed(const Tensor& from) {
    const auto matrix = from.matrix(0, 0);
    Tensor to({1, 1, matrix.columns, matrix.rows});
    for (Index i = 0; i < matrix.rows; ++i)
        for (Index j = 0; j < matrix.columns; ++j) to(0, 0, j, i) = matrix(i, j);
    return to;
}

struct Compared {
    Tensor scores, rows;
};

/// One call without values: a column of ones stands in their place and its product is not kept.
Result<Compared> compared(const Tensor& q, const Tensor& k, Score score, ScaleKind scale,
                          double temperature) {
    Inputs inputs;
    inputs.q = q;
    inputs.k = k;
    inputs.v = Tensor({1, 1, k.shape().t, 1}, 1.0F);
    AttentionSpec spec;
    spec.score = score;
    spec.scale = score == Score::dot ? scale : ScaleKind::none;
    spec.temperature = temperature;
    StageSet keep;
    keep.set(index_of(Stage::scores)).set(index_of(Stage::weights));
    auto trace = attend(inputs, spec, "reference", keep);
    if (!trace) return tl::unexpected(trace.error());
    return Compared{std::move((*trace)[Stage::scores]), std::move((*trace)[Stage::weights])};
}

}  // namespace

Result<Similarity> similarity_of(const Tensor& q, const Tensor& k, double temperature,
                                 ScaleKind scale) {
    Similarity result;
    for (const Score score : {Score::dot, Score::cosine}) {
        auto forward = compared(q, k, score, scale, temperature);
        if (!forward) return tl::unexpected(forward.error());
        const auto backward = compared(k, q, score, scale, temperature);
        if (!backward) return tl::unexpected(backward.error());
        const bool dot = score == Score::dot;
        (dot ? result.dot : result.cosine) = std::move(forward->scores);
        (dot ? result.dot_rows : result.cosine_rows) = std::move(forward->rows);
        (dot ? result.dot_columns : result.cosine_columns) = transposed(backward->rows);
    }
    return result;
}

}  // namespace attn
