#pragma once

#include <optional>
#include <vector>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/numerics/state.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

// Settings of the Numerics workspace; undone.

using SetNumericsGain = SetField<Index, numerics_controls, "gain", "set_numerics_gain">;
using SetNumericsLogits =
    SetField<std::vector<double>, numerics_controls, "logits", "set_numerics_logits">;
using SetNumericsRow = SetField<LogitRow, numerics_controls, "row", "set_numerics_row">;
/// The cell that the inspector explains. Not undone. A key that the row does not have is its last one.
struct SelectNumericsCell {
    SoftmaxAlgorithm algorithm;
    FloatFormat format;
    Index key;
    static constexpr auto kJournalNames =
        journal_names("select_numerics_cell", "algorithm", "format", "key");
};
/// The errors over the gain of these logits.
struct NumericsReady {
    std::vector<double> logits;
    std::shared_ptr<const NumericsSweep> sweep{};
    double elapsed_ms = 0.0;
};

using NumericsActions =
    ActionList<ViewActions<SelectNumericsCell>, EditActions<SetNumericsLogits, SetNumericsRow>,
               DragActions<SetNumericsGain>, Answers<NumericsReady>>;
template <ListedIn<NumericsActions> A>
inline constexpr Meta kMetaOf<A> = NumericsActions::kMeta<A>;

/// The errors over the gain of the row shown.
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
