#pragma once

#include <map>
#include <string>

#include "app/common/document/reading.h"

namespace attn {
struct ArrayStats;
}  // namespace attn

namespace attn::view {

struct TensorListing;
struct TensorRow;

/// A role and why; nothing is done with it until a person takes it.
struct RoleProposal {
    std::string role;    // key of tensor_roles(); "": nothing tells
    std::string axes;    // "[B,H,T,d]"; "": unknown
    std::string reason;  // "its name", "all 48 rows sum to 1"
};
/// By name and shape; by content where `stats` are there (null: not measured). `beside`: the file's other arrays, whose
/// widths tell a projection [in, out] from one as nn.Linear stores it, [out, in]; a square one is not guessed.
RoleProposal propose_role(const TensorRow& row, const ArrayStats* stats,
                          const TensorListing* beside = nullptr);

/// Of a file: each array's own name or the role that it was given -> as the options write it, "a=Q,b=K".
std::string roles_text(const std::map<std::string, std::string>& roles);

}  // namespace attn::view
