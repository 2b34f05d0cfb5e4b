#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/typing.h"
#include "app/common/exercise/page.h"
#include "app/workspaces/exercises/actions.h"
#include "app/workspaces/exercises/draw/sheets.h"
#include "app/workspaces/exercises/view.h"

namespace attn::ui {
namespace {

using view::EntryMark;
using view::ExerciseBlock;
using view::ExerciseParagraph;
using view::ExercisesView;
using view::ExerciseVoice;

// Design units.
constexpr float kWidest = 900.0F;      // of a question, at most
constexpr float kTwoColumns = 820.0F;  // width of a canvas with two columns
constexpr float kGivenShare = 0.34F;   // of its width
constexpr float kParagraph = 8.0F;
constexpr float kPad = 18.0F, kGap = 20.0F;  // inside a question's card; between two
// Of the body's letters: the first with which the sheet has room.
constexpr float kSizes[] = {1.0F};

void draw_bar(const ExercisesView& view, ControlBar& bar) {
    const auto set = [&](const std::string& key, std::uint64_t seed) {
        bar.out.push_back(view::SetExercise{key, seed});
    };
    const view::Exercise& now = view.exercise;
    if (view.choosing) return;
    if (bar.button("sheets", "All sheets", {"All sheets", "Shows all sheets"}))
        bar.out.push_back(view::ShowSheets{true});
    if (const auto other = bar.seed("seed", now.seed, {"Seed", "Each seed gives other numbers"}))
        set(now.key, *other);
    if (bar.button("new", "New numbers", {"New numbers", "The next seed. Key: R"}))
        set(now.key, now.seed + 1);
}

/// Takes its room and is drawn; returns where it stands.
ImVec2 draw_block(const ExerciseBlock& block, const Frame& frame) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    leave_space({std::max(block.width, 1.0F), std::max(block.height, 1.0F)});
    draw_exercise_block(block, at, frame.theme, frame.painter);
    return at;
}

view::Color edge_of(std::optional<EntryMark> mark, const Frame& frame) {
    if (!mark || *mark == EntryMark::empty) return frame.theme.control;
    return *mark == EntryMark::right ? frame.theme.good : frame.theme.bad;
}

/// A question and what stands in its blanks.
struct Sheet {
    const ExercisesView& view;
    const Frame& frame;
    view::Actions& out;
    view::ExerciseType type;
    std::size_t n = 0;

    const view::ExerciseQuestion& question() const { return view.exercise.questions[n]; }
    const ExercisesView::Question& shown() const { return view.questions[n]; }
    Index number() const { return static_cast<Index>(n); }
    std::optional<EntryMark> mark_of(std::size_t blank) const {
        if (!shown().checked) return std::nullopt;
        return shown().checked->marks[blank];
    }

    ExerciseBlock laid_out(const ExerciseParagraph& paragraph,
                           ExerciseVoice voice = ExerciseVoice::plain) const {
        return lay_out_paragraph(paragraph, type, frame.painter, voice);
    }
    ExerciseBlock blanks() const { return lay_out_blanks(question(), type, frame.painter); }
    std::vector<ExerciseBlock> text() const {
        std::vector<ExerciseBlock> blocks;
        for (const auto& paragraph : numbered(question().text, n + 1))
            blocks.push_back(laid_out(paragraph));
        return blocks;
    }
    /// Hint and solution.
    std::vector<ExerciseBlock> help() const {
        std::vector<ExerciseBlock> blocks;
        if (shown().hint) blocks.push_back(laid_out(question().hint, ExerciseVoice::muted));
        if (shown().solution)
            for (const auto& paragraph : question().solution) blocks.push_back(laid_out(paragraph));
        return blocks;
    }

    float buttons_width() const {
        return button_width(frame, "Check") + button_width(frame, "Hint") +
               button_width(frame, "Solution") + 2.0F * ImGui::GetStyle().ItemSpacing.x;
    }
    float verdict_width() const {
        return shown().checked ? frame.text_width(frame.fonts.strong, shown().checked->text) : 0;
    }
    bool verdict_is_beside() const {
        return buttons_width() + ImGui::GetStyle().ItemSpacing.x + verdict_width() <= type.width;
    }

    /// Of all that draw() draws.
    ImVec2 size() const {
        const float spacing = ImGui::GetStyle().ItemSpacing.y;
        const ExerciseBlock answer = blanks();
        const float lines = shown().checked && !verdict_is_beside() ? 2.0F : 1.0F;
        ImVec2 all{answer.width, answer.height + lines * (spacing + ImGui::GetFrameHeight())};
        for (const auto& list : {text(), help()})
            for (const ExerciseBlock& block : list)
                all = {std::max(all.x, block.width), all.y + block.height + spacing};
        return all;
    }

    void draw() {
        ImGui::PushID(static_cast<int>(n));
        for (const ExerciseBlock& block : text()) draw_block(block, frame);
        draw_blanks(blanks());
        draw_buttons();
        for (const ExerciseBlock& block : help()) draw_block(block, frame);
        ImGui::PopID();
    }

    void draw_blanks(const ExerciseBlock& block) {
        const ImVec2 at = draw_block(block, frame);
        const ImVec2 after = ImGui::GetCursorScreenPos();
        const bool choices = !question().choices.empty();
        for (std::size_t b = 0; b < block.blanks.size(); ++b) {
            ExerciseBlock::Blank blank = block.blanks[b];
            blank.low = {at.x + blank.low.x, at.y + blank.low.y};
            blank.high = {at.x + blank.high.x, at.y + blank.high.y};
            ImGui::PushID(static_cast<int>(b));
            const bool entered = !choices && draw_entry(blank, b);
            if (choices) draw_choice(blank);
            ImGui::PopID();
            if (entered) go_on(b);
        }
        ImGui::SetCursorScreenPos(after);
    }

    void enter(const ExerciseBlock::Blank& blank, std::string text) {
        out.push_back(view::EnterAnswer{number(), blank.row, blank.column, std::move(text)});
    }

    /// To the next blank that is empty; once none is, the answer is checked.
    void go_on(std::size_t from) {
        const std::size_t count = shown().entries.size();
        for (std::size_t step = 1; step < count; ++step) {
            const std::size_t next = (from + step) % count;
            if (!shown().entries[next].empty()) continue;
            ImGui::PushID(static_cast<int>(next));
            begin_typing(ImGui::GetID("entry"), "", out);
            return ImGui::PopID();
        }
        out.push_back(view::CheckAnswer{number()});
    }

    /// Whether Enter ended it, with something typed.
    bool draw_entry(const ExerciseBlock::Blank& blank, std::size_t b) {
        const std::string& text = shown().entries[b];
        const std::optional<EntryMark> mark = mark_of(b);
        bool entered = false;
        const ImVec2 low{blank.low.x, blank.low.y};
        const ImVec2 high{blank.high.x, blank.high.y};
        ImGui::SetCursorScreenPos(low);
        const ImGuiID control = ImGui::GetID("entry");
        if (is_typed_into(frame, control)) {
            const auto typed = type_in_place(frame, control, low, high, out);
            if (typed && *typed != text) enter(blank, *typed);
            entered = typed && !typed->empty() && is_pressed(view::Key::enter);
        } else {
            if (invisible_button("box", {high.x - low.x, high.y - low.y}))
                begin_typing(control, text, out);
            frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
            frame.painter.outline(low, high, edge_of(mark, frame), frame.px(mark ? 2.0F : 1.0F),
                                  frame.px(4));
            draw_fitted(frame, frame.fonts.digits, {low.x + frame.px(6), low.y},
                        {high.x - frame.px(4), high.y}, Align::left, frame.theme.text, text);
            if (text.empty()) tooltip(frame, "Click and type", "0.27, 1/3, exp(2), nan");
        }
        if (focus_stop(frame, control, low, high) && !entered)
            begin_typing_by_key(frame, control, text, out);
        return entered;
    }

    void draw_choice(const ExerciseBlock::Blank& blank) {
        const ImVec2 low{blank.low.x, blank.low.y};
        ImGui::SetCursorScreenPos(low);
        const bool clicked =
            invisible_button("choice", {blank.high.x - low.x, blank.high.y - low.y});
        const bool chosen = shown().entries[0] == std::to_string(blank.column);
        const auto [from, to] = tick_of(blank, frame.fonts.body.px);
        const view::Color edge =
            chosen ? edge_of(mark_of(0), frame)
                   : (ImGui::IsItemHovered() ? frame.theme.text : frame.theme.control);
        frame.painter.outline(from, to, edge, frame.px(chosen && shown().checked ? 2.0F : 1.0F),
                              frame.px(2));
        if (chosen) {
            const float inset = frame.px(3);
            frame.painter.rect({from.x + inset, from.y + inset}, {to.x - inset, to.y - inset},
                               frame.theme.accent, frame.px(1));
        }
        const bool pressed = pressed_by_key(frame);
        if (clicked || pressed)
            out.push_back(view::EnterAnswer{number(), 0, 0, std::to_string(blank.column)});
    }

    void draw_buttons() {
        if (button(frame, "check", "Check", {"Check", "Counts the right entries"}))
            out.push_back(view::CheckAnswer{number()});
        ImGui::SameLine();
        if (button(frame, "hint", "Hint", {"Hint", "Shows a hint"}))
            out.push_back(view::ShowExerciseHint{number(), !shown().hint});
        ImGui::SameLine();
        if (button(frame, "solution", "Solution", {"Solution", "Shows each step"}))
            out.push_back(view::ShowSolution{number(), !shown().solution});
        if (!shown().checked) return;
        if (verdict_is_beside()) ImGui::SameLine();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        leave_space({verdict_width(), ImGui::GetFrameHeight()});
        draw_text_in(frame, frame.fonts.strong, at,
                     {at.x + verdict_width(), at.y + ImGui::GetFrameHeight()}, Align::left,
                     shown().checked->right ? frame.theme.good : frame.theme.text,
                     shown().checked->text);
    }
};

/// The given text left of the questions, or above them where the width is too small for both.
struct Columns {
    float given = 0.0F;  // width
    float left = 0.0F;   // of the questions
    float card = 0.0F;   // their width
    float above = 0.0F;  // height of the given text above them
    std::vector<float> heights = {};
    bool fits = true;

    float height(float gap) const {
        float all = above;
        for (const float each : heights) all += each + gap;
        return all;
    }
};

Columns lay_out(Sheet& sheet, ImVec2 space, float size) {
    const Frame& frame = sheet.frame;
    const float gap = frame.px(kGap), pad = frame.px(kPad);
    const bool two = space.x >= frame.px(kTwoColumns);
    Columns columns;
    columns.given = two ? std::floor(kGivenShare * space.x) : space.x;
    columns.left = two ? columns.given + gap : 0.0F;
    columns.card = std::min(space.x - columns.left, frame.px(kWidest));
    sheet.type = {frame.fonts.body.px * size, columns.given};
    float given = 0.0F;
    for (const auto& paragraph : sheet.view.exercise.text) {
        const ExerciseBlock block = sheet.laid_out(paragraph);
        given += block.height + frame.px(kParagraph);
        columns.fits = columns.fits && block.width <= columns.given;
    }
    columns.above = two ? 0.0F : given;
    sheet.type.width = std::max(columns.card - 2.0F * pad, frame.px(80));
    for (sheet.n = 0; sheet.n < sheet.view.questions.size(); ++sheet.n) {
        const ImVec2 card = sheet.size();
        columns.heights.push_back(card.y + 2.0F * pad);
        columns.fits = columns.fits && card.x <= sheet.type.width;
    }
    columns.fits = columns.fits && columns.height(gap) - gap <= space.y && given <= space.y;
    return columns;
}

/// As large as fits; else small, and scrolled.
Columns best_layout(Sheet& sheet, ImVec2 space) {
    for (const float size : kSizes)
        if (Columns columns = lay_out(sheet, space, size); columns.fits) return columns;
    return lay_out(sheet, {space.x, HUGE_VALF}, kSizes[std::size(kSizes) - 1]);
}

/// Another sheet begins at its top.
void scroll_to_top_once(const view::Exercise& exercise) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const ImGuiID place = ImGui::GetID("sheet");
    const auto sheet = static_cast<int>(ImGui::GetID(exercise.key.c_str()));
    if (storage.GetInt(place) != sheet) ImGui::SetScrollY(0.0F);
    storage.SetInt(place, sheet);
}

/// The given text, and a card for each question, from top to bottom.
void draw_sheet(const ExercisesView& view, const Frame& frame, view::Actions& out) {
    scroll_to_top_once(view.exercise);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {frame.px(8), frame.px(kParagraph)});
    const float gap = frame.px(kGap), pad = frame.px(kPad);
    // The room of a scrollbar is kept free, so that one that comes or goes changes nothing.
    const float bar = ImGui::GetScrollMaxY() > 0.0F ? 0.0F : ImGui::GetStyle().ScrollbarSize;
    const ImVec2 space{ImGui::GetContentRegionAvail().x - bar - frame.px(4),
                       ImGui::GetWindowHeight() - frame.px(kParagraph)};
    Sheet sheet{view, frame, out, {}};
    const Columns columns = best_layout(sheet, space);
    const view::ExerciseType inside = sheet.type;
    const ImVec2 top = ImGui::GetCursorScreenPos();
    sheet.type.width = columns.given;
    for (const auto& paragraph : view.exercise.text) draw_block(sheet.laid_out(paragraph), frame);
    sheet.type = inside;
    ImVec2 at{top.x + columns.left, columns.left > 0.0F ? top.y : ImGui::GetCursorScreenPos().y};
    const float bottom = ImGui::GetCursorScreenPos().y;
    for (sheet.n = 0; sheet.n < view.questions.size(); ++sheet.n) {
        const float height = columns.heights[sheet.n];
        frame.painter.rect(at, {at.x + columns.card, at.y + height}, frame.theme.surface,
                           frame.px(8));
        ImGui::SetCursorScreenPos({at.x + pad, at.y + pad});
        ImGui::BeginGroup();
        sheet.draw();
        ImGui::EndGroup();
        at.y += height + gap;
    }
    ImGui::SetCursorScreenPos({top.x, std::max(at.y - gap, bottom)});
    leave_space({1.0F, 1.0F});
    ImGui::PopStyleVar();
}

std::string draw_exercises_workspace(const view::AppState& state, const WorkArea& area,
                                     const Frame& frame, view::Actions& out) {
    const ExercisesView view = build_exercises_view(state);
    Parts parts{.missing_data = view.missing_data, .status = view.status};
    if (view.choosing && view.missing_data.empty()) {
        parts.heading = {"Choose a sheet to compute by hand.",
                         "Each seed gives other numbers. The program checks your answers."};
        parts.hero = {"sheets", "sheets",
                      [&](const Box& box) { draw_sheets(view, box, frame, out); }};
    } else if (view.missing_data.empty()) {
        parts.heading = {view.exercise.title, view.learn};
        parts.controls = [&](ControlBar& bar) { draw_bar(view, bar); };
        parts.hero = {"sheet " + view.exercise.key, "sheet",
                      [&](const Box&) { draw_sheet(view, frame, out); }};
    }
    return draw_parts(state, area, parts, frame, out);
}

}  // namespace

extern const WorkspacePanel kExercisesPanel{"exercises", draw_exercises_workspace};

}  // namespace attn::ui
