#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kPresets = 300.0F;

void draw_memory_presets(const view::MemoryView& view, const Frame& frame, view::Actions& out) {
    const std::string shown =
        view.preset < 0 ? "changed" : view.preset_names[static_cast<std::size_t>(view.preset)];
    flow(frame, frame.px(kPresets));
    const Tip tip{"Pairs to begin with", "Key: N, the next one"};
    if (const auto n = combo(frame, "##memory", {view.preset_names, view.preset, shown},
                             frame.px(kPresets), tip, out))
        out.push_back(view::LoadMemory{view.preset_keys[static_cast<std::size_t>(*n)]});
}

void draw_pair_buttons(const view::MemoryView& view, const Frame& frame, view::Actions& out) {
    flow(frame, button_width(frame, "add"));
    if (button(frame, "add", "add",
               {"Another pair at (1, 1)", "Key: A, or double-click the plane"}) &&
        view.can_add)
        out.push_back(view::AddLookupPair{1.0, 1.0});
    flow(frame, button_width(frame, "remove"));
    if (button(frame, "remove", "remove", {"Removes the pair that is looked at", "Key: Delete"}))
        out.push_back(view::RemoveLookupPair{view.pair});
}

void draw_capacity_bar(const view::CapacityView& view, const Frame& frame, view::Actions& out) {
    const auto count = [&](const char* id, const char* words, Index value, Index low, Index high,
                           const Tip& tip) {
        const float width = number_width(frame, words, high);
        flow(frame, width);
        return number_field(frame, id, words, value, low, high, width, tip, out);
    };
    if (const auto pairs = count("##pairs", "pairs", view.pairs, 2, kMostCapacityPairs,
                                 {"n: how many pairs are stored", "2 to 256. Keys: ↑ and ↓"}))
        out.push_back(view::SetCapacityPairs{*pairs});
    const SliderWords words{"τ", view.tau, "0.0123"};
    const float width = slider_width(frame, words) + frame.px(60);
    flow(frame, width);
    if (const auto tau = real_slider(
            frame, "##tau", words, view.temperature, view::kColdest, 1.0, width,
            {"a = softmax(k_i·k_j / τ)", "Keys have length 1: every k_i·k_j is within ±1."}, out))
        out.push_back(view::SetCapacityTemperature{*tau});
    flow(frame, seed_width(frame, view.seed));
    if (const auto seed =
            seed_field(frame, "##seed", view.seed, seed_width(frame, view.seed),
                       {"seed of every draw",
                        "The same seed gives the same numbers everywhere. Key: N, the next one"},
                       out))
        out.push_back(view::SetCapacitySeed{*seed});
}

void draw_towers(const view::SimilarityView& view, const Frame& frame, view::Actions& out) {
    ImGui::SameLine(0.0F, frame.px(16));
    if (const auto n = choice(frame, "of", {"Q·K", "X·X"}, static_cast<int>(view.of),
                              {"What is compared: queries with keys, or X with itself", "Key: X"}))
        out.push_back(view::SetSimilarityOf{static_cast<view::SimilarityOf>(*n)});
}

void draw_similarity_bar(const view::SimilarityView& view, const Frame& frame, view::Actions& out) {
    draw_towers(view, frame, out);
    ImGui::SameLine(0.0F, frame.px(12));
    if (const auto n =
            choice(frame, "measure", {"dot", "cosine"}, static_cast<int>(view.measure),
                   {"By dot product, or by the cosine, which lengths do not count in", "Key: M"}))
        out.push_back(view::SetSimilarityMeasure{static_cast<view::SimilarityMeasure>(*n)});
    ImGui::SameLine(0.0F, frame.px(12));
    if (const auto n = choice(
            frame, "softmax", {"no softmax", "rows", "columns"}, static_cast<int>(view.softmax),
            {"Softmax of S / τ over the keys of each row, or over the queries of each column",
             "Key: A"}))
        out.push_back(view::SetSimilaritySoftmax{static_cast<view::SimilaritySoftmax>(*n)});
    const SliderWords words{"τ", view.tau, "0.0123"};
    const float width = slider_width(frame, words);
    flow(frame, width);
    if (const auto tau = real_slider(
            frame, "##tau", words, view.temperature, view::kColdest, view::kHottest, width,
            {"softmax(S / τ)",
             "Two towers that are trained together learn it; 0.07 is a usual one for cosines."},
            out))
        out.push_back(view::SetSimilarityTemperature{*tau});
}

void draw_permutation_bar(const view::PermutationView& view, const Frame& frame,
                          view::Actions& out) {
    ImGui::SameLine(0.0F, frame.px(16));
    if (const auto n =
            choice(frame, "positions", view.position_names, static_cast<int>(view.position),
                   {"What tells a token where it stands", "Key: N"}))
        out.push_back(view::SetPermutationPosition{static_cast<view::PermutationPosition>(*n)});
    const auto order = [&](const char* words, const Tip& tip, const view::Action& action) {
        flow(frame, button_width(frame, words));
        if (button(frame, words, words, tip)) out.push_back(action);
    };
    order("shuffle", {"Another order, drawn from a seed", "Key: S"},
          view::ShuffleTokens{view.next_seed});
    order("reverse", {"From the last token to the first", "Key: R"},
          view::OrderTokens{view::TokenOrder::reversed});
    order("sort", {"By their words", "Key: O"}, view::OrderTokens{view::TokenOrder::sorted});
    order("as it was", {"As in the document", "Key: D"},
          view::OrderTokens{view::TokenOrder::document});
}

void draw_controls(const view::LookupView& view, const Frame& frame, view::Actions& out) {
    switch (view.page) {
        case view::LookupPage::memory:
            draw_memory_presets(view.memory, frame, out);
            return draw_pair_buttons(view.memory, frame, out);
        case view::LookupPage::capacity:
            return draw_capacity_bar(view.capacity, frame, out);
        case view::LookupPage::similarity:
            return draw_similarity_bar(view.similarity, frame, out);
        case view::LookupPage::alignment:
            return draw_towers(view.alignment.towers, frame, out);
        case view::LookupPage::permutation:
            return draw_permutation_bar(view.permutation, frame, out);
    }
}

}  // namespace

void draw_lookup_bar(const view::LookupView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"Pages of Lookup", "Keys: Page up, Page down"};
    if (const auto n = choice(frame, "page", view.page_names, static_cast<int>(view.page), tip))
        out.push_back(view::ShowLookupPage{static_cast<view::LookupPage>(*n)});
    draw_controls(view, frame, out);
}

}  // namespace attn::ui
