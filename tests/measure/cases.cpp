#include "tests/measure/cases.h"
#include "app/common/document/actions.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/state.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "app/common/sheet.h"

namespace attn::test {
namespace {

using view::AppState;

// Sixty-four words of one to fourteen letters.
constexpr std::string_view kWords =
    "the old lighthouse keeper wrote in a careful hand that every winter storm remembers "
    "its own name and no ship which heard them ever came home without one extraordinarily "
    "bright lamp burning on top of her mast while gulls circled above grey water waiting "
    "for fish or perhaps some other sign from far away where nobody had thought to look "
    "until spring finally returned";

AppState document_of(const Case& at) {
    AppState state = view::initial_state();
    view::apply(state, view::SetSentence{sentence_of(at.tokens)});
    view::apply(state, view::SetKeyWidth{at.key_width});
    view::apply(state, view::SetHeads{at.heads});
    return state;
}

/// Computed once.
const AppState& kept_document(const Case& at) {
    static std::map<std::tuple<Index, Index, Index>, AppState> kept;
    const std::tuple key{at.tokens, at.heads, at.key_width};
    if (const auto found = kept.find(key); found != kept.end()) return found->second;
    return kept.emplace(key, document_of(at)).first->second;
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

}  // namespace

std::string name_of(const Case& at) {
    return fmt::format("{} tokens, {} heads, d_k {}, {}x{}, scale {}, {}, {}", at.tokens, at.heads,
                       at.key_width, at.width, at.height, at.scale,
                       at.theme == view::ThemeName::dark ? "dark" : "light", info(at.stage).key) +
           (at.presenter ? ", presenting" : "");
}

std::string sentence_of(Index tokens) {
    std::size_t end = 0;
    for (Index n = 0; n < tokens; ++n) end = kWords.find(' ', end + 1);
    return std::string(kWords.substr(0, end));
}

Scene scene_of(const Case& at) {
    Scene scene{kept_document(at), {}};
    scene.refused = refusal(scene.state, at);
    scene.state.theme = at.theme;
    scene.state.ui_scale = at.scale;
    scene.state.presenter = at.presenter;
    view::apply(scene.state, view::GoToStage{at.stage});
    arrive(scene.state);
    return scene;
}

std::vector<Stage> stages_of(const AppState& state) { return ribbon_stages(state.document()); }

}  // namespace attn::test
