// What `bench` says of a backend's error.

#include <doctest/doctest.h>

#include "core/bench/error.h"
#include "core/bench/workload.h"
#include "core/call.h"
#include "tests/support/backends.h"

using namespace attn;
using namespace attn::bench;

namespace {

/// A backend whose context is off by a part in a thousand.
class Wrong final : public test::LikeStaged {
  public:
    std::string_view name() const override { return "wrong"; }
    Result<Trace> forward(const Call& call, StageSet keep,
                          const RunControl& control) const override {
        auto trace = LikeStaged::forward(call, keep, control);
        for (float& value : (*trace)[Stage::context].values()) value *= 1.001F;
        return trace;
    }
    Result<Trace> backward(const Call& call, const Trace& forward, const Upstream& upstream,
                           const RunControl& control) const override {
        auto d = LikeStaged::backward(call, forward, upstream, control);
        for (float& value : (*d)[Stage::k].values()) value *= 1.001F;
        return d;
    }
};

}  // namespace

TEST_CASE("the error of what is right is rounding, and of what is wrong its size") {
    for (const char* shape : {"H2N33d5", "H2N33d5c", "H2N33d5b", "H2N33d5cb", "N1d1", "H2N33d5cw7",
                              "H2N33d6b+rope", "N9d4w2+softcap"}) {
        const Workload work = parse_workload(shape).value();
        const Inputs inputs = make_inputs(work);
        CAPTURE(shape);
        for (const Backend* backend : backends())
            CHECK(error_of(*backend, work, inputs).value() < 2e-6);
        if (work.d > 1)
            CHECK(error_of(Wrong(), work, inputs).value() ==
                  doctest::Approx(1e-3).epsilon(0.01).scale(0.0));
    }
}
