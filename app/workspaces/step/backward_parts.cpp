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
    const Slice shown = shown_slice(state, stage);
    if (shown.batch == slice.batch && shown.head == slice.head)
        expr.link = CellRef{stage, row, column};
    return expr;
}

Expr param_expr(const AppState& state, Param param, Index row, Index column) {
    Expr expr = plain(state.document().inputs->params[param](0, 0, row, column));
    expr.role = info(param).role;
    const HeadColumns part = head_columns(state, param);
    const Index own = column - part.first;
    if (part.count == 0 || (own >= 0 && own < part.count)) expr.link = CellRef{param, row, own};
    return expr;
}

Slice shown_slice(const AppState& state, Stage stage) {
    return {state.batch, state.head_in(info(stage).heads)};
}

std::pair<Index, Index> readers_of(const AppState& state, Index kv_head) {
    const Dimensions& size = state.document().size;
    const Index each = std::max<Index>(size.heads / std::max<Index>(size.kv_heads, 1), 1);
    return {kv_head * each, (kv_head + 1) * each};
}

Index kv_head_of(const AppState& state, Index head) {
    const Dimensions& size = state.document().size;
    return head / std::max<Index>(size.heads / std::max<Index>(size.kv_heads, 1), 1);
}

std::vector<std::uint8_t> contributing_keys(const AppState& state, Slice slice, Index i) {
    const Document& document = state.document();
    std::vector<std::uint8_t> keys(static_cast<std::size_t>(document.size.tk));
    fill_contributing(document.spec, document.size, slice.batch, slice.head, i, keys);
    return keys;
}

std::string gradient_symbol(const OperandId& id) { return "∂L/∂" + name_of(id); }

void Chain::add(Expr l, Expr r, std::string label) {
    left.numbers.push_back(std::move(l));
    right.numbers.push_back(std::move(r));
    labels.push_back(std::move(label));
}

Chain chain_of(const OperandId& left, const std::string& left_index, const OperandId& right,
               const std::string& right_index, std::string counts) {
    Chain chain;
    chain.left = side_of("d", tex_gradient(left, left_index), gradient_symbol(left));
    chain.right =
        side_of("w", fmt::format("{}[{}]", tex_symbol(right), right_index), name_of(right));
    chain.counts = std::move(counts);
    return chain;
}

void add_chain(Explanation& explanation, Chain chain, std::string_view index) {
    if (chain.labels.empty()) {
        set_formula(explanation, R"(0\text{, the mask leaves nothing to add up})");
        return;
    }
    set_formula(explanation,
                fmt::format(R"(\sum_{} {} \cdot {})", index, chain.left.tex, chain.right.tex));
    add_products(explanation, chain.left, chain.right, std::move(chain.labels));
    explanation.dot->counts = std::move(chain.counts);
}

}  // namespace attn::view
