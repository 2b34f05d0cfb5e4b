#include "app/workspaces/tensors/roles.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/lower_case.h"
#include "app/workspaces/tensors/measure.h"
#include "core/io/array_stats.h"

namespace attn::view {
namespace {

/// What a part of a name says, the most particular first.
constexpr struct {
    std::string_view part, role;
} kNames[] = {
    {"hook_attn_scores", "masked"},
    {"hook_pattern", "weights"},
    {"attn_scores", "masked"},
    {"attn_weights", "weights"},
    {"attention_probs", "weights"},
    {"attentions", "weights"},
    {"in_proj_weight", "qkv"},
    {"query_key_value", "qkv"},
    {"c_attn.weight", "qkv"},
    {"qkv", "qkv"},
    {"q_proj.weight", "W_Q"},
    {"k_proj.weight", "W_K"},
    {"v_proj.weight", "W_V"},
    {"o_proj.weight", "W_O"},
    {"out_proj.weight", "W_O"},
    {"query.weight", "W_Q"},
    {"key.weight", "W_K"},
    {"value.weight", "W_V"},
    {"weights", "weights"},
    {"pattern", "weights"},
    {"probs", "weights"},
    {"logits", "masked"},
    {"mask", "mask"},
    {"query", "Q"},
    {"queries", "Q"},
    {"keys", "K"},
    {"values", "V"},
    {"hidden_states", "X"},
    {"embeddings", "X"},
    {"hook_q", "Q"},
    {"hook_rot_q", "Q"},
    {"hook_k", "K"},
    {"hook_rot_k", "K"},
    {"hook_v", "V"},
};
/// Names that are all of a role, whatever their case.
constexpr std::pair<std::string_view, std::string_view> kWhole[] = {
    {"q", "Q"},           {"k", "K"},           {"v", "V"},           {"x", "X"},
    {"x_kv", "X_kv"},     {"a", "weights"},     {"attn", "weights"},  {"attention", "weights"},
    {"scores", "scores"}, {"scaled", "scaled"}, {"masked", "masked"}, {"w_q", "W_Q"},
    {"w_k", "W_K"},       {"w_v", "W_V"},       {"w_o", "W_O"},
};

bool is_pairs(std::string_view role) {
    return role == "weights" || role == "scores" || role == "scaled" || role == "masked";
}

std::string axes_of(const TensorRow& row, std::string_view role) {
    constexpr std::string_view kPairs[] = {"", "", "[Tq,Tk]", "[H,Tq,Tk]", "[B,H,Tq,Tk]"};
    constexpr std::string_view kHeads[] = {"", "", "[T,d]", "[H,T,d]", "[B,H,T,d]"};
    const std::size_t n = row.extents.size();
    if (n < 2 || n > 4) return {};
    if (is_pairs(role)) return std::string(kPairs[n]);
    if (role != "Q" && role != "K" && role != "V") return {};
    if (lower_case(row.name).find("hook_") != std::string::npos && n == 4) return "[B,T,H,d]";
    return std::string(kHeads[n]);
}

RoleProposal by_content(const TensorRow& row, const ArrayStats& stats) {
    const std::size_t n = row.extents.size();
    if (!stats.fault.empty() || n < 2 || n > 4) return {};
    if (stats.nonnegative && stats.rows > 0 && stats.unit_rows == stats.rows && stats.high <= 1.0)
        return {"weights", axes_of(row, "weights"),
                fmt::format("no number is below 0 and every row sums to 1{}",
                            stats.lower ? "; 0 above the diagonal: causal" : "")};
    if (stats.masked_above)
        return {"masked", axes_of(row, "masked"),
                "−∞ or below −10⁴ above the diagonal: masked scores"};
    return {};
}

RoleProposal by_name(const TensorRow& row) {
    const std::string small = lower_case(row.name);
    const std::size_t dot = small.rfind('.');
    const std::string last = dot == std::string::npos ? small : small.substr(dot + 1);
    for (const auto& [name, role] : kWhole)
        if (last == name) return {std::string(role), axes_of(row, role), "its name"};
    for (const auto& each : kNames)
        if (small.find(each.part) != std::string::npos)
            return {std::string(each.role), axes_of(row, each.role), "its name"};
    return {};
}

/// Columns of the array whose name says that role; 0: there is none.
Index width_of(const TensorListing& listing, std::string_view role) {
    for (const TensorRow& row : listing.rows)
        if (row.extents.size() >= 2 && by_name(row).role == role) return row.extents.back();
    return 0;
}

/// Whether a projection is [in, out], or [out, in] as nn.Linear stores it: one axis is as long as X is wide.
void resolve_axes(const TensorRow& row, const TensorListing* beside, RoleProposal& named) {
    constexpr std::string_view kProjections[] = {"W_Q", "W_K", "W_V", "W_O"};
    if (row.extents.size() != 2 || std::ranges::count(kProjections, named.role) == 0) return;
    const Index first = row.extents[0], last = row.extents[1];
    const std::string turned = named.role + ".T";
    if (first == last) {
        named.reason += fmt::format(
            "; it is square, so its shape does not tell [in, out] from nn.Linear's [out, in]: "
            "choose {} for the latter",
            turned);
        return;
    }
    const bool of_keys = named.role == "W_K" || named.role == "W_V";
    Index width = beside != nullptr && of_keys ? width_of(*beside, "X_kv") : 0;
    const std::string_view whose = width > 0 ? "X_kv" : "X";
    if (beside != nullptr && width == 0) width = width_of(*beside, "X");
    if (width == 0 || (width != first && width != last)) {
        named.reason += fmt::format("; nn.Linear stores [out, in]: choose {} for that", turned);
        return;
    }
    const bool output = named.role == "W_O";
    const bool transposed = output ? width == first : width == last;
    named.axes = transposed ? "[out, in]" : "[in, out]";
    named.reason += fmt::format("; {} has width {}, {}", whose, width,
                                output ? "usually that of the output too" : "the axis “in”");
    if (transposed) named.role = turned;
}

}  // namespace

RoleProposal propose_role(const TensorRow& row, const ArrayStats* stats,
                          const TensorListing* beside) {
    RoleProposal named = by_name(row);
    resolve_axes(row, beside, named);
    RoleProposal found = stats != nullptr ? by_content(row, *stats) : RoleProposal{};
    if (!found.role.empty() && (named.role.empty() || is_pairs(named.role))) {
        if (!named.role.empty() && named.role == found.role)
            found.reason = "its name, and " + found.reason;
        return found;
    }
    const std::size_t n = row.extents.size();
    if (is_pairs(named.role) && (n < 2 || n > 4)) return {};
    return named;
}

std::string roles_text(const std::map<std::string, std::string>& roles) {
    std::string text;
    for (const auto& [name, role] : roles)
        if (!role.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, role);
    return text;
}

}  // namespace attn::view
