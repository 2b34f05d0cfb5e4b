#pragma once

#include <memory>
#include <string>

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

/// So many tokens at most: every cell stands on screen three times.
inline constexpr Index kMostKindsTokens = 64;

/// Whether `result` is of what the state shows.
bool is_current(const KindsResult& result, const AppState& state);
/// Computes where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_kinds(AppState& state);

}  // namespace attn::view
