#pragma once

#include <string>
#include <vector>

#include "core/head_measures.h"
#include "core/heads/all.h"
#include "core/train/record.h"

namespace attn::view {
struct AppState;
}  // namespace attn::view

namespace attn::train {
struct Spec;
}  // namespace attn::train

namespace attn::view {

struct LearnPlan;
struct LearnSeries;
struct LearnSide;

/// A head with a proposed name, on the sequence of the maps: `weight` is the mean weight of that pattern, as Heads shows it.
struct LearnHeadLabel {
    HeadPlace place;
    HeadLabel label;
    double weight = 0.0;
};
/// By place; empty before the first step, and where no head has a name.
std::vector<LearnHeadLabel> learn_head_labels(const LearnSeries& series, std::size_t run);
/// The head to show first: an induction head, else the clearest pattern; nullptr: no head has one.
const LearnHeadLabel* clearest_head(const std::vector<LearnHeadLabel>& labels);

/// "without scaling", or "with scaling, then without scaling" after a switch; "" where A is alone.
std::string learn_name(const LearnPlan& plan, std::size_t run);
/// "A: without scaling"; "A" where it is alone.
std::string learn_title(const LearnPlan& plan, std::size_t run);
/// How far batches agree on a gradient: ‖mean of gradients‖ beside the root of their mean squares, as AdamW keeps both, over the
/// matrix of that name, or those whose names end in ".w_q". 1: every batch sends the same; learn_noise(): they have nothing in common. NaN where it is not known:
/// SGD, or under 50 steps.
double learn_agreement(const LearnSide& side, const train::Spec& spec, Index step,
                       std::string_view name);
double learn_noise(const train::Spec& spec);  // √((1 − β₁)/(1 + β₁))
/// The results of the runs: "After 400 steps: with scaling 99.8 % right, …".
std::string learn_point(const AppState& state);
/// Saturation, switches, the spread over seeds, where B differs.
std::vector<std::string> learn_notes(const AppState& state);
/// Whether two endings differ too little to call: accuracies within 0.02, and losses within 5 % of the larger.
bool is_no_difference(const train::Ending& a, const train::Ending& b);

}  // namespace attn::view
