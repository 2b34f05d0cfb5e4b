// attnscope heads --texts: every head over a corpus; attnscope merge: parts of one put together.

#include "app/cli/corpus.h"

#include <fstream>

#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/subcommands.h"
#include "app/cli/table.h"
#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "app/files/outputs.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "core/corpus/file.h"
#include "core/heads/all.h"
#include "core/stopwatch.h"

namespace attn::cli {
namespace {

constexpr std::string_view kExtensions[] = {".npz", ".jsonl", ".csv"};
constexpr int kMostBatch = 1 << 16;
constexpr Index kMostParts = 1 << 20;

/// "2/8": the second of 8 parts, counted from 0, is 1/8.
void read_part(const std::string& text, files::CorpusJob& job) {
    if (text.empty()) return;
    const std::size_t slash = text.find('/');
    const Index part = files::number_in<Index>(text.substr(0, slash)).value_or(-1);
    const Index parts =
        slash == text.npos ? 0 : files::number_in<Index>(text.substr(slash + 1)).value_or(0);
    if (parts < 1 || parts > kMostParts || part < 0 || part >= parts)
        throw bad_input(
            fmt::format("--part is '{}'; expected I/N, I from 0 to N − 1, such as 0/8", text));
    job.part = part;
    job.parts = parts;
}

std::string corpus_table(const CorpusResult& result, const std::string& sort) {
    const auto measures = measures_of_heads(false);
    std::string text = fmt::format("{:>5} {:>4}", "layer", "head");
    for (const HeadMeasureInfo& each : measures) text += fmt::format(" {:>17}", each.key);
    text += '\n';
    for (const HeadPlace place : corpus_order(result, sort)) {
        text += fmt::format("{:>5} {:>4}", place.layer, place.head);
        for (const HeadMeasureInfo& each : measures) {
            const MeasureStatistics& of = result.head(place)[each.measure];
            text += of.texts > 0
                        ? " " + table_cell(*of.mean(), 8) + " ±" + table_cell(*of.deviation(), 7)
                        : fmt::format(" {:>17}", "-");
        }
        text += '\n';
    }
    return text;
}

/// Says now and then how far it is.
class ScreenTexts {
  public:
    /// `tokens`: those that were there before.
    ScreenTexts(std::ostream& out, Index tokens) : out_(out), first_(tokens) {}
    void at(const CorpusResult& result) {
        if (since_report_.seconds() >= 2.0) report(result);
    }
    void report(const CorpusResult& result) {
        since_report_ = {};
        out_ << fmt::format("texts {}, tokens {}, {:.0f} tokens/s\n", view::grouped(result.texts),
                            view::grouped(result.tokens),
                            static_cast<double>(result.tokens - first_) / begun_.seconds());
    }

  private:
    std::ostream& out_;
    Index first_;
    Stopwatch begun_, since_report_;
};

void check_sort(const std::string& sort) {
    const auto measure = find_head_measure(sort);
    if (!sort.empty() && (!measure || *measure == HeadMeasure::change))
        throw bad_input(
            fmt::format("--sort is '{}'; expected a measure of `attnscope heads`", sort));
}

/// It is read twice: for what it holds, then text by text.
void check_texts(const std::string& texts) {
    std::error_code ignored;
    if (std::filesystem::exists(texts, ignored) &&
        !std::filesystem::is_regular_file(texts, ignored))
        throw bad_input(fmt::format(
            "--texts is '{}'; expected a file with one text a line, not a folder or pipe", texts));
}

struct MergeOptions {
    std::vector<std::string> files;
    std::string sort, output;
};

int merge(const MergeOptions& options, Streams io) {
    or_throw(files::check_extension({"-o", options.output}, kExtensions));
    check_sort(options.sort);
    if (options.files.empty()) throw bad_input("no FILES; expected results of `attnscope heads`");
    std::vector<files::NamedFile> inputs;
    for (const std::string& file : options.files) inputs.push_back({"FILES", file});
    const files::NamedFile outputs[] = {{"-o", options.output}};
    or_throw(files::check_outputs(inputs, outputs));
    CorpusResult whole = or_throw(read_corpus(options.files.front()));
    for (std::size_t n = 1; n < options.files.size(); ++n) {
        const CorpusResult part = or_throw(read_corpus(options.files[n]));
        if (auto done = whole.merge(part); !done)
            throw bad_input(fmt::format("{} and the files before it cannot be combined: {}",
                                        options.files[n], done.error().text()));
    }
    put_out(whole, options.sort, options.output, io);
    return kSuccess;
}

/// Throws where nothing was measured. A part of a corpus may have no text.
void check_measured(const CorpusResult& result, const files::CorpusJob& job) {
    const std::vector<std::string> why = files::left_out_text(result);
    if (result.texts > 0 || (why.empty() && job.parts > 1)) return;
    throw bad_input(why.empty() ? fmt::format("{} holds no text; expected one a line", job.texts)
                                : fmt::format("no text of {} could be measured: {}", job.texts,
                                              fmt::join(why, "; ")));
}

}  // namespace

void add_corpus_options(CLI::App& app, CorpusOptions& options) {
    add_value(app, "--texts", options.texts, "FILE",
              "over a corpus: a text a line, or .jsonl with \"text\" or \"tokens\"; mean, standard "
              "deviation and extremes of every measure");
    add_number(app, "--batch", options.batch, "N", files::whole_numbers(1, kMostBatch),
               "texts to compute at once; default 16");
    add_value(app, "--part", options.part, "I/N",
              "only pieces I, I + N, I + 2N, … of 64 lines, from 0; `attnscope merge` joins parts");
    add_number(app, "--save-every", options.save_every, "SECONDS", files::real_numbers(0, 1e9),
               "saves the results so far to OUT.partial, from which the same command continues; "
               "default 30");
    app.add_flag("--stream", options.stream,
                 "keep one layer's weights at a time in memory, for models larger than memory");
}

files::CorpusJob corpus_job(const std::string& model, const CorpusOptions& options,
                            const std::string& sort, const std::string& output) {
    or_throw(files::check_extension({"-o", output}, kExtensions));
    check_sort(sort);
    check_texts(options.texts);
    if (std::error_code none; std::filesystem::is_regular_file(model, none) && !is_model(model))
        throw bad_input(
            fmt::format("{} is not a model, which --texts needs; expected a trained model's "
                        "folder, or its .gguf",
                        model));
    files::CorpusJob job;
    job.model = model;
    job.texts = options.texts;
    if (!options.batch.empty()) job.batch = parse_count("--batch", options.batch, kMostBatch);
    read_part(options.part, job);
    if (!options.save_every.empty()) {
        const auto seconds = files::number_in<double>(options.save_every);
        job.every = std::chrono::duration<double>(seconds.value_or(0.0));
    }
    if (!output.empty() && !files::is_standard(output)) job.saved = files::saved_beside(output);
    if (options.stream) job.retained = LoadedBlocks::one;
    auto inputs = files::files_of({"FILE", model});
    inputs.push_back({"--texts", options.texts});
    const files::NamedFile outputs[] = {{"-o", output}, {"-o", job.saved.string()}};
    or_throw(files::check_outputs(inputs, outputs));
    return job;
}

void put_out(const CorpusResult& result, const std::string& sort, const std::string& output,
             Streams io) {
    if (output.empty())
        io.out << corpus_table(result, sort);
    else if (files::is_standard(output))
        io.out << corpus_csv(result, sort);
    else
        or_throw(write_corpus(output, result, sort));
    std::ostream& stated = output.empty() || files::is_standard(output) ? io.err : io.out;
    stated << fmt::format("{}: {} over {} text{}, {} token{}\n",
                          output.empty() || files::is_standard(output) ? result.model.path : output,
                          view::counted(std::ssize(result.heads), "head"),
                          view::grouped(result.texts), result.texts == 1 ? "" : "s",
                          view::grouped(result.tokens), result.tokens == 1 ? "" : "s");
    for (const std::string& line : files::left_out_text(result)) stated << line << '\n';
}

int measure_corpus(const std::string& model, const CorpusOptions& options, const std::string& sort,
                   const std::string& output, Streams io) {
    const files::CorpusJob job = corpus_job(model, options, sort, output);
    files::CorpusRun run(job);
    for (const std::string& note : run.model().notes()) write_note(note, "attnscope heads", io);
    if (run.goes_on())
        io.err << fmt::format("{} texts are in {}: continuing from there\n",
                              view::grouped(run.result().texts), job.saved.string());
    std::ifstream in(options.texts, std::ios::binary);
    if (!in) throw bad_input(fmt::format("cannot read {}", options.texts));
    ScreenTexts stated(io.err, run.result().tokens);
    PieceReader pieces(in);
    for (TextPiece piece; pieces.next(piece);) {
        if (!run.wants(piece)) continue;
        run.measure(piece);
        stated.at(run.result());
        run.save_now_and_then();
    }
    check_measured(run.result(), job);
    stated.report(run.result());
    put_out(run.result(), sort, output, io);
    run.clear();
    return kSuccess;
}

int run_merge(Args args, Streams io) {
    CLI::App app(
        "Merges results of `attnscope heads --texts`: parts of a corpus in any order and grouping "
        "give the same bits as one run over the whole corpus.",
        "attnscope merge");
    MergeOptions options;
    app.add_option("FILES", options.files, "results (.npz, .jsonl, .partial)");
    add_value(app, "--sort", options.sort, "MEASURE", "by its mean, largest first");
    add_value(app, "-o,--output", options.output, "OUT",
              ".npz, .jsonl or .csv; left out: a table; - for CSV on standard output");
    app.footer(
        "Examples:\n"
        "  attnscope heads MODEL-FOLDER --texts lines.txt --part 0/2 -o a.npz\n"
        "  attnscope heads MODEL-FOLDER --texts lines.txt --part 1/2 -o b.npz\n"
        "  attnscope merge a.npz b.npz -o heads.npz && attnscope heads.npz\n");
    return run_command(app, args, io, [&] { return merge(options, io); });
}

}  // namespace attn::cli
