#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "app/common/document/generated.h"
#include "core/models/generate.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {
struct GenerateText;
}  // namespace attn::view

namespace attn::files {

/// A model that goes on from a text, with the cache of what it has read: of the tokens that are asked for those are read that
/// come after the ones it shares with the request before. Any thread; one request at a time.
class Writer {
  public:
    /// `model` outlives it. Throws as or_throw() does.
    std::shared_ptr<const view::Generated> written(const Model& model,
                                                   const view::GenerateText& wanted,
                                                   const RunControl& control);

    /// The likeliest continuations of the text and all its tokens; the written text stays. Throws alike.
    std::shared_ptr<const view::Generated> continued(const Model& model,
                                                     const view::GenerateText& wanted,
                                                     const RunControl& control);

  private:
    void begin(const Model& model, const view::GenerateText& wanted, const RunControl& control);
    void go_on(const std::vector<Index>& tokens, const RunControl& control);
    void keep(GenerationStep step);
    void look_through(const Model& model, Index step);

    std::mutex mutex_;
    std::optional<Generation> generation_;  // nullopt: nothing is read; of T5 its decoder's
    std::size_t prompt_ = 0;                // tokens of the text
    std::vector<ModelRun> rows_;            // of each step, without weights
    view::Generated written_;
};

}  // namespace attn::files
