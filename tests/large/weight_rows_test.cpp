// Pooled rows and cells of exact weights against pooling the reference's weights in double, on every
// instruction set that is compiled and can run here.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <iterator>

#include "core/bias.h"
#include "core/kernels/fused_forward.h"
#include "core/large/cell_arithmetic.h"
#include "core/large/row_pool.h"
#include "core/scores/score.h"
#include "tests/large/pooled.h"
#include "tests/support/edges.h"
#include "tests/support/results.h"
#include "tests/support/targets.h"

using namespace attn;
using namespace attn::test;
using namespace attn::large;

namespace {

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// More queries and keys than a group, a block and a strip hold.
Case long_case(std::string name, Index d_k) {
    return normal_case(std::move(name), {1, 2, 211, d_k}, {1, 1, 293, d_k}, 1);
}

/// Normal numbers; with `forbids` −inf for every fifth pair.
std::shared_ptr<const PairBias> bias_of(const Shape& shape, bool forbids = false) {
    Tensor values = normal_tensor<float>(shape, 11);
    for (std::size_t n = 0; n < values.values().size() && forbids; n += 5)
        values.values()[n] = kForbidding;
    return make_bias(std::move(values));
}

/// Every mask at once or one after another.
std::vector<Case> masked_cases() {
    std::vector<Case> cases;
    const auto add = [&](const char* name) -> MaskSpec& {
        return cases.emplace_back(long_case(name, 5)).spec.mask;
    };
    add("no mask");
    add("causal top-left").causal = CausalAlign::top_left;
    add("causal bottom-right").causal = CausalAlign::bottom_right;
    add("window").window = 20;
    add("block").block = 37;
    add("padding").padding = {131};
    add("bias").bias = bias_of({1, 1, 211, 293});
    add("bias of each head, with -inf").bias = bias_of({1, 2, 211, 293}, true);
    add("bias of keys").bias = bias_of({1, 1, 1, 293});
    add("bias of queries").bias = bias_of({1, 2, 211, 1});
    MaskSpec& biased = add("causal, and a bias of keys with -inf");
    biased.causal = CausalAlign::top_left;
    biased.bias = bias_of({1, 2, 1, 293}, true);
    MaskSpec& several = add("window and custom");
    several.window = 70;
    Mask mask(Shape{1, 2, 211, 293});
    for (std::size_t n = 0; n < mask.values().size(); ++n)
        mask.values()[n] = uniform(5, n) < 0.6 ? 1 : 0;
    several.custom = std::make_shared<const Mask>(std::move(mask));
    return cases;
}

/// One kind of attention beside the plain one.
struct Kind {
    std::string_view name;
    void (*set)(Case& one);
};
constexpr Index kKindWidth = 10;
const Kind kKinds[] = {
    {"rope", [](Case& one) { one.spec.rope = Rope{}; }},
    {"rope, offset",
     [](Case& one) {
         one.spec.rope = Rope{RopePairs::interleaved, 500.0, 6};
         one.spec.query_offset = 67;
     }},
    {"softcap", [](Case& one) { one.spec.softcap = 1.5; }},
    {"alibi", [](Case& one) { one.spec.alibi = true; }},
    {"alibi, offset",
     [](Case& one) {
         one.spec.alibi = true;
         one.spec.query_offset = 67;
     }},
    {"sinks",
     [](Case& one) {
         one.inputs.params[Param::sinks] = Tensor({1, 1, 1, 4}, {0.5F, 4, -1, 7});
     }},
    {"bias",
     [](Case& one) {
         one.spec.mask.bias = bias_of({1, 4, 130, 197});
     }},
    {"bias, softcap, alibi",
     [](Case& one) {
         one.spec.mask.bias = bias_of({1, 1, 130, 197}, true);
         one.spec.softcap = 1.5;
         one.spec.alibi = true;
     }},
    {"bias before softcap",
     [](Case& one) {
         one.spec.mask.bias = bias_of({1, 4, 1, 197});
         one.spec.softcap = 1.5;
         one.spec.bias_before_softcap = true;
     }},
    {"cosine", [](Case& one) { one.spec.score = Score::cosine; }},
    {"general",
     [](Case& one) {
         one.spec.score = Score::general;
         one.inputs.params[Param::w_score] =
             normal_tensor<float>({1, 1, kKindWidth, kKindWidth}, 7, 0.5);
     }},
    {"all",
     [](Case& one) {
         one.spec.score = Score::cosine;
         one.spec.rope = Rope{};
         one.spec.softcap = 2.0;
         one.spec.alibi = true;
         one.spec.query_offset = 67;
         one.spec.scale = ScaleKind::value;
         one.spec.scale_value = 5.0;
         one.inputs.params[Param::sinks] = Tensor({1, 1, 1, 4}, {-0.5F, 1, 2, -3});
     }},
};

struct MaskOf {
    std::string_view name;
    void (*set)(MaskSpec& mask);
};
const MaskOf kMasks[] = {
    {"no mask", [](MaskSpec&) {}},
    {"causal top-left", [](MaskSpec& mask) { mask.causal = CausalAlign::top_left; }},
    {"causal bottom-right", [](MaskSpec& mask) { mask.causal = CausalAlign::bottom_right; }},
    {"window and global tokens",
     [](MaskSpec& mask) {
         mask.window_left = 9;
         mask.window_right = 2;
         mask.global_tokens = 3;
     }},
    {"causal window and global tokens",
     [](MaskSpec& mask) {
         mask.causal = CausalAlign::top_left;
         mask.window_left = 4;
         mask.global_tokens = 5;
     }},
};

/// 130 queries of 4 heads, 197 keys of 2.
Case kind_case(const Kind& kind, const MaskOf& mask) {
    Case one = normal_case(fmt::format("{}, {}", kind.name, mask.name), {1, 4, 130, kKindWidth},
                           {1, 2, 197, kKindWidth}, 1);
    kind.set(one);
    mask.set(one.spec.mask);
    if (one.spec.mask.causal == CausalAlign::bottom_right) one.spec.query_offset.reset();  // 67 too
    return one;
}

}  // namespace

TEST_CASE("texels of 2048 x 2048 cells equal pooling of the exact weights, at every level") {
    for (const bool causal : {false, true}) {
        Case one = normal_case("2048", {1, 1, 2048, 6}, {1, 1, 2048, 6}, 1);
        if (causal) one.spec.mask.causal = CausalAlign::top_left;
        const PooledSubject subject(one);
        for (const Index side : {1, 2, 4, 8, 16, 32})
            CHECK(compare_cells(subject, {}, whole(subject), side) == "");
        for (const Index side : {32, 64, 256})
            CHECK(compare_rows(subject, {}, rows_from(0, 2048), side, side) == "");
    }
}

TEST_CASE("texels of every side equal pooling of the exact weights, under every mask and target") {
    for (const Case& one : masked_cases()) {
        const PooledSubject subject(one);
        on_every_target([&] {
            for (Index side = 1; side <= 32; ++side) {
                const Rectangle part = side % 2 == 0 ? whole(subject) : Rectangle{17, 5, 101, 203};
                CHECK(compare_cells(subject, {0, side % 2}, part, side) == "");
            }
        });
    }
}

TEST_CASE("thin rectangles pool like wide ones") {
    const PooledSubject subject(long_case("thin", 7));
    on_every_target([&] {
        for (const Rectangle& part : {Rectangle{0, 7, 211, 1}, Rectangle{9, 0, 1, 293},
                                      Rectangle{9, 100, 40, 3}, Rectangle{210, 292, 1, 1}})
            for (const Index side : {1, 3, 16, 32})
                CHECK(compare_cells(subject, {}, part, side) == "");
    });
}

TEST_CASE("pooled rows equal pooling of the exact weights, whatever rows and sides") {
    for (const Case& one : masked_cases()) {
        const PooledSubject subject(one);
        on_every_target([&] {
            for (const auto& [rows, keys] :
                 {std::pair<Index, Index>{1, 1}, {1, 9}, {32, 32}, {64, 64}, {5, 17}, {100, 300}}) {
                CHECK(compare_rows(subject, {}, rows_from(0, 211), rows, keys) == "");
                CHECK(compare_rows(subject, {0, 1}, rows_from(2, 40, 5), rows, keys) == "");
                CHECK(compare_rows(subject, {0, 1}, rows_from(100, 1), rows, keys) == "");
            }
        });
    }
}

TEST_CASE("rows that meet their keys a piece at a time weigh the same, bit for bit") {
    for (const Case& one : masked_cases()) {
        const WeightSource source = weight_source(one.inputs, one.spec).value();
        const std::vector<Index> rows = rows_from(16, 190);
        for (const Head head : {Head{0, 0}, Head{0, 1}}) {
            PooledRows whole;
            REQUIRE(pool_rows(source, head, rows, 16, 16, {}, whole));
            const MatrixView<const float> q = source.q->matrix(head.b, head.h);
            const MatrixView<const float> k = source.k->matrix(head.b, 0);
            HeldRows held{q.row(16).data(), 16, nullptr, 0};
            RowPool pool(source, head, held, rows, 16);
            for (Index j = 0; j < source.size.tk; j += RowPool::kPieceKeys) {
                const KeyRange keys{j, std::min(j + RowPool::kPieceKeys, source.size.tk)};
                const std::vector<float> piece(k.row(j).data(),
                                               k.row(j).data() + (keys.end - j) * k.columns);
                held.k = piece.data();
                held.first_key = j;
                pool.add(keys);
            }
            const PooledRows pooled = pool.finish();
            CAPTURE(one.name);
            CHECK(same_bits(pooled.logsumexp, whole.logsumexp));
            CHECK(same_bits(pooled.texels.mean, whole.texels.mean));
            CHECK(same_bits(pooled.texels.max, whole.texels.max));
            CHECK(same_bits(pooled.texels.log_mean, whole.texels.log_mean));
            CHECK(pooled.texels.allowed == whole.texels.allowed);
        }
    }
}

TEST_CASE("maps of narrow and wide heads are exact") {
    for (const Index d_k : {1, 3, 64, 255, 256}) {
        const PooledSubject subject(long_case(fmt::format("d = {}", d_k), d_k));
        on_every_target([&] {
            CHECK(compare_rows(subject, {}, rows_from(0, 211), 32, 32) == "");
            CHECK(compare_cells(subject, {}, whole(subject), 4) == "");
        });
    }
}

TEST_CASE("maps agree with the reference on every option of the engine but dropout") {
    std::vector<Case> cases = engine_cases(Sizes::odd);
    std::ranges::move(kind_cases(Sizes::odd), std::back_inserter(cases));
    for (const Case& one : cases) {
        const bool shown = is_dot(one.spec.score) || one.spec.score == Score::relative;
        if (one.spec.dropout > 0.0 || !shown) continue;
        const PooledSubject subject(one);
        const Dimensions& size = subject.source.size;
        on_every_target([&] {
            for (Index b = 0; b < size.batch; ++b)
                for (Index h = 0; h < size.heads; ++h) {
                    CHECK(compare_rows(subject, {b, h}, rows_from(0, size.tq), 3, 10) == "");
                    CHECK(compare_cells(subject, {b, h}, whole(subject), 1) == "");
                    CHECK(compare_cells(subject, {b, h}, whole(subject), 3) == "");
                }
        });
    }
}

TEST_CASE("every kind of attention agrees with the reference, under every mask and grouped heads") {
    for (const Kind& kind : kKinds)
        for (const MaskOf& mask : kMasks) {
            const PooledSubject subject(kind_case(kind, mask));
            for (Index h = 0; h < 4; ++h) CHECK(compare_arithmetic(subject, {0, h}) == "");
            on_every_target([&] {
                for (Index h = 0; h < 4; ++h) {
                    CHECK(compare_rows(subject, {0, h}, rows_from(0, 130), 32, 32) == "");
                    CHECK(compare_rows(subject, {0, h}, rows_from(3, 40, 3), 1, 200) == "");
                    CHECK(compare_rows(subject, {0, h}, rows_from(0, 130), 7, 5) == "");
                    CHECK(compare_cells(subject, {0, h}, whole(subject), 1) == "");
                    CHECK(compare_cells(subject, {0, h}, {17, 5, 101, 187}, 9) == "");
                }
            });
        }
}

TEST_CASE("keys between global tokens and a window leave nothing, and cost nothing to a texel") {
    Case one = normal_case("global tokens", {1, 1, 700, 6}, {1, 1, 700, 6}, 1);
    one.spec.mask.window = 12;
    one.spec.mask.global_tokens = 3;
    for (const bool alibi : {false, true}) {
        one.spec.alibi = alibi;
        const PooledSubject subject(one);
        on_every_target([&] {
            for (const Index side : {8, 32, 300})
                CHECK(compare_rows(subject, {}, rows_from(0, 700), side, side) == "");
            CHECK(compare_rows(subject, {}, rows_from(400, 20), 4, 64) == "");
            for (const Index side : {1, 16})
                CHECK(compare_cells(subject, {}, whole(subject), side) == "");
        });
    }
}

TEST_CASE("a rule that is wrong or forgotten shows in every head") {
    struct Fault {
        std::string_view kind;
        void (*spoil)(Case& one);
    };
    // of the call that the map is made of; the reference's stays as it was
    const Fault faults[] = {
        {"alibi", [](Case& one) { one.spec.alibi = false; }},
        {"alibi, offset", [](Case& one) { one.spec.query_offset.reset(); }},
        {"rope, offset", [](Case& one) { one.spec.query_offset.reset(); }},
        {"rope, offset", [](Case& one) { one.spec.rope->pairs = RopePairs::half; }},
        {"softcap", [](Case& one) { one.spec.softcap.reset(); }},
        {"softcap", [](Case& one) { one.spec.softcap = 1.6; }},
        {"sinks", [](Case& one) { one.inputs.params[Param::sinks] = {}; }},
        {"sinks",  // each head's is another's
         [](Case& one) { std::ranges::reverse(one.inputs.params[Param::sinks].values()); }},
        {"cosine", [](Case& one) { one.spec.score = Score::dot; }},
    };
    const auto check_fault = [](const PooledSubject& subject) {
        for (Index h = 0; h < 4; ++h) {
            CHECK(compare_rows(subject, {0, h}, rows_from(0, 130), 32, 32) != "");
            CHECK(compare_cells(subject, {0, h}, whole(subject), 1) != "");
            CHECK(compare_arithmetic(subject, {0, h}) != "");
        }
    };
    const auto case_of = [](std::string_view name) {
        const auto kind = std::ranges::find(kKinds, name, &Kind::name);
        REQUIRE(kind != std::end(kKinds));
        return kind_case(*kind, kMasks[0]);
    };
    for (const Fault& fault : faults) {
        CAPTURE(fault.kind);
        Case one = case_of(fault.kind);
        PooledSubject subject(one);
        fault.spoil(one);
        subject.source = must(weight_source(one.inputs, one.spec));
        check_fault(subject);
    }
    PooledSubject slopes(case_of("alibi"));  // those of 8 heads
    slopes.source.size.heads = 8;
    slopes.source.size.kv_heads = 4;
    check_fault(slopes);
}

TEST_CASE("NaN and +inf in Q or K make NaN of the texels of their rows, not of forbidden ones") {
    Case one = long_case("NaN", 4);
    one.inputs.q(0, 0, 3, 1) = kNan;
    one.inputs.q(0, 0, 150, 0) = kInf;
    one.inputs.k(0, 0, 120, 2) = kNan;
    for (const bool causal : {false, true}) {
        if (causal) one.spec.mask.causal = CausalAlign::top_left;
        const PooledSubject subject(one);
        on_every_target([&] {
            CHECK(compare_rows(subject, {}, rows_from(0, 211), 2, 16) == "");
            CHECK(compare_rows(subject, {}, rows_from(0, 211), 1, 1) == "");
            CHECK(compare_cells(subject, {}, whole(subject), 1) == "");
            CHECK(compare_cells(subject, {}, whole(subject), 7) == "");
        });
    }
}

TEST_CASE("allowed scores that are all -inf are NaN; a row with nothing allowed weighs 0 or NaN") {
    for (const EmptyRows policy : {EmptyRows::zero, EmptyRows::nan}) {
        Case one;
        one.name = "empty rows";
        one.inputs = column_inputs({1, 1, 2}, {-kInf, -kInf, 5, 1}, {1, 2, 3, 4});
        one.spec = masked_by(3, 4, {1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1});
        one.spec.empty_rows = policy;
        const PooledSubject subject(one);
        on_every_target([&] {
            for (const Index side : {1, 2, 9}) {
                CHECK(compare_rows(subject, {}, rows_from(0, 3), side, side) == "");
                CHECK(compare_cells(subject, {}, whole(subject), side) == "");
            }
            PooledRows out;
            REQUIRE(pool_rows(subject.source, {}, rows_from(0, 3), 1, 4, {}, out));
            CHECK(out.texels.masked(1, 0) == (policy == EmptyRows::zero));
            CHECK(!out.texels.masked(0, 0));
        });
    }
}

TEST_CASE("large scores keep their digits: a weight never exceeds 1") {
    Case one = long_case("large scores", 16);
    for (float& value : one.inputs.q.values()) value *= 60.0F;
    const PooledSubject subject(one);
    on_every_target([&] {
        CHECK(compare_rows(subject, {}, rows_from(0, 211), 8, 8) == "");
        CHECK(compare_cells(subject, {}, whole(subject), 1) == "");
        Texels out;
        PooledRows known;
        pool_rows(subject.source, {}, rows_from(0, 211), 1, 32, {}, known);
        pool_cells(subject.source, {}, known.logsumexp, 0, 0, 211, 293, 1, {}, out);
        for (const float weight : out.mean) CHECK(weight <= 1.0F);
    });
}

TEST_CASE("a stopped map says so") {
    const PooledSubject subject(long_case("stop", 4));
    PooledRows out;
    CHECK(!pool_rows(subject.source, {}, rows_from(0, 211), 32, 32, stopped(), out));
    CHECK(!pool_rows(subject.source, {}, rows_from(0, 211), 1, 1, stopped(), out));
    const std::vector<float> logsumexp(211, 5.0F);
    CHECK(!pool_cells(subject.source, {}, logsumexp, 0, 0, 211, 293, 4, stopped(), out.texels));
}

TEST_CASE("a strip of the pass is whole texels, and whole groups of lanes for blocks 32 and 64") {
    on_every_target([] {
        for (const Index pool : {1, 32, 64, 128, 1024, 100'000})
            CHECK(strip_rows(pool) % pool == 0);
        for (const Index pool : {32, 64}) CHECK(strip_rows(pool) % query_group_lanes() == 0);
    });
}

TEST_CASE("a bias that is large in a whole row leaves its weights as they are") {
    const Case plain = long_case("plain", 5);
    for (const float size : {-1e6F, 1e9F, -1e38F, std::numeric_limits<float>::lowest()})
        for (const bool one_key : {false, true}) {
            CAPTURE(size);
            CAPTURE(one_key);
            Case one = plain;
            Tensor bias(Shape{1, 1, 211, 293}, size);
            for (Index i = 0; i < 211 && one_key; ++i) {  // another key is far below
                bias(0, 0, i, 7) = size < 0.0F ? kForbidding : 0.0F;
            }
            one.spec.mask.bias = make_bias(bias);
            Case without = plain;
            if (one_key) {
                Mask mask(Shape{1, 1, 211, 293}, 1);
                for (Index i = 0; i < 211; ++i) mask(0, 0, i, 7) = 0;
                without.spec.mask.custom = std::make_shared<const Mask>(std::move(mask));
            }
            const auto biased = must(weight_source(one.inputs, one.spec));
            const auto source = must(weight_source(without.inputs, without.spec));
            PooledRows got, wanted;
            REQUIRE(pool_rows(biased, {}, rows_from(0, 211), 1, 1, {}, got));
            REQUIRE(pool_rows(source, {}, rows_from(0, 211), 1, 1, {}, wanted));
            double worst = 0.0;
            for (std::size_t n = 0; n < wanted.texels.mean.size(); ++n)
                worst = std::max(worst, std::abs(static_cast<double>(got.texels.mean[n]) -
                                                 static_cast<double>(wanted.texels.mean[n])));
            // Added to 1e38 a score has no digit left in float64, and the row is even.
            const bool even = std::abs(size) > 1e16F;
            const auto shown = static_cast<double>(got.texels.mean[got.texels.at(3, 5)]);
            if (!even) CHECK(worst < 1e-5);
            if (even)
                CHECK(shown == doctest::Approx(1.0 / (one_key ? 292.0 : 293.0)).epsilon(1e-5));
            CHECK(cell_arithmetic(biased, {}, {3, 5}).weight ==
                  doctest::Approx(shown).epsilon(1e-4));
        }
}

TEST_CASE("a map needs no values and refuses dropout and scores that are no dot products") {
    Case one = long_case("source", 4);
    one.inputs.v = {};
    const auto source = must(weight_source(one.inputs, one.spec));
    CHECK(*source.q == one.inputs.q);
    CHECK(*source.k == one.inputs.k);
    CHECK(source.size.tk == 293);
    one.spec.dropout = 0.25;
    CHECK(weight_source(one.inputs, one.spec).error().text() ==
          "dropout is 0.25: a map shows weights before dropout, so 0 is expected");
    one.spec.dropout = 0.0;
    one.spec.score = Score::student_t;
    CHECK(weight_source(one.inputs, one.spec).error().text() ==
          "the score is student_t, but a map of weights needs dot products: dot, cosine, "
          "general or relative is expected");
    one.inputs.k = normal_tensor<float>({1, 1, 293, 5}, 2);
    CHECK(weight_source(one.inputs, {}).error().text() ==
          "K has width 5 but Q has width 4: q·k needs the same d_k (Q [1, 2, 211, 4], K [1, 1, "
          "293, 5])");
    CHECK(weight_source({}, {}).error().text() ==
          "give either X with W_Q, W_K and W_V, or all of Q, K and V");
}

TEST_CASE("ALiBi: a query 10⁷ tokens from its keys keeps the digits of its weights") {
    Case one = normal_case("far", {1, 2, 40, 8}, {1, 2, 150, 8}, 1);
    one.spec.alibi = true;
    one.spec.query_offset = 10'000'000;
    for (const bool sinks : {false, true}) {
        // the sink counts where it is as far below as the keys
        const float low = -625000.0F;  // slope 1/16
        if (sinks) one.inputs.params[Param::sinks] = Tensor({1, 1, 1, 2}, {low, -2.0F});
        const PooledSubject subject(one);
        for (const Index h : {Index{0}, Index{1}}) {
            PooledRows out;
            const auto rows = rows_from(0, 40);
            REQUIRE(pool_rows(subject.source, {0, h}, rows, 1, 16, {}, out));
            Texels cells;
            REQUIRE(pool_cells(subject.source, {0, h}, out.logsumexp, 0, 0, 40, 150, 1, {}, cells));
            for (Index i = 0; i < 40; ++i)
                for (Index j = 0; j < 150; ++j)
                    CHECK(near(static_cast<double>(cells.mean[cells.at(i, j)]),
                               subject.exact[Stage::weights](0, h, i, j), {1e-7, 3e-5}));
        }
    }
}
