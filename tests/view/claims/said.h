#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/common/workspace.h"
#include "app/workspaces/compare/view.h"
#include "app/workspaces/cost/view.h"
#include "app/workspaces/exercises/view.h"
#include "app/workspaces/generate/view.h"
#include "app/workspaces/gradients/view.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/kinds/online.h"
#include "app/workspaces/kinds/view.h"
#include "app/workspaces/large/view.h"
#include "app/workspaces/learn/view.h"
#include "app/workspaces/lookup/view.h"
#include "app/workspaces/masks/view.h"
#include "app/workspaces/model/view.h"
#include "app/workspaces/numerics/view.h"
#include "app/workspaces/positions/view.h"
#include "app/workspaces/saturation/view.h"
#include "app/workspaces/step/heads.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/sentence.h"
#include "app/workspaces/step/view.h"
#include "app/workspaces/tensors/view.h"
#include "app/workspaces/verify/view.h"
#include "tests/view/claims/claims.h"

namespace attn::view {

/// Every text that a state says where it is shown, but for labels, formulas and numbers alone: headlines, muted lines,
/// notes, tooltips, legends, the inspector, the bottom line.
class ScreenTexts {
  public:
    explicit ScreenTexts(const AppState& state) {
        if (state.message.severity == Severity::info) add(state.message.text);
        add(shown_workspace(state).missing_data(state));
        if (shown_workspace(state).missing_data(state).empty()) add_shown(state);
        add(shown_workspace(state).inspector(state));
        add(shown_workspace(state).reasons(state));
        std::vector<Command> list;
        shown_workspace(state).add_commands(list, state);
        for (const Command& each : list) add(each.why_not);
    }
    std::vector<std::string> texts;

  private:
    template <class... T>
    void all(const T&... each) {
        (add(each), ...);
    }
    void add(const std::string& text) {
        if (text.find(' ') != std::string::npos) texts.push_back(text);
    }
    void add(std::string_view text) { add(std::string(text)); }
    template <class T>
    void add(const std::vector<T>& list) {
        for (const T& each : list) add(each);
    }
    template <class T, std::size_t N>
    void add(const std::array<T, N>& list) {
        for (const T& each : list) add(each);
    }
    template <class T>
    void add(const std::optional<T>& maybe) {
        if (maybe) add(*maybe);
    }

    // ---- shared
    void add(const Piece& v) { add(v.text); }
    void add(const Line& v) {
        std::string text;
        for (const Piece& each : v.pieces) text += each.text;
        add(v.label.empty() ? text : v.label + ": " + text);
    }
    void add(const InspectorView& v) {
        all(v.hint, v.lines, v.geometry, v.gradient, v.edit_hint);
        if (v.table) all(v.table->title);
    }
    void add(const SideVector& v) { all(v.tooltip, v.cell_tips); }
    void add(const GridView& v) { all(v.title, v.tooltip, v.action, v.legend, v.sides); }
    void add(const CurveView& v) { add(v.label); }
    void add(const PlotMark& v) { add(v.text); }
    void add(const PlotLevel& v) { add(v.text); }
    void add(const PlotView& v) { all(v.title, v.tooltip, v.curves, v.marks, v.levels); }
    void add(const Readout& v) { add(v.tooltip); }

    // ---- of one workspace
    void add(const RibbonItem& v) { add(v.tooltip); }
    void add(const RowReadouts& v) { add(v.readouts); }
    void add(const WordChip& v) { add(v.tooltip); }
    void add(const HeadPicture& v) { add(v.tooltip); }
    void add(const FlashView& v) { add(v.text); }
    void add(const PredictView& v) { all(v.question, v.total, v.notes); }
    void add(const StepView& v) {
        all(v.ribbon, v.text, v.read_out, v.hint, v.unavailable, v.operands, v.result, v.rows,
            v.flash);
        all(v.controls.badge, v.controls.window_text, v.controls.heads_text);
        std::string headline;
        for (const HeadlinePart& part : v.headline) headline += part.text;
        if (!headline.empty()) add("Headline: " + headline);
        add(v.headline_tip);
    }
    void add(const SentenceView& v) { all(v.queries.chips, v.keys.chips, v.text); }
    void add(const CompareView& v) {
        all(v.missing_data, v.point, v.point_b, v.grids, v.pins, v.reach.missing_data,
            v.reach.title);
        for (const ReachLine& each : v.reach.lines) all(each.text, each.tip);
    }
    void add(const CostView& v) {
        all(v.sentence, v.note, v.notes, v.plot, v.measure.text, v.status);
        for (const CostCardView& each : v.cards) all(each.title, each.limit, each.tooltip);
        for (const CostFieldView& each : v.fields) add(each.text);
        for (const CostTimeView& each : v.measure.times) all(each.ratio, each.tooltip);
    }
    void add(const HeadEdit& v) { all(v.command, v.tip, v.why_not); }
    void add(const HeadChip& v) { add(v.tooltip); }
    void add(const AllHeadsView& v) {
        all(v.missing_data, v.pending, v.point, v.hover_text, v.large_missing_data, v.grids,
            v.notes);
        all(v.legend.text, v.legend.caution, v.legend.source, v.legend.change_text,
            v.legend.clipped_text, v.controls.count, v.controls.edits);
        if (v.scatter) all(v.scatter->note);
        if (v.sweep) all(v.sweep->missing_data, v.sweep->grid);
        if (v.circuit)
            all(v.circuit->missing_data, v.circuit->grids, v.circuit->values, v.circuit->text);
        if (v.circuit && v.circuit->edges) {
            all(v.circuit->edges->legend, v.circuit->edges->undefined);
            for (const auto& node : v.circuit->edges->nodes) add(node.tip);
        }
        for (const HeadLinesView& each : v.lines) all(each.title, each.legend);
        if (v.alignment)
            all(v.alignment->missing_data, v.alignment->lines.title, v.alignment->lines.legend);
        add(v.answer);
        for (const HeadTextView& each : v.texts) all(each.title, each.legend, each.keys);
        if (v.dimensions) all(v.dimensions->missing_data, v.dimensions->grid, v.dimensions->legend);
    }
    void add(const KindChoice& v) { add(v.tooltip); }
    void add(const KindSideView& v) { all(v.text, v.fault, v.choices, v.weights); }
    void add(const OnlineKey& v) { add(v.tooltip); }
    void add(const OnlineView& v) {
        all(v.fault, v.heading, v.sentence, v.keys, v.state, v.result, v.result_text, v.memory);
    }
    void add(const KindsView& v) {
        all(v.missing_data, v.sentence, v.note, v.a, v.b, v.difference, v.outputs);
        for (const KindRow& each : v.rows) {
            all(each.tooltip, each.between);
            for (const auto& [side, text] : {std::pair("A", each.a), std::pair("B", each.b)})
                if (text.find(' ') != text.npos)
                    add(std::string(side) + ", " + each.label + ": " + text);
        }
    }
    void add(const LargeView& v) {
        all(v.hint, v.fault, v.title, v.quality, v.hover_text, v.legend.title, v.legend.nan,
            v.legend.note, v.pass.text, v.pass.detail, v.roofline.text, v.roofline.tooltip,
            v.not_finite, v.picture_tip, v.needle_reason, v.top_title, v.found_title, v.inspector,
            v.bottom_line);
    }
    void add(const LookupGridsView& v) { all(v.missing_data, v.point, v.notes, v.grids); }
    void add(const LookupView& v) {
        all(v.memory.point, v.memory.notes, v.memory.numbers, v.capacity.point, v.capacity.notes,
            v.capacity.interference, v.capacity.error, v.capacity.near_cosine, v.similarity.body,
            v.alignment.body, v.permutation.body, v.status);
        for (const AlignmentRowView& each : v.alignment.rows) add(each.tooltip);
        for (const PlanePointView& each : v.memory.keys) add(each.tooltip);
        for (const PlanePointView& each : v.memory.values) add(each.tooltip);
    }
    void add(const SwitchView& v) { all(v.text, v.count, v.possible, v.tip); }
    void add(const ConventionView& v) { all(v.verdict, v.tip); }
    void add(const MasksView& v) {
        all(v.point, v.unavailable, v.grids, v.hover_text, v.notes, v.switches);
        for (const ConventionGroup& group : v.groups) add(group.rows);
    }
    void add(const NumericsView& v) {
        all(v.sentence, v.note, v.why, v.status);
        for (const NumericsColumn& each : v.columns) all(each.breaks, each.plot);
        for (const NumericsFormatRow& each : v.rows) add(each.tooltip);
        for (const auto& row : v.cells)
            for (const NumericsCellView& each : row) all(each.text, each.cause);
    }
    void add(const GenerateView& v) {
        all(v.pending, v.headline, v.muted, v.rest, v.strip, v.cache, v.cache_formula, v.lens_title,
            v.paths_title);
    }
    void add(const ModelView& v) {
        all(v.missing_data, v.headline, v.muted, v.notes, v.status, v.grid);
        for (const KnownModelRow& row : v.known) add(row.tip);
        for (const ModelRow& row : v.rows) {
            add(row.tip);
            for (const ModelBar& bar : row.bars) add(bar.tip);
        }
    }
    void add(const PositionsView& v) { all(v.sentence, v.muted, v.note, v.hero); }
    // ---- the three that say why
    void named(const char* what, const std::string& text) {
        if (!text.empty()) add(fmt::format("{}: {}", what, text));
    }
    void add(const GradientTab& v) { all(v.text, v.tooltip, v.plot); }
    void add(const GradientNumber& v) { add(v.tooltip); }
    void add(const GradientsOverWidth& v) {
        all(v.sentence, v.note, v.closing, v.tabs);
        if (!v.ready) return;
        all(v.plot, v.dead_text, v.dead_scaled, v.medians, v.means, v.none, v.strip_text);
        named("Between the medians", v.lost);
        named("Change of the median", v.typical);
        named("Rows with almost no gradient, with", v.none.scaled);
        named("Rows with almost no gradient, without", v.none.unscaled);
    }
    void add(const ComparedNumber& v) { all(v.formula, v.tooltip); }
    void add(const BarView& v) { add(v.tooltip); }
    void add(const SaturationSideView& v) { all(v.bars, v.rounding_note, v.note, v.jacobian); }
    void add(const StopView& v) { add(v.tooltip); }
    void add(const HeroView& v) {
        all(v.plot, v.headline, v.headline_range, v.stops, v.stops_caption);
        named("Between the curves", v.gap_label);
    }
    void add(const SaturationView& v) {
        all(v.model_text, v.sentence, v.note, v.status);
        if (v.gradients) return add(*v.gradients);
        all(v.hero, v.plots, v.table.caption, v.table.rows, v.table.rule, v.row_caption, v.scaled,
            v.unscaled, v.details.sentence, v.details.caption, v.details.rows, v.details.raw);
        if (v.table.scaled) named("Softmax with scaling", v.table.scaled->text);
        if (v.table.unscaled) named("Softmax without scaling", v.table.unscaled->text);
    }
    void add(const CompetitionToken& v) { add(v.tip); }
    void add(const CompetitionView& v) {
        all(v.missing_data, v.title, v.formula, v.sum, v.why, v.tokens);
    }
    void add(const GradientsView& v) {
        all(v.missing_data, v.point, v.notes, v.badge, v.badge_tip, v.competition, v.grids,
            v.status);
    }
    void add(const LearnFieldView& v) { add(v.tip); }
    void add(const LearnView& v) {
        all(v.point, v.notes, v.missing_data, v.experiment_names, v.progress, v.plots, v.maps,
            v.map_text, v.sentence_hint, v.fields, v.lines.summary, v.lines.answer, v.lines.unknown,
            v.lines.progress);
    }
    void add(const ExercisesView& v) {
        all(v.missing_data, v.status);
        for (const ExercisesView::Question& each : v.questions)
            if (each.checked) add(each.checked->text);
    }
    void add(const TensorsView& v) {
        all(v.point, v.reason, v.question, v.empty, v.unused);
        for (const TensorLine& each : v.lines) add(each.cells);
        for (const TensorHead& each : v.heads) add(each.tip);
        if (v.detail) all(v.detail->lines, v.detail->pending);
    }
    void add(const VerifyView& v) {
        all(v.missing_data, v.point, v.blocks, v.status, v.grid);
        for (const Finding& each : v.findings) add(each.text);
        for (const CheckedPart& each : v.heads) add(each.text);
        for (const CheckedPart& each : v.rows) add(each.text);
    }

    void add_shown(const AppState& state) {
        const std::string_view key = state.workspace;
        if (key == "step")
            all(build_step_view(state), build_sentence_view(state), build_heads_view(state).heads,
                build_predict_view(state));
        if (key == "compare") add(build_compare_view(state));
        if (key == "cost") add(build_cost_view(state, kClaimMemory));
        if (key == "exercises") add(build_exercises_view(state));
        if (key == "generate") add(build_generate_view(state));
        if (key == "gradients") add(build_gradients_view(state));
        if (key == "heads") add(build_all_heads_view(state));
        if (key == "kinds") all(build_kinds_view(state), build_online_view(state));
        if (key == "large") add(build_large_view(state));
        if (key == "learn") add(build_learn_view(state));
        if (key == "lookup") add(build_lookup_view(state));
        if (key == "masks") add(build_masks_view(state));
        if (key == "model") add(build_model_view(state));
        if (key == "numerics") add(build_numerics_view(state));
        if (key == "positions") add(build_positions_view(state));
        if (key == "saturation") add(build_saturation_view(state));
        if (key == "tensors") add(build_tensors_view(state));
        if (key == "verify") add(build_verify_view(state));
    }
};

}  // namespace attn::view
