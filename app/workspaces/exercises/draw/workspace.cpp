#include "app/common/draw/parts.h"
#include "app/workspaces/exercises/actions.h"
#include "app/workspaces/exercises/draw/sheets.h"
#include "app/workspaces/exercises/draw/stage.h"
#include "app/workspaces/exercises/view.h"

namespace attn::ui {
namespace {

using view::ExercisesView;

void draw_bar(const ExercisesView& view, ControlBar& bar) {
    const auto set = [&](const std::string& key, std::uint64_t seed) {
        bar.out.push_back(view::SetExercise{key, seed});
    };
    const view::Exercise& now = view.exercise;
    if (view.choosing) return;
    if (bar.button("sheets", "All sheets", {"All sheets", "Shows all sheets"}))
        bar.out.push_back(view::ShowSheets{true});
    if (const auto other = bar.seed("seed", now.seed, {"Seed", "Each seed gives other numbers"}))
        set(now.key, *other);
    if (bar.button("new", "New numbers", {"New numbers", "The next seed. Key: R"}))
        set(now.key, now.seed + 1);
}

std::string draw_exercises_workspace(const view::AppState& state, const WorkArea& area,
                                     const Frame& frame, view::Actions& out) {
    const ExercisesView view = build_exercises_view(state);
    Parts parts{.missing_data = view.missing_data, .status = view.status};
    if (view.choosing && view.missing_data.empty()) {
        parts.heading = {"Choose a sheet to compute by hand.",
                         "Each seed gives other numbers. The program checks your answers."};
        parts.hero = {"sheets", "sheets",
                      [&](const Box& box) { draw_sheets(view, box, frame, out); }};
    } else if (view.missing_data.empty()) {
        parts.heading = {view.exercise.title, view.learn};
        parts.controls = [&](ControlBar& bar) { draw_bar(view, bar); };
        parts.hero = {"sheet " + view.exercise.key, "sheet",
                      [&](const Box& box) { draw_stage(view, box, frame, out); }};
    }
    return draw_parts(state, area, parts, frame, out);
}

}  // namespace

extern const WorkspacePanel kExercisesPanel{"exercises", draw_exercises_workspace};

}  // namespace attn::ui
