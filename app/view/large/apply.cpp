#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "app/view/apply_parts.h"
#include "app/view/edits.h"
#include "app/view/large/camera.h"
#include "app/view/large/words.h"

namespace attn::view {
namespace {

constexpr double kMovingSeconds = 0.25;  // after the last step of a pan or zoom

void set_camera(LargeLook& look, const MapCamera& camera) {
    look.camera = clamped(look, camera);
    look.fitted = is_fit(look, look.camera);
    look.moving_s = kMovingSeconds;
}

/// Another matrix: nothing of the last one is left, neither where it was looked at nor what was found.
void open(AppState& state, MapOrigin origin) {
    LargeLook fresh;
    fresh.draft = state.large.draft;
    fresh.canvas = state.large.canvas;
    fresh.colors = state.large.colors;
    fresh.peak_gflops = state.large.peak_gflops;
    fresh.stream_gbytes = state.large.stream_gbytes;
    fresh.origin = std::move(origin);
    fresh.opened = state.large.opened + 1;
    state.large = std::move(fresh);
    state.workspace = Workspace::large;
}

std::string size_words(const LargeLook& look) {
    const MapSize size = map_size(look);
    return fmt::format("{} × {}", grouped(size.rows), grouped(size.columns));
}

bool refuse_outside(AppState& state, large::Cell cell, Severity severity = Severity::warning) {
    if (map_size(state.large) == MapSize{} || has_map_cell(state.large, cell)) return false;
    say(state,
        fmt::format("There is no cell {} → {}: the matrix is {}, counted from 0.",
                    grouped(cell.row), grouped(cell.column), size_words(state.large)),
        severity);
    return true;
}

void go_to(AppState& state, large::Cell cell) {
    state.large.go_to_open = false;
    state.large.selected = cell;
    set_camera(state.large, camera_at(state.large, cell));
    say(state, fmt::format("Query {} → key {}.", grouped(cell.row), grouped(cell.column)));
}

bool has_head(const LargeLook& look) {
    const Dimensions& size = look.input->source.size;
    return look.head.b >= 0 && look.head.b < size.batch && look.head.h >= 0 &&
           look.head.h < size.heads;
}

/// What a session or a journal asked for before the matrix was there.
void settle_look(AppState& state) {
    LargeLook& look = state.large;
    if (!has_head(look)) look.head = {};
    look.camera = look.fitted ? fitted_camera(look) : clamped(look, look.camera);
    if (const auto search = std::exchange(look.search, std::nullopt))
        carry_out(state, SearchMap{search});  // refuses one outside
    if (look.selected && refuse_outside(state, *look.selected, Severity::error))
        look.selected.reset();
    if (look.needle_awaited) carry_out(state, GoToNeedle{});
}

}  // namespace

void carry_out(AppState& state, const DraftPlanted& action) { state.large.draft = action.spec; }

void carry_out(AppState& state, const OpenPlanted& action) {
    open(state, action.spec);
    state.large.draft = action.spec;
    say(state, fmt::format("Making queries and keys of {} tokens, seed {}.",
                           grouped(action.spec.tokens), action.spec.seed));
}

void carry_out(AppState& state, const OpenMapFile& action) {
    open(state, MapFile{action.path});
    say(state, fmt::format("Reading {}.", action.path));
}

void carry_out(AppState& state, const MapInputReady& action) {
    LargeLook& look = state.large;
    if (action.origin != look.origin) return;  // no longer wanted
    look.input = action.input;
    look.fault = action.fault;
    look.snapshot.reset();
    if (!look.input) return say(state, look.fault, Severity::error);
    say(state, fmt::format("{}: every weight can be looked at, none is stored.", size_words(look)));
    settle_look(state);
}

void carry_out(AppState& state, const MapReady& action) {
    LargeLook& look = state.large;
    const bool wanted =
        action.origin == look.origin && action.snapshot && action.snapshot->wish.head == look.head;
    if (!wanted) return;
    look.snapshot = action.snapshot;
    if (look.snapshot->fault.empty()) return;
    look.fault = look.snapshot->fault;
    say(state, look.fault, Severity::error);
}

void carry_out(AppState& state, const MapCellReady& action) {
    if (action.origin == state.large.origin) state.large.inspected = action.cell;
}

void carry_out(AppState& state, const MachineProbed& action) {
    state.large.peak_gflops = action.peak_gflops;
    state.large.stream_gbytes = action.stream_gbytes;
}

void carry_out(AppState& state, const SetMapCanvas& action) {
    LargeLook& look = state.large;
    // A cell gone to before there was a window is to be readable at the window's scale.
    const bool gone_to = look.canvas == MapCanvas{} && look.selected &&
                         look.camera == camera_at(look, *look.selected);
    look.canvas = action.canvas;
    if (gone_to) look.camera = camera_at(look, *look.selected);
    look.camera = look.fitted ? fitted_camera(look) : clamped(look, look.camera);
}

void carry_out(AppState& state, const SetMapCamera& action) {
    set_camera(state.large, action.camera);
}

void carry_out(AppState& state, const ZoomMap& action) {
    if (!(action.factor > 0.0)) return;
    const MapCanvas canvas = canvas_of(state.large);
    set_camera(state.large,
               zoomed_about(state.large, canvas.width / 2, canvas.height / 2, action.factor));
}

void carry_out(AppState& state, const PanMap& action) {
    const MapCanvas canvas = canvas_of(state.large);
    set_camera(state.large,
               panned(state.large, -action.columns * canvas.width, -action.rows * canvas.height));
}

void carry_out(AppState& state, const FitMap&) {
    state.large.fitted = true;
    state.large.camera = fitted_camera(state.large);
    state.large.moving_s = kMovingSeconds;
}

void carry_out(AppState& state, const ShowGoTo& action) {
    state.large.go_to_open = action.on;
    if (action.on) state.large.go_to_draft.clear();
}

void carry_out(AppState& state, const DraftGoTo& action) { state.large.go_to_draft = action.text; }

void carry_out(AppState& state, const GoToCell& action) {
    if (!refuse_outside(state, action.cell)) go_to(state, action.cell);
}

void carry_out(AppState& state, const GoToNeedle&) {
    LargeLook& look = state.large;
    look.needle_awaited = !look.input;
    if (!look.input) return;
    if (!look.input->needle) return say(state, no_needle_words(look), Severity::warning);
    go_to(state, *look.input->needle);
}

void carry_out(AppState& state, const SelectMapCell& action) {
    if (refuse_outside(state, action.cell)) return;
    state.large.selected = action.cell;
    say(state,
        fmt::format("Query {} → key {}.", grouped(action.cell.row), grouped(action.cell.column)));
}

void carry_out(AppState& state, const HoverMapCell& action) {
    const bool there = action.cell && has_map_cell(state.large, *action.cell);
    state.large.hovered = there ? action.cell : std::nullopt;
}

void carry_out(AppState& state, const SetMapColors& action) {
    MapColors colors = action.colors;
    colors.low_percentile = std::clamp(colors.low_percentile, 0.0, 100.0);
    colors.high_percentile = std::clamp(colors.high_percentile, colors.low_percentile, 100.0);
    const bool pooling = colors.pooling != state.large.colors.pooling;
    state.large.colors = colors;
    if (pooling)
        say(state, fmt::format("A texel shows {}.", pooling_words(colors.pooling)));
    else
        say(state,
            colors.log_scale ? "Colours on a logarithmic scale." : "Colours on a linear scale.");
}

void carry_out(AppState& state, const ShowMapHead& action) {
    LargeLook& look = state.large;
    const large::Head before = look.head;
    look.head = action.head;
    if (look.input && !has_head(look)) {
        look.head = before;
        return say(state,
                   fmt::format("There is no head {} of sequence {}: the file has heads 0…{} of "
                               "sequences 0…{}.",
                               action.head.h, action.head.b, look.input->source.size.heads - 1,
                               look.input->source.size.batch - 1),
                   Severity::warning);
    }
    if (!(look.head == before)) look.snapshot.reset();
    say(state, fmt::format("Head {}.", action.head.h));
}

void carry_out(AppState& state, const SetFullPass& action) {
    state.large.full_pass = action.on;
    say(state,
        action.on ? "The exact pass goes on." : "The exact pass is paused: nothing is lost.");
}

void carry_out(AppState& state, const SearchMap& action) {
    LargeLook& look = state.large;
    const bool key = action.search && action.search->of == large::Search::Of::key;
    const MapSize size = map_size(look);
    const Index end = key ? size.columns : size.rows;
    const bool outside = action.search && size != MapSize{} &&
                         (action.search->index < 0 || action.search->index >= end);
    if (outside)
        return say(
            state,
            fmt::format("There is no {} {}: the matrix is {}, counted from 0.",
                        key ? "key" : "query", grouped(action.search->index), size_words(look)),
            Severity::warning);
    look.search = action.search;
    if (!look.search) return;
    const std::string index = grouped(look.search->index);
    say(state, key ? fmt::format("What attends to key {}.", index)
                   : fmt::format("What query {} attends to.", index));
}

}  // namespace attn::view
