#include "app/window/vocabulary.h"

#include <map>
#include <set>

#include "app/common/assets.h"
#include "core/io/file.h"
#include "core/io/json.h"

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

std::map<std::string, std::vector<VocabularyClass>> read_all() {
    std::map<std::string, std::vector<VocabularyClass>> all;
    for (const std::filesystem::path& recipe : asset_files("models")) {
        const std::filesystem::path model = recipe.parent_path() / recipe.stem();
        all.emplace(model.string(), read_classes(recipe, model));
    }
    return all;
}

}  // namespace

const std::vector<VocabularyClass>& vocabulary_of(const AppState& state) {
    static const auto all = read_all();
    static const std::vector<VocabularyClass> none;
    const ModelOrigin* const model = model_of(state.document());
    const auto found = model == nullptr ? all.end() : all.find(model->path);
    return found == all.end() ? none : found->second;
}

}  // namespace attn::view
