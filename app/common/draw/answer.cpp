#include "app/common/draw/answer.h"

#include "app/common/answer.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/heading.h"
#include "app/common/draw/items.h"

namespace attn::ui {

float draw_answer(const view::AnswerLook* answer, const Box& space, const Frame& frame) {
    if (answer == nullptr || frame.is_canvas_alone()) return space.low.y;
    const float pad = frame.px(kSpace12), inset = frame.px(kSpace8);
    const bool low = is_lower_than(kLowWindow, frame);  // the answer alone
    const float inner = std::max(space.size().x - 2 * pad, 1.0F);
    const float question = low ? 0.0F : frame.fonts.small.px + frame.px(4);
    const float height = wrapped_height(frame, frame.fonts.strong, answer->answer, inner);
    const Box box{space.low, {space.high.x, space.low.y + question + height + 2 * inset}};
    frame.painter.rect(box.low, box.high, frame.theme.raised, frame.px(6));
    frame.painter.rect(box.low, {box.low.x + frame.px(3), box.high.y}, frame.theme.accent);
    panel("answer", {{box.low.x + pad, box.low.y + inset}, {box.high.x - pad, box.high.y - inset}},
          [&] {
              const ImVec2 at = ImGui::GetCursorScreenPos();
              if (question > 0.0F)
                  frame.painter.text(frame.fonts.small, at, frame.theme.muted,
                                     fit_text(frame, frame.fonts.small, answer->question, inner));
              ImGui::SetCursorScreenPos({at.x, at.y + question});
              wrapped_text(frame, frame.fonts.strong, frame.theme.text, answer->answer);
          });
    return box.high.y + frame.px(kSpace8);
}

}  // namespace attn::ui
