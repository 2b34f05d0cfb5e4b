#include "app/common/document/model_text.h"

#include <cmath>
#include <iterator>
#include <sstream>

#include <fmt/ranges.h>

#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/effect.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/interventions.h"
#include "app/common/document/opened.h"
#include "app/common/document/toy.h"
#include "app/common/format.h"
#include "app/common/text.h"
#include "core/engine.h"
#include "core/spec_fields.h"
#include "core/text.h"
#include "core/trace.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostQuoted = 40;  // code points of a text in a sentence
constexpr double kLeastReading = 0.001;  // of a reading of a token that is not the likeliest

/// The first attention of a model, made of its text alone; also that of a model of one stack.
bool shows_first(const Document& document) {
    return document.groups.empty() || group_of(document) == document.groups.front() ||
           document.groups.back() == "linear";  // all layers read the one text
}
/// Its second stack reads images.
bool has_towers(const Document& document) {
    return takes_image(document) && !reads_image(document);
}

std::string quoted_text(const std::string& text) {
    return fmt::format("“{}”", shortened(text, kMostQuoted));
}

/// What of a text the tokens are of: the first, where a tower reads one of several.
std::string quoted_part(const Document& document, const std::string& text) {
    if (!has_towers(document) || reads_among_text(document)) return quoted_text(text);
    const std::string first = text.substr(0, text.find(kNextSentence));
    return quoted_text(first.substr(0, first.find_last_not_of(' ') + 1));
}

std::vector<std::string> separated(const std::string& text) {
    std::istringstream by_space(text);
    return {std::istream_iterator<std::string>(by_space), {}};
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

/// So many things of a kind, where there are some.
void add_lost(std::vector<std::string>& dropped, std::size_t lost, const char* what,
              const char* many) {
    if (lost > 0) dropped.push_back(fmt::format("{} {}", lost, lost == 1 ? what : many));
}

/// Edits and interventions that the next document does not have.
void add_lost_changes(const Document& before, const Document& next,
                      std::vector<std::string>& dropped) {
    add_lost(dropped, before.edits.size(), "edited number", "edited numbers");
    const ModelOrigin* const was = model_of(before);
    const ModelOrigin* const is = model_of(next);
    if (was == nullptr || is == nullptr) return;
    const bool other = group_of(before) != group_of(next);
    if (!other && was->text == is->text && was->second_input == is->second_input) return;
    if (is->changes.rows.empty())
        add_lost(dropped, was->changes.rows.size(), "replaced row", "replaced rows");
    if (is->changes.patches.empty())
        add_lost(dropped, was->changes.patches.size(), "patch", "patches");
    if (is->changes.off.empty())
        add_lost(dropped, was->changes.off.size(), "head that was off", "heads that were off");
}

/// What the person set goes on to hold. What cannot is named in `dropped`.
void keep_settings(const Document& before, Document& next, std::vector<std::string>& dropped) {
    const auto layers = static_cast<Index>(next.layers.size());
    look_at_layer(next, std::min(before.layer, layers - 1));
    if (group_of(before) != group_of(next)) {  // another stack's are its own
        if (before.painted) dropped.emplace_back("the painted mask");
        add_lost(dropped, before.targets.size(), "target", "targets");
        return add_lost_changes(before, next, dropped);
    }
    next.targets = before.targets;
    const AttentionSpec own = std::exchange(next.spec, before.spec);
    const Index tokens = next.size.tk;
    const bool other_size = tokens != before.size.tk || next.size.tq != before.size.tq;
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
    add_lost_changes(before, next, dropped);
}

/// Options of some layer that are others than when this group of the model was first shown.
void add_lost_options(const AppState& state, std::vector<std::string>& dropped) {
    const Document& now = state.document();
    std::size_t n = state.now;
    const auto is_of_group = [&](std::size_t step) {
        return group_of(*state.history[step].document) == group_of(now);
    };
    while (n > 0 && !state.history[n].opens && is_of_group(n - 1)) --n;
    const Document& first = *state.history[n].document;
    const Index layers = std::min(std::ssize(first.layers), std::ssize(now.layers));
    const auto changes = [&](const auto& differ) {
        for (Index layer = 0; layer < layers; ++layer)
            if (differ(spec_of(first, layer), spec_of(now, layer))) return true;
        return false;
    };
    for (const SpecField& field : spec_fields()) {
        const bool listed = std::ranges::count(dropped, field.change) > 0;
        const auto differ = [&](const auto& a, const auto& b) { return !same(field, a, b); };
        if (!field.change.empty() && !listed && changes(differ)) dropped.emplace_back(field.change);
    }
    if (changes([](const AttentionSpec& a, const AttentionSpec& b) {
            return a.heads != b.heads || a.kv_heads != b.kv_heads;
        }))
        dropped.emplace_back("the number of heads");
}

/// "; dropped (made for the previous text): 1 edited number"; "" of none.
std::string dropped_text(const std::vector<std::string>& dropped, std::string_view made_for) {
    if (dropped.empty()) return {};
    return fmt::format("; dropped ({}): {}", made_for, fmt::join(dropped, ", "));
}

/// "Without L0 H1 …; dropped (made for the previous run): 1 edited number".
std::string switched_text(const Document& document, const std::vector<std::string>& dropped) {
    std::string text = without_text(document);
    if (text.empty()) text = "No intervention is left";
    if (text.ends_with('.')) text.pop_back();
    return text + dropped_text(dropped, "made for the previous run");
}

/// "the model reads “it” as “street”, p 0 → 1, no longer “animal”, p 1 → 0; KL(untouched‖now) 12 nats.".
std::string read_as_text(const Document& document, const NextTokenEffect& next) {
    const auto answer = [](const std::string& text, double p, double q) {
        return fmt::format("“{}”, p {} → {}", shown_token(text), number(p), number(q));
    };
    const InterventionEffects& effects = *document.effects;
    const std::string before = answer(effects.before, next.p_before, next.q_before);
    const std::string kl = fmt::format("KL(untouched‖now) {} nats.", number(next.kl));
    const std::string reads =
        fmt::format("the model {}reads “{}” as", next.after == next.before ? "still " : "",
                    shown_token(document.read_out.word));
    if (next.after == next.before) return fmt::format("{} {}; {}", reads, before, kl);
    return fmt::format("{} {}, no longer {}; {}", reads,
                       answer(effects.after, next.p_after, next.q_after), before, kl);
}

std::string next_text(const Document& document, const NextTokenEffect& next) {
    if (!document.read_out.word.empty()) return read_as_text(document, next);
    const InterventionEffects& effects = *document.effects;
    const std::string_view what = read_out_noun(document);
    const std::string kl = fmt::format("KL(untouched‖now) {} nats", number(next.kl));
    const std::string before = fmt::format("“{}”, p {} → {}", shown_token(effects.before),
                                           number(next.p_before), number(next.q_before));
    if (next.after == next.before) return fmt::format("the {} stays {}; {}.", what, before, kl);
    return fmt::format("the {} is “{}”, p {} → {}, no longer {}; {}.", what,
                       shown_token(effects.after), number(next.p_after), number(next.q_after),
                       before, kl);
}

/// "cross: 7 × 8 weights of each head".
std::string group_text(const Document& document) {
    const std::string stated = read_out_text(document);
    return fmt::format("{}: {} × {} weights of each head{}{}", group_of(document), document.size.tq,
                       document.size.tk, stated.empty() ? "" : "; ", stated);
}

/// "“The cat”: 2 tokens; similarity to “A dog”: 0.831; dropped (made for the previous text): 1 edited number".
std::string typed_text(const Document& document, const std::vector<std::string>& dropped) {
    const bool across = group_of(document) == "cross";  // the text is the keys'
    if (!shows_first(document) && !across)
        return group_text(document) +
               dropped_text(dropped, "made for the data that was open previously");
    const std::size_t tokens = across ? document.tokens_kv.size() : document.tokens.size();
    const bool blank = reads_image(document) && text_of(document).empty();
    std::string text =
        fmt::format("{}: {} token{}", blank ? "No image" : quoted_part(document, text_of(document)),
                    tokens, tokens == 1 ? "" : "s");
    if (const std::string stated = read_out_text(document); !stated.empty())
        text += fmt::format("; {}", stated);
    return text + dropped_text(dropped, reads_image(document) ? "made for the previous image"
                                                              : "made for the previous text");
}

/// The selected cell is the weight of the shown head that gives the model's answer.
bool shows_answer(const AppState& state) {
    const auto place = answer_place(state.document(), state.head);
    return place && state.document().layer == place->layer && state.head == place->head &&
           state.selected == CellRef{Stage::weights, place->query, place->key};
}

void show_answer(AppState& state) {
    const auto place = answer_place(state.document(), state.head);
    if (!place) return;
    carry_out(state, ShowHead{place->head, {}, place->layer});
    carry_out(state, SelectCell{{Stage::weights, place->query, place->key}});
}

}  // namespace

void carry_out(AppState& state, const TypeText& action) {
    const ModelOrigin* const model = model_of(state.document());
    if (model == nullptr)
        return warn(state, "no model is open: open a model's folder to run a text");
    if (model->image)
        return warn(state,
                    fmt::format("{} reads images, not texts. Drop a PNG, or open one (Ctrl+O).",
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
    wanted.second_input = now.second_input;
    if (!blank && action.text != model->text) {
        wanted.text = action.text;
        wanted.before = compared_text(state, *model);
        wanted.changes = {changes.off};
        return ask_model(state, std::move(wanted));
    }
    wanted.changes = changes;
    if (wanted != *model) ask_model(state, std::move(wanted));
    if (!blank) return show_message(state, typed_text(state.document(), {}) + ".");
    warn(state, "the text is empty: the screen still shows {}", quoted_text(model->text));
}

void carry_out(AppState& state, const ReadImage& action) {
    const ModelOrigin* const model = wanted_model(state);
    if (model == nullptr || !takes_image(state.document()))
        return warn(state, "{}: no model that reads images is open; open its folder first",
                    shortened(action.path));
    if (is_blank(action.path)) return warn(state, "no image is given; expected the path of a PNG");
    if (!model->image) {  // a tower's
        if (model->group.empty() && !reads_among_text(state.document()))
            carry_out(state, ShowGroup{"image"});
        return carry_out(state, TypeBeside{action.path});
    }
    leave_typed_text(state);
    state.sentence_draft = action.path;
    show_message(state, "Reading {}.", shortened(action.path));
    ModelOrigin wanted = *model;
    if (wanted.text != action.path) wanted.changes = {wanted.changes.off};
    wanted.text = action.path;
    ask_model(state, std::move(wanted));
}

void carry_out(AppState& state, const ShowGroup& action) {
    const std::vector<std::string>& groups = state.document().groups;
    const ModelOrigin* const model = wanted_model(state);
    if (model == nullptr || std::ranges::find(groups, action.group) == groups.end())
        return warn(state, "there is no group {}; expected a group of the open model",
                    shortened(action.group));
    ModelOrigin wanted = *model;
    wanted.group = action.group == groups.front() ? "" : action.group;
    if (wanted.group == model->group) return;
    const ModelOrigin& shown = *model_of(state.document());
    wanted.changes = wanted.group == shown.group ? shown.changes : ModelChanges{};
    leave_typed_text(state);
    if (wanted == shown) return show_message(state, "Showing {}.", action.group);
    show_message(state, "Reading {}.", action.group);
    ask_model(state, std::move(wanted));
}

void carry_out(AppState& state, const TypeBeside& action) {
    if (state.prompt && state.prompt->kind == PromptKind::beside) state.prompt.reset();
    const ModelOrigin* const model = wanted_model(state);
    if (model == nullptr || state.document().groups.empty())
        return warn(state,
                    "no model with two stacks is open: expected an encoder with a decoder, or a "
                    "text and an image tower");
    const bool image = has_towers(state.document());  // may have changed since
    if (!image && model->second_input == action.text) return;
    ModelOrigin wanted = *model;
    wanted.second_input = action.text;
    if (!wanted.group.empty()) wanted.changes = {wanted.changes.off};  // the others are of tokens
    leave_typed_text(state);
    if (!image && wanted == *model_of(state.document()))
        return show_message(state, typed_text(state.document(), {}) + ".");
    show_message(state, action.text.empty() ? "Reading only the text."
                                            : fmt::format("Reading {}.", shortened(action.text)));
    ask_model(state, std::move(wanted));
}

bool reads_among_text(const Document& document) {
    return document.groups.size() == 2 && takes_image(document);
}

GroupsView groups_view(const AppState& state) {
    const Document& document = state.document();
    GroupsView view;
    view.names = document.groups;
    if (view.names.empty()) return view;
    const std::string now = group_of(document);
    view.current = static_cast<int>(std::ranges::find(view.names, now) - view.names.begin());
    const bool towers = has_towers(document);
    const bool among = reads_among_text(document);
    view.label = among ? "image" : towers ? "images" : "decoder";
    view.second_input = wanted_model(state)->second_input;
    view.reads_text = now != "image";
    view.reads_beside = among || !shows_first(document);
    return view;
}

std::optional<ModelText> model_text_of(const OpenFile& action) {
    if (!action.text && !action.image) return std::nullopt;
    ModelOrigin model{action.path, action.text ? *action.text : *action.image};
    model.image = !action.text;  // beside a text it is the other tower's
    model.second_input = action.second_input.value_or(action.text ? action.image.value_or("") : "");
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
    state.opening = std::make_shared<const OpenRequest>(
        OpenRequest{ModelText{std::move(wanted), true}, ++state.opened});
    state.opening_done = 0.0;
}

void take_typed(AppState& state, const Document& read) {
    const Document& before = state.document();
    // While a text is typed, it may have no answer for a few keystrokes.
    const bool answers = shows_answer(state) || !answer_place(before);
    Document next = read;
    std::vector<std::string> dropped;
    keep_settings(before, next, dropped);
    if (group_of(next) != group_of(before)) add_lost_options(state, dropped);
    const ModelOrigin was = *model_of(before), is = *model_of(next);
    const bool typed = is.text != was.text;
    const bool other = group_of(next) != group_of(before);
    const std::string text =
        other ? group_text(next) + dropped_text(dropped, "the other group's")
        : is.second_input != was.second_input
            ? group_text(next) + dropped_text(dropped, "made for the data that was open previously")
        : typed || is.changes == was.changes ? typed_text(next, dropped)
                                             : switched_text(next, dropped);
    if (state.gesture) state.gesture->joins = typed && state.history[state.now].typed;
    if (!edit_document(state, std::move(next), text)) return;
    state.history[state.now].typed = typed;
    if (answers) show_answer(state);
    show_message(state, text + ".");
}

std::string without_text(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    if (model == nullptr || model->changes.empty()) return {};
    std::string without = changes_text(model->changes);
    without.front() = 'W';  // "without", "with"
    if (!document.effects) return without + ".";
    const RunEffects& run = document.effects->run;
    if (run.next) return fmt::format("{} {}", without, next_text(document, *run.next));
    if (run.cosine)
        return fmt::format(
            "{} the text's vector has cosine similarity {:.6f} to that of the untouched run.",
            without, *run.cosine);
    return without + " the model has no finite output to compare.";
}

std::string_view read_out_noun(const Document& document) {
    return reads_image(document) ? "class" : "next token";
}

std::optional<AnswerPlace> answer_place(const Document& document, std::optional<Index> head) {
    const Index query = document.read_out.position;
    if (query < 0 || document.read_out.next.empty()) return std::nullopt;
    const auto layer = static_cast<Index>(document.layers.size()) - 1;
    const auto trace = attend(*document.layers[layer], spec_of(document, layer), "staged",
                              only_stage(Stage::weights));
    if (!trace) return std::nullopt;
    const Tensor& weights = (*trace)[Stage::weights];
    const std::string& answer = document.read_out.next.front().text;
    const bool named = std::ranges::count(document.tokens, answer) > 0;
    const auto may_be = [&](Index key) { return !named || document.tokens[key] == answer; };
    std::optional<AnswerPlace> best;
    float most = 0.0F;
    for (Index h = 0; h < weights.shape().h; ++h) {
        const auto row = weights.matrix(0, h).row(query);
        const Index largest = std::ranges::max_element(row) - row.begin();
        if (h == head && may_be(largest)) return AnswerPlace{layer, h, query, largest};
        for (Index key = 0; key < std::ssize(row); ++key) {
            if (row[key] <= most || !may_be(key)) continue;
            most = row[key];
            best = {layer, h, query, key};
        }
    }
    return best;
}

OfferedText offered_text(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    if (model == nullptr || document.contrast_text.empty()) return {};
    const bool now = model->text == document.default_text;
    if (!now && model->text != document.contrast_text) return {};
    const std::string& other = now ? document.contrast_text : document.default_text;
    const auto before = separated(model->text), after = separated(other);
    OfferedText offered{other, "Other sentence"};
    if (before.size() != after.size()) return offered;
    std::vector<std::string> changes;
    for (std::size_t n = 0; n < before.size(); ++n)
        if (before[n] != after[n]) changes.push_back(before[n] + " → " + after[n]);
    if (changes.size() == 1) offered.change = changes.front();
    return offered;
}

std::string read_out_text(const Document& document) {
    const ReadOut& out = document.read_out;
    if (!out.next.empty()) {
        std::vector<std::string> items;
        for (const NextToken& token : out.next)
            if (out.word.empty() || items.empty() || token.probability >= kLeastReading)
                items.push_back(
                    fmt::format("{} {}", shown_token(token.text), percent(token.probability)));
        if (!out.word.empty())
            return fmt::format("the model reads “{}” as: {}", shown_token(out.word),
                               fmt::join(items, ", "));
        return fmt::format("the model's {}: {}", read_out_noun(document),
                           fmt::join(items, reads_image(document) ? "; " : ", "));
    }
    if (!out.similarity) return {};
    const ModelOrigin* const model = model_of(document);
    const double rounded = std::round(*out.similarity * 1000.0) / 1000.0 + 0.0;  // no −0
    return fmt::format("the model's cosine similarity to {}: {:.3f}",
                       quoted_part(document, model->before), rounded);
}

}  // namespace attn::view
