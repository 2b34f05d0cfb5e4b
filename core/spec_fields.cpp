#include "core/spec_fields.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/rope_scale.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"

namespace attn {
namespace {

// Text of a value that is not the default.
template <class T>
std::string unless(const T& value, const T& usual) {
    return value == usual ? std::string() : fmt::format("{}", value);
}
template <class T>
std::string unless(const std::optional<T>& value, const std::optional<T>& /*unset*/) {
    return value ? fmt::format("{}", *value) : std::string();
}
template <auto Member>
std::string spec_text(const AttentionSpec& spec) {
    return unless(spec.*Member, AttentionSpec{}.*Member);
}
template <auto Member>
std::string mask_text(const AttentionSpec& spec) {
    return unless(spec.mask.*Member, MaskSpec{}.*Member);
}
template <auto Member>
std::string rope_text(const AttentionSpec& spec) {
    return spec.rope ? unless((*spec.rope).*Member, Rope{}.*Member) : std::string();
}
/// Of no effect with tables.
std::string rope_base_text(const AttentionSpec& spec) {
    return spec.rope && spec.rope->tables ? std::string() : rope_text<&Rope::base>(spec);
}
/// Stated with tables, whose columns may be read in two ways.
std::string rope_dims_text(const AttentionSpec& spec) {
    const bool tables = spec.rope && spec.rope->tables;
    return tables ? fmt::format("{}", 2 * spec.rope->tables->q_cos.shape().d)
                  : rope_text<&Rope::dims>(spec);
}
std::string score_text(const AttentionSpec& spec) {
    return spec.score == Score::dot ? std::string() : std::string(info(spec.score).key);
}
std::string scale_text(const AttentionSpec& spec) {
    if (spec.scale == ScaleKind::value) return fmt::format("{}", spec.scale_value);
    if (spec.scale == ScaleKind::q_and_k) return "q_and_k";
    return spec.scale == ScaleKind::none ? "none" : "";
}
std::string pairs_text(const AttentionSpec& spec) {
    if (!spec.rope) return {};
    return spec.rope->pairs == RopePairs::half ? "half" : "interleaved";
}
std::string rope_scaling_text(const AttentionSpec& spec) {
    if (!spec.rope || spec.rope->tables || spec.rope->scaling.kind == RopeScale::none) return {};
    const RopeScaleInfo& row = info(spec.rope->scaling.kind);
    std::string text(row.key);
    for (std::size_t n = 0; n < row.count; ++n)
        text += fmt::format(",{}", spec.rope->scaling.*kRopeScaleNumbers[n]);
    return text;
}
std::string causal_text(const AttentionSpec& spec) {
    if (!spec.mask.causal) return {};
    return *spec.mask.causal == CausalAlign::top_left ? "top-left" : "bottom-right";
}
std::string padding_text(const AttentionSpec& spec) {
    return fmt::format("{}", fmt::join(spec.mask.padding, ","));
}
std::string empty_rows_text(const AttentionSpec& spec) {
    return spec.empty_rows == EmptyRows::nan ? "nan" : "";
}

/// A mask rule that is one whole number.
template <auto Member>
constexpr SpecField mask_count(std::string_view key, std::string_view title, Index least) {
    return {key, title, "the mask", "none", Stage::masked, mask_text<Member>, Member, least};
}

template <auto Member>
std::optional<double> spec_number(const AttentionSpec& spec) {
    const std::optional<double> number = spec.*Member;
    return number;
}
std::optional<double> scale_number(const AttentionSpec& spec) {
    return spec.scale == ScaleKind::value ? std::optional(spec.scale_value) : std::nullopt;
}
/// Whole numbers that a double holds exactly, far from overflow.
std::optional<double> offset_number(const AttentionSpec& spec) {
    return spec.query_offset ? std::optional(static_cast<double>(*spec.query_offset))
                             : std::nullopt;
}

/// The same row, of a number in [low, high].
constexpr SpecField in_range(SpecField row, std::optional<double> (*number)(const AttentionSpec&),
                             double low, double high, std::string_view expected) {
    row.number = number;
    row.low = low;
    row.high = high;
    row.expected = expected;
    return row;
}
constexpr std::string_view kFactor = "it must be a number from 1e-18 to 1e18";

constexpr SpecField kFields[] = {
    {"score", "score", "the score", "dot", Stage::scores, score_text},
    in_range({"scale", "scaling", "the scaling", "sqrt_dk", Stage::scaled, scale_text},
             scale_number, -kLargestFactor, kLargestFactor,
             "it must be a number from -1e18 to 1e18"),
    in_range({"temperature", "temperature", "the temperature", "1", Stage::scaled,
              spec_text<&AttentionSpec::temperature>},
             spec_number<&AttentionSpec::temperature>, 1.0 / kLargestFactor, kLargestFactor,
             kFactor),
    in_range(
        {"qk_norm", "QK-norm", "QK-norm", "off", Stage::q_norm, spec_text<&AttentionSpec::qk_norm>},
        spec_number<&AttentionSpec::qk_norm>, 0.0, kLargestFactor,
        "it is added to a mean square, so a number from 0 to 1e18 is expected"),
    {"rope", "RoPE", "RoPE", "off", Stage::q_rot, pairs_text},
    {"rope_base", "RoPE's base", "RoPE", "10000", Stage::q_rot, rope_base_text},
    {"rope_scaling", "RoPE's scaling", "", "none", Stage::q_rot, rope_scaling_text},
    {"rope_dims", "RoPE's columns", "RoPE", "none", Stage::q_rot, rope_dims_text},
    in_range({"softcap", "soft cap", "the soft cap", "none", Stage::biased,
              spec_text<&AttentionSpec::softcap>},
             spec_number<&AttentionSpec::softcap>, 1.0 / kLargestFactor, kLargestFactor, kFactor),
    {"bias_before_softcap", "bias before the soft cap", "the order of bias and soft cap", "off",
     Stage::biased, spec_text<&AttentionSpec::bias_before_softcap>},
    {"alibi", "ALiBi", "ALiBi", "off", Stage::biased, spec_text<&AttentionSpec::alibi>},
    in_range(
        {"dropout", "dropout", "dropout", "0", Stage::dropped, spec_text<&AttentionSpec::dropout>},
        spec_number<&AttentionSpec::dropout>, 0.0, 1.0 - 0x1p-53,
        "it must be at least 0 and below 1"),
    {"seed", "seed of dropout", "", "0", Stage::dropped, spec_text<&AttentionSpec::seed>},
    {"training", "", "dropout", "on", Stage::dropped, spec_text<&AttentionSpec::training>},
    in_range({"query_offset",
              "position of query 0",
              "the query offset",
              "none",
              {},
              spec_text<&AttentionSpec::query_offset>},
             offset_number, 0.0, 0x1p40, "it must be 0 to 2^40"),
    {"causal", "causal mask", "the mask", "off", Stage::masked, causal_text},
    mask_count<&MaskSpec::window>("window", "window", 0),
    mask_count<&MaskSpec::window_left>("window_left", "window to the left", 0),
    mask_count<&MaskSpec::window_right>("window_right", "window to the right", 0),
    {"global_tokens", "global tokens", "the mask", "0", Stage::masked,
     mask_text<&MaskSpec::global_tokens>},
    mask_count<&MaskSpec::block>("block", "block mask", 1),
    {"padding", "the padding mask", "the mask", "", Stage::masked, padding_text},
    {"empty_rows", "empty rows", "", "0", Stage::weights, empty_rows_text},
};

}  // namespace

std::span<const SpecField> spec_fields() { return kFields; }

std::string number_out_of_range(const AttentionSpec& spec) {
    for (const SpecField& field : kFields)
        if (const auto number = field.number ? field.number(spec) : std::nullopt;
            number && !(*number >= field.low && *number <= field.high))
            return fmt::format("{} is {}: {}", field.key, field.text(spec), field.expected);
    return {};
}

bool same(const SpecField& field, const AttentionSpec& a, const AttentionSpec& b) {
    const bool unused = field.stage == Stage::dropped && !a.drops() && !b.drops();
    return unused || field.text(a) == field.text(b);
}

bool same_settings(Stage stage, const AttentionSpec& a, const AttentionSpec& b) {
    return std::ranges::all_of(spec_fields(), [&](const SpecField& field) {
        return field.stage != stage || same(field, a, b);
    });
}

}  // namespace attn
