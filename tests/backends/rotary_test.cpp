// RoPE by given cosines and sines, and what makes them of positions, sections, caches and doubled columns.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/backend.h"
#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/entries.h"
#include "core/rotary.h"
#include "core/spec_arrays.h"
#include "tests/support/cases.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

RotaryTurns random_turns(const Shape& shape, std::uint64_t seed) {
    return {normal_tensor<float>(shape, seed), normal_tensor<float>(shape, seed + 1)};
}

/// Two batch entries, four heads over two of K, five queries and seven keys of width 8, whose first `dims` columns turn.
Case rotary_case(RopePairs pairs, Index dims, Index table_batch) {
    Case one = normal_case(fmt::format("{} {} {}", static_cast<int>(pairs), dims, table_batch),
                           {2, 4, 5, 8}, {2, 2, 7, 8}, 3);
    one.spec.rope = Rope{.pairs = pairs, .dims = dims, .tables = {}};
    one.spec.rope->tables = make_rotary_tables(random_turns({table_batch, 1, 5, dims / 2}, 21),
                                               random_turns({table_batch, 1, 7, dims / 2}, 31));
    return one;
}

struct PlainPair {
    Index first, second;
};
PlainPair columns_of_pair(const Rope& rope, Index c) {
    if (rope.pairs == RopePairs::interleaved) return {2 * c, 2 * c + 1};
    return {c, c + *rope.dims / 2};
}

/// x turned pair by pair: `sign` 1, or −1 for the transposed turn.
TensorD turned(const TensorD& x, const Rope& rope, const Tensor& cos, const Tensor& sin,
               double sign) {
    TensorD y = x;
    for_each_row(x.shape(), [&](Index b, Index h, Index t) {
        for (Index c = 0; c < *rope.dims / 2; ++c) {
            const auto [first, second] = columns_of_pair(rope, c);
            const Index table = cos.shape().b == 1 ? 0 : b;
            const double cosine = cos(table, 0, t, c), sine = sign * double{sin(table, 0, t, c)};
            y(b, h, t, first) = x(b, h, t, first) * cosine - x(b, h, t, second) * sine;
            y(b, h, t, second) = x(b, h, t, first) * sine + x(b, h, t, second) * cosine;
        }
    });
    return y;
}

/// The worst difference, over the largest expected number.
template <class Scalar>
double relative_error(const TensorOf<Scalar>& got, const TensorD& expected) {
    REQUIRE(got.shape() == expected.shape());
    return worst_error(got, expected) / largest_of(expected);
}

}  // namespace

TEST_CASE("tables turn queries and keys as loops over their pairs do, and gradients turn back") {
    for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved})
        for (const Index dims : {8, 6, 2})
            for (const Index table_batch : {1, 2}) {
                const Case one = rotary_case(pairs, dims, table_batch);
                CAPTURE(one.name);
                const Rope& rope = *one.spec.rope;
                const RotaryTables& tables = *rope.tables;
                // The call of the turned queries and keys, without RoPE, is what every backend must compute.
                const TensorD q =
                    turned(cast<double>(one.inputs.q), rope, tables.q_cos, tables.q_sin, 1.0);
                const TensorD k =
                    turned(cast<double>(one.inputs.k), rope, tables.k_cos, tables.k_sin, 1.0);
                InputsD plain = cast<double>(one.inputs);
                plain.q = q, plain.k = k;
                AttentionSpec without = one.spec;
                without.rope.reset();
                const TraceD forward = must(attend_exact(plain, without));
                const UpstreamD upstream{Stage::context, cast<double>(one.upstream.gradient)};
                const TraceD d = must(attend_exact_backward(plain, without, forward, upstream));
                const TensorD d_q = turned(d[Stage::q], rope, tables.q_cos, tables.q_sin, -1.0);
                const TensorD d_k = turned(d[Stage::k], rope, tables.k_cos, tables.k_sin, -1.0);
                for (const char* name : {"reference", "staged", "fused"}) {
                    CAPTURE(name);
                    const Call call = must(validate(one.inputs, one.spec));
                    const Trace got = must(attend(call, *find_backend(name)));
                    CHECK(relative_error(got[Stage::q_rot], q) < 1e-6);
                    CHECK(relative_error(got[Stage::k_rot], k) < 1e-6);
                    CHECK(relative_error(got[Stage::context], forward[Stage::context]) < 1e-5);
                    const Trace d_got =
                        must(attend_backward(call, got, one.upstream, *find_backend(name)));
                    CHECK(relative_error(d_got[Stage::q], d_q) < 2e-5);
                    CHECK(relative_error(d_got[Stage::k], d_k) < 2e-5);
                    CHECK(relative_error(d_got[Stage::q_rot], d[Stage::q]) < 2e-5);
                }
            }
}

TEST_CASE("gradients through tables are central differences") {
    const Case one = rotary_case(RopePairs::interleaved, 6, 2);
    const UpstreamD upstream{Stage::context, cast<double>(one.upstream.gradient)};
    const InputsD inputs = cast<double>(one.inputs);
    const TraceD d = must(
        attend_exact_backward(inputs, one.spec, must(attend_exact(inputs, one.spec)), upstream));
    const auto loss = [&](const InputsD& moved) {
        const TraceD forward = must(attend_exact(moved, one.spec));
        double sum = 0.0;
        for (std::size_t n = 0; n < upstream.gradient.values().size(); ++n)
            sum += forward[Stage::context].values()[n] * upstream.gradient.values()[n];
        return sum;
    };
    constexpr double kStep = 1e-5;
    for (TensorD InputsD::*const member : {&InputsD::q, &InputsD::k}) {
        const TensorD& gradient = d[member == &InputsD::q ? Stage::q : Stage::k];
        for (std::size_t n = 0; n < gradient.values().size(); n += 3) {
            InputsD above = inputs, below = inputs;
            (above.*member).values()[n] += kStep;
            (below.*member).values()[n] -= kStep;
            CHECK(gradient.values()[n] ==
                  doctest::Approx((loss(above) - loss(below)) / (2.0 * kStep)).epsilon(1e-5));
        }
    }
}

TEST_CASE("tables of positions are RoPE at these positions") {
    const Inputs inputs = normal_inputs({2, 2, 6, 8});
    for (const RopePairs pairs : {RopePairs::half, RopePairs::interleaved}) {
        Rope rope{.pairs = pairs, .base = 300.0, .dims = 6, .tables = {}};
        rope.scaling = {.kind = RopeScale::linear, .factor = 2.0};
        AttentionSpec by_offset;
        by_offset.rope = rope;
        by_offset.query_offset = 4;
        TensorD at_q({1, 1, 6, 1}), at_k({1, 1, 6, 1});
        for (Index t = 0; t < 6; ++t) {
            at_q(0, 0, t, 0) = static_cast<double>(t + 4);
            at_k(0, 0, t, 0) = static_cast<double>(t);
        }
        AttentionSpec by_tables = by_offset;
        by_tables.rope->tables =
            make_rotary_tables(must(turns_at(at_q, rope, 6)), must(turns_at(at_k, rope, 6)));
        by_tables.rope->base = 7.0;  // of no effect
        const TraceD expected = must(attend_exact(cast<double>(inputs), by_offset));
        const TraceD got = must(attend_exact(cast<double>(inputs), by_tables));
        CHECK(relative_error(got[Stage::q_rot], expected[Stage::q_rot]) < 1e-7);
        CHECK(relative_error(got[Stage::k_rot], expected[Stage::k_rot]) < 1e-7);
        const Dimensions size = must(validate(inputs, by_tables)).size();
        for (const Rotated side : {Rotated::queries, Rotated::keys}) {
            const RotaryTurn a = rotary_turn(*by_tables.rope, size, side, {1, 3, 2});
            const RotaryTurn b = rotary_turn(*by_offset.rope, size, side, {1, 3, 2});
            CHECK(a.cosine == doctest::Approx(b.cosine).epsilon(1e-6));
            CHECK(a.sine == doctest::Approx(b.sine).epsilon(1e-6));
        }
    }
}

TEST_CASE("sections: M-RoPE goes on through the frequencies, 2-D RoPE begins anew") {
    // One token at t = 2, h = 3, w = 5.
    const TensorD token({1, 3, 1, 1}, {2.0, 3.0, 5.0});
    const Rope rope{.pairs = RopePairs::half, .base = 100.0, .dims = {}, .tables = {}};
    const RotaryTurns sections = must(turns_at(token, rope, 8, {{1, 1, 2}}));
    const double angles[] = {2.0, 3.0 * std::pow(100.0, -0.25), 5.0 * std::pow(100.0, -0.5),
                             5.0 * std::pow(100.0, -0.75)};
    for (Index c = 0; c < 4; ++c) {
        CHECK(sections.cos(0, 0, 0, c) == static_cast<float>(std::cos(angles[c])));
        CHECK(sections.sin(0, 0, 0, c) == static_cast<float>(std::sin(angles[c])));
    }
    const TensorD place({1, 2, 1, 1}, {3.0, 5.0});
    const RotaryTurns two = must(turns_at(place, rope, 8, {{2, 2}, true}));
    const double each[] = {3.0, 3.0 * std::pow(100.0, -0.5), 5.0, 5.0 * std::pow(100.0, -0.5)};
    for (Index c = 0; c < 4; ++c)
        CHECK(two.sin(0, 0, 0, c) == static_cast<float>(std::sin(each[c])));
    CHECK(sentence_in(turns_at(token, rope, 8, {{1, 1, 1}})) ==
          "the sections of RoPE have 3 column pairs together; expected 4, half of the 8 columns "
          "that turn");
    CHECK(sentence_in(turns_at(place, rope, 8, {{1, 1, 2}})) ==
          "a token has 2 positions; expected 3, one for each section of RoPE");
    const TensorD nowhere({1, 1, 1, 1}, {std::numeric_limits<double>::quiet_NaN()});
    CHECK(sentence_in(turns_at(nowhere, rope, 8)) ==
          "a position is nan; expected a number from -2^40 to 2^40");
}

TEST_CASE("a cache has a row for each position, and a position without a row is refused") {
    const RotaryTurns cache = random_turns({1, 1, 5, 2}, 3);
    const RotaryTurns turns = must(turns_of_cache(cache, TensorD({2, 1, 2, 1}, {4, 0, 1, 4})));
    CHECK(turns.cos.shape() == Shape{2, 1, 2, 2});
    CHECK(turns.cos(0, 0, 0, 1) == cache.cos(0, 0, 4, 1));
    CHECK(turns.sin(0, 0, 1, 0) == cache.sin(0, 0, 0, 0));
    CHECK(turns.sin(1, 0, 0, 1) == cache.sin(0, 0, 1, 1));
    for (const double p : {5.0, -1.0, 1.5})
        CHECK(sentence_in(turns_of_cache(cache, TensorD({1, 1, 1, 1}, {p}))) ==
              fmt::format("a position is {}; expected a whole number from 0 to 4, a row of the "
                          "cache",
                          p));
}

TEST_CASE("columns that both columns of a pair have become one, and others are told apart") {
    const RotaryTurns halves{Tensor({1, 1, 1, 4}, {1, 2, 1, 2}),
                             Tensor({1, 1, 1, 4}, {3, 4, 3, 4})};
    const RotaryTurns neighbours{Tensor({1, 1, 1, 4}, {1, 1, 2, 2}),
                                 Tensor({1, 1, 1, 4}, {3, 3, 4, 4})};
    CHECK(has_columns(halves, RotaryColumns::halves));
    CHECK(!has_columns(halves, RotaryColumns::neighbours));
    CHECK(has_columns(neighbours, RotaryColumns::neighbours));
    CHECK(!has_columns(neighbours, RotaryColumns::halves));
    for (const RotaryTurns& pairs : {one_column_a_pair(halves, RotaryColumns::halves),
                                     one_column_a_pair(neighbours, RotaryColumns::neighbours)}) {
        CHECK(pairs.cos == Tensor({1, 1, 1, 2}, {1, 2}));
        CHECK(pairs.sin == Tensor({1, 1, 1, 2}, {3, 4}));
    }
    const RotaryTurns odd = random_turns({1, 1, 2, 3}, 5);
    CHECK(!has_columns(odd, RotaryColumns::halves));
    CHECK(!has_columns(odd, RotaryColumns::neighbours));
}

TEST_CASE("tables of one batch entry are its own") {
    const Case one = rotary_case(RopePairs::half, 8, 2);
    const Rope second = rope_of_batch(*one.spec.rope, 1);
    CHECK(second.tables->k_cos.shape() == Shape{1, 1, 7, 4});
    CHECK(second.tables->k_cos(0, 0, 6, 3) == one.spec.rope->tables->k_cos(1, 0, 6, 3));
    CHECK(rope_of_batch(Rope{}, 1).tables == nullptr);
}

TEST_CASE("tables that do not fit the call are refused by name") {
    const auto refused = [](const RotaryTables& tables) {
        Case one = rotary_case(RopePairs::half, 6, 2);
        one.spec.rope->tables = std::make_shared<const RotaryTables>(tables);
        return sentence_in(validate(one.inputs, one.spec));
    };
    const RotaryTables right = *rotary_case(RopePairs::half, 6, 2).spec.rope->tables;
    CHECK(refused(right).empty());
    RotaryTables wrong = right;
    wrong.k_cos = Tensor({2, 1, 5, 3});
    CHECK(refused(wrong) ==
          "k_cos of rope.tables is [2, 1, 5, 3]: expected [1, 1, 7, 3] or [2, 1, 7, 3], a number "
          "for each column pair that turns");
    wrong = right;
    wrong.q_sin = {};
    CHECK(refused(wrong).starts_with("q_sin of rope.tables is [0, 0, 0, 0]: expected"));
    wrong = right;
    wrong.q_sin(1, 0, 4, 2) = std::numeric_limits<float>::infinity();
    CHECK(refused(wrong) ==
          "q_sin of rope.tables is inf at [1, 0, 4, 2]: finite numbers are expected");
}
