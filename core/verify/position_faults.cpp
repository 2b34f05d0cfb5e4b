// Faults of positions. p position, c column pair, s_b padding in front of batch entry b.

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/entries.h"
#include "core/kernels/reference_parts.h"
#include "core/rotary.h"
#include "core/verify/faults.h"

namespace attn::verify {
namespace {

/// The stages with these operands in the place of the rotated ones.
TraceD with_rotated(const Subject& subject, TensorD q, TensorD k) {
    Replay replay = replay_of(subject);
    replay.scores = scores_of(subject, q, k);
    TraceD planted = run(subject, replay);
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

/// Of the reference.
RotaryTurn right_turn(const Subject& subject, Stage stage, RotaryPlace at) {
    return rotary_turn(*subject.spec.rope, subject.size,
                       stage == Stage::q ? Rotated::queries : Rotated::keys, at);
}

TensorD coarsely_turned(const Subject& subject, Stage stage, FloatFormat format,
                        const Coarse& variant) {
    const Rope& rope = *subject.spec.rope;
    const Index dims = rope.dims.value_or(subject.size.d_k);
    const Index offset = stage == Stage::q ? subject.size.query_offset : 0;
    const auto round = [&](bool does, double value) {
        return does ? rounded(format, static_cast<long double>(value)) : value;
    };
    return turned(rope, subject.reference[stage], [&](Index b, Index t, Index c) {
        const double p = round(variant.position, static_cast<double>(t + offset));
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
        return turned(rope, subject.reference[stage], [&](Index b, Index t, Index c) {
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

Reason wrong_rope_pairs(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (!subject.spec.rope) return "the call has no RoPE";
    const bool half = subject.spec.rope->pairs == RopePairs::half;
    Rope other = *subject.spec.rope;
    other.pairs = half ? RopePairs::interleaved : RopePairs::half;
    const auto turn = [&](Stage stage) {
        return turned(other, subject.reference[stage], [&](Index b, Index t, Index c) {
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
