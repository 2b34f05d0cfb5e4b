#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/view.h"
#include "core/text.h"

namespace attn::view {
namespace {

/// Changes a copy, checks it, and makes it the present one.
template <class Change>
void change(AppState& state, const std::string& words, Change&& change_controls) {
    CostControls controls = cost_controls(state);
    change_controls(controls);
    if (auto fine = check_cost(controls.sizes); !fine) return say(state, fine.error());
    edit_controls(state, controls, words);
}

/// The number of key/value heads next to `wanted` that divides H.
Index divisor_near(Index heads, Index wanted) {
    if (heads < 1) return 1;
    for (Index off = 0; off < heads; ++off)
        for (const Index each : {wanted - off, wanted + off})
            if (each >= 1 && each <= heads && heads % each == 0) return each;
    return 1;
}

/// The number of key/value heads that divides H, at `wanted` or the next beyond it, seen from the present one.
Index towards(const CostSizes& sizes, Index wanted) {
    const Index heads = sizes[CostSize::heads];
    if (wanted < 1 || wanted > heads) return wanted;
    const Index step = wanted >= sizes[CostSize::kv_heads] ? 1 : -1;
    while (heads % wanted != 0) wanted += step;
    return wanted;
}

/// Other heads keep the kind of sharing, as far as they can.
void set_heads(CostSizes& sizes, Index heads) {
    const bool own = sharing_of(sizes) == HeadSharing::multi_head;
    sizes[CostSize::heads] = heads;
    const Index most = info(CostSize::heads).most;
    if (heads < 1 || heads > most) return;
    sizes[CostSize::kv_heads] = own ? heads : divisor_near(heads, sizes[CostSize::kv_heads]);
}

}  // namespace

void describe(Visitor& visit, CostControls& controls) {
    constexpr std::string_view kPasses[] = {"forward", "backward"};
    for (std::size_t n = 0; n < kCostSizeCount; ++n)
        visit(info(static_cast<CostSize>(n)).key, controls.sizes.values[n]);
    visit("pass", controls.pass, kPasses, {.tip = "Forward, or the gradients\nKey: B"});
    if (!visit.reads()) return;
    if (auto fine = check_cost(controls.sizes); !fine) visit.complain(": " + fine.error().sentence);
}

void describe(Visitor& visit, CostLook& look) {
    constexpr std::string_view kItems[] = {
        "q",       "k",      "v",     "scores",       "scaled",  "masked", "weights",
        "context", "output", "total", "materialised", "chunked", "fused",  "kv_cache"};
    visit("item", look.item, kItems);
}

void carry_out(AppState& state, const SetCostSize& action) {
    Index value = action.value;
    if (action.size == CostSize::kv_heads) value = towards(cost_controls(state).sizes, value);
    change(state, fmt::format("{} = {}", info(action.size).symbol, value),
           [&](CostControls& controls) {
               if (action.size == CostSize::heads) return set_heads(controls.sizes, action.value);
               controls.sizes[action.size] = value;
           });
}

void carry_out(AppState& state, const SetCostTokens& action) {
    change(state, fmt::format("T = {}", grouped(action.tokens)), [&](CostControls& controls) {
        controls.sizes = with_tokens(controls.sizes, action.tokens);
    });
}

void carry_out(AppState& state, const SetCostPreset& action) {
    const auto presets = cost_presets();
    const auto found = std::ranges::find(presets, action.key, &CostPreset::key);
    if (found == presets.end())
        return refuse(state, fmt::format("There are no sizes '{}'.", shortened(action.key)));
    const auto sizes = found->sizes ? Result<CostSizes>(*found->sizes) : document_sizes(state);
    if (!sizes) return say(state, sizes.error());
    change(state, "Sizes: " + found->words,
           [&](CostControls& controls) { controls.sizes = *sizes; });
}

void carry_out(AppState& state, const MeasureCost&) {
    if (const std::string why = no_measure_words(cost_controls(state)); !why.empty())
        return warn(state, why);
    cost_look(state).measures = true;
    say(state, "The engine runs at these sizes: its times stand beside the table.");
}

/// Says nothing: a replay does not wait for it.
void carry_out(AppState& state, const CostMeasured& action) {
    cost_look(state).measures = false;
    if (!action.measured) return;
    cost_look(state).last = action.measured;
}

}  // namespace attn::view
