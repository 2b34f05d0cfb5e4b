#include "app/common/document/edits.h"
#include "app/common/document/call.h"

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/effect.h"
#include "app/common/document/loss.h"
#include "app/common/document/place.h"
#include "app/common/document/stored.h"
#include "app/common/document/toy.h"
#include "app/common/text.h"
#include "app/common/workspace.h"
#include "core/tensor.h"
#include "core/text.h"

namespace attn::view {
namespace {

/// Steps that undo remembers at least; so many more are dropped at once, which moves the others up.
constexpr std::size_t kMaxHistory = 500, kDropped = 50;
/// Bytes of tensors that it keeps; the present document is kept whatever it takes.
constexpr double kMaxHistoryBytes = 1024.0 * 1024.0 * 1024.0;

/// Drops the oldest steps where there are too many, or where their tensors take too much.
void trim(AppState& state) {
    double bytes = 0.0;
    const Document* last = nullptr;
    std::size_t retained = 0;
    for (auto edit = state.history.rbegin(); edit != state.history.rend(); ++edit, ++retained) {
        const bool same = last != nullptr && last->layers == edit->document->layers;
        bytes += same ? 0.0 : edit->document->bytes;
        const auto& paint = edit->document->spec.mask.custom;
        if (paint && (last == nullptr || last->spec.mask.custom != paint))
            bytes += static_cast<double>(paint->count());
        last = edit->document.get();
        if (retained > 0 && bytes > kMaxHistoryBytes) break;
    }
    if (retained >= kMaxHistory + kDropped) retained = kMaxHistory;
    state.history.erase(state.history.begin(),
                        state.history.end() - static_cast<std::ptrdiff_t>(retained));
    state.now = state.history.size() - 1;
}

void push(AppState& state, Edit edit) {
    ++state.edits;
    if (state.gesture && state.gesture->joins) {
        state.history[state.now] = std::move(edit);
        return;
    }
    state.history.resize(state.now + 1);
    state.history.push_back(std::move(edit));
    trim(state);
}

/// A step of undo that changes what `settings` has beside the present.
Edit step_of(Edit settings, const std::string& text) {
    settings.text = text;
    settings.opens = settings.typed = false;
    return settings;
}

/// What the present document is compared with: the step before; while a drag goes on, what was there when it began.
Moment moment_before(const AppState& state) {
    if (state.gesture && state.gesture->joins && state.effect) return state.effect->before;
    return {state.shared_document(), state.trace};
}

/// Of two documents that are the same model but for an edit.
void note_effect(AppState& state, Moment before) {
    state.effect = std::make_shared<const EditEffect>(
        compare(std::move(before), {state.shared_document(), state.trace}));
}

/// The words of an edit with what it did (effect_text()), as a sentence.
std::string with_effect(const AppState& state, std::string text) {
    if (text.ends_with('.')) text.pop_back();
    const std::string effect = effect_text(state);
    if (effect.empty()) return sentence(text);
    const bool has_colon = text.find(':') != std::string::npos;
    return sentence(fmt::format("{}{} {}", text, has_colon ? ";" : ":", effect));
}

/// What a toy's note and its heads' names say of weights holds for the scaling, temperature, call and masks that they were
/// said of: under others the note says where the numbers come from, and no name stays. Back at the former ones, both
/// are said again.
void update_note(const AppState& state, Document& document) {
    for (auto edit = state.history.rbegin(); edit != state.history.rend(); ++edit) {
        const Document& stated = *edit->document;
        if (stated.inputs != document.inputs || !weighs_alike(stated, document)) continue;
        document.note = stated.note;
        document.head_names = stated.head_names;
        return;
    }
    constexpr std::string_view kEdited = ", edited";
    const bool edited = document.note.ends_with(kEdited);
    document.note = toy_note(document);
    if (edited && !document.note.ends_with(kEdited)) document.note += kEdited;
    document.head_names.clear();
}

}  // namespace

bool edit_document(AppState& state, Document document, const std::string& text) {
    return edit_document(state, std::move(document), text, state.history[state.now]);
}

bool edit_document(AppState& state, Document document, const std::string& text, Edit settings) {
    const bool left = leave_stored(state.document(), document);
    auto sized = with_size(std::move(document));
    if (!sized) {
        show_message(state, sized.error());
        return false;
    }
    const Moment before = moment_before(state);
    settings.document = std::make_shared<const Document>(*std::move(sized));
    std::swap(state.history[state.now], settings);  // until it is computed
    const auto done = compute(state);
    std::swap(state.history[state.now], settings);
    if (!done) {
        show_message(state, done.error());
        return false;
    }
    push(state, step_of(std::move(settings), text));
    clamp_to_document(state);
    note_effect(state, before);
    show_message(state,
                 with_effect(state, text) + (left ? " All weights are now computed, because those "
                                                    "in the file belong to another call."
                                                  : ""));
    return true;
}

void edit_spec(AppState& state, Document document, const std::string& text) {
    if (is_toy(document)) update_note(state, document);
    edit_document(state, std::move(document), text);
}

void edit_controls(AppState& state, Slots controls, const std::string& text) {
    if (controls == state.history[state.now].controls) return;
    Edit next = state.history[state.now];
    next.controls = std::move(controls);
    push(state, step_of(std::move(next), text));
    show_message(state, sentence(text));
}

void travel(AppState& state, std::size_t to, const std::string& text) {
    const std::size_t from = state.now;
    const Moment before{state.shared_document(), state.trace};
    const bool other = state.history[std::max(from, to)].opens;
    const bool same = state.history[from].document == state.history[to].document;
    leave_typed_text(state);
    state.now = to;
    ++state.edits;
    if (auto done = same ? Result<void>{} : compute(state); !done) {
        state.now = from;
        return show_message(state, done.error());
    }
    if (!same) state.sentence_draft = text_of(state.document());
    clamp_to_document(state);
    if (same) return show_message(state, text);
    state.effect.reset();
    if (other) return show_message(state, text);
    note_effect(state, before);
    show_message(state, with_effect(state, text));
}

std::optional<UndoHint> undo_hint(const AppState& state) {
    if (is_toy(state.document())) return std::nullopt;
    for (std::size_t n = state.now; n-- > 0;) {
        const Document& before = *state.history[n].document;
        if (is_toy(before) && !is_empty(before))
            return UndoHint{fmt::format("Back to “{}”", before.title), "Like Ctrl+Z",
                            Actions(state.now - n, Undo{})};
    }
    const auto first = std::ranges::find(state.presets, kFirstPreset, &Preset::key);
    if (first == state.presets.end()) return std::nullopt;
    return UndoHint{
        fmt::format("Open “{}”", first->title), "Ctrl+Z goes back", {LoadPreset{first->key}}};
}

void leave_typed_text(AppState& state) {
    if (!state.opening) return;
    const auto* text = std::get_if<ModelText>(&state.opening->what);
    if (text != nullptr && text->typed) state.opening.reset();
}

void opened_another(AppState& state) {
    leave_typed_text(state);
    state.history[state.now].opens = true;
    state.effect.reset();
    state.places = {};
    state.chosen.reset();
    clamp_to_document(state);
}

void clamp_to_document(AppState& state) {
    clamp_place(state);
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->clamp_to_document(state);
}

void clear_caches(AppState& state) {
    state.batch = state.head = 0;
    clear_places(state);
    clear_loss(state);
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->clear_cache(state);
    clamp_to_document(state);
}

void show_message(AppState& state, std::string text, Severity severity) {
    if (severity != Severity::info) text = sentence(std::move(text));
    state.message = {shortened(text, kMostMessage), severity};
    if (state.notice && state.notice->text.empty()) state.notice.reset();
}

void show_muted(AppState& state, std::string text) {
    show_message(state, std::move(text));
    state.message.muted = true;
}

void show_message(AppState& state, const Error& error) { show_error(state, error.text()); }

void warn_of_backend(AppState& state) {
    if (state.backend_failure.empty()) return;
    warn(state, fmt::format("{}; computed by {} instead", std::exchange(state.backend_failure, {}),
                            state.backend_used));
}

}  // namespace attn::view
