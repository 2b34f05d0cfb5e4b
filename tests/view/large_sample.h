#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "app/common/document/opened.h"
#include "app/common/document/requests.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/requests.h"
#include "app/common/map/view.h"
#include "app/workspaces/large/view.h"
#include "core/large/planted.h"
#include "tests/view/sample_states.h"

namespace attn::view {

/// The document that opening `spec` gives: see app/files/open.cpp, which these tests do not link.
inline std::shared_ptr<const Document> planted_document(const large::PlantedSpec& spec) {
    large::MapInput made = large::plant(spec).value();
    Document document;
    document.origin = spec;
    document.name = "generated";
    document.title = fmt::format("generated, seed {}", spec.seed);
    document.note = fmt::format("{} tokens", spec.tokens);
    document.spec = made.source.spec;
    document.size = made.source.size;
    document.heads = document.size.heads;
    document.d_k = document.size.d_k;
    document.landmarks = std::make_shared<const Landmarks>(
        Landmarks{std::move(made.token_ids), std::move(made.document_starts), made.needle});
    document.layers = {made.inputs};
    document.inputs = made.inputs;
    return std::make_shared<const Document>(std::move(document));
}

/// An opener of generated matrices alone.
inline Result<Opened> open_planted(const OpenRequest& request, const RunControl&) {
    const auto* spec = std::get_if<large::PlantedSpec>(&request.what);
    if (!spec) return failed(description_of(request) + " cannot be opened here");
    return Opened{planted_document(*spec), nullptr, {}};
}

/// `state` once a generated matrix was opened: nothing of a map is there yet.
inline AppState opened_in(AppState state, const large::PlantedSpec& spec) {
    state = after(std::move(state), {OpenPlanted{spec}});
    return after(std::move(state), {run(requested_document(state).value(), open_planted, {})});
}
inline AppState opened_state(const large::PlantedSpec& spec = {.tokens = 1024}) {
    return opened_in(initial_state(), spec);
}

/// The same with what a map is computed from.
inline AppState with_map_input(AppState state) {
    const Action answer = run(requested_map_input(state).value(), {});
    return after(std::move(state), {answer});
}

/// A state that looks at a planted matrix; nothing of it is computed but Q and K.
inline AppState planted_state(const large::PlantedSpec& spec = {.tokens = 1024}) {
    return with_map_input(after(opened_state(spec), {SetMapCanvas{{1000.0, 800.0}}}));
}

/// The same with what a map answers, once all of the view is there.
inline AppState idle_state(AppState state, const Actions& actions = {}) {
    state = after(std::move(state), actions);
    const MapRequest request = requested_map(state).value();
    large::WeightMap map(request.input, {}, [] {});
    map.want(request.view);
    map.wait_until_idle();
    return after(std::move(state), {MapReady{request.input, map.snapshot()}});
}

/// The number in the middle of the canvas, 1000 × 800.
inline const MapFigure& middle_figure(const LargeView& view) {
    const auto found = std::ranges::find_if(view.figures, [](const MapFigure& figure) {
        return figure.where.left < 500.0 && figure.where.right > 500.0 &&
               figure.where.top < 400.0 && figure.where.bottom > 400.0;
    });
    REQUIRE(found != view.figures.end());
    return *found;
}

inline Color pixel_at(const Image& image, std::size_t n) {
    const std::uint8_t* const rgba = &image.rgba[4 * n];
    return {rgba[0], rgba[1], rgba[2], rgba[3]};
}

/// A state whose document has no token: there is no matrix.
inline AppState empty_state() {
    return state_of(document_of({std::make_shared<const Inputs>()})).value();
}

/// After the map was moved by a hand or a key.
inline AppState zoomed_by(const AppState& state, double factor) {
    return after(state, {moved_map(map_look(state), zoomed(map_look(state), factor))});
}
inline AppState panned_by(const AppState& state, double dx, double dy) {
    return after(state, {moved_map(map_look(state), panned(map_look(state), dx, dy))});
}

}  // namespace attn::view
