#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/matrix_view.h"

namespace attn {

// Measures of one attention head, and a proposed name for its behaviour.
// a [Tq,Tk] are its weights, i query, j key, n_i the keys that row i may attend to. A row counts where it may attend
// to a key and its weights are probabilities: finite, none negative, with a sum of 1 up to kUnitRow (with a learned
// sink: above 0, at most 1). "Not defined" (nullopt) is not 0: no row counts, or an input of the measure is missing
// (positions, tokens, a second token).

enum class HeadMeasure : std::uint8_t {
    entropy,
    evenness,
    previous,
    diagonal,
    next,
    sink,
    duplicate,
    induction,
    distance,
    confidence,
    norm_share,
    change
};
inline constexpr std::size_t kHeadMeasureCount = static_cast<std::size_t>(HeadMeasure::change) + 1;

struct HeadMeasureInfo {
    HeadMeasure measure;
    std::string_view key;      // by which it is chosen, and in files
    std::string_view title;    // "previous token"
    std::string_view formula;  // as plain text
    double upper_bound;        // from 0; infinity where it depends on the sizes
    std::string_view asks;     // inputs that are not always present; "": none
    std::string_view source;
};
/// THE table of measures, in the order of the enum.
std::span<const HeadMeasureInfo, kHeadMeasureCount> head_measure_table();
const HeadMeasureInfo& info(HeadMeasure measure);
std::optional<HeadMeasure> find_head_measure(std::string_view key);

/// Whether a head may be named by it; see propose_label().
bool is_head_label(HeadMeasure measure);

/// The weights of one head with the positions and tokens of their rows and columns.
struct HeadRows {
    MatrixView<const float> weights;             // [Tq,Tk]
    std::span<const std::uint8_t> allowed = {};  // [Tq,Tk], 1: may attend; empty: every pair
    std::span<const Index> tokens =
        {};              // of queries and keys, which are the same; equal words have equal numbers
    Index offset = 0;    // position of query 0; key j is at position j
    bool sinks = false;  // a learned sink takes part of each row

    Index position(Index query) const { return query + offset; }
    /// Whether positions of queries mean keys: of as many queries as keys, or where query 0 has a later position.
    bool has_positions() const { return weights.rows == weights.columns || offset != 0; }
};
/// Equal words have equal numbers, from 0 in the order of their first places.
std::vector<Index> token_numbers(std::span<const std::string> tokens);

/// Largest distance of the sum of a row from 1. Rounding each weight to bfloat16 moves the sum by at most 2^−9.
inline constexpr double kUnitRow = 2e-3;

/// By HeadMeasure.
struct HeadMeasures {
    std::array<std::optional<double>, kHeadMeasureCount> values;
    Index rows = 0;      // rows that count
    Index excluded = 0;  // rows that may attend to a key, but whose weights are not probabilities
    const std::optional<double>& operator[](HeadMeasure measure) const {
        return values[static_cast<std::size_t>(measure)];
    }
    std::optional<double>& operator[](HeadMeasure measure) {
        return values[static_cast<std::size_t>(measure)];
    }
};

/// All but norm_share, which needs the other heads, and change, which needs another run. Means are over the rows that count;
/// `rows` and `excluded` are set in every case. i is the position of a query, its row where there is no offset. Rows that a learned sink takes from sum to less than 1:
/// the sink's part is counted nowhere, and evenness of two keys may then be 2 / (e ln 2) = 1.06.
/// entropy      −Σ_j a_ij ln a_ij in nats, 0 ln 0 = 0                        0 … ln Tk
/// evenness     entropy of the row / ln n_i, of rows with n_i ≥ 2            0 … 1
/// previous     a[i,i−1], i ≥ 1                                              0 … 1, positions
/// diagonal     a[i,i]                                                       0 … 1, positions
/// next         a[i,i+1], i ≤ Tk−2                                           0 … 1, positions
/// sink         a[i,0], i ≥ 1                                                0 … 1
/// duplicate    Σ a[i,j], j ≠ i with the token of i, of rows that may see one 0 … 1, tokens
/// induction    Σ a[i,j+1], j < i with the token of i, of rows that may see one 0 … 1, tokens
/// distance     Σ a_ij |i−j| / Σ a_ij over all rows                          0 … T−1, positions
/// confidence   max_j a_ij                                                   0 … 1
/// Entropy and the attention to next and previous: Clark et al. 2019, arXiv:1906.04341. First token as a sink: Xiao et
/// al. 2023, arXiv:2309.17453. Duplicate-token heads: Wang et al. 2022, arXiv:2211.00593. Induction: Olsson et al. 2022,
/// arXiv:2209.11895. Distance: Vig and Belinkov 2019, arXiv:1906.04284. Confidence: Voita et al. 2019, arXiv:1905.09418, who leave
/// out the end of the sentence.
HeadMeasures measure_head(const HeadRows& head);

/// ‖α V W_O,h‖_F of one head: context [Tq,d_v] = α V, w_o [d_v,d_out] its rows of W_O; of 0 rows: ‖α V‖_F.
/// Kobayashi et al. 2020, arXiv:2004.10102, summed over tokens.
double head_output_norm(MatrixView<const float> context, MatrixView<const float> w_o);
/// Each over the sum of all; not defined where a norm is not finite or all are 0.
std::vector<std::optional<double>> norm_shares(std::span<const double> norms);

/// Σ_j a ln(a / b), in nats: 0 where a is 0, ∞ where b is 0 and a is not, NaN where a number is.
double row_divergence(std::span<const float> a, std::span<const float> b);

/// Why a head may be named after a measure. Keys are counted without key 0, which takes the unused weight of a head: of the
/// weight that a row gives to the other keys, `share` goes to the keys of the name, and rows that spread it evenly over the
/// keys they may attend to would give `even`. Both are means over `rows` rows, weighted by that rest. Of the sink itself
/// nothing is left out.
struct HeadLabel {
    HeadMeasure name = HeadMeasure::sink;
    double share = 0.0;
    double even = 0.0;
    double rest = 1.0;  // mean weight that is not on key 0
    Index rows = 0;
    bool same_word = false;  // of `diagonal`: counted with the other places of the same word
    /// 0: as even rows, 1: all of it.
    double lift() const { return (share - even) / (1.0 - even); }
};
inline constexpr double kNamedLift = 0.4;   // from here on a head is named
inline constexpr double kSinkLift = 0.5;    // and this for the sink
inline constexpr double kLeastRest = 0.05;  // with less than this off key 0 only the sink is a name
inline constexpr Index kLeastNamedRows =
    2;  // rows with at least kLeastRest off key 0; of the sink, all rows

/// "previous token"; "same word" of a label with the other places of the word.
std::string_view title_of(const HeadLabel& label);

/// The pattern (previous, diagonal, next, duplicate, induction) of the largest lift, from kNamedLift on; where there is
/// none, the sink; else nullopt: no measure is remarkable, as in a head of even rows. Ties: the first in the table.
std::optional<HeadLabel> propose_label(const HeadRows& head);

}  // namespace attn
