#pragma once

#include <vector>

#include "core/models/sweep.h"

namespace attn {

/// A sweep with the logits that it compares, for a measure of another kind.
struct SweptLogits {
    HeadSweep sweep;
    std::vector<float> before;  // of the untouched run: one for each token or class
    std::vector<float>
        after;  // of each of sweep.swept, one after the other; NaN where nothing stands for the position
};

/// sweep_heads() that keeps the logits. An error too where they are more than 1 GiB.
Result<SweptLogits> sweep_logits(const Model& model, const ModelRun& run, const Backend& backend,
                                 const SweepOptions& options = {}, const RunControl& control = {});

}  // namespace attn
