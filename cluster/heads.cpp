// attnscope-mpi heads: a corpus whose pieces the ranks take one by one, each the next that nobody has.

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "app/cli/corpus.h"
#include "app/common/or_throw.h"
#include "app/common/state.h"
#include "app/files/corpus.h"
#include "app/files/standard.h"
#include "app/files/text.h"
#include "cluster/numbers.h"
#include "cluster/parts.h"
#include "cluster/world.h"
#include "core/corpus/file.h"
#include "core/io/file.h"

namespace attn::cluster {
namespace {

namespace fs = std::filesystem;

struct HeadsArguments {
    std::string model, sort, output;
    cli::CorpusOptions corpus;
};

/// What a rank keeps while it computes: rank 0 where the single program does.
fs::path saved_of(const fs::path& saved, int rank) {
    return rank == 0 ? saved : fs::path(fmt::format("{}.{}", saved.string(), rank));
}

/// What ranks above 0 kept in a run that ended, of however many.
std::vector<fs::path> saved_by_others(const fs::path& saved) {
    std::vector<fs::path> others;
    std::error_code none;
    const fs::path folder = saved.has_parent_path() ? saved.parent_path() : fs::path(".");
    const std::string begin = saved.filename().string() + ".";
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(begin) && files::number_in<int>(name.substr(begin.size())))
            others.push_back(entry.path());
    }
    std::ranges::sort(others);
    return others;
}

/// All that was kept, in the file of rank 0.
void gather_saved(const fs::path& saved) {
    std::error_code none;
    for (const fs::path& more : saved_by_others(saved)) {
        if (!fs::exists(saved, none)) {
            std::error_code fault;
            fs::rename(more, saved, fault);
            if (fault)
                throw failed(fmt::format("cannot rename {} to {}: {}", more.string(),
                                         saved.string(), fault.message()));
            continue;
        }
        CorpusResult whole = or_throw(read_corpus(saved));
        const CorpusResult part = or_throw(read_corpus(more));
        if (!whole.contains(part)) {  // it does where a run ended just here
            or_throw(whole.merge(part));
            or_throw(write_file_atomically(saved, corpus_lines(whole)));
        }
        fs::remove(more, none);
    }
}

void compute(files::CorpusRun& run, const std::string& texts) {
    std::ifstream in(texts, std::ios::binary);
    if (!in) throw bad_input(fmt::format("cannot read {}: every rank needs it", texts));
    Numbers numbers(
        [&](Index n) { return run.result().files.at(run.file().mark).contains(n * kPieceTexts); });
    const RunControl control{{}, [&](double) { numbers.serve(); }};
    PieceReader pieces(in);
    TextPiece piece;
    bool more = pieces.next(piece);
    while (true) {
        const Index n = numbers.next();
        while (more && piece.number < n) more = pieces.next(piece);
        if (!more) break;
        if (run.wants(piece)) run.measure(piece, control);
        run.save_now_and_then();
        numbers.serve();
    }
    numbers.finish();
}

/// On rank 0 what all ranks have.
void gather(CorpusResult& result) {
    if (!is_first()) return send(corpus_lines(result), 0);
    for (int from = 1; from < rank_count(); ++from)
        or_throw(result.merge(
            or_throw(parse_corpus_lines(receive_text(from), fmt::format("rank {}", from)))));
}

int heads(const HeadsArguments& text, cli::Streams io) {
    if (text.model.empty()) throw bad_input("no FILE; expected a trained model's folder");
    if (text.corpus.texts.empty()) throw bad_input("--texts is missing; expected a file of texts");
    if (text.output.empty() || files::is_standard(text.output))
        throw bad_input("-o is missing; expected .npz, .jsonl or .csv");
    files::CorpusJob job = cli::corpus_job(text.model, text.corpus, text.sort, text.output);
    on_first([&] {
        gather_saved(job.saved);
        files::CorpusRun{job};  // says what is wrong before every rank does
    });
    or_throw(check_one_kind_of_host());
    job.saved = saved_of(job.saved, rank());
    on_each([&] {
        files::CorpusRun run(job);
        compute(run, text.corpus.texts);
        gather(run.result());
        if (is_first()) cli::put_out(run.result(), text.sort, text.output, io);
        meet();  // until it is written
        run.clear();
    });
    return cli::kSuccess;
}

}  // namespace

int run_corpus(cli::Args args, cli::Streams io) {
    CLI::App app(
        "Measures every head of a model over a corpus; what attnscope heads --texts gives.",
        "attnscope-mpi heads");
    HeadsArguments text;
    app.add_option("FILE", text.model, "a trained model's folder, or .gguf");
    cli::add_corpus_options(app, text.corpus);
    cli::add_value(app, "--sort", text.sort, "MEASURE", "of CSV: by its mean, largest first");
    cli::add_value(app, "-o,--output", text.output, "OUT", ".npz, .jsonl or .csv");
    return cli::run_command(app, args, io, [&] { return heads(text, io); });
}

}  // namespace attn::cluster
