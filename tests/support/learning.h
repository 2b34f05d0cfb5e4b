#pragma once

#include <utility>

#include "app/common/actions.h"
#include "app/common/state.h"
#include "app/window/requests.h"
#include "app/workspaces/learn/actions.h"

namespace attn::test {

/// Learn, with a training so small that it takes no time, after these actions, which are answered.
inline view::AppState small_learning(const view::Actions& actions = {}) {
    view::AppState state = view::initial_state();
    view::apply(state, view::SetWorkspace{"learn"});
    constexpr std::pair<const char*, const char*> kSmall[] = {
        {"tokens", "12"}, {"symbols", "4"}, {"d_model", "8"}, {"d_k", "16"}, {"batch", "4"}};
    for (const auto& [field, value] : kSmall)
        view::apply(state, view::SetLearnField{"a", field, value});
    if (!actions.empty()) view::play(state, actions);  // else nothing is answered yet
    return state;
}

}  // namespace attn::test
