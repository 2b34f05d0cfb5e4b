// Every fault of the table, planted in loops that share nothing with the hypotheses, is the one that is named.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "core/bias.h"
#include "core/cast.h"
#include "core/dropout.h"
#include "core/entries.h"
#include "core/rng.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/verify/diagnose.h"
#include "tests/support/inputs.h"
#include "tests/verify/flash.h"
#include "tests/verify/plain.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

using Keys = std::vector<std::string_view>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A call, what a kernel with a fault gives for it, and the sets of results in which the fault shows.
struct PlantedCase {
    Inputs in;
    AttentionSpec spec;
    Trace results;
    std::vector<std::vector<Stage>> shown = {{}, {Stage::weights}, {Stage::context}};  // {}: all
};

struct Sizes {
    Index b = 2, h = 4, hkv = 4, tq = 7, tk = 7, d = 8, d_v = 8;
};

/// Q, K and V of standard normal numbers, and the loops set up for the call without a fault.
struct Maker {
    explicit Maker(const Sizes& n, double size = 1.0) {
        planted.in = normal_inputs({n.b, n.h, n.tq, n.d}, {n.b, n.hkv, n.tk, n.d},
                                   {n.b, n.hkv, n.tk, n.d_v}, size);
        plain.q = planted.in.q, plain.k = planted.in.k, plain.v = planted.in.v;
        plain.factor = 1.0 / std::sqrt(static_cast<double>(n.d));
        const Index group = n.h / n.hkv;
        plain.key_head = plain.value_head = [group](Index h) { return h / group; };
    }
    PlantedCase done() {
        planted.results = run_plain(plain);
        return planted;
    }
    PlantedCase done(std::vector<std::vector<Stage>> shown) {
        planted.shown = std::move(shown);
        return done();
    }

    PlantedCase planted;
    ViewActions plain;
};

bool causal(Index, Index i, Index j) { return j <= i; }

std::shared_ptr<const Mask> mask_of(const Shape& shape,
                                    const std::function<bool(Index, Index, Index)>& keep) {
    Mask mask(shape);
    for_each_entry(shape, [&](Index b, Index h, Index i, Index j) {
        mask(b, h, i, j) = keep(b, i, j) ? 1 : 0;
    });
    return std::make_shared<const Mask>(std::move(mask));
}

/// Of a call under `asked`, by loops that allow other pairs.
PlantedCase other_mask(MaskSpec asked, const std::function<bool(Index, Index, Index)>& allowed,
                       const Sizes& sizes = {}, double empty = 0.0) {
    Maker make(sizes);
    make.planted.spec.mask = std::move(asked);
    make.plain.allowed = allowed;
    make.plain.empty = empty;
    return make.done();
}

bool any(Index, Index, Index) { return true; }

const MaskSpec kCausal = causal_spec().mask;
MaskSpec padded(std::vector<Index> lengths, MaskSpec mask = kCausal) {
    mask.padding = std::move(lengths);
    return mask;
}

PlantedCase top_left() {
    return other_mask(causal_spec(CausalAlign::bottom_right).mask, causal, {2, 4, 4, 3, 7});
}
PlantedCase one_key_more() {
    return other_mask(kCausal, [](Index, Index i, Index j) { return j <= i + 1; });
}

PlantedCase inverted(double empty) {
    return other_mask(
        kCausal, [](Index, Index i, Index j) { return j > i; }, {}, empty);
}
PlantedCase inverted_padding() {
    return other_mask(padded({5, 6}),
                      [](Index b, Index i, Index j) { return j <= i && j >= 5 + b; });
}

PlantedCase transposed() {
    return other_mask(kCausal, [](Index, Index i, Index j) { return j >= i; });
}

PlantedCase dropped() { return other_mask(kCausal, any); }
PlantedCase dropped_padding() { return other_mask(padded({5, 4}), causal); }

PlantedCase scaled_by(double factor) {
    Maker make({});
    make.planted.spec = causal_spec();
    make.plain.allowed = causal;
    make.plain.factor = factor;
    return make.done();
}
PlantedCase odd_scale() {
    PlantedCase made = scaled_by(1.0 / std::sqrt(13.0));
    made.shown = {{}, {Stage::weights}, {Stage::scaled}};  // from context alone it takes a guess
    return made;
}

PlantedCase no_temperature() {
    Maker make({});
    make.planted.spec = causal_spec();
    make.planted.spec.scale = ScaleKind::value;
    make.planted.spec.scale_value = 0.6;
    make.planted.spec.temperature = 2.0;
    make.plain.allowed = causal;
    make.plain.factor = 0.6;
    return make.done();
}

PlantedCase wrong_axis() {
    Maker make({});
    make.plain.over_queries = true;
    return make.done();
}

PlantedCase tiled() {
    Maker make({2, 4, 2});
    make.plain.key_head = make.plain.value_head = [](Index h) { return h % 2; };
    return make.done();
}

std::function<double(Index, Index)> angle_of(Index d) {
    return [d](Index p, Index c) {
        return static_cast<double>(p) *
               std::pow(10000.0, -2.0 * static_cast<double>(c) / static_cast<double>(d));
    };
}
PlantedCase pairs(RopePairs right) {
    Maker make({});
    make.planted.spec.rope = Rope{right, 10000.0, {}};
    const bool half = right == RopePairs::interleaved;  // the other way
    make.plain.q = turned(make.plain.q, 0, half, angle_of(8));
    make.plain.k = turned(make.plain.k, 0, half, angle_of(8));
    PlantedCase made = make.done();
    made.results[Stage::q_rot] = make.plain.q;
    made.results[Stage::k_rot] = make.plain.k;
    made.shown.push_back({Stage::q_rot});
    return made;
}

PlantedCase coarse(bool everything) {
    Maker make({1, 1, 1, 2, 300});
    make.planted.spec.rope = Rope{};
    make.planted.spec.query_offset = 298;
    const auto angle = [everything](Index p, Index c) {
        const double position = to_bf16(static_cast<double>(p));
        const double frequency = std::pow(10000.0, -2.0 * static_cast<double>(c) / 8.0);
        return everything ? to_bf16(position * to_bf16(frequency)) : position * frequency;
    };
    make.plain.q = turned(make.plain.q, 298, true, angle);
    make.plain.k = turned(make.plain.k, 0, true, angle);
    return make.done();
}

/// Batch entry 1 has two tokens of padding in front; query 0 stands at position `first`.
PlantedCase left_padding(Index first) {
    Maker make({});
    const auto valid = [](Index b, Index, Index j) { return b == 0 || j >= 2; };
    make.planted.spec.rope = Rope{};
    make.planted.spec.query_offset = first;
    make.planted.spec.mask.custom = mask_of({2, 1, 1, 7}, valid);
    make.plain.allowed = valid;
    const auto angle = angle_of(8);
    const auto moved = [angle](Index p, Index c) { return angle(std::max<Index>(p - 2, 0), c); };
    make.plain.k = turned(make.plain.k, 0, true, angle);
    const Tensor q = turned(make.plain.q, first, true, angle),
                 q_moved = turned(make.plain.q, first, true, moved);
    for_each_entry(q.shape(), [&](Index b, Index h, Index i, Index c) {
        make.plain.q(b, h, i, c) = (b == 0 ? q : q_moved)(b, h, i, c);
    });
    return make.done();
}
PlantedCase wrong_end() {
    return other_mask(padded({7, 4}, {}), [](Index b, Index, Index j) { return b == 0 || j >= 3; });
}

PlantedCase empty_rows(double weight) {
    Maker make({});
    make.plain.allowed = [](Index, Index i, Index j) { return i != 2 && j <= i; };
    make.planted.spec.mask.custom = mask_of({1, 1, 7, 7}, make.plain.allowed);
    make.plain.empty = weight;
    return make.done();
}

PlantedCase beaten() {
    Maker make({}, 120.0);
    make.planted.spec = causal_spec();
    make.plain.allowed = causal;
    make.plain.fill = -1e4;
    return make.done();
}

/// One forbidden key of four has e^-10 times their weight: some 1e-5 of a row.
PlantedCase leaking() {
    Maker make({1, 2, 2, 9, 4, 64, 64});
    make.planted.spec.mask = padded({3}, {});
    make.plain.allowed = [](Index, Index, Index j) { return j < 3; };
    make.plain.fill = -10.0;
    return make.done({{Stage::context}});
}

PlantedCase wide_window() {
    MaskSpec asked = kCausal;
    asked.window = 2;
    return other_mask(asked, [](Index, Index i, Index j) { return j <= i && i - j <= 3; });
}
PlantedCase narrow_window() {
    MaskSpec asked;
    asked.window = 2;
    return other_mask(asked, [](Index, Index i, Index j) { return std::abs(i - j) <= 1; });
}

PlantedCase no_cap() {
    Maker make({}, 2.0);
    make.planted.spec.softcap = 1.5;
    make.plain.biases = true;
    return make.done();
}

PlantedCase slopes(Index heads, double step) {
    Maker make({2, heads, heads});
    make.planted.spec.alibi = true;
    make.plain.biases = true;
    make.plain.bias = [step](double scaled, Index h, Index i, Index j) {
        return scaled -
               std::exp2(-step * static_cast<double>(h + 1)) * static_cast<double>(std::abs(i - j));
    };
    return make.done();
}
PlantedCase odd_slopes() {
    PlantedCase made = slopes(4, 1.3);
    made.shown = {{}, {Stage::weights}};  // from context alone it takes a guess
    return made;
}

/// Of a call with a bias of each head's own, by a kernel that adds another number; `cap`: with a soft cap before it.
PlantedCase with_bias(const std::function<double(double scaled, const Tensor& bias, Index h,
                                                 Index i, Index j)>& logit,
                      std::optional<double> cap = std::nullopt) {
    Maker make({});
    const Tensor bias = normal_tensor<float>({1, 4, 7, 7}, 31);
    make.planted.spec.mask.bias = make_bias(bias);
    make.planted.spec.softcap = cap;
    make.plain.biases = true;
    make.plain.bias = [logit, bias](double scaled, Index h, Index i, Index j) {
        return logit(scaled, bias, h, i, j);
    };
    return make.done();
}
double entry(const Tensor& bias, Index h, Index i, Index j) {
    return static_cast<double>(bias(0, h, i, j));
}
PlantedCase dropped_bias() {
    return with_bias([](double scaled, const Tensor&, Index, Index, Index) { return scaled; });
}
PlantedCase bias_before_scale() {
    return with_bias([](double scaled, const Tensor& bias, Index h, Index i, Index j) {
        return scaled + entry(bias, h, i, j) / std::sqrt(8.0);
    });
}
PlantedCase transposed_bias() {
    return with_bias([](double scaled, const Tensor& bias, Index h, Index i, Index j) {
        return scaled + entry(bias, h, j, i);
    });
}
PlantedCase subtracted_bias() {
    return with_bias([](double scaled, const Tensor& bias, Index h, Index i, Index j) {
        return scaled - entry(bias, h, i, j);
    });
}
PlantedCase bias_of_head_0() {
    return with_bias([](double scaled, const Tensor& bias, Index, Index i, Index j) {
        return scaled + entry(bias, 0, i, j);
    });
}
PlantedCase capped_bias() {
    return with_bias([](double scaled, const Tensor& bias, Index h, Index i,
                        Index j) { return 1.5 * std::tanh((scaled + entry(bias, h, i, j)) / 1.5); },
                     1.5);
}

PlantedCase dropping() {
    Maker make({2, 4, 4, 16, 16});
    make.plain.keep = [](Index b, Index h, Index i, Index j) {
        const auto pair = static_cast<std::uint64_t>(((b * 4 + h) * 16 + i) * 16 + j);
        return uniform(99, pair) < 0.2 ? 0.0 : 1.25;
    };
    return make.done({{}, {Stage::weights}, {Stage::weights, Stage::context}});
}

PlantedCase leaking_blocks() {
    MaskSpec asked = kCausal;
    asked.block = 3;
    return other_mask(asked, causal);
}
PlantedCase leaking_mask() {
    MaskSpec asked;
    asked.custom =
        mask_of({1, 1, 7, 7}, [](Index, Index i, Index j) { return j <= i && (i < 3) == (j < 3); });
    return other_mask(asked, causal);
}

PlantedCase untransposed() {
    Maker make({});
    make.plain.transposes = false;
    return make.done({{}, {Stage::output}});
}

/// GPT-NeoX's [q, k, v] of head after head, read as all Q, all K, all V.
PlantedCase split() {
    Maker make({});
    const auto& [q, k, v, rest] =
        std::tie(make.planted.in.q, make.planted.in.k, make.planted.in.v, make.plain);
    for (Index b = 0; b < 2; ++b)
        for (Index t = 0; t < 7; ++t) {
            std::vector<float> row;
            for (Index h = 0; h < 4; ++h)
                for (const Tensor* part : {&q, &k, &v})
                    for (Index c = 0; c < 8; ++c) row.push_back((*part)(b, h, t, c));
            for (Index h = 0; h < 4; ++h)
                for (Index c = 0; c < 8; ++c) {
                    const auto at = static_cast<std::size_t>(h * 8 + c);
                    rest.q(b, h, t, c) = row[at];
                    rest.k(b, h, t, c) = row[at + 32];
                    rest.v(b, h, t, c) = row[at + 64];
                }
        }
    PlantedCase made = make.done();
    made.results[Stage::q] = rest.q, made.results[Stage::k] = rest.k,
    made.results[Stage::v] = rest.v;
    return made;
}

PlantedCase next_values() {
    Maker make({});
    make.plain.value_head = [](Index h) { return (h + 1) % 4; };
    return make.done({{}, {Stage::context}, {Stage::output}});
}

PlantedCase unscaled() {
    Maker make({});
    make.planted.spec.dropout = 0.3;
    make.planted.spec.seed = 5;
    const AttentionSpec spec = make.planted.spec;
    make.plain.keep = [spec](Index b, Index h, Index i, Index j) {
        Dimensions size;
        size.batch = 2, size.heads = 4, size.tq = size.tk = 7;
        return dropout_factor(spec, size, b, h, i, j) > 0.0 ? 1.0 : 0.0;
    };
    PlantedCase made = make.done();
    std::swap(made.results[Stage::dropped], made.results[Stage::weights]);
    made.shown = {{}, {Stage::dropped}, {Stage::context}};
    return made;
}

PlantedCase short_operands() {
    Maker make({});
    for (Tensor* tensor : {&make.plain.q, &make.plain.k, &make.plain.v})
        for (float& value : tensor->values())
            value = static_cast<float>(to_bf16(static_cast<double>(value)));
    return make.done();
}
PlantedCase short_weights() {
    Maker make({});
    make.plain.round = to_bf16;
    return make.done({{}, {Stage::context}, {Stage::output}});
}

/// What a tiled kernel with this bug gives of 75 keys.
PlantedCase tiled_kernel(Bug bug, bool is_causal = false, Index b = 1) {
    PlantedCase made;
    made.in = normal_inputs({b, 4, 75, 16}, {b, 2, 75, 16}, {b, 2, 75, 16});
    if (is_causal) made.spec = causal_spec();
    Flash flash;
    flash.q = made.in.q, flash.k = made.in.k, flash.v = made.in.v;
    flash.bug = bug;
    if (is_causal) flash.reach = 0;
    FlashOut out = run_flash(flash);
    made.results[Stage::context] = std::move(out.context);
    made.results.logsumexp = std::move(out.logsumexp);
    made.shown = {{}};
    return made;
}
std::function<PlantedCase()> kernel(Bug bug, bool is_causal = false, Index b = 1) {
    return [=] { return tiled_kernel(bug, is_causal, b); };
}
PlantedCase tokens_first() {
    PlantedCase made;
    made.in = normal_inputs({1, 4, 8, 16});
    Flash flash;
    flash.q = made.in.q, flash.k = made.in.k, flash.v = made.in.v;
    flash.bug = Bug::layout;
    made.results[Stage::context] = run_flash(flash).context;
    made.shown = {{}};
    return made;
}

PlantedCase not_written(float value, bool weights) {
    PlantedCase made = Maker({.tq = 20, .tk = 20})
                           .done(weights ? std::vector<std::vector<Stage>>{{}}
                                         : std::vector<std::vector<Stage>>{{}, {Stage::context}});
    for (const Stage stage : {Stage::weights, Stage::context, Stage::output})
        if (weights || stage != Stage::weights)
            std::ranges::fill(made.results[stage].values(), value);
    if (weights) std::ranges::fill(made.results.logsumexp.values(), value);
    return made;
}

/// RoPE that a kernel does not turn by, or turns by another base; `offset`: it turns queries from 0 on.
PlantedCase ignored_rope(double base, bool turns, Index offset = 0) {
    Maker make({.tq = 4, .tk = 9});
    make.planted.spec.rope = Rope{RopePairs::half, base, {}};
    make.planted.spec.query_offset = 5;
    if (turns) {
        make.plain.q = turned(make.plain.q, 5 - offset, true, angle_of(8));
        make.plain.k = turned(make.plain.k, 0, true, angle_of(8));
    }
    return make.done();
}

/// ALiBi, or a window, that counts queries from 0 though they begin at 3.
PlantedCase offset_ignored(bool window) {
    Maker make({.tq = 4, .tk = 7});
    make.planted.spec.query_offset = 3;
    if (window) {
        make.planted.spec.mask.window = 1;
        make.plain.allowed = [](Index, Index i, Index j) { return std::abs(i - j) <= 1; };
        return make.done();
    }
    make.planted.spec.alibi = true;
    make.plain.biases = true;
    make.plain.bias = [](double scaled, Index h, Index i, Index j) {
        return scaled -
               std::exp2(-2.0 * static_cast<double>(h + 1)) * static_cast<double>(std::abs(i - j));
    };
    return make.done();
}

PlantedCase no_sinks() {
    PlantedCase made = Maker({}).done();
    made.in.params[Param::sinks] = normal_tensor<float>({1, 1, 1, 4}, 5);
    return made;
}

/// By key of the table.
const std::map<std::string_view, std::vector<std::function<PlantedCase()>>>& cases() {
    static const std::map<std::string_view, std::vector<std::function<PlantedCase()>>> all{
        {"causal_alignment", {top_left, one_key_more}},
        {"mask_inverted",
         {[] { return inverted(kNan); }, [] { return inverted(0.0); }, inverted_padding}},
        {"mask_transposed", {transposed}},
        {"mask_dropped", {dropped, dropped_padding}},
        {"scale",
         {[] { return scaled_by(1.0 / 8.0); }, [] { return scaled_by(1.0); },
          [] { return scaled_by(1.0 / std::sqrt(32.0)); }, odd_scale}},
        {"temperature", {no_temperature}},
        {"rope",
         {[] { return ignored_rope(10000.0, false); }, [] { return ignored_rope(5e5, true); },
          [] { return ignored_rope(10000.0, true, 5); }}},
        {"query_offset",
         {[] { return offset_ignored(false); }, [] { return offset_ignored(true); }}},
        {"sinks", {no_sinks}},
        {"softmax_axis", {wrong_axis}},
        {"gqa_tiled", {tiled}},
        {"rope_pairing",
         {[] { return pairs(RopePairs::half); }, [] { return pairs(RopePairs::interleaved); }}},
        {"rope_angles", {[] { return coarse(true); }, [] { return coarse(false); }}},
        {"padding_positions",
         {[] { return left_padding(0); }, [] { return left_padding(3); }, wrong_end}},
        {"empty_rows", {[] { return empty_rows(1.0 / 7.0); }, [] { return empty_rows(kNan); }}},
        {"mask_value", {beaten, leaking}},
        {"window_off_by_one", {wide_window, narrow_window}},
        {"softcap", {no_cap}},
        {"bias",
         {dropped_bias, bias_before_scale, transposed_bias, subtracted_bias, bias_of_head_0,
          capped_bias}},
        {"alibi_slopes", {[] { return slopes(6, 8.0 / 6.0); }, odd_slopes}},
        {"dropout_active", {dropping}},
        {"document_leak", {leaking_blocks, leaking_mask}},
        {"heads_not_transposed", {untransposed}},
        {"fused_split", {split}},
        {"value_group", {next_values}},
        {"dropout_unscaled", {unscaled}},
        {"low_precision", {short_operands, short_weights}},
        {"not_written",
         {[] { return not_written(0.0F, false); }, [] { return not_written(NAN, false); },
          [] { return not_written(NAN, true); }}},
        {"causal_unasked", {[] { return other_mask({}, causal); }}},
        {"tile_skipped",
         {kernel(Bug::first_tile_skipped), kernel(Bug::diagonal_tile_skipped, true),
          kernel(Bug::query_tile_not_written)}},
        {"tail", {kernel(Bug::tail_dropped), kernel(Bug::tail_counts_zeros)}},
        {"mask_tile", {kernel(Bug::diagonal_tile_unmasked, true)}},
        {"query_tile", {kernel(Bug::query_tile_late, true), kernel(Bug::last_query_tile_clamped)}},
        {"not_rescaled",
         {kernel(Bug::accumulator_not_rescaled, true), kernel(Bug::sum_not_rescaled)}},
        {"stale_maximum", {kernel(Bug::maximum_stale)}},
        {"normaliser", {kernel(Bug::not_normalised), kernel(Bug::normalised_by_last_tile)}},
        {"base_2", {kernel(Bug::logsumexp_in_log2), kernel(Bug::exp2_without_log2e, true)}},
        {"logsumexp", {kernel(Bug::logsumexp_unscaled_maximum)}},
        {"heads_permuted", {kernel(Bug::heads_reversed)}},
        {"key_group", {kernel(Bug::group_next)}},
        {"batch", {kernel(Bug::batch_first, false, 2)}},
        {"layout", {tokens_first}},
    };
    return all;
}

/// Rows that are planted in serve_test.cpp: of pages, packed sequences and scales, and of QK-norm and gates.
constexpr std::string_view kOfServing[] = {"split_merge",     "page",       "page_table",
                                           "sequence_length", "cu_seqlens", "code_scale",
                                           "qk_norm",         "gate"};

Trace only(const Trace& results, const std::vector<Stage>& stages) {
    if (stages.empty()) return results;
    Trace some;
    for (const Stage stage : stages) some[stage] = results[stage];
    return some;
}

void check_named(std::string_view key, const PlantedCase& made, const std::vector<Stage>& shown) {
    const Subject subject = make_subject(cast<double>(made.in), made.spec).value();
    const Results results = only(made.results, shown);
    const BoundsOf bounds = [&](const TraceD& stages, BoundsDetail detail) {
        return forward_bounds(subject, stages, kFloatRoundoff, detail);
    };
    REQUIRE(cells_beyond(results, subject.reference,
                         bounds(subject.reference, BoundsDetail::entries)) > 0);
    const Diagnosis diagnosis = diagnose(subject, results, bounds);
    Keys named;
    std::string text;
    for (const std::size_t n : diagnosis.named) {
        named.push_back(diagnosis.outcomes[n].fault->key);
        text += fmt::format("{}: {} (x{:.3g}); ", named.back(), diagnosis.outcomes[n].variant,
                            diagnosis.outcomes[n].factor());
    }
    for (const verify::Outcome& outcome : diagnosis.outcomes)
        if (outcome.fault->key == key && named.empty())
            text += fmt::format("{} before {:.3g} after {:.3g} {}", outcome.variant, outcome.before,
                                outcome.after, outcome.reason);
    CAPTURE(text);
    CHECK(diagnosis.explained);
    CHECK(named == Keys{key});
}

}  // namespace

TEST_CASE("each fault of the table, planted, is named, and it alone") {
    for (const Fault& fault : fault_table()) {
        CAPTURE(fault.key);
        if (std::ranges::count(kOfServing, fault.key) > 0) continue;
        REQUIRE(cases().contains(fault.key));
        for (std::size_t n = 0; n < cases().at(fault.key).size(); ++n) {
            CAPTURE(n);
            const PlantedCase made = cases().at(fault.key)[n]();
            for (const std::vector<Stage>& shown : made.shown) {
                std::string which;
                for (const Stage stage : shown) which += std::string(info(stage).key) + " ";
                CAPTURE(which);
                check_named(fault.key, made, shown);
            }
        }
    }
    CHECK(cases().size() + std::size(kOfServing) == fault_table().size());
}

TEST_CASE("every row of the table has words, a remedy and a source") {
    for (const Fault& fault : fault_table()) {
        CAPTURE(fault.key);
        CHECK(!fault.text.empty());
        CHECK(!fault.remedy.empty());
        CHECK(!fault.source.empty());
        CHECK((fault.plant != nullptr));
    }
}
