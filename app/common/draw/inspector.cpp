#include "app/common/draw/inspector.h"

#include <algorithm>
#include <array>

#include "app/common/colormap.h"
#include "app/common/document/actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/inspector_table.h"
#include "app/common/draw/math.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/common/words.h"

namespace attn::ui {
namespace {

using view::CellRef;
using view::InspectorView;
using view::Line;
using view::Piece;

constexpr float kFormula = 16.0F;         // design units
constexpr float kInspectorValue = 28.0F;  // design units: the number that is explained
constexpr float kWidestLabel = 0.34F;     // of a line that begins with its label

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

/// Tokens flow like words; one that is wider than the panel breaks between its parts, which numbers are.
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
            const float width = frame.text_width(font, fragment.text);
            if (!starts_line) ImGui::SameLine(0.0F, 0.0F);
            if (!starts_line && ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
            starts_line = false;
            const view::Color color = color_of(fragment.piece, frame.theme);
            width <= ImGui::GetContentRegionAvail().x
                ? words(frame, font, color, fragment.text)
                : wrapped_words(frame, font, color, fragment.text);
            if (fragment.piece.link) link(fragment.piece, frame, hovered, out);
        }
    }
}

/// The room of the labels that stand before their lines; longer ones stand above.
float label_width(const std::vector<Line>& lines, float room, const Frame& frame) {
    float widest = 0.0F;
    for (const Line& line : lines) {
        const float width = frame.text_width(frame.fonts.small, line.label);
        if (width <= room * kWidestLabel) widest = std::max(widest, width);
    }
    return widest;
}

void draw_lines(const std::vector<Line>& lines, const Frame& frame, std::optional<CellRef>& hovered,
                view::Actions& out) {
    const float room = ImGui::GetContentRegionAvail().x;
    const float before = label_width(lines, room, frame);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0.0F, frame.px(2)});
    for (const Line& line : lines) {
        const float width = frame.text_width(frame.fonts.small, line.label);
        const bool beside = !line.label.empty() && !line.pieces.empty() && width <= before;
        wrapped_words(frame, frame.fonts.small, frame.theme.muted, line.label);
        if (beside) ImGui::SameLine(0.0F, before - width + frame.px(8));
        ImGui::BeginGroup();
        draw_pieces(line.pieces, frame, hovered, out);
        ImGui::EndGroup();
        ImGui::Dummy({0.0F, frame.px(2)});
    }
    ImGui::PopStyleVar();
}

float copy_height(const Frame& frame) {
    return ImGui::GetFrameHeight() + frame.px(8) + ImGui::GetStyle().ItemSpacing.y;
}

void draw_copy_buttons(const Frame& frame, view::Actions& out) {
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.small, frame.theme.muted, "Copy as");
    ImGui::SameLine();
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

void draw_loss_button(const CellRef& output, const Frame& frame, view::Actions& out) {
    const Tip tip{"L = this output", "Every gradient says how fast this one number grows."};
    if (button(frame, "gradient of this cell", "gradient of this cell", tip))
        out.push_back(view::SetLossCell{output});
}

/// Returns the symbol of the formula under the pointer.
std::optional<OperandId> draw_heading(const InspectorView& view, const Frame& frame) {
    std::optional<OperandId> pointed;
    wrapped_words(frame, frame.fonts.strong, frame.theme.role(view.role), view.title);
    wrapped_words(frame, frame.fonts.value, frame.theme.text, view.value);
    wrapped_words(frame, frame.fonts.small, frame.theme.muted, view.edit_hint);
    if (!view.tex.empty())
        pointed = formula_item(frame, view.tex, view.formula, kFormula);
    else
        wrapped_words(frame, frame.fonts.digits, frame.theme.muted, view.formula);
    ImGui::Dummy({0.0F, frame.px(4)});
    return pointed;
}

}  // namespace

Pointed draw_inspector(const InspectorView& view, const Frame& frame, view::Actions& out) {
    if (view.empty) {
        wrapped_words(frame, frame.fonts.body, frame.theme.muted, view.hint);
        return {};
    }
    std::optional<CellRef> hovered;
    const auto symbol = draw_heading(view, frame);
    draw_lines(view.lines, frame, hovered, out);
    draw_lines(view.geometry, frame, hovered, out);
    wrapped_words(frame, frame.fonts.digits_small, frame.theme.muted, view.gradient);
    ImGui::Dummy({0.0F, frame.px(4)});
    draw_sources(view, frame, hovered, out);
    if (view.loss_cell) draw_loss_button(*view.loss_cell, frame, out);
    ImGui::Dummy({0.0F, frame.px(4)});
    if (view.table) {
        const auto over = draw_table(*view.table, copy_height(frame) + frame.px(8), frame, out);
        if (over) hovered = over;
    }
    ImGui::Dummy({0.0F, frame.px(4)});
    draw_copy_buttons(frame, out);
    return {hovered, symbol};
}

}  // namespace attn::ui
