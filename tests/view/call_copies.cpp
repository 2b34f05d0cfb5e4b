// For call_copies.py: calls of every kind and every preset with the code that is copied of each, and what the engine makes of
// them. Writes FOLDER/<n>.numpy.py, FOLDER/<n>.pytorch.py and FOLDER/<n>.txt: a line with a stage's key, its shape and numbers.
//   call_copies FOLDER

#include <cstdio>
#include <fstream>

#include "app/common/document/call_code.h"
#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "core/bias.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/sample_states.h"

using namespace attn::view;

namespace {

/// A dot-product call with a soft cap and a bias for each head, query and key.
Document document_with_bias() {
    const test::Case one = test::kind_cases(test::Sizes::small).front();
    Document document = document_of({std::make_shared<const Inputs>(one.inputs)}, "call");
    const Shape q = one.inputs.q.shape(), k = one.inputs.k.shape();
    Tensor bias(Shape{1, q.h, q.t, k.t});
    float value = -1.5F;
    for (float& each : bias.values()) each = value += 0.125F;
    bias(0, 0, 1, 0) = kForbidding;
    document.title = "bias";
    document.spec = one.spec;
    document.spec.softcap = 2.0;
    document.spec.mask.bias = make_bias(std::move(bias));
    return document;
}

std::vector<AppState> cases() {
    std::vector<AppState> states;
    for (const auto& some :
         {test::kind_cases(test::Sizes::small), test::engine_cases(test::Sizes::small)})
        for (const test::Case& one : some) {
            Document document = document_of({std::make_shared<const Inputs>(one.inputs)}, "call");
            document.title = one.name;
            document.spec = one.spec;
            states.push_back(state_of(std::move(document)).value());
        }
    for (const bool first :
         {false, true}) {  // a bias with a forbidden pair, before or after a soft cap
        Document document = document_with_bias();
        document.spec.bias_before_softcap = first;
        states.push_back(state_of(std::move(document)).value());
    }
    for (const Preset& preset : list_presets()) {
        states.push_back(preset_state(preset.key));
        states.push_back(after(states.back(), {SetCausal{true}, SetScaling{false}}));
    }
    return states;
}

void write_case(const std::filesystem::path& folder, std::size_t n, const AppState& state) {
    const std::string name = std::to_string(n);
    for (const auto& [code, ending] :
         {std::pair{MaskCode::numpy, ".numpy.py"}, {MaskCode::pytorch, ".pytorch.py"}})
        std::ofstream(folder / (name + ending)) << call_code(state.document(), code).value();
    std::ofstream(folder / (name + ".flex.py"))
        << mask_code(state.document(), MaskCode::flex_attention);
    std::ofstream stages(folder / (name + ".txt"));
    for (const Stage stage : {Stage::scores, Stage::weights, Stage::context, Stage::output}) {
        const Tensor& tensor = (*state.trace)[stage];
        const Shape& shape = tensor.shape();
        stages << info(stage).key << ' ' << shape.b << ' ' << shape.h << ' ' << shape.t << ' '
               << shape.d;
        for (const float value : tensor.values()) stages << ' ' << exact(value);
        stages << '\n';
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    std::filesystem::create_directories(arguments[1]);
    std::size_t n = 0;
    for (const AppState& state : cases())
        if (!is_empty(state.document())) write_case(arguments[1], n++, state);
    std::printf("%zu\n", n);
    return 0;
}
