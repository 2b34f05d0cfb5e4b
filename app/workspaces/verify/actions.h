#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/check_file.h"
#include "app/common/document/requests.h"
#include "app/common/set_field.h"
#include "app/workspaces/verify/state.h"
#include "core/verify/report.h"

namespace attn::view {

// Which results are checked against the reference, and which of their numbers is looked at.

/// The results are the reference's with this fault of the table in them; "": they are not.
struct PlantFault {
    std::string fault;
    static constexpr auto kJournalNames = journal_names("plant_fault", "fault");
};
/// By its key; its worst number is looked at.
using ShowChecked = SetField<std::string, verify_look, "array", "show_checked">;
struct SelectChecked {
    Index batch, head, row, column;
    static constexpr auto kJournalNames =
        journal_names("select_checked", "batch", "head", "row", "column");
};
/// Of the array that is shown.
struct SelectWorst {
    static constexpr auto kJournalNames = journal_names("select_worst");
};
using SetErrorScale = SetField<ErrorScale, verify_look, "scale", "set_error_scale">;
using SetAllowed = SetField<Allowed, verify_look, "allowed", "set_allowed_error">;
/// A cell of a stage that is checked, in Step with its whole arithmetic. A head is one of the queries'.
struct OpenCheckedInStep {
    Stage stage;
    Index batch, head, row, column;
    static constexpr auto kJournalNames =
        journal_names("open_checked_in_step", "stage", "batch", "head", "row", "column");
};
using ResultsChecked = Put<verify_look, &VerifyLook::result>;

using VerifyActions = ActionList<ViewActions<PlantFault, ShowChecked, SelectChecked, SelectWorst,
                                             SetErrorScale, SetAllowed, OpenCheckedInStep>,
                                 Answers<ResultsChecked>>;
template <ListedIn<VerifyActions> A>
inline constexpr Meta kMetaOf<A> = VerifyActions::kMeta<A>;

/// What is checked: a file's results, those of a backend, or planted ones.
struct CheckRequest {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const Trace> trace;  // of the document by the backend
    std::string backend;
    std::string file, fault;  // as VerifyLook has them
    Allowed allowed = Allowed::precision;
    bool operator==(const CheckRequest&) const = default;
};
/// What came of it.
struct Checked {
    CheckRequest request;
    std::string error;  // why there is no report; "": there is one
    std::string
        not_planted;  // why the fault is not in what is compared; "": it is, or none was asked for
    bool example = false;  // the results have the example's fault
    verify::DiffReport report;
};

/// nullopt while Verify is not shown, or what it shows is up to date.
std::optional<CheckRequest> requested_check(const AppState& state);
/// ResultsChecked. `open` reads files of results.
Action run(const CheckRequest& request, const Opener& open, const RunControl& control);

}  // namespace attn::view
