#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/workspaces/heads/state.h"
#include "core/head_measures.h"

namespace attn::view {
struct Document;
}  // namespace attn::view

namespace attn {
struct HeadEffect;
struct HeadFacts;
struct HeadMeasures;
struct HeadsLayer;
}  // namespace attn

namespace attn::view {

// What the Heads workspace says.

/// "L0 H3"; of what is not the weights "α‖v‖ of L0 H3"; "rollout up to layer 0".
std::string shown_name(HeadShow show, HeadPlace place);
/// "A", "B" or "".
std::string pin_letter(const HeadsLook& look, HeadPlace place);
/// The head shown in every workspace.
HeadPlace head_here(const AppState& state);
/// A measure with its unit: "0.54", "1.23 nats"; "not defined".
std::string measure_text(HeadMeasure measure, const std::optional<double>& value);
/// "0.543"; "–" where it is not defined.
std::string measured(const std::optional<double>& value);
/// "previous token"; "no label".
std::string label_title(const HeadFacts& facts);
/// The label, else where most of its weight goes: "previous token 0.43"; "no label" where that is a tie.
std::string head_title(const HeadFacts& facts);
/// As label_title() of every head with this label: "own token or same word" for `diagonal`.
std::string label_titles(HeadMeasure label);
/// "Of the weight outside key 0, 0.97 goes to the keys of this label, …": why the label is proposed.
/// From where on a head has a label, of shares of its weight.
std::string label_rule();
std::string label_evidence(const HeadFacts& facts);
/// The first line.
std::string heads_point(const AppState& state);
/// "Without L1 H3, the probability of “noir”, the most likely answer at “chat”, goes from 99.8 % to 12 %."; "": it is not known.
std::string answer_text(const AppState& state);
bool is_off(const Document& document, HeadPlace place);
/// The same once what was asked for is there.
bool will_be_off(const AppState& state, HeadPlace place);
/// Interventions in this head, a line each: "switched off: …", "row 3 replaced: …", "v patched: …".
std::vector<std::string> changes_of(const Document& document, HeadPlace place);
/// What interventions did to this one; nullptr: there are none, or nothing.
const HeadEffect* effect_on(const Document& document, HeadPlace place);
/// "0.31", "∞", "NaN": the mean KL of its rows.
std::string change_number(const HeadEffect& effect);
/// "mean KL(untouched‖now) of 5 rows 0.31 nats, largest |Δα| 0.20".
std::string change_text(const HeadEffect& effect);
/// "3 of 12 rows of weights do not sum to 1 (Σ from 0.92 to 1.30): shown as the file gives them"; "": all do.
std::string odd_rows_text(const HeadsLayer& layer);
/// "4 of 5; the weights of the others are not probabilities"; "": every row is measured.
std::string measured_rows_text(const HeadMeasures& measures);
/// What a hovered head is: a line for each measure.
std::string hover_text(const Document& document, const HeadFacts& facts);
/// "logit animal − logit girl": the measure of a sweep or of edges.
std::string difference_name(const SweptModel& swept);
/// "0", "its mean over positions": what is put in place of what a sweep changes.
std::string_view ablation_text(const HeadsLook& look);
/// "Each head's context", "What each layer reads at each position", of the MLP alike.
std::string_view part_text(const HeadsLook& look);
/// What is shown of each, as a formula without the tokens' names.
std::string sweep_formula(const AppState& state);
/// What stands out in the sweep that is shown; "": it is not there.
std::string sweep_point(const AppState& state);
/// "logit d − logit a is 0.11, untouched 8.31; KL(untouched‖changed) 3.2 nats"; "": it is not there.
std::string swept_text(const AppState& state, HeadPlace place);
/// Of the selected cell, where no head is changed: "the input of layer 2 at cat", and the same.
std::optional<std::pair<std::string, std::string>> swept_cell_text(const AppState& state);
/// What QK, OV or composition is, a sentence.
std::string circuit_formula(CircuitShow show);
/// What stands out in the circuit that is shown; "": none is, or it is not there.
std::string circuit_point(const AppState& state);

}  // namespace attn::view
