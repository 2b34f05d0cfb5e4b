#include "cluster/deal.h"

#include <algorithm>
#include <numeric>

#include "cluster/world.h"

namespace attn::cluster {
namespace {

int owner_of(Index block) {
    const Index n = block % (2 * rank_count());
    return static_cast<int>(n < rank_count() ? n : 2 * rank_count() - 1 - n);
}

/// A block of each tensor, one behind the other.
std::vector<float> packed(std::span<const Tensor* const> tensors, KeyRange rows) {
    std::vector<float> all;
    for (const Tensor* tensor : tensors)
        for (Index b = 0; b < tensor->shape().b; ++b)
            for (Index h = 0; h < tensor->shape().h; ++h) {
                const auto part = tensor->matrix(b, h).row_block(rows.begin, rows.end - rows.begin);
                all.insert(all.end(), part.data, part.data + part.rows * part.columns);
            }
    return all;
}

/// What packed() made, as tensors of these shapes with `rows` rows.
std::vector<Tensor> unpacked(std::span<const float> numbers, std::span<const Shape> shapes,
                             Index rows) {
    std::vector<Tensor> tensors;
    for (Shape shape : shapes) {
        shape.t = rows;
        auto tensor = Tensor::uninitialised(shape);
        std::copy_n(numbers.begin(), shape.count(), tensor.values().begin());
        numbers = numbers.subspan(static_cast<std::size_t>(shape.count()));
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

/// Rows of a tensor from those of a block.
void place(const Tensor& block, Index first, Tensor& to) {
    const Shape shape = block.shape();
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            std::copy_n(block.matrix(b, h).data, shape.t * shape.d,
                        to.matrix(b, h).row(first).data());
}

}  // namespace

std::size_t Blocks::floats(Index rows) const {
    Index count = 0;
    for (const Shape& shape : shapes) count += shape.b * shape.h * rows * shape.d;
    return static_cast<std::size_t>(count);
}

Dealt Blocks::deal() const {
    Dealt mine;
    for (Index n = 0; n < pieces.count(); ++n) {
        const KeyRange rows = pieces.at(n);
        std::vector<float> numbers;
        if (is_first()) numbers = packed(from, rows);
        if (owner_of(n) != 0 && is_first()) send(numbers, owner_of(n));
        if (owner_of(n) != rank()) continue;
        numbers.resize(floats(rows.end - rows.begin));
        if (!is_first()) receive(numbers, 0);
        mine.emplace_back(n, unpacked(numbers, shapes, rows.end - rows.begin));
    }
    return mine;
}

void Blocks::pass(const std::function<void(KeyRange rows, const std::vector<Tensor>& tensors,
                                           Ring& ring)>& use) const {
    std::vector<Index> order(static_cast<std::size_t>(pieces.count()));
    std::iota(order.begin(), order.end(), 0);
    Ring ring({std::move(order), floats(pieces.length), [](Index) { return 0; },
               [&](Index n, std::span<float> to) {
                   std::ranges::copy(packed(from, pieces.at(n)), to.begin());
               }});
    ring.each([&](Index n, std::span<const float> numbers) {
        const KeyRange rows = pieces.at(n);
        use(rows, unpacked(numbers, shapes, rows.end - rows.begin), ring);
    });
}

std::vector<Tensor> collect(Dealt mine, const Pieces& pieces, std::span<const Shape> shapes) {
    std::vector<Tensor> all(shapes.size());
    for (std::size_t each = 0; each < shapes.size() && is_first(); ++each)
        all[each] = Tensor::uninitialised(shapes[each]);
    auto own = mine.begin();
    for (Index n = 0; n < pieces.count(); ++n) {
        const KeyRange rows = pieces.at(n);
        const int owner = owner_of(n);
        if (owner != rank() && !is_first()) continue;
        std::vector<Tensor> made;
        if (owner == rank()) made = std::move((own++)->second);
        for (std::size_t each = 0; each < shapes.size(); ++each) {
            if (!is_first()) {
                send(made[each].values(), 0);
                continue;
            }
            Shape shape = shapes[each];
            shape.t = rows.end - rows.begin;
            if (owner != 0) made.push_back(Tensor::uninitialised(shape));
            if (owner != 0) receive(made[each].values(), owner);
            place(made[each], rows.begin, all[each]);
        }
    }
    return all;
}

}  // namespace attn::cluster
