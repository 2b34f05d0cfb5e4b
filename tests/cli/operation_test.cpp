// `trace --operation` and `stages --operation`.
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/common/command.h"
#include "app/files/axes.h"
#include "core/operations/operation.h"
#include "core/text.h"
#include "tests/cli/command.h"

using namespace attn;

namespace {

std::string operation_golden(const std::string& name) {
    return std::string(ATTN_TEST_DATA "/operations/") + name + ".npz";
}

Ran traced_operation(const std::string& path, const std::string& target,
                     const Arguments& options = {}) {
    return succeeds(joined({"trace", path, "-o", target, "--grad"}, options));
}

/// Without a last axis of one number, and without an axis of heads that has one for all.
std::vector<Index> trimmed(std::vector<Index> extents) {
    if (extents.size() == 4 && extents[1] == 1) extents.erase(extents.begin() + 1);
    if (extents.size() == 4 && extents.back() == 1) extents.pop_back();
    return extents;
}

/// The largest difference of an array that both files have, by the largest value expected; -1 when shapes differ.
double difference(const Npz& got, const Npz& expected, const std::string& name) {
    const auto& values = std::get<std::vector<double>>(expected.arrays.at(name).values);
    if (trimmed(extents(got, name)) != trimmed(expected.arrays.at(name).extents)) return -1.0;
    double worst = 0.0, largest = 0.0;
    for (std::size_t n = 0; n < values.size(); ++n) {
        if (std::isinf(values[n])) continue;
        worst = std::max(worst, std::abs(static_cast<double>(floats(got, name)[n]) - values[n]));
        largest = std::max(largest, std::abs(values[n]));
    }
    return largest == 0.0 ? worst : worst / largest;
}

}  // namespace

TEST_CASE("trace writes every stage and gradient of an operation as PyTorch has them") {
    const Scratch scratch;
    const std::string target = scratch.at("o.npz");
    int compared = 0;
    for (const char* name :
         {"chunked", "linear_causal", "linear_projected", "latents_padding", "latents_projected",
          "state_space_euler", "state_space_projected", "retention", "gated_linear",
          "gated_delta_projected", "kda", "gated_projected", "differential", "nsa", "nsa_decoding",
          "selective"}) {
        CAPTURE(name);
        traced_operation(operation_golden(name), target);
        const Npz expected = read_npz(operation_golden(name)).value();
        const Npz got = read_npz(target).value();
        for (const auto& [key, array] : expected.arrays) {
            if (!got.arrays.contains(key)) continue;
            CAPTURE(key);
            const double off = difference(got, expected, key);
            CHECK(off >= 0.0);
            CHECK(off < 1e-5);
            ++compared;
        }
        for (const char* key : {"implied", "context", "output", "d_v", "d_implied"})
            CHECK(got.arrays.contains(key));
    }
    CHECK(compared > 70);
}

TEST_CASE("parameters' gradients have their arrays' names in lower case and [H,rows,columns]") {
    const Scratch scratch;
    const std::string target = scratch.at("o.npz");
    traced_operation(operation_golden("state_space"), target);
    const Npz got = read_npz(target).value();
    using Axes = std::vector<Index>;
    CHECK(extents(got, "d_a_log") == Axes{4, 3, 2});
    CHECK(extents(got, "d_w_delta") == Axes{4, 3, 3});
    CHECK(extents(got, "d_d_skip") == Axes{4, 1, 3});
    CHECK(extents(got, "states") == Axes{2, 4, 6, 6});
    traced_operation(operation_golden("chunked"), target);
    CHECK(extents(read_npz(target).value(), "logsumexp") == Axes{2, 4, 4});
    CHECK(!read_npz(target).value().arrays.contains("d_logsumexp"));
}

TEST_CASE("an operation on any file of tensors: fresh parameters of a seed, said in a note") {
    const Scratch scratch;
    const std::string target = scratch.at("o.npz");
    const Ran ran =
        traced_operation(golden("qkv.npz"), target, {"--operation", "latents", "--latents", "2"});
    CHECK(contains(ran.err, "latents, W_latent not given: untrained initial numbers of seed 0"));
    CHECK(contains(ran.out, "operation latents, forward"));
    CHECK(contains(ran.out, "against softmax attention's"));
    const std::vector<float> first = floats(read_npz(target).value(), "weights_in");
    traced_operation(golden("qkv.npz"), target,
                     {"--operation", "latents", "--latents", "2", "--seed", "1"});
    CHECK(floats(read_npz(target).value(), "weights_in") != first);
}

TEST_CASE(
    "a gate is [B,H,Tq] as kernels have it, or with its axis of one number, and so is its "
    "gradient") {
    const Scratch scratch;
    const Npz golden_file = read_npz(operation_golden("gated_delta")).value();
    std::vector<NpzEntry> entries;
    std::vector<std::vector<float>> values;
    for (const char* name : {"Q", "K", "V", "dO", "log_decay", "beta"}) {
        const auto& exact = std::get<std::vector<double>>(golden_file.arrays.at(name).values);
        values.emplace_back(exact.begin(), exact.end());
    }
    std::size_t n = 0;
    for (const char* name : {"Q", "K", "V", "dO", "log_decay", "beta"}) {
        std::vector<Index> shape = trimmed(golden_file.arrays.at(name).extents);
        entries.push_back({name, std::move(shape), values[n++]});
    }
    CHECK(entries.back().extents == std::vector<Index>{2, 4, 6});
    const std::string source = scratch.at("in.npz"), target = scratch.at("o.npz");
    REQUIRE(write_npz(source, entries));
    traced_operation(source, target, {"--operation", "gated-delta", "--padding", "6,4"});
    const Npz got = read_npz(target).value();
    CHECK(difference(got, golden_file, "context") < 1e-6);
    CHECK(difference(got, golden_file, "d_log_decay") < 1e-6);
    CHECK(extents(got, "d_beta") == std::vector<Index>{2, 4, 6});
}

TEST_CASE("chunked says that it is softmax attention, keep names the operation's stages") {
    const Scratch scratch;
    const std::string target = scratch.at("o.npz");
    succeeds({"trace", golden("qkv.npz"), "-o", target, "--operation", "chunked", "--chunk", "2",
              "--keep", "running_sum,context"});
    const Npz got = read_npz(target).value();
    CHECK(got.names == std::vector<std::string>{"running_sum", "context"});
    const std::vector<float> exact = floats(traced("qkv.npz"), "context");
    for (std::size_t n = 0; n < exact.size(); ++n)
        CHECK(floats(got, "context")[n] == doctest::Approx(exact[n]).epsilon(1e-6));
    CHECK(extents(got, "running_sum") == std::vector<Index>{1, 1, 3, 2});
}

TEST_CASE("an operation's option that cannot be is refused by name") {
    std::vector<std::string> keys;
    for (const OperationInfo& row : operation_table()) keys.emplace_back(row.key);
    check_option_refused({"--operation", "mamba"},
                         "--operation is 'mamba'; expected " + choices(keys));
    check_option_refused({"--chunk", "2"},
                         "--chunk is 2; expected it only with operation chunked or nsa");
    check_option_refused({"--operation", "chunked", "--recent", "2"},
                         "--recent is 2; expected it only with operation nsa");
    check_option_refused({"--operation", "linear", "--state", "2"},
                         "--state is 2; expected it only with operation state-space");
    check_option_refused({"--operation", "chunked", "--chunk", "0"}, "chunk is 0");
    check_option_refused({"--operation", "latents", "--latents", "-1"}, "latents is -1");
    check_option_refused({"--operation", "state-space", "--state", "1000000000"},
                         "--state is 1000000000; expected a whole number from 1 to 65536");
    check_option_refused({"--operation", "state-space", "--discretise", "tustin"},
                         "--discretise is 'tustin'; expected zoh or euler");
    check_option_refused({"--operation", "latents", "--causal"},
                         "operation latents does not support causal");
    check_option_refused({"--operation", "linear", "--softcap", "2"},
                         "operation linear does not support softcap");
    check_option_refused({"--operation", "linear", "--backend", "staged"},
                         "--backend is 'staged', but operation linear has none to choose");
    check_option_refused({"--operation", "linear", "--keep", "stat"},
                         "unknown stage 'stat' of operation linear; did you mean state");
}

TEST_CASE("stages lists an operation's table, in words and as JSON") {
    for (const OperationInfo& row : operation_table()) {
        const std::string key(row.key);
        const Ran plain = succeeds({"stages", "--operation", key});
        for (const OperationStage& stage : row.stages)
            CHECK(contains(plain.out, "\n" + std::string(stage.key) + " "));
        for (const OperationParam& param : row.params)
            CHECK(contains(plain.out, "\n" + std::string(param.npz) + " "));
        const auto json =
            nlohmann::json::parse(command({"stages", "--operation", key, "--json"}).out);
        CHECK(json["key"] == key);
        CHECK(json["stages"].size() == row.stages.size());
        CHECK(json["parameters"].size() == row.params.size());
        CHECK(json["stages"].back()["key"] == "output");
    }
    check_refused({"stages", "--operation", "liner"},
                  "--operation is 'liner'; did you mean linear?");
}

TEST_CASE("a parameter of an operation that is not asked for is named with the remedy") {
    const Scratch scratch;
    const Ran ran = ends(2, {"trace", operation_golden("latents"), "-o", scratch.at("o.npz"),
                             "--operation", "linear"});  // its options say latents=3
    CHECK(contains(ran.err, "latents is 3; expected it only with operation latents"));
}

TEST_CASE("training off: dropout does nothing, and there is no stage of it") {
    const Npz on = traced("qkv.npz", {"--dropout", "0.5", "--seed", "4"});
    const Npz off = traced("qkv.npz", {"--dropout", "0.5", "--seed", "4", "--training", "off"});
    CHECK(on.arrays.contains("dropped"));
    CHECK(!off.arrays.contains("dropped"));
    CHECK(floats(off, "context") == floats(traced("qkv.npz"), "context"));
    CHECK(floats(on, "context") != floats(off, "context"));
    check_option_refused({"--training", "maybe"}, "--training is 'maybe'; expected on or off");
    check_option_refused({"--dropout", "1", "--training", "off"}, "dropout is 1");
}
