#include "app/cli/interventions.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn::cli {
namespace {

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, number);
    if (fault != std::errc() || stop != end) return std::nullopt;
    return number;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

/// The whole numbers of "0.1.3"; nullopt where one is none.
std::optional<std::vector<Index>> numbers_of(std::string_view text) {
    std::vector<Index> numbers;
    for (const std::string_view part : split_at(text, '.')) {
        const auto number = number_of<Index>(part);
        if (!number || *number < 0) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

std::string head_words(HeadPlace at) { return fmt::format("{}.{}", at.layer, at.head); }

Result<std::vector<HeadPlace>> parse_heads_off(std::string_view text) {
    std::vector<HeadPlace> heads;
    for (const std::string_view part : split_at(text, ',')) {
        const auto numbers = numbers_of(part);
        if (!numbers || numbers->size() != 2)
            return bad_input(fmt::format(
                "--off is '{}'; expected LAYER.HEAD,…, counted from 0, as in 0.1,1.2", text));
        heads.push_back({(*numbers)[0], (*numbers)[1]});
    }
    return heads;
}

Result<RowIntervention> parse_row(std::string_view text) {
    const std::size_t equals = text.find('=');
    const auto place = numbers_of(text.substr(0, equals));
    RowIntervention row;
    bool fine = equals != std::string_view::npos && place && place->size() == 3;
    if (fine)
        for (const std::string_view part : split_at(text.substr(equals + 1), ',')) {
            const auto weight = number_of<double>(part);
            fine = fine && weight.has_value();
            row.weights.push_back(weight.value_or(0.0));
        }
    if (!fine)
        return bad_input(
            fmt::format("--row is '{}'; expected LAYER.HEAD.QUERY=WEIGHT,…, a weight for each key, "
                        "as in 0.1.2=0.5,0.5,0",
                        text));
    row.at = {(*place)[0], (*place)[1]};
    row.query = (*place)[2];
    return row;
}

Result<TypedPatch> parse_patch(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view place = text.substr(0, equals);
    const std::size_t dot = place.rfind('.');
    const std::string_view part = dot == std::string_view::npos ? "" : place.substr(dot + 1);
    const auto numbers = numbers_of(place.substr(0, dot));
    const auto stage = find_stage(part);
    const bool known = stage && (*stage == Stage::q || *stage == Stage::k || *stage == Stage::v);
    if (equals == std::string_view::npos || !known || !numbers || numbers->size() != 2)
        return bad_input(fmt::format(
            "--patch is '{}'; expected LAYER.HEAD.q|k|v=TEXT, as in 0.1.v=\"A dog\"", text));
    return TypedPatch{{(*numbers)[0], (*numbers)[1]}, *stage, std::string(text.substr(equals + 1))};
}

}  // namespace

Result<TypedInterventions> parse_interventions(std::string_view off,
                                               const std::vector<std::string>& rows,
                                               const std::vector<std::string>& patches) {
    TypedInterventions typed;
    if (!off.empty()) {
        auto heads = parse_heads_off(off);
        if (!heads) return tl::unexpected(heads.error());
        typed.off = *std::move(heads);
    }
    for (const std::string& text : rows) {
        auto row = parse_row(text);
        if (!row) return tl::unexpected(row.error());
        typed.rows.push_back(*std::move(row));
    }
    for (const std::string& text : patches) {
        auto patch = parse_patch(text);
        if (!patch) return tl::unexpected(patch.error());
        typed.patches.push_back(*std::move(patch));
    }
    return typed;
}

std::string words_of(HeadPlace off) { return fmt::format("--off {}", head_words(off)); }

std::string words_of(const RowIntervention& row) {
    return fmt::format("--row {}.{}={}", head_words(row.at), row.query,
                       fmt::join(row.weights, ","));
}

std::string words_of(const TypedPatch& patch) {
    return fmt::format("--patch {}.{}={}", head_words(patch.at), info(patch.part).key, patch.text);
}

}  // namespace attn::cli
