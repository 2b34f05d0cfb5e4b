#include "tests/measure/cases.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/workspaces/step/state.h"
#include "app/workspaces/verify/actions.h"

#include <fmt/format.h>

#include "app/common/sheet.h"
#include "app/common/workspace.h"
#include "app/window/requests.h"
#include "core/numerics.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::test {
namespace {

using view::AppState;

// Sixty-four words of one to fourteen letters.
constexpr std::string_view kDescriptions =
    "the old lighthouse keeper wrote in a careful hand that every winter storm remembers its own "
    "name and no ship which heard them ever came home without one extraordinarily bright lamp "
    "burning on top of her mast while gulls circled above grey water waiting for fish or perhaps "
    "some other sign from far away where nobody had thought to look until spring finally returned";

AppState document_of(const Case& at) {
    AppState state = view::initial_state();
    view::apply(state, view::SetSentence{sentence_of(at.tokens)});
    view::apply(state, view::SetKeyWidth{at.key_width});
    view::apply(state, view::SetHeads{at.heads});
    return state;
}

/// Computed once.
const AppState& cached_document(const Case& at) {
    static std::map<std::tuple<Index, Index, Index>, AppState> cached;
    const std::tuple key{at.tokens, at.heads, at.key_width};
    if (const auto found = cached.find(key); found != cached.end()) return found->second;
    return cached.emplace(key, document_of(at)).first->second;
}

std::string refusal(const AppState& state, const Case& at) {
    const Dimensions& size = state.document().size;
    if (size.tq != at.tokens) return fmt::format("{} tokens became {}", at.tokens, size.tq);
    if (size.heads != at.heads) return fmt::format("{} heads became {}", at.heads, size.heads);
    if (size.d_k != at.key_width) return fmt::format("d_k {} became {}", at.key_width, size.d_k);
    return {};
}

void arrive(AppState& state) {
    for (int n = 0; n < 8 && view::step_look(state).fade < 1.0; ++n)
        view::apply(state, view::Tick{1.0});
}

/// All animations have ended and all that is asked for is answered.
void rest(AppState& state) {
    for (int n = 0; n < 100; ++n) {
        view::answer_all(state);
        if (!view::is_animating(state)) return;
        view::apply(state, view::Tick{0.5});
        for (const view::Action& due : view::due_actions(state)) view::apply(state, due);
    }
}

AppState entered(const Case& at) {
    const view::WorkspaceInfo* const row = view::find_workspace(view::workspaces(), at.workspace);
    AppState state = at.shot < 0 ? cached_document(at) : view::initial_state();
    view::apply(state, view::SetWorkspace{std::string(at.workspace)});
    // Without the example of a fault: its diagnosis is longer than the words that a screen may have.
    if (at.workspace == "verify") view::apply(state, view::PlantFault{});
    if (at.shot < 0 && at.workspace == "step") view::apply(state, view::GoToStage{at.stage});
    if (at.shot >= 0) view::play(state, row->shots()[at.shot].actions);
    rest(state);
    return state;
}

}  // namespace

std::string name_of(const Case& at) {
    if (!at.workspace.empty())
        return fmt::format("{}{}, {} tokens, {} heads, {}x{}, scale {}, {}", at.workspace,
                           at.shot < 0 ? "" : fmt::format(" shot {}", at.shot), at.tokens, at.heads,
                           at.width, at.height, at.scale,
                           view::kNamesOf<view::ThemeName>[static_cast<std::size_t>(at.theme)]);
    return fmt::format("{} tokens, {} heads, d_k {}, {}x{}, scale {}, {}, {}", at.tokens, at.heads,
                       at.key_width, at.width, at.height, at.scale,
                       at.theme == view::ThemeName::dark ? "dark" : "light", info(at.stage).key) +
           (at.presenter ? ", presenting" : "");
}

std::string sentence_of(Index tokens) {
    std::size_t end = 0;
    for (Index n = 0; n < tokens; ++n) end = kDescriptions.find(' ', end + 1);
    return std::string(kDescriptions.substr(0, end));
}

Scene scene_of(const Case& at) {
    Scene scene{cached_document(at), {}};
    scene.refused = refusal(scene.state, at);
    scene.state.theme = at.theme;
    scene.state.ui_scale = at.scale;
    scene.state.presenter = at.presenter;
    view::apply(scene.state, view::GoToStage{at.stage});
    arrive(scene.state);
    return scene;
}

view::AppState screen_of(const Case& at) {
    static AppState cached;
    static std::string cached_name;
    const std::string name = fmt::format("{} {} {} {} {}", at.workspace, at.shot, at.tokens,
                                         at.heads, info(at.stage).key);
    if (name != cached_name) {
        cached = entered(at);
        cached_name = name;
    }
    AppState state = cached;
    state.theme = at.theme;
    state.ui_scale = at.scale;
    return state;
}

std::vector<Stage> stages_of(const AppState& state) { return ribbon_stages(state.document()); }

}  // namespace attn::test
