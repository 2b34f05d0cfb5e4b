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
#include "core/text.h"

namespace attn {
namespace {

using nlohmann::json;

constexpr Index kMostSize = Index{1} << 31;

/// Reads keys of which families have different names, and keeps the first fault.
class ConfigReader {
  public:
    ConfigReader(const json& config, std::string_view where) : config_(config), where_(where) {}

    /// Under the first of the names that is there.
    const json* find(std::initializer_list<std::string_view> names) {
        know(names);
        for (const std::string_view name : names) {
            if (!asked_.contains(name)) continue;
            const auto found = config_.find(std::string(name));
            if (found != config_.end() && !found->is_null()) {
                key_ = name;
                return &*found;
            }
        }
        return nullptr;
    }
    /// Settings of the family, whether they count or not.
    void know(std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (family_ == nullptr || is_own_key(*family_, name)) asked_.emplace(name);
    }
    /// Its keys alone are read from now on.
    void set_family(const ModelFamily* family) { family_ = family; }
    /// Those that nobody asked for, but for what is no setting.
    std::vector<std::string> unused() const {
        std::vector<std::string> keys;
        for (const auto& each : config_.items())
            if (!asked_.contains(each.key()) && !each.value().is_null() &&
                !is_no_setting(each.key()))
                keys.push_back(each.key());
        return keys;
    }
    /// Settings of other architectures: refused, or without effect. `width`: of a token's vector.
    void refuse_foreign(Index width) {
        for (const auto& each : config_.items()) {
            const auto plain = plain_value(each.key());
            if (!plain || !asked_.emplace(each.key()).second) continue;
            key_ = each.key();
            if (*plain == Plain::one && !each.value().is_null() && each.value() != 1.0)
                wrong(each.value(), "1: it is not computed here");
            if (*plain == Plain::none && !is_none(each.value()))
                wrong(each.value(), "none: it is not computed here");
            if (*plain == Plain::width && !is_none(each.value()) && each.value() != width)
                wrong(each.value(), fmt::format("{}, the width of the others", width));
        }
    }
    /// Said to be none.
    bool is_null(std::string_view name) const {
        const auto found = config_.find(std::string(name));
        return found != config_.end() && found->is_null();
    }
    std::optional<Index> size(std::initializer_list<std::string_view> names) {
        return whole(names, 1);
    }
    std::optional<Index> whole(std::initializer_list<std::string_view> names, Index least = 0) {
        const json* found = find(names);
        if (found == nullptr) return std::nullopt;
        const double value = found->is_number() ? found->get<double>() : -1.0;
        if (value >= static_cast<double>(least) && value <= static_cast<double>(kMostSize) &&
            value == std::trunc(value))
            return static_cast<Index>(value);
        wrong(*found, fmt::format("a whole number from {} to {}", least, kMostSize));
        return std::nullopt;
    }
    Index need_size(std::initializer_list<std::string_view> names) {
        if (find(names) == nullptr) complain(fmt::format("has no '{}'", *names.begin()));
        return size(names).value_or(0);
    }
    double positive(std::initializer_list<std::string_view> names, double otherwise) {
        const json* found = find(names);
        if (found == nullptr) return otherwise;
        if (found->is_number() && found->get<double>() > 0.0) return found->get<double>();
        wrong(*found, "a number above 0");
        return otherwise;
    }
    double need_positive(std::string_view name) {
        if (find({name}) == nullptr) complain(fmt::format("has no '{}'", name));
        return positive({name}, 1.0);
    }
    /// Of an object that was found last.
    ConfigReader within(const json& object) const {
        return {object, fmt::format("{} '{}'", where_, key_)};
    }
    void take_fault(const ConfigReader& inner) {
        if (fault_.empty()) fault_ = inner.fault_;
    }
    bool flag(std::string_view name, bool otherwise) {
        const json* found = find({name});
        if (found == nullptr) return otherwise;
        if (found->is_boolean()) return found->get<bool>();
        wrong(*found, "true or false");
        return otherwise;
    }
    /// One number for each channel of an image, or one for all. `least`: they are above it.
    std::vector<double> channels(std::string_view name, Index count, double otherwise,
                                 double least) {
        const std::vector<double> defaults(static_cast<std::size_t>(count), otherwise);
        const json* found = find({name});
        if (found == nullptr) return defaults;
        const auto fits = [least](const json& each) {
            return each.is_number() && std::isfinite(each.get<double>()) &&
                   each.get<double>() > least;
        };
        if (fits(*found))
            return std::vector<double>(static_cast<std::size_t>(count), found->get<double>());
        if (found->is_array() && found->size() == defaults.size() &&
            std::all_of(found->begin(), found->end(), fits))
            return found->get<std::vector<double>>();
        wrong(*found, fmt::format("{} number{}{}", count, count == 1 ? "" : "s",
                                  least == 0.0 ? " above 0" : ""));
        return defaults;
    }
    void wrong(const json& value, std::string_view expected) {
        complain(fmt::format("has '{}' = {}; expected {}", key_,
                             shortened(value.dump(-1, ' ', false, json::error_handler_t::replace)),
                             expected));
    }
    void complain(std::string_view sentence) {
        if (fault_.empty()) fault_ = fmt::format("{} {}", where_, sentence);
    }
    std::string_view where() const { return where_; }
    Result<void> finish() const {
        if (!fault_.empty()) return bad_input(fault_);
        return {};
    }

  private:
    static bool is_none(const json& value) {
        return value.is_null() || value == false || value == 0 || value == "" ||
               ((value.is_array() || value.is_object()) && value.empty());
    }

    const json& config_;
    std::string where_;
    std::string_view key_;
    std::string fault_;
    const ModelFamily* family_ = nullptr;
    std::set<std::string, std::less<>> asked_;
};

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
    const json* named = reader.find({"hidden_act", "activation_function"});
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

constexpr std::array<std::string_view, 8> kRopeKeys{"rope_type",
                                                    "type",
                                                    "rope_theta",
                                                    "factor",
                                                    "low_freq_factor",
                                                    "high_freq_factor",
                                                    "original_max_position_embeddings",
                                                    "partial_rotary_factor"};

/// rope_scaling, or rope_parameters as newer files have it, which holds rope_theta too.
void read_rope(ConfigReader& reader, ModelConfig& config) {
    config.rope_base = reader.positive({"rope_theta"}, config.rope_base);
    const json* found = reader.find({"rope_scaling", "rope_parameters"});
    if (found == nullptr) return;
    if (const json* other = reader.find({"rope_parameters"}); other != nullptr && *other != *found)
        reader.wrong(*other, "none beside 'rope_scaling'");
    const auto type = found->is_object()
                          ? found->value("rope_type", found->value("type", json("default")))
                          : json("");
    RopeScaling& scaling = config.rope_scaling;
    if (type == "linear")
        scaling.kind = RopeScale::linear;
    else if (type == "llama3")
        scaling.kind = RopeScale::llama3;
    else if (type != "default")
        return reader.wrong(
            *found, "type default, linear or llama3: other scaled positions are not computed here");
    ConfigReader inner = reader.within(*found);
    config.rope_base = inner.positive({"rope_theta"}, config.rope_base);
    if (scaling.kind != RopeScale::none) scaling.factor = inner.need_positive("factor");
    if (scaling.kind == RopeScale::llama3) {
        scaling.low = inner.need_positive("low_freq_factor");
        scaling.high = inner.need_positive("high_freq_factor");
        scaling.original_length = inner.need_positive("original_max_position_embeddings");
        if (scaling.low >= scaling.high)
            inner.complain(
                fmt::format("has 'low_freq_factor' = {} and 'high_freq_factor' = {}; "
                            "expected the first to be the smaller",
                            scaling.low, scaling.high));
    }
    for (const auto& each : found->items())
        if (std::ranges::find(kRopeKeys, each.key()) == kRopeKeys.end())
            inner.complain(
                fmt::format("has the key '{}', which is not computed here", shortened(each.key())));
    if (const json* part = inner.find({"partial_rotary_factor"}); part != nullptr && *part != 1.0)
        inner.wrong(*part, "1: it is not computed here");
    reader.take_fault(inner);
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
        reader.wrong(*codes, "none: weights that are codes are not read here");
    if (const json* pruned = reader.find({"pruned_heads"}); pruned != nullptr && !pruned->empty())
        reader.wrong(*pruned, "none: it is not computed here");
    reader.refuse_foreign(config.width);
}

/// Which layers have the window that is switched on: all, or none. `layer_types` says it of each; else it begins at
/// `max_window_layers`.
bool windows_every_layer(ConfigReader& reader, const ModelConfig& config) {
    Index windowed = 0;
    const json* types = reader.find({"layer_types"});
    if (types == nullptr) {
        const Index first = reader.whole({"max_window_layers"}).value_or(28);
        windowed = std::max<Index>(config.layers - first, 0);
    } else if (!types->is_array() || std::ssize(*types) != config.layers) {
        reader.wrong(*types, fmt::format("one type for each of {} layers", config.layers));
    } else {
        for (const json& type : *types) {
            if (type != "full_attention" && type != "sliding_attention")
                reader.wrong(*types, "\"full_attention\" or \"sliding_attention\" for each layer");
            windowed += type == "sliding_attention" ? 1 : 0;
        }
    }
    if (windowed > 0 && windowed < config.layers)
        reader.complain(fmt::format(
            "has a window of keys in {} of {} layers; expected one in all of them or in none: "
            "layers of two kinds are not computed here",
            windowed, config.layers));
    return windowed > 0;
}

void read_window(ConfigReader& reader, ModelConfig& config) {
    constexpr Index kKeys = 4096;  // where it is not said
    const WindowRule rule = config.family->window;
    if (rule != WindowRule::ignored) reader.know({"sliding_window"});
    if (rule == WindowRule::switched)
        reader.know({"use_sliding_window", "max_window_layers", "layer_types"});
    if (rule == WindowRule::ignored || reader.is_null("sliding_window")) return;
    if (rule == WindowRule::switched &&
        (!reader.flag("use_sliding_window", false) || !windows_every_layer(reader, config)))
        return;
    config.window = reader.size({"sliding_window"}).value_or(kKeys);
}

/// Whether the folder is of a model that predicts tokens, and which biases it must have.
void read_task(ConfigReader& reader, ModelConfig& config) {
    const std::string_view family = config.family->key;
    config.tied = reader.flag("tie_word_embeddings", family == "gpt2");
    if (config.family->norm == Norm::rms) {
        const bool says = family == "llama" || family == "qwen3";
        config.out_bias = says && reader.flag("attention_bias", false);
        config.qkv_bias = family == "qwen2" || *config.out_bias;
        config.mlp_bias = family == "llama" && reader.flag("mlp_bias", false);
    }
    if (family == "vit") config.qkv_bias = reader.flag("qkv_bias", true);
    const json* classes = reader.find({"architectures"});
    if (classes == nullptr) return;
    if (!classes->is_array()) return reader.wrong(*classes, "a list of names of classes");
    for (const json& each : *classes) {
        const std::string name = each.is_string() ? each.get<std::string>() : "";
        if (name.find("For") != std::string::npos && !name.ends_with("ForCausalLM"))
            config.other_task = name;
    }
}

void read_sizes(ConfigReader& reader, ModelConfig& config) {
    config.width = reader.need_size({"hidden_size", "n_embd"});
    config.layers = reader.need_size({"num_hidden_layers", "n_layer"});
    config.heads = reader.need_size({"num_attention_heads", "n_head"});
    const bool as_queries = config.family->kv_heads == 0 || reader.is_null("num_key_value_heads");
    config.kv_heads = reader.size({"num_key_value_heads"})
                          .value_or(as_queries ? config.heads : config.family->kv_heads);
    config.head_width = reader.size({"head_dim"});
    if (!config.family->reads_images) config.vocabulary = reader.need_size({"vocab_size"});
    config.hidden = reader.size({"intermediate_size", "n_inner"});
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
    read_window(reader, config);
    read_image(reader, config);
    refuse_others(reader, config);
    read_task(reader, config);
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
