// attnscope saturate: how far softmax saturates at each d_k and what that does to gradients, scaled and unscaled, as a table or CSV.

#include "app/cli/command.h"
#include "app/cli/subcommands.h"
#include "app/cli/table.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/outputs.h"
#include "app/files/text.h"
#include "core/saturation.h"
#include "core/saturation_gradients.h"

namespace attn::cli {
namespace {

constexpr std::string_view kSaturateFooter =
    "s is the raw score (q·k, or logit √d_k), z what enters softmax: s/√d_k scaled, s unscaled.\n"
    "Columns: d_k; var_s; then for scaled and for unscaled: evenness = H / ln n, p_max,\n"
    "slope = p_max(1 - p_max) = dp_max/dz_max, J_F = norm of da/dz, J_F_raw = norm of da/ds.\n"
    "CSV: each with its quantiles _p10, _p50, _p90 over the trials (the table shows p50), and "
    "with\n"
    "--logits the weights a0, a1, ...\n"
    "--gradients: norms of dL/dz, dL/ds, dL/dq of a row and of dL/dW_Q of a batch of 64 rows with\n"
    "one-hot tokens, where dL/da is drawn from N(0, 1); medians, means, and the share of rows "
    "whose\n"
    "norm is below 0.001.\n\n"
    "Examples:\n"
    "  attnscope saturate --gradients --dk 4,16,64,256,512,1024\n"
    "  attnscope saturate --dk 16,64,256 --keys 32 --trials 1000 -o sweep.csv\n"
    "  attnscope saturate --logits 0.5,0.9,0,1.2,0.6 --dk 64\n";

/// The command line, as it was written.
struct SaturateArguments {
    std::string widths = "1,2,4,8,16,32,64,128,256,512,1024,2048,4096";
    std::string keys = "16";
    std::string trials = "200";
    std::string seed = "1";
    std::string logits;
    std::string output;
    std::string rows = std::to_string(GradientSampling{}.rows);
    bool gradients = false;
};

/// One number of a side, by name.
struct Quantity {
    std::string_view name;
    Band SaturationSide::*band;
};
constexpr Quantity kQuantities[] = {
    {"evenness", &SaturationSide::evenness},    {"p_max", &SaturationSide::max_probability},
    {"slope", &SaturationSide::max_slope},      {"J_F", &SaturationSide::jacobian},
    {"J_F_raw", &SaturationSide::jacobian_raw},
};

void declare_saturate(CLI::App& app, SaturateArguments& text) {
    add_number(app, "--dk", text.widths, "D,..",
               files::whole_numbers(1, 1 << 20, files::NumberRange::Form::parts),
               "widths, default 1,2,4,...,4096");
    add_number(app, "--keys", text.keys, "N", files::whole_numbers(1, 4096),
               "keys of the query, default 16");
    add_number(app, "--trials", text.trials, "N", files::whole_numbers(1, 100000),
               "draws of q and k, default 200");
    add_number(app, "--seed", text.seed, "S", files::whole_numbers(0, files::kMostSeed),
               "seed of the draws, default 1");
    add_number(app, "--logits", text.logits, "A,..",
               files::real_numbers(-1e18, 1e18, files::NumberRange::Form::parts),
               "s = logits × √d_k instead of draws");
    app.add_flag("--gradients", text.gradients, "measure four gradients over many rows");
    add_number(app, "--rows", text.rows, "N", files::whole_numbers(1, kMostGradientRows),
               "rows of --gradients, whole batches of 64, default 51200");
    add_value(app, "-o,--output", text.output, "FILE.csv",
              "write CSV instead of the table; - for standard output");
    app.footer(std::string(kSaturateFooter));
}

/// --logits draws nothing: an option of the draws beside it is a mistake.
void check_no_draws(const CLI::App& app) {
    for (const char* flag : {"--keys", "--trials", "--seed"})
        if (app.count(flag) > 0)
            throw bad_input(fmt::format(
                "{} was given with --logits; expected one of the two: logits are not drawn", flag));
}

template <class Number>
Number parse_as(std::string_view flag, std::string_view text, std::string_view what) {
    if (const auto number = files::number_in<Number>(text)) return *number;
    throw bad_input(fmt::format("{} is '{}'; expected {}", flag, text, what));
}

SaturationSettings parse_settings(const CLI::App& app, const SaturateArguments& text) {
    SaturationSettings settings;
    if (app.count("--logits") > 0) {
        check_no_draws(app);
        settings.logits.clear();
        for (const std::string_view part : files::split(text.logits))
            settings.logits.push_back(parse_as<double>("--logits", part, "a number"));
        return settings;
    }
    settings.model = SaturationModel::sampled;
    settings.keys = files::parse_whole_number({"--keys", text.keys});
    settings.trials = files::parse_whole_number({"--trials", text.trials});
    settings.seed = parse_as<std::uint64_t>("--seed", text.seed, "a whole number from 0");
    return settings;
}

// --- the table

std::string table_row(const SaturationPoint& point) {
    std::string row = fmt::format("{:>7} {:>10.4g} ", point.d_k, point.score_variance);
    for (const SaturationSide* side : {&point.scaled, &point.unscaled}) {
        for (const Quantity& quantity : kQuantities)
            row += ' ' + table_cell((side->*quantity.band).median, 9);
        row += ' ';
    }
    row.pop_back();
    return row + '\n';
}

std::string table(const std::vector<SaturationPoint>& points) {
    std::string text = fmt::format("{:>7} {:>10} {:>10}{:>51}\n", "", "", "scaled", "unscaled");
    text += fmt::format("{:>7} {:>10} ", "d_k", "var_s");
    for (int side = 0; side < 2; ++side) {
        for (const Quantity& quantity : kQuantities) text += fmt::format(" {:>9}", quantity.name);
        text += side == 0 ? " " : "\n";
    }
    for (const SaturationPoint& point : points) text += table_row(point);
    return text;
}

/// As percent() has them; the note of what they add to where none of them is a bound.
std::string percents(const std::vector<double>& weights) {
    std::string text;
    long tenths = 0;
    bool adds = true;
    for (const double weight : weights) {
        const std::string description = view::percent(weight);
        const std::string shown = description.substr(0, description.find(" %"));
        text += fmt::format(" {:>6}", shown);
        adds = adds && std::isfinite(weight) && shown.find_first_of("<>") == shown.npos;
        if (adds) tenths += std::lround(10.0 * std::stod(shown));
    }
    if (!adds || tenths == 1000) return text;
    return text + fmt::format("  (rounded: adds up to {}.{})", tenths / 10, tenths % 10);
}

/// What softmax makes of the logits at each width.
std::string weights_table(const SaturationSettings& settings, const std::vector<Index>& widths) {
    std::string text = "\nweights in %\n";
    for (const Index d_k : widths) {
        const SaturationPair pair = saturation_at(settings, d_k);
        text += fmt::format("{:>7}   scaled{}\n", d_k, percents(pair.scaled.weights));
        text += fmt::format("{:>7} unscaled{}\n", "", percents(pair.unscaled.weights));
    }
    return text;
}

// --- CSV

std::string csv_header(const SaturationSettings& settings) {
    std::string text = "d_k,var_s";
    for (const std::string_view side : {"scaled", "unscaled"})
        for (const Quantity& quantity : kQuantities)
            for (const std::string_view quantile : {"p10", "p50", "p90"})
                text += fmt::format(",{}_{}_{}", side, quantity.name, quantile);
    if (settings.model == SaturationModel::fixed_logits)
        for (const std::string_view side : {"scaled", "unscaled"})
            for (std::size_t j = 0; j < settings.logits.size(); ++j)
                text += fmt::format(",{}_a{}", side, j);
    return text + '\n';
}

std::string csv_row(const SaturationSettings& settings, const SaturationPoint& point) {
    std::string text = fmt::format("{},{}", point.d_k, point.score_variance);
    for (const SaturationSide* side : {&point.scaled, &point.unscaled})
        for (const Quantity& quantity : kQuantities) {
            const Band& band = side->*quantity.band;
            text += fmt::format(",{},{},{}", band.low, band.median, band.high);
        }
    if (settings.model == SaturationModel::fixed_logits) {
        const SaturationPair pair = saturation_at(settings, point.d_k);
        for (const SaturationRow* row : {&pair.scaled, &pair.unscaled})
            for (const double weight : row->weights) text += fmt::format(",{}", weight);
    }
    return text + '\n';
}

std::vector<Index> parse_widths(const SaturateArguments& text) {
    std::vector<Index> widths;
    for (const std::string_view part : files::split(text.widths))
        widths.push_back(files::parse_whole_number({"--dk", std::string(part)}));
    return widths;
}

// --- gradients

struct GradientColumn {
    std::string_view name;
    Spread GradientSide::*spread;
    double (*number)(const Spread& spread);
};
constexpr auto kMedian = [](const Spread& spread) { return spread.median(); };
constexpr auto kMean = [](const Spread& spread) { return spread.mean; };
constexpr auto kDead = [](const Spread& spread) { return spread.dead; };
constexpr GradientColumn kGradientColumns[] = {
    {"p_max", &GradientSide::p_max, kMedian}, {"J_F", &GradientSide::jacobian, kMedian},
    {"dL/dz", &GradientSide::z, kMedian},     {"dL/ds", &GradientSide::s, kMedian},
    {"dL/dq", &GradientSide::q, kMedian},     {"dL/dW_Q", &GradientSide::w_q, kMedian},
    {"mean_dz", &GradientSide::z, kMean},     {"mean_ds", &GradientSide::s, kMean},
    {"mean_dq", &GradientSide::q, kMean},     {"mean_dW_Q", &GradientSide::w_q, kMean},
    {"dead_dz", &GradientSide::z, kDead},     {"dead_ds", &GradientSide::s, kDead},
    {"dead_dq", &GradientSide::q, kDead},
};

/// A line for each side of each d_k.
std::string gradient_lines(const std::vector<GradientPoint>& points, bool csv) {
    std::string text = csv ? "d_k,side" : fmt::format("{:>7} {:<8}", "d_k", "");
    for (const GradientColumn& column : kGradientColumns)
        text += csv ? fmt::format(",{}", column.name) : fmt::format(" {:>9}", column.name);
    text += '\n';
    for (const GradientPoint& point : points)
        for (const GradientSide* side : {&point.scaled, &point.unscaled}) {
            const std::string_view name = side == &point.scaled ? "scaled" : "unscaled";
            text += csv ? fmt::format("{},{}", point.d_k, name)
                        : fmt::format("{:>7} {:<8}", point.d_k, name);
            for (const GradientColumn& column : kGradientColumns) {
                const double value = column.number(side->*column.spread);
                text += csv ? fmt::format(",{}", value) : ' ' + table_cell(value, 9);
            }
            text += '\n';
        }
    return text;
}

void print_gradients(const CLI::App& app, const SaturateArguments& description, Streams io) {
    for (const char* flag : {"--logits", "--trials"})
        if (app.count(flag) > 0)
            throw bad_input(fmt::format(
                "{} was given with --gradients, which does not use it; leave it out", flag));
    GradientSampling sampling;
    sampling.keys = files::parse_whole_number({"--keys", description.keys});
    sampling.rows = files::parse_whole_number({"--rows", description.rows});
    sampling.seed = parse_as<std::uint64_t>("--seed", description.seed, "a whole number from 0");
    const auto points = or_throw(gradient_sweep(sampling, parse_widths(description)));
    const std::string text = gradient_lines(points, !description.output.empty());
    if (!description.output.empty())
        return write_csv(description.output, text, 2 * points.size(), "rows", io);
    io.out << text;
}

void saturate(const CLI::App& app, const SaturateArguments& description, Streams io) {
    or_throw(files::check_extension({"-o", description.output}, ".csv"));
    if (description.gradients) return print_gradients(app, description, io);
    if (app.count("--rows") > 0)
        throw bad_input("--rows was given without --gradients; expected --trials");
    const auto settings = parse_settings(app, description);
    const std::vector<Index> widths = parse_widths(description);
    const auto points = or_throw(saturation_sweep(settings, widths));
    if (!description.output.empty()) {
        std::string text = csv_header(settings);
        for (const SaturationPoint& point : points) text += csv_row(settings, point);
        return write_csv(description.output, text, points.size(), "rows", io);
    }
    io.out << table(points);
    if (settings.model == SaturationModel::fixed_logits) io.out << weights_table(settings, widths);
}

}  // namespace

int run_saturate(Args args, Streams io) {
    return run_command("Measures how far softmax saturates at each d_k, with and without scaling.",
                       "attnscope saturate", args, io, declare_saturate, saturate);
}

}  // namespace attn::cli
