#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "core/corpus/statistics.h"
#include "core/result.h"
#include "core/run_control.h"

namespace attn {

/// Texts are computed and shared out in pieces of so many lines, so that who computes which changes no number.
inline constexpr Index kPieceTexts = 64;

/// Lines of a file, kPieceTexts of them, fewer at its end.
struct TextPiece {
    Index number = 0;
    std::vector<std::string> lines;
    std::vector<Index> too_long;  // of those, from 0: more than kMostLineBytes
    Index first() const { return number * kPieceTexts; }
    Index end() const { return first() + std::ssize(lines); }
};
/// Reads a stream forwards, a piece at a time.
class PieceReader {
  public:
    explicit PieceReader(std::istream& in) : in_(in) {}
    /// false: the stream has ended.
    bool next(TextPiece& piece);

  private:
    std::istream& in_;
    Index number_ = 0;
};

/// A file of texts, as a result names it.
struct CorpusFile {
    std::string name, mark;
    bool json = false;
};
/// By the name's extension.
Result<CorpusFile> corpus_file(const std::string& path);

/// Measures the texts of a piece, some at a time, and adds what they give; `into` says how many at a time.
Result<void> measure_piece(const Model& model, const CorpusFile& file, const TextPiece& piece,
                           CorpusResult& into, const RunControl& control = {});

/// Nothing yet, over that model; `path` is where it was opened.
Result<CorpusResult> begin_corpus(const Model& model, const std::string& path, Index batch);

}  // namespace attn
