#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/models/text_budget.h"

namespace attn {

/// A regular expression of a tokenizer, as Hugging Face's program reads it: Oniguruma's with the syntax of Ruby, where ^ and $
/// are the ends of lines and \s, \w, \d, \p{…} are of Unicode. Matched by PCRE2. An expression that the two read differently, or
/// that PCRE2 does not know, is refused by its text. Sources: github.com/kkos/oniguruma, doc/RE; pcre2pattern(3).
class Expression {
  public:
    /// Throws TokenizerFault.
    static Expression parse(std::string_view expression);

    struct Match {
        std::size_t begin, end;  // bytes
    };
    /// From the left, each where the last one ends; an empty one only where no match ends. `text` is UTF-8.
    /// Time: at most kMostSteps backtracking steps from each character, else the budget refuses.
    std::vector<Match> matches(std::string_view text, TextBudget& budget) const;

    static constexpr std::size_t kMostSteps = 5'000'000;

  private:
    struct Code;
    std::shared_ptr<const Code> code_;
};

/// The same expression in the syntax of PCRE2. Throws TokenizerFault.
std::string pcre2_expression(std::string_view expression);

}  // namespace attn
