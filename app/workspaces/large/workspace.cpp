#include "app/common/workspace.h"
#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/large/workspace.h"

#include <fmt/format.h>

#include "app/common/describe_json.h"
#include "app/common/document/commands.h"
#include "app/common/document/edits.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/pass.h"
#include "app/common/map/requests.h"
#include "app/common/map/words.h"

namespace attn::view {
namespace {

constexpr double kZoomStep = 2.0;
constexpr double kPanStep = 0.25;  // of the canvas

MapColors pooled_next(MapColors colors) {
    constexpr int kPoolings = 3;
    colors.pooling =
        static_cast<large::Pooling>((static_cast<int>(colors.pooling) + 1) % kPoolings);
    return colors;
}

MapColors on_scale(MapColors colors, bool log_scale) {
    colors.log_scale = log_scale;
    return colors;
}

void add_zooms(const CommandAdder& add, const MapLook& look) {
    const bool there = look.size != MapSize{};
    add("Zoom in", Key::plus, moved_map(look, zoomed(look, kZoomStep)), there);
    add("Zoom out", Key::minus, moved_map(look, zoomed(look, 1.0 / kZoomStep)), there);
    add("The whole matrix", Key::f, FitMap{}, there);
}

void add_moves(const CommandAdder& add, const AppState& state) {
    const MapLook& look = map_look(state);
    const bool there = look.size != MapSize{};
    const MapCanvas canvas = canvas_of(look);
    const auto pan = [&](double columns, double rows) {
        return moved_map(look, panned(look, -columns * canvas.width, -rows * canvas.height));
    };
    add_zooms(add, look);
    add.list.back().also = plain(Key::home);
    add("Move up", Key::up, pan(0.0, -kPanStep), there);
    add("Move down", Key::down, pan(0.0, kPanStep), there);
    add("Move left", Key::left, pan(-kPanStep, 0.0), there);
    add("Move right", Key::right, pan(kPanStep, 0.0), there);
    add("Go to a cell", Key::g, ShowGoTo{true}, there);
    const bool needle = no_needle_words(state.document()).empty();
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
    add(top.skip_first_key ? "Strongest cells: key 0 too" : "Strongest cells: leave out key 0",
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
    add("What attends to the selected key", Key::a, SearchMap{large::Search{Of::key, cell.column}},
        any);
    add("What the selected query attends to", Key::q, SearchMap{large::Search{Of::query, cell.row}},
        any);
}

/// What is open decides what there is to do.
std::string entering_words(const Document& document) {
    if (is_empty(document) && !is_toy(document)) return empty_words(document);
    if (is_empty(document))
        return "There is no matrix yet: Ctrl+O opens one, Ctrl+K finds “Generate”.";
    if (is_toy(document))
        return "This map is of the sentence of Step: Ctrl+O opens queries and keys of a model, "
               "Ctrl+K finds “Generate”.";
    return "A map of all the weights: the wheel zooms from the whole matrix to one number.";
}

}  // namespace

std::string large_lacks(const AppState& state) {
    if (!is_empty(state.document())) return {};
    return is_toy(state.document()) ? "There is no matrix yet." : empty_words(state.document());
}

void enter_large(AppState& state) {
    const auto& selected = state.selected;
    const Stage* const stage = selected ? std::get_if<Stage>(&selected->tensor) : nullptr;
    if (stage && pair_stages()[index_of(*stage)]) {  // the pair that Step looked at
        const large::Cell cell{selected->row, selected->column};
        if (has_map_cell(map_look(state), cell)) map_look(state).selected = cell;
    }
    say(state, entering_words(state.document()));
}

void add_map_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Step"};
    const MapLook& look = map_look(state);
    add_zooms(add, look);
    const bool needle = no_needle_words(state.document()).empty();
    if (needle) add("Go to the needle", Key::n, GoToNeedle{});
    if (shows_scores(look)) return;
    const MapColors next = pooled_next(look.colors);
    add(fmt::format("Show {} of a texel", pooling_words(next.pooling)), Key::none,
        SetMapColors{next});
    add(look.colors.log_scale ? "Linear colours" : "Logarithmic colours", Key::none,
        SetMapColors{on_scale(look.colors, !look.colors.log_scale)});
}

void add_large_commands(std::vector<Command>& list, const AppState& state) {
    const MapLook& look = map_look(state);
    const CommandAdder add{list, "Large"};
    add_moves(add, state);
    const MapColors next = pooled_next(look.colors);
    add(fmt::format("Show {} of a texel", pooling_words(next.pooling)), Key::c, SetMapColors{next});
    add(look.colors.log_scale ? "Linear colours" : "Logarithmic colours", Key::l,
        SetMapColors{on_scale(look.colors, !look.colors.log_scale)});
    add(shows_scores(look) ? "Show the weights" : "Show the scaled scores", Key::w,
        SetMapPicture{shows_scores(look) ? MapPictureOf::weights : MapPictureOf::scores});
    add_pass(add, look);
    add_top_cells(add, look.top);
    add_searches(add, look);
    add_document_commands(list, state);
    for (const Index tokens : kPlantedSizes) {
        large::PlantedSpec spec = look.draft;
        spec.tokens = tokens;
        add(fmt::format("Generate {} tokens", grouped(tokens)), Key::none, OpenPlanted{spec});
    }
}

bool has_large_side(const AppState& state) {
    return !is_empty(state.document()) && map_look(state).input && map_look(state).fault.empty();
}

std::optional<Action> escape_large(const AppState& state) {
    if (map_look(state).go_to_open) return ShowGoTo{false};
    if (map_look(state).search) return SearchMap{std::nullopt};
    return std::nullopt;
}

void clear_large(AppState& state) { map_look(state).selected.reset(); }

nlohmann::ordered_json write_large(const AppState& state) {
    MapLook look = map_look(state);
    auto part = nlohmann::ordered_json::object();
    JsonWriter writer(part);
    describe(writer, look);
    return part;
}
void read_large(Fields& fields, AppState& state) {
    MapLook& look = map_look(state);
    JsonReader reader(fields);
    describe(reader, look);
    if (look.selected && !has_map_cell(look, *look.selected))
        fields.complain(fmt::format("has 'selected' = {} → {}: the matrix is {} × {}",
                                    look.selected->row, look.selected->column, look.size.rows,
                                    look.size.columns));
    if (look.search && !has_search(look, *look.search))
        fields.complain(fmt::format("has a 'search' of {}: the matrix is {} × {}",
                                    look.search->index, look.size.rows, look.size.columns));
}

bool is_large_animating(const AppState& state) { return map_look(state).moving_s > 0.0; }

bool has_large_settled(const AppState& state) {
    const MapLook& look = map_look(state);
    return !look.fault.empty() || is_empty(state.document()) ||
           (look.snapshot && look.snapshot->complete);
}

std::string large_figure_name(const AppState&) { return "large"; }

std::vector<Shot> large_shots() {
    const large::PlantedSpec spec{.tokens = 4096};
    return {{"", {OpenPlanted{spec}, DocumentReady{}}}};
}

large::Head shown_head(const AppState& state) { return {state.batch, state.head}; }

Action moved_map(const MapLook& look, const MapCamera& camera) {
    if (is_fit(look, camera)) return FitMap{};
    return SetMapCamera{camera};
}

namespace {

constexpr std::string_view kLargeMouse[] = {
    "The wheel zooms about the pointer, a double click zooms in; dragging pans.",
    "Point at a cell: its query, key and weight.",
    "Click a cell: the inspector writes out its arithmetic.",
    "Click a cell in a list: go there.",
    "Press or drag on the small map: move there.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_probe>("probe"),
    request_kind<requested_map_input>("map input"),
    request_kind<requested_map_cell>("cell"),
};

void leave_large(AppState& state) {
    MapLook& look = map_look(state);
    look.hovered.reset();
    look.go_to_open = false;
    look.go_to_draft.clear();
}

/// A matrix that is asked for, by whatever way, is what "generate" would make again.
void follow_large(AppState& state) {
    if (!state.opening) return;
    if (const auto* const spec = std::get_if<large::PlantedSpec>(&state.opening->what))
        map_look(state).draft = *spec;
}

void keep_machine(AppState& state, const AppState& was) {
    MapLook& look = map_look(state);
    const MapLook& before = map_look(was);
    look.canvas = before.canvas;
    look.inputs = before.inputs;
    look.probes = before.probes;
    look.peak_gflops = before.peak_gflops;
    look.stream_gbytes = before.stream_gbytes;
}

void tick_large(AppState& state, double seconds) {
    double& moving = map_look(state).moving_s;
    moving = std::max(0.0, moving - seconds);
}

}  // namespace

const WorkspaceInfo kLargeWorkspace{
    .key = "large",
    .title = "Large",
    .tip = "A map of all the weights of a matrix of any size.",
    .digit = Key::digit3,
    .shows_document = true,
    .actions = LargeActions::kTypes,
    .requests = kRequests,
    .lacks = large_lacks,
    .enter = enter_large,
    .leave = leave_large,
    .add_commands = add_large_commands,
    .escape = escape_large,
    .clear = clear_large,
    .settle = settle_large,
    .forget = forget_large,
    .follow = follow_large,
    .restored = keep_machine,
    .tick = tick_large,
    .has_side = has_large_side,
    .inspector = large_inspector,
    .write = write_large,
    .read = read_large,
    .is_animating = is_large_animating,
    .has_settled = has_large_settled,
    .figure_name = large_figure_name,
    .timeless = leave_out_times,
    .shots = large_shots,
    .mouse = kLargeMouse,
};

}  // namespace attn::view
