// e_x: the absolute error allowed in x; u the unit roundoff. Norms are largest row norms, entries largest in magnitude are of the finite ones.

#include "core/verify/bounds.h"
#include "core/bias.h"
#include "core/entries.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/call.h"
#include "core/cast.h"
#include "core/halves.h"
#include "core/norms.h"
#include "core/numerics.h"
#include "core/qk_norm.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/verify/faults.h"

namespace attn::verify {
namespace {

/// The largest Euclidean norm of a row.
double row_norm(const TensorD& tensor) {
    double largest = 0.0;
    for_each_row(tensor.shape(), [&](Index b, Index h, Index t) {
        double sum = 0.0;
        for (const double value : tensor.matrix(b, h).row(t))
            sum += finite_or_zero(value) * finite_or_zero(value);
        largest = std::max(largest, std::sqrt(sum));
    });
    return largest;
}

/// The largest 1 / √(mean x² + ε) of a row; 0 of none that is finite.
double largest_inverse(const TensorD& rows, double epsilon) {
    double most = 0.0;
    for_each_row(rows.shape(), [&](Index b, Index h, Index t) {
        most = std::max(most, finite_or_zero(inverse_rms(rows.matrix(b, h).row(t), epsilon)));
    });
    return most;
}

/// Bounds the norm of a turn: 1, or what tables that scale make of it.
double largest_turn(const Rope& rope) {
    if (!rope.tables) return 1.0;
    const RotaryTables& tables = *rope.tables;
    const double q = std::hypot(largest_finite(cast<double>(tables.q_cos)),
                                largest_finite(cast<double>(tables.q_sin)));
    const double k = std::hypot(largest_finite(cast<double>(tables.k_cos)),
                                largest_finite(cast<double>(tables.k_sin)));
    return std::max({1.0, q, k});
}

/// The largest Euclidean norm of a column.
double column_norm(const TensorD& weight) {
    double largest = 0.0;
    for (Index c = 0; c < weight.shape().d; ++c) {
        double sum = 0.0;
        for (Index t = 0; t < weight.shape().t; ++t)
            sum += finite_or_zero(weight(0, 0, t, c)) * finite_or_zero(weight(0, 0, t, c));
        largest = std::max(largest, std::sqrt(sum));
    }
    return largest;
}

double real(Index n) { return static_cast<double>(n); }

class Analysis {
  public:
    explicit Analysis(const TraceD& stages, double u) : t_(stages), u_(u) {
        for (Tolerance& tolerance : bounds.stages) tolerance.relative = 2.0 * u_;
        bounds.logsumexp.relative = 2.0 * u_;
    }

    Bounds bounds;

    double sum(Index n) const { return u_ * (2.0 + 2.0 * std::sqrt(real(n))); }
    double& e(Stage stage) { return bounds.stages[index_of(stage)].absolute; }

    // Q = X W_Q + b_Q
    double projection(const TensorD& x, const TensorD& weight, const TensorD& bias) const {
        return sum(x.shape().d + 1) * (row_norm(x) * column_norm(weight) + largest_finite(bias));
    }

    void project(const InputsD& in) {
        if (!in.projects()) return;
        const TensorD& x_kv = in.x_kv.empty() ? in.x : in.x_kv;
        e(Stage::q) = projection(in.x, in.params[Param::w_q], in.params[Param::b_q]);
        e(Stage::k) = projection(x_kv, in.params[Param::w_k], in.params[Param::b_k]);
        e(Stage::v) = projection(x_kv, in.params[Param::w_v], in.params[Param::b_v]);
    }

    // q'_p = R_p q: the angle in float32 is off by some roundings of p. `largest` of the cosines and sines.
    void rotate(double positions, double largest, const AttentionSpec& spec) {
        const double turn = u_ * (8.0 + 2.0 * positions) * largest;
        const auto turned = [&](Stage rotated, Stage normalised) {
            const Stage source = stage_or_source(normalised, spec);
            e(rotated) = largest * e(source) + turn * row_norm(t_[source]);
        };
        turned(Stage::q_rot, Stage::q_norm);
        turned(Stage::k_rot, Stage::k_norm);
    }

    // q_norm = q r ∘ γ, r = 1 / √(mean q² + ε): an error of q grows by r γ at most, and the sum of d squares is rounded.
    void normalise(const InputsD& in, double epsilon, Index d_k) {
        const auto normalised = [&](Stage stage, Stage source, Param weight) {
            const TensorD& gamma = in.params[weight];
            const double most = gamma.empty() ? 1.0 : largest_finite(gamma);
            e(stage) = 2.0 * most * largest_inverse(t_[source], epsilon) * e(source) +
                       (sum(d_k) + 4.0 * u_) * largest_finite(t_[stage]);
        };
        normalised(Stage::q_norm, Stage::q, Param::q_norm_weight);
        normalised(Stage::k_norm, Stage::k, Param::k_norm_weight);
    }

    /// Error of q·k, and of the other terms of a score.
    void score(const InputsD& in, const AttentionSpec& spec, Index d_k) {
        const double q = row_norm(t_[stage_or_source(Stage::q_norm, spec)]);
        const double k = row_norm(t_[stage_or_source(Stage::k_norm, spec)]);
        const double e_q = e(stage_or_source(Stage::q_rot, spec));
        const double e_k = e(stage_or_source(Stage::k_rot, spec));
        const double scaled = std::pow(operand_factor(spec, d_k), 2);  // each rounded once more
        const double root = std::sqrt(real(d_k));
        const double dot = sum(d_k) * q * k + root * (e_q * k + e_k * q);
        const double rounded = scaled == 1.0 ? 0.0 : 2.0 * u_ * q * k;
        e(Stage::scores) = scaled * (dot + rounded) * info(spec.score).growth({q, k, in.params});
    }

    // S = scores · factor, at most `largest`; B = cap tanh(S / cap) − slope |p − j|; a softmax of them.
    void softmax(double factor, double largest, double cap, double sinks, Index keys) {
        const double biased = std::max(largest_finite(t_[Stage::biased]), cap);
        e(Stage::scaled) = factor * e(Stage::scores) + 2.0 * u_ * largest;
        e(Stage::biased) = e(Stage::scaled) + 4.0 * u_ * (largest + biased);
        e(Stage::masked) = e(t_[Stage::biased].empty() ? Stage::scaled : Stage::biased);
        weigh(std::max({largest_finite(t_[Stage::masked]), largest, sinks}), keys);
    }

    /// Of weights whose logits are at most `largest`.
    void weigh(double largest, Index keys) {
        e_weight_ = 2.0 * e(Stage::masked) + 2.0 * u_ * largest + sum(keys) + 12.0 * u_;
        for (const Stage stage : {Stage::weights, Stage::dropped}) {
            e(stage) = std::numeric_limits<float>::min();
            bounds.stages[index_of(stage)].relative += e_weight_;
        }
        bounds.logsumexp.absolute = e(Stage::masked) + sum(keys) + 4.0 * u_ * (1.0 + largest);
    }

    // context = Ã V, times a gate that is at most `open`; Y = concat(heads) W_O + b_O
    void mix(double v, double retained, double open, Index keys, const TensorD& w_o,
             const TensorD& b_o) {
        e(Stage::context) = open * retained * (v * (e_weight_ + sum(keys)) + e(Stage::v));
        e(Stage::output) = e(Stage::context);
        if (w_o.empty()) return;
        const Index joined = w_o.shape().t;
        const double mixed =
            sum(joined + 1) * std::sqrt(real(joined)) * largest_finite(t_[Stage::context]);
        e(Stage::output) = column_norm(w_o) * (3.0 * e(Stage::context) + mixed) +
                           sum(joined + 1) * largest_finite(b_o);
    }

  private:
    const TraceD& t_;
    double u_;
    double e_weight_ = 0.0;  // relative
};

/// With 0 in place of NaN and ∞.
TensorD finite_part(TensorD tensor) {
    for (double& value : tensor.values()) value = finite_or_zero(value);
    return tensor;
}

TensorD squares_of(const TensorD& tensor) {
    TensorD squares = finite_part(tensor);
    for (double& value : squares.values()) value *= value;
    return squares;
}

/// Σ x_c y_c. Four sums, so that one addition need not wait for the one before.
double dot_of(std::span<const double> x, std::span<const double> y) {
    double sums[4] = {};
    const std::size_t whole = x.size() / 4 * 4;
    for (std::size_t c = 0; c < whole; c += 4)
        for (std::size_t n = 0; n < 4; ++n) sums[n] += x[c + n] * y[c + n];
    for (std::size_t c = whole; c < x.size(); ++c) sums[0] += x[c] * y[c];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The Euclidean norm of each row, [B,H,T,1].
TensorD row_norms(const TensorD& tensor) {
    const Shape shape = tensor.shape();
    TensorD norms(Shape{shape.b, shape.h, shape.t, 1});
    for_each_row(shape, [&](Index b, Index h, Index t) {
        double sum = 0.0;
        for (const double value : tensor.matrix(b, h).row(t))
            sum += finite_or_zero(value) * finite_or_zero(value);
        norms(b, h, t, 0) = std::sqrt(sum);
    });
    return norms;
}

/// How far each entry of context, and logsumexp of each row, may be off. An error e_j of logit j moves context_c by
/// a_j (keep_j v_jc − context_c) e_j and logsumexp by a_j e_j. Roundings of the products are independent of one another: their
/// errors add up as the root of their squares; kSpread times that is allowed. Those of q, k and of a factor are shared by the keys
/// of a row: their errors add up. e_v and roundoff · (2 + 2√n) of the magnitudes of the sum Σ ã v come on top. A gate multiplies all of
/// that by its factor, or by that of the planted stages where it is larger, and is rounded itself.
/// A dot product of d terms is off by u √Σ s_c² of its partial sums s_c: those are √Σ (q_c k_c)² where signs are mixed, and grow to
/// the product itself where they are not.
class EntryBounds {
  public:
    /// `errors`: of every stage, the largest; `u` the unit roundoff.
    EntryBounds(const Subject& subject, const TraceD& stages, const Analysis& errors, double factor,
                double u)
        : subject_(subject),
          t_(stages),
          factor_(factor),
          u_(u),
          sum_keys_(errors.sum(subject.size.tk)),
          largest_(errors.bounds.stages),
          q_(row_norms(stages[stage_or_source(Stage::q_rot, subject.spec)])),
          k_(row_norms(stages[stage_or_source(Stage::k_rot, subject.spec)])),
          q_squares_(squares_of(stages[stage_or_source(Stage::q_rot, subject.spec)])),
          k_squares_(squares_of(stages[stage_or_source(Stage::k_rot, subject.spec)])),
          v_(finite_part(stages[Stage::v])) {}

    /// Into `bounds`, where a smaller number follows than that of the whole array.
    void tighten(Bounds& bounds) {
        const Dimensions& n = subject_.size;
        const bool values = !t_[Stage::context].empty() && !t_[Stage::v].empty();
        TensorD logsumexp(Shape{n.batch, n.heads, n.tq, 1});
        TensorD context(values ? t_[Stage::context].shape() : Shape{});
        for_each_query(n, [&](Index b, Index h, Index i) {
            logit_errors(b, h, i);
            logsumexp(b, h, i, 0) = of_logsumexp(b, h, i);
            if (values) fill_context(b, h, i, context.matrix(b, h).row(i));
        });
        set(bounds.logsumexp, std::move(logsumexp));
        if (!values) return;
        if (!t_[Stage::output].empty()) set(of(bounds, Stage::output), of_output(context));
        set(of(bounds, Stage::context), std::move(context));
    }

  private:
    static constexpr double kSpread = 4.0;  // standard deviations

    static Tolerance& of(Bounds& bounds, Stage stage) { return bounds.stages[index_of(stage)]; }
    double largest(Stage stage) const { return largest_[index_of(stage)].absolute; }

    static void set(Tolerance& tolerance, TensorD entries) {
        for (double& entry : entries.values())
            if (!(entry < tolerance.absolute)) entry = tolerance.absolute;
        tolerance.absolute = largest_finite(entries);
        tolerance.entries = std::make_shared<const TensorD>(std::move(entries));
    }

    /// Of the logits of one row: `own_` independent of one another, `shared_` not.
    void logit_errors(Index b, Index h, Index i) {
        const Dimensions& n = subject_.size;
        const Index g = h / (n.heads / n.kv_heads);
        const bool dot = subject_.spec.score == Score::dot;
        const double root = std::sqrt(static_cast<double>(n.d_k));
        const Stage q = stage_or_source(Stage::q_rot, subject_.spec);
        const Stage k = stage_or_source(Stage::k_rot, subject_.spec);
        const auto q_squares = std::as_const(q_squares_).matrix(b, h).row(i);
        own_.resize(n.tk), shared_.resize(n.tk);
        const double scaled = std::pow(operand_factor(subject_.spec, n.d_k), 2);
        for (Index j = 0; j < n.tk; ++j) {
            shared_[j] = u_ * (12.0 + 4.0 * size_of(b, h, i, j));
            own_[j] = largest(Stage::scaled);
            if (!dot) continue;
            const double norms = q_(b, h, i, 0) * k_(b, g, j, 0);
            const double operands =
                root * (largest(q) * k_(b, g, j, 0) + largest(k) * q_(b, h, i, 0)) +
                (scaled == 1.0 ? 0.0 : 2.0 * u_ * norms);
            shared_[j] += factor_ * scaled * operands;
            const double products =
                std::sqrt(dot_of(q_squares, std::as_const(k_squares_).matrix(b, g).row(j)));
            own_[j] = factor_ * u_ *
                      ((2.0 + root) * scaled * products +
                       root * std::abs(finite_or_zero(t_[Stage::scores](b, h, i, j))));
        }
    }

    /// Of the numbers that a logit is added up from.
    double size_of(Index b, Index h, Index i, Index j) const {
        const double scaled = std::abs(finite_or_zero(t_[Stage::scaled](b, h, i, j)));
        if (!subject_.spec.biases()) return scaled;
        const double bias = std::abs(finite_or_zero(bias_at(subject_.spec.mask, b, h, i, j)));
        return scaled + bias + std::abs(finite_or_zero(t_[Stage::biased](b, h, i, j)));
    }

    double weight(Index b, Index h, Index i, Index j) const {
        return finite_or_zero(t_[Stage::weights](b, h, i, j));
    }

    double of_logsumexp(Index b, Index h, Index i) const {
        double squares = 0.0, sum = 0.0;
        for (Index j = 0; j < subject_.size.tk; ++j) {
            const double a = weight(b, h, i, j);
            squares += a * a * own_[j] * own_[j];
            sum += a * shared_[j];
        }
        const double size = 1.0 + std::abs(finite_or_zero(t_.logsumexp(b, h, i, 0)));
        return kSpread * std::sqrt(squares) + sum + sum_keys_ + 4.0 * u_ * size;
    }

    /// A V of the row: its context without a gate.
    std::vector<double> means(Index b, Index h, Index i) const {
        const auto context = t_[Stage::context].matrix(b, h).row(i);
        std::vector<double> made(context.begin(), context.end());
        if (subject_.gate.empty()) return made;
        std::ranges::fill(made, 0.0);
        const Index g = h / (subject_.size.heads / subject_.size.kv_heads);
        const Stage last = stage_or_source(Stage::dropped, subject_.spec);
        for (Index j = 0; j < subject_.size.tk; ++j) {
            const double retained = finite_or_zero(t_[last](b, h, i, j));
            for (std::size_t c = 0; c < made.size(); ++c)
                made[c] += retained * finite_or_zero(t_[Stage::v](b, g, j, static_cast<Index>(c)));
        }
        return made;
    }

    void pass_gate(Index b, Index h, Index i, const std::vector<double>& mean,
                   std::span<double> entries) const {
        if (subject_.gate.empty()) return;
        const auto gate = subject_.gate.matrix(b, h).row(i);
        const auto context = t_[Stage::context].matrix(b, h).row(i);
        for (std::size_t c = 0; c < entries.size(); ++c) {
            const double shown = std::abs(finite_or_zero(context[c])),
                         most = std::max(1.0, std::abs(gate[c]));
            const double open = mean[c] == 0.0 ? most : std::min(shown / std::abs(mean[c]), most);
            entries[c] = std::max(open, sigmoid(gate[c])) * entries[c] + 8.0 * u_ * shown;
        }
    }

    void fill_context(Index b, Index h, Index i, std::span<double> entries) const {
        const Index g = h / (subject_.size.heads / subject_.size.kv_heads);
        const Stage last = stage_or_source(Stage::dropped, subject_.spec);
        const std::vector<double> mean = means(b, h, i);
        std::vector<double> finite_mean(mean), squares(entries.size());
        for (double& each : finite_mean) each = finite_or_zero(each);
        double of_values = 0.0;  // Σ |ã_j| e_v, the same in every column
        for (Index j = 0; j < subject_.size.tk; ++j) {
            const double a = weight(b, h, i, j), retained = finite_or_zero(t_[last](b, h, i, j));
            if (a == 0.0 && retained == 0.0) continue;
            const double own = own_[j], shared = shared_[j], sum = sum_keys_ * std::abs(retained);
            const double* const v = std::as_const(v_).matrix(b, g).row(j).data();
            of_values += std::abs(retained) * largest(Stage::v);
            for (std::size_t c = 0; c < entries.size(); ++c) {
                const double slope = std::abs(retained * v[c] - a * finite_mean[c]);
                squares[c] += (slope * own) * (slope * own);
                entries[c] += slope * shared + sum * std::abs(v[c]);
            }
        }
        for (std::size_t c = 0; c < entries.size(); ++c)
            entries[c] +=
                of_values + kSpread * std::sqrt(squares[c]) + std::numeric_limits<float>::min();
        pass_gate(b, h, i, mean, entries);
    }

    // Y = concat(heads) W_O + b_O
    TensorD of_output(const TensorD& context) const {
        const Dimensions& n = subject_.size;
        const TensorD& w_o = subject_.inputs.params[Param::w_o];
        const TensorD& b_o = subject_.inputs.params[Param::b_o];
        TensorD output(t_[Stage::output].shape());
        const double rounding = u_ * (2.0 + 2.0 * std::sqrt(static_cast<double>(n.heads * n.d_v)));
        for_each_entry(output.shape(), [&](Index b, Index, Index i, Index column) {
            double& entry = output(b, 0, i, column);
            if (w_o.empty()) {
                entry = context(b, column / n.d_v, i, column % n.d_v);
                return;
            }
            for (Index r = 0; r < n.heads * n.d_v; ++r) {
                const Index h = r / n.d_v, c = r % n.d_v;
                const double value = std::abs(finite_or_zero(t_[Stage::context](b, h, i, c)));
                entry += std::abs(finite_or_zero(w_o(0, 0, r, column))) *
                         (context(b, h, i, c) + rounding * value);
            }
            if (!b_o.empty()) entry += rounding * std::abs(b_o(0, 0, 0, column));
        });
        return output;
    }

    const Subject& subject_;
    const TraceD& t_;
    double factor_;
    double u_;
    double sum_keys_;
    std::array<Tolerance, kStageCount> largest_;
    TensorD q_, k_;                  // norms
    TensorD q_squares_, k_squares_;  // of the entries
    TensorD v_;                      // its finite entries
    std::vector<double> own_, shared_;
};

Index columns(const TensorD& tensor, Index unknown) {
    return tensor.empty() ? unknown : tensor.shape().d;
}

}  // namespace

Tolerance Bounds::of(std::string_view key) const {
    if (const auto at = gradients.find(key); at != gradients.end()) return at->second;
    const std::optional<Stage> stage = find_stage(key);
    return stage ? stages[index_of(*stage)] : logsumexp;
}

void Bounds::widen(std::string_view key, Tolerance by) {
    const std::optional<Stage> stage = find_stage(key);
    Tolerance& own = stage ? stages[index_of(*stage)] : logsumexp;
    own = own + by;
}

Bounds format_bounds(const Subject& subject, FloatFormat format) {
    constexpr double kAllowed = 3.0;
    const TraceD eager = in_short_format(subject, format);
    const double u = std::exp2(-1.0 - info(format).fraction_bits);
    const auto tolerance = [&](const TensorD& made, const TensorD& exact) {
        double most = 0.0;
        for (std::size_t n = 0; n < exact.values().size(); ++n)
            most = std::max(most, std::abs(finite_or_zero(made.values()[n] - exact.values()[n])));
        return Tolerance{kAllowed * most + u * largest_finite(exact), u};
    };
    Bounds bounds;
    for (std::size_t s = 0; s < kStageCount; ++s)
        bounds.stages[s] = tolerance(eager.stages[s], subject.reference.stages[s]);
    bounds.logsumexp = tolerance(eager.logsumexp, subject.reference.logsumexp);
    return bounds;
}

void widen_by_weights(const Subject& subject, const TraceD& stages, double roundoff,
                      Bounds& bounds) {
    constexpr double kSpread = 4.0;  // standard deviations of an error that is uniform in ±u
    constexpr double kLeast =
        0x1.0p-6;  // the least normal number of E4M3 for a largest weight of 1
    const Dimensions& n = subject.size;
    if (stages[Stage::context].empty()) return;
    TensorD entries(stages[Stage::context].shape());
    for_each_query(n, [&](Index b, Index h, Index i) {
        const Index g = h / (n.heads / n.kv_heads);
        const auto weights = stages[Stage::weights].matrix(b, h).row(i);
        double most = 0.0;
        for (const double weight : weights) most = std::max(most, finite_or_zero(weight));
        for (Index c = 0; c < n.d_v; ++c) {
            double squares = 0.0;
            for (Index j = 0; j < n.tk; ++j) {
                const double weight = finite_or_zero(weights[static_cast<std::size_t>(j)]);
                if (weight == 0.0) continue;
                const double each =
                    std::max(weight, kLeast * most) * finite_or_zero(stages[Stage::v](b, g, j, c));
                squares += each * each;
            }
            entries(b, h, i, c) = kSpread / std::sqrt(3.0) * roundoff * std::sqrt(squares);
        }
    });
    double most = 0.0;
    for (const double entry : std::as_const(entries).values()) most = std::max(most, entry);
    const auto shared = std::make_shared<const TensorD>(std::move(entries));
    bounds.widen("context", {most, 0.0, shared});
    bounds.widen("output", {most, 0.0});
}

Tolerance format_tolerance(const TensorD& expected, FloatFormat format) {
    const double u = std::exp2(-1.0 - info(format).fraction_bits);
    return {4.0 * u * largest_finite(expected), u};
}

Bounds forward_bounds(const Subject& subject, const TraceD& stages, double roundoff,
                      BoundsDetail detail) {
    const auto& [in, spec, size, allowed, reference, serving, screen, gate] = subject;
    const double factor = std::abs(score_factor(spec, size.d_k));
    const double retained = 1.0 / (1.0 - spec.active_dropout());
    Analysis analysis(stages, roundoff);
    analysis.project(in);
    if (spec.qk_norm) analysis.normalise(in, *spec.qk_norm, size.d_k);
    if (spec.rope)
        analysis.rotate(real(std::max(size.tk, size.tq + size.query_offset)),
                        largest_turn(*spec.rope), spec);
    analysis.score(in, spec, size.d_k);
    // A fault in the factor makes the scaled scores larger, and their errors.
    const double scores = largest_finite(stages[Stage::scores]);
    const double scaled = largest_finite(stages[Stage::scaled]);
    const double grown = scores > 0.0 ? scaled / scores : 0.0;
    const double bias = spec.mask.bias ? largest_finite(cast<double>(spec.mask.bias->values)) : 0.0;
    analysis.softmax(std::max(factor, grown), scaled + bias, spec.softcap.value_or(0.0),
                     largest_finite(in.params[Param::sinks]), size.tk);
    analysis.mix(largest_finite(stages[Stage::v]), retained, std::max(1.0, largest_finite(gate)),
                 size.tk, in.params[Param::w_o], in.params[Param::b_o]);
    Bounds bounds = analysis.bounds;
    if (detail == BoundsDetail::arrays) return bounds;
    EntryBounds(subject, stages, analysis, std::max(factor, grown), roundoff).tighten(bounds);
    return bounds;
}

Bounds bounds_of_stages(const TraceD& stages, double roundoff) {
    constexpr Index kWidth = 256;
    const TensorD& weights = stages[Stage::weights];
    const Index keys = columns(weights, columns(stages[Stage::masked], kWidth));
    Analysis analysis(stages, roundoff);
    const double logits =
        std::max({largest_finite(stages[Stage::masked]), largest_finite(stages[Stage::scaled]),
                  largest_finite(stages[Stage::scores]), largest_finite(stages.logsumexp), 1.0});
    for (const Stage stage :
         {Stage::q_rot, Stage::k_rot, Stage::q_norm, Stage::k_norm, Stage::q, Stage::k, Stage::v})
        analysis.e(stage) = analysis.sum(kWidth) * largest_finite(stages[stage]);
    for (const Stage stage : {Stage::scores, Stage::scaled, Stage::biased, Stage::masked})
        analysis.e(stage) = analysis.sum(kWidth) * logits;
    analysis.weigh(logits, keys);
    const double relative = analysis.bounds.stages[index_of(Stage::weights)].relative;
    analysis.e(Stage::context) = relative * largest_finite(stages[Stage::context]);
    analysis.e(Stage::output) = 4.0 * relative * largest_finite(stages[Stage::output]);
    return analysis.bounds;
}

Bounds uniform_bounds(Tolerance tolerance) {
    Bounds bounds;
    bounds.stages.fill(tolerance);
    bounds.logsumexp = tolerance;
    return bounds;
}

}  // namespace attn::verify
