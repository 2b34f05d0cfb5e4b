#include "app/workspaces/heads/view.h"
#include "tests/view/claims/screen_texts.h"

namespace attn::view {

void add_texts(ScreenTexts& texts, const HeadEdit& v) {
    texts.add_all(v.command, v.tip, v.why_not);
}

void add_texts(ScreenTexts& texts, const HeadChip& v) { texts.add(v.tooltip); }

void add_texts(ScreenTexts& texts, const AllHeadsView& v) {
    texts.add_all(v.missing_data, v.pending, v.point, v.hover_text, v.large_missing_data, v.grids,
                  v.notes);
    texts.add_all(v.legend.text, v.legend.caution, v.legend.source, v.legend.change_text,
                  v.legend.clipped_text, v.controls.count, v.controls.edits);
    if (v.scatter) texts.add_all(v.scatter->note);
    if (v.sweep) texts.add_all(v.sweep->missing_data, v.sweep->grid);
    if (v.circuit)
        texts.add_all(v.circuit->missing_data, v.circuit->grids, v.circuit->values,
                      v.circuit->text);
    if (v.circuit && v.circuit->edges) {
        texts.add_all(v.circuit->edges->legend, v.circuit->edges->undefined);
        for (const auto& node : v.circuit->edges->nodes) texts.add(node.tip);
    }
    for (const HeadLinesView& each : v.lines) texts.add_all(each.title, each.legend);
    if (v.alignment)
        texts.add_all(v.alignment->missing_data, v.alignment->lines.title,
                      v.alignment->lines.legend);
    texts.add(v.answer);
    for (const HeadTextView& each : v.texts) texts.add_all(each.title, each.legend, each.keys);
    if (v.dimensions)
        texts.add_all(v.dimensions->missing_data, v.dimensions->grid, v.dimensions->legend);
}

void add_heads_texts(ScreenTexts& texts, const AppState& state) {
    texts.add(build_all_heads_view(state));
}

}  // namespace attn::view
