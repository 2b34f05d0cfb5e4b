#include "app/workspaces/masks/long.h"

#include <algorithm>
#include <utility>

#include "app/common/sheet.h"
#include "app/workspaces/masks/state.h"
#include "app/workspaces/masks/workspace.h"
#include "core/backend.h"
#include "core/engine.h"

namespace attn::view {
namespace {

Stage unmasked_stage(const AppState& state) {
    return stage_or_source(Stage::biased, state.document().spec);
}

/// The stages of the mask where the document's trace has none, being of too many pairs for all of them.
std::shared_ptr<const Trace> own_stages(const AppState& state) {
    const Document& document = state.document();
    const Dimensions& size = document.size;
    if (stages_lack(document).empty()) return nullptr;
    if (size.batch * size.heads * size.tq * size.tk > kMostStagedPairs) return nullptr;
    StageSet keep;
    for (const Stage stage : {unmasked_stage(state), Stage::masked, Stage::weights})
        keep.set(index_of(stage));
    auto trace = attend(*document.inputs, document.spec, kAuto, keep);
    return trace ? std::make_shared<const Trace>(*std::move(trace)) : nullptr;
}

}  // namespace

bool MasksLong::operator==(const MasksLong& other) const {
    return document == other.document && trace == other.trace && batch == other.batch &&
           head == other.head && tab == other.tab && conventions == other.conventions &&
           gain == other.gain;
}

const MasksLong* long_masks(const AppState& state) { return masks_look(state).shown.get(); }

void follow_masks(AppState& state) {
    if (state.workspace != "masks") return;
    MasksLook& look = masks_look(state);
    if (!masks_lacks(state).empty() || !is_long(state.document())) {
        look.shown = nullptr;
        return;
    }
    const auto made = std::make_shared<MasksLong>(MasksLong{state.shared_document(),
                                                            state.trace,
                                                            state.batch,
                                                            state.head,
                                                            look.tab,
                                                            look.conventions,
                                                            look.gain,
                                                            nullptr,
                                                            nullptr,
                                                            {},
                                                            {},
                                                            {}});
    if (look.shown && *look.shown == *made) return;
    const bool same =
        look.shown && look.shown->document == made->document && look.shown->trace == made->trace;
    made->own = same ? look.shown->own : own_stages(state);
    look.shown = made;  // what is made next looks at its stages
    fill_masks(state, *made);
}

MatrixView<const float> masks_values(const AppState& state, Stage stage) {
    if (is_kept(state, stage)) return sheet_of(state, stage).values;
    const MasksLong* const found = long_masks(state);
    if (found == nullptr || found->own == nullptr) return {};
    const Tensor& tensor = (*found->own)[stage];
    return tensor.empty() ? MatrixView<const float>{} : tensor.matrix(state.batch, state.head);
}

MatrixView<const float> unmasked_scores(const AppState& state) {
    return masks_values(state, unmasked_stage(state));
}

}  // namespace attn::view
