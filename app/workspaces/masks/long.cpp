#include "app/workspaces/masks/long.h"

#include "app/common/document/document.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/view_parts.h"
#include "core/backend.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"

namespace attn::view {
namespace {

Stage unmasked_stage(const AppState& state) {
    return stage_or_source(Stage::biased, state.document().spec);
}

/// What the scores before the mask depend on and no SpecField holds.
auto arrays_of(const AttentionSpec& spec) {
    return std::tuple(spec.heads, spec.kv_heads, spec.mask.bias,
                      spec.rope ? spec.rope->tables : nullptr);
}

/// nullopt where the trace has the scores, or they are too many.
std::optional<MaskScoresRequest> wanted_scores(const AppState& state) {
    const Document& document = state.document();
    if (state.workspace != "masks" || !masks_missing_data(state).empty()) return std::nullopt;
    if (stages_lack(document).empty() || !too_many_text(state).empty()) return std::nullopt;
    MaskScoresRequest request{document.inputs, document.spec};
    request.spec.query_offset = document.size.query_offset;  // a mask may say it
    request.spec.mask = document.spec.mask.bias_alone();
    request.spec.dropout = 0.0;
    request.spec.empty_rows = {};
    return request;
}

/// Those that are wanted; null: they are not there.
std::shared_ptr<const MaskScores> scores_there(const AppState& state) {
    const auto wanted = wanted_scores(state);
    const auto& scores = masks_look(state).scores;
    return wanted && scores && scores->of == *wanted ? scores : nullptr;
}

/// As attend() has it: forbidden pairs weigh 0, and a row without a key follows the document.
std::shared_ptr<const ConventionResult> own_stages(const AppState& state) {
    const ConventionScores scores = convention_scores(state, 1.0F);
    if (scores.scores.empty()) return nullptr;
    const bool zero = state.document().spec.empty_rows == EmptyRows::zero;
    ConventionResult own =
        result_of(scores, {.empty = zero ? EmptyResult::zero : EmptyResult::computed});
    const auto keys = static_cast<std::size_t>(scores.scores.shape().d);
    const auto weights = own.weights.values();
    for (std::size_t row = 0; row < weights.size(); row += keys) {
        const auto allowed = std::span(scores.mask).subspan(row, keys);
        if (std::ranges::count(allowed, 1) == 0) continue;
        for (std::size_t j = 0; j < keys; ++j)
            if (allowed[j] == 0) weights[row + j] = 0.0F;  // of a row of NaN too
    }
    return std::make_shared<const ConventionResult>(std::move(own));
}

}  // namespace

bool MaskScoresRequest::operator==(const MaskScoresRequest& other) const {
    return inputs == other.inputs && arrays_of(spec) == arrays_of(other.spec) &&
           std::ranges::all_of(spec_fields(), [&](const SpecField& field) {
               return same(field, spec, other.spec);
           });
}

std::optional<MaskScoresRequest> requested_mask_scores(const AppState& state) {
    auto wanted = wanted_scores(state);
    return scores_there(state) ? std::nullopt : std::move(wanted);
}

Action run(const MaskScoresRequest& request, const RunControl& control) {
    MaskScores made{request, {}, {}};
    const Stage stage = stage_or_source(Stage::biased, request.spec);
    StageSet keep;
    keep.set(index_of(stage));
    auto trace = validate(*request.inputs, request.spec).and_then([&](const Call& call) {
        return choose_backend(kAuto, call, keep).and_then([&](const Backend* backend) {
            return attend(call, *backend, keep, control);
        });
    });
    if (trace)
        made.values = std::move((*trace)[stage]);
    else
        made.fault = trace.error().text();
    return MaskScoresReady{std::make_shared<const MaskScores>(std::move(made))};
}

void carry_out(AppState& state, const MaskScoresReady& action) {
    if (action.scores && wanted_scores(state) == action.scores->of)
        masks_look(state).scores = action.scores;
}

const MasksLong* long_masks(const AppState& state) { return masks_look(state).shown.get(); }

void follow_masks(AppState& state) {
    if (state.workspace != "masks") return;
    MasksLook& look = masks_look(state);
    if (!masks_missing_data(state).empty() || !is_long(state.document())) {
        look.shown = nullptr;
        return;
    }
    const auto made = std::make_shared<MasksLong>();
    made->of = {state.shared_document(),
                state.trace,
                scores_there(state),
                state.batch,
                state.head,
                look.tab,
                look.conventions,
                look.gain};
    const auto was = look.shown;
    if (was && was->of == made->of) return;
    look.shown = made;  // what is made next looks at its stages
    const auto stages_of = [](const MasksLong::Of& of) {
        return std::tuple(of.document, of.mask_scores, of.batch, of.head);
    };
    const bool same = was && stages_of(was->of) == stages_of(made->of);
    made->own = same ? was->own : made->of.mask_scores ? own_stages(state) : nullptr;
    fill_masks(state, *made);
}

MatrixView<const float> masks_values(const AppState& state, Stage stage) {
    if (is_stored_stage(state, stage)) return sheet_of(state, stage).values;
    const MasksLong* const found = long_masks(state);
    if (found == nullptr || found->of.mask_scores == nullptr) return {};
    const Tensor& scores = found->of.mask_scores->values;
    if (stage == unmasked_stage(state) && !scores.empty())
        return scores.matrix(state.batch, state.head);
    if (found->own == nullptr) return {};
    const Tensor& own = stage == Stage::masked ? found->own->masked : found->own->weights;
    return own.matrix(0, 0);
}

MatrixView<const float> unmasked_scores(const AppState& state) {
    return masks_values(state, unmasked_stage(state));
}

}  // namespace attn::view
