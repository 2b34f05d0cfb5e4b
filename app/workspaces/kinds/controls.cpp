#include "app/workspaces/kinds/controls.h"

#include <fmt/format.h>

#include "app/common/typed.h"
#include "core/scores/score.h"
#include "core/text.h"

namespace attn::view {
namespace {

template <class Enum>
bool pick(std::span<const KindName> names, std::string_view text, Enum& value) {
    const auto found = std::ranges::find(names, text, &KindName::key);
    if (text.empty() || found == names.end()) return false;
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

/// "full, causal or window".
std::string wanted_of(KindNames names) {
    std::vector<std::string> keys;
    for (const KindName& each : names)
        if (!each.key.empty()) keys.emplace_back(each.key);
    return choices(keys);
}

/// One of the names.
template <auto kMember, KindNames (*names)()>
constexpr KindSetting named_setting(std::string_view key) {
    return {key,
            [](const AttentionKind& kind) {
                return std::string(names()[static_cast<std::size_t>(kind.*kMember)].key);
            },
            [](AttentionKind& kind, std::string_view text) {
                return pick(names(), text, kind.*kMember);
            },
            [] { return wanted_of(names()); }};
}

/// A whole number from `kLow` to `kHigh`.
template <Index AttentionKind::*kMember, Index kLow, Index kHigh>
constexpr KindSetting whole_setting(std::string_view key) {
    return {key, [](const AttentionKind& kind) { return std::to_string(kind.*kMember); },
            [](AttentionKind& kind, std::string_view text) {
                const auto typed = typed_whole(text);
                if (!typed || *typed < kLow || *typed > kHigh) return false;
                kind.*kMember = *typed;
                return true;
            },
            [] { return fmt::format("a whole number from {} to {}", kLow, kHigh); }};
}

constexpr KindSetting kSettings[] = {
    named_setting<&AttentionKind::score, score_names>("score"),
    {"scaling", [](const AttentionKind& kind) { return std::string(kind.scaled ? "on" : "off"); },
     write_scaled, [] { return std::string("on or off"); }},
    {"temperature", [](const AttentionKind& kind) { return fmt::format("{}", kind.temperature); },
     [](AttentionKind& kind, std::string_view text) {
         return read_number(text, kLeastTemperature, kMostTemperature, kind.temperature);
     },
     [] { return std::string("a number from 0.01 to 100"); }},
    named_setting<&AttentionKind::position, position_names>("position"),
    {"softcap",
     [](const AttentionKind& kind) {
         return kind.softcap == 0.0 ? "off" : fmt::format("{}", kind.softcap);
     },
     write_softcap, [] { return std::string("off, or a number from 0.01 to 100"); }},
    {"sink",
     [](const AttentionKind& kind) { return kind.sink ? fmt::format("{}", *kind.sink) : "off"; },
     write_sink, [] { return std::string("off, or a number from −100 to 100"); }},
    named_setting<&AttentionKind::mask, mask_names>("mask"),
    whole_setting<&AttentionKind::window, 0, kMostWindow>("window"),
    whole_setting<&AttentionKind::keys, 1, kMostWindow>("keys"),
    named_setting<&AttentionKind::operation, operation_names>("operation"),
    whole_setting<&AttentionKind::chunk, 1, kMostChunk>("chunk"),
    whole_setting<&AttentionKind::latents, 1, kMostLatents>("latents"),
    whole_setting<&AttentionKind::state, 1, kMostLatents>("state"),
    whole_setting<&AttentionKind::rank, 1, kMostLatents>("rank"),
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
constexpr AttentionKind kTopK{.mask = mask_of(KeyRule::top_k)};
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
     "A causal row attends to no later key; a row without later keys is the same in both.", kCausal,
     kFull},
    {"sink", "without or with a sink",
     "A sink takes weight but has no value: every row sums to less than 1.", kPlain, kSink},
    {"top-k", "given mask or top k",
     "A query reads at most k keys. A column next to B shows the weight that it misses.", kPlain,
     kTopK},
    {"linear", "softmax or linear attention",
     "φ(q)·φ(k) replaces exp(q·k): no row of scores is computed, and few rows are sharp.", kFull,
     kLinear},
    {"chunked", "at once or in chunks",
     "The same weights up to rounding, and no row of them is stored.", kPlain, kChunked},
    {"latents", "all pairs or two latents",
     "Two latents, random here, read all tokens, and the tokens read the latents.", kFull,
     kLatents},
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

KindNames score_names() {
    static const std::vector<KindName> names = [] {
        std::vector<KindName> made;
        for (const ScoreInfo& row : score_table()) made.push_back({row.key, std::string(row.name)});
        return made;
    }();
    return names;
}

KindNames position_names() {
    static const KindName names[] = {{"none", "no position"},
                                     {"rope-half", "RoPE, halves"},
                                     {"rope-interleaved", "RoPE, pairs"},
                                     {"alibi", "ALiBi"}};
    return names;
}

KindNames mask_names() {
    static const std::vector<KindName> names = [] {
        std::vector<KindName> made{{"document", "given mask"},
                                   {"full", "no mask"},
                                   {"causal", "causal"},
                                   {"window", "window"},
                                   {"causal-window", "causal window"}};
        for (const KeyRuleInfo& row : key_rule_table())
            made.push_back({row.needs_indexer ? "" : row.key,
                            fmt::format(fmt::runtime(row.name), fmt::arg("block", kKindBlock))});
        return made;
    }();
    return names;
}

KindNames operation_names() {
    static const std::vector<KindName> names = [] {
        std::vector<KindName> made{{"softmax", "softmax"}};
        for (const OperationInfo& row : operation_table())
            made.push_back({row.key, std::string(row.name)});
        return made;
    }();
    return names;
}

bool has_setting(Operation operation, std::string_view field) {
    return operation != Operation::softmax &&
           std::ranges::count(info(operation).settings, field) > 0;
}

std::span<const KindSetting> kind_settings() { return kSettings; }

Result<AttentionKind> with_setting(AttentionKind kind, std::string_view key,
                                   std::string_view text) {
    const auto found = std::ranges::find(kind_settings(), key, &KindSetting::key);
    if (found == kind_settings().end())
        return bad_input(fmt::format("a kind of attention has no setting '{}'", shortened(key)));
    if (!found->write(kind, text))
        return bad_input(
            fmt::format("{} is '{}': expected {}", key, shortened(text), found->wanted()));
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
