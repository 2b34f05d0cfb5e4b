#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace attn {

struct Dimensions;

// Sparse attention: query i reads a set S_i of the keys that its mask allows, and softmax is over S_i alone.
// A exact weights of one head [Tq,Tk], O = A V; i query, j key, p_i = i + offset the position of query i.

/// Rules that make the sets of one head from its scores; key_sets.cpp has each with its row.
enum class KeyRule : std::uint8_t {
    top_k,
    sink_window,
    heavy_hitters,
    pooled_blocks,
    nsa,
    indexer,
    strided
};
inline constexpr std::size_t kKeyRuleCount = 7;

/// How many keys a query may read, and the sizes that some rules use.
struct KeyBudget {
    Index keys = 8;    // k ≥ 1
    Index block = 4;   // pooled_blocks, nsa: keys of a block; strided: the stride; ≥ 1
    Index sinks = 4;   // sink_window: first keys, at most k − 1 of them; ≥ 0
    Index recent = 4;  // nsa, strided: latest keys, at most k of them; ≥ 0
};

/// One head. Rows are queries, columns keys.
struct HeadScores {
    MatrixView<const double> scaled;        // q·k · scale [Tq,Tk]
    MatrixView<const double> logits;        // softmax's input before the mask: scaled, or biased
    std::span<const std::uint8_t> allowed;  // [Tq,Tk] row-major, 1: may attend
    Index offset = 0;                       // position of query 0
    std::optional<double> sink = {};        // one more logit in each row's denominator
    MatrixView<const double> indexer = {};  // scores of an indexer [Tq,Tk]; no rows: absent
};

/// S_i of each query, row-major [Tq,Tk]: 1 where query i reads key j. A subset of `allowed`.
using KeySet = std::vector<std::uint8_t>;

struct KeyRuleInfo {
    KeyRule rule;
    std::string_view key;      // by which it is chosen
    std::string_view title;    // "sink + window"
    std::string_view name;     // in a sentence; {block} is KeyBudget::block
    std::string_view formula;  // S_i as plain text
    std::string_view source;
    /// Of a budget in range.
    Result<KeySet> (*select)(const HeadScores& head, const KeyBudget& budget);
    bool has_window = false;     // reads KeyBudget::recent
    bool needs_indexer = false;  // HeadScores::indexer
};
/// THE table of rules, in the order of the enum.
std::span<const KeyRuleInfo, kKeyRuleCount> key_rule_table();
const KeyRuleInfo& info(KeyRule rule);
std::optional<KeyRule> find_key_rule(std::string_view key);

/// The sets of a rule.
/// Ties: the lower key, or block. NaN counts as −∞. pooled_blocks and nsa read the block of p_i even where block > k.
/// Errors: a budget out of range, and the conditions of a rule.
Result<KeySet> select_keys(KeyRule rule, const KeyBudget& budget, const HeadScores& head);

/// The compressed branch of one query: each block of `block` keys is one key, the mean of its keys, whose logit is the mean of theirs.
struct CompressedRow {
    std::vector<double>
        logits;  // of each block, the shorter last one too; −∞ where the query may not attend to the whole block
    std::vector<double> weights;  // their softmax; 0 where no block has a logit above −∞
};
/// `scaled` and `allowed` of the query's row, of any length. The shorter last block has no compressed key.
CompressedRow compressed_row(std::span<const double> scaled, std::span<const std::uint8_t> allowed,
                             Index block);
/// The blocks whose keys the query reads one by one: its own, and the `count` − 1 other blocks that have a compressed key with the
/// largest weight; ascending. `position` of the query; `weights` as `row` has them, or summed over heads.
std::vector<Index> selected_blocks(const CompressedRow& row, std::span<const double> weights,
                                   Index position, Index block, Index count);

/// One row of exact attention against attention over its set.
struct SetRow {
    Index allowed = 0;          // keys that the mask allows
    Index read = 0;             // keys of the set among them
    double missed = 0.0;        // Σ A_ij over allowed j outside S_i
    double output_error = 0.0;  // ‖O_i − O_i'‖ / ‖O_i‖; NaN without V, or where O_i is 0
};
/// The same of one head. Rows without an allowed key, and rows whose allowed logits hold NaN
/// or +∞ or are all −∞, are not counted.
struct SetError {
    std::vector<SetRow> rows;   // of each query; missed is NaN where the row is not counted
    Index counted = 0;          // rows
    Index allowed = 0;          // pairs of the counted rows
    Index read = 0;             // pairs that their sets hold
    double missed = 0.0;        // mean of the counted rows; NaN without any
    Index worst_row = 0;        // the first row with the largest missed weight
    double worst = 0.0;         // that weight
    double output_error = 0.0;  // ‖O − O'‖_F / ‖O‖_F over the counted rows; NaN as above
};
/// A = softmax(logits) over the allowed keys, A' over those of `set`; O = A V, O' = A' V; all in double. An empty set gives O_i' = 0 and
/// misses all weight of keys. `set` is row-major [Tq,Tk]; entries that the mask forbids count for nothing. `v` [Tk,d_v]; without rows
/// the output errors are NaN.
SetError measure_set(const HeadScores& head, std::span<const std::uint8_t> set,
                     MatrixView<const double> v);

/// Keys that each query reads by index, as an indexer or a router writes them.
struct SelectedKeys {
    Shape shape;              // [1 or B, 1, Hkv or H, Tq, k]
    std::vector<Index> keys;  // row-major; −1: an unused slot
};
/// A key that one query names twice.
struct RepeatedKey {
    Index count = 0;                                // such entries in all
    Index batch = 0, head = 0, query = 0, key = 0;  // of the first
};
/// The mask of selected keys, [1 or B, 1 or H, Tq, Tk]: true where a query names the key. Sets of Hkv heads are those of their groups.
struct SelectedMask {
    Mask mask;
    RepeatedKey repeated;
};
/// Errors: a shape that does not fit, and the first entry that names no key, by its indices.
Result<SelectedMask> mask_of_selected(const SelectedKeys& selected, const Dimensions& size);

/// The AND of two masks that broadcast to one shape; each axis is 1 or that of the other.
Mask both_allow(const Mask& a, const Mask& b);

}  // namespace attn
