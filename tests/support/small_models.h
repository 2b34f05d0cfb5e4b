#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

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
