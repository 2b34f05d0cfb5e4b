#include "core/models/config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "core/io/arrays/foreign.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/models/config_keys.h"
#include "core/models/config_reader.h"
#include "core/models/family.h"
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

const ModelFamily* find_family(std::string_view key) {
    for (const ModelFamily& family : model_families())
        if (family.key == key) return &family;
    return nullptr;
}

/// The Python code that records a run of a model that Hugging Face's transformers reads. The keys of its config.json show
/// whether it reads text, images, both, or sound.
std::string python_of_recording(ConfigReader& reader) {
    const std::filesystem::path path = std::filesystem::path(reader.where()).parent_path();
    const std::string folder = python_text(path.empty() ? "." : path.string());
    const auto has = [&](const char* key) { return reader.find({key}) != nullptr; };
    const bool sound = has("num_mel_bins"), both = has("vision_config") && has("text_config");
    const bool image = !sound && (both || has("image_size") || has("patch_size"));
    const char* const reads =
        sound ? R"(AutoFeatureExtractor.from_pretrained({})(SAMPLES, sampling_rate=16000,)"
        : both
            ? R"(AutoProcessor.from_pretrained({})(text=["TEXT"], images=PIL.Image.open("IMAGE"),)"
        : image ? R"(AutoImageProcessor.from_pretrained({})(PIL.Image.open("IMAGE"),)"
                : R"(AutoTokenizer.from_pretrained({})("TEXT",)";
    const bool starts = sound && has("decoder_start_token_id");
    return fmt::format(
        R"(import attnscope, {}transformers as t; m = t.AutoModel.from_pretrained({}); attnscope.record(m, "attention.npz").run(**t.{} return_tensors="pt"){}))",
        starts  ? "torch, "
        : image ? "PIL.Image, "
                : "",
        folder, fmt::format(fmt::runtime(reads), folder),
        starts ? ", decoder_input_ids=torch.tensor([[m.config.decoder_start_token_id]])" : "");
}

void read_family(ConfigReader& reader, ModelConfig& config) {
    const json* type = reader.find({"model_type"});
    if (type == nullptr || !type->is_string())
        return reader.complain(
            fmt::format("has no 'model_type', which says what the model is; known are {}",
                        model_family_text()));
    config.family = find_family(type->get<std::string>());
    if (config.family != nullptr) return;
    const std::string python = python_of_recording(reader);
    reader.wrong(*reader.find({"model_type"}),  // again, because the complaint names the last key
                 fmt::format("one of {}; of another, Python records the attention of a run, which "
                             "is opened alone: {}",
                             model_family_text(), python));
}

void read_activation(ConfigReader& reader, ModelConfig& config) {
    config.activation = config.family->activation;
    const json* named =
        reader.find({"hidden_act", "activation_function", "activation", "hidden_activation"});
    if (named == nullptr) return;
    const std::string name = named->is_string() ? named->get<std::string>() : "";
    if (name == "relu")
        config.activation = Activation::relu;
    else if (name == "gelu")
        config.activation = Activation::gelu;
    else if (name == "gelu_new" || name == "gelu_pytorch_tanh")
        config.activation = Activation::gelu_tanh;
    else if (name == "silu" || name == "swish")
        config.activation = Activation::silu;
    else if (name == "quick_gelu")
        config.activation = Activation::quick_gelu;
    else
        reader.wrong(*named, "relu, gelu, gelu_new, gelu_pytorch_tanh, quick_gelu or silu");
}

/// "relu", "gated-gelu", which is the approximation by tanh, "gated-silu": what T5's MLP is.
void read_feed_forward(ConfigReader& reader, ModelConfig& config) {
    if (config.family->names.plain_up.empty()) return;
    const bool gated = config.family->key == "mt5";
    const json* stated = reader.find({"feed_forward_proj"});
    const json text = stated == nullptr ? json(gated ? "gated-gelu" : "relu") : *stated;
    constexpr std::pair<const char*, Activation> kKnown[] = {{"relu", Activation::relu},
                                                             {"gelu", Activation::gelu},
                                                             {"silu", Activation::silu},
                                                             {"gelu_new", Activation::gelu_tanh}};
    const std::string name = text.is_string() ? text.get<std::string>() : "";
    config.plain_mlp = !name.starts_with("gated-");
    std::string act = config.plain_mlp ? name : name.substr(6);
    if (name == "gated-gelu") act = "gelu_new";
    const auto* const known =
        std::ranges::find_if(kKnown, [&](const auto& each) { return act == each.first; });
    if (known == std::end(kKnown))
        return reader.wrong(text, "relu, gelu, silu or gelu_new, or these after 'gated-'");
    config.activation = known->second;
    if (const json* again = reader.find({"dense_act_fn"}); again != nullptr && *again != act)
        reader.wrong(*again, fmt::format("{}, as 'feed_forward_proj' says", act));
    if (const json* again = reader.find({"is_gated_act"});
        again != nullptr && *again != !config.plain_mlp)
        reader.wrong(*again, fmt::format("{}, as 'feed_forward_proj' says", !config.plain_mlp));
}

/// Logits are multiplied by 1/√width: of files before transformers 5 where they are said to be of the embedding. Newer ones
/// say that of all; T5's say whether it is scaled, and mT5's is not.
void read_scaled_logits(ConfigReader& reader, ModelConfig& config) {
    const json* version = reader.find({"transformers_version"});
    const std::string by = version && version->is_string() ? version->get<std::string>() : "";
    int major = 0;
    std::from_chars(by.data(), by.data() + by.size(), major);
    const bool newer = major >= 5;
    const bool otherwise = config.tied && !(newer && config.family->key == "mt5");
    const bool scaled = reader.flag("scale_decoder_outputs", otherwise);
    if (scaled && config.family->causal)
        config.logit_factor = 1.0 / std::sqrt(static_cast<double>(config.width));
}

/// Buckets of distances, and the scores, which are not scaled.
void read_distances(ConfigReader& reader, ModelConfig& config) {
    if (config.family->positions != Positions::distances) return;
    config.score_factor = 1.0;
    config.buckets = reader.size({"relative_attention_num_buckets"}).value_or(32);
    config.farthest = reader.size({"relative_attention_max_distance"}).value_or(128);
    const Index near = config.buckets / (config.family->causal ? 2 : 4);  // one to a bucket
    if (near < 1 || config.farthest <= near)
        reader.complain(fmt::format(
            "has 'relative_attention_num_buckets' = {} and 'relative_attention_max_distance' = "
            "{}; expected at least 4, and a distance beyond the {} that have one of their own",
            config.buckets, config.farthest, near));
    const Index padding = reader.whole({"pad_token_id"}).value_or(0);
    config.start_id = reader.whole({"decoder_start_token_id"}).value_or(padding);
    reader.know({"is_encoder_decoder"});  // of no effect on what its own classes compute
    read_scaled_logits(reader, config);
}

/// Weights that are codes: of bitsandbytes' 8 bits alone.
void read_codes(ConfigReader& reader, const json& codes, ModelConfig& config) {
    const auto is = [&](const char* key, const json& otherwise, const json& expected) {
        return codes.is_object() && codes.value(key, otherwise) == expected;
    };
    config.eight_bits = is("load_in_8bit", false, true) && is("load_in_4bit", false, false) &&
                        is("quant_method", "bitsandbytes", "bitsandbytes");
    if (!config.eight_bits)
        reader.wrong(codes,
                     "none, or bitsandbytes with 'load_in_8bit': other weights that are codes are "
                     "not read here");
}

/// How positions turn; and what would change the numbers and is not computed here.
void refuse_others(ConfigReader& reader, ModelConfig& config) {
    read_rope(reader, config);
    for (const std::string_view key : {"scale_attn_by_inverse_layer_idx", "reorder_and_upcast_attn",
                                       "add_cross_attention", "use_mrope"})
        if (reader.flag(key, false))
            reader.complain(fmt::format("has '{}', which is not computed here", key));
    if (!reader.flag("scale_attn_weights", true))
        reader.complain("has 'scale_attn_weights' = false, which is not computed here");
    const json* positions = reader.find({"position_embedding_type"});
    if (positions != nullptr && *positions != "absolute") reader.wrong(*positions, "\"absolute\"");
    if (!config.family->causal && reader.flag("is_decoder", false))
        reader.complain("has 'is_decoder' = true; expected false: it is computed as an encoder");
    if (config.family->causal && !reader.flag("is_causal", true))
        reader.complain("has 'is_causal' = false; expected true: it is computed as a decoder");
    if (const json* codes = reader.find({"quantization_config"}))
        read_codes(reader, *codes, config);
    if (const json* pruned = reader.find({"pruned_heads"}); pruned != nullptr && !pruned->empty())
        reader.wrong(*pruned, "none: it is not computed here");
    reader.refuse_foreign(config.width);
}

/// Which layers have a window: those that `layer_types` says, else those that `otherwise` says.
template <class Otherwise>
std::vector<bool> windowed_layers(ConfigReader& reader, const ModelConfig& config,
                                  Otherwise otherwise) {
    constexpr Index kMostLayers = 1 << 16;
    std::vector<bool> windowed;
    const json* types = reader.find({"layer_types"});
    if (config.layers > kMostLayers) {
        reader.complain(fmt::format("has {}, of which some have a window; expected at most {}",
                                    counted(config.layers, "layer"), kMostLayers));
        return windowed;
    }
    for (Index layer = 0; types == nullptr && layer < config.layers; ++layer)
        windowed.push_back(otherwise(layer));
    if (types == nullptr) return windowed;
    if (!types->is_array() || std::ssize(*types) != config.layers)
        reader.wrong(*types,
                     fmt::format("one type for each of {}", counted(config.layers, "layer")));
    for (const json& type : *types) {
        if (type != "full_attention" && type != "sliding_attention")
            reader.wrong(*types, "\"full_attention\" or \"sliding_attention\" for each layer");
        windowed.push_back(type == "sliding_attention");
    }
    return windowed;
}

void read_window(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    const WindowRule rule = family.window;
    if (rule != WindowRule::ignored) reader.know({"sliding_window"});
    if (rule == WindowRule::switched)
        reader.know({"use_sliding_window", "max_window_layers", "layer_types"});
    if (rule == WindowRule::by_layer) reader.know({"layer_types", "sliding_window_pattern"});
    if (rule == WindowRule::ignored || reader.is_null("sliding_window")) return;
    if (rule == WindowRule::switched && !reader.flag("use_sliding_window", false)) return;
    if (rule == WindowRule::switched) {
        const Index first = reader.whole({"max_window_layers"}).value_or(28);
        config.windowed =
            windowed_layers(reader, config, [first](Index layer) { return layer >= first; });
    } else if (rule == WindowRule::by_layer) {
        const Index pattern =
            reader.size({"sliding_window_pattern"}).value_or(family.window_pattern);
        config.windowed = windowed_layers(
            reader, config, [pattern](Index layer) { return (layer + 1) % pattern != 0; });
    }
    const auto layers = std::ranges::count(config.windowed, true);
    const bool some = layers > 0 && layers < config.layers;
    const bool none = !config.windowed.empty() && layers == 0;
    if (!some) config.windowed.clear();
    if (none) return;
    config.window = reader.size({"sliding_window"});
    if (!config.window && rule != WindowRule::if_declared) config.window = family.window_keys;
}

/// nullopt: where the file has one.
std::optional<bool> has_biases(ConfigReader& reader, BiasRule rule, std::string_view key) {
    if (rule == BiasRule::if_declared || rule == BiasRule::default_true)
        return reader.flag(key, rule == BiasRule::default_true);
    return rule == BiasRule::none || rule == BiasRule::of_qkv ? std::optional(false) : std::nullopt;
}

/// Factors, caps and what else one family alone has.
void read_numbers(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    config.embedding_factor = family.embedding_root ? std::sqrt(static_cast<double>(config.width))
                              : family.embedding_twice ? 2.0
                                                       : 1.0;
    config.embedding_factor = reader.positive({"embedding_multiplier"}, config.embedding_factor);
    config.residual_factor = reader.positive({"residual_multiplier"}, 1.0);
    config.logit_factor = 1.0 / reader.positive({"logits_scaling"}, 1.0);
    if (family.key == "granite")
        config.score_factor = reader.positive({"attention_multiplier"}, 1.0);
    if (family.query_scalar > 0.0)
        config.score_factor =
            1.0 / std::sqrt(reader.positive({"query_pre_attn_scalar"}, family.query_scalar));
    const auto cap = [](double otherwise) {
        return otherwise > 0.0 ? std::optional(otherwise) : std::nullopt;
    };
    if (family.score_cap > 0.0)
        config.score_cap = reader.factor("attn_logit_softcapping", family.score_cap);
    else if (reader.find({"attn_logit_softcapping"}) !=
             nullptr)  // Gemma 3 has it, and no use of it
        config.ignored.emplace_back("attn_logit_softcapping");
    config.logit_cap = reader.factor("final_logit_softcapping", cap(family.logit_cap));
    config.parallel = reader.flag("use_parallel_residual", family.key == "gpt_neox");
    if (family.read_out == ReadOut::projected) {
        reader.know({"projection_dim"});  // that of both towers counts
        config.end_id = reader.whole({"eos_token_id"}).value_or(49407);
    }
    if (family.after_padding) config.padding_id = reader.whole({"pad_token_id"}).value_or(1);
    if (!family.names.router.empty()) {
        config.experts = reader.need_size({"num_local_experts"});
        config.experts_per_token = reader.need_size({"num_experts_per_tok"});
        if (config.experts_per_token > config.experts)
            reader.complain(fmt::format("has 'num_experts_per_tok' = {}; expected at most {}",
                                        config.experts_per_token, config.experts));
    }
    if (const auto most = reader.factor("swiglu_limit", 7.0); most && *most != 7.0)
        reader.wrong(*most, "7: another is not computed here");
    for (const std::string_view key : {"use_bidirectional_attention", "use_swiglu_ffn"})
        if (reader.flag(key, false))
            reader.complain(fmt::format("has '{}', which is not computed here", key));
}

/// Whether the folder is of a model that predicts tokens, and which biases it must have.
void read_task(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    config.tied = reader.flag("tie_word_embeddings", family.tied);
    config.out_bias = has_biases(reader, family.attention_biases, "attention_bias");
    config.qkv_bias =
        family.attention_biases == BiasRule::of_qkv ? std::optional(true) : config.out_bias;
    config.mlp_bias = has_biases(reader, family.mlp_biases, "mlp_bias");
    if (family.reads_images) config.qkv_bias = reader.flag("qkv_bias", true);
    if (family.read_out == ReadOut::token_classes) read_class_names(reader, config.classes);
    for (auto [name, text] : {std::pair{"default_text", &config.default_text},
                              std::pair{"contrast_text", &config.contrast_text}})
        if (const json* given = reader.find({name}); given != nullptr && given->is_string())
            *text = given->get<std::string>();
    const json* classes = reader.find({"architectures"});
    if (classes == nullptr) return;
    if (!classes->is_array()) return reader.wrong(*classes, "a list of names of classes");
    for (const json& each : *classes) {
        if (!each.is_string()) return reader.wrong(*classes, "a list of names of classes");
        const auto name = each.get<std::string>();
        const std::string_view own = family.read_out == ReadOut::token_classes
                                         ? "ForTokenClassification"
                                     : family.stack.empty() ? "ForCausalLM"
                                                            : "ForConditionalGeneration";
        config.alone |= name.ends_with("EncoderModel");
        if (name.find("For") != std::string::npos && !name.ends_with(own)) config.other_task = name;
    }
}

/// One, or a list. What is no number of a token, as −1, ends nothing.
void read_ends(ConfigReader& reader, ModelConfig& config) {
    const json* found = reader.find({"eos_token_id"});
    if (found == nullptr) return;
    for (const json& each : found->is_array() ? *found : json::array({*found})) {
        if (!each.is_number_integer())
            return reader.wrong(*found, "the number of a token, or a list of them");
        if (each.is_number_unsigned() && each.get<std::uint64_t>() < std::uint64_t{kMostSize})
            config.end_tokens.push_back(each.get<Index>());
    }
}

void read_sizes(ConfigReader& reader, ModelConfig& config) {
    config.width = reader.need_size({"hidden_size", "n_embd", "dim", "d_model"});
    config.layers = reader.need_size({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    if (const auto own = reader.size({"num_decoder_layers"}); own && config.family->causal)
        config.layers = *own;
    config.heads = reader.need_size({"num_attention_heads", "n_head", "n_heads", "num_heads"});
    const bool as_queries = config.family->kv_heads == 0 || reader.is_null("num_key_value_heads");
    config.kv_heads = reader.size({"num_key_value_heads"})
                          .value_or(as_queries ? config.heads : config.family->kv_heads);
    config.head_width = reader.size({"head_dim", "d_kv"});
    if (!config.head_width &&
        (config.family->positions == Positions::rope || config.family->head_width > 0))
        config.head_width =
            config.family->head_width > 0 ? config.family->head_width : config.columns_of_head();
    if (!config.family->reads_images) config.vocabulary = reader.need_size({"vocab_size"});
    config.hidden = reader.size({"intermediate_size", "n_inner", "hidden_dim", "d_ff"});
    if (const auto times = reader.factor("mlp_ratio", {})) {
        const double hidden = static_cast<double>(config.width) * *times;
        if (hidden < 1.0 || hidden > static_cast<double>(kMostSize))
            reader.wrong(*times,
                         fmt::format("a number that makes a hidden width from 1 to {}", kMostSize));
        else
            config.hidden = static_cast<Index>(hidden);
    }
    config.kinds = reader.size({"type_vocab_size"});
    config.most_tokens = reader.size({"max_position_embeddings", "n_positions"});
    config.epsilon = reader.positive({config.family->epsilon_key}, config.family->epsilon);
    if (config.heads > 0 && config.kv_heads > 0 && config.heads % config.kv_heads != 0)
        reader.complain(fmt::format("has {} and {} key-value heads; expected a divisor",
                                    counted(config.heads, "head"), config.kv_heads));
}

/// Of one stack.
Result<ModelConfig> config_of(ConfigReader& reader, ModelConfig config) {
    read_sizes(reader, config);
    read_activation(reader, config);
    read_numbers(reader, config);
    read_window(reader, config);
    read_image(reader, config);
    read_task(reader, config);
    read_ends(reader, config);
    read_feed_forward(reader, config);
    read_distances(reader, config);
    refuse_others(reader, config);
    for (std::string& key : reader.unused())
        (is_family_key(key) ? config.ignored : config.unknown).push_back(std::move(key));
    if (auto valid = reader.finish(); !valid) return tl::unexpected(valid.error());
    return config;
}

/// What the object that holds the stacks says of both.
void read_whole(ConfigReader& reader, ModelConfig& config) {
    for (const std::string_view key :
         {"text_config", "vision_config", "text_config_dict", "vision_config_dict"})
        if (const json* found = reader.find({key}); found != nullptr && !found->is_object())
            reader.wrong(*found, "an object");
    config.projection = reader.size({"projection_dim"}).value_or(512);
    reader.refuse_foreign(config.projection);
    config.unknown = reader.unused();
}

/// What is said of one stack: over the defaults of its class; an older name of the object says all of it anew.
json section_of(const json& whole, const ModelFamily& family) {
    const json defaults = json::parse(family.defaults);
    json made = defaults;
    const std::string name(family.section);
    if (const auto at = whole.find(name); at != whole.end() && at->is_object()) made.update(*at);
    if (const auto at = whole.find(name + "_dict"); at != whole.end() && at->is_object()) {
        made.update(defaults);
        made.update(*at);
    }
    return made;
}

}  // namespace

Result<ModelConfig> parse_model_config(std::string_view text, std::string_view where, Stack stack) {
    const auto parsed = parse_json(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object()) return bad_input(fmt::format("{} is not a JSON object", where));
    ConfigReader whole(*parsed, where);
    ModelConfig config;
    read_family(whole, config);
    if (config.family == nullptr) return tl::unexpected(whole.finish().error());
    if (stack == Stack::second) config.family = config.family->second;
    whole.set_family(config.family);
    if (config.family->section.empty()) return config_of(whole, std::move(config));
    read_whole(whole, config);
    if (auto valid = whole.finish(); !valid) return tl::unexpected(valid.error());
    const json section = section_of(*parsed, *config.family);
    ConfigReader reader(section, fmt::format("{} '{}'", where, config.family->section));
    reader.set_family(config.family);
    return config_of(reader, std::move(config));
}

Result<ModelConfig> read_model_config(const std::filesystem::path& file, Stack stack) {
    const auto text = read_text_file(file);
    if (!text) return tl::unexpected(text.error());
    return parse_model_config(*text, file.string(), stack);
}

}  // namespace attn
