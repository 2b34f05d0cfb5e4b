// Options of `trace`, from the command line and from the file.
#include <cmath>

#include "core/scores/score.h"
#include "tests/cli/command.h"

using namespace attn;

TEST_CASE("a value that cannot be is named with what was expected") {
    check_option_refused({"--temperature", "warm"}, "--temperature is 'warm'; expected a number");
    check_option_refused({"--temperature", "0"}, "temperature is 0");
    check_option_refused({"--temperature", "-1"}, "temperature is -1");
    check_option_refused({"--temperature", "nan"}, "temperature is nan");
    check_option_refused({"--scale", "sqrt"},
                         "--scale is 'sqrt'; expected sqrt_dk, q_and_k, none or a number");
    for (const ScoreInfo& score : score_table())
        check_option_refused({"--score", "cos"}, std::string(score.key));
    check_option_refused({"--score", "cos"}, "--score is 'cos'; expected dot, cosine, general");
    check_option_refused({"--score", "general"}, "score general needs W_score");
    check_option_refused({"--rope", "both"}, "--rope is 'both'; expected half or interleaved");
    check_option_refused({"--rope-base", "9"}, "--rope-base is 9 without rope");
    for (const char* base : {"0", "1e-30", "1e19", "nan"})
        check_option_refused({"--rope", "half", "--rope-base", base},
                             "expected a number from 1e-6 to 1e18");
    check_option_refused({"--rope", "half", "--rope-scaling", "linear,1e-320"},
                         "it must be a number from 1e-3 to 1e18");
    check_option_refused({"--rope", "half", "--rope-scaling", "linear,1e300"},
                         "--rope-scaling is 'linear,1e300'; expected numbers from -1e18 to 1e18");
    check_option_refused(
        {"--rope", "half", "--rope-dims", "3"},
        "rope.dims is 3: RoPE turns pairs of columns, so an even number from 2 to d_k");
    check_option_refused({"--softcap", "0"}, "softcap is 0");
    check_option_refused({"--query-offset", "-1"}, "query-offset is -1");
    check_option_refused({"--query-offset", "1", "--causal=bottom-right"},
                         "query_offset is 1 but causal=bottom-right");
    check_option_refused({"--window-left", "-1"}, "window-left is -1");
    check_option_refused({"--global-tokens", "1"}, "global_tokens is 1 without a window");
    check_option_refused({"--sinks"}, "no array sinks");
    check_option_refused({"--causal=left"},
                         "--causal is 'left'; expected top-left or bottom-right");
    check_option_refused({"--window", "1.5"}, "--window is '1.5'; expected a whole number");
    check_option_refused({"--window", "-1"}, "window is -1");
    check_option_refused({"--block", "0"}, "block is 0");
    check_option_refused({"--padding", "1,x"}, "--padding is '1,x'");
    check_option_refused({"--padding", "1,"}, "--padding is '1,'");
    check_option_refused({"--padding", "1,2"}, "padding has 2");
    check_option_refused({"--dropout", "1"}, "dropout is 1");
    check_option_refused({"--seed", "-1"},
                         "--seed is -1; expected a whole number from 0 to 2^64 - 1");
    check_option_refused({"--empty-rows", "one"}, "--empty-rows is 'one'; expected zero or nan");
    check_option_refused({"--heads", "2"}, "heads is 2, but Q is");
    check_option_refused({"--heads", "99999999999999999999"}, "--heads is '99999999999999999999'");
    check_option_refused({"--threads", "0"}, "--threads is 0");
    check_option_refused({"--backend", "magic"}, "no backend 'magic'");
    check_option_refused({"--keep", "weights,magic"}, "unknown stage 'magic'");
}

TEST_CASE("an option in the file counts, the command line wins, and a note tells") {
    const Scratch scratch;
    const std::string target = scratch.at("o.npz");
    const Ran from_file = command({"trace", golden("qkv.npz"), "-o", target});
    CHECK(from_file.err ==
          "attnscope trace: note: options from " + golden("qkv.npz") + ": scale=none\n");
    const Ran overridden =
        command({"trace", golden("qkv.npz"), "-o", target, "--scale", "sqrt_dk"});
    CHECK(overridden.err.empty());
    CHECK(floats(traced("qkv.npz"), "scaled")[8] == 2.0f);
    CHECK(floats(traced("qkv.npz", {"--scale", "0.25"}), "scaled")[8] == 0.5f);
    const Npz each = traced("qkv.npz", {"--scale", "q_and_k"});
    for (const char* stage : {"scores", "scaled"})
        CHECK(floats(each, stage)[8] == doctest::Approx(2.0 / std::sqrt(2.0)));  // d_k is 2
    command({"trace", golden("qkv.npz"), "-o", target, "--scale", "q_and_k"});
    CHECK(contains(command({"trace", target, "-o", scratch.at("again.npz")}).err, "scale=q_and_k"));
    CHECK(floats(read_npz(scratch.at("again.npz")).value(), "weights") == floats(each, "weights"));
}

TEST_CASE("an option in the file that cannot be is an error that names the file") {
    check_trace_refused(
        "bad_option.npz", {},
        "bad_option.npz: options has the unknown key 'causl'; did you mean causal?");
    check_trace_refused("bad_json.npz", {}, "bad_json.npz: options is not valid JSON at line 1");
}

TEST_CASE("masks from options combine by AND") {
    const std::vector<float> weights =
        floats(traced("qkv.npz", {"--causal", "--window", "1", "--padding", "2"}), "weights");
    const std::vector<bool> allowed{true, false, false, true, true, false, false, true, false};
    for (std::size_t pair = 0; pair < allowed.size(); ++pair)
        CHECK((weights[pair] > 0.0f) == allowed[pair]);
    CHECK(floats(traced("qkv.npz", {"--block", "2"}), "weights")[8] == 1.0f);
}

TEST_CASE("a dilated window: the keys at multiples of the dilation, and global tokens as ever") {
    constexpr Index kTq = 9, kTk = 12, kWidth = 2, kStep = 3, kReach = 6;
    const Scratch scratch;
    const std::string in = scratch.at("in.npz"), out = scratch.at("out.npz");
    std::vector<float> numbers;
    for (Index n = 0; n < kTk * kWidth; ++n) numbers.push_back(static_cast<float>(n * 7 % 5) / 4);
    const std::span<const float> keys(numbers);
    const std::vector<NpzEntry> arrays{{"Q", {kTq, kWidth}, keys.first(kTq * kWidth)},
                                       {"K", {kTk, kWidth}, keys},
                                       {"V", {kTk, kWidth}, keys}};
    REQUIRE(write_npz(in, arrays));
    const auto weights = [&](const std::string& from, const Arguments& options) {
        succeeds(joined({"trace", from, "-o", out}, options));
        return floats(read_npz(out).value(), "weights");
    };
    const Arguments window{"--causal=bottom-right", "--window", "6", "--dilation", "3"};
    for (const Index globals : {0, 2}) {
        const auto options = joined(window, {"--global-tokens", std::to_string(globals)});
        const std::vector<float> found = weights(in, options);
        for (Index i = 0; i < kTq; ++i)
            for (Index j = 0; j < kTk; ++j) {
                const Index p = i + kTk - kTq;
                const bool near = p - j <= kReach && (p - j) % kStep == 0;
                CHECK((found[i * kTk + j] > 0.0F) == (j <= p && (near || j < globals)));
            }
        const std::string stored = scratch.at("stored.npz");
        std::filesystem::copy_file(out, stored, std::filesystem::copy_options::overwrite_existing);
        CHECK(weights(stored, {}) == found);
        for (const char* backend : {"reference", "staged"}) {
            const auto by = weights(in, joined(options, {"--backend", backend}));
            for (std::size_t n = 0; n < by.size(); ++n)
                CHECK(by[n] == doctest::Approx(found[n]).epsilon(1e-5));
        }
    }
    CHECK(weights(in, {"--causal=bottom-right", "--window", "6", "--dilation", "1"}) ==
          weights(in, {"--causal=bottom-right", "--window", "6"}));
    check_option_refused({"--dilation", "0"}, "--dilation is 0");
    check_trace_refused("qkv.npz", {"--dilation", "half"}, "--dilation is 'half'");
}

TEST_CASE("an empty row follows the policy, and its NaN is counted") {
    CHECK(floats(traced("qkv.npz", {"--padding", "0"}), "weights")[0] == 0.0f);
    CHECK(std::isnan(
        floats(traced("qkv.npz", {"--padding", "0", "--empty-rows", "nan"}), "weights")[0]));
    const Scratch scratch;
    const Ran ran = command({"trace", golden("qkv.npz"), "-o", scratch.at("o.npz"), "--padding",
                             "0", "--empty-rows", "nan"});
    CHECK(contains(ran.out, "weights    [1, 1, 3, 3]  9 NaN"));
}

TEST_CASE("the result does not depend on the number of threads") {
    const auto context = [](const char* threads) {
        return floats(traced("qkv.npz", {"--backend", "fused", "--threads", threads}), "context");
    };
    CHECK(context("1") == context("1000"));
}
