#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/common/pair.h"
#include "core/spec.h"

namespace attn {
struct Dimensions;
}  // namespace attn

namespace attn::view {

struct AppState;
struct Document;

// The document's mask rule by rule, of the head and sequence shown. What a rule allows is what core/masks.h says of a
// mask that has that rule alone: a pair is allowed where every rule allows it.

enum class MaskRule : std::uint8_t { causal, window, block, padding, paint };
inline constexpr MaskRule kMaskRules[] = {MaskRule::causal, MaskRule::window, MaskRule::block,
                                          MaskRule::padding, MaskRule::paint};

bool has_rule(const MaskSpec& mask, MaskRule rule);
/// The mask with that rule alone; the window keeps its global tokens.
MaskSpec rule_alone(const MaskSpec& mask, MaskRule rule);

/// Row-major [Tq,Tk] of a sequence and head, 1 where `mask` allows the pair.
std::vector<std::uint8_t> pairs_allowed_by(const Document& document, const MaskSpec& mask,
                                           Index batch, Index head);
/// Of those that are shown.
std::vector<std::uint8_t> pairs_allowed_by(const AppState& state, const MaskSpec& mask);
/// By the document's own mask.
std::vector<std::uint8_t> allowed_pairs(const AppState& state);
Index count_allowed(std::span<const std::uint8_t> pairs);
Index count_allowed(const AppState& state, const MaskSpec& mask);

/// What one rule says of one pair, with its own arithmetic: "j = 3 > i = 1".
struct RuleVerdict {
    MaskRule rule;
    bool allows;
    std::string name;  // "causal"
    std::string text;  // the arithmetic
};
/// A mask counts: scores are computed, or given before their softmax.
bool takes_masks(const Document& document);

/// Of every rule that is set, in the order of kMaskRules.
std::vector<RuleVerdict> rule_verdicts(const AppState& state, Pair pair);

/// Reach of the window to each side; nullopt: no limit.
struct WindowSides {
    std::optional<Index> left, right;
};
WindowSides window_sides(const MaskSpec& mask);

/// "i + 2", "i − 1", "i".
std::string shifted_text(std::string_view letter, Index by);
/// What the causal mask adds to i: query i sees keys 0 … i + shift.
Index causal_shift(const Dimensions& size, CausalAlign align);

}  // namespace attn::view
