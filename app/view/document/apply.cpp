#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/words.h"
#include "app/view/document/actions.h"
#include "app/view/document/edits.h"
#include "app/view/document/toy.h"
#include "app/view/session.h"
#include "app/view/workspaces.h"
#include "core/text.h"

namespace attn::view {
namespace {

/// A copy of the present document to change.
Document draft(const AppState& state) { return state.document(); }

/// W of the document's sizes from its seed; X stays.
void reseed(Document& document) {
    Inputs inputs = *document.inputs;
    inputs.params = toy_weights(document.seed, document.d_model, document.d_k, document.heads);
    set_inputs(document, std::move(inputs));
    document.name = "custom";
    document.note = fmt::format("toy weights, not trained: W from seed {}", document.seed);
}

/// X from the words, too: its width has changed.
void remake_vectors(Document& document) {
    Inputs inputs = *document.inputs;
    inputs.x = toy_vectors(document.tokens, document.d_model);
    if (!document.tokens_kv.empty())
        inputs.x_kv = toy_vectors(document.tokens_kv, document.d_model);
    set_inputs(document, std::move(inputs));
}

/// Says whose sizes these are where they cannot be set.
bool refuse_file(AppState& state, std::string_view what) {
    if (is_toy(state.document())) return false;
    say(state,
        fmt::format("{} belongs to the tensors of {}: it can be set for a toy sentence.", what,
                    state.document().title),
        Severity::warning);
    return true;
}

/// Whether the document may take these sizes; says why not.
bool sizes_fit(AppState& state, const Document& document) {
    if (!is_toy(document)) return true;  // its tensors decide, see with_size()
    const std::string wrong = check_sizes(document.d_model, document.d_k, document.heads);
    if (!wrong.empty()) say(state, wrong, Severity::error);
    return wrong.empty();
}

/// What a document says of itself: "The cat sat down. Toy weights, hand-set: sat looks at cat."
std::string opened_words(const Document& document) {
    if (is_toy(document)) return fmt::format("{}. {}", document.title, sentence(document.note));
    return fmt::format("{}: {}.", document.title, document.note);
}

/// The sentence `text` with what the present document says of sizes, seed, scaling and source.
Result<Document> retyped(const Document& old, const std::string& text) {
    if (!is_toy(old)) return make_document(text, 4, 4, 1, 1, AttentionSpec{});
    AttentionSpec spec = old.spec;
    spec.mask.padding.clear();  // it counted the old words
    return make_document(text, old.d_model, old.d_k, old.heads, old.seed, spec)
        .map([&](Document made) {
            if (old.tokens_kv.empty()) return made;
            Inputs inputs = *made.inputs;
            inputs.x_kv = old.inputs->x_kv;
            made.tokens_kv = old.tokens_kv;
            set_inputs(made, std::move(inputs));
            return made;
        });
}

}  // namespace

void carry_out(AppState& state, const LoadPreset& action) {
    auto document = load_preset(action.key);
    if (!document) return say(state, document.error());
    const std::string words = opened_words(*document);
    const std::string typed = document->sentence;
    state.step.selected.reset();
    const std::string title = fmt::format("“{}”", document->title);
    if (!edit_document(state, *std::move(document), title)) return;
    state.step.sentence_draft = typed;
    say(state, words);
}

void carry_out(AppState& state, const OpenFile& action) {
    state.opening = OpenRequest{action.path, ++state.opened};
    state.opening_done = 0.0;
    say(state, fmt::format("Opening {}.", action.path));
}

void carry_out(AppState& state, const OpenPlanted& action) {
    if (auto fine = large::check_planted(action.spec); !fine) return say(state, fine.error());
    state.large.draft = action.spec;
    state.opening = OpenRequest{action.spec, ++state.opened};
    state.opening_done = 0.0;
    say(state, fmt::format("Making a {}.", words_of(*state.opening)));
}

/// What cannot be opened changes nothing but the message.
void carry_out(AppState& state, const DocumentReady& action) {
    if (!state.opening) return;
    const OpenRequest request = *std::exchange(state.opening, std::nullopt);
    if (!action.opened) return say(state, action.fault, Severity::error);
    const Opened& opened = *action.opened;
    const std::string words = opened_words(*opened.document);
    const SaturationControls controls =
        opened.session ? opened.session->saturation() : state.saturation();
    const std::string title = fmt::format("“{}”", opened.document->title);
    if (!edit_document(state, *opened.document, title, controls)) return;
    forget(state);
    state.step.sentence_draft = state.document().sentence;
    if (opened.session) restore(state, *opened.session);
    const bool session = opened.session != nullptr;
    const auto* path = std::get_if<std::string>(&request.what);
    state.session_file = session && path ? *path : "";
    if (!session) say(state, opened.notes.empty() ? words : words + " " + sentence(opened.notes));
    if (!session) leave_lacking_workspace(state);
}

void carry_out(AppState& state, const DraftSentence& action) {
    state.step.sentence_draft = action.text;
}

void carry_out(AppState& state, const SetSentence& action) {
    auto document = retyped(state.document(), action.text);
    if (!document) return say(state, document.error());
    const std::string words =
        fmt::format("“{}”: toy weights, not trained", shortened(document->sentence, kMostTip));
    if (edit_document(state, *std::move(document), words)) {
        state.step.sentence_draft = state.document().sentence;
        say(state, words + fmt::format("; {} tokens.", state.document().tokens.size()));
    }
}

void carry_out(AppState& state, const SetModelWidth& action) {
    if (refuse_file(state, "d_model")) return;
    Document document = draft(state);
    if (action.d_model == document.d_model) return;
    document.d_model = action.d_model;
    if (!sizes_fit(state, document)) return;
    reseed(document);
    remake_vectors(document);
    document.note += ", X from the words";
    edit_document(
        state, std::move(document),
        fmt::format("d_model = {}: X made from the words again, W from the seed", action.d_model));
}

void carry_out(AppState& state, const SetKeyWidth& action) {
    if (refuse_file(state, "d_k")) return;
    Document document = draft(state);
    if (action.d_k == document.d_k) return;
    document.d_k = action.d_k;
    if (!sizes_fit(state, document)) return;
    reseed(document);
    edit_document(state, std::move(document),
                  fmt::format("d_k = {}: W made again from the seed, X stays", action.d_k));
}

void carry_out(AppState& state, const SetHeads& action) {
    Document document = draft(state);
    if (action.heads == document.heads) return;
    if (!is_toy(document) && !document.inputs->projects())
        return say(state,
                   fmt::format("Q of {} brings {} heads: their number cannot be set.",
                               document.title, document.size.heads),
                   Severity::warning);
    const bool own_keys = document.spec.kv_heads == document.spec.heads;
    document.heads = document.spec.heads = action.heads;
    if (own_keys) document.spec.kv_heads = action.heads;
    if (!sizes_fit(state, document)) return;
    const bool toy = is_toy(document);
    if (toy) reseed(document);
    edit_document(state, std::move(document),
                  fmt::format("{} head{}{}", action.heads, action.heads == 1 ? "" : "s",
                              toy ? fmt::format(" of width {}: W made again from the seed, X stays",
                                                state.document().d_k)
                                  : std::string(": the columns of W are split anew")));
}

void carry_out(AppState& state, const SetScaling& action) {
    Document document = draft(state);
    if (action.on == (document.spec.scale != ScaleKind::none)) return;
    document.spec.scale = action.on ? ScaleKind::sqrt_dk : ScaleKind::none;
    const std::string root =
        fmt::format("√{} = {:.4g}", document.d_k, std::sqrt(static_cast<double>(document.d_k)));
    edit_document(state, std::move(document),
                  action.on ? fmt::format("Scaling on: scores are divided by {}", root)
                            : fmt::format("Scaling off: scores are {} times larger", root));
}

void carry_out(AppState& state, const SetTemperature& action) {
    Document document = draft(state);
    if (action.temperature == document.spec.temperature) return;
    document.spec.temperature = action.temperature;
    edit_document(
        state, std::move(document),
        fmt::format("Temperature {}: scores are divided by it", number(action.temperature)));
}

void carry_out(AppState& state, const SetCausal& action) {
    Document document = draft(state);
    if (action.on == document.spec.mask.causal.has_value()) return;
    document.spec.mask.causal.reset();
    if (action.on) document.spec.mask.causal = CausalAlign::top_left;
    edit_document(state, std::move(document),
                  action.on ? "Causal mask on: no token sees a later one"
                            : "Causal mask off: every token sees every other");
}

void carry_out(AppState& state, const SetWindow& action) {
    Document document = draft(state);
    if (action.reach == document.spec.mask.window) return;
    if (action.reach && *action.reach < 0)
        return say(
            state,
            fmt::format("The window is {}: expected a whole number of at least 0.", *action.reach),
            Severity::error);
    document.spec.mask.window = action.reach;
    edit_document(state, std::move(document),
                  action.reach ? fmt::format("Window {0}: query i sees keys i − {0} to i + {0}",
                                             *action.reach)
                               : std::string("No window"));
}

void carry_out(AppState& state, const SetSeed& action) {
    if (refuse_file(state, "The seed")) return;
    Document document = draft(state);
    if (action.seed == document.seed) return;
    document.seed = action.seed;
    reseed(document);
    edit_document(state, std::move(document), fmt::format("Seed {}: new W", action.seed));
}

void carry_out(AppState& state, const ShowHead& action) {
    const Dimensions& size = state.document().size;
    const bool there = action.head >= 0 && action.head < size.heads && action.batch >= 0 &&
                       action.batch < size.batch;
    if (!there)
        return say(
            state,
            fmt::format("There is no head {} of sequence {}: the document has {} of each of {}, "
                        "counted from 0.",
                        action.head, action.batch, size.heads, size.batch),
            Severity::warning);
    const bool other = action.head != state.head || action.batch != state.batch;
    state.head = action.head;
    state.batch = action.batch;
    if (other) state.large.snapshot.reset();
    settle(state);
    say(state, size.batch == 1 ? fmt::format("Head {} of 0 … {}.", action.head, size.heads - 1)
                               : fmt::format("Sequence {}, head {}.", action.batch, action.head));
}

/// A look at another part of the document: no step of undo.
void carry_out(AppState& state, const ShowLayer& action) {
    const Document& present = state.document();
    const Index layers = static_cast<Index>(present.layers.size());
    if (action.layer < 0 || action.layer >= layers)
        return say(state,
                   fmt::format("There is no layer {}: the document has {}, counted from 0.",
                               action.layer, layers),
                   Severity::warning);
    if (action.layer == present.layer) return;
    Document document = draft(state);
    document.layer = action.layer;
    document.inputs = document.layers[static_cast<std::size_t>(action.layer)];
    const Edit before = std::exchange(state.history[state.now],
                                      Edit{std::make_shared<const Document>(std::move(document)),
                                           state.saturation(), state.history[state.now].words});
    if (auto done = compute(state); !done) {
        state.history[state.now] = before;
        return say(state, done.error());
    }
    settle(state);
    say(state, fmt::format("Layer {} of 0 … {}.", action.layer, layers - 1));
}

void carry_out(AppState& state, const SetBackend& action) {
    const std::string before = std::exchange(state.backend, action.name);
    if (auto done = compute(state); !done) {
        state.backend = before;
        return say(state, done.error());
    }
    say(state,
        state.backend == kAuto || state.backend == state.backend_used
            ? fmt::format("Computed by the backend {}.", state.backend_used)
            : fmt::format(
                  "From now on the backend {} computes; until it is done, {}'s numbers are shown.",
                  state.backend, state.backend_used));
}

/// Late answers, for a document that was left or a backend that is not chosen any more, change no numbers.
void carry_out(AppState& state, const TraceReady& action) {
    state.device_reasons[action.backend] = action.unavailable;
    const auto& document = state.shared_document();
    if (action.document != document || action.backend != state.backend) return;
    if (!action.trace) {
        state.backend = kAuto;
        state.backend_failure = action.failure;
        return;
    }
    state.trace = action.trace;
    state.trace_ms = action.elapsed_ms;
    state.backend_used = action.backend;
    state.device_document = document;
}

}  // namespace attn::view
