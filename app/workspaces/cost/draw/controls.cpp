#include "app/workspaces/cost/draw/controls.h"

#include <algorithm>
#include <string>

#include "app/common/draw/field_controls.h"

namespace attn::ui {
namespace {

using view::CostView;

// Design units.
constexpr float kPreset = 250.0F;

void draw_presets(const CostView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"Sizes to begin with", "Of the present document, of 2³¹ weights, or of a model."};
    const auto chosen = combo(frame, "##sizes", {view.preset_names, view.preset, view.preset_shown},
                              frame.px(kPreset), tip, out);
    if (!chosen || static_cast<std::size_t>(*chosen) >= view.presets.size()) return;
    out.push_back(view::SetCostPreset{view.presets[static_cast<std::size_t>(*chosen)].key});
}

void draw_sharing(const CostView& view, const Frame& frame, view::Actions& out) {
    float width = 0.0F;
    for (const std::string& name : view.sharing_names) width += button_width(frame, name);
    flow(frame, width);
    const Tip tip{"How many heads share keys and values",
                  "MHA: none, G = H. GQA: some. MQA: all, G = 1."};
    const auto chosen = choice(frame, "sharing", view.sharing_names, view.sharing, tip);
    if (chosen)
        out.push_back(shared_heads(view.controls.sizes, static_cast<view::HeadSharing>(*chosen)));
}

void draw_field(const view::CostFieldView& field, const Frame& frame, view::Actions& out) {
    const float width = number_width(frame, field.label, std::max<Index>(field.value, 9999));
    flow(frame, width);
    const std::string id = "##" + field.label;
    const Tip tip{field.heading, field.words};
    if (const auto value = number_field(frame, id.c_str(), field.label.c_str(), field.value,
                                        field.low, field.high, width, tip, out))
        out.push_back(view::SetCostSize{field.size, *value});
}

}  // namespace

void draw_cost_controls(const CostView& view, const Frame& frame, view::Actions& out) {
    draw_presets(view, frame, out);
    draw_sharing(view, frame, out);
    field_control<view::SetCostPass>(view.controls, frame, out);
    for (const view::CostFieldView& field : view.fields) draw_field(field, frame, out);
}

}  // namespace attn::ui
