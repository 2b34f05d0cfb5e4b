#include "cluster/deal.h"

#include <algorithm>
#include <numeric>

#include "app/common/state.h"
#include "cluster/world.h"

namespace attn::cluster {
namespace {

// So many blocks a rank meet what passes at once, and are kept when it has passed: the more, the fewer bytes a product.
constexpr Index kRoundBlocks = 8;

/// Of the nth block of a round.
int owner_of(Index nth) {
    const Index n = nth % (2 * rank_count());
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

std::vector<Tensor> empty_block(std::span<const Shape> shapes, KeyRange rows) {
    std::vector<Tensor> tensors;
    for (Shape shape : shapes) {
        shape.t = rows.end - rows.begin;
        tensors.push_back(Tensor::uninitialised(shape));
    }
    return tensors;
}

/// What packed() made, as tensors of these shapes with `rows` rows.
std::vector<Tensor> unpacked(std::span<const float> numbers, std::span<const Shape> shapes,
                             Index rows) {
    std::vector<Tensor> tensors = empty_block(shapes, {0, rows});
    for (Tensor& tensor : tensors) {
        std::copy_n(numbers.begin(), tensor.count(), tensor.values().begin());
        numbers = numbers.subspan(static_cast<std::size_t>(tensor.count()));
    }
    return tensors;
}

/// Rows of tensors from those of a block.
void place(const std::vector<Tensor>& block, Index first, std::vector<Tensor>& to) {
    for (std::size_t n = 0; n < block.size(); ++n) {
        const Shape shape = block[n].shape();
        for (Index b = 0; b < shape.b; ++b)
            for (Index h = 0; h < shape.h; ++h)
                std::copy_n(block[n].matrix(b, h).data, shape.t * shape.d,
                            to[n].matrix(b, h).row(first).data());
    }
}

/// What the ranks have made of the blocks of a round, into the tensors of rank 0.
void collect(Dealt mine, const std::vector<Index>& round, const Pieces& pieces,
             std::span<const Shape> shapes, const SavedBlocks& saved, std::vector<Tensor>& all) {
    auto own = mine.begin();
    for (Index nth = 0; nth < std::ssize(round); ++nth) {
        const int owner = owner_of(nth);
        if (owner != rank() && !is_first()) continue;
        const Index n = round[static_cast<std::size_t>(nth)];
        std::vector<Tensor> made =
            owner == rank() ? std::move((own++)->second) : empty_block(shapes, pieces.at(n));
        for (Tensor& tensor : made)
            if (!is_first())
                send(tensor.values(), 0);
            else if (owner != 0)
                receive(tensor.values(), owner);
        if (!is_first()) continue;
        saved.write(n, made);
        place(made, pieces.at(n).begin, all);
    }
}

}  // namespace

std::size_t Blocks::floats(Index rows) const {
    Index count = 0;
    for (const Shape& shape : shapes) count += shape.b * shape.h * rows * shape.d;
    return static_cast<std::size_t>(count);
}

Dealt Blocks::deal(const std::vector<Index>& blocks) const {
    Dealt mine;
    for (Index nth = 0; nth < std::ssize(blocks); ++nth) {
        const Index n = blocks[static_cast<std::size_t>(nth)];
        const KeyRange rows = pieces.at(n);
        const int owner = owner_of(nth);
        std::vector<float> numbers;
        if (is_first()) numbers = packed(from, rows);
        if (owner != 0 && is_first()) send(numbers, owner);
        if (owner != rank()) continue;
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

std::vector<Tensor> assemble(const Pieces& pieces, std::span<const Shape> shapes,
                             SavedBlocks& saved, const ComputeBlocks& compute) {
    std::vector<Tensor> all(shapes.size());
    std::vector<Index> missing;
    if (is_first()) {
        std::ranges::transform(shapes, all.begin(), Tensor::uninitialised);
        for (Index n = 0; n < pieces.count(); ++n) {
            auto block = empty_block(shapes, pieces.at(n));
            if (saved.read(n, block))
                place(block, pieces.at(n).begin, all);
            else
                missing.push_back(n);
        }
    }
    share(missing);
    const Index most = kRoundBlocks * rank_count();
    for (Index first = 0; first < std::ssize(missing); first += most) {
        const auto begin = missing.begin() + first;
        const std::vector<Index> round(begin, begin + std::min(most, std::ssize(missing) - first));
        collect(compute(round), round, pieces, shapes, saved, all);
    }
    return all;
}

}  // namespace attn::cluster
