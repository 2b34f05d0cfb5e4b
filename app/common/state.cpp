#include "app/common/state.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/loss.h"
#include "app/common/document/toy.h"
#include "app/common/sheet.h"
#include "app/common/text.h"
#include "app/common/workspace.h"
#include "core/backend.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/stages.h"
#include "core/stopwatch.h"
#include "core/trace.h"

namespace attn::view {
namespace {

constexpr std::string_view kFirstSentence = "The cat sat down";

Document seeded_first_document() {
    return make_document(kFirstSentence, 4, 4, 1, 1, AttentionSpec{}).value();
}

struct Backward {
    std::string_view backend;
    Gradients gradients;
};

/// By `backend`, or by "auto" where that one computes none.
Result<Backward> gradients_by(const AppState& state, const Call& call,
                              const std::shared_ptr<const Trace>& trace, const Backend& backend) {
    const auto backward = backend.has_backward()
                              ? Result<const Backend*>(&backend)
                              : choose_backend(kAuto, call, held_stages(*trace), state.backends);
    if (!backward) return tl::unexpected(backward.error());
    const auto compute = [document = state.shared_document(), trace, by = *backward,
                          upstream = upstream_of(state, *trace)] {
        return attend_backward(*document->inputs, document->spec, *trace, upstream, *by);
    };
    const Backward made{(*backward)->name(), Gradients(compute)};
    if (state.show_gradients)
        if (auto done = made.gradients.compute(); !done) return tl::unexpected(done.error());
    return made;
}

struct Computed {
    std::string_view backend;
    std::shared_ptr<const Trace> trace;
    Backward backward;
};

Result<Computed> compute_by(const AppState& state, std::string_view name) {
    const Result<Call> call = validate(*state.document().inputs, state.document().spec);
    if (!call) return tl::unexpected(call.error());
    const auto backend = choose_backend(name, *call, all_stages(), state.backends);
    if (!backend) return tl::unexpected(backend.error());
    auto made = attend(*call, **backend);
    if (!made) return tl::unexpected(made.error());
    const auto trace = std::make_shared<const Trace>(*std::move(made));
    return gradients_by(state, *call, trace, **backend).map([&](Backward&& backward) {
        return Computed{(*backend)->name(), trace, std::move(backward)};
    });
}

/// Who computes while the window waits.
std::string_view prompt_backend(const AppState& state) {
    const Backend* const chosen = find_backend(state.backend, state.backends);
    return chosen != nullptr && chosen->has_device() ? kAuto : state.backend;
}

}  // namespace

Result<void> compute(AppState& state) {
    const Document& document = state.document();
    state.device_document.reset();
    if (!stages_lack(document).empty()) {
        state.trace = std::make_shared<const Trace>();
        state.gradients = {};
        state.trace_ms = 0.0;
        state.backend_used = state.gradients_by = "";
        return {};
    }
    const Stopwatch watch;
    auto computed = compute_by(state, prompt_backend(state));
    if (!computed && computed.error().kind == ErrorKind::failure) {
        const std::string why = computed.error().text();
        computed = compute_by(state, kAuto);
        if (computed) state.backend = kAuto, state.backend_failure = why;
    }
    if (!computed) return tl::unexpected(computed.error());
    const double elapsed_ms = watch.ms();
    state.trace = std::move(computed->trace);
    state.gradients = std::move(computed->backward.gradients);
    state.trace_ms = elapsed_ms;
    state.backend_used = computed->backend;
    state.gradients_by = computed->backward.backend;
    return {};
}

Result<void> compute_gradients(AppState& state) {
    const Backend* const backend = find_backend(state.backend_used, state.backends);
    if (backend == nullptr) return {};  // nothing is computed
    const Result<Call> call = validate(*state.document().inputs, state.document().spec);
    if (!call) return tl::unexpected(call.error());
    auto backward = gradients_by(state, *call, state.trace, *backend);
    if (!backward) return tl::unexpected(backward.error());
    state.gradients = std::move(backward->gradients);
    state.gradients_by = backward->backend;
    return {};
}

Result<AppState> state_of(Document document) {
    AppState state;
    state.presets = list_presets();
    state.tours = list_tours();
    state.sentence_draft = text_of(document);
    auto sized = with_size(std::move(document));
    if (!sized) return tl::unexpected(sized.error());
    state.history.emplace_back().document = std::make_shared<const Document>(*std::move(sized));
    return compute(state).map([&] {
        clamp_to_document(state);
        return std::move(state);
    });
}

AppState initial_state() {
    std::string warning;
    Result<AppState> state = load_preset(kFirstPreset).and_then(state_of);
    if (!state) {
        warning = fmt::format("The first preset cannot be opened, so seeded weights are shown: {}",
                              state.error().text());
        state = state_of(seeded_first_document());
    }
    state->message = warning.empty() ? Message{fmt::format("{}. {}", state->document().title,
                                                           sentence(state->document().note))}
                                     : Message{warning, Severity::warning};
    return *std::move(state);
}

std::vector<Stage> ribbon_stages(const Document& document) {
    const Inputs& in = *document.inputs;
    const bool toy = is_toy(document);
    std::vector<Stage> stages;
    for (const StageInfo& stage : stage_table()) {
        if (stage.stage == Stage::x && !toy && !in.projects()) continue;
        if (stage.stage == Stage::x_kv && in.x_kv.empty()) continue;
        if (stage_or_source(stage.stage, document.spec) != stage.stage) continue;
        stages.push_back(stage.stage);
    }
    return stages;
}

const Slots& look_slots(const AppState& state) { return state.looks; }
Slots& look_slots(AppState& state) { return state.looks; }
const Slots& control_slots(const AppState& state) { return state.history[state.now].controls; }

Index AppState::head_in(HeadAxis axis) const { return view::head_in(document().size, axis, head); }

double shown_scale(const AppState& state, double height) {
    constexpr double kPresentedHeight = 540.0;  // design units
    constexpr double kSteps = 4.0;              // of a unit: fonts are not loaded at every size
    if (!state.presenter) return state.ui_scale;
    return std::clamp(std::floor(height / kPresentedHeight * kSteps) / kSteps, 1.0, 2.0);
}

bool is_animating(const AppState& state) { return shown_workspace(state).is_animating(state); }

}  // namespace attn::view
