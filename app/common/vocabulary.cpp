#include "app/common/vocabulary.h"

#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/assets.h"
#include "app/common/document/document.h"
#include "app/common/lower_case.h"
#include "app/common/nearest.h"
#include "app/common/state.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/text.h"
#include "core/train/language.h"

namespace attn::view {
namespace {

using nlohmann::json;

/// Appends each known part of a phrase; a template with slots has none of its own.
void add_phrase(const std::string& phrase, const std::set<std::string>& vocabulary,
                std::vector<std::string>& texts) {
    if (phrase.find('{') != phrase.npos) return;
    std::istringstream parts(phrase);
    for (std::string word; parts >> word;)
        if (vocabulary.contains(word) && std::ranges::count(texts, word) == 0)
            texts.push_back(word);
}

std::vector<std::string> texts_of(const json& list, const std::set<std::string>& vocabulary) {
    std::vector<std::string> texts;
    for (const json& entry : list) {
        if (entry.is_string()) add_phrase(entry, vocabulary, texts);
        if (!entry.is_object()) continue;
        for (const json& form : entry)
            if (form.is_string()) add_phrase(form, vocabulary, texts);
    }
    return texts;
}

Result<json> read_json(const std::filesystem::path& path) {
    return read_text_file(path).and_then(
        [&](const std::string& text) { return parse_json(text, path.string()); });
}

/// Of a recipe and the tokenizer of the model that it makes. Empty where one cannot be read: they are only listed.
std::vector<VocabularyClass> read_classes(const std::filesystem::path& recipe,
                                          const std::filesystem::path& model) {
    const auto grammar = read_json(recipe), tokenizer = read_json(model / "tokenizer.json");
    const json::json_pointer classes("/language/classes"), ids("/model/vocab");
    if (!grammar || !tokenizer || !grammar->contains(classes) || !tokenizer->contains(ids))
        return {};
    std::set<std::string> vocabulary, others;
    for (const auto& [word, id] : tokenizer->at(ids).items())
        if (!word.starts_with('[')) vocabulary.insert(word);
    others = vocabulary;
    std::vector<VocabularyClass> all;
    for (const auto& [name, entries] : grammar->at(classes).items()) {
        std::vector<std::string> texts = texts_of(entries, vocabulary);
        for (const std::string& word : texts) others.erase(word);
        if (!texts.empty()) all.push_back({name, std::move(texts)});
    }
    if (!others.empty()) all.push_back({"other", {others.begin(), others.end()}});
    return all;
}

std::shared_ptr<const train::Language> read_language(const std::filesystem::path& recipe) {
    const auto read = read_json(recipe);
    const json::json_pointer at("/language");
    if (!read || !read->contains(at)) return nullptr;
    return train::Language::parse(read->at(at).dump(), recipe.string()).value_or(nullptr);
}

std::map<std::string, std::vector<VocabularyClass>> read_all() {
    std::map<std::string, std::vector<VocabularyClass>> all;
    for (const std::filesystem::path& recipe : asset_files("models")) {
        const std::filesystem::path model = recipe.parent_path() / recipe.stem();
        all.emplace(model.string(), read_classes(recipe, model));
    }
    return all;
}

constexpr std::size_t kMostCompletions = 5, kMostMistakes = 2, kNearest = 3;

std::vector<std::string> entries_of(std::span<const VocabularyClass> vocabulary) {
    std::vector<std::string> all;
    for (const VocabularyClass& each : vocabulary)
        all.insert(all.end(), each.entries.begin(), each.entries.end());
    std::ranges::sort(all);
    all.erase(std::ranges::unique(all).begin(), all.end());
    return all;
}

/// The first class that has it.
std::string class_of(std::span<const VocabularyClass> vocabulary, const std::string& word) {
    for (const VocabularyClass& each : vocabulary)
        if (std::ranges::count(each.entries, word) > 0) return each.name;
    return {};
}

}  // namespace

std::optional<std::vector<Index>> marked_answers(const std::string& model_path,
                                                 std::span<const Index> tokens) {
    for (const std::filesystem::path& recipe : asset_files("models")) {
        if ((recipe.parent_path() / recipe.stem()).string() != model_path) continue;
        const auto language = read_language(recipe);
        return language && language->marks_answers() ? language->answers_of(tokens) : std::nullopt;
    }
    return std::nullopt;
}

const std::vector<VocabularyClass>& vocabulary_of(const AppState& state) {
    static const auto all = read_all();
    static const std::vector<VocabularyClass> none;
    const ModelOrigin* const model = model_of(state.document());
    const auto found = model == nullptr ? all.end() : all.find(model->path);
    return found == all.end() ? none : found->second;
}

std::vector<Completion> completions(std::span<const VocabularyClass> vocabulary,
                                    std::string_view typed) {
    const std::vector<std::string> known = entries_of(vocabulary);
    if (typed.empty() || std::ranges::count(known, typed) > 0) return {};
    const std::string start = lower_case(std::string(typed));
    std::vector<std::string> offered;
    for (const std::string& word : known)
        if (lower_case(word).starts_with(start)) offered.push_back(word);
    if (offered.empty()) {
        offered = nearest_candidates(typed, known, kMostCompletions);
        std::erase_if(offered, [&](const std::string& word) {
            const std::size_t mistakes = edit_distance(typed, word);
            return mistakes > kMostMistakes || mistakes * 2 >= typed.size();
        });
    }
    std::vector<Completion> best;
    for (std::size_t n = 0; n < std::min(offered.size(), kMostCompletions); ++n)
        best.push_back({offered[n], class_of(vocabulary, offered[n])});
    return best;
}

std::string_view word_before(std::string_view text, std::size_t end) {
    text = text.substr(0, end);
    const std::size_t space = text.find_last_of(" \t\n");
    return space == text.npos ? text : text.substr(space + 1);
}

std::string unknown_tokens_text(std::span<const std::string> unknown,
                                std::span<const std::string> known, std::string_view read_as) {
    if (unknown.empty()) return {};
    std::vector<std::string> parts;
    for (const std::string& word : unknown) {
        std::vector<std::string> near = nearest_candidates(word, known, kNearest);
        const std::size_t most = std::max<std::size_t>(1, word.size() / 2);
        std::erase_if(near,
                      [&](const std::string& each) { return edit_distance(word, each) > most; });
        parts.push_back(fmt::format("'{}'", shortened(word)));
        if (!near.empty()) parts.back() += fmt::format(" (nearest: {})", fmt::join(near, ", "));
    }
    return fmt::format("not in the vocabulary, so read as {}: {}", read_as, fmt::join(parts, ", "));
}

std::string unknown_tokens_text(const AppState& state) {
    const std::vector<std::string> known = entries_of(vocabulary_of(state));
    if (known.empty()) return {};
    std::vector<std::string> unknown;
    for (const std::string& token : state.document().tokens)
        if (token != train::kUnknownWord && std::ranges::count(known, token) == 0 &&
            std::ranges::count(unknown, token) == 0)
            unknown.push_back(token);
    return unknown_tokens_text(unknown, known, train::kUnknownWord);
}

}  // namespace attn::view
