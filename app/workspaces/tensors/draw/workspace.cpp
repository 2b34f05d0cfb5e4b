#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/requests.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/items.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/still.h"
#include "app/common/draw/text_fields.h"
#include "app/workspaces/tensors/view.h"

namespace attn::ui {
namespace {

using view::TensorColumn, view::TensorDetail, view::TensorLine, view::TensorsView;

// Design units.
constexpr float kLowMap = 240.0F;  // a picture has no caption there
constexpr float kRow = 26.0F, kFilter = 220.0F, kAxesList = 220.0F, kOption = 110.0F, kList = 0.5F,
                kFew = 0.3F, kBins = 64.0F, kMostBins = 280.0F, kRoles = 300.0F, kBeside = 720.0F,
                kAbout = 360.0F, kLeastAbout = 180.0F, kMultiple = 40.0F,
                kLeastMultiple = 96.0F,  // of the text left of the picture
    kAboutShare = 0.3F, kHalf = 0.5F, kWide = 1.3F, kPad = 6.0F, kMostName = 0.4F;
constexpr const char* kBinsTooltip = "distribution, from min to max";
constexpr std::size_t kMeasured = 64;  // rows
/// Of them the tooltip of a row or its detail speaks too.
constexpr TensorColumn kLeast[] = {TensorColumn::dtype, TensorColumn::bytes, TensorColumn::role,
                                   TensorColumn::mean};

/// A text that is typed; what it was changed to.
std::optional<std::string> draw_typed(ControlBar& bar, const char* id, const std::string& hint,
                                      std::string value, float width, const Tip& tip) {
    const Frame& frame = bar.frame;
    if (!bar.take(frame.px(width))) return std::nullopt;
    const std::string before = value;
    ImGui::SetNextItemWidth(frame.px(width));
    push_font(frame.fonts.body);
    text_field(id, value, {hint.c_str()});
    pop_font();
    still_field(frame, frame.fonts.body, value, hint);
    tooltip(frame, tip.heading, tip.text);
    return value == before ? std::nullopt : std::optional(value);
}

void draw_option(const view::TensorOption& option, ControlBar& bar) {
    const Tip tip{option.title, option.tip + "\n“Apply” opens the file with it"};
    const std::string id = "##" + option.key;
    if (option.names.size() < 2) {
        if (const auto value =
                draw_typed(bar, id.c_str(), option.title, option.value, kOption, tip))
            bar.out.push_back(view::SetTensorOption{option.key, *value});
        return;
    }
    const auto at = std::ranges::find(option.names, option.value);
    const int chosen = at == option.names.end() ? 0 : static_cast<int>(at - option.names.begin());
    const std::string shown = option.title + ": " + option.names[chosen];
    if (const auto n = bar.combo(id.c_str(), {option.names, chosen, shown}, kOption + 60, tip))
        bar.out.push_back(view::SetTensorOption{option.key, *n == 0 ? "" : option.names[*n]});
}

void draw_bar(const TensorsView& view, ControlBar& bar) {
    if (const auto filter =
            draw_typed(bar, "##filter", "Filter by name", view.filter, kFilter,
                       {"Filter by name", "Rows whose name contains this text. Esc: all rows"}))
        bar.out.push_back(view::FilterTensors{*filter});
    if (!view.can_read) return;
    const std::size_t at =
        std::min(static_cast<std::size_t>(view.axes), view.axes_names.size() - 1);
    if (const auto n =
            bar.combo("##axes", {view.axes_names, view.axes, "Q, K, V: " + view.axes_names[at]},
                      kAxesList, {"The axes of Q, K and V", "“Apply” opens the file with them"}))
        bar.out.push_back(view::SetTensorAxes{view.axes_keys[*n]});
    if (bar.button("read", "Apply",
                   {"Open the file with these roles, axes and options", "Key: Enter"}))
        bar.out.push_back(view::ReadTensors{});
    for (const view::TensorOption& option : view.options) draw_option(option, bar);
}

using Columns = std::vector<std::pair<float, float>>;

const Font& font_of(const TensorsView& view, std::size_t column, const Frame& frame) {
    const bool digits = view.heads[column].right || column == 2;
    return digits ? frame.fonts.digits_small : frame.fonts.body;
}

/// A column of text right of a column of numbers, which end where it begins.
bool follows_numbers(const TensorsView& view, std::size_t n) {
    return n > 0 && view.heads[n - 1].right && !view.heads[n].right;
}

/// Where each column begins and ends: each as wide as the first rows and its title ask for, what is left by their shares;
/// where they ask for more than there is, the least are left out, then each gives up as much of what it asked for.
Columns columns_in(const TensorsView& view, float low, float high, const Frame& frame) {
    std::vector<float> widths;
    float asked = 0.0F, shares = 0.0F;
    const float space = high - low;
    for (std::size_t n = 0; n < view.heads.size(); ++n) {
        float widest = frame.text_width(frame.fonts.small, view.heads[n].title + " ↓");
        for (std::size_t row = 0; row < std::min(view.lines.size(), kMeasured); ++row)
            if (const auto& cells = view.lines[row].cells; n < cells.size())
                widest = std::max(widest, frame.text_width(font_of(view, n, frame), cells[n]));
        if (n == 0) widest = std::min(widest, kMostName * space);
        widths.push_back(widest + (follows_numbers(view, n) ? 5.0F : 2.0F) * frame.px(kPad) + 1.0F);
        asked += widths.back();
        shares += view.heads[n].share;
    }
    for (const TensorColumn least : kLeast)
        for (std::size_t n = 0; n < widths.size(); ++n)
            if (view.heads[n].column == least && asked > space)
                asked -= std::exchange(widths[n], 0.0F);
    const float fit = std::min(space / std::max(asked, 1.0F), 1.0F);
    const float spare = std::max(space - asked, 0.0F);
    Columns columns;
    for (std::size_t n = 0; n < widths.size(); ++n, low = columns.back().second)
        columns.emplace_back(
            low,
            low + fit * widths[n] + (widths[n] > 0.0F ? spare * view.heads[n].share / shares : 0));
    return columns;
}

void draw_heads_row(const TensorsView& view, const Columns& columns, const Box& box,
                    const Frame& frame, view::Actions& out) {
    for (std::size_t n = 0; n < columns.size(); ++n) {
        const auto& head = view.heads[n];
        const auto [left, right] = columns[n];
        if (right <= left) continue;
        ImGui::SetCursorScreenPos({left, box.low.y});
        const bool clicked = invisible_button(
            head.title.c_str(), {std::max(1.0F, right - left), box.high.y - box.low.y});
        const bool sorted = head.column == view.sort;
        if (clicked || pressed_by_key(frame))
            out.push_back(view::SortTensors{head.column, sorted && !view.descending});
        const std::string mark = sorted ? view.descending ? " ↓" : " ↑" : "";
        const float pad = frame.px(kPad), before = pad * (follows_numbers(view, n) ? 4.0F : 1.0F);
        draw_text_in(
            frame, frame.fonts.small, {left + before, box.low.y}, {right - pad, box.high.y},
            head.right ? Align::right : Align::left, sorted ? frame.theme.text : frame.theme.muted,
            fit_text(frame, frame.fonts.small, head.title + mark, right - left - before - pad));
        tooltip(frame, head.title, head.tip + "\nClick to sort by this column");
    }
    frame.painter.line({box.low.x, box.high.y}, {box.high.x, box.high.y}, frame.theme.line,
                       frame.px(1));
}

void draw_line(const TensorsView& view, const TensorLine& line, const Columns& columns,
               const Frame& frame, view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, frame.px(kRow)};
    const bool clicked = invisible_button("row", {std::max(1.0F, size.x), size.y});
    const ImVec2 high{low.x + size.x, low.y + size.y};
    if (clicked) out.push_back(view::SelectTensor{line.name});
    if (line.selected || ImGui::IsItemHovered())
        frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
    if (line.selected) frame.painter.rect(low, {low.x + frame.px(2), high.y}, frame.theme.accent);
    for (std::size_t n = 0; n < columns.size() && n < line.cells.size(); ++n) {
        const auto [left, right] = columns[n];
        if (right <= left) continue;
        const bool number = view.heads[n].right;
        const float pad = frame.px(kPad), before = pad * (follows_numbers(view, n) ? 4.0F : 1.0F);
        const Font& font = font_of(view, n, frame);
        const bool bad = line.faulty &&
                         (view.heads[n].column == view::TensorColumn::nans ||
                          view.heads[n].column == view::TensorColumn::infs) &&
                         line.cells[n] != "0";
        const view::Color color = bad           ? frame.theme.bad
                                  : line.unused ? frame.theme.muted
                                                : frame.theme.text;
        draw_text_in(frame, font, {left + before, low.y}, {right - pad, high.y},
                     number ? Align::right : Align::left, color,
                     fit_text(frame, font, line.cells[n], right - left - before - pad));
    }
    tooltip(frame, line.name,
            fmt::format("{}  {}\nread as: {}", line.cells[1], line.cells[2], line.cells.back()));
}

/// Only the rows on screen are drawn, and known to be seen.
void draw_lines(const TensorsView& view, const Columns& columns, const view::AppState& state,
                const Frame& frame, view::Actions& out) {
    const float row = frame.px(kRow);
    const auto count = static_cast<Index>(view.lines.size());
    const float space = ImGui::GetContentRegionAvail().y;
    const auto place =
        std::ranges::find(view.lines, true, &TensorLine::selected) - view.lines.begin();
    const float at = row * static_cast<float>(place);
    const bool moved =
        place < count && (is_pressed(view::Key::down, true) || is_pressed(view::Key::up, true) ||
                          is_pressed(view::Key::home) || is_pressed(view::Key::end));
    if (moved && (at < ImGui::GetScrollY() || at + row > ImGui::GetScrollY() + space))
        ImGui::SetScrollY(std::max(0.0F, at - space / 2));
    const float scroll = ImGui::GetScrollY();
    const Index first = within<Index>(static_cast<Index>(scroll / row), 0, count);
    const Index past = within<Index>(first + static_cast<Index>(space / row) + 2, first, count);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, 0.0F});
    const ImVec2 top = ImGui::GetCursorScreenPos();
    for (Index n = first; n < past; ++n) {
        ImGui::SetCursorScreenPos({top.x, top.y + row * static_cast<float>(n)});
        ImGui::PushID(static_cast<int>(n));
        draw_line(view, view.lines[n], columns, frame, out);
        ImGui::PopID();
    }
    ImGui::SetCursorScreenPos({top.x, top.y + row * static_cast<float>(count)});
    leave_space({1.0F, 1.0F});
    ImGui::PopStyleVar();
    if (view::tensors_look(state).seen != std::pair{first, past})
        out.push_back(view::SeeTensors{first, past});
}

void draw_bins(const std::vector<double>& bins, const Box& box, const Frame& frame) {
    const float step = box.size().x / static_cast<float>(bins.size());
    for (std::size_t n = 0; n < bins.size(); ++n) {
        const float x = box.low.x + step * static_cast<float>(n);
        const float height = box.size().y * static_cast<float>(bins[n]);
        if (height > 0.0F)
            frame.painter.rect({x, box.high.y - std::max(height, frame.px(1))},
                               {x + std::max(step - frame.px(1), 1.0F), box.high.y},
                               frame.theme.muted);
    }
    frame.painter.line({box.low.x, box.high.y}, {box.high.x, box.high.y}, frame.theme.line,
                       frame.px(1));
}

int distribution_columns(float width, const Frame& frame) {
    const float gap = frame.px(kSpace8);
    return std::max(1, static_cast<int>((width + gap) / (frame.px(kLeastMultiple) + gap)));
}

/// Of the small histograms with their title; 0 without histograms.
float distributions_height(const TensorsView& view, float width, const Frame& frame) {
    const auto count = static_cast<int>(view.distributions.size());
    if (count < 2) return 0.0F;
    const int columns = distribution_columns(width, frame);
    const auto rows = static_cast<float>((count + columns - 1) / columns);
    return frame.px(kSmallRow + 2 * kSpace8) + rows * frame.px(kSmallRow + kMultiple + kSpace8);
}

/// A small histogram for each array, in rows; a click selects it. From the first as many as fit.
void draw_distributions(const TensorsView& view, const Box& box, const Frame& frame,
                        view::Actions& out) {
    const float gap = frame.px(kSpace8), row = frame.px(kSmallRow);
    const int columns = distribution_columns(box.size().x, frame);
    const float width =
        (box.size().x - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const float height = row + frame.px(kMultiple);
    draw_text_in(frame, frame.fonts.small, box.low, {box.high.x, box.low.y + row}, Align::left,
                 frame.theme.muted, "distribution of each array");
    const float top = box.low.y + row + gap;
    for (std::size_t n = 0; n < view.distributions.size(); ++n) {
        const view::TensorBins& each = view.distributions[n];
        const auto at = static_cast<int>(n);
        const ImVec2 low{box.low.x + (width + gap) * static_cast<float>(at % columns),
                         top + (height + gap) * static_cast<float>(at / columns)};
        const ImVec2 high{low.x + width, low.y + height};
        if (high.y > box.high.y) return;
        ImGui::SetCursorScreenPos(low);
        ImGui::PushID(at);
        if (invisible_button("distribution", {width, height}))
            out.push_back(view::SelectTensor{each.name});
        tooltip(frame, each.name, "Click to select this array.");
        ImGui::PopID();
        if (each.selected) frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
        const float pad = frame.px(kSpace4);
        draw_fitted(frame, frame.fonts.small, {low.x + pad, low.y}, {high.x - pad, low.y + row},
                    Align::left, each.selected ? frame.theme.text : frame.theme.muted, each.name);
        if (!each.bins.empty())
            draw_bins(each.bins, {{low.x + pad, low.y + row}, {high.x - pad, high.y - pad}}, frame);
    }
}

/// The picture as large as it has room, a tall one wider by half or twice; its colours beneath it.
void draw_picture(const TensorDetail& detail, const Box& box, const Frame& frame) {
    const float legend = frame.px(18);
    const float space = std::max(box.size().y - legend - frame.px(6), 1.0F);
    const float aspect = std::max(detail.aspect, 0.01F) / within(detail.aspect, 1.0F, 2.0F);
    const float width = std::min(box.size().x, space / aspect);
    const float height = std::min(std::max(width * aspect, frame.px(4)), space);
    frame.painter.image(detail.picture, box.low, {box.low.x + width, box.low.y + height});
    const float y = box.low.y + height + frame.px(6);
    const float ends = frame.px(64);
    draw_text_in(frame, frame.fonts.digits_small, {box.low.x, y}, {box.low.x + ends, y + legend},
                 Align::right, frame.theme.muted, detail.low);
    const float left = box.low.x + ends + frame.px(6);
    const float right = std::min(left + frame.px(140), box.high.x - ends);
    if (right > left)
        frame.painter.gradient({left, y + frame.px(4)}, {right, y + legend - frame.px(4)},
                               detail.colors);
    draw_text_in(frame, frame.fonts.digits_small, {right + frame.px(6), y},
                 {box.high.x, y + legend}, Align::left, frame.theme.muted, detail.high);
}

/// Its last two axes as a picture.
void draw_map(const TensorDetail& detail, const Box& box, const Frame& frame) {
    if (detail.colors.empty() || box.size().y < frame.px(80)) return;
    const bool is_low = box.size().y < frame.px(kLowMap);
    const float top = box.low.y + frame.px(is_low ? 0.0F : 18.0F);
    if (!is_low)
        draw_fitted(frame, frame.fonts.small, box.low, {box.high.x, top}, Align::left,
                    frame.theme.muted, detail.caption);
    const Box rest{{box.low.x, top}, {box.high.x, box.high.y - frame.px(is_low ? 0.0F : 8.0F)}};
    if (detail.grid)
        draw_grid_set({&*detail.grid, 1}, rest.low, rest.high, frame);
    else
        draw_picture(detail, rest, frame);
}

/// What it is, and how its numbers lie, with the picture beneath it or not; returns where that ends.
float draw_about(const TensorsView& view, bool beneath, const Box& box, const Frame& frame,
                 view::Actions& out) {
    const TensorDetail& detail = *view.detail;
    wrapped_text(frame, frame.fonts.title, frame.theme.text, detail.title);
    wrapped_text(frame, frame.fonts.body, frame.theme.muted, detail.shape);
    for (const std::string& line : detail.lines)
        wrapped_text(frame, frame.fonts.body, frame.theme.text, line);
    wrapped_text(frame, frame.fonts.body, frame.theme.muted, detail.pending);
    if (!detail.role_names.empty()) {
        const auto at = static_cast<std::size_t>(detail.role);
        if (const auto n =
                combo(frame, "##role",
                      {detail.role_names, detail.role,
                       "read " + (at == 0 ? "as its name says" : "as " + detail.role_names[at])},
                      std::min(frame.px(kRoles), box.size().x),
                      {"Role of the array", "“Apply” opens the file with it"}, out))
            out.push_back(view::SetTensorRole{detail.title, detail.role_keys[*n]});
    }
    float top = ImGui::GetCursorScreenPos().y + frame.px(6);
    const float left = box.high.y - top - frame.px(kSpace8);
    const float ends = frame.px(beneath ? 0.0F : kSmallRow);  // min and max under the bins
    const float bins = detail.bins.empty() || beneath
                           ? frame.px(kBins)
                           : within(left - ends - distributions_height(view, box.size().x, frame),
                                    frame.px(kBins), frame.px(kMostBins));
    if (!detail.bins.empty() && top + bins < box.high.y) {
        draw_text_in(frame, frame.fonts.small, {box.low.x, top}, {box.high.x, top + frame.px(16)},
                     Align::left, frame.theme.muted,
                     frame.text_width(frame.fonts.small, kBinsTooltip) <= box.size().x
                         ? kBinsTooltip
                         : "distribution");
        draw_bins(detail.bins, {{box.low.x, top + frame.px(18)}, {box.high.x, top + bins}}, frame);
        if (ends > 0.0F)
            for (const Align side : {Align::left, Align::right})
                draw_text_in(frame, frame.fonts.digits_small, {box.low.x, top + bins},
                             {box.high.x, top + bins + ends}, side, frame.theme.muted,
                             side == Align::left ? detail.least : detail.most);
        top += bins + ends + frame.px(8);
    }
    if (!beneath && view.distributions.size() > 1)
        draw_distributions(view, {{box.low.x, top + frame.px(kSpace8)}, box.high}, frame, out);
    return top;
}

/// What a narrow matrix leaves empty of the width it may have, for what stands beside it.
float left_by_grid(const TensorDetail& detail, const Box& box, const Frame& frame) {
    if (!detail.grid) return 0.0F;
    const GridPlace place = place_grids({&*detail.grid, 1}, box.low, box.high, frame)[0];
    const float cells = place.cell.x * static_cast<float>(detail.grid->columns);
    const float after = grid_margins(*detail.grid, frame, place.cell).right;
    return std::max(box.high.x - place.origin.x - cells - after, 0.0F);
}

/// The picture beneath or, where there is the width, beside what is said of it.
void draw_detail(const TensorsView& view, const Box& box, const Frame& frame, view::Actions& out) {
    if (!view.detail) return;
    const TensorDetail& detail = *view.detail;
    const bool beside = box.size().x >= std::min(frame.px(kBeside), kWide * box.size().y);
    float about = within(kAboutShare * box.size().x, frame.px(kLeastAbout), frame.px(kAbout));
    const float gap = frame.px(kSpace24);
    const Box whole{{box.low.x + about + gap, box.low.y}, box.high};
    about +=
        std::min(left_by_grid(detail, whole, frame), std::max(kHalf * box.size().x - about, 0.0F));
    const float split = beside ? box.low.x + about : box.high.x;
    float top = box.low.y;
    panel("about", {box.low, {split, box.high.y}}, [&] {
        top = draw_about(view, !beside, {box.low, {split, box.high.y}}, frame, out);
    });
    if (beside) return draw_map(detail, {{split + gap, box.low.y}, box.high}, frame);
    draw_map(detail, {{box.low.x, top}, box.high}, frame);
}

/// What the file leaves open, and a button for each answer with what it means.
float draw_question(const TensorsView& view, const Box& box, const Frame& frame,
                    view::Actions& out) {
    if (view.question.empty()) return box.low.y;
    const float row = frame.px(kRow) + frame.px(6);
    float widest = 0.0F;
    for (const auto& answer : view.answers)
        widest = std::max(widest, button_width(frame, answer.title));
    float top = box.low.y + frame.px(kSpace12) / 2;
    panel("question", {{box.low.x, top}, {box.high.x, top + row}},
          [&] { wrapped_text(frame, frame.fonts.title, frame.theme.text, view.question); });
    top += row;
    const float height = row * static_cast<float>(view.answers.size());
    panel("answers", {{box.low.x, top}, {box.high.x, top + height}}, [&] {
        for (std::size_t n = 0; n < view.answers.size(); ++n) {
            const auto& answer = view.answers[n];
            const float y = top + row * static_cast<float>(n);
            ImGui::SetCursorScreenPos({box.low.x, y});
            if (button(frame, answer.title.c_str(), answer.title, {answer.meaning, answer.tip}))
                out.push_back(answer.action);
            const float left = box.low.x + widest + frame.px(kSpace12);
            draw_text_in(frame, frame.fonts.body, {left, y}, {box.high.x, y + frame.px(kRow)},
                         Align::left, frame.theme.muted,
                         fit_text(frame, frame.fonts.body, answer.meaning, box.high.x - left));
        }
    });
    return top + height;
}

/// The question that is open, and the table.
void draw_list(const TensorsView& view, const view::AppState& state, const Box& box,
               const Frame& frame, view::Actions& out) {
    const float top = draw_question(view, box, frame, out);
    if (!view.empty.empty()) {
        ImGui::SetCursorScreenPos({box.low.x, top});
        return wrapped_text(frame, frame.fonts.title, frame.theme.muted, view.empty);
    }
    const float head = top + frame.px(kRow);
    const float right = box.high.x - ImGui::GetStyle().ScrollbarSize;
    const Columns columns = columns_in(view, box.low.x, right, frame);
    draw_heads_row(view, columns, {{box.low.x, top}, {box.high.x, head}}, frame, out);
    panel("rows", {{box.low.x, head + frame.px(2)}, box.high},
          [&] { draw_lines(view, columns, state, frame, out); });
}

}  // namespace

std::string draw_tensors_workspace(const view::AppState& state, const WorkArea& r,
                                   const Frame& frame, view::Actions& out) {
    const TensorsView view = build_tensors_view(state);
    CanvasPart list{"tensors", "tensors",
                    [&](const Box& box) { draw_list(view, state, box, frame, out); },
                    CanvasPart::Where::left, kList};
    const float rows = frame.px(kRow) * static_cast<float>(view.lines.size() + 2);
    if (view.question.empty() && rows <= kFew * r.work.size().y) {
        list.where = CanvasPart::Where::below;
        list.size = [rows](ImVec2) { return rows; };
    }
    Parts parts{.heading = {view.point, view.unused},
                .controls = [&](ControlBar& bar) { draw_bar(view, bar); },
                .status = view::computed_text(state)};
    if (!view.reason.empty()) {
        parts.heading = {view.reason, view.point, {view.unused}};
        parts.heading.warns = true;
    }
    if (view.detail) {
        parts.hero = {"detail", view.detail->title,
                      [&](const Box& box) { draw_detail(view, box, frame, out); }};
        parts.others = {list};
    } else {
        parts.hero = list;
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kTensorsPanel{"tensors", draw_tensors_workspace};

}  // namespace attn::ui
