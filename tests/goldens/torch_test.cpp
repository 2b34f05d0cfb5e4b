// The engine against PyTorch's float64 autograd: attention.json, made by make_goldens.py.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "attn_tree.h"
#include "core/cast.h"
#include "core/stages.h"
#include "tests/support/backends.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;
using nlohmann::json;

namespace {

/// null stands for -inf, which JSON does not have.
TensorD tensor(const json& from) {
    std::vector<double> values;
    for (const json& value : from.at("values"))
        values.push_back(value.is_null() ? -std::numeric_limits<double>::infinity()
                                         : value.get<double>());
    const auto n = from.at("shape").get<std::array<Index, 4>>();
    return TensorD({n[0], n[1], n[2], n[3]}, std::move(values));
}

TensorD tensor_or_none(const json& from, std::string_view key) {
    const auto found = from.find(key);
    return found == from.end() ? TensorD() : tensor(*found);
}

InputsD read_inputs(const json& from) {
    InputsD inputs;
    inputs.x = tensor_or_none(from, "x");
    inputs.x_kv = tensor_or_none(from, "x_kv");
    inputs.q = tensor_or_none(from, "q");
    inputs.k = tensor_or_none(from, "k");
    inputs.v = tensor_or_none(from, "v");
    for (const ParamInfo& param : param_table())
        inputs.params[param.param] = tensor_or_none(from, param.key);
    return inputs;
}

/// [Tq, Tk], or one for each sequence: [B, Tq, Tk].
std::shared_ptr<const Mask> read_mask(const json& from) {
    const json batch = from[0][0].is_array() ? from : json::array({from});
    std::vector<std::uint8_t> values;
    for (const json& rows : batch)
        for (const json& row : rows)
            for (const json& allowed : row) values.push_back(allowed.get<bool>() ? 1 : 0);
    const Shape shape{std::ssize(batch), 1, std::ssize(batch[0]), std::ssize(batch[0][0])};
    return std::make_shared<const Mask>(shape, std::move(values));
}

AttentionSpec read_spec(const json& options) {
    AttentionSpec spec;
    spec.temperature = options.value("temperature", 1.0);
    spec.heads = options.value("heads", Index{1});
    spec.kv_heads = options.value("kv_heads", Index{1});
    if (options.contains("causal"))
        spec.mask.causal =
            options["causal"] == "top-left" ? CausalAlign::top_left : CausalAlign::bottom_right;
    spec.mask.padding = options.value("padding", std::vector<Index>{});
    if (options.contains("mask")) spec.mask.custom = read_mask(options["mask"]);
    return spec;
}

/// What PyTorch computed, as a trace. Inputs are not in it: X, or Q, K and V, are put there.
TraceD read_forward(const json& one, const InputsD& inputs) {
    TraceD trace;
    for (const StageInfo& stage : stage_table())
        trace[stage.stage] = tensor_or_none(one["results"], stage.key);
    trace.logsumexp = tensor(one["results"]["logsumexp"]);
    trace[Stage::x] = inputs.x;
    trace[Stage::x_kv] = inputs.x_kv;
    if (inputs.projects()) return trace;
    trace[Stage::q] = inputs.q;
    trace[Stage::k] = inputs.k;
    trace[Stage::v] = inputs.v;
    return trace;
}

TraceD read_gradients(const json& one) {
    TraceD d;
    for (const StageInfo& stage : stage_table())
        d[stage.stage] = tensor_or_none(one["gradients"], fmt::format("d_{}", stage.key));
    for (const ParamInfo& param : param_table())
        d.params[param.param] = tensor_or_none(one["gradients"], fmt::format("d_{}", param.key));
    return d;
}

json goldens() { return json::parse(std::ifstream(ATTN_TEST_DATA "/attention.json")); }

/// The file has 15 digits.
constexpr Tolerance kPrinted{1e-13, 1e-13};

}  // namespace

TEST_CASE("the exact backend agrees with PyTorch's float64, forward and backward") {
    for (const json& one : goldens()) {
        const InputsD inputs = read_inputs(one["inputs"]);
        const AttentionSpec spec = read_spec(one["options"]);
        const UpstreamD upstream{find_stage(one["upstream_at"].get<std::string>()).value(),
                                 tensor(one["upstream"])};
        const TraceD forward = attend_exact(inputs, spec).value();
        const TraceD d = attend_exact_backward(inputs, spec, forward, upstream).value();
        const TraceD torch = read_forward(one, inputs);
        const TraceD d_torch = read_gradients(one);
        const auto name = one["name"].get<std::string>();
        for (const StageInfo& stage : stage_table()) {
            const auto what = fmt::format("{} of {}", stage.key, name);
            CHECK(tensor_mismatch(forward[stage.stage], torch[stage.stage], kPrinted, what) == "");
            CHECK(tensor_mismatch(d[stage.stage], d_torch[stage.stage], kPrinted, "d_" + what) ==
                  "");
        }
        CHECK(tensor_mismatch(forward.logsumexp, torch.logsumexp, kPrinted, name) == "");
        for (const ParamInfo& param : param_table())
            CHECK(tensor_mismatch(d.params[param.param], d_torch.params[param.param], kPrinted,
                                  fmt::format("d_{} of {}", param.key, name)) == "");
    }
}

TEST_CASE("the projected goldens have sequences that differ, with masks that differ") {
    int found = 0;
    for (const json& one : goldens()) {
        const InputsD inputs = read_inputs(one["inputs"]);
        if (!inputs.projects() || inputs.x.shape().b < 2) continue;
        const TraceD torch = read_forward(one, inputs);
        for (const Stage stage : {Stage::x, Stage::q, Stage::v, Stage::output})
            CHECK(torch[stage].matrix(0, 0).row(0)[0] != torch[stage].matrix(1, 0).row(0)[0]);
        int masked = 0;
        const TensorD& scores = torch[Stage::masked];
        for (Index i = 0; i < scores.shape().t; ++i)
            for (Index j = 0; j < scores.shape().d; ++j)
                masked += std::isinf(scores(0, 0, i, j)) != std::isinf(scores(1, 0, i, j)) ? 1 : 0;
        CHECK(masked > 0);
        ++found;
    }
    CHECK(found == 2);
}

TEST_CASE("every backend agrees with PyTorch within float rounding, forward and backward") {
    for (const json& one : goldens())
        for (const Backend* backend : backends()) {
            const InputsD inputs = read_inputs(one["inputs"]);
            const AttentionSpec spec = read_spec(one["options"]);
            const Inputs floats = cast<float>(inputs);
            const Upstream upstream{find_stage(one["upstream_at"].get<std::string>()).value(),
                                    cast<float>(tensor(one["upstream"]))};
            const TraceD torch = read_forward(one, inputs);
            const TraceD d_torch = read_gradients(one);
            const ErrorBounds bounds = error_bounds(inputs, spec, torch, d_torch, kFloatRoundoff);
            const auto [forward, d] = both_passes(floats, spec, backend->name(), upstream);
            const auto what =
                fmt::format("{} by {}", one["name"].get<std::string>(), backend->name());
            CHECK(forward_mismatch(forward, torch, bounds, what, backend->stages()) == "");
            CHECK(backward_mismatch(d, d_torch, bounds, what, backend->stages()) == "");
        }
}
