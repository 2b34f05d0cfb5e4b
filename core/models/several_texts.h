#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/forward.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/sizes.h"

namespace attn {

class Model;
struct AttentionSpec;
struct ModelToken;

/// One layer of several texts. Rows of a text stand behind those of the text before it.
struct LayerOfTexts {
    Index layer = 0;
    const AttentionSpec& spec;
    std::span<const Trace> traces;  // weights of each text
    std::span<const Index> first;   // row of each text, and the end of the last
    const Tensor& context;          // [1, H, rows, d_v] of all
    const Params& params;           // of the layer
};

/// Block after block, all texts at once: every product has the rows of all of them, attention is of each by itself. What
/// run() gives of each, but for rounding, and no padding. `look` is shown each layer. Errors: as of run().
Result<void> run_texts(const Model& model, std::span<const std::vector<ModelToken>> texts,
                       const Backend& backend, const std::function<void(const LayerOfTexts&)>& look,
                       const RunControl& control = {});

}  // namespace attn
