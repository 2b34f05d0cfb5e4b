#include "app/common/document/trained.h"

#include <algorithm>

#include <fmt/format.h>

namespace attn::view {

nlohmann::ordered_json switches_to(const std::vector<train::Switch>& list) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const train::Switch& each : list) all.push_back({each.step, each.head, each.on ? 1 : 0});
    return all;
}

void read_switches(Fields& fields, std::string_view key, std::vector<train::Switch>& list) {
    const nlohmann::json* found = fields.find(key);
    if (found == nullptr) return;
    const auto whole = [](const nlohmann::json& value) { return value.is_number_integer(); };
    const auto fits = [&](const nlohmann::json& each) {
        return each.is_array() && each.size() == 3 && std::ranges::all_of(each, whole);
    };
    if (!found->is_array() || !std::ranges::all_of(*found, fits))
        return fields.complain(
            "has switches that are no list of [step, head, 0 or 1], head −1 for ÷√d_k");
    for (const nlohmann::json& each : *found)
        list.push_back({each[0].get<Index>(), each[1].get<Index>(), each[2].get<Index>() != 0});
}

nlohmann::ordered_json trained_to(const TrainedOrigin& origin) {
    return {{"spec", nlohmann::ordered_json::parse(train::spec_to_json(origin.spec))},
            {"switches", switches_to(origin.switches)},
            {"step", origin.step},
            {"sentence", origin.sentence},
            {"head", origin.head}};
}

void read_trained(Fields& fields, TrainedOrigin& origin) {
    read_object(fields, "trained", [&](Fields& inner) {
        const nlohmann::json* found = inner.find("spec");
        if (found == nullptr) return inner.complain("has no 'spec'");
        auto spec = train::spec_from_json(found->dump(), inner.where());
        if (!spec) return inner.complain(spec.error());
        origin.spec = *spec;
        read_switches(inner, "switches", origin.switches);
        if (auto fine = train::check(origin.spec, origin.switches); !fine)
            inner.complain(fine.error());
        inner.read_index("step", origin.step, 0, 1'000'000);
        inner.read("sentence", origin.sentence);
        inner.read_index("head", origin.head, 0, origin.spec.heads - 1);
    });
}

}  // namespace attn::view
