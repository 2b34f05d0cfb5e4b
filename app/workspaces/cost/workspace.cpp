#include "app/common/workspace.h"
#include "app/common/document/actions.h"

#include <algorithm>
#include <cmath>

#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/requests.h"
#include "app/workspaces/cost/view.h"

namespace attn::view {
namespace {

CostItem stepped(CostItem item, int steps) {
    const auto count = static_cast<int>(kCostItemCount);
    return static_cast<CostItem>((static_cast<int>(item) + steps + count) % count);
}

void enter_cost(AppState& state) {
    say(state, "What attention of these sizes computes, moves and stores: ← and → change T.");
}

void add_cost_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Cost"};
    const CostControls& controls = cost_controls(state);
    const Index tokens = controls.sizes[CostSize::tk];
    add("Twice the tokens", Key::right, SetCostTokens{next_tokens(tokens, 1)});
    add("Half the tokens", Key::left, SetCostTokens{next_tokens(tokens, -1)});
    const bool forward = controls.pass == CostPass::forward;
    add(forward ? "Count the backward pass" : "Count the forward pass", Key::b,
        SetCostPass{forward ? CostPass::backward : CostPass::forward});
    const auto share = [&](const char* words, HeadSharing sharing) {
        add(words, Key::none, shared_heads(controls.sizes, sharing));
    };
    share("Multi-head: every head has its keys and values", HeadSharing::multi_head);
    share("Grouped-query: some heads share keys and values", HeadSharing::grouped);
    share("Multi-query: all heads share keys and values", HeadSharing::multi_query);
    for (const CostPreset& preset : cost_presets())
        add("Sizes: " + preset.words, Key::none, SetCostPreset{preset.key});
    const std::string why = no_measure_words(controls);
    add("Measure on this machine", Key::m, MeasureCost{}, why.empty(), why);
    add("Explain the next count", Key::down, SelectCost{stepped(cost_look(state).item, 1)});
    add("Explain the count before", Key::up, SelectCost{stepped(cost_look(state).item, -1)});
}

std::vector<Shot> cost_shots() {
    return {{"", {}},
            {"backward", {SetCostPass{CostPass::backward}, SelectCost{CostItem::scores}}},
            {"llama", {SetCostPreset{"llama3-8b"}, SelectCost{CostItem::kv_cache}}},
            {"document", {SetCostPreset{"document"}, SelectCost{CostItem::total}}}};
}

constexpr std::string_view kCostMouse[] = {
    "Drag over the curves: the number of tokens T.",
    "Click a row of the table or a card under the curves: its formula with its numbers.",
    "Drag a size, or double-click it to type.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_cost>("cost"),
};
constexpr KeptValue kKept[] = {kept(cost_controls), kept(cost_look)};

/// The tokens are pulled from one end to the other.
std::optional<Action> drag_cost(const AppState&, Movement movement, double part) {
    if (movement != Movement::drag) return std::nullopt;
    return SetCostTokens{static_cast<Index>(std::exp2(4.0 + 16.0 * part))};
}

}  // namespace

std::vector<CostPreset> cost_presets() {
    // in the order of CostSize: B, H, G, Tq, Tk, d_model, d_k, d_v, d_out, chunk, bytes, layers
    return {{"document", "the present document", std::nullopt},
            {"two-to-31", "2³¹ weights: 32 × 8192²", CostSizes{}},
            {"gpt2", "GPT-2 small: 12 heads, T 1024",
             CostSizes{{1, 12, 12, 1024, 1024, 768, 64, 64, 768, 128, 4, 12}}},
            {"llama3-8b", "Llama 3 8B: 32 heads share 8, T 8192, bf16",
             CostSizes{{1, 32, 8, 8192, 8192, 4096, 128, 128, 4096, 128, 2, 32}}},
            {"llama3-70b", "Llama 3 70B decoding: 64 heads share 8, Tk 8192, bf16",
             CostSizes{{1, 64, 8, 1, 8192, 8192, 128, 128, 8192, 128, 2, 80}}}};
}

Result<CostSizes> document_sizes(const AppState& state) {
    const Dimensions& of = state.document().size;
    if (of.tq < 1 || of.tk < 1) return bad_input("the document has no tokens yet");
    if (is_empty(state.document())) return bad_input(empty_words(state.document()));
    if (of.d_model_kv != 0 && of.d_model_kv != of.d_model)
        return bad_input("the document's X_kv is wider or narrower than its X: not counted here");
    const bool mixes = !state.document().inputs->params[Param::w_o].empty();
    CostSizes sizes;  // chunk, bytes and layers stay
    std::ranges::copy(std::array{of.batch, of.heads, of.kv_heads, of.tq, of.tk, of.d_model, of.d_k,
                                 of.d_v, mixes ? of.d_out : 0},
                      sizes.values.begin());
    return sizes;
}

extern const WorkspaceInfo kCostWorkspace;
const WorkspaceInfo kCostWorkspace{
    .key = "cost",
    .title = "Cost",
    .tip = "FLOPs, bytes and memory of attention of any size, beside what this machine has.",
    .digit = Key::digit7,
    .actions = CostActions::kTypes,
    .values = kKept,
    .requests = kRequests,
    .enter = enter_cost,
    .add_commands = add_cost_commands,
    .clear = [](AppState& state) { cost_look(state).item = CostItem::materialised; },
    .still = [](AppState& state) { cost_look(state).last = nullptr; },
    .moved = drag_cost,
    .has_side = [](const AppState&) { return true; },
    .inspector = cost_inspector,
    .shots = cost_shots,
    .mouse = kCostMouse,
};

}  // namespace attn::view
