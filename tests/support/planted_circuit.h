#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/heads/place.h"
#include "core/rng.h"

namespace attn::test {

// A Llama of random weights in which two heads are set by hand, an induction circuit (Elhage et al. 2021): kPrevious attends to
// the token before and writes which one it is; kInduction attends to where its own token was that one, and raises the logit of
// the token there. Its tokens are the letters a … l. A vector has the token in 0 … 11, the constant in 12, the token before in
// 16 … 27, the prediction in 32 … 43; the rest is random.

inline constexpr Index kCircuitLayers = 3, kCircuitHeads = 4, kCircuitWidth = 64;
inline constexpr HeadPlace kPrevious{0, 2}, kInduction{1, 1};
/// After the second c comes d, as after the first.
inline constexpr std::string_view kCircuitText = "abcdefghabc";

namespace planted {

inline constexpr Index kHeadWidth = 16, kLetters = 12, kHidden = 32;
inline constexpr Index kConstant = 12, kBefore = 16, kPredicted = 32;

/// A matrix [out, in] of a file.
struct Matrix {
    Index out = 0, in = 0;  // out 0: a vector
    std::vector<float> values;
    float& at(Index from, Index to) { return values[to * in + from]; }
};

inline Matrix random_matrix(Index out, Index in, std::uint64_t seed, double size) {
    Matrix made{out, in, {}};
    for (Index n = 0; n < out * in; ++n)
        made.values.push_back(
            static_cast<float>(size * normal(seed, static_cast<std::uint64_t>(n))));
    return made;
}

/// Columns of a head in q, k, v.
inline Index column(HeadPlace at, Index c) { return at.head * kHeadWidth + c; }

/// 0 in what belongs to a head: columns of q, k and v, rows of o.
inline void clear(Matrix& matrix, HeadPlace at, bool rows) {
    for (Index c = 0; c < kHeadWidth; ++c)
        for (Index n = 0; n < kCircuitWidth; ++n)
            (rows ? matrix.at(column(at, c), n) : matrix.at(n, column(at, c))) = 0.0F;
}

using Matrices = std::map<std::string, Matrix>;

inline std::string name_of(HeadPlace at, const char* part) {
    return fmt::format("model.layers.{}.self_attn.{}_proj.weight", at.layer, part);
}

inline void plant(Matrices& all) {
    for (const HeadPlace at : {kPrevious, kInduction})
        for (const char* part : {"q", "k", "v", "o"})
            clear(all[name_of(at, part)], at, *part == 'o');
    // Of the constant alone: Σ over two pairs of cos(ω (i − j − 1)), ω = 1 and 0.1, largest one token back.
    for (const auto& [pair, turn] : {std::pair{0, 1.0}, std::pair{1, 0.1}}) {
        constexpr double kSize = 2.5;
        all[name_of(kPrevious, "k")].at(kConstant, column(kPrevious, pair)) = kSize;
        auto& q = all[name_of(kPrevious, "q")];
        q.at(kConstant, column(kPrevious, pair)) = static_cast<float>(kSize * std::cos(-turn));
        q.at(kConstant, column(kPrevious, pair + 8)) = static_cast<float>(kSize * std::sin(-turn));
    }
    // RoPE hardly turns the pairs from the third on.
    for (Index letter = 0; letter < kLetters; ++letter) {
        const Index c = letter < 6 ? 2 + letter : 4 + letter;
        all[name_of(kPrevious, "v")].at(letter, column(kPrevious, c)) = 1.0F;
        all[name_of(kPrevious, "o")].at(column(kPrevious, c), kBefore + letter) = 0.7F;
        all[name_of(kInduction, "q")].at(letter, column(kInduction, c)) = 1.7F;
        all[name_of(kInduction, "k")].at(kBefore + letter, column(kInduction, c)) = 1.7F;
        all[name_of(kInduction, "v")].at(letter, column(kInduction, c)) = 1.0F;
        all[name_of(kInduction, "o")].at(column(kInduction, c), kPredicted + letter) = 1.0F;
        all["model.embed_tokens.weight"].at(letter, letter) = 4.0F;
        all["model.embed_tokens.weight"].at(kConstant, letter) = 4.0F;
        all["lm_head.weight"].at(kPredicted + letter, letter) = 2.0F;
    }
}

inline Matrices matrices() {
    Matrices all;
    std::uint64_t seed = 0;
    const auto random = [&](Index out, Index in, double size) {
        return random_matrix(out, in, ++seed, size);
    };
    const Matrix ones{0, kCircuitWidth, std::vector<float>(kCircuitWidth, 1.0F)};
    all["model.embed_tokens.weight"] = random(kLetters, kCircuitWidth, 0.05);
    all["lm_head.weight"] = random(kLetters, kCircuitWidth, 0.05);
    all["model.norm.weight"] = ones;
    for (Index layer = 0; layer < kCircuitLayers; ++layer) {
        const std::string block = fmt::format("model.layers.{}.", layer);
        for (const char* norm : {"input_layernorm", "post_attention_layernorm"})
            all[block + norm + ".weight"] = ones;
        for (const char* part : {"q", "k", "v", "o"})
            all[block + "self_attn." + part + "_proj.weight"] =
                random(kCircuitWidth, kCircuitWidth, 0.06);
        all[block + "mlp.gate_proj.weight"] = random(kHidden, kCircuitWidth, 0.06);
        all[block + "mlp.up_proj.weight"] = random(kHidden, kCircuitWidth, 0.06);
        all[block + "mlp.down_proj.weight"] = random(kCircuitWidth, kHidden, 0.06);
    }
    plant(all);
    return all;
}

inline void write_weights(const std::filesystem::path& file) {
    static_assert(std::endian::native == std::endian::little);
    std::string header, numbers;
    for (const auto& [name, matrix] : matrices()) {
        const std::string shape = matrix.out == 0 ? fmt::format("{}", matrix.in)
                                                  : fmt::format("{},{}", matrix.out, matrix.in);
        const std::size_t first = numbers.size();
        numbers.append(reinterpret_cast<const char*>(matrix.values.data()),
                       matrix.values.size() * sizeof(float));
        header += fmt::format(R"({}"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})",
                              header.empty() ? "{" : ",", name, shape, first, numbers.size());
    }
    header += "}";
    const std::uint64_t bytes = header.size();
    std::ofstream out(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    out << header << numbers;
}

}  // namespace planted

/// Writes the folder: config.json, weights, a tokenizer of letters.
inline std::string planted_circuit(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "config.json") << fmt::format(
        R"({{"model_type": "llama", "hidden_size": {}, "num_hidden_layers": {},
 "num_attention_heads": {}, "num_key_value_heads": {}, "vocab_size": {}, "intermediate_size": {},
 "rope_theta": 1e8, "rms_norm_eps": 1e-06, "hidden_act": "silu", "tie_word_embeddings": false,
 "max_position_embeddings": 64}})",
        kCircuitWidth, kCircuitLayers, kCircuitHeads, kCircuitHeads, planted::kLetters,
        planted::kHidden);
    std::string letters;
    for (Index n = 0; n < planted::kLetters; ++n)
        letters += fmt::format(R"({}"{}":{})", n == 0 ? "" : ",", static_cast<char>('a' + n), n);
    std::ofstream(folder / "vocab.json") << '{' << letters << '}';
    std::ofstream(folder / "merges.txt") << "#version: 0.2\n";
    std::ofstream(folder / "tokenizer_config.json") << R"({"tokenizer_class": "GPT2Tokenizer"})";
    planted::write_weights(folder / "model.safetensors");
    return folder.string();
}

}  // namespace attn::test
