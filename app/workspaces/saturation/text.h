#pragma once

#include <string>
#include <vector>

#include "app/common/logits.h"
#include "core/saturation.h"

namespace attn::view {

// What the Saturation workspace says. Every number comes from the point of the sweep that is given:
// medians over the draws, or the values themselves of fixed logits.

/// A ratio of at least 1 to two digits: "3.7", "190", "2,500", "2.6·10⁷".
std::string ratio_number(double ratio);
/// The change from `from` to `to`: "190 times smaller", "1.3 times as large", "about the same", "the same", "0", "stays 0",
/// "no longer 0", "NaN".
std::string change_text(double from, double to);
/// The same as the label of a tick: "÷190", "×1.3", "≈", "÷3·10⁷", "÷∞".
std::string change_tick(double from, double to);
/// "√64 = 8", "√128 ≈ 11.3".
std::string root_text(Index d_k);

/// What leaving ÷√d_k out does at point.d_k: spread of the scores, largest weight, gradient. One sentence,
/// true of every input: also where no gradient is lost, none passes, or the weights are NaN.
std::string saturation_sentence(const SaturationSettings& settings, const SaturationPoint& point);
/// What the numbers of the sentence are, and of what.
std::string sentence_note(const SaturationSettings& settings);
/// Why the gradient with respect to the raw score s is smaller with scaling, and where the two curves cross.
std::string raw_sentence(const SaturationSettings& settings,
                         const std::vector<SaturationPoint>& sweep);

/// Where the curve of ‖∂a/∂s‖_F with scaling crosses the one without. Fixed logits: a root, low = high. Draws: the two
/// neighbouring d_k of the sweep between which the order of the medians changes.
struct Crossing {
    double low = 1.0, high = 1.0;
};
/// Where the curves only touch, as at d_k = 1, they do not cross.
std::vector<Crossing> raw_crossings(const SaturationSettings& settings,
                                    const std::vector<SaturationPoint>& sweep);

}  // namespace attn::view
