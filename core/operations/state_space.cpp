// A selective state-space layer on the values, one recurrence a column c of V, N states n each (the layer S6 of Mamba;
// u = v_i, all of one query head):
//   Δ_i = softplus(u_i W_Δ + b_Δ),  B_i = u_i W_B,  C_i = u_i W_C,  A = −exp(A_log)
//   A'_i = exp(Δ_i A),  B'_i = (exp(Δ_i A) − 1)/A · B_i (zoh) or Δ_i B_i (euler)
//   h_i = A'_i ∘ h_{i−1} + B'_i u_i,  context_i = Σ_n C_i h_i + D u_i
// Unrolled, column c of the context is M_c times column c of V, M_c[i,j] = Σ_n C_i (Π_{k=j+1..i} A'_k) B'_j for j <= i.
// It never looks at Q and K, and is causal whatever the options say. A masked token has Δ = 0: it is not read, and the
// state stays. Its own row still reads the state by its C, without D.
// W_Δ is d_v by d_v, where Mamba has one of low rank. Source: Gu & Dao 2023, arXiv:2312.00752.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/call.h"
#include "core/cast.h"
#include "core/kernels/reference_parts.h"
#include "core/operations/parts.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
enum Params : std::size_t { kALog, kWB, kWC, kWDelta, kBDelta, kSkip };

double softplus(double x) {
    return x > 0.0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// (exp(ΔA) − 1)/A, which is Δ where A is 0.
double zoh(double delta, double a) {
    const double x = delta * a;
    if (std::abs(x) > 1.0) return std::expm1(x) / a;
    return x == 0.0 ? delta : delta * (std::expm1(x) / x);
}

/// (x eˣ − eˣ + 1) / x²: how (eˣ − 1)/A with x = ΔA changes with A, over Δ². As Σ_n (n + 1) xⁿ / (n + 2)! where the
/// difference would cancel.
double zoh_slope(double x) {
    if (std::abs(x) > 0.5) return (x * std::exp(x) - std::expm1(x)) / (x * x);
    double sum = 0.0;
    double term = 0.5;  // xⁿ / (n + 2)!
    for (int n = 0; n < 14; ++n) {
        sum += (n + 1) * term;
        term *= x / (n + 3);
    }
    return sum;
}

/// What one head is made from.
struct Head {
    ConstViewD a_log, w_b, w_c, w_delta, b_delta, skip;
    Index width;   // d_v
    Index states;  // N
    bool zoh;
    double a(Index c, Index n) const { return -std::exp(a_log(c, n)); }
};

Head head_of(const OperationParamsD& params, const OperationSpec& spec, Index h) {
    const auto of = [&](Params which) { return params.tensors[which].matrix(0, h); };
    return {of(kALog),      of(kWB),           of(kWC),
            of(kWDelta),    of(kBDelta),       of(kSkip),
            of(kALog).rows, of(kALog).columns, spec.discretise == Discretise::zoh};
}

/// What one head computes.
struct HeadStages {
    ViewD delta, b, c, a_bar, b_bar, states;
};

template <class Trace>
HeadStages stages_of(Trace& trace, Index b, Index h) {
    const auto of = [&](std::string_view key) { return trace[key].matrix(b, h); };
    return {of("delta"), of("b"), of("c"), of("a_bar"), of("b_bar"), of("states")};
}

double delta_before(const Head& head, ConstViewD u, Index i, Index c) {
    double sum = head.b_delta(0, c);
    for (Index k = 0; k < head.width; ++k) sum += u(i, k) * head.w_delta(k, c);
    return sum;
}

/// Δ, B, C, A', B' and h of token i. `open`: it may be read.
void take_token(const Head& head, ConstViewD u, Index i, bool open, const HeadStages& f) {
    for (Index c = 0; c < head.width; ++c)
        f.delta(i, c) = open ? softplus(delta_before(head, u, i, c)) : 0.0;
    for (Index c = 0; c < head.width; ++c)
        for (Index n = 0; n < head.states; ++n) {
            const Index at = c * head.states + n;
            const double step = f.delta(i, c) * head.a(c, n);
            const double before = i > 0 ? f.states(i - 1, at) : 0.0;
            f.a_bar(i, at) = std::exp(step);
            if (open)
                f.b_bar(i, at) =
                    (head.zoh ? zoh(f.delta(i, c), head.a(c, n)) : f.delta(i, c)) * f.b(i, n);
            f.states(i, at) = open ? f.a_bar(i, at) * before + f.b_bar(i, at) * u(i, c) : before;
        }
}

void read_states(const Head& head, ConstViewD u, Index i, bool open, const HeadStages& f,
                 ViewD context) {
    for (Index c = 0; c < head.width; ++c) {
        double sum = open ? head.skip(0, c) * u(i, c) : 0.0;
        for (Index n = 0; n < head.states; ++n) sum += f.c(i, n) * f.states(i, c * head.states + n);
        context(i, c) = sum;
    }
}

/// implied[i,j] += share · Σ_n C_i (Π_{k=j+1..i} A'_k) B'_j of column c.
template <class Scalar>
void add_implied(MatrixView<const Scalar> readout, MatrixView<const Scalar> a_bar,
                 MatrixView<const Scalar> b_bar, Index c, double share, ViewD implied) {
    const Index states = readout.columns;
    for (Index j = 0; j < implied.columns; ++j)
        for (Index n = 0; n < states; ++n) {
            double carried = static_cast<double>(b_bar(j, c * states + n));
            for (Index i = j; i < implied.rows; ++i) {
                if (i > j) carried *= static_cast<double>(a_bar(i, c * states + n));
                implied(i, j) += share * static_cast<double>(readout(i, n)) * carried;
            }
        }
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD& params, const RunControl& control) {
    const Dimensions& size = call.size();
    ForwardPass pass(call, spec, {"delta", "b", "c", "a_bar", "b_bar", "states", "implied"});
    fill_q_k_v(call, pass.shared);
    const TraceD& given = pass.shared;
    const auto run = [&](Index b, Index h, Index g) {
        const Head head = head_of(params, spec, h);
        const HeadStages f = stages_of(pass.trace, b, h);
        const ConstViewD u = given[Stage::v].matrix(b, g);
        const std::vector<std::uint8_t> open = open_keys(call, b);
        add_product(u, head.w_b, f.b);
        add_product(u, head.w_c, f.c);
        for (Index i = 0; i < size.tq; ++i) {
            const bool is_open = open[i] != 0;
            take_token(head, u, i, is_open, f);
            read_states(head, u, i, is_open, f, pass.context.matrix(b, h));
        }
        for (Index c = 0; c < size.d_v; ++c)
            add_implied<double>(f.c, f.a_bar, f.b_bar, c, 1.0 / static_cast<double>(size.d_v),
                                pass.trace["implied"].matrix(b, h));
        follow_row_policy(call, open, pass.context.matrix(b, h),
                          pass.trace["implied"].matrix(b, h));
    };
    return pass.run(control, run);
}

/// One head on the way back, the last token first.
class HeadGradient {
  public:
    HeadGradient(const Head& head, ConstViewD u, const HeadStages& f, const HeadStages& d,
                 std::vector<ViewD> d_params, ViewD d_u)
        : head_(head), u_(u), f_(f), d_(d), d_params_(std::move(d_params)), d_u_(d_u) {}

    void token(Index i, bool open, ConstViewD d_context) {
        for (Index c = 0; c < head_.width; ++c) {
            if (open) skip(i, c, d_context(i, c));
            for (Index n = 0; n < head_.states; ++n) state(i, c, n, open, d_context(i, c));
        }
        if (!open) return;
        for (Index c = 0; c < head_.width; ++c) step(i, c);
    }

    // forward:  B = u W_B,  C = u W_C  so  d_u += d_B W_Bᵀ + d_C W_Cᵀ,  d_W_B = uᵀ d_B,  d_W_C = uᵀ d_C
    void projections() {
        add_product_transposed(d_.b, head_.w_b, d_u_);
        add_product_transposed(d_.c, head_.w_c, d_u_);
        add_transposed_product(u_, d_.b, d_params_[kWB]);
        add_transposed_product(u_, d_.c, d_params_[kWC]);
    }

  private:
    // forward:  context = … + D u  so  d_D += d_context u,  d_u += d_context D
    void skip(Index i, Index c, double d_context) {
        d_params_[kSkip](0, c) += d_context * u_(i, c);
        d_u_(i, c) += d_context * head_.skip(0, c);
    }

    // forward:  h_i = A'_i h_{i−1} + B'_i u_i,  context_i = Σ C_i h_i
    // so        d_h_i = C_i d_context_i + A'_{i+1} d_h_{i+1},  d_A' = d_h h_{i−1},  d_B' = d_h u,  d_u += d_h B'
    void state(Index i, Index c, Index n, bool open, double d_context) {
        const Index at = c * head_.states + n;
        double d_h = f_.c(i, n) * d_context;
        if (i + 1 < u_.rows) d_h += f_.a_bar(i + 1, at) * d_.states(i + 1, at);
        d_.c(i, n) += d_context * f_.states(i, at);
        d_.states(i, at) = d_h;
        if (!open) return;
        d_.a_bar(i, at) = i > 0 ? d_h * f_.states(i - 1, at) : 0.0;
        d_.b_bar(i, at) = d_h * u_(i, c);
        d_u_(i, c) += d_h * f_.b_bar(i, at);
        discretised(i, c, n);
    }

    // forward:  A' = exp(ΔA),  B' = E B, E = (exp(ΔA) − 1)/A or Δ
    // so        d_Δ += d_A' A A' + d_B' B ∂E/∂Δ,  d_A += d_A' Δ A' + d_B' B ∂E/∂A,  d_A_log = A d_A
    void discretised(Index i, Index c, Index n) {
        const Index at = c * head_.states + n;
        const double a = head_.a(c, n), delta = f_.delta(i, c), retained = f_.a_bar(i, at);
        const double d_a_bar = d_.a_bar(i, at), d_b_bar = d_.b_bar(i, at);
        const double to_b = head_.zoh ? zoh(delta, a) : delta;
        const double by_delta = head_.zoh ? retained : 1.0;
        const double by_a = head_.zoh ? delta * delta * zoh_slope(delta * a) : 0.0;
        d_.b(i, n) += d_b_bar * to_b;
        d_.delta(i, c) += d_a_bar * a * retained + d_b_bar * f_.b(i, n) * by_delta;
        d_params_[kALog](c, n) += a * (d_a_bar * delta * retained + d_b_bar * f_.b(i, n) * by_a);
    }

    // forward:  Δ = softplus(u W_Δ + b_Δ)  so  d_before = d_Δ · sigmoid(before)
    void step(Index i, Index c) {
        const double d_before = d_.delta(i, c) * sigmoid(delta_before(head_, u_, i, c));
        d_params_[kBDelta](0, c) += d_before;
        for (Index k = 0; k < head_.width; ++k) {
            d_params_[kWDelta](k, c) += u_(i, k) * d_before;
            d_u_(i, k) += head_.w_delta(k, c) * d_before;
        }
    }

    const Head& head_;
    ConstViewD u_;
    HeadStages f_;
    HeadStages d_;
    std::vector<ViewD> d_params_;
    ViewD d_u_;
};

Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    const Dimensions& size = call.size();
    Result<OperationTraceD> f = forward(call, spec, params, control);
    if (!f) return f;
    BackwardPass pass(call, spec, *f, upstream, {"delta", "b", "c", "a_bar", "b_bar", "states"});
    const auto run = [&](Index b, Index h, Index g) {
        std::vector<ViewD> d_params;
        for (TensorD& tensor : pass.made.params.tensors) d_params.push_back(tensor.matrix(0, h));
        const std::vector<std::uint8_t> open = open_keys(call, b);
        const Head head = head_of(params, spec, h);
        HeadGradient gradient(head, std::as_const(*f)["v"].matrix(b, g), stages_of(*f, b, h),
                              stages_of(pass.made, b, h), std::move(d_params),
                              pass.d[Stage::v].matrix(b, g));
        for (Index i = size.tq - 1; i >= 0; --i)
            gradient.token(i, open[i] != 0, std::as_const(pass.d)[Stage::context].matrix(b, h));
        gradient.projections();
    };
    return pass.run(control, run);
}

std::string refuses(const CallForm& form, const OperationSpec& spec) {
    if (spec.state < 1) return fmt::format("state is {}: it must be at least 1", spec.state);
    if (std::string two = refuse_two_sequences("state-space", form); !two.empty()) return two;
    return refuse_pair_options("state-space", form, Factor::not_used);
}

OperationCost cost(const Dimensions& size, const AttentionSpec&, const OperationSpec& spec) {
    const auto tokens = static_cast<double>(size.batch * size.heads * size.tq);
    const auto heads = static_cast<double>(size.batch * size.heads);
    const auto d_v = static_cast<double>(size.d_v), n = static_cast<double>(spec.state);
    OperationCost made;
    made.products = 2.0 * tokens * d_v * (2.0 * n + d_v)     // B, C, Δ
                    + 2.0 * tokens * d_v * (3.0 * n + 1.0);  // A' h, B' v, C h, D v
    made.elementwise = tokens * d_v * (4.0 * n + 3.0);
    made.stored = {{"N states of each column", heads * d_v * n},
                   {"Δ, B and C of one token", heads * (d_v + 2.0 * n)}};
    return made;
}

// clang-format off
/// b with softplus(b) log-uniform in [0.1, 1]: a token is remembered over 1 to 10 others. Mamba begins at [0.001, 0.1],
/// for thousands of tokens.
double fresh_delta(double noise, const ParamEntry&) {
    const double uniform = 0.5 * std::erfc(-noise / std::sqrt(2.0));
    return std::log(std::expm1(std::exp(std::log(0.1) * (1.0 - uniform))));
}

constexpr OperationParam kStateSpaceParams[] = {
    {"a_log", "A_log", "A_log", Role::weight, Axis::d_v, Axis::state, "A = −exp(A_log), how fast states decay; initially A = −(n + 1).",
     [](double, const ParamEntry& at) { return std::log(static_cast<double>(at.column + 1)); }},
    {"w_b", "W_B", "W_B", Role::key, Axis::d_v, Axis::state, "From a value to B; initially normal with variance 1 / d_v.", per_rows},
    {"w_c", "W_C", "W_C", Role::query, Axis::d_v, Axis::state, "From a value to C; initially normal with variance 1 / d_v.", per_rows},
    {"w_delta", "W_delta", "W_Δ", Role::weight, Axis::d_v, Axis::d_v, "From a value to Δ; initially normal with variance 1 / d_v.", per_rows},
    {"b_delta", "b_delta", "b_Δ", Role::weight, Axis::one, Axis::d_v, "The bias of Δ; initially its softplus is log-uniform in [0.1, 1].",
     fresh_delta},
    {"d_skip", "D_skip", "D", Role::value, Axis::one, Axis::d_v, "How much of a token's own value is added; initially 1.",
     [](double, const ParamEntry&) { return 1.0; }},
};

}  // namespace

OperationInfo state_space_row() {
    static constexpr std::string_view settings[] = {"state", "discretise"};
    constexpr std::string_view kSource = "Gu & Dao 2023, arXiv:2312.00752, §3; Gu et al. 2022, arXiv:2206.11893 (A)";
    static const std::vector<OperationStage> stages = stages_of(kSource, kValues, {
        {"delta", "Δ", "Δ", "Step sizes",
         R"(\Delta = \mathrm{softplus}(V\,W_\Delta + b_\Delta))",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_delta", Lights::column}, OperationOperand{"b_delta", Lights::column}},
         "How much each token counts, for each column: a large step lets it in and forgets the rest, 0 skips it.", {}},
        {"b", "B", "B", "Input of each token to the states",
         R"(B = V\,W_B)",
         Axis::query, Axis::state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_b", Lights::column}},
         "Which states a token writes to; it acts as a key.", {}},
        {"c", "C", "C", "Readout of each token from the states",
         R"(C = V\,W_C)",
         Axis::query, Axis::state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"v", Lights::same_row}, OperationOperand{"w_c", Lights::column}},
         "Which states a token reads; it acts as a query.", {}},
        {"a_bar", "A′", "A′", "Decay of the state",
         R"(A'_i = \exp(\Delta_i\,A)\text{, }A = -\exp(A_\mathrm{log}))",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
         {OperationOperand{"delta", Lights::same_row}, OperationOperand{"a_log", Lights::same_cell}},
         "The factor of each old state, between 0 and 1.", {}},
        {"b_bar", "B′", "B′", "What a token adds to the state",
         R"(B'_i = \frac{\exp(\Delta_i\,A) - 1}{A} \cdot B_i)",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"delta", Lights::same_row}, OperationOperand{"a_log", Lights::same_cell}, OperationOperand{"b", Lights::same_row}},
         "The factor of the token's value; with euler it is Δ B.", {}},
        {"states", "h", "h", "States after each token",
         R"(h_i = A'_i\,h_{i-1} + B'_i\,v_i)",
         Axis::query, Axis::value_state, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"a_bar", Lights::same_row}, OperationOperand{"b_bar", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "The whole memory: N numbers for each column of V, for any length.", {}},
        {"implied", "Â", "implied", "Implied weights, mean of the columns",
         R"(\hat{A}_{i,j} = \frac{1}{d_v} \cdot \sum_c \sum_n C_{i,n}\,(\prod_{k=j+1}^{i} A'_k)\,B'_j)",
         Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
         {OperationOperand{"c", Lights::same_row}, OperationOperand{"a_bar", Lights::same_row}, OperationOperand{"b_bar", Lights::row_of_column}},
         "The factor of each value, averaged over the columns of V, which have separate matrices. Signed; rows need not sum to 1.", {}},
        context_row(R"(\mathrm{context}_i = \sum_n C_{i,n}\,h_{i,n} + D\,v_i)",
                    "Each token reads the states, and adds its own value times D."),
    });
    return {Operation::state_space, "state-space", "Selective state space",
        R"(h_i = A'_i\,h_{i-1} + B'_i\,v_i\text{, }\mathrm{context}_i = C_i\,h_i + D\,v_i)",
        "A recurrence over the values instead of attention. Each token chooses its step; there are no queries or keys, and it reads only earlier tokens.",
        kSource, false, stages, kStateSpaceParams, cost, refuses, forward, backward, "state space", settings};
}
// clang-format on

Result<Tensor> implied_of_column(const OperationTrace& forward, Index column) {
    const Tensor& mean = forward["implied"];
    const Index columns = forward["context"].shape().d;
    if (column < 0 || column >= columns)
        return bad_input(fmt::format("column is {}: it must be 0 to {}", column, columns - 1));
    if (forward.operation != Operation::state_space) return mean;
    TensorD implied(mean.shape());
    for (Index b = 0; b < mean.shape().b; ++b)
        for (Index h = 0; h < mean.shape().h; ++h)
            add_implied<float>(forward["c"].matrix(b, h), forward["a_bar"].matrix(b, h),
                               forward["b_bar"].matrix(b, h), column, 1.0, implied.matrix(b, h));
    for (std::size_t n = 0; n < implied.values().size(); ++n)  // rows without keys, under nan
        if (std::isnan(mean.values()[n])) implied.values()[n] = kNan;
    return cast<float>(implied);
}

}  // namespace attn
