#include "app/files/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "app/files/arrays.h"
#include "core/masks.h"

namespace attn::files {
namespace {

// The file's options under the command line's; a note says which of the file's count.
Result<OptionValues> merge_options(const ArrayReader& reader, const OptionValues& given,
                                   std::vector<std::string>& notes) {
    const auto text = reader.text("options", "a JSON object");
    if (!text) return tl::unexpected(text.error());
    if (!*text) return given;
    Result<OptionValues> merged = options_from_json(**text, reader.path());
    if (!merged) return merged;
    std::vector<std::string> used;
    for (const auto& [name, value] : *merged)
        if (!given.contains(name)) used.push_back(fmt::format("{}={}", name, value.text));
    if (!used.empty())
        notes.push_back(fmt::format("options from {}: {}", reader.path(), fmt::join(used, ", ")));
    for (const auto& [name, value] : given) merged->insert_or_assign(name, value);
    return merged;
}

/// One layer of one file: where each of its arrays stands.
struct LayerReader {
    ArrayReader& reader;
    const Listing& listing;
    Index layer;

    std::string name(std::string_view array) const { return layer_name(listing, layer, array); }
    /// "in.npz", or "in.npz: layer 3".
    std::string shown() const {
        return listing.numbered ? fmt::format("{}: layer {}", reader.path(), layer) : reader.path();
    }
    Result<void> read(std::string_view array, Layout layout, Tensor& into) const {
        return reader.tensor(name(array), layout).map([&](Tensor&& tensor) {
            into = std::move(tensor);
        });
    }
};

Result<Inputs> read_inputs(const LayerReader& layer) {
    Inputs in;
    struct Array {
        std::string_view name;
        Layout layout;
        Tensor& tensor;
    };
    for (const Array& array : {Array{"X", Layout::tokens, in.x},
                               {"X_kv", Layout::tokens, in.x_kv},
                               {"Q", Layout::heads, in.q},
                               {"K", Layout::heads, in.k},
                               {"V", Layout::heads, in.v}})
        if (auto read = layer.read(array.name, array.layout, array.tensor); !read)
            return tl::unexpected(std::move(read.error()));
    for (const ParamInfo& param : param_table())
        if (auto read = layer.read(param.npz, param.bias ? Layout::bias : Layout::weight,
                                   in.params[param.param]);
            !read)
            return tl::unexpected(std::move(read.error()));
    return in;
}

ParamExtents extents_of_params(const LayerReader& layer, const Inputs& in) {
    ParamExtents extents;
    for (const ParamInfo& param : param_table())
        if (!in.params[param.param].empty())
            extents[index_of(param.param)] = layer.reader.extents(layer.name(param.npz));
    return extents;
}

// dO is given at context, dY at output; neither: ones at output.
Result<Upstream> read_upstream(const LayerReader& layer) {
    Upstream upstream;
    const bool at_context = layer.reader.has(layer.name("dO"));
    if (at_context && layer.reader.has(layer.name("dY")))
        return bad_input(fmt::format(
            "{}: both dO (gradient of context) and dY (gradient of output) are given; give one",
            layer.shown()));
    upstream.stage = at_context ? Stage::context : Stage::output;
    return layer
        .read(at_context ? "dO" : "dY", at_context ? Layout::heads : Layout::tokens,
              upstream.gradient)
        .map([&] { return std::move(upstream); });
}

Result<void> check_heads(const CallOptions& options, const Inputs& in) {
    if (in.projects()) return {};
    const auto differs = [](std::optional<Index> heads, const Tensor& tensor) {
        return heads && !tensor.empty() && *heads != tensor.shape().h;
    };
    if (differs(options.heads, in.q))
        return bad_input(fmt::format("heads is {}, but Q is {} and brings {}", *options.heads,
                                     to_string(in.q.shape()), in.q.shape().h));
    if (differs(options.kv_heads, in.k))
        return bad_input(fmt::format("kv-heads is {}, but K is {} and brings {}", *options.kv_heads,
                                     to_string(in.k.shape()), in.k.shape().h));
    return {};
}

// For a file that lacks a tensor; perhaps it has it by another name.
std::string what_it_holds(const Inputs& in, const ArrayReader& reader) {
    const bool given = !in.q.empty() && !in.k.empty() && !in.v.empty();
    if (in.projects() || given) return {};
    const auto& names = reader.names();
    return names.empty() ? "; it holds nothing"
                         : fmt::format("; it holds {}", fmt::join(names, ", "));
}

constexpr struct {
    std::string_view symbol;
    Index Dimensions::*size;
} kSizes[] = {
    {"B", &Dimensions::batch},
    {"H", &Dimensions::heads},
    {"Hkv", &Dimensions::kv_heads},
    {"Tq", &Dimensions::tq},
    {"Tk", &Dimensions::tk},
    {"d_k", &Dimensions::d_k},
    {"d_v", &Dimensions::d_v},
    {"d_model", &Dimensions::d_model},
    {"d_model_kv", &Dimensions::d_model_kv},
    {"d_out", &Dimensions::d_out},
};

Result<void> check_same_sizes(const LayerReader& layer, const Dimensions& size, Index first,
                              const Dimensions& expected) {
    std::vector<std::string> differences;
    for (const auto& row : kSizes)
        if (size.*row.size != expected.*row.size)
            differences.push_back(
                fmt::format("{} {} and not {}", row.symbol, size.*row.size, expected.*row.size));
    if (differences.empty()) return {};
    return bad_input(fmt::format("{} has {} as layer {}; expected the same sizes in every layer",
                                 layer.shown(), fmt::join(differences, ", "), first));
}

/// The sizes of a call, whose V may be missing: then any width of V stands in for it.
Result<Dimensions> sizes_of(Inputs& in, const AttentionSpec& spec, Values values) {
    const bool lacks = values == Values::optional && !in.projects() && in.v.empty() &&
                       !in.q.empty() && !in.k.empty();
    const auto size_of_call = [&] {
        return validate(in, spec).map([](const Call& call) { return call.size(); });
    };
    if (!lacks) return size_of_call();
    const Shape k = in.k.shape();
    in.v = Tensor(Shape{k.b, k.h, k.t, 1});
    auto size = size_of_call();
    in.v = {};
    return size;
}

/// How a file is read.
struct Wanted {
    CallOptions options;
    Values values;
};

Result<void> add_layer(const LayerReader& layer, const Wanted& wanted, TensorFile& file) {
    const CallOptions& options = wanted.options;
    Result<Inputs> inputs = read_inputs(layer);
    if (!inputs) return tl::unexpected(std::move(inputs.error()));
    if (auto fits = check_heads(options, *inputs); !fits) return fits;
    if (options.sinks && inputs->params[Param::sinks].empty())
        return bad_input(
            fmt::format("{}: options say sinks but there is no array sinks; expected one "
                        "number for each query head",
                        layer.shown()));
    const Result<Dimensions> size = sizes_of(*inputs, options.spec, wanted.values);
    if (!size)
        return bad_input(fmt::format("{}: {}{}", layer.shown(), size.error().sentence,
                                     what_it_holds(*inputs, layer.reader)));
    if (file.layers.empty()) file.size = *size;
    if (!file.layers.empty() && file.layers.front().v.empty() != inputs->v.empty())
        return bad_input(fmt::format("{} {} V, layer {} {}; expected V in every layer or in none",
                                     layer.shown(), inputs->v.empty() ? "lacks" : "has",
                                     file.numbers.front(),
                                     inputs->v.empty() ? "has it" : "lacks it"));
    if (auto same = check_same_sizes(layer, *size, file.numbers.empty() ? 0 : file.numbers.front(),
                                     file.size);
        !same)
        return same;
    Result<Upstream> upstream = read_upstream(layer);
    if (!upstream) return tl::unexpected(std::move(upstream.error()));
    file.param_extents.push_back(extents_of_params(layer, *inputs));
    file.layers.push_back(*std::move(inputs));
    file.upstreams.push_back(*std::move(upstream));
    file.numbers.push_back(layer.layer);
    return {};
}

Result<void> read_mask(const ArrayReader& reader, const Dimensions& size, MaskSpec& mask) {
    if (!reader.has("mask")) return {};
    const Result<NpyArray> array = reader.array("mask");
    if (!array) return tl::unexpected(array.error());
    const auto* const values = std::get_if<std::vector<std::uint8_t>>(&array->values);
    if (!values)
        return bad_input(
            fmt::format("{}: mask is {}; expected bool or uint8, true where a query may "
                        "attend: convert a float mask with mask > -inf or mask == 0",
                        reader.path(), array->dtype));
    const Result<Mask> read = mask_from_file(array->extents, *values, size);
    if (!read) return bad_input(fmt::format("{}: {}", reader.path(), read.error().sentence));
    mask.custom = std::make_shared<const Mask>(*read);
    return {};
}

/// `whose`: "queries (Tq)".
Result<void> read_tokens(const ArrayReader& reader, std::string_view name, Index count,
                         std::string_view whose, std::vector<std::string>& tokens) {
    auto texts = reader.texts(name);
    if (!texts) return tl::unexpected(std::move(texts.error()));
    if (!*texts) return {};
    tokens = **std::move(texts);
    if (static_cast<Index>(tokens.size()) == count) return {};
    return bad_input(fmt::format("{}: {} holds {} tokens, but there are {} {}; expected one each",
                                 reader.path(), name, tokens.size(), count, whose));
}

/// Fewer queries than keys under the causal mask that starts in the corner: most keys are never seen, which decoding
/// does not mean.
std::string causal_note(const AttentionSpec& spec, const Dimensions& size) {
    const bool corner = spec.mask.causal == CausalAlign::top_left && !spec.query_offset;
    if (!corner || size.tq >= size.tk) return {};
    return fmt::format(
        "causal=top-left puts the {} at position{} 0{}, so that keys from {} on are never attended "
        "to; causal=bottom-right is what decoding means",
        size.tq == 1 ? "query" : "queries", size.tq == 1 ? "" : "s",
        size.tq == 1 ? "" : fmt::format(" to {}", size.tq - 1), size.tq);
}

Result<void> fill(ArrayReader& reader, const Listing& listing, const OptionValues& given,
                  Values values, TensorFile& file) {
    const Result<OptionValues> merged = merge_options(reader, given, file.notes);
    if (!merged) return tl::unexpected(merged.error());
    const Result<CallOptions> options = call_options(*merged);
    if (!options) return tl::unexpected(options.error());
    file.spec = options->spec;
    for (const Index layer : listing.layers)
        if (auto added = add_layer({reader, listing, layer}, {*options, values}, file); !added)
            return added;
    if (std::string note = causal_note(file.spec, file.size); !note.empty())
        file.notes.push_back(fmt::format("{}: {}", reader.path(), note));
    if (auto read = read_mask(reader, file.size, file.spec.mask); !read) return read;
    if (auto read = read_tokens(reader, "tokens", file.size.tq, "queries (Tq)", file.tokens); !read)
        return read;
    return read_tokens(reader, "tokens_kv", file.size.tk, "keys (Tk)", file.tokens_kv);
}

Result<TensorFile> read_listed(ArrayReader& reader, const Listing& listing,
                               const OptionValues& given, Values values) {
    TensorFile file;
    if (auto filled = fill(reader, listing, given, values, file); !filled)
        return tl::unexpected(std::move(filled.error()));
    const std::vector<std::string> notes = reader.notes();
    file.notes.insert(file.notes.end(), notes.begin(), notes.end());
    if (std::string note = unused_note(listing, reader.path()); !note.empty())
        file.notes.push_back(std::move(note));
    return file;
}

}  // namespace

Result<TensorFile> read_tensors(const std::string& path, const OptionValues& given, Values values) {
    auto reader = ArrayReader::open(path);
    if (!reader) return tl::unexpected(std::move(reader.error()));
    const auto listing = list_layers(reader->names(), reader->path());
    if (!listing) return tl::unexpected(listing.error());
    return read_listed(*reader, *listing, given, values);
}

Result<TensorFile> read_layer(const std::string& path, const OptionValues& given, Index layer) {
    auto reader = ArrayReader::open(path);
    if (!reader) return tl::unexpected(std::move(reader.error()));
    auto listing = list_layers(reader->names(), reader->path());
    if (!listing) return tl::unexpected(std::move(listing.error()));
    const auto number = find_layer(*listing, layer, reader->path());
    if (!number) return tl::unexpected(number.error());
    listing->layers = {*number};
    return read_listed(*reader, *listing, given, Values::needed);
}

}  // namespace attn::files
