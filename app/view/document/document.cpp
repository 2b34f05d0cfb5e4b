#include "app/view/document/document.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/sheet.h"
#include "app/view/document/opened.h"
#include "app/view/document/targets.h"
#include "app/view/document/toy.h"
#include "core/rng.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostTitle = 80;  // code points

/// Two decimals: a person reads these numbers.
double rounded(double value) { return std::round(100.0 * value) / 100.0 + 0.0; }  // never −0

std::string check_size(std::string_view name, Index value, Index most) {
    if (value >= 1 && value <= most) return {};
    return fmt::format("{} is {}: it must be 1 to {}", name, value, most);
}

Tensor seeded_weight(std::uint64_t seed, Param param, Index rows, Index columns) {
    Tensor w({1, 1, rows, columns});
    const double deviation = 1.0 / std::sqrt(static_cast<double>(rows));
    const std::uint64_t stream = mix(seed, index_of(param));
    for (Index n = 0; n < w.count(); ++n)
        w.values()[static_cast<std::size_t>(n)] =
            static_cast<float>(rounded(deviation * normal(stream, static_cast<std::uint64_t>(n))));
    return w;
}

/// The tensor of `inputs` that an operand names; as const as they are.
template <class AnyInputs>
auto& tensor_of(AnyInputs& inputs, const OperandId& id) {
    if (const Param* param = std::get_if<Param>(&id)) return inputs.params[*param];
    switch (std::get<Stage>(id)) {
        case Stage::x_kv:
            return inputs.x_kv;
        case Stage::q:
            return inputs.q;
        case Stage::k:
            return inputs.k;
        case Stage::v:
            return inputs.v;
        default:
            return inputs.x;
    }
}

}  // namespace

bool is_toy(const Document& document) { return std::holds_alternative<ToyOrigin>(document.origin); }

bool is_empty(const Document& document) {
    return document.inputs->x.empty() && document.inputs->q.empty();
}

double bytes_of(const Document& document) {
    double floats = 0.0;
    const auto add = [&](const Tensor& tensor) { floats += static_cast<double>(tensor.count()); };
    for (const auto& inputs : document.layers) {
        for (const Tensor* tensor : {&inputs->x, &inputs->x_kv, &inputs->q, &inputs->k, &inputs->v})
            add(*tensor);
        for (const Tensor& tensor : inputs->params.tensors) add(tensor);
    }
    return 4.0 * floats;
}

void set_inputs(Document& document, Inputs inputs) {
    document.inputs = std::make_shared<const Inputs>(std::move(inputs));
    document.layers.resize(static_cast<std::size_t>(
        std::max<Index>(document.layer + 1, static_cast<Index>(document.layers.size()))));
    document.layers[static_cast<std::size_t>(document.layer)] = document.inputs;
}

void set_input(Document& document, const InputEdit& edit) {
    Inputs inputs = *document.layers[static_cast<std::size_t>(edit.layer)];
    tensor_of(inputs, edit.tensor)(edit.batch, edit.head, edit.row, edit.column) = edit.value;
    const auto changed = std::make_shared<const Inputs>(std::move(inputs));
    document.layers[static_cast<std::size_t>(edit.layer)] = changed;
    if (edit.layer == document.layer) document.inputs = changed;
}

Result<void> check_input(const Document& document, const InputEdit& edit) {
    const Index layers = static_cast<Index>(document.layers.size());
    Shape shape;
    if (edit.layer >= 0 && edit.layer < layers)
        shape =
            tensor_of(*document.layers[static_cast<std::size_t>(edit.layer)], edit.tensor).shape();
    const bool there = edit.batch >= 0 && edit.batch < shape.b && edit.head >= 0 &&
                       edit.head < shape.h && edit.row >= 0 && edit.row < shape.t &&
                       edit.column >= 0 && edit.column < shape.d;
    if (there) return {};
    return bad_input(fmt::format("layer {} has no {}[{}, {}, {}, {}] to edit", edit.layer,
                                 key_of(edit.tensor), edit.batch, edit.head, edit.row,
                                 edit.column));
}

Result<Document> with_size(Document document) {
    if (is_empty(document)) {
        document.size = {};
        return document;
    }
    const bool whole = document.inputs->projects() || !document.inputs->v.empty();
    if (!whole) return document;  // queries and keys alone: their sizes do not change with the spec
    const auto size = validate(*document.inputs, document.spec);
    if (!size) return tl::unexpected(size.error());
    document.size = *size;
    document.heads = size->heads;
    document.d_k = size->d_k;
    if (size->d_model > 0) document.d_model = size->d_model;
    keep_targets_inside(document);
    return document;
}

std::string words_of(const OpenRequest& request) {
    if (const auto* path = std::get_if<std::string>(&request.what)) return *path;
    const auto& spec = std::get<large::PlantedSpec>(request.what);
    return fmt::format("generated matrix of {} tokens, seed {}", spec.tokens, spec.seed);
}

double word_value(std::uint64_t word_hash, Index column) {
    return rounded(normal(word_hash, static_cast<std::uint64_t>(column)));
}

double position_value(Index position, Index column, Index d_model) {
    const double pair = static_cast<double>(column - column % 2);
    const double angle =
        static_cast<double>(position) / std::pow(10000.0, pair / static_cast<double>(d_model));
    return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

Tensor toy_vectors(const std::vector<std::string>& tokens, Index d_model) {
    const Index count = static_cast<Index>(tokens.size());
    Tensor x({1, 1, count, d_model});
    for (Index i = 0; i < count; ++i) {
        const std::uint64_t word = hash_text(tokens[static_cast<std::size_t>(i)]);
        for (Index c = 0; c < d_model; ++c)
            x(0, 0, i, c) = static_cast<float>(word_value(word, c) + position_value(i, c, d_model));
    }
    return x;
}

Params toy_weights(std::uint64_t seed, Index d_model, Index d_k, Index heads) {
    Params params;
    for (const Param param : {Param::w_q, Param::w_k, Param::w_v})
        params[param] = seeded_weight(seed, param, d_model, heads * d_k);
    params[Param::w_o] = seeded_weight(seed, Param::w_o, heads * d_k, d_model);
    return params;
}

std::string check_tokens(std::string_view name, const std::vector<std::string>& tokens) {
    if (static_cast<Index>(tokens.size()) <= kMaxTokens) return {};
    return fmt::format("{} has {} tokens: at most {} can be shown", name, tokens.size(),
                       kMaxTokens);
}

std::string check_sizes(Index d_model, Index d_k, Index heads) {
    for (std::string wrong :
         {check_size("d_model", d_model, kMaxModelWidth), check_size("d_k", d_k, kMaxKeyWidth),
          check_size("heads", heads, kMaxHeads)})
        if (!wrong.empty()) return wrong;
    return {};
}

Result<Document> make_document(std::string_view sentence, Index d_model, Index d_k, Index heads,
                               std::uint64_t seed, const AttentionSpec& spec) {
    Document document;
    document.sentence = valid_utf8(sentence);
    document.tokens = tokenize(document.sentence);
    if (document.tokens.empty())
        return bad_input("the sentence is empty: type at least one word and press Enter");
    std::string wrong = check_tokens("the sentence", document.tokens);
    if (wrong.empty()) wrong = check_sizes(d_model, d_k, heads);
    if (!wrong.empty()) return bad_input(std::move(wrong));

    document.name = "custom";
    document.title = shortened(document.sentence, kMostTitle);
    document.note = fmt::format(
        "toy weights, not trained: word vectors from the words alone, sinusoidal positions, W from "
        "seed {}",
        seed);
    document.d_model = d_model;
    document.d_k = d_k;
    document.heads = heads;
    document.seed = seed;
    document.spec = spec;
    document.spec.heads = document.spec.kv_heads = heads;
    Inputs inputs;
    inputs.x = toy_vectors(document.tokens, d_model);
    inputs.params = toy_weights(seed, d_model, d_k, heads);
    set_inputs(document, std::move(inputs));
    return with_size(std::move(document));
}

std::string stages_lack(const Document& document) {
    if (is_empty(document)) return "Type a sentence and press Enter.";
    const Dimensions& size = document.size;
    if (size.tq > kMostCells / std::max<Index>(size.tk, 1))
        return fmt::format("{} × {} scores are too many to step through: Large shows them (key 3).",
                           grouped(size.tq), grouped(size.tk));
    if (!document.inputs->projects() && document.inputs->v.empty())
        return "These are queries and keys without values: Large shows their weights (key 3).";
    return {};
}

}  // namespace attn::view
