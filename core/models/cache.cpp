#include "core/models/cache.h"

#include <algorithm>
#include <utility>

namespace attn {
namespace {

/// The first `count` tokens of x, to rows `to` and on of each head.
void copy_tokens(const Tensor& x, Index count, Tensor& into, Index to) {
    const Index d = x.shape().d;
    for (Index h = 0; h < x.shape().h; ++h)
        std::copy_n(x.matrix(0, h).data, count * d, into.matrix(0, h).row(to).data());
}

}  // namespace

Tensor in_a_row(const Tensor& before, Tensor after) {
    if (before.empty()) return after;
    Shape shape = before.shape();
    shape.t += after.shape().t;
    auto both = Tensor::uninitialised(shape);
    copy_tokens(before, before.shape().t, both, 0);
    copy_tokens(after, after.shape().t, both, before.shape().t);
    return both;
}

Tensor row_of(const Tensor& x, Index row) {
    auto one = Tensor::uninitialised({1, 1, 1, x.shape().d});
    std::ranges::copy(x.matrix(0, 0).row(row), one.values().begin());
    return one;
}

Index KvCache::bytes() const {
    Index numbers = 0;
    for (const auto* all : {&layers, &cross})
        for (const Layer& layer : *all) numbers += layer.k.count() + layer.v.count();
    return numbers * Index{sizeof(float)};
}

void KvCache::truncate(Index count) {
    ATTN_CHECK(count >= 0 && count <= size(), "a cache forgets tokens that it has");
    tokens.resize(count);
    if (count == 0) layers.clear();
    for (Layer& layer : layers)
        for (Tensor* each : {&layer.k, &layer.v}) {
            Shape shape = each->shape();
            if (shape.t <= count) continue;
            shape.t = count;
            auto fewer = Tensor::uninitialised(shape);
            copy_tokens(*each, count, fewer, 0);
            *each = std::move(fewer);
        }
}

}  // namespace attn
