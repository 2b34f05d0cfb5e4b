#pragma once

#include <string>

#include "app/common/check_file.h"
#include "app/common/set_field.h"
#include "app/workspaces/verify/state.h"

namespace attn::view {

// Which results are checked against the reference, and which of their numbers is looked at.

/// The results are the reference's with this fault of the table in them; "": they are not.
struct PlantFault {
    std::string fault;
};
/// By its key; its worst number is looked at.
using ShowChecked = SetField<std::string, verify_look, "array", "show_checked">;
struct SelectChecked {
    Index batch, head, row, column;
};
/// Of the array that is shown.
struct SelectWorst {};
using SetErrorScale = SetField<ErrorScale, verify_look, "scale", "set_error_scale">;
using SetAllowed = SetField<Allowed, verify_look, "allowed", "set_allowed_error">;
/// A cell of a stage that is checked, in Step with its whole arithmetic. A head is one of the queries'.
struct OpenCheckedInStep {
    Stage stage;
    Index batch, head, row, column;
};
using ResultsChecked = Put<verify_look, &VerifyLook::result>;

using VerifyActions = ActionList<Plain<PlantFault, ShowChecked, SelectChecked, SelectWorst,
                                       SetErrorScale, SetAllowed, OpenCheckedInStep>,
                                 Answers<ResultsChecked>>;
template <ListedIn<VerifyActions> A>
inline constexpr Meta kMetaOf<A> = VerifyActions::kMeta<A>;

}  // namespace attn::view
