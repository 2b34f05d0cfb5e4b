#include "app/common/draw/groups.h"

#include "app/common/document/actions.h"

namespace attn::ui {

void draw_group_row(const GroupsView& view, const Frame& frame, Actions& out,
                    const PlaceControl& place) {
    if (view.names.empty() || !place(choice_width(frame, view.names))) return;
    const auto n =
        choice(frame, "group", view.names, view.current,
               {"Attention of the model to show", "Each has its own layers, heads and tokens."});
    if (n && *n != view.current) out.push_back(ShowGroup{view.names[*n]});
}

void draw_beside_field(const GroupsView& view, const Frame& frame, Actions& out,
                       const PlaceControl& place) {
    if (!view.reads_beside) return;
    const Tip tip =
        view.label == "image" ? Tip{"The PNG that the model reads at the image token of the text",
                                    "Or drop one on the window. Enter: read it"}
        : view.label == "images" ? Tip{"The PNG that the model reads; several with || between them",
                                       "Or drop one on the window. Enter: read it"}
                                 : Tip{"Text of the decoder so far",
                                       "It begins with its own start token. Enter: read it"};
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
