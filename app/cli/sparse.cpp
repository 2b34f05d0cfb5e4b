// attnscope sparse: attention over sets of keys compared with exact attention: missed weight, and the tiles of a BlockMask.

#include <cmath>

#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/command.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "app/cli/subcommands.h"
#include "app/cli/table.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/axes.h"
#include "app/files/standard.h"
#include "app/files/tensors.h"
#include "app/files/text.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/given.h"
#include "core/io/npy.h"
#include "core/key_sets.h"
#include "core/masks.h"
#include "core/train/task_table.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kSparseName = "attnscope sparse";
constexpr Index kMostFindings = 12;  // of a BlockMask that the text prints; --json has all
constexpr std::string_view kSelected = "selected";

struct SparseOptions {
    StartOptions start;
    std::string rules, budgets, pool = "4", sink_keys = "4", recent = "4", layer, head, sequence;
    bool json = false;
};

std::string rule_keys() {
    std::string keys;
    for (const KeyRuleInfo& rule : key_rule_table())
        keys += fmt::format("{}{}", keys.empty() ? "" : ", ", rule.key);
    return keys;
}

/// Every rule with its set and source.
std::string sparse_footer() {
    std::string text = "Rules, the keys that query i reads of those that the mask allows:\n";
    for (const KeyRuleInfo& rule : key_rule_table())
        text += fmt::format("  {:<14} {}{}{}\n", rule.key, rule.formula,
                            rule.source.empty() ? "" : ". ", rule.source);
    return text +
           "Columns: keys = keys read per query; read = of the pairs that the mask allows; missed "
           "= "
           "exact weight\n"
           "outside the set, mean over rows with a key and finite logits; worst row = the row that "
           "misses most; "
           "output = "
           "‖O - O_set‖ / ‖O‖,\n"
           "mean of the heads; worst head = the head whose output moves most.\n\n"
           "Arrays of FILE: selected [H,Tq,k] or [B,H,Tq,k], the keys of each query, -1 for an "
           "unused slot; indexer_scores;\n"
           "kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, Q_BLOCK_SIZE, "
           "KV_BLOCK_SIZE of FlexAttention's BlockMask.\n\n"
           "Examples:\n"
           "  attnscope sparse qkv.npz --causal --k 4,8,16\n"
           "  attnscope sparse MODEL-FOLDER --text \"The cat sat\" --rule top-k,heavy-hitters\n"
           "  attnscope sparse block-mask.npz --causal --json\n";
}

void declare_sparse(CLI::App& app, SparseOptions& options) {
    app.add_option("FILE", options.start.files,
                   "tensors, a model (its folder or a .gguf), or a session or preset (.json)");
    add_model_options(app, options.start);
    add_call_options(app, options.start.reading);
    add_value(app, "--rule", options.rules, "RULE,..", "default all: " + rule_keys());
    add_number(app, "--k", options.budgets, "N,..",
               files::whole_numbers(1, files::kMostPosition, files::NumberRange::Form::parts),
               "keys that a query reads, default the powers of 2 below Tk");
    add_number(app, "--pool", options.pool, "N", files::whole_numbers(1, files::kMostPosition),
               "keys of a block of pooled-blocks and nsa, default 4");
    add_number(app, "--sink-keys", options.sink_keys, "N",
               files::whole_numbers(0, files::kMostPosition),
               "first keys of sink-window, default 4");
    add_number(app, "--recent-keys", options.recent, "N",
               files::whole_numbers(0, files::kMostPosition),
               "latest keys of nsa, at most k, default 4");
    add_number(app, "--layer", options.layer, "N", files::whole_numbers(0, files::kMostLayer),
               "one layer; default all");
    add_number(app, "--head", options.head, "N", files::whole_numbers(0, files::kMostLayer),
               "one head; default all");
    add_number(app, "--sequence", options.sequence, "N",
               files::whole_numbers(0, files::kMostPosition), "of the batch, from 0; default 0");
    app.add_flag("--json", options.json, "as JSON, with every head");
    app.footer(sparse_footer());
}

// ---- exact attention

/// One layer without its set of keys.
struct ExactLayer {
    Index number = 0;
    AttentionSpec spec;
    Dimensions size;
    Trace trace;  // scaled, biased, weights, V: those that exist
    Tensor sinks;
};

StageSet sparse_stages() {
    StageSet keep;
    for (const Stage stage :
         {Stage::v, Stage::scaled, Stage::biased, Stage::masked, Stage::weights})
        keep.set(index_of(stage));
    return keep;
}

ExactLayer exact_layer(const view::Document& document, Index n, const AttentionSpec& spec) {
    const Inputs& inputs = *document.layers[static_cast<std::size_t>(n)];
    ExactLayer layer{n, spec, {}, {}, inputs.params[Param::sinks]};
    if (document.given.empty()) {
        Inputs valued = inputs;
        if (!inputs.projects() && inputs.v.empty()) {
            const Shape k = inputs.k.shape();
            valued.v = Tensor(Shape{k.b, k.h, k.t, 1});
        }
        const Call call = or_throw(validate(valued, spec));
        layer.size = call.size();
        layer.trace = or_throw(attend(call, *find_backend("staged"), sparse_stages()));
        if (!inputs.projects() && inputs.v.empty()) layer.trace[Stage::v] = {};
        return layer;
    }
    const GivenPairs& given = *document.given[static_cast<std::size_t>(n)];
    Inputs values;
    values.v = inputs.v;
    values.params[Param::sinks] = layer.sinks;
    auto made = or_throw(attend_from(given.stage, given.values, values, spec, sparse_stages()));
    layer.spec = std::move(made.spec);
    layer.size = made.size;
    layer.trace = std::move(made.trace);
    if (given.stage == Stage::weights) layer.trace[Stage::weights] = given.values;
    layer.trace[Stage::v] = inputs.v;
    return layer;
}

/// One matrix in float64.
TensorD matrix_of(const Tensor& tensor, Index batch, Index head) {
    const auto from =
        tensor.matrix(tensor.shape().b == 1 ? 0 : batch, tensor.shape().h == 1 ? 0 : head);
    TensorD matrix(Shape{1, 1, from.rows, from.columns});
    for (Index i = 0; i < from.rows; ++i)
        std::ranges::copy(from.row(i), matrix.matrix(0, 0).row(i).begin());
    return matrix;
}

/// The numbers of one head that select_keys() and measure_set() look at.
struct HeadNumbers {
    TensorD scaled, logits, v, indexer;
    std::vector<std::uint8_t> allowed;
    HeadScores scores;

    HeadNumbers(const ExactLayer& layer, Index batch, Index head, const Tensor& indexer_scores) {
        const auto first_of = [&](std::initializer_list<Stage> stages) {
            for (const Stage stage : stages)
                if (!layer.trace[stage].empty()) return matrix_of(layer.trace[stage], batch, head);
            TensorD made = matrix_of(layer.trace[Stage::weights], batch, head);
            for (double& weight : made.values()) weight = std::log(weight);
            return made;
        };
        logits = first_of({Stage::biased, Stage::scaled, Stage::masked});
        scaled = first_of({Stage::scaled, Stage::biased, Stage::masked});
        const Tensor& values = layer.trace[Stage::v];
        if (!values.empty())
            v = matrix_of(values, batch, head * values.shape().h / layer.size.heads);
        if (!indexer_scores.empty()) indexer = matrix_of(indexer_scores, batch, head);
        const auto columns = static_cast<std::size_t>(layer.size.tk);
        allowed.resize(static_cast<std::size_t>(layer.size.tq) * columns);
        for (Index i = 0; i < layer.size.tq; ++i)
            fill_allowed(
                layer.spec.mask, layer.size, batch, head, i,
                std::span(allowed).subspan(static_cast<std::size_t>(i) * columns, columns));
        scores = {.scaled = scaled.matrix(0, 0),
                  .logits = logits.matrix(0, 0),
                  .allowed = allowed,
                  .offset = layer.size.query_offset};
        if (!layer.sinks.empty()) scores.sink = layer.sinks(0, 0, 0, head);
        if (!indexer.empty()) scores.indexer = indexer.matrix(0, 0);
    }
    HeadNumbers(const HeadNumbers&) = delete;
    HeadNumbers& operator=(const HeadNumbers&) = delete;

    MatrixView<const double> values() const {
        return v.empty() ? MatrixView<const double>{} : v.matrix(0, 0);
    }
};

// ---- rules

/// One row of the table: a rule with a number of keys, or the sets of the file.
struct Candidate {
    std::string name;
    std::optional<KeyRule> rule;  // nullopt: the file's array `selected`
    KeyBudget budget;
};
struct HeadError {
    HeadPlace place;
    SetError error;
};
struct CandidateResult {
    Candidate candidate;
    std::string fault;  // why the rule has no sets here; "": it has
    std::vector<HeadError> heads;
};

/// Numbers of a line of the table, over all heads.
struct Totals {
    Index rows = 0, allowed = 0, read = 0;
    double missed = 0.0;  // mean
    double output = 0.0;  // mean of the heads; NaN where none has values
    const HeadError *worst_row = nullptr, *worst_head = nullptr;
};
Totals totals_of(const CandidateResult& result) {
    Totals totals;
    double outputs = 0.0;
    Index with_output = 0;
    for (const HeadError& head : result.heads) {
        const SetError& error = head.error;
        if (error.counted == 0) continue;
        totals.rows += error.counted;
        totals.allowed += error.allowed;
        totals.read += error.read;
        totals.missed += error.missed * static_cast<double>(error.counted);
        if (!totals.worst_row || error.worst > totals.worst_row->error.worst)
            totals.worst_row = &head;
        if (std::isnan(error.output_error)) continue;
        outputs += error.output_error;
        ++with_output;
        if (!totals.worst_head || error.output_error > totals.worst_head->error.output_error)
            totals.worst_head = &head;
    }
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    totals.missed = totals.rows == 0 ? kNone : totals.missed / static_cast<double>(totals.rows);
    totals.output = with_output == 0 ? kNone : outputs / static_cast<double>(with_output);
    return totals;
}

std::vector<KeyRule> rules_of(const SparseOptions& options, bool has_indexer) {
    std::vector<KeyRule> rules;
    for (const KeyRuleInfo& rule : key_rule_table())
        if (options.rules.empty() && (rule.rule != KeyRule::indexer || has_indexer))
            rules.push_back(rule.rule);
    for (const std::string_view key : files::split_list(options.rules)) {
        const auto rule = find_key_rule(key);
        if (!rule)
            throw bad_input(fmt::format("--rule has '{}'; expected some of {}", key, rule_keys()));
        rules.push_back(*rule);
    }
    return rules;
}

std::vector<Index> budgets_of(const SparseOptions& options, Index keys) {
    std::vector<Index> budgets;
    for (const std::string_view part : files::split_list(options.budgets))
        budgets.push_back(files::parse_whole_number({"--k", std::string(part)}));
    for (Index k = 1; options.budgets.empty() && k < keys; k *= 2) budgets.push_back(k);
    if (budgets.empty()) budgets.push_back(1);
    return budgets;
}

std::vector<CandidateResult> candidates_of(const SparseOptions& options, Index keys,
                                           const files::SparseArrays& arrays) {
    std::vector<CandidateResult> all;
    if (arrays.selected) all.push_back({{std::string(kSelected), std::nullopt, {}}, {}, {}});
    const Index pool = files::parse_whole_number({"--pool", options.pool});
    const Index sinks = files::parse_whole_number({"--sink-keys", options.sink_keys});
    const Index recent = files::parse_whole_number({"--recent-keys", options.recent});
    for (const KeyRule rule : rules_of(options, !arrays.indexer.empty()))
        for (const Index k : budgets_of(options, keys))
            all.push_back({{std::string(info(rule).key), rule, {k, pool, sinks, recent}}, {}, {}});
    return all;
}

/// The file's sets of one head.
KeySet selected_set(const Mask& selected, const Dimensions& size, Index batch, Index head) {
    KeySet set;
    for (Index i = 0; i < size.tq; ++i) {
        const auto row = broadcast_row(selected, batch, head, i);
        set.insert(set.end(), row.begin(), row.end());
    }
    return set;
}

struct Wanted {
    std::optional<Index> layer, head;
    Index batch = 0;
};
Wanted wanted_of(const SparseOptions& options) {
    const auto number = [](std::string_view flag, const std::string& text) {
        return text.empty() ? std::optional<Index>()
                            : files::parse_whole_number({std::string(flag), text});
    };
    return {number("--layer", options.layer), number("--head", options.head),
            number("--sequence", options.sequence).value_or(0)};
}

void measure_layer(const ExactLayer& layer, const Wanted& wanted, const files::SparseArrays& arrays,
                   std::vector<CandidateResult>& results) {
    if (wanted.batch >= layer.size.batch)
        throw bad_input(
            fmt::format("--sequence is {}; expected 0 to {}", wanted.batch, layer.size.batch - 1));
    for (Index head = 0; head < layer.size.heads; ++head) {
        if (wanted.head && *wanted.head != head) continue;
        const HeadNumbers numbers(layer, wanted.batch, head, arrays.indexer);
        for (CandidateResult& result : results) {
            const Candidate& candidate = result.candidate;
            auto set = candidate.rule
                           ? select_keys(*candidate.rule, candidate.budget, numbers.scores)
                           : selected_set(*arrays.selected, layer.size, wanted.batch, head);
            if (!set) {
                result.fault = set.error().text();
                continue;
            }
            result.heads.push_back(
                {{layer.number, head}, measure_set(numbers.scores, *set, numbers.values())});
        }
    }
}

// ---- the report

std::string sparse_place(HeadPlace place) {
    return fmt::format("L{} H{}", place.layer, place.head);
}

std::string sparse_table(const std::vector<CandidateResult>& results) {
    std::string text =
        fmt::format("{:<14} {:>6} {:>8} {:>8} {:>9} {:>9} {:<14} {:>9} {:>9} {}\n", "rule", "k",
                    "keys", "read", "missed", "worst", "row", "output", "worst", "head");
    for (const CandidateResult& result : results) {
        const std::string k =
            result.candidate.rule ? std::to_string(result.candidate.budget.keys) : "-";
        text += fmt::format("{:<14} {:>6} ", result.candidate.name, k);
        const Totals totals = totals_of(result);
        if (!totals.worst_row) {
            text += fmt::format("{}\n", result.fault.empty() ? "no row to measure" : result.fault);
            continue;
        }
        const SetError& row = totals.worst_row->error;
        text += fmt::format(
            "{:>8.2f} {:>6.1f} % {} {} {:<14}",
            static_cast<double>(totals.read) / static_cast<double>(totals.rows),
            100.0 * static_cast<double>(totals.read) / static_cast<double>(totals.allowed),
            table_cell(totals.missed, 9), table_cell(row.worst, 9),
            fmt::format("{} row {}", sparse_place(totals.worst_row->place), row.worst_row));
        if (totals.worst_head)
            text += fmt::format(" {} {} {}", table_cell(totals.output, 9),
                                table_cell(totals.worst_head->error.output_error, 9),
                                sparse_place(totals.worst_head->place));
        text += '\n';
    }
    return text;
}

ordered_json number_json(double value) {
    return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

ordered_json sparse_json(const CandidateResult& result) {
    const Totals totals = totals_of(result);
    ordered_json json{{"rule", result.candidate.name}};
    if (result.candidate.rule) json["k"] = result.candidate.budget.keys;
    if (!result.fault.empty()) json["fault"] = result.fault;
    json["rows"] = totals.rows;
    json["keys_read"] = totals.read;
    json["keys_allowed"] = totals.allowed;
    json["missed"] = number_json(totals.missed);
    json["output_error"] = number_json(totals.output);
    json["heads"] = ordered_json::array();
    for (const HeadError& head : result.heads)
        json["heads"].push_back({{"layer", head.place.layer},
                                 {"head", head.place.head},
                                 {"rows", head.error.counted},
                                 {"keys_read", head.error.read},
                                 {"missed", number_json(head.error.missed)},
                                 {"worst_row", head.error.worst_row},
                                 {"worst_missed", number_json(head.error.worst)},
                                 {"output_error", number_json(head.error.output_error)}});
    return json;
}

std::string tile_counts_text(const TileCounts& counts) {
    return fmt::format("{} full, {} partial, {} empty", counts.full, counts.partial, counts.empty);
}

double computed_share(const TileCounts& counts) {
    return counts.all() == 0
               ? 0.0
               : static_cast<double>(counts.computed()) / static_cast<double>(counts.all());
}

std::string tile_finding_text(const TileFinding& found) {
    const std::string place =
        fmt::format("sequence {}, head {}, query block {}, key block {}", found.batch, found.head,
                    found.query_block, found.key_block);
    const std::string pairs = view::counted(found.pairs, "pair");
    if (found.fault == TileFault::partly_forbidden)
        return fmt::format(
            "{}: listed as full, but the mask forbids {} of the tile; a kernel "
            "computes them. List it in kv_indices",
            place, pairs);
    return fmt::format("{}: left out, but the mask allows {} of the tile{}", place, pairs,
                       std::isnan(found.weight) ? ""
                                                : fmt::format(", {} of the weight of its queries",
                                                              view::percent(found.weight)));
}

std::string block_mask_text(const BlockMask& blocks, const BlockMaskReport& report) {
    std::string text = fmt::format(
        "BlockMask of {} × {} tiles: {}; {} of the tiles are computed\n"
        "the mask needs:             {}; {}\n",
        blocks.query_block, blocks.key_block, tile_counts_text(report.listed),
        view::percent(computed_share(report.listed)), tile_counts_text(report.exact),
        view::percent(computed_share(report.exact)));
    if (report.needless > 0)
        text += fmt::format("{} listed although the mask allows no pair of {}\n",
                            view::counted(report.needless, "tile"),
                            report.needless == 1 ? "it" : "them");
    Index printed = 0;
    for (const TileFinding& found : report.findings)
        if (printed++ < kMostFindings) text += tile_finding_text(found) + '\n';
    if (printed > kMostFindings)
        text += fmt::format("and {} more; --json lists all\n", printed - kMostFindings);
    return text + (report.findings.empty()
                       ? "the BlockMask covers every pair that the mask allows\n"
                       : "the BlockMask differs from the mask\n");
}

ordered_json block_mask_json(const BlockMask& blocks, const BlockMaskReport& report) {
    const auto counts = [](const TileCounts& tiles) {
        return ordered_json{
            {"full", tiles.full}, {"partial", tiles.partial}, {"empty", tiles.empty}};
    };
    ordered_json json{{"query_block", blocks.query_block},         {"key_block", blocks.key_block},
                      {"listed", counts(report.listed)},           {"exact", counts(report.exact)},
                      {"computed", computed_share(report.listed)}, {"needless", report.needless},
                      {"findings", ordered_json::array()}};
    for (const TileFinding& found : report.findings) {
        json["findings"].push_back({{"fault", std::string(key_of(found.fault))},
                                    {"batch", found.batch},
                                    {"head", found.head},
                                    {"query_block", found.query_block},
                                    {"key_block", found.key_block},
                                    {"pairs", found.pairs}});
        if (!std::isnan(found.weight)) json["findings"].back()["weight"] = found.weight;
    }
    return json;
}

// ---- the command

/// The arrays of sparse attention of a document from a file; none of another document.
files::SparseArrays arrays_of(const view::Document& document) {
    const auto* const file = std::get_if<view::FileOrigin>(&document.origin);
    if (!file) return {};
    if (files::is_standard(file->path))
        throw bad_input("FILE is -; expected the name of a file, which is read twice");
    const auto given = file->options.empty() ? files::OptionValues{}
                                             : files::options_from_json(file->options, file->path);
    return or_throw(files::read_tensors(file->path, given, files::Values::optional)).sparse;
}

view::AppState opened_document(const SparseOptions& options, Streams io) {
    StartOptions wanted = options.start;
    wanted.needs_attention = true;
    wanted.by = files::OptionsBy::flags;
    auto start = or_throw(read_start(wanted, io));
    for (const Note& warning : start.warnings) write_note(warning, kSparseName, io);
    view::AppState state = start.state;
    jobs::Jobs jobs(start.open, [] {});
    or_throw(carry_out(start, state, jobs));
    if (std::string why = view::heads_fault(state.document()); !why.empty())
        throw bad_input(std::move(why));
    return state;
}

int compare_sets(SparseOptions& options, Streams io) {
    if (options.start.files.empty())
        throw bad_input(
            "no FILE; expected tensors, a model's folder or .gguf, a session or a preset");
    if (!options.start.rows.empty())
        throw bad_input("--row does not apply here: the weights that it sets have no scores");
    or_throw(resolve_start(options.start, {}));
    const view::AppState state = opened_document(options, io);
    const view::Document& document = state.document();
    const files::SparseArrays arrays = arrays_of(document);
    const Wanted wanted = wanted_of(options);
    const auto layers = std::ssize(document.layers);
    if (wanted.layer && *wanted.layer >= layers)
        throw bad_input(fmt::format("--layer is {}; expected 0 to {}", *wanted.layer, layers - 1));
    std::vector<CandidateResult> results;
    std::optional<BlockMaskReport> blocks;
    for (Index n = 0; n < layers; ++n) {
        if (wanted.layer && *wanted.layer != n) continue;
        AttentionSpec spec = view::spec_of(document, n);
        if (arrays.selected) spec.mask.custom = arrays.other_mask;
        const ExactLayer layer = exact_layer(document, n, spec);
        if (wanted.head && *wanted.head >= layer.size.heads)
            throw bad_input(
                fmt::format("--head is {}; expected 0 to {}", *wanted.head, layer.size.heads - 1));
        if (results.empty()) results = candidates_of(options, layer.size.tk, arrays);
        measure_layer(layer, wanted, arrays, results);
        if (arrays.block_mask && !blocks)
            blocks = check_block_mask(*arrays.block_mask, view::spec_of(document, n).mask,
                                      layer.size, layer.trace[Stage::weights]);
    }
    if (!options.json) {
        io.out << sparse_table(results);
        if (blocks) io.out << '\n' << block_mask_text(*arrays.block_mask, *blocks);
        return kSuccess;
    }
    ordered_json json{{"rules", ordered_json::array()}};
    for (const CandidateResult& result : results) json["rules"].push_back(sparse_json(result));
    if (blocks) json["block_mask"] = block_mask_json(*arrays.block_mask, *blocks);
    io.out << json.dump(2) << '\n';
    return kSuccess;
}

}  // namespace

int run_sparse(Args args, Streams io) {
    return run_command("Compares sets of keys with exact attention: the weight that each misses.",
                       kSparseName, args, io, declare_sparse, compare_sets);
}

}  // namespace attn::cli
