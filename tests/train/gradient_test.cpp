// Loss and gradients against a second model in double precision and its finite differences.

#include <doctest/doctest.h>

#include <set>

#include "core/io/json.h"
#include "core/train/task_table.h"
#include "tests/support/results.h"
#include "tests/train/reference.h"

using namespace attn;
using namespace attn::train;

namespace {

Spec small_spec() {
    return spec_from_json(R"({"task": "induction", "tokens": 11, "symbols": 7, "layers": 2,
                              "heads": 2, "d_model": 6, "d_k": 4, "d_v": 3, "batch": 3,
                              "learning_rate": 0.05})",
                          "spec")
        .value();
}

const LanguageRef kShortTexts{Language::parse(R"({"text": "a b", "echo": 0.4, "unknown": 0.1,
        "classes": {"x": ["a", "b", "c", "d"], "text": ["{x} it/{x}", "it/{x} {x} {y:x!x} now",
                    "{x} or {y:x!x} or {z:x} and it/{y} or it/{z}"]}})",
                                              "l")
                                  .value()};

std::vector<Example> batch_of(const Trainer& trainer) {
    std::vector<Example> batch;
    for (Index n = 0; n < trainer.spec().batch; ++n)
        batch.push_back(trainer.sequences().training(0, n));
    return batch;
}

/// Largest difference of a matrix's gradient from central differences, beside its largest entry.
double worst_difference(const Trainer& trainer, const Matrix& matrix,
                        const std::vector<Example>& batch, const std::vector<float>& gradient) {
    const Moment moment = trainer.checkpoint();
    std::vector<double> weights(moment->weights.begin(), moment->weights.end());
    const auto loss = [&] {
        return reference::Model(trainer.spec(), trainer.matrices(), weights, trainer.switches())
            .loss(batch);
    };
    double worst = 0.0, largest = 0.0;
    const auto count = static_cast<std::size_t>(matrix.rows * matrix.columns);
    // Every entry of a small matrix, 12 spread over a large one.
    for (std::size_t n = 0; n < count; n += std::max(count / 12, std::size_t{1})) {
        constexpr double kStep = 1e-5;
        double& weight = weights[matrix.offset + n];
        const double retained = weight;
        weight = retained + kStep;
        const double above = loss();
        weight = retained - kStep;
        const double below = loss();
        weight = retained;
        const double slope = (above - below) / (2.0 * kStep);
        worst = std::max(worst, std::abs(slope - gradient[matrix.offset + n]));
        largest = std::max(largest, std::abs(slope));
    }
    // An error of single precision, beside the gradient that is there. W_Q may have none to speak of.
    return worst / std::max(largest, 1e-3);
}

void check_gradient(const Spec& spec, const Switches* switches = nullptr) {
    auto trainer = must(Trainer::make(spec));
    for (int n = 0; n < 3; ++n) REQUIRE(trainer.step());  // norms, biases away from 1 and 0
    if (switches) {
        trainer.set_scaling(switches->scaling);
        for (std::size_t n = 0; n < switches->silenced.size(); ++n)
            trainer.silence_head(static_cast<Index>(n) / spec.heads,
                                 static_cast<Index>(n) % spec.heads, switches->silenced[n]);
    }
    const std::vector<Example> batch = batch_of(trainer);
    const auto gradient = trainer.gradient(batch);
    const Moment moment = trainer.checkpoint();
    const reference::Model model(spec, trainer.matrices(),
                                 {moment->weights.begin(), moment->weights.end()},
                                 trainer.switches());
    CHECK(gradient.loss == doctest::Approx(model.loss(batch)).epsilon(1e-5));
    bool any = false;
    for (const Matrix& matrix : trainer.matrices()) {
        CAPTURE(matrix.name);
        CHECK(worst_difference(trainer, matrix, batch, gradient.values) < 3e-4);
        const auto count = static_cast<std::size_t>(matrix.rows * matrix.columns);
        any =
            any || std::any_of(
                       gradient.values.begin() + static_cast<std::ptrdiff_t>(matrix.offset),
                       gradient.values.begin() + static_cast<std::ptrdiff_t>(matrix.offset + count),
                       [](float v) { return std::abs(v) > 1e-2F; });
    }
    CHECK(any);
}

}  // namespace

TEST_CASE("every gradient equals finite differences, whatever positions, norm, MLP and scaling") {
    for (const Positions positions :
         {Positions::learned, Positions::sinusoidal, Positions::rotary, Positions::none})
        for (const NormPlace norm : {NormPlace::pre, NormPlace::none})
            for (const bool mlp : {false, true})
                for (const bool scaling : {true, false}) {
                    Spec spec = small_spec();
                    spec.positions = positions;
                    spec.norm = norm;
                    spec.mlp = mlp;
                    spec.scaling = scaling;
                    spec.temperature = mlp ? 1.7 : 0.6;
                    spec.initial_spread = mlp ? 0.8 : 1.2;
                    CAPTURE(key_of(positions));
                    CAPTURE(key_of(norm));
                    CAPTURE(mlp);
                    CAPTURE(scaling);
                    check_gradient(spec);
                }
}

TEST_CASE("every gradient equals finite differences for each task") {
    for (const TaskInfo& task : task_table()) {
        Spec spec = small_spec();
        spec.task = task.task;
        spec.tokens = 10;
        spec.language = kShortTexts;
        spec.text = "one two three two one three four two two one one four three two one two";
        CAPTURE(task.key);
        check_gradient(spec);
    }
}

TEST_CASE("gradients are right over several blocks of rows and panels") {
    Spec spec = small_spec();
    spec.tokens = 53;
    spec.symbols = 41;
    spec.d_model = 37;
    spec.d_k = 34;
    spec.d_v = 35;
    spec.batch = 2;
    spec.layers = 1;
    check_gradient(spec);
    spec.task = Task::reverse;
    check_gradient(spec);
}

TEST_CASE("a silenced head gives nothing and gets no gradient") {
    const Spec spec = small_spec();
    const Switches switches{true, {false, true, false, false}};
    check_gradient(spec, &switches);
    auto trainer = must(Trainer::make(spec));
    trainer.silence_head(0, 1, true);
    const auto gradient = trainer.gradient(batch_of(trainer));
    const Matrix& w_q = trainer.matrices()[4];
    REQUIRE(w_q.name == "layers.0.w_q");
    for (Index row = 0; row < w_q.rows; ++row)
        for (Index c = 0; c < w_q.columns; ++c) {
            const float value =
                gradient.values[w_q.offset + static_cast<std::size_t>(row * w_q.columns + c)];
            if (c >= spec.d_k) CHECK(value == 0.0F);
            if (c < spec.d_k) CHECK(value != 0.0F);
        }
}

TEST_CASE("every gradient equals finite differences over texts of different lengths") {
    for (const char* task : {"marked", "sentences"}) {
        Spec spec = small_spec();
        spec.task = std::string_view(task) == "marked" ? Task::marked : Task::sentences;
        spec.mlp = true;
        spec.batch = 5;
        spec.language = kShortTexts;
        for (const Positions positions :
             {Positions::learned, Positions::sinusoidal, Positions::rotary}) {
            spec.positions = positions;
            CAPTURE(task);
            CAPTURE(key_of(positions));
            auto trainer = must(Trainer::make(spec));
            std::set<std::size_t> lengths;
            for (const Example& example : batch_of(trainer)) lengths.insert(example.tokens.size());
            CHECK(lengths.size() > 1);
            check_gradient(spec);
        }
    }
}
