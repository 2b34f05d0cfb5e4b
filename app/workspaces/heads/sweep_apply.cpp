#include "app/common/document/edits.h"
#include "app/common/document/swept.h"
#include "app/common/text.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/set_name.h"
#include "app/workspaces/heads/text.h"

namespace attn::view {
namespace {

std::string sweep_text(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    return fmt::format("{} is replaced in turn by {}; {}.", part_text(look), ablation_text(look),
                       sweep_formula(state));
}

}  // namespace

void carry_out(AppState& state, const SweepHeads& action) {
    HeadsLook& look = heads_look(state);
    Ablation by = look.ablation;
    if (!set_name(state, kAblations, action.by, by, "ablation") ||
        !set_name(state, kSweepShows, action.show, look.sweep_show, "measure of a sweep"))
        return;
    look.ablation = by;
    look.list = HeadsList::sweep;
    show_message(state, sweep_text(state));
}

void carry_out(AppState& state, const SweepOver& action) {
    HeadsLook& look = heads_look(state);
    if (!set_name(state, kSweepParts, action.part, look.part, "part of a sweep")) return;
    look.list = HeadsList::sweep;
    show_message(state, sweep_text(state));
}

void carry_out(AppState& state, const PatchSweep& action) {
    HeadsLook& look = heads_look(state);
    look.from = action.from;
    look.pairs.clear();
    look.pairing.reset();
    look.ablation = Ablation::patch;
    look.list = HeadsList::sweep;
    show_message(state, sweep_text(state));
}

void carry_out(AppState& state, const PairTokens& action) {
    const auto pairs = parse_pairs(action.pairs);
    if (!pairs) return show_error(state, sentence(pairs.error().text()));
    heads_look(state).pairs = pairs_text(*pairs);
    heads_look(state).pairing.reset();
    show_message(state, pairs->empty() ? "Tokens are paired from the beginning and from the end."
                                       : fmt::format("Paired tokens: {}.", pairs_text(*pairs)));
}

void carry_out(AppState& state, const SelectSwept& action) {
    const SweptModel* const swept = current_sweep(state);  // null: a journal is ahead of it
    if (action.layer < 0 || action.position < 0 ||
        (swept != nullptr &&
         (swept->sweep.part == SweepPart::heads || action.layer >= swept->sweep.layers ||
          action.position >= swept->sweep.positions)))
        return warn(state, "This sweep has no cell there.");
    heads_look(state).swept_cell = {action.layer, action.position};
}

void carry_out(AppState& state, const SetHeadsOf& action) {
    if (!set_name(state, kHeadsOf, action.of, heads_look(state).of, "choice of heads")) return;
    constexpr const char* kDescriptions[] = {
        "Only the selected head is shown.",
        "All heads of its layer: their mean as a matrix, or one colour each as lines.",
        "All heads that pass the filter: their mean as a matrix, or one colour each as lines."};
    show_message(state, kDescriptions[static_cast<std::size_t>(heads_look(state).of)]);
}

void carry_out(AppState& state, const ShowCircuit& action) {
    HeadsLook& look = heads_look(state);
    CircuitShow show = look.circuit_show;
    CircuitOver over = look.circuit_over;
    if (!set_name(state, kCircuitShows, action.show, show, "part of a circuit") ||
        !set_name(state, kCircuitOvers, action.over, over, "choice of tokens"))
        return;
    look.circuit_over = over;
    if (std::exchange(look.circuit_show, show) != show) look.circuit_cell = {};
    look.form = HeadForm::circuit;
    show_message(state, circuit_formula(look.circuit_show));
}

void carry_out(AppState& state, const SelectCircuitCell& action) {
    if (action.row < 0 || action.column < 0) return warn(state, "A cell is counted from 0.");
    heads_look(state).circuit_cell = {action.row, action.column};
}

void carry_out(AppState& state, const HeadsSwept& action) {
    HeadsLook& look = heads_look(state);
    const SweepAsked asked = action.swept ? sweep_asked(action.swept->options) : SweepAsked();
    const bool circuit = asked.circuit || asked.edges;
    (circuit ? look.circuit : look.swept) = action.swept;
    (circuit ? look.circuit_done : look.sweep_done) = 0.0;
}

}  // namespace attn::view
