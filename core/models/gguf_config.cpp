// Keys of GGUF as those of config.json. Sources: gguf-py/gguf/constants.py (Keys) and what convert_hf_to_gguf.py of llama.cpp
// writes for each class of models.

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/models/config_keys.h"
#include "core/models/family.h"
#include "core/models/gguf.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr struct Architecture {
    std::string_view name, family;
} kArchitectures[] = {
    {"llama", "llama"},     {"qwen2", "qwen2"},        {"qwen3", "qwen3"},       {"gpt2", "gpt2"},
    {"gemma2", "gemma2"},   {"gemma3", "gemma3_text"}, {"phi3", "phi3"},         {"olmo2", "olmo2"},
    {"granite", "granite"}, {"qwen2moe", "qwen2_moe"}, {"qwen3moe", "qwen3_moe"}};

/// After "ARCHITECTURE.". What config.json calls it; where that is a setting of another architecture it is refused there.
constexpr struct Key {
    std::string_view gguf;
    const char* config;
    bool must = false;
} kKeys[] = {
    {"block_count", "num_hidden_layers", true},
    {"embedding_length", "hidden_size", true},
    {"attention.head_count", "num_attention_heads", true},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"context_length", "max_position_embeddings"},
    {"attention.key_length", "head_dim"},
    {"rope.freq_base", "rope_theta"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
    {"rope.local.freq_base", "rope_local_base_freq"},
    {"attention.sliding_window", "sliding_window"},
    {"attention.sliding_window_pattern", "sliding_window_pattern"},
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"attention.scale", "attention_multiplier"},
    {"embedding_scale", "embedding_multiplier"},
    {"residual_scale", "residual_multiplier"},
    {"logit_scale", "logits_scaling"},
    {"attention.causal", "is_causal"},
    {"use_parallel_residual", "use_parallel_residual"},
    {"expert_count", "num_local_experts"},
    {"expert_used_count", "num_experts_per_tok"},
    {"expert_shared_count", "n_shared_experts"},
    {"leading_dense_block_count", "first_k_dense_replace"},
    {"attention.max_alibi_bias", "alibi"},
    {"attention.clamp_kqv", "clip_qkv"},
    {"attention.q_lora_rank", "q_lora_rank"},
    {"attention.kv_lora_rank", "kv_lora_rank"},
    {"attention.shared_kv_layers", "num_kv_shared_layers"},
    {"rope.scale_linear", "rope_ratio"},
};
/// Of no effect on a number, or read below.
constexpr std::string_view kRead[] = {
    "vocab_size",
    "feed_forward_length",
    "expert_feed_forward_length",
    "expert_shared_feed_forward_length",
    "attention.layer_norm_rms_epsilon",
    "attention.layer_norm_epsilon",
    "attention.value_length",
    "attention.key_length_swa",
    "attention.value_length_swa",
    "rope.dimension_count",
    "rope.dimension_count_swa",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.original_context_length",
    "rope.scaling.attn_factor",
    "rope.scaling.finetuned",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
    "tensor_data_layout",
};

/// What else of config.json is made of a key of the file. After "ARCHITECTURE.".
constexpr Key kMade[] = {
    {"feed_forward_length", "intermediate_size"},
    {"feed_forward_length", "n_inner"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.layer_norm_epsilon", "layer_norm_epsilon"},
    {"rope.scaling.type", "rope_scaling"},
    {"rope.scaling.type", "rope_type"},
    {"rope.scaling.factor", "factor"},
    {"rope.scaling.original_context_length", "original_max_position_embeddings"},
    {"rope.scaling.yarn_beta_fast", "beta_fast"},
    {"rope.scaling.yarn_beta_slow", "beta_slow"},
};

/// The keys of one architecture, and what becomes of them.
class GgufConfig {
  public:
    GgufConfig(const GgufArrays& file, std::string where)
        : file_(file), values_(file.header.values), where_(std::move(where)) {}

    Result<ModelConfig> read(std::vector<std::string>& notes) {
        find_architecture();
        if (ok()) take_keys();
        if (ok()) take_sizes();
        if (ok()) take_layout();
        if (ok()) take_rope();
        if (!ok()) return bad_input(std::move(fault_));
        if (const auto end = values_.find("tokenizer.ggml.eos_token_id"); end != values_.end())
            out_["eos_token_id"] = *end;
        auto config = parse_model_config(out_.dump(-1, ' ', false, json::error_handler_t::replace),
                                         where_ + std::string(kAsConfig));
        if (!config) return bad_input(in_own_names(config.error().text()));
        config->norms_as_computed = true;
        for (const std::string& key : config->ignored)
            notes.push_back(in_own_names(fmt::format(
                "'{}' of the file is not used: {}'s own code ignores it", key, family_->text)));
        config->ignored.clear();
        for (const std::string& key : unknown_)
            notes.push_back(
                fmt::format("'{}' of the file is not used: its effect is unknown", shortened(key)));
        return config;
    }

  private:
    bool ok() const { return fault_.empty(); }
    void complain(std::string_view sentence) {
        if (ok()) fault_ = fmt::format("{} {}", where_, sentence);
    }
    const json* find(std::string_view key) const {
        const auto found = values_.find(fmt::format("{}.{}", name_, key));
        return found == values_.end() ? nullptr : &*found;
    }
    double number(std::string_view key, double otherwise) const {
        const json* const found = find(key);
        const json value = found == nullptr ? json() : plain(*found);
        return value.is_number() ? value.get<double>() : otherwise;
    }
    bool has(std::string_view array) const { return file_.arrays->contains(array); }

    static constexpr std::string_view kAsConfig = ", read as config.json,";
    /// A sentence about config.json with the file's own keys, where it is about one of them.
    std::string in_own_names(std::string sentence) const {
        bool own = false;
        const auto rename = [&](const Key& key) {
            if (find(key.gguf) == nullptr) return;
            const std::string from = fmt::format("'{}'", key.config),
                              to = fmt::format("'{}.{}'", name_, key.gguf);
            for (std::size_t at = 0; (at = sentence.find(from, at)) != std::string::npos;
                 at += to.size()) {
                sentence.replace(at, from.size(), to);
                own = true;
            }
        };
        std::ranges::for_each(kKeys, rename);
        std::ranges::for_each(kMade, rename);
        if (const auto at = sentence.find(kAsConfig); own && at != std::string::npos)
            sentence.erase(at, kAsConfig.size());
        return sentence;
    }

    void find_architecture() {
        const auto stated = values_.find("general.architecture");
        if (stated == values_.end() || !stated->is_string())
            return complain("has no 'general.architecture', which says what the model is");
        name_ = stated->get<std::string>();
        const auto* const row = std::ranges::find(kArchitectures, name_, &Architecture::name);
        if (row == std::end(kArchitectures)) {
            std::vector<std::string_view> names;
            for (const Architecture& each : kArchitectures) names.push_back(each.name);
            return complain(fmt::format("has 'general.architecture' = \"{}\"; expected one of {}",
                                        shortened(name_), fmt::join(names, ", ")));
        }
        if (const auto parts = values_.find("split.count"); parts != values_.end() && *parts != 1)
            return complain(
                fmt::format("is one of {} files; expected a whole model, which llama.cpp's "
                            "llama-gguf-split merges of them",
                            shortened(parts->dump())));
        if (const auto type = values_.find("general.type");
            type != values_.end() && *type != "model")
            return complain(fmt::format("has 'general.type' = {}; expected \"model\"",
                                        shortened(type->dump())));
        // llama.cpp has Mixtral as a Llama with experts.
        const bool mixtral = name_ == "llama" && number("expert_count", 0.0) > 0.0;
        const std::string_view key = mixtral ? "mixtral" : row->family;
        family_ = &*std::ranges::find(model_families(), key, &ModelFamily::key);
        out_["model_type"] = key;
    }

    /// A list of one number a layer, all the same, is that number.
    static json plain(const json& value) {
        if (!value.is_array() || value.empty()) return value;
        const bool same =
            std::ranges::all_of(value, [&](const json& each) { return each == value[0]; });
        return same ? value[0] : value;
    }

    void take_keys() {
        for (const Key& key : kKeys) {
            const json* const found = find(key.gguf);
            if (found != nullptr) out_[key.config] = plain(*found);
            if (found == nullptr && key.must)
                complain(fmt::format("has no '{}.{}'", name_, key.gguf));
        }
        for (const auto& each : values_.items()) {
            const std::string_view key = each.key();
            const std::size_t dot = std::min(key.find('.'), key.size());
            const std::string_view prefix = key.substr(0, dot),
                                   rest = key.substr(std::min(dot + 1, key.size()));
            if (prefix == "general" || prefix == "tokenizer" || prefix == "quantize" ||
                prefix == "split")
                continue;
            // JSON has no such number: it would read as though the key were not there.
            if (each.value().is_number_float() && !std::isfinite(each.value().get<double>()))
                complain(fmt::format("has '{}' = {}; expected a finite number",
                                     shortened(each.key()), each.value().get<double>()));
            if (prefix == name_ && (std::ranges::find(kKeys, rest, &Key::gguf) != std::end(kKeys) ||
                                    std::ranges::find(kRead, rest) != std::end(kRead)))
                continue;
            unknown_.emplace_back(key);
        }
    }

    /// What has no one key, or another default than config.json's.
    void take_sizes() {
        const auto embedding = file_.arrays->about("token_embd.weight");
        if (!embedding || embedding->extents.size() != 2)
            return complain("has no array 'token_embd.weight' of two axes");
        out_["vocab_size"] = embedding->extents[0];
        if (const json* const hidden = find("feed_forward_length"))
            out_[is_own_key(*family_, "intermediate_size") ? "intermediate_size" : "n_inner"] =
                plain(*hidden);
        take_experts();
        const bool rms = family_->norm == Norm::rms;
        const std::string_view epsilon =
            rms ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon";
        if (find(epsilon) == nullptr)
            return complain(fmt::format("has no '{}.{}'", name_, epsilon));
        out_[std::string(family_->epsilon_key)] = *find(epsilon);
        out_["tie_word_embeddings"] = !has("output.weight");
        for (const auto& [key, array] :
             {std::pair{"attention_bias", "blk.0.attn_q.bias"}, {"mlp_bias", "blk.0.ffn_up.bias"}})
            if (is_own_key(*family_, key)) out_[key] = has(array);
        if (family_->positions != Positions::rope) return;
        if (!out_.contains("num_key_value_heads"))
            out_["num_key_value_heads"] = out_["num_attention_heads"];
        const double heads = number("attention.head_count", 1.0);
        if (!out_.contains("head_dim") && heads > 0)
            out_["head_dim"] = std::floor(number("embedding_length", 0.0) / heads);
        if (!out_.contains("rope_theta")) out_["rope_theta"] = 10000.0;
        take_query_scalar();
    }

    /// llama.cpp divides the weights of Qwen 3's experts by their sum, and not those of Qwen 2's.
    void take_experts() {
        if (name_ != "qwen2moe" && name_ != "qwen3moe") return;
        out_["norm_topk_prob"] = name_ == "qwen3moe";
        if (const auto experts = out_.find("num_local_experts");
            experts != out_.end() && !is_own_key(*family_, "num_local_experts")) {
            out_["num_experts"] = *experts;
            out_.erase("num_local_experts");
        }
        for (const auto& [key, name] :
             {std::pair{"expert_feed_forward_length", "moe_intermediate_size"},
              {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"}})
            if (find(key) != nullptr) out_[name] = *find(key);
    }

    /// Gemma's scale of scores is not in the file; llama.cpp takes that of the 27B models by their number of layers.
    void take_query_scalar() {
        if (family_->query_scalar == 0.0) return;
        const double layers = number("block_count", 0.0);
        const bool largest = layers == (name_ == "gemma2" ? 46.0 : 62.0);
        out_["query_pre_attn_scalar"] =
            largest ? json(number("embedding_length", 0.0) / number("attention.head_count", 1.0))
                    : out_["head_dim"];
    }

    void take_layout() {
        if (const json* const layout = find("tensor_data_layout");
            layout != nullptr && *layout != "reference")
            complain(fmt::format("has '{}.tensor_data_layout' = {}; expected \"reference\"", name_,
                                 shortened(layout->dump())));
        for (const auto& [key, other] :
             {std::pair{"attention.value_length", "attention.key_length"},
              {"attention.key_length_swa", "attention.key_length"},
              {"attention.value_length_swa", "attention.key_length"},
              {"rope.dimension_count_swa", "rope.dimension_count"}})
            if (find(key) != nullptr && find(other) != nullptr && *find(key) != *find(other))
                complain(fmt::format("has '{}.{}' = {} and '{}.{}' = {}; expected the same", name_,
                                     key, shortened(find(key)->dump()), name_, other,
                                     shortened(find(other)->dump())));
    }

    /// The numbers of a small array, as JSON.
    json list_of(const char* array) {
        constexpr std::uint64_t kMostDivisors = 4096;
        const auto about = file_.arrays->about(array);
        if (about && about->bytes > kMostDivisors * sizeof(float)) {
            complain(
                fmt::format("has the array '{}' of {}; expected a number for each pair of a "
                            "head's columns",
                            array, counted(about->bytes, "byte")));
            return {};
        }
        const auto read = file_.arrays->read(array);
        if (!read) {
            if (ok()) fault_ = read.error().text();  // which names the file
            return {};
        }
        return std::get<std::vector<float>>(read->values);
    }

    void take_rope() {
        if (family_->positions != Positions::rope) return;
        const double columns = out_["head_dim"].is_number() ? out_["head_dim"].get<double>() : 0.0;
        if (const double turned = number("rope.dimension_count", columns);
            turned != columns && columns > 0) {
            if (!family_->partial_rope)
                return complain(
                    fmt::format("has '{}.rope.dimension_count' = {}; expected {}, all columns of a "
                                "head: a part of them is not computed here",
                                name_, turned, columns));
            out_["partial_rotary_factor"] = turned / columns;
        }
        const json* const stated = find("rope.scaling.type");
        const json* const factor = find("rope.scaling.factor");
        // llama.cpp takes a factor without a type as linear, and 0 as none.
        const json type = stated != nullptr                   ? *stated
                          : factor != nullptr && *factor != 0 ? json("linear")
                                                              : json("none");
        json scaling = {{"rope_type", type}};
        if (const json* const length = find("rope.scaling.original_context_length"))
            scaling["original_max_position_embeddings"] = *length;
        if (factor != nullptr) scaling["factor"] = *factor;
        if (type == "yarn") {
            for (const auto& [key, name] : {std::pair{"rope.scaling.yarn_beta_fast", "beta_fast"},
                                            {"rope.scaling.yarn_beta_slow", "beta_slow"}})
                if (find(key) != nullptr) scaling[name] = *find(key);
            if (number("rope.scaling.attn_factor", 1.0) != 1.0)
                complain(fmt::format(
                    "has '{}.rope.scaling.attn_factor' = {}; expected 1: it is not computed here",
                    name_, number("rope.scaling.attn_factor", 1.0)));
        }
        const bool freqs = has("rope_freqs.weight"), factors = has("rope_factors_short.weight");
        if (freqs || factors) {
            // Each pair is slower by its own number.
            scaling["rope_type"] = "longrope";
            scaling["short_factor"] =
                list_of(freqs ? "rope_freqs.weight" : "rope_factors_short.weight");
            scaling["long_factor"] =
                freqs ? scaling["short_factor"] : list_of("rope_factors_long.weight");
            scaling["attention_factor"] = number("rope.scaling.attn_factor", 1.0);
            if (freqs)
                scaling["original_max_position_embeddings"] =
                    out_.value("max_position_embeddings", json(2));
        }
        if (const auto length = scaling.find("original_max_position_embeddings");
            length != scaling.end())
            out_["original_max_position_embeddings"] = *length;
        if (scaling["rope_type"] != "none") out_["rope_scaling"] = scaling;
    }

    const GgufArrays& file_;
    const json& values_;
    std::string where_;
    std::string name_;  // of the architecture
    const ModelFamily* family_ = nullptr;
    json out_ = json::object();
    std::vector<std::string> unknown_;
    std::string fault_;
};

}  // namespace

Result<ModelConfig> config_of_gguf(const GgufArrays& file, const std::string& where,
                                   std::vector<std::string>& notes) {
    return GgufConfig(file, where).read(notes);
}

}  // namespace attn
