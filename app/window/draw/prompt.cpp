#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/check_file.h"
#include "app/common/document/actions.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/overlay.h"
#include "app/common/draw/widgets.h"
#include "app/common/figure_size.h"
#include "app/common/sheet.h"
#include "app/window/draw/panels.h"

namespace attn::ui {
namespace {

/// What is said of a prompt, and what Enter does.
struct PromptForm {
    std::string title, hint;
    Action action;
    const char* asked = "A path";
};

PromptForm form_of(const Prompt& prompt, const std::string& path) {
    const TextPatch& patch = prompt.patch;
    switch (prompt.kind) {
        case PromptKind::patch:
            return {fmt::format("Patch {} of layer {}, {} {}", key_of(patch.part), patch.at.layer,
                                patch.part == Stage::q ? "head" : "key head", patch.at.head),
                    "A text with the same number of tokens, or an image file if the model reads "
                    "images. Its values replace those at the same positions. Enter runs the "
                    "model, Escape cancels.",
                    PatchHead{patch.at.layer, patch.at.head, patch.part, path},
                    "A text, or a file"};
        case PromptKind::beside:
            return {
                "Second input",
                "T5: the text that the decoder has written so far. CLIP: an image file (.png), or "
                "several with || between. Enter reads it, Escape cancels.",
                TypeBeside{path}, "A text, or a file"};
        case PromptKind::check:
            return {"Check results",
                    "A file or folder (.npz, .safetensors) with arrays scores, weights, context, "
                    "output, …, for the open tensors or with its own inputs. Enter compares them, "
                    "Escape cancels.",
                    CheckFile{path}};
        case PromptKind::open:
            return {"Open a file",
                    "A model (a folder such as ~/models/gpt2, or .gguf), tensors (.npz, .npy, "
                    ".safetensors, a folder), an image for the open model (.png), a session or a "
                    "preset (.json). Enter opens it, Escape cancels. You can also drop a file on "
                    "the window.",
                    OpenFile{path}};
        case PromptKind::save:
            return {"Save the session",
                    "A session (.json) restores this screen. Enter saves it, Escape cancels.",
                    SaveSession{path, prompt.confirmed}};
        case PromptKind::runs:
            return {"Save the runs",
                    "A folder for run-a and run-b, in the format of attnscope train. Enter saves, "
                    "Escape cancels; Ctrl+O opens a saved run.",
                    SaveRuns{path, prompt.confirmed}};
        case PromptKind::figure:
            break;
    }
    return {
        "Export a figure",
        "The canvas as .svg, .pdf or .png. Enter exports it, Ctrl+Enter the whole window, Escape "
        "cancels.",
        ExportFigure{path, ImGui::GetIO().KeyCtrl, prompt.confirmed}};
}

/// No path that the desktop's file dialog gives.
bool asks_text(PromptKind kind) { return kind == PromptKind::patch || kind == PromptKind::beside; }

// Design units.
constexpr float kWidth = 640.0F, kHeight = 248.0F, kListHeight = 500.0F, kFigureHeight = 700.0F,
                kLeastPreview = 80.0F, kPathRow = 28.0F;

/// How wide the figure is to be, and the figure.
void draw_figure_choice(const FigureLook& look, const Frame& frame, Actions& out) {
    const Tip tip{
        "Width of the figure",
        "85, 120 and 180 mm: the canvas without the window, for a column or a page, in type of 7 "
        "to "
        "9 pt on white. The headline goes into a file beside it (.caption.txt). Slide: 16:9. "
        "Keys: ↑, ↓"};
    if (const auto n = choice(frame, "size", {"as on screen", "85 mm", "120 mm", "180 mm", "slide"},
                              static_cast<int>(look.size), tip))
        out.push_back(SetFigureSize{static_cast<FigureSize>(*n)});
    const std::vector<std::string> papers{"plain", "cream", "transparent"};
    flow(frame, choice_width(frame, papers));
    const Tip paper{"Background",
                    "plain: white for a page, otherwise the theme's; cream: in the light theme; "
                    "transparent: no background"};
    if (const auto n = choice(frame, "paper", papers, static_cast<int>(look.paper), paper))
        out.push_back(SetFigurePaper{static_cast<FigurePaper>(*n)});
    const int step = (is_pressed(Key::down) ? 1 : 0) - (is_pressed(Key::up) ? 1 : 0);
    const int next =
        within(static_cast<int>(look.size) + step, 0, static_cast<int>(FigureSize::slide));
    if (step != 0) out.push_back(SetFigureSize{static_cast<FigureSize>(next)});
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 left = ImGui::GetContentRegionAvail();
    const ImVec2 space{left.x, std::max(left.y - frame.px(kSpace4), frame.px(kLeastPreview))};
    leave_space(space);
    if (!look.preview || look.preview->width < 1 || look.preview->height < 1) return;
    const auto width = static_cast<float>(look.preview->width);
    const auto height = static_cast<float>(look.preview->height);
    const float scale = std::min({space.x / width, space.y / height, 1.0F});
    const ImVec2 at{std::round(low.x + (space.x - width * scale) / 2), low.y};
    frame.painter.image({reinterpret_cast<std::uintptr_t>(look.preview.get()),  // NOLINT: a key
                         [image = look.preview] { return *image; }},
                        at, {at.x + width * scale, at.y + height * scale});
    frame.painter.outline(at, {at.x + width * scale, at.y + height * scale}, frame.theme.line,
                          1.0F);
}

/// What went wrong with the path, that it is taken, or what it is for.
void draw_prompt_text(const AppState& state, const std::string& hint, const Frame& frame) {
    const Message& message = state.notice ? *state.notice : state.message;
    const bool failed = message.severity == Severity::error;
    if (failed && !state.prompt->confirmed)
        return wrapped_text(frame, frame.fonts.body, frame.theme.bad, message.text);
    const std::string& path = state.prompt->path;
    const std::string caption = caption_of(state, state.prompt->kind, path);
    const std::string taken =
        caption.empty() ? path + " exists. Enter overwrites it."
                        : fmt::format("{} or {} exists. Enter overwrites both.", path, caption);
    wrapped_text(frame, frame.fonts.body,
                 state.prompt->confirmed ? frame.theme.warning : frame.theme.muted,
                 state.prompt->confirmed ? taken : hint);
}

/// A file is taken, a folder entered; where something is saved, its path is typed first.
void take(const PathRow& row, const AppState& state, Actions& out) {
    const PromptKind kind = state.prompt->kind;
    out.push_back(DraftPrompt{row.path});
    out.push_back(CountFileDialog{desktop_look(state).answers + 1});
    if (!row.enters && (kind == PromptKind::open || kind == PromptKind::check))
        out.push_back(form_of(*state.prompt, row.path).action);
}

/// What lies beside the path that is typed; true when one of it was taken.
bool draw_paths(const AppState& state, const Frame& frame, Actions& out) {
    const DesktopLook& look = desktop_look(state);
    const std::vector<PathRow> rows = path_rows(look.folder, *state.prompt);
    const Index count = std::ssize(rows);
    const Index chosen = std::min(look.path_row, count - 1);
    const float wheel = ImGui::GetIO().MouseWheel;
    const Index step = (is_pressed(Key::down, true) || wheel < 0.0F ? 1 : 0) -
                       (is_pressed(Key::up, true) || wheel > 0.0F ? 1 : 0);
    if (step != 0) out.push_back(ChoosePath{within<Index>(chosen + step, -1, count - 1)});
    const auto fit = static_cast<int>(ImGui::GetContentRegionAvail().y / frame.px(kPathRow));
    bool taken = chosen >= 0 && is_pressed(Key::enter);
    if (taken) take(rows[chosen], state, out);
    draw_list(std::max<Index>(chosen, 0), rows.size(), std::max(fit, 1), [&](std::size_t n) {
        if (!draw_list_row(
                {"path", kPathRow, static_cast<Index>(n) == chosen, rows[n].name, rows[n].remark},
                frame))
            return;
        take(rows[n], state, out);
        taken = true;
    });
    if (!look.folder.fault.empty())
        wrapped_text(frame, frame.fonts.small, frame.theme.muted, look.folder.fault);
    return taken;
}

/// The path, or the text; a folder that was entered is typed on.
std::string draw_path_field(const AppState& state, const char* asked, const Frame& frame) {
    std::string path = state.prompt->path, early;
    const bool goes_on = path.ends_with('/');
    wide_field(fmt::format("##path{}", desktop_look(state).answers).c_str(), asked, path,
               goes_on ? ImGuiInputTextFlags_None : ImGuiInputTextFlags_AutoSelectAll, frame,
               goes_on && !ImGui::IsAnyItemActive() ? &early : nullptr);
    return path;
}

/// What they are of, and what saving does.
std::string unsaved_text(const UnsavedWork& work, const std::string& file) {
    if (!work.shown) return "The changes belong to " + work.left + ", which is no longer open.";
    std::string message = file.empty() ? "There is no session file yet: “Save” asks for a path."
                                       : "“Save” writes them to " + file + ".";
    if (!work.left.empty()) message += " The next start offers the changes of " + work.left + ".";
    return message;
}

}  // namespace

void draw_prompt(const AppState& state, const Frame& frame, Actions& out) {
    const Prompt& prompt = *state.prompt;
    const PromptForm text = form_of(prompt, prompt.path);
    const bool figure = prompt.kind == PromptKind::figure;
    const bool lists = lists_paths(prompt.kind);
    const bool beside = begin_overlay("prompt", frame.px(kWidth),
                                      frame.px(figure  ? kFigureHeight
                                               : lists ? kListHeight
                                                       : kHeight),
                                      frame);
    put_text(frame, frame.fonts.title, frame.theme.text, text.title);
    const std::string path = draw_path_field(state, text.asked, frame);
    if (desktop_look(state).has_dialog && !asks_text(prompt.kind) &&
        (button(frame, "browse", "browse…", {"Opens the file dialog", "Key: Ctrl+B"}) ||
         (ImGui::GetIO().KeyCtrl && is_pressed(Key::b))))
        out.push_back(AskFileDialog{true});
    draw_prompt_text(state, text.hint, frame);
    if (figure) draw_figure_choice(figure_look(state), frame, out);
    const bool taken = lists && draw_paths(state, frame, out);
    end_overlay();
    if (path != prompt.path) out.push_back(DraftPrompt{path});
    if (beside || is_pressed(Key::escape))
        out.push_back(ShowPrompt{std::nullopt});
    else if (!taken && is_pressed(Key::enter) &&
             (!path.empty() || prompt.kind == PromptKind::beside))
        out.push_back(form_of(prompt, path).action);
}

void draw_recovery(const Recovery& recovery, const Frame& frame, Actions& out) {
    const bool beside = begin_overlay("recovery", frame.px(640), frame.px(220), frame);
    put_text(frame, frame.fonts.title, frame.theme.text, "Restore unsaved work?");
    wrapped_text(frame, frame.fonts.body, frame.theme.muted,
                 "attnscope closed unexpectedly. It kept this work:");
    wrapped_text(frame, frame.fonts.strong, frame.theme.text, recovery.text);
    leave_space({0.0F, frame.px(8)});
    const bool resume = button(frame, "resume", "Restore",
                               {"Opens the work. The copy stays until you save.", "Key: Enter"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool discard = button(frame, "discard", "Discard", {"Deletes the work", "Key: Delete"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool later =
        button(frame, "later", "Later", {"The next start offers it again", "Key: Escape"});
    end_overlay();
    if (resume || is_pressed(Key::enter))
        out.push_back(AnswerRecovery{RecoveryAnswer::resume});
    else if (discard || is_pressed(Key::del))
        out.push_back(AnswerRecovery{RecoveryAnswer::discard});
    else if (later || beside || is_pressed(Key::escape))
        out.push_back(AnswerRecovery{RecoveryAnswer::later});
}

void draw_quit(const UnsavedWork& work, const std::string& file, const Frame& frame, Actions& out) {
    const bool beside = begin_overlay("quit", frame.px(640), frame.px(200), frame);
    put_text(frame, frame.fonts.title, frame.theme.text, "Unsaved changes");
    wrapped_text(frame, frame.fonts.body, frame.theme.muted, unsaved_text(work, file));
    leave_space({0.0F, frame.px(8)});
    bool save = false;
    if (work.shown) {
        save =
            button(frame, "save", "Save and quit", {"Saves the session, then quits", "Key: Enter"});
        ImGui::SameLine(0.0F, frame.px(8));
    }
    const bool discard =
        button(frame, "discard", "Quit without saving", {"Deletes the changes", "Key: D"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool keep = button(frame, "keep", "Quit and keep",
                             {"The next start offers the changes", "Key: Ctrl+Q"});
    ImGui::SameLine(0.0F, frame.px(8));
    const bool stay = button(frame, "stay", "Cancel", {"Keeps attnscope open", "Key: Escape"});
    leave_space({0.0F, frame.px(8)});
    wrapped_text(
        frame, frame.fonts.body, frame.theme.muted,
        std::string(work.shown ? "Enter saves, " : "") +
            "D quits without saving, Ctrl+Q keeps the changes for the next start, Esc cancels.");
    end_overlay();
    const bool ctrl = ImGui::GetIO().KeyCtrl;
    if (save || (work.shown && is_pressed(Key::enter)))
        out.push_back(AnswerQuit{QuitAnswer::save});
    else if (discard || (!ctrl && is_pressed(Key::d)))
        out.push_back(AnswerQuit{QuitAnswer::discard});
    else if (keep || (ctrl && is_pressed(Key::q)))
        out.push_back(AnswerQuit{QuitAnswer::keep});
    else if (stay || beside || is_pressed(Key::escape))
        out.push_back(AnswerQuit{QuitAnswer::stay});
}

}  // namespace attn::ui
