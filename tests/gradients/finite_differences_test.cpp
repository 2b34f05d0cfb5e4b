// Gradients of the exact backend against central differences of its own forward pass, for every input
// and parameter of every case. Inner stages are checked by the chain rule they obey.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/call.h"
#include "core/cast.h"
#include "core/engine.h"
#include "core/entries.h"
#include "core/masks.h"
#include "core/stages.h"
#include "tests/support/cases.h"
#include "tests/support/differences.h"

using namespace attn;
using namespace attn::test;

namespace {

struct CaseD {
    std::string name;
    InputsD inputs;
    AttentionSpec spec;
    UpstreamD upstream;
};

/// The exact form of a case. NaN rows have no finite difference: they follow the zero policy here.
CaseD exact(const Case& one) {
    CaseD made{one.name,
               cast<double>(one.inputs),
               one.spec,
               {one.upstream.stage, cast<double>(one.upstream.gradient)}};
    made.spec.empty_rows = EmptyRows::zero;
    return made;
}

/// Of the gradient of `tensor`, a part of one.inputs.
std::string check(CaseD& one, TensorD& tensor, const TensorD& gradient, std::string_view key) {
    const auto loss = [&] {
        return loss_of(attend_exact(one.inputs, one.spec).value()[one.upstream.stage],
                       one.upstream.gradient);
    };
    return gradient_mismatch(tensor, gradient, loss, fmt::format("d_{} of {}", key, one.name));
}

TraceD gradients(const CaseD& one) {
    const TraceD forward = attend_exact(one.inputs, one.spec).value();
    return attend_exact_backward(one.inputs, one.spec, forward, one.upstream).value();
}

}  // namespace

TEST_CASE("the gradient of every input and parameter is its finite difference") {
    std::vector<Case> cases = engine_cases(Sizes::small);
    std::ranges::move(kind_cases(Sizes::small), std::back_inserter(cases));
    for (const Case& made : cases) {
        CaseD one = exact(made);
        const TraceD d = gradients(one);
        InputsD& in = one.inputs;
        if (in.projects()) {
            CHECK(check(one, in.x, d[Stage::x], "x") == "");
            CHECK(check(one, in.x_kv, d[Stage::x_kv], "x_kv") == "");
        } else {
            CHECK(check(one, in.q, d[Stage::q], "q") == "");
            CHECK(check(one, in.k, d[Stage::k], "k") == "");
            CHECK(check(one, in.v, d[Stage::v], "v") == "");
        }
        const bool at_context = one.upstream.stage == Stage::context;
        for (const ParamInfo& param : param_table()) {
            const bool after = param.param == Param::w_o || param.param == Param::b_o;
            if (at_context && after)
                CHECK(d.params[param.param].empty());
            else
                CHECK(check(one, in.params[param.param], d.params[param.param], param.key) == "");
        }
    }
}

TEST_CASE("projected queries, keys and values have the gradients of given ones") {
    for (const Case& made : engine_cases(Sizes::small)) {
        CaseD one = exact(made);
        if (!one.inputs.projects()) continue;
        const TraceD d = gradients(one);
        const TraceD forward = attend_exact(one.inputs, one.spec).value();
        InputsD given;
        given.q = forward[Stage::q];
        given.k = forward[Stage::k];
        given.v = forward[Stage::v];
        for (const Param param : {Param::w_o, Param::b_o})
            given.params[param] = one.inputs.params[param];
        one.inputs = given;
        CHECK(check(one, one.inputs.q, d[Stage::q], "q") == "");
        CHECK(check(one, one.inputs.k, d[Stage::k], "k") == "");
        CHECK(check(one, one.inputs.v, d[Stage::v], "v") == "");
    }
}

TEST_CASE("gradients of the stages between obey the chain rule and sum to 0 over a softmax row") {
    for (const Case& made : engine_cases(Sizes::small)) {
        const CaseD one = exact(made);
        const TraceD d = gradients(one);
        const Dimensions size = validate(one.inputs, one.spec).value().size();
        const double factor = score_factor(one.spec, size.d_k);
        const Shape& shape = d[Stage::masked].shape();
        CHECK(d[Stage::scaled] == d[Stage::masked]);
        for_each_row(shape, [&](Index b, Index h, Index i) {
            double sum = 0.0;
            for (Index j = 0; j < shape.d; ++j) {
                const double d_m = d[Stage::masked](b, h, i, j);
                sum += d_m;
                CHECK(d[Stage::scores](b, h, i, j) == doctest::Approx(d_m * factor));
                if (!may_attend(one.spec.mask, size, b, h, i, j)) CHECK(d_m == 0.0);
            }
            CHECK(std::abs(sum) < 1e-12);
        });
    }
}

TEST_CASE("the gradient of a weight is what nudging that weight does to the context") {
    for (const Case& made : engine_cases(Sizes::small)) {
        const CaseD one = exact(made);
        const TraceD d = gradients(one);
        const TraceD forward = attend_exact(one.inputs, one.spec).value();
        const Dimensions size = validate(one.inputs, one.spec).value().size();
        const Stage last = one.spec.dropout > 0.0 ? Stage::dropped : Stage::weights;
        for_each_entry(d[last].shape(), [&](Index b, Index h, Index i, Index j) {
            double dot = 0.0;
            for (Index c = 0; c < size.d_v; ++c)
                dot += d[Stage::context](b, h, i, c) *
                       forward[Stage::v](b, h / (size.heads / size.kv_heads), j, c);
            CHECK(d[last](b, h, i, j) == doctest::Approx(dot));
        });
    }
}
