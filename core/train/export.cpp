#include "core/train/export.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/halves.h"
#include "core/io/file.h"
#include "core/stages.h"
#include "core/to_half.h"
#include "core/train/plan.h"

namespace attn::train {
namespace {

using nlohmann::ordered_json;

/// [rows, columns], row-major.
struct Numbers {
    Index rows = 0, columns = 0;
    std::vector<float> values;

    Numbers(Index r, Index c) : rows(r), columns(c), values(static_cast<std::size_t>(r * c)) {}
    float& at(Index row, Index column) { return values[row * columns + column]; }
    float at(Index row, Index column) const { return values[row * columns + column]; }
};

Numbers turned(const Numbers& from) {
    Numbers to(from.columns, from.rows);
    for (Index i = 0; i < from.rows; ++i)
        for (Index j = 0; j < from.columns; ++j) to.at(j, i) = from.at(i, j);
    return to;
}

Result<void> check_export(const Spec& spec) {
    const auto wrong = [](std::string_view field, const auto& value, std::string expected) {
        return bad_input(fmt::format("{} is {}; expected {}, as Hugging Face's classes have it",
                                     field, value, expected));
    };
    if (spec.positions == Positions::rotary)
        return wrong("positions", key_of(spec.positions), "learned, sinusoidal or none");
    if (spec.norm == NormPlace::none) return wrong("norm", key_of(spec.norm), "pre");
    if (spec.d_model % spec.heads != 0)
        return wrong("heads", spec.heads, fmt::format("a divisor of d_model, {}", spec.d_model));
    const Index most = spec.d_model / spec.heads;
    if (spec.d_k > most)
        return wrong("d_k", spec.d_k, fmt::format("at most d_model / heads, {}", most));
    if (spec.value_width() > most)
        return wrong("d_v", spec.value_width(), fmt::format("at most d_model / heads, {}", most));
    return {};
}

/// The model's matrices in the shapes of GPT-2 and BERT, in a list for the file.
class Exporter {
  public:
    Exporter(const Spec& spec, const State& moment, Index vocabulary)
        : spec_(spec),
          moment_(moment),
          plan_(plan_of(spec, vocabulary)),
          head_(spec.d_model / spec.heads) {}

    void gpt2() {
        add_table("transformer.wte.weight", matrix(plan_.embedding));
        add_table("transformer.wpe.weight", positions());
        for (Index layer = 0; layer < spec_.layers; ++layer) {
            const auto name = [&](std::string_view part) {
                return fmt::format("transformer.h.{}.{}", layer, part);
            };
            add_norm(name("ln_1"), plan_.at(layer, Part::norm_scale));
            add_linear(name("attn.c_attn"), joined(layer), nullptr);
            add_linear(name("attn.c_proj"), out(layer), nullptr);
            add_norm(name("ln_2"), plan_.at(layer, Part::mlp_norm_scale));
            const Mlp mlp = mlp_of(layer);
            add_linear(name("mlp.c_fc"), mlp.up, &mlp.up_bias);
            add_linear(name("mlp.c_proj"), mlp.down, &mlp.down_bias);
        }
        add_norm("transformer.ln_f", plan_.norm_scale);
        add_table("lm_head.weight", turned(matrix(plan_.out)));
    }

    void megatron_bert() {
        const auto linear = [&](const std::string& name, const Numbers& weight,
                                const Numbers* bias) { add_linear(name, turned(weight), bias); };
        add_table("bert.embeddings.word_embeddings.weight", matrix(plan_.embedding));
        add_table("bert.embeddings.position_embeddings.weight", positions());
        add_table("bert.embeddings.token_type_embeddings.weight", Numbers(1, spec_.d_model));
        for (Index layer = 0; layer < spec_.layers; ++layer) {
            const auto name = [&](std::string_view part) {
                return fmt::format("bert.encoder.layer.{}.{}", layer, part);
            };
            add_norm(name("attention.ln"), plan_.at(layer, Part::norm_scale));
            linear(name("attention.self.query"), queries(layer), nullptr);
            linear(name("attention.self.key"), padded(layer, Part::w_k, spec_.d_k), nullptr);
            linear(name("attention.self.value"), padded(layer, Part::w_v, spec_.value_width()),
                   nullptr);
            linear(name("attention.output.dense"), out(layer), nullptr);
            add_norm(name("ln"), plan_.at(layer, Part::mlp_norm_scale));
            const Mlp mlp = mlp_of(layer);
            linear(name("intermediate.dense"), mlp.up, &mlp.up_bias);
            linear(name("output.dense"), mlp.down, &mlp.down_bias);
        }
        add_norm("bert.encoder.ln", plan_.norm_scale);
        linear("classifier", matrix(plan_.out), nullptr);
    }

    Result<void> write(const std::filesystem::path& path, StoredFloat type) const {
        std::vector<NamedMatrix> list;
        for (const Named& each : named_)
            list.push_back({each.name, each.numbers.rows, each.numbers.columns, each.numbers.values,
                            each.is_vector});
        const std::pair<std::string, std::string> texts[] = {{"format", "pt"}};
        return write_safetensors(path, list, texts, type);
    }

    /// Columns inside the MLP; without one, of one whose numbers are 0.
    Index inner() const { return spec_.mlp ? 4 * spec_.d_model : 1; }

  private:
    struct Named {
        std::string name;
        Numbers numbers;
        bool is_vector;
    };
    struct Mlp {
        Numbers up, up_bias, down, down_bias;
    };

    void add_table(std::string name, Numbers numbers) {
        named_.push_back({std::move(name), std::move(numbers), false});
    }
    void add_vector(std::string name, Numbers numbers) {
        named_.push_back({std::move(name), std::move(numbers), true});
    }
    /// The class's bias is 0 where the model has none: as many as the weight's outputs, which are its rows in torch's layout.
    void add_linear(const std::string& name, Numbers weight, const Numbers* bias) {
        const bool inputs_first = name.starts_with("transformer.");
        const Index outputs = inputs_first ? weight.columns : weight.rows;
        add_table(name + ".weight", std::move(weight));
        add_vector(name + ".bias", bias != nullptr ? *bias : Numbers(1, outputs));
    }
    void add_norm(const std::string& name, std::size_t scale) {
        Numbers ones(1, spec_.d_model);
        std::ranges::fill(ones.values, 1.0F);
        const bool there = scale != kNoMatrix;
        add_vector(name + ".weight", there ? matrix(scale) : ones);
        add_vector(name + ".bias", there ? matrix(scale + 1) : Numbers(1, spec_.d_model));
    }

    Numbers matrix(std::size_t m) const {
        const Matrix& from = plan_.matrices[m];
        Numbers numbers(from.rows, from.columns);
        std::copy_n(moment_.weights.begin() + static_cast<std::ptrdiff_t>(from.offset),
                    numbers.values.size(), numbers.values.begin());
        return numbers;
    }
    Numbers positions() const {
        if (plan_.positions != kNoMatrix) return matrix(plan_.positions);
        Numbers table(spec_.tokens, spec_.d_model);
        std::ranges::copy(plan_.waves, table.values.begin());
        return table;
    }

    /// A matrix of `width` columns a head, in columns of the class's heads.
    Numbers padded(Index layer, Part part, Index width) const {
        const Numbers from = matrix(plan_.at(layer, part));
        Numbers to(from.rows, spec_.d_model);
        for (Index row = 0; row < from.rows; ++row)
            for (Index h = 0; h < spec_.heads; ++h)
                for (Index c = 0; c < width; ++c)
                    to.at(row, h * head_ + c) = from.at(row, h * width + c);
        return to;
    }
    /// The class divides scores by √(d_model / heads).
    Numbers queries(Index layer) const {
        const double own = moment_.switches.scaling ? static_cast<double>(spec_.d_k) : 1.0;
        const double factor = std::sqrt(static_cast<double>(head_) / own) / spec_.temperature;
        Numbers w_q = padded(layer, Part::w_q, spec_.d_k);
        for (float& value : w_q.values) value = static_cast<float>(value * factor);
        return w_q;
    }
    Numbers joined(Index layer) const {
        const Numbers parts[] = {queries(layer), padded(layer, Part::w_k, spec_.d_k),
                                 padded(layer, Part::w_v, spec_.value_width())};
        Numbers to(spec_.d_model, 3 * spec_.d_model);
        for (Index n = 0; n < 3; ++n)
            for (Index row = 0; row < to.rows; ++row)
                for (Index c = 0; c < spec_.d_model; ++c)
                    to.at(row, n * spec_.d_model + c) = parts[n].at(row, c);
        return to;
    }
    /// A silenced head gives nothing.
    Numbers out(Index layer) const {
        const Numbers from = matrix(plan_.at(layer, Part::w_o));
        const Index width = spec_.value_width();
        Numbers to(spec_.d_model, spec_.d_model);
        for (Index h = 0; h < spec_.heads; ++h)
            for (Index row = 0; row < width && !moment_.switches.silenced[layer * spec_.heads + h];
                 ++row)
                for (Index c = 0; c < spec_.d_model; ++c)
                    to.at(h * head_ + row, c) = from.at(h * width + row, c);
        return to;
    }
    Mlp mlp_of(Index layer) const {
        const Index d = spec_.d_model;
        if (!spec_.mlp) return {Numbers(d, 1), Numbers(1, 1), Numbers(1, d), Numbers(1, d)};
        const auto part = [&](Part which) { return matrix(plan_.at(layer, which)); };
        return {part(Part::w_up), part(Part::b_up), part(Part::w_down), part(Part::b_down)};
    }

    const Spec& spec_;
    const State& moment_;
    const Plan plan_;
    Index head_;
    std::deque<Named> named_;
};

std::string_view key_of(StoredFloat type) {
    return type == StoredFloat::float16 ? "float16" : "float32";
}

ordered_json gpt2_config(const Spec& spec, Index vocabulary, Index inner) {
    ordered_json end = nullptr;
    if (info(spec.task).takes_language && spec.language->end()) end = *spec.language->end();
    return {{"architectures", {"GPT2LMHeadModel"}},
            {"model_type", "gpt2"},
            {"vocab_size", vocabulary},
            {"n_positions", spec.tokens},
            {"n_embd", spec.d_model},
            {"n_layer", spec.layers},
            {"n_head", spec.heads},
            {"n_inner", inner},
            {"activation_function", "gelu_new"},
            {"layer_norm_epsilon", 1e-5},
            {"embd_pdrop", 0.0},
            {"attn_pdrop", 0.0},
            {"resid_pdrop", 0.0},
            {"tie_word_embeddings", false},
            {"bos_token_id", nullptr},
            {"eos_token_id", end}};
}

ordered_json bert_config(const Spec& spec, const std::vector<std::string>& tokens, Index inner) {
    ordered_json labels = ordered_json::object(), numbers = ordered_json::object();
    for (std::size_t n = 0; n < tokens.size(); ++n) {
        labels[fmt::format("{}", n)] = tokens[n];
        numbers[tokens[n]] = n;
    }
    return {{"architectures", {"MegatronBertForTokenClassification"}},
            {"model_type", "megatron-bert"},
            {"vocab_size", tokens.size()},
            {"max_position_embeddings", spec.tokens},
            {"hidden_size", spec.d_model},
            {"num_hidden_layers", spec.layers},
            {"num_attention_heads", spec.heads},
            {"intermediate_size", inner},
            {"type_vocab_size", 1},
            {"hidden_act", "gelu_new"},
            {"layer_norm_eps", 1e-5},
            {"hidden_dropout_prob", 0.0},
            {"attention_probs_dropout_prob", 0.0},
            {"pad_token_id", nullptr},
            {"id2label", std::move(labels)},
            {"label2id", std::move(numbers)}};
}

/// Words between white space; in lower case where no word of the vocabulary has a capital.
ordered_json tokenizer_of(const std::vector<std::string>& tokens) {
    ordered_json vocabulary = ordered_json::object();
    const bool lower = std::ranges::none_of(tokens, [](const std::string& word) {
        return std::ranges::any_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
    });
    for (std::size_t n = 0; n < tokens.size(); ++n) vocabulary[tokens[n]] = n;
    return {
        {"version", "1.0"},
        {"truncation", nullptr},
        {"padding", nullptr},
        {"added_tokens", ordered_json::array()},
        {"normalizer", lower ? ordered_json{{"type", "Lowercase"}} : ordered_json(nullptr)},
        {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
        {"post_processor", nullptr},
        {"decoder", nullptr},
        {"model",
         {{"type", "WordLevel"}, {"vocab", std::move(vocabulary)}, {"unk_token", kUnknownWord}}}};
}

}  // namespace

State rounded_to_half(const State& moment) {
    State rounded = moment;
    for (float& weight : rounded.weights) weight = from_half(to_half(weight));
    return rounded;
}

Result<void> export_hf(const std::filesystem::path& folder, const Spec& spec, const State& moment,
                       StoredFloat type) {
    if (auto valid = check_export(spec); !valid) return valid;
    const Sequences sequences(spec);
    const std::vector<std::string>& tokens = sequences.vocabulary();
    std::error_code fault;
    std::filesystem::create_directories(folder, fault);
    if (fault)
        return failed(fmt::format("{}: cannot be made: {}", folder.string(), fault.message()));
    Exporter exporter(spec, moment, sequences.size());
    const bool causal = info(spec.task).causal;
    causal ? exporter.gpt2() : exporter.megatron_bert();
    ordered_json config = causal ? gpt2_config(spec, sequences.size(), exporter.inner())
                                 : bert_config(spec, tokens, exporter.inner());
    config["dtype"] = key_of(type);
    if (info(spec.task).takes_language) config["default_text"] = spec.language->text();
    if (info(spec.task).takes_language && !spec.language->contrast().empty())
        config["contrast_text"] = spec.language->contrast();
    if (auto written = exporter.write(folder / "model.safetensors", type); !written) return written;
    // Without a class transformers takes the tokenizer of the model's family.
    const ordered_json tokenizer_config{{"tokenizer_class", "PreTrainedTokenizerFast"},
                                        {"unk_token", kUnknownWord}};
    for (const auto& [name, value] : {std::pair{"tokenizer.json", tokenizer_of(tokens)},
                                      {"tokenizer_config.json", tokenizer_config},
                                      {"config.json", config}})
        if (auto written = write_file_atomically(folder / name, value.dump(1) + "\n"); !written)
            return written;
    return {};
}

}  // namespace attn::train
