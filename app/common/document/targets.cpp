#include "app/common/document/targets.h"

namespace attn::view {
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

}  // namespace attn::view
