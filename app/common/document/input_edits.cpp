#include "app/common/document/input_edits.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/describe_json.h"
#include "app/common/document/document.h"
#include "app/common/document/interventions.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr About kNeeded{.needed = true};
constexpr About kPlace{.low = 0.0, .high = static_cast<double>(kMostIndex), .needed = true};

void describe_float(Visitor& visit, float& value) {
    double number = value;
    visit("value", number, kNeeded);
    value = static_cast<float>(number);
}

std::vector<HeadPlace> heads_off_in(Fields& fields) {
    std::vector<HeadPlace> off;
    const nlohmann::json* const found = fields.find("off");
    if (found == nullptr) return off;
    const auto is_pair = [](const nlohmann::json& pair) {
        return pair.is_array() && pair.size() == 2 && pair[0].is_number_integer() &&
               pair[1].is_number_integer();
    };
    if (!found->is_array() || !std::ranges::all_of(*found, is_pair)) {
        fields.complain(
            fmt::format("has 'off' = {}: expected a list of [layer, head]", quoted(*found)));
        return off;
    }
    for (const nlohmann::json& pair : *found)
        off.push_back({pair[0].get<Index>(), pair[1].get<Index>()});
    std::ranges::sort(off);
    const auto twice = std::ranges::unique(off);
    off.erase(twice.begin(), twice.end());
    return off;
}

}  // namespace

void describe(Visitor& visit, InputEdit& edit) {
    CellRef cell{edit.tensor, edit.row, edit.column};
    visit("layer", edit.layer);
    visit("batch", edit.batch);
    visit("head", edit.head);
    describe(visit, cell);
    describe_float(visit, edit.value);
    edit.tensor = cell.tensor;
    edit.row = cell.row;
    edit.column = cell.column;
}

void describe(Visitor& visit, BiasStroke& stroke) {
    visit("layer", stroke.layer, {.low = kPlace.low, .high = kPlace.high});
    visit("batch", stroke.batch, {.low = kPlace.low, .high = kPlace.high});
    visit("head", stroke.head, {.low = kPlace.low, .high = kPlace.high});
    visit("row", stroke.row, kPlace);
    visit("column", stroke.column, kPlace);
    visit("to_row", stroke.to_row, kPlace);
    visit("to_column", stroke.to_column, kPlace);
    visit("rectangle", stroke.rectangle);
    describe_float(visit, stroke.value);
}

void describe(Visitor& visit, Target& target) {
    visit("batch", target.cell.batch, {.low = kPlace.low, .high = kPlace.high});
    visit("row", target.cell.row, kPlace);
    visit("column", target.cell.column, kPlace);
    describe_float(visit, target.value);
    if (!std::isfinite(target.value)) visit.complain("has 'value': expected a finite float");
}

void describe(Visitor& visit, RowIntervention& row) {
    visit("layer", row.at.layer, kPlace);
    visit("head", row.at.head, kPlace);
    visit("query", row.query, kPlace);
    visit("weights", row.weights, kNeeded);
}

void describe(Visitor& visit, TextPatch& patch) {
    std::string part(visit.reads() ? "" : info(patch.part).key);
    visit("layer", patch.at.layer, kPlace);
    visit("head", patch.at.head, kPlace);
    visit("part", part, kNeeded);
    visit("text", patch.text, kNeeded);
    const auto stage = find_stage(part);
    if (stage == Stage::q || stage == Stage::k || stage == Stage::v)
        patch.part = *stage;
    else
        visit.complain(fmt::format("has the part '{}': expected q, k or v", part));
}

ModelChanges changes_in(Fields& fields) {
    ModelChanges changes;
    changes.off = heads_off_in(fields);
    read_each(fields, "rows", [&](Visitor& visit) {
        RowIntervention row;
        describe(visit, row);
        set_row(changes, std::move(row));
    });
    read_each(fields, "patches", [&](Visitor& visit) {
        TextPatch patch;
        describe(visit, patch);
        set_patch(changes, std::move(patch));
    });
    return changes;
}

}  // namespace attn::view
