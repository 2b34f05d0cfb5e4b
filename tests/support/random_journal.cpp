#include "tests/support/random_journal.h"

#include <algorithm>
#include <array>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/rng.h"

namespace attn::test {
namespace {

using namespace attn::view;
using nlohmann::json;

constexpr std::uint64_t kLines = 30;

/// One of each action that is journaled, as JSON.
template <class... Structs>
std::vector<json> journaled(ActionList<Structs...>) {
    std::vector<json> lines;
    const auto add = [&](const Action& action) {
        if (const auto line = to_journal(action)) lines.push_back(json::parse(*line));
    };
    (add(Structs{}), ...);
    return lines;
}

struct Draw {
    std::uint64_t n;
    std::uint64_t next() { return n = mix(n, 1); }
    std::uint64_t below(std::uint64_t count) { return next() % count; }
    template <class T, std::size_t kCount>
    T of(const std::array<T, kCount>& list) {
        return list[below(kCount)];
    }
};

std::int64_t some_integer(Draw& draw) {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::array<std::int64_t, 16> kValues{
        0, 1, 2, 3, 4, 5, 7, 8, -1, 16, 31, 64, 65, 4096, Limits::max(), Limits::min()};
    return draw.below(4) == 0 ? draw.of(kValues) : static_cast<std::int64_t>(draw.below(6));
}

json some_real(Draw& draw) {
    constexpr std::array<double, 10> kValues{0.0,   -0.0, 1.0,   -2.5, 0.5,
                                             1e-30, 1e30, 100.0, 99.9, 3.0};
    return draw.of(kValues);
}

std::string some_text(std::string_view field, Draw& draw) {
    constexpr std::array<std::string_view, 6> kKeys{
        "the-cat-sat-down", "three-heads", "exercise",
        "cross-attention",  "empty",       "no such preset"};
    constexpr std::array<std::string_view, 15> kWorkspaces{
        "step",   "saturation", "large",   "masks", "kinds",     "numerics", "cost", "heads",
        "lookup", "compare",    "tensors", "learn", "gradients", "verify",   "attic"};
    constexpr std::array<std::string_view, 5> kBackends{"auto", "reference", "staged", "fused",
                                                        "abacus"};
    constexpr std::array<std::string_view, 8> kTexts{
        "", "a b c", "the cat sat on the mat the cat", "1.5", "-1e-3", "2, 3", "词\n\t“x”", "0"};
    constexpr std::array<std::string_view, 6> kSettings{"score", "position", "mask",
                                                        "sink",  "softcap",  "attic"};
    constexpr std::array<std::string_view, 8> kValues{"cosine", "additive", "alibi", "causal",
                                                      "off",    "0.5",      "1e9",   "rope-half"};
    constexpr std::array<std::string_view, 4> kPairs{"window", "rope", "scaled-unscaled", "none"};
    if (field == "setting") return std::string(draw.of(kSettings));
    if (field == "value") return std::string(draw.of(kValues));
    constexpr std::array<std::string_view, 5> kMeasures{"", "entropy", "previous", "norm_share",
                                                        "attic"};
    constexpr std::array<std::string_view, 6> kMemories{"capitals",       "two-near", "long-key",
                                                        "keys-as-values", "tie",      "attic"};
    constexpr std::array<std::string_view, 4> kRuns{"a", "b", "a", "c"};
    constexpr std::array<std::string_view, 6> kFields{"scaling", "d_k", "positions",
                                                      "layers",  "",    "attic"};
    constexpr std::array<std::string_view, 4> kExperiments{"recall", "narrow", "positions",
                                                           "attic"};
    constexpr std::array<std::string_view, 4> kTensors{"w_q", "scores", "output", "attic"};
    if (field == "gradient_of") return std::string(draw.of(kTensors));
    if (field == "run") return std::string(draw.of(kRuns));
    if (field == "field") return std::string(draw.of(kFields));
    if (field == "experiment") return std::string(draw.of(kExperiments));
    if (field == "memory") return std::string(draw.of(kMemories));
    if (field == "measure") return std::string(draw.of(kMeasures));
    if (field == "pair") return std::string(draw.of(kPairs));
    if (field == "key") return std::string(draw.of(kKeys));
    if (field == "workspace") return std::string(draw.of(kWorkspaces));
    if (field == "name") return std::string(draw.of(kBackends));
    return std::string(draw.of(kTexts));
}

std::string some_name(std::string_view field, const json& now, Draw& draw) {
    const auto stage = [&] { return std::string(stage_table()[draw.below(kStageCount)].key); };
    if (field == "stage") return stage();
    if (field == "tensor") return draw.below(3) == 0 ? "w_q" : stage();
    constexpr std::array<std::string_view, 3> kCausal{"off", "top-left", "bottom-right"};
    constexpr std::array<std::string_view, 2> kShapes{"line", "rectangle"};
    constexpr std::array<std::string_view, 2> kTabs{"compose", "conventions"};
    constexpr std::array<std::string_view, 4> kConventions{"nan", "after", "add_lowest", "none"};
    constexpr std::array<std::string_view, 5> kPages{"memory", "capacity", "similarity",
                                                     "alignment", "permutation"};
    constexpr std::array<std::string_view, 2> kOf{"qk", "x"};
    constexpr std::array<std::string_view, 2> kBy{"dot", "cosine"};
    constexpr std::array<std::string_view, 3> kSoftmax{"none", "rows", "columns"};
    constexpr std::array<std::string_view, 3> kOrders{"document", "reversed", "sorted"};
    constexpr std::array<std::string_view, 5> kPositions{"none", "sinusoidal", "rope", "alibi",
                                                         "causal"};
    if (field == "page") return std::string(draw.of(kPages));
    if (field == "of") return std::string(draw.of(kOf));
    if (field == "by") return std::string(draw.of(kBy));
    if (field == "softmax") return std::string(draw.of(kSoftmax));
    if (field == "order") return std::string(draw.of(kOrders));
    if (field == "position") return std::string(draw.of(kPositions));
    if (field == "causal") return std::string(draw.of(kCausal));
    if (field == "shape") return std::string(draw.of(kShapes));
    if (field == "tab") return std::string(draw.of(kTabs));
    if (field == "convention") return std::string(draw.of(kConventions));
    return now.get<std::string>();
}

/// A whole number that may be none.
bool is_optional(std::string_view field) {
    constexpr std::array<std::string_view, 5> kFields{"reach", "keys", "length", "left", "right"};
    return std::ranges::count(kFields, field) > 0;
}

/// The same fields with other values.
json varied(const json& value, std::string_view field, Draw& draw) {
    if (value.is_object()) {
        json object = json::object();
        for (const auto& [key, each] : value.items())
            object[key] = key == "action" ? each : varied(each, key, draw);
        return object;
    }
    if (value.is_boolean()) return draw.below(2) == 0;
    // Steps of a training take their time; beyond the limits they take none.
    constexpr std::array<std::int64_t, 6> kSteps{0, 1,  2,
                                                 3, -1, std::numeric_limits<std::int64_t>::max()};
    if (value.is_number_integer() && (field == "until" || field == "from")) return draw.of(kSteps);
    if (value.is_number_integer()) return some_integer(draw);
    if (value.is_number()) return some_real(draw);
    if (value.is_null()) return is_optional(field) ? json(some_integer(draw)) : json(nullptr);
    if (value.is_string() &&
        (field == "causal" || field == "shape" || field == "tab" || field == "page" ||
         field == "of" || field == "by" || field == "softmax" || field == "order" ||
         field == "position" || field == "convention" || field == "stage" || field == "tensor"))
        return some_name(field, value, draw);
    const bool chosen = field == "key" || field == "workspace" || field == "name" ||
                        field == "text" || field == "query" || field == "path" ||
                        field == "setting" || field == "value" || field == "pair" ||
                        field == "measure" || field == "memory" || field == "run" ||
                        field == "field" || field == "experiment" || field == "gradient_of";
    return chosen ? json(some_text(field, draw)) : value;
}

}  // namespace

Actions random_journal(std::uint64_t seed) {
    static const std::vector<json> lines = journaled(AllActions{});
    Draw draw{mix(seed, 77)};
    Actions actions;
    for (std::uint64_t n = 0; n < kLines; ++n) {
        const json& line = lines[draw.below(lines.size())];
        const auto action = from_journal(varied(line, "", draw).dump());
        if (action && !action->is<Quit>()) actions.push_back(*action);
    }
    return actions;
}

}  // namespace attn::test
