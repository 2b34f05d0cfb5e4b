#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kPresets = 300.0F;

/// A row of choices, of which the chosen one is emitted.
template <class Set>
void draw_choice(const Frame& frame, const char* id, const std::vector<std::string>& names,
                 decltype(Set::value) now, const Tip& tip, view::Actions& out) {
    if (const auto n = choice(frame, id, names, static_cast<int>(now), tip))
        out.push_back(Set{static_cast<decltype(Set::value)>(*n)});
}

/// A temperature, with so much more of a track than the shortest.
template <class Set>
void draw_tau(const Frame& frame, const std::string& text, double now, double high, float more,
              const Tip& tip, view::Actions& out) {
    const SliderWords words{"τ", text, "0.0123"};
    const float width = slider_width(frame, words) + more;
    flow(frame, width);
    if (const auto tau =
            real_slider(frame, "##tau", words, now, view::kColdest, high, width, tip, out))
        out.push_back(Set{*tau});
}

void draw_button(const Frame& frame, const char* words, const Tip& tip, bool does,
                 const view::Action& action, view::Actions& out) {
    flow(frame, button_width(frame, words));
    if (button(frame, words, words, tip) && does) out.push_back(action);
}

void draw_memory_bar(const view::MemoryView& view, const Frame& frame, view::Actions& out) {
    const std::string shown =
        view.preset < 0 ? "changed" : view.preset_names[static_cast<std::size_t>(view.preset)];
    flow(frame, frame.px(kPresets));
    const Tip tip{"Pairs to begin with", "Key: N, the next one"};
    if (const auto n = combo(frame, "##memory", {view.preset_names, view.preset, shown},
                             frame.px(kPresets), tip, out))
        out.push_back(view::LoadMemory{view.preset_keys[static_cast<std::size_t>(*n)]});
    draw_button(frame, "add", {"Another pair at (1, 1)", "Key: A, or double-click the plane"},
                view.can_add, view::AddLookupPair{1.0, 1.0}, out);
    draw_button(frame, "remove", {"Removes the pair that is looked at", "Key: Delete"}, true,
                view::RemoveLookupPair{view.pair}, out);
}

void draw_capacity_bar(const view::CapacityView& view, const Frame& frame, view::Actions& out) {
    const float width = number_width(frame, "pairs", kMostCapacityPairs);
    flow(frame, width);
    if (const auto pairs =
            number_field(frame, "##pairs", "pairs", view.pairs, 2, kMostCapacityPairs, width,
                         {"n: how many pairs are stored", "2 to 256. Keys: ↑ and ↓"}, out))
        out.push_back(view::SetCapacityPairs{*pairs});
    draw_tau<view::SetCapacityTemperature>(
        frame, view.tau, view.temperature, 1.0, frame.px(60),
        {"a = softmax(k_i·k_j / τ)", "Keys have length 1: every k_i·k_j is within ±1."}, out);
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
    draw_choice<view::SetSimilarityOf>(
        frame, "of", {"Q·K", "X·X"}, view.of,
        {"What is compared: queries with keys, or X with itself", "Key: X"}, out);
}

void draw_similarity_bar(const view::SimilarityView& view, const Frame& frame, view::Actions& out) {
    draw_towers(view, frame, out);
    ImGui::SameLine(0.0F, frame.px(12));
    draw_choice<view::SetSimilarityMeasure>(
        frame, "measure", {"dot", "cosine"}, view.measure,
        {"By dot product, or by the cosine, which lengths do not count in", "Key: M"}, out);
    ImGui::SameLine(0.0F, frame.px(12));
    draw_choice<view::SetSimilaritySoftmax>(
        frame, "softmax", {"no softmax", "rows", "columns"}, view.softmax,
        {"Softmax of S / τ over the keys of each row, or over the queries of each column",
         "Key: A"},
        out);
    draw_tau<view::SetSimilarityTemperature>(
        frame, view.tau, view.temperature, view::kHottest, 0.0F,
        {"softmax(S / τ)",
         "Two towers that are trained together learn it; 0.07 is a usual one for cosines."},
        out);
}

void draw_permutation_bar(const view::PermutationView& view, const Frame& frame,
                          view::Actions& out) {
    ImGui::SameLine(0.0F, frame.px(16));
    draw_choice<view::SetPermutationPosition>(
        frame, "positions", view.position_names, view.position,
        {"What tells a token where it stands", "Key: N"}, out);
    draw_button(frame, "shuffle", {"Another order, drawn from a seed", "Key: S"}, true,
                view::ShuffleTokens{view.next_seed}, out);
    const auto order = [&](const char* words, const Tip& tip, view::TokenOrder to) {
        draw_button(frame, words, tip, true, view::OrderTokens{to}, out);
    };
    order("reverse", {"From the last token to the first", "Key: R"}, view::TokenOrder::reversed);
    order("sort", {"By their words", "Key: O"}, view::TokenOrder::sorted);
    order("as it was", {"As in the document", "Key: D"}, view::TokenOrder::document);
}

}  // namespace

void draw_lookup_bar(const view::LookupView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"Pages of Lookup", "Keys: Page up, Page down"};
    if (const auto n = choice(frame, "page", view.page_names, static_cast<int>(view.page), tip))
        out.push_back(view::ShowLookupPage{static_cast<view::LookupPage>(*n)});
    switch (view.page) {
        case view::LookupPage::memory:
            return draw_memory_bar(view.memory, frame, out);
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

}  // namespace attn::ui
