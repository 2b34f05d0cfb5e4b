#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/train/spec.h"

namespace attn::view {

/// As the first launch has it: associative recall with ÷√d_k (0) and without (1).
train::Spec first_learn_spec(std::size_t run);

/// What is trained next: a model, and beside it the same with one setting otherwise. Undone.
struct LearnControls {
    train::Spec a = first_learn_spec(0);
    train::Spec b = first_learn_spec(1);  // as `a`, but for `differs`
    std::string differs = "scaling";      // name of the field in which B is another; "": A alone
    bool operator==(const LearnControls&) const = default;
    bool has_b() const { return !differs.empty(); }
    const train::Spec& of(std::size_t run) const { return run == 0 ? a : b; }
};

/// Fields in which B may differ.
inline constexpr std::array<std::string_view, 14> kLearnDifferences{
    "scaling", "d_k",     "heads",         "layers", "positions",    "mlp",       "norm",
    "d_model", "symbols", "learning_rate", "warmup", "weight_decay", "optimiser", "seed"};

inline constexpr std::array<std::string_view, 2> kLearnRunNames{"a", "b"};

}  // namespace attn::view
