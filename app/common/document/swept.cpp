#include "app/common/document/swept.h"

#include <nlohmann/json.hpp>

namespace attn::view {

std::string options_of(const SweepAsked& asked) {
    nlohmann::json made{{"part", kSweepParts[static_cast<std::size_t>(asked.part)]},
                        {"from", asked.from},
                        {"pairs", pairs_text(asked.pairs)},
                        {"nearest", asked.nearest}};
    if (asked.edges) made["edges"] = true;
    if (asked.circuit) made["circuit"] = {asked.circuit->layer, asked.circuit->head};
    return made.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

SweepAsked sweep_asked(const std::string& options) {
    SweepAsked asked;
    const auto parsed = nlohmann::json::parse(options, nullptr, false);
    if (!parsed.is_object()) return asked;
    const std::string part = parsed.value("part", "");
    for (std::size_t n = 0; n < std::size(kSweepParts); ++n)
        if (part == kSweepParts[n]) asked.part = static_cast<SweepPart>(n);
    asked.from = parsed.value("from", "");
    asked.pairs = parse_pairs(parsed.value("pairs", "")).value_or(PairedTokens{});
    asked.nearest = parsed.value("nearest", false);
    asked.edges = parsed.value("edges", false);
    if (const auto at = parsed.find("circuit"); at != parsed.end())
        asked.circuit = HeadPlace{at->at(0).get<Index>(), at->at(1).get<Index>()};
    return asked;
}

}  // namespace attn::view
