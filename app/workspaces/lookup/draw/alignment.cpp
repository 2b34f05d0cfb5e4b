// Two columns of words, and a line from each query to its best key by dot product and by cosine.
#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/plot_parts.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kMostRow = 88.0F, kMostWord = 40.0F;  // from word to word, and of the plate of one
constexpr float kDescriptions = 0.3F;                 // of the width
constexpr float kMostWidth = 1100.0F, kLegend = 24.0F;

struct Lanes {
    float top = 0.0F, query_step = 0.0F, key_step = 0.0F;
    float left = 0.0F, right = 0.0F;  // where the lines begin and end
    view::Point query(Index n) const {
        return {left, top + query_step * (static_cast<float>(n) + 0.5F)};
    }
    view::Point key(Index n) const {
        return {right, top + key_step * (static_cast<float>(n) + 0.5F)};
    }
};

void draw_lines(const view::AlignmentView& view, const Lanes& at, const Frame& frame) {
    const view::Theme& theme = frame.theme;
    for (std::size_t n = 0; n < view.rows.size(); ++n) {
        const view::AlignmentRowView& row = view.rows[n];
        if (row.none) continue;
        const auto query = static_cast<Index>(n);
        const bool chosen = query == view.row;
        const double ink = chosen ? 1.0 : 0.55;
        const float thick = frame.px(chosen ? 3.0F : 1.5F);
        frame.painter.line(at.query(query), at.key(row.dot),
                           view::translucent(theme.role(Role::weight), ink), thick);
        if (!row.agree)
            draw_dashed(frame, at.query(query), at.key(row.cosine),
                        view::translucent(theme.accent, ink), thick);
    }
}

/// One word at either side, which a click selects.
bool draw_word(const Box& box, const std::string& text, Align align, view::Color color, bool chosen,
               const std::string& id, const std::string& tip, const Frame& frame) {
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button(id.c_str(), box.size());
    const bool hovered = ImGui::IsItemHovered();
    const bool pressed = pressed_by_key(frame);
    tooltip(frame, text, tip);
    const float inset = std::max((box.size().y - frame.px(kMostWord)) / 2, 0.0F);
    if (chosen || hovered)
        frame.painter.rect({box.low.x, box.low.y + inset}, {box.high.x, box.high.y - inset},
                           frame.theme.raised, frame.px(4));
    const bool large = box.size().y >= frame.px(kMostWord);
    const Font& font = large ? frame.fonts.title : chosen ? frame.fonts.strong : frame.fonts.body;
    const float pad = frame.px(8);
    draw_fitted(frame, font, {box.low.x + pad, box.low.y}, {box.high.x - pad, box.high.y}, align,
                color, text);
    return clicked || pressed;
}

void draw_legend(const Box& box, const Frame& frame) {
    const float y = (box.low.y + box.high.y) / 2;
    const float length = frame.px(28);
    float x = box.low.x;
    const auto one = [&](bool dashed, const char* text) {
        const view::Point from{x, y};
        const view::Point to{x + length, y};
        if (dashed)
            draw_dashed(frame, from, to, frame.theme.accent, frame.px(2));
        else
            frame.painter.line(from, to, frame.theme.role(Role::weight), frame.px(2));
        x += length + frame.px(6);
        draw_text_in(frame, frame.fonts.small, {x, box.low.y}, box.high, Align::left,
                     frame.theme.muted, text);
        x += frame.text_width(frame.fonts.small, text) + frame.px(20);
    };
    one(false, "largest dot product");
    one(true, "largest cosine, if it is another key");
}

void draw_alignment(const view::AlignmentView& view, const Box& box, const Frame& frame,
                    view::Actions& out) {
    const float text_extent = box.low.y;
    const float width = std::min(box.size().x, frame.px(kMostWidth));
    draw_legend({{box.low.x, text_extent}, {box.low.x + width, text_extent + frame.px(kLegend)}},
                frame);
    const float head = text_extent + frame.px(kLegend);
    const float column = width * kDescriptions;
    const Box queries{{box.low.x, head}, {box.low.x + column, head + frame.px(kTitleRow)}};
    const Box keys{{box.low.x + width - column, head},
                   {box.low.x + width, head + frame.px(kTitleRow)}};
    const Font& font = frame.fonts.small;
    draw_text_in(frame, font, queries.low, queries.high, Align::right, frame.theme.muted,
                 "queries");
    draw_text_in(frame, font, keys.low, keys.high, Align::left, frame.theme.muted, "keys");
    const Box lanes{{box.low.x, queries.high.y}, box.high};
    panel("lanes", lanes, [&] {
        const auto step = [&](std::size_t count) {
            return within(lanes.size().y / static_cast<float>(std::max<std::size_t>(count, 1)),
                          frame.px(kTextRow), frame.px(kMostRow));
        };
        const auto most = static_cast<float>(std::max(view.rows.size(), view.keys.size()));
        const float each = step(std::max(view.rows.size(), view.keys.size()));
        const auto spread = [&](std::size_t count) {  // both sides as high as the longer one
            return std::max(each,
                            each * most / static_cast<float>(std::max<std::size_t>(count, 1)));
        };
        const Lanes at{ImGui::GetCursorScreenPos().y, spread(view.rows.size()),
                       spread(view.keys.size()), queries.high.x, keys.low.x};
        draw_lines(view, at, frame);
        for (std::size_t n = 0; n < view.rows.size(); ++n) {
            const view::AlignmentRowView& row = view.rows[n];
            const auto query = static_cast<Index>(n);
            const float y = at.top + at.query_step * static_cast<float>(n);
            if (draw_word({{queries.low.x, y}, {queries.high.x, y + at.query_step}}, row.query,
                          Align::right, frame.theme.role(Role::query), query == view.row,
                          "query " + std::to_string(n), row.tooltip, frame))
                out.push_back(view::SelectLookupCell{query, row.none ? view.column : row.dot});
        }
        for (std::size_t n = 0; n < view.keys.size(); ++n) {
            const auto key = static_cast<Index>(n);
            const float y = at.top + at.key_step * static_cast<float>(n);
            if (draw_word({{keys.low.x, y}, {keys.high.x, y + at.key_step}}, view.keys[n],
                          Align::left, frame.theme.role(Role::key), key == view.column,
                          "key " + std::to_string(n),
                          "Click: the inspector explains this key for the selected query.", frame))
                out.push_back(view::SelectLookupCell{view.row, key});
        }
    });
}

}  // namespace

void LookupPages::add(const view::AlignmentView& view) {
    if (!can_draw(view.body) || view.rows.empty()) return;
    parts.hero = {"alignment", "alignment",
                  [this, &view](const Box& box) { draw_alignment(view, box, frame, out); }};
}

}  // namespace attn::ui
