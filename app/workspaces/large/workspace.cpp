#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/assets.h"
#include "app/common/describe_json.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/opened.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/inspector.h"
#include "app/common/map/text.h"
#include "app/common/map/view.h"
#include "app/common/workspace.h"
#include "app/workspaces/large/state.h"
#include "app/workspaces/large/view.h"
#include "core/large/planted.h"
#include "core/large/weight_map.h"

namespace attn::view {
namespace {

constexpr double kPanStep = 0.25;  // of the canvas
constexpr Index kLeastMapped = 256, kExampleTokens = 16384;

void add_moves(const CommandAdder& add, const AppState& state) {
    const MapLook& look = map_look(state);
    const bool there = look.size != MapSize{};
    const MapCanvas canvas = canvas_of(look);
    const auto pan = [&](double columns, double rows) {
        return moved_map(look, panned(look, -columns * canvas.width, -rows * canvas.height));
    };
    add_zoom_commands(add, look);
    add.list.back().also = plain(Key::home);
    add("Move up", Key::up, pan(0.0, -kPanStep), there);
    add("Move down", Key::down, pan(0.0, kPanStep), there);
    add("Move left", Key::left, pan(-kPanStep, 0.0), there);
    add("Move right", Key::right, pan(kPanStep, 0.0), there);
    add("Go to a cell", Key::g, ShowGoTo{true}, there);
    const bool needle = no_needle_text(state.document()).empty();
    add("Go to the needle", Key::n, GoToNeedle{}, needle);
}

/// Nothing is left to pause or resume once it is complete.
void add_pass(const CommandAdder& add, const MapLook& look) {
    const PassView pass = pass_view(look);
    const bool requested = wants_full_pass(look);
    add(requested ? "Pause the exact pass" : "Resume the exact pass", Key::space,
        SetFullPass{!requested}, look.input != nullptr && !pass.done);
}

void add_top_cells(const CommandAdder& add, const large::TopChoice& top) {
    large::TopChoice keys = top;
    keys.skip_first_key = !top.skip_first_key;
    add(top.skip_first_key ? "Strongest cells: include key 0" : "Strongest cells: leave out key 0",
        Key::k, SetTopCells{keys});
    large::TopChoice queries = top;
    queries.one_per_query = !top.one_per_query;
    add(top.one_per_query ? "Strongest cells: all of a query" : "Strongest cells: one per query",
        Key::o, SetTopCells{queries});
}

void add_searches(const CommandAdder& add, const MapLook& look) {
    using Of = large::Search::Of;
    const auto cell = look.selected.value_or(large::Cell{});
    const bool any = look.selected.has_value();
    add("Queries that attend to the selected key", Key::a,
        SearchMap{large::Search{Of::key, cell.column}}, any);
    add("Keys that the selected query attends to", Key::q,
        SearchMap{large::Search{Of::query, cell.row}}, any);
}

/// What is open decides what there is to do.
std::string entering_text(const Document& document) {
    if (is_empty(document) && !is_toy(document)) return empty_text(document);
    if (is_empty(document))
        return "There is no matrix yet: press Ctrl+O to open one, or Ctrl+K and type “Generate”.";
    if (is_toy(document)) return "Ctrl+O opens queries and keys of a model.";
    return "The wheel zooms from the whole matrix to one number.";
}

std::string large_missing_data(const AppState& state) {
    if (!is_empty(state.document())) return {};
    return is_toy(state.document()) ? "There is no matrix yet." : empty_text(state.document());
}

void enter_large(AppState& state) {
    const auto& selected = state.selected;
    const Stage* const stage = selected ? std::get_if<Stage>(&selected->tensor) : nullptr;
    if (stage && pair_stages()[index_of(*stage)]) {  // the pair that Step looked at
        const large::Cell cell{selected->row, selected->column};
        if (has_map_cell(map_look(state), cell)) map_look(state).selected = cell;
    }
    show_message(state, entering_text(state.document()));
}

void add_large_commands(std::vector<Command>& list, const AppState& state) {
    const MapLook& look = map_look(state);
    const CommandAdder add{list, "Long context"};
    add_moves(add, state);
    add_color_commands(add, look, Key::c, Key::l);
    add(shows_scores(look) ? std::string("Show the weights")
                           : fmt::format("Show the {}s", score_name(state.document().spec)),
        Key::w, SetMapPicture{shows_scores(look) ? MapPictureOf::weights : MapPictureOf::scores});
    add_pass(add, look);
    add_top_cells(add, look.top);
    add_searches(add, look);
    add_document_commands(list, state);
    for (const Index tokens : kPlantedSizes) {
        large::PlantedSpec spec = large_look(state).draft;
        spec.tokens = tokens;
        add(fmt::format("Generate {} tokens", grouped(tokens)), Key::none, OpenPlanted{spec});
    }
}

/// A generated matrix in place of a few words.
Actions large_example(const AppState& state) {
    const Document& document = state.document();
    if (!comes_with_program(document) || document.size.tk >= kLeastMapped) return {};
    large::PlantedSpec spec = large_look(state).draft;
    spec.tokens = kExampleTokens;
    return {SetTopCells{{.skip_first_key = true, .one_per_query = true}}, OpenPlanted{spec}};
}

bool has_large_side(const AppState& state) {
    return !is_empty(state.document()) && map_look(state).input && map_look(state).fault.empty();
}

std::optional<Action> escape_large(const AppState& state) {
    if (map_look(state).go_to_open) return ShowGoTo{false};
    if (map_look(state).search) return SearchMap{std::nullopt};
    if (map_look(state).selected) return ClearSelection{};
    return std::nullopt;
}

void write_large(Visitor& part, const AppState& state) {
    LargeLook own = large_look(state);
    MapLook look = map_look(state);
    part("draft", own.draft);
    describe(part, look);
}

void read_large(Fields& fields, AppState& state) {
    MapLook& look = map_look(state);
    JsonReader reader(fields);
    reader("draft", large_look(state).draft);
    describe(reader, look);
    if (look.selected && !has_map_cell(look, *look.selected))
        fields.complain(fmt::format("has 'selected' = {} → {}: the matrix is {} × {}",
                                    look.selected->row, look.selected->column, look.size.rows,
                                    look.size.columns));
    if (look.search && !has_search(look, *look.search))
        fields.complain(fmt::format("has a 'search' of {}: the matrix is {} × {}",
                                    look.search->index, look.size.rows, look.size.columns));
}

bool is_map_workspace_idle(const AppState& state) {
    const MapLook& look = map_look(state);
    return !look.fault.empty() || is_empty(state.document()) ||
           (look.snapshot && look.snapshot->complete);
}

std::vector<Shot> large_shots() {
    const large::PlantedSpec spec{.tokens = 4096};
    return {{"", {OpenPlanted{spec}, DocumentReady{}}}};
}

constexpr std::string_view kLargeMouse[] = {
    "The wheel zooms about the pointer, a double click zooms in; dragging pans.",
    "Point at a cell to see its query, key and weight.",
    "Click a cell to see its arithmetic in the inspector.",
    "Click a cell in a list to go there.",
    "Press or drag on the small map to move there.",
};
void leave_large(AppState& state) {
    MapLook& look = map_look(state);
    look.hovered.reset();
    look.go_to_open = false;
    look.go_to_draft.clear();
}

/// A matrix that is asked for, by whatever way, is what "generate" would make again.
void follow_large(AppState& state) {
    const bool shown = state.workspace == "large";
    if (map_look(std::as_const(state)).own_shown != shown) map_look(state).own_shown = shown;
    if (!state.opening) return;
    if (const auto* const spec = std::get_if<large::PlantedSpec>(&state.opening->what))
        large_look(state).draft = *spec;
}

/// The map is pulled along, an eighth of it in view.
std::optional<Action> drag_large(const AppState& state, Movement movement, double part) {
    constexpr double kDragStep = 0.02;  // of the canvas, a frame
    if (movement != Movement::drag) return std::nullopt;
    const MapLook& look = map_look(state);
    const MapCanvas canvas = canvas_of(look);
    if (part == 0.0) return moved_map(look, zoomed(look, 8.0));
    return moved_map(look, panned(look, -kDragStep * canvas.width, -kDragStep * canvas.height));
}

}  // namespace

void carry_out(AppState& state, const DraftPlanted& action) {
    if (auto valid = large::check_planted(action.spec); !valid)
        return show_message(state, valid.error());
    large_look(state).draft = action.spec;
}

extern const WorkspaceInfo kLargeWorkspace{
    .key = "large",
    .also = "map",
    .title = "Long context",
    .tip = "A map of all the weights of a matrix of any size.",
    .group = Group::model,
    .letter = Key::m,
    .shows_document = true,
    .shows_first = true,
    .actions = LargeActions::kTypes,
    .missing_data = large_missing_data,
    .enter = enter_large,
    .leave = leave_large,
    .add_commands = add_large_commands,
    .escape = escape_large,
    .clear = [](AppState& state) { map_look(state).selected.reset(); },
    .clamp_to_document = clamp_map,
    .clear_cache = clear_map,
    .follow = follow_large,
    .restored = keep_machine,
    .tick = tick_map,
    .still = still_map,
    .moved = drag_large,
    .example = large_example,
    .reasons = large_reasons,
    .has_side = has_large_side,
    .inspector = map_inspector,
    .write = write_large,
    .read = read_large,
    .is_animating = [](const AppState& state) { return map_look(state).moving_s > 0.0; },
    .is_idle = is_map_workspace_idle,
    .shots = large_shots,
    .mouse = kLargeMouse,
};

}  // namespace attn::view
