// Every kind of attention: each backend that supports a call gives the reference's numbers, forward and backward.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/backend.h"
#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/entries.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "tests/support/cases.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Of the largest value of an array. Single precision over sums of some hundred terms; a hundred times less than what a
/// wrong factor of 1 % would make.
constexpr double kTolerance = 1e-4;
/// What single precision does not hold is 0: weights of keys 10⁵ away, beside a sink.
constexpr double kLeast = 1.5e-45;

/// "" when `got` is `expected` up to rounding; both may be empty.
std::string compare(const Tensor& got, const TensorD& expected, const std::string& what) {
    if (got.shape() != expected.shape())
        return fmt::format("{} is {}, expected {}", what, to_string(got.shape()),
                           to_string(expected.shape()));
    const double largest = largest_of(expected);
    for (std::size_t n = 0; n < got.values().size(); ++n) {
        const auto value = static_cast<double>(got.values()[n]);
        const double wanted = expected.values()[n];
        if (value == wanted || (std::isnan(value) && std::isnan(wanted))) continue;
        if (!(std::abs(value - wanted) <= std::max(kTolerance * largest, kLeast)))
            return fmt::format("{} entry {} is {}, expected {}", what, n, value, wanted);
    }
    return {};
}

/// Of every array that the backend has; what it does not store is no error.
std::string compare(const Trace& got, const TraceD& expected, StageSet stages,
                    const std::string& name) {
    for (const StageInfo& stage : stage_table()) {
        if (!stages[index_of(stage.stage)]) continue;
        const std::string wrong = compare(got[stage.stage], expected[stage.stage],
                                          fmt::format("{} of {}", stage.key, name));
        if (!wrong.empty()) return wrong;
    }
    for (const ParamInfo& param : param_table()) {
        const std::string wrong = compare(got.params[param.param], expected.params[param.param],
                                          fmt::format("{} of {}", param.key, name));
        if (!wrong.empty()) return wrong;
    }
    return {};
}

/// Whether it supports the call, and then gives those numbers; if not, it says why.
bool check_backend(const Backend& backend, const Case& one, const ExactCase& exact) {
    const Call call = validate(one.inputs, one.spec).value();
    if (const auto reason = backend.supports(call)) {
        CHECK(must_fail(attend(call, backend)).text() ==
              fmt::format("backend {} cannot compute this: {}", backend.name(), *reason));
        return false;
    }
    const Trace forward = attend(call, backend).value();
    const std::string name = fmt::format("{}, {}", one.name, backend.name());
    CHECK(compare(forward, exact.forward, backend.stages(), name) == "");
    CHECK(compare(forward.logsumexp, exact.forward.logsumexp, "logsumexp of " + name) == "");
    const Trace d = attend_backward(call, forward, one.upstream, backend).value();
    CHECK(compare(d, exact.d, backend.stages(), "gradients of " + name) == "");
    return true;
}

Inputs some_inputs(Index tokens, Index d) { return normal_inputs({1, 1, tokens, d}); }

}  // namespace

TEST_CASE("staged gives the reference's numbers of every kind of attention, fused of dot ones") {
    for (const Case& one : kind_cases(Sizes::odd)) {
        const ExactCase exact = exact_of(one);
        CHECK(check_backend(*find_backend("staged"), one, exact));
        CHECK(check_backend(*find_backend("fused"), one, exact) == is_dot(one.spec.score));
    }
}

TEST_CASE("the reference backend keeps its own numbers") {
    for (const Case& one : kind_cases(Sizes::small))
        CHECK(check_backend(*find_backend("reference"), one, exact_of(one)));
}

TEST_CASE("auto takes staged where fused does not support the score") {
    for (const Case& one : kind_cases(Sizes::small))
        if (!is_dot(one.spec.score)) {
            const Call call = validate(one.inputs, one.spec).value();
            const StageSet context = StageSet().set(index_of(Stage::context));
            CHECK(choose_backend("auto", call, context).value()->name() == "staged");
            CHECK(attend(one.inputs, one.spec, "auto", context));
        }
}

TEST_CASE("every score function has the score that its formula has on paper") {
    const std::map<std::string_view, double> on_paper{
        {"dot", 1.0},               // 1·3 + 2·(−1)
        {"cosine", 0.1414213562},   // 1 / √(5 · 10)
        {"general", 1.1},           // (0.7, 1) · k
        {"additive", -1.0629414},   // tanh 0.7 − 2 tanh 1.2
        {"student_t", -2.6390573},  // −ln (1 + 2² + 3²)
        {"relative", 1.5},          // 1 + b of j − i = 0
        {"distance", -13.0},        // −(2² + 3²)
    };
    Inputs inputs;
    inputs.q = Tensor({1, 1, 1, 2}, {1, 2});
    inputs.k = Tensor({1, 1, 1, 2}, {3, -1});
    inputs.v = Tensor({1, 1, 1, 1}, {1});
    for (const ScoreInfo& score : score_table()) {
        CAPTURE(score.key);
        REQUIRE(on_paper.contains(score.key));
        AttentionSpec spec;
        spec.score = score.score;
        Inputs call = inputs;
        for (const Param param : score.params) {
            const bool row = info(param).bias;
            call.params[param] = param == Param::b_score ? Tensor({1, 1, 1, 1}, {0.5F})
                                 : row                   ? Tensor({1, 1, 1, 2}, {1, -2})
                                       : Tensor({1, 1, 2, 2}, {0.1F, 0.2F, 0.3F, 0.4F});
        }
        for (const Backend* backend : backends())
            if (backend->supports(validate(call, spec).value()) == std::nullopt &&
                backend->stages()[index_of(Stage::scores)])
                CHECK(attend(call, spec, backend->name()).value()[Stage::scores](0, 0, 0, 0) ==
                      doctest::Approx(on_paper.at(score.key)).epsilon(1e-6));
    }
}

TEST_CASE("a score by distance has the number of the head and of j − i, whatever the sizes") {
    for (const auto& [queries, keys] : {std::pair<Index, Index>{3, 5}, {5, 3}, {70, 70}, {1, 4}}) {
        constexpr Index kHeads = 2;
        Inputs inputs;
        inputs.q = Tensor({1, kHeads, queries, 2});  // 0
        inputs.k = inputs.v = Tensor({1, 1, keys, 2});
        Tensor b({1, 1, kHeads, queries + keys - 1});
        for (Index h = 0; h < kHeads; ++h)
            for (Index n = 0; n < b.shape().d; ++n)
                b(0, 0, h, n) = static_cast<float>(100 * h + n - (queries - 1));
        inputs.params[Param::b_score] = b;
        AttentionSpec spec;
        spec.score = Score::relative;
        for (const char* name : {"reference", "staged"}) {
            const Trace trace = attend(inputs, spec, name).value();
            for (Index h = 0; h < kHeads; ++h)
                for (Index i = 0; i < queries; ++i)
                    for (Index j = 0; j < keys; ++j)
                        REQUIRE(trace[Stage::scores](0, h, i, j) ==
                                static_cast<float>(100 * h + j - i));
        }
        inputs.params[Param::b_score] = Tensor({1, 1, kHeads, queries + keys});
        CHECK_FALSE(attend(inputs, spec));
    }
}

TEST_CASE("RoPE turns the columns that it names and no others") {
    const Tensor x({1, 1, 3, 6},
                   std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6});
    const auto check = [&](RopePairs pairs, std::optional<Index> dims,
                           std::initializer_list<std::pair<Index, Index>> turning) {
        const Tensor turned = rotate(Rope{pairs, 100.0, dims}, x, 40);
        const auto half = static_cast<double>(turning.size());
        for (Index t = 0; t < 3; ++t) {
            std::vector<double> expected{1, 2, 3, 4, 5, 6};
            double c = 0.0;
            for (const auto& [first, second] : turning) {
                const double angle = static_cast<double>(40 + t) * std::pow(100.0, -c++ / half);
                const double one = x(0, 0, t, first), other = x(0, 0, t, second);
                expected[first] = one * std::cos(angle) - other * std::sin(angle);
                expected[second] = one * std::sin(angle) + other * std::cos(angle);
            }
            for (Index column = 0; column < 6; ++column)
                CHECK(turned(0, 0, t, column) == doctest::Approx(expected[column]).epsilon(1e-6));
        }
    };
    check(RopePairs::half, std::nullopt, {{0, 3}, {1, 4}, {2, 5}});
    check(RopePairs::half, 4, {{0, 2}, {1, 3}});
    check(RopePairs::interleaved, std::nullopt, {{0, 1}, {2, 3}, {4, 5}});
    check(RopePairs::interleaved, 4, {{0, 1}, {2, 3}});
}

TEST_CASE("RoPE: positions of a long run are turned as each by itself") {
    const Tensor x = normal_tensor<float>({1, 2, 100, 64}, 1);
    const TensorD exact = rotate(Rope{}, cast<double>(x), 1'000'000);
    CHECK(worst_error(rotate(Rope{}, x, 1'000'000), exact) < 3e-7 * largest_of(exact));
    CHECK(worst_error(rotate(Rope{}, rotate(Rope{}, x, 77), 77, true), cast<double>(x)) < 1e-6);
    Tensor row({1, 1, 1, 64});  // one row by itself is turned to the same bits
    std::ranges::copy(x.matrix(0, 1).row(45), row.values().begin());
    for (const Index offset : {-7, 0, 1'000'000})
        CHECK(std::ranges::equal(rotate(Rope{}, row, offset + 45).values(),
                                 rotate(Rope{}, x, offset).matrix(0, 1).row(45)));
}

TEST_CASE("RoPE makes scores depend on distance alone") {
    Inputs inputs = some_inputs(6, 8);
    for (Index i = 1; i < 6; ++i)
        for (Index c = 0; c < 8; ++c) {
            inputs.q(0, 0, i, c) = inputs.q(0, 0, 0, c);
            inputs.k(0, 0, i, c) = inputs.k(0, 0, 0, c);
        }
    for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved}) {
        AttentionSpec spec;
        spec.rope = Rope{pairs, 100.0, std::nullopt};
        const Trace trace = attend(inputs, spec).value();
        const Tensor& scores = trace[Stage::scores];
        for (Index i = 1; i < 6; ++i)
            for (Index j = 1; j < 6; ++j)
                CHECK(scores(0, 0, i, j) == doctest::Approx(scores(0, 0, i - 1, j - 1)));
        CHECK(std::abs(scores(0, 0, 0, 0) - scores(0, 0, 0, 1)) > 1e-3);
    }
}

TEST_CASE("an offset moves the queries: one query at position 5 sees what row 5 of six saw") {
    const Inputs six = some_inputs(6, 8);
    Inputs last = six;
    last.q = Tensor({1, 1, 1, 8});
    std::ranges::copy(six.q.matrix(0, 0).row(5), last.q.values().begin());
    AttentionSpec spec;
    spec.rope = Rope{};
    spec.alibi = true;
    spec.mask.causal = CausalAlign::top_left;
    spec.mask.window_left = 3;
    const Trace all = attend(six, spec).value();
    spec.query_offset = 5;
    const Trace one = attend(last, spec).value();
    for (Index j = 0; j < 6; ++j)
        CHECK(one[Stage::weights](0, 0, 0, j) ==
              doctest::Approx(all[Stage::weights](0, 0, 5, j)).epsilon(1e-5));
    CHECK(one[Stage::weights](0, 0, 0, 1) == 0.0F);
    CHECK(one[Stage::weights](0, 0, 0, 2) > 0.0F);
}

TEST_CASE(
    "every rule counts by position: queries with an offset have their rows of the square call") {
    for (const ShiftedCase& one : shifted_cases()) {
        const ExactCase exact = exact_of(one.square);
        const Index count = one.part.inputs.q.shape().t;
        const TensorD context = rows_from(exact.forward[Stage::context], one.first, count);
        const TensorD d_q = rows_from(exact.d[Stage::q], one.first, count);
        for (const char* backend : {"reference", "staged", "fused"}) {
            const Call call = validate(one.part.inputs, one.part.spec).value();
            const Trace got = attend(call, *find_backend(backend)).value();
            const std::string name = fmt::format("{}, {}", one.part.name, backend);
            CHECK(compare(got[Stage::context], context, "context of " + name) == "");
            CHECK(compare(got.logsumexp, rows_from(exact.forward.logsumexp, one.first, count),
                          "logsumexp of " + name) == "");
            if (!got[Stage::weights].empty())
                CHECK(compare(got[Stage::weights],
                              rows_from(exact.forward[Stage::weights], one.first, count),
                              "weights of " + name) == "");
            const Trace d =
                attend_backward(call, got, one.part.upstream, *find_backend(backend)).value();
            CHECK(compare(d[Stage::q], d_q, "d_q of " + name) == "");
            CHECK(compare(d[Stage::k], exact.d[Stage::k], "d_k of " + name) == "");
            CHECK(compare(d[Stage::v], exact.d[Stage::v], "d_v of " + name) == "");
        }
        // The few queries of decoding have a kernel of their own.
        const Trace few = attend(one.part.inputs, one.part.spec, "fused",
                                 StageSet().set(index_of(Stage::context)))
                              .value();
        CHECK(compare(few[Stage::context], context, "context alone of " + one.part.name) == "");
        // And the offset is what does it.
        AttentionSpec unmoved = one.part.spec;
        if (unmoved.mask.causal) unmoved.mask.causal = CausalAlign::top_left;
        unmoved.query_offset = 0;
        const Trace wrong = attend(one.part.inputs, unmoved, "reference").value();
        CAPTURE(one.part.name);
        CHECK((worst_error(wrong[Stage::context], context) > 1e-2) == one.counts_by_position);
    }
}

TEST_CASE("ALiBi: a query far behind its keys keeps the digits of its weights and gradients") {
    for (const Index offset : {Index{100'000}, Index{10'000'000}}) {
        Case one = normal_case(fmt::format("offset {}", offset), {1, 2, 5, 8}, {1, 2, 40, 8}, 8);
        one.spec.alibi = true;
        one.spec.query_offset = offset;
        for (const bool sinks : {false, true}) {
            if (sinks) one.inputs.params[Param::sinks] = Tensor({1, 1, 1, 2}, {0.3F, -0.27F});
            const ExactCase exact = exact_of(one);
            for (const char* name : {"staged", "fused"})
                CHECK(check_backend(*find_backend(name), one, exact));
        }
    }
}

TEST_CASE("ALiBi's slopes: powers of two, and every other slope of twice the heads in between") {
    for (Index h = 0; h < 8; ++h)
        CHECK(alibi_slope(h, 8) == doctest::Approx(std::exp2(-static_cast<double>(h + 1))));
    // Press et al.'s published code for 12 heads: 8 slopes of 8 heads, then 4 of 16 heads.
    for (Index h = 0; h < 8; ++h) CHECK(alibi_slope(h, 12) == alibi_slope(h, 8));
    for (Index h = 8; h < 12; ++h)
        CHECK(alibi_slope(h, 12) ==
              doctest::Approx(std::exp2(-0.5 * static_cast<double>(2 * (h - 8) + 1))));
}

TEST_CASE("scaling queries and keys by d_k to the -1/4 each is scaling scores by 1/sqrt(d_k)") {
    const Inputs inputs = some_inputs(7, 64);
    Inputs scaled = inputs;
    const auto quarter = static_cast<float>(std::pow(64.0, -0.25));
    for (Tensor* each : {&scaled.q, &scaled.k})
        for (float& value : each->values()) value *= quarter;
    AttentionSpec none, q_and_k;
    none.scale = ScaleKind::none;
    q_and_k.scale = ScaleKind::q_and_k;
    const Trace a = attend(inputs, {}).value();
    CHECK(largest_of(a[Stage::weights]) > 1.0 / 7.0);
    const Trace by_hand = attend(scaled, none).value(), by_spec = attend(inputs, q_and_k).value();
    for (const Trace* b : {&by_hand, &by_spec})
        for (const auto& [one, other] :
             {std::pair(Stage::weights, Stage::weights), std::pair(Stage::scores, Stage::scaled)})
            for (std::size_t n = 0; n < a[other].values().size(); ++n)
                CHECK((*b)[one].values()[n] == doctest::Approx(a[other].values()[n]).epsilon(1e-5));
    q_and_k.score = Score::cosine;
    CHECK(must_fail(attend(inputs, q_and_k)).text() ==
          "scale is q_and_k with score cosine: it scales the queries and keys of dot products, so "
          "score dot is expected");
}

TEST_CASE("cosine: lengths do not count, and a query of zeros attends to all alike") {
    Inputs inputs = some_inputs(5, 4);
    AttentionSpec spec;
    spec.score = Score::cosine;
    const Trace before = attend(inputs, spec).value();
    for (Index c = 0; c < 4; ++c) {
        inputs.k(0, 0, 2, c) *= 100.0F;
        inputs.q(0, 0, 1, c) = 0.0F;
    }
    const Trace after = attend(inputs, spec).value();
    for (Index j = 0; j < 5; ++j) {
        CHECK(after[Stage::scores](0, 0, 0, j) ==
              doctest::Approx(before[Stage::scores](0, 0, 0, j)));
        CHECK(std::abs(after[Stage::scores](0, 0, 0, j)) < 1.0F + 1e-6F);
        CHECK(after[Stage::weights](0, 0, 1, j) == doctest::Approx(0.2));
    }
}

TEST_CASE("a sink takes weight from every key in the same ratio") {
    Inputs inputs = some_inputs(5, 4);
    const Trace without = attend(inputs, {}).value();
    inputs.params[Param::sinks] = Tensor({1, 1, 1, 1}, 0.5F);
    const Trace with = attend(inputs, {}).value();
    for (Index i = 0; i < 5; ++i) {
        const double left = std::exp(static_cast<double>(without.logsumexp(0, 0, i, 0)) -
                                     static_cast<double>(with.logsumexp(0, 0, i, 0)));
        CHECK(left < 0.95);
        for (Index j = 0; j < 5; ++j)
            CHECK(with[Stage::weights](0, 0, i, j) ==
                  doctest::Approx(left * static_cast<double>(without[Stage::weights](0, 0, i, j))));
    }
}

TEST_CASE("a key that no query may attend to counts nowhere, even where it is NaN") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const Case& made : kind_cases(Sizes::small)) {
        if (made.spec.mask.any() || made.spec.dropout > 0.0) continue;
        Case one = made;
        const Shape k = one.inputs.k.shape();
        one.spec.mask.padding.assign(k.b, k.t - 1);
        const auto run = [&](const Backend& backend) {
            const Call call = validate(one.inputs, one.spec).value();
            Trace forward = attend(call, backend).value();
            Trace d = attend_backward(call, forward, one.upstream, backend).value();
            return std::pair(std::move(forward), std::move(d));
        };
        for (const Backend* backend : backends()) {
            if (backend->supports(validate(one.inputs, one.spec).value())) continue;
            const auto [forward, d] = run(*backend);
            CHECK(largest_of(forward[Stage::context]) > 0.1);
            CHECK(largest_of(d[Stage::q]) > 1e-3);
            for_each_row({k.b, k.h, 1, 1}, [&](Index b, Index g, Index) {
                std::ranges::fill(one.inputs.k.matrix(b, g).row(k.t - 1), nan);
                std::ranges::fill(one.inputs.v.matrix(b, g).row(k.t - 1), nan);
            });
            const auto [spoilt, d_spoilt] = run(*backend);
            one.inputs = made.inputs;
            const std::string name = fmt::format("{}, {}", one.name, backend->name());
            CHECK(compare(spoilt[Stage::context], cast<double>(forward[Stage::context]), name) ==
                  "");
            CHECK(compare(d_spoilt[Stage::q], cast<double>(d[Stage::q]), name) == "");
            for (const ParamInfo& param : param_table())
                CHECK(compare(d_spoilt.params[param.param], cast<double>(d.params[param.param]),
                              fmt::format("{} of {}", param.key, name)) == "");
        }
    }
}
