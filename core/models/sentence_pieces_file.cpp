// The protocol buffer of SentencePiece: fields of a number, a wire type and a value. Sources:
// protobuf.dev/programming-guides/encoding, github.com/google/sentencepiece, src/sentencepiece_model.proto.

#include <bit>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "core/models/sentence_pieces.h"
#include "core/models/tokenizer_step.h"
#include "core/text.h"

namespace attn {
namespace {

struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  // of a varint or 32 bits
    std::string_view bytes;   // of a text or a message
    float real() const { return std::bit_cast<float>(static_cast<std::uint32_t>(value)); }
};

[[noreturn]] void cut_off() {
    TokenizerStep::fault("is not a SentencePiece model, or is truncated");
}

std::uint64_t varint(std::string_view& from) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(from.front());
        from.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7FU} << shift;
        if (byte < 0x80) return value;
    }
    cut_off();
}

std::string_view taken(std::string_view& from, std::uint64_t bytes) {
    if (bytes > from.size()) cut_off();
    const std::string_view part = from.substr(0, bytes);
    from.remove_prefix(bytes);
    return part;
}

template <class Take>
void each_field(std::string_view message, Take take) {
    while (!message.empty()) {
        const std::uint64_t tag = varint(message);
        Field field{tag >> 3U, 0, {}};
        constexpr std::uint64_t kVarint = 0, kLong = 1, kBytes = 2, kShort = 5;
        switch (tag & 7U) {
            case kVarint:
                field.value = varint(message);
                break;
            case kLong:
                taken(message, 8);
                break;
            case kBytes:
                field.bytes = taken(message, varint(message));
                break;
            case kShort:
                for (std::size_t n = 0; const char byte : taken(message, 4))
                    field.value |= std::uint64_t{static_cast<unsigned char>(byte)} << (8 * n++);
                break;
            default:
                cut_off();
        }
        take(field);
    }
}

ScoredPieces::Piece piece_of(std::string_view message) {
    ScoredPieces::Piece piece;
    each_field(message, [&](const Field& field) {
        if (field.number == 1) piece.text = valid_utf8(field.bytes);
        if (field.number == 2) piece.score = static_cast<double>(field.real());
        if (field.number == 3) {
            if (field.value < 1 || field.value > 6)
                TokenizerStep::fault(
                    fmt::format("has a piece of type {}; expected 1 to 6", field.value));
            piece.kind = static_cast<PieceKind>(field.value);
        }
    });
    if (!std::isfinite(piece.score))
        TokenizerStep::fault(fmt::format("has the piece '{}' without a score; expected a number",
                                         shortened(piece.text)));
    return piece;
}

void read_trainer(std::string_view message, ScoredPieces& to) {
    constexpr std::uint64_t kUnigram = 1, kBytePairs = 2;
    each_field(message, [&](const Field& field) {
        if (field.number == 3 && field.value != kUnigram && field.value != kBytePairs)
            TokenizerStep::fault(
                fmt::format("has 'model_type' = {}; expected 1 (Unigram) or 2 (BPE)", field.value));
        if (field.number == 3) to.unigram = field.value == kUnigram;
        if (field.number == 24 && field.value != 0)
            TokenizerStep::fault("has 'treat_whitespace_as_suffix', which is not computed here");
        if (field.number == 35) to.by_bytes = field.value != 0;
    });
}

void read_normalizer(std::string_view message, ScoredPieces& to) {
    each_field(message, [&](const Field& field) {
        if (field.number == 2) to.characters = std::string(field.bytes);
        if (field.number == 3) to.prefix = field.value != 0;
        if (field.number == 4) to.squeezes = field.value != 0;
        if (field.number == 5 && field.value == 0)
            TokenizerStep::fault("has 'escape_whitespaces' = false, which is not computed here");
    });
}

}  // namespace

Result<ScoredPieces> parse_sentence_pieces(std::string_view bytes, std::string_view where) try {
    ScoredPieces read;
    read.unigram = true;  // where it is not said
    each_field(bytes, [&](const Field& field) {
        if (field.number == 1) read.pieces.push_back(piece_of(field.bytes));
        if (field.number == 2) read_trainer(field.bytes, read);
        if (field.number == 3) read_normalizer(field.bytes, read);
        if (read.size() > TokenizerStep::kMostTokens) TokenizerStep::fault("has too many pieces");
    });
    if (read.pieces.empty())
        TokenizerStep::fault("has no pieces; expected a model of SentencePiece");
    read.unknown = -1;
    for (Index id = 0; id < read.size() && read.unknown < 0; ++id)
        if (read.pieces[id].kind == PieceKind::unknown) read.unknown = id;
    if (read.unknown < 0) TokenizerStep::fault("has no piece for unknown text");
    return read;
} catch (const TokenizerFault& found) {
    return bad_input(fmt::format("{} {}", where, found.sentence));
}

}  // namespace attn
