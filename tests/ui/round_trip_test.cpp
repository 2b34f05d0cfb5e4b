// What a session keeps is what the screen shows: every field, changed, saved and opened, gives the same picture.

#include "tests/support/round_trip.h"
#include "app/common/actions.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using namespace attn::view;

namespace {

/// FNV-1a of what was drawn: vertices with colours and places in the atlas, and their order.
std::uint64_t hash_of_frame() {
    std::uint64_t hash = 14695981039346656037ULL;
    const auto add = [&hash](const void* data, std::size_t bytes) {
        const auto* byte = static_cast<const unsigned char*>(data);
        for (std::size_t n = 0; n < bytes; ++n) hash = (hash ^ byte[n]) * 1099511628211ULL;
    };
    const ImDrawData& drawn = *ImGui::GetDrawData();
    for (int n = 0; n < drawn.CmdListsCount; ++n) {
        const ImDrawList& list = *drawn.CmdLists[n];
        add(list.VtxBuffer.Data,
            sizeof(ImDrawVert) * static_cast<std::size_t>(list.VtxBuffer.Size));
        add(list.IdxBuffer.Data, sizeof(ImDrawIdx) * static_cast<std::size_t>(list.IdxBuffer.Size));
    }
    return hash;
}

std::uint64_t picture_of(AppState state, const WorkspaceInfo& workspace) {
    apply(state, SetWorkspace{std::string(workspace.key)});
    state.message = {};
    state.trace_ms = 0.0;
    NullUi ui({1280.0F, 720.0F});
    ui.show([&state](const ui::Frame& frame, Actions& out) { ui::draw_window(state, frame, out); });
    ui.frames(3);
    return hash_of_frame();
}

}  // namespace

TEST_CASE("every field of every workspace, saved and opened, gives the same picture") {
    const AppState first = initial_state();
    std::size_t seen = 0, pictures = 0;
    for (const Changed& changed : every_field_changed(first)) {
        const std::string text = session_to_json(changed.state);
        if (!session_from_json(text, "session.json")) continue;
        if (changed.is({"verify", "file"})) continue;  // a path is made absolute
        INFO("changed.workspace->key ", changed.workspace->key, ", changed.field ", changed.field);
        const auto picture = picture_of(changed.state, *changed.workspace);
        CHECK(picture == picture_of(opened(text, first), *changed.workspace));
        seen += picture != picture_of(first, *changed.workspace) ? 1 : 0;
        ++pictures;
    }
    MESSAGE(pictures << " pictures, " << seen << " of which show the change");
    CHECK(seen * 3 > pictures);
}
