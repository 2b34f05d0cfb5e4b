#include "core/corpus/texts.h"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/io/json.h"
#include "core/models/token_ids.h"
#include "core/models/weights.h"
#include "core/rng.h"
#include "core/text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Of one layer, in memory at once: 4 GiB.
constexpr Index kMostWeightsOfText = Index{1} << 30;

constexpr std::array<LeftOutInfo, kLeftOutCount> kLeftOut{
    {{"empty", "without a token"},
     {"too_long", "too long"},
     {"unreadable", "that cannot be read"},
     {"not_finite", "whose weights are not finite"}}};

constexpr std::array<std::string_view, 6> kModelFiles{".json",        ".txt", ".model",
                                                      ".safetensors", ".bin", ".gguf"};

/// nullopt: a list of something else.
std::optional<std::vector<Index>> numbers_in(const json& list, Index vocabulary) {
    std::vector<Index> ids;
    for (const json& each : list) {
        if (!each.is_number_unsigned() ||
            each.get<std::uint64_t>() >= static_cast<std::uint64_t>(vocabulary))
            return std::nullopt;
        ids.push_back(each.get<Index>());
    }
    return ids;
}

void read_ids(const Model& model, const json& list, ReadText& read) {
    const auto ids =
        list.is_array() ? numbers_in(list, model.weights().embedding.shape().t) : std::nullopt;
    if (!ids) {
        read.left_out = LeftOut::unreadable;
        return;
    }
    read.text.ids = *ids;
    for (const Index id : *ids) {
        read.tokens.push_back({id, model.shown(id)});
        read.text.text += model.text_of(id);
    }
    if (!model.tokenizer() && !ids->empty()) read.text.text.erase(0, 1);  // " 7 8"
}

void read_object(const Model& model, const std::string& line, ReadText& read) {
    const auto object = parse_json(line, "");
    const bool is_object = object && object->is_object();
    if (is_object && object->contains("tokens")) return read_ids(model, (*object)["tokens"], read);
    if (is_object && object->contains("text") && (*object)["text"].is_string())
        read.text.text = (*object)["text"].get<std::string>();
    else
        read.left_out = LeftOut::unreadable;
}

std::uint64_t hash_of(const fs::path& file, std::uint64_t size) {
    constexpr std::uint64_t kEnd = std::uint64_t{1} << 19;  // of each end
    std::ifstream in(file, std::ios::binary);
    std::string bytes(std::min(size, 2 * kEnd), '\0');
    const auto half = static_cast<std::streamsize>(bytes.size() / 2);
    in.read(bytes.data(), half);
    const auto rest = static_cast<std::streamsize>(bytes.size()) - half;
    in.seekg(static_cast<std::streamoff>(size) - rest);
    in.read(bytes.data() + half, rest);
    return mix(hash_text(bytes), size);
}

std::vector<fs::path> files_of(const fs::path& path) {
    std::error_code fault;
    if (!fs::is_directory(path, fault)) return {path};
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path, fault))
        if (entry.is_regular_file(fault) &&
            std::ranges::find(kModelFiles, entry.path().extension().string()) != kModelFiles.end())
            files.push_back(entry.path());
    std::ranges::sort(files);
    return files;
}

}  // namespace

std::string CorpusText::as_read() const {
    return ids.empty() ? text : fmt::format("{} {}", kTokenIds, fmt::join(ids, " "));
}

const LeftOutInfo& info(LeftOut why) { return kLeftOut[static_cast<std::size_t>(why)]; }

ReadText read_text_line(const Model& model, std::string line, bool json) {
    ReadText read;
    if (json && line.find_first_not_of(" \t\r") != line.npos)
        read_object(model, line, read);
    else
        read.text.text = valid_utf8(line);
    if (read.left_out) return read;
    if (read.tokens.empty()) {
        if (read.text.text.find_first_not_of(" \t\r") == std::string::npos)
            read.left_out = LeftOut::empty;
        else if (auto tokens = model.tokens_of(read.text.text))
            read.tokens = *std::move(tokens);
        else
            read.left_out = model.tokenizer() ? LeftOut::empty : LeftOut::unreadable;
    }
    const auto count = std::ssize(read.tokens);
    if (!read.left_out && (count > model.most_tokens().value_or(count) ||
                           count * count > kMostWeightsOfText / model.config().heads))
        read.left_out = LeftOut::too_long;
    else if (!read.left_out && !model.check_tokens(read.tokens))
        read.left_out = LeftOut::unreadable;
    return read;
}

bool next_line(std::istream& in, std::string& line, bool& too_long) {
    line.clear();
    too_long = false;
    std::streambuf* const from = in.rdbuf();
    constexpr int kEnd = std::char_traits<char>::eof();
    bool any = false;
    for (int c = from->sbumpc(); c != kEnd; c = from->sbumpc()) {
        any = true;
        if (c == '\n') break;
        if (line.size() < kMostLineBytes)
            line += static_cast<char>(c);
        else
            too_long = true;
    }
    if (line.ends_with('\r')) line.pop_back();
    if (too_long) line.clear();
    return any;
}

Result<std::string> fingerprint(const fs::path& path) {
    std::uint64_t hash = hash_text("corpus");
    for (const fs::path& file : files_of(path)) {
        std::error_code fault;
        const std::uint64_t size = fs::file_size(file, fault);
        if (fault)
            return bad_input(fmt::format("cannot read {}: {}", file.string(), fault.message()));
        hash = mix(hash, hash_of(file, size));
    }
    return fmt::format("{:016x}", hash);
}

}  // namespace attn
