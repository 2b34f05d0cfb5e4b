#pragma once

#include <string>
#include <vector>

#include "app/common/state.h"

namespace attn::view {

/// Words of one class of a grammar, as "animal" or "verb".
struct WordClass {
    std::string name;
    std::vector<std::string> words;
};

/// The vocabulary of the open model by the classes of the grammar that it learned from, words of no class last. Empty for a
/// model that does not come with the program.
const std::vector<WordClass>& known_words(const AppState& state);

}  // namespace attn::view
