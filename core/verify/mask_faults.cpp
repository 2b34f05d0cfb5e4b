// Faults that are all in which pairs attend. b batch entry, h head, i query row, j key column.

#include <algorithm>
#include <memory>
#include <utility>

#include "core/entries.h"
#include "core/masks.h"
#include "core/verify/faults.h"
#include "core/verify/replay.h"
#include "core/verify/serving.h"

namespace attn::verify {
namespace {

/// Every pair p for which keep(b, h, i, j) holds.
template <class Keep>
Mask mask_where(const Shape& shape, Keep keep) {
    Mask mask(shape);
    for_each_entry(shape, [&](Index b, Index h, Index i, Index j) {
        mask(b, h, i, j) = keep(b, h, i, j) ? 1 : 0;
    });
    return mask;
}

Mask both(const Mask& a, const Mask& b) {
    return mask_where(a.shape(), [&](Index n, Index h, Index i, Index j) {
        return a(n, h, i, j) != 0 && b(n, h, i, j) != 0;
    });
}

Mask inverse(const Mask& mask) {
    return mask_where(mask.shape(),
                      [&](Index b, Index h, Index i, Index j) { return mask(b, h, i, j) == 0; });
}

/// The call's mask with another causal rule: key j ≤ i + reach.
Mask with_frontier(const MaskCase& call, Index reach) {
    MaskSpec rest = call.mask;
    rest.causal.reset();
    const Mask others = materialise(rest, call.size);
    return mask_where(others.shape(), [&](Index b, Index h, Index i, Index j) {
        return others(b, h, i, j) != 0 && j <= i + reach;
    });
}

/// How far the frontier of the causal rule stands right of the diagonal.
Index frontier(const MaskCase& call) {
    return *call.mask.causal == CausalAlign::top_left ? call.size.query_offset
                                                      : call.size.tk - call.size.tq;
}

/// The parts of a mask, each of which can be left out.
struct Part {
    std::string_view text;
    bool (*there)(const MaskSpec& mask);
    void (*remove)(MaskSpec& mask);
};
constexpr Part kParts[] = {
    {"the causal rule", [](const MaskSpec& m) { return m.causal.has_value(); },
     [](MaskSpec& m) { m.causal.reset(); }},
    {"the window", [](const MaskSpec& m) { return m.windowed(); },
     [](MaskSpec& m) { m.window.reset(), m.window_left.reset(), m.window_right.reset(); }},
    {"the padding", [](const MaskSpec& m) { return !m.padding.empty(); },
     [](MaskSpec& m) { m.padding.clear(); }},
    {"the array mask", [](const MaskSpec& m) { return m.custom != nullptr; },
     [](MaskSpec& m) { m.custom.reset(); }},
};

Mask whole(const MaskCase& call) { return Mask(call.allowed.shape(), 1); }

/// Whether the array mask says in [Tq,Tk] which tokens share a document: an equivalence of neighbours, cut by j ≤ i or
/// not.
bool is_documents(const Mask& mask, bool causal) {
    const Shape shape = mask.shape();
    if (shape.t != shape.d || shape.t < 2) return false;
    const auto shared = [&](Index i, Index j) {
        return causal ? mask(0, 0, std::max(i, j), std::min(i, j)) != 0 : mask(0, 0, i, j) != 0;
    };
    bool several = false;
    for (Index i = 0, start = 0; i < shape.t; ++i) {
        if (i > 0 && !shared(i - 1, i)) start = i, several = true;
        for (Index j = 0; j < shape.d; ++j) {
            if (causal && j > i && mask(0, 0, i, j) != 0) return false;
            const bool same = j >= start && j <= i;
            if (j <= i && shared(i, j) != same) return false;
            if (!causal && shared(i, j) != shared(j, i)) return false;
        }
    }
    return several;
}

bool only_documents(const MaskCase& call) {
    MaskSpec rest = call.mask;
    rest.block.reset();
    if (rest.custom && is_documents(*rest.custom, false)) rest.custom.reset();
    return !rest.any();
}

}  // namespace

Reason wrong_alignment(const MaskCase& call, const TakeMask& take) {
    if (!call.mask.causal) return "the call has no causal mask";
    const Index mine = frontier(call), corner = call.size.tk - call.size.tq;
    if (mine != 0 && !take("key j ≤ i (top-left)", with_frontier(call, 0))) return {};
    if (mine != corner && !take("key j ≤ i + Tk − Tq (bottom-right)", with_frontier(call, corner)))
        return {};
    if (!take("the diagonal is left out: j < i + offset", with_frontier(call, mine - 1))) return {};
    take("one key too many: j ≤ i + offset + 1", with_frontier(call, mine + 1));
    return {};
}

Reason wrong_causal_alignment(const Trial& trial, const Take& take) {
    bool going = true;
    const Take watched = [&](std::string variant, TraceD planted) {
        going = take(std::move(variant), std::move(planted));
        return going;
    };
    const Reason reason = plant_masks(trial, watched, wrong_alignment);
    const Subject& subject = trial.subject;
    if (!going || !reason.empty() || !subject.serving) return reason;
    // The corner of each sequence's own queries and keys.
    MaskSpec rest = subject.spec.mask;
    rest.causal.reset();
    const Mask others = materialise(rest, subject.size);
    Replay replay = replay_of(subject);
    replay.allowed = mask_where(others.shape(), [&](Index b, Index h, Index i, Index j) {
        const auto at = static_cast<std::size_t>(b);
        const Index r = i - (subject.size.tq - subject.serving->queries[at]);
        const Index p = j - (subject.size.tk - subject.serving->keys[at]);
        return others(b, h, i, j) != 0 && p <= r;
    });
    take("each sequence's mask starts at its first key (top-left)", run(subject, replay));
    return {};
}

Reason unasked_causal(const MaskCase& call, const TakeMask& take) {
    if (call.mask.causal) return "the call is causal";
    const Index corner = call.size.tk - call.size.tq;
    const std::pair<Index, std::string_view> variants[] = {
        {0, "key j ≤ i (top-left)"},
        {corner, "key j ≤ i + Tk − Tq (bottom-right)"},
        {-1, "key j < i"},
    };
    for (const auto& [reach, text] : variants) {
        Mask causal = with_frontier(call, reach);
        if (causal == call.allowed) return "the call's own mask is causal";
        if (!take(std::string(text), std::move(causal))) return {};
    }
    return {};
}

Reason inverted_mask(const MaskCase& call, const TakeMask& take) {
    if (!call.mask.any()) return "the call has no mask";
    if (!take("all of it", inverse(call.allowed))) return {};
    for (const Part& part : kParts) {
        MaskSpec rest = call.mask;
        if (!part.there(rest)) continue;
        part.remove(rest);
        if (!rest.any()) continue;  // that is all of it
        const Mask others = materialise(rest, call.size);
        MaskSpec alone = call.mask;
        for (const Part& other : kParts)
            if (other.text != part.text) other.remove(alone);
        alone.block.reset();
        if (!take(std::string(part.text), both(others, inverse(materialise(alone, call.size)))))
            return {};
    }
    return {};
}

Reason transposed_mask(const MaskCase& call, const TakeMask& take) {
    if (!call.mask.any()) return "the call has no mask";
    if (call.size.tq != call.size.tk) return "Tq and Tk differ: the mask cannot be transposed";
    take("i and j swapped",
         mask_where(call.allowed.shape(), [&](Index b, Index h, Index i, Index j) {
             return call.allowed(b, h, j, i) != 0;
         }));
    return {};
}

Reason dropped_mask(const MaskCase& call, const TakeMask& take) {
    if (!call.mask.any()) return "the call has no mask";
    if (only_documents(call)) return "the only mask is that of the documents: see document_leak";
    if (!take("every mask", whole(call))) return {};
    for (const Part& part : kParts) {
        MaskSpec rest = call.mask;
        if (!part.there(rest)) continue;
        part.remove(rest);
        if (rest.any() && !take(std::string(part.text), materialise(rest, call.size))) return {};
    }
    if (call.mask.global_tokens > 0) {
        MaskSpec rest = call.mask;
        rest.global_tokens = 0;
        take("the global tokens", materialise(rest, call.size));
    }
    return {};
}

Reason window_off_by_one(const MaskCase& call, const TakeMask& take) {
    if (!call.mask.windowed()) return "the call has no window";
    const auto tighter = [](std::optional<Index> a, std::optional<Index> b) {
        return a && b ? std::min(*a, *b) : a ? a : b;
    };
    const auto left = tighter(call.mask.window, call.mask.window_left);
    const auto right = tighter(call.mask.window, call.mask.window_right);
    constexpr struct {
        std::string_view text;
        Index left, right;
    } kSteps[] = {
        {"one key more on the left", 1, 0},  {"one key fewer on the left", -1, 0},
        {"one key more on the right", 0, 1}, {"one key fewer on the right", 0, -1},
        {"one key more on each side", 1, 1}, {"one key fewer on each side", -1, -1},
    };
    for (const auto& step : kSteps) {
        MaskSpec moved = call.mask;
        moved.window.reset();
        const auto side = [](std::optional<Index> reach, Index by) {
            return reach ? std::optional(*reach + by) : std::nullopt;
        };
        moved.window_left = side(left, step.left);
        moved.window_right = side(right, step.right);
        const bool negative =
            moved.window_left.value_or(0) < 0 || moved.window_right.value_or(0) < 0;
        if (!negative && !take(std::string(step.text), materialise(moved, call.size))) return {};
    }
    return {};
}

Reason document_leak(const MaskCase& call, const TakeMask& take) {
    MaskSpec rest = call.mask;
    rest.block.reset();
    if (call.mask.block) {
        take("the blocks are ignored", materialise(rest, call.size));
        return {};
    }
    const bool causal = rest.custom && is_documents(*rest.custom, true);
    if (!causal && !(rest.custom && is_documents(*rest.custom, false)))
        return "the call has no documents: neither blocks nor an array mask of them";
    rest.custom.reset();
    if (causal && !rest.causal) rest.causal = CausalAlign::top_left;
    take("the documents of the array mask are ignored", materialise(rest, call.size));
    return {};
}

Reason padding_at_wrong_end(const MaskCase& call, const TakeMask& take) {
    if (call.mask.padding.empty()) return "the call has no padding";
    MaskSpec rest = call.mask;
    rest.padding.clear();
    const Mask others = materialise(rest, call.size);
    take("the valid keys are taken from the right end",
         mask_where(others.shape(), [&](Index b, Index h, Index i, Index j) {
             const Index valid = call.mask.padding[b];
             return others(b, h, i, j) != 0 && j >= call.size.tk - valid;
         }));
    return {};
}

Reason plant_masks(const Trial& trial, const Take& take,
                   Reason (*masks)(const MaskCase& call, const TakeMask& take)) {
    const Subject& subject = trial.subject;
    return masks(
        {subject.spec.mask, subject.size, subject.allowed}, [&](std::string variant, Mask allowed) {
            Replay replay = replay_of(subject);
            replay.allowed = std::move(allowed);
            if (!take(variant, run(subject, replay))) return false;
            if (replay.allowed == subject.allowed) return true;  // that is wrong_empty_rows
            bool empty = false;
            const Shape shape = replay.allowed.shape();
            for_each_row(shape, [&](Index b, Index h, Index i) {
                empty = empty || std::ranges::count(replay.allowed.matrix(b, h).row(i), 1) == 0;
            });
            if (!empty || !replay.sinks.empty()) return true;
            replay.empty = EmptyWeights::nan;
            if (!take(variant + ", rows without a key NaN", run(subject, replay))) return false;
            replay.empty = EmptyWeights::uniform;
            return take(variant + ", rows without a key the mean of V", run(subject, replay));
        });
}

}  // namespace attn::verify
