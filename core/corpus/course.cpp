#include "core/corpus/course.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/corpus/measure.h"
#include "core/models/family.h"
#include "core/text.h"

namespace attn {
namespace {

// Weights that are in memory at once; a text that has more is computed by itself.
constexpr Index kMostWeights = Index{1} << 25;

/// Texts that are computed together.
class Batch {
  public:
    Batch(const Model& model, CorpusResult& into, const RunControl& control)
        : model_(model), into_(into), control_(control) {}

    Result<void> take(ReadText read) {
        const auto count = std::ssize(read.tokens);
        const Index weights = count * count * model_.config().heads;
        const bool full =
            std::ssize(texts_) == into_.model.batch || weights_ + weights > kMostWeights;
        if (auto done = full ? finish() : Result<void>(); !done) return done;
        weights_ += weights;
        texts_.push_back(std::make_shared<const CorpusText>(std::move(read.text)));
        tokens_.push_back(std::move(read.tokens));
        return {};
    }
    Result<void> finish() {
        const auto facts = measure_texts(model_, tokens_, false, control_);
        if (!facts) return tl::unexpected(facts.error());
        for (std::size_t n = 0; n < texts_.size(); ++n) {
            const std::vector<HeadFacts>& heads = (*facts)[n];
            if (is_not_finite(heads)) {
                into_.leave_out(*texts_[n], LeftOut::not_finite);
                continue;
            }
            std::vector<HeadMeasures> measures;
            for (const HeadFacts& each : heads) measures.push_back(each.measures);
            into_.add(texts_[n], std::ssize(tokens_[n]), measures);
        }
        texts_.clear();
        tokens_.clear();
        weights_ = 0;
        return {};
    }

  private:
    const Model& model_;
    CorpusResult& into_;
    const RunControl& control_;
    std::vector<std::shared_ptr<const CorpusText>> texts_;
    std::vector<std::vector<ModelToken>> tokens_;
    Index weights_ = 0;
};

}  // namespace

bool PieceReader::next(TextPiece& piece) {
    piece = {number_, {}, {}};
    std::string line;
    bool too_long = false;
    while (std::ssize(piece.lines) < kPieceTexts && next_line(in_, line, too_long)) {
        if (too_long) piece.too_long.push_back(std::ssize(piece.lines));
        piece.lines.push_back(std::move(line));
    }
    ++number_;
    return !piece.lines.empty();
}

Result<CorpusFile> corpus_file(const std::string& path) {
    return fingerprint(path).map([&](std::string&& mark) {
        return CorpusFile{valid_utf8(path), std::move(mark),
                          std::filesystem::path(path).extension() == ".jsonl"};
    });
}

Result<void> measure_piece(const Model& model, const CorpusFile& file, const TextPiece& piece,
                           CorpusResult& into, const RunControl& control) {
    Batch batch(model, into, control);
    for (std::size_t n = 0; n < piece.lines.size(); ++n) {
        const auto at = static_cast<Index>(n);
        const bool too_long = std::ranges::find(piece.too_long, at) != piece.too_long.end();
        ReadText read = read_text_line(model, piece.lines[n], file.json);
        if (too_long) read.left_out = LeftOut::too_long;
        read.text.number = piece.first() + at;
        read.text.file = file.name;
        if (read.left_out)
            into.leave_out(read.text, *read.left_out);
        else if (auto done = batch.take(std::move(read)); !done)
            return done;
    }
    if (auto done = batch.finish(); !done) return done;
    into.cover(file.mark, file.name, {piece.first(), piece.end()});
    return {};
}

Result<CorpusResult> begin_corpus(const Model& model, const std::string& path, Index batch) {
    const ModelConfig& config = model.config();
    if (!config.reads_text())
        return bad_input(fmt::format("{} reads {}; expected a model that reads texts", path,
                                     config.image ? "images" : "sounds"));
    return fingerprint(path).map([&](std::string&& mark) {
        return CorpusResult({valid_utf8(path), std::move(mark), std::string(config.family->text),
                             config.layers, config.heads, batch});
    });
}

}  // namespace attn
