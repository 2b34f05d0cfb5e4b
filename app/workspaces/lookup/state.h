#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "app/common/names.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/controls.h"
#include "core/lookup.h"

namespace attn::view {

enum class LookupPage : std::uint8_t { memory, capacity, similarity, alignment, permutation };
template <>
inline constexpr std::string_view kNamesOf<LookupPage>[] = {"memory", "capacity", "similarity",
                                                            "alignment", "permutation"};
inline constexpr std::size_t kLookupPageCount = 5;

struct SimilarityResult;
struct PermutationResult;

/// What is looked at.
struct LookupLook {
    LookupPage page = LookupPage::memory;
    Index pair = 0;             // of the memory
    Index row = 0, column = 0;  // of a matrix: query and key of the document
    // of the moment
    std::optional<Index> hovered;                          // pair under the pointer
    std::shared_ptr<const SimilarityResult> similarity;    // null: not computed
    std::shared_ptr<const PermutationResult> permutation;  // null: not computed
};

/// Interference over d_k, from a job.
struct CapacityCurves {
    std::shared_ptr<const std::vector<CapacityPoint>>
        points;           // null until the first ones are ready
    CapacitySettings of;  // what they were computed for
    double elapsed_ms = 0.0;
};

void describe(Visitor& visit, LookupLook& look);

inline constexpr Controls<LookupControls> lookup_controls;
inline constexpr Look<LookupLook> lookup_look;
inline constexpr Look<CapacityCurves> capacity_curves;

}  // namespace attn::view
