// attnscope bench: how fast and how right the backends are on this machine, as a table or JSON.

#include <fmt/format.h>

#include <iostream>

#include "app/cli/bench_report.h"
#include "app/cli/bench_sections.h"
#include "app/cli/command.h"
#include "app/cli/subcommands.h"
#include "app/common/or_throw.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "core/call.h"
#include "core/dimensions.h"
#include "core/io/file.h"
#include "core/text.h"
#include "core/threads.h"

namespace attn::cli {
namespace {

constexpr std::string_view kBenchFooter =
    "Columns: ms, the median; GF/s, of the matrix products, 4 H n² d forward and 10 H n² d "
    "backward, half of it\n"
    "causal, of a window the pairs inside it; of peak, the fraction of the multiply-add rate that "
    "is probed before each run; least bytes, what must\n"
    "cross between memory and caches at least; error, max |computed - exact| / max |exact| against "
    "the reference in\n"
    "double, over 8 query rows of each head and all rows of d_K and d_V that follow from them.\n\n"
    "Examples:\n"
    "  attnscope bench --quick\n"
    "  attnscope bench --backend fused --shape H8N2048d64,H8N2048d64c,H8N2048d64b --json "
    "speed.json\n";

/// The command line, as it was written.
struct BenchArguments {
    std::string backends;
    std::string shapes;
    std::string only;
    std::string threads;
    std::string repeat = "5";
    std::string json;
    bool quick = false;
    bool lines = false;
};

void declare_bench(CLI::App& app, BenchArguments& text) {
    std::string sections;
    for (const BenchSection& section : bench_sections())
        sections += fmt::format("\n{}: {}", section.name, section.text);
    add_value(app, "--backend", text.backends, "NAME,..",
              "backends to measure (default: all available)");
    add_value(app, "--shape", text.shapes, "SHAPE,..",
              "only these; heads, tokens, width, then c for causal, b for backward, w1024 for a "
              "window, +rope, +alibi, … for a kind of attention: H8N2048d64c");
    add_value(app, "--only", text.only, "S,..", "only these sections:" + sections);
    add_number(app, "--threads", text.threads, "N", files::whole_numbers(1, 1 << 20),
               "at most N threads (default all)");
    add_number(app, "--repeat", text.repeat, "N", files::whole_numbers(1, 1000000),
               "runs of each, at least (default 5)");
    app.add_flag("--quick", text.quick, "small shapes, a few seconds");
    add_value(app, "--json", text.json, "FILE",
              "write JSON too; - for standard output, without the table");
    app.add_flag("--lines", text.lines,
                 "run each shape named by a line of standard input; one JSON line each");
    app.footer(std::string(kBenchFooter));
}

/// Those named, else all that run here.
std::vector<const Backend*> chosen_backends(const std::string& text, BackendList among) {
    std::vector<const Backend*> chosen;
    for (const std::string_view name : files::split_list(text))
        chosen.push_back(or_throw(choose_backend(name, {}, all_stages(), among)));
    if (text.empty())
        std::ranges::copy_if(among, std::back_inserter(chosen),
                             [](const Backend* backend) { return !backend->unavailable(); });
    return chosen;
}

BenchPlan parse_plan(const BenchArguments& text, BackendList among) {
    or_throw(files::check_extension({"--json", text.json}, ".json"));
    BenchPlan plan;
    plan.quick = text.quick;
    plan.effort.repeat = parse_count("--repeat", text.repeat, 1000000);
    plan.backends_named = !text.backends.empty();
    plan.backends = chosen_backends(text.backends, among);
    if (text.shapes.empty()) plan.shapes = default_shapes(text.quick);
    for (const std::string_view word : files::split_list(text.shapes))
        plan.shapes.push_back(or_throw(bench::parse_workload(word)));
    return plan;
}

/// Those named; without names all that are by default, or the backends over shapes where those were named.
std::vector<const BenchSection*> chosen_sections(const BenchArguments& text) {
    const bool shapes_alone = text.only.empty() && !text.shapes.empty();
    std::vector<std::string_view> wanted =
        files::split_list(shapes_alone ? "cases" : std::string_view(text.only));
    std::vector<const BenchSection*> chosen;
    std::vector<std::string> names;
    for (const BenchSection& section : bench_sections()) {
        names.emplace_back(section.name);
        if (text.only.empty() && !shapes_alone && section.by_default)
            wanted.push_back(section.name);
    }
    for (const std::string_view name : wanted) {
        const auto found = std::ranges::find(bench_sections(), name, &BenchSection::name);
        if (found == bench_sections().end())
            throw bad_input(fmt::format("--only has the unknown section '{}'{}; expected {}", name,
                                        files::did_you_mean(name, names), choices(names)));
        chosen.push_back(&*found);
    }
    return chosen;
}

/// For a script that runs something else in turn: reads a shape, runs it once, says how long it took.
void answer_lines(const Backend& backend, Streams io) {
    std::string shape;
    Inputs inputs;
    std::optional<bench::Bench> ready;
    for (std::string line; std::getline(std::cin, line);) {
        if (!ready || line != shape) {
            const auto work = or_throw(bench::parse_workload(line));
            ready.reset();
            inputs = make_inputs(work);
            ready.emplace(or_throw(bench::Bench::make(backend, work, inputs)));
            shape = line;
        }
        or_throw(ready->run());
        io.out << fmt::format("{{\"shape\": \"{}\", \"ms\": {}, \"peak_gflops\": {}}}\n", shape,
                              ready->last_seconds() * 1e3, ready->last_peak_gflops())
               << std::flush;
    }
}

void run_sections(const BenchPlan& plan, const BenchArguments& text, Streams io) {
    const auto sections = chosen_sections(text);
    const bool json_alone = files::is_standard(text.json);
    BenchReport report(json_alone ? nullptr : &io.out);
    report.machine(thread_count());
    for (const BenchSection* section : sections) section->run(plan, report);
    const std::string json = report.json().dump(2) + '\n';
    if (json_alone) io.out << json;
    if (text.json.empty() || json_alone) return;
    or_throw(write_file_atomically(text.json, json));
}

int run_plan(const BenchArguments& text, Streams io) {
    const BenchPlan plan = parse_plan(text, io.backends);
    const ThreadLimit limit(text.threads.empty()
                                ? thread_count()
                                : parse_count("--threads", text.threads, thread_count()));
    if (text.lines)
        answer_lines(text.backends.empty() ? *find_backend("fused") : *plan.backends.front(), io);
    else
        run_sections(plan, text, io);
    return kSuccess;
}

}  // namespace

int run_bench(Args args, Streams io) {
    return run_command("Measures speed and accuracy of the backends on this machine.",
                       "attnscope bench", args, io, declare_bench, run_plan);
}

}  // namespace attn::cli
