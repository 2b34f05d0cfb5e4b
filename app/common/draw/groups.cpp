#include "app/common/draw/groups.h"

#include "app/common/document/actions.h"

namespace attn::ui {

void draw_group_row(const GroupsView& view, const Frame& frame, Actions& out,
                    const PlaceControl& place) {
    if (view.names.empty() || !place(choice_width(frame, view.names))) return;
    const auto n = choice(
        frame, "group", view.names, view.current,
        {"Which attention of the model is shown", "Each has layers, heads and tokens of its own."});
    if (n && *n != view.current) out.push_back(ShowGroup{view.names[*n]});
}

void draw_beside_field(const GroupsView& view, const Frame& frame, Actions& out,
                       const PlaceControl& place) {
    if (!view.reads_beside) return;
    const Tip tip = view.label == "images"
                        ? Tip{"The PNG that the model reads; of several with || between",
                              "Or drop one on the window. Enter: read it"}
                        : Tip{"What the decoder has written so far",
                              "It begins with a token of its own. Enter: read it"};
    const auto text =
        list_field(frame, "beside", view.label.c_str(), view.second_input, tip, out, place);
    if (text && *text != view.second_input) out.push_back(TypeBeside{*text});
}

void draw_groups(const GroupsView& view, ControlBar& bar) {
    const auto place = [&](float width) { return bar.take(width); };
    draw_group_row(view, bar.frame, bar.out, place);
    draw_beside_field(view, bar.frame, bar.out, place);
}

}  // namespace attn::ui
