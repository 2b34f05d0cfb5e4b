#include "app/files/corpus.h"

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/or_throw.h"
#include "core/corpus/file.h"
#include "core/dimensions.h"
#include "core/io/file.h"
#include "core/train/task_table.h"

namespace attn::files {
namespace {

namespace fs = std::filesystem;

/// What was kept of the same job; nullopt: nothing was.
std::optional<CorpusResult> retained_of(const fs::path& saved, const CorpusResult& begun,
                                        const CorpusFile& file) {
    std::error_code none;
    if (saved.empty() || !fs::exists(saved, none)) return std::nullopt;
    CorpusResult retained = or_throw(read_corpus(saved));
    CorpusResult whole = begun;
    const auto fits = whole.merge(retained);
    if (fits && retained.files.size() == 1 && retained.files.contains(file.mark)) return retained;
    throw bad_input(fmt::format(
        "{} belongs to {}; expected the partial results of this command, or no file there",
        saved.string(), fits ? "other texts" : "another model or another --batch"));
}

/// Of several parts none has two pieces that follow each other.
bool is_of_part(const TextRange& range, const CorpusJob& job) {
    const Index first = range.first / kPieceTexts, last = (range.end - 1) / kPieceTexts;
    return job.parts == 1 || (first == last && first % job.parts == job.part);
}

}  // namespace

fs::path saved_beside(const fs::path& output) { return output.string() + ".partial"; }

CorpusRun::CorpusRun(const CorpusJob& job)
    : job_(job),
      model_(or_throw(Model::open(job.model, job.retained))),
      file_(or_throw(corpus_file(job.texts))),
      result_(or_throw(begin_corpus(model_, job.model, job.batch))) {
    if (auto retained = retained_of(job.saved, result_, file_)) {
        for (const TextRange& range : retained->files.at(file_.mark).ranges)
            if (!is_of_part(range, job))
                throw bad_input(
                    fmt::format("{} belongs to another --part; expected the partial results of "
                                "this command, or no file there",
                                job.saved.string()));
        result_ = *std::move(retained);
        goes_on_ = true;
    }
    result_.cover(file_.mark, file_.name, {});
}

bool CorpusRun::wants(const TextPiece& piece) const {
    return piece.number % job_.parts == job_.part &&
           !result_.files.at(file_.mark).contains(piece.first());
}

void CorpusRun::measure(const TextPiece& piece, const RunControl& control) {
    or_throw(measure_piece(model_, file_, piece, result_, control));
}

void CorpusRun::save_now_and_then() {
    if (Clock::now() - saved_at_ < job_.every) return;
    save();
    saved_at_ = Clock::now();
}

void CorpusRun::save() const {
    if (!job_.saved.empty()) or_throw(write_file_atomically(job_.saved, corpus_lines(result_)));
}

void CorpusRun::clear() const {
    std::error_code none;
    if (!job_.saved.empty()) fs::remove(job_.saved, none);
}

std::vector<std::string> left_out_text(const CorpusResult& result) {
    std::vector<std::string> lines;
    for (std::size_t n = 0; n < kLeftOutCount; ++n) {
        const LeftOutTexts& of = result.left_out[n];
        if (of.count == 0) continue;
        std::string line =
            fmt::format("{} text{} {}, left out:", view::grouped(of.count),
                        of.count == 1 ? "" : "s", info(static_cast<LeftOut>(n)).text);
        std::string_view between = " ";
        for (const auto& [number, file] : of.first) {
            line += fmt::format("{}{}", between, number);
            between = ", ";
        }
        lines.push_back(line + (std::ssize(of.first) < of.count ? ", …" : ""));
    }
    return lines;
}

}  // namespace attn::files
