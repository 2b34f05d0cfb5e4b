// Attention as a recurrence on one matrix of each head, the state S [d_k, d_v]: keys write values to it, queries read it.
//   S'_i = α_i S_{i−1} (α_i a factor of each row),  S_i = S'_i + k_i u_iᵀ,  context_i = S_iᵀ q_i · scale / temperature
//   retention, gated-linear:  u_i = v_i
//   gated-delta, kda:         u_i = β_i (v_i − S'_iᵀ k_i): the key's old value is taken out as the new one comes in (the delta rule)
// α_i = exp(log_decay_i): one number a head (retention), one a head and token (gated-delta), or one a row of S too (gated-linear, kda).
// The delta rule has queries and keys of length 1, x / √(Σ x² + 1e−6) as the published kernels compute them.
// Unrolled: implied[i,j] = scale / temperature · q_iᵀ P_i … P_{j+1} k_j β_j for j ≤ i with P_i = (I − β_i k_i k_iᵀ) diag(α_i), where
// without the delta rule P_i = diag(α_i) and β_j = 1.
// A recurrence is causal whatever the options say. A masked token writes nothing and α = 1: the state stays. Its own row still reads.
// Sources: tables.cpp.

#include <algorithm>
#include <cmath>

#include "core/call.h"
#include "core/kernels/reference_parts.h"
#include "core/operations/parts.h"
#include "core/stages.h"

namespace attn {
namespace {

constexpr double kLengthEpsilon = 1e-6;  // below the root of a vector's length
enum Params : std::size_t { kLogDecay, kBeta };

struct Rule {
    bool delta;        // the delta rule, else keys only add
    bool per_token;    // α has a number for each token
    bool per_channel;  // α has a number for each row of S
};
Rule rule_of(Operation operation) {
    return {.delta = operation == Operation::gated_delta || operation == Operation::kda,
            .per_token = operation != Operation::retention,
            .per_channel = operation == Operation::gated_linear || operation == Operation::kda};
}

double length_of(std::span<const double> x) {
    double squares = kLengthEpsilon;
    for (const double each : x) squares += each * each;
    return std::sqrt(squares);
}

TensorD unit_rows(const TensorD& from) {
    TensorD made(from.shape());
    const auto rows = static_cast<std::size_t>(from.shape().d);
    for (std::size_t n = 0; n < made.values().size(); n += rows) {
        const auto x = from.values().subspan(n, rows);
        const double length = length_of(x);
        for (std::size_t a = 0; a < rows; ++a) made.values()[n + a] = x[a] / length;
    }
    return made;
}

// forward:  y = x / n, n = √(Σ x² + ε)  so  d_x = (d_y − y (y · d_y)) / n
/// Rows whose d_y is 0 keep 0, even where x is NaN: these rows were not read.
void add_unit_gradient(const TensorD& x, const TensorD& y, const TensorD& d_y, TensorD& d_x) {
    const auto width = static_cast<std::size_t>(x.shape().d);
    for (std::size_t n = 0; n < x.values().size(); n += width) {
        const auto d = d_y.values().subspan(n, width);
        if (std::ranges::all_of(d, [](double each) { return each == 0.0; })) continue;
        const auto unit = y.values().subspan(n, width);
        double along = 0.0;
        for (std::size_t a = 0; a < width; ++a) along += unit[a] * d[a];
        const double length = length_of(x.values().subspan(n, width));
        for (std::size_t a = 0; a < width; ++a)
            d_x.values()[n + a] += (d[a] - unit[a] * along) / length;
    }
}

/// Inputs of one head; `q` and `k` have length 1 under the delta rule.
struct Head {
    ConstViewD q, k, v, log_decay, beta;
    std::vector<std::uint8_t> open;
    Rule rule;
    double factor;

    double decay(Index i, Index a) const {
        return std::exp(log_decay(rule.per_token ? i : 0, rule.per_channel ? a : 0));
    }
    double strength(Index i) const { return rule.delta ? beta(i, 0) : 1.0; }
};

/// Results of one head, or their gradients; `read` and `written` exist under the delta rule.
struct HeadStages {
    ViewD decay, read, written, states;

    double alpha(Index i, Index a) const { return decay(i, decay.columns > 1 ? a : 0); }
};

HeadStages stages_of(OperationTraceD& trace, const Rule& rule, Index b, Index h) {
    const auto of = [&](std::string_view key) { return trace[key].matrix(b, h); };
    if (!rule.delta) return {of("decay"), {}, {}, of("states")};
    return {of("decay"), of("read"), of("written"), of("states")};
}

Head head_of(const CallD& call, const TensorD& q, const TensorD& k, const TensorD& v,
             const OperationParamsD& params, const Rule& rule, Index b, Index h, Index g) {
    const auto of = [&](std::size_t which) {
        const TensorD& tensor = params.tensors[which];
        return tensor.matrix(tensor.shape().b > 1 ? b : 0, h);
    };
    return {q.matrix(b, h),
            k.matrix(b, g),
            v.matrix(b, g),
            of(kLogDecay),
            rule.delta ? of(kBeta) : ConstViewD{},
            open_keys(call, b),
            rule,
            score_factor(call.spec(), call.size().d_k)};
}

/// Row i of the states: [d_k · d_v], entry a · d_v + c.
std::span<const double> before(const HeadStages& f, Index i) {
    return i > 0 ? f.states.row(i - 1) : std::span<double>();
}

void take_token(const Head& head, Index i, const HeadStages& f) {
    const Index width = head.v.columns;
    const auto state = f.states.row(i);
    const bool open = head.open[i] != 0;
    for (Index a = 0; a < f.decay.columns; ++a) f.decay(i, a) = open ? head.decay(i, a) : 1.0;
    if (const auto old = before(f, i); !old.empty())
        for (Index n = 0; n < std::ssize(old); ++n)
            state[n] = open ? f.alpha(i, n / width) * old[n] : old[n];
    if (!open) return;
    for (Index c = 0; c < width; ++c) {
        double written = head.v(i, c);
        if (head.rule.delta) {
            for (Index a = 0; a < head.k.columns; ++a)
                f.read(i, c) += state[a * width + c] * head.k(i, a);
            written = f.written(i, c) = head.strength(i) * (written - f.read(i, c));
        }
        for (Index a = 0; a < head.k.columns; ++a) state[a * width + c] += head.k(i, a) * written;
    }
}

void read_state(const Head& head, Index i, const HeadStages& f, ViewD context) {
    const auto state = f.states.row(i);
    for (Index c = 0; c < context.columns; ++c) {
        double sum = 0.0;
        for (Index a = 0; a < head.q.columns; ++a)
            sum += head.q(i, a) * state[a * context.columns + c];
        context(i, c) = head.factor * sum;
    }
}

/// implied[i,j], from the query's own token backwards: `w` is q_i carried back through P_i … P_{j+1}.
void fill_implied(const Head& head, const HeadStages& f, ViewD implied) {
    std::vector<double> w(static_cast<std::size_t>(head.q.columns));
    for (Index i = 0; i < implied.rows; ++i) {
        for (Index a = 0; a < head.q.columns; ++a) w[a] = head.factor * head.q(i, a);
        for (Index j = i; j >= 0; --j) {
            if (head.open[j] == 0) continue;
            for (Index a = 0; a < head.k.columns; ++a) implied(i, j) += w[a] * head.k(j, a);
            implied(i, j) *= head.strength(j);
            for (Index a = 0; a < head.k.columns; ++a) {
                if (head.rule.delta) w[a] -= implied(i, j) * head.k(j, a);
                w[a] *= f.alpha(j, a);
            }
        }
    }
}

/// Queries and keys as the recurrence reads them.
const TensorD& queries(const OperationTraceD& f, const Rule& rule) {
    return f[rule.delta ? "q_unit" : "q"];
}
const TensorD& keys(const OperationTraceD& f, const Rule& rule) {
    return f[rule.delta ? "k_unit" : "k"];
}

Result<OperationTraceD> forward(const CallD& call, const OperationSpec& spec,
                                const OperationParamsD& params, const RunControl& control) {
    const Rule rule = rule_of(spec.operation);
    ForwardPass pass(call, spec, {"decay", "read", "written", "states", "implied"});
    fill_q_k_v(call, pass.shared);
    const TraceD& given = pass.shared;
    if (rule.delta) {
        pass.trace["q_unit"] = unit_rows(given[Stage::q]);
        pass.trace["k_unit"] = unit_rows(given[Stage::k]);
    }
    const TensorD& q = rule.delta ? pass.trace["q_unit"] : given[Stage::q];
    const TensorD& k = rule.delta ? pass.trace["k_unit"] : given[Stage::k];
    const auto run = [&](Index b, Index h, Index g) {
        const Head head = head_of(call, q, k, given[Stage::v], params, rule, b, h, g);
        const HeadStages f = stages_of(pass.trace, rule, b, h);
        const ViewD context = pass.context.matrix(b, h);
        const ViewD implied = pass.trace["implied"].matrix(b, h);
        for (Index i = 0; i < call.size().tq; ++i) {
            take_token(head, i, f);
            read_state(head, i, f, context);
        }
        fill_implied(head, f, implied);
        follow_row_policy(call, head.open, context, implied);
    };
    return pass.run(control, run);
}

/// One head on the way back, the last token first.
struct HeadGradient {
    const Head& head;
    const HeadStages& f;
    const HeadStages& d;
    ViewD d_q, d_k, d_v, d_log_decay, d_beta;

    // forward:  context = factor · Sᵀ q  so  d_S += factor · q d_contextᵀ,  d_q += factor · S d_context
    void readout(Index i, ConstViewD d_context) const {
        const Index width = d_context.columns;
        for (Index a = 0; a < head.q.columns; ++a)
            for (Index c = 0; c < width; ++c) {
                const double upstream = head.factor * d_context(i, c);
                d.states(i, a * width + c) += upstream * head.q(i, a);
                d_q(i, a) += upstream * f.states(i, a * width + c);
            }
    }

    // forward:  S_i = α_i S_{i−1} + k uᵀ,  u = v, or β (v − r) with r = (α_i S_{i−1})ᵀ k
    // so        d_u = d_Sᵀ k,  d_k += d_S u,  d_v += d_u, or
    //           d_v += β d_u,  d_β += d_u · (v − r),  d_r = −β d_u,  d_k += S' d_r,  d_S' = d_S + k d_rᵀ
    void write(Index i, std::span<double> d_decayed) const {
        const Index width = head.v.columns;
        for (Index c = 0; c < width; ++c) {
            double d_written = 0.0, d_read = 0.0;
            const double written = head.rule.delta ? f.written(i, c) : head.v(i, c);
            for (Index a = 0; a < head.k.columns; ++a) {
                d_written += d.states(i, a * width + c) * head.k(i, a);
                d_k(i, a) += d.states(i, a * width + c) * written;
            }
            d_v(i, c) += head.strength(i) * d_written;
            if (head.rule.delta) {
                d_read = -head.strength(i) * d_written;
                d_beta(i, 0) += d_written * (head.v(i, c) - f.read(i, c));
                d.written(i, c) = d_written;
                d.read(i, c) = d_read;
            }
            for (Index a = 0; a < head.k.columns; ++a) {
                const Index at = a * width + c;
                d_decayed[at] = d.states(i, at) + head.k(i, a) * d_read;
                if (head.rule.delta)
                    d_k(i, a) += (f.states(i, at) - head.k(i, a) * written) * d_read;
            }
        }
    }

    // forward:  S' = α S_{i−1}, α = exp(log_decay)  so  d_S_{i−1} += α d_S',  d_α = Σ d_S' S_{i−1},  d_log_decay += α d_α
    void decay(Index i, std::span<const double> d_decayed) const {
        const auto old = before(f, i);
        const Index width = head.v.columns;
        for (Index n = 0; n < std::ssize(old); ++n) {
            const Index channel = d.decay.columns > 1 ? n / width : 0;
            d.decay(i, channel) += d_decayed[n] * old[n];
            d.states(i - 1, n) += f.decay(i, channel) * d_decayed[n];
        }
        for (Index a = 0; a < d.decay.columns; ++a)
            d_log_decay(head.rule.per_token ? i : 0, a) += f.decay(i, a) * d.decay(i, a);
    }

    void token(Index i, ConstViewD d_context) const {
        readout(i, d_context);
        if (head.open[i] == 0) {
            for (Index n = 0; i > 0 && n < d.states.columns; ++n)
                d.states(i - 1, n) += d.states(i, n);
            return;
        }
        std::vector<double> d_decayed(static_cast<std::size_t>(d.states.columns));
        write(i, d_decayed);
        decay(i, d_decayed);
    }
};

Result<OperationTraceD> backward(const CallD& call, const OperationSpec& spec,
                                 const OperationParamsD& params, const UpstreamD& upstream,
                                 const RunControl& control) {
    Result<OperationTraceD> computed = forward(call, spec, params, control);
    if (!computed) return computed;
    const Rule rule = rule_of(spec.operation);
    OperationTraceD& f = *computed;
    BackwardPass pass(call, spec, f, upstream,
                      {"q_unit", "k_unit", "decay", "read", "written", "states"});
    TensorD& d_q = rule.delta ? pass.made["q_unit"] : pass.d[Stage::q];
    TensorD& d_k = rule.delta ? pass.made["k_unit"] : pass.d[Stage::k];
    const auto run = [&](Index b, Index h, Index g) {
        const Head head =
            head_of(call, queries(f, rule), keys(f, rule), f["v"], params, rule, b, h, g);
        const auto of = [&](std::size_t which) {
            TensorD& tensor = pass.made.params.tensors[which];
            return tensor.matrix(tensor.shape().b > 1 ? b : 0, h);
        };
        const HeadStages made = stages_of(f, rule, b, h), d = stages_of(pass.made, rule, b, h);
        const HeadGradient gradient{head,
                                    made,
                                    d,
                                    d_q.matrix(b, h),
                                    d_k.matrix(b, g),
                                    pass.d[Stage::v].matrix(b, g),
                                    of(kLogDecay),
                                    rule.delta ? of(kBeta) : ViewD{}};
        for (Index i = call.size().tq - 1; i >= 0; --i)
            gradient.token(i, std::as_const(pass.d)[Stage::context].matrix(b, h));
    };
    const auto after = [&] {
        if (!rule.delta) return;
        add_unit_gradient(f["q"], f["q_unit"], d_q, pass.d[Stage::q]);
        add_unit_gradient(f["k"], f["k_unit"], d_k, pass.d[Stage::k]);
    };
    return pass.run(control, run, after);
}

std::string refuses(const CallForm& form, const OperationSpec& spec) {
    const std::string_view key = info(spec.operation).key;
    std::string two = refuse_two_sequences(key, form);
    return two.empty() ? refuse_pair_options(key, form, Factor::used) : two;
}

OperationCost cost(const Dimensions& size, const AttentionSpec&, const OperationSpec& spec) {
    const Rule rule = rule_of(spec.operation);
    const auto heads = static_cast<double>(size.batch * size.heads);
    const double tokens = heads * static_cast<double>(size.tq);
    const auto d_k = static_cast<double>(size.d_k), d_v = static_cast<double>(size.d_v);
    OperationCost made;
    made.products = 2.0 * tokens * d_k * d_v * (rule.delta ? 3.0 : 2.0);  // read, write, readout
    made.elementwise = tokens * d_k * d_v + (rule.per_channel ? tokens * d_k : tokens);  // α S, exp
    if (rule.delta) made.elementwise += tokens * (4.0 * d_k + 2.0 * d_v);  // lengths, β (v − r)
    made.stored = {{"S of each head", heads * d_k * d_v}};
    return made;
}

// clang-format off
/// −softplus(z) / 2: α is about 0.5 to 0.9, so that a few tokens are remembered. Trained models are nearer to 1.
double fresh_log_decay(double noise, const ParamEntry&) { return -0.5 * std::log1p(std::exp(noise)); }

constexpr OperationParam decay_param(Axis columns) {
    return {"log_decay", "log_decay", "λ", Role::weight, Axis::query, columns,
            "The logarithm of α, the share of the state that stays at each token; initially −softplus(z) / 2, z standard normal.", fresh_log_decay};
}
constexpr OperationParam kBetaParam{"beta", "beta", "β", Role::weight, Axis::query, Axis::one,
    "How much of a key's value each token replaces; initially the sigmoid of a standard normal number.",
    [](double noise, const ParamEntry&) { return 1.0 / (1.0 + std::exp(-noise)); }};
constexpr OperationParam kRetentionParams[] = {
    {"log_decay", "log_decay", "λ", Role::weight, Axis::one, Axis::one, "The logarithm of γ, the share of the state that stays at every token; initially γ = 1 − 2^(−5−h) of head h.",
     [](double, const ParamEntry& at) { return std::log1p(-std::exp2(-5.0 - static_cast<double>(at.head))); }},
};
constexpr OperationParam kGatedLinearParams[] = {decay_param(Axis::d_k)};
constexpr OperationParam kGatedDeltaParams[] = {decay_param(Axis::one), kBetaParam};
constexpr OperationParam kKdaParams[] = {decay_param(Axis::d_k), kBetaParam};

OperationStage decay_row(Axis columns, std::string_view text) {
    return {"decay", "α", "α", "Decay of the state",
            R"(\alpha_i = \exp(\lambda_i))",
            Axis::query, columns, HeadAxis::query, Exists::always, ColorScale::unit, Role::weight,
            {OperationOperand{"log_decay", Lights::same_cell}}, text, {}};
}
OperationStage implied_row(std::string_view tex, std::string_view key, std::string_view query) {
    return {"implied", "Â", "implied", "Implied weights", tex,
            Axis::query, Axis::key, HeadAxis::query, Exists::always, ColorScale::diverging, Role::weight,
            {OperationOperand{query, Lights::same_row}, OperationOperand{key, Lights::row_of_column}, OperationOperand{"decay", Lights::whole}},
            "The final factor of each value. Signed; rows need not sum to 1.", {}};
}
constexpr std::string_view kReadout = R"(\mathrm{context}_i = S_i^\top\,q_i \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})";
constexpr std::string_view kReadoutText = "Each query reads the state after its own token.";

/// Keys add their values.
std::vector<OperationStage> adding_stages(std::string_view source, Axis decay, std::string_view decay_text) {
    return stages_of(source, std::span(kUpToMask).first(5), {
        decay_row(decay, decay_text),
        {"states", "S", "S", "State after each token",
         R"(S_i = \alpha_i\,S_{i-1} + k_i\,v_i^\top)",
         Axis::query, Axis::key_value, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"decay", Lights::same_row}, OperationOperand{"k", Lights::same_row}, OperationOperand{"v", Lights::same_row}},
         "The whole memory: one matrix of d_k by d_v numbers, for any length. The old part decays, and each key adds its value.", {}},
        implied_row(R"(\hat{A}_{i,j} = \frac{\mathrm{scale}}{\mathrm{temperature}} \cdot \sum_a Q_{i,a}\,(\prod_{t=j+1}^{i} \alpha_{t,a})\,K_{j,a})", "k", "q"),
        context_row(kReadout, kReadoutText),
    });
}

/// Keys replace their values: the delta rule.
std::vector<OperationStage> replacing_stages(std::string_view source, Axis decay, std::string_view decay_text) {
    return stages_of(source, std::span(kUpToMask).first(5), {
        {"q_unit", "q/‖q‖", "q/‖q‖", "Queries of length 1",
         R"(\frac{q_i}{\sqrt{\sum_a q_{i,a}^2 + 10^{-6}}})",
         Axis::query, Axis::d_k, HeadAxis::query, Exists::always, ColorScale::diverging, Role::query,
         {OperationOperand{"q", Lights::same_row}},
         "Only the direction of a query counts. The formulas below call it q.", {}},
        {"k_unit", "k/‖k‖", "k/‖k‖", "Keys of length 1",
         R"(\frac{k_i}{\sqrt{\sum_a k_{i,a}^2 + 10^{-6}}})",
         Axis::key, Axis::d_k, HeadAxis::key_value, Exists::always, ColorScale::diverging, Role::key,
         {OperationOperand{"k", Lights::same_row}},
         "The formulas below call it k. With keys of length 1, β = 1 replaces the value of a key completely.", {}},
        decay_row(decay, decay_text),
        {"read", "r", "r", "Value that the state has for the key",
         R"(r_i = (\alpha_i\,S_{i-1})^\top\,k_i)",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"decay", Lights::same_row}, OperationOperand{"k_unit", Lights::same_row}},
         "The value that a query equal to this key would get before the token is written.", {}},
        {"written", "u", "u", "Change of the key's value",
         R"(u_i = \beta_i\,(v_i - r_i))",
         Axis::query, Axis::d_v, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"beta", Lights::same_row}, OperationOperand{"v", Lights::same_cell}, OperationOperand{"read", Lights::same_cell}},
         "The error of the memory, times β: 0 where the state has the value already.", {}},
        {"states", "S", "S", "State after each token",
         R"(S_i = \alpha_i\,S_{i-1} + k_i\,u_i^\top)",
         Axis::query, Axis::key_value, HeadAxis::query, Exists::always, ColorScale::diverging, Role::value,
         {OperationOperand{"decay", Lights::same_row}, OperationOperand{"k_unit", Lights::same_row}, OperationOperand{"written", Lights::same_row}},
         "The whole memory: one matrix of d_k by d_v numbers, for any length. The old part decays, and each key's value is replaced.", {}},
        implied_row(R"(\hat{A}_{i,j} = \frac{\mathrm{scale}}{\mathrm{temperature}} \cdot q_i^\top\,(\prod_{t=j+1}^{i} (I - \beta_t\,k_t\,k_t^\top)\,\alpha_t)\,k_j\,\beta_j)", "k_unit", "q_unit"),
        context_row(R"(\mathrm{context}_i = S_i^\top\,q_i \cdot \frac{\mathrm{scale}}{\mathrm{temperature}})", kReadoutText),
    });
}

}  // namespace

OperationInfo retention_row() {
    constexpr std::string_view kSource = "Sun et al. 2023, arXiv:2307.08621 (RetNet), without xPos and group normalisation";
    static const std::vector<OperationStage> stages = adding_stages(kSource, Axis::one, "One number for each head, the same at every token.");
    return {Operation::retention, "retention", "Retention",
        R"(S_i = \gamma\,S_{i-1} + k_i\,v_i^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "Linear attention without softmax whose memory fades: a key t tokens back counts γ^t. It reads only earlier tokens.",
        kSource, false, stages, kRetentionParams, cost, refuses, forward, backward, "retention"};
}
OperationInfo gated_linear_row() {
    constexpr std::string_view kSource = "Yang et al. 2023, arXiv:2312.06635 (GLA)";
    static const std::vector<OperationStage> stages = adding_stages(kSource, Axis::d_k, "A factor for each token and each row of the state: the share that stays.");
    return {Operation::gated_linear, "gated-linear", "Gated linear attention (GLA)",
        R"(S_i = \alpha_i\,S_{i-1} + k_i\,v_i^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "Each token fades the rows of one memory by its own factors, then adds its value. It reads only earlier tokens.",
        kSource, false, stages, kGatedLinearParams, cost, refuses, forward, backward, "gated linear (GLA)"};
}
OperationInfo gated_delta_row() {
    constexpr std::string_view kSource = "Yang et al. 2024, arXiv:2412.06464 (Gated DeltaNet; Qwen3-Next)";
    static const std::vector<OperationStage> stages = replacing_stages(kSource, Axis::one, "One factor for each token: the share of the whole state that stays.");
    return {Operation::gated_delta, "gated-delta", "Gated delta rule",
        R"(S_i = \alpha_i\,S_{i-1} + \beta_i\,k_i\,(v_i - (\alpha_i\,S_{i-1})^\top\,k_i)^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "A memory in which each key replaces its old value instead of adding to it, and that fades by a factor of each token. It reads only earlier tokens.",
        kSource, false, stages, kGatedDeltaParams, cost, refuses, forward, backward, "gated delta rule"};
}
OperationInfo kda_row() {
    constexpr std::string_view kSource = "Kimi Team 2025, arXiv:2510.26692 (Kimi Linear)";
    static const std::vector<OperationStage> stages = replacing_stages(kSource, Axis::d_k, "A factor for each token and each row of the state: the share that stays.");
    return {Operation::kda, "kda", "Kimi delta attention",
        R"(S_i = \alpha_i\,S_{i-1} + \beta_i\,k_i\,(v_i - (\alpha_i\,S_{i-1})^\top\,k_i)^\top\text{, }\mathrm{context}_i = S_i^\top\,q_i)",
        "The gated delta rule in which every row of the state has its own factor. It reads only earlier tokens.",
        kSource, false, stages, kKdaParams, cost, refuses, forward, backward, "Kimi delta attention"};
}
// clang-format on

}  // namespace attn
