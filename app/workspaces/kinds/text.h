#pragma once

#include <string>
#include <string_view>

#include "app/workspaces/kinds/compute.h"

namespace attn::view {

struct AppState;

// Words of the Kinds workspace: what a kind is called, what differs.

/// "scaled dot product · RoPE · causal".
std::string kind_text(const AttentionKind& kind);
/// S_{i,j} = …, in TeX.
std::string kind_tex(const AttentionKind& kind, const KindComputed& computed);
/// "RoPE, halves": one setting in words.
std::string setting_text(const AttentionKind& kind, std::string_view setting);

/// The sentence on top.
std::string kinds_sentence(const AppState& state);
/// On neither side may a query attend to a key.
bool allows_none(const KindsResult& result);
/// Where numbers come from that the document does not have: "" when all are its own.
std::string kinds_note(const KindsResult& result);
/// "cat → sat: A 41.2 %, B 12.0 %".
std::string pair_text(const AppState& state);
/// "41.2 %" of a pair on one side; the number itself where a side's weights are no shares of 1.
std::string weight_text(const KindsResult& result, KindsSide side, Index row, Index column);

}  // namespace attn::view
