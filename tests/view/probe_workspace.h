#pragma once

#include <string>
#include <vector>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/fields.h"
#include "app/common/workspace.h"
#include "app/workspaces/saturation/actions.h"

namespace attn::test {

// A workspace that only a test knows: whatever lists the workspaces must list it too.

inline constexpr view::WorkspaceInfo kProbeWorkspace{
    .key = "probe",
    .title = "Probe",
    .tip = "A workspace of a test.",
    .group = view::Group::check,
    .letter = view::Key::p,
    .shows_document = false,
    .missing_data = [](const view::AppState&) { return std::string(); },
    .enter =
        [](view::AppState& state) {
            state.message = {"in the probe", {}};
        },
    .add_commands =
        [](std::vector<view::Command>& list, const view::AppState&) {
            list.push_back({"Probe deeper", "Probe", view::plain(view::Key::d), view::Redraw{}});
        },
    .escape = [](const view::AppState&) { return std::optional<view::Action>(view::Quit{}); },
    .clear = [](view::AppState& state) { state.message.text = "cleared"; },
    .clamp_to_document = [](view::AppState&) {},
    .clear_cache = [](view::AppState&) {},
    .has_side = [](const view::AppState&) { return false; },
    .inspector =
        [](const view::AppState&) {
            view::InspectorView view;
            view.empty = false;
            view.as_text = "probed";
            return view;
        },
    .write =
        [](view::Visitor& part, const view::AppState& state) {
            std::uint64_t depth = state.now;
            part("depth", depth);
        },
    .read =
        [](view::Fields& fields, view::AppState& state) {
            std::uint64_t depth = 0;
            fields.need("depth", depth);
            state.message.text = "depth " + std::to_string(depth);
        },
    .is_animating = [](const view::AppState&) { return true; },
    .is_idle = [](const view::AppState&) { return true; },
    .figure_name = [](const view::AppState&) { return std::string("probed"); },
    .shots =
        [] {
            return std::vector<view::Shot>{{"", {}}, {"deep", {view::SetSeed{5}}}};
        },
};

/// The program's workspaces, and the probe behind them.
inline view::WorkspaceList workspaces_with_probe() {
    static const auto list = [] {
        std::vector<const view::WorkspaceInfo*> all(view::workspaces().begin(),
                                                    view::workspaces().end());
        all.push_back(&kProbeWorkspace);
        return all;
    }();
    return list;
}

}  // namespace attn::test
