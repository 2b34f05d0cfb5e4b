#include "app/files/inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>

#include "app/files/layers.h"
#include "core/masks.h"
#include "core/memory.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::files {
namespace {

Index kv_heads_of(const CallOptions& options) {
    return options.kv_heads.value_or(options.heads.value_or(1));
}

Error heads_unknown(const LayerReader& layer, const std::string& name,
                    const std::vector<Index>& extents) {
    return {
        .problem = fmt::format(
            "{} is {}, with its heads side by side, and the file does not give the number of heads",
            name, to_string(extents)),
        .code = ErrorCode::ambiguous,
        .where = layer.shown(),
        .remedies = {{.option = "heads", .value = "H"}}};
}

/// How many heads K and V have where a projection gives them side by side: as wide ones as Q's, unless it is said.
Index projected_kv_heads(const LayerReader& layer) {
    const CallOptions& options = layer.options;
    const std::string query = layer.name("Q"), key = layer.name("K");
    if (!layer.listing.projected || options.layout || !layer.reader.has(query))
        return kv_heads_of(options);
    const auto extents = layer.reader.axes_of(query);
    if (!options.heads) throw Failure(heads_unknown(layer, query, extents));
    if (options.kv_heads || *options.heads < 1 || !layer.reader.has(key))
        return kv_heads_of(options);
    const Index width = std::max<Index>(extents.back() / *options.heads, 1);
    return std::max<Index>(layer.reader.axes_of(key).back() / width, 1);
}

/// Q, K and V of one array.
void read_packed(const LayerReader& layer, Inputs& in, std::vector<Note>& notes) {
    const std::string name = layer.name("qkv");
    const std::string what = fmt::format("{}: {}", layer.reader.path(), name);
    const auto extents = layer.reader.axes_of(name);
    CallOptions options = layer.options;
    if (name.ends_with("c_attn.output") && !options.layout) {  // of GPT-2: q, then k, then v
        if (!options.heads) throw Failure(heads_unknown(layer, name, extents));
        options.layout = HeadAxes::joined;
    }
    const auto packed = unpack(extents, options, what);
    const auto values = layer.reader.numbers(name);
    in.q = gather(packed.parts[0], values);
    in.k = gather(packed.parts[1], values);
    in.v = gather(packed.parts[2], values);
    const Index heads = in.q.shape().h;
    notes.emplace_back(
        fmt::format("{} {} is read as {}: {} head{} of width {}", what, to_string(extents),
                    packed.text, heads, heads == 1 ? "" : "s", in.q.shape().d),
        NoteCode::packed);
}

void read_params(const LayerReader& layer, Inputs& in) {
    for (const ParamInfo& param : param_table()) {
        const Axes axes{.layout = param.bias ? Layout::bias : Layout::weight};
        layer.read(param.npz, axes, in.params[param.param]);
    }
}

constexpr Index kMostDocumentTokens = Index{1} << 15;  // their mask is a GiB

/// 0 = b0 < b1 < … = tokens.
std::vector<Index> boundaries_of(const ArrayReader& reader, const std::string& name, Index tokens) {
    constexpr std::size_t kMostShown = 8;
    const NpyArray array = reader.array(name);
    std::vector<double> given;
    if (const auto* const numbers = std::get_if<std::vector<double>>(&array.values))
        given = *numbers;
    const auto is_whole = [](double number) { return number == std::floor(number); };
    const bool fits = array.extents.size() == 1 && given.size() > 1 && given.front() == 0.0 &&
                      given.back() == static_cast<double>(tokens) &&
                      std::ranges::all_of(given, is_whole) &&
                      std::ranges::adjacent_find(given, std::greater_equal()) == given.end();
    if (fits) return {given.begin(), given.end()};
    const bool more = given.size() > kMostShown;
    given.resize(std::min(given.size(), kMostShown));
    throw bad_input(
        fmt::format("{}: {} is {} {} [{}{}]; expected whole numbers that grow from 0 to {}, the "
                    "number of tokens",
                    reader.path(), name, array.dtype, to_string(array.extents),
                    fmt::join(given, ", "), more ? ", …" : "", tokens));
}

/// "heads-first, tokens-first or joined"
std::string unpacked_choices() {
    std::vector<std::string> keys;
    for (const view::HeadAxesInfo& row : view::head_axes_table())
        if (!row.forms.empty()) keys.emplace_back(row.key);
    return choices(keys);
}

}  // namespace

void read_documents(const ArrayReader& reader, const std::string& name, const Dimensions& size,
                    MaskSpec& mask, std::vector<Note>& notes) {
    if (!reader.has(name)) return;
    if (mask.custom)
        throw bad_input(
            fmt::format("{}: mask and {} are both given; give one", reader.path(), name));
    if (size.tq != size.tk || size.tq > kMostDocumentTokens)
        throw bad_input(
            fmt::format("{}: {} needs as many queries as keys, at most {}, and there are {} and {}",
                        reader.path(), name, kMostDocumentTokens, size.tq, size.tk));
    const auto bounds = boundaries_of(reader, name, size.tq);
    or_throw(check_fits_in_memory(static_cast<double>(size.tq * size.tk),
                                  fmt::format("{}: the pairs that {} allows", reader.path(), name),
                                  "attend over fewer tokens", size));
    Mask allowed(Shape{1, 1, size.tq, size.tk});
    for (std::size_t n = 0; n + 1 < bounds.size(); ++n)
        for (Index i = bounds[n]; i < bounds[n + 1]; ++i) {
            const auto row = allowed.matrix(0, 0).row(i);
            std::fill(row.begin() + bounds[n], row.begin() + bounds[n + 1], std::uint8_t{1});
        }
    mask.custom = std::make_shared<const Mask>(std::move(allowed));
    notes.push_back(fmt::format("{}: {} is read as {} document{}: a query sees the keys of its own",
                                reader.path(), name, bounds.size() - 1,
                                bounds.size() == 2 ? "" : "s"));
}

std::string LayerReader::shown() const {
    return listing.numbered ? fmt::format("{}: layer {}", reader.path(), layer) : reader.path();
}

std::string LayerReader::with_array_names(std::string sentence) const {
    const auto is_letter = [&](std::size_t at) {
        return at < sentence.size() &&
               (std::isalnum(static_cast<unsigned char>(sentence[at])) != 0 || sentence[at] == '_');
    };
    for (const auto& [means, array] : listing.substitutes) {
        const std::string role(array_part(means));
        if (name(role) != array) continue;  // of another layer
        std::size_t at = sentence.find(role);
        while (at != std::string::npos &&
               ((at > 0 && is_letter(at - 1)) || is_letter(at + role.size())))
            at = sentence.find(role, at + 1);
        if (at != std::string::npos) sentence.insert(at + role.size(), fmt::format(" ({})", array));
    }
    return sentence;
}

bool LayerReader::packed() const { return listing.packed && reader.has(name("qkv")); }

bool LayerReader::is_transposed(std::string_view array) const {
    return listing.transposed.contains(name(array));
}

void LayerReader::read(std::string_view array, const Axes& axes, Tensor& into) const {
    Axes as = axes;
    if (is_transposed(array)) as.layout = Layout::weight_transposed;
    into = reader.tensor(name(array), as);
}

Axes LayerReader::heads_axes(Index heads) const {
    const HeadAxes own = listing.hooks       ? HeadAxes::tokens_first
                         : listing.projected ? HeadAxes::joined
                                             : HeadAxes::heads_first;
    return {Layout::heads, view::unpacked_axes(options.layout, own), heads};
}

Inputs read_inputs(const LayerReader& layer, std::vector<Note>& notes) {
    const std::string query = layer.name("Q");  // a trace's own q is heads-first, whatever qkv is
    const auto& layout = layer.options.layout;
    if (layout && info(*layout).forms.empty() && layer.reader.has(query) && query.ends_with('Q'))
        throw bad_input(fmt::format(
            "{}: layout is {}, but {} is not packed with K and V; expected {}", layer.reader.path(),
            info(*layout).key, layer.name("Q"), unpacked_choices()));
    Inputs in;
    struct Array {
        std::string_view name;
        Axes axes;
        Tensor& tensor;
    };
    const Axes tokens{.layout = Layout::tokens};
    const Axes queries = layer.heads_axes(layer.options.heads.value_or(1));
    const Axes keys = layer.heads_axes(projected_kv_heads(layer));
    for (const Array& array : {Array{"X", tokens, in.x},
                               {"X_kv", tokens, in.x_kv},
                               {"Q", queries, in.q},
                               {"K", keys, in.k},
                               {"V", keys, in.v}})
        layer.read(array.name, array.axes, array.tensor);
    if (layer.packed()) read_packed(layer, in, notes);
    read_params(layer, in);
    return in;
}

namespace {

/// [B,H,P + T,d]
Tensor joined(const Tensor& past, const Tensor& now) {
    const Shape a = past.shape(), b = now.shape();
    Tensor both(Shape{b.b, b.h, a.t + b.t, b.d});
    for (Index n = 0; n < b.b * b.h; ++n) {
        float* const to = both.data() + n * (a.t + b.t) * b.d;
        std::copy_n(past.data() + n * a.t * b.d, a.t * b.d, to);
        std::copy_n(now.data() + n * b.t * b.d, b.t * b.d, to + a.t * b.d);
    }
    return both;
}

Tensor past_of(const LayerReader& layer, std::string_view role, const Tensor& now) {
    const std::string name = layer.name(role);
    Axes axes = layer.heads_axes(kv_heads_of(layer.options));
    if (axes.order == HeadAxes::joined && layer.reader.axes_of(name).size() == 4)
        axes.order = HeadAxes::heads_first;
    Tensor past = layer.reader.tensor(name, axes);
    const Shape a = past.shape(), b = now.shape();
    if (a.b == b.b && a.h == b.h && a.d == b.d) return past;
    throw bad_input(fmt::format(
        "{}: {} is {}; expected {} like {}, with any number of tokens", layer.shown(), name,
        to_string(a), fmt::format("[{}, {}, P, {}]", b.b, b.h, b.d), role == "past_k" ? "K" : "V"));
}

}  // namespace

Index read_past(const LayerReader& layer, Inputs& in) {
    const bool keys = layer.reader.has(layer.name("past_k"));
    const bool values = layer.reader.has(layer.name("past_v"));
    if (!keys && !values) return 0;
    if (keys != values)
        throw bad_input(fmt::format("{}: {} is given without {}; give both", layer.shown(),
                                    layer.name(keys ? "past_k" : "past_v"),
                                    layer.name(keys ? "past_v" : "past_k")));
    if (in.k.empty() || in.v.empty())
        throw bad_input(fmt::format("{}: past_k and past_v come before K and V, and {}",
                                    layer.shown(),
                                    in.projects() ? "X is given instead" : "one is missing"));
    const Tensor past_k = past_of(layer, "past_k", in.k), past_v = past_of(layer, "past_v", in.v);
    if (past_k.shape().t != past_v.shape().t)
        throw bad_input(
            fmt::format("{}: past_k has {} tokens, past_v has {}; expected the same number",
                        layer.shown(), past_k.shape().t, past_v.shape().t));
    in.k = joined(past_k, in.k);
    in.v = joined(past_v, in.v);
    return past_k.shape().t;
}

ParamExtents extents_of_params(const LayerReader& layer, const Inputs& in) {
    ParamExtents extents;
    for (const ParamInfo& param : param_table()) {
        if (in.params[param.param].empty()) continue;
        extents[index_of(param.param)] = layer.reader.extents(layer.name(param.npz));
        if (layer.is_transposed(param.npz)) std::ranges::reverse(extents[index_of(param.param)]);
    }
    return extents;
}

Upstream read_upstream(const LayerReader& layer) {
    Upstream upstream;
    const bool at_context = layer.reader.has(layer.name("dO"));
    if (at_context && layer.reader.has(layer.name("dY")))
        throw bad_input(fmt::format(
            "{}: both dO (gradient of context) and dY (gradient of output) are given; give one",
            layer.shown()));
    upstream.stage = at_context ? Stage::context : Stage::output;
    const Axes axes = at_context ? layer.heads_axes(layer.options.heads.value_or(1))
                                 : Axes{.layout = Layout::tokens};
    layer.read(at_context ? "dO" : "dY", axes, upstream.gradient);
    return upstream;
}

}  // namespace attn::files
