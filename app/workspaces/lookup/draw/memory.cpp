#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/list_field.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

using view::MemoryView;

// Design units.
constexpr float kSlider = 34.0F, kMemoryLegend = 20.0F, kNames = 72.0F, kLeastTable = 520.0F,
                kMostTable = 640.0F, kLeastPlane = 160.0F, kNumbers = 300.0F;

/// Two squares, and what stands beside or beneath them.
struct Layout {
    float side = 0.0F;
    bool beside = false;  // the table
};

/// The larger squares of both ways.
Layout lay_out(const MemoryView& view, const Box& box, const Frame& frame) {
    const float foot = frame.px(kSlider + kMemoryLegend + kTableRow);
    const float table = memory_table_height(view, frame);
    const float numbers = memory_numbers_height(view, frame);
    const auto side = [&](float width, float height) {
        return std::max(std::min((width - frame.px(kSpace16)) / 2, height - foot),
                        frame.px(kLeastPlane));
    };
    const float below = std::max(table, numbers + frame.px(kNames)) + frame.px(kSpace16);
    const float beside = side(box.size().x - frame.px(kLeastTable + kSpace16), box.size().y);
    const float under = side(box.size().x, box.size().y - below);
    const float aside = table + numbers + frame.px(kNames + kSpace16);
    if (beside > under && aside <= box.size().y) return {beside, true};
    return {under, false};
}

void draw_temperature(const MemoryView& view, const Box& box, const Frame& frame,
                      view::Actions& out) {
    const Font& font = frame.fonts.small;
    const std::string hard = "→ 0: hard (argmax)";
    const std::string mean = "→ ∞: mean of V";
    const float left = frame.text_width(font, hard) + frame.px(10);
    const float right = frame.text_width(font, mean) + frame.px(10);
    const float height = ImGui::GetFrameHeight();
    draw_text_in(frame, font, box.low, {box.low.x + left, box.low.y + height}, Align::left,
                 frame.theme.muted, hard);
    draw_text_in(frame, font, {box.high.x - right, box.low.y}, {box.high.x, box.low.y + height},
                 Align::right, frame.theme.muted, mean);
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

void draw_names(const MemoryView& view, const Box& box, const Frame& frame, view::Actions& out) {
    panel("names", box, [&] {
        ImGui::PushID(static_cast<int>(view.pair));
        if (const auto key = list_field(frame, "key name", "key", view.key_name,
                                        {"The name of the key", "Click to type."}, out))
            out.push_back(view::NameLookupPair{view.pair, *key, view.value_name});
        if (const auto value = list_field(frame, "value name", "value", view.value_name,
                                          {"The name of the value", "Click to type."}, out))
            out.push_back(view::NameLookupPair{view.pair, view.key_name, *value});
        ImGui::PopID();
    });
}

std::optional<Index> draw_beside(const MemoryView& view, const Box& box, const Frame& frame,
                                 view::Actions& out) {
    const float width = std::min(box.size().x, frame.px(kMostTable));
    const float right = box.low.x + width;
    const float table = box.low.y + memory_table_height(view, frame);
    const auto hovered = draw_memory_table(view, {box.low, {right, table}}, frame, out);
    const float names = table + frame.px(kSpace16 / 2);
    draw_names(view, {{box.low.x, names}, {right, names + frame.px(kNames)}}, frame, out);
    draw_memory_numbers(view, {{box.low.x, names + frame.px(kNames)}, {right, box.high.y}}, frame);
    return hovered;
}

std::optional<Index> draw_under(const MemoryView& view, const Box& box, const Frame& frame,
                                view::Actions& out) {
    const float numbers = std::min(frame.px(kNumbers), box.size().x * 0.4F);
    const float split = box.high.x - numbers - frame.px(kSpace16);
    const auto hovered = draw_memory_table(view, {box.low, {split, box.high.y}}, frame, out);
    const float left = split + frame.px(kSpace16);
    const float foot = box.low.y + memory_numbers_height(view, frame);
    draw_memory_numbers(view, {{left, box.low.y}, {box.high.x, foot}}, frame);
    draw_names(view, {{left, foot}, {box.high.x, foot + frame.px(kNames)}}, frame, out);
    return hovered;
}

}  // namespace

void draw_memory(const MemoryView& view, const Box& box, const Frame& frame, view::Actions& out) {
    const float point = draw_point(view.point, box, frame);
    const float notes = draw_notes(view.notes, {{box.low.x, point}, box.high}, frame);
    const Box room{{box.low.x, notes + frame.px(kSpace16 / 2)}, box.high};
    const Layout at = lay_out(view, room, frame);
    const float right = room.low.x + 2 * at.side + frame.px(kSpace16);
    const float foot = room.low.y + at.side + frame.px(kTableRow);
    const Box keys{room.low, {room.low.x + at.side, foot}};
    const Box values{{keys.high.x + frame.px(kSpace16), room.low.y}, {right, foot}};
    std::optional<Index> hovered = draw_plane(view, Plane::keys, keys, frame, out);
    if (const auto over = draw_plane(view, Plane::values, values, frame, out)) hovered = over;
    const float slider = foot + frame.px(kMemoryLegend);
    draw_fitted(frame, frame.fonts.small, {room.low.x, foot},
                {at.beside ? right : room.high.x, slider}, Align::left, frame.theme.muted,
                "disc: its area is the weight a · ring “hard”: what argmax gives · shaded: the "
                "hull of the values, which o never leaves");
    draw_temperature(view, {{room.low.x, slider}, {right, slider + frame.px(kSlider)}}, frame, out);
    const float under = slider + frame.px(kSlider);
    const auto over =
        at.beside
            ? draw_beside(view, {{right + frame.px(kSpace16), room.low.y}, room.high}, frame, out)
            : draw_under(view, {{room.low.x, under}, room.high}, frame, out);
    if (over) hovered = over;
    Index shown = -1;
    for (std::size_t n = 0; n < view.rows.size(); ++n)
        if (view.rows[n].hovered) shown = static_cast<Index>(n);
    if (hovered.value_or(-1) != shown) out.push_back(view::HoverLookupPair{hovered});
}

}  // namespace attn::ui
