#include "app/workspaces/kinds/controls.h"

#include <fmt/format.h>

#include "app/common/typed.h"
#include "core/text.h"

namespace attn::view {
namespace {

template <class Enum>
bool pick(std::span<const KindName> names, std::string_view text, Enum& value) {
    const auto found = std::ranges::find(names, text, &KindName::key);
    if (found == names.end()) return false;
    value = static_cast<Enum>(found - names.begin());
    return true;
}

bool read_number(std::string_view text, double low, double high, double& value) {
    const auto typed = typed_number(text);
    if (!typed || !(*typed >= low && *typed <= high)) return false;
    value = *typed;
    return true;
}

bool write_scaled(AttentionKind& kind, std::string_view text) {
    if (text != "on" && text != "off") return false;
    kind.scaled = text == "on";
    return true;
}

bool write_softcap(AttentionKind& kind, std::string_view text) {
    if (text == "off") return kind.softcap = 0.0, true;
    return read_number(text, kLeastTemperature, kMostLogit, kind.softcap);
}

bool write_sink(AttentionKind& kind, std::string_view text) {
    if (text == "off") return kind.sink.reset(), true;
    return read_number(text, -kMostLogit, kMostLogit, kind.sink.emplace());
}

/// One of `kNames`, which stand in the order of the enum.
template <auto kMember, const auto& kNames>
constexpr KindSetting named_setting(std::string_view key, std::string_view wanted) {
    return {key,
            [](const AttentionKind& kind) {
                return std::string(kNames[static_cast<std::size_t>(kind.*kMember)].key);
            },
            [](AttentionKind& kind, std::string_view text) {
                return pick(kNames, text, kind.*kMember);
            },
            wanted};
}

/// A whole number from `kLow` to `kHigh`.
template <Index AttentionKind::*kMember, Index kLow, Index kHigh>
constexpr KindSetting whole_setting(std::string_view key, std::string_view wanted) {
    return {key, [](const AttentionKind& kind) { return std::to_string(kind.*kMember); },
            [](AttentionKind& kind, std::string_view text) {
                const auto typed = typed_whole(text);
                if (!typed || *typed < kLow || *typed > kHigh) return false;
                kind.*kMember = *typed;
                return true;
            },
            wanted};
}

constexpr KindSetting kSettings[] = {
    named_setting<&AttentionKind::score, kScoreNames>("score", "dot, cosine, general or additive"),
    {"scaling", [](const AttentionKind& kind) { return std::string(kind.scaled ? "on" : "off"); },
     write_scaled, "on or off"},
    {"temperature", [](const AttentionKind& kind) { return fmt::format("{}", kind.temperature); },
     [](AttentionKind& kind, std::string_view text) {
         return read_number(text, kLeastTemperature, kMostTemperature, kind.temperature);
     },
     "a number from 0.01 to 100"},
    named_setting<&AttentionKind::position, kPositionNames>(
        "position", "none, rope-half, rope-interleaved or alibi"),
    {"softcap",
     [](const AttentionKind& kind) {
         return kind.softcap == 0.0 ? "off" : fmt::format("{}", kind.softcap);
     },
     write_softcap, "off, or a number from 0.01 to 100"},
    {"sink",
     [](const AttentionKind& kind) { return kind.sink ? fmt::format("{}", *kind.sink) : "off"; },
     write_sink, "off, or a number from −100 to 100"},
    named_setting<&AttentionKind::mask, kMaskNames>(
        "mask",
        "document, full, causal, window, causal-window, top-k, sink-window, heavy-hitters, "
        "pooled-blocks or nsa"),
    whole_setting<&AttentionKind::window, 0, kMostWindow>("window", "a whole number from 0 to 64"),
    whole_setting<&AttentionKind::keys, 1, kMostWindow>("keys", "a whole number from 1 to 64"),
    named_setting<&AttentionKind::operation, kOperationNames>(
        "operation",
        "softmax, chunked, linear, latents, state-space, linformer, retention, gated-linear, "
        "gated-delta, kda, gated, differential or nsa"),
    whole_setting<&AttentionKind::chunk, 1, kMostChunk>("chunk", "a whole number from 1 to 64"),
    whole_setting<&AttentionKind::latents, 1, kMostLatents>("latents",
                                                            "a whole number from 1 to 64"),
    whole_setting<&AttentionKind::state, 1, kMostLatents>("state", "a whole number from 1 to 64"),
    whole_setting<&AttentionKind::rank, 1, kMostLatents>("rank", "a whole number from 1 to 64"),
};

constexpr AttentionKind kPlain{};
constexpr AttentionKind kUnscaled{.scaled = false};
constexpr AttentionKind kCosine{.score = Score::cosine, .scaled = false, .temperature = 0.25};
constexpr AttentionKind kRope{.position = KindPosition::rope_half};
constexpr AttentionKind kAlibi{.position = KindPosition::alibi};
constexpr AttentionKind kFull{.mask = KindMask::full};
constexpr AttentionKind kWindow{.mask = KindMask::window};
constexpr AttentionKind kCausal{.mask = KindMask::causal};
constexpr AttentionKind kSink{.sink = 0.0};
constexpr AttentionKind kChunked{.operation = Operation::chunked};
constexpr AttentionKind kTopK{.mask = KindMask::top_k};
constexpr AttentionKind kLinear{.mask = KindMask::full, .operation = Operation::linear};
constexpr AttentionKind kLatents{
    .mask = KindMask::full, .operation = Operation::latents, .latents = 2};
constexpr AttentionKind kStateSpace{.mask = KindMask::causal, .operation = Operation::state_space};

constexpr AttentionKind kLinformer{.mask = KindMask::full, .operation = Operation::linformer};

constexpr AttentionKind kRetention{.mask = KindMask::causal, .operation = Operation::retention};
constexpr AttentionKind kGated{.operation = Operation::gated};
constexpr AttentionKind kDifferential{.operation = Operation::differential};
constexpr AttentionKind kNsa{.mask = KindMask::causal, .keys = 6, .operation = Operation::nsa};
constexpr AttentionKind kGatedLinear{.mask = KindMask::causal,
                                     .operation = Operation::gated_linear};
constexpr AttentionKind kGatedDelta{.mask = KindMask::causal, .operation = Operation::gated_delta};

constexpr KindsPreset kPresets[] = {
    {"dot-cosine", "dot product or cosine",
     "Cosine ignores the lengths of queries and keys: only their angle counts.", kPlain, kCosine},
    {"scaled-unscaled", "with or without scaling",
     "Without scaling by 1/√d_k, every score is √d_k times as large.", kPlain, kUnscaled},
    {"rope", "no position or RoPE",
     "RoPE rotates queries and keys by position, so the weight of a pair also depends on the "
     "distance between its tokens.",
     kPlain, kRope},
    {"alibi", "no position or ALiBi",
     "ALiBi subtracts slope · distance from each score: weight moves towards the diagonal.", kPlain,
     kAlibi},
    {"window", "all keys or a window",
     "Weight outside the window goes to the keys inside, row by row.", kFull, kWindow},
    {"causal", "causal or all keys",
     "A causal row attends to no later key; the last row is the same in both.", kCausal, kFull},
    {"sink", "without or with a sink",
     "A sink takes weight but has no value: every row sums to less than 1.", kPlain, kSink},
    {"top-k", "given mask or top k",
     "A query reads k keys. A column next to B shows the weight that it misses.", kPlain, kTopK},
    {"linear", "softmax or linear attention",
     "φ(q)·φ(k) replaces exp(q·k): no row of scores is computed, and few rows are sharp.", kFull,
     kLinear},
    {"chunked", "at once or in chunks",
     "The same weights up to rounding, and no row of them is stored.", kPlain, kChunked},
    {"latents", "all pairs or two latents",
     "Two learned queries read all tokens, and the tokens read them.", kFull, kLatents},
    {"state-space", "causal softmax or state space",
     "A recurrence over the values up to each token; it uses no query and no key.", kCausal,
     kStateSpace},
    {"linformer", "all keys or two rows",
     "Two weighted sums replace all keys, and two replace all values; E and F, random here, depend "
     "on positions only.",
     kFull, kLinformer},
    {"retention", "causal softmax or retention",
     "No softmax: each key adds its value to one matrix, which fades by γ at every token.", kCausal,
     kRetention},
    {"gated-delta", "GLA or gated delta rule",
     "A gated linear memory adds every value; under the delta rule, a key replaces its old value. "
     "The gates are random here.",
     kGatedLinear, kGatedDelta},
    {"gated", "softmax or softmax with a gate",
     "A gate between 0 and 1, random here, multiplies the context: a token can take little without "
     "a sink.",
     kPlain, kGated},
    {"differential", "softmax or differential",
     "Each half of a query and key makes a softmax; the second, times λ, is subtracted.", kPlain,
     kDifferential},
    {"nsa", "causal softmax or NSA",
     "Three softmaxes share a row: over blocks, over the keys of the best blocks, and over the "
     "nearest keys. The gates are equal here.",
     kCausal, kNsa},
};

}  // namespace

std::span<const KindSetting> kind_settings() { return kSettings; }

Result<AttentionKind> with_setting(AttentionKind kind, std::string_view key,
                                   std::string_view text) {
    const auto found = std::ranges::find(kind_settings(), key, &KindSetting::key);
    if (found == kind_settings().end())
        return bad_input(fmt::format("a kind of attention has no setting '{}'", shortened(key)));
    if (!found->write(kind, text))
        return bad_input(
            fmt::format("{} is '{}': expected {}", key, shortened(text), found->wanted));
    return kind;
}

void describe(Visitor& visit, AttentionKind& kind) {
    for (const KindSetting& setting : kind_settings()) {
        std::string text = setting.read(kind);
        visit(setting.key, text);
        if (auto changed = with_setting(kind, setting.key, text))
            kind = *changed;
        else
            visit.complain(": " + changed.error().text());
    }
}

void describe(Visitor& visit, KindsControls& controls) {
    visit("a", controls.a);
    visit("b", controls.b);
    visit("seed", controls.seed);
    visit("chunk", controls.chunk, {.low = 1, .high = kMostChunk});
    visit("online_side", controls.online, kNamesOf<KindsSide>);
}

std::span<const KindsPreset> kinds_presets() { return kPresets; }

}  // namespace attn::view
