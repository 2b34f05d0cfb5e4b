#include "core/permutation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/backend.h"
#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"

namespace attn {
namespace {

TokenPlaces inverse(const TokenPlaces& order) {
    TokenPlaces places(order.size());
    for (std::size_t place = 0; place < order.size(); ++place)
        places[order[place]] = static_cast<Index>(place);
    return places;
}

/// What one order gives, of one head.
template <class Scalar>
struct Placed {
    TensorOf<Scalar> weights, context;
};
template <class Scalar>
Placed<Scalar> head_of(const TraceOf<Scalar>& trace, Index head) {
    const auto one = [&](const TensorOf<Scalar>& from) {
        const auto matrix = from.matrix(0, std::min(head, from.shape().h - 1));
        TensorOf<Scalar> to({1, 1, matrix.rows, matrix.columns});
        for (Index i = 0; i < matrix.rows; ++i)
            std::ranges::copy(matrix.row(i), to.matrix(0, 0).row(i).begin());
        return to;
    };
    return {one(trace[Stage::weights]), one(trace[Stage::context])};
}

/// Rows and columns as they stood.
template <class Scalar>
TensorOf<Scalar> put_back(const TensorOf<Scalar>& from, const TokenPlaces& rows,
                          const TokenPlaces& columns) {
    TensorOf<Scalar> to(from.shape());
    for (Index i = 0; i < from.shape().t; ++i)
        for (Index j = 0; j < from.shape().d; ++j) to(0, 0, i, j) = from(0, 0, rows[i], columns[j]);
    return to;
}

struct Largest {
    double value = 0.0;
    Index row = 0, column = 0;
};
/// max |a − b|; NaN where one of them is.
template <class Scalar>
Largest largest_difference(const TensorOf<Scalar>& a, const TensorOf<Scalar>& b) {
    Largest most;
    for (Index i = 0; i < a.shape().t; ++i)
        for (Index j = 0; j < a.shape().d; ++j) {
            const double by = std::abs(double{a(0, 0, i, j)} - double{b(0, 0, i, j)});
            if (!(by <= most.value)) most = {by, i, j};
            if (std::isnan(by)) return most;
        }
    return most;
}

/// Where each token went: rows and columns of the weights.
struct PutBack {
    TokenPlaces rows, columns;
};
PutBack places_of(const PermutedCall& call, const Dimensions& size) {
    const TokenPlaces back = inverse(call.order);
    return {call.keys_only ? first_places(size.tq) : back, back};
}

Result<void> compare_in_double(const PermutedCall& call, const PutBack& places,
                               Permutation& result) {
    const auto first = attend_exact(cast<double>(call.before), call.spec);
    if (!first) return tl::unexpected(first.error());
    const auto second = attend_exact(cast<double>(call.after), call.spec);
    if (!second) return tl::unexpected(second.error());
    const auto a = head_of(*first, call.head);
    const auto b = head_of(*second, call.head);
    const auto back = [&](const TensorD& from, const TokenPlaces& columns) {
        return put_back(from, places.rows, columns);
    };
    result.largest_float64 = largest_difference(a.weights, back(b.weights, places.columns)).value;
    result.output_float64 =
        largest_difference(a.context, back(b.context, first_places(a.context.shape().d))).value;
    return {};
}

void compare_orders(const Placed<float>& a, Placed<float> b, const PutBack& places,
                    Permutation& result) {
    result.before = a.weights;
    result.after = put_back(b.weights, places.rows, places.columns);
    result.raw = std::move(b.weights);
    const Largest most = largest_difference(result.before, result.after);
    result.largest = most.value;
    result.row = most.row;
    result.column = most.column;
    const TokenPlaces columns = first_places(a.context.shape().d);
    result.output_largest =
        largest_difference(a.context, put_back(b.context, places.rows, columns)).value;
    result.output_size = largest_difference(a.context, Tensor(a.context.shape())).value;
}

}  // namespace

TokenPlaces first_places(Index count) {
    TokenPlaces order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), Index{0});
    return order;
}

Tensor reordered(const Tensor& from, Index batch, const TokenPlaces& order) {
    if (from.empty()) return {};
    const Shape& shape = from.shape();
    Tensor to({1, shape.h, shape.t, shape.d});
    for (Index h = 0; h < shape.h; ++h)
        for (Index place = 0; place < shape.t; ++place)
            std::ranges::copy(from.matrix(std::min(batch, shape.b - 1), h).row(order[place]),
                              to.matrix(0, h).row(place).begin());
    return to;
}

AttentionSpec placeless(AttentionSpec spec) {
    spec.rope.reset();
    spec.alibi = false;
    if (spec.score == Score::relative) spec.score = Score::dot;
    spec.query_offset.reset();
    spec.mask = {};
    spec.training = false;
    return spec;
}

Result<Permutation> permutation_of(const PermutedCall& call) {
    StageSet keep;
    keep.set(index_of(Stage::weights)).set(index_of(Stage::context));
    const auto checked = validate(call.before, call.spec);
    if (!checked) return tl::unexpected(checked.error());
    const Dimensions& size = checked->size();
    const auto backend = choose_backend("auto", *checked, keep);
    if (!backend) return tl::unexpected(backend.error());
    const auto before = attend(call.before, call.spec, **backend, keep);
    if (!before) return tl::unexpected(before.error());
    const auto after = attend(call.after, call.spec, **backend, keep);
    if (!after) return tl::unexpected(after.error());
    Permutation result;
    result.backend = (*backend)->name();
    const PutBack places = places_of(call, size);
    compare_orders(head_of(*before, call.head), head_of(*after, call.head), places, result);
    result.largest_float64 = result.output_float64 = std::numeric_limits<double>::quiet_NaN();
    if (size.heads * size.tq * size.tk > kMostExactPairs) return result;
    if (auto done = compare_in_double(call, places, result); !done)
        return tl::unexpected(done.error());
    return result;
}

}  // namespace attn
