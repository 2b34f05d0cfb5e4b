#include <cmath>

#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/model_text.h"
#include "app/common/document/opened.h"
#include "app/common/document/toy.h"
#include "app/common/format.h"
#include "app/common/state_text.h"
#include "app/common/text.h"
#include "app/common/workspace.h"
#include "core/given.h"
#include "core/large/planted.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Other sizes of a toy. Key/value heads and d_v that are as many as heads and d_k follow these.
void resize(Document& document, Index d_model, Index d_k, Index heads) {
    ToyShape to = toy_shape(document);
    if (to.kv_heads == to.heads) to.kv_heads = heads;
    if (to.d_v == to.d_k) to.d_v = d_k;
    to.d_model = d_model;
    to.d_k = d_k;
    to.heads = heads;
    reshape(document, to);
}

/// "every number that was there stays, new entries of W come from seed 1": what another size does to the weights.
std::string resized_text(const Document& before, Index was, Index is, std::string_view grown) {
    std::string text =
        is > was ? fmt::format("existing numbers stay, {} seed {}", grown, before.seed)
                 : std::string("numbers beyond the new size are dropped, the others stay");
    if (!before.hand_set.empty())
        text += fmt::format("; the hand-set weights of “{}” may no longer show their pattern",
                            before.hand_set);
    return text;
}

/// Says whose sizes these are where they cannot be set.
bool refuse_file(AppState& state, std::string_view what) {
    if (is_toy(state.document())) return false;
    warn(state, "{} comes from the tensors of {}. You can set it only for a toy sentence.", what,
         state.document().title);
    return true;
}

/// Whether a toy may take these sizes; says why not.
bool sizes_fit(AppState& state, Index d_model, Index d_k, Index heads) {
    const std::string wrong = check_sizes(d_model, d_k, heads);
    if (!wrong.empty()) show_error(state, wrong);
    return wrong.empty();
}

struct WidthChange {
    std::string_view name;
    Index was, is;
};

void set_width(AppState& state, const WidthChange& change, Index d_model, Index d_k,
               std::string_view grown) {
    Document document = state.document();
    if (change.was == change.is || !sizes_fit(state, d_model, d_k, document.heads)) return;
    const std::string text = fmt::format("{} {} → {}: {}", change.name, change.was, change.is,
                                         resized_text(document, change.was, change.is, grown));
    resize(document, d_model, d_k, document.heads);
    edit_document(state, std::move(document), text);
}

/// "divided by √4 = 2", "multiplied by 0.3".
std::string factor_text(const Document& document) {
    if (document.spec.scale == ScaleKind::q_and_k)
        return fmt::format("products of queries and keys times {}^(−¼) = {} each",
                           document.size.d_k,
                           significant(operand_factor(document.spec, document.size.d_k), 4));
    if (document.spec.scale == ScaleKind::value)
        return "multiplied by " + significant(document.spec.scale_value, 4);
    if (document.size.d_k == 0) return "divided by √d_k";
    return fmt::format("divided by √{} = {}", document.size.d_k,
                       significant(std::sqrt(static_cast<double>(document.size.d_k)), 4));
}

/// What a document says of itself: "The cat sat down. Toy weights, hand-set: sat looks at cat."
std::string opened_text(const Document& document) {
    if (is_toy(document)) return fmt::format("{}. {}", document.title, sentence(document.note));
    if (document.note.starts_with(document.title + ",")) return document.note + ".";
    return fmt::format("{}: {}.", document.title, document.note);
}

/// "; what is shown is still of “The cat”": where a text that was typed cannot be read.
std::string retained_text(const AppState& state, const ModelText* text) {
    if (text == nullptr || !text->typed) return {};
    if (text_of(state.document()).empty() || !state.document().groups.empty())
        return "; the shown document stays";
    return fmt::format("; the screen still shows “{}”",
                       shortened(text_of(state.document()), kMostShown));
}

/// "; new weights: the hand-set ones belong to “The cat sat down”"; "" if none were hand-set.
std::string given_up_text(const Document& before, const Document& after) {
    if (before.hand_set.empty() || before.hand_set == after.hand_set) return {};
    return fmt::format("; new weights: the hand-set ones belong to “{}”", before.hand_set);
}

/// Whether the file that is open, read alike, was asked for once more.
bool reads_again(const AppState& state, const OpenRequest& request, const Opened& opened) {
    const auto* const now = std::get_if<FileOrigin>(&state.document().origin);
    const auto* const read = std::get_if<FileOrigin>(&opened.document->origin);
    return now != nullptr && read != nullptr && *now == *read && opened.session == nullptr &&
           std::holds_alternative<std::string>(request.what);
}

/// Of a file that is no session, but of which one was made, as of a corpus: not saved there, and seen as what is open.
bool is_made(const std::string& path) { return std::filesystem::path(path).extension() != ".json"; }

/// What is looked at stays, as far as it is there; what was edited is a step of undo away.
void take_again(AppState& state, const Opened& opened) {
    Document next = *opened.document;
    look_at_layer(next, std::min<Index>(state.document().layer, std::ssize(next.layers) - 1));
    const std::string text = next.title + ", read again";
    if (!edit_document(state, std::move(next), text)) return;
    state.history[state.now].opens = true;
    state.sentence_draft = text_of(state.document());
    if (!opened.notes.empty()) state.notice = {sentence(text_of(opened.notes)), Severity::warning};
    leave_unavailable_workspace(state);
}

/// What a file gives was scaled before, or raw scores as its options say; a temperature divides those still.
bool refuse_given(AppState& state, bool temperature) {
    const Document& document = state.document();
    if (document.given.empty() || !is_empty(document)) return false;  // Q and K beside are scaled
    const bool raw = document.given.front()->stage == Stage::scores;
    if (raw && temperature) return false;
    warn(state, "{} gives {}: {}.", document.title,
         document.given.front()->stage == Stage::weights ? "weights" : "scores",
         raw ? "how they are scaled is chosen in Arrays (3 T)" : "they were scaled before");
    return true;
}

/// Whether that layer is looked at now, or says why not.
bool goes_to_layer(AppState& state, HeadPlace place) {
    if (!is_there(state.document(), place)) {
        warn(state, missing_head_text(state.document(), place));
        return false;
    }
    if (place.layer != state.document().layer) carry_out(state, ShowLayer{place.layer});
    return place.layer == state.document().layer;
}

/// Presets of earlier versions, and the built-in model that replaces each: it reads the same sentence. Append-only:
/// journals and command lines that people have must open for good.
constexpr std::pair<std::string_view, std::string_view> kFormerPresets[] = {
    {"the-animal-didnt-cross", "pronouns"},
};

}  // namespace

void carry_out(AppState& state, const LoadPreset& action) {
    std::string_view model = action.key;  // the built-in models are examples too
    for (const auto& [former, now] : kFormerPresets)
        if (action.key == former) model = now;
    if (!built_in_model(model).empty()) return carry_out(state, OpenFile{std::string(model)});
    auto document = load_preset(action.key);
    if (!document) return show_message(state, document.error());
    const std::string text = opened_text(*document);
    const std::string typed = document->sentence;
    const std::string title = fmt::format("“{}”", document->title);
    if (!edit_document(state, *std::move(document), title)) return;
    opened_another(state);
    state.sentence_draft = typed;
    show_message(state, text);
}

void carry_out(AppState& state, const OpenFile& action) {
    const auto ending = std::filesystem::path(action.path).extension();
    if (takes_image(state.document()) && (ending == ".png" || ending == ".PNG")) {
        state.prompt.reset();
        return carry_out(state, ReadImage{action.path});
    }
    if (state.document().reads_sound && (ending == ".wav" || ending == ".WAV")) {
        state.prompt.reset();
        return carry_out(state, TypeText{action.path});
    }
    OpenRequest request{action.path, ++state.opened, action.options.value_or("")};
    if (auto model = model_text_of(action)) request.what = *std::move(model);
    state.opening = std::make_shared<const OpenRequest>(std::move(request));
    state.opening_done = 0.0;
    show_message(state, "Opening {}.", description_of(*state.opening));
}

void carry_out(AppState& state, const OpenPlanted& action) {
    if (auto valid = large::check_planted(action.spec); !valid)
        return show_message(state, valid.error());
    state.opening = std::make_shared<const OpenRequest>(OpenRequest{action.spec, ++state.opened});
    state.opening_done = 0.0;
    show_message(state, "Making a {}.", description_of(*state.opening));
}

/// What cannot be opened changes nothing but the message.
void carry_out(AppState& state, const DocumentReady& action) {
    if (!state.opening) return;
    const OpenRequest request = *std::exchange(state.opening, nullptr);
    const auto* text = std::get_if<ModelText>(&request.what);
    if (!action.opened) return show_error(state, action.fault + retained_text(state, text));
    if (const auto* path = std::get_if<std::string>(&request.what);
        path && state.prompt && state.prompt->kind == PromptKind::open &&
        state.prompt->path == *path)
        state.prompt.reset();
    const Opened& opened = *action.opened;
    if (text != nullptr && text->typed) return take_typed(state, *opened.document);
    for (const WorkspaceInfo* workspace : state.workspaces) workspace->opened(state, opened);
    if (opened.run) return;
    if (reads_again(state, request, opened)) return take_again(state, opened);
    const std::string description = opened_text(*opened.document);
    const AppState& settings = opened.session ? *opened.session : state;
    const std::string title = fmt::format("“{}”", opened.document->title);
    if (!edit_document(state, *opened.document, title, settings.history[settings.now])) return;
    opened_another(state);
    clear_caches(state);
    state.sentence_draft = text_of(state.document());
    const auto* path = std::get_if<std::string>(&request.what);
    const bool file = path && !is_state_text(*path);
    const bool made = file && is_made(*path);
    if (opened.session) {
        AppState session = *opened.session;
        if (made) static_cast<WindowSettings&>(session) = state;
        restore(state, session);
    }
    if (const auto* trained = std::get_if<TrainedOrigin>(&request.what))
        state.head = std::min(trained->head, opened.document->size.heads - 1);
    const bool session = opened.session != nullptr;
    const bool recovered = state.recovery && path && state.recovery->path == *path;
    state.session_file = session && file && !made && !recovered ? *path : "";
    if (recovered) state.recovery.reset();
    if (session && !opened.notes.empty())
        state.notice = {sentence(text_of(opened.notes)), Severity::warning};
    if (!session) state.unknown_fields.clear();
    if (!session)
        show_message(state, opened.notes.empty()
                                ? description
                                : description + " " + sentence(text_of(opened.notes)));
    if (!session) leave_unavailable_workspace(state);
}

void carry_out(AppState& state, const DraftSentence& action) { state.sentence_draft = action.text; }
void carry_out(AppState& state, const SetSentence& action) {
    const Document& before = state.document();
    auto document = is_toy(before) ? retyped(before, action.text)
                                   : make_document(action.text, 4, 4, 1, 1, AttentionSpec{});
    if (!document) return show_message(state, document.error());
    const std::size_t tokens = document->tokens.size();
    const std::string text =
        fmt::format("“{}”: {} token{}, {}{}", shortened(document->sentence), tokens,
                    tokens == 1 ? "" : "s", document->note, given_up_text(before, *document));
    const bool opens = !is_toy(before);
    const std::string replaced = before.title;
    if (!edit_document(state, *std::move(document), text)) return;
    if (opens) opened_another(state);
    state.sentence_draft = state.document().sentence;
    if (opens) warn(state, "{}. It replaced {}; Ctrl+Z brings that back.", text, replaced);
}

void carry_out(AppState& state, const SetModelWidth& action) {
    if (refuse_file(state, "d_model")) return;
    const Document& now = state.document();
    set_width(state, {"d_model", now.d_model, action.d_model}, action.d_model, now.d_k,
              "new columns of X come from the words, new rows of W from");
}

void carry_out(AppState& state, const SetKeyWidth& action) {
    if (refuse_file(state, "d_k")) return;
    const Document& now = state.document();
    set_width(state, {"d_k", now.d_k, action.d_k}, now.d_model, action.d_k,
              "new columns of each head come from");
}

/// A toy's heads are added or dropped; a file's W keeps its numbers, and their columns are split anew.
void carry_out(AppState& state, const SetHeads& action) {
    Document document = state.document();
    const Index was = document.heads;
    if (action.heads == was) return;
    if (!is_toy(document) && !document.inputs->projects())
        return warn(state, "Q of {} has {}: you cannot change this number.", document.title,
                    counted(document.size.heads, "head"));
    std::string text = "the columns of W are split among the new heads";
    if (is_toy(document)) {
        if (!sizes_fit(state, document.d_model, document.d_k, action.heads)) return;
        text = resized_text(document, was, action.heads, "new heads come from");
        resize(document, document.d_model, document.d_k, action.heads);
    } else {
        const bool own_keys = document.spec.kv_heads == document.spec.heads;
        document.heads = document.spec.heads = action.heads;
        if (own_keys) document.spec.kv_heads = action.heads;
    }
    edit_document(state, std::move(document),
                  fmt::format("{} head{}: {}", action.heads, action.heads == 1 ? "" : "s", text));
}

void carry_out(AppState& state, const SetScaling& action) {
    Document document = state.document();
    if (action.on == (document.spec.scale != ScaleKind::none)) return;
    if (refuse_given(state, false)) return;
    const std::string before = factor_text(document);
    document.spec.scale = action.on ? ScaleKind::sqrt_dk : ScaleKind::none;
    const std::string text = action.on
                                 ? fmt::format("Scaling on: scores are {}", factor_text(document))
                                 : fmt::format("Scaling off: scores are no longer {}", before);
    edit_spec(state, std::move(document), text);
}

void carry_out(AppState& state, const SetTemperature& action) {
    Document document = state.document();
    if (action.temperature == document.spec.temperature || refuse_given(state, true)) return;
    document.spec.temperature = action.temperature;
    edit_spec(state, std::move(document),
              fmt::format("Temperature {}: scores are divided by it", number(action.temperature)));
}

/// W anew from another seed; X stays. No W_O stays none.
void carry_out(AppState& state, const SetSeed& action) {
    if (refuse_file(state, "The seed")) return;
    Document document = state.document();
    if (action.seed == document.seed) return;
    document.seed = action.seed;
    Inputs inputs = *document.inputs;
    const bool mixes = !inputs.params[Param::w_o].empty();
    inputs.params = toy_weights(document.seed, toy_shape(document));
    if (!mixes) inputs.params[Param::w_o] = {};
    set_inputs(document, std::move(inputs));
    document.name = "custom";
    document.hand_set.clear();
    document.head_names.clear();
    document.note = toy_note(document);
    const std::string text = fmt::format("Seed {}: new random entries of W, X is kept{}",
                                         action.seed, given_up_text(state.document(), document));
    edit_document(state, std::move(document), text);
}

void carry_out(AppState& state, const ShowHead& action) {
    if (action.layer && !goes_to_layer(state, {*action.layer, action.head})) return;
    const Dimensions& size = state.document().size;
    const Index batch = action.batch.value_or(state.batch);
    const bool there =
        action.head >= 0 && action.head < size.heads && batch >= 0 && batch < size.batch;
    if (!there)
        return warn(state, fmt::format("There is no head {} of sequence {}: the document has {} "
                                       "and {}, counted from 0.",
                                       action.head, batch, counted(size.heads, "head"),
                                       counted(size.batch, "sequence")));
    state.head = action.head;
    state.batch = batch;
    clamp_to_document(state);
    if (action.layer) return show_message(state, "Layer {}, head {}.", *action.layer, action.head);
    show_message(state, size.batch == 1
                            ? fmt::format("Head {} of heads 0 to {}.", action.head, size.heads - 1)
                            : fmt::format("Sequence {}, head {}.", batch, action.head));
}

/// A look at another part of the document: no step of undo.
void carry_out(AppState& state, const ShowLayer& action) {
    const Document& present = state.document();
    const Index layers = static_cast<Index>(present.layers.size());
    if (action.layer < 0 || action.layer >= layers)
        return warn(state, "There is no layer {}: the document has {}, counted from 0.",
                    action.layer, layers);
    if (action.layer == present.layer) return;
    Document document = state.document();
    look_at_layer(document, action.layer);
    auto sized = with_size(std::move(document));  // layers may differ in their widths
    if (!sized) return show_message(state, sized.error());
    const Edit before = state.history[state.now];
    state.history[state.now].document = std::make_shared<const Document>(*std::move(sized));
    if (auto done = compute(state); !done) {
        state.history[state.now] = before;
        return show_message(state, done.error());
    }
    state.effect.reset();
    clamp_to_document(state);
    show_message(state, "Layer {} (0–{}).", action.layer, layers - 1);
}

void carry_out(AppState& state, const SetBackend& action) {
    if (action.name != kAuto && find_backend(action.name, state.backends) == nullptr &&
        !stages_lack(state.document()).empty())
        return show_error(state, "there is no backend {} here", shortened(action.name));
    const std::string before = std::exchange(state.backend, action.name);
    if (auto done = compute(state); !done) {
        state.backend = before;
        return show_message(state, done.error());
    }
    clamp_to_document(state);  // it may keep other stages
    show_message(state, state.backend == kAuto || state.backend == state.backend_used
                            ? fmt::format("Computed by the backend {}.", state.backend_used)
                            : fmt::format("The backend {} is computing. Until it finishes, the "
                                          "screen shows the numbers of {}.",
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
