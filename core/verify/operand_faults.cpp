// Faults before and after the score: QK-norm of queries and keys, and the gate of the context. γ the weights of QK-norm,
// ε its epsilon, d the width of a head, G the gate before its sigmoid.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/entries.h"
#include "core/qk_norm.h"
#include "core/rotary.h"
#include "core/verify/faults.h"
#include "core/verify/replay.h"
#include "core/verify/serving.h"

namespace attn::verify {
namespace {

/// A wrong QK-norm of the rows of one side.
struct NormFault {
    std::string_view text;
    TensorD (*made)(const TensorD& rows, const TensorD& weight, double epsilon);
};

/// γ + by.
TensorD moved_weight(TensorD weight, double by) {
    for (double& each : weight.values()) each += by;
    return weight;
}

TensorD scaled_rows(TensorD rows, double factor) {
    for (double& each : rows.values()) each *= factor;
    return rows;
}

/// Each row less its mean.
TensorD centred(TensorD rows) {
    for_each_row(rows.shape(), [&](Index b, Index h, Index t) {
        const auto row = rows.matrix(b, h).row(t);
        double mean = 0.0;
        for (const double each : row) mean += each / static_cast<double>(row.size());
        for (double& each : row) each -= mean;
    });
    return rows;
}

/// All heads of a token are one row.
TensorD over_heads(const TensorD& rows, const TensorD& weight, double epsilon) {
    const Shape shape = rows.shape();
    TensorD made(shape);
    for (Index b = 0; b < shape.b; ++b)
        for (Index t = 0; t < shape.t; ++t) {
            end_if_stopped();
            double squares = 0.0;
            for (Index h = 0; h < shape.h; ++h)
                for (const double each : rows.matrix(b, h).row(t)) squares += each * each;
            const double r =
                1.0 / std::sqrt(squares / static_cast<double>(shape.h * shape.d) + epsilon);
            for (Index h = 0; h < shape.h; ++h)
                for (Index c = 0; c < shape.d; ++c)
                    made(b, h, t, c) =
                        rows(b, h, t, c) * r * (weight.empty() ? 1.0 : weight(0, 0, 0, c));
        }
    return made;
}

constexpr NormFault kNormFaults[] = {
    {"not normalised", [](const TensorD& rows, const TensorD&, double) { return rows; }},
    {"not normalised, but multiplied by the weights",
     [](const TensorD& rows, const TensorD& weight, double) {
         TensorD made = rows;
         for_each_entry(rows.shape(), [&](Index b, Index h, Index t, Index c) {
             made(b, h, t, c) *= weight.empty() ? 1.0 : weight(0, 0, 0, c);
         });
         return made;
     }},
    {"normalised without the weights",
     [](const TensorD& rows, const TensorD&, double epsilon) {
         return normalise_rows(rows, TensorD(), epsilon);
     }},
    {"normalised with the weights γ + 1",
     [](const TensorD& rows, const TensorD& weight, double epsilon) {
         return normalise_rows(rows, moved_weight(weight, 1.0), epsilon);
     }},
    {"normalised with the weights γ − 1",
     [](const TensorD& rows, const TensorD& weight, double epsilon) {
         return normalise_rows(rows, moved_weight(weight, -1.0), epsilon);
     }},
    {"divided by their length, not by its root mean square",
     [](const TensorD& rows, const TensorD& weight, double epsilon) {
         return scaled_rows(normalise_rows(rows, weight, epsilon),
                            1.0 / std::sqrt(static_cast<double>(rows.shape().d)));
     }},
    {"normalised less their mean, as by LayerNorm",
     [](const TensorD& rows, const TensorD& weight, double epsilon) {
         return normalise_rows(centred(rows), weight, epsilon);
     }},
    {"normalised over all heads of a token together", over_heads},
};

/// Which rows a fault changes.
struct NormSides {
    std::string_view text;
    bool queries, keys;
};
constexpr NormSides kNormSides[] = {{"queries and keys are {}", true, true},
                                    {"queries are {}", true, false},
                                    {"keys are {}", false, true}};

const TensorD& norm_weight(const Subject& subject, Stage stage) {
    return subject.inputs.params[stage == Stage::q ? Param::q_norm_weight : Param::k_norm_weight];
}

/// The stages with these rows in the place of the normalised ones.
TraceD with_normalised(const Subject& subject, TensorD q, TensorD k) {
    Replay replay = replay_of(subject);
    TensorD q_rot = turned_operand(subject, Stage::q, q),
            k_rot = turned_operand(subject, Stage::k, k);
    set_scores(subject, q_rot, k_rot, replay);
    TraceD planted = run(subject, replay);
    if (is_rejected(planted)) return planted;
    planted[Stage::q_norm] = std::move(q);
    planted[Stage::k_norm] = std::move(k);
    if (!subject.spec.rope) return planted;
    planted[Stage::q_rot] = std::move(q_rot);
    planted[Stage::k_rot] = std::move(k_rot);
    return planted;
}

/// Turned rows are normalised, in the place of the other way round.
TraceD normalised_behind(const Subject& subject) {
    const auto made = [&](Stage stage) {
        return normalise_rows(turned_from_origin(subject, stage, subject.reference[stage]),
                              norm_weight(subject, stage), *subject.spec.qk_norm);
    };
    Replay replay = replay_of(subject);
    TensorD q = made(Stage::q), k = made(Stage::k);
    set_scores(subject, q, k, replay);
    TraceD planted = run(subject, replay);
    if (is_rejected(planted)) return planted;
    planted[Stage::q_rot] = std::move(q);
    planted[Stage::k_rot] = std::move(k);
    return planted;
}

/// f(G) in the place of σ(G).
struct GateFault {
    std::string_view text;
    double (*factor)(double gate);
};
constexpr GateFault kGateFaults[] = {
    {"it is ignored", [](double) { return 1.0; }},
    {"it multiplies without its sigmoid", [](double gate) { return gate; }},
    {"it is applied twice", [](double gate) { return sigmoid(gate) * sigmoid(gate); }},
    {"its sigmoid is taken twice", [](double gate) { return sigmoid(sigmoid(gate)); }},
    {"it has the wrong sign", [](double gate) { return sigmoid(-gate); }},
    {"SiLU in place of its sigmoid", [](double gate) { return gate * sigmoid(gate); }},
    {"tanh in place of its sigmoid", [](double gate) { return std::tanh(gate); }},
};

/// Another entry of the gate than its own.
struct GatePlace {
    std::string_view text;
    double (*gate)(const TensorD& gate, Index b, Index h, Index i, Index c);
};
constexpr GatePlace kGatePlaces[] = {
    {"that of head 0 in every head",
     [](const TensorD& g, Index b, Index, Index i, Index c) { return g(b, 0, i, c); }},
    {"that of the next head", [](const TensorD& g, Index b, Index h, Index i,
                                 Index c) { return g(b, (h + 1) % g.shape().h, i, c); }},
    {"that of the head before",
     [](const TensorD& g, Index b, Index h, Index i, Index c) {
         return g(b, (h + g.shape().h - 1) % g.shape().h, i, c);
     }},
    {"that of the heads in reverse order", [](const TensorD& g, Index b, Index h, Index i,
                                              Index c) { return g(b, g.shape().h - 1 - h, i, c); }},
    {"that of the first column in all of a head",
     [](const TensorD& g, Index b, Index h, Index i, Index) { return g(b, h, i, 0); }},
};

/// Batch entry and row of every query, in the order in which a packed array has them.
std::vector<std::pair<Index, Index>> query_order(const Subject& subject) {
    std::vector<std::pair<Index, Index>> order;
    for (Index b = 0; b < subject.size.batch; ++b) {
        const bool served = subject.serving && !subject.serving->queries.empty();
        const Index first = served ? subject.serving->padding_of_queries(b, subject.size.tq) : 0;
        for (Index i = first; i < subject.size.tq; ++i) order.emplace_back(b, i);
    }
    return order;
}

}  // namespace

TensorD turned_operand(const Subject& subject, Stage stage, const TensorD& rows) {
    if (!subject.spec.rope) return rows;
    return rotate(*subject.spec.rope, rows, stage == Stage::q ? Rotated::queries : Rotated::keys,
                  subject.size.query_offset);
}

TensorD whole_operand(const Subject& subject, Stage stage, const TensorD& rows) {
    if (!subject.spec.qk_norm) return turned_operand(subject, stage, rows);
    return turned_operand(subject, stage,
                          normalise_rows(rows, norm_weight(subject, stage), *subject.spec.qk_norm));
}

Reason wrong_qk_norm(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (!subject.spec.qk_norm) return "the call has no QK-norm";
    const TraceD& t = subject.reference;
    const double epsilon = *subject.spec.qk_norm;
    const TensorD &q_weight = norm_weight(subject, Stage::q),
                  &k_weight = norm_weight(subject, Stage::k);
    const bool weights = !q_weight.empty() || !k_weight.empty();
    for (const NormFault& fault : kNormFaults)
        for (const NormSides& sides : kNormSides) {
            const auto made = [&](bool wrong, Stage stage, Stage normalised) {
                return wrong ? fault.made(t[stage], norm_weight(subject, stage), epsilon)
                             : t[normalised];
            };
            if (!take(fmt::format(fmt::runtime(sides.text), fault.text),
                      with_normalised(subject, made(sides.queries, Stage::q, Stage::q_norm),
                                      made(sides.keys, Stage::k, Stage::k_norm))))
                return {};
        }
    const auto with = [&](const std::string& text, const TensorD& q, const TensorD& k,
                          double other) {
        return take(text, with_normalised(subject, normalise_rows(t[Stage::q], q, other),
                                          normalise_rows(t[Stage::k], k, other)));
    };
    if (weights &&
        !with("the weights of queries and keys are swapped", k_weight, q_weight, epsilon))
        return {};
    for (const double other : {0.0, 1e-12, 1e-8, 1e-6, 1e-5, 1e-3, 1.0})
        if (other != epsilon && !with(fmt::format("ε is {:g} instead of {:g}", other, epsilon),
                                      q_weight, k_weight, other))
            return {};
    if (subject.spec.rope)
        take("queries and keys are normalised after RoPE", normalised_behind(subject));
    return {};
}

Reason wrong_gate(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (subject.gate.empty()) return "the call has no gate";
    Replay replay = replay_of(subject);
    replay.right_weights = true;
    const TensorD right = replay.gate;
    for (const GateFault& fault : kGateFaults) {
        std::ranges::transform(subject.gate.values(), replay.gate.values().begin(), fault.factor);
        if (!take(std::string(fault.text), run(subject, replay))) return {};
    }
    const auto queries = query_order(subject);
    for (const Index step : {1, -1}) {
        for (Index n = 0; n < std::ssize(queries); ++n) {
            const Index other = std::clamp<Index>(n + step, 0, std::ssize(queries) - 1);
            const auto [b, i] = queries[static_cast<std::size_t>(n)];
            const auto [from_b, from_i] = queries[static_cast<std::size_t>(other)];
            for (Index h = 0; h < right.shape().h; ++h)
                for (Index c = 0; c < right.shape().d; ++c)
                    replay.gate(b, h, i, c) = sigmoid(subject.gate(from_b, h, from_i, c));
        }
        if (!take(fmt::format("that of the {} is taken", step > 0 ? "next query" : "query before"),
                  run(subject, replay)))
            return {};
    }
    for (const GatePlace& place : kGatePlaces) {
        for_each_entry(right.shape(), [&](Index b, Index h, Index i, Index c) {
            replay.gate(b, h, i, c) = sigmoid(place.gate(subject.gate, b, h, i, c));
        });
        if (!take(fmt::format("{} is taken", place.text), run(subject, replay))) return {};
    }
    return {};
}

}  // namespace attn::verify
