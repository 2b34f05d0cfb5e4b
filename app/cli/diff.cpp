#include <fmt/format.h>

#include <charconv>
#include <map>

#include "app/cli/arguments.h"
#include "app/cli/diff_report.h"
#include "app/cli/subcommands.h"
#include "app/files/layers.h"
#include "app/files/results.h"

namespace attn::cli {
namespace {

constexpr std::string_view kName = "attnscope diff";

constexpr std::string_view kFooter =
    "A is what is expected, B is checked. Where neither B nor an array of it is given, what the "
    "reference backend\n"
    "computes from the inputs is expected.\n"
    "Results are arrays under the keys of `attnscope stages` and logsumexp; inputs are those of "
    "`attnscope trace`\n"
    "(Q, K, V, ...) or q, k, v, with mask and options, in A, in B or equal in both. l<N>. may "
    "stand "
    "before names.\n"
    "Where results differ, each fault of the table in docs/diff.md is planted in the reference; "
    "the "
    "one that\n"
    "explains the error is named.\n"
    "Exit codes: 0 equal within tolerance, 1 not, 2 bad usage or input.\n\n"
    "Examples:\n"
    "  attnscope diff qkv.npz kernel.npz --causal\n"
    "  attnscope diff everything.npz --json\n"
    "  attnscope diff before.npz after.npz --tolerance 1e-3\n";

/// The command line, as it was written.
struct DiffWords {
    std::vector<std::string> files;
    std::string tolerance, rtol, layer;
    bool json = false;
    std::map<std::string, std::string> attention;  // by option name
};

void declare(CLI::App& app, DiffWords& words) {
    app.add_option("FILES", words.files,
                   "A, or A and B: tensors; one file alone is checked by itself");
    app.add_flag("--json", words.json, "everything, as JSON");
    app.add_option("--tolerance", words.tolerance,
                   "equal is |a - b| <= ABS + R |b|; by default it follows from sizes, magnitudes "
                   "and the precision of float32")
        ->type_name("ABS");
    app.add_option("--rtol", words.rtol, "R of that (0 unless given)")->type_name("R");
    app.add_option("--layer", words.layer, "the layer of files with arrays l<N>.weights, ...")
        ->type_name("N");
    for (const files::AttentionOption& option : files::attention_options()) {
        std::string& value = words.attention[std::string(option.name)];
        const std::string flag = fmt::format("--{}", option.name);
        const std::string help(option.words);
        CLI::Option* const declared =
            option.alone.empty()
                ? app.add_option(flag, value, help)->type_name(std::string(option.placeholder))
                : app.add_flag(fmt::format("{}{{{}}}", flag, option.alone), value, help);
        declared->group(std::string(option.group));
    }
    app.footer(std::string(kFooter));
}

Result<double> parse_tolerance(std::string_view name, std::string_view text) {
    double value = 0.0;
    if (text.empty()) return value;
    const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault == std::errc{} && stop == text.data() + text.size() && value >= 0.0) return value;
    return bad_input(fmt::format("{} is '{}'; expected a number of at least 0", name, text));
}

/// The tolerance of the command line; nullopt: none was given.
Result<std::optional<verify::Bounds>> given_bounds(const DiffWords& words) {
    const Result<double> absolute = parse_tolerance("--tolerance", words.tolerance);
    const Result<double> relative = parse_tolerance("--rtol", words.rtol);
    if (!absolute) return tl::unexpected(absolute.error());
    if (!relative) return tl::unexpected(relative.error());
    if (words.tolerance.empty() && words.rtol.empty()) return std::nullopt;
    return verify::uniform_bounds({*absolute, *relative});
}

Result<Index> parse_layer(const std::string& text) {
    if (text.empty()) return files::kOnlyLayer;
    const Result<Index> layer = files::parse_whole_number({"--layer", text});
    if (layer && *layer < 0)
        return bad_input(fmt::format("--layer is {}; expected a number from 0", text));
    return layer;
}

files::OptionValues given_options(const CLI::App& app, const DiffWords& words) {
    files::OptionValues given;
    for (const auto& [name, text] : words.attention)
        if (app.count("--" + name) > 0) given[name] = {"--" + name, text};
    return given;
}

Result<DiffReport> diff(const CLI::App& app, const DiffWords& words) {
    if (words.files.empty())
        return bad_input("expected one or two files: attnscope diff A.npz [B.npz]");
    if (words.files.size() > 2)
        return bad_input(fmt::format("'{}' is one argument too many", words.files[2]));
    const auto bounds = given_bounds(words);
    if (!bounds) return tl::unexpected(bounds.error());
    const Result<Index> layer = parse_layer(words.layer);
    if (!layer) return tl::unexpected(layer.error());
    std::vector<files::ResultFile> read;
    for (const std::string& path : words.files) {
        auto file = files::read_results(path, given_options(app, words), *layer);
        if (!file) return tl::unexpected(file.error());
        read.push_back(*std::move(file));
    }
    return verify::compare_sides(std::move(read), *bounds);
}

}  // namespace

int run_diff(Args args, Streams io) {
    CLI::App app(
        "Compares two files of results, or one with what the reference computes from its inputs, "
        "and "
        "says what went wrong.",
        std::string(kName));
    DiffWords words;
    declare(app, words);
    if (const std::optional<int> code = parse(app, args, io)) return *code;
    const Result<DiffReport> report = diff(app, words);
    if (!report) return cli::report(report.error(), kName, io);
    for (const std::string& note : report->notes)
        io.err << fmt::format("{}: note: {}\n", kName, note);
    io.out << (words.json ? diff_json(*report) : diff_text(*report));
    return report->equal ? kSuccess : kFailure;
}

}  // namespace attn::cli
