// attnscope train: a small transformer from its specification, without a window.

#include <fmt/format.h>

#include "app/cli/command.h"
#include "app/cli/subcommands.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/standard.h"
#include "core/stopwatch.h"
#include "core/train/run_files.h"
#include "core/train/trainer.h"

namespace attn::cli {
namespace {

namespace fs = std::filesystem;
using train::Record, train::Run, train::Spec, train::Trainer;

constexpr Index kMostSteps = 1'000'000'000;
constexpr Index kMostSeeds = 1000;
constexpr Index kMoments = 10;   // of a run, unless --every says otherwise
constexpr Index kAveraged = 50;  // last steps that the table is the mean of

struct TrainOptions {
    std::string from;  // a specification or a run
    std::string output;
    std::string steps, every, seeds;
};

std::string train_footer() {
    std::string text = "Tasks:\n";
    for (const train::TaskInfo& task : train::task_table())
        text += fmt::format("  {:<10}{}. {}\n", task.key, task.layout, task.solved);
    text += "Numbers of a specification, least to most:\n";
    for (const train::Limits& each : train::limits())
        text += fmt::format("  {:<14}{} to {}\n", each.field, each.least, each.most);
    text += fmt::format(
        "and \"scaling\", \"mlp\" (true, false), \"positions\" (learned, sinusoidal, rotary, "
        "none), \"norm\" (pre, none),\n\"optimiser\" (adamw, sgd), \"text\". Missing fields keep "
        "their defaults:\n{}",
        train::spec_to_json({}));
    return text +
           "A run is a folder: run.json (specification and measures of every step) and a "
           ".safetensors file for each checkpoint.\n";
}

void declare_train(CLI::App& app, TrainOptions& options) {
    app.add_option("SPEC", options.from,
                   "a specification (.json), or the folder of a run to continue");
    add_value(app, "-o,--output", options.output, "RUN",
              "folder of the run; without it nothing is saved");
    add_number(app, "--steps", options.steps, "N", files::whole_numbers(1, kMostSteps),
               "total number of steps; default: as in the specification");
    add_number(app, "--every", options.every, "N", files::whole_numbers(1, kMostSteps),
               "steps between checkpoints; default a tenth of all");
    add_number(app, "--seeds", options.seeds, "N", files::whole_numbers(1, kMostSeeds),
               "train N runs with consecutive seeds, each in RUN/seed-<seed>");
    app.footer(train_footer());
}

/// The run that is begun, or goes on from its last moment.
Run read_run(const std::string& from) {
    if (train::is_run(from)) return or_throw(train::open_run(from));
    const std::string text = or_throw(files::read_text(from));
    return {or_throw(train::spec_from_json(text, files::shown_input(from))), {}, {}};
}

/// Mean of the last steps that were measured.
struct Ending {
    double loss = 0.0, accuracy = 0.0, saturated = 0.0;
};
Ending ending_of(const Run& run) {
    const auto count = std::min<std::size_t>(run.records.size(), kAveraged);
    Ending ending;
    for (std::size_t n = run.records.size() - count; n < run.records.size(); ++n) {
        const auto share = 1.0 / static_cast<double>(count);
        ending.loss += run.records[n]->loss * share;
        ending.accuracy += run.records[n]->accuracy * share;
        ending.saturated += run.records[n]->saturated * share;
    }
    return ending;
}

/// Says once a second how far a run is.
class Progress {
  public:
    Progress(std::ostream& out, Index first, Index steps)
        : out_(out), first_(first), steps_(steps) {}
    void at(const Record& record) {
        const bool last = record.step + 1 == steps_;
        if (since_report_.seconds() < 1.0 && !last) return;
        since_report_ = {};
        const double rate = static_cast<double>(record.step + 1 - first_) / begun_.seconds();
        out_ << fmt::format(
            "step {} of {}: loss {:.4f}, {} right, {} of rows saturated, {:.1f} steps/s\n",
            record.step + 1, steps_, record.loss, view::percent(record.accuracy),
            view::percent(record.saturated), rate);
    }

  private:
    std::ostream& out_;
    Index first_, steps_;
    Stopwatch begun_, since_report_;
};

/// Trains up to the steps of its specification; saves as it goes, so that whoever ends the program leaves a run that goes on.
void train_run(Run& run, const std::string& folder, Index every, Streams io) {
    auto trainer = or_throw(run.moments.empty() ? Trainer::make(run.spec)
                                                : Trainer::from(run.spec, *run.moments.back()));
    run.records.resize(trainer.step_count());
    if (run.moments.empty()) run.moments.push_back(trainer.checkpoint());
    train::MomentFiles files;
    const auto save = [&] {
        if (run.moments.back()->step < trainer.step_count())
            run.moments.push_back(trainer.checkpoint());
        if (!folder.empty()) or_throw(train::save_run(folder, run, files));
    };
    Progress progress(io.err, trainer.step_count(), run.spec.steps);
    save();
    while (trainer.step_count() < run.spec.steps) {
        run.records.push_back(trainer.step());
        progress.at(*run.records.back());
        const Index done = trainer.step_count();
        if (done % every == 0 || done == run.spec.steps) save();
    }
}

struct TrainNumbers {
    std::optional<Index> steps, every;
    Index seeds = 1;
};

TrainNumbers numbers_of(const TrainOptions& options) {
    TrainNumbers numbers;
    const auto read = [](std::string_view name, const std::string& text, auto& number) {
        if (text.empty()) return;
        number = files::parse_whole_number({std::string(name), text});
    };
    read("--steps", options.steps, numbers.steps);
    read("--every", options.every, numbers.every);
    read("--seeds", options.seeds, numbers.seeds);
    return numbers;
}

/// -o holds a run, and not the one that goes on.
bool would_replace(const TrainOptions& options, const Run& first) {
    if (options.output.empty() || !train::is_run(options.output)) return false;
    std::error_code fault;
    return first.moments.empty() || !fs::equivalent(options.from, options.output, fault);
}

void train_all(const TrainOptions& options, Streams io) {
    if (options.from.empty())
        throw bad_input("no SPEC; expected a specification (.json) or the folder of a run");
    const auto numbers = numbers_of(options);
    auto first = read_run(options.from);
    if (numbers.seeds > 1 && !first.moments.empty())
        throw bad_input(
            fmt::format("{} is a run; expected a specification with --seeds", options.from));
    if (numbers.steps) first.spec.steps = *numbers.steps;
    if (!first.moments.empty() && first.moments.back()->step >= first.spec.steps)
        throw bad_input(fmt::format("{} is at step {}; expected --steps above that", options.from,
                                    first.moments.back()->step));
    or_throw(train::check(first.spec));
    if (numbers.seeds == 1 && would_replace(options, first))
        throw bad_input(fmt::format(
            "{} holds a run already; expected another folder, or the run itself as SPEC",
            options.output));
    const Index every =
        numbers.every.value_or(std::max<Index>((first.spec.steps + kMoments - 1) / kMoments, 1));
    io.out << fmt::format("{:>8} {:>8} {:>10} {:>8} {:>10}\n", "seed", "steps", "loss", "right",
                          "saturated");
    for (Index n = 0; n < numbers.seeds; ++n) {
        Run run = first;
        run.spec.seed += static_cast<std::uint64_t>(n);
        const bool one = numbers.seeds == 1 || options.output.empty();
        const std::string folder =
            one ? options.output
                : (fs::path(options.output) / fmt::format("seed-{}", run.spec.seed)).string();
        if (!one && train::is_run(folder))
            throw bad_input(fmt::format("{} holds a run already; expected another folder", folder));
        train_run(run, folder, every, io);
        const Ending ending = ending_of(run);
        io.out << fmt::format("{:>8} {:>8} {:>10.4f} {:>8} {:>10}\n", run.spec.seed, run.spec.steps,
                              ending.loss, view::percent(ending.accuracy),
                              view::percent(ending.saturated))
               << std::flush;
    }
}

}  // namespace

int run_train(Args args, Streams io) {
    return run_command(
        "Trains a small transformer on a task whose attention is known. The same specification "
        "gives the same run, bit for bit, on one machine. The table's numbers are means of the "
        "last 50 steps; saturated: rows whose largest weight is above 0.99.",
        "attnscope train", args, io, declare_train, train_all);
}

}  // namespace attn::cli
