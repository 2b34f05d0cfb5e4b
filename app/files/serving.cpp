// b sequence, n its queries, m its keys, h head, g key/value head, p position of a key, P rows of a page, S splits.

#include "app/files/serving.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <numeric>

#include "core/entries.h"
#include "core/float8.h"
#include "core/masks.h"
#include "core/memory.h"
#include "core/text.h"

namespace attn::files {
namespace {

using Names = std::span<const std::string_view>;
constexpr std::string_view kQueries[] = {"q", "Q", "query"};
constexpr std::string_view kKeys[] = {"k", "K", "key"};
constexpr std::string_view kValues[] = {"v", "V", "value"};
constexpr std::string_view kKeyCaches[] = {"k_cache", "key_cache"};
constexpr std::string_view kValueCaches[] = {"v_cache", "value_cache"};
constexpr std::string_view kTables[] = {"block_tables", "block_table", "page_table"};
constexpr std::string_view kLengths[] = {"seq_lens", "context_lens", "cache_seqlens", "seqused_k"};
constexpr std::string_view kQueryStarts[] = {"cu_seqlens_q"};
constexpr std::string_view kKeyStarts[] = {"cu_seqlens_k"};
constexpr std::string_view kOutputs[] = {"context", "output", "out", "o"};
constexpr std::string_view kLogsumexps[] = {"logsumexp", "softmax_lse", "lse"};
constexpr std::string_view kPartials[] = {"o_partial", "out_partial", "out_accum"};
constexpr std::string_view kPartialLogsumexps[] = {"lse_partial", "softmax_lse_accum", "lse_accum"};
constexpr std::string_view kSplitStarts[] = {"split_starts"};
constexpr std::string_view kMasks[] = {"mask", "attn_mask"};
constexpr std::string_view kBiases[] = {"bias", "attn_bias"};
constexpr std::string_view kQueryScales[] = {"q_scale", "q_descale"};
constexpr std::string_view kKeyScales[] = {"k_scale", "k_descale"};
constexpr std::string_view kValueScales[] = {"v_scale", "v_descale"};

/// The first of the names that the file has; "": none.
std::string found_name(const ArrayReader& reader, Names names) {
    for (const std::string_view name : names)
        if (reader.has(name)) return std::string(name);
    return {};
}

bool is_code(std::string_view dtype) {
    return dtype.starts_with("float8") || dtype.starts_with("float4");
}
double roundoff_of(std::string_view dtype) {
    if (dtype == "float8_e5m2") return 0x1.0p-3;
    return dtype.starts_with("float4") ? 0x1.0p-2 : 0x1.0p-4;
}

/// An array's stored numbers and their factors.
struct Codes {
    std::string name, dtype;
    std::vector<Index> axes;
    std::vector<float> values;
    std::function<double(Index b, Index h, Index entry)> scale = {};  // none: 1
    bool blocks = false;                                              // scales differ within a row

    double exact(Index b, Index h, Index entry) const {
        const auto value = static_cast<double>(values[static_cast<std::size_t>(entry)]);
        return scale ? value * scale(b, h, entry) : value;
    }
};

/// Where row t of head h begins among an array's numbers.
struct RowAxes {
    Index heads = 1, width = 1;
    Index block = 1;           // rows of a page, or of a sequence
    bool heads_first = false;  // [blocks, H, block, d]; else [rows, H, d]

    Index entry(Index row, Index h) const {
        return heads_first ? ((row / block * heads + h) * block + row % block) * width
                           : (row * heads + h) * width;
    }
};

class ServingReader {
  public:
    ServingReader(ArrayReader& reader, const CallOptions& options, const verify::Serving* other)
        : reader_(reader), options_(options), other_(other) {}

    ServingCall read() {
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
        call_.serving = std::make_shared<const verify::Serving>(std::move(serving_));
        reader_.replace(std::move(added_), removed_);
        return std::move(call_);
    }

  private:
    [[noreturn]] void refuse(std::string problem) const {
        throw bad_input(fmt::format("{}: {}", reader_.path(), problem));
    }
    bool packed() const { return !query_starts_.empty() && (!key_starts_.empty() || paged_); }
    std::string taken(Names names) {
        std::string name = found_name(reader_, names);
        if (!name.empty()) removed_.insert(name);
        return name;
    }
    void note(std::string text) {
        call_.notes.push_back(fmt::format("{}: {}", reader_.path(), text));
    }

    // ---- the arrays of the file

    void find() {
        const std::string keys = found_name(reader_, kKeyCaches),
                          values = found_name(reader_, kValueCaches);
        const std::string table = found_name(reader_, kTables);
        paged_ = !keys.empty() && !values.empty();
        query_ = found_name(reader_, kQueries);
        if (!paged_ && (!keys.empty() || !values.empty()))
            refuse(fmt::format("{} is given without {}; give both", keys.empty() ? values : keys,
                               keys.empty() ? "k_cache" : "v_cache"));
        if (!paged_ && !table.empty())
            refuse(fmt::format("{} is given without k_cache and v_cache, the pages that it lists",
                               table));
        key_ = paged_ ? keys : found_name(reader_, kKeys);
        value_ = paged_ ? values : found_name(reader_, kValues);
        if (paged_ && !found_name(reader_, kKeys).empty())
            refuse(fmt::format("{} and {} are given; give one", keys, found_name(reader_, kKeys)));
        if (const std::string name = found_name(reader_, kQueryStarts);
            !name.empty() && is_packed_call())
            query_starts_ = name, key_starts_ = found_name(reader_, kKeyStarts);
        for (const Names names : {Names(kQueryScales), Names(kKeyScales), Names(kValueScales)})
            if (const std::string name = found_name(reader_, names); !name.empty())
                scales_.push_back(name);
        partial_ = found_name(reader_, kPartials);
    }

    /// Arrays of all sequences one after another, [N,H,d], which equal lists of documents over [H,N,d] are not.
    bool is_packed_call() const {
        if (query_.empty() || reader_.axes_of(query_).size() != 3) return false;
        if (paged_) return true;
        const std::string keys = found_name(reader_, kKeyStarts);
        if (keys.empty() || reader_.has("cu_seqlens") || key_.empty()) return false;
        const auto of_q = integers("cu_seqlens_q"), of_k = integers(keys);
        if (of_q.empty() || of_q != of_k || !found_name(reader_, kLengths).empty()) return true;
        const auto axes = reader_.axes_of(query_);
        const Index documents_axis = options_.layout == HeadAxes::tokens_first ? axes[0] : axes[1];
        return documents_axis != of_q.back();
    }

    [[noreturn]] void missing_operands() const {
        const std::string_view missing = query_.empty() ? "q" : key_.empty() ? "k" : "v";
        refuse(fmt::format("{} is given without {}; give q, {}", paged_ ? key_ : query_starts_,
                           missing, paged_ ? "k_cache and v_cache" : "k and v"));
    }

    std::vector<Index> integers(const std::string& name) const {
        const NpyArray array = reader_.array(name);
        std::vector<Index> numbers;
        bool whole = true;
        std::visit(
            [&](const auto& values) {
                if constexpr (requires { static_cast<double>(values.front()); })
                    for (const auto value : values) {
                        const auto number = static_cast<double>(value);
                        whole =
                            whole && number == std::floor(number) && std::abs(number) < 0x1.0p53;
                        numbers.push_back(whole ? static_cast<Index>(number) : 0);
                    }
                else
                    whole = false;
            },
            array.values);
        if (!whole)
            refuse(fmt::format("{} is {} {}; expected whole numbers, int32 or int64", name,
                               array.dtype, to_string(array.extents)));
        return numbers;
    }

    // ---- stored queries, keys and values

    void read_operands() {
        q_ = codes(query_);
        k_ = codes(key_);
        v_ = codes(value_);
        for (const std::string& name : {query_, key_, value_}) removed_.insert(name);
    }
    Codes codes(const std::string& name) {
        Codes read{name, reader_.dtype_of(name), reader_.axes_of(name), {}};
        read.values = reader_.numbers(name);
        return read;
    }

    // ---- pages and packed sequences

    void gather_operands() {
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
        for (TensorD* const exact : {&serving_.q, &serving_.k, &serving_.v})
            drop_if_rounded(*exact);
        if (!options_.spec.mask.causal && !options_.spec.query_offset && tk > tq &&
            (options_.spec.mask.windowed() || options_.spec.alibi || options_.spec.rope ||
             options_.rope_pairs || options_.spec.mask.block))
            call_.offset = tk - tq;
        describe(tq, tk);
    }

    static std::size_t at(Index n) { return static_cast<std::size_t>(n); }

    /// [pages, P, Hkv, d] or [pages, Hkv, P, d]; [N, Hkv, d] of packed sequences.
    void find_key_axes() {
        const std::size_t axes = paged_ ? 4 : 3;
        if (k_.axes.size() != axes || v_.axes.size() != axes)
            refuse(fmt::format("{} is {} and {} {}; expected {}", key_, to_string(k_.axes), value_,
                               to_string(v_.axes),
                               paged_ ? "[pages, rows of a page, Hkv, d]" : "[N, Hkv, d]"));
        if (!std::equal(k_.axes.begin(), k_.axes.end() - 1, v_.axes.begin()))
            refuse(fmt::format("{} is {} and {} {}; expected the same axes but for the width", key_,
                               to_string(k_.axes), value_, to_string(v_.axes)));
        if (!paged_) {
            key_axes_ = {k_.axes[1], k_.axes[2], k_.axes[0], false};
            check_key_heads(key_axes_.heads);
        } else {
            choose_page_axes();
        }
        value_axes_ = key_axes_;
        value_axes_.width = v_.axes.back();
        const std::size_t q_axes = q_.axes.size();
        if (q_axes != 3 && q_axes != 4)
            refuse(fmt::format("{} is {}; expected [N, H, d], or [B, Tq, H, d]", query_,
                               to_string(q_.axes)));
        if (q_.axes.back() != k_.axes.back())
            refuse(fmt::format("{} is {} and {} {}; expected the same width, the last axis", query_,
                               to_string(q_.axes), key_, to_string(k_.axes)));
    }

    /// Query heads that q can have.
    std::vector<Index> query_heads() const {
        if (q_.axes.size() == 3) return {q_.axes[1]};
        if (q_.axes.size() != 4) return {};
        if (options_.layout == HeadAxes::heads_first) return {q_.axes[1]};
        if (options_.layout == HeadAxes::tokens_first) return {q_.axes[2]};
        return {q_.axes[2], q_.axes[1]};
    }
    bool can_share(Index kv_heads) const {
        if (options_.kv_heads && *options_.kv_heads != kv_heads) return false;
        return std::ranges::any_of(query_heads(), [&](Index heads) {
            return heads % kv_heads == 0 && (!options_.heads || *options_.heads == heads);
        });
    }
    void check_key_heads(Index kv_heads) const {
        if (can_share(kv_heads)) return;
        refuse(
            fmt::format("{} is {} with {}, but {} is {}; expected query heads that are a multiple "
                        "of the key/value heads",
                        key_, to_string(k_.axes), counted(kv_heads, "key/value head"), query_,
                        to_string(q_.axes)));
    }

    void choose_page_axes() {
        const RowAxes tokens_first{k_.axes[2], k_.axes[3], k_.axes[1], false};
        const RowAxes heads_first{k_.axes[1], k_.axes[3], k_.axes[2], true};
        const auto fits = [&](const RowAxes& axes) {
            return can_share(axes.heads) && holds(axes.block);
        };
        if (options_.layout && *options_.layout != HeadAxes::tokens_first &&
            *options_.layout != HeadAxes::heads_first)
            refuse(fmt::format(
                "layout is {}, but {} has pages; expected tokens-first [pages, P, Hkv, d] "
                "or heads-first [pages, Hkv, P, d]",
                info(*options_.layout).key, key_));
        const bool first = fits(tokens_first), second = fits(heads_first);
        const bool chosen = options_.layout.has_value();
        const bool wants_heads = options_.layout == HeadAxes::heads_first;
        if (chosen ? !(wants_heads ? second : first) : !first && !second)
            refuse(fmt::format(
                "{} is {}, which fits {} {} and the pages of {} neither as [pages, P, Hkv, d] nor "
                "as "
                "[pages, Hkv, P, d]{}; expected H a multiple of Hkv, and pages that hold every "
                "sequence",
                key_, to_string(k_.axes), query_, to_string(q_.axes),
                lengths_name().empty() ? "the call" : lengths_name(),
                chosen ? fmt::format(" under layout {}", info(*options_.layout).key) : ""));
        key_axes_ = (chosen ? wants_heads : !first) ? heads_first : tokens_first;
        serving_.heads_first = key_axes_.heads_first;
        const bool both = !chosen && first && second && k_.axes[1] != k_.axes[2];
        note(fmt::format("{} and {} are {} pages of {}, [pages, {}, d]{}", key_, value_, k_.axes[0],
                         counted(key_axes_.block, "row"),
                         key_axes_.heads_first ? "Hkv, P" : "P, Hkv",
                         both ? "; --layout heads-first if they are [pages, Hkv, P, d]" : ""));
    }
    std::string lengths_name() const { return found_name(reader_, kLengths); }
    /// Whether pages of this many rows hold the longest sequence.
    bool holds(Index page) const {
        const std::string lengths = lengths_name(), table = found_name(reader_, kTables);
        if (lengths.empty()) return true;
        const auto of = integers(lengths);
        const auto table_axes = table.empty() ? std::vector<Index>{} : reader_.axes_of(table);
        const Index pages = table_axes.size() == 2 ? table_axes[1] : 1;
        return of.empty() || std::ranges::max(of) <= product(pages, page);
    }

    // ---- keys of each sequence

    void read_key_rows() {
        if (paged_)
            read_pages();
        else
            read_packed_keys();
        for (std::size_t b = 0; b < serving_.keys.size(); ++b) check_length(b);
    }

    void read_pages() {
        const Index pages = k_.axes[0], page = key_axes_.block;
        const std::string table = taken(kTables), lengths = taken(kLengths);
        std::vector<Index> entries;
        Index batch = pages, width = 1;
        if (table.empty()) {
            for (Index b = 0; b < pages; ++b) entries.push_back(b);
        } else {
            const auto axes = reader_.axes_of(table);
            if (axes.size() != 2)
                refuse(fmt::format("{} is {}; expected [B, n], the pages of each sequence", table,
                                   to_string(axes)));
            entries = integers(table);
            batch = axes[0], width = axes[1];
        }
        serving_.page = page;
        lengths_ = lengths.empty() ? "every page" : lengths;
        serving_.keys = lengths.empty() ? std::vector<Index>(at(batch), product(width, page))
                                        : lengths_of(lengths, batch);
        for (Index b = 0; b < batch; ++b) {
            const Index m = serving_.keys[at(b)];
            if (m > product(width, page))
                refuse(fmt::format("{}[{}] is {}, and {} of {} hold {} keys; expected at most {}",
                                   lengths, b, m, table.empty() ? "1 page" : counted(width, "page"),
                                   counted(page, "row"), width * page, width * page));
            std::vector<Index>& rows = serving_.rows.emplace_back();
            for (Index n = 0; n < width; ++n) {
                const Index entry = entries[at(b * width + n)];
                const bool known = entry >= 0 && entry < pages;
                if (!known && n * page < m)
                    refuse(fmt::format(
                        "{}[{}, {}] is {}, and {} has {} pages; expected 0 to {}, because "
                        "sequence {} has {} keys",
                        table, b, n, entry, key_, pages, pages - 1, b, m));
                for (Index slot = 0; slot < page; ++slot)
                    rows.push_back(known ? entry * page + slot : -1);
            }
        }
    }

    std::vector<Index> lengths_of(const std::string& name, Index batch) const {
        const auto axes = reader_.axes_of(name);
        if (axes != std::vector<Index>{batch})
            refuse(fmt::format("{} is {}; expected [{}], the number of keys of each sequence", name,
                               to_string(axes), batch));
        return integers(name);
    }
    void check_length(std::size_t b) const {
        if (serving_.keys[b] >= 0) return;
        refuse(fmt::format("{}[{}] is {}; expected a number of keys, at least 0", lengths_, b,
                           serving_.keys[b]));
    }

    /// First row of each sequence, and the end of the last.
    std::vector<Index> starts_of(const std::string& name, Index rows, const std::string& array) {
        removed_.insert(name);
        const std::vector<Index> starts = integers(name);
        if (reader_.axes_of(name).size() != 1 || starts.size() < 2)
            refuse(fmt::format(
                "{} is {}; expected [B + 1], where each sequence begins and the last ends", name,
                to_string(reader_.axes_of(name))));
        if (starts.front() != 0)
            refuse(fmt::format("{}[0] is {}; expected 0", name, starts.front()));
        for (std::size_t n = 1; n < starts.size(); ++n)
            if (starts[n] < starts[n - 1])
                refuse(fmt::format(
                    "{}[{}] is {}, less than {} before it; expected numbers that do not "
                    "decrease",
                    name, n, starts[n], starts[n - 1]));
        if (starts.back() > rows)
            refuse(fmt::format("{} ends at {}, and {} has {} rows; expected at most {}", name,
                               starts.back(), array, rows, rows));
        if (starts.back() < rows)
            note(fmt::format("{} ends at {}: the rows of {} from there on are not used", name,
                             starts.back(), array));
        return starts;
    }

    void read_packed_keys() {
        const std::vector<Index> starts = starts_of(key_starts_, k_.axes[0], key_);
        const std::string lengths = taken(kLengths);
        const Index batch = std::ssize(starts) - 1;
        lengths_ = lengths.empty() ? key_starts_ : lengths;
        if (!lengths.empty()) serving_.keys = lengths_of(lengths, batch);
        serving_.packed = true;
        for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
            const Index count = starts[b + 1] - starts[b];
            if (lengths.empty()) serving_.keys.push_back(count);
            if (serving_.keys[b] > count)
                refuse(fmt::format(
                    "{}[{}] is {}, and {} gives that sequence {}; expected at most that", lengths,
                    b, serving_.keys[b], key_starts_, counted(count, "row")));
            std::vector<Index>& rows = serving_.rows.emplace_back(at(count));
            std::iota(rows.begin(), rows.end(), starts[b]);
        }
    }

    // ---- queries of each sequence

    void read_queries() {
        const Index batch = std::ssize(serving_.keys);
        if (q_.axes.size() == 3 && !query_starts_.empty()) {
            const std::vector<Index> starts = starts_of(query_starts_, q_.axes[0], query_);
            if (std::ssize(starts) - 1 != batch)
                refuse(fmt::format("{} has {} entries, and there are {}; expected {}",
                                   query_starts_, starts.size(), counted(batch, "sequence"),
                                   batch + 1));
            for (std::size_t b = 0; b + 1 < starts.size(); ++b) {
                serving_.queries.push_back(starts[b + 1] - starts[b]);
                query_first_.push_back(starts[b]);
            }
            serving_.packed_queries = true;
            query_axes_ = {q_.axes[1], q_.axes[2], q_.axes[0], false};
        } else if (q_.axes.size() == 3) {
            if (q_.axes[0] != batch)
                refuse(fmt::format(
                    "{} is {}, and there are {}; expected [{}, H, d], one query each, or "
                    "cu_seqlens_q with it",
                    query_, to_string(q_.axes), counted(batch, "sequence"), batch));
            query_axes_ = {q_.axes[1], q_.axes[2], 1, false};
            fill_queries(batch, 1);
        } else {
            read_padded_queries(batch);
        }
    }
    void fill_queries(Index batch, Index count) {
        for (Index b = 0; b < batch; ++b) {
            serving_.queries.push_back(count);
            query_first_.push_back(b * count);
        }
    }
    void read_padded_queries(Index batch) {
        if (q_.axes[0] != batch)
            refuse(fmt::format("{} is {}, and there are {}; expected {} in the first axis", query_,
                               to_string(q_.axes), counted(batch, "sequence"), batch));
        const auto fits = [&](Index heads) {
            return heads % key_axes_.heads == 0 && (!options_.heads || *options_.heads == heads);
        };
        const bool heads_first = options_.layout ? *options_.layout == HeadAxes::heads_first
                                                 : !fits(q_.axes[2]) && fits(q_.axes[1]);
        if (!fits(q_.axes[heads_first ? 1 : 2]))
            refuse(
                fmt::format("{} is {} and {} {}; expected [B, Tq, H, d] with H a multiple of {} "
                            "key/value heads",
                            query_, to_string(q_.axes), key_, to_string(k_.axes), key_axes_.heads));
        const Index count = q_.axes[heads_first ? 2 : 1];
        query_axes_ = {q_.axes[heads_first ? 1 : 2], q_.axes[3], count, heads_first};
        serving_.heads_first = heads_first;
        fill_queries(batch, count);
    }

    // ---- scales

    void scale_operands(Index batch) {
        set_scale(q_, kQueryScales, query_axes_, batch);
        set_scale(k_, kKeyScales, key_axes_, batch);
        set_scale(v_, kValueScales, value_axes_, batch);
    }

    /// Bytes that are codes of scales: E8M0 of MXFP8, 2^(e − 127), E4M3 of NVFP4 with blocks of 16.
    std::vector<double> scale_numbers(const std::string& name, Index block) {
        const NpyArray array = reader_.array(name);
        if (array.dtype == "uint8" && !options_.dtypes.contains(name)) {
            std::vector<double> scales;
            for (const std::uint8_t code : std::get<std::vector<std::uint8_t>>(array.values))
                scales.push_back(block == 16 ? static_cast<double>(from_e4m3(code))
                                             : static_cast<double>(from_e8m0(code)));
            note(fmt::format("{} is uint8 and read as the codes of {}", name,
                             block == 16 ? "E4M3" : "E8M0"));
            return scales;
        }
        if (const auto* const doubles = std::get_if<std::vector<double>>(&array.values))
            return *doubles;
        const auto floats = reader_.numbers(name);
        return {floats.begin(), floats.end()};
    }

    void set_scale(Codes& codes, Names names, const RowAxes& axes, Index batch) {
        const std::string name = taken(names);
        if (name.empty()) return;
        std::vector<Index> extents = reader_.axes_of(name);
        const std::vector<Index>& whole = codes.axes;
        std::vector<Index> rows(whole.begin(), whole.end() - 1);
        const Index count =
            std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
        const bool of_rows = extents.size() == whole.size() && whole.back() % extents.back() == 0 &&
                             std::equal(rows.begin(), rows.end(), extents.begin());
        const Index block = of_rows ? whole.back() / extents.back() : 0;
        const bool in_blocks = of_rows && extents.back() > 1;
        const auto numbers =
            std::make_shared<const std::vector<double>>(scale_numbers(name, block));
        const auto number = [numbers](Index n) { return (*numbers)[static_cast<std::size_t>(n)]; };
        const Index width = axes.width;
        codes.blocks = in_blocks;
        if (count == 1)
            codes.scale = [number](Index, Index, Index) { return number(0); };
        else if (extents == std::vector<Index>{axes.heads})
            codes.scale = [number](Index, Index h, Index) { return number(h); };
        else if (extents == rows || (of_rows && !in_blocks))
            codes.scale = [number, width](Index, Index, Index entry) {
                return number(entry / width);
            };
        else if (extents == std::vector<Index>{batch, axes.heads})
            codes.scale = [number, heads = axes.heads](Index b, Index h, Index) {
                return number(b * heads + h);
            };
        else if (in_blocks)
            codes.scale = [number, block](Index, Index, Index entry) {
                return number(entry / block);
            };
        else
            refuse(
                fmt::format("{} is {} for {} {}; expected one number, [{}], [{}, {}], {} or that "
                            "with blocks of the last axis",
                            name, to_string(extents), codes.name, to_string(whole), axes.heads,
                            batch, axes.heads, to_string(rows)));
        const std::string global = name.substr(0, 1) + "_global_scale";
        if (!reader_.has(global)) return;
        removed_.insert(global);
        const std::vector<float> factor = reader_.numbers(global);
        if (factor.size() != 1)
            refuse(fmt::format("{} is {}; expected one number", global,
                               to_string(reader_.axes_of(global))));
        codes.scale = [inner = codes.scale, by = static_cast<double>(factor.front())](
                          Index b, Index h, Index entry) { return by * inner(b, h, entry); };
    }

    // ---- the padded call

    /// [B,H,T,d], and its scales. row(b, t) is −1 in padding.
    TensorD gathered(const Codes& codes, const RowAxes& axes, Index rows,
                     const std::function<Index(Index b, Index t)>& row, TensorD& scales) const {
        const Index batch = std::ssize(serving_.keys);
        TensorD made({batch, axes.heads, rows, axes.width});
        if (codes.scale)
            scales = TensorD({batch, axes.heads, rows, codes.blocks ? axes.width : 1}, 1.0);
        for_each_row(made.shape(), [&](Index b, Index h, Index t) {
            Index from = row(b, t);
            // Scales of padding are those of the next row.
            const bool padding = from < 0;
            for (Index next = t + 1; padding && from < 0 && next < rows; ++next)
                from = row(b, next);
            if (from < 0) return;
            const Index first = axes.entry(from, h);
            for (Index c = 0; codes.scale && c < scales.shape().d; ++c)
                scales(b, h, t, c) = codes.scale(b, h, first + c);
            if (padding) return;
            for (Index c = 0; c < axes.width; ++c) made(b, h, t, c) = codes.exact(b, h, first + c);
        });
        return made;
    }

    /// All rows, with the scales of the sequence that has them.
    void keep_stored_rows() {
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

    void add(const std::string& name, const TensorD& numbers) {
        const Shape shape = numbers.shape();
        added_[name] = {"float32",
                        {shape.b, shape.h, shape.t, shape.d},
                        std::vector<float>(numbers.values().begin(), numbers.values().end())};
    }
    /// Numbers that float32 holds exactly are not stored twice.
    static void drop_if_rounded(TensorD& exact) {
        const auto is_float = [](double x) {
            return std::isnan(x) || static_cast<double>(static_cast<float>(x)) == x;
        };
        if (std::ranges::all_of(std::as_const(exact).values(), is_float)) exact = {};
    }

    void describe(Index tq, Index tk) {
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
    bool is_padded(Index tq, Index tk) const {
        return std::ranges::any_of(serving_.queries, [&](Index n) { return n != tq; }) ||
               std::ranges::any_of(serving_.keys, [&](Index m) { return m != tk; });
    }

    /// Rules that count from the first token of a sequence, which the padded call has elsewhere.
    void check_options() const {
        const auto differs = [](const std::vector<Index>& counts) {
            return std::ranges::adjacent_find(counts, std::not_equal_to()) != counts.end();
        };
        if (!differs(serving_.keys) && !differs(serving_.queries)) return;
        const AttentionSpec& spec = options_.spec;
        const std::string_view option = spec.mask.causal == CausalAlign::top_left
                                            ? "causal=top-left"
                                        : spec.mask.block             ? "block"
                                        : spec.mask.global_tokens > 0 ? "global-tokens"
                                        : !spec.mask.padding.empty()  ? "padding"
                                        : spec.query_offset           ? "query-offset"
                                                                      : "";
        if (!option.empty())
            refuse(
                fmt::format("{} counts from the first token, and the sequences have different "
                            "lengths; expected sequences of the same length, or no {}",
                            option, option));
        for (const std::string_view name : {"positions", "position_ids", "cos", "sin", "q_cos",
                                            "k_cos", "segment_ids", "selected", "nonpad_kv_seqlen"})
            if (reader_.has(name))
                refuse(
                    fmt::format("{} is not read with sequences of different lengths; give q and k "
                                "as they are after RoPE, and lengths alone",
                                name));
    }

    /// Mask and bias of positions, moved with their sequences, and the padding.
    void read_pairs() {
        const auto& [batch, heads, tq, tk] = shape_;
        if (!is_padded(tq, tk)) return;
        const std::string mask = found_name(reader_, kMasks);
        const std::string bias = found_name(reader_, kBiases);
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
            const Index r = i - serving_.padding_of_queries(b, tq),
                        p = j - (tk - serving_.keys[at(b)]);
            const bool inside = r >= 0 && p >= 0;
            allowed.push_back(
                inside && (!given || flags[at(pair_entry(own, b, h, r, p))] != 0) ? 1 : 0);
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
            const Index r = i - serving_.padding_of_queries(b, tq),
                        p = j - (tk - serving_.keys[at(b)]);
            moved.push_back(r >= 0 && p >= 0 ? values[at(pair_entry(of, b, h, r, p))] : 0.0F);
        });
        added_["bias"] = {"float32", {whole.b, whole.h, tq, tk}, std::move(moved)};
    }
    Shape pair_shape(const std::string& name) const {
        const auto axes = reader_.axes_of(name);
        const auto& [batch, heads, tq, tk] = shape_;
        const auto axis = [&](std::size_t from_last) {
            return axes.size() > from_last ? axes[axes.size() - 1 - from_last] : Index{1};
        };
        const Shape shape{axis(3), axis(2), axis(1), axis(0)};
        const auto fits = [](Index extent, Index whole) { return extent == 1 || extent == whole; };
        if (axes.size() < 2 || axes.size() > 4 || !fits(shape.b, batch) || !fits(shape.h, heads) ||
            !fits(shape.t, tq) || !fits(shape.d, tk))
            refuse(fmt::format(
                "{} is {}; expected what broadcasts to [{}, {}, {}, {}], by positions of "
                "each sequence",
                name, to_string(axes), batch, heads, tq, tk));
        return shape;
    }
    static Index pair_entry(const Shape& shape, Index b, Index h, Index r, Index p) {
        const auto in = [](Index n, Index extent) { return extent == 1 ? 0 : n; };
        return ((in(b, shape.b) * shape.h + in(h, shape.h)) * shape.t + in(r, shape.t)) * shape.d +
               in(p, shape.d);
    }

    // ---- a padded call with scales or splits

    void take_plain() {
        const Axes queries{Layout::heads,
                           view::unpacked_axes(options_.layout, HeadAxes::heads_first),
                           options_.heads.value_or(1)};
        Axes keys = queries;
        keys.heads = options_.kv_heads.value_or(queries.heads);
        const auto placed = [&](const Codes& codes, const Axes& axes) {
            const auto placement = place(codes.axes, axes);
            if (!placement)
                refuse(fmt::format("{} is {}; expected {}", codes.name, to_string(codes.axes),
                                   expected_axes(axes)));
            return *placement;
        };
        const Placement q = placed(q_, queries), k = placed(k_, keys), v = placed(v_, keys);
        const auto axes_of = [](const Placement& at) {
            return RowAxes{at.shape.h, at.shape.d, at.shape.t};
        };
        query_axes_ = axes_of(q), key_axes_ = axes_of(k), value_axes_ = axes_of(v);
        scale_operands(q.shape.b);
        shape_ = {q.shape.b, q.shape.h, q.shape.t, k.shape.t};
        serving_.queries.assign(at(q.shape.b), q.shape.t);
        serving_.keys.assign(at(q.shape.b), k.shape.t);
        serving_.heads_first = queries.order == HeadAxes::heads_first;
        const auto replace = [&](const Codes& codes, const Placement& place, TensorD& exact,
                                 TensorD& scales) {
            if (!codes.scale) {
                removed_.erase(codes.name);
                return;
            }
            const auto entry = [&](Index b, Index h, Index t, Index c) {
                return place.offset + b * place.strides[0] + h * place.strides[1] +
                       t * place.strides[2] + c * place.strides[3];
            };
            exact = TensorD(place.shape);
            Shape of = place.shape;
            if (!codes.blocks) of.d = 1;
            scales = TensorD(of);
            for_each_entry(place.shape, [&](Index b, Index h, Index t, Index c) {
                exact(b, h, t, c) = codes.exact(b, h, entry(b, h, t, c));
                if (c < of.d) scales(b, h, t, c) = codes.scale(b, h, entry(b, h, t, c));
            });
            NpyArray array{"float32", codes.axes, std::vector<float>(codes.values.size())};
            auto& values = std::get<std::vector<float>>(array.values);
            for_each_entry(place.shape, [&](Index b, Index h, Index t, Index c) {
                values[at(entry(b, h, t, c))] = static_cast<float>(exact(b, h, t, c));
            });
            added_[codes.name] = std::move(array);
            drop_if_rounded(exact);
            note(fmt::format("{} is multiplied by its scales", codes.name));
        };
        replace(q_, q, serving_.q, serving_.q_scale);
        replace(k_, k, serving_.k, serving_.k_scale);
        replace(v_, v, serving_.v, serving_.v_scale);
    }

    void read_format() {
        if (!is_code(q_.dtype) || !is_code(k_.dtype) || !is_code(v_.dtype)) return;
        serving_.weights_roundoff = roundoff_of(v_.dtype);
        note(fmt::format("{}, {} and {} are {}: weights may be rounded to it before they meet V",
                         q_.name, k_.name, v_.name, v_.dtype));
    }

    // ---- results

    /// The preferred order where several orders of the axes fit: FlashAttention's, whose logsumexp is [B,H,Tq] or [H,N], and whose splits
    /// are [S,B,H,Tq]; packed splits are in the order of the output.
    enum class RowOrder : std::uint8_t { output, logsumexp, split };
    /// Which numbers row t of head h of sequence b has: entry of a number's first column, or −1.
    using RowEntry = std::function<Index(Index b, Index h, Index t)>;

    Index total_queries() const {
        Index total = 0;
        for (const Index n : serving_.queries) total += n;
        return total;
    }
    Index first_query(Index b) const {
        Index first = 0;
        for (Index n = 0; n < b; ++n) first += serving_.queries[at(n)];
        return first;
    }
    /// Of [N,H,w], [B,T,H,w], [B,H,T,w], [H,N,w] with w columns a row; nullopt: other axes.
    std::optional<RowEntry> row_entry(const std::vector<Index>& axes, Index heads, Index columns,
                                      RowOrder order) const {
        const Index batch = std::ssize(serving_.queries), tq = shape_[2], total = total_queries();
        const auto padded_row = [this, tq](Index b, Index t) {
            return t - serving_.padding_of_queries(b, tq);
        };
        const auto is = [&](std::initializer_list<Index> wanted) {
            return axes.size() == wanted.size() &&
                   std::equal(axes.begin(), axes.end(), wanted.begin());
        };
        const bool whole = std::ranges::all_of(serving_.queries, [&](Index n) { return n == tq; });
        const auto by_token = [=, this](Index b, Index h, Index t) {
            const Index r = padded_row(b, t);
            return r < 0 ? Index{-1} : ((first_query(b) + r) * heads + h) * columns;
        };
        const auto by_head = [=](Index b, Index h, Index t) {
            return ((b * heads + h) * tq + t) * columns;
        };
        const auto all_heads_first = [=, this](Index b, Index h, Index t) {
            const Index r = padded_row(b, t);
            return r < 0 ? Index{-1} : (h * total + first_query(b) + r) * columns;
        };
        const bool heads_first = order != RowOrder::output || serving_.heads_first;
        if (axes.size() == 2) {
            const bool by_head_axes = order != RowOrder::output && is({heads, total});
            if (order == RowOrder::logsumexp && by_head_axes) return all_heads_first;
            if (is({total, heads})) return by_token;
            return by_head_axes ? std::optional<RowEntry>(all_heads_first) : std::nullopt;
        }
        if (axes.size() != 3) return std::nullopt;
        if (whole && heads_first && is({batch, heads, tq})) return by_head;
        if (whole && is({batch, tq, heads})) return by_token;
        if (whole && is({batch, heads, tq})) return by_head;
        return std::nullopt;
    }

    /// Results of the rows of queries at `entry`, `fill` in the rows that are padding.
    Tensor placed_rows(const RowEntry& entry, std::span<const float> values, Index heads,
                       Index columns, float fill) const {
        Tensor made({std::ssize(serving_.queries), heads, shape_[2], columns}, fill);
        for_each_row(made.shape(), [&](Index b, Index h, Index t) {
            const Index first = entry(b, h, t);
            for (Index c = 0; first >= 0 && c < columns; ++c)
                made(b, h, t, c) = values[at(first + c)];
        });
        return made;
    }
    void add_result(const std::string& name, const std::string& from, const Tensor& tensor) {
        const Shape shape = tensor.shape();
        std::vector<Index> axes{shape.b, shape.h, shape.t};
        if (name == "context") axes.push_back(shape.d);
        added_[name] = {reader_.dtype_of(from), axes,
                        std::vector<float>(tensor.values().begin(), tensor.values().end())};
        removed_.insert(from);
    }

    void read_results(Index heads) {
        if (const std::string name = found_name(reader_, kOutputs); !name.empty()) {
            std::vector<Index> axes = reader_.axes_of(name);
            const Index columns = axes.back();
            axes.pop_back();
            const auto entry = row_entry(axes, heads, columns, RowOrder::output);
            if (entry)
                add_result("context", name,
                           placed_rows(*entry, reader_.numbers(name), heads, columns, 0.0F));
            else if (call_.unpacked)
                refuse(fmt::format("{} is {}; expected the axes of {} {} with the width of V", name,
                                   to_string(reader_.axes_of(name)), query_.empty() ? "q" : query_,
                                   q_.axes.empty() ? "" : to_string(q_.axes)));
        }
        if (const std::string name = found_name(reader_, kLogsumexps); !name.empty()) {
            const auto entry = row_entry(reader_.axes_of(name), heads, 1, RowOrder::logsumexp);
            if (entry) {
                Tensor made = placed_rows(*entry, reader_.numbers(name), heads, 1,
                                          -std::numeric_limits<float>::infinity());
                fill_sinks(made);
                add_result("logsumexp", name, made);
            } else if (call_.unpacked) {
                refuse(fmt::format("{} is {}; expected [H, N], [N, H] or [B, H, Tq]", name,
                                   to_string(reader_.axes_of(name))));
            }
        }
        read_parts(heads);
    }
    /// Rows without a key have the sink alone.
    void fill_sinks(Tensor& logsumexp) {
        if (!reader_.has("sinks")) return;
        const std::vector<float> sinks = reader_.numbers("sinks");
        if (std::ssize(sinks) != logsumexp.shape().h) return;
        for_each_row(logsumexp.shape(), [&](Index b, Index h, Index t) {
            if (t < serving_.padding_of_queries(b, shape_[2])) logsumexp(b, h, t, 0) = sinks[at(h)];
        });
    }

    void read_parts(Index heads) {
        const std::string outputs = taken(kPartials), lse = taken(kPartialLogsumexps);
        const std::string starts = taken(kSplitStarts);
        if (outputs.empty() && lse.empty()) return;
        if (outputs.empty() || lse.empty())
            refuse(fmt::format("{} is given without {}; give both", outputs + lse,
                               outputs.empty() ? "o_partial" : "lse_partial"));
        std::vector<Index> axes = reader_.axes_of(outputs), of_lse = reader_.axes_of(lse);
        const Index splits = axes.front(), columns = axes.back();
        axes.erase(axes.begin());
        axes.pop_back();
        const bool same = !of_lse.empty() && of_lse.front() == splits;
        if (same) of_lse.erase(of_lse.begin());
        const auto entry = same ? row_entry(axes, heads, columns, RowOrder::split) : std::nullopt;
        const auto lse_entry = same ? row_entry(of_lse, heads, 1, RowOrder::split) : std::nullopt;
        if (!entry || !lse_entry)
            refuse(fmt::format(
                "{} is {} and {} {}; expected [S, B, H, Tq, d_v] and [S, B, H, Tq] of S "
                "splits, or the axes of the output behind S",
                outputs, to_string(reader_.axes_of(outputs)), lse,
                to_string(reader_.axes_of(lse))));
        const std::vector<float> values = reader_.numbers(outputs), logs = reader_.numbers(lse);
        const Index batch = std::ssize(serving_.queries), tq = shape_[2];
        verify::SplitResults parts{Tensor({splits * batch, heads, tq, columns}),
                                   Tensor({splits * batch, heads, tq, 1})};
        for (Index s = 0; s < splits; ++s) {
            const auto part = [&](const std::vector<float>& all) {
                const std::size_t each = all.size() / at(splits);
                return std::span(all).subspan(at(s) * each, each);
            };
            const Tensor o = placed_rows(*entry, part(values), heads, columns, 0.0F);
            const Tensor l = placed_rows(*lse_entry, part(logs), heads, 1,
                                         -std::numeric_limits<float>::infinity());
            std::ranges::copy(o.values(), parts.context.data() + s * o.count());
            std::ranges::copy(l.values(), parts.logsumexp.data() + s * l.count());
        }
        call_.parts_dtype = reader_.dtype_of(outputs);
        call_.parts = std::move(parts);
        if (!starts.empty()) read_split_starts(starts, splits);
    }

    void read_split_starts(const std::string& name, Index splits) {
        const auto axes = reader_.axes_of(name);
        const auto starts = integers(name);
        const Index batch = std::ssize(serving_.queries);
        const bool each = axes == std::vector<Index>{batch, splits + 1};
        if (!each && axes != std::vector<Index>{splits + 1})
            refuse(fmt::format(
                "{} is {}; expected [{}] or [{}, {}], where each split begins and the last "
                "ends",
                name, to_string(axes), splits + 1, batch, splits + 1));
        for (Index b = 0; b < batch; ++b) {
            std::vector<Index>& of = serving_.splits.emplace_back();
            for (Index s = 0; s <= splits; ++s) {
                const Index start = starts[at((each ? b * (splits + 1) : 0) + s)];
                if (start < 0 ||
                    (s > 0 && start < starts[at((each ? b * (splits + 1) : 0) + s - 1)]))
                    refuse(fmt::format(
                        "{}[{}] is {}; expected numbers from 0 on that do not decrease", name,
                        each ? fmt::format("{}, {}", b, s) : std::to_string(s), start));
                of.push_back(serving_.keys.empty() ? start : std::min(start, serving_.keys[at(b)]));
            }
        }
    }

    /// [S,B,H,Tq,d_v]; the queries are known.
    bool has_whole_splits() {
        if (partial_.empty()) return false;
        const auto axes = reader_.axes_of(partial_);
        if (axes.size() != 5) return false;
        serving_.queries.assign(at(axes[1]), axes[3]);
        serving_.q_heads = axes[2];
        serving_.heads_first = true;
        return true;
    }

    /// A file of results whose queries another file has.
    ServingCall results_alone() {
        if (!query_.empty() || (other_ == nullptr && !has_whole_splits())) return {};
        if (other_ != nullptr) {
            serving_.queries = other_->queries;
            serving_.keys = other_->keys;
            serving_.packed_queries = other_->packed_queries;
            serving_.heads_first = other_->heads_first;
            serving_.q_heads = other_->q_heads;
        }
        shape_ = {std::ssize(serving_.queries), 1,
                  std::max<Index>(std::ranges::max(serving_.queries), 1), 1};
        removed_.clear();
        read_results(serving_.q_heads);
        if (!added_.empty()) reader_.replace(std::move(added_), removed_);
        call_.serving = std::make_shared<const verify::Serving>(std::move(serving_));
        return std::move(call_);
    }

    ArrayReader& reader_;
    const CallOptions& options_;
    const verify::Serving* other_;
    std::string query_, key_, value_, query_starts_, key_starts_, partial_, lengths_;
    std::vector<std::string> scales_;
    bool paged_ = false;
    Codes q_, k_, v_;
    RowAxes query_axes_, key_axes_, value_axes_;
    std::vector<Index> query_first_;  // row of each sequence's first query
    std::array<Index, 4> shape_{};    // B, H, Tq, Tk
    verify::Serving serving_;
    std::map<std::string, NpyArray> added_;
    std::set<std::string> removed_;
    ServingCall call_;
};

}  // namespace

bool names_serving(const ArrayReader& reader) {
    const bool paged = !found_name(reader, kKeyCaches).empty();
    return paged || (reader.has("cu_seqlens_q") && reader.has("cu_seqlens_k"));
}

OptionValues for_serving(const ArrayReader& reader, OptionValues options) {
    const auto causal = options.find("causal");
    if (causal != options.end() && causal->second.text == "true" && names_serving(reader))
        causal->second.text = "bottom-right";
    return options;
}

ServingCall read_serving(ArrayReader& reader, const CallOptions& options,
                         const verify::Serving* other) {
    return ServingReader(reader, options, other).read();
}

}  // namespace attn::files
