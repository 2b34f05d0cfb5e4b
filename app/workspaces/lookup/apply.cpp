#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/pair.h"
#include "app/common/sheet.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/text.h"
#include "app/workspaces/lookup/view.h"
#include "core/rng.h"
#include "core/stages.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostName = 24;

/// A copy is changed and made the present one.
template <class Change>
void change(AppState& state, const std::string& text, Change&& change_controls) {
    LookupControls controls = lookup_controls(state);
    change_controls(controls);
    edit_controls(state, std::move(controls), text);
}

void report_off_plane(AppState& state) { show_error(state, "a point needs two numbers"); }

bool has_pair(AppState& state, Index pair) {
    const Index count = std::ssize(lookup_controls(state).pairs);
    if (pair >= 0 && pair < count) return true;
    warn(state, "There is no pair {}: pairs are numbered 0 to {}.", pair, count - 1);
    return false;
}

/// Moves a point of a pair, and looks at it.
void move_point(AppState& state, Index pair, double x, double y, PlanePoint LookupPair::*point,
                std::string LookupPair::*name) {
    if (!has_pair(state, pair)) return;
    const auto to = on_plane(x, y);
    if (!to) return report_off_plane(state);
    lookup_look(state).pair = pair;
    const auto n = static_cast<std::size_t>(pair);
    change(state, fmt::format("{} at {}", lookup_controls(state).pairs[n].*name, point_text(*to)),
           [&](LookupControls& controls) { controls.pairs[n].*point = *to; });
}

std::string free_name(const LookupControls& controls, const char* stem) {
    for (std::size_t n = controls.pairs.size();; ++n) {
        std::string name = fmt::format("{} {}", stem, n);
        const auto same = [&](const LookupPair& each) {
            return each.key == name || each.value == name;
        };
        if (std::ranges::none_of(controls.pairs, same)) return name;
    }
}

/// As typed, without what cannot be seen at its ends.
std::string name_from(const std::string& typed, const std::string& before) {
    std::string name = shortened(typed, kMostName);
    const auto first = name.find_first_not_of(' ');
    if (first == std::string::npos) return before;
    return name.substr(first, name.find_last_not_of(' ') - first + 1);
}

void set_order(AppState& state, std::vector<Index> order, const std::string& text) {
    if (std::ranges::is_sorted(order)) order.clear();  // as in the document
    change(state, text, [&](LookupControls& controls) { controls.order = std::move(order); });
}

bool has_tokens(AppState& state) {
    if (state.document().size.tk > 0) return true;
    warn(state, "There are no tokens yet: type a sentence in Step (1 S).");
    return false;
}

}  // namespace

void carry_out(AppState& state, const ShowLookupPage& action) {
    lookup_look(state).page = action.page;
    lookup_look(state).hovered.reset();
    show_message(state, page_hint(action.page));
}

void carry_out(AppState& state, const MoveLookupQuery& action) {
    const auto to = on_plane(action.x, action.y);
    if (!to) return report_off_plane(state);
    change(state, fmt::format("Query at {}", point_text(*to)),
           [&](LookupControls& controls) { controls.query = *to; });
}

void carry_out(AppState& state, const MoveLookupKey& action) {
    move_point(state, action.pair, action.x, action.y, &LookupPair::k, &LookupPair::key);
}

void carry_out(AppState& state, const MoveLookupValue& action) {
    move_point(state, action.pair, action.x, action.y, &LookupPair::v, &LookupPair::value);
}

void carry_out(AppState& state, const AddLookupPair& action) {
    const auto at = on_plane(action.x, action.y);
    if (!at) return report_off_plane(state);
    if (lookup_controls(state).pairs.size() >= kMostLookupPairs)
        return warn(state, "A memory has at most {} pairs.", kMostLookupPairs);
    const std::string key = free_name(lookup_controls(state), "key");
    const std::string value = free_name(lookup_controls(state), "value");
    lookup_look(state).pair = std::ssize(lookup_controls(state).pairs);
    change(state, fmt::format("Added {} → {} at {}", key, value, point_text(*at)),
           [&](LookupControls& controls) {
               controls.pairs.push_back({key, value, *at, *at});
           });
}

void carry_out(AppState& state, const RemoveLookupPair& action) {
    if (!has_pair(state, action.pair)) return;
    if (lookup_controls(state).pairs.size() == 1)
        return warn(state, "A memory needs at least one pair.");
    const auto n = action.pair;
    const LookupPair gone = lookup_controls(state).pairs[n];
    change(state, fmt::format("Removed {} → {}", gone.key, gone.value),
           [&](LookupControls& controls) { controls.pairs.erase(controls.pairs.begin() + n); });
    clamp_to_document(state);
}

void carry_out(AppState& state, const NameLookupPair& action) {
    if (!has_pair(state, action.pair)) return;
    const auto n = static_cast<std::size_t>(action.pair);
    const LookupPair& now = lookup_controls(state).pairs[n];
    const std::string key = name_from(action.key, now.key);
    const std::string value = name_from(action.value, now.value);
    change(state, fmt::format("Pair {}: {} → {}", action.pair, key, value),
           [&](LookupControls& controls) {
               controls.pairs[n].key = key;
               controls.pairs[n].value = value;
           });
}

void carry_out(AppState& state, const LoadMemory& action) {
    const auto& presets = memory_presets();
    const auto found = std::ranges::find(presets, action.memory, &MemoryPreset::key);
    if (found == presets.end())
        return show_error(state, "There is no memory '{}'.", shortened(action.memory));
    lookup_look(state).pair = 0;
    change(state, "Memory: " + found->text, [&](LookupControls& controls) {
        controls.pairs = found->pairs;
        controls.query = found->query;
        controls.temperature = found->temperature;
    });
}

void carry_out(AppState& state, const SelectLookupPair& action) {
    if (!has_pair(state, action.pair)) return;
    lookup_look(state).pair = action.pair;
    show_message(state, pair_sentence(state));
}

void carry_out(AppState& state, const HoverLookupPair& action) {
    const Index count = std::ssize(lookup_controls(state).pairs);
    const bool there = action.pair && *action.pair >= 0 && *action.pair < count;
    lookup_look(state).hovered = there ? action.pair : std::nullopt;
}

void carry_out(AppState& state, const CapacityReady& action) {
    capacity_curves(state) = {action.points, action.of, action.elapsed_ms};
}

void carry_out(AppState& state, const MoveToken& action) {
    if (!has_tokens(state)) return;
    std::vector<Index> order = token_order(state);
    const Index count = std::ssize(order);
    if (action.token < 0 || action.token >= count)
        return warn(state, "There is no token {}: tokens are numbered 0 to {}.", action.token,
                    count - 1);
    const Index place = std::clamp<Index>(action.place, 0, count - 1);
    std::erase(order, action.token);
    order.insert(order.begin() + place, action.token);
    set_order(state, std::move(order),
              fmt::format("“{}” moved to position {}", axis_label(state, Axis::key, action.token),
                          place));
}

void carry_out(AppState& state, const ShuffleTokens& action) {
    if (!has_tokens(state)) return;
    std::vector<Index> order = first_places(state.document().size.tk);
    for (std::size_t n = order.size(); n > 1; --n)  // Fisher and Yates
        std::swap(order[n - 1], order[mix(action.seed, n) % n]);
    set_order(state, std::move(order), fmt::format("Shuffled with seed {}", action.seed));
}

void carry_out(AppState& state, const OrderTokens& action) {
    if (!has_tokens(state)) return;
    std::vector<Index> order = first_places(state.document().size.tk);
    if (action.order == TokenOrder::reversed) std::ranges::reverse(order);
    const auto labels = axis_labels(state, Axis::key, std::ssize(order));
    if (action.order == TokenOrder::sorted)
        std::ranges::stable_sort(order, {}, [&](Index n) { return labels[n]; });
    constexpr const char* kDescriptions[] = {"Tokens in document order", "Tokens in reverse order",
                                             "Tokens sorted by word"};
    set_order(state, std::move(order), kDescriptions[static_cast<std::size_t>(action.order)]);
}

void carry_out(AppState& state, const SelectLookupCell& action) {
    const Pair pair{action.row, action.column};
    if (!has_pair(state, pair)) return warn(state, no_pair_text(state, pair, "the matrix is"));
    lookup_look(state).row = action.row;
    lookup_look(state).column = action.column;
    show_message(state, cell_sentence(state));
}

}  // namespace attn::view
