// attnscope train: a small transformer from its specification, without a window.

#include <fmt/format.h>

#include "app/cli/command.h"
#include "app/cli/subcommands.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/standard.h"
#include "core/stopwatch.h"
#include "core/train/evaluation.h"
#include "core/train/export.h"
#include "core/train/language.h"
#include "core/train/recording.h"
#include "core/train/run_files.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"

namespace attn::cli {
namespace {

namespace fs = std::filesystem;
using train::Record, train::Run, train::Spec, train::Trainer;

constexpr Index kMostSteps = 1'000'000'000;
constexpr Index kMostSeeds = 1000;
constexpr Index kMoments = 10;   // of a run, unless --every is given
constexpr Index kAveraged = 50;  // last steps that the table is the mean of
constexpr Index kProbes = 100;   // of a recording, unless --every is given

struct TrainOptions {
    std::string from;  // a specification or a run
    std::string output;
    std::string steps, every, seeds;
    std::vector<std::string> exported;  // format, folder
    bool half = false;
    std::string recording;  // what Learn plays
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
        "none), \"norm\" (pre, none),\n\"optimiser\" (adamw, sgd), \"schedule\" (constant, "
        "linear), "
        "\"text\", \"language\" (see docs/train.md). Missing fields keep their defaults:\n{}",
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
    app.add_option("--export", options.exported,
                   "also write the trained model to a folder, as Hugging Face's transformers read "
                   "it; FORMAT is hf")
        ->type_name("FORMAT DIR")
        ->expected(2);
    app.add_flag("--float16", options.half,
                 "round the weights of --export to float16; the evaluation reads the rounded ones");
    add_value(app, "--record", options.recording, "FILE",
              "train with and without scaling and write the recording that Learn plays "
              "(.safetensors); saves no run");
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

std::string shown(const train::Figure& figure) {
    const std::string value = fmt::format("{}: {}", figure.text, view::percent(figure.value));
    if (!figure.required) return value;
    return fmt::format("{} ({} {})", value, figure.holds() ? "at least" : "expected at least",
                       view::percent(*figure.required));
}

/// Of a task with a language: how its held-out texts are read.
void report_progress(const Spec& spec, const train::State& moment, Streams io) {
    if (!train::info(spec.task).takes_language || moment.step == 0) return;
    const train::Evaluation made = or_throw(train::evaluate(spec, moment));
    io.err << fmt::format("step {}, {} held-out texts: {} of answers right, {} of texts whole\n",
                          moment.step, made.texts, view::percent(made.answers_right),
                          view::percent(made.whole_texts));
}
void report_evaluation(const Spec& spec, const train::State& moment, Streams io) {
    if (!train::info(spec.task).takes_language) return;
    const train::Evaluation made = or_throw(train::evaluate(spec, moment));
    for (const train::Figure& figure : made.figures) io.out << "  " << shown(figure) << "\n";
    io.out << fmt::format("  {}: {} held-out texts, {} answers\n",
                          made.holds() ? "accepted" : "not accepted", made.texts, made.answers);
}

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
        report_progress(run.spec, *run.moments.back(), io);
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

/// The folder of --export; "": it was not given.
std::string export_folder(const TrainOptions& options) {
    if (options.exported.empty()) {
        if (options.half) throw bad_input("--float16 without --export; expected both");
        return "";
    }
    if (options.exported.front() != "hf")
        throw bad_input(fmt::format("--export is {}; expected hf", options.exported.front()));
    return options.exported.back();
}

/// Evaluates and exports a run that has ended.
void finish_run(const Run& run, const std::string& exported, const TrainOptions& options,
                Streams io) {
    const auto type = options.half ? StoredFloat::float16 : StoredFloat::float32;
    const train::State& last = *run.moments.back();
    report_evaluation(run.spec, options.half ? train::rounded_to_half(last) : last, io);
    if (exported.empty()) return;
    or_throw(train::export_hf(exported, run.spec, last, type));
    io.out << fmt::format("  {}: the model, for transformers and for attnscope\n", exported);
}

/// --record: both trainings of a specification, as Learn plays them.
void record_both(const TrainOptions& options, const TrainNumbers& numbers, Streams io) {
    if (!options.output.empty() || !options.exported.empty() || numbers.seeds > 1)
        throw bad_input("--record with --output, --export or --seeds; expected --record alone");
    Run run = read_run(options.from);
    if (!run.moments.empty())
        throw bad_input(
            fmt::format("{} is a run; expected a specification with --record", options.from));
    if (numbers.steps) run.spec.steps = *numbers.steps;
    const Spec& spec = run.spec;
    if (spec.language.empty() || !spec.language->holds_out())
        throw bad_input(
            fmt::format("{} has no language with held-out texts; expected one with "
                        "--record, as assets/models/pronouns.json has it",
                        options.from));
    const Index every =
        numbers.every.value_or(std::max<Index>((spec.steps + kProbes - 1) / kProbes, 1));
    if (spec.steps % every != 0)
        throw bad_input(
            fmt::format("--every is {}; expected a divisor of the {} steps", every, spec.steps));
    std::array<Spec, 2> specs{spec, spec};
    specs[0].scaling = true;
    specs[1].scaling = false;
    for (const Spec& each : specs) or_throw(train::check(each));
    const auto made = or_throw(train::record_training(specs, spec.steps, every));
    or_throw(train::save_recording(options.recording, specs, made));
    for (std::size_t n = 0; n < specs.size(); ++n)
        io.out << fmt::format("  {} scaling: {} of held-out answers right after {} steps\n",
                              n == 0 ? "with" : "without",
                              view::percent(made.sides[n].held_out.back().right), spec.steps);
    io.out << fmt::format("  {}: the recording, for Learn\n", options.recording);
}

void train_all(const TrainOptions& options, Streams io) {
    if (options.from.empty())
        throw bad_input("no SPEC; expected a specification (.json) or the folder of a run");
    const auto numbers = numbers_of(options);
    if (!options.recording.empty()) return record_both(options, numbers, io);
    const std::string exported = export_folder(options);
    auto first = read_run(options.from);
    if (numbers.seeds > 1 && !first.moments.empty())
        throw bad_input(
            fmt::format("{} is a run; expected a specification with --seeds", options.from));
    if (numbers.steps) first.spec.steps = *numbers.steps;
    const bool ended = !first.moments.empty() && first.moments.back()->step >= first.spec.steps;
    if (ended && !exported.empty() && !numbers.steps)
        return finish_run(first, exported, options, io);
    if (ended)
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
        const std::string export_to =
            numbers.seeds == 1 || exported.empty()
                ? exported
                : (fs::path(exported) / fmt::format("seed-{}", run.spec.seed)).string();
        const Ending ending = ending_of(run);
        io.out << fmt::format("{:>8} {:>8} {:>10.4f} {:>8} {:>10}\n", run.spec.seed, run.spec.steps,
                              ending.loss, view::percent(ending.accuracy),
                              view::percent(ending.saturated));
        finish_run(run, export_to, options, io);
        io.out << std::flush;
    }
}

}  // namespace

int run_train(Args args, Streams io) {
    return run_command(
        "Trains a small transformer on a task whose correct attention is known. The same "
        "specification "
        "gives the same run, bit for bit, on one machine. The table's numbers are means of the "
        "last 50 steps; saturated: rows of two or more keys with a weight above 0.99.",
        "attnscope train", args, io, declare_train, train_all);
}

}  // namespace attn::cli
