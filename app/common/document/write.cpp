// A document as JSON: rows on single lines, for people.

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
#include "core/io/json.h"
#include "core/io/paths.h"
#include "core/models/groups.h"
#include "core/spec_fields.h"
#include "core/stages.h"

namespace attn::view {
namespace {

using nlohmann::json, nlohmann::ordered_json;

/// Key and JSON text of each member.
using Rows = std::vector<std::pair<std::string, std::string>>;

std::string text_json(const std::string& text) {
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string entry_json(float value) {
    if (value == 0.0F && std::signbit(value))
        return "-0.0";  // "-0" would read back as the integer 0
    return std::isfinite(value) ? exact(value) : number_to(value).dump();
}

std::string matrix_json(const Tensor& tensor) {
    std::string text = "[\n";
    const Shape shape = tensor.shape();
    const MatrixView<const float> matrix{tensor.data(), shape.b * shape.t, shape.d, shape.d};
    for (Index i = 0; i < matrix.rows; ++i) {
        text += "    [";
        for (Index c = 0; c < matrix.columns; ++c)
            text += (c == 0 ? "" : ", ") + entry_json(matrix(i, c));
        text += i + 1 < matrix.rows ? "],\n" : "]\n";
    }
    return text + "  ]";
}

/// A number, a described value, a list of them; nothing where an optional is none.
template <class T>
void add(Rows& rows, const std::string& key, T value) {
    ordered_json object;
    JsonWriter writer(object);
    writer(key, value);
    if (!object.empty()) rows.emplace_back(key, object[key].dump());
}

/// Key and JSON text of everything in the spec that is not as by default.
void add_spec(Rows& rows, const AttentionSpec& spec) {
    if (spec.scale == ScaleKind::none) rows.emplace_back("scale", "\"none\"");
    if (spec.scale == ScaleKind::q_and_k) rows.emplace_back("scale", "\"q_and_k\"");
    if (spec.scale == ScaleKind::value) rows.emplace_back("scale", json(spec.scale_value).dump());
    if (spec.temperature != 1.0) rows.emplace_back("temperature", json(spec.temperature).dump());
    if (spec.mask.causal)
        rows.emplace_back("causal",
                          *spec.mask.causal == CausalAlign::top_left ? "true" : "\"bottom-right\"");
    for (const SpecField& field : spec_fields())
        if (field.count != nullptr) add(rows, std::string(field.key), spec.mask.*field.count);
    if (!spec.mask.padding.empty())
        rows.emplace_back("padding", fmt::format("[{}]", fmt::join(spec.mask.padding, ", ")));
    if (spec.empty_rows == EmptyRows::nan) rows.emplace_back("empty_rows", "\"nan\"");
}

ordered_json described(void (*describe)(Visitor& visit, CallSettings& call), CallSettings call) {
    ordered_json object;
    JsonWriter writer(object);
    describe(writer, call);
    return object;
}

/// Those options of the call that are not as by default.
void add_call(Rows& rows, const Document& document) {
    const ordered_json usual = described(describe_options, {});
    const ordered_json call = described(describe_options, call_of(document));
    for (const auto& [key, value] : call.items()) {
        // of a file, ALiBi is always said: it tells that what is left out is as by default
        const bool own =
            is_toy(document) || std::holds_alternative<large::PlantedSpec>(document.origin);
        const bool mark = !own && key == kCallMark;
        if (mark || value != usual[key]) rows.emplace_back(key, value.dump());
    }
    if (!document.spec.rope && document.rope_before)
        rows.emplace_back("rope_before", described(describe_rope, call_turned(document)).dump());
}

void add_tensors(Rows& rows, const Inputs& inputs) {
    if (!inputs.x.empty()) rows.emplace_back("X", matrix_json(inputs.x));
    if (!inputs.x_kv.empty()) rows.emplace_back("X_kv", matrix_json(inputs.x_kv));
    for (const ParamInfo& param : param_table())
        if (!inputs.params[param.param].empty())
            rows.emplace_back(param.npz, matrix_json(inputs.params[param.param]));
    if (inputs.params[Param::w_o].empty()) rows.emplace_back("W_O", "\"none\"");
}

std::string object_json(const Rows& rows) {
    std::string text = "{\n";
    for (std::size_t n = 0; n < rows.size(); ++n)
        text += fmt::format("  \"{}\": {}{}\n", rows[n].first, rows[n].second,
                            n + 1 < rows.size() ? "," : "");
    return text + "}\n";
}

template <class T>
void add_list(Rows& rows, const std::string& key, const std::vector<T>& list) {
    if (!list.empty()) add(rows, key, list);
}

/// `images`: files of images stand beside its text.
void add_model(Rows& rows, const ModelOrigin& model, bool images,
               const std::filesystem::path& folder) {
    const std::string built_in = built_in_name(model.path);
    if (!built_in.empty())
        rows.emplace_back("built_in", text_json(built_in));
    else
        rows.emplace_back("model", text_json(path_from(folder, model.path)));
    if (!folder.empty() && built_in.empty())
        rows.emplace_back("absolute", text_json(absolute_path(model.path)));
    if (model.image) {
        rows.emplace_back("image",
                          text_json(model.text.empty() ? "" : path_from(folder, model.text)));
        if (!folder.empty() && !model.text.empty())
            rows.emplace_back("absolute_image", text_json(absolute_path(model.text)));
    } else {
        rows.emplace_back("text", text_json(model.text));
    }
    if (!model.second_input.empty()) {
        const auto from = [&](const std::string& file) { return path_from(folder, file); };
        rows.emplace_back("beside", text_json(images ? with_parts(model.second_input, from)
                                                     : model.second_input));
        if (images && !folder.empty())
            rows.emplace_back("absolute_image",
                              text_json(with_parts(model.second_input, absolute_path)));
    }
    if (!model.group.empty()) rows.emplace_back("group", text_json(model.group));
    if (!model.before.empty()) rows.emplace_back("before", text_json(model.before));
    json off = json::array();
    for (const HeadPlace& at : model.changes.off) off.push_back({at.layer, at.head});
    if (!off.empty()) rows.emplace_back("off", off.dump());
    add_list(rows, "rows", model.changes.rows);
    add_list(rows, "patches", model.changes.patches);
}

/// A document that is not a toy: where its tensors come from, and what was changed since.
std::string reference_to_json(const Document& document, const std::filesystem::path& folder) {
    Rows rows;
    if (const auto* file = std::get_if<FileOrigin>(&document.origin)) {
        rows.emplace_back("file", text_json(path_from(folder, file->path)));
        if (!file->options.empty()) rows.emplace_back("options", text_json(file->options));
        if (!folder.empty() && file->path != "-")
            rows.emplace_back("absolute", text_json(absolute_path(file->path)));
    }
    const bool towers = !document.groups.empty() && document.groups.front() == "text";
    if (const ModelOrigin* model = model_of(document)) add_model(rows, *model, towers, folder);
    if (const auto* trained = std::get_if<TrainedOrigin>(&document.origin))
        add(rows, "trained", *trained);
    if (const auto* spec = std::get_if<large::PlantedSpec>(&document.origin))
        add(rows, "planted", *spec);
    add(rows, "layer", document.layer);
    add(rows, "heads", document.spec.heads);
    add(rows, "kv_heads", document.spec.kv_heads);
    add_spec(rows, document.spec);
    add_call(rows, document);
    add(rows, "global_tokens", document.spec.mask.global_tokens);
    if (document.painted) rows.emplace_back("mask", paint_json(document.spec.mask.custom));
    add_list(rows, "edits", document.edits);
    add_list(rows, "bias", document.bias_strokes);
    add_list(rows, "targets", document.targets);
    return object_json(rows);
}

}  // namespace

std::string document_to_json(const Document& document, const std::filesystem::path& folder) {
    if (!is_toy(document)) return reference_to_json(document, folder);
    Rows rows{{"name", text_json(document.name)},
              {"title", text_json(document.title)},
              {"note", text_json(document.note)},
              {"sentence", text_json(document.sentence)}};
    if (!document.tokens_kv.empty())
        rows.emplace_back("source",
                          text_json(fmt::format("{}", fmt::join(document.tokens_kv, " "))));
    add(rows, "d_model", document.d_model);
    add(rows, "d_k", document.d_k);
    add(rows, "heads", document.heads);
    const ToyShape shape = toy_shape(document);
    if (shape.kv_heads != shape.heads) add(rows, "kv_heads", shape.kv_heads);
    if (shape.d_v != shape.d_k) add(rows, "d_v", shape.d_v);
    add(rows, "seed", document.seed);
    if (!document.sinusoid) add(rows, "sinusoid", document.sinusoid);
    rows.emplace_back("hand_set", text_json(document.hand_set));
    if (!document.head_names.empty())
        rows.emplace_back("head_names", json(document.head_names).dump());
    add_spec(rows, document.spec);
    if (!document.tokens_next.empty() && document.spec.mask.padding.empty())
        rows.emplace_back("padding", "[]");  // switched off
    add_call(rows, document);
    if (document.spec.mask.global_tokens > 0)
        add(rows, "global_tokens", document.spec.mask.global_tokens);
    if (document.spec.mask.custom) rows.emplace_back("mask", paint_json(document.spec.mask.custom));
    add_list(rows, "bias", document.bias_strokes);
    add_tensors(rows, *document.inputs);
    add_list(rows, "targets", document.targets);
    return object_json(rows);
}

}  // namespace attn::view
