// attnscope bench: how fast and how right the backends are on this machine, as a table or JSON.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>

#include "app/cli/arguments.h"
#include "app/cli/bench_sections.h"
#include "app/cli/subcommands.h"
#include "app/files/options.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "app/files/words.h"
#include "core/io/file.h"
#include "core/threads.h"

namespace attn::cli {
namespace {

constexpr std::string_view kName = "attnscope bench";

constexpr std::string_view kFooter =
    "Columns: ms, the median; GF/s, of the matrix products, 4 H n² d forward and 10 H n² d "
    "backward, half of it\n"
    "causal, of a window the pairs inside it; of peak, the fraction of the multiply-add rate that "
    "is probed before each run; least "
    "bytes, what must\n"
    "cross between memory and caches at least; error, max |computed - exact| / max |exact| against "
    "the reference in\n"
    "double, over 8 query rows of each head and all rows of d_K and d_V that follow from them.\n\n"
    "Examples:\n"
    "  attnscope bench --quick\n"
    "  attnscope bench --backend fused --shape H8N2048d64,H8N2048d64c,H8N2048d64b --json "
    "speed.json\n";

/// The command line, as it was written.
struct Words {
    std::string backends;
    std::string shapes;
    std::string only;
    std::string threads;
    std::string repeat = "5";
    std::string json;
    bool quick = false;
    bool lines = false;
};

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        parts.emplace_back(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parts;
}

void declare(CLI::App& app, Words& words) {
    std::string sections;
    for (const BenchSection& section : bench_sections())
        sections += fmt::format("\n{}: {}", section.name, section.words);
    app.add_option("--backend", words.backends, "only these (default: all that run here)")
        ->type_name("NAME,..");
    app.add_option(
           "--shape", words.shapes,
           "only these; heads, tokens, width, then c for causal, b for backward, w1024 for a "
           "window, +rope and the like for a kind: H8N2048d64c")
        ->type_name("SHAPE,..");
    app.add_option("--only", words.only, "only these sections:" + sections)->type_name("S,..");
    app.add_option("--threads", words.threads, "at most N threads (default all)")->type_name("N");
    app.add_option("--repeat", words.repeat, "runs of each, at least (default 5)")->type_name("N");
    app.add_flag("--quick", words.quick, "small shapes, a few seconds");
    app.add_option("--json", words.json, "also as JSON; - for standard output, without the table")
        ->type_name("FILE");
    app.add_flag(
        "--lines", words.lines,
        "one run for each line of standard input, which names a shape; one JSON line each");
    app.footer(std::string(kFooter));
}

Result<int> parse_count(std::string_view flag, const std::string& text, int least, int most) {
    const Result<Index> number = files::parse_whole_number({std::string(flag), text});
    if (!number) return tl::unexpected(number.error());
    if (*number < least)
        return bad_input(fmt::format("{} is {}; expected at least {}", flag, text, least));
    return static_cast<int>(std::min<Index>(*number, most));
}

Result<std::vector<const Backend*>> named_backends(const std::string& text, BackendList among) {
    std::vector<const Backend*> chosen;
    for (const std::string& name : split(text)) {
        const auto backend = choose_backend(name, {}, all_stages(), among);
        if (!backend) return tl::unexpected(backend.error());
        chosen.push_back(*backend);
    }
    return chosen;
}

std::vector<const Backend*> able_backends(BackendList among) {
    std::vector<const Backend*> able;
    for (const Backend* backend : among)
        if (!backend->unavailable()) able.push_back(backend);
    return able;
}

Result<std::vector<bench::Workload>> parse_shapes(const std::string& text) {
    std::vector<bench::Workload> shapes;
    for (const std::string& word : split(text)) {
        const auto work = bench::parse_workload(word);
        if (!work) return tl::unexpected(work.error());
        shapes.push_back(*work);
    }
    return shapes;
}

Result<BenchPlan> parse_plan(const Words& words, BackendList among) {
    BenchPlan plan;
    if (auto fine = files::check_extension({"--json", words.json}, ".json"); !fine)
        return tl::unexpected(fine.error());
    plan.quick = words.quick;
    const auto repeat = parse_count("--repeat", words.repeat, 1, 1000000);
    if (!repeat) return tl::unexpected(repeat.error());
    plan.effort.repeat = *repeat;
    plan.backends_named = !words.backends.empty();
    auto backends =
        plan.backends_named ? named_backends(words.backends, among) : able_backends(among);
    if (!backends) return tl::unexpected(backends.error());
    plan.backends = *std::move(backends);
    auto shapes = words.shapes.empty() ? default_shapes(words.quick) : parse_shapes(words.shapes);
    if (!shapes) return tl::unexpected(shapes.error());
    plan.shapes = *std::move(shapes);
    return plan;
}

/// Those named; without names all that are by default, or the backends over shapes where those were named.
Result<std::vector<const BenchSection*>> chosen_sections(const Words& words) {
    const bool shapes_alone = words.only.empty() && !words.shapes.empty();
    std::vector<std::string> wanted = split(shapes_alone ? "cases" : words.only);
    std::vector<const BenchSection*> chosen;
    std::vector<std::string> names;
    for (const BenchSection& section : bench_sections()) {
        names.emplace_back(section.name);
        if (words.only.empty() && !shapes_alone && section.by_default)
            wanted.emplace_back(section.name);
    }
    for (const std::string& name : wanted) {
        const auto found = std::ranges::find(bench_sections(), name, &BenchSection::name);
        if (found == bench_sections().end())
            return bad_input(fmt::format("--only has the unknown section '{}'{}; expected {}", name,
                                         files::did_you_mean(name, names), files::choices(names)));
        chosen.push_back(&*found);
    }
    return chosen;
}

/// For a script that runs something else in turn: reads a shape, runs it once, says how long it took.
Result<void> answer_lines(const Backend& backend, Streams io) {
    std::string shape;
    Inputs inputs;
    std::optional<bench::Bench> ready;
    for (std::string line; std::getline(std::cin, line);) {
        if (!ready || line != shape) {
            const auto work = bench::parse_workload(line);
            if (!work) return tl::unexpected(work.error());
            ready.reset();
            inputs = make_inputs(*work);
            auto made = bench::Bench::make(backend, *work, inputs);
            if (!made) return tl::unexpected(made.error());
            ready.emplace(*std::move(made));
            shape = line;
        }
        if (auto ran = ready->run(); !ran) return ran;
        io.out << fmt::format("{{\"shape\": \"{}\", \"ms\": {}, \"peak_gflops\": {}}}\n", shape,
                              ready->last_seconds() * 1e3, ready->last_peak_gflops())
               << std::flush;
    }
    return {};
}

Result<void> run_sections(const BenchPlan& plan, const Words& words, Streams io) {
    const auto sections = chosen_sections(words);
    if (!sections) return tl::unexpected(sections.error());
    const bool json_alone = files::is_standard(words.json);
    BenchReport report(json_alone ? nullptr : &io.out);
    report.machine(thread_count());
    for (const BenchSection* section : *sections)
        if (auto ran = section->run(plan, report); !ran) return ran;
    const std::string json = report.json().dump(2) + '\n';
    if (json_alone) io.out << json;
    if (words.json.empty() || json_alone) return {};
    return write_file_atomically(words.json, json);
}

Result<void> measure(const Words& words, Streams io) {
    const auto plan = parse_plan(words, io.backends);
    if (!plan) return tl::unexpected(plan.error());
    const auto threads = words.threads.empty()
                             ? thread_count()
                             : parse_count("--threads", words.threads, 1, thread_count());
    if (!threads) return tl::unexpected(threads.error());
    const ThreadLimit limit(*threads);
    if (!words.lines) return run_sections(*plan, words, io);
    return answer_lines(words.backends.empty() ? *find_backend("fused") : *plan->backends.front(),
                        io);
}

}  // namespace

int run_bench(Args args, Streams io) {
    CLI::App app("Measures how fast and how right the backends are on this machine.",
                 std::string(kName));
    Words words;
    declare(app, words);
    if (const std::optional<int> code = parse(app, args, io)) return *code;
    const Result<void> done = measure(words, io);
    return done ? kSuccess : report(done.error(), kName, io);
}

}  // namespace attn::cli
