#include "app/common/sheet.h"

#include <unordered_map>

#include <fmt/format.h>

#include "app/common/document/key_tokens.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

std::string subscript(std::size_t n) {
    constexpr std::string_view kDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
    std::string text;
    for (const char digit : std::to_string(n)) text += kDigits[digit - '0'];
    return text;
}

/// The words along an axis; none where it counts numbers. Keys have the queries' words only where they may be the same tokens.
std::span<const std::string> tokens_along(const Document& document, Axis axis, Index batch) {
    if (axis != Axis::query && axis != Axis::key) return {};
    return axis == Axis::key ? key_tokens(document, batch) : tokens_of(document, batch);
}

/// "the", and "the₂" where the same token stands `before` times before it.
std::string labelled(const std::string& token, std::size_t before, std::size_t most = kMostShown) {
    const std::string shown = shown_token(token, most);
    return before == 0 ? shown : shown + subscript(before + 1);
}

/// Of what has no word.
std::string counted_along(const Document& document, Axis axis, Index n) {
    if (axis == Axis::distance) n -= document.size.tq - 1;
    const auto size = static_cast<std::uint64_t>(n);  // of the least Index too
    return fmt::format("{}{}", n < 0 ? "−" : "", n < 0 ? 0 - size : size);
}

Role role_of(Axis axis) {
    if (axis == Axis::query) return Role::query;
    if (axis == Axis::key) return Role::key;
    return Role::input;
}

/// The batch entry and head shown of a stage; of a parameter the part that the head shown uses.
MatrixView<const float> part_of(const AppState& state, const OperandId& id, const Tensor& tensor) {
    if (tensor.empty()) return {};
    const Shape& shape = tensor.shape();
    if (const Stage* stage = std::get_if<Stage>(&id))
        return tensor.matrix(std::min(state.batch, shape.b - 1),
                             std::min(state.head_in(info(*stage).heads), shape.h - 1));
    const MatrixView<const float> whole = tensor.matrix(0, 0);
    const HeadColumns part = head_columns(state, std::get<Param>(id));
    return part.count == 0 ? whole : whole.column_block(part.first, part.count);
}

const Tensor& tensor_of(const OperandId& id, const Trace& trace, const Params& params) {
    if (const Stage* stage = std::get_if<Stage>(&id)) return trace[*stage];
    return params[std::get<Param>(id)];
}

Axis rows_of(const OperandId& id) {
    return std::visit([](auto key) { return info(key).rows; }, id);
}
Axis columns_of(const OperandId& id) {
    return std::visit([](auto key) { return info(key).columns; }, id);
}

/// A context cell of another head, as joined heads count it.
bool is_joined(const AppState& state, const CellRef& cell) {
    return cell.tensor == OperandId(Stage::context) && !(*state.trace)[Stage::context].empty() &&
           (cell.column < 0 || cell.column >= state.document().size.d_v);
}

Sheet sheet_with(const AppState& state, const OperandId& id, MatrixView<const float> values) {
    Sheet sheet;
    sheet.id = id;
    sheet.values = values;
    sheet.row_labels = axis_labels(state, rows_of(id), sheet.values.rows);
    sheet.column_labels = axis_labels(state, columns_of(id), sheet.values.columns);
    sheet.role = std::visit([](auto key) { return info(key).role; }, id);
    sheet.row_role = role_of(rows_of(id));
    sheet.column_role = role_of(columns_of(id));
    return sheet;
}

}  // namespace

Index head_in(const Dimensions& size, HeadAxis axis, Index head) {
    if (axis == HeadAxis::none) return 0;
    if (axis == HeadAxis::query || size.kv_heads == 0) return head;
    return head / std::max<Index>(size.heads / size.kv_heads, 1);
}

HeadColumns head_columns(const Dimensions& size, Param param, Index head) {
    // W_score and the norms' weights have d_k columns too, which every head shares.
    if (info(param).use != ParamUse::projection) return {};
    const Axis columns = info(param).columns;
    const bool query = param == Param::w_q || param == Param::b_q;
    const Index width = columns == Axis::d_k ? size.d_k : size.d_v;
    return {head_in(size, query ? HeadAxis::query : HeadAxis::key_value, head) * width, width};
}

HeadColumns head_columns(const AppState& state, Param param) {
    return head_columns(state.document().size, param, state.head);
}

std::vector<std::string> axis_labels(const AppState& state, Axis axis, Index count) {
    return axis_labels(state.document(), axis, count, state.batch);
}

std::vector<std::string> axis_labels(const Document& document, Axis axis, Index count,
                                     Index batch) {
    std::vector<std::string> labels;
    const auto tokens = tokens_along(document, axis, batch);
    if (tokens.empty() || std::ssize(tokens) < count) {  // not every file names its tokens
        for (Index n = 0; n < count; ++n) labels.push_back(counted_along(document, axis, n));
        return labels;
    }
    std::unordered_map<std::string_view, std::size_t> before;
    for (const std::string& token : tokens) labels.push_back(labelled(token, before[token]++));
    return labels;
}

std::string axis_label(const AppState& state, Axis axis, Index n) {
    return axis_label(state.document(), axis, n, state.batch);
}

std::string axis_label(const Document& document, Axis axis, Index n, Index batch) {
    const auto tokens = tokens_along(document, axis, batch);
    if (n < 0 || n >= std::ssize(tokens)) return counted_along(document, axis, n);
    const auto end = tokens.begin() + n;
    return labelled(*end, static_cast<std::size_t>(std::count(tokens.begin(), end, *end)),
                    kMostNamed);
}

Sheet sheet_of(const AppState& state, const OperandId& id) {
    const Tensor& tensor = tensor_of(id, *state.trace, state.document().inputs->params);
    return sheet_with(state, id, part_of(state, id, tensor));
}

Sheet gradient_sheet_of(const AppState& state, const OperandId& id) {
    return sheet_with(state, id, gradient_of(state, id));
}

MatrixView<const float> gradient_of(const AppState& state, const OperandId& id) {
    return part_of(state, id, tensor_of(id, *state.gradients, state.gradients->params));
}

std::vector<float> joined_context(const AppState& state) {
    const Tensor& context = (*state.trace)[Stage::context];
    const Shape shape = context.shape();
    std::vector<float> joined;
    for (const auto [i, h] : each_cell(shape.t, shape.h))
        for (Index c = 0; c < shape.d; ++c)
            joined.push_back(context(std::min(state.batch, shape.b - 1), h, i, c));
    return joined;
}

bool has_targets(const AppState& state) {
    return state.show_gradients && state.loss.kind == LossKind::squared;
}

bool is_editable(const AppState& state, const OperandId& id) {
    const Stage* const stage = std::get_if<Stage>(&id);
    if (stage == nullptr || *stage == Stage::x || *stage == Stage::x_kv) return true;
    if (*stage == Stage::output) return has_targets(state);
    const bool given = !state.document().inputs->projects();
    return given && (*stage == Stage::q || *stage == Stage::k || *stage == Stage::v);
}

std::optional<CellHandle> resolve(const AppState& state, const CellRef& cell) {
    const Stage* const stage = std::get_if<Stage>(&cell.tensor);
    const Tensor& tensor = tensor_of(cell.tensor, *state.trace, state.document().inputs->params);
    const Shape& shape = tensor.shape();
    if (tensor.empty() || cell.row < 0 || cell.row >= shape.t) return std::nullopt;
    CellHandle at{cell, 0, 0, cell.row, cell.column};
    Index columns = shape.d;
    if (stage == nullptr) {
        const HeadColumns part = head_columns(state, std::get<Param>(cell.tensor));
        at.column += part.first;
        if (part.count > 0) columns = part.count;
    } else {
        at.batch = std::min(state.batch, shape.b - 1);
        at.head = std::min(state.head_in(info(*stage).heads), shape.h - 1);
    }
    if (is_joined(state, cell)) {
        const Index joined = at.head * columns + cell.column;
        if (joined < 0 || joined >= shape.h * columns) return std::nullopt;
        at.head = joined / columns, at.column = joined % columns;
    } else if (cell.column < 0 || cell.column >= columns) {
        return std::nullopt;
    }
    at.value = tensor(at.batch, at.head, at.row, at.column);
    return at;
}

std::optional<float> gradient_at(const AppState& state, const CellRef& cell) {
    const auto at = resolve(state, cell);
    const Tensor& gradient = tensor_of(cell.tensor, *state.gradients, state.gradients->params);
    const Shape& shape = gradient.shape();
    if (!at || gradient.empty() || at->row >= shape.t || at->column >= shape.d) return std::nullopt;
    return gradient(std::min(at->batch, shape.b - 1), std::min(at->head, shape.h - 1), at->row,
                    at->column);
}

std::string name_of(const OperandId& id) {
    const Stage* stage = std::get_if<Stage>(&id);
    if (stage == nullptr) return std::string(info(std::get<Param>(id)).symbol);
    const bool product = *stage == Stage::scores || *stage == Stage::context;
    return std::string(product ? info(*stage).key : info(*stage).symbol);
}

std::string_view key_of(const OperandId& id) {
    return std::visit([](auto key) { return info(key).key; }, id);
}

std::optional<OperandId> find_operand(std::string_view key) {
    if (const auto stage = find_stage(key)) return *stage;
    for (const ParamInfo& param : param_table())
        if (param.key == key) return param.param;
    return std::nullopt;
}

std::string head_description(Index head, Index heads) {
    return fmt::format("head {} of {}", head, heads);
}

std::string cell_name(const AppState& state, const CellRef& cell) {
    const auto label = [&](Axis axis, Index n) { return axis_label(state, axis, n); };
    std::string head;
    CellRef shown = cell;
    if (is_joined(state, cell)) {
        const Index width = state.document().size.d_v;
        const Index column = state.head * width + cell.column;
        head = fmt::format("head {}, ", column / width);
        shown.column = column % width;
    }
    return fmt::format("{}[{}{}, {}]", name_of(cell.tensor), head,
                       label(rows_of(cell.tensor), cell.row),
                       label(columns_of(cell.tensor), shown.column));
}

Stage key_stage(const Document& document) {
    const bool alike = document.tokens_kv.empty() && document.inputs->x_kv.empty();
    return alike ? Stage::x : Stage::x_kv;
}

Stage weight_stage(const Document& document) {
    return document.spec.drops() ? Stage::dropped : Stage::weights;
}

OperandId operand_of(const Document& document, Stage result, const OperandId& id) {
    const bool projects_source = result == Stage::k || result == Stage::v;
    if (projects_source && id == OperandId(Stage::x)) return key_stage(document);
    const auto in_place = [&](Stage stage) { return stage_or_source(stage, document.spec); };
    if (id == OperandId(Stage::q_norm)) return in_place(Stage::q_norm);
    if (id == OperandId(Stage::k_norm)) return in_place(Stage::k_norm);
    if (result == Stage::scores && id == OperandId(Stage::q)) return in_place(Stage::q_rot);
    if (result == Stage::scores && id == OperandId(Stage::k)) return in_place(Stage::k_rot);
    if (result == Stage::masked && id == OperandId(Stage::scaled)) return in_place(Stage::biased);
    if (result == Stage::context && id == OperandId(Stage::weights)) return weight_stage(document);
    return id;
}

namespace {

/// Weights of QK-norm may be left out, which is 1 for every column.
bool is_given(const Document& document, const OperandId& id) {
    const Param* const param = std::get_if<Param>(&id);
    return param == nullptr || info(*param).use != ParamUse::norm || has_param(document, *param);
}

}  // namespace

std::vector<Operand> operands_of(const Document& document, Stage stage) {
    std::vector<Operand> operands;
    const bool projected = stage == Stage::q || stage == Stage::k || stage == Stage::v;
    if (projected && !is_empty(document) && !document.inputs->projects()) return operands;  // given
    for (const auto& operand : info(stage).operands)
        if (operand && is_given(document, operand->id))
            operands.push_back({operand_of(document, stage, operand->id), operand->lights});
    if (stage == Stage::scores)
        for (const Param param : info(document.spec.score).params)
            operands.push_back({param, Lights::whole});
    if (stage == Stage::weights && has_sinks(document))
        operands.push_back({Param::sinks, Lights::own_head});
    return operands;
}

bool is_stored_stage(const AppState& state, const OperandId& id) {
    const Stage* stage = std::get_if<Stage>(&id);
    return stage == nullptr || !(*state.trace)[*stage].empty();
}

}  // namespace attn::view
