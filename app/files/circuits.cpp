#include "app/files/circuits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/model_read.h"
#include "app/common/document/swept.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "core/backend.h"
#include "core/models/family.h"

namespace attn::files {
namespace {

constexpr Index kNearest = 24;
constexpr Index kMostDrawnEdges = 400;

std::vector<std::string> names_of(const Model& model, const TokenProduct& product) {
    std::vector<std::string> names;
    for (const Index id : product.others) names.push_back(model.shown(id));
    return names;
}

std::shared_ptr<const view::ModelCircuit> circuit_of(const Model& model,
                                                     const std::vector<ModelToken>& tokens,
                                                     const view::SweepAsked& asked,
                                                     const RunControl& control) {
    const RunControl silent{control.stop, {}};
    view::ModelCircuit made{*asked.circuit, {}, {}, {}, {}, {}, {}};
    made.head = or_throw(head_circuit(model, made.at, silent));
    made.composed = or_throw(compositions(model, made.at, silent));
    auto over = asked.nearest ? vocabulary_circuit(model, made.at, tokens, kNearest, control)
                              : token_circuit(model, made.at, tokens);
    if (control.stop.stop_requested()) throw failed("the circuit was stopped");
    if (over)
        made.over = *std::move(over);
    else
        made.over_fault = over.error().text();
    made.read = names_of(model, made.over.qk);
    made.written = names_of(model, made.over.ov);
    return std::make_shared<const view::ModelCircuit>(std::move(made));
}

/// Of the stack whose head it is; none of one that reads an image or what another gave: token_circuit() says so.
std::vector<ModelToken> tokens_read(const Model& stack, const Reading& reading) {
    if (stack.config().image || stack.reads_across()) return {};
    const bool several = stack.second() != nullptr && stack.second()->config().image;
    auto tokens =
        or_throw(stack.tokens_of(several ? parts_of(reading.text).front() : reading.text));
    or_throw(stack.check_tokens(tokens));
    return tokens;
}

/// The stack whose parts are looked at. Throws where what is shown is of no stack's own heads.
const Model& model_shown(const Model& whole, const std::string& group) {
    const auto groups = groups_of(whole);
    if (whole.config().image_prompt)
        throw bad_input(fmt::format(
            "circuits and sweeps of {} are not computed: its text has tokens of an image; expected "
            "a model of texts or of images",
            whole.config().family->text));
    if (!groups.empty() && group == groups.back())
        throw bad_input(
            fmt::format("circuits and sweeps are of a stack's own attention; {} is between the "
                        "two: expected {}",
                        group, fmt::join(groups.first(groups.size() - 1), " or ")));
    return stack_of(whole, group);
}

void sweep(ModelCache::Entry& entry, const view::SweepAsked& asked, const ModelRun& run,
           const RunControl& control, view::SweptModel& made) {
    const Model& model = model_shown(entry.model, made.of.group);
    SweepOptions options;
    options.ablation = made.of.ablation;
    options.part = asked.part;
    std::shared_ptr<const ModelRun> other;
    if (options.ablation == Ablation::patch) {
        Reading from{made.of.text, made.of.second_input, made.of.group};
        (from.group.empty() ? from.text : from.second_input) = asked.from;
        other = untouched(entry, from, {control.stop, {}});
        options.other = other.get();
        for (const ModelToken& token : other->tokens) made.others.push_back(token.text);
        if (!asked.pairs.empty()) {
            auto alignment =
                aligned(asked.pairs, std::ssize(run.tokens), std::ssize(other->tokens));
            if (!alignment) {
                made.fault = alignment.error().text();
                return;
            }
            options.alignment = *std::move(alignment);
        }
    }
    auto swept = sweep_heads(model, run, *find_backend("staged"), options, control);
    if (control.stop.stop_requested()) throw failed("the sweep was stopped");
    if (!swept) {
        made.fault = swept.error().text();
        return;
    }
    made.sweep = *std::move(swept);
    made.a = entry.model.shown(made.sweep.a);
    made.b = entry.model.shown(made.sweep.b);
}

void cut_edges(const Model& model, const ModelRun& run, const RunControl& control,
               view::SweptModel& made) {
    if (const Index count = path_edge_count(model.config()); count > kMostDrawnEdges) {
        made.fault = fmt::format(
            "the model has {} edges; the picture shows at most {}. List those into one head with "
            "attnscope circuits --edges --layer L --head H",
            view::grouped(count), kMostDrawnEdges);
        return;
    }
    auto edges = path_edges(model, run, *find_backend("staged"), {}, control);
    if (control.stop.stop_requested()) throw failed("path patching was stopped");
    if (!edges) {
        made.fault = edges.error().text();
        return;
    }
    view::ModelEdges whole{*std::move(edges), {}, {}};
    whole.weights = largest_weights(run, whole.made.position);
    for (const ModelToken& token : run.tokens) whole.tokens.push_back(token.text);
    made.a = model.answer_text(whole.made.a);
    made.b = model.answer_text(whole.made.b);
    made.edges = std::make_shared<const view::ModelEdges>(std::move(whole));
}

}  // namespace

Result<std::shared_ptr<const view::SweptModel>> sweep_model(ModelCache& cache,
                                                            const view::SweepModel& wanted,
                                                            const std::string& options,
                                                            const RunControl& control) {
    return caught([&] {
        const auto entry = or_throw(cache.open(wanted.path));
        const view::SweepAsked asked = view::sweep_asked(options);
        const Model& model = model_shown(entry->model, wanted.group);
        const Reading reading{wanted.text, wanted.second_input, wanted.group};
        view::SweptModel made{wanted, {}, {}, {}, {}};
        made.options = options;
        if (asked.circuit)
            made.circuit = circuit_of(model, tokens_read(model, reading), asked, control);
        else if (asked.edges)
            cut_edges(model, *untouched(*entry, reading, {control.stop, {}}), control, made);
        else
            sweep(*entry, asked, *untouched(*entry, reading, {control.stop, {}}), control, made);
        return std::make_shared<const view::SweptModel>(std::move(made));
    });
}

}  // namespace attn::files
