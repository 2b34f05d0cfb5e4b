#include "app/cli/trace_parts.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/intervention_effects.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/model.h"
#include "app/files/standard.h"
#include "core/bias.h"
#include "core/call.h"
#include "core/models/family.h"
#include "core/models/read_out.h"
#include "core/stopwatch.h"
#include "core/text.h"

namespace attn::cli {
namespace {

constexpr std::size_t kNextTokens = 5;

std::string_view read_out_name(const Model& model) {
    const ReadOut kind = model.config().family->read_out;
    return kind == ReadOut::sentence || kind == ReadOut::projected ? "embedding" : "logits";
}

/// Layer 0 says them of all; another only where its own are others than those, which are kept in `first`.
void add_layer_options(const ModelLayer& layer, std::size_t n, StageSet held,
                       std::vector<std::string>& first, std::vector<NpzEntry>& entries) {
    const Index d_k = or_throw(validate(*layer.inputs, layer.spec)).size().d_k;
    std::vector<NpzEntry> options;
    add_options(layer.spec, d_k, held, options);
    if (n == 0 && !options.empty()) first = options.front().texts;
    for (NpzEntry& entry : options) {
        if (n > 0 && entry.texts == first) continue;
        if (n > 0) entry.name = fmt::format("l{}.{}", n, entry.name);
        entries.push_back(std::move(entry));
    }
}

/// Without q and k of a gated delta net: their softmax would give other weights than the file has.
StageSet stages_of(const ModelConfig& config, Index layer, StageSet keep) {
    if (config.is_delta(layer))
        for (const Stage stage : {Stage::q, Stage::k}) keep.reset(index_of(stage));
    return keep;
}

std::vector<NpzEntry> entries_of(const Model& model, const ModelRun& run, StageSet keep,
                                 const std::vector<float>& ids) {
    std::vector<NpzEntry> entries;
    std::vector<std::string> first;  // options of layer 0
    for (std::size_t n = 0; n < run.layers.size(); ++n) {
        const ModelLayer& layer = run.layers[n];
        const StageSet stages = stages_of(model.config(), run.number(n), keep);
        for (NpzEntry& entry : stage_entries(layer.trace, stages)) {
            entry.name = fmt::format("l{}.{}", run.number(n), entry.name);
            entries.push_back(std::move(entry));
        }
        const StageSet held = stages & held_stages(layer.trace);
        add_params(*layer.inputs, held, fmt::format("l{}.", run.number(n)), entries);
        add_layer_options(layer, n, held, first, entries);
        if (const Shape shape = layer.routing.shape(); !layer.routing.empty())
            entries.push_back({fmt::format("l{}.routing", run.number(n)),
                               {1, shape.t, shape.d},
                               layer.routing.values()});
        const Shape shape = layer.residual.shape();
        entries.push_back({fmt::format("l{}.residual", run.number(n)),
                           {1, shape.t, shape.d},
                           layer.residual.values()});
    }
    const auto add_description = [&](const char* name, const std::vector<ModelToken>& tokens) {
        std::vector<std::string> arguments;
        for (const ModelToken& token : tokens) arguments.push_back(token.text);
        entries.push_back({name, {}, {}, std::move(arguments)});
    };
    add_description("tokens", run.tokens);
    if (!run.tokens_kv.empty()) add_description("tokens_kv", run.tokens_kv);
    add_image(run.image.get(), entries);
    const bool image = model.config().image.has_value();
    if (model.config().reads_text()) entries.push_back({"token_ids", {std::ssize(ids)}, ids});
    if (const Shape shape = run.read_out.shape(); !run.read_out.empty())
        entries.push_back({std::string(read_out_name(model)),
                           shape.t == 1 && read_out_name(model) == "embedding"
                               ? std::vector<Index>{shape.d}
                           : image ? std::vector<Index>{1, shape.d}
                                   : std::vector<Index>{1, shape.t, shape.d},
                           run.read_out.values()});
    return entries;
}

std::string_view likeliest_name(const Model& model) {
    if (model.config().family->read_out == ReadOut::token_classes) return "answer";
    return model.config().image ? "class" : "next token";
}

/// The likeliest next tokens or classes, or nothing.
std::string next_text(const Model& model, const ModelRun& run) {
    const std::optional<Index> position = model.answer_row(run);
    if (model.config().family->read_out == ReadOut::projected) return {};  // a vector
    if (!position || (!model.config().image && !model.tokenizer())) return {};
    const auto row = run.read_out.matrix(0, 0).row(*position);
    std::string text;
    for (const TokenShare& share : likeliest(row, kNextTokens))
        text += fmt::format("{} {} {}",
                            text.empty()           ? ""
                            : model.config().image ? ";"
                                                   : ",",
                            model.answer_text(share.id), view::percent(share.probability));
    if (model.config().family->read_out == ReadOut::token_classes)
        return fmt::format("  reads '{}' as:{}\n", run.tokens[*position].text, text);
    return fmt::format("  {}:{}\n", likeliest_name(model), text);
}

/// A line for each image: its logit with each text, and its softmax over the texts; or, where a bias is added, the sigmoid of
/// each logit (Zhai et al. 2023, arXiv:2303.15343).
std::string match_text(const ModelRun& run) {
    const ModelLayer& layer = run.layers.front();
    const auto images = layer.inputs->q.matrix(0, 0), texts = layer.inputs->k.matrix(0, 0);
    const bool sigmoid = layer.spec.mask.bias != nullptr;
    std::string text;
    for (Index i = 0; i < images.rows; ++i) {
        std::vector<float> logits;
        for (Index j = 0; j < texts.rows; ++j)
            logits.push_back(static_cast<float>(layer.spec.scale_value *
                                                    std::inner_product(images.row(i).begin(),
                                                                       images.row(i).end(),
                                                                       texts.row(j).begin(), 0.0) +
                                                bias_at(layer.spec.mask, 0, 0, i, j)));
        std::vector<double> shares = probabilities(logits);
        for (std::size_t j = 0; sigmoid && j < shares.size(); ++j)
            shares[j] = 1.0 / (1.0 + std::exp(-double{logits[j]}));
        text += fmt::format("  {}:", run.tokens[i].text);
        for (std::size_t j = 0; j < logits.size(); ++j)
            text +=
                fmt::format("{} {} {:.3f}{}", j == 0 ? "" : ";", run.tokens_kv[j].text, logits[j],
                            shares.empty() ? "" : fmt::format(" ({})", view::percent(shares[j])));
        text += '\n';
    }
    return text;
}

/// The file of the image that was read; of several that of a tower.
std::string image_read(const ModelTrace& request) {
    const std::string file =
        request.image ? request.reading.text : parts_of(request.reading.second_input).front();
    return file.empty() ? "no image" : file;
}

/// Each after a space; those of an image as their number.
std::string text_of_tokens(const ModelConfig& config, const std::vector<ModelToken>& tokens) {
    std::string text;
    Index patches = 0;
    for (std::size_t n = 0; n < tokens.size(); ++n) {
        if (!config.image_prompt || tokens[n].id != config.image_prompt->token) {
            text += " " + tokens[n].text;
            continue;
        }
        ++patches;
        if (n + 1 < tokens.size() && tokens[n + 1].id == tokens[n].id) continue;
        text += fmt::format(" [{}]", view::counted(std::exchange(patches, 0), "image token"));
    }
    return text;
}

std::string summary(const ModelTrace& request, const Model& whole, const ModelRun& run,
                    double open_ms, double run_ms) {
    const Model& model = stack_of(whole, request.reading.group);
    const ModelConfig& config = model.config();
    std::string text = fmt::format("{} -> {}\n", request.folder, request.output);
    text += fmt::format("{}: {}, {}, width {}; {}\n", config.family->text,
                        view::counted(std::ssize(run.layers), "layer"),
                        view::counted(run.layers.front().spec.heads, "head"),
                        run.embedded.shape().d, view::counted(std::ssize(run.tokens), "token"));
    if (const auto groups = groups_of(whole); !groups.empty())
        text += fmt::format("{} of {} (--group)\n",
                            request.reading.group.empty() ? groups.front() : request.reading.group,
                            fmt::join(groups, ", "));
    text += fmt::format("opened in {:.0f} ms, computed in {:.1f} ms\n ", open_ms, run_ms);
    if (model.config().image && run.image == nullptr && !run.tokens_kv.empty())
        return text +
               (run.layers.front().spec.mask.bias
                    ? " logits of each image, and their sigmoids\n"
                    : " logits of each image, softmax over the texts\n") +
               match_text(run);
    if (const auto& image = model.config().image)
        text += fmt::format(" {}: {}{} × {} patches of {} × {} pixels", image_read(request),
                            image->leading > 0 ? "CLS and " : "", image->side(), image->side(),
                            image->patch, image->patch);
    else if (const auto& sound = model.config().sound)
        text += fmt::format(" {}: {} tokens of {:.6g} seconds",
                            request.reading.text.empty() ? "silence" : request.reading.text,
                            sound->tokens(), sound->seconds());
    else
        text += text_of_tokens(config, run.tokens);
    return text + "\n" + next_text(model, run);
}

/// The run with interventions, and their effects.
struct Changed {
    ModelRun run;
    std::optional<RunEffects> effects;
    std::vector<std::string> text;  // of each intervention
    std::vector<float> kl, change;  // [layers, heads]
};

/// What the model reads was given by the other option.
void check_kind(const ModelTrace& request, const Model& model) {
    const std::string_view text = model.config().family->text;
    if (model.config().image && !request.image)
        throw bad_input(
            fmt::format("--text is '{}'; {} ({}) reads an image: expected --image FILE.png",
                        shortened(request.reading.text), request.folder, text));
    if (model.config().image && request.reading.text.empty())
        throw bad_input("--image is ''; expected the path of a PNG");
    if (!model.config().image && request.image)
        throw bad_input(fmt::format("--image is '{}'; {} ({}) reads {}",
                                    shortened(request.reading.text), request.folder, text,
                                    model.config().sound ? "a sound: expected --audio FILE.wav"
                                                         : "a text: expected --text TEXT"));
}

/// The vectors of another text at every position of this one, which has as many tokens.
PatchIntervention made_patch(const ModelTrace& request, const Model& model, const TypedPatch& typed,
                             const Backend& backend, Index tokens) {
    StageSet keep;
    keep.set(index_of(typed.part));
    Reading reading = request.reading;
    std::string& read = read_by_stack(model, reading);
    read = typed.text;
    const auto source =
        or_throw(read_group(model, reading, backend, keep, {}, {}, LogitRows::last));
    if (std::ssize(source.tokens) != tokens)
        throw bad_input(fmt::format(
            "--patch: '{}' has {} and {} {}; expected the same number, because each vector keeps "
            "the position that it has in its own text",
            typed.text, view::counted(std::ssize(source.tokens), "token"),
            &read == &reading.text ? "the model's text" : "the decoder's text", tokens));
    std::vector<Index> positions(tokens);
    std::iota(positions.begin(), positions.end(), Index{0});
    return or_throw(patch_from(source, typed.at, typed.part, std::move(positions)));
}

Interventions interventions_of(const ModelTrace& request, const Model& model,
                               const Backend& backend, Index tokens) {
    Interventions made{request.with.off, request.with.rows, {}};
    for (const TypedPatch& typed : request.with.patches)
        made.patches.push_back(made_patch(request, model, typed, backend, tokens));
    return made;
}

/// The first layer whose heads can have changed; of the heads in it only those whose own vectors or row were.
bool can_change(const ModelTrace& request, const Model& model, HeadPlace at) {
    const auto within = [&](HeadPlace each) { return each.layer < at.layer; };
    for (const HeadPlace& off : request.with.off)
        if (within(off)) return true;
    for (const RowIntervention& row : request.with.rows)
        if (within(row.at) || row.at == at) return true;
    const ModelConfig& config = model.config();
    for (const TypedPatch& patch : request.with.patches) {
        const Index head =
            patch.part == Stage::q ? at.head : at.head * config.kv_heads / config.heads;
        if (within(patch.at) || (patch.part != Stage::v && patch.at == HeadPlace{at.layer, head}))
            return true;
    }
    return false;
}

/// After which the weights of blocks are not needed: what the file has beside the stages follows from Q, K and V.
ModelRun last_run(const ModelTrace& request, Model& model, const Backend& backend, StageSet keep,
                  const Interventions& with) {
    const StageSet stages = backend.stages();
    if (!model.second() && stages[index_of(Stage::q)] && stages[index_of(Stage::k)] &&
        stages[index_of(Stage::v)])
        model.let_blocks_go();
    return or_throw(read_group(model, request.reading, backend, keep, {}, with));
}

Changed run_changed(const ModelTrace& request, Model& model, const Backend& backend) {
    if (!request.with.any())
        return {last_run(request, model, backend, request.keep, {}), {}, {}, {}, {}};
    StageSet weights;
    weights.set(index_of(Stage::weights));
    const auto before =
        or_throw(read_group(model, request.reading, backend, weights, {}, {}, LogitRows::last));
    if (!before.layers.empty() && before.layers.front().trace[Stage::weights].empty())
        throw bad_input(fmt::format(
            "--backend {} stores no weights, so the effect of an intervention on them is unknown",
            backend.name()));
    const auto with = interventions_of(request, model, backend, std::ssize(before.tokens));
    auto after = last_run(request, model, backend, request.keep | weights, with);
    Changed changed;
    const Model& stack = stack_of(model, request.reading.group);
    changed.effects =
        effects_of(before, after, stack.gives_logits() ? stack.answer_row(before) : std::nullopt);
    changed.run = std::move(after);
    for (ModelLayer& layer : changed.run.layers)
        if (!request.keep[index_of(Stage::weights)]) layer.trace[Stage::weights] = {};
    for (const HeadPlace& off : request.with.off) changed.text.push_back(description_of(off));
    for (const RowIntervention& row : request.with.rows)
        changed.text.push_back(description_of(row));
    for (const TypedPatch& patch : request.with.patches)
        changed.text.push_back(description_of(patch));
    for (const HeadEffect& effect : changed.effects->heads) {
        changed.kl.push_back(effect.finite > 0 ? static_cast<float>(effect.mean_kl())
                                               : std::numeric_limits<float>::quiet_NaN());
        changed.change.push_back(static_cast<float>(effect.largest));
    }
    return changed;
}

std::string output_effect(const Model& model, const RunEffects& effects) {
    if (effects.next) {
        const NextTokenEffect& next = *effects.next;
        std::string text =
            fmt::format("  {}: {} {} -> {}", likeliest_name(model), model.answer_text(next.before),
                        view::percent(next.p_before), view::percent(next.q_before));
        if (next.after != next.before)
            text += fmt::format("; now {} {} -> {}", model.answer_text(next.after),
                                view::percent(next.p_after), view::percent(next.q_after));
        else
            text += "; it stays the likeliest";
        return text + fmt::format("; KL(before‖after) {:.4g} nats\n", next.kl);
    }
    if (effects.cosine)
        return fmt::format("  embedding: cosine {:.6f} to that without interventions\n",
                           *effects.cosine);
    return model.gives_logits() || read_out_name(model) == "embedding"
               ? "  output: it is not finite, and cannot be compared\n"
               : "  the model has no output to compare\n";
}

/// A line a head that may have changed.
std::string effect_table(const ModelTrace& request, const Model& model, const Changed& changed) {
    std::string text = "interventions:";
    for (const std::string& each : changed.text) text += fmt::format(" {}", each);
    text += "\n" + output_effect(model, *changed.effects);
    std::string lines;
    for (const HeadEffect& effect : changed.effects->heads) {
        if (!can_change(request, model, effect.at)) continue;
        lines += fmt::format("  {:>5} {:>5} {:>12} {:>12.4g}", effect.at.layer, effect.at.head,
                             effect.finite > 0 ? fmt::format("{:.4g}", effect.mean_kl()) : "-",
                             effect.largest);
        if (effect.infinite > 0) lines += "  infinite in " + view::counted(effect.infinite, "row");
        if (effect.undefined > 0) lines += "  NaN in " + view::counted(effect.undefined, "row");
        lines += '\n';
    }
    if (lines.empty()) return text + "  no head comes later\n";
    return text +
           fmt::format(
               "  KL(before‖after) of a head's {} weight rows: mean in nats; largest |change| of a "
               "weight\n  layer  head      mean KL     max |da|\n",
               changed.run.tokens.size()) +
           lines;
}

void add_effects(const Model& model, const Changed& changed, std::vector<NpzEntry>& entries) {
    if (!changed.effects) return;
    const std::vector<Index> shape{std::ssize(changed.run.layers), model.config().heads};
    entries.push_back({"interventions", {}, {}, changed.text});
    entries.push_back({"effect_kl", shape, changed.kl});
    entries.push_back({"effect_change", shape, changed.change});
}

}  // namespace

void trace_model(const ModelTrace& request, Streams io) {
    const Stopwatch opening;
    auto whole = or_throw(Model::open(request.folder, request.retained));
    check_kind(request, whole);
    const Model& model = stack_of(whole, request.reading.group);
    const double open_ms = opening.ms();
    const std::string name = request.backend == "auto" ? "staged" : request.backend;
    const Backend* backend = find_backend(name, io.backends);
    if (backend == nullptr)  // the error says which there are
        backend = or_throw(choose_backend(name, Dimensions{}, request.keep, io.backends));
    const Stopwatch running;
    const auto changed = run_changed(request, whole, *backend);
    const ModelRun& run = changed.run;
    const double run_ms = running.ms();
    std::vector<float> ids;
    for (const ModelToken& token : run.tokens) ids.push_back(static_cast<float>(token.id));
    std::vector<NpzEntry> entries = entries_of(model, run, request.keep, ids);
    add_effects(model, changed, entries);
    write_entries(request.output, entries, io);
    std::vector<std::string> notes = whole.notes();
    if (!run.note.empty())  // that of a match names each
        notes.push_back(model.config().image && run.tokens_kv.empty()
                            ? fmt::format("{}: {}", image_read(request), run.note)
                            : run.note);
    if (auto note = files::vocabulary_note(model, run.tokens); !note.empty())
        notes.push_back(std::move(note));
    for (const std::string& note : notes) write_note(note, "attnscope trace", io);
    std::ostream& out = files::is_standard(request.output) ? io.err : io.out;
    out << summary(request, whole, run, open_ms, run_ms);
    if (changed.effects) out << effect_table(request, model, changed);
}

}  // namespace attn::cli
