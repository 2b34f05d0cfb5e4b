// attnscope circuits: what depends on each head of a trained model, and one head's QK and OV.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "app/cli/model_text.h"
#include "app/cli/subcommands.h"
#include "app/cli/trace_parts.h"
#include "app/common/document/opened.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "core/models/circuits.h"
#include "core/models/family.h"
#include "core/models/path_patching.h"
#include "core/models/sweep_logits.h"
#include "core/stopwatch.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kCircuitsName = "attnscope circuits";
constexpr std::size_t kListed = 5;

constexpr std::string_view kCircuitsFooter =
    "Without --layer and --head each part is changed in turn, and the model runs on from there:\n"
    "  heads      each head's context; residual: at each position, what each layer reads; mlp: "
    "what its MLP adds\n"
    "  change     of logit A - logit B of the next token or class, from that of the untouched run\n"
    "  KL         of its distribution, untouched to changed, in nats; 0 if only rounding differs\n"
    "The other text of a patch may have any length: tokens are paired from the beginning, then "
    "from the end,\n"
    "while they are equal, or by --align. Unpaired positions are not changed.\n"
    "With --edges each edge of the model is cut in turn: one reader gets the residual stream less "
    "what one sender adds\n"
    "(--sweep mean: the sender's mean over positions replaces it), and its norm is computed again; "
    "the rest reads the\n"
    "unchanged stream:\n"
    "  senders    embedding, L.H: a head, L.mlp;  readers: L.H, L.mlp, logits; with --layer and "
    "--head that head alone\n"
    "  all, Q, K, V  change of the logits where all of a head, or only its queries, keys or values "
    "read the changed stream\n"
    "With --layer and --head alone, QK = W_Q W_K^T and OV = W_V W_O of that head (Elhage et al. "
    "2021), "
    "weights of norms folded in:\n"
    "  singular values; copying = sum of eigenvalues / sum of their sizes, of W_E OV W_U\n"
    "  composition with each earlier head: |OV QK'|, |OV QK'^T|, |OV OV'| over the product of "
    "their norms\n"
    "  over the text: qk, the score of a query token and a key token at distance 0, each its "
    "embedding; ov, what\n"
    "  attending to a token adds to the logit of each; with --nearest, to those of the vocabulary "
    "that are largest\n"
    "Arrays of OUT.npz: sweep_change, sweep_kl, sweep_difference, sweep_tokens, sweep_alignment, "
    "with --keep-logits sweep_logits, sweep_logits_before; or qk, ov, qk_tokens,\n"
    "  ov_tokens, qk_values, ov_values, copying, composition_q, composition_k, composition_v;\n"
    "  or edge_change [edges, 4], edge_sender, edge_reader; and tokens\n\n"
    "Examples:\n"
    "  attnscope circuits MODEL-FOLDER --text \"The cat sat. The cat\"\n"
    "  attnscope circuits MODEL-FOLDER --text \"The cat sat\" --sweep mean --logits \" on\" \" "
    "in\" --json\n"
    "  attnscope circuits MODEL-FOLDER --text \"The cat sat\" --part residual --sweep patch --from "
    "\"The old dog sat\"\n"
    "  attnscope circuits MODEL-FOLDER --text \"The cat sat\" --layer 5 --head 1 -o head.npz\n"
    "  attnscope circuits pronouns --text \"the dog didn't cross the road because it was too "
    "tired\" --edges\n";

constexpr int kMostNearest = 1 << 20;

struct CircuitsOptions {
    ModelText model;
    std::string part, sweep, from, align;
    std::vector<std::string> logits;
    std::string layer, head, nearest;
    std::string backend = "auto", output;
    bool each_position = false, edges = false, keep_logits = false, json = false;

    bool has_head() const { return !layer.empty() || !head.empty(); }
    bool is_of_head() const { return has_head() && !edges; }
    HeadPlace at() const {
        if (layer.empty() || head.empty())
            throw bad_input("--layer and --head name a head together");
        return {files::parse_whole_number({"--layer", layer}),
                files::parse_whole_number({"--head", head})};
    }
};

void declare_circuits(CLI::App& app, CircuitsOptions& options) {
    add_model_text_or_image(app, options.model);
    add_value(app, "--part", options.part, "heads|residual|mlp", "part to change (default heads)");
    add_value(
        app, "--sweep", options.sweep, "zero|mean|patch",
        "replacement: 0, the mean over positions, or the value from another text (default zero)");
    add_value(app, "--from", options.from, "TEXT", "for patch: the other text");
    add_value(app, "--align", options.align, "I=J,..",
              "for patch: token J of the other text replaces token I, from 0");
    app.add_flag("--by-position", options.each_position, "change one position of a head at a time");
    app.add_flag("--edges", options.edges, "cut each edge between two parts of the model in turn");
    app.add_option("--logits", options.logits,
                   "two tokens to compare, as text or as #NUMBER (default: the two most likely)")
        ->type_name("A B")
        ->expected(2);
    add_number(app, "--layer", options.layer, "N", files::whole_numbers(0, files::kMostLayer),
               "with --head: QK and OV of one head");
    add_number(app, "--head", options.head, "N", files::whole_numbers(0, files::kMostHeads),
               "with --layer");
    add_number(app, "--nearest", options.nearest, "N", files::whole_numbers(1, kMostNearest),
               "for one head: each token of the text with its N nearest of the vocabulary");
    add_value(app, "--backend", options.backend, "NAME", "backend, by its name");
    app.add_flag("--keep-logits", options.keep_logits,
                 "of a sweep: write the logits after each change to OUT.npz");
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

/// The first where none was named.
template <class Enum>
Enum named(std::string_view flag, const std::string& key, std::span<const std::string_view> names) {
    const auto found = key.empty() ? names.begin() : std::ranges::find(names, key);
    if (found == names.end())
        throw bad_input(
            fmt::format("{} is '{}'; expected one of {}", flag, key, fmt::join(names, ", ")));
    return static_cast<Enum>(found - names.begin());
}

std::vector<std::string> token_texts(const std::vector<ModelToken>& tokens) {
    std::vector<std::string> arguments;
    for (const ModelToken& token : tokens) arguments.push_back(token.text);
    return arguments;
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

/// "change of logit d - logit c, untouched 5.2012": of a sweep or of edges.
std::string measure_text(const Model& model, const auto& measured) {
    const bool classes = model.config().family->read_out == ReadOut::token_classes;
    return fmt::format("change of logit {} - logit {}{}, untouched {:.4f}",
                       model.answer_text(measured.a), model.answer_text(measured.b),
                       classes ? fmt::format(" at position {}", measured.position) : "",
                       measured.difference);
}

ordered_json token_json(const Model& model, Index id) {
    return {{"id", id}, {"token", model.answer_text(id)}};
}

std::string sweep_title(const Model& model, const HeadSweep& sweep) {
    constexpr std::string_view kPart[] = {"context of each head", "what each layer reads",
                                          "what each MLP adds"};
    constexpr std::string_view kWhat[] = {"0", "its mean over positions",
                                          "its counterpart in the other text"};
    return fmt::format("{}, replaced in turn by {}: {}\n",
                       kPart[static_cast<std::size_t>(sweep.part)],
                       kWhat[static_cast<std::size_t>(sweep.ablation)], measure_text(model, sweep));
}

bool is_of_heads(const HeadSweep& sweep) { return sweep.part == SweepPart::heads; }

std::string place_description(const HeadSweep& sweep, const SweptHead& head) {
    if (!is_of_heads(sweep)) return fmt::format("{} position {}", head.at.layer, head.position);
    return sweep.positions == 1
               ? fmt::format("{}.{}", head.at.layer, head.at.head)
               : fmt::format("{}.{} position {}", head.at.layer, head.at.head, head.position);
}

/// A row a layer and a column a head, or a position; of a head's single positions the largest change. "-": it has none.
std::string sweep_picture(const HeadSweep& sweep) {
    const auto columns =
        static_cast<std::size_t>(is_of_heads(sweep) ? sweep.heads : sweep.positions);
    const std::size_t per_cell = is_of_heads(sweep) ? static_cast<std::size_t>(sweep.positions) : 1;
    std::string text = fmt::format("{:>7}", "layer");
    for (std::size_t n = 0; n < columns; ++n) text += fmt::format(" {:>8}", n);
    for (std::size_t n = 0; n < sweep.swept.size(); n += per_cell) {
        if (n % (columns * per_cell) == 0) text += fmt::format("\n{:>7}", sweep.swept[n].at.layer);
        double most = std::numeric_limits<double>::quiet_NaN();
        for (const SweptHead& each : std::span(sweep.swept).subspan(n, per_cell))
            if (const double change = sweep.change(each);
                std::isnan(most) || std::abs(change) > std::abs(most))
                most = change;
        text += std::isnan(most) ? fmt::format(" {:>8}", "-") : fmt::format(" {:>8.3f}", most);
    }
    return text + "\n";
}

std::string most_text(const HeadSweep& sweep) {
    std::vector<SweptHead> order = sweep.swept;
    std::erase_if(order, [&](const SweptHead& head) { return std::isnan(sweep.change(head)); });
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](const SweptHead& head) { return std::abs(sweep.change(head)); });
    const bool any = std::ranges::any_of(
        order, [&](const SweptHead& head) { return sweep.change(head) != 0.0 || head.kl != 0.0; });
    if (!order.empty() && !any) return "no change is more than rounding\n";
    std::string text = "largest:\n";
    for (std::size_t n = 0; n < std::min(order.size(), kListed); ++n)
        text += fmt::format("  {:<18} {:>9.4f}  KL {:.4g}\n", place_description(sweep, order[n]),
                            sweep.change(order[n]), order[n].kl);
    return text;
}

ordered_json sweep_json(const Model& model, const HeadSweep& sweep) {
    ordered_json json{{"part", kSweepParts[static_cast<std::size_t>(sweep.part)]},
                      {"sweep", kAblations[static_cast<std::size_t>(sweep.ablation)]},
                      {"a", token_json(model, sweep.a)},
                      {"b", token_json(model, sweep.b)},
                      {"position", sweep.position},
                      {"difference", or_null(sweep.difference)},
                      {"products", sweep.products},
                      {"products_of_run", sweep.products_of_run}};
    if (sweep.ablation == Ablation::patch) json["alignment"] = pairs_of(sweep.alignment);
    const char* const name = is_of_heads(sweep) ? "heads" : "places";
    json[name] = ordered_json::array();
    for (const SweptHead& head : sweep.swept) {
        ordered_json row{{"layer", head.at.layer}};
        if (is_of_heads(sweep)) row["head"] = head.at.head;
        if (sweep.positions > 1 || !is_of_heads(sweep)) row["position"] = head.position;
        row["change"] = or_null(sweep.change(head));
        row["kl"] = or_null(head.kl);
        json[name].push_back(std::move(row));
    }
    return json;
}

Report report_of(const Model& model, const SweptLogits& swept) {
    const HeadSweep& sweep = swept.sweep;
    Report report{sweep_title(model, sweep) + sweep_picture(sweep) + most_text(sweep),
                  sweep_json(model, sweep),
                  {},
                  {}};
    std::vector<Index> shape{sweep.layers};
    if (is_of_heads(sweep)) shape.push_back(sweep.heads);
    if (sweep.positions > 1 || !is_of_heads(sweep)) shape.push_back(sweep.positions);
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
    if (const auto count = std::ssize(swept.before); count > 0) {
        shape.push_back(count);
        add_array(report, "sweep_logits", shape, swept.after);
        add_array(report, "sweep_logits_before", {count}, swept.before);
    }
    if (sweep.ablation == Ablation::patch)
        add_array(report, "sweep_alignment", {std::ssize(sweep.alignment)},
                  {sweep.alignment.begin(), sweep.alignment.end()});
    return report;
}

const Backend& backend_of(const CircuitsOptions& options, Streams io) {
    return *or_throw(choose_backend(options.backend == "auto" ? "staged" : options.backend,
                                    Dimensions{}, only_stage(Stage::context), io.backends));
}

ModelRun run_of(const OpenedText& text, const Backend& backend, StageSet keep) {
    const Model& model = *text.model;
    return or_throw(model.config().image
                        ? model.read(text.read, backend, keep)
                        : model.run(text.tokens, backend, keep, {}, {}, LogitRows::last));
}

/// The tokens of --logits; nullopt: the two likeliest.
std::optional<std::pair<Index, Index>> compared_tokens(const Model& model,
                                                       const CircuitsOptions& options) {
    if (options.logits.empty()) return std::nullopt;
    return std::pair{token_named(model, options.logits[0]), token_named(model, options.logits[1])};
}

Report sweep_report(const CircuitsOptions& options, const OpenedText& text, Streams io) {
    const Model& model = *text.model;
    const Backend& backend = backend_of(options, io);
    const ModelRun run = run_of(text, backend, only_stage(Stage::context));
    SweepOptions wanted{
        named<Ablation>("--sweep", options.sweep, kAblations), {}, options.each_position, nullptr};
    wanted.part = named<SweepPart>("--part", options.part, kSweepParts);
    wanted.tokens = compared_tokens(model, options);
    ModelRun other;
    if (wanted.ablation == Ablation::patch) {
        if (options.from.empty()) throw bad_input("--sweep patch needs --from TEXT");
        other = or_throw(model.read(options.from, backend, only_stage(Stage::context)));
        wanted.other = &other;
        if (!options.align.empty())
            wanted.alignment = or_throw(aligned(or_throw(parse_pairs(options.align)),
                                                std::ssize(run.tokens), std::ssize(other.tokens)));
    }
    const Stopwatch watch;
    const SweptLogits swept =
        options.keep_logits
            ? or_throw(sweep_logits(model, run, backend, wanted))
            : SweptLogits{or_throw(sweep_heads(model, run, backend, wanted)), {}, {}};
    const HeadSweep& sweep = swept.sweep;
    const double ms = watch.ms();
    Report report = report_of(model, swept);
    report.json["ms"] = ms;
    const auto changes = std::ranges::count_if(
        sweep.swept, [](const auto& each) { return !std::isnan(each.difference); });
    report.text +=
        fmt::format("{} in {:.0f} ms, {:.3g} times the products of one run\n",
                    view::counted(changes, "change"), ms, sweep.products / sweep.products_of_run);
    report.entries.push_back({"tokens", {}, {}, token_texts(run.tokens)});
    return report;
}

// ---- edges

std::string node_text(const ModelNode& node) {
    switch (node.kind) {
        case NodeKind::embedding:
            return "embedding";
        case NodeKind::head:
            return fmt::format("{}.{}", node.at.layer, node.at.head);
        case NodeKind::mlp:
            return fmt::format("{}.mlp", node.at.layer);
        default:
            return "logits";
    }
}

/// Those whose cut changes the logits, the largest change first, those that are not finite before them.
std::string edges_text(const PathEdges& made) {
    std::vector<PathEdge> order = made.edges;
    const auto size = [](const PathEdge& edge) {
        return std::isnan(edge.change) ? HUGE_VAL : std::abs(edge.change);
    };
    const auto silent = std::erase_if(order, [&](const PathEdge& edge) { return size(edge) == 0; });
    std::ranges::stable_sort(order, std::ranges::greater(), size);
    std::string text = fmt::format("  {:<9} {:<9} {:>9} {:>9} {:>9} {:>9}\n", "reader", "sender",
                                   "all", "Q", "K", "V");
    const auto cell = [](double change) {
        return std::isnan(change)
                   ? fmt::format(" {:>9}", "-")
                   : fmt::format(" {:>9.4f}", std::round(change * 1e4) / 1e4 + 0.0);  // no -0
    };
    for (const PathEdge& edge : order) {
        text += fmt::format("  {:<9} {:<9}", node_text(edge.receiver), node_text(edge.sender)) +
                cell(edge.change);
        if (edge.parts)
            for (const double part : *edge.parts) text += cell(part);
        text += '\n';
    }
    if (silent > 0)
        text += fmt::format("{} without effect beyond rounding when cut\n",
                            view::counted(static_cast<Index>(silent), "edge"));
    return text;
}

std::string weights_text(const std::vector<LargestWeight>& weights, const ModelRun& run,
                         Index position) {
    std::string text = fmt::format("largest attention weight of each head at position {} {}:\n",
                                   position, run.tokens[position].text);
    for (const LargestWeight& each : weights)
        text += std::isnan(each.weight)
                    ? fmt::format("  {}.{} -\n", each.at.layer, each.at.head)
                    : fmt::format("  {}.{} {:.4f} at {} {}{}\n", each.at.layer, each.at.head,
                                  each.weight, each.key, run.tokens[each.key].text,
                                  view::as_much_text(each.ties));
    return text;
}

ordered_json node_json(const ModelNode& node) {
    ordered_json json{{"name", node_text(node)}};
    if (node.kind == NodeKind::head || node.kind == NodeKind::mlp) json["layer"] = node.at.layer;
    if (node.kind == NodeKind::head) json["head"] = node.at.head;
    return json;
}

ordered_json edges_json(const Model& model, const PathEdges& made,
                        const std::vector<LargestWeight>& weights) {
    ordered_json json{{"sweep", kAblations[static_cast<std::size_t>(made.ablation)]},
                      {"a", token_json(model, made.a)},
                      {"b", token_json(model, made.b)},
                      {"position", made.position},
                      {"difference", or_null(made.difference)},
                      {"edges", ordered_json::array()},
                      {"weights", ordered_json::array()}};
    for (const PathEdge& edge : made.edges) {
        ordered_json row{{"sender", node_json(edge.sender)},
                         {"reader", node_json(edge.receiver)},
                         {"change", or_null(edge.change)}};
        if (edge.parts)
            row["q"] = or_null((*edge.parts)[0]), row["k"] = or_null((*edge.parts)[1]),
            row["v"] = or_null((*edge.parts)[2]);
        json["edges"].push_back(std::move(row));
    }
    for (const LargestWeight& each : weights)
        json["weights"].push_back({{"layer", each.at.layer},
                                   {"head", each.at.head},
                                   {"key", each.key},
                                   {"weight", or_null(each.weight)},
                                   {"ties", each.ties}});
    return json;
}

Report edges_report(const CircuitsOptions& options, const OpenedText& text, Streams io) {
    const Model& model = *text.model;
    const Backend& backend = backend_of(options, io);
    StageSet keep = only_stage(Stage::context);
    keep[index_of(Stage::weights)] = true;
    const ModelRun run = run_of(text, backend, keep);
    PathOptions wanted{
        named<Ablation>("--sweep", options.sweep, kAblations), compared_tokens(model, options), {}};
    if (options.has_head()) wanted.receiver = options.at();
    const Stopwatch watch;
    const PathEdges made = or_throw(path_edges(model, run, backend, wanted));
    const double ms = watch.ms();
    const auto weights = largest_weights(run, made.position);
    Report report{
        fmt::format("edges cut in turn, {}: {}\n",
                    made.ablation == Ablation::mean ? "the sender's mean over positions stays"
                                                    : "the sender's output is left out",
                    measure_text(model, made)) +
            edges_text(made) + weights_text(weights, run, made.position) +
            fmt::format("{} in {:.0f} ms\n", view::counted(std::ssize(made.edges), "edge"), ms),
        edges_json(model, made, weights),
        {},
        {}};
    report.json["ms"] = ms;
    std::vector<float> changes;
    std::vector<std::string> senders, readers;
    for (const PathEdge& edge : made.edges) {
        constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
        changes.push_back(static_cast<float>(edge.change));
        for (const double part : edge.parts.value_or(std::array{kNone, kNone, kNone}))
            changes.push_back(static_cast<float>(part));
        senders.push_back(node_text(edge.sender));
        readers.push_back(node_text(edge.receiver));
    }
    add_array(report, "edge_change", {std::ssize(made.edges), 4}, std::move(changes));
    report.entries.push_back({"edge_sender", {}, {}, std::move(senders)});
    report.entries.push_back({"edge_reader", {}, {}, std::move(readers)});
    report.entries.push_back({"tokens", {}, {}, token_texts(run.tokens)});
    return report;
}

// ---- one head

std::string values_text(std::string_view name, std::span<const double> values) {
    std::string text = fmt::format("singular values of {} ({}):", name, values.size());
    for (const double value : values.first(std::min<std::size_t>(values.size(), 8)))
        text += fmt::format(" {:.4g}", value);
    return text + (values.size() > 8 ? " …\n" : "\n");
}

/// Of each token the largest of its row: which key, which logit.
std::string row_description(const Model& model, const std::vector<std::string>& tokens,
                            const TokenCircuit& circuit) {
    std::string text = "token, its highest score as a query, the logit that it raises most:\n";
    for (Index i = 0; i < std::ssize(tokens); ++i) {
        const auto largest = [&](const TokenProduct& of) {
            const auto row = of.values.matrix(0, 0).row(i);
            const auto most = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
            return fmt::format("{} {} {:.4g}", most, model.shown(of.others[most]), row[most]);
        };
        text += fmt::format("  {:>4} {:<14} {:<26} {}\n", i, tokens[i], largest(circuit.qk),
                            circuit.ov.others.empty() ? "-" : largest(circuit.ov));
    }
    return text;
}

std::string composition_text(std::vector<Composition> all) {
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
    for (const auto& [name, of] : {std::pair{"qk", &over.qk}, std::pair{"ov", &over.ov}}) {
        if (of->others.empty()) continue;
        json[name] = matrix_json(of->values);
        json[fmt::format("{}_tokens", name)] = of->others;
    }
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

void add_product(Report& report, const std::string& name, const TokenProduct& of) {
    if (of.others.empty()) return;
    const auto values = of.values.values();
    add_array(report, name, {of.values.shape().t, of.values.shape().d},
              {values.begin(), values.end()});
    add_array(report, name + "_tokens", {std::ssize(of.others)},
              {of.others.begin(), of.others.end()});
}

/// Of weights and tokens alone: nothing is run.
Report head_report(const CircuitsOptions& options, const OpenedText& text) {
    const HeadPlace at = options.at();
    const Model& model = *text.model;
    if (!model.config().image) or_throw(model.check_tokens(text.tokens));
    const auto circuit = or_throw(head_circuit(model, at));
    const auto over =
        or_throw(options.nearest.empty()
                     ? token_circuit(model, at, text.tokens)
                     : vocabulary_circuit(model, at, text.tokens,
                                          parse_count("--nearest", options.nearest, kMostNearest)));
    const auto composed = or_throw(compositions(model, at));
    const std::vector<std::string> tokens = token_texts(text.tokens);
    Report report;
    report.text = fmt::format("L{} H{}\n", at.layer, at.head) + values_text("QK", circuit.qk) +
                  values_text("OV", circuit.ov) +
                  (circuit.copying ? fmt::format("copying score: {:.4f}\n", *circuit.copying)
                                   : "copying score: not defined\n") +
                  composition_text(composed) + row_description(model, tokens, over);
    report.json = head_json(at, circuit, over, composed, tokens);
    add_product(report, "qk", over.qk);
    add_product(report, "ov", over.ov);
    add_array(report, "qk_values", {std::ssize(circuit.qk)}, floats_of(circuit.qk));
    add_array(report, "ov_values", {std::ssize(circuit.ov)}, floats_of(circuit.ov));
    if (circuit.copying) add_array(report, "copying", {1}, {static_cast<float>(*circuit.copying)});
    add_composition(report, at, composed);
    report.entries.push_back({"tokens", {}, {}, tokens});
    return report;
}

// ---- all

void check_together(const CircuitsOptions& options) {
    if (options.is_of_head() &&
        (!options.sweep.empty() || !options.part.empty() || options.each_position ||
         !options.logits.empty() || !options.from.empty() || options.backend != "auto"))
        throw bad_input(
            "--layer and --head select the circuit of one head; expected no --part, --sweep, "
            "--from, --by-position, --logits or --backend");
    if (options.edges && (!options.part.empty() || options.each_position ||
                          !options.nearest.empty() || options.sweep == "patch"))
        throw bad_input(
            "--edges cuts what a part of the model reads; expected no --part, --by-position, "
            "--nearest or --sweep patch");
    if (!options.is_of_head() && !options.nearest.empty())
        throw bad_input("--nearest applies to one head; expected --layer and --head");
    if (options.keep_logits && (options.edges || options.is_of_head() || options.output.empty()))
        throw bad_input(
            "--keep-logits writes the logits after each change of a sweep; expected -o OUT.npz, "
            "and no --edges, or --layer with --head");
    for (const auto& [flag, value] :
         {std::pair{"--from", &options.from}, std::pair{"--align", &options.align}})
        if (!value->empty() && options.sweep != "patch")
            throw bad_input(fmt::format("{} applies only with --sweep patch", flag));
    if (options.json && files::is_standard(options.output))
        throw bad_input("--json and -o - both write to standard output");
    or_throw(files::check_extension({"-o", options.output}, ".npz"));
}

int show_circuits(CircuitsOptions& options, Streams io) {
    check_together(options);
    const files::NamedFile outputs[] = {{"-o", options.output}};
    or_throw(files::check_outputs(files::files_of({"MODEL", options.model.folder}), outputs));
    if (reads_pairs(options.model.folder))
        throw bad_input(fmt::format(
            "{} {}; expected a model that gives a next token or a class", options.model.folder,
            reads_among_text(options.model.folder)
                ? "reads an image among the tokens of a text"
                : "compares texts and images and gives no logits that a change could "
                  "move"));
    const OpenedText text = open_text(options.model, kCircuitsName, io);
    const Report report = options.edges          ? edges_report(options, text, io)
                          : options.is_of_head() ? head_report(options, text)
                                                 : sweep_report(options, text, io);
    if (!options.output.empty()) write_entries(options.output, report.entries, io);
    if (options.json)
        io.out << report.json.dump(1) << '\n';
    else
        (files::is_standard(options.output) ? io.err : io.out) << report.text;
    return kSuccess;
}

}  // namespace

int run_circuits(Args args, Streams io) {
    return run_command(
        "Measures the effect of each head of a trained model, of what each part reads from which, "
        "and the QK and OV circuits of a head.",
        kCircuitsName, args, io, declare_circuits, show_circuits);
}

}  // namespace attn::cli
