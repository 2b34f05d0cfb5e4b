// Results that are right: nothing is beyond tolerance, so that nothing is diagnosed.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/cast.h"
#include "core/engine.h"
#include "core/rng.h"
#include "core/verify/diagnose.h"
#include "tests/support/cases.h"
#include "tests/support/random.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

/// Whole numbers that depend on seed and place alone.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : seed_(seed) {}
    Index operator()(Index from, Index to) {
        return from +
               static_cast<Index>(uniform(seed_, next_++) * static_cast<double>(to - from + 1));
    }
    bool one_in(Index n) { return (*this)(1, n) == 1; }

  private:
    std::uint64_t seed_;
    std::uint64_t next_ = 0;
};

void choose_masks(Dice& dice, const Shape& k, Index tq, AttentionSpec& spec) {
    if (dice.one_in(2))
        spec.mask.causal =
            dice.one_in(2) || tq > k.t ? CausalAlign::top_left : CausalAlign::bottom_right;
    if (dice.one_in(3)) spec.mask.window = dice(0, 5);
    if (dice.one_in(4)) spec.mask.window_left = dice(0, 6);
    if (dice.one_in(4)) spec.mask.block = dice(2, 9);
    if (spec.mask.windowed() && dice.one_in(2)) spec.mask.global_tokens = dice(1, 2);
    for (Index b = 0; b < k.b && dice.one_in(3); ++b) spec.mask.padding.assign(k.b, dice(1, k.t));
}

Case random_case(std::uint64_t seed) {
    Dice dice(seed);
    Case made;
    made.name = fmt::format("seed {}", seed);
    const Index b = dice(1, 2), g = dice(1, 3), h = g * dice(1, 3), tq = dice(1, 24);
    const Index tk = dice.one_in(2) ? tq : dice(1, 40), d = 2 * dice(1, 24);
    const double size = dice.one_in(5) ? 4.0 : 1.0;
    made.inputs.q = normal_tensor<float>({b, h, tq, d}, 4 * seed, size);
    made.inputs.k = normal_tensor<float>({b, g, tk, d}, 4 * seed + 1, size);
    made.inputs.v = normal_tensor<float>({b, g, tk, dice(1, 40)}, 4 * seed + 2);
    choose_masks(dice, made.inputs.k.shape(), tq, made.spec);
    if (dice.one_in(3))
        made.spec.rope =
            Rope{dice.one_in(2) ? RopePairs::half : RopePairs::interleaved, 10000.0, {}};
    made.spec.alibi = dice.one_in(4);
    if (dice.one_in(4)) made.spec.softcap = static_cast<double>(dice(1, 50));
    if (dice.one_in(5)) made.spec.score = Score::cosine;
    if (dice.one_in(6)) made.spec.scale = ScaleKind::none;
    if (dice.one_in(6)) made.spec.dropout = 0.2;
    if (dice.one_in(6))
        made.spec.empty_rows = EmptyRows::nan;
    else if (dice.one_in(4))
        made.inputs.params[Param::sinks] = normal_tensor<float>({1, 1, 1, h}, 4 * seed + 3);
    return made;
}

/// "" where nothing is beyond tolerance, else what is.
std::string beyond(const Case& one, std::string_view backend) {
    const auto made = make_subject(cast<double>(one.inputs), one.spec);
    if (!made) return made.error().text();
    const Subject& subject = *made;
    const auto results = attend(one.inputs, one.spec, backend);
    if (!results) return results.error().text();
    const Bounds bounds = forward_bounds(subject, subject.reference);
    for (const Named& stage : shared_stages(*results, subject.reference)) {
        const Errors errors = total_errors(*stage.actual, *stage.expected, bounds.of(stage.key));
        if (errors.beyond > 0)
            return fmt::format("{} by {}: {} of {} cells, worst {} at a tolerance of {}", stage.key,
                               backend, errors.beyond, errors.count, errors.max,
                               bounds.of(stage.key).at(errors.worst.expected));
    }
    return {};
}

}  // namespace

TEST_CASE("200 random calls by the fused backend in float32 are within tolerance") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        const Case one = random_case(seed);
        CAPTURE(one.name);
        CHECK(beyond(one, "fused") == "");
    }
}

TEST_CASE("every stage of every kind of attention by the staged backend is within tolerance") {
    for (const Case& one : kind_cases(Sizes::odd)) {
        CAPTURE(one.name);
        CHECK(beyond(one, "staged") == "");
    }
    for (const Case& one : engine_cases(Sizes::odd)) {
        CAPTURE(one.name);
        CHECK(beyond(one, "staged") == "");
    }
}
