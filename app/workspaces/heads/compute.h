#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/common/action.h"
#include "app/common/document/model_read.h"
#include "app/common/document/opened.h"
#include "app/common/opener.h"
#include "core/heads/all.h"

namespace attn::view {

struct Document;
struct SweptModel;

// When the heads are computed, and of what.

/// Up to so many weights are computed at once with the action that asks for them: no more than the trace of a toy, which
/// comes so too. More are a request (requests.h of app/window).
inline constexpr Index kAtOnceCells = Index{1} << 16;

/// All that the result depends on.
struct HeadsRequest {
    std::shared_ptr<const Document> document;
    std::string backend;
    const Backend* const* backends = nullptr;  // who may compute
    std::size_t backend_count = 0;
    Index batch = 0;
    bool gradients = false;      // of the weights, which take a backward pass
    bool only_measures = false;  // the weights are too many to hold
    bool operator==(const HeadsRequest&) const = default;
};
/// Of the shown document and settings.
HeadsRequest heads_request(const AppState& state);
HeadsResult compute_heads(const HeadsRequest& request, const RunControl& control = {});
/// nullopt while the workspace is not shown, or its heads are up to date.
std::optional<HeadsRequest> requested_heads(const AppState& state);
/// Whether there are more weights than are held: the heads have measures and no pictures.
bool has_only_measures(const AppState& state);
/// Those measures; null: not computed yet.
const HeadsResult* current_measures(const AppState& state);
/// HeadsReady. Stops between layers, and within one where its backend can.
Action run(const HeadsRequest& request, const RunControl& control);

/// A sweep over the parts of the model that is open, or a look at one of its heads.
struct ModelPartsRequest {
    SweepModel model;
    std::string options;  // options_of()
    bool operator==(const ModelPartsRequest&) const = default;
};
/// nullopt while no sweep is shown, or it is up to date, or the document is no model's, or a patch has no text.
std::optional<ModelPartsRequest> requested_head_sweep(const AppState& state);
/// The same of the circuit of the shown head, or of the edges of the model.
std::optional<ModelPartsRequest> requested_head_circuit(const AppState& state);
/// HeadsSwept.
Action run(const ModelPartsRequest& request, const Opener& open, const RunControl& control);
/// The most likely answer at the selected query, by the model as it runs and by the model without one head.
struct HeadAnswerRequest {
    ReadModel read;
    HeadPlace head{};
    bool operator==(const HeadAnswerRequest&) const = default;
};
struct HeadAnswer {
    HeadAnswerRequest request;
    std::string text;  // the likeliest answer; "": the model gives none, or cannot be read
    Index ties = 0;    // answers that are as likely
    double before = 0.0, after = 0.0;  // its probability as it runs, and without the head
};
/// nullopt while no model of at most kMostAnswerBytes is shown, the head is off, or the answer is there.
inline constexpr double kMostAnswerBytes = 2e8;
std::optional<HeadAnswerRequest> requested_head_answer(const AppState& state);
/// HeadAnswerRead.
Action run(const HeadAnswerRequest& request, const Opener& open, const RunControl& control);
/// Of the head that is shown; null: it is not there, or has no text.
const HeadAnswer* current_head_answer(const AppState& state);

/// The sweep of what the state shows; null: it is not there.
const SweptModel* current_sweep(const AppState& state);
/// The circuit of the head that is shown, with the tokens that are; null: it is not there.
const SweptModel* current_circuit(const AppState& state);

/// Whether there is a result, of what the state shows, gradients included where they are shown.
bool has_current_heads(const AppState& state);
/// Computes what is small where the workspace is shown and what it shows is not up to date. Called after every action.
void follow_heads(AppState& state);

/// The measures that heads of this document can have.
std::span<const HeadMeasureInfo> heads_measures(const Document& document);

}  // namespace attn::view
