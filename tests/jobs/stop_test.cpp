// A computation ends soon after its stop was requested, wherever it is, and its job with it. Each case below computes for
// minutes unless it is stopped.

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "app/jobs/worker.h"
#include "core/call.h"
#include "core/engine.h"
#include "core/stop.h"
#include "core/threads.h"
#include "core/verify/report.h"
#include "tests/support/random.h"

using namespace attn;

namespace {

std::stop_token stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}

/// Eight heads of so many queries and keys.
template <class Scalar>
InputsOf<Scalar> long_inputs(Index tokens) {
    InputsOf<Scalar> in;
    in.q = test::normal_tensor<Scalar>({1, 8, tokens, 64}, 1);
    in.k = test::normal_tensor<Scalar>({1, 8, tokens, 64}, 2);
    in.v = test::normal_tensor<Scalar>({1, 8, tokens, 64}, 3);
    return in;
}

/// What is told of a request that computes.
struct Seen {
    std::atomic<bool> begun = false, ended = false, threw = false;
};
struct LongRequest {
    std::shared_ptr<const InputsD> inputs;
    std::shared_ptr<Seen> seen;
    bool operator==(const LongRequest&) const = default;
};
view::Action run(const LongRequest& request, const RunControl&) {
    request.seen->begun = true;
    request.seen->begun.notify_all();
    try {
        const auto trace = attend_exact(*request.inputs, {});
        request.seen->ended = trace.has_value();
    } catch (const Stopped&) {
        request.seen->threw = true;
        throw;
    }
    return view::Notify{};
}

}  // namespace

TEST_CASE("the reference and a comparison with it end where they were stopped") {
    const StopScope scope(stopped());
    AttentionSpec masked;
    masked.mask.causal = CausalAlign::top_left;
    for (const AttentionSpec& spec : {AttentionSpec{}, masked}) {
        CHECK_THROWS_AS(attend_exact(long_inputs<double>(1500), spec), Stopped);
        verify::Side side;
        side.path = "long.npz";
        side.inputs = long_inputs<float>(1500);
        side.input_names = verify::InputNames::call;
        side.has_values = true;
        side.spec = spec;
        CHECK_THROWS_AS(verify::compare_sides({side}, {}, {.keep = true}), Stopped);
    }
}

TEST_CASE("each score and each loop over pairs ends where it was stopped") {
    for (const Score score : {Score::additive, Score::general, Score::student_t, Score::cosine}) {
        CAPTURE(static_cast<int>(score));
        InputsD in = long_inputs<double>(1500);
        AttentionSpec spec;
        spec.score = score;
        for (const Param param : {Param::w_score, Param::w_score_q, Param::w_score_k})
            in.params[param] = test::normal_tensor<double>({1, 1, 64, 64}, 4);
        in.params[Param::w_score_row] = test::normal_tensor<double>({1, 1, 1, 64}, 5);
        const StopScope scope(stopped());
        InputsD fitting = in;
        if (score != Score::general) fitting.params[Param::w_score] = {};
        if (score != Score::additive)
            for (const Param param : {Param::w_score_q, Param::w_score_k, Param::w_score_row})
                fitting.params[param] = {};
        REQUIRE(validate(fitting, spec));
        CHECK_THROWS_AS(attend_exact(fitting, spec), Stopped);
    }
}

TEST_CASE("parallel_for hands the scope on to its threads, and throws on the caller's") {
    std::stop_source source;
    std::atomic<int> ran = 0;
    const auto work = [&] {
        const StopScope scope(source.get_token());
        parallel_for(1000, {}, [&](Index n, int) {
            if (n == 3) source.request_stop();
            end_if_stopped();
            ++ran;
        });
    };
    CHECK_THROWS_AS(work(), Stopped);
    CHECK(ran < 1000);
    CHECK_FALSE(is_stopped());  // outside the scope
    CHECK(parallel_for(10, {},
                       [](Index, int) { end_if_stopped(); }));  // nothing is thrown without one
}

TEST_CASE("a job whose request computes ends with it") {
    const auto seen = std::make_shared<Seen>();
    {
        jobs::Worker worker({"long", nullptr}, nullptr, [] {});
        worker.update(view::Request(
            LongRequest{std::make_shared<const InputsD>(long_inputs<double>(3000)), seen}));
        seen->begun.wait(false);
    }  // waits for its thread
    CHECK_FALSE(seen->ended);
    CHECK(seen->threw);
}

TEST_CASE("an error that is thrown on a job's thread is an answer") {
    const view::FailedRequest failed =
        view::failed_request("opening", view::Request(LongRequest{}),
                             std::make_exception_ptr(tl::unexpected(Error{"no file"})));
    CHECK(failed.text == "Opening: no file.");
}
