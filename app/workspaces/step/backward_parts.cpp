#include "app/workspaces/step/backward_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/masks.h"

namespace attn::view {

Expr stage_expr(const AppState& state, From from, Stage stage, Slice slice, Index row,
                Index column) {
    const Tensor& tensor = (from == From::values ? *state.trace : *state.gradients)[stage];
    const Index batch = std::min(slice.batch, tensor.shape().b - 1);
    Expr expr = plain(tensor(batch, slice.head, row, column));
    expr.role = info(stage).role;
    if (slice.batch == state.batch && slice.head == state.head_in(info(stage).heads))
        expr.link = CellRef{stage, row, column};
    return expr;
}

Expr stage_expr(const AppState& state, From from, Stage stage, Index row, Index column) {
    return stage_expr(state, from, stage, {state.batch, state.head_in(info(stage).heads)}, row,
                      column);
}

Expr param_expr(const AppState& state, Param param, Index row, Index column) {
    Expr expr = plain(state.document().inputs->params[param](0, 0, row, column));
    expr.role = info(param).role;
    const HeadColumns part = head_columns(state, param);
    const Index own = column - part.first;
    if (part.count == 0 || (own >= 0 && own < part.count)) expr.link = CellRef{param, row, own};
    return expr;
}

std::pair<Index, Index> readers_of(const AppState& state) {
    const Dimensions& size = state.document().size;
    const Index each = std::max<Index>(size.heads / std::max<Index>(size.kv_heads, 1), 1);
    const Index first = state.head / each * each;
    return {first, first + each};
}

std::vector<std::uint8_t> contributing_keys(const AppState& state, Slice slice, Index i) {
    const Document& document = state.document();
    std::vector<std::uint8_t> keys(static_cast<std::size_t>(document.size.tk));
    fill_contributing(document.spec, document.size, slice.batch, slice.head, i, keys);
    return keys;
}

Chain chain_of(const OperandId& left, const std::string& left_index, const OperandId& right,
               const std::string& right_index, std::string counts) {
    return {side_of("d", tex_gradient(left, left_index), "∂L/∂" + name_of(left)),
            side_of("w", fmt::format("{}[{}]", tex_symbol(right), right_index), name_of(right)),
            {},
            std::move(counts)};
}

void add_chain(const AppState& state, Explanation& explanation, Chain chain,
               std::string_view index) {
    if (chain.labels.empty())
        return set_formula(explanation, R"(0\text{, the mask leaves nothing to add up})");
    add_sum(state, explanation, std::move(chain), index);
}

Projection projection_of(const AppState& state, Param param) {
    const Stage source = key_stage(state.document());
    if (param == Param::w_q || param == Param::b_q) return {Stage::x, Stage::q};
    if (param == Param::w_k || param == Param::b_k) return {source, Stage::k};
    if (param == Param::w_v || param == Param::b_v) return {source, Stage::v};
    return {Stage::context, Stage::output};
}

}  // namespace attn::view
