#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/files/options.h"
#include "core/io/json.h"
#include "core/scores/score.h"

namespace attn::files {
namespace {

// What a spec says of an option: "" where it is as by default.
template <class T>
std::string unless(const T& value, const T& usual) {
    return value == usual ? std::string() : fmt::format("{}", value);
}
template <class T>
std::string unless(const std::optional<T>& value, const std::optional<T>& /*unset*/) {
    return value ? fmt::format("{}", *value) : std::string();
}
template <auto Member>
std::string said_spec(const AttentionSpec& spec) {
    return unless(spec.*Member, AttentionSpec{}.*Member);
}
template <auto Member>
std::string said_mask(const AttentionSpec& spec) {
    return unless(spec.mask.*Member, MaskSpec{}.*Member);
}
template <auto Member>
std::string said_of_rope(const AttentionSpec& spec) {
    return spec.rope ? unless((*spec.rope).*Member, Rope{}.*Member) : std::string();
}
std::string said_score(const AttentionSpec& spec) {
    return spec.score == Score::dot ? std::string() : std::string(info(spec.score).key);
}
std::string said_scale(const AttentionSpec& spec) {
    if (spec.scale == ScaleKind::value) return fmt::format("{}", spec.scale_value);
    if (spec.scale == ScaleKind::q_and_k) return "q_and_k";
    return spec.scale == ScaleKind::none ? "none" : "";
}
std::string said_rope(const AttentionSpec& spec) {
    if (!spec.rope) return {};
    return spec.rope->pairs == RopePairs::half ? "half" : "interleaved";
}
std::string said_rope_scaling(const AttentionSpec& spec) {
    if (!spec.rope || spec.rope->scaling.kind == RopeScale::none) return {};
    const RopeScaling& scaling = spec.rope->scaling;
    if (scaling.kind == RopeScale::linear) return fmt::format("linear,{}", scaling.factor);
    if (scaling.kind == RopeScale::yarn)
        return fmt::format("yarn,{},{},{}", scaling.factor, scaling.low, scaling.high);
    return fmt::format("llama3,{},{},{},{}", scaling.factor, scaling.low, scaling.high,
                       scaling.original_length);
}
std::string said_causal(const AttentionSpec& spec) {
    if (!spec.mask.causal) return {};
    return *spec.mask.causal == CausalAlign::top_left ? "top-left" : "bottom-right";
}
std::string said_padding(const AttentionSpec& spec) {
    return fmt::format("{}", fmt::join(spec.mask.padding, ","));
}
std::string said_empty_rows(const AttentionSpec& spec) {
    return spec.empty_rows == EmptyRows::nan ? "nan" : "";
}

/// What a spec says, by the options that make it so again.
constexpr struct {
    std::string_view option;
    std::string (*said)(const AttentionSpec& spec);
} kSaid[] = {
    {"score", said_score},
    {"scale", said_scale},
    {"temperature", said_spec<&AttentionSpec::temperature>},
    {"softcap", said_spec<&AttentionSpec::softcap>},
    {"rope", said_rope},
    {"rope-base", said_of_rope<&Rope::base>},
    {"rope-dims", said_of_rope<&Rope::dims>},
    {"rope-scaling", said_rope_scaling},
    {"query-offset", said_spec<&AttentionSpec::query_offset>},
    {"alibi", said_spec<&AttentionSpec::alibi>},
    {"causal", said_causal},
    {"window", said_mask<&MaskSpec::window>},
    {"window-left", said_mask<&MaskSpec::window_left>},
    {"window-right", said_mask<&MaskSpec::window_right>},
    {"global-tokens", said_mask<&MaskSpec::global_tokens>},
    {"block", said_mask<&MaskSpec::block>},
    {"padding", said_padding},
    {"empty-rows", said_empty_rows},
    {"dropout", said_spec<&AttentionSpec::dropout>},
    {"seed", said_spec<&AttentionSpec::seed>},
    {"training", said_spec<&AttentionSpec::training>},
};

}  // namespace

std::string options_to_json(const AttentionSpec& spec) {
    using nlohmann::json;
    json options = json::object();
    for (const auto& row : kSaid) {
        const std::string text = row.said(spec);
        if (text.empty()) continue;
        std::string key(row.option);
        std::ranges::replace(key, '-', '_');
        options[key] = json::accept(text) ? json::parse(text) : json(text);
    }
    return options.dump();
}

}  // namespace attn::files
