#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "attn_tree.h"
#include "tests/io/scratch.h"

namespace attn::test {

inline std::filesystem::path golden_model(std::string_view family) {
    return std::filesystem::path(ATTN_TEST_DATA) / "models" / family;
}

inline void copy_model(const std::string& name, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    for (const char* file : {"config.json", "model.safetensors"})
        std::filesystem::copy_file(golden_model(name) / file, folder / file);
}

/// The small GPT-2 of random weights, with a tokenizer of letters; it takes 16 tokens.
inline std::filesystem::path gpt2_folder(const Scratch& scratch) {
    const std::filesystem::path folder = scratch / "gpt2";
    copy_model("gpt2", folder);
    std::ofstream(folder / "vocab.json") << R"({"a":0,"b":1,"ab":2,"Ġ":3,"c":4})";
    std::ofstream(folder / "merges.txt") << "#version: 0.2\na b\n";
    return folder;
}

struct WithGpt2 : OnDisk {
    const std::string folder = gpt2_folder(scratch).string();
};

/// A small model of random weights beside a tokenizer in which `text` is the tokens that make_models.py ran it over.
struct ReadableModel {
    std::string folder;
    std::string text, image;  // one of them; LLaVA reads both
};
inline ReadableModel readable_model(const Scratch& scratch, const std::string& family) {
    const std::filesystem::path folder = scratch / family;
    const auto image = golden_model(family) / "image.png";
    const bool among = family == "llava";
    if (family != "clip" && family != "siglip" && !among &&  // which read a text first
        std::filesystem::exists(image))
        return {golden_model(family).string(), "", image.string()};
    if (const auto sound = golden_model(family) / "sound.wav"; std::filesystem::exists(sound))
        return {golden_model(family).string(), sound.string(), ""};
    copy_model(family, folder);
    if (among)
        std::filesystem::copy_file(golden_model(family) / "preprocessor_config.json",
                                   folder / "preprocessor_config.json");
    using Ids = std::vector<std::size_t>;
    const bool bert = family == "bert";  // [CLS] and [SEP] are the first and the last
    const Ids ids = bert               ? Ids{30, 11, 39, 11}
                    : family == "gpt2" ? Ids{7, 7, 0, 49, 12, 3, 30}
                    : among            ? Ids{1, 44, 20, 43, 20, 5, 9, 33, 2}
                                       : Ids{1, 44, 20, 20, 5, 9, 33, 2};
    std::map<std::size_t, std::string> letters;
    std::string text;
    for (const std::size_t id : ids) {
        const std::string next(1, static_cast<char>('a' + letters.size()));
        text += letters.try_emplace(id, next).first->second + (bert ? " " : "");
    }
    std::string pairs;
    for (const auto& [id, letter] : letters)
        pairs += fmt::format(R"({}"{}":{})", pairs.empty() ? "" : ",", letter, id);
    letters.insert({{0, "[PAD]"}, {1, "[UNK]"}, {2, "[CLS]"}, {3, "[SEP]"}});
    if (bert) {
        std::ofstream lines(folder / "vocab.txt");
        for (std::size_t id = 0; id < 40; ++id)
            lines << (letters.contains(id) ? letters.at(id) : fmt::format("[{}]", id)) << '\n';
    } else {
        std::ofstream(folder / "vocab.json") << '{' << pairs << '}';
        std::ofstream(folder / "merges.txt") << "#version: 0.2\n";
        std::ofstream(folder / "tokenizer_config.json")
            << R"({"tokenizer_class": "GPT2Tokenizer"})";
    }
    return {folder.string(), text, among ? image.string() : ""};
}

/// Pieces of the sentence encoder's tokenizer, as of tokenizer.json.
inline void write_pieces(const std::filesystem::path& folder, const std::string& pieces) {
    std::ofstream(folder / "tokenizer.json")
        << R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["?",0],)" << pieces << "]}}";
}

/// The small sentence encoder of random weights: 2 layers of other widths, 4 heads.
inline std::filesystem::path encoder_folder(const Scratch& scratch) {
    const std::filesystem::path folder = scratch / "sentences";
    copy_model("use_lite", folder);
    write_pieces(folder, R"(["a",-1],["b",-1],["c",-1],[" ",-1])");
    return folder;
}

}  // namespace attn::test
