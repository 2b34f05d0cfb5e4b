#pragma once

#include <memory>
#include <string>

#include "app/view/common/action.h"
#include "app/view/state.h"

namespace attn::view {

// Which results are checked against the reference, and which of their numbers is looked at.

/// A file of results, of the inputs that are open or of its own; "": those of what is open.
struct CheckFile {
    std::string path;
    static constexpr auto kMeta = meta("check_file", Kind::plain, field("path", &CheckFile::path));
    friend void carry_out(AppState& state, const CheckFile& action);
};
/// The results are the reference's with this fault of the table in them; "": they are not.
struct PlantFault {
    std::string fault;
    static constexpr auto kMeta =
        meta("plant_fault", Kind::plain, field("fault", &PlantFault::fault));
    friend void carry_out(AppState& state, const PlantFault& action);
};
/// By its key; its worst number is looked at.
struct ShowChecked {
    std::string array;
    static constexpr auto kMeta =
        meta("show_checked", Kind::plain, field("array", &ShowChecked::array));
    friend void carry_out(AppState& state, const ShowChecked& action);
};
struct SelectChecked {
    Index batch, head, row, column;
    static constexpr auto kMeta =
        meta("select_checked", Kind::plain, field("batch", &SelectChecked::batch),
             field("head", &SelectChecked::head), field("row", &SelectChecked::row),
             field("column", &SelectChecked::column));
    friend void carry_out(AppState& state, const SelectChecked& action);
};
/// Of the array that is shown.
struct SelectWorst {
    static constexpr auto kMeta = meta("select_worst", Kind::plain);
    friend void carry_out(AppState& state, const SelectWorst& action);
};
struct SetErrorScale {
    ErrorScale scale;
    static constexpr auto kMeta =
        meta("set_error_scale", Kind::plain, field("scale", &SetErrorScale::scale));
    friend void carry_out(AppState& state, const SetErrorScale& action);
};
/// A cell of a stage that is checked, in Step with its whole arithmetic. A head is one of the queries'.
struct OpenCheckedInStep {
    Stage stage;
    Index batch, head, row, column;
    static constexpr auto kMeta =
        meta("open_checked_in_step", Kind::plain, field("stage", &OpenCheckedInStep::stage),
             field("batch", &OpenCheckedInStep::batch), field("head", &OpenCheckedInStep::head),
             field("row", &OpenCheckedInStep::row), field("column", &OpenCheckedInStep::column));
    friend void carry_out(AppState& state, const OpenCheckedInStep& action);
};
struct ResultsChecked {
    std::shared_ptr<const Checked> result{};
    static constexpr auto kMeta = unwritten(Kind::answer);
    friend void carry_out(AppState& state, const ResultsChecked& action);
};

using VerifyActions = ActionList<CheckFile, PlantFault, ShowChecked, SelectChecked, SelectWorst,
                                 SetErrorScale, OpenCheckedInStep, ResultsChecked>;

}  // namespace attn::view
