#include "app/workspaces/heads/compute.h"

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/heads.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/swept.h"
#include "app/common/request.h"
#include "app/common/text.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/corpus.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"

namespace attn::view {
namespace {

constexpr Index kMostOfLayer = Index{1} << 28;  // weights of one layer, which are held at once

/// A head was chosen: the same layers are there, A is compared with one after the other, and it is told what this one does.
void follow_choice(AppState& state) {
    if (!heads_look(state).chosen) return;
    HeadsLook& look = heads_look(state);
    const HeadPlace place = *std::exchange(look.chosen, std::nullopt);
    const auto previous = std::exchange(look.previous, nullptr);
    if (place != head_here(state) || state.message.severity != Severity::info) return;
    if (previous && previous->batch == state.batch) {
        look.result = previous;
        look.result_of = state.shared_document();
    }
    auto& [a, b] = look.pinned;
    if (a && b && a != place) b = place;
    const HeadFacts* const facts = has_current_heads(state) ? look.result->find(place) : nullptr;
    if (facts != nullptr)
        show_message(state, "Layer {}, head {}: {}.", place.layer, place.head, label_title(*facts));
}

/// Of the model that is open, without its interventions.
std::optional<ModelPartsRequest> asked_of_model(const AppState& state, Ablation by,
                                                const SweepAsked& asked) {
    const ModelOrigin* const model = model_of(state.document());
    if (model == nullptr) return std::nullopt;
    return ModelPartsRequest{
        {model->path, model->text, model->image, by, model->second_input, model->group},
        options_of(asked)};
}

std::optional<ModelPartsRequest> wanted_sweep(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    SweepAsked asked{look.part, {}};
    if (look.ablation == Ablation::patch) {
        if (look.from.empty()) return std::nullopt;
        asked.from = look.from;
        asked.pairs = parse_pairs(look.pairs).value_or(PairedTokens{});
    }
    return asked_of_model(state, look.ablation, asked);
}

std::optional<ModelPartsRequest> wanted_circuit(const AppState& state) {
    SweepAsked asked;
    asked.edges = heads_look(state).circuit_show == CircuitShow::edges;
    if (!asked.edges) {
        asked.circuit = head_here(state);
        asked.nearest = heads_look(state).circuit_over == CircuitOver::vocabulary;
    }
    return asked_of_model(state, Ablation::zero, asked);
}

const SweptModel* current(const std::shared_ptr<const SweptModel>& made,
                          const std::optional<ModelPartsRequest>& wanted) {
    return made && wanted && wanted->model == made->of && wanted->options == made->options
               ? made.get()
               : nullptr;
}

/// The model's reading; null: it cannot be read.
std::shared_ptr<const ModelRead> read_by(const Opener& open, const ReadModel& read,
                                         const RunControl& control) {
    if (!open) return nullptr;
    auto opened = open(OpenRequest{ModelText{read.model}, 0, options_of(read)}, control);
    return opened && opened->swept ? opened->swept->read : nullptr;
}

}  // namespace

HeadsRequest heads_request(const AppState& state) {
    return {state.shared_document(), state.backend, state.backends.data(),
            state.backends.size(),   state.batch,   heads_look(state).show == HeadShow::gradient};
}

HeadsResult compute_heads(const HeadsRequest& request, const RunControl& control) {
    return compute_heads(heads_input(*request.document),
                         {BackendList{request.backends, request.backend_count}, request.backend,
                          request.batch, request.gradients, request.only_measures},
                         control);
}

std::optional<HeadsRequest> requested_heads(const AppState& state) {
    if (state.workspace != "heads" || has_current_heads(state)) return std::nullopt;
    if (heads_missing_data(state).empty()) return heads_request(state);
    if (!has_only_measures(state) || current_measures(state) != nullptr) return std::nullopt;
    HeadsRequest request = heads_request(state);
    request.gradients = false;
    request.only_measures = true;
    return request;
}

bool has_only_measures(const AppState& state) {
    const Document& document = state.document();
    const Dimensions& size = document.size;
    const bool fits =
        size.tq <= kMostOfLayer / std::max<Index>(size.heads, 1) / std::max<Index>(size.tk, 1);
    return fits && attention_fault(document).empty() && !heads_fault(document).empty();
}

const HeadsResult* current_measures(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const bool current = look.measured && look.measured_of == state.shared_document() &&
                         look.measured->batch == state.batch && look.measured_by == state.backend;
    return current && has_only_measures(state) ? look.measured.get() : nullptr;
}

Action run(const HeadsRequest& request, const RunControl& control) {
    return HeadsReady{request.document, request.backend,
                      std::make_shared<const HeadsResult>(compute_heads(request, control))};
}

std::optional<ModelPartsRequest> requested_head_sweep(const AppState& state) {
    if (state.workspace != "heads" || heads_look(state).list != HeadsList::sweep ||
        !heads_missing_data(state).empty())
        return std::nullopt;
    return current_sweep(state) == nullptr ? wanted_sweep(state) : std::nullopt;
}

std::optional<ModelPartsRequest> requested_head_circuit(const AppState& state) {
    if (state.workspace != "heads" || heads_look(state).form != HeadForm::circuit ||
        !heads_missing_data(state).empty())
        return std::nullopt;
    return current_circuit(state) == nullptr ? wanted_circuit(state) : std::nullopt;
}

Action run(const ModelPartsRequest& request, const Opener& open, const RunControl& control) {
    SweptModel made{request.model, "no sweep was made", {}, {}, {}};
    auto opened = open ? open(OpenRequest{request.model, 0, request.options}, control)
                       : bad_input("no model can be read");
    if (opened && opened->swept) return HeadsSwept{opened->swept};
    if (!opened) made.fault = opened.error().text();
    made.options = request.options;
    return HeadsSwept{std::make_shared<const SweptModel>(std::move(made))};
}

std::optional<HeadAnswerRequest> requested_head_answer(const AppState& state) {
    const Document& document = state.document();
    const ModelOrigin* const model = model_of(document);
    if (state.workspace != "heads" || model == nullptr || !has_current_heads(state) ||
        !document.groups.empty() || document.bytes > kMostAnswerBytes ||
        document.read_out.next.empty() || is_off(document, head_here(state)))
        return std::nullopt;
    HeadAnswerRequest wanted{{*model, document.layer, heads_look(state).pair.row}};
    wanted.read.model.before.clear();
    wanted.head = head_here(state);
    const HeadAnswer* const there = heads_look(state).answer.get();
    if (there != nullptr && there->request == wanted) return std::nullopt;
    return wanted;
}

Action run(const HeadAnswerRequest& request, const Opener& open, const RunControl& control) {
    HeadAnswer made{request, {}};
    ReadModel off = request.read;
    off.model.changes.off.push_back(request.head);
    std::ranges::sort(off.model.changes.off);
    const auto with = read_by(open, request.read, control);
    const auto without = with == nullptr ? nullptr : read_by(open, off, control);
    // a model of classes answers at one token alone
    if (without && !with->answers.empty() && with->stages.row == request.read.row) {
        const ModelAnswer& best = with->answers.front();
        const auto all = probabilities(without->stages[ModelStage::logits].values());
        if (!all.empty()) {
            made.text = shown_token(best.text);
            made.ties = std::ranges::count(with->answers, best.logit, &ModelAnswer::logit) - 1;
            made.before = best.probability;
            made.after = all[static_cast<std::size_t>(best.id)];
        }
    }
    return HeadAnswerRead{std::make_shared<const HeadAnswer>(std::move(made))};
}

const HeadAnswer* current_head_answer(const AppState& state) {
    const HeadAnswer* const there = heads_look(state).answer.get();
    const bool current = there != nullptr && !there->text.empty() &&
                         !requested_head_answer(state) && model_of(state.document()) != nullptr &&
                         has_current_heads(state) && there->request.head == head_here(state) &&
                         there->request.read.row == heads_look(state).pair.row;
    return current ? there : nullptr;
}

const SweptModel* current_sweep(const AppState& state) {
    return current(heads_look(state).swept, wanted_sweep(state));
}

const SweptModel* current_circuit(const AppState& state) {
    return current(heads_look(state).circuit, wanted_circuit(state));
}

bool has_current_heads(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (!look.result || look.result_of != state.shared_document()) return false;
    if (look.result->batch != state.batch || look.result_by != state.backend) return false;
    return look.result->gradients || look.show != HeadShow::gradient;
}

void follow_heads(AppState& state) {
    follow_choice(state);
    if (state.workspace != "heads") return;
    follow_corpus(state);
    if (!heads_missing_data(state).empty()) return;
    show_image_once(state);
    if (head_cells(heads_input(state.document())) <= kAtOnceCells) {
        if (!has_current_heads(state)) run(heads_request(state), {}).carry_out(state);
        show_alignment_once(state);
    }
    follow_shown(state);
    follow_head_maps(state);
    follow_circuit(state);
}

std::span<const HeadMeasureInfo> heads_measures(const Document& document) {
    return measures_of_heads(document.effects != nullptr);
}

}  // namespace attn::view
