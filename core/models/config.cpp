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
                 fmt::format("one of {}. For another model, Python records the attention of one "
                             "run, which can then be opened: {}",
                             model_family_text(), python));
}

Activation read_activation(ConfigReader& reader, std::initializer_list<std::string_view> keys,
                           Activation otherwise) {
    const json* named = reader.find(keys);
    if (named == nullptr) return otherwise;
    const std::string name = named->is_string() ? named->get<std::string>() : "";
    if (name == "relu") return Activation::relu;
    if (name == "gelu") return Activation::gelu;
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
    if (name == "silu" || name == "swish") return Activation::silu;
    if (name == "quick_gelu") return Activation::quick_gelu;
    reader.wrong(*named, "relu, gelu, gelu_new, gelu_pytorch_tanh, quick_gelu or silu");
    return otherwise;
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
    const bool scaled =
        reader.flag("scale_decoder_outputs", otherwise && !reader.is_null("scale_decoder_outputs"));
    if (scaled && config.family->causal)
        config.logit_factor = 1.0 / std::sqrt(static_cast<double>(config.width));
}

/// Buckets of distances, and T5's scores, which are not scaled.
void read_distances(ConfigReader& reader, ModelConfig& config) {
    if (config.family->names.distances.empty()) return;
    config.buckets = reader.size({"relative_attention_num_buckets"}).value_or(32);
    config.farthest = reader.size({"relative_attention_max_distance"}).value_or(128);
    if (config.family->positions != Positions::distances) {
        if (config.buckets != 32)
            reader.complain(
                fmt::format("has 'relative_attention_num_buckets' = {}; expected 32: "
                            "MPNet has 32 buckets of distances",
                            config.buckets));
        return;
    }
    config.score_factor = 1.0;
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
                     "none, or bitsandbytes with 'load_in_8bit': other quantised weights are "
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

/// Which layers are so that differ; none after a fault, for their number is what the file claims.
template <class Is>
std::vector<bool> layers_that(ConfigReader& reader, const ModelConfig& config,
                              std::string_view differ, Is is) {
    constexpr Index kMostLayers = 1 << 16;
    std::vector<bool> layers;
    if (config.layers > kMostLayers) {
        reader.complain(fmt::format("has {}, of which some have {}; expected at most {}",
                                    counted(config.layers, "layer"), differ, kMostLayers));
        return layers;
    }
    for (Index layer = 0; layer < config.layers; ++layer) layers.push_back(is(layer));
    return layers;
}

/// Which layers have a window: those that `layer_types` names, else those that `otherwise` says.
template <class Otherwise>
std::vector<bool> windowed_layers(ConfigReader& reader, const ModelConfig& config,
                                  Otherwise otherwise) {
    const json* types = reader.find({"layer_types"});
    std::vector<bool> windowed;
    if (types == nullptr || config.layers > (1 << 16))
        return layers_that(reader, config, "a window", otherwise);
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

/// ModernBERT: half of `local_attention` to each side, in the layers that are not global.
void read_window_to_both_sides(ConfigReader& reader, ModelConfig& config) {
    if (const json* other = reader.find({"sliding_window"}))
        reader.wrong(*other, "none: 'local_attention' has the window");
    const Index pattern = reader.size({"global_attn_every_n_layers"}).value_or(3);
    config.windowed =
        windowed_layers(reader, config, [pattern](Index layer) { return layer % pattern != 0; });
    config.window = reader.whole({"local_attention"}).value_or(config.family->window_keys) / 2 + 1;
    if (std::ranges::count(config.windowed, true) == 0) config.window.reset();
}

void read_window(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    const WindowRule rule = family.window;
    if (rule == WindowRule::both_sides) return read_window_to_both_sides(reader, config);
    const bool switched = rule == WindowRule::switched || rule == WindowRule::switched_whole ||
                          rule == WindowRule::switched_even;
    if (rule != WindowRule::ignored) reader.know({"sliding_window"});
    reader.know({"use_sliding_window", "max_window_layers", "layer_types"});
    if (rule == WindowRule::by_layer) reader.know({"layer_types", "sliding_window_pattern"});
    const bool on = reader.flag("use_sliding_window", false);
    if (rule == WindowRule::still && reader.find({"sliding_window"}) == nullptr) {
        if (const json* types = reader.find({"layer_types"});
            types != nullptr && types->dump().find("sliding") != std::string::npos)
            reader.wrong(*types, "'sliding_window' beside it, or no layer with a window");
        return;
    }
    if (rule == WindowRule::ignored || reader.is_null("sliding_window")) return;
    if (switched && !on) return;
    if (rule == WindowRule::switched || rule == WindowRule::switched_even) {
        const Index bound = reader.whole({"max_window_layers"}).value_or(28);
        const bool even = rule == WindowRule::switched_even;
        config.windowed = windowed_layers(reader, config, [bound, even](Index layer) {
            return even ? layer < bound && layer % 2 == 0 : layer >= bound;
        });
    } else if (rule == WindowRule::still) {
        config.windowed = windowed_layers(reader, config,
                                          [&](Index layer) { return on && !config.turns(layer); });
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
    if (!config.window && rule != WindowRule::if_declared && rule != WindowRule::still)
        config.window = family.window_keys;
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
    if (reader.flag("scale_embedding", false)) {
        if (family.key == "whisper")  // has it, and no use of it
            config.ignored.emplace_back("scale_embedding");
        else
            config.embedding_factor = std::sqrt(static_cast<double>(config.width));
    }
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
    if (family.caps_logits)
        config.logit_cap = reader.factor("final_logit_softcapping", cap(family.logit_cap));
    else if (reader.find({"final_logit_softcapping"}) != nullptr)
        config.ignored.emplace_back("final_logit_softcapping");
    config.parallel = config.parallel || reader.flag("use_parallel_residual", family.parallel);
    if (family.key == "cohere") config.logit_factor = reader.need_positive("logit_scale", 0.0625);
    if (family.read_out == ReadOut::projected) {
        reader.know({"projection_dim"});  // that of both towers counts
        config.end_id = reader.whole({"eos_token_id"}).value_or(49407);
        if (family.reads_last)
            config.projection = reader.size({"projection_size"}).value_or(config.width);
    }
    if (family.after_padding && family.names.distances.empty())  // MPNet's is 1, whatever the key
        config.padding_id = reader.whole({"pad_token_id"}).value_or(1);
    if (!family.names.router.empty()) {
        const auto count = [&](std::initializer_list<std::string_view> names, Index otherwise) {
            return otherwise > 0 ? reader.size(names).value_or(otherwise) : reader.need_size(names);
        };
        config.experts =
            count({"n_routed_experts", "num_local_experts", "num_experts"}, family.experts);
        config.experts_per_token = count({"num_experts_per_tok"}, family.experts_per_token);
        if (config.experts_per_token > config.experts)
            reader.complain(fmt::format("has 'num_experts_per_tok' = {}; expected at most {}",
                                        config.experts_per_token, config.experts));
        config.expert_shares_sum = reader.flag("norm_topk_prob", family.expert_shares_sum);
        config.expert_hidden = reader.size({"moe_intermediate_size"});
        config.shared_hidden = reader.size({"shared_expert_intermediate_size"});
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
    config.out_bias = has_biases(reader, family.attention_biases, family.attention_bias_key);
    config.qkv_bias = family.attention_biases == BiasRule::of_qkv
                          ? reader.flag(family.attention_bias_key, !family.qkv_bias_declared)
                          : config.out_bias;
    config.mlp_bias = has_biases(reader, family.mlp_biases, family.mlp_bias_key);
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
        const std::string_view own =
            family.read_out == ReadOut::token_classes        ? "ForTokenClassification"
            : family.section.empty() && family.stack.empty() ? "ForCausalLM"
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

/// Falcon: which heads share keys, and which norms there are, by three switches.
void read_falcon(ConfigReader& reader, ModelConfig& config) {
    const bool newer = reader.flag("new_decoder_architecture", false);
    const bool one_key = reader.flag("multi_query", true),
               side = reader.flag("parallel_attn", true);
    const Index kv_heads = reader.size({"num_kv_heads"}).value_or(config.heads);
    const Index norms = reader.size({"num_ln_in_parallel_attn"}).value_or(newer ? 2 : 1);
    config.kv_heads = newer ? kv_heads : one_key ? 1 : config.heads;
    config.parallel = newer || side;
    config.two_norms = newer && norms == 2;
    config.one_norm = config.parallel && !config.two_norms;
    if (newer && !side)
        reader.complain(
            "has 'parallel_attn' = false with 'new_decoder_architecture'; expected true");
    if (norms > 2 || (norms == 2 && !newer))
        reader.complain(fmt::format(
            "has 'num_ln_in_parallel_attn' = {}; expected 1, or 2 with 'new_decoder_architecture'",
            norms));
    if (!newer && !one_key && kv_heads != config.heads)
        reader.complain(fmt::format("has 'num_kv_heads' = {}; expected {}, one for each head",
                                    kv_heads, config.heads));
}

/// Tables that are not as wide as the model: ALBERT's always go through a matrix, ELECTRA's where their width differs.
void read_embedded_width(ConfigReader& reader, ModelConfig& config) {
    const Index width = reader.size({"embedding_size"}).value_or(128);
    if (config.family->key == "albert" || width != config.width) config.embedded_width = width;
    config.groups =
        config.family->key == "albert" ? reader.size({"num_hidden_groups"}).value_or(1) : 0;
    if (config.groups > config.layers)
        reader.complain(fmt::format("has 'num_hidden_groups' = {}; expected at most {}",
                                    config.groups, counted(config.layers, "layer")));
    if (const Index inner = reader.size({"inner_group_num"}).value_or(1); inner != 1)
        reader.complain(fmt::format("has 'inner_group_num' = {}; expected 1", inner));
}

/// BART's and Marian's stacks have besides: a token to begin with, and one table of embeddings for both.
void read_pair(ConfigReader& reader, ModelConfig& config) {
    if (config.family->start_id == 0) return;
    for (const std::string_view key :
         {"encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads",
          "encoder_ffn_dim", "decoder_ffn_dim"})
        reader.size({key});  // of one stack or the other
    reader.know({"is_encoder_decoder"});
    if (reader.flag("is_decoder", false))
        reader.complain("has 'is_decoder' = true; expected false: it has two stacks");
    if (!reader.flag("tie_word_embeddings", true))
        reader.complain(
            "has 'tie_word_embeddings' = false; expected true: encoder and decoder would have "
            "separate embedding tables");
    config.start_id = reader.whole({"decoder_start_token_id"}).value_or(config.family->start_id);
    if (!reader.flag("share_encoder_decoder_embeddings", true))
        reader.complain(
            "has 'share_encoder_decoder_embeddings' = false; expected true: two tables of "
            "embeddings are not read here");
    if (const auto other = reader.size({"decoder_vocab_size"});
        other && *other != config.vocabulary)
        reader.complain(fmt::format("has 'decoder_vocab_size' = {}; expected {}, as 'vocab_size'",
                                    *other, config.vocabulary));
}

/// Whisper: two frames of the spectrogram become a token.
void read_sound(ConfigReader& reader, ModelConfig& config) {
    for (const std::string_view key : {"max_source_positions", "max_target_positions"})
        reader.size({key});  // of one stack or the other
    if (config.family->key ==
        "whisper") {  // transformers reads it as another name of the encoder's heads
        const auto heads = reader.size({"encoder_attention_heads"});
        const auto other = reader.size({"num_key_value_heads"});
        if (heads && other && *heads != *other)
            reader.complain(fmt::format(
                "has 'num_key_value_heads' = {}; expected {}, as 'encoder_attention_heads'", *other,
                *heads));
        config.kv_heads = config.heads;
    }
    const Index mels = reader.size({"num_mel_bins"}).value_or(80);
    if (config.family->names.sound_in.empty()) return;
    constexpr Index kMostMels = 1024, kMostPositions = 1 << 16;  // of any file
    const Index positions = config.most_tokens.value_or(1500);
    if (mels > kMostMels || positions > kMostPositions)
        return reader.complain(fmt::format(
            "has 'num_mel_bins' = {} and 'max_source_positions' = {}; expected at most {} and {}",
            mels, positions, kMostMels, kMostPositions));
    config.most_tokens = positions;
    config.sound = SoundInput{mels, 2 * positions};
}

/// Which layers do not turn, and which have one MLP in place of experts.
void read_layers(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    const json* turning = reader.find({"no_rope_layers"});  // 1: it turns
    const Index interval = reader.size({"no_rope_layer_interval"}).value_or(4);
    if (turning != nullptr) {
        reader.find({"no_rope_layers"});
        if (!turning->is_array() || std::ssize(*turning) < config.layers ||
            !std::ranges::all_of(*turning, [](const json& each) { return each == 0 || each == 1; }))
            return reader.wrong(
                *turning, fmt::format("0 or 1 for each of {}", counted(config.layers, "layer")));
        config.still = layers_that(reader, config, "no RoPE",
                                   [&](Index layer) { return (*turning)[layer] == 0; });
    } else if (family.window == WindowRule::still) {
        config.still = layers_that(reader, config, "no RoPE",
                                   [&](Index layer) { return (layer + 1) % interval == 0; });
    }
    const json* listed = reader.find({"mlp_only_layers"});
    const Index step = reader.size({"decoder_sparse_step"}).value_or(1);
    if (listed != nullptr) {
        reader.find({"mlp_only_layers"});
        if (!listed->is_array() || !std::ranges::all_of(*listed, [](const json& each) {
                return each.is_number_integer();
            }))
            return reader.wrong(*listed, "a list of numbers of layers");
    }
    if (family.names.router.empty() || (listed == nullptr && step == 1)) return;
    config.dense = layers_that(reader, config, "no experts", [&](Index layer) {
        return (layer + 1) % step != 0 ||
               (listed != nullptr && std::ranges::find(*listed, json(layer)) != listed->end());
    });
}

/// Whether norms have weights and shifts, and queries and keys norms; and norms in places that are not computed here.
void read_norm_switches(ConfigReader& reader, ModelConfig& config) {
    const ModelFamily& family = *config.family;
    config.plain_norms = family.plain_norms || !reader.flag("layer_norm_elementwise_affine", true);
    if (is_own_key(family, "norm_bias")) config.norm_bias = reader.flag("norm_bias", false);
    if (is_own_key(family, "qk_layernorm") && !family.names.q_norm.empty())
        config.head_norms = reader.flag("qk_layernorm", false);
    // All that attention reads without a norm of its own is read by the MLP too.
    if (config.parallel && family.key != "gpt_neox" && family.key != "falcon")
        config.one_norm = true;
    if (!reader.flag("vision_use_head", true) && !config.image_prompt)
        reader.complain("has 'vision_use_head' = false; expected true: its head makes the vector");
    if (!reader.flag("do_layer_norm_before", true))
        reader.complain(
            "has 'do_layer_norm_before' = false; expected true: it is not computed here");
    if (reader.flag("_remove_final_layer_norm", false))
        reader.complain("has '_remove_final_layer_norm', which is not computed here");
}

void read_sizes(ConfigReader& reader, ModelConfig& config) {
    config.width = reader.need_size({"hidden_size", "n_embd", "dim", "d_model"});
    const bool decodes = config.family->stack == "decoder";
    // Of a pair "num_hidden_layers" is the encoder's.
    config.layers = reader.need_size({decodes ? "decoder_layers" : "encoder_layers",
                                      "num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    if (const auto own = reader.size({"num_decoder_layers"}); own && config.family->causal)
        config.layers = *own;
    config.heads =
        reader.need_size({"num_attention_heads", "n_head", "n_heads", "num_heads",
                          decodes ? "decoder_attention_heads" : "encoder_attention_heads"});
    const bool as_queries = config.family->kv_heads == 0 || reader.is_null("num_key_value_heads");
    config.kv_heads = reader.size({"num_key_value_heads"})
                          .value_or(as_queries ? config.heads : config.family->kv_heads);
    if (config.family->key == "falcon") read_falcon(reader, config);
    config.head_width = reader.size({"head_dim", "d_kv"});
    if (config.family->even_heads && config.head_width &&
        *config.head_width != config.width / std::max<Index>(config.heads, 1))
        reader.complain(fmt::format("has 'head_dim' = {}; expected {}, the width / the heads",
                                    *config.head_width,
                                    config.width / std::max<Index>(config.heads, 1)));
    if (!config.head_width &&
        (config.family->positions == Positions::rope || config.family->head_width > 0))
        config.head_width =
            config.family->head_width > 0 ? config.family->head_width : config.columns_of_head();
    if (!config.family->reads_images) config.vocabulary = reader.need_size({"vocab_size"});
    config.hidden =
        reader.size({"intermediate_size", "n_inner", "hidden_dim", "d_ff", "ffn_dim",
                     "ffn_hidden_size", decodes ? "decoder_ffn_dim" : "encoder_ffn_dim"});
    if (const auto times = reader.factor("mlp_ratio", {})) {
        const double hidden = static_cast<double>(config.width) * *times;
        if (hidden < 1.0 || hidden > static_cast<double>(kMostSize))
            reader.wrong(*times,
                         fmt::format("a number that makes a hidden width from 1 to {}", kMostSize));
        else
            config.hidden = static_cast<Index>(hidden);
    }
    config.kinds = reader.size({"type_vocab_size"});
    config.most_tokens = reader.size({"max_position_embeddings", "n_positions",
                                      decodes ? "max_target_positions" : "max_source_positions"});
    config.epsilon = reader.positive({config.family->epsilon_key}, config.family->epsilon);
    if (!config.family->names.embedding_map.empty()) read_embedded_width(reader, config);
    if (config.heads > 0 && config.kv_heads > 0 && config.heads % config.kv_heads != 0)
        reader.complain(fmt::format("has {} and {} key-value heads; expected a divisor",
                                    counted(config.heads, "head"), config.kv_heads));
}

/// Ranks, and the widths of a head's parts.
void read_latents(ConfigReader& reader, ModelConfig& config) {
    if (config.family->names.kv_down.empty()) return;
    LatentRules latent;
    latent.query_rank = reader.size({"q_lora_rank"});
    latent.rank = reader.need_size({"kv_lora_rank"});
    latent.turned = reader.need_size({"qk_rope_head_dim"});
    latent.still = reader.need_size({"qk_nope_head_dim"});
    latent.value = reader.need_size({"v_head_dim"});
    const Index whole = latent.turned + latent.still;
    if (latent.turned % 2 != 0 || whole + latent.value > kMostSize)
        reader.complain(
            fmt::format("has a 'qk_rope_head_dim' of {} in heads of {}; expected an "
                        "even number in heads of at most {}",
                        latent.turned, whole + latent.value, kMostSize));
    for (const auto& [key, expected] :
         {std::pair{"head_dim", latent.turned}, std::pair{"qk_head_dim", whole}})
        if (const auto stated = reader.size({key}); stated && *stated != expected)
            reader.complain(fmt::format("has '{}' = {}; expected {}, as the parts of a head have",
                                        key, *stated, expected));
    if (config.kv_heads != config.heads)
        reader.complain(fmt::format("has 'num_key_value_heads' = {}; expected {}, as query heads",
                                    config.kv_heads, config.heads));
    config.head_width = whole;
    config.latent = latent;
}

/// DeepSeek's experts: dense layers first, groups of experts, a factor, and a shared MLP as wide as several.
void read_expert_groups(ConfigReader& reader, ModelConfig& config) {
    if (!config.latent) return;
    const bool sigmoid = config.family->routing == Routing::sigmoid;
    const Index first = reader.whole({"first_k_dense_replace"}).value_or(0);
    config.dense =
        layers_that(reader, config, "no experts", [first](Index layer) { return layer < first; });
    const Index shared = reader.need_size({"n_shared_experts"});
    if (shared <= kMostSize / std::max<Index>(config.expert_hidden.value_or(1), 1))
        config.shared_hidden = shared * config.expert_hidden.value_or(1);
    config.expert_factor = reader.need_positive("routed_scaling_factor");
    if (sigmoid && reader.is_null("norm_topk_prob")) config.expert_shares_sum = false;
    if (!sigmoid && config.expert_shares_sum)
        reader.complain("has 'norm_topk_prob' = true; expected false: transformers ignores it");
    const char* const expected = sigmoid ? "sigmoid" : "softmax";
    if (const json* scores = reader.find({"scoring_func"});
        scores != nullptr && *scores != expected)
        reader.wrong(*scores, fmt::format("\"{}\"", expected));
    if (const auto every = reader.size({"moe_layer_freq"}); every && *every != 1)
        reader.complain(fmt::format("has 'moe_layer_freq' = {}; expected 1", *every));
    reader.know({"n_group", "topk_group"});
    const json* method = reader.find({"topk_method"});
    const std::string_view grouped = sigmoid ? "noaux_tc" : "group_limited_greedy";
    if (!sigmoid && method != nullptr && *method == "greedy") return;
    if (method != nullptr && *method != grouped)
        return reader.wrong(*method,
                            fmt::format("\"{}\"{}", grouped, sigmoid ? "" : " or \"greedy\""));
    config.expert_groups = reader.need_size({"n_group"});
    config.groups_taken = reader.need_size({"topk_group"});
    const Index each = config.experts / std::max<Index>(config.expert_groups, 1);
    if (each * config.expert_groups != config.experts || each < (sigmoid ? 2 : 1) ||
        config.groups_taken > config.expert_groups ||
        config.experts_per_token > config.groups_taken * each)
        reader.complain(fmt::format(
            "takes {} of {} experts from {} of {} groups; expected groups of equal size{} with "
            "enough experts",
            config.experts_per_token, config.experts, config.groups_taken, config.expert_groups,
            sigmoid ? ", at least 2," : ""));
}

/// Checks the rules of an image among tokens for this stack: the tower's layers, or the token.
void check_image_prompt(ConfigReader& reader, ModelConfig& config) {
    if (!config.image_prompt) return;
    ImagePromptRules& rules = *config.image_prompt;
    if (!config.image) {
        if (rules.token >= config.vocabulary)
            reader.complain(fmt::format(
                "has 'vocab_size' = {}; expected more than the number of the image token, {}",
                config.vocabulary, rules.token));
        return;
    }
    reader.know({"vocab_size", "projection_dim"});  // of no effect on a tower's hidden states
    for (Index& layer : rules.layers) {
        const Index from_start = layer < 0 ? layer + config.layers + 1 : layer;
        if (from_start < 0 || from_start > config.layers)
            return reader.complain(fmt::format(
                "has {}, and 'vision_feature_layer' is {}; expected {} to {}",
                counted(config.layers, "layer"), layer, -config.layers - 1, config.layers));
        layer = from_start;
    }
    if (rules.drops_class && config.image->leading != 1)
        reader.complain(
            "has no class token, and 'vision_feature_select_strategy' is \"default\", which leaves "
            "one out; expected \"full\"");
}

/// Of one stack.
Result<ModelConfig> config_of(ConfigReader& reader, ModelConfig config) {
    read_sizes(reader, config);
    read_latents(reader, config);
    config.activation = read_activation(
        reader, {"hidden_act", "activation_function", "activation", "hidden_activation"},
        config.family->activation);
    read_numbers(reader, config);
    read_layers(reader, config);
    read_expert_groups(reader, config);
    read_delta_net(reader, config);
    read_norm_switches(reader, config);
    read_pair(reader, config);
    read_window(reader, config);
    read_image(reader, config);
    read_sound(reader, config);
    read_task(reader, config);
    read_ends(reader, config);
    read_feed_forward(reader, config);
    read_distances(reader, config);
    check_image_prompt(reader, config);
    refuse_others(reader, config);
    for (std::string& key : reader.unused())
        (is_family_key(key) ? config.ignored : config.unknown).push_back(std::move(key));
    if (auto valid = reader.finish(); !valid) return tl::unexpected(valid.error());
    return config;
}

/// Of an image among the tokens of a text: which hidden states of the tower it is made of, and how.
void read_image_prompt(ConfigReader& reader, ModelConfig& config) {
    if (config.family->names.projector.empty()) return;
    ImagePromptRules rules;
    const auto token = reader.whole({"image_token_index"});
    rules.token = token.value_or(reader.whole({"image_token_id"}).value_or(rules.token));
    if (const auto other = reader.whole({"image_token_id"}); other && *other != rules.token)
        reader.complain(fmt::format(
            "has 'image_token_id' = {}; expected {}, as 'image_token_index'", *other, rules.token));
    rules.activation = read_activation(reader, {"projector_hidden_act"}, rules.activation);
    rules.bias = reader.flag("multimodal_projector_bias", rules.bias);
    reader.know({"image_seq_length", "vocab_size"});  // the sections say how many there are
    if (const json* strategy = reader.find({"vision_feature_select_strategy"})) {
        if (*strategy != "default" && *strategy != "full")
            reader.wrong(*strategy, "\"default\" or \"full\"");
        rules.drops_class = *strategy == "default";
    }
    if (const json* layers = reader.find({"vision_feature_layer"})) {
        const json all = layers->is_array() ? *layers : json::array({*layers});
        rules.layers.clear();
        for (const json& each : all) {
            if (!each.is_number_integer() || each > kMostSize || each < -kMostSize)
                return reader.wrong(*layers, "the number of a layer, or a list of them");
            rules.layers.push_back(each.get<Index>());
        }
        if (all.empty()) reader.wrong(*layers, "the number of a layer, or a list of them");
    }
    if (reader.find({"vision_config"}) == nullptr)
        reader.complain("has no 'vision_config'; expected that of the tower which reads images");
    config.image_prompt = std::move(rules);
}

/// The keys beside the sections: of both stacks, or of a model with a text part.
void read_whole(ConfigReader& reader, ModelConfig& config) {
    reader.know({"tie_word_embeddings", "quantization_config"});
    for (const std::string_view key :
         {"text_config", "vision_config", "text_config_dict", "vision_config_dict"})
        if (const json* found = reader.find({key}); found != nullptr && !found->is_object())
            reader.wrong(*found, "an object");
    config.projection = reader.size({"projection_dim"}).value_or(512);
    read_image_prompt(reader, config);
    reader.refuse_foreign(config.projection);
    config.unknown = reader.unused();
}

/// The row of a family for the type of its section; without a type the first.
const ModelFamily* row_of_section(ConfigReader& whole, const json& config,
                                  const ModelFamily* family) {
    if (family->section_type.empty()) return family;
    const auto section = config.find(std::string(family->section));
    if (section == config.end() || !section->is_object()) return family;
    const json type = section->value("model_type", json(family->section_type));
    std::string known;
    for (const ModelFamily* row = family; row != nullptr; row = row->next) {
        if (type == row->section_type) return row;
        known += fmt::format("{}{}", known.empty() ? "" : ", ", row->section_type);
    }
    whole.complain(fmt::format("'{}' has 'model_type' = {}; expected one of {}", family->section,
                               type.dump(), known));
    return family;
}

/// The object of one stack, or the whole, over the defaults of its class; an older name of the object replaces all of it.
json section_of(const json& whole, const ModelFamily& family) {
    const json defaults = family.defaults.empty() ? json::object() : json::parse(family.defaults);
    json made = defaults;
    if (family.section.empty()) return made.update(whole), made;
    const std::string name(family.section);
    if (const auto at = whole.find(name); at != whole.end() && at->is_object()) made.update(*at);
    const bool tied = made.value("tie_word_embeddings", json()) == true;
    if (family.stack.empty()) {  // of the whole model, whose text part is read
        made.erase("architectures");
        for (const char* const key : {"architectures", "eos_token_id", "quantization_config",
                                      "tie_word_embeddings", "transformers_version"})
            if (const auto at = whole.find(key); at != whole.end()) made[key] = *at;
        if (tied && !family.names.projector.empty()) made["tie_word_embeddings"] = true;
    }
    if (const auto at = whole.find(name + "_dict"); at != whole.end() && at->is_object()) {
        made.update(defaults);
        made.update(*at);
    }
    return made;
}

}  // namespace

Result<void> check_sound_preparation(std::string_view text, std::string_view where,
                                     const SoundInput& sound) {
    const auto parsed = parse_json(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object()) return bad_input(fmt::format("{} is not a JSON object", where));
    ConfigReader reader(*parsed, where);
    const Index seconds = sound.frames * SoundInput::kHop / SoundInput::kRate;
    for (const auto& [key, expected] :
         {std::pair{"feature_size", sound.mels}, std::pair{"sampling_rate", SoundInput::kRate},
          std::pair{"hop_length", SoundInput::kHop}, std::pair{"n_fft", SoundInput::kWindow},
          std::pair{"chunk_length", seconds}})
        if (const auto stated = reader.whole({key}); stated && *stated != expected)
            reader.complain(fmt::format("has '{}' = {}; expected {}", key, *stated, expected));
    if (reader.flag("do_normalize", false))
        reader.complain("has 'do_normalize' = true; expected false: it is not computed here");
    if (const auto noise = reader.factor("dither", {}); noise)
        reader.complain(fmt::format("has 'dither' = {}; expected 0: noise is not added", *noise));
    return reader.finish();
}

bool ModelConfig::turns(Index layer) const {
    return family->positions == Positions::rope && (still.empty() || !still[layer]);
}

Result<ModelConfig> parse_model_config(std::string_view text, std::string_view where, Stack stack) {
    const auto parsed = parse_json(text, where);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object()) return bad_input(fmt::format("{} is not a JSON object", where));
    ConfigReader whole(*parsed, where);
    ModelConfig config;
    read_family(whole, config);
    if (config.family == nullptr) return tl::unexpected(whole.finish().error());
    if (stack == Stack::second) config.family = config.family->second;
    config.family = row_of_section(whole, *parsed, config.family);
    whole.set_family(config.family);
    const bool apart = !config.family->section.empty();
    if (apart) read_whole(whole, config);
    if (auto valid = whole.finish(); !valid) return tl::unexpected(valid.error());
    const json section = section_of(*parsed, *config.family);
    ConfigReader reader(section, apart ? fmt::format("{} '{}'", where, config.family->section)
                                       : std::string(where));
    reader.set_family(config.family);
    return config_of(reader, std::move(config));
}

Result<ModelConfig> read_model_config(const std::filesystem::path& file, Stack stack) {
    const auto text = read_text_file(file);
    if (!text) return tl::unexpected(text.error());
    return parse_model_config(*text, file.string(), stack);
}

}  // namespace attn
