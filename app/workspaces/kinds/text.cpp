#include "app/workspaces/kinds/text.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/apart.h"
#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/view.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr int kDigits = 4;

template <class Enum>
const std::string& name_of(KindNames names, Enum n) {
    return names[static_cast<std::size_t>(n)].name;
}

/// "4 latents", "chunked softmax of 2 keys".
std::string operation_text(const AttentionKind& kind) {
    const std::string name = name_of(operation_names(), kind.operation);
    switch (kind.operation) {
        case Operation::chunked:
            return fmt::format("{}, {} per chunk", name, kind.chunk);
        case Operation::latents:
            return counted(kind.latents, "latent");
        case Operation::linformer:
            return "low rank, " + counted(kind.rank, "row");
        case Operation::state_space:
            return fmt::format("{} of {}", name, kind.state);
        case Operation::nsa:
            return fmt::format("{}, k = {}, blocks of {}, window {}", name, kind.keys, kind.chunk,
                               kind.window);
        default:
            return name;
    }
}

/// The mask of a kind that keeps the document's.
std::string document_mask(const Document& document) {
    return document.spec.mask.any() ? "the document's mask" : "no mask";
}

/// Settings that the words of another have.
constexpr std::string_view kInOthers[] = {"window", "keys", "chunk", "latents", "state", "rank"};

/// Every setting in which two kinds differ; a window counts with its mask.
std::vector<std::string_view> differences(const AttentionKind& a, const AttentionKind& b) {
    std::vector<std::string_view> keys;
    for (const KindSetting& setting : kind_settings()) {
        if (std::ranges::count(kInOthers, setting.key) > 0) continue;
        if (setting_text(a, setting.key) != setting_text(b, setting.key))
            keys.push_back(setting.key);
    }
    return keys;
}

/// What names this side against the other: the one setting in which they differ ("cosine"), else all of it.
std::string side_text(const KindsResult& result, KindsSide side) {
    const bool of_a = side == KindsSide::a;
    const AttentionKind& kind = of_a ? result.a_kind : result.b_kind;
    const auto keys = differences(kind, of_a ? result.b_kind : result.a_kind);
    if (keys.size() == 1 && keys.front() == "mask" && kind.mask == KindMask::document)
        return document_mask(*result.document);
    return keys.size() == 1 ? setting_text(kind, keys.front()) : kind_text(kind);
}

std::string output_text(const KindsResult& result) {
    if (std::isnan(result.error.largest)) return "some numbers of the output are not finite";
    if (result.error.largest == 0.0) return "the output does not change";
    return fmt::format("the output changes by at most {}", number(result.error.largest));
}

/// "The weights are the same" and whether the outputs are.
std::string equal_text(const KindsResult& result) {
    const std::string weights =
        result.difference.value == 0.0
            ? result.difference.not_numbers == 0
                  ? "A and B have equal weights"
                  : "A and B have equal weights where both are finite"
            : fmt::format("The weights of A and B are equal up to rounding (at most {})",
                          number(std::abs(result.difference.value)));
    if (result.error.largest == 0.0) return weights + ", and the outputs are equal.";
    return fmt::format("{}; {}.", weights, output_text(result));
}

std::string not_number_text(const KindsResult& result) {
    const Index count = result.difference.not_numbers;
    if (count == 0) return {};
    return fmt::format(" Left out: {} pair{} with a non-finite weight in A or B.", grouped(count),
                       count == 1 ? "" : "s");
}

constexpr double kRounding = 1e-12;

/// What of the document a side of the comparison lacks, for each is a kind of its own: "Not applied: the document's RoPE and
/// dropout."; "" where there is nothing. Its bias is left out where an operation has no logit for each pair.
std::string left_out_text(const KindsResult& result) {
    const Document& document = *result.document;
    const bool a = result.a.spec.mask.bias != nullptr, b = result.b.spec.mask.bias != nullptr;
    std::vector<std::string> names;
    for (const Feature& feature : features(
             document.spec, document.inputs->params,
             {"scale q_and_k", "window_left", "window_right", "global_tokens", "query_offset"})) {
        if (feature.key == "bias" && (a || b)) continue;
        names.push_back(feature.key == "softcap" ? "soft cap"
                        : feature.key == "sinks" ? "sinks"
                        : feature.key == "bias"  ? "bias"
                        : feature.key == info(document.spec.score).key
                            ? fmt::format("score “{}”", feature.title)
                            : std::string(feature.title));
    }
    if (document.spec.drops()) names.emplace_back("dropout");
    std::string text = a == b ? "" : fmt::format("Only {} has the document's bias.", a ? "A" : "B");
    if (names.empty()) return text;
    const std::string last = names.back();
    names.pop_back();
    return text + (text.empty() ? "" : " ") +
           (names.empty() ? fmt::format("Not applied: the document's {}.", last)
                          : fmt::format("Not applied: the document's {} and {}.",
                                        fmt::join(names, ", "), last));
}

}  // namespace

std::string setting_text(const AttentionKind& kind, std::string_view setting) {
    if (setting == "score") return name_of(score_names(), kind.score);
    if (setting == "position") return name_of(position_names(), kind.position);
    if (setting == "scaling") return kind.scaled ? "with scaling" : "without scaling";
    if (setting == "temperature")
        return fmt::format("τ = {}", significant(kind.temperature, kDigits));
    if (setting == "softcap")
        return kind.softcap == 0.0 ? "no soft cap"
                                   : fmt::format("soft cap {}", significant(kind.softcap, kDigits));
    if (setting == "sink")
        return kind.sink ? fmt::format("sink of logit {}", significant(*kind.sink, kDigits))
                         : "no sink";
    const std::string mask =
        kind.mask == KindMask::document ? "the document's mask" : name_of(mask_names(), kind.mask);
    if (setting == "mask" || setting == "window" || setting == "keys")
        return mask + (is_windowed(kind.mask) ? fmt::format(" of {}", kind.window) : "") +
               (rule_of(kind.mask) ? fmt::format(", k = {}", kind.keys) : "");
    return operation_text(kind);
}

std::string kind_text(const AttentionKind& kind) {
    const std::string score = setting_text(kind, "score");
    std::vector<std::string> items;
    const bool softmax =
        kind.operation == Operation::softmax || kind.operation == Operation::chunked;
    if (kind.operation != Operation::softmax) items.push_back(operation_text(kind));
    if (softmax || kind.score != Score::dot)
        items.push_back(kind.scaled && softmax ? "scaled " + score : score);
    const std::pair<bool, std::string_view> others[] = {
        {kind.temperature != 1.0, "temperature"},
        {kind.position != KindPosition::none, "position"},
        {kind.softcap != 0.0, "softcap"},
        {kind.sink.has_value(), "sink"},
        {kind.mask != KindMask::document, "mask"}};
    for (const auto& [is_set, setting] : others)
        if (is_set) items.push_back(setting_text(kind, setting));
    return fmt::format("{}", fmt::join(items, " · "));
}

std::string kind_tex(const AttentionKind& kind, const KindComputed& computed) {
    if (!computed.has_scores()) return std::string(info(computed.operation_spec.operation).tex);
    const bool turned =
        kind.position == KindPosition::rope_half || kind.position == KindPosition::rope_interleaved;
    std::string score(info(kind.score).tex);
    score.erase(0, score.find("= ") + 2);
    for (const std::string_view name : {"q_i", "k_j"})
        for (std::size_t at = score.find(name); turned && at != score.npos;
             at = score.find(name, at + 4))
            score.insert(at + 1, 1, '\'');
    std::vector<std::string> below;
    if (kind.scaled) below.emplace_back(R"(\sqrt{d_k})");
    if (kind.temperature != 1.0) below.emplace_back(R"(\tau)");
    if (kind.softcap != 0.0) below.emplace_back(R"(\mathrm{cap})");
    std::string tex = score;
    const bool tall = score.find("frac") != score.npos;
    if (!below.empty())
        tex = tall ? fmt::format(R"(\frac{{1}}{{{}}} \, {})", fmt::join(below, R"( \, )"), score)
                   : fmt::format(R"(\frac{{{}}}{{{}}})", score, fmt::join(below, R"( \, )"));
    const bool bias = computed.spec.mask.bias != nullptr;
    const bool first = computed.spec.bias_before_softcap;
    const bool inside = bias && first && kind.softcap != 0.0;
    if (inside) tex += R"( + \frac{\mathrm{bias}_{i,j}}{\mathrm{cap}})";
    if (kind.softcap != 0.0) tex = fmt::format(R"(\mathrm{{cap}} \cdot \tanh({}))", tex);
    if (bias && !inside) tex += R"( + \mathrm{bias}_{i,j})";
    if (computed.slope > 0.0) tex += R"( - \mathrm{slope} \cdot |i - j|)";
    return "S_{i,j} = " + tex;
}

std::string weight_text(const KindsResult& result, KindsSide side, Index row, Index column) {
    const double weight = result.side(side).weights()(row, column);
    return result.a.has_shares && result.b.has_shares ? percent(weight) : number(weight);
}

bool allows_none(const KindsResult& result) {
    const auto none = [](const KindComputed& side) {
        return std::ranges::none_of(side.allowed_of_row, [](Index keys) { return keys > 0; });
    };
    return none(result.a) && none(result.b);
}

std::string kinds_sentence(const AppState& state) {
    if (!kinds_look(state).result) return job_status_text(state, "kinds", "Computing.");
    const KindsResult& result = *kinds_look(state).result;
    if (!result.fault.empty()) return result.fault;
    if (!result.a.fault.empty()) return sentence("A cannot be computed here: " + result.a.fault);
    if (!result.b.fault.empty()) return sentence("B cannot be computed here: " + result.b.fault);
    if (allows_none(result))
        return "The masks of A and B allow no pair: there is nothing to compare.";
    const KindsDifference& most = result.difference;
    if (result.a_kind == result.b_kind)
        return "A and B have the same settings. Change a setting to compare.";
    if (most.compared == 0) return "Every difference is NaN or infinite.";
    if (std::abs(most.value) <= kRounding) return equal_text(result) + not_number_text(result);
    const std::string ties = most.equal == 0 ? "" : " and " + counted(most.equal, "other pair");
    const std::string a = side_text(result, KindsSide::a);
    const std::string b = side_text(result, KindsSide::b);
    const double weights[] = {result.b.weights()(most.row, most.column),
                              result.a.weights()(most.row, most.column)};
    const auto [here, there] = result.a.has_shares && result.b.has_shares
                                   ? percents_apart(weights[0], weights[1])
                                   : distinguished(weights[0], weights[1]);
    return fmt::format("B ({}) differs most from A ({}) at {}{}: {} against {}; {}.{}", b, a,
                       pair_name(state, {most.row, most.column}), ties, here, there,
                       output_text(result), not_number_text(result));
}

std::string kinds_note(const KindsResult& result) {
    std::vector<std::string> notes;
    std::string drawn;  // scores with parameters
    for (const Score score : {result.a_kind.score, result.b_kind.score})
        if (const std::string& name = name_of(score_names(), score);
            !info(score).params.empty() && drawn != name)
            drawn += (drawn.empty() ? "" : " and the ") + name;
    if (!drawn.empty())
        notes.push_back(
            fmt::format("The parameters of the {} score are drawn from N(0, 1/d_k) with seed {}: "
                        "they are not trained.",
                        drawn, result.call.seed));
    for (const KindComputed* side : {&result.a, &result.b})
        if (!side->is_softmax() && side->kind.operation != Operation::retention &&
            side->kind.operation != Operation::differential &&
            side->kind.operation != Operation::nsa &&
            !info(side->operation_spec.operation).params.empty())
            notes.push_back(fmt::format("{}: random parameters of seed {}, not trained.",
                                        info(side->operation_spec.operation).title,
                                        result.call.seed));
    for (const KindComputed* side : {&result.a, &result.b}) {
        if (side->slope == 0.0) continue;
        notes.push_back(fmt::format("ALiBi's slope is that of head {} of {}: {}{}.", side->head,
                                    side->slope_heads, number(side->slope),
                                    result.document->size.heads == 1
                                        ? " (the model has one head, whose slope is 0.0039)"
                                        : ""));
        break;
    }
    if (const std::string left = left_out_text(result); !left.empty()) notes.push_back(left);
    return fmt::format("{}", fmt::join(notes, " "));
}

std::string pair_text(const AppState& state) {
    const large::Cell cell = shown_pair(state);
    const std::string name = pair_name(state, {cell.row, cell.column});
    const auto& result = kinds_look(state).result;
    if (!result || !is_current(*result, state) || !result->whole()) return name + ".";
    return fmt::format("{}: A {}, B {}.", name,
                       weight_text(*result, KindsSide::a, cell.row, cell.column),
                       weight_text(*result, KindsSide::b, cell.row, cell.column));
}

}  // namespace attn::view
