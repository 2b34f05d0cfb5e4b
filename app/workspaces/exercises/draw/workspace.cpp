#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
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
constexpr float kWidest = 780.0F, kTwoColumns = 960.0F;  // of a line; of the room for two of them
constexpr float kParagraph = 8.0F;
constexpr float kQuestion = 26.0F;  // between two

void draw_bar(const ExercisesView& view, ControlBar& bar) {
    const auto set = [&](const std::string& key, std::uint64_t seed) {
        bar.out.push_back(view::SetExercise{key, seed});
    };
    const view::Exercise& now = view.exercise;
    if (view.choosing) return;
    if (bar.button("sheets", "All sheets", {"All sheets", "To choose another."}))
        bar.out.push_back(view::ShowSheets{true});
    if (const auto other =
            bar.seed("seed", now.seed, {"Seed", "Of the numbers: another seed, another sheet."}))
        set(now.key, *other);
    if (bar.button("new", "New numbers", {"New numbers", "The next seed. Key: R"}))
        set(now.key, now.seed + 1);
}

/// Takes its room and is drawn; returns where it stands.
ImVec2 draw_block(const ExerciseBlock& block, const Frame& frame) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({std::max(block.width, 1.0F), std::max(block.height, 1.0F)});
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

    void say(const ExerciseParagraph& paragraph, ExerciseVoice voice = ExerciseVoice::plain) {
        draw_block(lay_out_paragraph(paragraph, type, frame.painter, voice), frame);
    }

    void draw() {
        ImGui::PushID(static_cast<int>(n));
        for (const auto& paragraph : numbered(question().text, n + 1)) say(paragraph);
        draw_blanks(lay_out_blanks(question(), type, frame.painter));
        draw_buttons();
        if (shown().hint) say(question().hint, ExerciseVoice::muted);
        if (shown().solution)
            for (const auto& paragraph : question().solution) say(paragraph);
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
            choices ? draw_choice(blank) : draw_entry(blank, shown().entries[b], mark_of(b));
            ImGui::PopID();
        }
        ImGui::SetCursorScreenPos(after);
    }

    void enter(const ExerciseBlock::Blank& blank, std::string text) {
        out.push_back(view::EnterAnswer{number(), blank.row, blank.column, std::move(text)});
    }

    void draw_entry(const ExerciseBlock::Blank& blank, const std::string& text,
                    std::optional<EntryMark> mark) {
        const ImVec2 low{blank.low.x, blank.low.y};
        const ImVec2 high{blank.high.x, blank.high.y};
        ImGui::SetCursorScreenPos(low);
        const ImGuiID control = ImGui::GetID("entry");
        if (is_typed_into(frame, control)) {
            const auto typed = type_in_place(frame, control, low, high, out);
            if (typed && *typed != text) enter(blank, *typed);
        } else {
            if (ImGui::InvisibleButton("box", {high.x - low.x, high.y - low.y}))
                begin_typing(control, text, out);
            frame.painter.rect(low, high, frame.theme.raised, frame.px(4));
            frame.painter.outline(low, high, edge_of(mark, frame), frame.px(mark ? 2.0F : 1.0F),
                                  frame.px(4));
            draw_fitted(frame, frame.fonts.digits, {low.x + frame.px(6), low.y},
                        {high.x - frame.px(4), high.y}, Align::left, frame.theme.text, text);
            if (text.empty()) tooltip(frame, "Click and type", "0.27, 1/3, exp(2), nan");
        }
        if (focus_stop(frame, control, low, high)) begin_typing_by_key(frame, control, text, out);
    }

    void draw_choice(const ExerciseBlock::Blank& blank) {
        const ImVec2 low{blank.low.x, blank.low.y};
        ImGui::SetCursorScreenPos(low);
        const bool clicked =
            ImGui::InvisibleButton("choice", {blank.high.x - low.x, blank.high.y - low.y});
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
        if (button(frame, "check", "Check", {"Check", "How many entries are right."}))
            out.push_back(view::CheckAnswer{number()});
        flow(frame, button_width(frame, "Hint"));
        if (button(frame, "hint", "Hint", {"Hint", "What to think of first."}))
            out.push_back(view::ShowExerciseHint{number(), !shown().hint});
        flow(frame, button_width(frame, "Solution"));
        if (button(frame, "solution", "Solution", {"Solution", "Step by step."}))
            out.push_back(view::ShowSolution{number(), !shown().solution});
        if (!shown().checked) return;
        const std::string& verdict = shown().checked->words;
        flow(frame, frame.text_width(frame.fonts.strong, verdict));
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = frame.text_width(frame.fonts.strong, verdict);
        ImGui::Dummy({width, ImGui::GetFrameHeight()});
        draw_text_in(frame, frame.fonts.strong, at, {at.x + width, at.y + ImGui::GetFrameHeight()},
                     Align::left, shown().checked->right ? frame.theme.good : frame.theme.text,
                     verdict);
    }
};

/// What is given, then the questions in one column or two, line by line.
void draw_sheet(const ExercisesView& view, const Frame& frame, view::Actions& out) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {frame.px(8), frame.px(kParagraph)});
    const float gap = frame.px(kSpace48), room = ImGui::GetContentRegionAvail().x - frame.px(12);
    const std::size_t columns = room >= frame.px(kTwoColumns) ? 2 : 1;
    const float each = (room - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    Sheet sheet{
        view, frame, out, {frame.fonts.body.px, within(each, frame.px(120), frame.px(kWidest))}};
    for (const auto& paragraph : view.exercise.text) sheet.say(paragraph);
    ImVec2 at = ImGui::GetCursorScreenPos();
    float foot = at.y;
    for (; sheet.n < view.questions.size(); ++sheet.n) {
        if (sheet.n % columns == 0) at.y = foot + frame.px(kQuestion - kParagraph);
        const auto column = static_cast<float>(sheet.n % columns);
        ImGui::SetCursorScreenPos({at.x + column * (sheet.type.width + gap), at.y});
        ImGui::BeginGroup();
        sheet.draw();
        ImGui::EndGroup();
        foot = std::max(foot, ImGui::GetItemRectMax().y);
    }
    ImGui::SetCursorScreenPos({at.x, foot});
    ImGui::Dummy({1.0F, frame.px(kQuestion)});
    ImGui::PopStyleVar();
}

std::string draw_exercises_workspace(const view::AppState& state, const WorkArea& area,
                                     const Frame& frame, view::Actions& out) {
    const ExercisesView view = build_exercises_view(state);
    Parts parts{.lacks = view.lacks, .status = view.status};
    if (view.choosing && view.lacks.empty()) {
        parts.heading = {"Choose a sheet to compute by hand.",
                         "A seed decides its numbers, and what you type is checked."};
        parts.hero = {"sheets", "sheets",
                      [&](const Box& box) { draw_sheets(view, box, frame, out); }};
    } else if (view.lacks.empty()) {
        parts.heading = {view.exercise.title, view.learn};
        parts.controls = [&](ControlBar& bar) { draw_bar(view, bar); };
        parts.hero = {"sheet", "sheet", [&](const Box&) { draw_sheet(view, frame, out); }};
    }
    return draw_parts(state, area, parts, frame, out);
}

}  // namespace

extern const WorkspacePanel kExercisesPanel;
const WorkspacePanel kExercisesPanel{"exercises", draw_exercises_workspace};

}  // namespace attn::ui
