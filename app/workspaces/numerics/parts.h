#pragma once

#include "app/workspaces/numerics/view.h"
#include "app/workspaces/numerics/words.h"

namespace attn::view {

// The parts of the view.

/// The role that stands for a format in names and curves.
Role role_of(FloatFormat format);
NumericsVerdict verdict_of(const CheckedRun& checked);

/// Error over the gain, and from where on an algorithm breaks. `sweep` null: not computed yet.
/// `most`: the largest error of all plots, which share one axis.
PlotView error_plot(SoftmaxAlgorithm algorithm, const NumericsRuns& here,
                    const NumericsSweep* sweep, double most);
double largest_error(const NumericsRuns& here, const NumericsSweep* sweep);
/// "breaks from gain 4 in fp16, 32 in bf16"; of the gains of the sweep.
std::string break_words(SoftmaxAlgorithm algorithm, const NumericsSweep* sweep);

}  // namespace attn::view
