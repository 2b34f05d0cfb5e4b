#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "app/common/describe.h"
#include "core/kinds.h"
#include "core/result.h"
#include "core/spec.h"

namespace attn::view {

// What the Kinds workspace compares: two kinds of attention, A and B, on the same Q, K and V.

enum class KindsSide : std::uint8_t { a, b };
template <>
inline constexpr std::string_view kNamesOf<KindsSide>[] = {"a", "b"};

/// Settings of the Kinds workspace; undone with the document.
struct KindsControls {
    AttentionKind a;
    AttentionKind b = {.score = Score::cosine, .scaled = false, .temperature = 0.25};
    std::uint64_t seed = 1;           // of the parameters that a score needs
    Index chunk = 2;                  // keys that the online softmax takes at a time
    KindsSide online = KindsSide::a;  // whose scores it goes through

    const AttentionKind& side(KindsSide which) const { return which == KindsSide::a ? a : b; }
    AttentionKind& side(KindsSide which) { return which == KindsSide::a ? a : b; }
    bool operator==(const KindsControls&) const = default;
};

/// One setting of a side as text: journal, session and controls read this table.
struct KindSetting {
    std::string_view key;  // "score"
    std::string (*read)(const AttentionKind& kind);
    bool (*write)(AttentionKind& kind, std::string_view text);  // false: that is no value of it
    std::string_view wanted;                                    // "a number above 0"
};
std::span<const KindSetting> kind_settings();
/// The kind with one setting changed. An error names the setting, what it is to be and what was expected.
Result<AttentionKind> with_setting(AttentionKind kind, std::string_view key, std::string_view text);

/// As kind_settings() has them.
void describe(Visitor& visit, AttentionKind& kind);
void describe(Visitor& visit, KindsControls& controls);

/// What each choice is called, in the order of its enum: its key in a journal and its name on screen.
struct KindName {
    std::string_view key, name;
};
inline constexpr KindName kScoreNames[] = {
    {"dot", "dot product"}, {"cosine", "cosine"}, {"general", "general"}, {"additive", "additive"}};
inline constexpr KindName kPositionNames[] = {{"none", "no position"},
                                              {"rope-half", "RoPE, halves"},
                                              {"rope-interleaved", "RoPE, pairs"},
                                              {"alibi", "ALiBi"}};
inline constexpr KindName kMaskNames[] = {{"document", "given mask"},
                                          {"full", "no mask"},
                                          {"causal", "causal"},
                                          {"window", "window"},
                                          {"causal-window", "causal window"},
                                          {"top-k", "top-k keys"},
                                          {"sink-window", "first key + window"},
                                          {"heavy-hitters", "heavy hitters"},
                                          {"pooled-blocks", "blocks of 2 by pooled keys"},
                                          {"nsa", "blocks of 2 by weight + window"}};
inline constexpr KindName kOperationNames[] = {{"softmax", "softmax"},
                                               {"chunked", "chunked softmax"},
                                               {"linear", "linear attention"},
                                               {"latents", "latents"},
                                               {"state-space", "state space"},
                                               {"linformer", "low rank (Linformer)"},
                                               {"retention", "retention"},
                                               {"gated-linear", "gated linear (GLA)"},
                                               {"gated-delta", "gated delta rule"},
                                               {"kda", "Kimi delta attention"},
                                               {"gated", "softmax with a gate"},
                                               {"differential", "differential"},
                                               {"nsa", "native sparse (NSA)"}};

inline bool is_windowed(KindMask mask) {
    return mask == KindMask::window || mask == KindMask::causal_window;
}

/// A pair that teaches.
struct KindsPreset {
    std::string_view key, title;
    std::string_view text;  // what to look at
    AttentionKind a, b;
};
std::span<const KindsPreset> kinds_presets();

// Limits of the settings.
inline constexpr Index kMostWindow = 64;
inline constexpr Index kMostChunk = 64;
inline constexpr Index kMostLatents = 64;
inline constexpr double kLeastTemperature = 0.01;
inline constexpr double kMostTemperature = 100.0;
inline constexpr double kMostLogit = 100.0;  // of a soft cap and a sink

}  // namespace attn::view
