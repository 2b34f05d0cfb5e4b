#include "app/common/draw/inspector.h"

#include "app/common/actions.h"
#include "app/common/colormap.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/math.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/common/text.h"

namespace attn::ui {
namespace {

using view::Line;

constexpr float kInspectorValue = 28.0F;  // design units: the number that is explained
constexpr float kWidestLabel = 0.34F;     // of a line that begins with its label

Color color_of(const Piece& piece, const Theme& theme) {
    if (piece.role) return theme.role(*piece.role);
    return piece.muted ? theme.muted : theme.text;
}

/// Of a piece or a cell of the table.
template <class Linked>
bool is_link(const Linked& linked) {
    return linked.link || !linked.on_click.empty();
}
template <class Linked>
void push_click(const Linked& linked, Actions& out) {
    if (linked.link) out.push_back(SelectCell{*linked.link});
    out.insert(out.end(), linked.on_click.begin(), linked.on_click.end());
}

/// A linked number: underlined while the pointer is on it; a link to another matrix, always.
void link(const Piece& piece, const Frame& frame, std::optional<CellRef>& hovered, Actions& out) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    if (link_pressed_by_key(frame, low, high)) push_click(piece, out);
    const bool over = ImGui::IsItemHovered();
    if (over || !piece.on_click.empty())
        frame.painter.line({low.x, high.y}, high, over ? frame.theme.accent : frame.theme.muted,
                           frame.px(1));
    if (!over) return;
    if (piece.link) hovered = *piece.link;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) push_click(piece, out);
}

/// A part of a piece that stands on one line.
struct Fragment {
    const Piece& piece;
    std::string text;
};
/// What no line break may cut: "(−0.45)", "exp(2.43 − 3.25)", " + 0.30·0.54".
using Token = std::vector<Fragment>;

bool is_operator(const std::string& word) {
    constexpr std::array<std::string_view, 6> kMarks{"+", "−", "=", "÷", "·", "×"};
    return std::ranges::count(kMarks, word) > 0;
}

/// Where lines may break: before a space outside of parentheses, but not after an operator, so that
/// "+" and "−" begin lines; within parentheses after a comma.
class Breaker {
  public:
    bool breaks_before(char c) {
        const bool breaks =
            c == ' ' ? depth_ == 0 && !is_operator(word_) : depth_ > 0 && after_comma_;
        after_comma_ = c == ' ' && word_.ends_with(',');
        if (c == '(') ++depth_;
        if (c == ')') --depth_;
        c == ' ' ? word_.clear() : word_.push_back(c);
        return breaks;
    }

  private:
    int depth_ = 0;
    bool after_comma_ = false;
    std::string word_;  // since the last space
};

std::vector<Token> tokens_of(const std::vector<Piece>& pieces) {
    std::vector<Token> tokens(1);
    Breaker breaker;
    for (const Piece& piece : pieces) {
        Fragment fragment{piece, ""};
        for (const char c : view::with_minus_signs(piece.text)) {
            if (breaker.breaks_before(c)) {
                if (!fragment.text.empty()) tokens.back().push_back(fragment);
                fragment.text.clear();
                if (!tokens.back().empty()) tokens.emplace_back();
            }
            fragment.text += c;
        }
        if (!fragment.text.empty()) tokens.back().push_back(fragment);
    }
    return tokens;
}

float width_of(const Token& token, const Font& font, const Frame& frame) {
    float width = 0.0F;
    for (const Fragment& fragment : token) width += frame.text_width(font, fragment.text);
    return width;
}

/// Tokens flow like words; one that is wider than the panel breaks between its parts, which numbers are.
void draw_pieces(const std::vector<Piece>& pieces, const Frame& frame,
                 std::optional<CellRef>& hovered, Actions& out) {
    const Font& font = frame.fonts.digits;
    bool starts_line = true;
    for (Token& token : tokens_of(pieces)) {
        if (token.empty()) continue;
        if (!starts_line) {
            ImGui::SameLine(0.0F, 0.0F);
            starts_line = ImGui::GetContentRegionAvail().x < width_of(token, font, frame);
            if (starts_line) ImGui::NewLine();
        }
        std::string& first = token.front().text;
        if (starts_line && first.starts_with(' ')) first.erase(0, 1);
        for (const Fragment& fragment : token) {
            if (fragment.text.empty()) continue;
            const float width = frame.text_width(font, fragment.text);
            if (!starts_line) ImGui::SameLine(0.0F, 0.0F);
            if (!starts_line && ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
            starts_line = false;
            const Color color = color_of(fragment.piece, frame.theme);
            width <= ImGui::GetContentRegionAvail().x
                ? put_text(frame, font, color, fragment.text)
                : wrapped_text(frame, font, color, fragment.text);
            if (is_link(fragment.piece)) link(fragment.piece, frame, hovered, out);
        }
    }
}

/// The room of the labels that stand before their lines; longer ones stand above.
float label_width(const std::vector<Line>& lines, float space, const Frame& frame) {
    float widest = 0.0F;
    for (const Line& line : lines) {
        const float width = frame.text_width(frame.fonts.small, line.label);
        if (width <= space * kWidestLabel) widest = std::max(widest, width);
    }
    return widest;
}

void draw_lines(const std::vector<Line>& lines, const Frame& frame, std::optional<CellRef>& hovered,
                Actions& out) {
    const float space = ImGui::GetContentRegionAvail().x;
    const float before = label_width(lines, space, frame);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, frame.px(2)});
    for (const Line& line : lines) {
        const float width = frame.text_width(frame.fonts.small, line.label);
        const bool beside = !line.label.empty() && !line.pieces.empty() && width <= before;
        wrapped_text(frame, frame.fonts.small, frame.theme.muted, line.label);
        if (beside) ImGui::SameLine(0.0F, before - width + frame.px(8));
        ImGui::BeginGroup();
        draw_pieces(line.pieces, frame, hovered, out);
        ImGui::EndGroup();
        leave_space({0.0F, frame.px(2)});
    }
    ImGui::PopStyleVar();
}

float copy_height(const Frame& frame) {
    return ImGui::GetFrameHeight() + frame.px(8) + ImGui::GetStyle().ItemSpacing.y;
}

void draw_copy_buttons(const Frame& frame, Actions& out) {
    ImGui::AlignTextToFramePadding();
    put_text(frame, frame.fonts.small, frame.theme.muted, "Copy as");
    ImGui::SameLine();
    if (button(frame, "copy text", "text", {"Copy the arithmetic as plain text", "Ctrl+C"}))
        out.push_back(CopyArithmetic{CopyAs::text});
    ImGui::SameLine();
    if (button(frame, "copy latex", "LaTeX", {"Copy the arithmetic as LaTeX", ""}))
        out.push_back(CopyArithmetic{CopyAs::latex});
    ImGui::SameLine();
    if (button(frame, "copy python", "Python", {"Copy the arithmetic as Python", "numpy"}))
        out.push_back(CopyArithmetic{CopyAs::python});
}

/// The inputs that the number is made from, each a link to the stage that shows it.
void draw_sources(const InspectorView& view, const Frame& frame, std::optional<CellRef>& hovered,
                  Actions& out) {
    if (view.sources.empty()) return;
    put_text(frame, frame.fonts.small, frame.theme.muted, "from");
    for (std::size_t n = 0; n < view.sources.size(); ++n) {
        const SourceLink& source = view.sources[n];
        const float width = frame.text_width(frame.fonts.digits, source.text);
        if (n > 0) ImGui::SameLine(0.0F, frame.px(12));
        if (n > 0 && ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
        put_text(frame, frame.fonts.digits, frame.theme.role(source.role), source.text);
        const ImVec2 low = ImGui::GetItemRectMin();
        const ImVec2 high = ImGui::GetItemRectMax();
        frame.painter.line({low.x, high.y}, high, frame.theme.muted, frame.px(1));
        const bool hover = ImGui::IsItemHovered();
        if (hover) hovered = source.cell;
        if (hover) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        const bool clicked = hover && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
        if (!link_pressed_by_key(frame, low, high) && !clicked) continue;
        out.push_back(GoToStage{source.stage});
        out.push_back(SelectCell{source.cell});
    }
    leave_space({0.0F, frame.px(4)});
}

void draw_loss_button(const CellRef& output, const Frame& frame, Actions& out) {
    const Tip tip{"L = this output", "Every gradient says how fast this one number grows."};
    if (button(frame, "gradient of this cell", "gradient of this cell", tip))
        out.push_back(SetLossCell{output});
}

/// Returns the symbol of the formula under the pointer.
std::optional<OperandId> draw_heading(const InspectorView& view, const Frame& frame) {
    std::optional<OperandId> pointed;
    wrapped_text(frame, frame.fonts.strong, frame.theme.role(view.role), view.title);
    wrapped_text(frame, frame.fonts.value, frame.theme.text, view.value);
    wrapped_text(frame, frame.fonts.small, frame.theme.muted, view.edit_hint);
    if (!view.tex.empty())
        pointed = formula_item(frame, view.tex, view.formula, kSmallFormula);
    else
        wrapped_text(frame, frame.fonts.digits, frame.theme.muted,
                     view::with_minus_signs(view.formula));
    leave_space({0.0F, frame.px(4)});
    return pointed;
}

// ---- the table

// Design units.
constexpr float kLeastLabel = 44.0F;    // or a spare column goes
constexpr float kInset = 6.0F;          // of the words within a shaded row
constexpr float kLeastRows = 6.0F;      // that are worth a scroll of their own
constexpr std::size_t kMostWhole = 16;  // rows that are never scrolled but with all around them
constexpr float kBar = 8.0F;            // height of a bar, in a column of its own after the numbers
constexpr float kBarColumn = 44.0F;

/// What stands left and right of the point, over all rows.
struct Column {
    float before = 0.0F;
    float after = 0.0F;
    float width = 0.0F;
};

/// Numbers without a point, and words, end where the column does.
std::size_t point_of(const std::string& text) { return text.find('.'); }

void widen(Column& column, const std::string& text, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const std::size_t point = point_of(text);
    column.width = std::max(column.width, frame.text_width(font, text));
    if (point == text.npos) return;
    column.before = std::max(column.before, frame.text_width(font, text.substr(0, point)));
    column.after = std::max(column.after, frame.text_width(font, text.substr(point)));
    column.width = std::max(column.width, column.before + column.after);
}

std::vector<Column> measure(const InspectorTable& table, const Frame& frame) {
    std::vector<Column> columns(table.columns.size());
    const auto add = [&](const TableRow& row) {
        for (std::size_t n = 0; n < columns.size(); ++n)
            widen(columns[n], row.cells[n].text, frame);
    };
    for (std::size_t n = 0; n < columns.size(); ++n)
        columns[n].width = frame.text_width(frame.fonts.small, table.columns[n].title);
    std::ranges::for_each(table.rows, add);
    if (table.total) add(*table.total);
    return columns;
}

/// A table at its place: the columns end at `right`.
struct Placed {
    const InspectorTable& table;
    const std::vector<Column>& columns;
    const Frame& frame;
    float left = 0.0F;
    float right = 0.0F;
    float bars = 0.0F;  // width of the bars, right of the columns

    float row() const { return frame.px(kTextRow); }
    /// Where column n begins.
    float start(std::size_t n) const {
        float x = right - bars - frame.px(kInset);
        for (std::size_t at = n; at < columns.size(); ++at) x -= columns[at].width;
        return x - frame.px(kSpace8) * static_cast<float>(columns.size() - 1 - n);
    }
};

/// Returns its place.
std::pair<Point, Point> draw_label(const Placed& at, float y, const std::string& label,
                                   Color color) {
    const float low = at.left + at.frame.px(kInset);
    const float space = at.start(0) - at.frame.px(kSpace8) - low;
    const Font& font = at.frame.fonts.small;
    std::string shown = label;
    for (std::size_t most = label.size(); most > view::kMostNamed; --most) {
        if (at.frame.text_width(font, shown) <= space) break;
        shown = middle_ellipsis(label, most - 1);
    }
    shown = fit_text(at.frame, font, shown, space);
    draw_text_in(at.frame, font, {low, y}, {low + space, y + at.row()}, Align::left, color, shown);
    return {{low, y}, {low + at.frame.text_width(font, shown), y + at.row()}};
}

/// Left of where the text begins, so that its point stands under the others'.
float text_start(const Column& column, float low, const std::string& text, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const std::size_t point = point_of(text);
    const float end = low + column.width;
    if (point == text.npos) return end - frame.text_width(font, text);
    return end - column.after - frame.text_width(font, text.substr(0, point));
}

/// A linked number: underlined while the pointer is on it, a click goes there.
void follow(const TableCell& cell, Point low, Point high, const Frame& frame,
            std::optional<CellRef>& hovered, Actions& out) {
    if (!is_link(cell) || !ImGui::IsWindowHovered()) return;
    if (!ImGui::IsMouseHoveringRect({low.x, low.y}, {high.x, high.y})) return;
    if (cell.link) hovered = *cell.link;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    const float line = high.y - frame.px(3);
    frame.painter.line({low.x, line}, {high.x, line}, frame.theme.accent, frame.px(1));
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) push_click(cell, out);
}

/// Of shares in their role's colour; what has a sign in the colours of signs.
Color bar_color(const InspectorTable& table, double bar, const Theme& theme) {
    if (table.columns.back().role == Role::weight) return theme.role(Role::weight);
    const ColorRange range{ColorScale::diverging, -1.0, 1.0};
    return view::color_of(range, bar < 0.0 ? -1.0 : 1.0, theme.name);
}

void draw_background(const Placed& at, float y, const TableRow& row) {
    const Theme& theme = at.frame.theme;
    const Point low{at.left, y};
    const Point high{at.right, y + at.row()};
    if (row.chosen) at.frame.painter.rect(low, high, theme.raised);
    if (row.bar != 0.0 && at.bars > 0.0F) {
        const auto share = static_cast<float>(std::min(std::abs(row.bar), 1.0));
        const float from = high.x - at.frame.px(kBarColumn);
        const float top = std::round((low.y + high.y - at.frame.px(kBar)) / 2);
        at.frame.painter.rect({from, top},
                              {from + at.frame.px(kBarColumn) * share, top + at.frame.px(kBar)},
                              bar_color(at.table, row.bar, theme));
    }
    if (row.chosen) at.frame.painter.rect(low, {low.x + at.frame.px(2), high.y}, theme.accent);
}

/// The name of a row whose first cell has actions: pressed like that cell.
void press_label(const Placed& at, float y, const TableRow& row, Actions& out) {
    if (row.cells.empty() || row.cells.front().on_click.empty() || !ImGui::IsWindowHovered())
        return;
    const ImVec2 low{at.left, y}, high{at.start(0), y + at.row()};
    if (!ImGui::IsMouseHoveringRect(low, high)) return;
    at.frame.painter.rect(low, {at.right, high.y}, at.frame.theme.raised);
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) push_click(row.cells.front(), out);
}

void draw_row(const Placed& at, float y, const TableRow& row, std::optional<CellRef>& hovered,
              Actions& out) {
    const Theme& theme = at.frame.theme;
    press_label(at, y, row, out);
    draw_background(at, y, row);
    const auto [from, to] = draw_label(at, y, row.label, row.muted ? theme.muted : theme.text);
    if (!row.cells.empty() && !row.cells.front().link)  // a click on the word is one on its numbers
        follow(row.cells.front(), from, to, at.frame, hovered, out);
    for (std::size_t n = 0; n < row.cells.size(); ++n) {
        const TableCell& cell = row.cells[n];
        if (cell.text.empty()) continue;
        const float low = at.start(n);
        const float x = text_start(at.columns[n], low, cell.text, at.frame);
        const Color color = row.muted   ? theme.muted
                            : cell.role ? theme.role(*cell.role)
                                        : theme.text;
        const Font& font = at.frame.fonts.digits_small;
        const float width = at.frame.text_width(font, cell.text);
        draw_text_in(at.frame, font, {x, y}, {x + width, y + at.row()}, Align::left, color,
                     cell.text);
        follow(cell, {x, y}, {x + width, y + at.row()}, at.frame, hovered, out);
    }
}

void draw_header(const Placed& at, float y) {
    const Theme& theme = at.frame.theme;
    draw_label(at, y, at.table.label, theme.muted);
    for (std::size_t n = 0; n < at.columns.size(); ++n) {
        const TableColumn& column = at.table.columns[n];
        const float low = at.start(n);
        draw_text_in(at.frame, at.frame.fonts.small, {low, y},
                     {low + at.columns[n].width, y + at.row()}, Align::right,
                     column.role ? theme.role(*column.role) : theme.muted, column.title);
    }
    at.frame.painter.line({at.left, y + at.row()}, {at.right, y + at.row()}, theme.line,
                          at.frame.px(1));
}

/// Scrolls once to a row that was just chosen, and not again: the wheel is the person's.
void keep_chosen_in_sight(const InspectorTable& table, float row, float height) {
    const auto chosen = std::ranges::find_if(table.rows, &TableRow::chosen);
    if (chosen == table.rows.end()) return;
    const auto n = static_cast<int>(chosen - table.rows.begin());
    int* const seen = ImGui::GetStateStorage()->GetIntRef(ImGui::GetID("chosen row"), -1);
    if (*seen == n) return;
    *seen = n;
    const float top = static_cast<float>(n) * row;
    const float scroll = ImGui::GetScrollY();
    if (top >= scroll && top + row <= scroll + height) return;
    ImGui::SetScrollY(std::max(0.0F, top - (height - row) / 2));
}

void draw_rows(const Placed& at, std::optional<CellRef>& hovered, Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float height = at.row() * static_cast<float>(at.table.rows.size());
    for (std::size_t n = 0; n < at.table.rows.size(); ++n) {
        const float y = low.y + at.row() * static_cast<float>(n);
        if (ImGui::IsRectVisible({at.left, y}, {at.right, y + at.row()}))
            draw_row(at, y, at.table.rows[n], hovered, out);
    }
    leave_space({at.right - at.left, height});
}

/// What the rows get: all that they need, or what is left for them to scroll in.
struct Shares {
    float rows = 0.0F;
    bool scrolls = false;
};
Shares share_out(const InspectorTable& table, float below, const Frame& frame) {
    const float row = frame.px(kTextRow);
    const float around = row * (table.total ? 2.0F : 1.0F) + below;
    const float space = ImGui::GetContentRegionAvail().y - around;
    const float whole = row * static_cast<float>(table.rows.size());
    const bool scrolls =
        table.rows.size() > kMostWhole && whole > space && space >= kLeastRows * row;
    return {scrolls ? space : whole, scrolls};
}

/// Of all columns, with the narrowest labels and without bars.
float least_width(const std::vector<Column>& columns, const Frame& frame) {
    float width = frame.px(2 * kInset + kLeastLabel);
    for (const Column& column : columns) width += column.width + frame.px(kSpace8);
    return width;
}

/// Width of the bars; 0 if no row has one, or if they would leave the labels no space.
float bars_width(const InspectorTable& table, const std::vector<Column>& columns,
                 const Frame& frame) {
    const bool has =
        std::ranges::any_of(table.rows, [](const TableRow& row) { return row.bar != 0.0; });
    const float width = has ? frame.px(kBarColumn + kSpace8 - kInset) : 0.0F;
    const bool spare = std::ranges::any_of(table.columns, &TableColumn::spare);
    const bool fits = least_width(columns, frame) + width <= ImGui::GetContentRegionAvail().x;
    return spare || fits ? width : 0.0F;
}

/// Without its last spare column, where the labels would have no room; nullopt: it fits, or has none.
std::optional<InspectorTable> narrower(const InspectorTable& table,
                                       const std::vector<Column>& columns, const Frame& frame) {
    const float width = least_width(columns, frame) + bars_width(table, columns, frame);
    const auto spare = std::find_if(table.columns.rbegin(), table.columns.rend(),
                                    [](const auto& column) { return column.spare; });
    if (width <= ImGui::GetContentRegionAvail().x || spare == table.columns.rend())
        return std::nullopt;
    InspectorTable less = table;
    const auto n = table.columns.rend() - spare - 1;
    const auto erase = [n](TableRow& row) { row.cells.erase(row.cells.begin() + n); };
    less.columns.erase(less.columns.begin() + n);
    std::ranges::for_each(less.rows, erase);
    if (less.total) erase(*less.total);
    return less;
}

/// Rows of numbers aligned on their points, under a heading that stays. They take the room that the
/// window has left but for `below` pixels, and scroll there, the chosen row in sight; where too little
/// is left for that, all of them are drawn and the window scrolls. Returns the linked cell under the pointer.
std::optional<CellRef> draw_table(const InspectorTable& table, float below, const Frame& frame,
                                  Actions& out) {
    const std::vector<Column> columns = measure(table, frame);
    if (const auto less = narrower(table, columns, frame))
        return draw_table(*less, below, frame, out);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, 0.0F});
    if (!table.title.empty()) put_text(frame, frame.fonts.small, frame.theme.muted, table.title);
    const Shares shares = share_out(table, below, frame);
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const float bar = shares.scrolls ? ImGui::GetStyle().ScrollbarSize + frame.px(4) : 0.0F;
    const Placed at{table,
                    columns,
                    frame,
                    low.x,
                    low.x + ImGui::GetContentRegionAvail().x - bar,
                    bars_width(table, columns, frame)};
    std::optional<CellRef> hovered;
    draw_header(at, low.y);
    leave_space({0.0F, at.row()});
    if (shares.scrolls) {
        begin_child("rows of the table", {ImGui::GetContentRegionAvail().x, shares.rows});
        keep_chosen_in_sight(table, at.row(), shares.rows);
        draw_rows(at, hovered, out);
        ImGui::EndChild();
    } else {
        draw_rows(at, hovered, out);
    }
    record_rect_for_tests(
        frame.painter, Measuring::Kind::labels, low,
        {at.right, ImGui::GetCursorScreenPos().y + (table.total ? at.row() : 0.0F)});
    if (table.total) {
        const ImVec2 bottom = ImGui::GetCursorScreenPos();
        frame.painter.line({at.left, bottom.y}, {at.right, bottom.y}, frame.theme.line,
                           frame.px(1));
        draw_row(at, bottom.y, *table.total, hovered, out);
        leave_space({0.0F, at.row()});
    }
    ImGui::PopStyleVar();
    return hovered;
}

/// Each column with the same decimals.
InspectorTable aligned(InspectorTable table) {
    for (std::size_t n = 0; n < table.columns.size(); ++n) {
        std::vector<std::string*> column;
        for (TableRow& row : table.rows) column.push_back(&row.cells[n].text);
        if (table.total) column.push_back(&table.total->cells[n].text);
        view::align_decimals(column);
    }
    return table;
}

}  // namespace

Pointed draw_inspector(const InspectorView& view, const Frame& frame, Actions& out) {
    if (view.empty) {
        wrapped_text(frame, frame.fonts.body, frame.theme.muted, view.hint);
        return {};
    }
    std::optional<CellRef> hovered;
    const auto symbol = draw_heading(view, frame);
    draw_lines(view.lines, frame, hovered, out);
    draw_lines(view.geometry, frame, hovered, out);
    wrapped_text(frame, frame.fonts.digits_small, frame.theme.muted, view.gradient);
    leave_space({0.0F, frame.px(4)});
    draw_sources(view, frame, hovered, out);
    if (view.loss_cell) draw_loss_button(*view.loss_cell, frame, out);
    leave_space({0.0F, frame.px(4)});
    if (view.table) {
        const auto over =
            draw_table(aligned(*view.table), copy_height(frame) + frame.px(8), frame, out);
        if (over) hovered = over;
    }
    leave_space({0.0F, frame.px(4)});
    draw_copy_buttons(frame, out);
    return {hovered, symbol};
}

}  // namespace attn::ui
