#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/train/moment.h"

namespace attn::train {

struct Spec;

/// One measured figure of a trained model, and the least that its language requires.
struct Figure {
    std::string text;  // "answers right"
    double value = 0.0;
    std::optional<double> required;
    bool holds() const { return !required || value >= *required; }
};

/// A model on the held-out texts of its language.
struct Evaluation {
    Index texts = 0, answers = 0;  // how many were read
    double answers_right = 0.0;    // share of the answers that count
    double whole_texts = 0.0;      // share of texts with every counted answer right
    std::vector<Figure> figures;   // those two, and the other requirements of the language
    bool holds() const;
};

/// Of a spec with a language; `moment` fits it. Reads `texts` texts, or Requirements::texts, which are the same for every seed.
/// Fails if it was stopped.
Result<Evaluation> evaluate(const Spec& spec, const State& moment, std::stop_token stop = {},
                            std::optional<Index> texts = {});

}  // namespace attn::train
