// The same call from every format, and what a file may call its tensors: packed, tokens first, a trace's own output.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/files/open.h"
#include "app/files/outputs.h"
#include "app/files/tensors.h"
#include "core/backend.h"
#include "core/io/file.h"
#include "core/io/npz.h"
#include "core/text.h"
#include "tests/io/bytes.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::files;
namespace fs = std::filesystem;

namespace {

using Extents = std::vector<Index>;

struct Array {
    std::string name;
    Extents extents;
    std::vector<float> values;
};

/// 0, 1, 2, ... of that shape.
Array counting(const std::string& name, Extents extents) {
    Array array{name, std::move(extents), {}};
    Index count = 1;
    for (const Index extent : array.extents) count *= extent;
    for (Index n = 0; n < count; ++n) array.values.push_back(static_cast<float>(n));
    return array;
}

/// Every row is the same for all keys.
Array weights(const std::string& name, Extents extents) {
    Array array = counting(name, std::move(extents));
    std::ranges::fill(array.values, 1.0F / static_cast<float>(array.extents.back()));
    return array;
}

fs::path write(const fs::path& path, const std::vector<Array>& arrays) {
    std::vector<NpzEntry> entries;
    for (const Array& array : arrays) entries.push_back({array.name, array.extents, array.values});
    REQUIRE(write_npz(path, entries));
    return path;
}

OptionValues given(std::initializer_list<std::pair<const char*, const char*>> options) {
    OptionValues values;
    for (const auto& [name, text] : options) values[name] = {fmt::format("--{}", name), text};
    return values;
}

TensorFile read(const fs::path& path, const OptionValues& options = {}) {
    return must(read_tensors(path.string(), options));
}

std::string refused(const fs::path& path, const OptionValues& options = {}) {
    return sentence_in(read_tensors(path.string(), options));
}

bool notes_contain(const TensorFile& file, const std::string& text) {
    return std::ranges::any_of(file.notes,
                               [&](const Note& note) { return contains(note.text, text); });
}

std::vector<float> values_of(const Tensor& tensor) {
    return {tensor.values().begin(), tensor.values().end()};
}

/// Q [2,2], K [2,2] and V [2,2] of F32, and the metadata.
std::string qkv_safetensors(const std::string& metadata) {
    return safetensors(R"({"Q":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
                       R"("K":{"dtype":"BF16","shape":[2,2],"data_offsets":[16,24]},)"
                       R"("V":{"dtype":"F16","shape":[2,2],"data_offsets":[24,32]})" +
                           metadata + "}",
                       little({1.0F, 2.0F, 3.0F, 4.0F}) +
                           little<std::uint16_t>({0x3F80, 0x4000, 0x4040, 0x4080}) +
                           little<std::uint16_t>({0x3C00, 0x4000, 0x4200, 0x4400}));
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "a .safetensors file is a call, its texts are tokens and options") {
    write_bytes(scratch / "f.safetensors",
                qkv_safetensors(R"(,"__metadata__":{"format":"pt","tokens":"[\"the\",\"cat\"]",)"
                                R"("options":"{\"causal\":true,\"scale\":0.5}"})"));
    const TensorFile file = read(scratch / "f.safetensors");
    const std::vector<float> wanted{1, 2, 3, 4};
    CHECK(values_of(file.layers[0].q) == wanted);
    CHECK(values_of(file.layers[0].k) == wanted);
    CHECK(values_of(file.layers[0].v) == wanted);
    CHECK(file.tokens == std::vector<std::string>{"the", "cat"});
    CHECK(file.spec.mask.causal == CausalAlign::top_left);
    CHECK(file.spec.scale_value == 0.5);
    CHECK(notes_contain(file, "f.safetensors: causal=true, scale=0.5"));
    write_bytes(scratch / "f.safetensors", qkv_safetensors(R"(,"__metadata__":{"tokens":"the"})"));
    CHECK(contains(refused(scratch / "f.safetensors"), "f.safetensors: tokens is not valid JSON"));
}

TEST_CASE_FIXTURE(OnDisk, "the window opens every format, and its document is named by the file") {
    write_bytes(scratch / "f.safetensors", qkv_safetensors(""));
    write_bytes(scratch / "f.safetensors.index.json",
                R"({"weight_map":{"Q":"f.safetensors","K":"f.safetensors","V":"f.safetensors"}})");
    fs::create_directory(scratch / "call");
    for (const char* name : {"Q", "K", "V"})
        write_bytes(
            scratch / fmt::format("call/{}.npy", name),
            npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), }", little({0.5, 4.0})));
    const auto title = [&](const std::string& name) {
        const std::string path = scratch.at(name);
        CHECK(holds_tensors(path));
        const auto opened = must(opener(backends())({path, 0}, {}));
        return opened.document->title;
    };
    CHECK(title("f.safetensors") == "f.safetensors");
    CHECK(title("f.safetensors.index.json") == "f.safetensors.index.json");
    CHECK(title("call") == "call");
    CHECK(title("call/") == "call");
    const TensorFile file = read(scratch / "call");
    CHECK(values_of(file.layers[0].v) == std::vector<float>{0.5, 4});
    CHECK(notes_contain(file, "Q (float64), K (float64), V (float64) converted to float32"));
    CHECK_FALSE(holds_tensors("session.json"));
    REQUIRE(write_file_atomically(scratch / "f.xyz", "x"));
    const auto other = opener(backends())({scratch.at("f.xyz"), 0}, {});
    CHECK(contains(
        other.error().text(),
        "f.xyz; expected tensors (.npz, .npy, .safetensors, .pt, .pth, .onnx, .pkl, .index.json or "
        "a folder), a session, a preset (.json), a model's folder or .gguf, or sentences to learn "
        "(.txt); an image (.png) needs "
        "an open model"));
}

TEST_CASE_FIXTURE(
    OnDisk, "bits that are saved as integers are refused, and are numbers where --dtype says so") {
    const std::vector<std::uint16_t> bf16{0x3F80, 0xC000, 0x4040, 0x3E80};  // 1, −2, 3, 1/4
    const std::vector<std::uint16_t> f16{0x3C00, 0xC000, 0x4200, 0x3400};
    const std::vector<float> wanted{1.0F, -2.0F, 3.0F, 0.25F};
    const auto save = [&](const std::string& type, const std::vector<std::uint16_t>& bits) {
        const bool bytes = type.ends_with('8');
        std::string raw;
        for (const std::uint16_t each : bits) raw += little<std::uint16_t>({each});
        const std::string columns = bytes ? "4" : "2";
        write_bytes(
            scratch / "bits.safetensors",
            safetensors(
                fmt::format(R"({{"Q":{{"dtype":"{0}","shape":[2,{1}],"data_offsets":[0,8]}},)"
                            R"("K":{{"dtype":"{0}","shape":[2,{1}],"data_offsets":[8,16]}},)"
                            R"("V":{{"dtype":"F32","shape":[2,1],"data_offsets":[16,24]}}}})",
                            type, columns),
                raw + raw + little({5.0F, 6.0F})));
        return scratch / "bits.safetensors";
    };
    constexpr std::pair<const char*, const char*> kTypes[] = {
        {"I16", "int16"}, {"U16", "uint16"}, {"I8", "int8"}, {"U8", "uint8"}};
    for (const auto& [type, name] : kTypes) {
        const fs::path path = save(type, bf16);
        CHECK(contains(
            refused(path),
            std::string_view(name).ends_with("int8")
                ? fmt::format(
                      "Q is {}, which is how bfloat16 and float8 are often saved; expected "
                      "float16, "
                      "bfloat16, float32 or float64. Pass --dtype Q=bf16 if it holds the bits of "
                      "bfloat16, --dtype Q=f16 if it holds the bits of float16, --dtype Q=e4m3 if "
                      "it "
                      "holds the codes of float8_e4m3fn, --dtype Q=e5m2 if it holds the codes of "
                      "float8_e5m2 or --dtype Q=int if it holds integers",
                      name)
                : fmt::format("Q is {}, which is how bfloat16 is often saved; expected float16, "
                              "bfloat16, float32 or float64. Pass --dtype Q=bf16 if it holds the "
                              "bits of bfloat16, --dtype Q=f16 if it holds the bits of float16 or "
                              "--dtype Q=int if it holds integers",
                              name)));
        CHECK(contains(refused(path, given({{"dtype", "Q=bf16"}})), fmt::format("K is {}", name)));
        for (const char* dtype : {"bf16", "Q=bf16,K=bf16", "bfloat16", "K=int,bf16"}) {
            const bool ints = std::string_view(dtype).starts_with("K=int");
            if (ints && std::string_view(name).ends_with('8')) continue;  // of other widths
            const TensorFile file = read(path, given({{"dtype", dtype}}));
            CHECK(file.size.d_k == 2);
            CHECK(values_of(file.layers[0].q) == wanted);
            CHECK((values_of(file.layers[0].k) == wanted) == !ints);
        }
        save(type, f16);
        CHECK(values_of(read(path, given({{"dtype", "f16"}})).layers[0].q) == wanted);
    }
    const fs::path path = save("I16", {1, 2, 0xFFFF, 3});
    CHECK(values_of(read(path, given({{"dtype", "int"}})).layers[0].q) ==
          std::vector<float>{1, 2, -1, 3});
    CHECK(contains(refused(path, given({{"dtype", "V=bf16"}})), "dtype names V, which is float32"));
    CHECK(
        contains(refused(path, given({{"dtype", "X=bf16"}})), "dtype names X, which is not there"));
    CHECK(contains(refused(path, given({{"dtype", "Q=bf17"}})),
                   "--dtype is 'Q=bf17'; expected bf16"));
    CHECK(contains(refused(path, given({{"dtype", "Q=bf16,Q=int"}})), "reads Q in two ways"));
    // two bytes make a number
    write_bytes(scratch / "odd.safetensors",
                safetensors(R"({"Q":{"dtype":"U8","shape":[2,3],"data_offsets":[0,6]},)"
                            R"("K":{"dtype":"U8","shape":[2,3],"data_offsets":[6,12]}})",
                            "abcdefghijkl"));
    CHECK(contains(refused(scratch / "odd.safetensors", given({{"dtype", "bf16"}})),
                   "Q is uint8 [2, 3], and two entries of the last axis make a number"));
}

TEST_CASE_FIXTURE(OnDisk, "codes of float8 are numbers by --dtype") {
    const auto save = [&](const std::string& type) {
        const std::string raw{0x08, static_cast<char>(0xB8), 0x7E, 0x3C};
        write_bytes(
            scratch / "codes.safetensors",
            safetensors(
                fmt::format(R"({{"Q":{{"dtype":"{0}","shape":[2,2],"data_offsets":[0,4]}},)"
                            R"("K":{{"dtype":"{0}","shape":[2,2],"data_offsets":[4,8]}},)"
                            R"("V":{{"dtype":"I16","shape":[2,1],"data_offsets":[8,12]}}}})",
                            type),
                raw + raw + little<std::uint16_t>({0x3F80, 0xC000})));
        return scratch / "codes.safetensors";
    };
    for (const char* type : {"I8", "U8"}) {
        const fs::path path = save(type);
        const TensorFile e4m3 = read(path, given({{"dtype", "e4m3,V=bf16"}}));
        CHECK(values_of(e4m3.layers[0].q) == std::vector<float>{0.015625F, -1.0F, 448.0F, 1.5F});
        CHECK(values_of(e4m3.layers[0].v) == std::vector<float>{1.0F, -2.0F});
        const TensorFile e5m2 = read(path, given({{"dtype", "Q=float8_e5m2,K=e5m2,V=bf16"}}));
        CHECK(e5m2.size.d_k == 2);
        CHECK(values_of(e5m2.layers[0].q)[1] == -0.5F);
        CHECK(contains(refused(path, given({{"dtype", "e4m3"}})),
                       "V is int16, which is how bfloat16 is often saved"));
        CHECK(contains(refused(path, given({{"dtype", "e4m3,V=e5m2"}})),
                       "dtype reads V as float8, and it is int16; expected int8 or uint8"));
    }
}

TEST_CASE_FIXTURE(OnDisk, "the window asks what integers hold, and a file's options may say it") {
    const std::string qkv = R"({"Q":{"dtype":"I16","shape":[2,2],"data_offsets":[0,8]},)"
                            R"("K":{"dtype":"I16","shape":[2,2],"data_offsets":[8,16]},)"
                            R"("V":{"dtype":"I16","shape":[2,2],"data_offsets":[16,24]}%})";
    const auto save = [&](const std::string& name, const std::string& metadata) {
        std::string header = qkv;
        header.replace(header.find('%'), 1, metadata);
        const std::string bits = little<std::uint16_t>({0x3F80, 0xC000, 0x4040, 0x3E80});
        write_bytes(scratch / name, safetensors(header, bits + bits + bits));
        return scratch.at(name);
    };
    const std::string path = save("asks.safetensors", "");
    const auto opened = must(opener(backends())({path, 0}, {}));
    REQUIRE(opened.document->question);
    CHECK(opened.document->question->text == "What do the numbers of Q, int16, hold?");
    REQUIRE(opened.document->question->answers.size() == 3);
    const auto& answer = opened.document->question->answers[0];
    CHECK(answer.option + "=" + answer.value == "dtype=bf16");
    const auto stated = must(opener(backends())({path, 0, R"({"dtype": "bf16"})"}, {}));
    CHECK_FALSE(stated.document->question);
    CHECK_FALSE(view::is_empty(*stated.document));
    for (const char* dtype : {R"(\"bf16\")", R"({\"Q\":\"bf16\",\"K\":\"bf16\",\"V\":\"bf16\"})"}) {
        const TensorFile file =
            read(save("says.safetensors",
                      fmt::format(R"(,"__metadata__":{{"options":"{{\"dtype\":{}}}"}})", dtype)));
        CHECK(values_of(file.layers[0].v) == std::vector<float>{1.0F, -2.0F, 3.0F, 0.25F});
    }
}

TEST_CASE_FIXTURE(OnDisk, "an output is none of the files that a folder or an index stands for") {
    write_bytes(scratch / "f.safetensors", qkv_safetensors(""));
    write_bytes(scratch / "f.safetensors.index.json", R"({"weight_map":{"Q":"f.safetensors"}})");
    for (const std::string& input :
         {scratch.path().string(), scratch.at("f.safetensors.index.json")}) {
        const std::vector<NamedFile> inputs = files_of({"the input", input});
        const NamedFile output{"-o", scratch.at("f.safetensors")};
        CHECK_FALSE(check_outputs(inputs, {&output, 1}));
        const NamedFile other{"-o", scratch.at("out.npz")};
        CHECK(check_outputs(inputs, {&other, 1}));
    }
}

TEST_CASE_FIXTURE(OnDisk, "a folder of a file a layer has layers") {
    for (const char* layer : {"l0", "l3"})
        write(scratch / fmt::format("{}.npz", layer),
              {counting("Q", {2, 1}), counting("K", {2, 1}), counting("V", {2, 1})});
    const TensorFile file = read(scratch.path());
    CHECK(file.numbers == std::vector<Index>{0, 3});
}

TEST_CASE_FIXTURE(OnDisk, "the output of a trace is an input, and a note says so") {
    const fs::path path = write(
        scratch / "out.npz",
        {counting("x", {1, 2, 3}), counting("q", {1, 1, 2, 2}), counting("k", {1, 1, 2, 2}),
         counting("v", {1, 1, 2, 2}), counting("weights", {1, 1, 2, 2}),
         counting("logsumexp", {1, 1, 2}), counting("d_q", {1, 1, 2, 2}), counting("foo", {1})});
    const TensorFile file = read(path);
    CHECK(values_of(file.layers[0].q) == std::vector<float>{0, 1, 2, 3});
    CHECK_FALSE(file.layers[0].projects());
    CHECK(notes_contain(
        file,
        "out.npz: k, q, v are read as K, Q, V, as the stages of a trace, and 'x', 'logsumexp', "
        "'d_q' are computed again; the mask, scale and positions of that call are not in the "
        "file"));
    // of 0 … 3 softmax makes 0.999 of the last 3, where the file has 3
    CHECK(notes_contain(file,
                        "out.npz: weights are computed again; the stored ones differ by at most 2 "
                        "(head 0, query 1, key 1)"));
    CHECK(notes_contain(file, "array 'foo' is not used"));
    write(scratch / "layers.npz",
          {counting("l2.q", {2, 1}), counting("l2.k", {2, 1}), counting("l2.v", {2, 1})});
    CHECK(read(scratch / "layers.npz").numbers == std::vector<Index>{2});
    // x with weights, without q, k and v
    write(scratch / "x.npz", {counting("x", {2, 2}), counting("W_Q", {2, 2}),
                              counting("W_K", {2, 2}), counting("W_V", {2, 2})});
    CHECK(read(scratch / "x.npz").layers[0].x.shape() == Shape{1, 1, 2, 2});
    CHECK(notes_contain(read(scratch / "x.npz"), "x.npz: x is read as X"));
    // beside Q, K, V they mean nothing
    write(scratch / "both.npz", {counting("Q", {2, 1}), counting("K", {2, 1}),
                                 counting("V", {2, 1}), counting("q", {3, 1})});
    CHECK(read(scratch / "both.npz").layers[0].q.shape().t == 2);
    CHECK(notes_contain(read(scratch / "both.npz"), "array 'q' is not used; q: call it Q"));
}

TEST_CASE_FIXTURE(OnDisk, "names of other programs are read, and a note lists them") {
    const auto call = [&](const std::string& before, const std::string& q, const std::string& k,
                          const std::string& v) {
        return read(
            write(scratch / "f.npz", {counting(before + q, {3, 2}), counting(before + k, {3, 2}),
                                      counting(before + v, {3, 2})}));
    };
    CHECK(call("", "query", "key", "value").size.tq == 3);
    CHECK(notes_contain(call("", "query_states", "key_states", "value_states"),
                        "f.npz: query_states, key_states, value_states are read as Q, K, V"));
    CHECK(
        notes_contain(call("module._orig_mod.", "query", "key", "value"), "module._orig_mod.key"));
    CHECK(call("_orig_mod.", "Q", "K", "V").size.tq == 3);
    // a key of cross-attention that is another array than K
    CHECK(contains(refused(write(scratch / "q.npz", {counting("Q", {3, 2}), counting("key", {3, 2}),
                                                     counting("V", {3, 2})})),
                   "K is missing"));
    const TensorFile layers = read(write(
        scratch / "a.npz", {weights("attn_0", {1, 2, 3, 3}), weights("attn_1", {1, 2, 3, 3})}));
    CHECK(layers.numbers == std::vector<Index>{0, 1});
    for (const auto& extents : {std::vector<Index>{3, 3}, {2, 3, 3}})
        CHECK(read(write(scratch / "w.npz", {weights("foo", extents)})).given.size() == 1);
    CHECK(contains(refused(write(scratch / "s.npz", {counting("foo", {3, 3})})),
                   "Pass --role NAME=weights"));
    CHECK(contains(refused(write(scratch / "g.npz", {weights("attentions.0.0", {1, 2, 3, 3}),
                                                     weights("attentions.1.0", {1, 2, 1, 4})})),
                   "g.npz: attentions are those of generate(), one tuple for each new token"));
    const std::vector<Array> packed{counting("Q", {3, 2}), counting("K", {3, 2}),
                                    counting("V", {3, 2}), counting("cu_seqlens_q", {2})};
    CHECK(contains(refused(write(scratch / "p.npz", packed)), "cu_seqlens"));
}

TEST_CASE_FIXTURE(OnDisk, "weights or scores alone are told what is missing") {
    CHECK(read(write(scratch / "w.npz", {counting("weights", {2, 3, 3})})).given.size() == 1);
    const std::string logits = refused(write(scratch / "l.npz", {counting("logits", {2, 3, 3})}));
    CHECK(contains(
        logits,
        "l.npz: logits [2, 3, 3] is there, which trace computes from Q, K and V, and those "
        "are missing; it holds logits. Pass --role NAME=weights (or masked, scaled, scores) "
        "if the file has only scores or weights. Save Q, K and V too, or X with W_Q, W_K and "
        "W_V"));
    CHECK(contains(refused(write(scratch / "raw.npz", {counting("scores", {3, 3})})),
                   "raw.npz: scores are scores q·k, and the file does not have their scale"));
    CHECK(contains(
        refused(write(scratch / "f.npz", {counting("foo", {3})})),
        "f.npz: the file has no queries, keys and values; it holds foo. Pass --role "
        "NAME=weights (or Q, K, V) if they have other names. Save X with W_Q, W_K and W_V, or "
        "all of Q, K and V"));
    CHECK(
        contains(refused(write(scratch / "qk.npz", {counting("Q", {3, 2}), counting("K", {3, 2})})),
                 "qk.npz: V is missing; Q and K are there; it holds Q, K. Save V too, which the "
                 "context needs, or open the file in the window"));
    CHECK(contains(refused(write(scratch / "q.npz", {counting("Q", {3, 2})})),
                   "q.npz: K and V are missing; Q is there; it holds Q. Save all of Q, K and V"));
    std::vector<Array> many;
    for (int n = 0; n < 20; ++n) many.push_back(counting(fmt::format("a{}", n), {1}));
    CHECK(contains(refused(write(scratch / "many.npz", many)), "a11 and 8 more"));
}

TEST_CASE_FIXTURE(OnDisk, "bfloat16 that numpy lost is named with what to do") {
    for (const char* name : {"Q", "K", "V"})
        write_bytes(scratch / fmt::format("{}.npy", name),
                    npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1, 1), }", "12"));
    const std::string sentence = refused(scratch.path());
    CHECK(contains(sentence, "Q.npy: Q has dtype '<V2', as numpy saves bfloat16"));
    CHECK(contains(sentence, ".astype(np.float32)"));
}

TEST_CASE_FIXTURE(OnDisk, "heads that Q does not bring are told which layout has them") {
    const auto call = [&](const Extents& extents) {
        return write(scratch / "f.npz",
                     {counting("Q", extents), counting("K", extents), counting("V", extents)});
    };
    const auto heads = given({{"heads", "4"}});
    CHECK(
        contains(refused(call({3, 12}), heads),
                 "f.npz: heads is 4, but Q is [3, 12] and has 1. Pass --layout joined if it is [T, "
                 "H·d], 4 heads of width 3"));
    CHECK(
        contains(refused(call({3, 4, 5}), heads),
                 "heads is 4, but Q is [3, 4, 5] and has 3. Pass --layout tokens-first if its axes "
                 "are [T, H, d]"));
    CHECK(contains(refused(call({2, 3, 4, 5}), heads),
                   "--layout tokens-first if its axes are [B, T, H, d]"));
    CHECK(contains(refused(call({2, 3, 8}), heads), "if it is [B, T, H·d], 4 heads of width 2"));
    CHECK(contains(refused(call({3, 7}), heads),
                   "has 1. Leave heads out: Q, K and V have their own"));
    CHECK(contains(refused(call({3, 12}), given({{"heads", "0"}})), "heads is 0"));
    CHECK(contains(refused(call({3, 12}), given({{"kv-heads", "2"}})),
                   "kv-heads is 2, but K is [3, 12] and has 1"));
}

TEST_CASE_FIXTURE(OnDisk, "a weight of torch's Linear is asked about") {
    const auto call = [&](const Extents& w_q, const Extents& w_k = {8, 12},
                          const Extents& w_v = {8, 12}, const Extents& w_o = {12, 8}) {
        return refused(write(scratch / "f.npz",
                             {counting("X", {3, 8}), counting("W_Q", w_q), counting("W_K", w_k),
                              counting("W_V", w_v), counting("W_O", w_o)}));
    };
    CHECK(call({8, 12}).empty());
    CHECK(
        contains(call({12, 8}),
                 "f.npz: W_Q is [12, 8]; expected [8, …]: is it torch's [out, in]? Transpose it"));
    CHECK(contains(call({12, 9}), "f.npz: W_Q is [12, 9]; expected [8, …]: X has width 8"));
    CHECK(
        contains(call({8, 12}, {12, 8}),
                 "f.npz: W_K is [12, 8]; expected [8, …]: is it torch's [out, in]? Transpose it"));
    CHECK(
        contains(call({8, 12}, {8, 12}, {12, 8}),
                 "f.npz: W_V is [12, 8]; expected [8, …]: is it torch's [out, in]? Transpose it"));
    CHECK(
        contains(call({8, 12}, {8, 12}, {8, 12}, {8, 12}),
                 "f.npz: W_O is [8, 12]; expected [12, …]: is it torch's [out, in]? Transpose it"));
}

TEST_CASE_FIXTURE(OnDisk, "tokens first and joined heads are read as they are said to be") {
    // T 2, H 3, d 2: number = 100 t + 10 h + d
    const std::vector<float> by_token{0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121};
    const std::vector<float> by_head{0, 1, 100, 101, 10, 11, 110, 111, 20, 21, 120, 121};
    const auto call = [&](const Extents& extents) {
        std::vector<Array> arrays;
        for (const char* name : {"Q", "K", "V", "dO"}) arrays.push_back({name, extents, by_token});
        return write(scratch / "f.npz", arrays);
    };
    const auto check = [&](const TensorFile& file, const Shape& shape) {
        for (const Tensor* tensor : {&file.layers[0].q, &file.layers[0].k, &file.layers[0].v,
                                     &file.upstreams[0].gradient}) {
            CHECK(tensor->shape() == shape);
            CHECK(values_of(*tensor) == by_head);
        }
    };
    check(read(call({2, 3, 2}), given({{"layout", "tokens-first"}})), {1, 3, 2, 2});
    check(read(call({1, 2, 3, 2}), given({{"layout", "bthd"}, {"heads", "3"}})), {1, 3, 2, 2});
    check(read(call({2, 6}), given({{"layout", "joined"}, {"heads", "3"}})), {1, 3, 2, 2});
    check(read(call({1, 2, 6}), given({{"layout", "bte"}, {"heads", "3"}})), {1, 3, 2, 2});
    CHECK(read(call({3, 2, 2}), given({{"layout", "bhtd"}})).size.heads == 3);
    CHECK(contains(refused(call({2, 6}), given({{"layout", "joined"}, {"heads", "4"}})),
                   "f.npz: Q is [2, 6]; expected [T, H·d] or [B, T, H·d], of 4 heads"));
    std::vector<std::string> keys;
    for (const view::HeadAxesInfo& row : view::head_axes_table())
        keys.push_back(fmt::format("{} ({})", row.key, row.letters));
    CHECK(contains(refused(call({2, 6}), given({{"layout", "bhdt"}})),
                   "--layout is 'bhdt'; expected " + choices(keys)));
}

TEST_CASE_FIXTURE(OnDisk, "sequence first: the axes of Megatron-LM, alone and packed") {
    constexpr Index kT = 4, kB = 2, kH = 3, kD = 5;
    const auto number = [](Index part, Index b, Index h, Index t, Index d) {
        return static_cast<float>(10000 * part + 1000 * b + 100 * h + 10 * t + d);
    };
    std::vector<float> packed;
    std::array<std::vector<float>, 3> parts;
    for (Index t = 0; t < kT; ++t)
        for (Index b = 0; b < kB; ++b)
            for (Index h = 0; h < kH; ++h)
                for (Index part = 0; part < 3; ++part)
                    for (Index d = 0; d < kD; ++d) {
                        packed.push_back(number(part, b, h, t, d));
                        parts[part].push_back(packed.back());
                    }
    const auto check = [&](const std::vector<Array>& arrays, const char* layout) {
        const TensorFile file =
            read(write(scratch / "f.npz", arrays), given({{"layout", layout}, {"heads", "3"}}));
        const auto& in = file.layers[0];
        Index part = 0;
        for (const Tensor* tensor : {&in.q, &in.k, &in.v}) {
            REQUIRE(tensor->shape() == Shape{kB, kH, kT, kD});
            for (Index b = 0; b < kB; ++b)
                for (Index h = 0; h < kH; ++h)
                    for (Index t = 0; t < kT; ++t)
                        for (Index d = 0; d < kD; ++d)
                            CHECK((*tensor)(b, h, t, d) == number(part, b, h, t, d));
            ++part;
        }
    };
    const auto three = [&](const Extents& extents) {
        return std::vector<Array>{
            {"Q", extents, parts[0]}, {"K", extents, parts[1]}, {"V", extents, parts[2]}};
    };
    check(three({kT, kB, kH, kD}), "sequence-first");
    check(three({kT, kB, kH * kD}), "tbhd");
    check({{"qkv", {kT, kB, kH, 3, kD}, packed}}, "sequence-first");
    check({{"qkv", {kT, kB, kH * 3 * kD}, packed}}, "tbhd");
    CHECK(contains(refused(write(scratch / "f.npz", three({kT * kB, kH * kD})),
                           given({{"layout", "tbhd"}, {"heads", "3"}})),
                   "Q is [8, 15]; expected [T, B, H, d] or [T, B, H·d]"));
}

TEST_CASE_FIXTURE(OnDisk, "grouped heads that are joined are split by their own number") {
    const fs::path path = write(
        scratch / "f.npz", {counting("Q", {2, 8}), counting("K", {2, 4}), counting("V", {2, 4})});
    const TensorFile file =
        read(path, given({{"layout", "joined"}, {"heads", "4"}, {"kv-heads", "2"}}));
    CHECK(file.size.kv_heads == 2);
    CHECK(file.size.d_k == 2);
    CHECK(values_of(file.layers[0].k) == std::vector<float>{0, 1, 4, 5, 2, 3, 6, 7});
}

TEST_CASE_FIXTURE(OnDisk, "shapes that only tokens first make a call of are told so") {
    CHECK(contains(
        refused(write(scratch / "f.npz", {counting("Q", {5, 4, 2}), counting("K", {7, 4, 2}),
                                          counting("V", {7, 4, 2})})),
        ". Pass --layout tokens-first if Q [5, 4, 2] is [T, H, d]"));
    const std::string tokens = R"(,"__metadata__":{"tokens":"[\"a\",\"b\",\"c\"]"})";
    std::string header = R"("%":{"dtype":"U8","shape":[3,2,1],"data_offsets":[@]})";
    write_bytes(scratch / "f.safetensors",
                safetensors(R"({"Q":{"dtype":"I8","shape":[3,2,1],"data_offsets":[0,6]},)"
                            R"("K":{"dtype":"I8","shape":[3,2,1],"data_offsets":[6,12]},)"
                            R"("V":{"dtype":"I8","shape":[3,2,1],"data_offsets":[12,18]})" +
                                tokens + "}",
                            "123456123456123456"));
    CHECK(
        contains(refused(scratch / "f.safetensors", given({{"dtype", "int"}})),
                 "tokens has 3 tokens, but there are 2 queries (Tq); expected one token each. Pass "
                 "--layout tokens-first if Q is [T, H, d]"));
    CHECK(read(scratch / "f.safetensors", given({{"dtype", "int"}, {"layout", "tokens-first"}}))
              .size.heads == 2);
}

TEST_CASE_FIXTURE(OnDisk, "what TransformerLens saves opens by its own names, tokens first") {
    const auto hook = [](Index layer, const char* name, Extents extents) {
        return counting(fmt::format("blocks.{}.attn.hook_{}", layer, name), std::move(extents));
    };
    const Extents queries{1, 5, 3, 2}, keys{1, 5, 1, 2}, pairs{1, 3, 5, 5};
    std::vector<Array> cache;
    for (const Index layer : {0, 11})
        for (const Array& array :
             {hook(layer, "q", queries), hook(layer, "k", keys), hook(layer, "v", keys),
              hook(layer, "pattern", pairs), hook(layer, "z", queries)})
            cache.push_back(array);
    const TensorFile file = read(write(scratch / "cache.npz", cache));
    CHECK(file.numbers == std::vector<Index>{0, 11});
    CHECK(file.size.heads == 3);
    CHECK(file.size.kv_heads == 1);
    CHECK(file.size.tq == 5);
    CHECK(file.layers[1].q(0, 2, 4, 1) == 4 * 6 + 2 * 2 + 1);  // head 2 of token 4
    CHECK(notes_contain(
        file,
        "hook_k, hook_q, hook_v are read as K, Q, V, as TransformerLens saves them, [B, T, H, d]"));
    CHECK(notes_contain(file, "cache.npz: weights are computed again; the stored ones differ by"));
    CHECK_FALSE(notes_contain(file, "'blocks.0.attn.hook_pattern'"));
    CHECK(notes_contain(
        file,
        "'blocks.0.attn.hook_z', 'blocks.11.attn.hook_z' are computed again; the mask, "
        "scale and positions of that call are not"));
    CHECK_FALSE(notes_contain(file, "not used"));
    // after RoPE: those that the scores are made of
    for (const Index layer : {0, 11}) {
        cache.push_back(hook(layer, "rot_q", queries));
        cache.back().values[0] = 100.0F;
        cache.push_back(hook(layer, "rot_k", keys));
        cache.back().values[0] = 200.0F;
    }
    const TensorFile rotated = read(write(scratch / "rotated.npz", cache));
    CHECK(rotated.layers[0].q(0, 0, 0, 0) == 100.0F);
    CHECK(rotated.layers[0].k(0, 0, 0, 0) == 200.0F);
    CHECK(rotated.layers[0].v(0, 0, 0, 0) == 0.0F);
    // an order that is given counts
    CHECK(read(scratch / "cache.npz",
               given({{"layout", "heads-first"}, {"kv-heads", "5"}, {"heads", "5"}}))
              .size.heads == 5);
    // weights alone are no call
    const TensorFile pattern = read(write(scratch / "weights.npz", {hook(0, "pattern", pairs)}));
    CHECK(pattern.layers[0].q.empty());
    REQUIRE(pattern.given.size() == 1);
    CHECK(pattern.given[0].stage == Stage::weights);
}

TEST_CASE_FIXTURE(OnDisk, "a packed array is taken apart where its shape leaves no doubt") {
    const auto call = [&](const Extents& extents) {
        return write(scratch / "f.npz", {counting("qkv", extents)});
    };
    const auto first = [](const Tensor& tensor) { return tensor.values()[0]; };
    // [T, 3, H, d]: at t, part, h, d stands ((t 3 + part) 2 + h) 4 + d
    const TensorFile file = read(call({5, 3, 2, 4}));
    CHECK(file.size.heads == 2);
    CHECK(file.size.tq == 5);
    CHECK(file.size.d_k == 4);
    CHECK(file.layers[0].q(0, 1, 3, 2) == 3 * 24 + 0 + 4 + 2);
    CHECK(file.layers[0].k(0, 1, 3, 2) == 3 * 24 + 8 + 4 + 2);
    CHECK(file.layers[0].v(0, 1, 3, 2) == 3 * 24 + 16 + 4 + 2);
    CHECK(
        notes_contain(file, "f.npz: qkv [5, 3, 2, 4] is read as [T, 3, H, d]: 2 heads of width 4"));
    // [B, T, 3, H, d]
    const TensorFile batch = read(call({2, 5, 3, 2, 4}));
    CHECK(batch.size.batch == 2);
    CHECK(batch.layers[0].v(1, 1, 3, 2) == 5 * 24 + 3 * 24 + 16 + 4 + 2);
    // [T, H, 3, d]
    const TensorFile in_turn = read(call({5, 2, 3, 4}));
    CHECK(in_turn.layers[0].k(0, 1, 3, 2) == 3 * 24 + 12 + 4 + 2);
    CHECK(notes_contain(in_turn, "is read as [T, H, 3, d]"));
    // [T, 3 d] of one head
    CHECK(first(read(call({5, 12})).layers[0].k) == 4);
    CHECK(read(call({5, 12})).size.d_k == 4);
    // three tokens are no doubt
    CHECK(read(call({3, 3, 2, 4})).size.tq == 3);
}

TEST_CASE_FIXTURE(OnDisk, "a packed array in doubt is told both ways and the options that choose") {
    const auto call = [&](const Extents& extents) {
        return write(scratch / "f.npz", {counting("qkv", extents)});
    };
    CHECK(contains(
        refused(call({5, 3, 3, 4})),
        "f.npz: qkv is [5, 3, 3, 4], which can be [T, 3, H, d] or [T, H, 3, d]. Pass --layout "
        "tokens-first ([T, 3, H, d]) or --layout per-head ([T, H, 3, d]). Or save Q, K and V as "
        "three arrays"));
    CHECK(read(call({5, 3, 3, 4}), given({{"layout", "tokens-first"}})).layers[0].k(0, 0, 0, 0) ==
          12);
    CHECK(read(call({5, 3, 3, 4}), given({{"layout", "per-head"}})).layers[0].k(0, 0, 0, 0) == 4);
    const auto two = given({{"heads", "2"}});
    CHECK(contains(
        refused(call({5, 12}), two),
        "Pass --layout joined ([T, 3·H·d], first q, then k, then v) or --layout per-head ([T, "
        "H·3·d], q, k and v of each head in turn)"));
    const TensorFile joined = read(call({5, 12}), given({{"heads", "2"}, {"layout", "joined"}}));
    CHECK(joined.layers[0].q(0, 1, 3, 1) == 3 * 12 + 0 + 2 + 1);
    CHECK(joined.layers[0].v(0, 1, 3, 1) == 3 * 12 + 8 + 2 + 1);
    CHECK(joined.size.d_k == 2);
    const auto in_turn = given({{"heads", "2"}, {"layout", "per-head"}});
    const TensorFile neox = read(call({5, 12}), in_turn);  // as GPT-NeoX
    CHECK(neox.layers[0].q(0, 1, 3, 1) == 3 * 12 + 6 + 1);
    CHECK(neox.layers[0].k(0, 1, 3, 1) == 3 * 12 + 6 + 2 + 1);
    CHECK(neox.layers[0].v(0, 1, 3, 1) == 3 * 12 + 6 + 4 + 1);
    CHECK(read(call({2, 5, 12}), in_turn).layers[0].v(1, 0, 4, 1) == 60 + 48 + 4 + 1);
    CHECK(read(call({2, 5, 2, 3, 2}), in_turn).layers[0].k(1, 1, 4, 0) == 60 + 48 + 6 + 2);
    for (const Extents& extents : {Extents{5, 3, 2, 4}, {5, 10}, {3, 5, 2}})
        CHECK(contains(
            refused(call(extents), in_turn),
            "expected [T, H, 3, d], [B, T, H, 3, d], or [T, H·3·d] with heads under layout "
            "per-head"));
    write(scratch / "q.npz", {counting("Q", {2, 1}), counting("K", {2, 1}), counting("V", {2, 1})});
    CHECK(contains(refused(scratch / "q.npz", in_turn),
                   "layout is per-head, but Q is not packed with K and V; expected heads-first"));
    const TensorFile stacked = read(call({3, 2, 5, 4}), given({{"layout", "heads-first"}}));
    CHECK(stacked.layers[0].k(0, 1, 3, 2) == 40 + 20 + 12 + 2);
    CHECK(contains(refused(call({5, 13})), "f.npz: qkv is [5, 13]; expected [T, 3, H, d]"));
    CHECK(contains(refused(call({5, 3, 2, 4}), given({{"heads", "4"}})), "qkv is [5, 3, 2, 4]; "));
    CHECK(contains(refused(call({5, 3, 2, 4}), given({{"kv-heads", "2"}, {"heads", "4"}})),
                   "kv-heads is 2 and heads 4, but a packed array has as many keys"));
    write(scratch / "l.npz", {counting("l1.qkv", {5, 3, 2, 4}), counting("l4.QKV", {5, 3, 2, 4})});
    CHECK(read(scratch / "l.npz").numbers == std::vector<Index>{1, 4});
    write(scratch / "both.npz", {counting("Q", {2, 1}), counting("K", {2, 1}),
                                 counting("V", {2, 1}), counting("qkv", {2, 3})});
    CHECK(notes_contain(read(scratch / "both.npz"), "array 'qkv' is not used"));
}
