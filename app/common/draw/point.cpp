#include "app/common/draw/point.h"

#include "app/common/draw/draw.h"

namespace attn::ui {

float draw_point(const std::string& text, const Box& box, const Frame& frame, bool warns) {
    const bool fits = frame.text_width(frame.fonts.title, text) <= box.size().x;
    const Font& font = fits ? frame.fonts.title : frame.fonts.body;
    const float height = font.px * (fits ? 1.4F : 2.6F);
    panel("point", {box.low, {box.high.x, box.low.y + height}}, [&] {
        wrapped_words(frame, font, warns ? frame.theme.warning : frame.theme.text, text);
    });
    return box.low.y + height;
}

void draw_sentence(const std::string& sentence, const std::string& note, const Frame& frame) {
    wrapped_words(frame, frame.fonts.title, frame.theme.text, sentence);
    wrapped_words(frame, frame.fonts.small, frame.theme.muted, note);
    ImGui::Dummy({1.0F, frame.px(2)});
}

float draw_notes(const std::vector<std::string>& notes, const Box& box, const Frame& frame) {
    float y = box.low.y;
    for (const std::string& note : notes) {
        if (note.empty()) continue;
        ImGui::SetCursorScreenPos({box.low.x, y});
        ImGui::Dummy({box.size().x, frame.px(kTextRow)});
        const std::string shown = fit_text(frame, frame.fonts.body, note, box.size().x);
        if (shown != note) tooltip(frame, {}, note);
        draw_text_in(frame, frame.fonts.body, {box.low.x, y}, {box.high.x, y + frame.px(kTextRow)},
                     Align::left, frame.theme.muted, shown);
        y += frame.px(kTextRow);
    }
    return y;
}

}  // namespace attn::ui
