#pragma once

#include <filesystem>
#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "core/models/model.h"
#include "core/models/tokenizer.h"

namespace attn {

/// A text of a corpus.
struct CorpusText {
    Index number = 0;  // of its line, from 0
    std::string file;  // that it is from
    std::string
        text;  // or, of one that was given as the numbers of its tokens, what they stand for
    std::vector<Index> ids;  // as they were given; empty: the words were
    /// What a model reads to have the same tokens.
    std::string as_read() const;
    bool operator==(const CorpusText&) const = default;
};

/// Why a text is not among those that are measured.
enum class LeftOut : std::uint8_t { empty, too_long, unreadable, not_finite };
inline constexpr std::size_t kLeftOutCount = 4;
struct LeftOutInfo {
    std::string_view key;   // in files
    std::string_view text;  // "too long"
};
const LeftOutInfo& info(LeftOut why);

/// Its tokens; or why there are none.
struct ReadText {
    CorpusText text;
    std::vector<ModelToken> tokens;
    std::optional<LeftOut> left_out;
};
/// A line of a file of texts; where `json`, an object with "text", or with "tokens", the numbers of them.
ReadText read_text_line(const Model& model, std::string line, bool json);

/// The next line, without what ends it; false: there is none. Of one longer than kMostLineBytes the rest is read past, and
/// it is `too_long`.
bool next_line(std::istream& in, std::string& line, bool& too_long);
inline constexpr std::size_t kMostLineBytes = std::size_t{1} << 24;

/// Of a file, or the files of a folder, that tell it from others: all bytes of small ones, of large ones their size, the first
/// and the last. Sixteen hexadecimal digits.
Result<std::string> fingerprint(const std::filesystem::path& path);

}  // namespace attn
