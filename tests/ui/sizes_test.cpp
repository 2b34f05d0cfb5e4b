// Every workspace in windows of odd sizes: no item has a size at which Dear ImGui ends the program. The sizes go from one
// pixel to beyond a large screen, so that each part of a layout is squeezed to nothing at least once.

#include "app/common/document/actions.h"
#include "app/common/map/requests.h"
#include "app/common/workspace.h"
#include "app/files/open.h"
#include "app/window/lecture_actions.h"
#include "core/backend.h"
#include "tests/support/learning.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using namespace attn::view;

namespace {

constexpr std::array kWidths{1.0F,   61.0F,   120.0F,  200.0F,  320.0F,
                             641.0F, 1024.0F, 1280.0F, 2000.0F, 4000.0F};
constexpr std::array kHeights{1.0F, 90.0F, 150.0F, 200.0F, 403.0F, 3000.0F};
constexpr std::array kScales{1.0F, 1.3F, 2.0F, 3.0F};

/// Answers all requests, the map's too.
AppState answered_in_full(AppState state) {
    answer_all(state, files::opener(backends()));
    const auto map = make_map_job([] {});
    map->update(state);
    map->wait_until_idle();
    for (const Action& answer : map->take()) view::apply(state, answer);
    return state;
}

AppState first_in(const WorkspaceInfo& workspace) {
    AppState state = initial_state();
    view::apply(state, go_to(workspace));
    return state;
}

/// Each screen that the workspace shows of itself. Where that takes minutes, a smaller one of the same kind.
std::vector<AppState> screens_of(const WorkspaceInfo& workspace) {
    if (workspace.key == "learn") {
        AppState state = small_learning();
        view::apply(state, TrainTo{4});
        return {first_in(workspace), answered_in_full(std::move(state))};
    }
    if (workspace.key == "large") {
        AppState state = first_in(workspace);
        view::apply(state, OpenPlanted{{.tokens = 300}});
        return {first_in(workspace), answered_in_full(std::move(state))};
    }
    std::vector<AppState> screens;
    for (const Shot& shot : workspace.shots()) {
        AppState state = first_in(workspace);
        for (const Action& action : shot.actions) view::apply(state, action);
        screens.push_back(answered_in_full(std::move(state)));
    }
    return screens;
}

/// As the window has space, then with the inspector, without it, and presented.
AppState varied(AppState state, std::size_t n) {
    const auto form = n % 4;
    if (form == 1) state.inspector = true;
    if (form == 2) state.inspector = false;
    if (form == 3) state.presenter = true;
    return state;
}

/// Draws the screens in turn, each in another size.
std::size_t draw_in_all_sizes(App& app, const std::vector<AppState>& screens,
                              std::string_view name) {
    std::size_t n = 0;
    for (const float width : kWidths)
        for (const float height : kHeights) {
            INFO(name, " at ", width, " x ", height, ", scale ", app.ui.style().scale);
            ImGui::GetIO().DisplaySize = {width, height};
            app.set(varied(screens[n % screens.size()], n / screens.size()), 2);
            CHECK(app.state.workspace == screens[n % screens.size()].workspace);
            ++n;
        }
    return n;
}

/// What can lie over a workspace.
std::vector<AppState> overlays() {
    std::vector<Actions> all{{ShowHelp{true}},
                             {ShowAbout{true}},
                             {ShowGlossary{true}},
                             {ShowPalette{true}},
                             {StartTour{""}},
                             {StartLecture{""}},
                             {OfferQuit{{true, "“A”"}}},
                             {OfferRecovery{Recovery{"a.json", "A, today"}}}};
    for (int kind = 0; kind <= static_cast<int>(PromptKind::beside); ++kind)
        all.push_back({ShowPrompt{static_cast<PromptKind>(kind)}});
    std::vector<AppState> screens;
    for (const Actions& actions : all) {
        AppState state = initial_state();
        for (const Action& action : actions) view::apply(state, action);
        screens.push_back(std::move(state));
    }
    return screens;
}

}  // namespace

TEST_CASE("every workspace is drawn in windows of every size") {
    std::vector<std::vector<AppState>> screens;
    for (const WorkspaceInfo* workspace : workspaces()) screens.push_back(screens_of(*workspace));
    std::size_t drawn = 0;
    for (const float scale : kScales) {
        App app(kAppSize, scale);
        for (std::size_t n = 0; n < screens.size(); ++n)
            drawn += draw_in_all_sizes(app, screens[n], workspaces()[n]->key);
    }
    CHECK(drawn == screens.size() * kScales.size() * kWidths.size() * kHeights.size());
}

TEST_CASE("every overlay is drawn in windows of every size") {
    const std::vector<AppState> screens = overlays();
    for (const float scale : kScales) {
        App app(kAppSize, scale);
        for (const AppState& screen : screens) draw_in_all_sizes(app, {screen}, "overlay");
    }
}
