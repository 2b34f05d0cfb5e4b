// How positions turn, of modeling_rope_utils.py of Hugging Face's transformers 5.12.

#include <numbers>

#include "core/models/config.h"
#include "core/models/config_reader.h"
#include "core/models/family.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr std::string_view kRopeKeys[] = {
    "rope_type",
    "type",
    "rope_theta",
    "factor",
    "low_freq_factor",
    "high_freq_factor",
    "original_max_position_embeddings",
    "partial_rotary_factor",
    "attention_factor",
    "beta_fast",
    "beta_slow",
    "mscale",
    "mscale_all_dim",
    "truncate",
    "short_factor",
    "long_factor",
};

/// Columns of a head that turn.
Index turned_columns(const ModelConfig& config, const RopeRules& rules) {
    return rules.dims.value_or(config.columns_of_head());
}

/// The length that a model was first trained on: config.json's own 'original_max_position_embeddings' counts before that of
/// the object, as standardize_rope_params() has it.
Index trained_length(ConfigReader& reader, ConfigReader& inner, const ModelConfig& config) {
    constexpr Index kOfPhi3 = 4096;  // where config.json does not give it
    auto length = reader.size({"original_max_position_embeddings"});
    const auto of_object = inner.size({"original_max_position_embeddings"});
    if (!length && config.family->key == "phi3") length = kOfPhi3;
    if (!length) length = of_object;
    if (!length && !config.most_tokens)
        inner.complain(
            "has no 'original_max_position_embeddings', and there is no "
            "'max_position_embeddings'");
    return length.value_or(config.most_tokens.value_or(1));
}

/// What texts longer by `factor` are multiplied by: Peng et al. 2023, equation 22, with DeepSeek's `scale`.
double yarn_magnitude(double factor, double scale) {
    return factor <= 1.0 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0;
}

/// Pairs that turn often within the trained length stay, those that turn seldom go slower by the factor, between they blend:
/// Peng et al. 2023, arXiv:2309.00071.
void read_yarn(ConfigReader& reader, ConfigReader& inner, const ModelConfig& config,
               RopeRules& rules) {
    const auto length = static_cast<double>(trained_length(reader, inner, config));
    const double factor = inner.need_positive("factor");
    const double fast = inner.positive({"beta_fast"}, 32.0);
    const double slow = inner.positive({"beta_slow"}, 1.0);
    const Index dims = turned_columns(config, rules);
    const auto column_of = [&](double turns) {  // the pair that turns so often
        return static_cast<double>(dims) * std::log(length / (turns * 2.0 * std::numbers::pi)) /
               (2.0 * std::log(rules.base));
    };
    const bool whole = inner.flag("truncate", !inner.is_null("truncate"));
    double low = whole ? std::floor(column_of(fast)) : column_of(fast);
    double high = whole ? std::ceil(column_of(slow)) : column_of(slow);
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(dims - 1));
    if (low == high) high += 0.001;
    if (!(low < high))
        inner.complain(fmt::format(
            "blends from pair {} to pair {}; expected the first to be the smaller", low, high));
    rules.scaling = {RopeScale::yarn, factor, low, high};
    const auto of_scores = inner.factor("mscale", {}), of_all = inner.factor("mscale_all_dim", {});
    const double own = of_scores && of_all
                           ? yarn_magnitude(factor, *of_scores) / yarn_magnitude(factor, *of_all)
                           : yarn_magnitude(factor, 1.0);
    rules.magnitude = inner.positive({"attention_factor"}, own);
}

/// A divisor for each pair, others beyond the trained length: Ding et al. 2024, arXiv:2402.13753.
void read_longrope(ConfigReader& reader, ConfigReader& inner, const ModelConfig& config,
                   RopeRules& rules) {
    const Index pairs = turned_columns(config, rules) / 2;
    rules.divisors = inner.list("short_factor", pairs);
    rules.long_divisors = inner.list("long_factor", pairs);
    rules.short_length = trained_length(reader, inner, config);
    const auto length = static_cast<double>(rules.short_length);
    // Its own factor counts before the ratio of the lengths.
    const double factor =
        config.most_tokens
            ? inner.positive({"factor"}, static_cast<double>(*config.most_tokens) / length)
            : inner.need_positive("factor");
    if (factor > 1.0 && rules.short_length < 2)
        inner.complain("begins with texts of 1 token; expected longer ones");
    rules.magnitude =
        inner.positive({"attention_factor"},
                       factor <= 1.0 ? 1.0 : std::sqrt(1.0 + std::log(factor) / std::log(length)));
}

void read_llama3(ConfigReader& reader, ConfigReader& inner, const ModelConfig& config,
                 RopeScaling& scaling) {
    scaling.kind = RopeScale::llama3;
    scaling.factor = inner.need_positive("factor");
    scaling.low = inner.need_positive("low_freq_factor");
    scaling.high = inner.need_positive("high_freq_factor");
    scaling.original_length = static_cast<double>(trained_length(reader, inner, config));
    if (scaling.low >= scaling.high)
        inner.complain(
            fmt::format("has 'low_freq_factor' = {} and 'high_freq_factor' = {}; "
                        "expected the first to be the smaller",
                        scaling.low, scaling.high));
}

/// The share of a head's columns that turn.
void set_share(ConfigReader& reader, const ModelConfig& config, double share, RopeRules& rules) {
    if (share == 1.0) return rules.dims.reset();
    const auto dims = static_cast<Index>(static_cast<double>(config.columns_of_head()) * share);
    if (dims < 2 || dims % 2 != 0 || dims > config.columns_of_head())
        return reader.complain(
            fmt::format("turns {} of a head's {}; expected an even number of them", dims,
                        counted(config.columns_of_head(), "column")));
    rules.dims = dims;
}

/// One object of rope_scaling or rope_parameters, found last.
void read_rules(ConfigReader& reader, const json& object, const ModelConfig& config,
                RopeRules& rules) {
    auto type = object.is_object()
                    ? object.value("rope_type", object.value("type", json("default")))
                    : json("");
    if (config.family->key == "phi3" && (type == "su" || type == "yarn")) type = "longrope";
    ConfigReader inner = reader.within(object);
    if (object.is_object()) {
        rules.base = inner.positive({"rope_theta"}, rules.base);
        const json* part = inner.find({"partial_rotary_factor"});
        if (part != nullptr && config.family->partial_rope)
            set_share(reader, config, inner.positive({"partial_rotary_factor"}, 1.0), rules);
        else if (part != nullptr && *part != 1.0)
            inner.wrong(*part, "1: it is not computed here");
    }
    if (type == "linear")
        rules.scaling.kind = RopeScale::linear,
        rules.scaling.factor = inner.need_positive("factor");
    else if (type == "llama3")
        read_llama3(reader, inner, config, rules.scaling);
    else if (type == "yarn")
        read_yarn(reader, inner, config, rules);
    else if (type == "longrope")
        read_longrope(reader, inner, config, rules);
    else if (type != "default")
        return reader.wrong(object,
                            "type default, linear, llama3, yarn or longrope: other scaled "
                            "positions are not computed here");
    for (const auto& each : object.items())
        if (std::ranges::find(kRopeKeys, each.key()) == std::end(kRopeKeys) &&
            (config.family->names.delta_net.empty() || !each.key().starts_with("mrope_")))
            inner.complain(
                fmt::format("has the key '{}', which is not computed here", shortened(each.key())));
    reader.take_fault(inner);
}

/// Gemma 3 and ModernBERT: layers with a window turn by a base of their own; Gemma's `scaling` is of the others alone.
void read_window_rope(ConfigReader& reader, ModelConfig& config, const json* apart,
                      const json* scaling) {
    config.window_rope = config.rope;
    config.window_rope->base =
        reader.positive({"rope_local_base_freq", "local_rope_theta"}, 10000.0);
    if (apart != nullptr) read_rules(reader, *apart, config, *config.window_rope);
    if (scaling != nullptr && !config.family->causal)
        read_rules(reader, *scaling, config, *config.window_rope);
}

/// DeepSeek-V3: scores are multiplied by the square, of whatever type positions are scaled.
void read_score_factor(ConfigReader& reader, const json& object, ModelConfig& config) {
    if (object.value("rope_type", object.value("type", json("default"))) == "default") return;
    ConfigReader inner = reader.within(object);
    if (const auto of_all = inner.factor("mscale_all_dim", {})) {
        const double by = yarn_magnitude(inner.need_positive("factor"), *of_all);
        config.score_factor = by * by / std::sqrt(static_cast<double>(config.columns_of_head()));
    }
    reader.take_fault(inner);
}

}  // namespace

void read_rope(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    reader.know({"original_max_position_embeddings"});  // where positions are scaled
    config.rope.pairs = family.rope_pairs;
    if (config.latent) config.rope.dims = config.latent->turned;
    if (is_own_key(family, "rope_interleave") &&
        !reader.flag("rope_interleave", !reader.is_null("rope_interleave")))
        config.rope.pairs = RopePairs::half;
    config.rope.base =
        reader.positive({"rope_theta", "rotary_emb_base", "global_rope_theta"}, family.rope_base);
    static const json of_gpt_oss = {
        // where it is not stated
        {"rope_type", "yarn"}, {"factor", 32.0},    {"beta_fast", 32.0},
        {"beta_slow", 1.0},    {"truncate", false}, {"original_max_position_embeddings", 4096}};
    const json* found = reader.find({"rope_scaling", "rope_parameters"});
    if (found == nullptr && family.key == "gpt_oss") found = &of_gpt_oss;
    const bool has_share =
        found != nullptr && found->is_object() && found->contains("partial_rotary_factor");
    const double share =
        reader.positive({"rotary_pct", "partial_rotary_factor"}, family.rope_share);
    if (family.partial_rope && !has_share) set_share(reader, config, share, config.rope);
    // transformers turns scaled positions by the key of config.json or its default, not by the key of the object.
    if (has_share && !family.names.delta_net.empty() &&
        (*found)["partial_rotary_factor"] != share &&
        found->value("rope_type", found->value("type", json("default"))) != "default")
        reader.complain(
            fmt::format("has 'partial_rotary_factor' = {} for scaled positions; expected {}, the "
                        "one of config.json",
                        (*found)["partial_rotary_factor"].dump(), share));
    if (const json* other = reader.find({"rope_parameters"});
        found != nullptr && other != nullptr && *other != *found)
        return reader.wrong(*other, "none together with 'rope_scaling'");
    reader.find({"rope_scaling", "rope_parameters"});  // whose name errors have
    const bool two = family.window_ropes && found != nullptr && found->is_object() &&
                     found->contains("full_attention");
    const auto of = [&](const char* layers) {
        const auto at = found->find(layers);
        return at == found->end() ? nullptr : &*at;
    };
    if (family.window_ropes)
        read_window_rope(reader, config, two ? of("sliding_attention") : nullptr,
                         two ? nullptr : found);
    if (found != nullptr) {
        reader.find({"rope_scaling", "rope_parameters"});
        read_rules(reader, two ? *of("full_attention") : *found, config, config.rope);
        if (family.yarn_scores && found->is_object()) read_score_factor(reader, *found, config);
    }
}

}  // namespace attn
