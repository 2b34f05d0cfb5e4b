#include "app/workspaces/numerics/draw/controls.h"

#include <string>

#include <fmt/format.h>

#include "app/common/draw/field_controls.h"
#include "app/common/draw/list_field.h"
#include "app/common/draw/widgets.h"
#include "app/common/logits.h"

namespace attn::ui {
namespace {

using view::NumericsView;

// Design units.
constexpr float kRow = 172.0F;

void draw_rows(const NumericsView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"The row of logits",
                  "Rows that show one thing each, or the row of the document "
                  "that Step looks at."};
    const auto chosen = combo(frame, "##row", {view.row_names, view.row_choice, view.row_shown},
                              frame.px(kRow), tip, out);
    if (chosen) out.push_back(view::chosen_row(static_cast<std::size_t>(*chosen)));
}

/// The old logits stay where what was typed is no list of numbers.
void draw_logits(const NumericsView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"the logits x, one for each key",
                  "Click to type numbers with commas between them; inf, -inf and nan are numbers "
                  "here."};
    const auto text = list_field(frame, "logits", "x", view.logits, tip, out);
    if (!text || *text == view.logits) return;
    auto logits = view::typed_logits(*text, view::Logits::any);
    if (logits) return out.push_back(view::SetNumericsLogits{*std::move(logits)});
    out.push_back(
        view::Notify{{fmt::format("{}; the logits stay as they are", logits.error().sentence),
                      view::Severity::error}});
}

}  // namespace

void draw_numerics_controls(const NumericsView& view, const Frame& frame, view::Actions& out) {
    draw_rows(view, frame, out);
    draw_logits(view, frame, out);
    field_control<view::SetNumericsGain>(view.controls, frame, out);
}

}  // namespace attn::ui
