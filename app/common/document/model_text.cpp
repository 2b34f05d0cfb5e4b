#include "app/common/document/model_text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/actions.h"
#include "app/common/document/edits.h"
#include "app/common/document/interventions.h"
#include "app/common/format.h"
#include "app/common/words.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostQuoted = 40;  // code points of a text in a sentence

std::string quoted_text(const std::string& text) {
    return fmt::format("“{}”", shortened(text, kMostQuoted));
}

bool is_blank(const std::string& text) {
    return text.find_first_not_of(" \t\n\r") == std::string::npos;
}

/// What an earlier typing made is a step that is done.
void begin_typing(AppState& state) {
    if (state.gesture) return;
    state.gesture.emplace();
    state.history[state.now].typed = false;
}

/// While typing goes on: the text before it began.
std::string compared_text(const AppState& state, const ModelOrigin& model) {
    if (!state.document().read_out.has_vector) return {};
    return state.history[state.now].typed ? model.before : model.text;
}

/// A mask that was made for other tokens has no meaning for these.
void drop_masks(AttentionSpec& spec, bool other_size, Index tokens,
                std::vector<std::string>& dropped) {
    MaskSpec& mask = spec.mask;
    if (mask.custom && other_size) {
        mask.custom = {};
        dropped.emplace_back("the painted mask");
    }
    const bool pads = std::ranges::any_of(mask.padding, [&](Index keys) { return keys > tokens; });
    if (!pads) return;
    mask.padding.clear();
    dropped.emplace_back("the padding mask");
}

/// What the person set goes on to hold. What cannot is named in `dropped`.
void keep_settings(const Document& before, Document& next, std::vector<std::string>& dropped) {
    const auto layers = static_cast<Index>(next.layers.size());
    look_at_layer(next, std::min(before.layer, layers - 1));
    if (group_of(before) != group_of(next)) return;  // another stack's are its own
    next.targets = before.targets;
    const AttentionSpec own = std::exchange(next.spec, before.spec);
    const auto tokens = static_cast<Index>(next.tokens.size());
    const bool other_size = tokens != static_cast<Index>(before.tokens.size());
    if (before.layer_specs.size() == next.layer_specs.size()) next.layer_specs = before.layer_specs;
    for (std::vector<std::string> same; AttentionSpec & spec : next.layer_specs)
        drop_masks(spec, other_size, tokens, same);
    drop_masks(next.spec, other_size, tokens, dropped);
    next.painted = before.painted && next.spec.mask.custom != nullptr;
    if (!with_size(next)) {  // the files of the model changed
        next.spec = own;
        next.painted = false;
        dropped.emplace_back("other options than the model's");
    }
    const std::size_t edits = before.edits.size();
    if (edits > 0)
        dropped.push_back(fmt::format("{} edited number{}", edits, edits == 1 ? "" : "s"));
    const ModelOrigin* const was = model_of(before);
    const ModelOrigin* const is = model_of(next);
    if (was == nullptr || is == nullptr || was->text == is->text) return;
    const auto count = [&](std::size_t lost, const char* what, const char* many) {
        if (lost > 0) dropped.push_back(fmt::format("{} {}", lost, lost == 1 ? what : many));
    };
    if (is->changes.rows.empty()) count(was->changes.rows.size(), "replaced row", "replaced rows");
    if (is->changes.patches.empty()) count(was->changes.patches.size(), "patch", "patches");
}

/// "Without layer 0 head 1 …; dropped, as made for the run before: 1 edited number".
std::string switched_words(const Document& document, const std::vector<std::string>& dropped) {
    std::string words = without_words(document);
    if (words.empty()) words = "No intervention is left";
    if (words.ends_with('.')) words.pop_back();
    if (!dropped.empty())
        words += fmt::format("; dropped, as made for the run before: {}", fmt::join(dropped, ", "));
    return words;
}

/// What a model's logits are of.
std::string_view likeliest_words(const Document& document) {
    return reads_image(document) ? "class" : "next token";
}

std::string next_words(const Document& document, const NextTokenEffect& next) {
    const InterventionEffects& effects = *document.effects;
    const std::string_view what = likeliest_words(document);
    const std::string kl = fmt::format("KL(untouched‖now) {} nats", number(next.kl));
    const std::string before = fmt::format("“{}”, p {} → {}", shown_token(effects.before),
                                           number(next.p_before), number(next.q_before));
    if (next.after == next.before) return fmt::format("the {} stays {}; {}.", what, before, kl);
    return fmt::format("the {} is “{}”, p {} → {}, no longer {}; {}.", what,
                       shown_token(effects.after), number(next.p_after), number(next.q_after),
                       before, kl);
}

/// "“The cat”: 2 tokens; similarity to “A dog”: 0.831; dropped, as made for the text before: 1 edited number".
std::string typed_words(const Document& document, const std::vector<std::string>& dropped) {
    const std::size_t tokens = document.tokens.size();
    const bool blank = text_of(document).empty();  // an image that is not given
    std::string words =
        fmt::format("{}: {} token{}", blank ? "No image" : quoted_text(text_of(document)), tokens,
                    tokens == 1 ? "" : "s");
    if (const std::string said = read_out_words(document); !said.empty())
        words += fmt::format("; {}", said);
    if (!dropped.empty())
        words += fmt::format("; dropped, as made for the {} before: {}",
                             reads_image(document) ? "image" : "text", fmt::join(dropped, ", "));
    return words;
}

/// "cross: 7 × 8 weights of each head".
std::string group_words(const Document& document) {
    const std::string said = read_out_words(document);
    return fmt::format("{}: {} × {} weights of each head{}{}", group_of(document), document.size.tq,
                       document.size.tk, said.empty() ? "" : "; ", said);
}

}  // namespace

void carry_out(AppState& state, const TypeText& action) {
    const ModelOrigin* const model = model_of(state.document());
    if (model == nullptr)
        return warn(state, "no model is open: a model's folder reads what is typed");
    if (model->image)
        return warn(
            state, fmt::format("{} reads an image: what is typed is no text for it. Drop a PNG, or "
                               "open one (Ctrl+O).",
                               state.document().title));
    const ModelOrigin now = *wanted_model(state);
    // rows and patches are made for the tokens of one text
    ModelChanges changes = now.text == model->text ? now.changes : model->changes;
    changes.off = now.changes.off;
    state.sentence_draft = action.text;
    leave_typed_text(state);
    begin_typing(state);
    const bool blank = is_blank(action.text);
    ModelOrigin wanted = *model;
    wanted.group = now.group;
    if (!blank && action.text != model->text) {
        wanted.text = action.text;
        wanted.before = compared_text(state, *model);
        wanted.changes = {changes.off};
        return ask_model(state, std::move(wanted));
    }
    wanted.changes = changes;
    if (changes != model->changes) ask_model(state, std::move(wanted));
    if (!blank) return say(state, typed_words(state.document(), {}) + ".");
    warn(state,
         fmt::format("the text is empty: what is shown is still of {}", quoted_text(model->text)));
}

void carry_out(AppState& state, const ReadImage& action) {
    const ModelOrigin* const model = wanted_model(state);
    if (model == nullptr || !model->image)
        return warn(state,
                    fmt::format("{}: no model that reads images is open; open its folder first",
                                shortened(action.path)));
    if (is_blank(action.path)) return warn(state, "no image is named; expected the path of a PNG");
    leave_typed_text(state);
    state.sentence_draft = action.path;
    say(state, fmt::format("Reading {}.", shortened(action.path)));
    ModelOrigin wanted = *model;
    if (wanted.text != action.path) wanted.changes = {wanted.changes.off};
    wanted.text = action.path;
    ask_model(state, std::move(wanted));
}

void carry_out(AppState& state, const ShowGroup& action) {
    const std::vector<std::string>& groups = state.document().groups;
    const ModelOrigin* const model = wanted_model(state);
    if (model == nullptr || std::ranges::find(groups, action.group) == groups.end())
        return warn(state, fmt::format("there is no group {}; expected one of those of the "
                                       "model that is open",
                                       shortened(action.group)));
    ModelOrigin wanted = *model;
    wanted.group = action.group == groups.front() ? "" : action.group;
    wanted.changes = {};
    if (wanted != *model_of(state.document())) return ask_model(state, std::move(wanted));
}

std::string group_of(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    if (model == nullptr || document.groups.empty()) return {};
    return model->group.empty() ? document.groups.front() : model->group;
}

std::optional<ModelText> model_text_of(const OpenFile& action) {
    if (!action.text && !action.image) return std::nullopt;
    ModelOrigin model{action.path, action.text ? *action.text : *action.image};
    model.image = !action.text;  // beside a text it is the other tower's
    model.beside = action.beside.value_or(action.text ? action.image.value_or("") : "");
    model.group = action.group.value_or("");
    return ModelText{std::move(model)};
}

const ModelOrigin* wanted_model(const AppState& state) {
    if (state.opening)
        if (const auto* text = std::get_if<ModelText>(&state.opening->what);
            text != nullptr && text->typed)
            return &text->model;
    return model_of(state.document());
}

void ask_model(AppState& state, ModelOrigin wanted) {
    state.opening = OpenRequest{ModelText{std::move(wanted), true}, ++state.opened};
    state.opening_done = 0.0;
}

void take_typed(AppState& state, const Document& read) {
    const Document& before = state.document();
    Document next = read;
    std::vector<std::string> dropped;
    keep_settings(before, next, dropped);
    const bool typed = text_of(next) != text_of(before);
    const bool other = group_of(next) != group_of(before);
    const std::string words = other   ? group_words(next)
                              : typed ? typed_words(next, dropped)
                                      : switched_words(next, dropped);
    if (state.gesture) state.gesture->joins = typed && state.history[state.now].typed;
    if (!edit_document(state, std::move(next), words)) return;
    state.history[state.now].typed = typed;
    say(state, words + ".");
}

std::string without_words(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    if (model == nullptr || model->changes.empty()) return {};
    std::string without = changes_words(model->changes);
    without.front() = 'W';  // "without", "with"
    if (!document.effects) return without + ".";
    const RunEffects& run = document.effects->run;
    if (run.next) return fmt::format("{} {}", without, next_words(document, *run.next));
    if (run.cosine)
        return fmt::format(
            "{} the text's vector has cosine similarity {:.6f} to that of the untouched run.",
            without, *run.cosine);
    return without + " there is no finite output of the model to compare.";
}

std::string read_out_words(const Document& document) {
    const ReadOut& out = document.read_out;
    if (!out.next.empty()) {
        std::vector<std::string> words;
        for (const NextToken& token : out.next)
            words.push_back(
                fmt::format("{} {}", shown_token(token.text), percent(token.probability)));
        return fmt::format("the model's {}: {}", likeliest_words(document),
                           fmt::join(words, reads_image(document) ? "; " : ", "));
    }
    if (!out.similarity) return {};
    const ModelOrigin* const model = model_of(document);
    const double rounded = std::round(*out.similarity * 1000.0) / 1000.0 + 0.0;  // no −0
    return fmt::format("the model's cosine similarity to {}: {:.3f}", quoted_text(model->before),
                       rounded);
}

}  // namespace attn::view
