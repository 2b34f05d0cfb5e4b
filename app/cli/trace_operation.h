#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/call.h"
#include "core/io/npz.h"

namespace attn::cli {

/// What is asked of a call that has an operation.
struct OperationRequest {
    std::string_view backend;  // as typed; an operation has none to choose
    std::string_view keep;     // as typed; "": all
    bool grad = false;
};

/// What an operation computed, beside softmax attention of the same call.
struct OperationRun {
    OperationTrace forward;
    std::optional<OperationTrace> gradient;
    std::vector<bool> keep;  // by row of the table
    OperationError error;    // of the context, against softmax attention
    double forward_ms = 0.0;
    double backward_ms = 0.0;
};
OperationRun run_operation_of(const files::FileCall& call, const OperationRequest& request);

/// The arrays of OUT.npz, named by the operation's table: the kept stages, and with a gradient d_<stage> of them and
/// d_<parameter> of every parameter of operation and call. Values stay in the run, which must outlive the result.
std::vector<NpzEntry> operation_entries(const files::FileCall& call, const OperationRun& run);

/// Lines on time, cost and the distance to softmax attention.
std::string operation_summary(const files::FileCall& call, const OperationRun& run);

}  // namespace attn::cli
