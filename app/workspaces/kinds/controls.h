#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/spec.h"

namespace attn::view {

// What the Kinds workspace compares: two kinds of attention, A and B, on the same Q, K and V.

enum class KindPosition : std::uint8_t { none, rope_half, rope_interleaved, alibi };
/// softmax: the row of scores through softmax, as Step does. The others stand in its place: core/operations/.
enum class KindOperation : std::uint8_t { softmax, chunked, linear, latents, state_space };
enum class KindMask : std::uint8_t { document, full, causal, window, causal_window };

/// All that makes one side differ from plain scaled dot-product attention. Q, K, V and the positions of the queries
/// are the document's.
struct AttentionKind {
    Score score = Score::dot;
    bool scaled = true;        // ÷ √d_k
    double temperature = 1.0;  // divides too
    KindPosition position = KindPosition::none;
    double softcap = 0.0;                       // 0: none
    std::optional<double> sink = std::nullopt;  // its logit
    KindMask mask = KindMask::document;
    Index window = 1;  // |p − j| ≤ window, where the mask is one
    KindOperation operation = KindOperation::softmax;
    Index chunk = 2;    // chunked: keys at a time
    Index latents = 4;  // latents: learned queries
    Index state = 4;    // state_space: numbers of the state
    bool operator==(const AttentionKind&) const = default;
};

enum class KindsSide : std::uint8_t { a, b };
inline constexpr std::array<std::string_view, 2> kKindsSideNames{"a", "b"};

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

/// What each choice is called, in the order of its enum: its key in a journal and its name on screen.
struct KindName {
    std::string_view key, name;
};
std::span<const KindName> score_names();
std::span<const KindName> position_names();
std::span<const KindName> mask_names();
std::span<const KindName> operation_names();

/// A pair that teaches.
struct KindsPreset {
    std::string_view key, title;
    std::string_view words;  // what to look at
    AttentionKind a, b;
};
std::span<const KindsPreset> kinds_presets();

// Limits of what a person may ask for.
inline constexpr Index kMostWindow = 64;
inline constexpr Index kMostChunk = 64;
inline constexpr Index kMostLatents = 64;
inline constexpr double kLeastTemperature = 0.01;
inline constexpr double kMostTemperature = 100.0;
inline constexpr double kMostLogit = 100.0;  // of a soft cap and a sink

}  // namespace attn::view
