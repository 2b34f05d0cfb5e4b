#include "app/files/tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/files/inputs.h"
#include "app/files/pairs.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/masks.h"

namespace attn::files {
namespace {

// The file's options under the command line's; a note says which of the file's count.
Result<OptionValues> merge_options(const ArrayReader& reader, const OptionValues& given, bool asks,
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
    // Where nobody can be asked, "causal": true of a file means the corner that it always meant.
    if (const auto causal = merged->find("causal");
        !asks && causal != merged->end() && causal->second.text == "true")
        causal->second.text = "top-left";
    for (const auto& [name, value] : given) merged->insert_or_assign(name, value);
    return merged;
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
    std::erase_if(listing.stand_ins, [](const auto& each) { return !is_file_array(each.first); });
}

Result<void> add_layer(const LayerReader& layer, Values values, TensorFile& file) {
    const CallOptions& options = layer.options;
    Result<Inputs> inputs = read_inputs(layer, file.notes);
    if (!inputs) return tl::unexpected(std::move(inputs.error()));
    if (auto given = check_given(layer, *inputs, values); !given) return given;
    if (options.sinks && inputs->params[Param::sinks].empty())
        return bad_input(
            fmt::format("{}: options say sinks but there is no array sinks; expected one "
                        "number for each query head",
                        layer.shown()));
    const Result<Dimensions> size = sizes_of(*inputs, options.spec, values);
    if (!size)
        return bad_input(fmt::format("{}: {}{}", layer.shown(),
                                     with_option_names(size.error().sentence),
                                     layout_hint(layer, *inputs)));
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

/// [1,H,rows,columns] of a parameter that the file gives as [H,rows,columns], or without H where there is one head, or
/// without rows where there is one row; empty: there is none.
Result<Tensor> read_operation_param(const LayerReader& layer, const OperationParam& param,
                                    const Dimensions& size) {
    Tensor read;
    if (auto done = layer.read(param.npz, {}, read); !done)
        return tl::unexpected(std::move(done.error()));
    const Shape shape = read.shape();
    const bool flat = param.rows == Axis::one && shape.h == 1 && shape.t == size.heads;
    if (!flat || read.empty()) return read;
    return Tensor({1, size.heads, 1, shape.d},
                  std::vector<float>(read.values().begin(), read.values().end()));
}

/// M and N are what the arrays have unless they are given as options.
void adopt_extents(const CallOptions& options, const OperationParams& params,
                   OperationSpec& operation) {
    const Tensor* const first = params.tensors.empty() ? nullptr : &params.tensors.front();
    if (first == nullptr || first->empty()) return;
    if (operation.operation == Operation::latents && !options.latents_given)
        operation.latents = first->shape().t;
    if (operation.operation == Operation::state_space && !options.state_given)
        operation.state = first->shape().d;
}

/// The operation's parameters of one layer, fresh ones where the file has none, and what that was as a note.
Result<OperationParams> read_operation_params(const LayerReader& layer, const CallOptions& options,
                                              TensorFile& file) {
    OperationParams params;
    std::vector<std::string_view> fresh;
    for (const OperationParam& param : info(file.operation->operation).params) {
        Result<Tensor> read = read_operation_param(layer, param, file.size);
        if (!read) return tl::unexpected(std::move(read.error()));
        if (read->empty()) fresh.push_back(param.npz);
        params.tensors.push_back(*std::move(read));
    }
    adopt_extents(options, params, *file.operation);
    if (fresh.empty()) return params;
    if (file.operation->latents < 1 || file.operation->state < 1) return params;  // refused later
    OperationParams made = initial_params(*file.operation, file.size);
    for (std::size_t p = 0; p < params.tensors.size(); ++p)
        if (params.tensors[p].empty()) params.tensors[p] = std::move(made.tensors[p]);
    file.notes.push_back(fmt::format("{}: {} not given: fresh ones of seed {}, untrained",
                                     layer.shown(), fmt::join(fresh, ", "), file.operation->seed));
    return params;
}

/// Whether the operation can compute the call, asked when the mask is known.
Result<void> read_operation(ArrayReader& reader, Listing& listing, const CallOptions& options,
                            TensorFile& file) {
    if (!options.operation) return {};
    file.operation = options.operation;
    const CallForm form{file.size, file.spec, !file.layers.front().x_kv.empty(),
                        !file.layers.front().params[Param::sinks].empty()};
    if (auto reason = unsupported(*file.operation, form))
        return bad_input(fmt::format("{}: {}", reader.path(), *reason));
    for (const Index number : listing.layers) {
        const LayerReader layer{reader, listing, number, options};
        auto params = read_operation_params(layer, options, file);
        if (!params) return tl::unexpected(std::move(params.error()));
        file.operation_params.push_back(*std::move(params));
        for (const OperationParam& param : info(file.operation->operation).params)
            std::erase(listing.unused, layer.name(param.npz));
    }
    return {};
}

/// "mask", or the array that was given that role.
std::string file_array(const Listing& listing, std::string_view name) {
    const auto stand_in = listing.stand_ins.find(std::string(name));
    return stand_in == listing.stand_ins.end() ? std::string(name) : stand_in->second;
}

Result<void> read_mask(const ArrayReader& reader, const Listing& listing, const Dimensions& size,
                       MaskSpec& mask) {
    const std::string name = file_array(listing, "mask");
    if (!reader.has(name)) return {};
    const Result<NpyArray> array = reader.array(name);
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

/// "i + 3", "i − 2"
std::string shifted(Index by) { return fmt::format("i {} {}", by < 0 ? "−" : "+", std::abs(by)); }

/// A causal mask over more or fewer keys than queries is two masks: which is meant has to be said.
Result<void> check_corner(const ArrayReader& reader, const CallOptions& options,
                          std::optional<view::FileQuestion>* asks, const TensorFile& file) {
    const Dimensions& size = file.size;
    if (!options.causal_unsaid || file.spec.query_offset || size.tq == size.tk) return {};
    const std::string past = shifted(size.tk - size.tq);
    if (asks)
        *asks = {
            fmt::format("Where does the causal mask of {} × {} start?", size.tq, size.tk),
            {{"top-left", "Query i sees keys 0 to i: PyTorch's is_causal.", "causal", "top-left"},
             {"bottom-right",
              fmt::format("Query i sees keys 0 to {}: decoding with a KV cache.", past), "causal",
              "bottom-right"}}};
    return bad_input(fmt::format(
        "{}: a causal mask of {} quer{} and {} key{} starts in one of two corners: give "
        "--causal=top-left (query i sees keys 0 to i: PyTorch's is_causal) or "
        "--causal=bottom-right (query "
        "i sees keys 0 to {}: decoding with a KV cache)",
        reader.path(), size.tq, size.tq == 1 ? "y" : "ies", size.tk, size.tk == 1 ? "" : "s",
        past));
}

/// A list of strings, or an object with the list "tokens".
Result<std::vector<std::string>> tokens_of_json(const std::string& text, const std::string& path) {
    const auto json = parse_json(text, path);
    if (!json) return tl::unexpected(json.error());
    const nlohmann::json& list =
        json->is_object() && json->contains("tokens") ? (*json)["tokens"] : *json;
    const auto is_text = [](const nlohmann::json& each) { return each.is_string(); };
    if (!list.is_array() || !std::ranges::all_of(list, is_text))
        return bad_input(fmt::format(
            "{}: expected a JSON list of strings, or an object with the list tokens", path));
    return list.get<std::vector<std::string>>();
}

/// Every line a token where there are as many, else every word.
Result<std::vector<std::string>> tokens_of_text(const std::string& text, Index count) {
    std::vector<std::string> lines, words;
    std::istringstream by_line(text);
    for (std::string line; std::getline(by_line, line);) {
        if (line.ends_with('\r')) line.pop_back();
        lines.push_back(line);
    }
    if (std::ssize(lines) == count) return lines;
    std::istringstream by_word(text);
    for (std::string word; by_word >> word;) words.push_back(word);
    return words;
}

/// Of the option tokens, for the queries; for the keys too where there are as many.
Result<void> read_tokens_file(const std::string& path, Index count,
                              std::vector<std::string>& tokens) {
    const auto text = read_text_file(path);
    if (!text) return tl::unexpected(text.error());
    const std::size_t first = text->find_first_not_of(" \t\r\n");
    const bool json = first != text->npos && ((*text)[first] == '[' || (*text)[first] == '{');
    auto read = json ? tokens_of_json(*text, path) : tokens_of_text(*text, count);
    if (!read) return tl::unexpected(read.error());
    if (std::ssize(*read) != count)
        return bad_input(
            fmt::format("{} holds {} tokens, but there are {} queries (Tq); expected one each",
                        path, read->size(), count));
    tokens = *std::move(read);
    return {};
}

Result<void> read_layers(ArrayReader& reader, const Listing& listing, const CallOptions& options,
                         Values values, TensorFile& file) {
    file.roles = listing.roles;
    for (const Index layer : listing.layers)
        if (auto added = add_layer({reader, listing, layer, options}, values, file); !added)
            return added;
    return {};
}

/// What a file is read with: the options, as they were given and as they are meant, and the one layer that is asked for.
struct Asked {
    const OptionValues& given;
    const CallOptions& options;
    Values values;
    std::optional<Index> only;
    std::optional<view::FileQuestion>* asks;  // see read_tensors()
};

/// The queries and keys of each layer, or the scores or weights that stand in their place.
Result<void> read_any_layers(ArrayReader& reader, Listing& listing, const Asked& asked,
                             TensorFile& file) {
    const auto pairs =
        listing.call ? std::nullopt : list_pairs(reader.names(), asked.options.roles);
    if (!pairs) {
        if (asked.only) {
            const auto number = find_layer(listing, *asked.only, reader.path());
            if (!number) return tl::unexpected(number.error());
            listing.layers = {*number};
        }
        return read_layers(reader, listing, asked.options, asked.values, file);
    }
    PairsListing chosen = *pairs;
    if (asked.only)
        if (auto one = choose_pairs(reader, *asked.only, chosen); !one) return one;
    if (auto read =
            read_pairs(reader, chosen, {listing, asked.options, asked.given, asked.asks}, file);
        !read)
        return read;
    leave_unused(*pairs, reader, listing, file);
    return {};
}

/// d_k is an option for where the queries do not say it.
Result<void> check_d_k(const ArrayReader& reader, const CallOptions& options,
                       const TensorFile& file) {
    if (!options.d_k || !file.given.empty() || *options.d_k == file.size.d_k) return {};
    return bad_input(fmt::format("{}: d-k is {}, but the queries have {} columns; leave it out",
                                 reader.path(), *options.d_k, file.size.d_k));
}

Result<void> fill(ArrayReader& reader, Listing& listing, const Asked& asked, TensorFile& file) {
    const CallOptions* const options = &asked.options;
    file.spec = options->spec;
    if (auto layers = read_any_layers(reader, listing, asked, file); !layers) return layers;
    if (auto fine = check_d_k(reader, *options, file); !fine) return fine;
    if (auto known = check_corner(reader, *options, asked.asks, file); !known) return known;
    if (std::string note = causal_note(file.spec, file.size); !note.empty())
        file.notes.push_back(fmt::format("{}: {}", reader.path(), note));
    if (auto read = read_mask(reader, listing, file.size, file.spec.mask); !read) return read;
    if (auto read = read_operation(reader, listing, *options, file); !read) return read;
    if (!options->tokens_file.empty())
        return read_tokens_file(options->tokens_file, file.size.tq, file.tokens);
    if (auto read = read_tokens(reader, file_array(listing, "tokens"), file.size.tq, "queries (Tq)",
                                file.tokens);
        !read)
        return read.map_error([&](Error error) {
            const bool as_heads = std::ssize(file.tokens) == file.size.heads && !options->layout;
            if (as_heads && !file.layers.front().projects())
                error.sentence +=
                    ", as there are heads: is Q [T, H, d]? Then give --layout "
                    "tokens-first";
            return error;
        });
    return read_tokens(reader, "tokens_kv", file.size.tk, "keys (Tk)", file.tokens_kv);
}

Result<TensorFile> read_listed(ArrayReader& reader, const OptionValues& given, Values values,
                               std::optional<Index> only, std::optional<view::FileQuestion>* asks) {
    TensorFile file;
    const Result<OptionValues> merged = merge_options(reader, given, asks != nullptr, file.notes);
    if (!merged) return tl::unexpected(merged.error());
    const Result<CallOptions> options = call_options(*merged);
    if (!options) return tl::unexpected(options.error());
    auto listed = list_layers(reader.names(), reader.path(), options->roles);
    if (!listed) return tl::unexpected(std::move(listed.error()));
    Listing listing = *std::move(listed);
    if (auto filled = fill(reader, listing, {*merged, *options, values, only, asks}, file); !filled)
        return tl::unexpected(filled.error());
    if (std::string note = transposed_note(listing, reader.path()); !note.empty())
        file.notes.push_back(std::move(note));
    if (std::string note = stand_in_note(listing, reader.path(), options->layout); !note.empty())
        file.notes.push_back(std::move(note));
    const std::vector<std::string> notes = reader.notes();
    file.notes.insert(file.notes.end(), notes.begin(), notes.end());
    if (std::string note = unused_note(listing, reader.path()); !note.empty())
        file.notes.push_back(std::move(note));
    return file;
}

}  // namespace

Result<TensorFile> read_tensors(const std::string& path, const OptionValues& given, Values values,
                                std::optional<view::FileQuestion>* asks) {
    auto reader = ArrayReader::open(path);
    if (!reader) return tl::unexpected(std::move(reader.error()));
    return read_listed(*reader, given, values, {}, asks);
}

Result<TensorFile> read_layer(const std::string& path, const OptionValues& given, Index layer,
                              Values values) {
    auto reader = ArrayReader::open(path);
    if (!reader) return tl::unexpected(std::move(reader.error()));
    return read_listed(*reader, given, values, layer, nullptr);
}

}  // namespace attn::files
