#include "app/common/draw/draw.h"
#include "app/common/draw/imgui_compat.h"
#include "app/common/draw/overlay.h"
#include "app/common/draw/widgets.h"
#include "app/window/draw/panels.h"

namespace attn::ui {

void draw_recovery(const view::Recovery& recovery, const Frame& frame, view::Actions& out) {
    using view::AnswerRecovery;
    using view::RecoveryAnswer;
    const bool beside = begin_overlay("recovery", frame.px(640), frame.px(220), frame);
    words(frame, frame.fonts.title, frame.theme.text, "Work that was not saved");
    wrapped_words(frame, frame.fonts.body, frame.theme.muted,
                  "attnscope was ended before it could save. This is kept:");
    wrapped_words(frame, frame.fonts.strong, frame.theme.text, recovery.words);
    ImGui::Dummy({0.0F, frame.px(8)});
    const bool resume =
        button(frame, "resume", "resume", {"Opens it; it is kept until you save it", "Key: Enter"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool discard =
        button(frame, "discard", "discard", {"Removes it for good", "Key: Delete"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool later =
        button(frame, "later", "later", {"It is offered again at the next start", "Key: Escape"});
    end_overlay();
    if (resume || is_pressed(view::Key::enter))
        out.push_back(AnswerRecovery{RecoveryAnswer::resume});
    else if (discard || is_pressed(view::Key::del))
        out.push_back(AnswerRecovery{RecoveryAnswer::discard});
    else if (later || beside || is_pressed(view::Key::escape))
        out.push_back(AnswerRecovery{RecoveryAnswer::later});
}

void draw_quit(const std::string& file, const Frame& frame, view::Actions& out) {
    using view::AnswerQuit;
    using view::QuitAnswer;
    const bool beside = begin_overlay("quit", frame.px(640), frame.px(200), frame);
    words(frame, frame.fonts.title, frame.theme.text, "Changes that are not saved");
    wrapped_words(frame, frame.fonts.body, frame.theme.muted,
                  file.empty() ? "They stand in no session yet: save asks for its path."
                               : "Save writes them to " + file + ".");
    ImGui::Dummy({0.0F, frame.px(8)});
    const bool save = button(frame, "save", "save and quit", {"Saves the session", "Key: Enter"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool discard =
        button(frame, "discard", "quit without saving", {"The changes are gone", "Key: D"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool keep =
        button(frame, "keep", "quit and keep",
               {"They are offered at the next start, where they can be kept", "Key: Ctrl+Q"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool stay = button(frame, "stay", "go on", {"Nothing ends", "Key: Escape"});
    ImGui::Dummy({0.0F, frame.px(8)});
    wrapped_words(
        frame, frame.fonts.body, frame.theme.muted,
        "Enter saves, D quits without, Ctrl+Q again keeps them for the next start, Esc goes on.");
    end_overlay();
    const bool ctrl = ImGui::GetIO().KeyCtrl;
    if (save || is_pressed(view::Key::enter))
        out.push_back(AnswerQuit{QuitAnswer::save});
    else if (discard || (!ctrl && is_pressed(view::Key::d)))
        out.push_back(AnswerQuit{QuitAnswer::discard});
    else if (keep || (ctrl && is_pressed(view::Key::q)))
        out.push_back(AnswerQuit{QuitAnswer::keep});
    else if (stay || beside || is_pressed(view::Key::escape))
        out.push_back(AnswerQuit{QuitAnswer::stay});
}

}  // namespace attn::ui
