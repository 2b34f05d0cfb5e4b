#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "core/corpus/course.h"
#include "core/models/model.h"

namespace attn::files {

/// A model's heads over a file of texts, and what of it is kept while it is computed.
struct CorpusJob {
    std::string model, texts;
    Index batch = 16;
    Index part = 0, parts = 1;    // every `parts`-th piece from `part` on
    std::filesystem::path saved;  // empty: nothing is kept
    std::chrono::duration<double> every{30.0};
    LoadedBlocks retained = LoadedBlocks::all;
};
/// Where what is computed so far stands beside the file that it becomes.
std::filesystem::path saved_beside(const std::filesystem::path& output);

/// A job that was begun, or goes on from what was kept. Errors are thrown.
class CorpusRun {
  public:
    explicit CorpusRun(const CorpusJob& job);

    const Model& model() const { return model_; }
    const CorpusFile& file() const { return file_; }
    CorpusResult& result() { return result_; }
    bool goes_on() const { return goes_on_; }
    /// Whether it is of this part and not computed yet.
    bool wants(const TextPiece& piece) const;
    void measure(const TextPiece& piece, const RunControl& control = {});
    /// Where so much time has passed.
    void save_now_and_then();
    void save() const;
    /// What was kept is not needed any more.
    void clear() const;

  private:
    using Clock = std::chrono::steady_clock;
    CorpusJob job_;
    Model model_;
    CorpusFile file_;
    CorpusResult result_;
    bool goes_on_ = false;
    Clock::time_point saved_at_ = Clock::now();
};

/// "2 texts without a token: 4, 17".
std::vector<std::string> left_out_text(const CorpusResult& result);

}  // namespace attn::files
