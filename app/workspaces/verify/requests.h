#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/document/requests.h"
#include "app/workspaces/verify/state.h"
#include "core/verify/report.h"

namespace attn::view {

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
    verify::DiffReport report;
};

/// nullopt while Verify is not shown, or what it shows is up to date.
std::optional<CheckRequest> requested_check(const AppState& state);
/// ResultsChecked. `open` reads files of results.
Action run(const CheckRequest& request, const Opener& open, const RunControl& control);

}  // namespace attn::view
