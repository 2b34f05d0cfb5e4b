#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/common/slots.h"

namespace attn::view {

/// The sheet and what was written into it; undone with the document.
struct ExercisesControls {
    std::string sheet;       // its key; "": the first
    std::uint64_t seed = 1;  // of its numbers
    std::map<std::string, std::string>
        entries;  // by entry_key(); of choices the index of the choice
    bool operator==(const ExercisesControls&) const = default;
};
inline void describe(Visitor& visit, ExercisesControls& controls) {
    visit("sheet", controls.sheet);
    visit("seed", controls.seed,
          {.text = "seed", .tip = "Seed of the numbers: each seed gives another sheet."});
    visit("entries", controls.entries);
}

/// Questions whose answer was checked, and whose hint and solution are shown; from 0.
struct ExercisesLook {
    std::vector<Index> checked, hints, solutions;
    std::map<std::string, std::string>
        solved;             // question_key() of those once checked right, and with which seed
    bool choosing = false;  // all sheets stand there, to choose from
    Index question = 0;     // the shown one
};
inline void describe(Visitor& visit, ExercisesLook& look) {
    visit("checked", look.checked);
    visit("hints", look.hints);
    visit("solutions", look.solutions);
    visit("solved", look.solved);
    visit("choosing", look.choosing);
    visit("question", look.question);
}

inline constexpr Controls<ExercisesControls> exercises_controls;
inline constexpr Look<ExercisesLook> exercises_look;

}  // namespace attn::view
