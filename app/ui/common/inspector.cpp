#include "app/ui/common/inspector.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/ui/common/draw.h"
#include "app/ui/common/math.h"
#include "app/ui/common/focus.h"
#include "app/ui/common/widgets.h"
#include "app/view/common/colormap.h"
#include "app/view/common/format.h"
#include "app/view/common/words.h"

namespace attn::ui {
namespace {

using view::CellRef;
using view::InspectorView;
using view::Line;
using view::Piece;
using view::ProductStrip;

constexpr float kFormula = 16.0F;      // design units
constexpr float kStripRow = 20.0F;     // design units
constexpr std::size_t kMostBars = 16;  // rows of the strip without scrolling
constexpr float kLeastBar = 24.0F;     // design units
constexpr float kWidestLabel = 0.3F;   // of the strip

view::Color color_of(const Piece& piece, const view::Theme& theme) {
    if (piece.role) return theme.role(*piece.role);
    return piece.muted ? theme.muted : theme.text;
}

/// A linked number: underlined while the pointer is on it.
void link(const Piece& piece, const Frame& frame, std::optional<CellRef>& hovered,
          view::Actions& out) {
    const ImVec2 low = ImGui::GetItemRectMin();
    const ImVec2 high = ImGui::GetItemRectMax();
    if (link_pressed_by_key(frame, low, high)) out.push_back(view::SelectCell{*piece.link});
    if (!ImGui::IsItemHovered()) return;
    hovered = *piece.link;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    frame.painter.line({low.x, high.y}, high, frame.theme.accent, frame.px(1));
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) out.push_back(view::SelectCell{*piece.link});
}

/// A part of a piece that stands on one line.
struct Fragment {
    const Piece& piece;
    std::string text;
};
/// What no line break may cut: "(−0.45)", "exp(2.43 − 3.25)", " + 0.30·0.54".
using Token = std::vector<Fragment>;

bool is_operator(const std::string& word) {
    constexpr std::array<std::string_view, 6> kSigns{"+", "−", "=", "÷", "·", "×"};
    return std::ranges::count(kSigns, word) > 0;
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
        for (const char c : piece.text) {
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

/// Tokens flow like words; one that is wider than the panel wraps where it must.
void draw_pieces(const std::vector<Piece>& pieces, const Frame& frame,
                 std::optional<CellRef>& hovered, view::Actions& out) {
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
            if (!starts_line) ImGui::SameLine(0.0F, 0.0F);
            starts_line = false;
            const view::Color color = color_of(fragment.piece, frame.theme);
            const float room = ImGui::GetContentRegionAvail().x;
            frame.text_width(font, fragment.text) <= room
                ? words(frame, font, color, fragment.text)
                : wrapped_words(frame, font, color, fragment.text);
            if (fragment.piece.link) link(fragment.piece, frame, hovered, out);
        }
    }
}

void draw_lines(const std::vector<Line>& lines, const Frame& frame, std::optional<CellRef>& hovered,
                view::Actions& out) {
    for (const Line& line : lines) {
        ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, frame.px(2)});
        wrapped_words(frame, frame.fonts.small, frame.theme.muted, line.label);
        draw_pieces(line.pieces, frame, hovered, out);
        ImGui::PopStyleVar();
        ImGui::Dummy({0.0F, frame.px(2)});
    }
}

/// Widths of a strip's columns, measured over all of its rows: nothing stands over its neighbour.
struct StripColumns {
    float label = 0.0F, left = 0.0F, right = 0.0F, product = 0.0F;
};

StripColumns measure_columns(const ProductStrip& strip, float width, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    StripColumns columns;
    const auto widen = [&](float& column, const std::string& text) {
        column = std::max(column, frame.text_width(font, text));
    };
    for (std::size_t n = 0; n < strip.products.size(); ++n) {
        widen(columns.label, middle_ellipsis(strip.labels[n], view::kMostNamed));
        widen(columns.left, view::cell_number(strip.left[n], 2));
        widen(columns.right, view::cell_number(strip.right[n], 2));
        widen(columns.product, view::cell_number(strip.products[n], 2));
    }
    columns.label = std::min(columns.label, width * kWidestLabel);
    return columns;
}

struct StripRow {
    ImVec2 low, high;
    std::size_t n;
};

/// Left of the middle negative, right of it positive; nothing where there is no room for it.
void draw_product(const ProductStrip& strip, const StripRow& row, const Frame& frame) {
    const float half = (row.high.x - row.low.x) / 2;
    const double share = strip.largest > 0.0 ? strip.products[row.n] / strip.largest : 0.0;
    if (!std::isfinite(share) || half < frame.px(kLeastBar) / 2) return;
    const float middle = row.low.x + half;
    const float tip = middle + half * static_cast<float>(std::clamp(share, -1.0, 1.0));
    const float pad = frame.px(5);
    const view::ColorRange range{ColorScale::diverging, -1.0, 1.0};
    frame.painter.rect({std::min(middle, tip), row.low.y + pad},
                       {std::max(middle, tip), row.high.y - pad},
                       view::color_of(range, share < 0.0 ? -1.0 : 1.0, frame.theme.name));
    frame.painter.line({middle, row.low.y}, {middle, row.high.y}, frame.theme.line, frame.px(1));
}

/// "1   0.30 · 0.54   [bar]   0.16"
void draw_bar(const ProductStrip& strip, const StripColumns& columns, const StripRow& row,
              const Frame& frame) {
    const view::Theme& theme = frame.theme;
    const Font& font = frame.fonts.digits_small;
    float x = row.low.x;
    const auto put = [&](float width, Align align, view::Color color, const std::string& s) {
        draw_text_in(frame, font, {x, row.low.y}, {x + width, row.high.y}, align, color, s);
        x += width;
    };
    const std::string label = middle_ellipsis(strip.labels[row.n], view::kMostNamed);
    put(columns.label, Align::left, theme.muted, fit_text(frame, font, label, columns.label));
    x += frame.px(8);
    put(columns.left, Align::right, theme.role(strip.left_role),
        view::cell_number(strip.left[row.n], 2));
    put(frame.text_width(font, " · "), Align::center, theme.muted, "·");
    put(columns.right, Align::right, theme.role(strip.right_role),
        view::cell_number(strip.right[row.n], 2));
    const float right = row.high.x - columns.product;
    draw_text_in(frame, font, {right, row.low.y}, row.high, Align::right, theme.text,
                 view::cell_number(strip.products[row.n], 2));
    const float gap = frame.px(12);
    draw_product(strip, {{x + gap, row.low.y}, {right - gap, row.high.y}, row.n}, frame);
}

void draw_strip(const ProductStrip& strip, const Frame& frame) {
    words(frame, frame.fonts.small, frame.theme.muted, strip.title);
    const float row = frame.px(kStripRow);
    const auto shown = std::min(strip.products.size(), kMostBars);
    ImGui::BeginChild("products", {0.0F, row * static_cast<float>(shown)});
    const float width = ImGui::GetContentRegionAvail().x;
    const StripColumns columns = measure_columns(strip, width, frame);
    for (std::size_t n = 0; n < strip.products.size(); ++n) {
        const ImVec2 low = ImGui::GetCursorScreenPos();
        const ImVec2 high{low.x + width, low.y + row};
        draw_bar(strip, columns, {low, high, n}, frame);
        ImGui::SetCursorScreenPos({low.x, high.y});
    }
    ImGui::Dummy({0.0F, 0.0F});
    ImGui::EndChild();
}

void draw_copy_buttons(const Frame& frame, view::Actions& out) {
    words(frame, frame.fonts.small, frame.theme.muted, "Copy as");
    if (button(frame, "copy text", "text", {"Copy the arithmetic as plain text", "Ctrl+C"}))
        out.push_back(view::CopyArithmetic{view::CopyAs::text});
    ImGui::SameLine();
    if (button(frame, "copy latex", "LaTeX", {"Copy the arithmetic as LaTeX", ""}))
        out.push_back(view::CopyArithmetic{view::CopyAs::latex});
    ImGui::SameLine();
    if (button(frame, "copy python", "Python", {"Copy the arithmetic as Python", "numpy"}))
        out.push_back(view::CopyArithmetic{view::CopyAs::python});
}

/// The inputs that the number is made from, each a link to the stage that shows it.
void draw_sources(const InspectorView& view, const Frame& frame, std::optional<CellRef>& hovered,
                  view::Actions& out) {
    if (view.sources.empty()) return;
    words(frame, frame.fonts.small, frame.theme.muted, "made from");
    for (std::size_t n = 0; n < view.sources.size(); ++n) {
        const view::SourceLink& source = view.sources[n];
        const float width = frame.text_width(frame.fonts.digits, source.words);
        if (n > 0) ImGui::SameLine(0.0F, frame.px(12));
        if (n > 0 && ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
        words(frame, frame.fonts.digits, frame.theme.role(source.role), source.words);
        const ImVec2 low = ImGui::GetItemRectMin();
        const ImVec2 high = ImGui::GetItemRectMax();
        frame.painter.line({low.x, high.y}, high, frame.theme.muted, frame.px(1));
        const bool hover = ImGui::IsItemHovered();
        if (hover) hovered = source.cell;
        if (hover) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        const bool clicked = hover && ImGui::IsMouseClicked(ImGuiMouseButton_Left);
        if (!link_pressed_by_key(frame, low, high) && !clicked) continue;
        out.push_back(view::GoToStage{source.stage});
        out.push_back(view::SelectCell{source.cell});
    }
    ImGui::Dummy({0.0F, frame.px(4)});
}

void draw_heading(const InspectorView& view, const Frame& frame) {
    wrapped_words(frame, frame.fonts.strong, frame.theme.role(view.role), view.title);
    wrapped_words(frame, frame.fonts.value, frame.theme.text, view.value);
    if (view.editable)
        wrapped_words(frame, frame.fonts.small, frame.theme.muted,
                      "Double-click the cell, or press Enter, to change this number.");
    if (!view.tex.empty()) formula_item(frame, view.tex, view.formula, kFormula);
    ImGui::Dummy({0.0F, frame.px(4)});
}

}  // namespace

std::optional<CellRef> draw_inspector(const InspectorView& view, const Frame& frame,
                                      view::Actions& out) {
    if (view.empty) {
        wrapped_words(frame, frame.fonts.body, frame.theme.muted, view.hint);
        return std::nullopt;
    }
    std::optional<CellRef> hovered;
    draw_heading(view, frame);
    draw_lines(view.lines, frame, hovered, out);
    if (view.strip) draw_strip(*view.strip, frame);
    ImGui::Dummy({0.0F, frame.px(4)});
    draw_lines(view.geometry, frame, hovered, out);
    wrapped_words(frame, frame.fonts.digits_small, frame.theme.muted, view.gradient);
    ImGui::Dummy({0.0F, frame.px(8)});
    draw_sources(view, frame, hovered, out);
    draw_copy_buttons(frame, out);
    return hovered;
}

}  // namespace attn::ui
