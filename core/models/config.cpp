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
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

const ModelFamily* find_family(std::string_view key) {
    for (const ModelFamily& family : model_families())
        if (family.key == key) return &family;
    return nullptr;
}

/// Of a model that Hugging Face's transformers reads; `where`: its config.json.
std::string python_of_weights(std::string_view where) {
    const std::filesystem::path folder = std::filesystem::path(where).parent_path();
    return fmt::format(
        R"(import numpy, transformers as t; numpy.savez("attention.npz", **{{f"attentions.{{n}}": a.detach().float().numpy() for n, a in enumerate(t.AutoModel.from_pretrained({0}, attn_implementation="eager")(**t.AutoTokenizer.from_pretrained({0})("TEXT", return_tensors="pt"), output_attentions=True).attentions)}}))",
        python_text(folder.empty() ? "." : folder.string()));
}

void read_family(ConfigReader& reader, ModelConfig& config) {
    const json* type = reader.find({"model_type"});
    if (type == nullptr || !type->is_string())
        return reader.complain(
            fmt::format("has no 'model_type', which says what the model is; known are {}",
                        model_family_words()));
    config.family = find_family(type->get<std::string>());
    if (config.family == nullptr)
        reader.wrong(*type, fmt::format("one of {}; of another, Python saves the weights of "
                                        "attention, which are opened alone: {}",
                                        model_family_words(), python_of_weights(reader.where())));
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
    else
        reader.wrong(*named, "relu, gelu, gelu_new, gelu_pytorch_tanh or silu");
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
        reader.complain(
            fmt::format("has {} layers, of which some have a window; expected at most {}",
                        config.layers, kMostLayers));
        return windowed;
    }
    for (Index layer = 0; types == nullptr && layer < config.layers; ++layer)
        windowed.push_back(otherwise(layer));
    if (types == nullptr) return windowed;
    if (!types->is_array() || std::ssize(*types) != config.layers)
        reader.wrong(*types, fmt::format("one type for each of {} layers", config.layers));
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
    if (!config.window && rule != WindowRule::said) config.window = family.window_keys;
}

/// nullopt: where the file has one.
std::optional<bool> has_biases(ConfigReader& reader, BiasRule rule, std::string_view key) {
    if (rule == BiasRule::said || rule == BiasRule::unless_said)
        return reader.flag(key, rule == BiasRule::unless_said);
    return rule == BiasRule::none || rule == BiasRule::of_qkv ? std::optional(false) : std::nullopt;
}

/// Factors, caps and what else one family alone has.
void read_numbers(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    if (family.embedding_root)
        config.embedding_factor = std::sqrt(static_cast<double>(config.width));
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
    config.score_cap = reader.factor("attn_logit_softcapping", cap(family.score_cap));
    config.logit_cap = reader.factor("final_logit_softcapping", cap(family.logit_cap));
    config.parallel = reader.flag("use_parallel_residual", family.key == "gpt_neox");
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
    const json* classes = reader.find({"architectures"});
    if (classes == nullptr) return;
    if (!classes->is_array()) return reader.wrong(*classes, "a list of names of classes");
    for (const json& each : *classes) {
        const std::string name = each.is_string() ? each.get<std::string>() : "";
        if (name.find("For") != std::string::npos && !name.ends_with("ForCausalLM"))
            config.other_task = name;
    }
}

/// One, or a list. What is no number of a token, as −1, ends nothing.
void read_ends(ConfigReader& reader, ModelConfig& config) {
    const json* found = reader.find({"eos_token_id"});
    if (found == nullptr) return;
    for (const json& each : found->is_array() ? *found : json::array({*found}))
        if (each.is_number_unsigned() && each.get<std::uint64_t>() < std::uint64_t{kMostSize})
            config.end_tokens.push_back(each.get<Index>());
}

void read_sizes(ConfigReader& reader, ModelConfig& config) {
    config.width = reader.need_size({"hidden_size", "n_embd", "dim"});
    config.layers = reader.need_size({"num_hidden_layers", "n_layer", "n_layers"});
    config.heads = reader.need_size({"num_attention_heads", "n_head", "n_heads"});
    const bool as_queries = config.family->kv_heads == 0 || reader.is_null("num_key_value_heads");
    config.kv_heads = reader.size({"num_key_value_heads"})
                          .value_or(as_queries ? config.heads : config.family->kv_heads);
    config.head_width = reader.size({"head_dim"});
    if (!config.head_width && config.family->positions == Positions::rope)
        config.head_width =
            config.family->head_width > 0 ? config.family->head_width : config.columns_of_head();
    if (!config.family->reads_images) config.vocabulary = reader.need_size({"vocab_size"});
    config.hidden = reader.size({"intermediate_size", "n_inner", "hidden_dim"});
    if (const auto times = reader.factor("mlp_ratio", {}))
        config.hidden = static_cast<Index>(static_cast<double>(config.width) * *times);
    config.kinds = reader.size({"type_vocab_size"});
    config.most_tokens = reader.size({"max_position_embeddings", "n_positions"});
    config.epsilon = reader.positive({config.family->epsilon_key}, config.family->epsilon);
    if (config.heads > 0 && config.kv_heads > 0 && config.heads % config.kv_heads != 0)
        reader.complain(fmt::format("has {} heads and {} key-value heads; expected a divisor",
                                    config.heads, config.kv_heads));
}

/// id2label: {"0": "cat", …}.
void read_classes(ConfigReader& reader, ImageInput& image) {
    const json* found = reader.find({"id2label"});
    if (found == nullptr) return;
    constexpr std::string_view kExpected =
        "an object that names classes by number: {\"0\": \"cat\"}";
    if (!found->is_object()) return reader.wrong(*found, kExpected);
    for (const auto& each : found->items()) {
        const std::string& key = each.key();
        Index id = -1;
        const auto [end, fault] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (fault != std::errc() || end != key.data() + key.size() || id < 0 ||
            !each.value().is_string())
            return reader.wrong(*found, kExpected);
        image.classes[id] = each.value().get<std::string>();
    }
}

void read_image(ConfigReader& reader, ModelConfig& config) {
    if (!config.family->reads_images) return;
    ImageInput image;
    image.size = reader.need_size({"image_size"});
    image.patch = reader.need_size({"patch_size"});
    image.channels = reader.size({"num_channels"}).value_or(3);
    image.leading = config.family->names.distillation_token.empty() ? 1 : 2;
    constexpr Index kMostSide = 4096;  // so that pixels are 200 MB at most, whatever a file says
    if (image.size > kMostSide)
        reader.complain(
            fmt::format("has 'image_size' = {}; expected at most {}", image.size, kMostSide));
    if (image.patch > image.size)
        reader.complain(fmt::format("has 'patch_size' = {}; expected at most 'image_size' = {}",
                                    image.patch, image.size));
    if (image.channels != 1 && image.channels != 3) {
        reader.complain(fmt::format("has 'num_channels' = {}; expected 1 or 3", image.channels));
        image.channels = 3;
    }
    image.mean.assign(static_cast<std::size_t>(image.channels), 0.5);
    image.deviation = image.mean;
    read_classes(reader, image);
    config.image = std::move(image);
}

/// What would give the model other pixels, and is not computed here.
void refuse_other_resizing(ConfigReader& reader, const ImageInput& image) {
    if (!reader.flag("do_resize", true))
        reader.complain("has 'do_resize' = false; expected true: every image is resized here");
    if (reader.flag("do_center_crop", false))
        reader.complain("has 'do_center_crop', which is not computed here");
    constexpr int kBilinear = 2;  // Pillow's number
    if (const json* resample = reader.find({"resample"});
        resample != nullptr && *resample != kBilinear)
        reader.wrong(*resample, "2, bilinear: no other way of resizing is computed here");
    const json* size = reader.find({"size"});
    if (size == nullptr) return;
    const json sides = {{"height", image.size}, {"width", image.size}};
    if (*size != json(image.size) && *size != sides &&
        *size != json::array({image.size, image.size}))
        reader.wrong(*size, fmt::format("{}, which config.json has as 'image_size'", image.size));
}

}  // namespace

Result<ImageInput> parse_image_preparation(std::string_view text, std::string_view where,
                                           ImageInput image) {
    const auto parsed = parse_json(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object()) return bad_input(fmt::format("{} is no JSON object", where));
    ConfigReader reader(*parsed, where);
    refuse_other_resizing(reader, image);
    image.has_preparation = true;
    image.factor =
        reader.flag("do_rescale", true) ? reader.positive({"rescale_factor"}, 1.0 / 255.0) : 1.0;
    constexpr double kAny = -std::numeric_limits<double>::infinity();
    image.mean = reader.channels("image_mean", image.channels, 0.5, kAny);
    image.deviation = reader.channels("image_std", image.channels, 0.5, 0.0);
    if (!reader.flag("do_normalize", true)) {
        image.mean.assign(image.mean.size(), 0.0);
        image.deviation.assign(image.deviation.size(), 1.0);
    }
    if (auto fine = reader.finish(); !fine) return tl::unexpected(fine.error());
    return image;
}

Result<ModelConfig> parse_model_config(std::string_view text, std::string_view where) {
    const auto parsed = parse_json(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object()) return bad_input(fmt::format("{} is no JSON object", where));
    ConfigReader reader(*parsed, where);
    ModelConfig config;
    read_family(reader, config);
    if (config.family == nullptr) return tl::unexpected(reader.finish().error());
    reader.set_family(config.family);
    read_sizes(reader, config);
    read_activation(reader, config);
    read_numbers(reader, config);
    read_window(reader, config);
    read_image(reader, config);
    refuse_others(reader, config);
    read_task(reader, config);
    read_ends(reader, config);
    for (std::string& key : reader.unused())
        (is_family_key(key) ? config.ignored : config.unknown).push_back(std::move(key));
    if (auto fine = reader.finish(); !fine) return tl::unexpected(fine.error());
    return config;
}

Result<ModelConfig> read_model_config(const std::filesystem::path& file) {
    const auto text = read_text_file(file);
    if (!text) return tl::unexpected(text.error());
    return parse_model_config(*text, file.string());
}

}  // namespace attn
