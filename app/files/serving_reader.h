#pragma once

// b sequence, n its queries, m its keys, h head, g key/value head, p position of a key, P rows of a page, S splits.

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/files/serving.h"

namespace attn::files {

using Names = std::span<const std::string_view>;
inline constexpr std::string_view kQueries[] = {"q", "Q", "query"};
inline constexpr std::string_view kKeys[] = {"k", "K", "key"};
inline constexpr std::string_view kValues[] = {"v", "V", "value"};
inline constexpr std::string_view kKeyCaches[] = {"k_cache", "key_cache"};
inline constexpr std::string_view kValueCaches[] = {"v_cache", "value_cache"};
inline constexpr std::string_view kJoinedCaches[] = {"kv_cache"};
inline constexpr std::string_view kTables[] = {"block_tables", "block_table", "page_table"};
inline constexpr std::string_view kLengths[] = {"seq_lens", "context_lens", "cache_seqlens",
                                                "seqused_k"};
inline constexpr std::string_view kQueryStarts[] = {"cu_seqlens_q"};
inline constexpr std::string_view kKeyStarts[] = {"cu_seqlens_k"};
inline constexpr std::string_view kOutputs[] = {"context", "output", "out", "o"};
inline constexpr std::string_view kLogsumexps[] = {"logsumexp", "softmax_lse", "lse"};
inline constexpr std::string_view kPartials[] = {"o_partial", "out_partial", "out_accum"};
inline constexpr std::string_view kPartialLogsumexps[] = {"lse_partial", "softmax_lse_accum",
                                                          "lse_accum"};
inline constexpr std::string_view kSplitStarts[] = {"split_starts"};
inline constexpr std::string_view kMasks[] = {"mask", "attn_mask"};
inline constexpr std::string_view kBiases[] = {"bias", "attn_bias"};
inline constexpr std::string_view kQueryScales[] = {"q_scale", "q_descale"};
inline constexpr std::string_view kKeyScales[] = {"k_scale", "k_descale"};
inline constexpr std::string_view kValueScales[] = {"v_scale", "v_descale"};
inline constexpr std::string_view kSinks[] = {"sinks"};

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

/// Reads one layer of a serving call: serving.cpp has the way from the file to the padded call, serving_pages.cpp which row is which
/// key or query, serving_codes.cpp codes and scales, serving_results.cpp results and splits.
class ServingReader {
  public:
    /// Of the arrays whose names begin with `prefix`, "l3." or nothing, and of those that layers share.
    ServingReader(ArrayReader& reader, const CallOptions& options, const verify::Serving* other,
                  std::string prefix)
        : reader_(reader), options_(options), other_(other), prefix_(std::move(prefix)) {}

    ServingCall read();
    /// Arrays that replace those of the file, and the names of the replaced ones.
    std::map<std::string, NpyArray>& added() { return added_; }
    const std::set<std::string>& removed() const { return removed_; }

  private:
    [[noreturn]] void refuse(std::string problem) const;
    bool packed() const { return !query_starts_.empty() && (!key_starts_.empty() || paged_); }
    /// The first of the names that the layer has, else the first that the file has for all layers; "": none.
    std::string find_name(Names names) const;
    std::string taken(Names names);
    void note(std::string text);

    // ---- the arrays of the file

    void find();

    /// Arrays of all sequences one after another, [N,H,d], which equal lists of documents over [H,N,d] are not.
    bool is_packed_call() const;

    [[noreturn]] void missing_operands() const;

    std::vector<Index> integers(const std::string& name) const;

    // ---- stored queries, keys and values

    void read_operands();
    Codes codes(const std::string& name);
    /// Keys and values of vLLM's one array, [2, pages, …] or [pages, 2, …].
    void split_combined();

    // ---- pages and packed sequences

    void gather_operands();

    static std::size_t at(Index n) { return static_cast<std::size_t>(n); }

    /// [pages, P, Hkv, d] or [pages, Hkv, P, d]; [N, Hkv, d] of packed sequences.
    void find_key_axes();

    /// Query heads that q can have.
    std::vector<Index> query_heads() const;
    bool can_share(Index kv_heads) const;
    void check_key_heads(Index kv_heads) const;

    void choose_page_axes();
    std::string lengths_name() const;
    /// Whether pages of this many rows hold the longest sequence.
    bool holds(Index page) const;

    // ---- keys of each sequence

    void read_key_rows();

    void read_pages();

    std::vector<Index> lengths_of(const std::string& name, Index batch) const;
    void check_length(std::size_t b) const;

    /// First row of each sequence, and the end of the last.
    std::vector<Index> starts_of(const std::string& name, Index rows, const std::string& array);

    void read_packed_keys();

    // ---- queries of each sequence

    void read_queries();
    void fill_queries(Index batch, Index count);
    void read_padded_queries(Index batch);

    // ---- scales

    void scale_operands(Index batch);

    /// Bytes that are codes of scales: E8M0 of MXFP8, 2^(e − 127), E4M3 of NVFP4 with blocks of 16.
    std::vector<double> scale_numbers(const std::string& name, Index block);

    void set_scale(Codes& codes, Names names, const RowAxes& axes, Index batch);

    // ---- the padded call

    /// [B,H,T,d], and its scales. row(b, t) is −1 in padding.
    TensorD gathered(const Codes& codes, const RowAxes& axes, Index rows,
                     const std::function<Index(Index b, Index t)>& row, TensorD& scales) const;

    /// All rows, with the scales of the sequence that has them.
    void keep_stored_rows();

    void add(const std::string& name, const TensorD& numbers);
    /// Numbers that float32 holds exactly are not stored twice.
    static void drop_if_rounded(TensorD& exact);

    void describe(Index tq, Index tk);
    bool is_padded(Index tq, Index tk) const {
        return std::ranges::any_of(serving_.queries, [&](Index n) { return n != tq; }) ||
               std::ranges::any_of(serving_.keys, [&](Index m) { return m != tk; });
    }

    /// Rules that count from the first token of a sequence, which the padded call has elsewhere.
    void check_options() const;

    /// Of operation `gated`: a number for each of the output, or one for each head.
    void read_gate();

    /// Mask and bias of positions, moved with their sequences, and the padding.
    void read_pairs();
    Shape pair_shape(const std::string& name) const;
    static Index pair_entry(const Shape& shape, Index b, Index h, Index r, Index p);

    // ---- a padded call with scales or splits

    void take_plain();

    void read_format();

    // ---- results

    /// The preferred order where several orders of the axes fit: FlashAttention's, whose logsumexp is [B,H,Tq] or [H,N], and whose splits
    /// are [S,B,H,Tq]; packed splits are in the order of the output.
    enum class RowOrder : std::uint8_t { output, logsumexp, split };
    /// Which numbers row t of head h of sequence b has: entry of a number's first column, or −1.
    using RowEntry = std::function<Index(Index b, Index h, Index t)>;

    Index total_queries() const;
    Index first_query(Index b) const;
    /// Of [N,H,w], [B,T,H,w], [B,H,T,w], [H,N,w] with w columns a row; nullopt: other axes.
    std::optional<RowEntry> row_entry(const std::vector<Index>& axes, Index heads, Index columns,
                                      RowOrder order) const;

    /// Results of the rows of queries at `entry`, `fill` in the rows that are padding.
    Tensor placed_rows(const RowEntry& entry, std::span<const float> values, Index heads,
                       Index columns, float fill) const;
    void add_result(const std::string& name, const std::string& from, const Tensor& tensor);

    void read_results(Index heads);
    /// Rows without a key have the sink alone.
    void fill_sinks(Tensor& logsumexp);

    void read_parts(Index heads);

    void read_split_starts(const std::string& name, Index splits);

    /// [S,B,H,Tq,d_v]; the queries are known.
    bool has_whole_splits();

    /// A file of results whose queries another file has.
    ServingCall results_alone();

    ArrayReader& reader_;
    const CallOptions& options_;
    const verify::Serving* other_;
    std::string prefix_;
    std::string combined_;  // the array of keys and values in one
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

}  // namespace attn::files
