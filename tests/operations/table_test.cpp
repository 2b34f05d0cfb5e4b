// The table of operations, what each refuses, and what each costs.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "core/call.h"
#include "core/cast.h"
#include "core/stages.h"
#include "core/tex.h"
#include "tests/io/scratch.h"
#include "tests/operations/sample.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

std::string refusal(Operation operation, const AttentionSpec& spec, Index tq = 4, Index tk = 4) {
    OperationCase one = sample(operation, tq, tk);
    const CallD call = validate(one.inputs, spec).value();
    return sentence_in(run_operation_exact(one.operation, call, one.params));
}

}  // namespace

TEST_CASE("every row is whole: key, formula, words, stages, parameters") {
    std::set<std::string_view> keys;
    for (const OperationInfo& row : operation_table()) {
        CHECK(&info(row.operation) == &row);
        CHECK(find_operation(row.key) == row.operation);
        CHECK(tex::parse(row.tex).has_value());
        CHECK(!row.text.empty());
        keys.insert(row.key);
        std::set<std::string_view> stages;
        for (const OperationStage& stage : row.stages) {
            INFO(stage.key);
            stages.insert(stage.key);
            CHECK(tex::parse(stage.tex).has_value());
            CHECK(!stage.text.empty());
            CHECK(!stage.title.empty());
            CHECK(!stage.source.empty());
        }
        CHECK(stages.size() == row.stages.size());
        CHECK(stages.contains("implied"));
        CHECK(row.stages.back().key == "output");
    }
    CHECK(keys.size() == kOperationCount);
    CHECK(find_operation("state_space") == Operation::state_space);
    CHECK(!find_operation("softmax"));
}

TEST_CASE("an operand is a stage before it, a parameter of the operation or one of the call") {
    for (const OperationInfo& row : operation_table()) {
        std::set<std::string_view> known;
        for (const ParamInfo& param : param_table()) known.insert(param.key);
        for (const OperationParam& param : row.params) known.insert(param.key);
        for (const OperationStage& stage : row.stages) {
            for (const auto& operand : stage.operands)
                if (operand) CHECK_MESSAGE(known.contains(operand->key), std::string(stage.key));
            known.insert(stage.key);
        }
    }
}

TEST_CASE("each trace has the table's stages in the table's shapes, in float what double has") {
    for (const OperationCase& one : operation_cases()) {
        const OperationTraceD exact = one.forward();
        const Inputs inputs = cast<float>(one.inputs);
        const Call call = validate(inputs, one.spec).value();
        const OperationParams params = one.float_params();
        const OperationTrace trace = run_operation(one.operation, call, params).value();
        const Upstream upstream{one.upstream.stage, cast<float>(one.upstream.gradient)};
        const OperationTrace d =
            run_operation_backward(one.operation, call, params, upstream).value();
        const OperationTraceD d_exact = one.backward();
        for (const OperationStage& stage : info(one.operation.operation).stages) {
            const Shape shape = operation_stage_shape(stage, call.size(), one.spec, one.operation);
            const std::string what = fmt::format("{} of {}", stage.key, one.name);
            CHECK_MESSAGE(trace[stage.key].count() == shape.count(), what);
            if (shape.count() == 0) continue;
            CHECK_MESSAGE(trace[stage.key].shape() == shape, what);
            CHECK(difference(cast<double>(trace[stage.key]), exact[stage.key], what, 1e-5) == "");
            CHECK(difference(cast<double>(d[stage.key]), d_exact[stage.key], "d_" + what, 1e-5) ==
                  "");
        }
    }
}

TEST_CASE("fresh parameters are those of their seed") {
    const Dimensions size =
        validate(sample(Operation::state_space, 4, 4).inputs, {}).value().size();
    OperationSpec spec{Operation::state_space};
    const OperationParams one = initial_params(spec, size), same = initial_params(spec, size);
    spec.seed = 1;
    const OperationParams other = initial_params(spec, size);
    REQUIRE(one.tensors.size() == 6);
    CHECK(one.tensors[1] == same.tensors[1]);
    CHECK(one.tensors[1] != other.tensors[1]);
    CHECK(one.tensors[1] != one.tensors[2]);
    CHECK(one.tensors[0](0, 3, 1, 2) == doctest::Approx(std::log(3.0)));
    for (const float value : one.tensors[4].values()) {
        const double step = std::log1p(std::exp(static_cast<double>(value)));
        CHECK(step >= 0.0999);
        CHECK(step <= 1.0001);
    }
    CHECK(one.tensors[5](0, 1, 0, 1) == 1.0F);
}

TEST_CASE("an option that an operation has no meaning for is refused by name") {
    AttentionSpec softcap, window, dropout, causal, warm;
    softcap.softcap = 2.0;
    window.mask.window = 1;
    dropout.dropout = 0.5;
    causal.mask.causal = CausalAlign::top_left;
    warm.temperature = 2.0;
    CHECK(refusal(Operation::linear, softcap) ==
          "operation linear does not support softcap: it bounds a logit of each pair");
    CHECK(refusal(Operation::latents, window) ==
          "operation latents does not support window: each query would need its own sum");
    CHECK(refusal(Operation::state_space, dropout) ==
          "operation state-space does not support dropout: it drops weights of pairs; expected 0 "
          "or training "
          "off");
    CHECK(refusal(Operation::latents, causal) ==
          "operation latents does not support causal: a latent reads all tokens, and would pass "
          "later ones to earlier ones");
    CHECK(refusal(Operation::linear, warm) ==
          "operation linear does not support temperature: there is no softmax; expected 1");
    CHECK(refusal(Operation::latents, warm) == "");
    CHECK(refusal(Operation::state_space, {}, 3, 4) ==
          "operation state-space reads one sequence: expected no X_kv and Tq = Tk, not Tq = 3, Tk "
          "= 4");
    for (const auto& spec : {softcap, window, dropout, causal, warm})
        CHECK(refusal(Operation::chunked, spec) == "");
    AttentionSpec off = dropout;
    off.training = false;
    CHECK(refusal(Operation::linear, off) == "");
}

TEST_CASE("a mask of pairs is refused where a key is seen by all or none") {
    AttentionSpec spec;
    spec.mask.custom = std::make_shared<const Mask>(Shape{1, 1, 4, 4}, std::uint8_t{1});
    for (const Operation operation :
         {Operation::linear, Operation::latents, Operation::state_space, Operation::linformer})
        CHECK(contains(refusal(operation, spec), "does not support mask of pairs"));
    spec.mask.custom = std::make_shared<const Mask>(Shape{1, 1, 1, 4}, std::uint8_t{1});
    for (const Operation operation :
         {Operation::linear, Operation::latents, Operation::state_space})
        CHECK(refusal(operation, spec) == "");
}

TEST_CASE("settings, parameters and upstream gradients are checked") {
    OperationCase one = sample(Operation::latents, 4, 4);
    const CallD call = validate(one.inputs, one.spec).value();
    const auto sentence = [&] {
        return sentence_in(run_operation_exact(one.operation, call, one.params));
    };
    one.operation.latents = 2;
    CHECK(sentence() == "latents is [1, 4, 3, 3]: operation latents needs [1, 4, 2, 3]");
    one.operation.latents = 0;
    CHECK(sentence() == "latents is 0: it must be at least 1");
    one.operation.operation = Operation::chunked;
    CHECK(sentence() == "operation chunked needs 0 parameters, not 2");
    one.params = {};
    one.operation.chunk = 0;
    CHECK(sentence() == "chunk is 0: it must be at least 1");
    one.operation.chunk = 1;
    one.upstream.gradient = TensorD(Shape{2, 4, 4, 1});
    CHECK(run_operation_exact_backward(one.operation, call, {}, one.upstream).error().text() ==
          "the upstream gradient is [2, 4, 4, 1] but context is [2, 4, 4, 2]");
}

TEST_CASE("a stopped operation fails") {
    const OperationCase one = sample(Operation::linear, 4, 4);
    CHECK(must_fail(run_operation_exact(one.operation, validate(one.inputs, one.spec).value(),
                                        one.params, {stopped(), {}}))
              .kind == ErrorKind::failure);
}

TEST_CASE("costs by hand: B 1, H 1, n 1000, d 64") {
    Dimensions size;
    size.batch = size.heads = size.kv_heads = 1;
    size.tq = size.tk = 1000;
    size.d_k = size.d_v = 64;
    OperationSpec spec;
    const auto cost = [&](Operation operation) {
        spec.operation = operation;
        return info(operation).cost(size, {}, spec);
    };
    CHECK(attention_cost(size, {}).products == 4.0 * 1000 * 1000 * 64);
    CHECK(attention_cost(size, {}).stored_bytes() == 4.0 * 1000 * 1000);
    // pairs 10⁶: dot 2·64, the squares of a distance as much and 64 + 3 besides
    AttentionSpec student;
    student.score = Score::student_t;
    CHECK(attention_cost(size, student).flops() - attention_cost(size, {}).flops() == 67e6);
    spec.chunk = 100;
    CHECK(cost(Operation::chunked).products == 4.0 * 1000 * 1000 * 64);
    CHECK(cost(Operation::chunked).stored_bytes() == 4.0 * 1000 * (64 + 2 + 100));
    CHECK(cost(Operation::linear).products == 2.0 * 1000 * 64 * 64 + 2.0 * 1000 * 64 * 65);
    CHECK(cost(Operation::linear).stored_bytes() == 4.0 * 64 * 65);
    spec.latents = 16;
    CHECK(cost(Operation::latents).products == 2.0 * 16 * (2000 * 128 + 64 * 64));
    CHECK(cost(Operation::latents).stored_bytes() == 4.0 * 16 * (2000 + 128));
    spec.rank = 16;
    CHECK(cost(Operation::linformer).products == 2.0 * 16 * 2000 * 128);
    CHECK(cost(Operation::linformer).stored_bytes() == 4.0 * 16 * (1000 + 128));
    spec.state = 16;
    CHECK(cost(Operation::state_space).products ==
          2.0 * 1000 * 64 * (2 * 16 + 64) + 2.0 * 1000 * 64 * (3 * 16 + 1));
    CHECK(cost(Operation::state_space).stored_bytes() == 4.0 * (64 * 16 + 64 + 2 * 16));
    CHECK(cost(Operation::retention).products == 4.0 * 1000 * 64 * 64);
    CHECK(cost(Operation::gated_delta).products == 6.0 * 1000 * 64 * 64);
    CHECK(cost(Operation::kda).stored_bytes() == 4.0 * 64 * 64);
    AttentionSpec causal;
    causal.mask.causal = CausalAlign::top_left;
    CHECK(attention_cost(size, causal).products == 2.0 * 128 * 1000 * 1001 / 2);
}

TEST_CASE("the error of an output by hand") {
    const Tensor exact({1, 1, 1, 2}, {3.0F, 4.0F});
    const OperationError error = operation_error(Tensor({1, 1, 1, 2}, {3.0F, 3.0F}), exact);
    CHECK(error.largest == 1.0);
    CHECK(error.relative == doctest::Approx(0.2));
    CHECK(operation_error(exact, exact).relative == 0.0);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(std::isnan(operation_error(Tensor({1, 1, 1, 2}, {nan, 4.0F}), exact).largest));
}
