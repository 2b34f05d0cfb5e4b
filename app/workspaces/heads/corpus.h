#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/workspaces/heads/view.h"
#include "core/corpus/statistics.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

// All heads over the texts of a corpus, as a file of results has them.

/// What was read of that file.
struct HeadsCorpus {
    std::string path;
    std::string fault;  // why there is nothing; "": there is
    CorpusResult result;
};

struct CorpusRequest {
    std::string path;
    bool operator==(const CorpusRequest&) const = default;
};
/// nullopt while none is shown, or it is read already.
std::optional<CorpusRequest> requested_head_corpus(const AppState& state);
/// HeadsCorpusRead.
Action run(const CorpusRequest& request, const RunControl& control);

/// Why there is no table; "": there is one.
std::string corpus_missing_data(const AppState& state);
/// A row a head: mean ± standard deviation of each measure. A row knows the text that shows most of what the heads are sorted
/// by; where they are not sorted, of the pattern that the head shows most in the mean.
struct CorpusShown {
    struct Of {
        std::shared_ptr<const HeadsCorpus> read;
        std::string sort;
        HeadPlace here;      // the head that is shown
        bool reads = false;  // a model is open
        bool operator==(const Of&) const = default;
    } of;
    HeadsTable table;
};
/// Found once, after the action that changes it.
std::shared_ptr<const CorpusShown> corpus_shown(const AppState& state);
void follow_corpus(AppState& state);

}  // namespace attn::view
