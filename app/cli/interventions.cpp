#include "app/cli/interventions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/files/text.h"
#include "core/result.h"
#include "core/stages.h"

namespace attn::cli {
namespace {

/// The whole numbers of "0.1.3"; nullopt where one is none.
std::optional<std::vector<Index>> numbers_of(std::string_view text) {
    std::vector<Index> numbers;
    for (const std::string_view part : files::split(text, '.')) {
        const auto number = files::number_in<Index>(part);
        if (!number || *number < 0) return std::nullopt;
        numbers.push_back(*number);
    }
    return numbers;
}

std::string head_description(HeadPlace at) { return fmt::format("{}.{}", at.layer, at.head); }

std::vector<HeadPlace> parse_heads_off(std::string_view text) {
    std::vector<HeadPlace> heads;
    for (const std::string_view part : files::split(text)) {
        const auto numbers = numbers_of(part);
        if (!numbers || numbers->size() != 2)
            throw bad_input(fmt::format(
                "--off is '{}'; expected LAYER.HEAD,…, counted from 0, as in 0.1,1.2", text));
        heads.push_back({(*numbers)[0], (*numbers)[1]});
    }
    return heads;
}

RowIntervention parse_row(std::string_view text) {
    const std::size_t equals = text.find('=');
    const auto place = numbers_of(text.substr(0, equals));
    RowIntervention row;
    bool valid = equals != std::string_view::npos && place && place->size() == 3;
    if (valid)
        for (const std::string_view part : files::split(text.substr(equals + 1))) {
            const auto weight = files::number_in<double>(part);
            valid = valid && weight.has_value();
            row.weights.push_back(weight.value_or(0.0));
        }
    if (!valid)
        throw bad_input(
            fmt::format("--row is '{}'; expected LAYER.HEAD.QUERY=WEIGHT,…, a weight for each key, "
                        "as in 0.1.2=0.5,0.5,0",
                        text));
    row.at = {(*place)[0], (*place)[1]};
    row.query = (*place)[2];
    return row;
}

TypedPatch parse_patch(std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view place = text.substr(0, equals);
    const std::size_t dot = place.rfind('.');
    const std::string_view part = dot == std::string_view::npos ? "" : place.substr(dot + 1);
    const auto numbers = numbers_of(place.substr(0, dot));
    const auto stage = find_stage(part);
    const bool known = stage && (*stage == Stage::q || *stage == Stage::k || *stage == Stage::v);
    if (equals == std::string_view::npos || !known || !numbers || numbers->size() != 2)
        throw bad_input(fmt::format(
            "--patch is '{}'; expected LAYER.HEAD.q|k|v=TEXT, as in 0.1.v=\"A dog\"", text));
    return TypedPatch{{(*numbers)[0], (*numbers)[1]}, *stage, std::string(text.substr(equals + 1))};
}

}  // namespace

TypedInterventions parse_interventions(std::string_view off, const std::vector<std::string>& rows,
                                       const std::vector<std::string>& patches) {
    TypedInterventions typed;
    if (!off.empty()) typed.off = parse_heads_off(off);
    for (const std::string& text : rows) typed.rows.push_back(parse_row(text));
    for (const std::string& text : patches) typed.patches.push_back(parse_patch(text));
    return typed;
}

std::string description_of(HeadPlace off) { return fmt::format("--off {}", head_description(off)); }

std::string description_of(const RowIntervention& row) {
    return fmt::format("--row {}.{}={}", head_description(row.at), row.query,
                       fmt::join(row.weights, ","));
}

std::string description_of(const TypedPatch& patch) {
    return fmt::format("--patch {}.{}={}", head_description(patch.at), info(patch.part).key,
                       patch.text);
}

}  // namespace attn::cli
