// Faults of which head or batch entry is read or written. b batch entry, h query head, g key/value head.

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/engine.h"
#include "core/entries.h"
#include "core/kernels/reference_parts.h"
#include "core/stages.h"
#include "core/verify/faults.h"
#include "core/verify/replay.h"

namespace attn::verify {
namespace {

/// A batch entry and a head.
using Place = std::pair<Index, Index>;

/// The result (b, h) is what should stand at source(b, h).
TensorD moved(const TensorD& tensor, const std::function<Place(Index b, Index h)>& source) {
    TensorD made(tensor.shape());
    for (Index b = 0; b < made.shape().b; ++b)
        for (Index h = 0; h < made.shape().h; ++h) {
            const auto [from_b, from_h] = source(b, h);
            for (Index t = 0; t < made.shape().t; ++t) {
                end_if_stopped();
                std::ranges::copy(tensor.matrix(from_b, from_h).row(t),
                                  made.matrix(b, h).row(t).begin());
            }
        }
    return made;
}

/// Everything from the scores on, of other heads.
TraceD with_moved_heads(const Subject& subject, const std::function<Place(Index, Index)>& source) {
    TraceD t = subject.reference;
    for (const Stage stage : {Stage::scores, Stage::scaled, Stage::biased, Stage::masked,
                              Stage::weights, Stage::dropped, Stage::context})
        if (!t[stage].empty()) t[stage] = moved(t[stage], source);
    t.logsumexp = moved(t.logsumexp, source);
    if (!t[Stage::context].empty())
        t[Stage::output] = join_heads(subject.inputs, subject.size, t[Stage::context]);
    return t;
}

/// Some rows of `actual` at (b, h) beside the expected ones at `from`: the squared difference.
double distance(const Tensor& actual, const TensorD& expected, Place at, Place from) {
    const Shape shape = actual.shape();
    double sum = 0.0;
    for (Index t = 0; t < shape.t; t += std::max<Index>(1, shape.t / 8)) {
        const auto a = actual.matrix(at.first, at.second).row(t);
        const auto e = expected.matrix(from.first, from.second).row(t);
        for (std::size_t c = 0; c < a.size(); ++c) {
            const double difference = static_cast<double>(a[c]) - e[c];
            if (std::isfinite(difference)) sum += difference * difference;
        }
    }
    return sum;
}

/// The place whose expected numbers each result is nearest to; its own where several are as near.
std::vector<Place> nearest(const Tensor& actual, const TensorD& expected) {
    const Shape shape = actual.shape();
    std::vector<Place> made;
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h) {
            Place best{b, h};
            double least = distance(actual, expected, best, best);
            for (Index from_b = 0; from_b < shape.b; ++from_b)
                for (Index from_h = 0; from_h < shape.h; ++from_h)
                    if (const double d = distance(actual, expected, {b, h}, {from_b, from_h});
                        d < least)
                        least = d, best = {from_b, from_h};
            made.push_back(best);
        }
    return made;
}

std::string description_of(const std::vector<Place>& places, Index heads) {
    constexpr std::size_t kMost = 6;
    std::vector<std::string> items;
    for (std::size_t n = 0; n < places.size(); ++n) {
        const Place own{static_cast<Index>(n) / heads, static_cast<Index>(n) % heads};
        if (places[n] == own) continue;
        if (items.size() == kMost) {
            items.emplace_back("…");
            break;
        }
        items.push_back(fmt::format("[{}, {}] shows [{}, {}]", own.first, own.second,
                                    places[n].first, places[n].second));
    }
    return fmt::format("head {}", fmt::join(items, ", "));
}

/// Head `h` of the result is taken from group source(h); K and V, or K alone.
struct GroupMode {
    std::string_view text;
    Index (*group)(Index h, const Dimensions& size);
};
Index right_group(Index h, const Dimensions& size) { return h / (size.heads / size.kv_heads); }
constexpr GroupMode kGroups[] = {
    {"key/value head 0 for every head", [](Index, const Dimensions&) { return Index{0}; }},
    {"the next key/value head",
     [](Index h, const Dimensions& n) { return (right_group(h, n) + 1) % n.kv_heads; }},
    {"the key/value head before",
     [](Index h, const Dimensions& n) {
         return (right_group(h, n) + n.kv_heads - 1) % n.kv_heads;
     }},
    {"key/value heads in reverse order",
     [](Index h, const Dimensions& n) { return n.kv_heads - 1 - right_group(h, n); }},
    {"key/value head h / Hkv",
     [](Index h, const Dimensions& n) { return std::min(h / n.kv_heads, n.kv_heads - 1); }},
    {"the last key/value head for every head",
     [](Index, const Dimensions& n) { return n.kv_heads - 1; }},
};

enum class Taken { both, keys, values };
constexpr std::pair<Taken, std::string_view> kTaken[] = {
    {Taken::both, "K and V"}, {Taken::keys, "K alone"}, {Taken::values, "V alone"}};

TraceD with_groups(const Subject& subject, const std::function<Place(Index b, Index h)>& source,
                   Taken taken) {
    Replay replay = replay_of(subject);
    if (taken != Taken::values)
        set_scores(subject, operand(subject, Stage::q_rot), operand(subject, Stage::k_rot), replay,
                   source);
    if (taken != Taken::keys) replay.value_place = source;
    replay.right_weights = taken == Taken::values;
    return run(subject, replay);
}

/// [B,T,H,d] of [B,H,T,d].
TensorD swapped(const TensorD& tensor) {
    const Shape shape = tensor.shape();
    TensorD made(Shape{shape.b, shape.t, shape.h, shape.d});
    for_each_row(shape, [&](Index b, Index h, Index t) {
        std::ranges::copy(tensor.matrix(b, h).row(t), made.matrix(b, t).row(h).begin());
    });
    return made;
}

}  // namespace

Reason permuted_heads(const Trial& trial, const Take& take) {
    const Dimensions& size = trial.subject.size;
    if (size.heads * size.batch == 1) return "there is one head of one sequence";
    const Results& results = trial.results;
    const bool has_context = !results[Stage::context].empty() &&
                             !trial.subject.reference[Stage::context].empty();  // without V
    const Stage shown = has_context ? Stage::context : Stage::weights;
    if (results[shown].empty()) return "neither context nor weights are among the results";
    if (size.heads * size.batch > 1024) return "more than 1024 heads are not compared in pairs";
    const std::vector<Place> places = nearest(results[shown], trial.subject.reference[shown]);
    const auto source = [&](Index b, Index h) { return places[b * size.heads + h]; };
    bool own = true;
    for (Index b = 0; b < size.batch; ++b)
        for (Index h = 0; h < size.heads; ++h) own = own && source(b, h) == Place{b, h};
    if (!own) {
        take(description_of(places, size.heads), with_moved_heads(trial.subject, source));
        return {};
    }
    // Nothing to be seen in these results: the ways in which it is usually made.
    if (size.heads > 1 &&
        !take("heads in reverse order", with_moved_heads(trial.subject, [&](Index b, Index h) {
                  return Place{b, size.heads - 1 - h};
              })))
        return {};
    if (size.batch > 1)
        take("batch entries in reverse order",
             with_moved_heads(trial.subject, [&](Index b, Index h) {
                 return Place{size.batch - 1 - b, h};
             }));
    return {};
}

Reason wrong_group(const Trial& trial, const Take& take) {
    const Dimensions& size = trial.subject.size;
    if (size.kv_heads == 1) return "all query heads share one key/value head";
    for (const auto& [taken, of] : kTaken) {
        if (taken == Taken::values) continue;  // value_group
        for (const GroupMode& variant : kGroups)
            if (!take(fmt::format("{}: {}", of, variant.text),
                      with_groups(
                          trial.subject,
                          [&](Index b, Index h) {
                              return Place{b, variant.group(h, size)};
                          },
                          taken)))
                return {};
    }
    return {};
}

Reason wrong_batch(const Trial& trial, const Take& take) {
    const Dimensions& size = trial.subject.size;
    if (size.batch == 1) return "there is one batch entry";
    for (const auto& [taken, of] : kTaken) {
        const auto with = [&](std::string_view text, auto entry) {
            return take(fmt::format("{} of {}", of, text),
                        with_groups(
                            trial.subject,
                            [&](Index b, Index h) {
                                return Place{entry(b), right_group(h, size)};
                            },
                            taken));
        };
        if (!with("batch entry 0 for all", [](Index) { return Index{0}; })) return {};
        if (!with("the next batch entry", [&](Index b) { return (b + 1) % size.batch; })) return {};
        if (size.batch > 2 && !with("the batch entry before",
                                    [&](Index b) { return (b + size.batch - 1) % size.batch; }))
            return {};
    }
    return {};
}

Reason swapped_layout(const Trial& trial, const Take& take) {
    const Subject& subject = trial.subject;
    if (subject.inputs.projects()) return "Q, K and V are projected, not read";
    if (subject.size.heads == 1) return "there is one head: both layouts are the same";
    InputsD in;
    in.q = swapped(subject.inputs.q), in.k = swapped(subject.inputs.k);
    in.v = swapped(subject.inputs.v);
    for (const ParamInfo& param : param_table())
        if (param.use == ParamUse::score || param.use == ParamUse::norm)
            in.params[param.param] = subject.inputs.params[param.param];
    AttentionSpec spec = subject.spec;
    spec.heads = in.q.shape().h;
    spec.kv_heads = in.k.shape().h;
    auto made = attend_exact(in, spec);
    if (!made) return "read as [B,T,H,d] they are no call: " + made.error().text();
    TraceD planted = subject.reference;
    planted[Stage::context] = swapped((*made)[Stage::context]);
    planted[Stage::output] = join_heads(subject.inputs, subject.size, planted[Stage::context]);
    open_gate(subject, planted);
    take("Q, K and V are [B,T,H,d]", std::move(planted));
    return {};
}

}  // namespace attn::verify
