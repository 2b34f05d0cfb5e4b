#pragma once

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/common/action.h"
#include "app/common/state.h"

namespace attn::view {

// The history: what an action does to the document or to the settings of a workspace.

/// Makes `document` the present one and computes it. When that fails nothing changes but the message.
/// True when it was done.
bool edit_document(AppState& state, Document document, const std::string& text);
/// The same together with the settings of the workspaces in `settings`: one step.
bool edit_document(AppState& state, Document document, const std::string& text, Edit settings);
/// An edit of its options alone; the note of a toy is then as it holds under them.
void edit_spec(AppState& state, Document document, const std::string& text);
/// Other settings of workspaces, from those of the present Edit: one step, unless they are the same.
void edit_controls(AppState& state, Slots controls, const std::string& text);
/// The same of one workspace.
template <class T>
void edit_controls(AppState& state, T controls, const std::string& text) {
    Slots all = state.history[state.now].controls;
    all.edit<T>() = std::move(controls);
    edit_controls(state, std::move(all), text);
}

/// Goes to history[to] and computes it.
void travel(AppState& state, std::size_t to, const std::string& text);

/// From what is no sentence to the one before it, or to the first preset; nullopt: a sentence is shown, or there is none.
struct UndoHint {
    std::string text;  // "Back to “The cat sat down”"
    std::string tip;
    Actions actions;
};
std::optional<UndoHint> undo_hint(const AppState& state);

/// Makes `state` look as `session` does, whose document it has already; its history stays.
void restore(AppState& state, const AppState& session);
/// Brings head, stages, selections and searches of every workspace back inside what the present document has.
void clamp_to_document(AppState& state);
/// Another document was opened: nothing of the last one is left, neither where it was looked at nor what was found.
void clear_caches(AppState& state);

/// Tells the person; warnings and errors as sentences.
void show_message(AppState& state, std::string text, Severity severity = Severity::info);
/// The same for an error.
void show_message(AppState& state, const Error& error);
/// What the muted line says, for windows that are too low for one.
void show_muted(AppState& state, std::string text);
inline void warn(AppState& state, std::string text) {
    show_message(state, std::move(text), Severity::warning);
}
inline void show_error(AppState& state, std::string text) {
    show_message(state, std::move(text), Severity::error);
}
/// The same with what stands at each {} of the words.
template <class First, class... More>
void show_message(AppState& state, fmt::format_string<First, More...> text, First&& first,
                  More&&... more) {
    show_message(state, fmt::format(text, std::forward<First>(first), std::forward<More>(more)...));
}
template <class First, class... More>
void warn(AppState& state, fmt::format_string<First, More...> text, First&& first, More&&... more) {
    warn(state, fmt::format(text, std::forward<First>(first), std::forward<More>(more)...));
}
template <class First, class... More>
void show_error(AppState& state, fmt::format_string<First, More...> text, First&& first,
                More&&... more) {
    show_error(state, fmt::format(text, std::forward<First>(first), std::forward<More>(more)...));
}
/// A chosen backend that failed was left for another: nothing is lost, but the person is told.
void warn_of_backend(AppState& state);

/// What was typed for a model and is not computed yet is not wanted any more.
void leave_typed_text(AppState& state);
/// The last edit opened another document: nothing of it is compared with the one before, and no place is kept.
void opened_another(AppState& state);

}  // namespace attn::view
