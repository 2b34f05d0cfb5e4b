#include <cmath>

#include <fmt/format.h>

#include "app/common/command.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/requests.h"
#include "app/common/map/text.h"

namespace attn::view {
namespace {

constexpr double kMovingSeconds = 0.25;  // after the last step of a pan or zoom
constexpr double kFlightSeconds = 1.2;

std::string size_text(const MapLook& look) {
    return fmt::format("{} × {}", grouped(look.size.rows), grouped(look.size.columns));
}

bool refuse_outside(AppState& state, large::Cell cell) {
    if (has_map_cell(map_look(state), cell)) return false;
    warn(state, "There is no cell {} → {}: the matrix is {}, counted from 0.", grouped(cell.row),
         grouped(cell.column), size_text(map_look(state)));
    return true;
}

void go_to(AppState& state, large::Cell cell, double seconds) {
    MapLook& look = map_look(state);
    const MapCamera from = shown_camera(look);
    look.flight.reset();
    if (look.ticks && !state.reduced_motion) look.flight = MapFlight{from, seconds, seconds};
    look.go_to_open = false;
    look.go_to_draft.clear();
    look.selected = cell;
    look.camera = camera_at(cell);
    look.fitted = false;
    look.moving_s = kMovingSeconds;
    show_message(state, "Query {} → key {}.", grouped(cell.row), grouped(cell.column));
}

}  // namespace

void clamp_map(AppState& state) {
    MapLook& look = map_look(state);
    const Dimensions& size = state.document().size;
    const MapSize before = std::exchange(look.size, {size.tq, size.tk});
    if (look.size != before) {  // pictures of another matrix
        look.input.reset();
        look.operands.reset();
        look.snapshot.reset();
        look.inspected.reset();
    }
    if (look.snapshot && !(look.snapshot->request.head == shown_head(state))) look.snapshot.reset();
    if (look.mapped != state.shared_document()) look.fault.clear();
    if (look.selected && !has_map_cell(look, *look.selected)) look.selected.reset();
    if (look.search && !has_search(look, *look.search)) look.search.reset();
    look.hovered.reset();
}

void show_form(AppState& state, MapForm form) {
    MapLook& look = map_look(state);
    if (form == look.form) return;
    look.form = form;
    look.hovered.reset();
    const bool same = look.mapped == state.shared_document() &&
                      look.mapped_form == source_form(form, state.document().spec);
    if (same) return;
    look.fault.clear();
    look.input.reset();  // other numbers
    look.snapshot.reset();
    look.inspected.reset();
}

void clear_map(AppState& state) {
    MapLook fresh;
    const auto keep = [&](auto... members) { ((fresh.*members = map_look(state).*members), ...); };
    keep(&MapLook::form, &MapLook::own_shown, &MapLook::ticks, &MapLook::colors, &MapLook::picture,
         &MapLook::top, &MapLook::canvas, &MapLook::inputs, &MapLook::machine);
    map_look(state) = std::move(fresh);
}

void keep_machine(AppState& state, const AppState& was) {
    map_look(state).canvas = map_look(was).canvas;
    map_look(state).inputs = map_look(was).inputs;
    map_look(state).machine = map_look(was).machine;
}

void tick_map(AppState& state, double seconds) {
    MapLook& look = map_look(state);
    look.ticks = true;
    look.moving_s = std::max(0.0, look.moving_s - seconds);
    if (!look.flight) return;
    look.moving_s = kMovingSeconds;
    look.flight->left_s -= seconds;
    if (look.flight->left_s <= 0.0 || state.reduced_motion) look.flight.reset();
}

void still_map(AppState& state) {
    MapLook& look = map_look(state);
    look.moving_s = 0.0;
    look.flight.reset();
    if (!look.snapshot) return;
    large::MapSnapshot timeless = *look.snapshot;
    timeless.pass.seconds = timeless.pass.gflops = timeless.preview.seconds = 0.0;
    look.snapshot = std::make_shared<const large::MapSnapshot>(std::move(timeless));
}

Action moved_map(const MapLook& look, const MapCamera& camera) {
    if (is_fit(look, camera)) return FitMap{};
    return SetMapCamera{camera};
}

void carry_out(AppState& state, const MapInputReady& action) {
    MapLook& look = map_look(state);
    const bool wanted = action.document == state.shared_document() &&
                        action.form == source_form(look.form, state.document().spec);
    if (!wanted) return;  // no longer requested
    look.mapped = action.document;
    look.mapped_form = action.form;
    look.input = look.operands = action.input;
    look.inputs += 1;
    look.fault = action.fault;
    look.snapshot.reset();
    look.inspected.reset();
    if (!look.input) return show_error(state, look.fault);
}

void carry_out(AppState& state, const MapReady& action) {
    MapLook& look = map_look(state);
    const bool requested = action.snapshot && action.input == look.input &&
                           action.snapshot->request.head == shown_head(state);
    if (!requested) return;
    look.snapshot = action.snapshot;
    if (look.snapshot->fault.empty()) return;
    look.fault = look.snapshot->fault;
    show_error(state, look.fault);
}

void carry_out(AppState& state, const MapCellReady& action) {
    if (action.input == map_look(state).input) map_look(state).inspected = action.cell;
}

void carry_out(AppState& state, const MachineProbed& action) {
    map_look(state).machine = {false, action.peak_gflops, action.stream_gbytes};
}

void carry_out(AppState& state, const SetMapCamera& action) {
    const MapCamera& camera = action.camera;
    const bool valid = std::isfinite(camera.row) && std::isfinite(camera.column) &&
                       std::isfinite(camera.cells_per_unit) && camera.cells_per_unit > 0.0;
    if (!valid) return;
    map_look(state).flight.reset();
    map_look(state).camera = camera;
    map_look(state).fitted = false;
    map_look(state).moving_s = kMovingSeconds;
}

void carry_out(AppState& state, const FitMap&) {
    map_look(state).flight.reset();
    map_look(state).fitted = true;
    map_look(state).moving_s = kMovingSeconds;
}

void carry_out(AppState& state, const ShowGoTo& action) {
    map_look(state).go_to_open = action.on;
    map_look(state).go_to_draft.clear();
}

void carry_out(AppState& state, const DraftGoTo& action) {
    map_look(state).go_to_draft = action.text;
}

void carry_out(AppState& state, const GoToCell& action) {
    if (!refuse_outside(state, action.cell)) go_to(state, action.cell, kFlightSeconds);
}

void carry_out(AppState& state, const GoToNeedle&) {
    const auto& landmarks = state.document().landmarks;
    if (!landmarks || !landmarks->needle) return warn(state, no_needle_text(state.document()));
    go_to(state, *landmarks->needle, kNeedleSeconds);
}

void carry_out(AppState& state, const SelectMapCell& action) {
    if (refuse_outside(state, action.cell)) return;
    map_look(state).selected = action.cell;
    show_message(state, "Query {} → key {}.", grouped(action.cell.row),
                 grouped(action.cell.column));
}

void carry_out(AppState& state, const HoverMapCell& action) {
    const bool there = action.cell && has_map_cell(map_look(state), *action.cell);
    map_look(state).hovered = there ? action.cell : std::nullopt;
}

void carry_out(AppState& state, const SetMapColors& action) {
    MapColors colors = action.colors;
    colors.low_percentile = std::clamp(colors.low_percentile, 0.0, 100.0);
    colors.high_percentile = std::clamp(colors.high_percentile, colors.low_percentile, 100.0);
    const bool pooling = colors.pooling != map_look(state).colors.pooling;
    map_look(state).colors = colors;
    if (pooling)
        show_message(state, "A texel shows {}.", pooling_text(colors.pooling));
    else
        show_message(state, colors.log_scale ? "Colours on a logarithmic scale."
                                             : "Colours on a linear scale.");
}

void carry_out(AppState& state, const SetMapPicture& action) {
    map_look(state).picture = action.picture;
    const std::string scores = score_description(state.document().spec, 1);
    show_message(state, shows_scores(map_look(state)) ? fmt::format("The map shows the {}.", scores)
                                                      : std::string("The map shows the weights."));
}

void carry_out(AppState& state, const SetTopCells& action) {
    map_look(state).top = action.top;
    show_message(state, top_text(action.top) + ".");
}

void carry_out(AppState& state, const SetFullPass& action) {
    map_look(state).full_pass = action.on;
    show_message(state, action.on ? "The exact pass is resumed."
                                  : "The exact pass is paused and keeps its results.");
}

void carry_out(AppState& state, const SearchMap& action) {
    MapLook& look = map_look(state);
    const bool key = action.search && action.search->of == large::Search::Of::key;
    if (action.search && !has_search(look, *action.search))
        return warn(state, "There is no {} {}: the matrix is {}, counted from 0.",
                    key ? "key" : "query", grouped(action.search->index), size_text(look));
    look.search = action.search;
    if (!look.search) return;
    const std::string index = grouped(look.search->index);
    show_message(state,
                 key ? fmt::format("Queries that attend to key {}, strongest first.", index)
                     : fmt::format("Keys that query {} attends to, strongest first.", index));
}

void add_zoom_commands(const CommandAdder& add, const MapLook& look, Key whole) {
    constexpr double kZoomStep = 2.0;
    const bool there = look.size != MapSize{};
    add("Zoom in", Key::plus, moved_map(look, zoomed(look, kZoomStep)), there);
    add("Zoom out", Key::minus, moved_map(look, zoomed(look, 1.0 / kZoomStep)), there);
    add("The whole matrix", whole, FitMap{}, there);
}

void add_color_commands(const CommandAdder& add, const MapLook& look, Key pooling, Key scale) {
    constexpr int kPoolings = 3;
    MapColors next = look.colors;
    next.pooling = static_cast<large::Pooling>((static_cast<int>(next.pooling) + 1) % kPoolings);
    const bool many = !is_sentence(look);
    add(fmt::format("Show {} of a texel", pooling_text(next.pooling)), pooling, SetMapColors{next},
        many);
    MapColors other = look.colors;
    other.log_scale = !other.log_scale;
    add(look.colors.log_scale ? "Linear colours" : "Logarithmic colours", scale,
        SetMapColors{other}, many);
}

void add_map_commands(const CommandAdder& add, const AppState& state) {
    const MapLook& look = map_look(state);
    add_zoom_commands(add, look);
    if (no_needle_text(state.document()).empty()) add("Go to the needle", Key::n, GoToNeedle{});
    if (!shows_scores(look)) add_color_commands(add, look, Key::none, Key::none);
}

}  // namespace attn::view
