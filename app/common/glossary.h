#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/stage.h"

namespace attn::view {

// The terms of the field: assets/glossary, see its README.

struct GlossaryTerm {
    std::string term;                  // "attention weights"
    std::string symbol;                // "A"; "": it has none
    std::string definition;            // one to three sentences
    std::string tex;                   // its formula; "": it has none
    std::string workspace;             // where it is seen, by its key
    std::optional<OperandId> operand;  // of Step
    std::vector<std::string> actions;  // journal lines after it, which select it there
};
/// An error names the term and its fault: a key that is missing or not known, a formula that cannot be parsed, an unknown operand.
Result<std::vector<GlossaryTerm>> glossary_from_json(std::string_view text, std::string_view where);
/// Those of the program, read once; an error where no file is there, or it is broken.
const Result<std::vector<GlossaryTerm>>& glossary();
/// Its formula as one line of plain text.
std::string plain_formula_of(const GlossaryTerm& term);
/// The term of a symbol of a formula; nullptr: none.
const GlossaryTerm* term_of(const OperandId& operand);

/// Those with every word of `query`, best first, the name before the definition; nothing typed: those of `operand` first, then those of
/// `workspace`, then all others, each in their own order.
std::vector<const GlossaryTerm*> find_terms(std::string_view query, std::string_view workspace,
                                            const std::optional<OperandId>& operand);

// How a list is searched by words: the palette's and the glossary's.

/// The words of what is typed, as matching compares them: "4,096" is "4096", "d_k" is "d k", "Créer" is "creer".
std::vector<std::string> search_words(std::string_view query);
/// Higher is better; 0 when one of the words is not in `text`. No words: 1.
int match(std::string_view text, const std::vector<std::string>& description);

}  // namespace attn::view
