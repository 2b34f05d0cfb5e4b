#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include "core/train/spec.h"
#include "core/train/task_table.h"

namespace attn::train {

// The members of a specification by their names, for whoever reads or writes one.

inline constexpr std::array<std::string_view, 4> kPositions{"learned", "sinusoidal", "rotary",
                                                            "none"};
inline constexpr std::array<std::string_view, 2> kNorms{"pre", "none"};
inline constexpr std::array<std::string_view, 2> kOptimisers{"adamw", "sgd"};
inline constexpr std::array<std::string_view, 2> kSchedules{"constant", "linear"};

inline std::array<std::string_view, 10> task_keys() {
    std::array<std::string_view, 10> keys;
    std::ranges::transform(task_table(), keys.begin(), &TaskInfo::key);
    return keys;
}

/// Calls visit(name, member) for every field of the specification, in the order in which it is written.
template <class AnySpec, class Visit>
void for_fields(AnySpec& spec, const Visit& visit) {
    visit("task", spec.task);
    visit("tokens", spec.tokens);
    visit("symbols", spec.symbols);
    visit("text", spec.text);
    visit("language", spec.language);
    visit("layers", spec.layers);
    visit("heads", spec.heads);
    visit("d_model", spec.d_model);
    visit("d_k", spec.d_k);
    visit("d_v", spec.d_v);
    visit("scaling", spec.scaling);
    visit("temperature", spec.temperature);
    visit("initial_spread", spec.initial_spread);
    visit("positions", spec.positions);
    visit("mlp", spec.mlp);
    visit("norm", spec.norm);
    visit("optimiser", spec.optimiser);
    visit("learning_rate", spec.learning_rate);
    visit("warmup", spec.warmup);
    visit("schedule", spec.schedule);
    visit("weight_decay", spec.weight_decay);
    visit("clip", spec.clip);
    visit("beta1", spec.beta1);
    visit("beta2", spec.beta2);
    visit("momentum", spec.momentum);
    visit("batch", spec.batch);
    visit("steps", spec.steps);
    visit("seed", spec.seed);
}

/// The words of an enumeration, by its value.
template <class Enum>
auto names_of() {
    if constexpr (std::is_same_v<Enum, Task>)
        return task_keys();
    else if constexpr (std::is_same_v<Enum, Positions>)
        return kPositions;
    else if constexpr (std::is_same_v<Enum, NormPlace>)
        return kNorms;
    else if constexpr (std::is_same_v<Enum, Schedule>)
        return kSchedules;
    else
        return kOptimisers;
}

}  // namespace attn::train
