// b sequence, n its queries, m its keys, h head, g key/value head, p position of a key, P rows of a page, S splits.

#include "app/files/serving.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <cmath>
#include <functional>

#include "app/files/layers.h"
#include "app/files/serving_reader.h"
#include "core/entries.h"
#include "core/masks.h"
#include "core/memory.h"
#include "core/text.h"

namespace attn::files {
namespace {

/// "l3." of "l3.q"; "" of a plain name.
std::string prefix_of_layer(std::string_view name) {
    const std::string_view array = array_part(name);
    const bool ours = array.size() < name.size() && name.front() == 'l' && name.size() > 1 &&
                      std::isdigit(static_cast<unsigned char>(name[1])) != 0;
    return ours ? std::string(name.substr(0, name.size() - array.size())) : std::string();
}

bool has_part(const ArrayReader& reader, Names names) {
    return std::ranges::any_of(reader.names(), [&](const std::string& name) {
        const std::string_view part = prefix_of_layer(name).empty() ? name : array_part(name);
        return std::ranges::count(names, part) > 0;
    });
}

/// How the names of each layer of a serving call, or of its results, begin: "" alone where they are plain.
std::vector<std::string> prefixes_of(const ArrayReader& reader, std::optional<Index> layer,
                                     bool results) {
    std::vector<Names> own{kKeyCaches,   kValueCaches, kJoinedCaches, kPartials,
                           kQueryScales, kKeyScales,   kValueScales};
    if (has_part(reader, kQueryStarts)) own.emplace_back(kQueries);
    if (results) own.emplace_back(kOutputs), own.emplace_back(kLogsumexps);
    std::set<std::string> found;
    for (const std::string& name : reader.names()) {
        const std::string prefix = prefix_of_layer(name);
        if (prefix.empty() || (layer && *layer >= 0 && prefix != fmt::format("l{}.", *layer)))
            continue;
        if (std::ranges::any_of(
                own, [&](Names names) { return std::ranges::count(names, array_part(name)) > 0; }))
            found.insert(prefix);
    }
    if (found.empty()) return {std::string()};
    return {found.begin(), found.end()};
}

}  // namespace

ServingCall ServingReader::read() {
    find();
    if (!paged_ && !packed() && scales_.empty() && partial_.empty()) return results_alone();
    if (query_.empty() || key_.empty() || value_.empty()) {
        if (paged_ || packed()) missing_operands();
        return results_alone();
    }
    call_.unpacked = paged_ || packed();
    read_operands();
    if (call_.unpacked)
        gather_operands();
    else
        take_plain();
    serving_.q_heads = query_axes_.heads;
    read_format();
    read_results(query_axes_.heads);
    if (call_.unpacked) read_pairs();
    if (call_.unpacked) read_gate();
    call_.serving = std::make_shared<const verify::Serving>(std::move(serving_));
    return std::move(call_);
}

void ServingReader::refuse(std::string problem) const {
    throw bad_input(fmt::format("{}: {}", reader_.path(), problem));
}

std::string ServingReader::find_name(Names names) const {
    for (const std::string_view name : names)
        if (const std::string own = prefix_ + std::string(name); reader_.has(own)) return own;
    for (const std::string_view name : names)
        if (reader_.has(name)) return std::string(name);
    return {};
}

std::string ServingReader::taken(Names names) {
    std::string name = find_name(names);
    if (!name.empty()) removed_.insert(name);
    return name;
}

void ServingReader::note(std::string text) {
    call_.notes.push_back(fmt::format("{}: {}", reader_.path(), text));
}

// ---- the arrays of the file

void ServingReader::find() {
    std::string keys = find_name(kKeyCaches), values = find_name(kValueCaches);
    combined_ = find_name(kJoinedCaches);
    if (!combined_.empty() && !(keys + values).empty())
        refuse(
            fmt::format("{} and {} are given; give one", combined_, keys.empty() ? values : keys));
    if (!combined_.empty()) keys = values = combined_;
    const std::string table = find_name(kTables);
    paged_ = !keys.empty() && !values.empty();
    query_ = find_name(kQueries);
    if (!paged_ && (!keys.empty() || !values.empty()))
        refuse(fmt::format("{} is given without {}; give both", keys.empty() ? values : keys,
                           keys.empty() ? "k_cache" : "v_cache"));
    if (!paged_ && !table.empty())
        refuse(fmt::format(
            "{} is given without k_cache and v_cache, or kv_cache, the pages that it lists",
            table));
    key_ = paged_ ? keys : find_name(kKeys);
    value_ = paged_ ? values : find_name(kValues);
    if (paged_ && !find_name(kKeys).empty())
        refuse(fmt::format("{} and {} are given; give one", keys, find_name(kKeys)));
    if (const std::string name = find_name(kQueryStarts); !name.empty() && is_packed_call())
        query_starts_ = name, key_starts_ = find_name(kKeyStarts);
    for (const Names names : {Names(kQueryScales), Names(kKeyScales), Names(kValueScales)})
        if (const std::string name = find_name(names); !name.empty()) scales_.push_back(name);
    partial_ = find_name(kPartials);
}

bool ServingReader::is_packed_call() const {
    if (query_.empty() || reader_.axes_of(query_).size() != 3) return false;
    if (paged_) return true;
    const std::string keys = find_name(kKeyStarts);
    if (keys.empty() || reader_.has("cu_seqlens") || key_.empty()) return false;
    const auto of_q = integers(find_name(kQueryStarts)), of_k = integers(keys);
    if (of_q.empty() || of_q != of_k || !find_name(kLengths).empty()) return true;
    const auto axes = reader_.axes_of(query_);
    const Index documents_axis = options_.layout == HeadAxes::tokens_first ? axes[0] : axes[1];
    return documents_axis != of_q.back();
}

void ServingReader::missing_operands() const {
    const std::string_view missing = query_.empty() ? "q" : key_.empty() ? "k" : "v";
    refuse(fmt::format("{} is given without {}; give q, {}", paged_ ? key_ : query_starts_, missing,
                       paged_ ? "k_cache and v_cache" : "k and v"));
}

std::vector<Index> ServingReader::integers(const std::string& name) const {
    const NpyArray array = reader_.array(name);
    std::vector<Index> numbers;
    bool whole = true;
    std::visit(
        [&](const auto& values) {
            if constexpr (requires { static_cast<double>(values.front()); })
                for (const auto value : values) {
                    const auto number = static_cast<double>(value);
                    whole = whole && number == std::floor(number) && std::abs(number) < 0x1.0p53;
                    numbers.push_back(whole ? static_cast<Index>(number) : 0);
                }
            else
                whole = false;
        },
        array.values);
    if (!whole)
        refuse(fmt::format("{} is {} {}; expected whole numbers, int32 or int64", name, array.dtype,
                           to_string(array.extents)));
    return numbers;
}

// ---- stored queries, keys and values

void ServingReader::read_operands() {
    q_ = codes(query_);
    if (combined_.empty())
        k_ = codes(key_), v_ = codes(value_);
    else
        split_combined();
    for (const std::string& name : {query_, key_, value_}) removed_.insert(name);
}

// ---- pages and packed sequences

void ServingReader::gather_operands() {
    find_key_axes();
    read_key_rows();
    read_queries();
    check_options();
    scale_operands(static_cast<Index>(serving_.keys.size()));
    const Index tq = std::max<Index>(std::ranges::max(serving_.queries), 1);
    const Index tk = std::max<Index>(std::ranges::max(serving_.keys), 1);
    const Index batch = std::ssize(serving_.keys);
    shape_ = {batch, query_axes_.heads, tq, tk};
    or_throw(check_fits_in_memory(
        static_cast<double>(batch) * static_cast<double>(tq) * static_cast<double>(tk) +
            12.0 * static_cast<double>(batch * key_axes_.heads) * static_cast<double>(tk) *
                static_cast<double>(key_axes_.width + value_axes_.width),
        fmt::format("{}: the padded call of {} sequences", reader_.path(), batch),
        "give fewer sequences", {}));
    const auto query_row = [&](Index b, Index t) {
        const Index r = t - (tq - serving_.queries[at(b)]);
        return r < 0 ? Index{-1} : query_first_[at(b)] + r;
    };
    const auto key_row = [&](Index b, Index t) {
        const Index p = t - (tk - serving_.keys[at(b)]);
        return p < 0 ? Index{-1} : serving_.rows[at(b)][at(p)];
    };
    serving_.q = gathered(q_, query_axes_, tq, query_row, serving_.q_scale);
    serving_.k = gathered(k_, key_axes_, tk, key_row, serving_.k_scale);
    serving_.v = gathered(v_, value_axes_, tk, key_row, serving_.v_scale);
    keep_stored_rows();
    add("Q", serving_.q), add("K", serving_.k), add("V", serving_.v);
    for (TensorD* const exact : {&serving_.q, &serving_.k, &serving_.v}) drop_if_rounded(*exact);
    if (!options_.spec.mask.causal && !options_.spec.query_offset && tk > tq &&
        (options_.spec.mask.windowed() || options_.spec.alibi || options_.spec.rope ||
         options_.rope_pairs || options_.spec.mask.block))
        call_.offset = tk - tq;
    describe(tq, tk);
}

// ---- the padded call

TensorD ServingReader::gathered(const Codes& codes, const RowAxes& axes, Index rows,
                                const std::function<Index(Index b, Index t)>& row,
                                TensorD& scales) const {
    const Index batch = std::ssize(serving_.keys);
    TensorD made({batch, axes.heads, rows, axes.width});
    if (codes.scale)
        scales = TensorD({batch, axes.heads, rows, codes.blocks ? axes.width : 1}, 1.0);
    for_each_row(made.shape(), [&](Index b, Index h, Index t) {
        Index from = row(b, t);
        // Scales of padding are those of the next row.
        const bool padding = from < 0;
        for (Index next = t + 1; padding && from < 0 && next < rows; ++next) from = row(b, next);
        if (from < 0) return;
        const Index first = axes.entry(from, h);
        for (Index c = 0; codes.scale && c < scales.shape().d; ++c)
            scales(b, h, t, c) = codes.scale(b, h, first + c);
        if (padding) return;
        for (Index c = 0; c < axes.width; ++c) made(b, h, t, c) = codes.exact(b, h, first + c);
    });
    return made;
}

void ServingReader::keep_stored_rows() {
    const Index count = k_.axes[0] * (paged_ ? key_axes_.block : 1);
    std::vector<Index> owner(at(count), 0);
    for (std::size_t b = 0; b < serving_.rows.size(); ++b)
        for (const Index row : serving_.rows[b])
            if (row >= 0) owner[at(row)] = static_cast<Index>(b);
    const auto all_rows = [&](const Codes& codes, const RowAxes& axes) {
        TensorD rows({1, axes.heads, count, axes.width});
        for_each_entry(rows.shape(), [&](Index, Index h, Index t, Index c) {
            rows(0, h, t, c) = codes.exact(owner[at(t)], h, axes.entry(t, h) + c);
        });
        return rows;
    };
    serving_.k_rows = all_rows(k_, key_axes_);
    serving_.v_rows = all_rows(v_, value_axes_);
}

void ServingReader::add(const std::string& name, const TensorD& numbers) {
    const Shape shape = numbers.shape();
    added_[prefix_ + name] = {"float32",
                              {shape.b, shape.h, shape.t, shape.d},
                              std::vector<float>(numbers.values().begin(), numbers.values().end())};
}

void ServingReader::drop_if_rounded(TensorD& exact) {
    const auto is_float = [](double x) {
        return std::isnan(x) || static_cast<double>(static_cast<float>(x)) == x;
    };
    if (std::ranges::all_of(std::as_const(exact).values(), is_float)) exact = {};
}

void ServingReader::describe(Index tq, Index tk) {
    const bool padded = is_padded(tq, tk);
    const auto of = [](const std::vector<Index>& counts) {
        const auto [least, most] = std::ranges::minmax(counts);
        return least == most ? std::to_string(most) : fmt::format("{} to {}", least, most);
    };
    note(fmt::format(
        "{} of {} queries and {} keys{}{}", counted(serving_.keys.size(), "sequence"),
        of(serving_.queries), of(serving_.keys),
        padded ? ": each ends at the last row and column, after its padding" : "",
        options_.spec.mask.causal ? "; the causal mask ends at the last key of each" : ""));
}

void ServingReader::check_options() const {
    const auto differs = [](const std::vector<Index>& counts) {
        return std::ranges::adjacent_find(counts, std::not_equal_to()) != counts.end();
    };
    if (!differs(serving_.keys) && !differs(serving_.queries)) return;
    const AttentionSpec& spec = options_.spec;
    const std::string_view option = spec.mask.causal == CausalAlign::top_left ? "causal=top-left"
                                    : spec.mask.block                         ? "block"
                                    : spec.mask.global_tokens > 0             ? "global-tokens"
                                    : !spec.mask.padding.empty()              ? "padding"
                                    : spec.query_offset                       ? "query-offset"
                                                                              : "";
    if (!option.empty())
        refuse(
            fmt::format("{} counts from the first token, and the sequences have different "
                        "lengths; expected sequences of the same length, or no {}",
                        option, option));
    for (const std::string_view name : {"positions", "position_ids", "cos", "sin", "q_cos", "k_cos",
                                        "segment_ids", "selected", "nonpad_kv_seqlen"})
        if (reader_.has(name))
            refuse(
                fmt::format("{} is not read with sequences of different lengths; give q and k "
                            "after RoPE, and only their lengths",
                            name));
}

void ServingReader::read_gate() {
    const bool gated = options_.operation && options_.operation->operation == Operation::gated;
    const std::string gate = prefix_ + "gate";
    if (!gated || !reader_.has(gate)) return;
    std::vector<Index> axes = reader_.axes_of(gate);
    const bool whole = axes.size() > 2 && axes.back() == value_axes_.width;
    const Index columns = whole ? axes.back() : 1;
    if (whole) axes.pop_back();
    const auto entry = row_entry(axes, query_axes_.heads, columns, RowOrder::output);
    if (!entry)
        refuse(
            fmt::format("{} is {}; expected the axes of {} {} with the width of V, or "
                        "without a width",
                        gate, to_string(reader_.axes_of(gate)), query_, to_string(q_.axes)));
    add_result("gate", gate,
               placed_rows(*entry, reader_.numbers(gate), query_axes_.heads, columns, 0.0F));
}

void ServingReader::read_pairs() {
    const auto& [batch, heads, tq, tk] = shape_;
    if (!is_padded(tq, tk)) return;
    const std::string mask = find_name(kMasks);
    const std::string bias = find_name(kBiases);
    std::vector<std::uint8_t> allowed;
    const std::string dtype = mask.empty() ? "" : reader_.dtype_of(mask);
    const bool given = dtype == "bool" || dtype == "uint8";
    std::vector<std::uint8_t> flags;
    if (given) flags = std::get<std::vector<std::uint8_t>>(reader_.array(mask).values);
    const Shape own = given ? pair_shape(mask) : Shape{1, 1, 1, 1};
    if (given) removed_.insert(mask);
    const Shape shape{batch, own.h, tq, tk};
    allowed.reserve(at(shape.count()));
    for_each_entry(shape, [&](Index b, Index h, Index i, Index j) {
        const Index r = i - serving_.padding_of_queries(b, tq), p = j - (tk - serving_.keys[at(b)]);
        const bool inside = r >= 0 && p >= 0;
        allowed.push_back(inside && (!given || flags[at(pair_entry(own, b, h, r, p))] != 0) ? 1
                                                                                            : 0);
    });
    added_["mask"] = {"bool", {shape.b, shape.h, tq, tk}, std::move(allowed)};
    const std::string floats = !bias.empty() ? bias : given ? "" : mask;
    if (floats.empty()) return;
    const Shape of = pair_shape(floats);
    removed_.insert(floats);
    const std::vector<float> values = reader_.numbers(floats);
    std::vector<float> moved;
    const Shape whole{batch, of.h, tq, tk};
    moved.reserve(at(whole.count()));
    for_each_entry(whole, [&](Index b, Index h, Index i, Index j) {
        const Index r = i - serving_.padding_of_queries(b, tq), p = j - (tk - serving_.keys[at(b)]);
        moved.push_back(r >= 0 && p >= 0 ? values[at(pair_entry(of, b, h, r, p))] : 0.0F);
    });
    added_["bias"] = {"float32", {whole.b, whole.h, tq, tk}, std::move(moved)};
}

Shape ServingReader::pair_shape(const std::string& name) const {
    const auto axes = reader_.axes_of(name);
    const auto& [batch, heads, tq, tk] = shape_;
    const auto axis = [&](std::size_t from_last) {
        return axes.size() > from_last ? axes[axes.size() - 1 - from_last] : Index{1};
    };
    const Shape shape{axis(3), axis(2), axis(1), axis(0)};
    const auto fits = [](Index extent, Index whole) { return extent == 1 || extent == whole; };
    if (axes.size() < 2 || axes.size() > 4 || !fits(shape.b, batch) || !fits(shape.h, heads) ||
        !fits(shape.t, tq) || !fits(shape.d, tk))
        refuse(
            fmt::format("{} is {}; expected what broadcasts to [{}, {}, {}, {}], by positions of "
                        "each sequence",
                        name, to_string(axes), batch, heads, tq, tk));
    return shape;
}

Index ServingReader::pair_entry(const Shape& shape, Index b, Index h, Index r, Index p) {
    const auto in = [](Index n, Index extent) { return extent == 1 ? 0 : n; };
    return ((in(b, shape.b) * shape.h + in(h, shape.h)) * shape.t + in(r, shape.t)) * shape.d +
           in(p, shape.d);
}

bool names_serving(const ArrayReader& reader) {
    return has_part(reader, kKeyCaches) || has_part(reader, kJoinedCaches) ||
           (has_part(reader, kQueryStarts) && has_part(reader, kKeyStarts));
}

OptionValues for_serving(const ArrayReader& reader, OptionValues options) {
    const auto causal = options.find("causal");
    if (causal != options.end() && causal->second.text == "true" && names_serving(reader))
        causal->second.text = "bottom-right";
    return options;
}

ServingCall read_serving(ArrayReader& reader, const CallOptions& options,
                         std::optional<Index> layer, const verify::Serving* other) {
    ServingCall first;
    std::map<std::string, NpyArray> added;
    std::set<std::string> removed;
    for (const std::string& prefix : prefixes_of(reader, layer, other != nullptr)) {
        ServingReader one(reader, options, other, prefix);
        ServingCall call = one.read();
        if (!call.serving) continue;
        added.merge(one.added());
        removed.insert(one.removed().begin(), one.removed().end());
        if (!first.serving) {
            first = std::move(call);
        } else if (call.serving->queries != first.serving->queries ||
                   call.serving->keys != first.serving->keys) {
            throw bad_input(fmt::format(
                "{}: the sequences of {} have other lengths than those of the layers before; "
                "expected the same lengths in every layer, or one with --layer",
                reader.path(), prefix.substr(0, prefix.size() - 1)));
        }
    }
    if (!added.empty() || !removed.empty()) reader.replace(std::move(added), removed);
    return first;
}

}  // namespace attn::files
