#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/assets.h"
#include "app/common/describe_json.h"
#include "app/common/document/call.h"
#include "app/common/document/input_edits.h"
#include "app/common/document/paint.h"
#include "app/common/document/reference.h"
#include "app/common/document/toy.h"
#include "app/common/document/trained.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/tokens.h"
#include "core/io/json.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stages.h"
#include "core/trace.h"

namespace attn::view {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 2> kEmptyRowsNames{"zero", "nan"};  // in the enum's order

/// What a matrix must be, and the words for it: "d_k·heads".
struct Expected {
    Index rows = 0;  // 0: any
    std::string rows_text;
    Index columns = 0;  // 0: any
    std::string columns_text;
};

std::string expected_size(Index count, const std::string& text) {
    return text.empty() ? fmt::format("{}", count) : fmt::format("{} = {}", text, count);
}

void read_row(Fields& fields, std::string_view key, const json& row, std::size_t n,
              const Expected& expected, std::vector<float>& values) {
    if (!row.is_array())
        return fields.complain(fmt::format("{} row {}: expected a list of numbers", key, n));
    const Index count = static_cast<Index>(row.size());
    if (count != expected.columns)
        return fields.complain(fmt::format("{} row {} has {} numbers, expected {}", key, n, count,
                                           expected_size(expected.columns, expected.columns_text)));
    for (std::size_t c = 0; c < row.size(); ++c) {
        double value = 0.0;
        if (!number_from(row[c], value))
            return fields.complain(fmt::format("{} row {} has {} in column {}: expected a number",
                                               key, n, quoted(row[c]), c));
        if (std::isfinite(value) && !std::isfinite(static_cast<float>(value)))
            return fields.complain(
                fmt::format("{} row {} has {} in column {}: float32 holds at most 3.4e38", key, n,
                            quoted(row[c]), c));
        values.push_back(static_cast<float>(value));
    }
}

Tensor identity(const Expected& expected) {
    Tensor w({1, 1, expected.rows, expected.columns});
    for (Index n = 0; n < std::min(expected.rows, expected.columns); ++n) w(0, 0, n, n) = 1.0F;
    return w;
}

/// A list of rows, or "identity". Empty when the key is missing or wrong.
Tensor read_matrix(Fields& fields, std::string_view key, Expected expected) {
    const json* found = fields.find(key);
    if (found == nullptr) return {};
    if (*found == "identity") return identity(expected);
    if (!found->is_array() || found->empty()) {
        fields.complain(fmt::format("{}: expected a list of rows, or \"identity\"", key));
        return {};
    }
    const Index rows = static_cast<Index>(found->size());
    if (rows != expected.rows)
        fields.complain(fmt::format("{} has {} rows, expected {}", key, rows,
                                    expected_size(expected.rows, expected.rows_text)));
    std::vector<float> values;
    for (std::size_t n = 0; n < found->size() && fields.ok(); ++n)
        read_row(fields, key, (*found)[n], n, expected, values);
    if (!fields.ok()) return {};
    return Tensor({1, 1, rows, expected.columns}, std::move(values));
}

/// Numbers in the first row of X, where it is given: that is d_model.
Index width_of_rows(Fields& fields, std::string_view key, Index otherwise) {
    const json* found = fields.find(key);
    if (found == nullptr || !found->is_array() || found->empty()) return otherwise;
    const json& row = found->front();
    return row.is_array() && !row.empty() ? static_cast<Index>(row.size()) : otherwise;
}

void read_scale(Fields& fields, AttentionSpec& spec) {
    const json* found = fields.find("scale");
    if (found == nullptr) return;
    if (found->is_number()) {
        spec.scale = ScaleKind::value;
        spec.scale_value = found->get<double>();
        return;
    }
    for (const auto& [key, kind] :
         {std::pair("sqrt_dk", ScaleKind::sqrt_dk), std::pair("q_and_k", ScaleKind::q_and_k),
          std::pair("none", ScaleKind::none)})
        if (*found == key) {
            spec.scale = kind;
            return;
        }
    fields.complain(
        fmt::format("has 'scale' = {}: expected \"sqrt_dk\", \"q_and_k\", \"none\" or a number",
                    quoted(*found)));
}

void read_causal(Fields& fields, MaskSpec& mask) {
    const json* found = fields.find("causal");
    if (found == nullptr || *found == false) return;
    if (*found == true || *found == "top-left")
        mask.causal = CausalAlign::top_left;
    else if (*found == "bottom-right")
        mask.causal = CausalAlign::bottom_right;
    else
        fields.complain(
            fmt::format("has 'causal' = {}: expected true, false, \"top-left\" or \"bottom-right\"",
                        quoted(*found)));
}

void check_least(Fields& fields, std::string_view key, Index value, Index least) {
    if (value < least)
        fields.complain(fmt::format("has '{}' = {}: expected at least {}", key, value, least));
}

void read_count(Fields& fields, std::string_view key, std::optional<Index>& count, Index least) {
    if (fields.find(key) == nullptr) return;
    fields.read(key, count.emplace(least));
    check_least(fields, key, *count, least);
}

/// Valid keys: one number, or a list with one for each batch entry.
void read_padding(Fields& fields, MaskSpec& mask) {
    const json* found = fields.find("padding");
    if (found == nullptr) return;
    mask.padding.clear();
    if (found->is_array())
        for (const json& each : *found) {
            if (!each.is_number_integer())
                return fields.complain("has 'padding': expected a list of whole numbers");
            mask.padding.push_back(each.get<Index>());
        }
    else
        fields.read("padding", mask.padding.emplace_back());
    for (const Index keys : mask.padding) check_least(fields, "padding", keys, 0);
}

CallSettings read_spec(Fields& fields, AttentionSpec& spec) {
    read_scale(fields, spec);
    read_causal(fields, spec.mask);
    fields.read("temperature", spec.temperature);
    for (const SpecField& field : spec_fields())
        if (field.count != nullptr)
            read_count(fields, field.key, spec.mask.*field.count, field.least);
    fields.read("global_tokens", spec.mask.global_tokens);
    check_least(fields, "global_tokens", spec.mask.global_tokens, 0);
    read_padding(fields, spec.mask);
    fields.read_name("empty_rows", spec.empty_rows, kEmptyRowsNames);
    CallSettings call;
    JsonReader reader(fields);
    describe_options(reader, call);
    for (const std::string_view key : {"rope_base", "rope_dims", "rope_scaled"})
        if (call.rope == RopeTurn::off && fields.find(key) != nullptr)
            fields.complain(fmt::format(
                "has '{}' without RoPE: expected 'rope' as well, half or interleaved", key));
    set_options(spec, call);
    return call;
}

/// RoPE that was switched off: nullopt where none was, or an older program wrote the file.
std::optional<CallSettings> read_rope_before(Fields& fields) {
    std::optional<CallSettings> before;
    read_object(fields, "rope_before", [&](Fields& inner) {
        JsonReader reader(inner);
        describe_rope(reader, before.emplace());
    });
    return before;
}

void read_sizes(Fields& fields, Document& document) {
    std::string source;
    fields.need("sentence", document.sentence);
    fields.read("source", source);
    if (!tokenize(document.sentence).empty())
        if (auto read = read_sentence(document); !read) fields.complain(": " + read.error().text());
    document.tokens_kv = tokenize(source);
    if (!document.tokens_next.empty() && !document.tokens_kv.empty())
        fields.complain(": a sentence with a 'source' cannot be a batch: leave out ||");
    document.d_model = 4;
    fields.read("d_model", document.d_model);
    document.d_model = width_of_rows(fields, "X", document.d_model);
    document.d_k = document.d_model;
    fields.read("d_k", document.d_k);
    fields.read("heads", document.heads);
    for (std::string wrong : {check_tokens("the source", document.tokens_kv),
                              check_sizes(document.d_model, document.d_k, document.heads)})
        if (!wrong.empty()) fields.complain(": " + wrong);
}

/// What each head was built to do: a name for every head, or none.
void read_head_names(Fields& fields, Document& document) {
    const json* found = fields.find("head_names");
    if (found == nullptr) return;
    if (!found->is_array() || static_cast<Index>(found->size()) != document.heads)
        return fields.complain(fmt::format("has 'head_names' = {}: expected a list of {} texts",
                                           quoted(*found), document.heads));
    for (const json& name : *found) {
        if (!name.is_string()) return fields.complain("has 'head_names': expected texts");
        document.head_names.push_back(name.get<std::string>());
    }
}

Tensor read_vectors(Fields& fields, std::string_view key, const Document& document) {
    const auto& tokens = key == "X" ? document.tokens : document.tokens_kv;
    const Index d_model = document.d_model;
    if (tokens.empty() && fields.find(key) != nullptr)
        fields.complain(fmt::format("has {} but no words for it: give '{}'", key,
                                    key == "X" ? "sentence" : "source"));
    if (!fields.ok() || tokens.empty()) return {};
    const Stage stage = key == "X" ? Stage::x : Stage::x_kv;
    Tensor x = vectors_of(document, stage, d_model);
    const Tensor given = read_matrix(
        fields, key, {x.shape().b * x.shape().t, "one for each token", d_model, "d_model"});
    if (!given.empty()) std::ranges::copy(given.values(), x.values().begin());
    return x;
}

/// Key/value heads and d_v, which are as many as heads and d_k where nothing else is said.
ToyShape read_shape(Fields& fields, const Document& document) {
    ToyShape shape{document.d_model, document.d_k,   document.d_k,
                   document.heads,   document.heads, document.spec.score};
    JsonReader reader(fields);
    reader("kv_heads", shape.kv_heads, {.low = 1, .high = kMaxHeads});
    reader("d_v", shape.d_v, {.low = 1, .high = kMaxKeyWidth});
    const json* sinks = fields.find("sinks");
    shape.sinks = sinks != nullptr && *sinks == true;  // from the seed
    shape.queries = std::ssize(document.tokens);
    shape.keys = std::ssize(document.tokens_kv.empty() ? document.tokens : document.tokens_kv);
    return shape;
}

/// What a parameter of a toy must be, as the person who wrote the file counts.
Expected expected_of(Param param, const ToyShape& shape) {
    const std::string keys = shape.kv_heads == shape.heads ? "heads" : "kv_heads";
    const std::string value = shape.d_v == shape.d_k ? "d_k" : "d_v";
    if (param == Param::w_q)
        return {shape.d_model, "d_model", shape.d_k * shape.heads, "d_k·heads"};
    if (param == Param::w_k)
        return {shape.d_model, "d_model", shape.d_k * shape.kv_heads, "d_k·" + keys};
    if (param == Param::w_v)
        return {shape.d_model, "d_model", shape.d_v * shape.kv_heads, value + "·" + keys};
    if (param == Param::w_o)
        return {shape.d_v * shape.heads, value + "·heads", shape.d_model, "d_model"};
    if (param == Param::sinks) return {1, "", shape.heads, "heads"};
    if (param == Param::b_score)
        return {shape.heads, "heads", std::max<Index>(shape.queries + shape.keys - 1, 1),
                "queries + keys − 1"};
    if (param == Param::w_score_row) return {1, "", shape.d_k, "d_k"};
    return {shape.d_k, "d_k", shape.d_k, "d_k"};  // of a score
}

/// Given, "identity", or from the seed; W_O only when given, or when everything is seeded. Given ones are hand-set
/// unless "hand_set" says otherwise: a session holds the seeded ones, too.
void read_weights(Fields& fields, const ToyShape& shape, Document& document, Params& params) {
    const Params seeded = toy_weights(document.seed, shape);
    bool all_seeded = true;
    for (const ParamInfo& row : param_table()) {
        if (row.bias && row.use != ParamUse::score && row.use != ParamUse::sink) continue;
        if (row.use == ParamUse::output) continue;
        const bool by_seed = row.param == Param::sinks && shape.sinks;
        if (!by_seed)
            params[row.param] = read_matrix(fields, row.npz, expected_of(row.param, shape));
        all_seeded = all_seeded && (row.use != ParamUse::projection || params[row.param].empty());
        if (params[row.param].empty()) params[row.param] = seeded[row.param];
    }
    if (!all_seeded) document.hand_set = document.title;
    fields.read("hand_set", document.hand_set);
    if (const json* w_o = fields.find("W_O"); w_o != nullptr && *w_o == "none") return;
    params[Param::w_o] = read_matrix(fields, "W_O", expected_of(Param::w_o, shape));
    if (params[Param::w_o].empty() && all_seeded) params[Param::w_o] = seeded[Param::w_o];
}

/// Described values of a document; nothing happens when the list is missing.
template <class T>
void read_list(Fields& fields, std::string_view key, std::vector<T>& list) {
    read_each(fields, key, [&](Visitor& visit) { describe(visit, list.emplace_back()); });
}

Result<Document> read_document(const json& value, std::string_view file_name) {
    Fields fields(value, std::string(file_name));
    Document document;
    document.name = "custom";
    fields.read("name", document.name);
    fields.need("title", document.title);
    fields.need("note", document.note);
    read_sizes(fields, document);
    fields.read("seed", document.seed);
    fields.read("sinusoid", document.sinusoid);
    read_head_names(fields, document);
    if (read_spec(fields, document.spec).rope_scaled)
        fields.complain("has 'rope_scaled': only a model's RoPE has scaling");
    if (const auto before = read_rope_before(fields)) set_rope(document.rope_before, *before);
    document.painted = read_paint(fields, document.spec.mask.custom);
    std::vector<BiasStroke> strokes;
    read_list(fields, "bias", strokes);
    read_list(fields, "targets", document.targets);
    const ToyShape shape = read_shape(fields, document);
    document.spec.heads = shape.heads;
    document.spec.kv_heads = shape.kv_heads;
    Inputs inputs;
    if (fields.ok()) {
        inputs.x = read_vectors(fields, "X", document);
        inputs.x_kv = read_vectors(fields, "X_kv", document);
        read_weights(fields, shape, document, inputs.params);
    }
    if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
    set_inputs(document, std::move(inputs));
    return with_size(std::move(document))
        .and_then([&](Document sized) { return with_strokes(std::move(sized), strokes); })
        .map_error([&](const Error& error) { return within(file_name, error); });
}

decltype(DocumentReference::what) named_in(Fields& fields) {
    JsonReader reader(fields);
    if (fields.find("trained") != nullptr) {
        TrainedOrigin trained;
        reader("trained", trained);
        return trained;
    }
    std::string path;
    fields.read("file", path);
    if (!path.empty()) return path;
    ModelOrigin model;
    std::string built_in;
    fields.read("built_in", built_in);
    fields.read("model", model.path);
    if (!built_in.empty()) {
        model.path = built_in_model(built_in).string();
        if (model.path.empty())
            fields.complain(fmt::format("names the built-in model '{}'; expected {}",
                                        shortened(built_in), fmt::join(built_in_models(), ", ")));
    }
    fields.read("before", model.before);
    fields.read("beside", model.second_input);
    fields.read("group", model.group);
    if (!model.path.empty()) {
        model.image = fields.find("image") != nullptr;
        fields.need(model.image ? "image" : "text", model.text);
        model.changes = changes_in(fields);
        return ModelText{std::move(model)};
    }
    large::PlantedSpec planted;
    reader("planted", planted);
    return planted;
}

}  // namespace

bool is_reference(const json& document) {
    if (!document.is_object()) return false;
    return document.contains("file") || document.contains("planted") ||
           document.contains("model") || document.contains("built_in") ||
           document.contains("trained");
}

Result<DocumentReference> reference_from_json(const json& value, std::string_view file_name) {
    Fields fields(value, std::string(file_name));
    DocumentReference reference;
    reference.what = named_in(fields);
    if (std::holds_alternative<std::string>(reference.what))
        fields.read("options", reference.options);
    fields.read("absolute", reference.absolute);
    if (std::holds_alternative<ModelText>(reference.what))
        fields.read("absolute_image", reference.absolute_image);
    fields.read("layer", reference.layer);
    fields.read("heads", reference.spec.heads);
    reference.spec.kv_heads = reference.spec.heads;
    fields.read("kv_heads", reference.spec.kv_heads);
    reference.has_rules = fields.find("global_tokens") != nullptr;
    const bool has_call = fields.find(kCallMark) != nullptr ||
                          std::holds_alternative<large::PlantedSpec>(reference.what);
    const CallSettings call = read_spec(fields, reference.spec);
    if (has_call) reference.call = call;
    reference.rope_before = read_rope_before(fields);
    reference.painted = read_paint(fields, reference.spec.mask.custom);
    read_list(fields, "targets", reference.targets);
    read_list(fields, "edits", reference.edits);
    read_list(fields, "bias", reference.bias_strokes);
    return fields.finish().map([&] { return reference; });
}

Result<Document> document_from_json(std::string_view text, std::string_view file_name) {
    return parse_json(text, file_name).and_then([&](const json& value) {
        return read_document(value, file_name);
    });
}

}  // namespace attn::view
