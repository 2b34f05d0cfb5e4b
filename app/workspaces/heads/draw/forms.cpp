#include <fmt/format.h>

#include "app/common/draw/draw.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kLargestPitch = 96.0F, kThin = 0.75F, kThick = 6.0F, kThickest = 10.0F,
                kLargeText = 44.0F, kChipGap = 6.0F, kWidestCell = 64.0F;
constexpr float kWidestWord = 110.0F, kWordRow = 34.0F, kMostBetween = 420.0F, kLargeWord = 84.0F,
                kSmallWord = 48.0F;
constexpr double kFaint = 0.18;  // opacity of the weakest line
constexpr double kAside = 0.12;  // of lines of other queries than the pointed one

/// Two columns of words with room for lines between them.
struct Columns {
    float left = 0.0F, right = 0.0F;  // where the words end and begin
    float top = 0.0F, pitch = 1.0F;
    float y(Index n) const { return top + pitch * (static_cast<float>(n) + 0.5F); }
};

const Font& font_at(float pitch, const Frame& frame) {
    if (pitch >= frame.px(kLargeText)) return frame.fonts.title;
    return pitch >= frame.fonts.body.px ? frame.fonts.body : frame.fonts.small;
}

float widest(const std::vector<std::string>& items, float pitch, const Frame& frame) {
    float most = 0.0F;
    for (const std::string& word : items)
        most = std::max(most, frame.text_width(font_at(pitch, frame), word));
    return most;
}

Columns columns_of(const HeadLinesView& view, const Box& box, const Frame& frame) {
    const auto count =
        static_cast<float>(std::max<std::size_t>({view.queries.size(), view.keys.size(), 1}));
    const float most = box.size().x * 0.3F;
    const float gap = frame.px(8);
    Columns at;
    at.pitch = std::min(box.size().y / count, frame.px(kLargestPitch));
    at.top = box.low.y;
    at.left = box.low.x + std::min(widest(view.queries, at.pitch, frame), most) + gap;
    at.right = box.high.x - std::min(widest(view.keys, at.pitch, frame), most) - gap;
    at.right = std::min(at.right, at.left + std::max(1.25F * box.size().y, frame.px(240)));
    return at;
}

/// Every word, or every n-th where they are taller than their pitch; the chosen one always.
void draw_column(const std::vector<std::string>& items, Index chosen, const Columns& at,
                 const Box& space, Role role, const Frame& frame) {
    const bool left = role == Role::query;
    const Font& font = font_at(at.pitch, frame);
    const auto step =
        std::max<Index>(static_cast<Index>(std::ceil(font.px / std::max(at.pitch, 1.0F))), 1);
    const float gap = frame.px(6);
    for (Index n = 0; n < std::ssize(items); ++n) {
        const bool near = std::abs(n - chosen) < step && n != chosen;
        if (n != chosen && (n % step != 0 || near)) continue;
        const Point low{left ? space.low.x : at.right + gap, at.y(n) - font.px / 2};
        const Point high{left ? at.left - gap : space.high.x, at.y(n) + font.px / 2};
        draw_fitted(frame, font, low, high, left ? Align::right : Align::left,
                    n == chosen ? frame.theme.role(role) : frame.theme.muted, items[n]);
    }
}

void draw_lines_between(const HeadLinesView& view, const Columns& at, std::optional<Index> pointed,
                        std::optional<Index> pointed_key, const Frame& frame) {
    const auto rows = static_cast<float>(std::max(view.queries.size(), view.keys.size()));
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, {at.left, at.top},
                          {at.right, at.top + at.pitch * rows});
    const float thick = within(at.pitch / 7.0F, frame.px(kThick), frame.px(kThickest));
    for (const HeadLine& line : view.lines) {
        const bool other =
            (pointed && *pointed != line.query) || (pointed_key && *pointed_key != line.key);
        const double aside = other ? kAside : 1.0;
        const double seen = (kFaint + (1.0 - kFaint) * line.strength) * aside;
        frame.painter.line({at.left, at.y(line.query)}, {at.right, at.y(line.key)},
                           view::translucent(line.color, seen),
                           frame.px(kThin) + thick * line.strength);
    }
}

/// The word under the pointer in one of the columns.
std::optional<Index> word_at(const char* id, const Columns& at, float low, float high,
                             std::size_t count) {
    const float height = at.pitch * static_cast<float>(count);
    ImGui::SetCursorScreenPos({low, at.top});
    invisible_button(id, {std::max(high - low, 1.0F), std::max(height, 1.0F)});
    if (!ImGui::IsItemHovered()) return std::nullopt;
    const auto n = static_cast<Index>((ImGui::GetMousePos().y - at.top) / at.pitch);
    return within<Index>(n, 0, static_cast<Index>(count) - 1);
}

/// The names of heads that stand over each other, each in its colour, from the right.
void draw_names(const HeadLinesView& view, const Box& box, const Frame& frame) {
    const Font& font = frame.fonts.small;
    float right = box.high.x;
    for (auto each = view.heads.rbegin(); each != view.heads.rend(); ++each) {
        const float left = right - frame.text_width(font, each->first);
        draw_text_in(frame, font, {left, box.low.y}, {right, box.low.y + frame.px(kTitleRow)},
                     Align::left, each->second, each->first);
        right = left - frame.px(kSpace12);
    }
}

/// The cell of the pointed token: its own row, or of a key −1 and its column.
std::optional<large::Cell> draw_one_lines(const HeadLinesView& view,
                                          std::optional<large::Cell> pointed, const Box& box,
                                          const Frame& frame, Actions& out) {
    const Box space = draw_description(view.title, view.legend, box, frame);
    draw_names(view, box, frame);
    const Columns at = columns_of(view, space, frame);
    std::optional<Index> query, key;
    if (pointed)
        (pointed->row < 0 ? key : query) = pointed->row < 0 ? pointed->column : pointed->row;
    draw_lines_between(view, at, query, key, frame);
    draw_column(view.queries, query.value_or(view.query), at, space, Role::query, frame);
    draw_column(view.keys, key.value_or(view.key), at, space, Role::key, frame);
    const auto on_query = word_at("queries", at, space.low.x, at.left, view.queries.size());
    const bool clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    if (on_query) tooltip(frame, "Query", "Only its lines are drawn. Click to select it");
    if (on_query && clicked) out.push_back(SelectHeadsPair{*on_query, view.key});
    const auto on_key = word_at("keys", at, at.right, space.high.x, view.keys.size());
    if (on_key) tooltip(frame, "Key", "Only its lines are drawn. Click to select it");
    if (on_key && clicked) out.push_back(SelectHeadsPair{view.query, *on_key});
    if (on_query) return large::Cell{*on_query, view.key};
    return on_key ? std::optional(large::Cell{-1, *on_key}) : std::nullopt;
}

// ---- an alignment

/// Two rows of words, and the lines between them.
struct Rows {
    std::vector<Box> source, target;  // of each word
    float top = 0.0F, bottom = 0.0F;  // where the lines begin and end
};

/// Words in the middle of the width, no wider than kWidestWord. `most`: of the longer row; both have its pitch.
std::vector<Box> word_boxes(std::size_t count, std::size_t most, const Box& box, float top,
                            const Frame& frame) {
    const float pitch = std::min(box.size().x / static_cast<float>(std::max<std::size_t>(most, 1)),
                                 frame.px(kWidestWord));
    const float left = box.low.x + (box.size().x - pitch * static_cast<float>(count)) / 2;
    std::vector<Box> boxes;
    for (std::size_t n = 0; n < count; ++n) {
        const float x = left + pitch * static_cast<float>(n);
        boxes.push_back({{x, top}, {x + pitch, top + frame.px(kWordRow)}});
    }
    return boxes;
}

Rows rows_of(const HeadLinesView& view, const Box& box, const Frame& frame) {
    const float row = frame.px(kWordRow);
    const float between =
        within(box.size().y - 2 * (row + frame.px(kTextRow)), row, frame.px(kMostBetween));
    const float low = box.low.y + frame.px(kTextRow);
    Rows rows;
    rows.top = low + row;
    rows.bottom = rows.top + between;
    const std::size_t most = std::max(view.keys.size(), view.queries.size());
    rows.source = word_boxes(view.keys.size(), most, box, low, frame);
    rows.target = word_boxes(view.queries.size(), most, box, rows.bottom, frame);
    return rows;
}

float middle_of(const Box& box) { return (box.low.x + box.high.x) / 2; }

void draw_alignment_lines(const HeadLinesView& view, const Rows& rows, std::optional<Index> query,
                          std::optional<Index> key, const Frame& frame) {
    constexpr int kPieces = 24;
    for (const HeadLine& line : view.lines) {
        const bool other = (query && *query != line.query) || (key && *key != line.key);
        const double seen =
            (kFaint + (1.0 - kFaint) * line.strength) * (other ? kAside : 1.0) * line.strength;
        const float from = middle_of(rows.target[line.query]);
        const float to = middle_of(rows.source[line.key]);
        std::vector<Point> points;
        for (int n = 0; n <= kPieces; ++n) {
            const float t = static_cast<float>(n) / kPieces;
            const float ease = t * t * (3.0F - 2.0F * t);
            points.push_back(
                {from + (to - from) * ease, rows.bottom + (rows.top - rows.bottom) * t});
        }
        frame.painter.polyline(points, view::translucent(line.color, seen),
                               frame.px(kThin) + frame.px(kThickest) * line.strength);
    }
}

/// One row of words with its name above or below; the word under the pointer, and whether it was clicked.
std::optional<Index> draw_row(const std::vector<std::string>& texts, const std::vector<Box>& boxes,
                              std::optional<Index> chosen, Role role, const Frame& frame) {
    std::optional<Index> hovered;
    ImGui::PushID(role == Role::key ? "source" : "target");
    for (std::size_t n = 0; n < texts.size(); ++n) {
        const Box& box = boxes[n];
        ImGui::PushID(static_cast<int>(n));
        ImGui::SetCursorScreenPos(box.low);
        invisible_button("word", box.size());
        if (ImGui::IsItemHovered()) hovered = static_cast<Index>(n);
        ImGui::PopID();
        const bool is_chosen = chosen && *chosen == static_cast<Index>(n);
        const Font& font = box.size().x >= frame.px(kLargeWord)   ? frame.fonts.title
                           : box.size().x >= frame.px(kSmallWord) ? frame.fonts.body
                                                                  : frame.fonts.small;
        if (is_chosen)
            frame.painter.outline({box.low.x + frame.px(2), box.low.y},
                                  {box.high.x - frame.px(2), box.high.y}, frame.theme.role(role),
                                  frame.px(1.5F), frame.px(4));
        draw_text_in(frame, font, box.low, box.high, Align::center,
                     is_chosen ? frame.theme.role(role) : frame.theme.text,
                     fit_text(frame, font, texts[n], box.size().x - frame.px(6)));
    }
    ImGui::PopID();
    return hovered;
}

void draw_chip(const HeadChip& chip, const Box& at, const Frame& frame) {
    const float radius = frame.px(4);
    const bool plain = chip.look == HeadChipLook::plain;
    frame.painter.rect(at.low, at.high, plain ? frame.theme.raised : chip.fill, radius);
    frame.painter.outline(at.low, at.high, frame.theme.line, frame.px(1), radius);
    draw_text_in(frame, frame.fonts.body, at.low, at.high, Align::center,
                 plain ? frame.theme.text : chip.ink,
                 fit_text(frame, frame.fonts.body, chip.text, at.size().x - frame.px(4)));
    if (chip.look == HeadChipLook::masked) {
        const float y = (at.low.y + at.high.y) / 2;
        frame.painter.line({at.low.x + frame.px(2), y}, {at.high.x - frame.px(2), y}, chip.ink,
                           frame.px(1));
    }
    if (chip.is_key) frame.painter.outline(at.low, at.high, frame.theme.key, frame.px(2), radius);
    if (chip.is_query)
        frame.painter.outline(at.low, at.high, frame.theme.query, frame.px(2), radius);
}

/// Running text from `top` on; the chip that was clicked, and where the text ends.
std::pair<std::optional<Index>, float> draw_chips(const std::vector<HeadChip>& chips,
                                                  const char* id, const Box& box, float top,
                                                  const Frame& frame) {
    std::optional<Index> clicked;
    Point at{box.low.x, top};
    ImGui::PushID(id);
    for (std::size_t n = 0; n < chips.size(); ++n) {
        const float wanted =
            frame.text_width(frame.fonts.body, chips[n].text) + 2 * frame.px(kSpace8);
        const float width = std::min(wanted, box.size().x);
        if (at.x > box.low.x && at.x + width > box.high.x)
            at = {box.low.x, at.y + frame.px(kChipRow + kChipGap)};
        const Box place{{at.x, at.y}, {at.x + width, at.y + frame.px(kChipRow)}};
        ImGui::PushID(static_cast<int>(n));
        ImGui::SetCursorScreenPos(place.low);
        if (invisible_button("chip", place.size())) clicked = static_cast<Index>(n);
        tooltip(frame, chips[n].text, chips[n].tooltip);
        ImGui::PopID();
        draw_chip(chips[n], place, frame);
        at.x += width + frame.px(kChipGap);
    }
    ImGui::PopID();
    return {clicked, at.y + frame.px(kChipRow)};
}

void draw_one_text(const HeadTextView& view, large::Cell pair, const Box& box, const Frame& frame,
                   Actions& out) {
    const Box space = draw_description(view.title, view.legend, box, frame);
    float top = space.low.y;
    const bool same = view.queries.empty();
    if (!same) {
        const auto [query, bottom] = draw_chips(view.queries, "queries", space, top, frame);
        if (query) out.push_back(SelectHeadsPair{*query, pair.column});
        top = bottom + frame.px(kSpace24);
    }
    const auto key = draw_chips(view.keys, "keys", space, top, frame).first;
    if (key)
        out.push_back(same ? SelectHeadsPair{*key, pair.column} : SelectHeadsPair{pair.row, *key});
}

ImVec2 cell_in(const GridView& grid, const Box& space, const Frame& frame, GridMargins& around) {
    ImVec2 cell{frame.px(kWidestCell), frame.px(kWidestCell)};
    for (int pass = 0; pass < 4; ++pass) {  // what stands around depends a little on the cell
        around = grid_margins(grid, frame, cell);
        cell.x = within((space.size().x - around.left - around.right) /
                            static_cast<float>(std::max<Index>(grid.columns, 1)),
                        1.0F, frame.px(kWidestCell));
        cell.y = within((space.size().y - around.top - around.bottom) /
                            static_cast<float>(std::max<Index>(grid.rows, 1)),
                        1.0F, std::min(frame.px(kWidestCell), 4 * cell.x));
    }
    return cell;
}

}  // namespace

Box draw_description(const std::string& title, const std::vector<std::string>& legend,
                     const Box& box, const Frame& frame) {
    const Font& strong = frame.fonts.strong;
    draw_fitted(frame, strong, box.low, {box.high.x, box.low.y + frame.px(kTitleRow)}, Align::left,
                frame.theme.text, title);
    const float bottom = box.high.y - frame.px(kSmallRow) * static_cast<float>(legend.size());
    float y = bottom;
    for (const std::string& line : legend) {
        draw_fitted(frame, frame.fonts.small, {box.low.x, y}, {box.high.x, y + frame.px(kSmallRow)},
                    Align::left, frame.theme.muted, line);
        y += frame.px(kSmallRow);
    }
    return {{box.low.x, box.low.y + frame.px(kTitleRow + 6)}, {box.high.x, bottom - frame.px(8)}};
}

Box part_of(const Box& box, std::size_t n, std::size_t count, const Frame& frame) {
    const float gap = frame.px(kSpace24);
    const float width = (box.size().x - gap * static_cast<float>(count - 1)) /
                        static_cast<float>(std::max<std::size_t>(count, 1));
    const float left = box.low.x + (width + gap) * static_cast<float>(n);
    return {{left, box.low.y}, {left + width, box.high.y}};
}

void draw_head_lines(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    std::optional<large::Cell> now;
    for (std::size_t n = 0; n < view.lines.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        const Box part = part_of(box, n, view.lines.size(), frame);
        if (const auto cell = draw_one_lines(view.lines[n], view.hovered_pair, part, frame, out))
            now = cell;
        ImGui::PopID();
    }
    if (now != view.hovered_pair) out.push_back(HoverHeadsPair{now});
}

void draw_head_alignment(const AllHeadsView& view, const Box& box, const Frame& frame,
                         Actions& out) {
    const HeadAlignmentView& now = *view.alignment;
    const HeadLinesView& lines = now.lines;
    const Box space = draw_description(lines.title, lines.legend, box, frame);
    draw_names(lines, box, frame);
    const Rows rows = rows_of(lines, space, frame);
    std::optional<Index> query, key;
    if (view.hovered_pair && view.hovered_pair->row < 0) {
        const auto found = std::ranges::find(now.parts.keys, view.hovered_pair->column);
        if (found != now.parts.keys.end()) key = found - now.parts.keys.begin();
    } else if (view.hovered_pair) {
        const auto found = std::ranges::find(now.parts.queries, view.hovered_pair->row);
        if (found != now.parts.queries.end()) query = found - now.parts.queries.begin();
    }
    draw_alignment_lines(lines, rows, query, key, frame);
    record_rect_for_tests(frame.painter, Measuring::Kind::chart, {space.low.x, rows.top},
                          {space.high.x, rows.bottom});
    const float row = frame.px(kTextRow);
    draw_fitted(frame, frame.fonts.small, {space.low.x, rows.source.front().low.y - row},
                {space.high.x, rows.source.front().low.y}, Align::left, frame.theme.muted,
                "source: keys");
    draw_fitted(frame, frame.fonts.small, {space.low.x, rows.target.front().high.y},
                {space.high.x, rows.target.front().high.y + row}, Align::left, frame.theme.muted,
                "target: queries");
    const auto on_key = draw_row(lines.keys, rows.source, key ? key : now.key, Role::key, frame);
    const auto on_query =
        draw_row(lines.queries, rows.target, query ? query : now.query, Role::query, frame);
    const bool clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    if (on_key) tooltip(frame, "Source word", "Only its lines are drawn. Click to select it");
    if (on_query) tooltip(frame, "Target word", "Only its lines are drawn. Click to select it");
    std::optional<large::Cell> hovered;
    if (on_query) hovered = large::Cell{now.parts.queries[*on_query], view.pair.column};
    if (on_key) hovered = large::Cell{-1, now.parts.keys[*on_key]};
    if (on_query && clicked)
        out.push_back(SelectHeadsPair{now.parts.queries[*on_query], view.pair.column});
    if (on_key && clicked) out.push_back(SelectHeadsPair{view.pair.row, now.parts.keys[*on_key]});
    if (hovered != view.hovered_pair) out.push_back(HoverHeadsPair{hovered});
}

void draw_head_texts(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    for (std::size_t n = 0; n < view.texts.size(); ++n) {
        ImGui::PushID(static_cast<int>(n));
        draw_one_text(view.texts[n], view.pair, part_of(box, n, view.texts.size(), frame), frame,
                      out);
        ImGui::PopID();
    }
}

void draw_head_dimensions(const AllHeadsView& view, const Box& box, const Frame& frame,
                          Actions& out) {
    const GridView& grid = *view.dimensions->grid;
    const Box space = draw_description("", view.dimensions->legend, box, frame);
    GridMargins around;
    const ImVec2 cell = cell_in(grid, space, frame, around);
    const GridPlace place{
        {std::round(space.low.x + around.left), std::round(space.low.y + around.top)}, cell};
    const GridResult done = draw_grid(grid, {}, place, frame);
    if (done.clicked) out.push_back(SelectHeadsPair{view.pair.row, done.clicked->row});
    std::optional<large::Cell> now;
    if (done.hovered) now = large::Cell{view.pair.row, done.hovered->row};
    if (now != view.hovered_pair) out.push_back(HoverHeadsPair{now});
}

void draw_head_maps(const AllHeadsView& view, const MapLook& look, const Box& box,
                    const Frame& frame, Actions& out) {
    const MapsPointed done = draw_maps(view.maps, look, box, frame, out);
    if (done.clicked) out.push_back(SelectHeadsPair{done.clicked->row, done.clicked->column});
}

void draw_head_grids(const AllHeadsView& view, const Box& box, const Frame& frame, Actions& out) {
    const GridResult done = draw_grid_set(view.grids, box.low, box.high, frame, view.hovered_pair);
    if (done.clicked) out.push_back(SelectHeadsPair{done.clicked->row, done.clicked->column});
    if (const auto hovered = place_of(done.hovered); hovered != view.hovered_pair)
        out.push_back(HoverHeadsPair{hovered});
}

}  // namespace attn::ui
