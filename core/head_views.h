#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/forward.h"
#include "core/matrix_view.h"

namespace attn {

struct Rope;

// Views of one head in place of its weights: a weight states where a head looks, not the content that it moves
// nor what that does. α [Tq,Tk] are weights, i query, j key, v_j the value of key j, L the loss. All sums are in double.

enum class HeadShow : std::uint8_t { weights, value_norm, output_norm, gradient, rollout };
inline constexpr std::size_t kHeadShowCount = 5;

struct HeadShowInfo {
    HeadShow show;
    std::string_view key;    // by which it is chosen
    std::string_view title;  // "α‖v‖"
    std::string_view formula;
    std::string_view caution;  // one line: the limits of its meaning
    std::string_view source;
    std::string_view asks;  // inputs that are not always present; "": none
    bool has_sign = false;
    bool of_layer = false;  // the same for all heads of a layer
};
/// THE table of views, in the order of the enum.
std::span<const HeadShowInfo, kHeadShowCount> head_show_table();
const HeadShowInfo& info(HeadShow show);
/// The keys of the table.
std::span<const std::string_view, kHeadShowCount> head_show_keys();
std::optional<HeadShow> find_head_show(std::string_view key);

/// ‖v_j W‖₂ of every row of v [Tk,d_v]; w [d_v,d_out] are the head's rows of W_O; of 0 rows: ‖v_j‖₂.
/// Edge: NaN where a value is NaN, ∞ where one is infinite and the sum of squares too.
/// Source: Kobayashi et al. 2020, arXiv:2004.10102: f(x_j) = (x_j W_V + b_V) W_O, and ‖α_ij f(x_j)‖ = α_ij ‖f(x_j)‖.
std::vector<double> row_norms(MatrixView<const float> v, MatrixView<const float> w = {});

/// Which pairs [Tq,Tk] may attend, 1: may; empty: every pair. A pair that may not has exactly 0 in what follows.
using AllowedPairs = std::span<const std::uint8_t>;

/// α_ij · norms_j, row-major [Tq,Tk].
std::vector<float> times_norms(MatrixView<const float> weights, std::span<const double> norms,
                               AllowedPairs allowed);
/// α_ij · ∂L/∂α_ij, row-major [Tq,Tk]: to first order what L gains by that weight; −1 times it is what setting the
/// weight alone to 0 changes.
std::vector<float> times_gradient(MatrixView<const float> weights, MatrixView<const float> gradient,
                                  AllowedPairs allowed);

/// The mean over heads of one sequence's weights [B,H,T,T], row-major [T,T].
std::vector<double> mean_weights(const Tensor& weights, Index batch);
/// R_n = Â_n R_{n−1} with Â = ½ A + ½ I, each row over its sum: how much of token j's input is in row i after layer
/// n. `mean` [T,T] is A of layer n, `before` R_{n−1}; empty: the identity, before the first layer.
/// Edge: a row of A that is all 0 passes its own token on. NaN in a row of A stays in that row; a weight of exactly 0
/// takes nothing, not even NaN, from another row.
/// Source: Abnar and Zuidema 2020, arXiv:2005.00928, attention rollout.
std::vector<double> rollout_after(const std::vector<double>& before,
                                  const std::vector<double>& mean, Index tokens);

/// One query against every key by dimension: q_d k_jd, row-major [Tk,d]; the sum of a row is the score q · k_j.
/// Shapes: q [d], k [Tk,d].
std::vector<float> products_by_dimension(std::span<const float> q, MatrixView<const float> k);

/// A dimension of a query or key and how fast RoPE turns it.
struct TurnedDimension {
    Index dimension = 0;
    double frequency = 0.0;  // radians a position; 0: it does not turn
    Index pair = -1;         // of the dimension that turns with it; −1: none
};
/// The dimensions with those that turn fastest first, the two of a pair next to each other, those that do not turn
/// last. Pairs c and c + turned/2, or 2c and 2c + 1; the frequency of pair c is rope_frequency().
/// Source: Su et al. 2021, arXiv:2104.09864.
std::vector<TurnedDimension> turned_dimensions(Index width, Index turned, const Rope& rope);

}  // namespace attn
