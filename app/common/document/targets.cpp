#include "app/common/document/targets.h"

#include <algorithm>
#include <cmath>

namespace attn::view {
namespace {

Target target_from(Fields& fields, const nlohmann::json& found) {
    Fields inner(found, fields.where() + " 'targets'");
    Target target;
    double value = 0.0;
    inner.read_index("batch", target.cell.batch);
    inner.need_index("row", target.cell.row);
    inner.need_index("column", target.cell.column);
    inner.need("value", value);
    target.value = static_cast<float>(value);
    if (!std::isfinite(target.value)) inner.complain("has a 'value' that is no finite float");
    if (auto fine = inner.finish(); !fine) fields.complain(fine.error());
    return target;
}

}  // namespace

void set_target(Document& document, const OutputCell& cell, float value) {
    std::erase_if(document.targets, [&](const Target& target) { return target.cell == cell; });
    if (value != 0.0F) document.targets.push_back({cell, value});
}

bool has_output(const Document& document, const OutputCell& cell) {
    const Dimensions& size = document.size;
    return cell.batch >= 0 && cell.batch < size.batch && cell.row >= 0 && cell.row < size.tq &&
           cell.column >= 0 && cell.column < size.d_out;
}

const Tensor* given_gradient(const Document& document) {
    const auto layer = static_cast<std::size_t>(document.layer);
    if (layer >= document.d_output.size() || !document.d_output[layer]) return nullptr;
    const Dimensions& size = document.size;
    const Tensor& gradient = *document.d_output[layer];
    return gradient.shape() == Shape{size.batch, 1, size.tq, size.d_out} ? &gradient : nullptr;
}

void keep_targets_inside(Document& document) {
    std::erase_if(document.targets,
                  [&](const Target& target) { return !has_output(document, target.cell); });
}

nlohmann::ordered_json targets_to(const std::vector<Target>& targets) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Target& target : targets)
        list.push_back({{"batch", target.cell.batch},
                        {"row", target.cell.row},
                        {"column", target.cell.column},
                        {"value", target.value}});
    return list;
}

void read_targets(Fields& fields, std::vector<Target>& targets) {
    const nlohmann::json* found = fields.find("targets");
    if (found == nullptr) return;
    if (!found->is_array()) return fields.complain("has 'targets' that are no list");
    for (const nlohmann::json& each : *found) targets.push_back(target_from(fields, each));
}

}  // namespace attn::view
