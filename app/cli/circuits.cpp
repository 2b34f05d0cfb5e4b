// attnscope circuits: what depends on each head of a trained model, and one head's QK and OV.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/cli/trace_parts.h"
#include "app/common/or_throw.h"
#include "app/files/options.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "app/files/words.h"
#include "core/models/circuits.h"
#include "core/models/sweep.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kCircuitsName = "attnscope circuits";
constexpr std::size_t kListed = 5;

constexpr std::string_view kCircuitsFooter =
    "Without --layer and --head one head after the other is changed and the model goes on from "
    "there:\n"
    "  change     of logit A - logit B of the next token, from that of the untouched run\n"
    "  KL         of the next token's distribution, untouched to changed, in nats\n"
    "With them, QK = W_Q W_K^T and OV = W_V W_O of that head (Elhage et al. 2021), weights of "
    "norms folded in:\n"
    "  singular values; copying = sum of eigenvalues / sum of their sizes, of W_E OV W_U\n"
    "  composition with each earlier head: |OV QK'|, |OV QK'^T|, |OV OV'| over the product of "
    "their norms\n"
    "  over the text: qk, the score of a query token and a key token at distance 0, each its "
    "embedding; ov, what\n"
    "  attending to a token adds to the logit of each\n"
    "Arrays of OUT.npz: sweep_change, sweep_kl, sweep_difference, sweep_tokens; or qk, ov, "
    "qk_values, ov_values,\n"
    "  copying, composition_q, composition_k, composition_v; and tokens\n\n"
    "Examples:\n"
    "  attnscope circuits MODEL-FOLDER --text \"The cat sat. The cat\"\n"
    "  attnscope circuits MODEL-FOLDER --text \"The cat sat\" --sweep mean --logits \" on\" \" "
    "in\" "
    "--json\n"
    "  attnscope circuits MODEL-FOLDER --text \"The cat sat\" --layer 5 --head 1 -o head.npz\n";

struct CircuitsOptions {
    std::vector<std::string> folders;
    std::optional<std::string> text;
    std::string token_ids, image;
    std::string sweep, from;
    std::vector<std::string> logits;
    std::string layer, head;
    std::string backend = "auto", output;
    bool each_position = false, json = false;

    bool is_of_head() const { return !layer.empty() || !head.empty(); }
};

void declare_circuits(CLI::App& app, CircuitsOptions& options) {
    app.add_option("MODEL", options.folders, "a trained model's folder");
    add_value(app, "--text", options.text, "TEXT", "what it reads");
    add_value(app, "--token-ids", options.token_ids, "N,..",
              "what it reads where it has no tokenizer: the numbers of its tokens");
    add_value(app, "--image", options.image, "FILE.png", "what a model of images reads");
    add_value(app, "--sweep", options.sweep, "zero|mean|patch",
              "what takes the place of a head's context: 0, its mean over positions, or that of "
              "another text (default zero)");
    add_value(app, "--from", options.from, "TEXT", "of patch: a text of as many tokens");
    app.add_flag("--by-position", options.each_position, "one position of a head at a time");
    app.add_option("--logits", options.logits,
                   "the two tokens to compare, as text or as #NUMBER (default: the likeliest two)")
        ->type_name("A B")
        ->expected(2);
    add_value(app, "--layer", options.layer, "N", "with --head: one head's QK and OV");
    add_value(app, "--head", options.head, "N", "with --layer");
    add_value(app, "--backend", options.backend, "NAME", "what computes, by its name");
    app.add_flag("--json", options.json, "JSON on standard output");
    add_value(app, "-o,--output", options.output, "OUT.npz",
              "the file to write; - for standard output");
    app.footer(std::string(kCircuitsFooter));
}

/// One token, or a class by its number.
Index token_named(const Model& model, const std::string& text) {
    if (!model.config().image) return or_throw(model.token_named(text));
    if (text.starts_with('#'))
        if (const auto id = files::number_in<Index>(std::string_view(text).substr(1))) return *id;
    throw bad_input(
        fmt::format("--logits has '{}'; expected a class by its number, as in #7", text));
}

Ablation ablation_named(const std::string& key) {
    if (key.empty()) return Ablation::zero;
    const auto found = std::ranges::find(kAblations, key);
    if (found == std::end(kAblations))
        throw bad_input(fmt::format("--sweep is '{}'; expected zero, mean or patch", key));
    return static_cast<Ablation>(found - std::begin(kAblations));
}

std::vector<std::string> token_words(const ModelRun& run) {
    std::vector<std::string> words;
    for (const ModelToken& token : run.tokens) words.push_back(token.text);
    return words;
}

std::vector<float> floats_of(std::span<const double> values) {
    std::vector<float> made;
    for (const double value : values) made.push_back(static_cast<float>(value));
    return made;
}

/// NaN is null.
ordered_json or_null(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

/// What is said of a sweep or of a head: text, JSON, arrays. The arrays look at `columns`.
struct Report {
    std::string text;
    ordered_json json;
    std::vector<std::vector<float>> columns;
    std::vector<NpzEntry> entries;
};

void add_array(Report& report, std::string name, std::vector<Index> shape,
               std::vector<float> values) {
    report.columns.push_back(std::move(values));
    report.entries.push_back({std::move(name), std::move(shape), report.columns.back()});
}

// ---- the sweep

std::string sweep_title(const Model& model, const HeadSweep& sweep) {
    constexpr std::string_view kWhat[] = {"0", "its mean over positions", "that of the other text"};
    return fmt::format(
        "context of each head in turn {}: change of logit {} - logit {}, untouched {:.4f}\n",
        kWhat[static_cast<std::size_t>(sweep.by)], model.shown(sweep.a), model.shown(sweep.b),
        sweep.difference);
}

std::string place_words(const HeadSweep& sweep, const SweptHead& head) {
    return sweep.positions == 1
               ? fmt::format("{}.{}", head.at.layer, head.at.head)
               : fmt::format("{}.{} position {}", head.at.layer, head.at.head, head.position);
}

/// A row a layer; of single positions the largest change of a head.
std::string sweep_picture(const HeadSweep& sweep) {
    std::string text = fmt::format("{:>7}", "layer");
    for (Index head = 0; head < sweep.heads; ++head) text += fmt::format(" {:>8}", head);
    const auto per_head = static_cast<std::size_t>(sweep.positions);
    for (std::size_t n = 0; n < sweep.swept.size(); n += per_head) {
        const SweptHead& first = sweep.swept[n];
        if (first.at.head == 0) text += fmt::format("\n{:>7}", first.at.layer);
        const auto of_head = std::span(sweep.swept).subspan(n, per_head);
        const auto most = std::ranges::max_element(
            of_head, {}, [&](const SweptHead& each) { return std::abs(sweep.change(each)); });
        text += fmt::format(" {:>8.3f}", sweep.change(*most));
    }
    return text + "\n";
}

std::string largest_words(const HeadSweep& sweep) {
    std::vector<SweptHead> order = sweep.swept;
    std::ranges::stable_sort(order, std::ranges::greater(), [&](const SweptHead& head) {
        const double change = sweep.change(head);
        return std::isnan(change) ? -1.0 : std::abs(change);
    });
    std::string text = "largest:\n";
    for (std::size_t n = 0; n < std::min(order.size(), kListed); ++n)
        text += fmt::format("  {:<18} {:>9.4f}  KL {:.4g}\n", place_words(sweep, order[n]),
                            sweep.change(order[n]), order[n].kl);
    return text;
}

ordered_json sweep_json(const Model& model, const HeadSweep& sweep) {
    ordered_json json{{"sweep", kAblations[static_cast<std::size_t>(sweep.by)]},
                      {"a", {{"id", sweep.a}, {"token", model.shown(sweep.a)}}},
                      {"b", {{"id", sweep.b}, {"token", model.shown(sweep.b)}}},
                      {"difference", or_null(sweep.difference)},
                      {"products", sweep.products},
                      {"products_of_run", sweep.products_of_run}};
    json["heads"] = ordered_json::array();
    for (const SweptHead& head : sweep.swept) {
        ordered_json row{{"layer", head.at.layer}, {"head", head.at.head}};
        if (sweep.positions > 1) row["position"] = head.position;
        row["change"] = or_null(sweep.change(head));
        row["kl"] = or_null(head.kl);
        json["heads"].push_back(std::move(row));
    }
    return json;
}

Report report_of(const Model& model, const HeadSweep& sweep) {
    Report report{sweep_title(model, sweep) + sweep_picture(sweep) + largest_words(sweep),
                  sweep_json(model, sweep),
                  {},
                  {}};
    std::vector<Index> shape{sweep.layers, sweep.heads};
    if (sweep.positions > 1) shape.push_back(sweep.positions);
    std::vector<float> change, kl;
    for (const SweptHead& head : sweep.swept) {
        change.push_back(static_cast<float>(sweep.change(head)));
        kl.push_back(static_cast<float>(head.kl));
    }
    add_array(report, "sweep_change", shape, std::move(change));
    add_array(report, "sweep_kl", shape, std::move(kl));
    add_array(report, "sweep_difference", {1}, {static_cast<float>(sweep.difference)});
    add_array(report, "sweep_tokens", {2},
              {static_cast<float>(sweep.a), static_cast<float>(sweep.b)});
    return report;
}

Report swept(const CircuitsOptions& options, const Model& model, const ModelRun& run,
             const Backend& backend) {
    SweepOptions wanted{ablation_named(options.sweep), {}, options.each_position, nullptr};
    if (!options.logits.empty())
        wanted.tokens = {token_named(model, options.logits[0]),
                         token_named(model, options.logits[1])};
    ModelRun other;
    if (wanted.by == Ablation::patch) {
        if (options.from.empty()) throw bad_input("--sweep patch needs --from TEXT");
        other = or_throw(model.read(options.from, backend, only_stage(Stage::context)));
        wanted.other = &other;
    }
    return report_of(model, or_throw(sweep_heads(model, run, backend, wanted)));
}

// ---- one head

std::string values_words(std::string_view name, std::span<const double> values) {
    std::string text = fmt::format("singular values of {} ({}):", name, values.size());
    for (const double value : values.first(std::min<std::size_t>(values.size(), 8)))
        text += fmt::format(" {:.4g}", value);
    return text + (values.size() > 8 ? " …\n" : "\n");
}

/// Of each token the largest of its row: which key, which logit.
std::string row_words(const std::vector<std::string>& tokens, const TokenCircuit& circuit) {
    std::string text = "token, its highest score as a query, the logit that it raises most:\n";
    for (Index i = 0; i < std::ssize(tokens); ++i) {
        const auto largest = [&](const Tensor& of) {
            const auto row = of.matrix(0, 0).row(i);
            const auto most = std::ranges::max_element(row) - row.begin();
            return fmt::format("{} {} {:.4g}", most, tokens[static_cast<std::size_t>(most)],
                               row[static_cast<std::size_t>(most)]);
        };
        text += fmt::format("  {:>4} {:<14} {:<26} {}\n", i, tokens[static_cast<std::size_t>(i)],
                            largest(circuit.qk), circuit.ov.empty() ? "-" : largest(circuit.ov));
    }
    return text;
}

std::string composition_words(std::vector<Composition> all) {
    if (all.empty()) return {};
    std::string text = "composition with earlier heads, the largest:\n";
    const auto list = [&](char name, double Composition::*of) {
        std::ranges::stable_sort(all, std::ranges::greater(), of);
        text += fmt::format("  {}:", name);
        for (std::size_t n = 0; n < std::min(all.size(), kListed); ++n)
            text += fmt::format("  {}.{} {:.4f}", all[n].earlier.layer, all[n].earlier.head,
                                all[n].*of);
        text += '\n';
    };
    list('Q', &Composition::q);
    list('K', &Composition::k);
    list('V', &Composition::v);
    return text;
}

ordered_json matrix_json(const Tensor& matrix) {
    auto rows = ordered_json::array();
    for (Index i = 0; i < matrix.shape().t; ++i) {
        auto row = ordered_json::array();
        for (const float value : matrix.matrix(0, 0).row(i)) row.push_back(or_null(value));
        rows.push_back(std::move(row));
    }
    return rows;
}

ordered_json head_json(HeadPlace at, const HeadCircuit& circuit, const TokenCircuit& over,
                       const std::vector<Composition>& composed,
                       const std::vector<std::string>& tokens) {
    ordered_json json{
        {"layer", at.layer},
        {"head", at.head},
        {"qk_values", circuit.qk},
        {"ov_values", circuit.ov},
        {"copying", circuit.copying ? ordered_json(*circuit.copying) : ordered_json()}};
    json["composition"] = ordered_json::array();
    for (const Composition& each : composed)
        json["composition"].push_back({{"layer", each.earlier.layer},
                                       {"head", each.earlier.head},
                                       {"q", each.q},
                                       {"k", each.k},
                                       {"v", each.v}});
    json["tokens"] = tokens;
    json["qk"] = matrix_json(over.qk);
    if (!over.ov.empty()) json["ov"] = matrix_json(over.ov);
    return json;
}

void add_composition(Report& report, HeadPlace at, const std::vector<Composition>& composed) {
    if (composed.empty()) return;
    const std::vector<Index> shape{at.layer, std::ssize(composed) / at.layer};
    const auto add = [&](const char* name, double Composition::*of) {
        std::vector<float> values;
        for (const Composition& each : composed) values.push_back(static_cast<float>(each.*of));
        add_array(report, name, shape, std::move(values));
    };
    add("composition_q", &Composition::q);
    add("composition_k", &Composition::k);
    add("composition_v", &Composition::v);
}

Report head_report(const CircuitsOptions& options, const Model& model, const ModelRun& run) {
    if (options.layer.empty() || options.head.empty())
        throw bad_input("--layer and --head name a head together");
    const HeadPlace at{files::parse_whole_number({"--layer", options.layer}),
                       files::parse_whole_number({"--head", options.head})};
    const auto circuit = or_throw(head_circuit(model, at));
    const auto over = or_throw(token_circuit(model, at, run.tokens));
    const auto composed = or_throw(compositions(model, at));
    const std::vector<std::string> tokens = token_words(run);
    Report report;
    report.text = fmt::format("layer {} head {}\n", at.layer, at.head) +
                  values_words("QK", circuit.qk) + values_words("OV", circuit.ov) +
                  (circuit.copying ? fmt::format("copying score: {:.4f}\n", *circuit.copying)
                                   : "copying score: not defined\n") +
                  composition_words(composed) + row_words(tokens, over);
    report.json = head_json(at, circuit, over, composed, tokens);
    const auto count = std::ssize(tokens);
    const auto copy = [](const Tensor& from) {
        return std::vector<float>(from.values().begin(), from.values().end());
    };
    add_array(report, "qk", {count, count}, copy(over.qk));
    if (!over.ov.empty()) add_array(report, "ov", {count, count}, copy(over.ov));
    add_array(report, "qk_values", {std::ssize(circuit.qk)}, floats_of(circuit.qk));
    add_array(report, "ov_values", {std::ssize(circuit.ov)}, floats_of(circuit.ov));
    if (circuit.copying) add_array(report, "copying", {1}, {static_cast<float>(*circuit.copying)});
    add_composition(report, at, composed);
    return report;
}

// ---- both

std::string text_of(const CircuitsOptions& options, const std::string& folder) {
    const int given = (options.text ? 1 : 0) + (options.token_ids.empty() ? 0 : 1) +
                      (options.image.empty() ? 0 : 1);
    if (given != 1) throw bad_input("expected one of --text, --token-ids and --image");
    if (!options.token_ids.empty()) return text_of_token_ids(options.token_ids, folder);
    return options.text.value_or(options.image);
}

void check_together(const CircuitsOptions& options) {
    if (options.folders.size() != 1)
        throw bad_input(fmt::format("{} MODEL; expected one trained model's folder",
                                    options.folders.empty() ? "no" : "more than one"));
    if (options.is_of_head() && (!options.sweep.empty() || options.each_position ||
                                 !options.logits.empty() || !options.from.empty()))
        throw bad_input(
            "--layer and --head are of one head's circuit; expected no --sweep, --from, "
            "--by-position or --logits beside them");
    if (!options.from.empty() && options.sweep != "patch")
        throw bad_input("--from is of --sweep patch");
    if (options.json && files::is_standard(options.output))
        throw bad_input("--json and -o - both write to standard output");
    or_throw(files::check_extension({"-o", options.output}, ".npz"));
}

int show_circuits(const CircuitsOptions& options, Streams io) {
    check_together(options);
    const std::string& folder = options.folders.front();
    const files::NamedFile outputs[] = {{"-o", options.output}};
    or_throw(files::check_outputs(files::files_of({"MODEL", folder}), outputs));
    const auto model = or_throw(Model::open(folder));
    const std::string text = text_of(options, folder);
    if (model.config().image.has_value() != !options.image.empty())
        throw bad_input(fmt::format("{} reads {}; expected {}", model.config().family->words,
                                    model.config().image ? "an image" : "a text",
                                    model.config().image ? "--image FILE.png" : "--text TEXT"));
    const Backend& backend =
        *or_throw(choose_backend(options.backend == "auto" ? "staged" : options.backend,
                                 Dimensions{}, only_stage(Stage::context), io.backends));
    const ModelRun run = or_throw(model.read(text, backend, only_stage(Stage::context)));
    Report report = options.is_of_head() ? head_report(options, model, run)
                                         : swept(options, model, run, backend);
    for (const std::string& note : model.notes())
        io.err << kCircuitsName << ": note: " << note << '\n';
    if (!options.output.empty()) {
        report.entries.push_back({"tokens", {}, {}, token_words(run)});
        write_entries(options.output, report.entries, io);
    }
    if (options.json)
        io.out << report.json.dump(1) << '\n';
    else
        (files::is_standard(options.output) ? io.err : io.out) << report.text;
    return kSuccess;
}

}  // namespace

int run_circuits(Args args, Streams io) {
    CLI::App app("What depends on each head of a trained model, and one head's QK and OV.",
                 std::string(kCircuitsName));
    CircuitsOptions options;
    declare_circuits(app, options);
    return run_command(app, args, io, [&] { return show_circuits(options, io); });
}

}  // namespace attn::cli
