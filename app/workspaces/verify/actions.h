#pragma once

#include <memory>
#include <string>

#include "app/common/check_file.h"
#include "app/common/set_field.h"
#include "app/workspaces/verify/state.h"

namespace attn::view {

// Which results are checked against the reference, and which of their numbers is looked at.

/// The results are the reference's with this fault of the table in them; "": they are not.
struct PlantFault {
    std::string fault;
    static constexpr Meta kMeta{"plant_fault", Kind::plain, fields<&PlantFault::fault>};
    friend void carry_out(AppState& state, const PlantFault& action);
};
/// By its key; its worst number is looked at.
using ShowChecked = SetField<std::string, verify_look, "array", "show_checked", Kind::plain>;
struct SelectChecked {
    Index batch, head, row, column;
    static constexpr Meta kMeta{"select_checked", Kind::plain,
                                fields<&SelectChecked::batch, &SelectChecked::head,
                                       &SelectChecked::row, &SelectChecked::column>};
    friend void carry_out(AppState& state, const SelectChecked& action);
};
/// Of the array that is shown.
struct SelectWorst {
    static constexpr Meta kMeta{"select_worst", Kind::plain};
    friend void carry_out(AppState& state, const SelectWorst& action);
};
using SetErrorScale = SetField<ErrorScale, verify_look, "scale", "set_error_scale", Kind::plain>;
using SetAllowed = SetField<Allowed, verify_look, "allowed", "set_allowed_error", Kind::plain>;
/// A cell of a stage that is checked, in Step with its whole arithmetic. A head is one of the queries'.
struct OpenCheckedInStep {
    Stage stage;
    Index batch, head, row, column;
    static constexpr Meta kMeta{
        "open_checked_in_step", Kind::plain,
        fields<&OpenCheckedInStep::stage, &OpenCheckedInStep::batch, &OpenCheckedInStep::head,
               &OpenCheckedInStep::row, &OpenCheckedInStep::column>};
    friend void carry_out(AppState& state, const OpenCheckedInStep& action);
};
struct ResultsChecked {
    std::shared_ptr<const Checked> result{};
    static constexpr Meta kMeta{"", Kind::answer};
    friend void carry_out(AppState& state, const ResultsChecked& action);
};

using VerifyActions = ActionList<CheckFile, PlantFault, ShowChecked, SelectChecked, SelectWorst,
                                 SetErrorScale, SetAllowed, OpenCheckedInStep, ResultsChecked>;

}  // namespace attn::view
