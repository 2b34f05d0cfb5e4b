#include "app/workspaces/step/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/workspaces/step/explain_parts.h"
#include "core/check.h"
#include "core/tex.h"

namespace attn::view {
namespace {

void explain_param(const AppState& state, Explanation& explanation, Param param) {
    const ParamInfo& row = info(param);
    set_formula(explanation, tex::text_of("a weight of ") + tex_symbol(param));
    if (param == Param::w_o) {
        explanation.notes.push_back(
            fmt::format("Row {} takes column {} of the joined heads; column {} goes to column {} "
                        "of the output.",
                        explanation.cell.row, explanation.cell.row, explanation.cell.column,
                        explanation.cell.column));
        const Document& document = state.document();
        const Index head = explanation.cell.row / std::max<Index>(document.size.d_v, 1);
        const ModelOrigin* const model = model_of(document);
        const bool own = document.own_heads == 0 || document.own_heads == document.size.heads;
        if (explanation.value == 0.0 && own && model != nullptr &&
            std::ranges::binary_search(model->changes.off, HeadPlace{document.layer, head}))
            explanation.notes.push_back(fmt::format(
                "Head {} is switched off: its rows are 0 here, not in the model's file.", head));
        return;
    }
    const char letter = std::string_view(row.symbol).back();
    if (row.bias) {
        explanation.notes.push_back(fmt::format("It is added to column {} of {}, for every token.",
                                                explanation.cell.column,
                                                letter == 'O' ? 'Y' : letter));
        return;
    }
    explanation.notes.push_back(fmt::format(
        "It multiplies column {} of {} and adds to column {} of {}, for every token.",
        explanation.cell.row, param == Param::w_q ? "X" : name_of(key_stage(state.document())),
        explanation.cell.column, letter));
}

/// The operands of a stage in this document.
std::vector<OperandId> operands_of(const AppState& state, Stage stage) {
    std::vector<OperandId> ids;
    for (const auto& operand : info(stage).operands)
        if (operand) ids.push_back(operand_of(state.document(), stage, operand->id));
    return ids;
}

}  // namespace

std::string tex_scaled(const AttentionSpec& spec) {
    const std::string scores = spec.scale == ScaleKind::value
                                   ? R"(\mathrm{scores} \cdot \mathrm{scale})"
                                   : R"(\mathrm{scores})";
    std::string below = spec.scale == ScaleKind::sqrt_dk ? R"(\sqrt{d_k})" : "";
    if (spec.temperature != 1.0) below += below.empty() ? R"(\tau)" : R"( \cdot \tau)";
    return below.empty() ? scores : fmt::format(R"(\frac{{{}}}{{{}}})", scores, below);
}

namespace {

/// Step computes softmax's weights; the model's run had others in some rows.
void note_replaced(const AppState& state, Explanation& explanation, Stage stage) {
    const Document& document = state.document();
    const ModelOrigin* const model = model_of(document);
    const bool of_head =
        stage == Stage::weights || stage == Stage::dropped || stage == Stage::context;
    if (model == nullptr || (!of_head && stage != Stage::output)) return;
    for (const RowIntervention& row : model->changes.rows) {
        if (row.at.layer != document.layer || row.query != explanation.cell.row) continue;
        if (of_head && row.at.head != state.head) continue;
        explanation.notes.push_back(fmt::format(
            "The model's run has other weights in row {} of head {}: here is what softmax gives, "
            "Heads shows the run's.",
            row.query, row.at.head));
    }
}

}  // namespace

Explanation explain(const AppState& state, const CellRef& cell) {
    Explanation explanation;
    explanation.cell = cell;
    explanation.name = cell_name(state, cell);
    explanation.latex = latex_name(state, cell);
    const auto value = value_at(state, cell);
    ATTN_CHECK(value, "a cell that does not exist");
    explanation.value = *value;
    const Stage* const stage = std::get_if<Stage>(&cell.tensor);
    if (stage == nullptr) {
        explain_param(state, explanation, std::get<Param>(cell.tensor));
        return explanation;
    }
    const std::string missing = missing_of(state, operands_of(state, *stage));
    if (missing.empty()) {
        explain_stage(state, explanation, *stage);
    } else {
        set_formula(explanation, std::string(info(*stage).tex));
        explain_without(state, explanation, missing);
    }
    note_replaced(state, explanation, *stage);
    return explanation;
}

}  // namespace attn::view
