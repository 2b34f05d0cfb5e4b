// Every backend against the exact result over odd sizes, masks and options.

#include "tests/support/targets.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/stages.h"
#include "tests/support/backends.h"
#include "tests/support/cases.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

/// What differs from the exact result; "" when nothing does.
std::string compare(const Case& one, std::string_view backend) {
    const ExactCase exact = exact_of(one);
    const ErrorBounds bounds =
        error_bounds(exact.inputs, one.spec, exact.forward, exact.d,
                     backend == "reference" ? kDoubleRoundoff : kFloatRoundoff);
    const auto [forward, d] = both_passes(one.inputs, one.spec, backend, one.upstream);
    const std::string what = fmt::format("{} by {}", one.name, backend);
    const StageSet stored = find_backend(backend)->stages();
    const std::string wrong = forward_mismatch(forward, exact.forward, bounds, what, stored);
    return wrong.empty() ? backward_mismatch(d, exact.d, bounds, what, stored) : wrong;
}

/// More queries than a block, more keys and columns of V than a panel, no multiple of either.
Case long_case() { return normal_case("long", {1, 4, 53, 37}, {1, 2, 101, 37}, 41); }

}  // namespace

TEST_CASE("staged agrees on every compiled instruction set, masked by range and by pair") {
    std::vector<Case> cases = engine_cases(Sizes::odd);
    cases.push_back(long_case());
    cases.push_back(long_case());
    cases.back().spec.mask.causal = CausalAlign::bottom_right;
    cases.back().spec.mask.window = 40;
    cases.push_back(long_case());
    auto mask = std::make_shared<Mask>(Shape{1, 4, 53, 101});
    for (Index n = 0; n < mask->count(); ++n) mask->data()[n] = n * n % 7 < 3 ? 1 : 0;
    cases.back().spec.mask.custom = std::move(mask);
    on_every_target([&] {
        for (const Case& one : cases) CHECK(compare(one, "staged") == "");
    });
}

TEST_CASE("every backend agrees with the exact result, forward and backward") {
    for (const Backend* backend : backends())
        for (const Case& one : engine_cases(Sizes::odd)) CHECK(compare(one, backend->name()) == "");
}

TEST_CASE("huge logits agree within what rounding a score costs its exp") {
    for (const Backend* backend : backends())
        for (Case one : engine_cases(Sizes::odd)) {
            if (one.inputs.projects()) continue;
            for (float& value : one.inputs.q.values()) value *= 30.0F;
            CHECK(compare(one, backend->name()) == "");
        }
}

// fused adds up few queries in another order where V, which a backward pass would need, is not kept.
TEST_CASE("a backend that keeps fewer stages gives the same numbers in those it keeps") {
    constexpr Tolerance kOrder{1e-6, 4e-6};
    for (const Backend* backend : backends())
        for (const Case& one : engine_cases(Sizes::small)) {
            const Trace all = attend(one.inputs, one.spec, backend->name()).value();
            for (const StageInfo& stage : stage_table()) {
                if (!backend->stages()[index_of(stage.stage)]) continue;
                StageSet keep;
                keep.set(index_of(stage.stage));
                const Trace few = attend(one.inputs, one.spec, backend->name(), keep).value();
                for (const StageInfo& other : stage_table())
                    if (other.stage != stage.stage) CHECK(few[other.stage].empty());
                const Tolerance near =
                    backend->name() == "fused" && !keep[index_of(Stage::v)] ? kOrder : Tolerance{};
                CHECK(tensor_mismatch(few[stage.stage], all[stage.stage], near, one.name) == "");
                CHECK(tensor_mismatch(few.logsumexp, all.logsumexp, near, one.name) == "");
            }
        }
}

TEST_CASE("the list of backends starts with the reference and finds each by name") {
    REQUIRE(backends().size() >= 2);
    CHECK(backends()[0]->name() == "reference");
    for (const Backend* backend : backends()) CHECK(find_backend(backend->name()) == backend);
    CHECK(find_backend("nonesuch") == nullptr);
    const auto error = attend(engine_cases(Sizes::small)[0].inputs, {}, "nonesuch");
    REQUIRE(!error);
    CHECK(error.error().text() ==
          "there is no backend 'nonesuch': choose one of auto, reference, staged, fused");
}
