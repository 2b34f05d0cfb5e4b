#include "app/common/draw/around.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kWorkspaceGap = 10.0F;

void draw_page(const view::LookupView& view, const Box& box, const Frame& frame,
               view::Actions& out) {
    switch (view.page) {
        case view::LookupPage::memory:
            return draw_memory(view.memory, box, frame, out);
        case view::LookupPage::capacity:
            return draw_capacity(view.capacity, box, frame, out);
        case view::LookupPage::similarity:
            return draw_similarity(view.similarity, box, frame, out);
        case view::LookupPage::alignment:
            return draw_alignment(view.alignment, box, frame, out);
        case view::LookupPage::permutation:
            return draw_permutation(view.permutation, box, frame, out);
    }
}

}  // namespace

std::string draw_lookup_workspace(const view::AppState& state, const WorkArea& r,
                                  const Frame& frame, view::Actions& out) {
    const view::LookupView view = build_lookup_view(state);
    const float top = bar_panel(r, frame.px(kRoomBar), frame,
                                [&](const Frame& chrome) { draw_lookup_bar(view, chrome, out); });
    const Box box = canvas_box(r, top + frame.px(kWorkspaceGap), frame.px(kSpace8));
    panel("page", box, [&] { draw_page(view, box, frame, out); });
    side_inspector(state, r, top, frame, out);
    return view.status;
}

extern const WorkspacePanel kLookupPanel;
const WorkspacePanel kLookupPanel{"lookup", draw_lookup_workspace};

}  // namespace attn::ui
