#include "app/view/document/input_edits.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/view/common/json.h"
#include "app/view/common/sheet.h"

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

std::vector<ModelHead> heads_off_in(Fields& fields) {
    std::vector<ModelHead> off;
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

}  // namespace attn::view
