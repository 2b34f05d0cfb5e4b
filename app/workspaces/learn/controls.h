#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "app/common/describe.h"
#include "core/train/spec.h"

namespace attn::view {

/// As the first launch has it: associative recall with ÷√d_k (0) and without (1).
train::Spec first_learn_spec(std::size_t run);

/// A model, and beside it the same with one setting otherwise.
struct LearnRuns {
    train::Spec a = first_learn_spec(0);
    train::Spec b = first_learn_spec(1);  // as `a`, but for `differs`
    std::string differs = "scaling";      // name of the field in which B is another; "": A alone
    bool operator==(const LearnRuns&) const = default;
    bool has_b() const { return !differs.empty(); }
    std::size_t count() const { return has_b() ? 2 : 1; }
    /// Of the run that has more.
    Index layers() const { return std::max(a.layers, b.layers); }
    Index heads() const { return std::max(a.heads, b.heads); }
    const train::Spec& of(std::size_t run) const { return run == 0 ? a : b; }
};
/// What is trained next. Undone.
struct LearnControls : LearnRuns {
    bool operator==(const LearnControls&) const = default;
};

void describe(Visitor& visit, LearnRuns& runs);
void describe(Visitor& visit, LearnControls& controls);

/// Fields in which B may differ.
inline constexpr std::array<std::string_view, 16> kLearnDifferences{
    "scaling", "initial_spread", "temperature", "d_k",
    "heads",   "layers",         "positions",   "mlp",
    "norm",    "d_model",        "symbols",     "learning_rate",
    "warmup",  "weight_decay",   "optimiser",   "seed"};

inline constexpr std::array<std::string_view, 2> kLearnRunNames{"a", "b"};

}  // namespace attn::view
