#include <algorithm>

#include <fmt/ranges.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

using view::MemoryView;

// Design units.
constexpr float kSlider = 34.0F, kAbove = 8.0F, kLeastTable = 480.0F, kNumbers = 300.0F,
                kLeastTrack = 160.0F, kLeastSlider = 320.0F, kBesideTrack = 176.0F,
                kWorth = 1.1F;  // so much larger, the planes have it beside
constexpr float kUpper = 0.4F;  // of the spare height is above the planes

/// The labels of its ends are next to the track or, if the track would be too short, below it.
void draw_temperature(const MemoryView& view, const Box& box, const Frame& frame,
                      view::Actions& out) {
    const Font& font = frame.fonts.small;
    const std::string hard = "→ 0: hard";
    const std::string mean = "→ ∞: mean of V";
    float left = frame.text_width(font, hard) + frame.px(10);
    float right = frame.text_width(font, mean) + frame.px(10);
    const float height = ImGui::GetFrameHeight();
    const bool beside = box.size().x - left - right >= frame.px(kLeastTrack);
    const float low = box.low.y + (beside ? 0.0F : height);
    const float high = low + (beside ? height : frame.px(kSpace16));
    draw_fitted(frame, font, {box.low.x, low}, {box.low.x + left, high}, Align::left,
                frame.theme.muted, hard);
    draw_fitted(frame, font, {box.high.x - right, low}, {box.high.x, high}, Align::right,
                frame.theme.muted, mean);
    if (!beside) left = right = 0.0F;
    ImGui::SetCursorScreenPos({box.low.x + left, box.low.y});
    const Tip tip{
        "a = softmax(q·k / τ)",
        "τ → 0 is the hard lookup, τ → ∞ the mean of all values; τ = √d_k = √2 is the scaled "
        "dot product. Keys: H hard, O one, M mean."};
    if (const auto tau = real_slider(frame, "tau", {"τ", view.tau, "0.0123"}, view.temperature,
                                     view::kColdest, view::kHottest,
                                     std::max(box.size().x - left - right, frame.px(60)), tip, out))
        out.push_back(view::SetLookupTemperature{*tau});
}

/// Numbers beside the table, or where it is narrow beneath it: a tab of low windows.
std::optional<Index> draw_pairs(const MemoryView& view, const Box& box, const Frame& frame,
                                view::Actions& out) {
    const bool beside = box.size().x >= frame.px(kLeastTable + kNumbers);
    const float split = beside ? box.high.x - frame.px(kNumbers + kSpace24) : box.high.x;
    const float table = box.low.y + memory_table_height(view, frame);
    const auto hovered = draw_memory_table(view, {box.low, {split, table}}, frame, out);
    const float left = beside ? split + frame.px(kSpace24) : box.low.x;
    const float top = beside ? box.low.y : table + frame.px(kSpace8);
    const float bottom = top + memory_numbers_height(view, frame);
    draw_memory_numbers(view, {{left, top}, {box.high.x, bottom}}, frame);
    return hovered;
}

/// Both planes, as large as they fit, with the temperature beneath or, in a low canvas, beside them.
std::optional<Index> draw_planes(const MemoryView& view, const Box& box, const Frame& frame,
                                 view::Actions& out) {
    const float gap = frame.px(kSpace24), title = frame.px(kTableRow);
    const float slider = frame.px(kSlider), above = frame.px(kAbove),
                track = frame.px(kBesideTrack);
    const auto side_in = [&](float width, float height) {
        return std::max(std::min((width - gap) / 2, height - title), 1.0F);
    };
    const float beneath = side_in(box.size().x, box.size().y - slider - above);
    const float besides = side_in(box.size().x - gap - track, box.size().y);
    const bool beside = besides > kWorth * beneath;
    const float side = beside ? besides : beneath;
    const float width = 2 * side + gap;
    const float whole = beside ? width + gap + track : width;
    const float left = box.low.x + std::max(box.size().x - whole, 0.0F) / 2;
    const float right = left + width;
    const float used = side + title + (beside ? 0.0F : above + slider);
    // The pairs as a table beneath them, where the height is enough.
    const float spare = std::max(box.size().y - used, 0.0F);
    const float table = frame.px(kSpace16) + std::max(memory_table_height(view, frame),
                                                      memory_numbers_height(view, frame));
    const bool tabled = !beside && spare >= table && width >= frame.px(kLeastTable + kNumbers) &&
                        !frame.is_canvas_alone();
    const float top = box.low.y + (tabled ? 0.0F : std::floor(spare * kUpper));
    const float bottom = top + side + title;
    std::optional<Index> hovered =
        draw_plane(view, Plane::keys, {{left, top}, {left + side, bottom}}, frame, out);
    if (const auto over =
            draw_plane(view, Plane::values, {{right - side, top}, {right, bottom}}, frame, out))
        hovered = over;
    const float wider = std::max(std::min(frame.px(kLeastSlider), box.size().x) - width, 0.0F) / 2;
    const float low = beside ? bottom - (side + slider) / 2 : bottom + above;
    const auto [from, to] = beside ? std::pair{right + gap, right + gap + track}
                                   : std::pair{left - wider, right + wider};
    draw_temperature(view, {{from, low}, {to, low + slider}}, frame, out);
    if (!tabled) return hovered;
    const float under = low + slider + frame.px(kSpace16);
    if (const auto over = draw_pairs(view, {{left, under}, {right, box.high.y}}, frame, out))
        hovered = over;
    return hovered;
}

}  // namespace

void hover_pair(const MemoryView& view, std::optional<Index> hovered, view::Actions& out) {
    Index shown = -1;
    for (std::size_t n = 0; n < view.rows.size(); ++n)
        if (view.rows[n].hovered) shown = static_cast<Index>(n);
    if (hovered.value_or(-1) != shown) out.push_back(view::HoverLookupPair{hovered});
}

void LookupPages::add(const MemoryView& view) {
    parts.heading = {.headline = view.point, .why = fmt::format("{}", fmt::join(view.notes, "\n"))};
    const auto part = [this, &view](auto draw) {
        return [this, &view, draw](const Box& box) {
            if (const auto over = draw(view, box, frame, out)) hovered = over;
        };
    };
    parts.hero = {"planes", "planes", part(draw_planes)};
    parts.singles = {parts.hero, {"pairs", "pairs", part(draw_pairs)}};
}

}  // namespace attn::ui
