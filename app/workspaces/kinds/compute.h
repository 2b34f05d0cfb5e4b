#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/common/action.h"
#include "app/workspaces/kinds/controls.h"

namespace attn::view {

struct AppState;
struct Document;

/// Both sides, of the document's Q, K and V of the head shown.
struct KindsResult : KindsComparison {
    // what it is of
    std::shared_ptr<const Document> document;
    Index batch = 0, head = 0;
    AttentionKind a_kind, b_kind;
    // what came of it
    std::string fault;  // of Q, K, V themselves; "": they are there
    KindsCall call;
    KindComputed a, b;

    bool whole() const { return fault.empty() && a.fault.empty() && b.fault.empty(); }
    const KindComputed& side(KindsSide which) const { return which == KindsSide::a ? a : b; }
};

/// So many pairs at most: every stage of both sides is kept in float64, some 100 bytes a pair.
inline constexpr Index kMostKindsPairs = Index{1} << 22;
/// Up to so many are computed at once with the action that asks for them, more by a job.
inline constexpr Index kAtOncePairs = Index{1} << 16;

/// All that the result depends on.
struct KindsRequest {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const Trace> trace;  // may have Q, K and V
    Index batch = 0, head = 0, group = 0;
    AttentionKind a, b;
    std::uint64_t seed = 1;
    bool operator==(const KindsRequest&) const = default;
};
/// nullopt while the workspace is not shown, or its result is up to date.
std::optional<KindsRequest> requested_kinds(const AppState& state);
/// KindsReady.
Action run(const KindsRequest& request, const RunControl& control);

/// 1 where both sides forbid the pair.
std::vector<std::uint8_t> masked_on_both(const KindsResult& result);
/// Whether `result` is of what the state shows.
bool is_current(const KindsResult& result, const AppState& state);
/// Computes what is small where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_kinds(AppState& state);

}  // namespace attn::view
