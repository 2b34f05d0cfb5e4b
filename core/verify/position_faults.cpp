// Faults of positions. p position, c column pair, s_b padding in front of batch entry b.

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/call.h"
#include "core/entries.h"
#include "core/kernels/reference_parts.h"
#include "core/masks.h"
#include "core/numerics.h"
#include "core/rotary.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/verify/faults.h"
#include "core/verify/replay.h"
#include "core/verify/serving.h"

namespace attn::verify {
namespace {

/// The stages with these operands in the place of the rotated ones.
TraceD with_rotated(const Subject& subject, TensorD q, TensorD k) {
    Replay replay = replay_of(subject);
    set_scores(subject, q, k, replay);
    TraceD planted = run(subject, replay);
    if (is_rejected(planted)) return planted;
    planted[Stage::q_rot] = std::move(q);
    planted[Stage::k_rot] = std::move(k);
    return planted;
}

/// Each row of `tensor` turned by turn(b, t, column pair), a cosine and a sine.
template <class Turn>
TensorD turned(const Rope& rope, TensorD tensor, Turn turn) {
    const Shape shape = tensor.shape();
    const Index dims = rope.dims.value_or(shape.d);
    for_each_row(shape, [&](Index b, Index h, Index t) {
        for (Index c = 0; c < dims / 2; ++c) {
            const bool half = rope.pairs == RopePairs::half;
            double& x = tensor(b, h, t, half ? c : 2 * c);
            double& y = tensor(b, h, t, half ? c + dims / 2 : 2 * c + 1);
            const auto [cosine, sine] = turn(b, t, c);
            const double old_x = x, old_y = y;
            x = old_x * cosine - old_y * sine;
            y = old_x * sine + old_y * cosine;
        }
    });
    return tensor;
}

/// What of an angle is rounded to a short format.
struct Coarse {
    std::string_view text;
    bool position, frequency, angle, turn;

    bool rounds_angles() const { return position || frequency || angle; }
};
constexpr Coarse kCoarse[] = {
    {"positions, frequencies and angles", true, true, true, false},
    {"positions", true, false, false, false},
    {"frequencies", false, true, false, false},
    {"angles", false, false, true, false},
    {"positions and frequencies", true, true, false, false},
    {"positions, frequencies, angles, and their cosine and sine", true, true, true, true},
    {"cosine and sine", false, false, false, true},
};

/// The rows that RoPE turns: of Stage::q or Stage::k, after QK-norm where there is one.
const TensorD& turned_rows(const Subject& subject, Stage stage) {
    return operand(subject, stage == Stage::q ? Stage::q_norm : Stage::k_norm);
}

RotaryTurn right_turn(const Subject& subject, Stage stage, RotaryPlace at) {
    return rotary_turn(*subject.spec.rope, subject.size,
                       stage == Stage::q ? Rotated::queries : Rotated::keys, at);
}

/// Where a sequence begins in the padded call of a serving kernel, which turns by the sequence's own positions.
Index origin_of(const Subject& subject, Index b) {
    if (!subject.serving || subject.serving->keys.empty()) return 0;
    return subject.size.tk - subject.serving->keys[static_cast<std::size_t>(b)];
}
/// The position of a sequence's first query.
Index own_offset(const Subject& subject, Index b) {
    if (!subject.serving || subject.serving->keys.empty()) return subject.size.query_offset;
    const auto at = static_cast<std::size_t>(b);
    return subject.size.query_offset - origin_of(subject, b) + subject.size.tq -
           subject.serving->queries[at];
}

TensorD coarsely_turned(const Subject& subject, Stage stage, FloatFormat format,
                        const Coarse& variant) {
    const Rope& rope = *subject.spec.rope;
    const Index dims = rope.dims.value_or(subject.size.d_k);
    const Index offset = stage == Stage::q ? subject.size.query_offset : 0;
    const auto round = [&](bool does, double value) {
        return does ? rounded(format, static_cast<long double>(value)) : value;
    };
    return turned(rope, turned_rows(subject, stage), [&](Index b, Index t, Index c) {
        const Index own = t + offset - origin_of(subject, b);
        const double p = round(variant.position, static_cast<double>(own));
        const double frequency = round(variant.frequency, rope_frequency(rope, c, dims));
        const double angle = round(variant.angle, p * frequency);
        const auto [cosine, sine] = rope.tables ? right_turn(subject, stage, {b, t, c})
                                                : RotaryTurn{std::cos(angle), std::sin(angle)};
        return std::pair(round(variant.turn, cosine), round(variant.turn, sine));
    });
}

/// s_b: keys in front that no query of the batch entry may attend to.
std::vector<Index> leading_padding(const Subject& subject) {
    std::vector<Index> padding;
    for (Index b = 0; b < subject.size.batch; ++b) {
        const auto is_hidden = [&](Index j) {
            for (Index h = 0; h < subject.size.heads; ++h)
                for (Index i = 0; i < subject.size.tq; ++i) {
                    end_if_stopped();
                    if (subject.allowed(b, h, i, j) != 0) return false;
                }
            return true;
        };
        Index hidden = 0;
        while (hidden < subject.size.tk && is_hidden(hidden)) ++hidden;
        padding.push_back(hidden == subject.size.tk ? 0 : hidden);
    }
    return padding;
}

enum class Moved { queries, keys, both };

/// Positions less s_b, of queries, of keys or of both.
TraceD with_moved(const Subject& subject, const std::vector<Index>& padding, Moved moved) {
    const auto turn = [&](Stage stage, bool moves) {
        const Index offset = stage == Stage::q ? subject.size.query_offset : 0;
        const Rope& rope = *subject.spec.rope;
        const Index dims = rope.dims.value_or(subject.size.d_k);
        return turned(rope, turned_rows(subject, stage), [&](Index b, Index t, Index c) {
            const Index back = moves ? padding[b] : 0;
            const double angle = static_cast<double>(std::max<Index>(t + offset - back, 0)) *
                                 rope_frequency(rope, c, dims);
            return std::pair(std::cos(angle), std::sin(angle));
        });
    };
    return with_rotated(subject, turn(Stage::q, moved != Moved::keys),
                        turn(Stage::k, moved != Moved::queries));
}

TraceD with_moved_distance(const Subject& subject, const std::vector<Index>& padding, double sign) {
    Replay replay = replay_of(subject);
    for (const Index back : padding) replay.shift.push_back(sign * static_cast<double>(back));
    return run(subject, replay);
}

/// Nothing where the padding is in front of nobody.
Reason plant_moved(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const std::vector<Index> padding = leading_padding(subject);
    if (std::ranges::count(padding, 0) == std::ssize(padding))
        return "no batch entry has padding in front";
    const bool by_position = subject.spec.rope && !subject.spec.rope->tables;
    if (by_position) {
        constexpr std::pair<Moved, std::string_view> kVariants[] = {
            {Moved::queries, "of queries count from the first valid token, those of keys do not"},
            {Moved::keys, "of keys count from the first valid token, those of queries do not"},
            {Moved::both, "are counted from the first valid token"},
        };
        for (const auto& [moved, text] : kVariants)
            if (!take(fmt::format("RoPE's positions {}", text),
                      with_moved(subject, padding, moved)))
                return {};
    }
    if (subject.spec.alibi)
        for (const double sign : {-1.0, 1.0})
            if (!take(
                    fmt::format("only ALiBi's positions of the {} count from the first valid token",
                                sign < 0.0 ? "queries" : "keys"),
                    with_moved_distance(subject, padding, sign)))
                return {};
    return by_position || subject.spec.alibi ? "" : "nothing here depends on positions";
}

}  // namespace

TensorD scores_of(const Subject& subject, const TensorD& q, const TensorD& k) {
    InputsD in;
    in.q = q;
    in.k = k;
    in.v = TensorD({k.shape().b, k.shape().h, k.shape().t, 1});
    for (const ParamInfo& param : param_table())
        if (param.use == ParamUse::score)
            in.params[param.param] = subject.inputs.params[param.param];
    AttentionSpec spec;
    spec.score = subject.spec.score;
    spec.scale = subject.spec.scale;
    spec.scale_value = subject.spec.scale_value;
    spec.heads = q.shape().h;
    spec.kv_heads = k.shape().h;
    // The subject was such a call itself.
    const Result<CallD> call = validate(in, spec);
    TraceD trace;
    fill_logits(call.value(), trace);
    return std::move(trace[Stage::scores]);
}

TensorD turned_from_origin(const Subject& subject, Stage stage, const TensorD& rows) {
    if (!subject.spec.rope) return rows;
    const Rope& rope = *subject.spec.rope;
    const Index dims = rope.dims.value_or(subject.size.d_k);
    const Index offset = stage == Stage::q ? subject.size.query_offset : 0;
    return turned(rope, rows, [&](Index b, Index t, Index c) {
        if (rope.tables) {
            const RotaryTurn turn = right_turn(subject, stage, {b, t, c});
            return std::pair(turn.cosine, turn.sine);
        }
        const double angle =
            static_cast<double>(t + offset - origin_of(subject, b)) * rope_frequency(rope, c, dims);
        return std::pair(std::cos(angle), std::sin(angle));
    });
}

/// q and k turned by angles of a position and column pair.
using AngleOf = std::function<double(Rotated side, Index b, Index p, Index c)>;
TraceD with_angles(const Subject& subject, const Rope& rope, const AngleOf& angle) {
    const auto turn = [&](Stage stage, Rotated side) {
        const Index offset = side == Rotated::queries ? subject.size.query_offset : 0;
        return turned(rope, turned_rows(subject, stage), [&](Index b, Index t, Index c) {
            const double by = angle(side, b, t + offset - origin_of(subject, b), c);
            return std::pair(std::cos(by), std::sin(by));
        });
    };
    return with_rotated(subject, turn(Stage::q, Rotated::queries), turn(Stage::k, Rotated::keys));
}

Reason ignored_rope_option(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (!subject.spec.rope) return "the call has no RoPE";
    const TraceD& t = subject.reference;
    const Rope& rope = *subject.spec.rope;
    const TensorD &q = turned_rows(subject, Stage::q), &k = turned_rows(subject, Stage::k);
    if (!take("neither queries nor keys are turned", with_rotated(subject, q, k))) return {};
    if (rope.tables) {
        if (!take("queries are not turned", with_rotated(subject, q, t[Stage::k_rot]))) return {};
        take("keys are not turned", with_rotated(subject, t[Stage::q_rot], k));
        return {};
    }
    const Index width = subject.size.d_k, dims = rope.dims.value_or(width);
    struct Turned {
        const Rope& rope;
        Index columns;                     // whose frequencies are taken
        double queries = 1.0, keys = 1.0;  // the sides' directions; 0: not turned
        bool queries_from_0 = false, keys_from_offset = false;
        Index step = 0;  // added to positions of queries
    };
    const auto with = [&](const std::string& text, const Turned& fault) {
        return take(text,
                    with_angles(subject, fault.rope, [&](Rotated side, Index b, Index p, Index c) {
                        const bool query = side == Rotated::queries;
                        const Index first = own_offset(subject, b);
                        Index at = query ? p + fault.step : p;
                        if (query && fault.queries_from_0) at -= first;
                        if (!query && fault.keys_from_offset) at += first;
                        return (query ? fault.queries : fault.keys) * static_cast<double>(at) *
                               rope_frequency(fault.rope, c, fault.columns);
                    }));
    };
    if (!with("queries are not turned", {rope, dims, 0.0})) return {};
    if (!with("keys are not turned", {rope, dims, 1.0, 0.0})) return {};
    for (const double base : {1e4, 5e5, 1e6}) {
        Rope other = rope;
        other.base = base;
        if (rope.base != base && !with(fmt::format("its base is {}", base), {other, dims}))
            return {};
    }
    if (rope.scaling.kind != RopeScale::none) {
        Rope other = rope;
        other.scaling = {};
        if (!with("its scaling is ignored", {other, dims})) return {};
        other.scaling = {RopeScale::linear, rope.scaling.factor};
        if (rope.scaling.kind != RopeScale::linear &&
            !with("every frequency is divided by the factor of its scaling", {other, dims}))
            return {};
    }
    if (dims != width) {
        Rope other = rope;
        other.dims.reset();
        if (width % 2 == 0 && !with(fmt::format("all {} columns turn", width), {other, width}))
            return {};
        if (!with(fmt::format("its frequencies are those of {} columns", width), {rope, width}))
            return {};
    }
    if (!with("queries are turned from position 0 on",
              {.rope = rope, .columns = dims, .queries_from_0 = true}))
        return {};
    if (!with("keys are turned from the queries' position on",
              {.rope = rope, .columns = dims, .keys_from_offset = true}))
        return {};
    for (const Index step : {1, -1})
        if (!with(fmt::format("queries are turned one position {}", step > 0 ? "further" : "less"),
                  {.rope = rope, .columns = dims, .step = step}))
            return {};
    with("it turns the other way round", {rope, dims, -1.0, -1.0});
    return {};
}

Reason ignored_query_offset(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (subject.size.query_offset == 0) return "query 0 is at position 0";
    const bool by_distance =
        subject.spec.alibi || subject.spec.mask.windowed() || subject.spec.mask.block;
    if (!by_distance) return "neither ALiBi, a window nor blocks count from the queries' position";
    const auto moved = [&](bool slopes, bool masks) {
        Replay replay = replay_of(subject);
        if (slopes)
            replay.shift.assign(static_cast<std::size_t>(subject.size.batch),
                                -static_cast<double>(subject.size.query_offset));
        if (masks) {
            MaskSpec mask = subject.spec.mask;
            const auto causal = mask.causal;
            mask.causal.reset();
            Dimensions size = subject.size;
            size.query_offset = 0;
            replay.allowed = materialise(mask, size);
            if (causal) {
                MaskSpec alone;
                alone.causal = causal;
                const Mask right = materialise(alone, subject.size);
                for (std::size_t n = 0; n < replay.allowed.values().size(); ++n)
                    replay.allowed.values()[n] &= right.values()[n];
            }
        }
        return run(subject, replay);
    };
    const bool masks = subject.spec.mask.windowed() || subject.spec.mask.block;
    if (masks && !take("windows and blocks count queries from 0", moved(false, true))) return {};
    if (subject.spec.alibi && !take("ALiBi counts queries from 0", moved(true, false))) return {};
    if (masks && subject.spec.alibi)
        take("windows, blocks and ALiBi count queries from 0", moved(true, true));
    return {};
}

Reason wrong_rope_pairs(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (!subject.spec.rope) return "the call has no RoPE";
    const bool half = subject.spec.rope->pairs == RopePairs::half;
    Rope other = *subject.spec.rope;
    other.pairs = half ? RopePairs::interleaved : RopePairs::half;
    const auto turn = [&](Stage stage) {
        return turned(other, turned_rows(subject, stage), [&](Index b, Index t, Index c) {
            const RotaryTurn right = right_turn(subject, stage, {b, t, c});
            return std::pair(right.cosine, right.sine);
        });
    };
    take(half ? "columns 2c and 2c + 1 turn together instead of c and c + d/2"
              : "columns c and c + d/2 turn together instead of 2c and 2c + 1",
         with_rotated(subject, turn(Stage::q), turn(Stage::k)));
    return {};
}

Reason coarse_rope_angles(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (!subject.spec.rope) return "the call has no RoPE";
    const bool has_angles = !subject.spec.rope->tables;
    for (const FloatFormat format : {FloatFormat::bf16, FloatFormat::fp16})
        for (const Coarse& variant : kCoarse) {
            if (!has_angles && variant.rounds_angles()) continue;
            if (!take(fmt::format("{} in {}", variant.text, info(format).name),
                      with_rotated(subject, coarsely_turned(subject, Stage::q, format, variant),
                                   coarsely_turned(subject, Stage::k, format, variant))))
                return {};
        }
    return {};
}

Reason wrong_padded_positions(const Trial& trial, const Take& take) {
    bool going = true;
    const Take watched = [&](std::string variant, TraceD planted) {
        going = take(std::move(variant), std::move(planted));
        return going;
    };
    const Reason moved = plant_moved(trial, watched);
    if (!going) return {};
    const Reason end = plant_masks(trial, watched, padding_at_wrong_end);
    return !moved.empty() && !end.empty() ? moved : "";
}

}  // namespace attn::verify
