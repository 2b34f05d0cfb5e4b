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
    std::string (*wanted)();                                    // "a number above 0"
};
std::span<const KindSetting> kind_settings();
/// The kind with one setting changed. An error names the setting, what it is to be and what was expected.
Result<AttentionKind> with_setting(AttentionKind kind, std::string_view key, std::string_view text);

/// As kind_settings() has them.
void describe(Visitor& visit, AttentionKind& kind);
void describe(Visitor& visit, KindsControls& controls);

/// A choice of an enum's value: its key in a journal and its name on screen. Without a key it is not offered.
struct KindName {
    std::string_view key;
    std::string name;
};
using KindNames = std::span<const KindName>;
// In the order of the enum; those of scores, rules and operations are of their tables.
KindNames score_names();
KindNames position_names();
KindNames mask_names();
KindNames operation_names();

/// Whether KindsControls::window counts in it.
inline bool is_windowed(KindMask mask) {
    const auto rule = rule_of(mask);
    return mask == KindMask::window || mask == KindMask::causal_window ||
           (rule && info(*rule).has_window);
}
/// Whether the operation has the field of OperationSpec.
bool has_setting(Operation operation, std::string_view field);

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
