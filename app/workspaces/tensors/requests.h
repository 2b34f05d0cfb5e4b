#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/document/actions.h"
#include "app/workspaces/tensors/actions.h"

namespace attn::view {

/// The table of the arrays, or, where `name` is one, the numbers of that array. See requests.h.
struct TensorsRequest {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const TensorListing> listing;  // null: it is wanted
    std::string name;
    bool operator==(const TensorsRequest&) const = default;
};
/// nullopt while the workspace is not shown, or all that it shows is known. One array at a time: the selected one first.
std::optional<TensorsRequest> requested_tensors(const AppState& state);
/// TensorsListed or TensorMeasured.
Action run(const TensorsRequest& request, const RunControl& control);

}  // namespace attn::view
