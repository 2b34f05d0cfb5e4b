// Operations against PyTorch's float64 autograd: tests/goldens/operations, made by make_operations.py.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "attn_tree.h"
#include "core/io/npz.h"
#include "core/stages.h"
#include "tests/operations/sample.h"

using namespace attn;
using namespace attn::test;
using nlohmann::json;

namespace {

/// Axes in front are added: [T,d] is [1,1,T,d]. `tokens`: [B,T,d] is [B,1,T,d].
TensorD tensor(const Npz& file, const std::string& name, bool tokens = false) {
    const auto found = file.arrays.find(name);
    if (found == file.arrays.end()) return {};
    std::vector<Index> n = found->second.extents;
    if (tokens && n.size() == 3) n.insert(n.begin() + 1, 1);
    while (n.size() < 4) n.insert(n.begin(), 1);
    return TensorD({n[0], n[1], n[2], n[3]}, std::get<std::vector<double>>(found->second.values));
}

AttentionSpec spec_of(const json& options) {
    AttentionSpec spec;
    if (options.contains("causal"))
        spec.mask.causal =
            options["causal"] == "bottom-right" ? CausalAlign::bottom_right : CausalAlign::top_left;
    spec.mask.padding = options.value("padding", std::vector<Index>{});
    spec.heads = options.value("heads", Index{1});
    spec.kv_heads = options.value("kv_heads", Index{1});
    return spec;
}

OperationSpec operation_of(const json& options) {
    OperationSpec made;
    made.operation = find_operation(options["operation"].get<std::string>()).value();
    made.chunk = options.value("chunk", Index{1});
    made.latents = options.value("latents", Index{1});
    made.state = options.value("state", Index{1});
    made.selected = options.value("selected-blocks", Index{1});
    made.recent = options.value("recent", Index{1});
    if (options.value("discretise", "zoh") == "euler") made.discretise = Discretise::euler;
    return made;
}

OperationCase read(const Npz& file) {
    const json options = json::parse(std::get<std::string>(file.arrays.at("options").values));
    OperationCase one;
    one.spec = spec_of(options);
    one.operation = operation_of(options);
    one.inputs.x = tensor(file, "X", true);
    one.inputs.q = tensor(file, "Q");
    one.inputs.k = tensor(file, "K");
    one.inputs.v = tensor(file, "V");
    for (const ParamInfo& param : param_table())
        one.inputs.params[param.param] = tensor(file, std::string(param.npz));
    for (const OperationParam& param : info(one.operation.operation).params) {
        TensorD& read = one.params.tensors.emplace_back(tensor(file, std::string(param.npz)));
        REQUIRE_MESSAGE(!read.empty(), std::string(param.npz));
    }
    const bool at_context = file.arrays.contains("dO");
    one.upstream = {at_context ? Stage::context : Stage::output,
                    tensor(file, at_context ? "dO" : "dY", true)};
    return one;
}

std::string lower(std::string_view name) {
    std::string made(name);
    std::ranges::transform(made, made.begin(), [](unsigned char c) { return std::tolower(c); });
    return made;
}

/// Of every stage that the file has. Returns how many those were.
int check_stages(const Npz& file, const OperationTraceD& trace, const std::string& prefix,
                 const std::string& name) {
    int checked = 0;
    for (const OperationStage& stage : info(trace.operation).stages) {
        const std::string key = prefix + std::string(stage.key);
        if (!file.arrays.contains(key)) continue;
        if (prefix.empty() == false && trace[stage.key].empty()) continue;  // output, below context
        const TensorD expected = tensor(file, key, stage.heads == HeadAxis::none);
        CHECK(difference(trace[stage.key], expected, fmt::format("{} of {}", key, name)) == "");
        ++checked;
    }
    return checked;
}

int check_params(const Npz& file, const OperationTraceD& d, const std::string& name) {
    int checked = 0;
    const auto one = [&](std::string_view npz, const TensorD& got) {
        const std::string key = "d_" + lower(npz);
        if (got.empty() || !file.arrays.contains(key)) return;
        CHECK(difference(got, tensor(file, key), fmt::format("{} of {}", key, name)) == "");
        ++checked;
    };
    const auto params = info(d.operation).params;
    for (std::size_t p = 0; p < params.size(); ++p) one(params[p].npz, d.params.tensors[p]);
    for (const ParamInfo& param : param_table()) one(param.npz, d.call_params[param.param]);
    return checked;
}

}  // namespace

TEST_CASE("every operation agrees with PyTorch's float64, forward and backward") {
    int files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(ATTN_TEST_DATA "/operations")) {
        const Npz file = read_npz(entry.path()).value();
        const OperationCase one = read(file);
        const std::string name = entry.path().filename().string();
        const OperationTraceD d = one.backward();
        CHECK(check_stages(file, one.forward(), "", name) >= 3);
        CHECK(check_stages(file, d, "d_", name) >= 2);
        const std::size_t params = info(one.operation.operation).params.size();
        CHECK(check_params(file, d, name) >=
              static_cast<int>(params + (one.inputs.projects() ? 6 : 0)));
        ++files;
    }
    CHECK(files == 25);
}
