// A float array that is added to the scores: every backend against a plain computation of its own, in double, that shares nothing
// with the library but the shapes; and pairs that −∞ in it forbids.
// b batch entry, h query head, g its key/value head, i query, j key, c column.

#include "tests/support/targets.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "core/bias.h"
#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/entries.h"
#include "core/masks.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/threads.h"
#include "tests/support/backends.h"
#include "tests/support/cases.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// The results of a call with a bias, from the formulas alone.
struct Plain {
    TensorD biased, weights, context, d_q, d_k, d_v, d_bias;
    double largest_sum = 0.0;  // of the magnitudes that an entry of d_bias is the sum of
};

/// The index of an array that broadcasts.
struct Place {
    Index b, h, i, j;
};
Place place_in(const Shape& s, Index b, Index h, Index i, Index j) {
    return {s.b == 1 ? 0 : b, s.h == 1 ? 0 : h, s.t == 1 ? 0 : i, s.d == 1 ? 0 : j};
}

/// slope of head h of 1, 2, 4 or 8 heads
double slope_of(const AttentionSpec& spec, Index h, Index heads) {
    return spec.alibi
               ? std::pow(2.0, -8.0 * static_cast<double>(h + 1) / static_cast<double>(heads))
               : 0.0;
}

bool allows(const AttentionSpec& spec, Index b, Index h, Index i, Index j) {
    const MaskSpec& mask = spec.mask;
    const Index p = i + spec.query_offset.value_or(0);
    if (mask.causal && j > p) return false;
    if (!mask.padding.empty() && j >= mask.padding[static_cast<std::size_t>(b)]) return false;
    if (mask.custom) {
        const auto at = place_in(mask.custom->shape(), b, h, i, j);
        if ((*mask.custom)(at.b, at.h, at.i, at.j) == 0) return false;
    }
    const auto at = place_in(mask.bias->values.shape(), b, h, i, j);
    return mask.bias->values(at.b, at.h, at.i, at.j) != -std::numeric_limits<float>::infinity();
}

Plain compute(const Case& one) {
    const Shape q = one.inputs.q.shape(), k = one.inputs.k.shape(), v = one.inputs.v.shape();
    const AttentionSpec& spec = one.spec;
    const Tensor& bias = spec.mask.bias->values;
    const Shape pairs{q.b, q.h, q.t, k.t};
    Plain r{TensorD(pairs), TensorD(pairs), TensorD({q.b, q.h, q.t, v.d}), TensorD(q),
            TensorD(k),     TensorD(v),     TensorD(bias.shape())};
    TensorD magnitudes(bias.shape());
    const double factor =
        (spec.scale == ScaleKind::value ? spec.scale_value
                                        : 1.0 / std::sqrt(static_cast<double>(q.d))) /
        spec.temperature;
    const double cap = spec.softcap.value_or(0.0);
    const Tensor& sinks = one.inputs.params[Param::sinks];
    for_each_row({q.b, q.h, q.t, 1}, [&](Index b, Index h, Index i) {
        const Index g = h / (q.h / k.h);
        const auto keys = static_cast<std::size_t>(k.t);
        std::vector<double> logit(keys), slope(keys, 1.0), weight(keys, 0.0), d_a(keys);
        double top = sinks.empty() ? -kInfinity : static_cast<double>(sinks(0, 0, 0, h));
        for (Index j = 0; j < k.t; ++j) {
            double s = 0.0;
            for (Index c = 0; c < q.d; ++c)
                s += static_cast<double>(one.inputs.q(b, h, i, c)) *
                     static_cast<double>(one.inputs.k(b, g, j, c));
            s *= factor;
            const auto at = place_in(bias.shape(), b, h, i, j);
            const auto add = static_cast<double>(bias(at.b, at.h, at.i, at.j));
            if (spec.bias_before_softcap) s += add;
            if (cap > 0.0) {
                const double t = std::tanh(s / cap);
                slope[j] = 1.0 - t * t;
                s = cap * t;
            }
            if (!spec.bias_before_softcap) s += add;
            const auto distance =
                static_cast<double>(std::abs(i + spec.query_offset.value_or(0) - j));
            s -= slope_of(spec, h, q.h) * distance;
            r.biased(b, h, i, j) = s;
            logit[j] = allows(spec, b, h, i, j) ? s : -kInfinity;
            top = std::max(top, logit[j]);
        }
        if (top == -kInfinity) return;  // zeros
        double sum = sinks.empty() ? 0.0 : std::exp(static_cast<double>(sinks(0, 0, 0, h)) - top);
        for (std::size_t j = 0; j < keys; ++j) sum += weight[j] = std::exp(logit[j] - top);
        double inner = 0.0;
        for (Index j = 0; j < k.t; ++j) {
            weight[j] /= sum;
            r.weights(b, h, i, j) = weight[j];
            for (Index c = 0; c < v.d; ++c) {
                const auto value = static_cast<double>(one.inputs.v(b, g, j, c));
                const auto d_o = static_cast<double>(one.upstream.gradient(b, h, i, c));
                if (weight[j] != 0.0) r.context(b, h, i, c) += weight[j] * value;
                if (weight[j] != 0.0) r.d_v(b, g, j, c) += weight[j] * d_o;
                d_a[j] += d_o * value;
            }
            if (weight[j] != 0.0) inner += weight[j] * d_a[j];
        }
        for (Index j = 0; j < k.t; ++j) {
            if (weight[j] == 0.0) continue;
            const double d_b = weight[j] * (d_a[j] - inner), d_s = d_b * slope[j];
            const auto at = place_in(bias.shape(), b, h, i, j);
            const double term = spec.bias_before_softcap ? d_s : d_b;
            r.d_bias(at.b, at.h, at.i, at.j) += term;
            magnitudes(at.b, at.h, at.i, at.j) += std::abs(term);
            for (Index c = 0; c < q.d; ++c) {
                r.d_q(b, h, i, c) += d_s * factor * static_cast<double>(one.inputs.k(b, g, j, c));
                r.d_k(b, g, j, c) += d_s * factor * static_cast<double>(one.inputs.q(b, h, i, c));
            }
        }
    });
    r.largest_sum = largest_of(magnitudes);
    return r;
}

/// "" when `got` is `expected` up to single precision: of its largest value, or of `size`, the magnitudes that it sums.
std::string compare_sums(const Tensor& got, const TensorD& expected, const std::string& what,
                         double size = 0.0) {
    constexpr double kTolerance = 3e-5;
    if (got.shape() != expected.shape())
        return fmt::format("{} is {}, expected {}", what, to_string(got.shape()),
                           to_string(expected.shape()));
    const double largest = std::max(largest_of(expected), size);
    for (std::size_t n = 0; n < got.values().size(); ++n) {
        const auto value = static_cast<double>(got.values()[n]);
        const double wanted = expected.values()[n];
        if (value == wanted) continue;
        if (!(std::abs(value - wanted) <= kTolerance * largest + 1e-7))
            return fmt::format("{} entry {} is {}, expected {}", what, n, value, wanted);
    }
    return {};
}

/// The first array of a backend that is not as computed here; "" of none.
std::string check(const Case& one, const Backend& backend, const Plain& plain) {
    const Call call = must(validate(one.inputs, one.spec));
    const Trace forward = must(attend(call, backend));
    const Trace d = must(attend_backward(call, forward, one.upstream, backend));
    const std::string name = fmt::format(" of {}, {}", one.name, backend.name());
    const std::pair<const Tensor*, const TensorD*> arrays[] = {
        {&forward[Stage::biased], &plain.biased},
        {&forward[Stage::weights], &plain.weights},
        {&forward[Stage::context], &plain.context},
        {&d[Stage::q], &plain.d_q},
        {&d[Stage::k], &plain.d_k},
        {&d[Stage::v], &plain.d_v},
        {&d.bias, &plain.d_bias}};
    constexpr const char* kNames[] = {"biased", "weights", "context", "d_q",
                                      "d_k",    "d_v",     "d_bias"};
    for (std::size_t n = 0; n < std::size(arrays); ++n) {
        const bool stored = n > 1 || backend.stages()[index_of(Stage::weights)];
        if (!stored) continue;
        const double size = arrays[n].first == &d.bias ? plain.largest_sum : 0.0;
        if (auto wrong = compare_sums(*arrays[n].first, *arrays[n].second, kNames[n] + name, size);
            !wrong.empty())
            return wrong;
    }
    // The few queries of decoding have a kernel of their own.
    const Trace few = must(attend(call, backend, StageSet().set(index_of(Stage::context))));
    return compare_sums(few[Stage::context], plain.context, "context alone" + name);
}

std::string check(const Case& one) {
    const Plain plain = compute(one);
    for (const Backend* backend : backends())
        if (auto wrong = check(one, *backend, plain); !wrong.empty()) return wrong;
    return {};
}

/// Random choices of one seed.
struct Draw {
    std::uint64_t seed;
    std::uint64_t counter = 0;

    double number() { return uniform(seed, counter++); }
    Index below(Index n) { return static_cast<Index>(number() * static_cast<double>(n)); }
    bool often(double p) { return number() < p; }
    Index one_or(Index n) { return often(0.5) ? n : 1; }
};

Tensor bias_values(const Shape& shape, Draw& draw) {
    Tensor values = normal_tensor<float>(shape, draw.seed + 77);
    const double forbidden = draw.often(0.4) ? 0.25 : 0.0;
    for (float& value : values.values())
        if (draw.often(forbidden)) value = kForbidding;
    return values;
}

Case random_case(std::uint64_t seed) {
    Draw draw{seed};
    const Index b = 1 + draw.below(2), groups = 1 + draw.below(2);
    const Index h = groups * (draw.often(0.5) ? 2 : 1);
    const Index tq = draw.often(0.3) ? 1 + draw.below(3) : 1 + draw.below(70);
    const Index tk = draw.often(0.1) ? 1 : 1 + draw.below(150);
    const Index d_k = 1 + draw.below(20);
    Case one = normal_case("", {b, h, tq, d_k}, {b, groups, tk, d_k}, 1 + draw.below(20));
    AttentionSpec& spec = one.spec;
    const Shape shape{draw.one_or(b), draw.one_or(h), draw.one_or(tq), draw.one_or(tk)};
    spec.mask.bias = make_bias(bias_values(shape, draw));
    if (draw.often(0.3)) spec.softcap = 0.5 + draw.number();
    spec.bias_before_softcap = draw.often(0.4);
    spec.alibi = draw.often(0.2);
    if (draw.often(0.2)) spec.scale = ScaleKind::value, spec.scale_value = draw.number() - 0.3;
    if (draw.often(0.2)) spec.temperature = 0.5 + draw.number();
    if (draw.often(0.3)) spec.mask.causal = CausalAlign::top_left;
    if (draw.often(0.2)) spec.query_offset = draw.below(20);
    if (draw.often(0.2))
        for (Index n = 0; n < b; ++n) spec.mask.padding.push_back(draw.below(tk + 1));
    if (draw.often(0.2)) {
        Mask mask({draw.one_or(b), draw.one_or(h), tq, tk});
        for (std::uint8_t& pair : mask.values()) pair = draw.often(0.7) ? 1 : 0;
        spec.mask.custom = std::make_shared<const Mask>(std::move(mask));
    }
    if (draw.often(0.2)) one.inputs.params[Param::sinks] = normal_tensor<float>({1, 1, 1, h}, seed);
    one.name = fmt::format(
        "seed {}: B={} H={} Hkv={} Tq={} Tk={} d_k={}, bias {}{}{}{}", seed, b, h, groups, tq, tk,
        d_k, to_string(shape), spec.mask.bias->forbids ? ", forbids" : "",
        spec.softcap ? ", soft cap" : "", spec.bias_before_softcap ? ", before it" : "");
    return one;
}

Case biased_case(const Shape& bias, Index b, Index h, Index groups, Index tq, Index tk) {
    Case one =
        normal_case(fmt::format("bias {}", to_string(bias)), {b, h, tq, 8}, {b, groups, tk, 8}, 5);
    one.spec.mask.bias = make_bias(normal_tensor<float>(bias, 9));
    return one;
}

}  // namespace

TEST_CASE("a bias of every shape that broadcasts is added to the scores, in each backend") {
    constexpr Index b = 2, h = 4, groups = 2;
    for (const auto& [tq, tk] : {std::pair<Index, Index>{131, 137}, {5, 300}, {1, 9}, {7, 1}})
        for (const Shape& shape : {Shape{1, 1, tq, tk},
                                   {1, h, tq, tk},
                                   {b, 1, tq, tk},
                                   {b, 1, 1, tk},
                                   {b, h, tq, tk},
                                   {1, 1, 1, tk},
                                   {1, h, 1, 1},
                                   {1, 1, tq, 1},
                                   {1, 1, 1, 1},
                                   {b, h, 1, tk}})
            CHECK(check(biased_case(shape, b, h, groups, tq, tk)) == "");
}

TEST_CASE("random calls with a bias give the numbers of a plain computation") {
    int forbid = 0, before = 0, few = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const Case one = random_case(seed);
        CHECK(check(one) == "");
        forbid += one.spec.mask.bias->forbids ? 1 : 0;
        before += one.spec.softcap && one.spec.bias_before_softcap ? 1 : 0;
        few += one.inputs.q.shape().t < 4 ? 1 : 0;
    }
    CHECK(forbid > 50);
    CHECK(before > 20);
    CHECK(few > 50);
}

TEST_CASE("on every instruction set a bias gives the same numbers") {
    on_every_target([&] {
        for (std::uint64_t seed = 1000; seed < 1012; ++seed) CHECK(check(random_case(seed)) == "");
    });
}

TEST_CASE("bias and soft cap in either order have the values that the formulas have on paper") {
    Inputs inputs;  // S = 2 · 1
    inputs.q = Tensor({1, 1, 1, 1}, {2});
    inputs.k = inputs.v = Tensor({1, 1, 1, 1}, {1});
    AttentionSpec spec;
    spec.softcap = 4.0;
    spec.mask.bias = make_bias(Tensor({1, 1, 1, 1}, {3}));
    for (const char* name : {"reference", "staged"}) {
        spec.bias_before_softcap = false;
        CHECK(must(attend(inputs, spec, name))[Stage::biased](0, 0, 0, 0) ==
              doctest::Approx(4.0 * std::tanh(0.5) + 3.0));
        spec.bias_before_softcap = true;
        CHECK(must(attend(inputs, spec, name))[Stage::biased](0, 0, 0, 0) ==
              doctest::Approx(4.0 * std::tanh(1.25)));
    }
}

TEST_CASE("the gradient of a bias is its central difference, with every other option") {
    // The bias is single precision: its entries are multiples of the steps, and two steps extrapolate to a step of 0.
    constexpr float kStep = 0x1p-6F;
    for (const Index kind : {0, 1, 2, 3, 4, 5, 6, 7}) {
        const Shape shapes[] = {{2, 2, 3, 4}, {1, 2, 3, 4}, {2, 1, 1, 4}, {1, 1, 3, 1}};
        Case one = biased_case(shapes[kind % 4], 2, 2, 1, 3, 4);
        AttentionSpec& spec = one.spec;
        spec.mask.causal = CausalAlign::top_left;
        spec.query_offset = 1;
        if (kind % 2 == 1) spec.softcap = 1.5;
        spec.bias_before_softcap = kind >= 4;
        spec.alibi = kind == 6;
        if (kind == 5) spec.dropout = 0.3;
        if (kind == 3) one.inputs.params[Param::sinks] = Tensor({1, 1, 1, 2}, {0.3F, -0.4F});
        Tensor bias(spec.mask.bias->values);
        for (float& value : bias.values()) value = std::round(value / kStep) * kStep;
        const auto loss = [&](std::size_t n, float by) {
            Tensor moved = bias;
            moved.values()[n] += by;
            spec.mask.bias = make_bias(std::move(moved));
            const TraceD forward = must(attend_exact(cast<double>(one.inputs), spec));
            double sum = 0.0;
            for (std::size_t m = 0; m < one.upstream.gradient.values().size(); ++m)
                sum += forward[Stage::context].values()[m] *
                       static_cast<double>(one.upstream.gradient.values()[m]);
            return sum;
        };
        const auto difference = [&](std::size_t n, float by) {
            return (loss(n, by) - loss(n, -by)) / (2.0 * static_cast<double>(by));
        };
        std::vector<double> expected;
        double largest = 0.0;
        for (std::size_t n = 0; n < bias.values().size(); ++n) {
            const double wide = difference(n, 2.0F * kStep), near = difference(n, kStep);
            expected.push_back(near + (near - wide) / 3.0);
            largest = std::max(largest, std::abs(expected.back()));
        }
        CHECK(largest > 1e-2);
        spec.mask.bias = make_bias(bias);
        const ExactCase exact = exact_of(one);
        for (std::size_t n = 0; n < expected.size(); ++n) {
            CAPTURE(kind);
            CHECK(exact.d.bias.values()[n] == doctest::Approx(expected[n]).epsilon(1e-5));
        }
        for (const Backend* backend : backends()) {
            const Call call = must(validate(one.inputs, spec));
            const Trace forward = must(attend(call, *backend));
            const Trace d = must(attend_backward(call, forward, one.upstream, *backend));
            CHECK(compare_sums(d.bias, exact.d.bias, one.name) == "");
        }
    }
}

TEST_CASE("a bias of minus infinity forbids its pair as a mask does, whatever K and V hold") {
    constexpr Index b = 1, h = 2, tq = 29, tk = 70;
    for (const bool few : {false, true}) {
        const Index queries = few ? 2 : tq;
        Case masked = normal_case("mask", {b, h, queries, 8}, {b, 1, tk, 8}, 5);
        Case biased = masked;
        Mask mask({b, h, queries, tk}, 1);
        Tensor bias({b, h, queries, tk});
        for_each_entry(mask.shape(), [&](Index, Index head, Index i, Index j) {
            // Row 1 of head 1 has no key left; key 3 has no query.
            const bool none = head == 1 && i == 1;
            if (!none && j != 3 && (7 * i + 3 * j + head) % 5 != 0) return;
            mask(0, head, i, j) = 0;
            bias(0, head, i, j) = kForbidding;
        });
        masked.spec.mask.custom = std::make_shared<const Mask>(mask);
        biased.spec.mask.bias = make_bias(bias);
        const Dimensions size = must(validate(biased.inputs, biased.spec)).size();
        CHECK(materialise(biased.spec.mask, size) == mask);
        for (const bool spoilt : {false, true})
            for (const EmptyRows policy : {EmptyRows::zero, EmptyRows::nan}) {
                for (Case* one : {&masked, &biased}) {
                    one->spec.empty_rows = policy;
                    if (!spoilt) continue;
                    std::ranges::fill(one->inputs.k.matrix(0, 0).row(3), kNaN);
                    std::ranges::fill(one->inputs.v.matrix(0, 0).row(3), kNaN);
                }
                for (const Backend* backend : backends()) {
                    const auto run = [&](const Case& one) {
                        const Call call = must(validate(one.inputs, one.spec));
                        Trace forward = must(attend(call, *backend));
                        Trace d = must(attend_backward(call, forward, one.upstream, *backend));
                        Trace few_rows =
                            must(attend(call, *backend, StageSet().set(index_of(Stage::context))));
                        forward[Stage::output] = few_rows[Stage::context];
                        return std::pair(std::move(forward), std::move(d));
                    };
                    const auto [forward, d] = run(masked);
                    const auto [given, d_given] = run(biased);
                    CAPTURE(backend->name());
                    CAPTURE(few);
                    CAPTURE(spoilt);
                    const auto same = [&](const Tensor& a, const Tensor& other) {
                        const Tolerance exact{1e-6, 1e-5};
                        CHECK(tensor_mismatch(a, other, exact, "bias for mask") == "");
                    };
                    for (const Stage stage :
                         {Stage::masked, Stage::weights, Stage::context, Stage::output})
                        same(given[stage], forward[stage]);
                    same(given.logsumexp, forward.logsumexp);
                    for (const Stage stage : {Stage::q, Stage::k, Stage::v})
                        same(d_given[stage], d[stage]);
                    const bool is_nan = policy == EmptyRows::nan;
                    CHECK(std::isnan(d_given.bias(0, 1, 1, 5)) == is_nan);
                    CHECK(d_given.bias(0, 0, 0, 3) == 0.0F);
                    CHECK(std::isnan(given[Stage::context](0, 1, 1, 0)) == is_nan);
                    CHECK(largest_of(given[Stage::context]) > 0.1);
                }
            }
    }
}

TEST_CASE("NaN in a bias stays visible, and the lowest finite number does not forbid") {
    Case one = biased_case({1, 1, 30, 40}, 1, 2, 1, 30, 40);
    Tensor bias(one.spec.mask.bias->values);
    bias(0, 0, 4, 7) = kNaN;
    for (Index j = 0; j < 40; ++j) bias(0, 0, 5, j) = std::numeric_limits<float>::lowest();
    for (Index j = 0; j < 20; ++j) bias(0, 0, 6, j) = std::numeric_limits<float>::lowest();
    one.spec.mask.bias = make_bias(bias);
    CHECK(!one.spec.mask.bias->forbids);
    const ExactCase exact = exact_of(one);
    for (const Backend* backend : backends()) {
        CAPTURE(backend->name());
        const Trace forward = must(attend(one.inputs, one.spec, *backend));
        for (Index h = 0; h < 2; ++h)
            for (Index c = 0; c < 5; ++c) {
                CHECK(std::isnan(forward[Stage::context](0, h, 4, c)));
                for (const Index i : {0, 6})
                    CHECK(static_cast<double>(forward[Stage::context](0, h, i, c)) ==
                          doctest::Approx(exact.forward[Stage::context](0, h, i, c)).epsilon(1e-4));
                // All keys are as far down: the row is their average, as in Hugging Face's models.
                double mean = 0.0;
                for (Index j = 0; j < 40; ++j)
                    mean += static_cast<double>(one.inputs.v(0, 0, j, c)) / 40.0;
                CHECK(static_cast<double>(forward[Stage::context](0, h, 5, c)) ==
                      doctest::Approx(mean).epsilon(1e-4));
            }
    }
}

TEST_CASE("the same bias gives the same gradients in every run, on one thread and on several") {
    for (const Shape& shape :
         {Shape{1, 1, 90, 200}, {1, 4, 90, 200}, {1, 1, 1, 200}, {1, 1, 90, 1}}) {
        const Case one = biased_case(shape, 2, 4, 2, 90, 200);
        const auto run = [&] {
            const Trace forward = must(attend(one.inputs, one.spec, "fused"));
            return must(attend_backward(one.inputs, one.spec, forward, one.upstream, "fused"));
        };
        const Trace first = run();
        CHECK(first.bias == run().bias);
        const ThreadLimit limit(1);
        const double size = compute(one).largest_sum;  // a row's terms cancel
        CHECK(compare_sums(run().bias, cast<double>(first.bias), "one thread", size) == "");
    }
}

TEST_CASE("a bias that does not broadcast is refused, and one of three axes says both meanings") {
    Case one = biased_case({1, 1, 3, 5}, 1, 2, 1, 3, 4);
    CHECK(must_fail(validate(one.inputs, one.spec)).text() ==
          "bias [1, 1, 3, 5] does not broadcast to [B, H, Tq, Tk] = [1, 2, 3, 4]: each axis must "
          "be 1 or equal");
    Dimensions size;
    size.batch = 3, size.heads = 2, size.tq = 4, size.tk = 5;
    CHECK(must(four_axes("bias", std::array<Index, 3>{2, 4, 5}, size)) == Shape{1, 2, 4, 5});
    CHECK(must(four_axes("bias", std::array<Index, 3>{1, 4, 5}, size)) == Shape{1, 1, 4, 5});
    CHECK(
        must_fail(four_axes("bias", std::array<Index, 3>{3, 4, 5}, size)).text() ==
        "bias [3, 4, 5] has 3 axes, which is ambiguous: write [3, 1, 4, 5] for one bias per batch "
        "entry or [1, 3, 4, 5] for one per head");
    size.heads = 3;
    CHECK(!four_axes("bias", std::array<Index, 3>{3, 4, 5}, size));
}
