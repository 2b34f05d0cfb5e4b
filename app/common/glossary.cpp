#include "app/common/glossary.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/fields.h"
#include "app/common/sheet.h"
#include "app/common/tokens.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/stages.h"
#include "core/tex.h"
#include "core/text.h"

namespace attn::view {
namespace {

using nlohmann::json;

Result<GlossaryTerm> term_from(const json& value, const std::string& where) {
    if (!value.is_object()) return bad_input(where + ": expected an object");
    Fields fields(value, where);
    GlossaryTerm term;
    std::string operand;
    fields.need("term", term.term);
    fields.read("symbol", term.symbol);
    fields.need("definition", term.definition);
    fields.read("formula", term.tex);
    fields.need("workspace", term.workspace);
    fields.read("operand", operand);
    if (const json* const actions = fields.find_list("actions"))
        for (const json& action : *actions) term.actions.push_back(action.dump());
    if (const auto parsed = tex::parse(term.tex); fields.ok() && !parsed)
        fields.complain("has 'formula': " + parsed.error().text());
    if (!operand.empty() && !(term.operand = find_operand(operand)))
        fields.complain(
            fmt::format("has 'operand' = \"{}\": expected a stage or a matrix", operand));
    if (auto valid = fields.finish(); !valid) return tl::unexpected(std::move(valid.error()));
    return term;
}

Result<std::vector<GlossaryTerm>> read_glossary() {
    const auto files = asset_files("glossary");
    if (files.empty()) return bad_input("the program's files have no glossary");
    return read_text_file(files.front()).and_then([&](const std::string& text) {
        return glossary_from_json(text, files.front().string());
    });
}

/// 2: of the operand, 1: of the workspace, 0: of another.
int nearness(const GlossaryTerm& term, std::string_view workspace,
             const std::optional<OperandId>& operand) {
    if (operand && term.operand == operand) return 2;
    return term.workspace == workspace ? 1 : 0;
}

// ---- searching

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; }

/// Latin letters with accents, in the order of U+00C0 … U+00FF; '.' where it is none.
constexpr std::string_view kPlainLetters =
    "aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y";

bool is_digit(std::string_view text, std::size_t n) {
    return n < text.size() && text[n] >= '0' && text[n] <= '9';
}

/// As matching compares words: "4,096" as "4096", "d_k" as "d k", "Créer" as "creer".
std::string folded(std::string_view text) {
    std::string plain;
    for (std::size_t n = 0; n < text.size();) {
        const CodePoint next = first_code_point(text.substr(n));
        const bool groups =
            next.value == U',' && n > 0 && is_digit(text, n - 1) && is_digit(text, n + 1);
        const char32_t accented = next.value - 0xC0;  // wraps where it is below
        n += next.bytes;
        if (groups) continue;
        if (accented < kPlainLetters.size() && kPlainLetters[accented] != '.')
            plain += kPlainLetters[accented];
        else if (next.value < 0x80)
            plain += next.value == U'_' ? ' ' : lower(static_cast<char>(next.value));
        else
            append_code_point(plain, next.value);
    }
    return plain;
}

}  // namespace

Result<std::vector<GlossaryTerm>> glossary_from_json(std::string_view text,
                                                     std::string_view where) {
    const auto value = parse_json(text, where);
    if (!value) return tl::unexpected(value.error());
    if (!value->is_array()) return bad_input(fmt::format("{}: expected a list of terms", where));
    std::vector<GlossaryTerm> list;
    for (std::size_t n = 0; n < value->size(); ++n) {
        auto term = term_from((*value)[n], fmt::format("{}, term {}", where, n));
        if (!term) return tl::unexpected(std::move(term.error()));
        list.push_back(*std::move(term));
    }
    return list;
}

const Result<std::vector<GlossaryTerm>>& glossary() {
    static const Result<std::vector<GlossaryTerm>> once = read_glossary();
    return once;
}

std::string plain_formula_of(const GlossaryTerm& term) { return tex::plain_text(term.tex); }

const GlossaryTerm* term_of(const OperandId& operand) {
    if (!glossary()) return nullptr;
    const auto found = std::ranges::find(*glossary(), operand, &GlossaryTerm::operand);
    return found == glossary()->end() ? nullptr : &*found;
}

std::vector<const GlossaryTerm*> find_terms(std::string_view query, std::string_view workspace,
                                            const std::optional<OperandId>& operand) {
    if (!glossary()) return {};
    const std::vector<std::string> text = search_words(query);
    std::vector<std::pair<int, const GlossaryTerm*>> scored;
    for (const GlossaryTerm& term : *glossary()) {
        const std::string name = term.term + " " + term.symbol;
        const int points = match(name + " " + term.definition, text);
        if (points == 0) continue;
        scored.emplace_back(
            text.empty() ? nearness(term, workspace, operand) : 1000 * match(name, text) + points,
            &term);
    }
    std::ranges::stable_sort(scored,
                             [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<const GlossaryTerm*> found;
    for (const auto& [points, term] : scored) found.push_back(term);
    return found;
}

std::vector<std::string> search_words(std::string_view query) { return tokenize(folded(query)); }

int match(std::string_view given, const std::vector<std::string>& description) {
    const std::string text = folded(given);
    int total = 1;
    for (const std::string& word : description) {
        const std::size_t at = text.find(word);
        if (at == text.npos) return 0;
        if (at == 0)
            total += 3;
        else if (text[at - 1] == ' ')
            total += 2;
    }
    return total;
}

}  // namespace attn::view
