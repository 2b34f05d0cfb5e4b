#pragma once

#include <string>
#include <vector>

#include "app/common/state.h"

namespace attn::view {

/// One class of a grammar, as "animal" or "verb".
struct VocabularyClass {
    std::string name;
    std::vector<std::string> entries;
};

/// The vocabulary of the open model by the classes of the grammar that it learned from, the rest last. Empty for a
/// model that does not come with the program.
const std::vector<VocabularyClass>& vocabulary_of(const AppState& state);

}  // namespace attn::view
