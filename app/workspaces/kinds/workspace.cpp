#include <fmt/format.h>

#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/map/actions.h"
#include "app/common/pair.h"
#include "app/common/workspace.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/view.h"

namespace attn::view {
namespace {

constexpr double kBytesOfPair = 100.0;  // scores to weights of two sides in float64, and as floats

void drop_result(KindsLook& look) {
    look.result.reset();
    look.maps.clear();
}

void clamp_kinds(AppState& state) {
    KindsLook& look = kinds_look(state);
    if (look.selected && !has_pair(state, {look.selected->row, look.selected->column}))
        look.selected.reset();
    look.taken = std::clamp<Index>(look.taken, 0, online_chunks(state));
    if (look.result && !is_current(*look.result, state)) drop_result(look);
}

void add_online(const CommandAdder& add, const AppState& state) {
    const KindsLook& look = kinds_look(state);
    add("Next chunk", Key::right, StepOnline{1});
    add("Previous chunk", Key::left, StepOnline{-1});
    add("Before the first chunk", Key::home, GoToOnlineEnd{false});
    add("After the last chunk", Key::end, GoToOnlineEnd{true});
    add(look.playing ? "Stop playing" : "Play the chunks", Key::space, PlayOnline{});
    const bool of_a = kinds_controls(state).online == KindsSide::a;
    add(of_a ? "Online softmax of B" : "Online softmax of A", Key::b,
        SetOnlineSide{of_a ? KindsSide::b : KindsSide::a});
    add("Larger chunks", Key::plus,
        SetOnlineChunk{std::min(kMostChunk, 2 * kinds_controls(state).chunk)});
    add("Smaller chunks", Key::minus,
        SetOnlineChunk{std::max<Index>(1, kinds_controls(state).chunk / 2)});
}

void add_pairs(const CommandAdder& add, const KindsControls& controls) {
    const auto presets = kinds_presets();
    const std::size_t next = (present_pair(controls) + 1) % (presets.size() + 1);
    add("Next pair of kinds", Key::n, ChooseKinds{std::string(presets[next % presets.size()].key)});
    const bool differ = controls.a != controls.b;
    add("Swap A and B", Key::x, SwapKinds{}, differ);
    add("Copy A to B", Key::c, CopyKind{KindsSide::a}, differ);
    add("Copy B to A", {}, CopyKind{KindsSide::b}, differ);
    for (const KindsPreset& preset : presets)
        add(fmt::format("Compare: {}", preset.title), {}, ChooseKinds{std::string(preset.key)});
}

void add_kinds_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Variants", kinds_missing_data(state).empty()};
    const bool online = kinds_look(state).online;
    add(online ? "Compare two kinds" : "Online softmax, chunk by chunk", Key::o,
        ShowOnline{!online});
    if (online) add_online(add, state);
    if (!online && !kinds_look(state).maps.empty()) add_zoom_commands(add, map_look(state));
    add_arrows(add, "query", "key", shift, [](int rows, int columns) {
        return MovePair{rows, columns};
    });
    add_pairs(add, kinds_controls(state));
    add("Measure how long each side takes here", shift(Key::m), MeasureKinds{});
    add_document_commands(list, state);
    std::erase_if(list, [](const Command& each) {  // each side has a scaling of its own
        return each.action.is<SetScaling>();
    });
}

void clear_kinds(AppState& state) {
    kinds_look(state).selected.reset();
    kinds_look(state).taken = 0;
    kinds_look(state).playing = false;
    drop_result(kinds_look(state));
}

std::vector<Shot> kinds_shots() {
    return {
        {"", {}}, {"rope", {ChooseKinds{"rope"}}}, {"online", {ShowOnline{true}, StepOnline{1}}}};
}

constexpr std::string_view kKindsMouse[] = {
    "Click a weight of A or B, or their difference, to see the arithmetic of both sides.",
    "Drag a number, or click and type it.",
    "Point at a cell or a table row for details.",
    "More than 64 tokens: maps; the wheel zooms, dragging pans.",
};

constexpr RequestKind kRequests[] = {request_kind<requested_kinds>("kinds"),
                                     request_kind<requested_kinds_time>("times")};
constexpr PersistedValue kValues[] = {persisted(kinds_controls), persisted(kinds_look)};

Actions due_in_kinds(const AppState& state) {
    constexpr double kSecondsPerChunk = 1.2;
    const KindsLook& look = kinds_look(state);
    if (!look.playing || look.clock_s < kSecondsPerChunk) return {};
    return {StepOnline{1}};
}

}  // namespace

std::string kinds_missing_data(const AppState& state) {
    const Document& document = state.document();
    const Dimensions& size = document.size;
    if (is_empty(document)) return empty_text(document);
    if (!document.inputs->projects() && document.inputs->v.empty())
        return "These are queries and keys without values: Long context shows their weights (3 M).";
    if (size.tq > kMostKindsPairs / std::max<Index>(size.tk, 1))
        return fmt::format(
            "{} × {} pairs with every stage of two kinds need {} of memory{}.", grouped(size.tq),
            grouped(size.tk),
            bytes_text(kBytesOfPair * static_cast<double>(size.tq) * static_cast<double>(size.tk)),
            has_map(document) ? ": Long context shows the weights (3 M)" : "");
    return {};
}

void describe(Visitor& visit, KindsLook& look) {
    visit("online", look.online);
    visit("taken", look.taken, {.low = 0.0, .high = static_cast<double>(kMostIndex)});
    visit("playing", look.playing);
    visit("selected", look.selected);
}

large::Cell shown_pair(const AppState& state) {
    const KindsLook& look = kinds_look(state);
    if (look.selected) return *look.selected;
    if (!look.result) return {};
    return {look.result->difference.row, look.result->difference.column};
}

std::size_t present_pair(const KindsControls& controls) {
    const auto presets = kinds_presets();
    const auto found = std::ranges::find_if(presets, [&](const KindsPreset& preset) {
        return preset.a == controls.a && preset.b == controls.b;
    });
    return static_cast<std::size_t>(found - presets.begin());
}

void enter_kinds(AppState& state) {
    if (const auto pair = selected_pair(state))
        kinds_look(state).selected = large::Cell{pair->query, pair->key};
    clamp_kinds(state);
    if (!kinds_missing_data(state).empty()) return show_message(state, kinds_missing_data(state));
    show_message(state, kinds_look(state).online ? "→ processes the next keys, Space plays."
                                                 : "N shows the next pair.");
}

extern const WorkspaceInfo kKindsWorkspace{
    .key = "kinds",
    .also = "variants",
    .title = "Variants",
    .tip = "Two kinds of attention on the same tokens: what changes, and what it costs.",
    .group = Group::compare,
    .letter = Key::v,
    .shows_document = true,
    .actions = KindsActions::kTypes,
    .values = kValues,
    .requests = kRequests,
    .missing_data = kinds_missing_data,
    .enter = enter_kinds,
    .leave =
        [](AppState& state) {
            kinds_look(state).playing = false;
            map_look(state).hovered.reset();
        },
    .add_commands = add_kinds_commands,
    .escape = [](const AppState& state) -> std::optional<Action> {
        if (kinds_look(state).online && !state.presenter) return ShowOnline{false};
        return std::nullopt;
    },
    .clear = [](AppState& state) { kinds_look(state).selected.reset(); },
    .clamp_to_document = clamp_kinds,
    .clear_cache = clear_kinds,
    .follow = follow_kinds,
    .tick =
        [](AppState& state, double seconds) {
            if (kinds_look(state).playing) kinds_look(state).clock_s += seconds;
        },
    .still = [](AppState& state) { kinds_look(state).times.reset(); },
    .due = due_in_kinds,
    .reasons = kinds_reasons,
    .has_side = [](const AppState& state) { return kinds_missing_data(state).empty(); },
    .inspector = kinds_inspector,
    .is_animating = [](const AppState& state) { return kinds_look(state).playing; },
    .is_idle =
        [](const AppState& state) {
            const auto& result = kinds_look(state).result;
            return !kinds_missing_data(state).empty() ||
                   (result && is_current(*result, state) && !requested_kinds_time(state));
        },
    .figure_name =
        [](const AppState& state) {
            return std::string(kinds_look(state).online ? "online-softmax" : "kinds");
        },
    .shots = kinds_shots,
    .mouse = kKindsMouse,
};

}  // namespace attn::view
