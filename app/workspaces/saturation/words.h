#pragma once

#include <string>
#include <vector>

#include "app/common/logits.h"
#include "core/saturation.h"

namespace attn::view {

// What the Saturation workspace says. Every number comes from the point of the sweep that is given:
// medians over the draws, or the values themselves of fixed logits.

/// A positive ratio to two digits or whole: "3.7", "188", "2,475", "2.6·10⁷".
std::string ratio_number(double ratio);
/// How much smaller `to` is than `from`: "÷ 188"; larger: "× 1.3"; "about the same", "stays 0", "÷ ∞", "NaN".
std::string change_words(double from, double to);
/// The same, as short as a tick: "÷188", "×1.3", "≈", "÷3·10⁷".
std::string change_tick(double from, double to);
/// "√64 = 8", "√128 ≈ 11.3".
std::string root_words(Index d_k);

/// What leaving ÷√d_k out does at point.d_k: spread of the scores, largest weight, gradient. One sentence,
/// true of every input: also where no gradient is lost, none passes, or the weights are NaN.
std::string saturation_sentence(const SaturationSettings& settings, const SaturationPoint& point);
/// What the numbers of the sentence are, and of what.
std::string sentence_note(const SaturationSettings& settings);
/// Why the derivative by the raw score s is smaller when scaled, and where the two curves cross.
std::string raw_sentence(const std::vector<SaturationPoint>& sweep);

/// The d_k at which the scaled curve of ‖∂a/∂s‖_F crosses the unscaled one, straight lines between the
/// points on two log axes. Where they only touch, as at d_k = 1, they do not cross.
std::vector<double> raw_crossings(const std::vector<SaturationPoint>& sweep);

}  // namespace attn::view
