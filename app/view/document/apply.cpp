#include <cmath>

#include <fmt/format.h>

#include "app/view/apply_parts.h"
#include "app/view/common/format.h"
#include "app/view/document/toy.h"
#include "app/view/edits.h"

namespace attn::view {
namespace {

/// A copy of the present document to change.
Document draft(const AppState& state) { return state.document(); }

/// W of the document's sizes from its seed; X stays.
void reseed(Document& document) {
    Inputs inputs = *document.inputs;
    inputs.params = toy_weights(document.seed, document.d_model, document.d_k, document.heads);
    document.inputs = std::make_shared<const Inputs>(std::move(inputs));
    document.name = "custom";
    document.note = fmt::format("toy weights, not trained: W from seed {}", document.seed);
}

/// X from the words, too: its width has changed.
void remake_vectors(Document& document) {
    Inputs inputs = *document.inputs;
    inputs.x = toy_vectors(document.tokens, document.d_model);
    if (!document.tokens_kv.empty())
        inputs.x_kv = toy_vectors(document.tokens_kv, document.d_model);
    document.inputs = std::make_shared<const Inputs>(std::move(inputs));
}

/// Whether the document may take these sizes; says why not.
bool sizes_fit(AppState& state, const Document& document) {
    const std::string wrong = check_sizes(document.d_model, document.d_k, document.heads);
    if (!wrong.empty()) say(state, wrong, Severity::error);
    return wrong.empty();
}

/// The sentence `text` with what the present document says of sizes, seed, scaling and source.
Result<Document> retyped(const Document& old, const std::string& text) {
    AttentionSpec spec = old.spec;
    spec.mask.padding.clear();  // it counted the old words
    return make_document(text, old.d_model, old.d_k, old.heads, old.seed, spec)
        .map([&](Document made) {
            if (old.tokens_kv.empty()) return made;
            Inputs inputs = *made.inputs;
            inputs.x_kv = old.inputs->x_kv;
            made.tokens_kv = old.tokens_kv;
            made.inputs = std::make_shared<const Inputs>(std::move(inputs));
            return made;
        });
}

}  // namespace

void carry_out(AppState& state, const LoadPreset& action) {
    auto document = load_preset(action.key);
    if (!document) return say(state, document.error());
    const std::string words = fmt::format("{}: {}", document->title, document->note);
    const std::string sentence = document->sentence;
    state.step.selected.reset();
    if (!edit_document(state, *std::move(document), words)) return;
    state.step.sentence_draft = sentence;
    say(state, words);
}

void carry_out(AppState& state, const DraftSentence& action) {
    state.step.sentence_draft = action.text;
}

void carry_out(AppState& state, const SetSentence& action) {
    auto document = retyped(state.document(), action.text);
    if (!document) return say(state, document.error());
    const std::string words = fmt::format("“{}”: toy weights, not trained", document->sentence);
    if (edit_document(state, *std::move(document), words)) {
        state.step.sentence_draft = state.document().sentence;
        say(state, words + fmt::format("; {} tokens.", state.document().tokens.size()));
    }
}

void carry_out(AppState& state, const SetModelWidth& action) {
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
    document.heads = document.spec.heads = document.spec.kv_heads = action.heads;
    if (!sizes_fit(state, document)) return;
    reseed(document);
    edit_document(state, std::move(document),
                  fmt::format("{} head{} of width {}: W made again from the seed, X stays",
                              action.heads, action.heads == 1 ? "" : "s", document.d_k));
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

void carry_out(AppState& state, const SetSeed& action) {
    Document document = draft(state);
    if (action.seed == document.seed) return;
    document.seed = action.seed;
    reseed(document);
    edit_document(state, std::move(document), fmt::format("Seed {}: new W", action.seed));
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
    const auto& document = state.history[state.now].document;
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
