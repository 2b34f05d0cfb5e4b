// What the tests of backends allow: an array of zeros is no match for any array that is not zero.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/call.h"
#include "core/stages.h"
#include "tests/support/cases.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

struct Counts {
    int zero = 0;
    int others = 0;
};

/// Of one array of a case: zeros match only what is zero but for rounding.
void check(const TensorD& expected, Tolerance tolerance, const std::string& what, Counts& counts) {
    if (expected.empty()) return;
    INFO(what);
    const auto tiny = [](double value) { return std::abs(value) < kZero; };
    const bool zero = std::ranges::all_of(expected.values(), tiny);
    (zero ? counts.zero : counts.others) += 1;
    const Tensor zeros(expected.shape());
    CHECK((tensor_mismatch(zeros, expected, tolerance, "") == "") == zero);
    if (largest_of(expected) >= kZero)
        CHECK(largest_tolerance(expected) < 1e-3 * largest_of(expected));
}

void check_case(const Case& one, Counts& counts) {
    const auto [inputs, upstream, exact, d] = exact_of(one);
    const ErrorBounds bounds = error_bounds(inputs, one.spec, exact, d, kFloatRoundoff);
    for (const StageInfo& stage : stage_table()) {
        const std::size_t s = index_of(stage.stage);
        const auto what = fmt::format("{} of {}", stage.key, one.name);
        check(exact[stage.stage], bounds.forward[s], what, counts);
        check(d[stage.stage], bounds.backward[s], "d_" + what, counts);
    }
    check(exact.logsumexp, bounds.logsumexp, "logsumexp of " + one.name, counts);
    for (const ParamInfo& param : param_table())
        check(d.params[param.param], bounds.params[index_of(param.param)],
              fmt::format("d_{} of {}", param.key, one.name), counts);
}

}  // namespace

TEST_CASE("zeros are within the tolerance of no stage, gradient or parameter that is not zero") {
    Counts counts;
    for (const Case& one : engine_cases(Sizes::odd)) {
        Counts of_case;
        check_case(one, of_case);
        // A bias of keys moves all scores of a row alike; of one key the weight is 1 whatever its score is.
        const bool one_key = validate(one.inputs, one.spec).value().size().tk == 1;
        INFO(one.name);
        if (!one_key) CHECK(of_case.zero <= 1);
        counts.zero += of_case.zero;
        counts.others += of_case.others;
    }
    CHECK(counts.others > 1000);
    CHECK(20 * counts.zero < 3 * counts.others);
}
