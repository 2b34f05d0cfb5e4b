// attnscope heads: what every head of every layer does, in numbers, as a table or CSV.

#include "app/common/document/heads.h"
#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "app/cli/corpus.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/cli/table.h"
#include "app/common/document/actions.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/axes.h"
#include "app/files/model.h"
#include "core/corpus/measure.h"

namespace attn::cli {
namespace {

constexpr std::string_view kHeadsName = "attnscope heads";

struct HeadsOptions {
    StartOptions start;
    CorpusOptions corpus;
    std::string sort;
    std::string sequence;
    std::string output;
};

std::string measure_keys() {
    std::string keys;
    for (const HeadMeasureInfo& each : head_measure_table())
        keys += fmt::format("{}{}", keys.empty() ? "" : ", ", each.key);
    return keys;
}

/// Every measure with its formula, from the one table.
std::string heads_footer() {
    std::string text =
        "Measures over the rows of weights that are probabilities; - if undefined:\n";
    for (const HeadMeasureInfo& each : head_measure_table())
        text += fmt::format("  {:<11}{}{}{}\n", each.key, each.formula,
                            each.asks.empty() ? "" : "; needs ", each.asks);
    text +=
        "A label is a proposal: the kind of key that gets clearly more weight than in even "
        "rows.\n\n"
        "Examples:\n"
        "  attnscope heads gpt2-dump.npz --sort previous\n"
        "  attnscope heads qkv.npz --causal --window 3\n"
        "  attnscope heads MODEL-FOLDER --text \"The cat sat\" -o heads.csv\n"
        "  attnscope heads MODEL-FOLDER --texts lines.txt -o heads.npz && attnscope heads.npz\n";
    return text;
}

void declare_heads(CLI::App& app, HeadsOptions& options) {
    app.add_option("FILE", options.start.files,
                   "tensors, a model (its folder or a .gguf), or a session or preset (.json)");
    add_model_options(app, options.start);
    add_corpus_options(app, options.corpus);
    add_call_options(app, options.start.reading);
    add_value(app, "--backend", options.start.backend, "NAME", "backend, by its name");
    add_value(app, "--sort", options.sort, "MEASURE",
              "largest first, undefined last: " + measure_keys());
    add_number(app, "--sequence", options.sequence, "N",
               files::whole_numbers(0, files::kMostPosition), "of the batch, from 0; default 0");
    add_value(app, "-o,--output", options.output, "FILE.csv",
              "write CSV instead of the table, every digit; - for standard output; of --texts also "
              ".npz or .jsonl");
    app.footer(heads_footer());
}

void note_excluded_rows(const HeadsResult& result, Streams io) {
    const Index layers = result.heads.empty() ? 0 : result.heads.back().place.layer + 1;
    for (Index n = 0; n < layers; ++n)
        if (const std::string text = excluded_rows_text(measured_rows(result, n)); !text.empty())
            write_note(fmt::format("layer {}: {}", n, text), kHeadsName, io);
}

/// What FILE holds, opened as the window opens it, with the heads of every layer.
HeadsResult measured(const HeadsOptions& options, Streams io) {
    StartOptions wanted = options.start;
    wanted.needs_attention = true;
    wanted.by = files::OptionsBy::flags;
    auto start = or_throw(read_start(wanted, io));
    for (const Note& warning : start.warnings) write_note(warning, kHeadsName, io);
    if (!options.sequence.empty()) {
        const Index sequence = files::parse_whole_number({"--sequence", options.sequence});
        start.actions.push_back(view::ShowHead{0, sequence});
    }
    view::AppState state = start.state;
    jobs::Jobs jobs(start.open, [] {});
    or_throw(carry_out(start, state, jobs));
    if (std::string why = view::attention_fault(state.document()); !why.empty())
        throw bad_input(std::move(why));
    HeadsResult result =
        compute_heads(view::heads_input(state.document()), {.backends = state.backends,
                                                            .backend = state.backend,
                                                            .batch = state.batch,
                                                            .only_measures = true});
    for (std::size_t n = 0; n < result.layers.size(); ++n)
        if (const std::string& fault = result.layers[n].fault; !fault.empty())
            write_note(fmt::format("layer {} is left out: {}", n, fault), kHeadsName, io);
    for (std::size_t n = 0; n < result.layers.size(); ++n)
        for (const std::string& note : result.layers[n].notes)
            write_note(fmt::format("layer {}: {}", n, note), kHeadsName, io);
    note_excluded_rows(result, io);
    if (result.heads.empty()) throw bad_input("no layer of this file can be computed");
    return result;
}

std::string heads_table(const HeadsResult& result, const std::string& sort) {
    std::string text = fmt::format("{:>5} {:>4}  {:<15}", "layer", "head", "label");
    for (const HeadMeasureInfo& each : result.measures) text += fmt::format(" {:>10}", each.key);
    const bool counts = std::ranges::any_of(
        result.heads, [](const HeadFacts& facts) { return facts.measures.excluded > 0; });
    text += counts ? "       rows\n" : "\n";
    for (const HeadPlace place : heads_in_order(result, sort)) {
        const HeadFacts& facts = *result.find(place);
        text += fmt::format("{:>5} {:>4}  {:<15}", place.layer, place.head,
                            facts.label ? title_of(*facts.label) : "-");
        for (const HeadMeasureInfo& each : result.measures) {
            const auto& value = facts.measures[each.measure];
            text += ' ' + (value ? table_cell(*value, 10) : fmt::format("{:>10}", "-"));
        }
        const Index rows = facts.measures.rows;
        if (counts)
            text += fmt::format(" {:>10}",
                                fmt::format("{} of {}", rows, rows + facts.measures.excluded));
        text += '\n';
    }
    return text;
}

/// What a corpus, or a model of which one layer at a time is in memory, cannot be asked for.
void check_only_a_model(const HeadsOptions& options, std::string_view with) {
    const StartOptions& start = options.start;
    const bool texts = !options.corpus.texts.empty();
    const std::pair<std::string_view, bool> others[] = {
        {"--text", texts && start.text},
        {"--token-ids", texts && !start.token_ids.empty()},
        {"--image", start.image.has_value()},
        {"--audio", start.audio.has_value()},
        {"--decoder", !start.decoder.empty()},
        {"--off", !start.off.empty()},
        {"--row", !start.rows.empty()},
        {"--patch", !start.patches.empty()},
        {"--sequence", !options.sequence.empty()},
        {"--backend", !start.backend.empty()}};
    for (const auto& [name, given] : others)
        if (given) throw bad_input(fmt::format("{} is given with {}; leave one out", name, with));
    for (const auto& [name, value] : start.reading)
        if (!value.empty())
            throw bad_input(fmt::format(
                "--{} is given with {}; {}", name, with,
                name == "group" ? "the first group of each model is measured; leave it out"
                                : "the model determines it; leave it out"));
}

/// Of one text, with the weights of one layer at a time in memory.
HeadsResult streamed(const HeadsOptions& options, const std::string& folder, Streams io) {
    const StartOptions& start = options.start;
    if (!start.text)  // what --token-ids says, too
        throw bad_input("--stream is given alone; expected --text, --token-ids or --texts with it");
    const Model model = or_throw(Model::open(folder, LoadedBlocks::one));
    const std::vector<std::vector<ModelToken>> tokens{or_throw(model.tokens_of(*start.text))};
    for (const std::string& note : model.notes()) write_note(note, kHeadsName, io);
    auto facts = or_throw(measure_texts(model, tokens, true));
    HeadsResult result{0, false, measures_of_heads(false), {}, std::move(facts.front()), 0};
    note_excluded_rows(result, io);
    return result;
}

int list_heads(HeadsOptions& options, Streams io) {
    const CorpusOptions& corpus = options.corpus;
    for (const auto& [name, value] :
         {std::pair{"--batch", corpus.batch}, std::pair{"--part", corpus.part},
          std::pair{"--save-every", corpus.save_every}})
        if (corpus.texts.empty() && !value.empty())
            throw bad_input(fmt::format("{} is '{}'; expected it with --texts", name, value));
    if (!corpus.texts.empty() && options.start.files.size() == 1) {
        check_only_a_model(options, "--texts");
        return measure_corpus(files::model_path(options.start.files.front()), corpus, options.sort,
                              options.output, io);
    }
    or_throw(files::check_extension({"-o", options.output}, ".csv"));
    if (!options.sort.empty() && !find_head_measure(options.sort))
        throw bad_input(
            fmt::format("--sort is '{}'; expected one of {}", options.sort, measure_keys()));
    if (options.start.files.empty())
        throw bad_input(
            "no FILE; expected tensors, a model's folder or .gguf, a session or a preset");
    const files::NamedFile outputs[] = {{"-o", options.output}};
    or_throw(resolve_start(options.start, outputs));
    if (corpus.stream) check_only_a_model(options, "--stream");
    if (corpus.stream && options.sort == "change")
        throw bad_input("--sort is 'change', which --stream does not measure; leave one out");
    const auto result =
        corpus.stream ? streamed(options, options.start.file, io) : measured(options, io);
    if (options.output.empty())
        io.out << heads_table(result, options.sort);
    else
        write_csv(options.output, heads_csv(result, options.sort), result.heads.size(), "heads",
                  io);
    return kSuccess;
}

}  // namespace

int run_heads(Args args, Streams io) {
    return run_command("Measures every head of every layer, and proposes a label.", kHeadsName,
                       args, io, declare_heads, list_heads);
}

}  // namespace attn::cli
