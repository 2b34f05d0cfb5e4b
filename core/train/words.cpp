#include "core/train/words.h"

#include <array>
#include <unordered_map>

#include "core/rng.h"

namespace attn::train {
namespace {

constexpr auto kNouns = std::to_array<std::string_view>(
    {"dog", "cat", "bird", "teacher", "girl", "dogs", "cats", "birds", "teachers", "girls"});
constexpr auto kDoing = std::to_array<std::string_view>(
    {"runs", "sleeps", "sings", "waits", "run", "sleep", "sing", "wait"});
constexpr auto kSeeing = std::to_array<std::string_view>(
    {"sees", "hears", "likes", "follows", "see", "hear", "like", "follow"});
constexpr auto kOld = std::to_array<std::string_view>({"old", "small", "quick", "brown"});
constexpr auto kOthers = std::to_array<std::string_view>({"the", "that", "."});

/// Writes sentences word by word.
class Grammar {
  public:
    explicit Grammar(std::uint64_t stream) : stream_(stream) {}

    std::vector<Index> words(std::size_t count) {
        while (words_.size() < count) sentence();
        words_.resize(count);
        return std::move(words_);
    }

  private:
    enum class Clause : std::uint8_t { main, relative };

    Index below(Index count) {
        return static_cast<Index>(mix(stream_, counter_++) % static_cast<std::uint64_t>(count));
    }
    void put(Index first, Index word) { words_.push_back(first + word); }

    // Words are numbered list by list; the second half of nouns and verbs is plural.
    static constexpr Index kFirstDoing = std::ssize(kNouns);
    static constexpr Index kFirstSeeing = kFirstDoing + std::ssize(kDoing);
    static constexpr Index kFirstOld = kFirstSeeing + std::ssize(kSeeing);
    static constexpr Index kThe = kFirstOld + std::ssize(kOld);
    static constexpr Index kThat = kThe + 1;
    static constexpr Index kStop = kThe + 2;

    /// One of the words of a number, 0 singular and 1 plural, of a list of so many.
    void put_of_number(Index first, Index size, Index number) {
        put(first, number * size / 2 + below(size / 2));
    }
    void see(Index number) { put_of_number(kFirstSeeing, std::ssize(kSeeing), number); }

    /// Returns its number.
    Index noun(Clause clause) {
        const Index number = below(2);
        put(kThe, 0);
        if (below(3) > 0) put(kFirstOld, below(std::ssize(kOld)));
        put_of_number(0, std::ssize(kNouns), number);
        if (clause == Clause::main && below(3) > 0) relative(number);
        return number;
    }

    void relative(Index number) {
        put(kThat, 0);
        if (below(2) == 0) {
            see(number);
            noun(Clause::relative);
        } else {
            see(noun(Clause::relative));
        }
    }

    void sentence() {
        const Index number = noun(Clause::main);
        if (below(2) == 0) {
            put_of_number(kFirstDoing, std::ssize(kDoing), number);
        } else {
            see(number);
            noun(Clause::main);
        }
        put(kStop, 0);
    }

    std::uint64_t stream_;
    std::uint64_t counter_ = 0;
    std::vector<Index> words_;
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

std::vector<std::string> split_words(std::string_view text) {
    std::vector<std::string> words;
    bool inside = false;
    for (const char c : text) {
        if (!is_space(c) && !inside) words.emplace_back();
        inside = !is_space(c);
        if (inside) words.back() += c;
    }
    return words;
}

Words words_of(std::string_view text) {
    Words words;
    std::unordered_map<std::string, Index> numbers;
    for (const std::string& word : split_words(text)) {
        const auto [at, added] = numbers.try_emplace(word, std::ssize(words.vocabulary));
        if (added) words.vocabulary.push_back(word);
        words.numbers.push_back(at->second);
    }
    return words;
}

std::vector<std::string> grammar_vocabulary() {
    std::vector<std::string> words;
    const auto add = [&](const auto& list) { words.insert(words.end(), list.begin(), list.end()); };
    add(kNouns);
    add(kDoing);
    add(kSeeing);
    add(kOld);
    add(kOthers);
    return words;
}

std::vector<Index> grammar_words(std::uint64_t stream, std::size_t count) {
    return Grammar(stream).words(count);
}

}  // namespace attn::train
