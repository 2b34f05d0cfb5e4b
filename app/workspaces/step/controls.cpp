#include "app/workspaces/step/view_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/loss.h"
#include "app/common/format.h"
#include "app/common/words.h"
#include "core/text.h"

namespace attn::view {

std::string factor_words(const Document& document) {
    const AttentionSpec& spec = document.spec;
    std::string words = "not scaled";
    if (spec.scale == ScaleKind::sqrt_dk)
        words = fmt::format("÷ √{} = {}", document.d_k,
                            significant(std::sqrt(static_cast<double>(document.d_k)), 4));
    if (spec.scale == ScaleKind::value) words = "× " + significant(spec.scale_value, 4);
    return words;
}

std::string scale_words(const Document& document) {
    const AttentionSpec& spec = document.spec;
    std::string words = factor_words(document);
    if (spec.temperature != 1.0) words += ", ÷ " + significant(spec.temperature, 4);
    return words;
}

namespace {

/// "0: previous token, 1: first token": what each head was built to do.
std::string heads_words(const Document& document) {
    std::string words;
    Index head = 0;
    for (const std::string& name : document.head_names) {
        words += fmt::format("{}{}: {}", head == 0 ? "" : ", ", head, name);
        ++head;
    }
    return words;
}

}  // namespace

ControlsView controls_of(const AppState& state) {
    const Document& document = state.document();
    ControlsView controls;
    controls.presets = state.presets;
    controls.preset = document.name == "custom" ? "" : document.name;
    controls.sentence_draft = state.sentence_draft;
    controls.d_model = document.d_model;
    controls.d_k = document.d_k;
    controls.heads = document.size.heads;
    controls.batch = state.batch;
    controls.batches = document.size.batch;
    controls.layer = document.layer;
    controls.layers = static_cast<Index>(document.layers.size());
    controls.title = document.title;
    controls.toy = is_toy(document);
    controls.reads_image = reads_image(document);
    controls.reads_text = model_of(document) != nullptr && !controls.reads_image;
    controls.projects = document.inputs->projects();
    const MaskSpec& mask = document.spec.mask;
    controls.window = mask.window_left || mask.window_right ? std::nullopt : mask.window;
    controls.windowed = mask.windowed();
    controls.window_words =
        controls.windowed == controls.window.has_value() ? "window" : "window by sides, see Masks";
    controls.tokens = std::max(document.size.tq, document.size.tk);
    controls.head = state.head;
    controls.scaling = document.spec.scale != ScaleKind::none;
    controls.scale_words = factor_words(document);
    controls.model_open = step_look(state).model_open;
    controls.temperature = document.spec.temperature;
    controls.causal = document.spec.mask.causal.has_value();
    controls.seed = document.seed;
    controls.gradients = state.show_gradients;
    controls.loss = build_loss_view(state);
    controls.badge = shortened(document.note, kMostTip);
    controls.heads_words = heads_words(document);
    return controls;
}

}  // namespace attn::view
