#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/draw/field_controls.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kPresets = 240.0F, kTauTrack = 200.0F;
constexpr float kName = 72.0F;  // of a field at least

/// A row of choices; emits the chosen one.
template <class Set>
void draw_choice(ControlBar& bar, const char* id, const std::vector<std::string>& names,
                 decltype(Set::value) now, const Tip& tip) {
    if (const auto n = bar.choice(id, names, static_cast<int>(now), tip))
        bar.out.push_back(Set{static_cast<decltype(Set::value)>(*n)});
}

template <class Set>
void draw_tau(ControlBar& bar, const std::string& text, double now, double high, const Tip& tip) {
    if (const auto tau =
            bar.slider("##tau", {"τ", text, "0.0123"}, now, view::kColdest, high, kTauTrack, tip))
        bar.out.push_back(Set{*tau});
}

void draw_button(ControlBar& bar, const char* text, const Tip& tip, const view::Action& action) {
    if (bar.button(text, text, tip)) bar.out.push_back(action);
}

void draw_memory_bar(const view::MemoryView& view, ControlBar& bar) {
    const std::string shown = view.preset < 0 ? "changed" : view.preset_names[view.preset];
    const Tip tip{"Example pairs", "Key: N for the next."};
    if (const auto n =
            bar.combo("##memory", {view.preset_names, view.preset, shown}, kPresets, tip))
        bar.out.push_back(view::LoadMemory{view.preset_keys[*n]});
    draw_button(bar, "add", {"Adds a pair, up to 12", "Key: A, or double-click the plane"},
                view::AddLookupPair{view.free[0], view.free[1]});
    draw_button(bar, "remove", {"Removes the selected pair", "Key: Delete"},
                view::RemoveLookupPair{view.pair});
    ImGui::PushID(static_cast<int>(view.pair));
    const auto name = [&](const char* label, const std::string& now) {
        return list_field(bar.frame, label, label, now,
                          {fmt::format("The name of the selected {}", label), "Click to type."},
                          bar.out, [&](float width) { return bar.take(width); },
                          {0.0F, bar.frame.px(kName)});
    };
    if (const auto key = name("key", view.key_name))
        bar.out.push_back(view::NameLookupPair{view.pair, *key, view.value_name});
    if (const auto value = name("value", view.value_name))
        bar.out.push_back(view::NameLookupPair{view.pair, view.key_name, *value});
    ImGui::PopID();
}

void draw_capacity_bar(const view::CapacityView& view, ControlBar& bar) {
    if (const auto pairs = bar.number("##pairs", "pairs", view.pairs, 2, kMostCapacityPairs,
                                      {"n: the number of stored pairs", "2 to 256. Keys: ↑ and ↓"}))
        bar.out.push_back(view::SetCapacityPairs{*pairs});
    draw_tau<view::SetCapacityTemperature>(
        bar, view.tau, view.temperature, 1.0,
        {"a = softmax(k_i·k_j / τ)", "Keys have length 1: every k_i·k_j is within ±1."});
    if (const auto seed =
            bar.seed("##seed", view.seed,
                     {"seed of every draw",
                      "The same seed gives the same numbers everywhere. Key: N for the next."}))
        bar.out.push_back(view::SetCapacitySeed{*seed});
}

void draw_towers(const view::SimilarityView& view, ControlBar& bar) {
    draw_choice<view::SetSimilarityOf>(bar, "of", {"Q·K", "X·X"}, view.of,
                                       {"Compares queries with keys, or X with itself", "Key: X"});
}

void draw_similarity_bar(const view::SimilarityView& view, ControlBar& bar) {
    draw_towers(view, bar);
    draw_choice<view::SetSimilarityMeasure>(
        bar, "measure", {"dot", "cosine"}, view.measure,
        {"Dot product, or cosine, which ignores lengths", "Key: M"});
    draw_choice<view::SetSimilaritySoftmax>(
        bar, "softmax", {"no softmax", "rows", "columns"}, view.softmax,
        {"Softmax of S / τ over the keys of each row, or over the queries of each column",
         "Key: A"});
    draw_tau<view::SetSimilarityTemperature>(
        bar, view.tau, view.temperature, view::kHottest,
        {"softmax(S / τ)", "Models with two towers learn τ; 0.07 is common for cosines."});
}

void draw_permutation_bar(const view::PermutationView& view, ControlBar& bar) {
    draw_choice<view::SetPermutationPosition>(bar, "positions", view.position_names, view.position,
                                              {"The positional encoding", "Key: N"});
    draw_button(bar, "shuffle", {"A random order from a seed", "Key: S"},
                view::ShuffleTokens{view.next_seed});
    const auto order = [&](const char* text, const Tip& tip, view::TokenOrder to) {
        draw_button(bar, text, tip, view::OrderTokens{to});
    };
    order("reverse", {"Last token first", "Key: R"}, view::TokenOrder::reversed);
    order("sort", {"Sorted by word", "Key: O"}, view::TokenOrder::sorted);
    order("reset", {"Document order", "Key: D"}, view::TokenOrder::document);
}

}  // namespace

void draw_lookup_bar(const view::LookupView& view, ControlBar& bar) {
    const Tip tip{"Pages of Lookup", "Keys: Page up, Page down"};
    if (const auto n = bar.choice("page", view.page_names, static_cast<int>(view.page), tip))
        bar.out.push_back(view::ShowLookupPage{static_cast<view::LookupPage>(*n)});
    switch (view.page) {
        case view::LookupPage::memory:
            return draw_memory_bar(view.memory, bar);
        case view::LookupPage::capacity:
            return draw_capacity_bar(view.capacity, bar);
        case view::LookupPage::similarity:
            return draw_similarity_bar(view.similarity, bar);
        case view::LookupPage::alignment:
            return draw_towers(view.alignment.towers, bar);
        case view::LookupPage::permutation:
            return draw_permutation_bar(view.permutation, bar);
    }
}

}  // namespace attn::ui
