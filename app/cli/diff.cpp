#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/diff_report.h"
#include "app/cli/subcommands.h"
#include "app/common/or_throw.h"
#include "app/files/results.h"
#include "app/files/text.h"

namespace attn::cli {
namespace {

constexpr std::string_view kName = "attnscope diff";

constexpr std::string_view kDiffFooter =
    "A has the expected values, B is checked. Without B, or for an array missing there, the "
    "reference backend\ncomputes the expected values from the inputs.\n"
    "Results are arrays under the keys of `attnscope stages` and logsumexp; inputs are those of "
    "`attnscope trace`\n"
    "(Q, K, V, ...) or q, k, v, with mask and options, in A, in B or equal in both. l<N>. may "
    "stand before names.\n"
    "Where results differ, each fault of the table in docs/diff.md is planted in the reference; "
    "the one that\n"
    "explains the error is named.\n"
    "Exit codes: 0 equal within tolerance, 1 not, 2 bad usage or input.\n\n"
    "Examples:\n"
    "  attnscope diff qkv.npz kernel.npz --causal\n"
    "  attnscope diff everything.npz --json\n"
    "  attnscope diff before.npz after.npz --tolerance 1e-3\n";

/// The command line, as it was written.
struct DiffArguments {
    std::vector<std::string> files;
    std::string tolerance, rtol, layer;
    bool json = false;
    AttentionArguments attention;
};

constexpr double kMostTolerance = 1e38;  // float32 has none above

void declare(CLI::App& app, DiffArguments& text) {
    app.add_option("FILES", text.files,
                   "A, or A and B: tensors; a single file is compared with the reference");
    app.add_flag("--json", text.json, "everything, as JSON");
    add_number(app, "--tolerance", text.tolerance, "ABS", files::real_numbers(0, kMostTolerance),
               "numbers are equal if |a - b| <= ABS + R |b|; by default ABS follows from sizes, "
               "magnitudes and the precision of float32");
    add_number(app, "--rtol", text.rtol, "R", files::real_numbers(0, kMostTolerance),
               "R of that (0 unless given)");
    add_number(app, "--layer", text.layer, "N", files::whole_numbers(0, files::kMostLayer),
               "the layer of files with arrays l<N>.weights, ...");
    add_attention_options(app, text.attention);
    app.footer(std::string(kDiffFooter));
}

double parse_tolerance(std::string_view text) {
    return files::number_in<double>(text).value_or(0.0);
}

/// The tolerance of the command line; nullopt: none was given.
std::optional<verify::Bounds> given_bounds(const DiffArguments& text) {
    const double absolute = parse_tolerance(text.tolerance);
    const double relative = parse_tolerance(text.rtol);
    if (text.tolerance.empty() && text.rtol.empty()) return std::nullopt;
    return verify::uniform_bounds({absolute, relative});
}

DiffReport diff(const CLI::App& app, const DiffArguments& text) {
    if (text.files.empty())
        throw bad_input("expected one or two files: attnscope diff A.npz [B.npz]");
    if (text.files.size() > 2)
        throw bad_input(fmt::format("'{}' is one argument too many", text.files[2]));
    const auto bounds = given_bounds(text);
    const auto layer = parse_layer(text.layer);
    std::vector<files::ResultFile> read;
    for (const std::string& path : text.files) {
        const verify::Serving* const other = read.empty() ? nullptr : read.front().serving.get();
        read.push_back(
            or_throw(files::read_results(path, given_options(app, text.attention), layer, other)));
    }
    return or_throw(verify::compare_sides(std::move(read), bounds));
}

}  // namespace

int run_diff(Args args, Streams io) {
    CLI::App app("Compares two files of results, or one with the reference, and names the fault.",
                 std::string(kName));
    DiffArguments text;
    declare(app, text);
    return run_command(app, args, io, [&] {
        const DiffReport report = diff(app, text);
        for (const Note& note : report.notes) write_note(note, kName, io);
        io.out << (text.json ? diff_json(report) : diff_text(report));
        return report.equal ? kSuccess : kFailure;
    });
}

}  // namespace attn::cli
