#include "app/common/draw/groups.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {

std::string draw_lookup_workspace(const view::AppState& state, const WorkArea& r,
                                  const Frame& frame, view::Actions& out) {
    const view::LookupView view = build_lookup_view(state);
    Parts parts{.controls =
                    [&](ControlBar& bar) {
                        draw_lookup_bar(view, bar);
                        if (view.page == view::LookupPage::similarity)
                            draw_groups(view::groups_view(state), bar);
                    },
                .status = view.status};
    LookupPages pages{parts, frame, out};
    switch (view.page) {
        case view::LookupPage::memory:
            pages.add(view.memory);
            break;
        case view::LookupPage::capacity:
            pages.add(view.capacity);
            break;
        case view::LookupPage::similarity:
            pages.add(view.similarity);
            break;
        case view::LookupPage::alignment:
            pages.add(view.alignment);
            break;
        case view::LookupPage::permutation:
            pages.add(view.permutation);
            break;
    }
    draw_parts(state, r, parts, frame, out);
    if (view.page == view::LookupPage::memory) hover_pair(view.memory, pages.hovered, out);
    return view.status;
}

extern const WorkspacePanel kLookupPanel{"lookup", draw_lookup_workspace};

}  // namespace attn::ui
