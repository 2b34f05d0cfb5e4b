// Linear attention: softmax's exp(q·k) becomes φ(q)·φ(k) with φ = elu + 1 > 0, so that the sums over keys can be taken
// before any query is known:
//   S = Σ_j φ(k_j) v_jᵀ,  z = Σ_j φ(k_j),  context_i = Sᵀ φ(q_i) / (φ(q_i) · z)
// Causal: the sums up to the query's own key, S_j = S_{j−1} + φ(k_j) v_jᵀ. The published code adds 1e−6 to the
// denominator; the paper and this file do not. There is no scale: φ is applied to q and k as they are.
// φ of an entry near −800 is 0 in float64. So row a of S and z is worked on over e^scale_a, the logarithm of the largest φ of
// that column of K so far where it is below −100, and 0 elsewhere; the trace has S and z as they are.
// Under EmptyRows::nan the NaN of a row without keys travels to its query; it read no key.
// Source: Katharopoulos et al. 2020, arXiv:2006.16236.

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/call.h"
#include "core/kernels/reference_parts.h"
#include "core/operations/parts.h"
#include "core/rows.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// elu(x) + 1 and its derivative, and the logarithms of both.
double feature(double x) { return x > 0.0 ? x + 1.0 : std::exp(x); }
double log_feature(double x) { return x > 0.0 ? std::log1p(x) : x; }
double log_feature_slope(double x) { return std::min(x, 0.0); }

TensorD features(const TensorD& from) {
    TensorD made(from.shape());
    for (std::size_t n = 0; n < made.values().size(); ++n)
        made.values()[n] = feature(from.values()[n]);
    return made;
}

/// e^(log − scale), 0 of what is 0.
double over(double log, double scale) {
    return log == -std::numeric_limits<double>::infinity() ? 0.0 : std::exp(log - scale);
}
/// φ over e^scale.
double scaled_feature(double x, double scale) {
    return scale == 0.0 ? feature(x) : over(log_feature(x), scale);
}
double scale_of(double x) { return x < -100.0 ? x : 0.0; }

/// The state that a query reads: after key `keys` − 1. Without causal there is one only.
struct State {
    std::span<double> s;      // [d_k · d_v]
    std::span<double> z;      // [d_k]
    std::span<double> scale;  // [d_k]

    /// f(entry, where it is in S) for row a of S.
    template <class Function>
    void for_row(std::size_t a, const Function& f) const {
        const std::size_t width = s.size() / z.size();
        for (std::size_t c = 0; c < width; ++c) f(s[a * width + c], a * width + c);
    }
    void multiply(std::size_t a, double factor) const {
        const auto times = [&](double& x, std::size_t) { x = x == 0.0 ? 0.0 : x * factor; };
        for_row(a, times);
        times(z[a], a);
    }
};
class States {
  public:
    States(const CallD& call, OperationTraceD& trace, TensorD& scales)
        : trace_(trace), scales_(scales), causal_(call.spec().mask.causal.has_value()) {}
    bool causal() const { return causal_; }
    State last(Index b, Index g) {
        const Shape shape = trace_["state"].shape();
        return {{&trace_["state"](b, g, 0, 0), static_cast<std::size_t>(shape.t * shape.d)},
                trace_["normaliser"].matrix(b, g).row(0),
                scales_.matrix(b, g).row(scales_.shape().t - 1)};
    }
    State after(Index b, Index g, Index j) {
        if (!causal_) return last(b, g);
        return {trace_["states"].matrix(b, g).row(j), trace_["normalisers"].matrix(b, g).row(j),
                scales_.matrix(b, g).row(j)};
    }

    /// Every state becomes itself times e^(sign · scale).
    void unscale(double sign) {
        const auto unscale_one = [&](State state) {
            for (std::size_t a = 0; a < state.z.size(); ++a)
                if (state.scale[a] != 0.0) state.multiply(a, std::exp(sign * state.scale[a]));
        };
        const Shape shape = scales_.shape();
        for (Index b = 0; b < shape.b; ++b)
            for (Index g = 0; g < shape.h; ++g) {
                unscale_one(last(b, g));
                for (Index j = 0; causal_ && j < shape.t; ++j) unscale_one(after(b, g, j));
            }
    }

  private:
    OperationTraceD& trace_;
    TensorD& scales_;
    bool causal_;
};

/// One row a state, with causal one a key; nothing was added yet.
TensorD first_scales(const CallD& call) {
    const Dimensions& size = call.size();
    const Index states = call.spec().mask.causal ? size.tk : 1;
    TensorD scales(Shape{size.batch, size.kv_heads, states, size.d_k});
    std::ranges::fill(scales.values(), -std::numeric_limits<double>::infinity());
    return scales;
}

/// What a later state's gradient does to an earlier one: each over e^scale of its own.
void add_later(State to, State from) {
    for (std::size_t a = 0; a < to.z.size(); ++a) {
        const double factor = over(to.scale[a], from.scale[a]);
        to.for_row(a, [&](double& s, std::size_t n) { s += factor * from.s[n]; });
        to.z[a] += factor * from.z[a];
    }
}

void copy(State to, State from) {
    std::ranges::copy(from.s, to.s.begin());
    std::ranges::copy(from.z, to.z.begin());
}

/// forward:  S += φ(k) vᵀ,  z += φ(k)
void add_key(State to, std::span<const double> k, std::span<const double> v) {
    for (std::size_t a = 0; a < k.size(); ++a) {
        const double before = std::exchange(to.scale[a], std::max(to.scale[a], scale_of(k[a])));
        if (before != to.scale[a]) to.multiply(a, over(before, to.scale[a]));
        const double phi = scaled_feature(k[a], to.scale[a]);
        to.z[a] += phi;
        to.for_row(a, [&](double& s, std::size_t n) { s += phi * v[n - a * v.size()]; });
    }
}

void fill_states(const TraceD& shared, States& states, Index b, Index g,
                 const std::vector<std::uint8_t>& open) {
    const auto k = shared[Stage::k].matrix(b, g), v = shared[Stage::v].matrix(b, g);
    for (Index j = 0; j < v.rows; ++j) {
        const State now = states.after(b, g, j);
        if (states.causal() && j > 0) {
            copy(now, states.after(b, g, j - 1));
            std::ranges::copy(states.after(b, g, j - 1).scale, now.scale.begin());
        }
        if (open[j] != 0) add_key(now, k.row(j), v.row(j));
    }
    if (states.causal()) copy(states.last(b, g), states.after(b, g, v.rows - 1));
}

/// Whether query i sees some key.
bool sees(const std::vector<std::uint8_t>& open, Index keys) {
    return std::find(open.begin(), open.begin() + keys, std::uint8_t{1}) != open.begin() + keys;
}

/// A query as it reads the state: φ(q) e^scale over its largest entry, e^log_top, which context does not depend on. So a row
/// of q near −800, whose φ float64 cannot hold, still reads.
struct Query {
    std::vector<double> phi;
    double log_top = -std::numeric_limits<double>::infinity();
};
Query query_of(std::span<const double> q, const State& state) {
    Query made;
    for (std::size_t a = 0; a < q.size(); ++a)
        made.log_top = std::max(made.log_top, log_feature(q[a]) + state.scale[a]);
    for (std::size_t a = 0; a < q.size(); ++a)
        made.phi.push_back(std::exp(log_feature(q[a]) + state.scale[a] - made.log_top));
    return made;
}

/// φ(q)·φ(k) over the query's e^log_top.
double product(const Query& query, std::span<const double> k, const State& state) {
    double sum = 0.0;
    for (std::size_t a = 0; a < k.size(); ++a)
        sum += query.phi[a] * scaled_feature(k[a], state.scale[a]);
    return sum;
}

/// context_i = Sᵀ φ(q) / denominator.
void read_state(State state, std::span<const double> phi, double denominator,
                std::span<double> context) {
    for (std::size_t a = 0; a < phi.size(); ++a)
        for (std::size_t c = 0; c < context.size(); ++c)
            context[c] += phi[a] * state.s[a * context.size() + c];
    for (double& value : context) value /= denominator;
}

/// With the states over e^scale.
Result<OperationTraceD> scaled_forward(const CallD& call, const OperationSpec& spec,
                                       const RunControl& control, TensorD& scales) {
    const Dimensions& size = call.size();
    ForwardPass pass(call, spec,
                     {"states", "normalisers", "state", "normaliser", "denominator", "implied"});
    OperationTraceD& trace = pass.trace;
    fill_q_k_v(call, pass.shared);
    const TraceD& shared = pass.shared;
    trace["phi_q"] = features(shared[Stage::q]);
    trace["phi_k"] = features(shared[Stage::k]);
    States states(call, trace, scales);
    const auto row = [&](Index b, Index h, Index g, Index i,
                         const std::vector<std::uint8_t>& open) {
        const Index keys = keys_before(call, i);
        const auto implied = trace["implied"].matrix(b, h).row(i);
        if (!sees(open, keys)) {
            const double value = call.spec().empty_rows == EmptyRows::nan ? kNan : 0.0;
            std::ranges::fill(implied, value);
            std::ranges::fill(pass.context.matrix(b, h).row(i), value);
            return;
        }
        const State state = states.after(b, g, keys - 1);
        const Query query = query_of(shared[Stage::q].matrix(b, h).row(i), state);
        const double denominator = dot(query.phi, state.z);
        trace["denominator"](b, h, i, 0) = denominator * std::exp(query.log_top);
        read_state(state, query.phi, denominator, pass.context.matrix(b, h).row(i));
        for (Index j = 0; j < keys; ++j)
            if (open[j] != 0)
                implied[j] =
                    product(query, shared[Stage::k].matrix(b, g).row(j), state) / denominator;
    };
    const auto run = [&](Index b, Index h, Index g) {
        const std::vector<std::uint8_t> open = open_keys(call, b);
        if (h % (size.heads / size.kv_heads) == 0) fill_states(shared, states, b, g, open);
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i) row(b, h, g, i, open);
    };
    return pass.run(control, run);
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD&, const RunControl& control) {
    TensorD scales = first_scales(call);
    Result<OperationTraceD> made = scaled_forward(call, spec, control, scales);
    if (made) States(call, *made, scales).unscale(1.0);
    return made;
}

/// The way back: first what each query does to the state that it read, then the keys in reverse order.
class Gradient {
  public:
    /// The gradients of states are those of the scaled ones.
    Gradient(const CallD& call, OperationTraceD& f, TensorD& scales, TraceD& d,
             OperationTraceD& made)
        : call_(call),
          f_(f),
          d_(d),
          made_(made),
          states_(call, f, scales),
          d_states_(call, made, scales) {}

    // forward:  context = Sᵀ φ / D,  D = φ · z
    // so        d_φ = S d_context / D + z d_D,  d_S += φ d_contextᵀ / D,  d_z += φ d_D,  d_D = −d_context · context / D
    // φ and D are those of query_of(), S and z over e^scale, d_q = d_φ φ'(q) with both over e^(log_top − scale).
    void query(Index b, Index h, Index g, Index i, const std::vector<std::uint8_t>& open) {
        const auto d_phi = made_["phi_q"].matrix(b, h).row(i);
        const auto d_q = d_[Stage::q].matrix(b, h).row(i);
        const Index keys = keys_before(call_, i);
        if (!sees(open, keys)) {
            if (call_.spec().empty_rows == EmptyRows::nan) {
                std::ranges::fill(d_phi, kNan);
                std::ranges::fill(d_q, kNan);
            }
            return;
        }
        const auto q = f_["q"].matrix(b, h).row(i);
        const State state = states_.after(b, g, keys - 1);
        const auto [phi, log_top] = query_of(q, state);
        const std::span<const double> d_context = d_[Stage::context].matrix(b, h).row(i);
        const State d_state = d_states_.after(b, g, keys - 1);
        const double denominator = dot(phi, state.z);
        const double d_denominator =
            -dot(d_context, f_["context"].matrix(b, h).row(i)) / denominator;
        made_["denominator"](b, h, i, 0) = d_denominator * std::exp(-log_top);
        for (std::size_t a = 0; a < phi.size(); ++a) {
            d_phi[a] = state.z[a] * d_denominator;
            d_state.z[a] += phi[a] * d_denominator;
            for (std::size_t c = 0; c < d_context.size(); ++c) {
                const std::size_t n = a * d_context.size() + c;
                d_phi[a] += state.s[n] * d_context[c] / denominator;
                d_state.s[n] += phi[a] * d_context[c] / denominator;
            }
            const double log = state.scale[a] - log_top;
            d_q[a] = d_phi[a] * std::exp(log_feature_slope(q[a]) + log);
            if (d_phi[a] != 0.0) d_phi[a] *= std::exp(log);
        }
    }

    // forward:  S_j = S_{j−1} + φ(k_j) v_jᵀ  so  d_S_{j−1} += d_S_j,  d_φ(k_j) = d_S_j v_j + d_z_j,  d_v_j += d_S_jᵀ φ(k_j)
    void keys(Index b, Index g, const std::vector<std::uint8_t>& open) {
        for (Index j = call_.size().tk - 1; j >= 0; --j) {
            const State d_state = d_states_.after(b, g, j);
            if (open[j] != 0) key(b, g, j, d_state);
            if (d_states_.causal() && j > 0) add_later(d_states_.after(b, g, j - 1), d_state);
        }
        if (d_states_.causal())
            copy(d_states_.last(b, g), d_states_.after(b, g, call_.size().tk - 1));
    }

  private:
    void key(Index b, Index g, Index j, State d_state) {
        const std::span<const double> k = f_["k"].matrix(b, g).row(j);
        const std::span<const double> v = f_["v"].matrix(b, g).row(j);
        const auto d_phi = made_["phi_k"].matrix(b, g).row(j);
        const auto d_k = d_[Stage::k].matrix(b, g).row(j);
        const auto d_v = d_[Stage::v].matrix(b, g).row(j);
        for (std::size_t a = 0; a < k.size(); ++a) {
            const double scale = d_state.scale[a], phi = scaled_feature(k[a], scale);
            double d = d_state.z[a];
            for (std::size_t c = 0; c < v.size(); ++c) {
                d += d_state.s[a * v.size() + c] * v[c];
                d_v[c] += d_state.s[a * v.size() + c] * phi;
            }
            d_k[a] = d * over(log_feature_slope(k[a]), scale);
            d_phi[a] = d == 0.0 ? 0.0 : d * std::exp(-scale);
        }
    }

    const CallD& call_;
    OperationTraceD& f_;
    TraceD& d_;
    OperationTraceD& made_;
    States states_;
    States d_states_;
};

Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD&, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Dimensions& size = call.size();
    TensorD scales = first_scales(call);
    Result<OperationTraceD> f = scaled_forward(call, spec, control, scales);
    if (!f) return f;
    BackwardPass pass(
        call, spec, *f, upstream,
        {"states", "normalisers", "state", "normaliser", "phi_q", "phi_k", "denominator"});
    Gradient gradient(call, *f, scales, pass.d, pass.made);
    const Index sharing = size.heads / size.kv_heads;
    const auto run = [&](Index b, Index h, Index g) {
        const std::vector<std::uint8_t> open = open_keys(call, b);
        for (Index i = 0; i < size.tq && !control.stop.stop_requested(); ++i)
            gradient.query(b, h, g, i, open);
        if (h % sharing == sharing - 1) gradient.keys(b, g, open);
    };
    return pass.run(control, run, [&] { States(call, pass.made, scales).unscale(-1.0); });
}

std::string refuses(const CallForm& form, const OperationSpec&) {
    return refuse_pair_options("linear", form, Factor::not_used);
}

OperationCost cost(const Dimensions& size, const AttentionSpec&, const OperationSpec&) {
    const auto queries = static_cast<double>(size.batch * size.heads * size.tq);
    const auto keys = static_cast<double>(size.batch * size.kv_heads * size.tk);
    const auto groups = static_cast<double>(size.batch * size.kv_heads);
    const auto d_k = static_cast<double>(size.d_k), d_v = static_cast<double>(size.d_v);
    OperationCost made;
    made.products = 2.0 * (keys * d_k * d_v + queries * d_k * (d_v + 1.0));
    made.elementwise = 2.0 * keys * d_k + queries * (d_k + d_v);
    made.stored = {{"S and z of each head", groups * d_k * (d_v + 1.0)}};
    return made;
}

// clang-format off
}  // namespace

OperationInfo linear_row() {
    constexpr std::string_view kSource = "Katharopoulos et al. 2020, arXiv:2006.16236";
    static const std::vector<OperationStage> stages = stages_of(kSource, std::span(kUpToMask).first(5), {
        {"phi_q", "φ(Q)", "φ(Q)", "Features of queries",
         R"(\phi(Q) = \mathrm{elu}(Q) + 1)",
         Axis::query, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"q", Lights::same_cell}},
         "Each entry above 0 grows by 1, each below becomes its exponential: no feature is negative.", {}},
        {"phi_k", "φ(K)", "φ(K)", "Features of keys",
         R"(\phi(K) = \mathrm{elu}(K) + 1)",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"k", Lights::same_cell}},
         "The same for the keys, so every pair has a positive match.", {}},
        {"states", "S_j", "S_j", "State after each key",
         R"(S_j = S_{j-1} + \phi(k_j)\,v_j^\top)",
         Axis::key, Axis::key_value, HeadAxis::key_value, Exists::with_causal, ColorScale::diverging, Role::value,
         {OperationOperand{"phi_k", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "The memory of all earlier keys: one matrix that each key adds to.", {}},
        {"normalisers", "z_j", "z_j", "Normaliser after each key",
         R"(z_j = z_{j-1} + \phi(k_j))",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::with_causal, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_k", Lights::same_row}},
         "The sum of the keys' features so far, for the denominator.", {}},
        {"state", "S", "S", "State",
         R"(S = \sum_j \phi(k_j)\,v_j^\top)",
         Axis::d_k, Axis::d_v, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"phi_k", Lights::column}, OperationOperand{"v", Lights::column}},
         "All keys and values in one matrix of d_k by d_v numbers, for any number of tokens.", {}},
        {"normaliser", "z", "z", "Normaliser",
         R"(z = \sum_j \phi(k_j))",
         Axis::one, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_k", Lights::column}},
         "The sum of the keys' features.", {}},
        {"denominator", "φ(q)·z", "φ(q)·z", "Denominator of each query",
         R"(\phi(q_i) \cdot z)",
         Axis::query, Axis::one, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"phi_q", Lights::same_row}, OperationOperand{"normaliser", Lights::same_row}},
         "The sum of the matches of a query.", {}},
        {"implied", "Â", "implied", "Implied weights",
         R"(\hat{A}_{i,j} = \frac{\phi(q_i) \cdot \phi(k_j)}{\phi(q_i) \cdot z})",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"phi_q", Lights::same_row}, OperationOperand{"phi_k", Lights::row_of_column}, OperationOperand{"denominator", Lights::same_row}},
         "The final factor of each value. No linear kernel computes it; rows sum to 1 as with softmax.", {}},
        context_row(R"(\mathrm{context}_i = \frac{S^\top\,\phi(q_i)}{\phi(q_i) \cdot z})",
                    "Each query reads the state with its features, divided by its denominator."),
    });
    return {Operation::linear, "linear", "Linear attention (elu + 1)",
        R"(\mathrm{context}_i = \frac{\phi(q_i)^\top \sum_j \phi(k_j)\,v_j^\top}{\phi(q_i)^\top \sum_j \phi(k_j)})",
        "φ(q)·φ(k) instead of exp(q·k): the sum over keys is one small matrix, the same for every query. There is no scale.",
        kSource, false, stages, {}, cost, refuses, forward, backward, "linear attention"};
}
// clang-format on

}  // namespace attn
