#pragma once

#include <optional>
#include <vector>

#include "app/workspaces/numerics/actions.h"

namespace attn::view {

/// The errors over the gain of the row shown. See requests.h.
struct NumericsRequest {
    std::vector<double> logits;
    bool operator==(const NumericsRequest& other) const {
        return same_numbers(logits, other.logits);
    }
};
/// nullopt while the workspace is not shown, or its curves are up to date.
std::optional<NumericsRequest> requested_numerics(const AppState& state);
/// NumericsReady.
Action run(const NumericsRequest& request, const RunControl& control);

}  // namespace attn::view
