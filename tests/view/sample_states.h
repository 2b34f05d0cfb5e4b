#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/controls.h"
#include "tests/support/random.h"

namespace attn::view {

/// Acts on a copy: the state after these actions.
inline AppState after(AppState state, const Actions& actions) {
    for (const Action& action : actions) view::apply(state, action);
    return state;
}

inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

inline AppState preset_state(const std::string& key) {
    return after(initial_state(), {LoadPreset{key}});
}

/// The Masks workspace of the first document, after these actions.
inline AppState masks_state(const Actions& actions = {}) {
    return after(after(initial_state(), {SetWorkspace{"masks"}}), actions);
}

/// One setting of the second kind.
inline SetKind b_is(const char* setting, const char* value) {
    return {KindsSide::b, setting, value};
}

/// Two seeded heads with a W_O.
inline AppState two_heads_state() {
    return state_of(make_document("The cat sat because it was tired", 8, 4, 2, 7, {}).value())
        .value();
}

/// Q, K and V of two sequences of three tokens, two heads.
inline AppState two_sequences_state() {
    auto inputs = std::make_shared<Inputs>();
    inputs->q = test::normal_tensor<float>({2, 2, 3, 4}, 1);
    inputs->k = test::normal_tensor<float>({2, 2, 3, 4}, 2);
    inputs->v = test::normal_tensor<float>({2, 2, 3, 4}, 3);
    Document document;
    document.inputs = std::move(inputs);
    document.layers = {document.inputs};
    return state_of(std::move(document)).value();
}

/// Every preset, and models that presets do not show: masks of every kind, dropout, NaN, ∞,
/// 64 tokens, a typed Unicode sentence, eight heads, cross-attention with typed words.
inline std::vector<AppState> sample_states() {
    std::vector<AppState> states;
    for (const Preset& preset : list_presets()) {
        states.push_back(preset_state(preset.key));
        states.push_back(after(states.back(), {SetCausal{true}, SetScaling{false}}));
    }
    const auto from_json = [&](const std::string& spec) {
        states.push_back(state_of(document_from_json("{\"title\": \"t\", \"note\": \"n\", "
                                                     "\"sentence\": \"a b c d e\", " +
                                                         spec + "}",
                                                     "sample")
                                      .value())
                             .value());
    };
    from_json("\"window\": 1, \"dropout\": 0.4, \"dropout_seed\": 5");
    from_json("\"block\": 2, \"padding\": 4, \"temperature\": 0.5");
    from_json("\"padding\": 0");
    from_json("\"padding\": 0, \"empty_rows\": \"nan\"");
    from_json("\"scale\": 0.3, \"heads\": 2, \"d_k\": 3");
    const CellRef first{Stage::x, 1, 0};
    states.push_back(after(initial_state(), {SetCell{first, std::nan("")}, SetCausal{true}}));
    states.push_back(after(initial_state(), {SetCell{first, HUGE_VAL}}));
    states.push_back(after(initial_state(), {SetCell{first, 1e30}}));
    states.push_back(after(initial_state(), {SetSentence{"Über die Brücke läuft 猫 🐈 Über"},
                                             SetHeads{8}, ShowHead{5}}));
    std::string many;
    for (int n = 0; n < 64; ++n) many += "word" + std::to_string(n) + " ";
    states.push_back(after(initial_state(), {SetSentence{many}, SetKeyWidth{64}}));
    states.push_back(after(preset_state("cross-attention"), {SetSentence{"who did it"}}));
    return states;
}

}  // namespace attn::view
