#include "app/window/known_words.h"

#include <map>
#include <set>

#include "app/common/assets.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

using nlohmann::json;

/// Appends the words of a phrase; a template with slots has none of its own.
void add_phrase(const std::string& phrase, const std::set<std::string>& vocabulary,
                std::vector<std::string>& words) {
    if (phrase.find('{') != phrase.npos) return;
    std::istringstream parts(phrase);
    for (std::string word; parts >> word;)
        if (vocabulary.contains(word) && std::ranges::count(words, word) == 0)
            words.push_back(word);
}

std::vector<std::string> words_of(const json& entries, const std::set<std::string>& vocabulary) {
    std::vector<std::string> words;
    for (const json& entry : entries) {
        if (entry.is_string()) add_phrase(entry, vocabulary, words);
        if (!entry.is_object()) continue;
        for (const json& form : entry)
            if (form.is_string()) add_phrase(form, vocabulary, words);
    }
    return words;
}

Result<json> read_json(const std::filesystem::path& path) {
    return read_text_file(path).and_then(
        [&](const std::string& text) { return parse_json(text, path.string()); });
}

/// Of a recipe and the tokenizer of the model that it makes. Empty where one cannot be read: they are only listed.
std::vector<WordClass> read_classes(const std::filesystem::path& recipe,
                                    const std::filesystem::path& model) {
    const auto grammar = read_json(recipe), tokenizer = read_json(model / "tokenizer.json");
    const json::json_pointer classes("/language/classes"), ids("/model/vocab");
    if (!grammar || !tokenizer || !grammar->contains(classes) || !tokenizer->contains(ids))
        return {};
    std::set<std::string> vocabulary, others;
    for (const auto& [word, id] : tokenizer->at(ids).items())
        if (!word.starts_with('[')) vocabulary.insert(word);
    others = vocabulary;
    std::vector<WordClass> all;
    for (const auto& [name, entries] : grammar->at(classes).items()) {
        std::vector<std::string> words = words_of(entries, vocabulary);
        for (const std::string& word : words) others.erase(word);
        if (!words.empty()) all.push_back({name, std::move(words)});
    }
    if (!others.empty()) all.push_back({"other", {others.begin(), others.end()}});
    return all;
}

std::map<std::string, std::vector<WordClass>> read_all() {
    std::map<std::string, std::vector<WordClass>> all;
    for (const std::filesystem::path& recipe : asset_files("models")) {
        const std::filesystem::path model = recipe.parent_path() / recipe.stem();
        all.emplace(model.string(), read_classes(recipe, model));
    }
    return all;
}

}  // namespace

const std::vector<WordClass>& known_words(const AppState& state) {
    static const auto all = read_all();
    static const std::vector<WordClass> none;
    const ModelOrigin* const model = model_of(state.document());
    const auto found = model == nullptr ? all.end() : all.find(model->path);
    return found == all.end() ? none : found->second;
}

}  // namespace attn::view
