#include "app/common/document/input_edits.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/interventions.h"
#include "app/common/json.h"
#include "app/common/sheet.h"

namespace attn::view {
namespace {

nlohmann::ordered_json edit_to(const InputEdit& edit) {
    return {{"layer", edit.layer},
            {"batch", edit.batch},
            {"head", edit.head},
            {"tensor", key_of(edit.tensor)},
            {"row", edit.row},
            {"column", edit.column},
            {"value", number_to(static_cast<double>(edit.value))}};
}

InputEdit edit_from(Fields& fields, const nlohmann::json& found) {
    Fields inner(found, fields.where() + " 'edits'");
    InputEdit edit;
    double value = 0.0;
    inner.read("layer", edit.layer);
    inner.read("batch", edit.batch);
    inner.read("head", edit.head);
    const CellRef cell = cell_fields(inner);
    edit.tensor = cell.tensor;
    edit.row = cell.row;
    edit.column = cell.column;
    inner.need("value", value);
    edit.value = static_cast<float>(value);
    if (auto fine = inner.finish(); !fine) fields.complain(fine.error());
    return edit;
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

RowIntervention row_from(Fields& inner) {
    RowIntervention row;
    inner.need_index("layer", row.at.layer);
    inner.need_index("head", row.at.head);
    inner.need_index("query", row.query);
    inner.need("weights", row.weights);
    return row;
}

TextPatch patch_from_fields(Fields& inner) {
    TextPatch patch;
    std::string part;
    inner.need_index("layer", patch.at.layer);
    inner.need_index("head", patch.at.head);
    inner.need("part", part);
    inner.need("text", patch.text);
    const auto stage = find_stage(part);
    if (stage == Stage::q || stage == Stage::k || stage == Stage::v)
        patch.part = *stage;
    else
        inner.complain(fmt::format("has the part '{}': expected q, k or v", part));
    return patch;
}

/// The objects of a list, each read by `read`; nothing happens when it is missing.
template <class Read>
void read_list(Fields& fields, const char* key, Read read) {
    const nlohmann::json* const found = fields.find(key);
    if (found == nullptr) return;
    if (!found->is_array()) return fields.complain(fmt::format("has '{}' that are no list", key));
    for (const nlohmann::json& each : *found) {
        Fields inner(each, fmt::format("{} '{}'", fields.where(), key));
        read(inner);
        if (auto fine = inner.finish(); !fine) fields.complain(fine.error());
    }
}

}  // namespace

nlohmann::ordered_json edits_to(const std::vector<InputEdit>& edits) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const InputEdit& edit : edits) list.push_back(edit_to(edit));
    return list;
}

void read_edits(Fields& fields, std::vector<InputEdit>& edits) {
    const nlohmann::json* found = fields.find("edits");
    if (found == nullptr) return;
    if (!found->is_array()) return fields.complain("has 'edits' that are no list");
    for (const nlohmann::json& edit : *found) edits.push_back(edit_from(fields, edit));
}

ModelChanges changes_in(Fields& fields) {
    ModelChanges changes;
    changes.off = heads_off_in(fields);
    read_list(fields, "rows", [&](Fields& inner) { set_row(changes, row_from(inner)); });
    read_list(fields, "patches",
              [&](Fields& inner) { set_patch(changes, patch_from_fields(inner)); });
    return changes;
}

nlohmann::ordered_json rows_to(const std::vector<RowIntervention>& rows) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const RowIntervention& row : rows)
        list.push_back({{"layer", row.at.layer},
                        {"head", row.at.head},
                        {"query", row.query},
                        {"weights", numbers_to(row.weights)}});
    return list;
}

nlohmann::ordered_json patches_to(const std::vector<TextPatch>& patches) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const TextPatch& patch : patches)
        list.push_back({{"layer", patch.at.layer},
                        {"head", patch.at.head},
                        {"part", info(patch.part).key},
                        {"text", patch.text}});
    return list;
}

}  // namespace attn::view
