#pragma once

// Random states of every workspace, the same for a number on every machine.

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "app/common/document/actions.h"
#include "app/common/document/model_place.h"
#include "app/common/workspace.h"
#include "app/window/journal.h"
#include "app/window/requests.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/exercises/actions.h"
#include "app/workspaces/exercises/view.h"
#include "app/workspaces/generate/actions.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/view.h"
#include "app/workspaces/model/actions.h"
#include "app/workspaces/model/view.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/verify/actions.h"
#include "core/rng.h"
#include "tests/support/fake_reader.h"
#include "tests/support/fake_text.h"
#include "tests/support/scramble.h"
#include "tests/view/sample_states.h"

namespace attn::view {

/// Sentences and sizes of one token, one key, equal rows, d_k = 1; scores that tie, are 0, huge, NaN or ±∞.
inline std::vector<AppState> claim_documents() {
    std::vector<AppState> all = sample_states();
    for (const char* sentence : {"a", "a a a", "a b", "to be or not to be", "b"})
        for (const char* spec :
             {R"("d_k": 1)", R"("causal": true, "d_k": 4)",
              R"("heads": 2, "d_k": 2, "temperature": 0.01)", R"("padding": 1, "d_k": 2)",
              R"("scale": 1000, "d_k": 2)", R"("scale": 0, "d_k": 3)"})
            all.push_back(json_state(spec, sentence));
    const auto with = [&](auto change, const Shape& shape) {
        all.push_back(state_of(call_document(change, shape)).value());
    };
    for (const float value : {0.0F, 1.0F, -2.0F, 300.0F, std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
        with([&](Inputs& in, AttentionSpec&) { std::ranges::fill(in.q.values(), value); },
             {1, 2, 3, 2});
        with([&](Inputs& in, AttentionSpec&) { std::ranges::fill(in.k.values(), value); },
             {1, 1, 4, 3});
        with([&](Inputs& in, AttentionSpec&) { std::ranges::fill(in.v.values(), value); },
             {1, 1, 2, 1});
        with([&](Inputs& in, AttentionSpec&) { in.k(0, 0, 1, 0) = value; }, {1, 2, 4, 2});
    }
    return all;
}

/// One of `types` with other values in every field; nullopt: no journal holds it.
inline std::optional<Action> random_action(test::Scramble& draw, ActionTypes types) {
    const ActionType& type = *types[draw.below(types.size())];
    if (type.name.empty()) return std::nullopt;
    const auto action = type.make();
    type.describe(draw, action.get());
    const auto line = to_journal(Action(type, action));
    if (!line) return std::nullopt;
    const auto read = from_journal(*line);
    return read ? std::optional(*read) : std::nullopt;
}

/// As few draws and rows as let every sentence come up: the curves are there in milliseconds.
inline void answer_saturation(AppState& state, test::Scramble& draw) {
    const SaturationSettings& settings = saturation_controls(state).settings;
    if (settings.trials > 12)
        view::apply(state, SetSaturationDraws{1 + static_cast<Index>(draw.below(12))});
    if (settings.keys > 16)
        view::apply(state, SetSaturationKeys{2 + static_cast<Index>(draw.below(15))});
    if (const auto request = requested_sweep(state)) view::apply(state, run(*request, {}));
    auto request = requested_gradient_sweep(state);
    if (!request) return;
    request->sampling.rows = kGradientBatch * (1 + static_cast<Index>(draw.below(12)));
    view::apply(state, run(*request, {}));
}

inline train::Spec small_spec(train::Spec spec) {
    const auto most = [](Index& value, Index limit) { value = std::min(value, limit); };
    if (spec.language.empty()) most(spec.tokens, 12);
    most(spec.symbols, 8), most(spec.layers, 2), most(spec.heads, 2);
    most(spec.d_model, 8), most(spec.d_k, 16), most(spec.d_v, 8), most(spec.batch, 4);
    return spec;
}
/// Numbers that a training of hours may come to: of one step and run, or of all.
inline void alter_record(train::Record& record, test::Scramble& draw) {
    constexpr std::array<double, 6> kShares{0.0, 1.0, 0.5, 0.51, 0.99, 0.3};
    constexpr std::array<double, 6> kLosses{0.0, 1e-9, 0.5, 0.51, HUGE_VAL, NAN};
    record.accuracy = kShares[draw.below(6)];
    record.saturated = kShares[draw.below(6)];
    record.loss = kLosses[draw.below(draw.below(3) == 0 ? 6 : 4)];
    for (float& norm : record.gradient_norms)
        norm *= std::pow(10.0F, static_cast<float>(draw.below(5)) - 2.0F);
}
inline std::shared_ptr<const LearnSeries> altered(const LearnSeries& series, test::Scramble& draw) {
    auto other = std::make_shared<LearnSeries>(series);
    for (LearnSide& side : other->sides)
        for (auto& record : side.records) {
            auto changed = std::make_shared<train::Record>(*record);
            alter_record(*changed, draw);
            record = std::move(changed);
        }
    return other;
}
/// Trained with few, narrow layers over a few steps.
inline void answer_learning(AppState& state, test::Scramble& draw) {
    LearnLook& look = learn_look(state);
    if (!look.plan) return;
    for (train::Spec* spec : {&look.plan->controls.a, &look.plan->controls.b})
        *spec = small_spec(*spec);
    look.plan->until = draw.below(4) == 0 ? 50 + static_cast<Index>(draw.below(12))
                                          : std::min<Index>(look.plan->until, 12);
    look.plan->seeds = std::min<Index>(look.plan->seeds, 3);
    clamp_learn(state);
    const auto request = requested_learning(state);
    if (!request) return;
    view::apply(state, run(*request, {}));
    if (look.series && draw.below(2) == 0) look.series = altered(*look.series, draw);
}
/// Blanks filled in with answers of the sheet, and with others; some questions checked.
inline void answer_exercises(AppState& state, test::Scramble& draw) {
    state.message = {};
    const auto exercise = exercise_of(state);
    for (Index n = 0; exercise && n < std::ssize(exercise->questions); ++n) {
        const ExerciseQuestion& question = exercise->questions[n];
        const bool careless = draw.below(2) == 0;
        for (Index k = 0; k < std::ssize(question.answer.entries); ++k) {
            if (careless && draw.below(4) == 0) continue;
            const double right = question.answer.entries[k];
            const double answer = right + (careless ? static_cast<double>(draw.below(2)) : 0.0);
            const Index columns = question.answer.columns;
            const bool chosen = !question.choices.empty();
            view::apply(state, EnterAnswer{n, k / columns, k % columns,
                                           chosen ? std::to_string(static_cast<Index>(answer))
                                                  : question.written(answer)});
        }
        if (draw.below(3) > 0) view::apply(state, CheckAnswer{n});
    }
}
inline void answer_some(AppState& state, test::Scramble& draw) {
    if (state.workspace == "saturation") return answer_saturation(state, draw);
    if (state.workspace == "learn") return answer_learning(state, draw);
    if (state.workspace == "exercises" && draw.below(2) == 0) answer_exercises(state, draw);
    if (state.workspace == "generate") return answer_all(state, test::fake_writer);
    if (state.workspace == "model") return answer_all(state, test::golden_reader);
    answer_all(state);
}

/// Tokens are taken and one is gone back to; of a vocabulary of which the random actions know the beginning.
inline AppState writing_state(test::Scramble& draw) {
    AppState state = test::fake_writing();
    for (std::uint64_t n = draw.below(4); n > 0; --n) {
        answer_all(state, test::fake_writer);
        view::apply(state, TakeToken{static_cast<Index>(draw.below(n)),
                                     static_cast<Index>(draw.below(test::kFakeText))});
    }
    return state;
}

/// A small model of any form over its text, after some of what can be done there.
inline AppState reading_state(test::Scramble& draw) {
    constexpr std::pair<const char*, const char*> kModels[] = {
        {"gpt2", ""},     {"llama", ""},    {"mixtral", ""},    {"bert", ""},
        {"gpt_neox", ""}, {"vit", ""},      {"t5", "decoder"},  {"dinov2", ""},
        {"gemma2", ""},   {"use_lite", ""}, {"bert~labels", ""}};
    const auto& [family, group] = kModels[draw.below(std::size(kModels))];
    AppState state = test::golden_read(family, {}, group);
    const ModelRead& read = *current_model_read(state);
    const auto& order = read.stages.order;
    const auto any = [&](std::uint64_t count) { return static_cast<Index>(draw.below(count)); };
    const Actions some{
        ShowModelStage{std::string(info(order[draw.below(order.size())]).key), any(5), any(20)},
        SelectModelToken{any(5)},
        SelectModelPart{any(9)},
        ExplainAnswer{any(30)},
        ShowLogitDifference{true},
        ShowBlockGradients{true},
        ComputeModelTo{any(12)},
        ShowModelPlace{draw.below(2) == 0 ? ModelPlace::input : ModelPlace::output},
        ShowLayer{1}};
    for (std::uint64_t n = draw.below(3); n > 0; --n) {
        view::apply(state, some[draw.below(some.size())]);
        answer_all(state, test::golden_reader);
    }
    return state;
}

/// State `n`: a document, a workspace, a theme, and up to six things done there.
inline AppState claim_state(std::uint64_t n) {
    static const std::vector<AppState> documents = claim_documents();
    const auto among = workspaces();
    test::Scramble draw(mix(n, 26));
    AppState state = documents[draw.below(documents.size())];
    const WorkspaceInfo& workspace = *among[draw.below(among.size())];
    if (workspace.key == "generate" && draw.below(3) > 0) state = writing_state(draw);
    if (workspace.key == "model" && draw.below(3) > 0) state = reading_state(draw);
    view::apply(state, SetWorkspace{std::string(workspace.key)});
    // The example of a fault is another call than the state's: verify_test has its texts.
    if (workspace.key == "verify") view::apply(state, PlantFault{});
    if (draw.below(3) == 0) view::apply(state, SetTheme{ThemeName::light});
    for (std::uint64_t k = draw.below(7); k > 0; --k) {
        state.message = {};  // tells of the last thing done
        if (draw.below(3) == 0) {
            const auto row = static_cast<Index>(draw.below(5)),
                       column = static_cast<Index>(draw.below(5));
            const auto stages = ribbon_stages(state.document());
            if (stages.empty()) continue;
            const Stage stage = stages[draw.below(stages.size())];
            const Actions some{workspace.key == "compare" && draw.below(2) == 0
                                   ? Action(PinBaseline{})
                                   : Action(ShowHead{static_cast<Index>(draw.below(3))}),
                               SetCausal{draw.below(2) == 0},
                               SetScaling{draw.below(2) == 0},
                               GoToStage{stage},
                               SelectCell{{stage, row, column}},
                               HoverCell{CellRef{stage, row, column}},
                               Undo{},
                               ShowGradients{draw.below(2) == 0}};
            view::apply(state, some[draw.below(some.size())]);
        } else if (const auto action = random_action(draw, workspace.actions)) {
            if (action->type().name.starts_with("measure_"))
                continue;  // of this machine, not of the state
            view::apply(state, *action);
        }
    }
    if (draw.below(4) > 0) answer_some(state, draw);
    return state;
}

}  // namespace attn::view
