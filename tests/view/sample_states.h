#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/call_actions.h"
#include "app/common/document/document.h"
#include "app/common/state.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/controls.h"
#include "tests/support/cases.h"
#include "tests/support/random.h"

namespace attn::view {

using namespace attn;  // tests that use view use it too

/// Acts on a copy: the state after these actions.
inline AppState after(AppState state, const Actions& actions) {
    for (const Action& action : actions) view::apply(state, action);
    return state;
}

/// Acts on the state itself; gives it.
inline AppState& acted(AppState& state, const Actions& actions) {
    for (const Action& action : actions) view::apply(state, action);
    return state;
}

inline bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

inline AppState preset_state(const std::string& key) {
    return after(initial_state(), {LoadPreset{key}});
}

/// A workspace of the first document, after these actions.
inline AppState in_workspace(const char* key, const Actions& actions = {}) {
    return after(after(initial_state(), {SetWorkspace{key}}), actions);
}
inline AppState masks_state(const Actions& actions = {}) { return in_workspace("masks", actions); }

/// "w0 w1 w2 ".
inline std::string numbered(const std::string& word, Index count) {
    std::string text;
    for (Index n = 0; n < count; ++n) text += word + std::to_string(n) + " ";
    return text;
}

/// A document over `sentence` of which the JSON says `spec` besides.
inline AppState json_state(const std::string& spec, const std::string& sentence = "a b c d") {
    return state_of(document_from_json(R"({"title": "t", "note": "n", "sentence": ")" + sentence +
                                           "\", " + spec + "}",
                                       "sample")
                        .value())
        .value();
}

/// Q, K and V of normal numbers, from three seeds.
inline std::shared_ptr<Inputs> normal_inputs(const Shape& shape, std::uint64_t seed) {
    auto inputs = std::make_shared<Inputs>();
    inputs->q = test::normal_tensor<float>(shape, seed);
    inputs->k = test::normal_tensor<float>(shape, seed + 1);
    inputs->v = test::normal_tensor<float>(shape, seed + 2);
    return inputs;
}

/// Q and K one-hot, so that each query has all its weight on the key that `keys` names, head by head; V is `values`,
/// token by token, of every head.
inline std::shared_ptr<Inputs> pointing_inputs(const std::vector<std::vector<Index>>& keys,
                                               const std::vector<float>& values) {
    const Index heads = std::ssize(keys), tokens = std::ssize(keys.front());
    const Index width = std::ssize(values) / tokens;
    auto inputs = std::make_shared<Inputs>();
    inputs->q = inputs->k = Tensor(Shape{1, heads, tokens, tokens});
    inputs->v = Tensor(Shape{1, heads, tokens, width});
    for (const auto [h, i] : each_cell(heads, tokens)) {
        inputs->q(0, h, i, keys[h][i]) = 1000.0F;
        inputs->k(0, h, i, i) = 10.0F;
        for (Index d = 0; d < width; ++d) inputs->v(0, h, i, d) = values[width * i + d];
    }
    return inputs;
}

/// A document of these layers, of which the first is shown; of a file where one is named.
inline Document document_of(std::vector<std::shared_ptr<const Inputs>> layers,
                            const char* file = nullptr) {
    Document document;
    if (file != nullptr) document.origin = FileOrigin{file};
    document.layers = std::move(layers);
    document.inputs = document.layers.front();
    return document;
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

/// Attention over Q, K and V [1, 2, 4, 4] of normal numbers, as `change` makes it.
template <class Change>
Document call_document(Change change, const Shape& shape = {1, 2, 4, 4}) {
    const auto inputs = normal_inputs(shape, 1);
    Document document = document_of({inputs});
    change(*inputs, document.spec);
    return document;
}
template <class Change>
AppState call_state(const char* workspace, Change change, const Shape& shape = {1, 2, 4, 4}) {
    return after(state_of(call_document(change, shape)).value(), {SetWorkspace{workspace}});
}

/// Q, K and V of two sequences of three tokens, two heads.
inline AppState two_sequences_state() {
    return state_of(document_of({normal_inputs({2, 2, 3, 4}, 1)})).value();
}

/// A file's call of every kind that the engine has: each score, RoPE, soft cap, ALiBi, sinks, windows, offsets.
inline std::vector<AppState> call_states() {
    std::vector<AppState> states;
    for (const test::Case& one : test::kind_cases(test::Sizes::small)) {
        Document document =
            document_of({std::make_shared<const Inputs>(one.inputs)}, one.name.c_str());
        document.title = one.name;
        document.spec = one.spec;
        states.push_back(state_of(std::move(document)).value());
    }
    return states;
}

/// Every preset, and models that presets do not show: masks of every kind, dropout, NaN, ∞,
/// 64 tokens, a typed Unicode sentence, eight heads, cross-attention with typed words.
inline std::vector<AppState> sample_states() {
    std::vector<AppState> states;
    for (const Preset& preset : list_presets()) {
        states.push_back(preset_state(preset.key));
        states.push_back(after(states.back(), {SetCausal{true}, SetScaling{false}}));
    }
    for (const char* spec :
         {R"("window": 1, "dropout": 0.4, "dropout_seed": 5)",
          R"("block": 2, "padding": 4, "temperature": 0.5)", R"("padding": 0)",
          R"("padding": 0, "empty_rows": "nan")", R"("scale": 0.3, "heads": 2, "d_k": 3)"})
        states.push_back(json_state(spec, "a b c d e"));
    const CellRef first{Stage::x, 1, 0};
    states.push_back(after(initial_state(), {SetCell{first, std::nan("")}, SetCausal{true}}));
    states.push_back(after(initial_state(), {SetCell{first, HUGE_VAL}}));
    states.push_back(after(initial_state(), {SetCell{first, 1e30}}));
    states.push_back(after(initial_state(), {SetSentence{"Über die Brücke läuft 猫 🐈 Über"},
                                             SetHeads{8}, ShowHead{5}}));
    states.push_back(after(initial_state(), {SetSentence{numbered("word", 64)}, SetKeyWidth{64}}));
    states.push_back(after(initial_state(), {SetSentence{"the cat sat || a dog"}, ShowHead{0, 1},
                                             SetSinusoid{false}, SetHeads{2}}));
    states.push_back(after(preset_state("cross-attention"), {SetSentence{"who did it"}}));
    for (AppState& call : call_states()) states.push_back(std::move(call));
    return states;
}

}  // namespace attn::view
