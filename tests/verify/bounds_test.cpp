#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/cast.h"
#include "core/stages.h"
#include "core/verify/bounds.h"
#include "tests/support/cases.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

double top(const TensorD& tensor) {
    double largest = 0.0;
    for (const double value : tensor.values())
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    return largest;
}

}  // namespace

TEST_CASE("the tolerance is small beside what is compared") {
    for (const Case& one : engine_cases(Sizes::odd)) {
        if (one.name.starts_with("negative")) continue;
        CAPTURE(one.name);
        const Subject subject = make_subject(cast<double>(one.inputs), one.spec).value();
        const Bounds bounds = forward_bounds(subject, subject.reference);
        for (const Stage stage :
             {Stage::scores, Stage::scaled, Stage::weights, Stage::context, Stage::output}) {
            CAPTURE(info(stage).key);
            const double largest = top(subject.reference[stage]);
            const double allowed = bounds.of(info(stage).key).at(largest);
            CHECK(allowed > 0.0);
            CHECK(allowed < 5e-3 * std::max(largest, 0.1));
        }
    }
}

TEST_CASE("the tolerance grows with the roundoff, and with the logits") {
    Case one = engine_cases(Sizes::small).front();
    const auto bound = [&](double roundoff) {
        const Subject subject = make_subject(cast<double>(one.inputs), one.spec).value();
        return forward_bounds(subject, subject.reference, roundoff).of("weights").relative;
    };
    const double usual = bound(kFloatRoundoff);
    CHECK(bound(256.0 * kFloatRoundoff) == doctest::Approx(256.0 * usual));
    for (float& value : one.inputs.q.values()) value *= 100.0F;
    CHECK(bound(kFloatRoundoff) > 5.0 * usual);
}

TEST_CASE("the tolerance of an entry is never more than that of its array, and mostly less") {
    int less = 0, all = 0;
    for (const auto& cases : {engine_cases(Sizes::small), kind_cases(Sizes::small)})
        for (const Case& one : cases) {
            CAPTURE(one.name);
            const Subject subject = make_subject(cast<double>(one.inputs), one.spec).value();
            const Bounds arrays =
                forward_bounds(subject, subject.reference, kFloatRoundoff, BoundsDetail::arrays);
            const Bounds entries = forward_bounds(subject, subject.reference);
            for (const std::string_view key : {"context", "output", "logsumexp"}) {
                const Tolerance whole = arrays.of(key), each = entries.of(key);
                CHECK_FALSE(whole.entries);
                CHECK(each.absolute <= whole.absolute);
                CHECK(each.relative == whole.relative);
                if (!each.entries) continue;
                for (const double entry : each.entries->values()) {
                    CHECK(entry <= whole.absolute);
                    ++all;
                    less += entry < 0.5 * whole.absolute;
                }
            }
        }
    CHECK(less > all / 2);
}

TEST_CASE("a tolerance that is given is that of every array") {
    const Bounds bounds = uniform_bounds({0.5, 0.25});
    CHECK(bounds.of("weights").at(-2.0) == 1.0);
    CHECK(bounds.of("logsumexp").at(0.0) == 0.5);
}
