#include "app/common/json.h"

#include <fmt/format.h>

#include "app/common/sheet.h"
#include "core/text.h"

namespace attn::view {

nlohmann::ordered_json cell_to(const CellRef& cell) {
    return {{"tensor", key_of(cell.tensor)}, {"row", cell.row}, {"column", cell.column}};
}

CellRef cell_from(Fields& fields, std::string_view key, const nlohmann::json& found) {
    Fields inner(found, fmt::format("{} '{}'", fields.where(), key));
    const CellRef cell = cell_fields(inner);
    if (auto fine = inner.finish(); !fine) fields.complain(fine.error());
    return cell;
}

CellRef cell_fields(Fields& inner) {
    CellRef cell;
    std::string tensor;
    inner.need("tensor", tensor);
    inner.need_index("row", cell.row);
    inner.need_index("column", cell.column, -kMostIndex);  // below 0: another head's, see Sheet
    if (const auto id = find_operand(tensor))
        cell.tensor = *id;
    else
        inner.complain(
            fmt::format("has the unknown tensor '{}': expected a stage or a weight, "
                        "such as x, scores or w_q",
                        shortened(tensor)));
    if (cell.column < 0 && cell.tensor != OperandId(Stage::context))
        inner.complain(fmt::format("has 'column' = {}: expected 0 or more", cell.column));
    return cell;
}

void read_stage(Fields& fields, std::string_view key, Stage& stage) {
    std::vector<std::string_view> names;
    for (const StageInfo& row : stage_table()) names.push_back(row.key);
    fields.read_name(key, stage, names);
}

nlohmann::ordered_json map_to(const large::PlantedSpec& spec) {
    return {{"tokens", spec.tokens},       {"d_k", spec.d_k},       {"seed", spec.seed},
            {"band", spec.band},           {"sink", spec.sink},     {"induction", spec.induction},
            {"documents", spec.documents}, {"needle", spec.needle}, {"causal", spec.causal}};
}

void map_from(Fields& fields, std::string_view key, large::PlantedSpec& spec) {
    read_object(fields, key, [&](Fields& inner) {
        inner.read("tokens", spec.tokens);
        inner.read("d_k", spec.d_k);
        inner.read("seed", spec.seed);
        inner.read("band", spec.band);
        inner.read("sink", spec.sink);
        inner.read("induction", spec.induction);
        inner.read("documents", spec.documents);
        inner.read("needle", spec.needle);
        inner.read("causal", spec.causal);
        if (auto fine = large::check_planted(spec); !fine)
            inner.complain(": " + fine.error().sentence);
    });
}

}  // namespace attn::view
