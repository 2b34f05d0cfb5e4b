#include "app/view/tensors/roles.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "app/view/common/format.h"

namespace attn::view {
namespace {

constexpr std::array<TensorRole, 15> kRoles{{
    {"Q", "queries"},
    {"K", "keys"},
    {"V", "values"},
    {"qkv", "queries, keys and values in one"},
    {"weights", "weights, rows sum to 1"},
    {"scaled", "scores after the scale, before the mask"},
    {"masked", "scores after scale and mask"},
    {"X", "embeddings"},
    {"X_kv", "embeddings of the keys"},
    {"W_Q", "projection of queries, [in, out]"},
    {"W_K", "projection of keys, [in, out]"},
    {"W_V", "projection of values, [in, out]"},
    {"W_O", "projection of the output, [in, out]"},
    {"mask", "true = may attend"},
    {"-", "not used"},
}};

std::string lower(std::string_view text) {
    std::string small(text);
    std::ranges::transform(small, small.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return small;
}

/// What a part of a name says, the most particular first. `matrix`: of nn.Linear, stored [out, in].
constexpr struct {
    std::string_view part, role;
    bool matrix;
} kNames[] = {
    {"hook_attn_scores", "masked", false},
    {"hook_pattern", "weights", false},
    {"attn_scores", "masked", false},
    {"attn_weights", "weights", false},
    {"attention_probs", "weights", false},
    {"attentions", "weights", false},
    {"in_proj_weight", "qkv", true},
    {"query_key_value", "qkv", true},
    {"c_attn.weight", "qkv", true},
    {"qkv", "qkv", false},
    {"q_proj.weight", "W_Q", true},
    {"k_proj.weight", "W_K", true},
    {"v_proj.weight", "W_V", true},
    {"o_proj.weight", "W_O", true},
    {"out_proj.weight", "W_O", true},
    {"query.weight", "W_Q", true},
    {"key.weight", "W_K", true},
    {"value.weight", "W_V", true},
    {"weights", "weights", false},
    {"pattern", "weights", false},
    {"probs", "weights", false},
    {"logits", "masked", false},
    {"mask", "mask", false},
    {"query", "Q", false},
    {"queries", "Q", false},
    {"keys", "K", false},
    {"values", "V", false},
    {"hidden_states", "X", false},
    {"embeddings", "X", false},
    {"hook_q", "Q", false},
    {"hook_rot_q", "Q", false},
    {"hook_k", "K", false},
    {"hook_rot_k", "K", false},
    {"hook_v", "V", false},
};
/// Names that are all of a role, whatever their case.
constexpr std::pair<std::string_view, std::string_view> kWhole[] = {
    {"q", "Q"},           {"k", "K"},           {"v", "V"},          {"x", "X"},
    {"x_kv", "X_kv"},     {"a", "weights"},     {"attn", "weights"}, {"attention", "weights"},
    {"scaled", "scaled"}, {"masked", "masked"}, {"w_q", "W_Q"},      {"w_k", "W_K"},
    {"w_v", "W_V"},       {"w_o", "W_O"},
};

std::string axes_of(const TensorRow& row, std::string_view role) {
    constexpr std::string_view kPairs[] = {"", "", "[Tq,Tk]", "[H,Tq,Tk]", "[B,H,Tq,Tk]"};
    constexpr std::string_view kHeads[] = {"", "", "[T,d]", "[H,T,d]", "[B,H,T,d]"};
    const std::size_t n = row.extents.size();
    if (n < 2 || n > 4) return {};
    if (role == "weights" || role == "scaled" || role == "masked") return std::string(kPairs[n]);
    if (role != "Q" && role != "K" && role != "V") return {};
    if (lower(row.name).find("hook_") != std::string::npos && n == 4) return "[B,T,H,d]";
    return std::string(kHeads[n]);
}

bool is_pairs(std::string_view role) {
    return role == "weights" || role == "scaled" || role == "masked";
}

RoleProposal by_content(const TensorRow& row, const TensorStats& stats) {
    const std::size_t n = row.extents.size();
    if (!stats.fault.empty() || n < 2 || n > 4) return {};
    if (stats.nonnegative && stats.unit_rows == stats.rows && stats.high <= 1.0)
        return {"weights", axes_of(row, "weights"),
                fmt::format("no number is below 0 and all {} rows sum to 1{}",
                            grouped(static_cast<Index>(stats.rows)),
                            stats.lower ? "; 0 above the diagonal: causal" : "")};
    if (stats.masked_above)
        return {"masked", axes_of(row, "masked"),
                "−∞ or below −10⁴ above the diagonal: masked scores"};
    return {};
}

RoleProposal by_name(const TensorRow& row) {
    const std::string small = lower(row.name);
    const std::size_t dot = small.rfind('.');
    const std::string last = dot == std::string::npos ? small : small.substr(dot + 1);
    for (const auto& [name, role] : kWhole)
        if (last == name) return {std::string(role), axes_of(row, role), "its name"};
    for (const auto& each : kNames)
        if (small.find(each.part) != std::string::npos)
            return {std::string(each.role), axes_of(row, each.role),
                    each.matrix ? "its name; nn.Linear stores [out, in]: transpose it for [in, out]"
                                : "its name"};
    return {};
}

}  // namespace

std::span<const TensorRole> tensor_roles() { return kRoles; }

RoleProposal propose_role(const TensorRow& row, const TensorStats* stats) {
    RoleProposal named = by_name(row);
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
