// Without a fault, what faults are planted in makes the reference's numbers.
#include <doctest/doctest.h>

#include <cmath>

#include "core/cast.h"
#include "core/stages.h"
#include "core/verify/replay.h"
#include "tests/support/cases.h"
#include "tests/verify/plain.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

double difference(const TensorD& a, const TensorD& b) {
    if (a.shape() != b.shape()) return INFINITY;
    double worst = 0.0;
    for (std::size_t n = 0; n < a.values().size(); ++n) {
        const double x = a.values()[n], y = b.values()[n];
        if (x == y || (std::isnan(x) && std::isnan(y))) continue;
        worst = std::max(worst, std::isnan(x - y) ? INFINITY : std::abs(x - y));
    }
    return worst;
}

void check_replay(const Case& one) {
    CAPTURE(one.name);
    const Subject subject = make_subject(cast<double>(one.inputs), one.spec).value();
    const TraceD replayed = run(subject, replay_of(subject));
    for (const StageInfo& stage : stage_table()) {
        CAPTURE(stage.key);
        CHECK(difference(replayed[stage.stage], subject.reference[stage.stage]) < 1e-12);
    }
    CHECK(difference(replayed.logsumexp, subject.reference.logsumexp) < 1e-12);
}

}  // namespace

TEST_CASE("a replay without a fault is the reference, for every kind of attention and mask") {
    for (const Case& one : kind_cases(Sizes::small)) check_replay(one);
    for (const Case& one : engine_cases(Sizes::small)) check_replay(one);
}

TEST_CASE("the loops of these tests are the reference too") {
    for (const Case& one : engine_cases(Sizes::small)) {
        if (!one.name.starts_with("plain")) continue;
        CAPTURE(one.name);
        const Subject subject = make_subject(cast<double>(one.inputs), one.spec).value();
        ViewActions plain{one.inputs.q, one.inputs.k, one.inputs.v};
        plain.factor = 1.0 / std::sqrt(static_cast<double>(one.inputs.q.shape().d));
        plain.key_head = plain.value_head = [&](Index h) {
            return h / (subject.size.heads / subject.size.kv_heads);
        };
        const Trace made = run_plain(plain);
        for (const Stage stage :
             {Stage::scores, Stage::masked, Stage::weights, Stage::context, Stage::output})
            CHECK(difference(cast<double>(made[stage]), subject.reference[stage]) < 1e-5);
    }
}
