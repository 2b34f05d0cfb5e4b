// Faults of which numbers stand where. b batch entry, h query head, g key/value head, r = H / Hkv, t token, c column.

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/engine.h"
#include "core/stages.h"
#include "core/stop.h"
#include "core/verify/faults.h"
#include "core/verify/replay.h"

namespace attn::verify {
namespace {

std::vector<Index> tiled_heads(const Dimensions& size) {
    std::vector<Index> heads;
    for (Index h = 0; h < size.heads; ++h) heads.push_back(h % size.kv_heads);
    return heads;
}

Reason grouped_reason(const Dimensions& size) {
    if (size.kv_heads == size.heads) return "every query head has a key/value head of its own";
    if (size.kv_heads == 1) return "all query heads share one key/value head";
    return {};
}

/// q, k, v of one token side by side, and the way back, in one of two orders.
enum class Packing { per_group, flat };

/// Where column c of head n of part 0 (Q), 1 (K), 2 (V) stands in the fused row of one token.
Index place(const Dimensions& size, Packing packing, int part, Index n, Index c) {
    const Index d = size.d_k, r = size.heads / size.kv_heads;
    if (packing == Packing::flat) {
        const Index starts[] = {0, size.heads * d, (size.heads + size.kv_heads) * d};
        return starts[part] + n * d + c;
    }
    // [q_0 … q_{r−1}, k, v] of one group after the other; GPT-NeoX has r = 1.
    const Index group = part == 0 ? n / r : n;
    const Index slot = part == 0 ? n % r : r + part - 1;
    return (group * (r + 2) + slot) * d + c;
}

template <class Visit>
void for_each_column(const Dimensions& size, Visit visit) {
    for (int part = 0; part < 3; ++part)
        for (Index n = 0; n < (part == 0 ? size.heads : size.kv_heads); ++n)
            for (Index c = 0; c < size.d_k; ++c) visit(part, n, c);
}

/// Q, K and V packed one way and split the other way.
std::array<TensorD, 3> split_otherwise(const Subject& subject, Packing packed, Packing split) {
    const Dimensions& size = subject.size;
    const std::array<Stage, 3> stages{Stage::q, Stage::k, Stage::v};
    std::array<TensorD, 3> made;
    for (std::size_t p = 0; p < 3; ++p) made[p] = subject.reference[stages[p]];
    std::vector<double> row((size.heads + 2 * size.kv_heads) * size.d_k);
    for (Index b = 0; b < size.batch; ++b)
        for (Index t = 0; t < size.tq; ++t) {
            end_if_stopped();
            for_each_column(size, [&](int part, Index n, Index c) {
                row[place(size, packed, part, n, c)] = subject.reference[stages[part]](b, n, t, c);
            });
            for_each_column(size, [&](int part, Index n, Index c) {
                made[part](b, n, t, c) = row[place(size, split, part, n, c)];
            });
        }
    return made;
}

/// The whole call on other Q, K and V.
std::optional<TraceD> attend_on(const Subject& subject, std::array<TensorD, 3> qkv) {
    InputsD in;
    in.q = std::move(qkv[0]), in.k = std::move(qkv[1]), in.v = std::move(qkv[2]);
    for (const ParamInfo& param : param_table())
        if (param.use != ParamUse::projection)
            in.params[param.param] = subject.inputs.params[param.param];
    AttentionSpec spec = subject.spec;
    auto made = attend_exact(in, spec);
    if (!made) return std::nullopt;
    open_gate(subject, *made);
    return *std::move(made);
}

}  // namespace

Reason tiled_groups(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (Reason none = grouped_reason(subject.size); !none.empty()) return none;
    const std::vector<Index> tiled = tiled_heads(subject.size);
    Replay replay = replay_of(subject);
    set_scores(subject, operand(subject, Stage::q_rot), operand(subject, Stage::k_rot), replay,
               [&](Index b, Index h) { return std::pair(b, tiled[static_cast<std::size_t>(h)]); });
    replay.value_head = tiled;
    if (!take("head h takes key/value head h mod Hkv instead of h / (H / Hkv)",
              run(subject, replay)))
        return {};
    replay.value_head = grouped_heads(subject.size);
    take("head h takes key head h mod Hkv, its values are right", run(subject, replay));
    return {};
}

Reason wrong_value_group(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const Dimensions& size = subject.size;
    if (size.kv_heads == 1) return "all query heads share one value head";
    Replay replay = replay_of(subject);
    replay.right_weights = true;
    const auto with = [&](std::string text, auto head) {
        for (Index h = 0; h < size.heads; ++h) replay.value_head[h] = head(h);
        return take(std::move(text), run(subject, replay));
    };
    const Index r = size.heads / size.kv_heads;
    if (r > 1 && !with("value head h mod Hkv", [&](Index h) { return h % size.kv_heads; }))
        return {};
    if (!with("the next value head", [&](Index h) { return (h / r + 1) % size.kv_heads; }))
        return {};
    if (!with("the value head before",
              [&](Index h) { return (h / r + size.kv_heads - 1) % size.kv_heads; }))
        return {};
    if (!with("value heads in reverse order", [&](Index h) { return size.kv_heads - 1 - h / r; }))
        return {};
    for (Index g = 0; g < size.kv_heads; ++g)
        if (!with(fmt::format("value head {} for every head", g), [&](Index) { return g; }))
            return {};
    return {};
}

Reason heads_not_transposed(const Trial& trial, const Take& take) {
    const Dimensions& size = trial.subject.size;
    if (size.heads == 1) return "there is one head";
    if (size.tq == 1) return "there is one query: both orders are the same";
    if (trial.results[Stage::output].empty()) return "output is not among the results";
    Replay replay = replay_of(trial.subject);
    replay.merge = Merge::flat;
    replay.right_weights = true;
    take("row 0 of output holds head 0 of the first tokens", run(trial.subject, replay));
    return {};
}

Reason fused_split(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    const Dimensions& size = subject.size;
    if (subject.reference[Stage::v].empty()) return "there are no values to split";
    if (size.d_k != size.d_v)
        return "d_k and d_v differ: no fused projection is split into such parts";
    if (size.tq != size.tk) return "Tq and Tk differ: they do not come from one projection";
    if (size.kv_heads == 1 && size.heads == 1) return "there is one head: both splits are the same";
    constexpr struct {
        Packing packed, split;
        std::string_view text;
    } kVariants[] = {
        {Packing::per_group, Packing::flat,
         "packed per head as [q, k, v], split as all Q, all K, all V"},
        {Packing::flat, Packing::per_group,
         "packed as all Q, all K, all V, split per head as [q, k, v]"},
    };
    for (const auto& variant : kVariants) {
        auto planted = attend_on(subject, split_otherwise(subject, variant.packed, variant.split));
        if (planted && !take(std::string(variant.text), *std::move(planted))) return {};
    }
    return {};
}

}  // namespace attn::verify
