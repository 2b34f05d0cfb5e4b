#include "app/common/draw/plot.h"
#include "app/common/draw/tabs.h"
#include "app/common/map/state.h"
#include "app/common/state.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/draw/parts.h"
#include "app/workspaces/kinds/state.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRow = 0.44F;  // of the height
constexpr float kMissed = 0.22F;
constexpr float kBesideTable = 800.0F;  // a lower window has the table behind a tab

void draw_missed(const KindsView& view, const Box& box, const Frame& frame, Actions& out) {
    const PlotInput input = draw_plot(*view.missed, "missed", box.low, box.high, false, frame);
    if (input.taken) out.push_back(BeginGesture{});
    Index to = input.moved_to ? view::nearest_keys(*input.moved_to) : view.missed_keys;
    if (input.steps != 0) to = view::next_keys(to, input.steps);
    if (to != view.missed_keys)
        out.push_back(SetKind{view.missed_side, "keys", std::to_string(to)});
    if (input.let_go) out.push_back(EndGesture{});
}

void add_maps(const KindsView& view, const MapLook& look, Parts& parts, const Frame& frame,
              Actions& out) {
    const auto draw = [&](const Box& box, std::size_t n, std::size_t count) {
        draw_kinds_maps(view, look, n, count, box, frame, out);
    };
    parts.hero = {"kinds", "matrices",
                  [&, draw](const Box& box) { draw(box, 0, view.maps.size()); }};
    parts.singles =
        parts_of(titles_of(view.maps), [draw](const Box& box, std::size_t n) { draw(box, n, 1); });
}

void add_comparison(const AppState& state, const KindsView& view,
                    const std::vector<GridView>& grids, Parts& parts, const Frame& frame,
                    Actions& out) {
    parts.heading = {view.sentence, view.note};
    if (grids.empty() && view.maps.empty()) return;
    const CanvasPart table{
        "table",
        "numbers",
        [&](const Box& box) { draw_kinds_numbers(view, box, frame); },
        CanvasPart::Where::below,
        0.0F,
        [&](ImVec2 space) { return kinds_numbers_height(view, space.x, frame); }};
    const bool behind = view.maps.empty() && is_lower_than(kBesideTable, frame);
    if (!behind) parts.others.push_back(table);
    if (view.missed)
        parts.others.push_back({"missed", "missed weight",
                                [&](const Box& box) { draw_missed(view, box, frame, out); },
                                CanvasPart::Where::below, kMissed});
    if (!view.maps.empty()) return add_maps(view, view::map_look(state), parts, frame, out);
    const auto draw = [&](const Box& box, std::size_t n, std::size_t count) {
        draw_kinds(view, std::span(grids).subspan(n, count), n, box, frame, out);
    };
    Compared compared{"A and B", grids, 2, draw};
    if (behind) compared.more = {table};
    add_compared(parts, state, compared, frame, out);
}

}  // namespace

std::string draw_kinds_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                 Actions& out) {
    const KindsView view = build_kinds_view(state);
    const bool is_online = view::kinds_look(state).online;
    const OnlineView online = is_online ? build_online_view(state) : OnlineView{};
    std::vector<GridView> grids;
    if (view.difference) grids = {view.a.weights, view.b.weights, *view.difference};
    Parts parts{.missing_data = view.missing_data.empty() ? online.fault : view.missing_data,
                .controls = [&](ControlBar& bar) { draw_kinds_bar(view, online, is_online, bar); },
                .status = "float64"};
    if (is_online) {
        parts.heading = {online.sentence,
                         online.heading + ", " + online.step + ". " + online.memory};
        parts.hero = {"online", "scores",
                      [&](const Box& box) { draw_online_keys(online, box, frame); }};
        parts.others = {{"row", "result",
                         [&](const Box& box) { draw_online_row(online, box, frame); },
                         CanvasPart::Where::below, kRow}};
    } else {
        add_comparison(state, view, grids, parts, frame, out);
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kKindsPanel{"kinds", draw_kinds_workspace};

}  // namespace attn::ui
