#include "core/train/tasks.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "core/check.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/train/language.h"
#include "core/train/task_table.h"
#include "core/train/words.h"

namespace attn::train {
namespace {

constexpr auto kTasks = std::to_array<TaskInfo>({
    {Task::copy, "copy", "Copy", "a b c : a b; from : on, the model predicts the next symbol",
     "each position attends T/2 back, to the symbol that it must predict", true, true, false,
     false},
    {Task::reverse, "reverse", "Reverse", "“a b c d”; position p must give the symbol at T − 1 − p",
     "the antidiagonal: position p attends to T − 1 − p", false, true, false, false},
    {Task::sort, "sort", "Sort", "d b a c; position p must give the p-th smallest symbol",
     "each position attends to the symbol of its rank", false, true, false, false},
    {Task::induction, "induction", "Induction",
     "a repeated sequence of different symbols; after its first period, the model predicts the "
     "next symbol",
     "a previous-token head, then an induction head: A attends to the B that followed A", true,
     true, false, false},
    {Task::recall, "recall", "Associative recall",
     "key–value pairs, then keys; the model must recall the value of each key",
     "a key attends to the value behind the same key", true, true, false, false},
    {Task::majority, "majority", "Majority", "? a b a c; ? must give the most frequent symbol",
     "? attends to all symbols evenly", false, true, false, false},
    {Task::text, "text", "Words of a text", "words of a text; each must predict the next word",
     "depends on the text: often the word before, or a related word", true, false, true, false},
    {Task::grammar, "grammar", "Grammar",
     "sentences of a small grammar; at each word the model must predict the next one",
     "a verb attends to its noun, from which it has its number", true, false, false, false},
    {Task::marked, "marked", "Marked words",
     "texts of a language; the model must give the word that each marked word stands for",
     "the useful attention depends on the language: a pronoun, for example, attends to its noun",
     false, false, false, true},
    {Task::sentences, "sentences", "Sentences",
     "texts of a language; at each word the model must predict the next one",
     "the useful attention depends on the language: often to the word that decides the next one",
     true, false, false, true},
});

/// Numbers of one stream, one after the other.
class Draws {
  public:
    explicit Draws(std::uint64_t stream) : stream_(stream) {}
    /// Uniform in 0 … count − 1.
    Index below(Index count) {
        const std::uint64_t high = mix(stream_, counter_++) >> 32;
        return static_cast<Index>((high * static_cast<std::uint64_t>(count)) >> 32);
    }
    std::vector<Index> several(Index how_many, Index count) {
        std::vector<Index> values;
        for (Index n = 0; n < how_many; ++n) values.push_back(below(count));
        return values;
    }
    /// So many different ones of 0 … count − 1: the head of a shuffle of Fisher and Yates.
    std::vector<Index> different(Index how_many, Index count) {
        std::vector<Index> all(count);
        std::iota(all.begin(), all.end(), Index{0});
        for (Index n = 0; n < how_many; ++n) std::swap(all[n], all[n + below(count - n)]);
        all.resize(how_many);
        return all;
    }

  private:
    std::uint64_t stream_;
    std::uint64_t counter_ = 0;
};

using Tokens = std::vector<Index>;
constexpr std::uint64_t kMostPositions = 1024;  // above any position

std::string symbol(Index n, Index count) {
    return count <= 26 ? std::string(1, static_cast<char>('a' + n)) : fmt::format("{}", n);
}

// --- the sequence of each task

Tokens copy_tokens(const Spec& spec, Draws draws) {
    const Index half = spec.tokens / 2;
    const Tokens symbols = draws.several(half, spec.symbols);
    Tokens tokens = symbols;
    tokens.push_back(spec.symbols);
    tokens.insert(tokens.end(), symbols.begin(), symbols.end() - 1);
    return tokens;
}

Tokens induction_tokens(const Spec& spec, Draws draws) {
    const Index least = std::max(spec.tokens / 4, Index{2});
    const Index period = least + draws.below(spec.tokens / 2 - least + 1);
    const Tokens symbols = draws.different(period, spec.symbols);
    Tokens tokens;
    for (Index p = 0; p < spec.tokens; ++p) tokens.push_back(symbols[p % period]);
    return tokens;
}

Tokens recall_tokens(const Spec& spec, Draws draws) {
    const Index pairs = spec.tokens / 3;
    const Tokens keys = draws.different(pairs, spec.symbols);
    Tokens tokens;
    for (const Index key : keys) {
        tokens.push_back(key);
        tokens.push_back(spec.symbols + draws.below(spec.symbols));
    }
    while (std::ssize(tokens) < spec.tokens) tokens.push_back(keys[draws.below(pairs)]);
    return tokens;
}

Tokens majority_tokens(const Spec& spec, Draws draws) {
    Tokens tokens{spec.symbols};
    for (Index p = 1; p < spec.tokens; ++p) tokens.push_back(draws.below(spec.symbols));
    return tokens;
}

// --- and its answers

Tokens copy_targets(const Tokens& tokens) {
    Tokens targets(tokens.size(), kNoTarget);
    const std::size_t half = tokens.size() / 2;
    std::copy_n(tokens.begin(), half, targets.begin() + static_cast<std::ptrdiff_t>(half));
    return targets;
}

/// What followed the token when it stood last.
Tokens induction_targets(const Tokens& tokens) {
    Tokens targets;
    std::map<Index, std::size_t> last;
    for (std::size_t p = 0; p < tokens.size(); ++p) {
        const auto before = last.find(tokens[p]);
        targets.push_back(before == last.end() ? kNoTarget : tokens[before->second + 1]);
        last[tokens[p]] = p;
    }
    return targets;
}

Tokens recall_targets(const Tokens& tokens) {
    Tokens targets(tokens.size(), kNoTarget);
    const std::size_t pairs = tokens.size() / 3;
    for (std::size_t p = 2 * pairs; p < tokens.size(); ++p)
        for (std::size_t n = pairs; n-- > 0;)
            if (tokens[2 * n] == tokens[p]) targets[p] = tokens[2 * n + 1];
    return targets;
}

Tokens majority_targets(const Tokens& tokens) {
    Tokens targets(tokens.size(), kNoTarget);
    std::map<Index, Index> counts;
    for (std::size_t p = 1; p < tokens.size(); ++p) ++counts[tokens[p]];
    targets.front() =
        std::ranges::max_element(counts, {}, &std::pair<const Index, Index>::second)->first;
    return targets;
}

Tokens next_targets(const Tokens& tokens) {
    Tokens targets(tokens.begin() + 1, tokens.end());
    targets.push_back(kNoTarget);
    return targets;
}

Tokens targets_of(Task task, const Tokens& tokens) {
    Tokens sorted = tokens;
    switch (task) {
        case Task::copy:
            return copy_targets(tokens);
        case Task::reverse:
            return {tokens.rbegin(), tokens.rend()};
        case Task::sort:
            std::ranges::sort(sorted);
            return sorted;
        case Task::induction:
            return induction_targets(tokens);
        case Task::recall:
            return recall_targets(tokens);
        case Task::majority:
            return majority_targets(tokens);
        case Task::marked:
            return Tokens(tokens.size(), kNoTarget);
        case Task::text:
        case Task::grammar:
        case Task::sentences:
            break;
    }
    return next_targets(tokens);
}

std::vector<std::string> symbol_words(const Spec& spec) {
    std::vector<std::string> words;
    const bool letters = spec.symbols <= 26 || spec.task != Task::recall;
    for (Index n = 0; n < spec.symbols; ++n)
        words.push_back(letters ? symbol(n, spec.symbols) : fmt::format("k{}", n));
    if (spec.task == Task::copy) words.emplace_back(":");
    if (spec.task == Task::majority) words.emplace_back("?");
    for (Index n = 0; spec.task == Task::recall && n < spec.symbols; ++n)
        words.push_back(fmt::format("{}", n));
    return words;
}

Tokens tokens_of(const DrawnText& text) {
    Tokens tokens;
    for (const DrawnWord& word : text) tokens.push_back(word.token);
    return tokens;
}

/// The text's tokens, where each variable and each fixed word without an answer is kUnknownWord with the language's
/// probability.
Tokens partly_hidden(const DrawnText& text, const Language& language, std::uint64_t stream) {
    Tokens tokens = tokens_of(text);
    for (std::size_t p = 0; p < text.size(); ++p) {
        const bool fixed = text[p].variable < 0;
        const std::uint64_t number = fixed ? p : kMostPositions + text[p].variable;
        if (!(fixed && text[p].answer >= 0) && uniform(stream, number) < language.unknown())
            tokens[p] = 0;
    }
    return tokens;
}

/// The answer that a word of a variable gives, where only the first `seen` tokens are known: kUnknownWord if that is what
/// the variable is read as.
Index answer_of(const DrawnText& text, const Tokens& tokens, Index variable, Index word,
                std::size_t seen) {
    for (std::size_t j = 0; variable >= 0 && j < seen; ++j)
        if (text[j].variable == variable && tokens[j] == 0) return 0;
    return word;
}

Index kind_of(const DrawnText& text, Index variable) {
    return std::ranges::find(text, variable, &DrawnWord::variable)->kind;
}

}  // namespace

std::span<const TaskInfo> task_table() { return kTasks; }

const TaskInfo& info(Task task) { return kTasks[static_cast<std::size_t>(task)]; }

Sequences::Sequences(const Spec& spec) : spec_(spec) {
    if (info(spec.task).takes_language) {
        vocabulary_ = spec.language->vocabulary();
    } else if (spec.task == Task::grammar) {
        vocabulary_ = grammar_vocabulary();
    } else if (spec.task == Task::text) {
        Words words = words_of(spec.text);
        vocabulary_ = std::move(words.vocabulary);
        words_ = std::move(words.numbers);
    } else {
        vocabulary_ = symbol_words(spec);
    }
}

Example Sequences::draw(std::uint64_t stream) const {
    const auto count = static_cast<std::size_t>(spec_.tokens);
    Draws draws(stream);
    Tokens tokens;
    switch (spec_.task) {
        case Task::copy:
            tokens = copy_tokens(spec_, draws);
            break;
        case Task::induction:
            tokens = induction_tokens(spec_, draws);
            break;
        case Task::recall:
            tokens = recall_tokens(spec_, draws);
            break;
        case Task::majority:
            tokens = majority_tokens(spec_, draws);
            break;
        case Task::reverse:
        case Task::sort:
            tokens = draws.several(spec_.tokens, spec_.symbols);
            break;
        case Task::grammar:
            tokens = grammar_words(stream, count + 1);
            break;
        case Task::marked:
        case Task::sentences:
            break;  // draw_text()
        case Task::text: {
            const auto first = words_.begin() + draws.below(std::ssize(words_) - spec_.tokens);
            tokens.assign(first, first + spec_.tokens + 1);
        }
    }
    Tokens targets = targets_of(spec_.task, tokens);
    tokens.resize(count);  // of words one more was drawn, the last answer
    targets.resize(count);
    return {std::move(tokens), std::move(targets)};
}

Example Sequences::training(Index step, Index place) const {
    const std::uint64_t of_step = mix(mix(spec_.seed, 1), static_cast<std::uint64_t>(step));
    const std::uint64_t stream = mix(of_step, static_cast<std::uint64_t>(place));
    if (!info(spec_.task).takes_language) return draw(stream);
    if (const std::vector<Index>& turns = spec_.language->turns(); !turns.empty()) {
        const auto number =
            static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(spec_.batch) +
            static_cast<std::uint64_t>(place);
        const Index entry = turns[number % turns.size()];
        // By entry, not by place: what other texts are read as does not depend on a text that is left out.
        const std::uint64_t own = mix(of_step, static_cast<std::uint64_t>(entry));
        return shown_in_training(spec_.language->draw_entry(entry, mix(own, 1)), own);
    }
    return shown_in_training(spec_.language->draw(mix(stream, 1), Language::Part::training),
                             stream);
}

Example Sequences::shown_in_training(const DrawnText& text, std::uint64_t stream) const {
    Example example = example_of(text, partly_hidden(text, *spec_.language.value, mix(stream, 2)));
    const std::uint64_t echoes = mix(stream, 3);
    for (std::size_t p = 0; spec_.task == Task::marked && p < text.size(); ++p)
        if (text[p].answer < 0 && uniform(echoes, p) < spec_.language->echo())
            example.targets[p] = example.tokens[p];
    return example;
}

Example Sequences::fixed(std::uint64_t number) const {
    if (info(spec_.task).takes_language) {
        if (number == 0) return *typed(spec_.language->text());
        return held_out(number - 1).example;
    }
    return draw(mix(mix(spec_.seed, 2), number));
}

Example Sequences::example_of(const DrawnText& text, Tokens tokens) const {
    Example example;
    const auto from = spec_.language->answers_from();
    bool asked = !from;
    for (std::size_t p = 0; p < text.size(); ++p) {
        asked = asked || text[p].token == *from;
        Index target = kNoTarget;
        if (spec_.task == Task::marked && text[p].answer >= 0)
            target = answer_of(text, tokens, text[p].answer_variable, text[p].answer, text.size());
        if (spec_.task == Task::sentences && asked && p + 1 < text.size())
            target = answer_of(text, tokens, text[p + 1].variable, text[p + 1].token, p + 1);
        example.targets.push_back(target);
    }
    example.tokens = std::move(tokens);
    return example;
}

HeldOut Sequences::held_out(std::uint64_t number) const {
    ATTN_CHECK(info(spec_.task).takes_language, "a task with a language has held-out texts");
    const Language& language = *spec_.language.value;
    const auto part = language.holds_out() ? Language::Part::held_out : Language::Part::training;
    const DrawnText text = language.draw(mix(hash_text("held out"), number), part);
    HeldOut drawn;
    drawn.example = example_of(text, tokens_of(text));
    const auto& targets = drawn.example.targets;
    const bool marks = language.marks_answers();
    for (std::size_t p = 0; p < text.size(); ++p) {
        if (targets[p] == kNoTarget) continue;
        const bool next = spec_.task == Task::sentences;
        HeldOutAnswer answer{static_cast<Index>(p), !marks || text[p].answer >= 0, -1, {}};
        const Index variable = next ? text[p + 1].variable : text[p].answer_variable;
        if (variable >= 0) answer.kind = kind_of(text, variable);
        for (std::size_t j = 0; j < (next ? p + 1 : text.size()); ++j)
            if (variable >= 0 && j != p && text[j].variable == variable)
                answer.keys.push_back(static_cast<Index>(j));
        drawn.answers.push_back(std::move(answer));
    }
    return drawn;
}

Result<Example> Sequences::typed(std::string_view text) const {
    const std::vector<std::string> typed = split_words(text);
    const bool any = !info(spec_.task).symbols;
    const auto count = std::ssize(typed);
    if (count == 0 || count > spec_.tokens || (!any && count != spec_.tokens))
        return bad_input(fmt::format("the sentence has {}; expected {}{}", counted(count, "token"),
                                     any ? "1 to " : "", spec_.tokens));
    Example example;
    for (const std::string& word : typed) {
        const auto found = std::ranges::find(vocabulary_, word);
        if (found == vocabulary_.end() && info(spec_.task).takes_language) {
            example.tokens.push_back(0);  // kUnknownWord
            continue;
        }
        if (found == vocabulary_.end())
            return bad_input(fmt::format("'{}' is not in the vocabulary; expected one of {}{}",
                                         shortened(word), vocabulary_.front(),
                                         size() > 1 ? " … " + vocabulary_.back() : ""));
        example.tokens.push_back(found - vocabulary_.begin());
    }
    if (spec_.task == Task::copy && example.tokens[typed.size() / 2] != spec_.symbols)
        return bad_input(fmt::format("token {} is '{}'; expected ':'", typed.size() / 2,
                                     shortened(typed[typed.size() / 2])));
    if (spec_.task == Task::majority && example.tokens.front() != spec_.symbols)
        return bad_input(fmt::format("token 0 is '{}'; expected '?'", shortened(typed.front())));
    example.targets = targets_of(spec_.task, example.tokens);
    if (spec_.task == Task::sentences && spec_.language->answers_from()) {
        const auto from = std::ranges::find(example.tokens, *spec_.language->answers_from());
        std::fill(example.targets.begin(),
                  example.targets.begin() + (from - example.tokens.begin()), kNoTarget);
    }
    return example;
}

}  // namespace attn::train
