// `attnscope diff`: what is compared with what, what is said, and the exit status.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/common/command.h"
#include "core/engine.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "core/verify/faults.h"
#include "tests/cli/command.h"
#include "tests/support/inputs.h"

using namespace attn;
using nlohmann::json, test::causal_spec;

namespace {

/// Arrays to write, by name.
struct Arrays {
    std::vector<std::pair<std::string, Tensor>> tensors;

    Arrays& add(std::string name, Tensor tensor) {
        tensors.emplace_back(std::move(name), std::move(tensor));
        return *this;
    }
    std::string write(const Scratch& scratch, const std::string& file) const {
        std::vector<NpzEntry> entries;
        for (const auto& [name, tensor] : tensors) {
            const Shape s = tensor.shape();
            std::vector<Index> extents{s.b, s.h, s.t, s.d};
            if (name.ends_with("output")) extents = {s.b, s.t, s.d};
            if (name.ends_with("logsumexp")) extents = {s.b, s.h, s.t};
            if (name == "sinks") extents = {s.d};
            entries.push_back({name, extents, tensor.values()});
        }
        const std::string path = (scratch / file).string();
        REQUIRE(write_npz(path, entries));
        return path;
    }
};

Inputs some_inputs(Index tokens = 6) { return test::normal_inputs({1, 2, tokens, 8}); }

Arrays inputs_of(const Inputs& in) { return Arrays().add("Q", in.q).add("K", in.k).add("V", in.v); }

Arrays& add_results(Arrays& arrays, const Trace& trace, const std::string& prefix = "") {
    for (const Stage stage : {Stage::scores, Stage::scaled, Stage::masked, Stage::weights,
                              Stage::context, Stage::output})
        if (!trace[stage].empty()) arrays.add(prefix + std::string(info(stage).key), trace[stage]);
    return arrays.add(prefix + "logsumexp", trace.logsumexp);
}

/// What the staged backend makes of it.
Arrays results_of(const Inputs& in, const AttentionSpec& spec, const std::string& prefix = "") {
    Arrays arrays;
    add_results(arrays, attend(in, spec, "staged").value(), prefix);
    return arrays;
}

std::string last_line(const std::string& text) {
    const std::size_t end = text.find_last_not_of('\n');
    return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
}

/// The leading 16 bits of a float32, ties to even.
std::uint16_t bf16_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}
Tensor as_bf16(Tensor tensor) {
    for (float& value : tensor.values())
        value = std::bit_cast<float>(std::uint32_t{bf16_bits(value)} << 16);
    return tensor;
}

/// A .safetensors file with Q, K, V as float32 and context as bfloat16.
std::string write_bf16(const Scratch& scratch, const Inputs& in, const Tensor& context) {
    std::string data;
    json header;
    const auto add = [&](const char* name, const Tensor& tensor, bool is_short) {
        const std::size_t first = data.size();
        for (const float value : tensor.values()) {
            const std::uint32_t bits =
                is_short ? bf16_bits(value) : std::bit_cast<std::uint32_t>(value);
            for (int byte = 0; byte < (is_short ? 2 : 4); ++byte)
                data += static_cast<char>(bits >> (8 * byte) & 0xFF);
        }
        const Shape s = tensor.shape();
        header[name] = {{"dtype", is_short ? "BF16" : "F32"},
                        {"shape", {s.b, s.h, s.t, s.d}},
                        {"data_offsets", {first, data.size()}}};
    };
    add("Q", in.q, false), add("K", in.k, false), add("V", in.v, false);
    add("context", context, true);
    const std::string text = header.dump();
    const std::string path = (scratch / "bf16.safetensors").string();
    std::ofstream file(path, std::ios::binary);
    for (int byte = 0; byte < 8; ++byte)
        file << static_cast<char>(std::uint64_t{text.size()} >> (8 * byte) & 0xFF);
    file << text << data;
    return path;
}

struct Files : OnDisk {
    const Inputs in = some_inputs();
};

json named_of(const Ran& ran) {
    return json::parse(ran.out)["examined"].back()["diagnosis"]["named"];
}

Arrays& add_gradients(Arrays& arrays, const Trace& gradients) {
    return arrays.add("dQ", gradients[Stage::q])
        .add("dK", gradients[Stage::k])
        .add("dV", gradients[Stage::v]);
}
/// Of a call, from dO.
Trace gradients_of(const Inputs& in, const AttentionSpec& spec, const Tensor& d_o) {
    return attend_backward(in, spec, attend(in, spec, "staged").value(), {Stage::context, d_o},
                           "staged")
        .value();
}

}  // namespace

TEST_CASE_FIXTURE(Files, "inputs in one file and right results in another are equal") {
    const std::string a = inputs_of(in).write(scratch, "in.npz");
    const std::string b = results_of(in, causal_spec()).write(scratch, "out.npz");
    const Ran ran = succeeds({"diff", a, b, "--causal"});
    CHECK(last_line(ran.out) == "equal within tolerance: 7 arrays");
    CHECK(contains(ran.out, "options: causal"));
    CHECK(contains(ran.out, b + ", compared with the reference"));
    CHECK(!contains(ran.out, "diagnosis"));
    CHECK(command({"diff", b, a, "--causal"}).code == 0);  // in either order
}

TEST_CASE_FIXTURE(Files, "one file that holds inputs and results is checked by itself") {
    Arrays arrays = inputs_of(in);
    add_results(arrays, attend(in, causal_spec(), "fused").value());
    const std::string path = arrays.write(scratch, "all.npz");
    const Ran right = succeeds({"diff", path, "--causal"});
    CHECK(right.err.empty());
    const Ran wrong = ends(1, {"diff", path});
    CHECK(last_line(wrong.out).starts_with("different: 3 of 3 arrays beyond tolerance"));
}

TEST_CASE_FIXTURE(Files, "what went wrong is named, with by how much, and the verdict comes last") {
    AttentionSpec unscaled = causal_spec();
    unscaled.scale = ScaleKind::none;
    const std::string a = inputs_of(in).write(scratch, "in.npz");
    const std::string b = results_of(in, unscaled).write(scratch, "out.npz");
    const Ran ran = ends(1, {"diff", a, b, "--causal"});
    CHECK(contains(ran.out, "scaled is the first that differs"));
    CHECK(contains(ran.out, "worst cell  scaled["));
    CHECK(contains(ran.out, "scale: the scores are scaled wrongly"));
    CHECK(contains(ran.out, "left out: scores times 1 instead of 0.353553 = 1/√8"));
    CHECK(contains(ran.out, "all within tolerance"));
    CHECK(contains(ran.out, "reported: maxtext#3138, transformers#31891"));
    CHECK(last_line(ran.out) ==
          fmt::format(
              "different: 6 of 7 arrays beyond tolerance; {}: the scores are scaled wrongly", b));
}

TEST_CASE_FIXTURE(Files, "JSON holds every array, every hypothesis and why some were not tried") {
    const std::string a = inputs_of(in).write(scratch, "in.npz");
    const std::string b = results_of(in, {}).write(scratch, "out.npz");
    const Ran ran = ends(1, {"diff", a, b, "--causal", "--json"});
    const json report = json::parse(ran.out);
    CHECK(report["equal"] == false);
    CHECK(report["verdict_code"] == "different");
    CHECK(report["sizes"]["Tq"] == 6);
    CHECK(report["arrays"].size() == 7);
    CHECK(report["arrays"][2]["array"] == "masked");
    CHECK(report["arrays"][2]["errors"]["inf"]["count"] == 30);
    CHECK(report["arrays"][0]["heads"].size() == 2);
    const json& hypotheses = report["examined"][0]["diagnosis"]["hypotheses"];
    REQUIRE(hypotheses.size() == verify::fault_table().size());
    for (std::size_t n = 0; n < hypotheses.size(); ++n) {
        CHECK(hypotheses[n]["key"] == verify::fault_table()[n].key);
        CHECK(hypotheses[n]["tested"].get<bool>() != hypotheses[n].contains("reason"));
    }
    CHECK(named_of(ran) == json{"mask_dropped"});
    CHECK(hypotheses[6]["reason"] == "every query head has a key/value head of its own");
}

TEST_CASE_FIXTURE(Files, "without inputs B is compared with A, and nothing is diagnosed") {
    const std::string a = results_of(in, {}).write(scratch, "a.npz");
    const std::string b = results_of(in, causal_spec()).write(scratch, "b.npz");
    CHECK(command({"diff", a, a}).code == 0);
    const Ran ran = ends(1, {"diff", a, b});
    CHECK(contains(ran.out, "no inputs (Q and K, or X)"));
    CHECK(contains(
        ran.out,
        "no weight lies right of the diagonal, as with a causal mask, but the options set none"));
    CHECK(contains(last_line(ran.out), "there are no inputs for finding the cause"));
}

TEST_CASE_FIXTURE(
    OnDisk,
    "both files are compared with each other where both have results, and with the reference") {
    const Inputs in = some_inputs();
    Arrays both = inputs_of(in);
    add_results(both, attend(in, causal_spec(), "staged").value());
    const std::string a = both.write(scratch, "a.npz");
    const std::string b = results_of(in, {}).write(scratch, "b.npz");
    const Ran ran = command({"diff", a, b, "--causal"});
    CHECK(contains(ran.out, fmt::format("{} is checked, {} is what is expected", b, a)));
    CHECK(contains(ran.out, "diagnosis of " + b));
    CHECK(!contains(ran.out, "diagnosis of " + a));
    const Ran swapped = ends(1, {"diff", b, a, "--causal"});
    CHECK(contains(swapped.out, "diagnosis of " + b));
    succeeds({"diff", b, b, "--causal"});
}

TEST_CASE_FIXTURE(OnDisk, "an own trace brings its inputs as q, k and v") {
    const std::string in = inputs_of(some_inputs()).write(scratch, "in.npz");
    const std::string out = scratch.at("out.npz");
    REQUIRE(command({"trace", in, "-o", out, "--causal", "--rope", "half"}).code == 0);
    CHECK(command({"diff", out, "--causal", "--rope", "half"}).code == 0);
    CHECK(command({"diff", in, out, "--causal", "--rope", "half"}).code == 0);
    const Ran ran = ends(1, {"diff", out, "--causal", "--rope", "interleaved", "--json"});
    CHECK(named_of(ran) == json{"rope_pairing"});
}

TEST_CASE_FIXTURE(OnDisk, "an own trace of weights brings its sinks") {
    const std::string in =
        inputs_of(some_inputs()).add("sinks", Tensor({1, 1, 1, 2}, 0.5F)).write(scratch, "in.npz");
    const std::string out = scratch.at("out.npz");
    succeeds({"trace", in, "-o", out, "--keep", "scores,weights"});
    const Ran ran = succeeds({"diff", out});
    CHECK(contains(ran.out, ", as with a sink or dropout"));
}

TEST_CASE_FIXTURE(
    OnDisk,
    "the options of a trace are taken where the inputs say none, else what differs is said") {
    const Inputs in = some_inputs();
    const std::string a = inputs_of(in).write(scratch, "in.npz"), b = scratch.at("out.npz");
    succeeds({"trace", a, "-o", b, "--causal", "--window", "2"});
    const std::string note = "note: the options are those of " + b + "\n";
    CHECK(contains(succeeds({"diff", a, b}).err, note));
    CHECK(contains(succeeds({"diff", b, a}).err, note));
    CHECK_FALSE(contains(succeeds({"diff", a, b, "--causal", "--window", "2"}).err, "options are"));
    const std::string other = scratch.at("other.npz");
    succeeds({"trace", a, "-o", other, "--block", "3"});
    const Ran ran = ends(1, {"diff", other, b});
    CHECK(contains(ran.err, b + " gives other options (causal=top-left, window=2) than " + other +
                                " (block=3), which are used"));
}

TEST_CASE_FIXTURE(
    OnDisk, "gradients are compared where dO is given, and what is wrong with them is named") {
    const Inputs in = some_inputs();
    const Tensor d_o = test::normal_tensor<float>({1, 2, 6, 8}, 9);
    const std::string a = inputs_of(in).add("dO", d_o).write(scratch, "in.npz");
    const auto written = [&](const Trace& gradients) {
        Arrays arrays;
        return add_gradients(arrays, gradients).write(scratch, "out.npz");
    };
    const Trace right = gradients_of(in, causal_spec(), d_o);
    const Ran valid = succeeds({"diff", a, written(right), "--causal"});
    CHECK(last_line(valid.out) == "equal within tolerance: 3 arrays");
    AttentionSpec unscaled = causal_spec();
    unscaled.scale = ScaleKind::none;
    const std::pair<AttentionSpec, std::string> faults[] = {{{}, "mask_dropped"},
                                                            {unscaled, "scale"}};
    for (const auto& [spec, key] : faults)
        CHECK(named_of(ends(1, {"diff", a, written(gradients_of(in, spec, d_o)), "--causal",
                                "--json"})) == json{key});
    // one number, a twentieth of the largest
    Trace off = right;
    off[Stage::k](0, 1, 2, 3) += 0.05F;
    const Ran ran = ends(1, {"diff", a, written(off), "--causal"});
    CHECK(contains(ran.out, "worst cell  d_k[0, 1, 2, 3]"));
    CHECK(contains(last_line(ran.out), "different: 1 of 3 arrays beyond tolerance"));
    // without dO only two files can be compared
    const std::string plain = inputs_of(in).write(scratch, "plain.npz");
    check_refused({"diff", plain, written(right), "--causal"},
                  "inputs to compute it from, for gradients with dO or dY, where they start");
    const std::string one = written(right);
    Arrays arrays;
    const std::string other = add_gradients(arrays, off).write(scratch, "other.npz");
    succeeds({"diff", one, one});
    ends(1, {"diff", one, other});
}

TEST_CASE_FIXTURE(Files, "a trace keeps where gradients start") {
    const std::string once = scratch.at("once.npz"), twice = scratch.at("twice.npz");
    const std::string a = inputs_of(in)
                              .add("dO", test::normal_tensor<float>({1, 2, 6, 8}, 9))
                              .write(scratch, "in.npz");
    succeeds({"trace", a, "-o", once, "--causal", "--keep", "weights"});
    CHECK_FALSE(read_npz(once).value().arrays.contains("dO"));  // nothing there could start from it
    succeeds({"trace", a, "-o", once, "--causal"});
    CHECK(floats(read_npz(once).value(), "dO") == floats(read_npz(a).value(), "dO"));
    succeeds({"trace", a, "-o", once, "--causal", "--grad"});
    CHECK(last_line(succeeds({"diff", once}).out) == "equal within tolerance: 15 arrays");
    succeeds({"trace", once, "-o", twice, "--grad"});
    const Npz first = read_npz(once).value(), second = read_npz(twice).value();
    for (const char* name : {"dO", "d_q", "d_k", "d_v"})
        CHECK(floats(first, name) == floats(second, name));
    // of ones at output, all parameters among them
    succeeds({"trace", golden("two_heads.npz"), "-o", once, "--grad", "--heads", "2", "--kv-heads",
              "1"});
    const Ran all =
        succeeds({"diff", golden("two_heads.npz"), once, "--heads", "2", "--kv-heads", "1"});
    for (const char* key : {"d_x_kv ", "d_w_o ", "d_b_q ", "d_output "})
        CHECK(contains(all.out, key));
}

TEST_CASE_FIXTURE(OnDisk, "weights alone: what they can show is said, and only that") {
    const Tensor weights = attend(some_inputs(), causal_spec()).value()[Stage::weights];
    const std::string right = Arrays().add("weights", weights).write(scratch, "right.npz");
    const Ran valid = succeeds({"diff", right, "--causal"});
    CHECK(last_line(valid.out) ==
          "these arrays alone show nothing wrong: add Q, K (and V) to check their numbers");
    ends(1, {"diff", right, "--causal", "--window", "2"});
    const Ran dropped = ends(1, {"diff", right, "--block", "3", "--causal", "--json"});
    const json signs = json::parse(dropped.out)["examined"][0]["signs"];
    for (const json& sign : signs) {
        if (sign["key"] == "document_leak") CHECK(sign["fits"] == true);
        if (sign["key"] == "scale") CHECK(sign["reason"] == "trying it needs Q and K");
    }
}

TEST_CASE_FIXTURE(Files, "Q and K without V check scores and weights") {
    AttentionSpec spec;
    Arrays arrays = Arrays().add("Q", in.q).add("K", in.k);
    arrays.add("weights", attend(in, spec).value()[Stage::weights]);
    CHECK(command({"diff", arrays.write(scratch, "a.npz")}).code == 0);
    arrays.add("context", attend(in, spec).value()[Stage::context]);
    const Ran ran = succeeds({"diff", arrays.write(scratch, "b.npz")});
    CHECK(contains(ran.out, "not compared: context"));
    CHECK(command({"diff", arrays.write(scratch, "b.npz"), "--causal"}).code == 1);
    // as wide as a value is where there is none
    const Inputs narrow = test::normal_inputs({1, 2, 5, 1});
    Tensor wrong = attend(narrow, spec).value()[Stage::weights];
    wrong(0, 1, 3, 2) += 0.25F;
    Arrays thin = Arrays().add("Q", narrow.q).add("K", narrow.k).add("weights", wrong);
    CHECK(command({"diff", thin.write(scratch, "thin.npz")}).code == 1);
}

TEST_CASE_FIXTURE(Files, "a tolerance may be given, and must be a number") {
    Trace trace = attend(in, {}).value();
    trace[Stage::context](0, 1, 2, 3) += 0.01F;
    Arrays arrays = inputs_of(in).add("context", trace[Stage::context]);
    const std::string path = arrays.write(scratch, "a.npz");
    const Ran ran = ends(1, {"diff", path});
    CHECK(contains(ran.out, "context[0, 1, 2, 3]"));
    CHECK(contains(last_line(ran.out), "no known fault explains it"));
    CHECK(command({"diff", path, "--tolerance", "0.02"}).code == 0);
    CHECK(command({"diff", path, "--tolerance", "0.001"}).code == 1);
    check_refused({"diff", path, "--tolerance", "much"},
                  "--tolerance is 'much'; expected a number from 0 to 1e38");
    check_refused({"diff", path, "--rtol", "-1"}, "--rtol is -1; expected a number from 0");
}

TEST_CASE_FIXTURE(OnDisk, "the dtype of an array decides its tolerance, and --tolerance wins") {
    Inputs in = test::normal_inputs({1, 2, 40, 16});
    for (Tensor* const tensor : {&in.q, &in.k, &in.v}) *tensor = as_bf16(*tensor);
    const Tensor context = attend(in, {}).value()[Stage::context];
    const std::string narrow = write_bf16(scratch, in, context);
    const Ran right = succeeds({"diff", narrow});
    CHECK(contains(right.err, "context is bf16: its tolerance is that of bf16"));
    CHECK(command({"diff", narrow, "--tolerance", "1e-6"}).code == 1);
    const std::string wide =
        inputs_of(in).add("context", as_bf16(context)).write(scratch, "wide.npz");
    CHECK(command({"diff", wide}).code == 1);
    AttentionSpec unscaled;
    unscaled.scale = ScaleKind::none;
    const Tensor wrong = attend(in, unscaled).value()[Stage::context];
    const Ran seen = ends(1, {"diff", write_bf16(scratch, in, wrong), "--json"});
    CHECK(named_of(seen) == json{"scale"});
}

TEST_CASE_FIXTURE(Files, "a NaN is the worst cell, and the extent of the error is said in words") {
    Tensor context = attend(in, {}).value()[Stage::context];
    context(0, 0, 1, 2) += 100.0F;
    context(0, 1, 2, 3) = std::numeric_limits<float>::quiet_NaN();
    const std::string path = inputs_of(in).add("context", context).write(scratch, "a.npz");
    const Ran ran = ends(1, {"diff", path});
    CHECK(contains(ran.out, "worst cell  context[0, 1, 2, 3]  nan, expected "));
    CHECK(contains(ran.out,
                   "  where       columns 2–3 of 2 of 12 rows, from row 1 to 2, of every head\n"));
    const json array = json::parse(command({"diff", path, "--json"}).out)["arrays"][0];
    CHECK(array["errors"]["worst"]["index"] == json{0, 1, 2, 3});
    CHECK(array["extent"] == "columns 2–3 of 2 of 12 rows, from row 1 to 2, of every head");

    Tensor zeros = attend(in, {}).value()[Stage::context];
    for (Index h = 0; h < 2; ++h)
        for (Index d = 0; d < 8; ++d) zeros(0, h, 4, d) = zeros(0, h, 5, d) = 0.0F;
    const std::string cut = inputs_of(in).add("context", zeros).write(scratch, "b.npz");
    CHECK(contains(ends(1, {"diff", cut}).out, "  where       rows 4–5 of every head, all 0\n"));
}

TEST_CASE_FIXTURE(Files, "results with tokens before heads: the layout is proposed") {
    const std::string path =
        inputs_of(in).add("context", Tensor({1, 6, 2, 8}, 0.5F)).write(scratch, "a.npz");
    check_refused({"diff", path}, "context is [1, 6, 2, 8] in " + path +
                                      " and [1, 2, 6, 8] by the reference; it fits as [B,T,H,d], "
                                      "where [B,H,T,d] is expected: say its layout");
}

TEST_CASE_FIXTURE(OnDisk, "masked scores and weights of one file that do not fit each other") {
    const Trace trace = attend(some_inputs(), causal_spec(), "staged").value();
    Arrays arrays =
        Arrays().add("masked", trace[Stage::masked]).add("weights", trace[Stage::weights]);
    const Ran valid = succeeds({"diff", arrays.write(scratch, "a.npz"), "--causal"});
    CHECK(contains(valid.out, "weights are the softmax of the masked scores"));
    Tensor swapped = trace[Stage::weights];
    std::swap(swapped(0, 1, 3, 0), swapped(0, 1, 3, 1));
    const std::string path = Arrays()
                                 .add("masked", trace[Stage::masked])
                                 .add("weights", swapped)
                                 .write(scratch, "b.npz");
    CHECK(contains(ends(1, {"diff", path, "--causal"}).out,
                   "rows of weights that are not the softmax of their masked scores: 1 of 12; "
                   "row [0, 1, 3] is "));
}

TEST_CASE_FIXTURE(Files, "what cannot be compared is refused by name") {
    const std::string a = inputs_of(in).write(scratch, "a.npz");
    const std::string longer = inputs_of(some_inputs(7)).write(scratch, "b.npz");
    check_refused({"diff"}, "expected one or two files");
    check_refused({"diff", a, a, a}, "is one argument too many");
    check_refused({"diff", a}, "has no results; expected arrays that are called scores");
    check_refused({"diff", a, longer}, "have different inputs: Q, K, V");
    check_refused({"diff", "/nowhere/a.npz"}, "/nowhere/a.npz: No such file");
    const std::string weights =
        Arrays().add("weights", Tensor({1, 2, 6, 5}, 0.2F)).write(scratch, "w.npz");
    check_refused({"diff", a, weights}, "weights is [1, 2, 6, 5] in");
    check_refused({"diff", a, weights}, "and [1, 2, 6, 6] by the reference");
    check_refused({"diff", a, weights, "--operation", "linear"},
                  "diff supports softmax attention, and gated");
    const std::string scores =
        Arrays().add("scores", Tensor({1, 2, 6, 5}, 0.2F)).write(scratch, "s.npz");
    check_refused({"diff", scores, weights}, "expected an array that both have");
}

TEST_CASE_FIXTURE(OnDisk, "an array that one file alone has is named") {
    const Tensor weights = attend(some_inputs(), {}).value()[Stage::weights];
    const std::string a =
        Arrays().add("weights", weights).add("scores", weights).write(scratch, "a.npz");
    const std::string b =
        Arrays().add("weights", weights).add("extra", weights).write(scratch, "b.npz");
    const Ran ran = succeeds({"diff", a, b});
    CHECK(contains(ran.out, fmt::format("not compared: scores of {}", a)));
    CHECK(contains(ran.out, fmt::format("not compared: extra of {}", b)));
}

TEST_CASE_FIXTURE(Files, "a layer of several is chosen") {
    Arrays arrays = results_of(in, {}, "l0.");
    for (const auto& [name, tensor] : results_of(in, causal_spec(), "l1.").tensors)
        arrays.add(name, tensor);
    const std::string b = arrays.write(scratch, "layers.npz");
    const std::string a = inputs_of(in).write(scratch, "in.npz");
    check_refused({"diff", a, b}, "has the layers 0, 1. Pass --layer N");
    CHECK(command({"diff", b, b, "--layer", "1"}).code == 0);
}

TEST_CASE("the page of diff lists every fault with its source") {
    std::ifstream page(ATTN_TEST_DATA "/../../docs/diff.md");
    const std::string text((std::istreambuf_iterator<char>(page)), {});
    for (const auto& table : {verify::fault_table(), verify::backward_fault_table()})
        for (const verify::Fault& fault : table)
            CHECK(contains(text, fmt::format("| `{}` | {} | {} | {} |", fault.key, fault.text,
                                             fault.remedy, fault.source)));
}
