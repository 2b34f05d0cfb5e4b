#include "app/files/results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/files/inputs.h"
#include "app/files/layers.h"
#include "app/files/serving.h"
#include "core/numerics.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::files {
namespace {

constexpr std::string_view kLogsumexp = "logsumexp";
constexpr std::string_view kBiasGradient = "d_bias";

/// Of the gradients that every program has a name for.
constexpr std::pair<std::string_view, std::string_view> kGradients[] = {
    {"dQ", "d_q"}, {"dK", "d_k"}, {"dV", "d_v"}};

/// "d_q" of "dQ".
std::string_view gradient_key(std::string_view name) {
    for (const auto& [theirs, key] : kGradients)
        if (name == theirs) return key;
    return name;
}

bool is_gradient(std::string_view name) {
    const std::string_view key = gradient_key(name);
    if (!key.starts_with("d_")) return false;
    return key == kBiasGradient || find_stage(key.substr(2)).has_value() ||
           std::ranges::count(param_table(), key.substr(2), &ParamInfo::key) > 0;
}

bool is_result(std::string_view name) {
    return find_stage(name).has_value() || name == kLogsumexp || is_gradient(name);
}

/// "l3." of "l3.weights", "" of a plain name.
std::string_view prefix_of(std::string_view name) {
    return name.substr(0, name.size() - array_part(name).size());
}

std::optional<FloatFormat> short_format(std::string_view dtype) {
    if (dtype == "float16") return FloatFormat::fp16;
    return dtype == "bfloat16" ? std::optional(FloatFormat::bf16) : std::nullopt;
}

/// What stands before the names of the layer that is meant.
std::string find_prefix(const ArrayReader& reader, Index layer) {
    std::set<std::string> layers;
    for (const std::string& name : reader.names()) {
        const std::string_view prefix = prefix_of(name);
        if (is_result(array_part(name)) && !prefix.empty()) layers.insert(std::string(prefix));
        if (is_result(name)) return std::string();
    }
    const std::string wanted = fmt::format("l{}.", layer);
    if (layer >= 0 && layers.contains(wanted)) return wanted;
    if (layers.empty()) return std::string();
    if (layer < 0 && layers.size() == 1) return *layers.begin();
    std::vector<std::string> numbers;
    for (const std::string& each : layers) numbers.push_back(each.substr(1, each.size() - 2));
    throw bad_input(fmt::format("{} has the layers {}", reader.path(), fmt::join(numbers, ", ")),
                    {{.option = "layer", .value = "N"}}, ErrorCode::ambiguous);
}

/// The reader of one file, how the names of its layer begin, and how the options say that arrays are to be read.
struct Source {
    ArrayReader& reader;
    std::string prefix;
    CallOptions options;

    std::string name(std::string_view key) const { return prefix + std::string(key); }
    bool has(std::string_view key) const { return reader.has(name(key)); }
    void read(std::string_view key, const Axes& axes, Tensor& into) const {
        into = reader.tensor(name(key), axes);
    }
    /// Of a stage with heads: pairs as they lie, vectors as `layout` says.
    Axes axes_of(const StageInfo& stage) const {
        if (stage.columns == Axis::key) return {};
        const Index heads = options.heads.value_or(1);
        const Index own =
            stage.heads == HeadAxis::key_value ? options.kv_heads.value_or(heads) : heads;
        return {Layout::heads, view::unpacked_axes(options.layout, HeadAxes::heads_first), own};
    }
};

/// [B,H,Tq,1] of [B,H,Tq], [H,Tq], [Tq] or that itself.
void read_logsumexp(const Source& source, Tensor& into) {
    if (!source.has(kLogsumexp)) return;
    const auto axes = source.reader.axes_of(source.name(kLogsumexp));
    const Layout layout = axes.size() == 1 ? Layout::bias : Layout::rows;
    source.read(kLogsumexp, {.layout = layout}, into);
    const Shape shape = into.shape();
    if (axes.size() == 4 && shape.d == 1) return;
    if (axes.size() == 4)
        throw bad_input(fmt::format("{}: logsumexp is {}; expected [B, H, Tq]",
                                    source.reader.path(), to_string(shape)));
    into = Tensor({shape.h, shape.t, shape.d, 1},
                  std::vector<float>(into.values().begin(), into.values().end()));
}

/// `output` is joined, [B,T,d_out]; with a head axis it is what is called context here.
void read_output(const Source& source, ResultFile& file) {
    if (!source.has("output")) return;
    Tensor& output = file.results[Stage::output];
    source.read("output", {.layout = Layout::tokens}, output);
    if (output.shape().h == 1 || !file.results[Stage::context].empty()) return;
    file.notes.push_back(fmt::format("{}: output {} has heads: it is compared as context",
                                     file.path, to_string(output.shape())));
    std::swap(file.results[Stage::context], output);
}

/// "d_q", or "dQ" where the file calls it so.
std::string name_of_gradient(const ArrayReader& reader, const std::string& prefix,
                             const std::string& key) {
    for (const auto& [theirs, ours] : kGradients)
        if (key == ours && !reader.has(prefix + key)) return std::string(theirs);
    return key;
}

/// Those of a score's parameters only beside the parameters: two of them have one name.
void read_gradients(const Source& source, ResultFile& file) {
    for (const StageInfo& stage : stage_table()) {
        const bool joined = stage.heads == HeadAxis::none;
        const std::string key = fmt::format("d_{}", stage.key);
        source.read(name_of_gradient(source.reader, source.prefix, key),
                    joined ? Axes{.layout = Layout::tokens} : source.axes_of(stage),
                    file.gradients[stage.stage]);
    }
    for (const ParamInfo& param : param_table())
        if (param.use != ParamUse::score || !file.inputs.params[param.param].empty())
            source.read(fmt::format("d_{}", param.key),
                        {.layout = param.bias ? Layout::bias : Layout::weight},
                        file.gradients.params[param.param]);
    source.read(kBiasGradient, {}, file.gradients.bias);
}

/// dO or dY, or what a trace has of the gradient at output or at context.
void read_upstream_of(const Source& source, ResultFile& file) {
    if (file.upstream && !file.upstream->gradient.empty()) return;
    file.upstream.reset();
    Upstream given{Stage::context, {}};
    source.read("dO", source.axes_of(info(Stage::context)), given.gradient);
    if (given.gradient.empty()) {
        given.stage = Stage::output;
        source.read("dY", {.layout = Layout::tokens}, given.gradient);
    }
    for (const Stage stage : {Stage::output, Stage::context})
        if (given.gradient.empty()) given = {stage, file.gradients[stage]};
    if (!given.gradient.empty()) file.upstream = std::move(given);
}

void read_stages(const Source& source, ResultFile& file) {
    for (const StageInfo& stage : stage_table()) {
        const bool input = stage.stage == Stage::x || stage.stage == Stage::x_kv;
        if (input || stage.stage == Stage::output) continue;
        source.read(stage.key, source.axes_of(stage), file.results[stage.stage]);
    }
    read_logsumexp(source, file.results.logsumexp);
    read_output(source, file);
}

/// Whether the file has Q and K, packed or not, under whatever names, or X.
bool has_inputs(const ArrayReader& reader, const Listing& listing, Index layer) {
    const auto has = [&](std::string_view name) {
        return reader.has(layer_name(listing, layer, name));
    };
    return has("X") ? listing.substitutes.empty()
                    : (has("Q") && has("K")) || has("c_kv") || (listing.packed && has("qkv"));
}

/// What is said of arrays that are read otherwise here.
void clear_notes(const Listing& listing, ResultFile& file) {
    std::erase(file.notes, unused_note(listing, file.path));
    std::erase(file.notes, substitute_note(listing, file.path));
}

/// The gate of operation `gated`, which must be in the file.
Tensor given_gate(const std::string& path, const TensorFile& read) {
    if (read.fresh_params)
        throw bad_input(fmt::format(
            "{}: operation is gated, but gate is missing; expected gate [B, H, Tq, d_v]", path));
    return read.operation_params.front().tensors.front();
}

void read_call_inputs(const std::string& path, const OptionValues& given, const Listing& listing,
                      Index layer, ResultFile& file) {
    auto read = read_layer(path, given, listing.numbered ? layer : kOnlyLayer, Values::optional,
                           Stored::ignored);
    if (read.operation && read.operation->operation != Operation::gated)
        throw bad_input(
            fmt::format("{}: operation is {}; diff supports softmax attention, and gated",
                        file.path, info(read.operation->operation).key));
    if (read.operation) file.gate = given_gate(file.path, read);
    file.inputs = std::move(read.layers.front());
    file.upstream = std::move(read.upstreams.front());
    file.spec = std::move(read.spec);
    const bool stages = !listing.substitutes.empty() && !listing.packed;
    file.input_names = stages ? InputNames::stages : InputNames::call;
    if (stages)
        for (const Stage stage : {Stage::q, Stage::k, Stage::v}) file.results[stage] = {};
    file.has_values = file.inputs.projects() || !file.inputs.v.empty();
    if (read.serving && !file.serving) file.serving = std::move(read.serving);
    file.notes.insert(file.notes.end(), read.notes.begin(), read.notes.end());
    clear_notes(listing, file);
}

/// Of arrays and axes: what is computed they do not say.
constexpr std::string_view kReading[] = {"heads", "kv-heads", "layout", "role",
                                         "dtype", "group",    "tokens", "d-k"};

CallOptions read_options(const ArrayReader& reader, const OptionValues& given, ResultFile& file) {
    const auto text = reader.text("options", "a JSON object");
    OptionValues merged = given;
    if (text) {
        auto own = options_from_json(*text, reader.path());
        file.mentions_call = std::ranges::any_of(
            own, [](const auto& each) { return std::ranges::count(kReading, each.first) == 0; });
        merged.insert(own.begin(), own.end());
    }
    merged = for_serving(reader, std::move(merged));
    CallOptions options = call_options(merged);
    file.spec = options.spec;
    std::vector<std::string> items;
    for (const auto& [name, value] : merged)
        items.push_back(value.text == "true" ? name : fmt::format("{}={}", name, value.text));
    file.options = fmt::format("{}", fmt::join(items, ", "));
    return options;
}

/// The sizes that a mask must fit where there is no call: those of the weights.
std::optional<Dimensions> sizes_of(const ResultFile& file) {
    const Shape shape = file.results[Stage::weights].shape();
    if (shape.count() == 0) return std::nullopt;
    Dimensions size;
    size.batch = shape.b, size.heads = size.kv_heads = shape.h;
    size.tq = shape.t, size.tk = shape.d;
    return size;
}

/// What says something of results that have no queries and keys beside them.
void read_beside(const Source& source, ResultFile& file) {
    source.read("sinks", {.layout = Layout::bias}, file.inputs.params[Param::sinks]);
    if (const auto size = sizes_of(file)) {
        read_bias(source.reader, "bias", *size, file.spec.mask);
        read_mask(source.reader, "mask", *size, file.spec.mask, file.notes);
        return add_pair_conditions(source.reader, source.options.pair_conditions, *size, file.spec);
    }
    for (const std::string_view name : {"mask", "bias"})
        if (source.reader.has(name))
            file.notes.push_back(
                fmt::format("{}: {} is not used: no weights give its sizes", file.path, name));
}

/// In which short formats results were saved. `output` with heads is called context here.
void read_formats(const ArrayReader& reader, const std::string& prefix, ResultFile& file) {
    for (const std::string& key : file.keys) {
        std::string name = prefix + name_of_gradient(reader, prefix, key);
        if (key == "context" && !reader.has(name)) name = prefix + "output";
        if (const auto format = short_format(reader.dtype_of(name)))
            file.formats.emplace(key, *format);
    }
}

void name_results(ResultFile& file) {
    for (const StageInfo& stage : stage_table())
        if (!file.results[stage.stage].empty()) file.keys.emplace_back(stage.key);
    if (!file.results.logsumexp.empty()) file.keys.emplace_back(kLogsumexp);
    for (const StageInfo& stage : stage_table())
        if (!file.gradients[stage.stage].empty())
            file.keys.push_back(fmt::format("d_{}", stage.key));
    for (const ParamInfo& param : param_table())
        if (!file.gradients.params[param.param].empty())
            file.keys.push_back(fmt::format("d_{}", param.key));
    if (!file.gradients.bias.empty()) file.keys.emplace_back(kBiasGradient);
}

void name_unused(const ArrayReader& reader, const Listing& listing, ResultFile& file) {
    for (const std::string& name : reader.names()) {
        const bool listed = std::ranges::count(listing.unused, name) > 0 ||
                            std::ranges::count(listing.computed, name) > 0;
        if (listed && !is_result(array_part(name))) file.unused.push_back(name);
    }
}

/// Results of pages or packed sequences in the axes of the padded call. Notes on them are those of the inputs.
void read_serving_results(ArrayReader& reader, CallOptions& options, Index layer,
                          const verify::Serving* other, ResultFile& file) {
    ServingCall call = read_serving(reader, options, layer, other);
    if (!call.serving) return;
    if (call.unpacked) options.layout.reset();
    file.serving = std::move(call.serving);
    file.parts = std::move(call.parts);
    file.parts_format = short_format(call.parts_dtype);
}

void fill(ArrayReader& reader, const OptionValues& given, Index layer, ResultFile& file,
          const std::string& path, const verify::Serving* other) {
    CallOptions options = read_options(reader, given, file);
    reader.set_dtypes(options.dtypes);
    read_serving_results(reader, options, layer, other, file);
    const std::string prefix = find_prefix(reader, layer);
    Listing listing = list_layers(reader.names(), reader.path());
    listing.options = states_options(reader);
    const Source source{reader, prefix, std::move(options)};
    read_stages(source, file);
    name_unused(reader, listing, file);
    const Index first = layer < 0 ? listing.layers.front() : layer;
    if (has_inputs(reader, listing, first))
        read_call_inputs(path, given, listing, layer, file);
    else
        read_beside(source, file);
    read_gradients(source, file);
    read_upstream_of(source, file);
    file.mentions_call = file.mentions_call || file.spec.mask.custom || file.spec.mask.bias;
}

}  // namespace

Result<ResultFile> read_results(const std::string& path, const OptionValues& given, Index layer,
                                const verify::Serving* other) {
    return caught([&] {
        ArrayReader reader = ArrayReader::open(path);
        ResultFile file;
        file.path = reader.path();
        fill(reader, given, layer, file, path, other);
        name_results(file);
        read_formats(reader, find_prefix(reader, layer), file);
        std::ranges::move(reader.notes(), std::back_inserter(file.notes));
        return file;
    });
}

}  // namespace attn::files
