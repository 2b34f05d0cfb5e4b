#include "app/files/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/files/image_arrays.h"
#include "app/files/inputs.h"
#include "app/files/pairs.h"
#include "app/files/serving.h"
#include "app/files/stored.h"
#include "app/files/text.h"
#include "app/files/token_text.h"
#include "core/call.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/spec_arrays.h"
#include "core/spec_fields.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::files {
namespace {

// The file's options under the command line's; a note says which of the file's count.
OptionValues merge_options(const ArrayReader& reader, const OptionValues& given, bool asks,
                           std::vector<Note>& notes) {
    const auto text = reader.text("options", "a JSON object");
    if (!text) return for_serving(reader, given);
    OptionValues merged = options_from_json(*text, reader.path());
    std::vector<std::string> used;
    for (const auto& [name, value] : merged)
        if (!given.contains(name)) used.push_back(fmt::format("{}={}", name, value.text));
    if (!used.empty())
        notes.emplace_back(fmt::format("options from {}: {}", reader.path(), fmt::join(used, ", ")),
                           NoteCode::file_options);
    merged = for_serving(reader, std::move(merged));
    // Where nobody can be asked, "causal": true of a file means the corner that it always meant.
    if (const auto causal = merged.find("causal");
        !asks && causal != merged.end() && causal->second.text == "true")
        causal->second.text = "top-left";
    for (const auto& [name, value] : given) merged.insert_or_assign(name, value);
    return for_serving(reader, std::move(merged));
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

void check_same_sizes(const LayerReader& layer, const Dimensions& size, Index first,
                      const Dimensions& expected) {
    std::vector<std::string> differences;
    for (const auto& row : kSizes)
        if (size.*row.size != expected.*row.size)
            differences.push_back(
                fmt::format("{} {} and not {}", row.symbol, size.*row.size, expected.*row.size));
    if (differences.empty()) return;
    throw bad_input(fmt::format("{} has {} as layer {}; expected the same sizes in every layer",
                                layer.shown(), fmt::join(differences, ", "), first));
}

/// The sizes of a call, whose V may be missing: then any width of V stands in for it.
Result<Dimensions> sizes_of(Inputs& in, const AttentionSpec& spec, Values values) {
    const bool missing_data = values == Values::optional && !in.projects() && in.v.empty() &&
                              !in.q.empty() && !in.k.empty();
    const auto size_of_call = [&] {
        return validate(in, spec).map([](const Call& call) { return call.size(); });
    };
    if (!missing_data) return size_of_call();
    const Shape k = in.k.shape();
    in.v = Tensor(Shape{k.b, k.h, k.t, 1});
    auto size = size_of_call();
    in.v = {};
    return size;
}

/// Beside given scores or weights only what is the file's is used, and what read_pairs() took. Other layers are not forgotten.
void leave_unused(const PairsListing& pairs, const ArrayReader& reader, Listing& listing,
                  TensorFile& file) {
    listing.unused.clear();
    listing.computed.clear();
    const auto is_taken = [&](std::string_view role) {
        return std::ranges::any_of(file.roles,
                                   [&](const auto& each) { return each.second == role; });
    };
    for (const std::string& name : reader.names()) {
        const auto role = listing.roles.find(name);
        const bool known = role != listing.roles.end();
        const bool of_file = known && is_file_array(role->second);
        const bool used = file.roles.contains(name) || std::ranges::count(pairs.names, name) > 0 ||
                          (known && listing.numbered && is_taken(role->second));
        if (of_file) file.roles.emplace(name, role->second);
        if (!of_file && !used) listing.unused.push_back(name);
    }
    std::erase_if(listing.substitutes, [](const auto& each) { return !is_file_array(each.first); });
}

/// Queries come after `past` keys unless the options place them.
void place_after_past(const LayerReader& layer, Index past, TensorFile& file) {
    const AttentionSpec& stated = layer.options.spec;
    if (past > 0 && (stated.rope || has_rotary(layer.reader, layer.listing)))
        throw bad_input(
            fmt::format("{}: past_k is given with RoPE, and most caches hold keys that are already "
                        "rotated and would be rotated again. Give all keys in K, or give Q and K "
                        "after RoPE and leave out rope",
                        layer.shown()));
    if (stated.query_offset || stated.mask.causal == CausalAlign::bottom_right) return;
    if (!file.layers.empty() && file.spec.query_offset.value_or(0) != past)
        throw bad_input(fmt::format(
            "{} has {} past keys, layer {} has {}; expected the same "
            "number in every layer",
            layer.shown(), past, file.numbers.front(), file.spec.query_offset.value_or(0)));
    if (past == 0) return;
    if (file.layers.empty())
        file.notes.push_back(
            fmt::format("{}: the {} past keys come before K, and query 0 is at position {}",
                        layer.shown(), past, past));
    file.spec.query_offset = past;
}

void add_layer(const LayerReader& layer, Values values, TensorFile& file) {
    const CallOptions& options = layer.options;
    if (options.mla && !has_latents(layer))
        throw bad_input(
            fmt::format("{}: mla is given without the array c_kv, the latents", layer.shown()));
    const bool latents = has_latents(layer);
    auto inputs =
        latents ? read_latents(layer, file.spec, file.notes) : read_inputs(layer, file.notes);
    if (!latents) check_given(layer, inputs, values);
    place_after_past(layer, read_past(layer, inputs), file);
    if (options.sinks && inputs.params[Param::sinks].empty())
        throw bad_input(
            fmt::format("{}: options has sinks, but there is no array sinks; expected one number "
                        "for each query head",
                        layer.shown()));
    const Result<Dimensions> size = sizes_of(inputs, options.spec, values);
    if (!size)
        throw Failure(
            Error{.problem = layer.with_array_names(size.error().text()),
                  .where = layer.shown(),
                  .remedies = latents ? std::vector<Remedy>() : layout_remedy(layer, inputs)});
    if (file.layers.empty()) file.size = *size;
    if (!file.layers.empty() && file.layers.front().v.empty() != inputs.v.empty())
        throw bad_input(fmt::format("{} {} V, layer {} {}; expected V in every layer or in none",
                                    layer.shown(), inputs.v.empty() ? "lacks" : "has",
                                    file.numbers.front(),
                                    inputs.v.empty() ? "has it" : "lacks it"));
    check_same_sizes(layer, *size, file.numbers.empty() ? 0 : file.numbers.front(), file.size);
    auto upstream = read_upstream(layer);
    file.param_extents.push_back(extents_of_params(layer, inputs));
    file.layers.push_back(std::move(inputs));
    file.upstreams.push_back(std::move(upstream));
    file.numbers.push_back(layer.layer);
}

/// One number for each token, in each of its columns.
Tensor in_every_column(const Tensor& one, const Shape& shape) {
    Tensor all(shape);
    const auto width = static_cast<std::size_t>(shape.d);
    for (std::size_t n = 0; n < all.values().size(); ++n) all.values()[n] = one.values()[n / width];
    return all;
}

/// [1,H,rows,columns] of a parameter that the file gives as [H,rows,columns], or without H where there is one head, or
/// without rows or columns where there is one; of a number for each token [B,H,Tq,columns]. Empty: there is none.
Tensor read_operation_param(const LayerReader& layer, const OperationParam& param,
                            const Dimensions& size) {
    Tensor read;
    layer.read(param.npz, {}, read);
    if (read.empty()) return read;
    const Shape shape = read.shape();
    const auto as = [&](const Shape& whole) {
        return Tensor(whole, std::vector<float>(read.values().begin(), read.values().end()));
    };
    const bool one_column = param.columns == Axis::one;
    const Index before = shape.b * shape.h * shape.t;
    if (param.rows == Axis::query && one_column && shape.d == size.tq &&
        before == size.batch * size.heads)
        return as({size.batch, size.heads, size.tq, 1});
    const Index tokens = size.batch * size.heads * size.tq;
    if (param.rows == Axis::query && !one_column && read.count() == tokens &&
        (shape.d == 1 || shape.d == size.tq))
        return in_every_column(read,
                               {size.batch, size.heads, size.tq, length(param.columns, size)});
    if (param.rows == Axis::one && one_column && before == 1 && shape.d == size.heads)
        return as({1, size.heads, 1, 1});
    if (param.rows == Axis::one && shape.h == 1 && shape.t == size.heads)
        return as({1, size.heads, 1, shape.d});
    return read;
}

/// M and N are what the arrays have unless they are given as options.
void adopt_extents(const CallOptions& options, const OperationParams& params,
                   OperationSpec& operation) {
    const Tensor* const first = params.tensors.empty() ? nullptr : &params.tensors.front();
    if (first == nullptr || first->empty()) return;
    if (operation.operation == Operation::latents && !options.latents)
        operation.latents = first->shape().t;
    if (operation.operation == Operation::linformer && !options.rank)
        operation.rank = first->shape().t;
    if (operation.operation == Operation::state_space && !options.state)
        operation.state = first->shape().d;
}

/// The operation's parameters of one layer, fresh ones where the file has none, and what that was as a note.
OperationParams read_operation_params(const LayerReader& layer, const CallOptions& options,
                                      TensorFile& file) {
    OperationParams params;
    std::vector<std::string_view> fresh;
    for (const OperationParam& param : info(file.operation->operation).params) {
        auto read = read_operation_param(layer, param, file.size);
        if (read.empty()) fresh.push_back(param.npz);
        params.tensors.push_back(std::move(read));
    }
    adopt_extents(options, params, *file.operation);
    if (fresh.empty()) return params;
    if (file.operation->latents < 1 || file.operation->rank < 1 || file.operation->state < 1)
        return params;  // refused later
    or_throw(check_operation_memory(*file.operation, file.size, file.spec));
    OperationParams made = initial_params(*file.operation, file.size);
    for (std::size_t p = 0; p < params.tensors.size(); ++p)
        if (params.tensors[p].empty()) params.tensors[p] = std::move(made.tensors[p]);
    file.fresh_params = true;
    file.notes.push_back(fmt::format("{}: {} not given: untrained initial numbers of seed {}",
                                     layer.shown(), fmt::join(fresh, ", "), file.operation->seed));
    return params;
}

/// Whether the operation can compute the call, asked when the mask is known.
void read_operation(ArrayReader& reader, Listing& listing, const CallOptions& options,
                    TensorFile& file) {
    if (!options.operation) return;
    file.operation = options.operation;
    for (std::size_t n = 0; n < file.layers.size(); ++n) {
        const Inputs& in = file.layers[n];
        const CallForm form{file.size, file.spec_of(n), !in.x_kv.empty(),
                            !in.params[Param::sinks].empty()};
        if (auto reason = unsupported(*file.operation, form))
            throw bad_input(fmt::format("{}: {}", reader.path(), *reason));
    }
    for (const Index number : listing.layers) {
        const LayerReader layer{reader, listing, number, options};
        auto params = read_operation_params(layer, options, file);
        file.operation_params.push_back(std::move(params));
        for (const OperationParam& param : info(file.operation->operation).params)
            std::erase(listing.unused, layer.name(param.npz));
    }
}

/// `whose`: "queries (Tq)". So many as `heads`: Q's axes may be others than were taken.
void read_tokens(const ArrayReader& reader, std::string_view name, Index count,
                 std::string_view whose, std::optional<Index> heads,
                 std::vector<std::string>& tokens) {
    auto texts = reader.texts(name);
    if (!texts) return;
    tokens = *std::move(texts);
    if (std::ssize(tokens) == count) return;
    Error error{.problem = fmt::format("{} has {} tokens, but there are {} {}", name, tokens.size(),
                                       count, whose),
                .where = reader.path(),
                .expected = "one token each"};
    if (heads == std::ssize(tokens))
        error.remedies = {{.option = "layout", .value = "tokens-first", .when = "Q is [T, H, d]"}};
    throw Failure(std::move(error));
}

/// Fewer queries than keys under the causal mask that starts in the corner: most keys are never seen, which decoding
/// does not mean.
std::string causal_note(const AttentionSpec& spec, const Dimensions& size) {
    const bool corner = spec.mask.causal == CausalAlign::top_left && !spec.query_offset;
    if (!corner || size.tq >= size.tk) return {};
    return fmt::format(
        "causal=top-left puts the {} at position{} 0{}, so that keys from {} on are never attended "
        "to; for decoding use causal=bottom-right",
        size.tq == 1 ? "query" : "queries", size.tq == 1 ? "" : "s",
        size.tq == 1 ? "" : fmt::format(" to {}", size.tq - 1), size.tq);
}

/// "i + 3", "i − 2"
std::string shifted(Index by) { return fmt::format("i {} {}", by < 0 ? "−" : "+", std::abs(by)); }

/// A causal mask over more or fewer keys than queries is two masks: which is meant has to be said.
void check_corner(const ArrayReader& reader, const CallOptions& options,
                  std::optional<view::FileQuestion>* asks, const TensorFile& file) {
    const Dimensions& size = file.size;
    if (!options.causal_alignment_defaulted || file.spec.query_offset || size.tq == size.tk) return;
    const std::string past = shifted(size.tk - size.tq);
    if (asks)
        *asks = {
            fmt::format("Where does the causal mask of {} × {} start?", size.tq, size.tk),
            {{"top-left", "Query i sees keys 0 to i: PyTorch's is_causal.", "causal", "top-left"},
             {"bottom-right",
              fmt::format("Query i sees keys 0 to {}: decoding with a KV cache.", past), "causal",
              "bottom-right"}}};
    throw Failure(Error{
        .problem =
            fmt::format("a causal mask of {} quer{} and {} key{} starts in one of two "
                        "corners",
                        size.tq, size.tq == 1 ? "y" : "ies", size.tk, size.tk == 1 ? "" : "s"),
        .code = ErrorCode::ambiguous,
        .where = reader.path(),
        .remedies = {{.option = "causal",
                      .value = "top-left",
                      .meaning = "query i sees keys 0 to i: PyTorch's is_causal"},
                     {.option = "causal",
                      .value = "bottom-right",
                      .meaning = fmt::format("query i sees keys 0 to {}: decoding with a KV cache",
                                             past)}}});
}

/// A list of strings, or an object with the list "tokens".
std::vector<std::string> tokens_of_json(const std::string& text, const std::string& path) {
    const auto parsed = or_throw(parse_json(text, path));
    const nlohmann::json& list =
        parsed.is_object() && parsed.contains("tokens") ? parsed["tokens"] : parsed;
    const auto is_text = [](const nlohmann::json& each) { return each.is_string(); };
    if (!list.is_array() || !std::ranges::all_of(list, is_text))
        throw bad_input(fmt::format(
            "{}: expected a JSON list of strings, or an object with the list tokens", path));
    return list.get<std::vector<std::string>>();
}

/// Every line a token where there are as many, else every word.
std::vector<std::string> tokens_of_text(const std::string& text, Index count) {
    std::vector<std::string> lines, separated;
    std::istringstream by_line(text);
    for (std::string line; std::getline(by_line, line);) {
        if (line.ends_with('\r')) line.pop_back();
        lines.push_back(line);
    }
    if (std::ssize(lines) == count) return lines;
    std::istringstream by_word(text);
    for (std::string word; by_word >> word;) separated.push_back(word);
    return separated;
}

/// Of the option tokens, for the queries; for the keys too where there are as many.
void read_tokens_file(const std::string& path, Index count, std::vector<std::string>& tokens) {
    const auto text = or_throw(read_text_file(path));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool is_json = first != text.npos && (text[first] == '[' || text[first] == '{');
    auto read = is_json ? tokens_of_json(text, path) : tokens_of_text(text, count);
    if (std::ssize(read) != count)
        throw bad_input(
            fmt::format("{} holds {} tokens, but there are {} queries (Tq); expected one each",
                        path, read.size(), count));
    tokens = std::move(read);
}

/// What a file is read with: the options, as they were given and as they are meant, and the one layer that is asked for.
struct Asked {
    const CallOptions& options;
    Values values;
    std::optional<Index> only;
    Stored stored;
    std::optional<view::FileQuestion>* asks;  // see read_tensors()
    const OptionValues& typed;                // without those of the file
};

/// Queries and keys after RoPE are not turned again.
void check_turned_once(const ArrayReader& reader, const Listing& listing,
                       const CallOptions& options) {
    if (!listing.rotated || !(options.spec.rope || has_rotary(reader, listing))) return;
    throw bad_input(fmt::format("{}: {} and {} are already rotated by position; expected no rope",
                                reader.path(), layer_name(listing, listing.layers.front(), "Q"),
                                layer_name(listing, listing.layers.front(), "K")));
}

/// The queries and keys of each layer, or the scores or weights that stand in their place.
void read_any_layers(ArrayReader& reader, Listing& listing, const Asked& asked, TensorFile& file) {
    if (listing.call && !asked.options.group.empty())
        throw bad_input(
            fmt::format("{}: group is {}, but the file has queries and keys of a single group",
                        reader.path(), asked.options.group));
    auto pairs =
        listing.call ? std::nullopt : list_pairs(reader, asked.options.roles, asked.options.group);
    if (!listing.call && !pairs && asked.options.roles.empty())
        pairs = lone_pairs(reader, listing.unused);
    if (!pairs) {
        if (asked.only) listing.layers = {find_layer(listing, *asked.only, reader.path())};
        file.roles = listing.roles;
        check_turned_once(reader, listing, asked.options);
        for (const Index layer : listing.layers)
            add_layer({reader, listing, layer, asked.options}, asked.values, file);
        return;
    }
    PairsListing chosen = *pairs;
    if (asked.only) choose_pairs(reader, *asked.only, chosen);
    read_pairs(reader, chosen, {listing, asked.options, asked.typed, asked.asks}, file);
    leave_unused(*pairs, reader, listing, file);
}

/// d_k is an option for where the queries do not say it.
void check_d_k(const ArrayReader& reader, const CallOptions& options, const TensorFile& file) {
    if (!options.d_k || !file.given.empty() || *options.d_k == file.size.d_k) return;
    throw bad_input(fmt::format("{}: d-k is {}, but the queries have {} columns; leave it out",
                                reader.path(), *options.d_k, file.size.d_k));
}

/// A layer's own options are settings of the spec; all layers share the axes and roles of arrays and the operation.
void check_of_spec(const OptionValues& own) {
    for (const AttentionOption& option : attention_options())
        if (const auto stated = own.find(option.name); stated != own.end() && !field_of(option))
            throw bad_input(
                fmt::format("{} is '{}'; expected it in options, which apply to all layers",
                            stated->second.shown, shortened(stated->second.text)));
}

/// The words of queries and keys.
void read_token_arrays(const ArrayReader& reader, const Listing& listing,
                       const CallOptions& options, TensorFile& file) {
    if (!options.tokens_file.empty())
        return read_tokens_file(options.tokens_file, file.size.tq, file.tokens);
    const bool layout_known = options.layout || file.layers.front().projects();
    read_tokens(reader, file_array(listing, "tokens"), file.size.tq, "queries (Tq)",
                layout_known ? std::nullopt : std::optional(file.size.heads), file.tokens);
    read_tokens(reader, "tokens_kv", file.size.tk, "keys (Tk)", {}, file.tokens_kv);
}

/// "l3.options": of layer 3, in place of what `options` says of all. Heads and mask are those of all.
void read_layer_options(const ArrayReader& reader, const Asked& asked, TensorFile& file) {
    const auto own = [&](Index layer) {
        return reader.text(fmt::format("l{}.options", layer), "a JSON object");
    };
    if (std::ranges::none_of(file.numbers, [&](Index layer) { return own(layer).has_value(); }))
        return;
    for (const Index layer : file.numbers) {
        AttentionSpec& spec = file.layer_specs.emplace_back(file.spec);
        const auto text = own(layer);
        if (!text) continue;
        auto stated = options_from_json(*text, fmt::format("{}: layer {}", reader.path(), layer));
        check_of_spec(stated);
        OptionValues merged = asked.typed;
        merged.merge(stated);
        spec = call_options(merged).spec;
        spec.heads = file.spec.heads;
        spec.kv_heads = file.spec.kv_heads;
        spec.mask.custom = file.spec.mask.custom;
        spec.mask.bias = file.spec.mask.bias;
        if (spec.mask.padding.empty()) spec.mask.padding = file.spec.mask.padding;
        if (spec.rope && file.spec.rope) spec.rope->tables = file.spec.rope->tables;
        if (!spec.query_offset && !asked.options.spec.query_offset &&
            spec.mask.causal != CausalAlign::bottom_right)
            spec.query_offset = file.spec.query_offset;  // of past keys
    }
}

void fill(ArrayReader& reader, Listing& listing, const Asked& asked, TensorFile& file) {
    const CallOptions& options = asked.options;
    file.spec = options.spec;
    read_any_layers(reader, listing, asked, file);
    check_d_k(reader, options, file);
    check_corner(reader, options, asked.asks, file);
    if (std::string note = causal_note(file.spec, file.size); !note.empty())
        file.notes.push_back(fmt::format("{}: {}", reader.path(), note));
    read_bias(reader, file_array(listing, "bias"), file.size, file.spec.mask);
    read_mask(reader, file_array(listing, "mask"), file.size, file.spec.mask, file.notes);
    read_documents(reader, file_array(listing, "cu_seqlens"), file.size, file.spec.mask,
                   file.notes);
    read_segments(reader, file_array(listing, "segment_ids"), file.size, file.spec.mask,
                  file.notes);
    read_slopes(reader, file_array(listing, "alibi_slopes"), file.size, file.spec, file.notes);
    read_log_gates(reader, file_array(listing, "log_f"), file.size, file.spec, file.notes);
    const std::string valid_keys = file_array(listing, "nonpad_kv_seqlen");
    if (!options.pair_conditions.empty() && reader.has(valid_keys))
        throw bad_input(
            fmt::format("{}: {} gives each batch entry its own positions, which {} does not "
                        "follow; expected padding",
                        reader.path(), valid_keys, options.pair_conditions.front().option));
    read_valid_keys(reader, valid_keys, file.size, file.spec, file.notes);
    add_pair_conditions(reader, options.pair_conditions, file.size, file.spec);
    if (file.given.empty())  // scores are of queries that turned already
        read_rotary({reader, listing, options, file.size}, file.spec, file.notes);
    file.sparse =
        read_sparse(reader, file_array(listing, "selected"), file.size, file.spec.mask, file.notes);
    read_layer_options(reader, asked, file);
    if (asked.stored != Stored::ignored)
        resolve_stored(reader, asked.stored, options, asked.typed, listing, file);
    read_operation(reader, listing, options, file);
    if (file.given.empty() && !options.operation)  // of what is computed, dropout alone may be idle
        file.notes.push_back(
            idle_note(asked.typed, Stage::x, {file.spec, true, file.spec.drops()}));
    read_token_arrays(reader, listing, options, file);
    for (std::vector<std::string>* const tokens : {&file.tokens, &file.tokens_kv})
        if (const auto bytes = read_bytes_as_text(*tokens); !bytes.empty())
            file.notes.push_back(
                fmt::format("{}: tokens are {}, and shown as text", reader.path(), bytes));
    file.image = read_image(reader, file);
}

/// The arrays that the options name, which retain their names.
std::set<std::string> named_by(const CallOptions& options) {
    std::set<std::string> names;
    for (const auto& [name, role] : options.roles) names.insert(name);
    for (const auto& [name, bits] : options.dtypes) names.insert(name);
    return names;
}

/// Of `diff`, whose other file may have the array, names are not checked.
void set_dtypes(ArrayReader& reader, const CallOptions& options, Stored stored) {
    for (const auto& [name, bits] : options.dtypes)
        if (stored != Stored::ignored && !name.empty() && !reader.has(name))
            throw bad_input(
                fmt::format("{}: dtype names {}, which is not there; expected one of "
                            "its arrays: {}",
                            reader.path(), shortened(name), choices(reader.names())));
    reader.set_dtypes(options.dtypes);
}

view::FileQuestion bits_question(const ArrayReader& reader) {
    const std::string& name = reader.undeclared();
    const std::string dtype = reader.dtype_of(name);
    view::FileQuestion question{
        fmt::format("What do the numbers of {}, {}, hold?", name, dtype),
        {{"bfloat16", "The bits of bfloat16, as tensor.view(torch.int16) saves them.", "dtype",
          "bf16"},
         {"float16", "The bits of float16.", "dtype", "f16"},
         {"integers", "The integers themselves.", "dtype", "int"}}};
    if (dtype.ends_with("int8"))
        question.answers.insert(
            question.answers.end() - 1,
            {{"float8 E4M3", "The codes of float8_e4m3fn, one per byte.", "dtype", "e4m3"},
             {"float8 E5M2", "The codes of float8_e5m2, one per byte.", "dtype", "e5m2"}});
    return question;
}

/// Pages, packed sequences and codes become the padded call, whose axes and positions the options then are of.
void read_serving_call(ArrayReader& reader, OptionValues& merged, CallOptions& options,
                       std::optional<Index> only, TensorFile& file) {
    ServingCall call = read_serving(reader, options, only);
    if (!call.serving) return;
    file.serving = std::move(call.serving);
    file.notes.insert(file.notes.end(), call.notes.begin(), call.notes.end());
    if (!call.unpacked) return;
    merged.erase("layout");
    if (call.offset)
        merged.insert_or_assign("query-offset",
                                Value{"the position of the queries", std::to_string(*call.offset)});
    options = call_options(merged);
}

TensorFile read_arrays(const std::string& path, const OptionValues& given, Values values,
                       Stored stored, std::optional<Index> only,
                       std::optional<view::FileQuestion>* asks) {
    ArrayReader reader = ArrayReader::open(path);
    TensorFile file;
    OptionValues merged = merge_options(reader, given, asks != nullptr, file.notes);
    CallOptions options = call_options(merged);
    set_dtypes(reader, options, stored);
    try {
        read_serving_call(reader, merged, options, only, file);
    } catch (const tl::unexpected<Error>&) {
        if (asks && !reader.undeclared().empty()) *asks = bits_question(reader);
        throw;
    }
    reader.rename_others(named_by(options));
    Listing listing = list_layers(reader.names(), reader.path(), options.roles);
    listing.options = states_options(reader);
    try {
        fill(reader, listing, {options, values, only, stored, asks, given}, file);
    } catch (const tl::unexpected<Error>&) {
        if (asks && !reader.undeclared().empty()) *asks = bits_question(reader);
        throw;
    }
    for (const auto& [means, name] : listing.file_names)
        file.notes.push_back(fmt::format("{}: {} is read as {}", reader.path(), name, means));
    file.notes.push_back(transposed_note(listing, reader.path()));
    file.notes.push_back(substitute_note(listing, reader.path(), options.layout));
    std::ranges::move(reader.notes(), std::back_inserter(file.notes));
    file.notes.push_back(unused_note(listing, reader.path()));
    std::erase(file.notes, std::string());
    return file;
}

}  // namespace

Result<TensorFile> read_tensors(const std::string& path, const OptionValues& given, Values values,
                                std::optional<view::FileQuestion>* asks) {
    const Stored stored = values == Values::optional ? Stored::shown : Stored::compared;
    return caught([&] { return read_arrays(path, given, values, stored, {}, asks); });
}

TensorFile read_layer(const std::string& path, const OptionValues& given, Index layer,
                      Values values, Stored stored) {
    return read_arrays(path, given, values, stored, layer, nullptr);
}

}  // namespace attn::files
