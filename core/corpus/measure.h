#pragma once

#include <span>
#include <vector>

#include "core/heads/all.h"
#include "core/result.h"
#include "core/run_control.h"

namespace attn {

class Model;
struct ModelToken;

/// What every head does in each of the texts, which are computed together: of each text the heads layer by layer, with a
/// label where they are asked for. The measures are those that compute_heads() gives of each text, but for rounding.
Result<std::vector<std::vector<HeadFacts>>> measure_texts(
    const Model& model, std::span<const std::vector<ModelToken>> texts, bool labels,
    const RunControl& control = {});

/// Whether a weight of some head is NaN or infinite: such a head has no measure.
bool is_not_finite(std::span<const HeadFacts> heads);

}  // namespace attn
