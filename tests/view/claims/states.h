#pragma once

// Random states of every workspace, the same for a number on every machine.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/window/journal.h"
#include "app/window/requests.h"
#include "core/rng.h"
#include "tests/support/scramble.h"
#include "tests/view/sample_states.h"

namespace attn::view {

/// Sentences and sizes of one token, one key, equal rows, d_k = 1; scores that tie, are 0, huge, NaN or ±∞.
inline std::vector<AppState> claim_documents() {
    std::vector<AppState> all = sample_states();
    for (const char* sentence : {"a", "a a a", "a b", "to be or not to be", "b"})
        for (const char* spec :
             {R"("d_k": 1)", R"("causal": true, "d_k": 4)",
              R"("heads": 2, "d_k": 2, "temperature": 0.01)", R"("padding": 1, "d_k": 2)",
              R"("scale": 1000, "d_k": 2)", R"("scale": 0, "d_k": 3)"})
            all.push_back(json_state(spec, sentence));
    const auto with = [&](auto change, const Shape& shape) {
        all.push_back(state_of(call_document(change, shape)).value());
    };
    for (const float value : {0.0F, 1.0F, -2.0F, 300.0F, std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
        with([&](Inputs& in, AttentionSpec&) { std::ranges::fill(in.q.values(), value); },
             {1, 2, 3, 2});
        with([&](Inputs& in, AttentionSpec&) { std::ranges::fill(in.k.values(), value); },
             {1, 1, 4, 3});
        with([&](Inputs& in, AttentionSpec&) { std::ranges::fill(in.v.values(), value); },
             {1, 1, 2, 1});
        with([&](Inputs& in, AttentionSpec&) { in.k(0, 0, 1, 0) = value; }, {1, 2, 4, 2});
    }
    return all;
}

/// One of `types` with other values in every field; nullopt: no journal holds it.
inline std::optional<Action> random_action(test::Scramble& draw, ActionTypes types) {
    const ActionType& type = *types[draw.below(types.size())];
    if (type.name.empty()) return std::nullopt;
    const auto action = type.make();
    type.describe(draw, action.get());
    const auto line = to_journal(Action(type, action));
    if (!line) return std::nullopt;
    const auto read = from_journal(*line);
    return read ? std::optional(*read) : std::nullopt;
}

/// Gone over by nobody here: their sentences are written anew at present.
inline constexpr std::string_view kLeftOut[] = {"saturation", "gradients", "learn"};

/// State `n`: a document, a workspace, a theme, and up to six things done there.
inline AppState claim_state(std::uint64_t n) {
    static const std::vector<AppState> documents = claim_documents();
    static const std::vector<const WorkspaceInfo*> among = [] {
        std::vector<const WorkspaceInfo*> list;
        for (const WorkspaceInfo* each : workspaces())
            if (std::ranges::count(kLeftOut, each->key) == 0) list.push_back(each);
        return list;
    }();
    test::Scramble draw(mix(n, 26));
    AppState state = documents[draw.below(documents.size())];
    const WorkspaceInfo& workspace = *among[draw.below(among.size())];
    view::apply(state, SetWorkspace{std::string(workspace.key)});
    if (draw.below(3) == 0) view::apply(state, SetTheme{ThemeName::light});
    for (std::uint64_t k = draw.below(7); k > 0; --k) {
        state.message = {};  // tells of the last thing done
        if (draw.below(3) == 0) {
            const auto row = static_cast<Index>(draw.below(5)),
                       column = static_cast<Index>(draw.below(5));
            const auto stages = ribbon_stages(state.document());
            if (stages.empty()) continue;
            const Stage stage = stages[draw.below(stages.size())];
            const Actions some{SetCausal{draw.below(2) == 0},
                               SetScaling{draw.below(2) == 0},
                               GoToStage{stage},
                               SelectCell{{stage, row, column}},
                               HoverCell{CellRef{stage, row, column}},
                               Undo{},
                               ShowGradients{draw.below(2) == 0}};
            view::apply(state, some[draw.below(some.size())]);
        } else if (const auto action = random_action(draw, workspace.actions)) {
            if (action->type().name == "measure_cost")
                continue;  // of this machine, not of the state
            view::apply(state, *action);
        }
    }
    if (draw.below(4) > 0) answer_all(state);
    return state;
}

}  // namespace attn::view
