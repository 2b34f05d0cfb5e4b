#include "core/key_sets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "core/dimensions.h"
#include "core/entries.h"
#include "core/masks.h"
#include "core/softmax.h"

namespace attn {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

std::size_t at(const HeadScores& head, Index i, Index j) {
    return static_cast<std::size_t>(i * head.logits.columns + j);
}

/// The allowed keys of row i, ascending.
std::vector<Index> allowed_keys(const HeadScores& head, Index i) {
    std::vector<Index> keys;
    for (Index j = 0; j < head.logits.columns; ++j)
        if (head.allowed[at(head, i, j)] != 0) keys.push_back(j);
    return keys;
}

/// Moves the `count` items with the largest value to the front; of equal values the lower item.
template <class ValueOf>
void keep_largest(std::vector<Index>& items, Index count, const ValueOf& value_of) {
    const auto order = [&](Index a, Index b) {
        const double x = value_of(a), y = value_of(b);
        const double of_a = std::isnan(x) ? kNever : x, of_b = std::isnan(y) ? kNever : y;
        return of_a != of_b ? of_a > of_b : a < b;
    };
    if (count >= std::ssize(items)) return;
    std::ranges::nth_element(items, items.begin() + count, order);
    items.resize(static_cast<std::size_t>(count));
}

void add_keys(const HeadScores& head, Index i, std::span<const Index> keys, KeySet& set) {
    for (const Index j : keys) set[at(head, i, j)] = 1;
}

KeySet largest_keys(const HeadScores& head, Index count, MatrixView<const double> values) {
    KeySet set(head.allowed.size());
    for (Index i = 0; i < values.rows; ++i) {
        end_if_stopped();
        std::vector<Index> keys = allowed_keys(head, i);
        keep_largest(keys, count, [&](Index j) { return values(i, j); });
        add_keys(head, i, keys, set);
    }
    return set;
}

// ---- top-k

constexpr KeyRuleInfo kTopK{KeyRule::top_k,
                            "top-k",
                            "top-k",
                            "top-k keys",
                            "the k keys with the largest logits",
                            "",
                            [](const HeadScores& head, const KeyBudget& budget) -> Result<KeySet> {
                                return largest_keys(head, budget.keys, head.logits);
                            }};

constexpr KeyRuleInfo kIndexer{
    KeyRule::indexer,
    "indexer",
    "indexer",
    "indexer",
    "the k keys with the largest indexer score",
    "DSA: DeepSeek-V3.2-Exp 2025",
    [](const HeadScores& head, const KeyBudget& budget) -> Result<KeySet> {
        if (head.indexer.rows > 0) return largest_keys(head, budget.keys, head.indexer);
        return bad_input("the rule indexer needs indexer scores, and there are none");
    },
    false,
    true};

// ---- sink + window

/// Keys j < s and keys p_i − (k − s) < j ≤ p_i, s = min(sinks, k − 1).
Result<KeySet> sink_window(const HeadScores& head, const KeyBudget& budget) {
    const Index sinks = std::min(budget.sinks, budget.keys - 1);
    KeySet set(head.allowed.size());
    for (Index i = 0; i < head.logits.rows; ++i)
        for (const Index j : allowed_keys(head, i)) {
            const Index distance = i + head.offset - j;
            if (j < sinks || (distance >= 0 && distance < budget.keys - sinks))
                set[at(head, i, j)] = 1;
        }
    return set;
}

constexpr KeyRuleInfo kSinkWindow{
    KeyRule::sink_window,
    "sink-window",
    "sink + window",
    "first key + window",
    "the first s keys and the last k - s up to the query, s = min(sinks, k - 1)",
    "StreamingLLM: Xiao et al. 2023, arXiv:2309.17453",
    sink_window};

// ---- strided + window

/// The r = min(recent, k) latest keys p_i − r < j ≤ p_i, and of the keys j ≤ p_i with p_i − j divisible by block the k − r nearest.
/// Child et al. 2019, arXiv:1904.10509 (Sparse Transformers), §4.3: the strided pattern, both of its sets in one head.
Result<KeySet> strided(const HeadScores& head, const KeyBudget& budget) {
    const Index recent = std::min(budget.recent, budget.keys);
    KeySet set(head.allowed.size());
    for (Index i = 0; i < head.logits.rows; ++i) {
        end_if_stopped();
        const Index position = i + head.offset;
        Index left = budget.keys - recent;
        for (Index j = std::min(position, head.logits.columns - 1); j >= 0; --j) {
            if (head.allowed[at(head, i, j)] == 0) continue;
            const bool near = position - j < recent;
            const bool on_stride = !near && (position - j) % budget.block == 0 && left > 0;
            if (on_stride) --left;
            if (near || on_stride) set[at(head, i, j)] = 1;
        }
    }
    return set;
}

constexpr KeyRuleInfo kStrided{
    KeyRule::strided,
    "strided",
    "strided + window",
    "stride {block} + window",
    "the latest r = min(recent, k) keys and the k - r nearest others at a multiple of block before "
    "the query",
    "Sparse Transformers: Child et al. 2019, arXiv:1904.10509",
    strided,
    true};

// ---- heavy hitters

/// e_j = exp(logit − max) of some keys of row i, over their sum and the sink's; 0 of each where that is 0 / 0.
std::vector<double> softmax_over(const HeadScores& head, Index i, std::span<const Index> keys) {
    double most = head.sink.value_or(kNever);
    for (const Index j : keys) most = std::max(most, head.logits(i, j));
    std::vector<double> weights;
    double sum = head.sink ? std::exp(*head.sink - most) : 0.0;
    for (const Index j : keys) {
        weights.push_back(most == kNever ? 0.0 : std::exp(head.logits(i, j) - most));
        sum += weights.back();
    }
    for (double& weight : weights) weight = sum == 0.0 ? 0.0 : weight / sum;
    return weights;
}

/// C_i = S_{i−1} and the keys that no earlier query was allowed; F_j adds the weight of j in softmax over C_i; S_i are the
/// ⌊k/2⌋ latest keys of C_i and the rest with the largest F. A key that is left out never returns. Zhang et al. 2023,
/// arXiv:2306.14048 (H2O), Algorithm 1; half of the budget for the latest, as their code.
KeySet heavy_hitters(const HeadScores& head, Index count) {
    const auto keys = static_cast<std::size_t>(head.logits.columns);
    KeySet set(head.allowed.size());
    std::vector<double> total(keys, 0.0);
    std::vector<std::uint8_t> seen(keys, 0);
    std::vector<Index> cache;  // S_{i−1}, ascending
    for (Index i = 0; i < head.logits.rows; ++i) {
        end_if_stopped();
        std::vector<Index> read;
        for (const Index j : allowed_keys(head, i)) {
            const auto key = static_cast<std::size_t>(j);
            if (seen[key] == 0 || std::ranges::binary_search(cache, j)) read.push_back(j);
            seen[key] = 1;
        }
        const std::vector<double> weights = softmax_over(head, i, read);
        for (std::size_t n = 0; n < read.size(); ++n)
            if (std::isfinite(weights[n])) total[static_cast<std::size_t>(read[n])] += weights[n];
        const Index latest = std::min<Index>(count / 2, std::ssize(read));
        std::vector<Index> chosen(read.end() - latest, read.end());
        read.resize(read.size() - static_cast<std::size_t>(latest));
        keep_largest(read, count - latest,
                     [&](Index j) { return total[static_cast<std::size_t>(j)]; });
        chosen.insert(chosen.end(), read.begin(), read.end());
        std::ranges::sort(chosen);
        add_keys(head, i, chosen, set);
        cache = std::move(chosen);
    }
    return set;
}

/// Whether no query may attend to a key after its position.
bool looks_back(const HeadScores& head) {
    for (Index i = 0; i < head.logits.rows; ++i)
        for (Index j = std::max<Index>(i + head.offset + 1, 0); j < head.logits.columns; ++j)
            if (head.allowed[at(head, i, j)] != 0) return false;
    return true;
}

constexpr KeyRuleInfo kHeavyHitters{
    KeyRule::heavy_hitters,
    "heavy-hitters",
    "heavy hitters",
    "heavy hitters",
    "of the cached keys: the k/2 latest, and those with the largest weight summed over "
    "the queries so far",
    "H2O: Zhang et al. 2023, arXiv:2306.14048",
    [](const HeadScores& head, const KeyBudget& budget) -> Result<KeySet> {
        if (looks_back(head)) return heavy_hitters(head, budget.keys);
        return bad_input(
            "heavy hitters need a causal mask: here a query may attend to keys after it");
    }};

// ---- blocks

/// Mean of scaled over the allowed keys of each block; NaN where it has none.
std::vector<double> block_means(const HeadScores& head, Index i, Index block) {
    const Index count = (head.scaled.columns + block - 1) / block;
    std::vector<double> sums(static_cast<std::size_t>(count), 0.0);
    std::vector<double> keys(sums.size(), 0.0);
    for (const Index j : allowed_keys(head, i)) {
        sums[static_cast<std::size_t>(j / block)] += head.scaled(i, j);
        keys[static_cast<std::size_t>(j / block)] += 1.0;
    }
    for (std::size_t n = 0; n < sums.size(); ++n)
        sums[n] = keys[n] == 0.0 ? kUndefined : sums[n] / keys[n];
    return sums;
}

/// The block of p_i and the ⌊k / block⌋ − 1 other blocks with the largest q_i · (mean of the block's keys), which is the mean
/// of scaled over the block. Lu et al. 2025, arXiv:2502.13189 (MoBA).
Result<KeySet> pooled_blocks(const HeadScores& head, const KeyBudget& budget) {
    KeySet set(head.allowed.size());
    for (Index i = 0; i < head.scaled.rows; ++i) {
        end_if_stopped();
        const std::vector<double> means = block_means(head, i, budget.block);
        const Index position = i + head.offset;
        const Index own = position < 0 ? -1 : position / budget.block;
        std::vector<Index> blocks;
        for (Index n = 0; n < std::ssize(means); ++n)
            if (n != own) blocks.push_back(n);
        keep_largest(blocks, std::max<Index>(budget.keys / budget.block - 1, 0),
                     [&](Index n) { return means[static_cast<std::size_t>(n)]; });
        blocks.push_back(own);
        for (const Index j : allowed_keys(head, i))
            if (std::ranges::count(blocks, j / budget.block) > 0) set[at(head, i, j)] = 1;
    }
    return set;
}

constexpr KeyRuleInfo kPooledBlocks{
    KeyRule::pooled_blocks,
    "pooled-blocks",
    "blocks by pooled keys",
    "blocks of {block} by pooled keys",
    "the query's own block and the k/block - 1 others with the largest q · mean of their keys",
    "MoBA: Lu et al. 2025, arXiv:2502.13189",
    pooled_blocks};

/// The r = min(recent, k) keys p_i − r < j < p_i + r, the block of p_i, and the ⌊(k − r) / block⌋ − 1 other blocks with the
/// largest weight of the compressed branch: compressed_row() of scaled. Yuan et al. 2025, arXiv:2502.11089 (NSA), whose heads
/// of one key head choose together: operation nsa does that, and computes the branches.
Result<KeySet> compressed_blocks(const HeadScores& head, const KeyBudget& budget) {
    const Index recent = std::min(budget.recent, budget.keys);
    const Index count = std::max<Index>((budget.keys - recent) / budget.block, 1);
    KeySet set(head.allowed.size());
    for (Index i = 0; i < head.scaled.rows; ++i) {
        end_if_stopped();
        const Index position = i + head.offset;
        const CompressedRow row =
            compressed_row(head.scaled.row(i),
                           head.allowed.subspan(at(head, i, 0), head.scaled.columns), budget.block);
        const auto blocks = selected_blocks(row, row.weights, position, budget.block, count);
        for (const Index j : allowed_keys(head, i))
            if (std::abs(position - j) < recent ||
                std::ranges::binary_search(blocks, j / budget.block))
                set[at(head, i, j)] = 1;
    }
    return set;
}

constexpr KeyRuleInfo kNsa{
    KeyRule::nsa,
    "nsa",
    "blocks by compressed weights + window",
    "blocks of {block} by weight + window",
    "the latest r = min(recent, k) keys, the query's own block and the (k - r)/block - 1 others "
    "with the largest weight of their mean key",
    "NSA: Yuan et al. 2025, arXiv:2502.11089",
    compressed_blocks,
    true};

constexpr std::array<KeyRuleInfo, kKeyRuleCount> kKeyRules{
    kTopK, kSinkWindow, kHeavyHitters, kPooledBlocks, kNsa, kIndexer, kStrided};
constexpr bool is_in_enum_order() {
    for (std::size_t n = 0; n < kKeyRules.size(); ++n)
        if (static_cast<std::size_t>(kKeyRules[n].rule) != n) return false;
    return true;
}
static_assert(is_in_enum_order());

// ---- the error of a set

/// O_i = Σ_j w_j v_j over the keys.
std::vector<double> value_sum(std::span<const Index> keys, std::span<const double> weights,
                              MatrixView<const double> v) {
    std::vector<double> output(static_cast<std::size_t>(v.columns), 0.0);
    for (std::size_t n = 0; n < keys.size(); ++n)
        for (Index c = 0; c < v.columns; ++c)
            output[static_cast<std::size_t>(c)] += weights[n] * v(keys[n], c);
    return output;
}

/// ‖a − b‖² and ‖a‖².
struct Squares {
    double change = 0.0, whole = 0.0;
    double error() const { return whole == 0.0 ? kUndefined : std::sqrt(change / whole); }
};
Squares change_of(std::span<const double> a, std::span<const double> b) {
    Squares squares;
    for (std::size_t c = 0; c < a.size(); ++c) {
        squares.change += (a[c] - b[c]) * (a[c] - b[c]);
        squares.whole += a[c] * a[c];
    }
    return squares;
}

struct MeasuredRow {
    SetRow row;
    Squares squares;
};
MeasuredRow measure_row(const HeadScores& head, std::span<const std::uint8_t> set, Index i,
                        MatrixView<const double> v) {
    const std::vector<Index> keys = allowed_keys(head, i);
    std::vector<Index> read;
    for (const Index j : keys)
        if (set[at(head, i, j)] != 0) read.push_back(j);
    const std::vector<double> exact = softmax_over(head, i, keys);
    MeasuredRow measured{{std::ssize(keys), std::ssize(read), kUndefined, kUndefined}, {}};
    const double sum = std::accumulate(exact.begin(), exact.end(), 0.0);
    const bool undefined = sum == 0.0 && !head.sink;  // every logit is −∞
    if (keys.empty() || undefined || !std::isfinite(sum)) return measured;
    measured.row.missed = 0.0;
    for (std::size_t n = 0; n < keys.size(); ++n)
        if (set[at(head, i, keys[n])] == 0) measured.row.missed += exact[n];
    if (v.rows == 0) return measured;
    measured.squares =
        change_of(value_sum(keys, exact, v), value_sum(read, softmax_over(head, i, read), v));
    measured.row.output_error = measured.squares.error();
    return measured;
}

}  // namespace

std::span<const KeyRuleInfo, kKeyRuleCount> key_rule_table() { return kKeyRules; }
const KeyRuleInfo& info(KeyRule rule) { return kKeyRules[static_cast<std::size_t>(rule)]; }
std::optional<KeyRule> find_key_rule(std::string_view key) {
    const auto found = std::ranges::find(kKeyRules, key, &KeyRuleInfo::key);
    if (found == kKeyRules.end()) return std::nullopt;
    return found->rule;
}

Result<KeySet> select_keys(KeyRule rule, const KeyBudget& budget, const HeadScores& head) {
    for (const auto& [name, value, least] : {std::tuple{"k", budget.keys, Index{1}},
                                             {"block", budget.block, Index{1}},
                                             {"sinks", budget.sinks, Index{0}},
                                             {"recent", budget.recent, Index{0}}})
        if (value < least)
            return unexpected_value(name, std::to_string(value), fmt::format("{} or more", least));
    return info(rule).select(head, budget);
}

CompressedRow compressed_row(std::span<const double> scaled, std::span<const std::uint8_t> allowed,
                             Index block) {
    const Index keys = std::ssize(scaled);
    CompressedRow row;
    row.logits.assign(static_cast<std::size_t>((keys + block - 1) / block), kNever);
    row.weights.assign(row.logits.size(), 0.0);
    for (Index n = 0; n < keys / block; ++n) {
        const auto of_block = [&](auto values) { return values.subspan(n * block, block); };
        if (std::ranges::count(of_block(allowed), std::uint8_t{0}) > 0) continue;
        double sum = 0.0;
        for (const double logit : of_block(scaled)) sum += logit;
        row.logits[n] = sum / static_cast<double>(block);
    }
    softmax_row(row.logits, row.weights, EmptyRows::zero);
    return row;
}

std::vector<Index> selected_blocks(const CompressedRow& row, std::span<const double> weights,
                                   Index position, Index block, Index count) {
    const Index own = position < 0 ? -1 : position / block;
    std::vector<Index> blocks;
    for (Index n = 0; n < std::ssize(row.logits); ++n)
        if (n != own && row.logits[n] != kNever) blocks.push_back(n);
    keep_largest(blocks, count - 1, [&](Index n) { return weights[n]; });
    blocks.push_back(own);
    std::ranges::sort(blocks);
    return blocks;
}

SetError measure_set(const HeadScores& head, std::span<const std::uint8_t> set,
                     MatrixView<const double> v) {
    SetError error;
    Squares squares;
    double missed = 0.0;
    for (Index i = 0; i < head.logits.rows; ++i) {
        end_if_stopped();
        const MeasuredRow measured = measure_row(head, set, i, v);
        error.rows.push_back(measured.row);
        if (std::isnan(measured.row.missed)) continue;
        if (error.counted == 0 || measured.row.missed > error.worst) {
            error.worst = measured.row.missed;
            error.worst_row = i;
        }
        ++error.counted;
        error.allowed += measured.row.allowed;
        error.read += measured.row.read;
        missed += measured.row.missed;
        squares.change += measured.squares.change;
        squares.whole += measured.squares.whole;
    }
    error.missed = error.counted == 0 ? kUndefined : missed / static_cast<double>(error.counted);
    if (error.counted == 0) error.worst = kUndefined;
    error.output_error = squares.error();
    return error;
}

Result<SelectedMask> mask_of_selected(const SelectedKeys& selected, const Dimensions& size) {
    const Shape shape = selected.shape;
    const auto fits = [](Index axis, Index wanted) { return axis == 1 || axis == wanted; };
    const bool grouped = shape.h == size.kv_heads && size.kv_heads > 1;
    if (!fits(shape.b, size.batch) || !(fits(shape.h, size.heads) || grouped) || shape.t != size.tq)
        return bad_input(
            fmt::format("selected is {}; expected [{}, {}, {}, k], or 1 in place of {}",
                        to_string(shape), size.batch, size.heads, size.tq, "B or H"));
    const Index heads = grouped ? size.heads : shape.h;  // of the mask
    const Index group = heads / shape.h;
    SelectedMask result{Mask(Shape{shape.b, heads, size.tq, size.tk}), {}};
    std::size_t n = 0;
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index i = 0; i < shape.t; ++i)
                for (Index slot = 0; slot < shape.d; ++slot) {
                    const Index key = selected.keys[n++];
                    if (key == -1) continue;
                    if (key < 0 || key >= size.tk)
                        return unexpected_value(
                            fmt::format("selected[{}, {}, {}, {}]", b, h, i, slot),
                            std::to_string(key),
                            fmt::format("a key from 0 to {}, or -1 for an unused slot",
                                        size.tk - 1));
                    if (result.mask(b, h * group, i, key) != 0 && result.repeated.count++ == 0)
                        result.repeated = {1, b, h, i, key};
                    for (Index member = h * group; member < (h + 1) * group; ++member)
                        result.mask(b, member, i, key) = 1;
                }
    return result;
}

Mask both_allow(const Mask& a, const Mask& b) {
    const Shape &x = a.shape(), &y = b.shape();
    Mask both(
        Shape{std::max(x.b, y.b), std::max(x.h, y.h), std::max(x.t, y.t), std::max(x.d, y.d)});
    for_each_row(both.shape(), [&](Index n, Index h, Index i) {
        const auto of_a = broadcast_row(a, n, h, i), of_b = broadcast_row(b, n, h, i);
        const auto row = both.matrix(n, h).row(i);
        for (std::size_t j = 0; j < row.size(); ++j)
            row[j] = of_a[of_a.size() == 1 ? 0 : j] != 0 && of_b[of_b.size() == 1 ? 0 : j] != 0;
    });
    return both;
}

}  // namespace attn
