#include "app/workspaces/lookup/view.h"

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/text.h"

namespace attn::view {
namespace {

std::string capacity_status(const AppState& state) {
    const CapacityCurves& curves = capacity_curves(state);
    if (!curves.points || curves.of != lookup_controls(state).capacity) return "computing…";
    const std::string text = fmt::format("{} draws × {} pairs × {} widths", curves.of.draws,
                                         curves.of.pairs, curves.points->size());
    return curves.elapsed_ms > 0.0 ? fmt::format("{} in {:.0f} ms", text, curves.elapsed_ms) : text;
}

}  // namespace

LookupView build_lookup_view(const AppState& state) {
    LookupView view;
    view.page = lookup_look(state).page;
    for (std::size_t n = 0; n < kLookupPageCount; ++n)
        view.page_names.push_back(page_title(static_cast<LookupPage>(n)));
    switch (view.page) {
        case LookupPage::memory:
            view.memory = build_memory_view(state);
            view.status = counted(lookup_controls(state).pairs.size(), "pair") + ", float64";
            break;
        case LookupPage::capacity:
            view.capacity = build_capacity_view(state);
            view.status = job_status_text(state, "capacity", capacity_status(state));
            break;
        case LookupPage::similarity:
            view.similarity = build_similarity_view(state);
            break;
        case LookupPage::alignment:
            view.alignment = build_alignment_view(state);
            break;
        case LookupPage::permutation:
            view.permutation = build_permutation_view(state);
            if (const auto& result = lookup_look(state).permutation;
                result && result->fault.empty())
                view.status = fmt::format("two passes, {}", result->backend);
            break;
    }
    return view;
}

}  // namespace attn::view
