// What a file of tensors says: tokens, layers, and what it holds that nobody uses.
#include "attn_tree.h"

#include <fmt/format.h>

#include "app/files/call.h"
#include "tests/files/opened.h"

using namespace attn;
using namespace attn::files;

namespace {

const std::vector<std::string> kDescriptions{"the", "cät", "🐈"};

std::string golden(const std::string& name) { return std::string(ATTN_TEST_DATA "/npz/") + name; }

TensorFile opened(const std::string& name, const OptionValues& given = {}) {
    return must(read_tensors(golden(name), given));
}

std::string refused(const std::string& name) { return sentence_in(read_tensors(golden(name))); }

float first(const Tensor& tensor) { return tensor.values()[0]; }

}  // namespace

TEST_CASE("tokens are the same from unicode, from bytes and from JSON") {
    CHECK(opened("tokens.npz").tokens == kDescriptions);
    CHECK(opened("tokens_bytes.npz").tokens == kDescriptions);
    CHECK(opened("tokens_json.npz").tokens == kDescriptions);
    CHECK(opened("tokens.npz").tokens_kv.empty());
    CHECK(opened("tokens.npz").notes.empty());
    CHECK(opened("qkv.npz").tokens.empty());
}

TEST_CASE("in cross-attention the keys have tokens of their own") {
    const TensorFile file = opened("tokens_cross.npz");
    CHECK(file.tokens == std::vector<std::string>{"a", "b"});
    CHECK(file.tokens_kv == kDescriptions);
    CHECK(file.size.tq == 2);
    CHECK(file.size.tk == 3);
}

TEST_CASE("tokens that do not fit the call are refused with both counts") {
    CHECK(contains(refused("tokens_short.npz"),
                   "tokens_short.npz: tokens has 2 tokens, but there are 3 queries (Tq)"));
    CHECK(
        contains(refused("tokens_numbers.npz"),
                 "tokens is int64 [3]; expected an array of strings, or a text scalar with a JSON "
                 "array of strings"));
}

TEST_CASE("plain names are one layer, number 0") {
    const TensorFile file =
        opened("two_heads.npz", {{"heads", {"--heads", "2"}}, {"kv-heads", {"--kv-heads", "1"}}});
    CHECK(file.numbers == std::vector<Index>{0});
    CHECK(file.layers.size() == 1);
    CHECK(file.layers[0].x.shape() == Shape{2, 1, 3, 4});
    CHECK(file.param_extents[0][index_of(Param::b_o)] == std::vector<Index>{1, 4});
    CHECK(file.param_extents[0][index_of(Param::b_k)].empty());
    CHECK(file.spec.mask.custom);
}

TEST_CASE("layers are read in the order of their numbers, each with its own arrays") {
    const TensorFile file = opened("layers.npz");
    const TensorFile plain = opened("tokens.npz");
    CHECK(file.numbers == std::vector<Index>{2, 10});
    REQUIRE(file.layers.size() == 2);
    REQUIRE(file.upstreams.size() == 2);
    CHECK(first(file.layers[0].q) == first(plain.layers[0].v));
    CHECK(first(file.layers[1].q) == first(plain.layers[0].q));
    CHECK(file.upstreams[0].stage == Stage::context);
    CHECK(file.upstreams[0].gradient.shape() == Shape{1, 2, 3, 4});
    CHECK(file.upstreams[1].gradient.empty());
    CHECK(file.tokens == kDescriptions);
    CHECK(file.spec.mask.causal == CausalAlign::top_left);
    CHECK(file.size.heads == 2);
}

TEST_CASE("layers of other sizes, or beside plain names, are refused with both") {
    CHECK(contains(
        refused("layers_differ.npz"),
        "layers_differ.npz: layer 1 has Tq 4 and not 3 as layer 0; expected the same sizes"));
    CHECK(contains(refused("layers_mixed.npz"), "layers_mixed.npz has both V and l0.V"));
}

TEST_CASE("a call is one layer: by its number, the first, or the only one") {
    const TensorFile file = opened("layers.npz");
    CHECK(first(read_call(golden("layers.npz"), {}, 10)->inputs.q) == first(file.layers[1].q));
    CHECK(first(read_call(golden("layers.npz"), {}, kFirstLayer)->inputs.q) ==
          first(file.layers[0].q));
    CHECK(read_call(golden("layers.npz"), {}, 2)->upstream.stage == Stage::context);
    CHECK(contains(sentence_in(read_call(golden("layers.npz"), {})),
                   "layers.npz has 2 layers, 2 or 10. Pass --layer N"));
    CHECK(contains(sentence_in(read_call(golden("layers.npz"), {}, 3)),
                   "layers.npz has no layer 3; expected 2 or 10"));
    CHECK(read_call(golden("tokens.npz"), {}, 0));
    CHECK(contains(sentence_in(read_call(golden("tokens.npz"), {}, 1)), "no layer 1; expected 0"));
    CHECK(read_call(golden("layers_differ.npz"), {}, 1)->size.tq == 4);  // the other is not read
}

TEST_CASE("names and forms of other programs are met with what to write instead") {
    const TensorFile other = opened("other_names.npz");
    REQUIRE(other.notes.size() == 1);
    for (const char* remedy :
         {"b_q: call it b_Q", "bias_K: call it b_K", "causal is an option, not an array"})
        CHECK(contains(other.notes[0].text, remedy));
    CHECK(contains(refused("bits.npz"), "Q is uint16, which is how bfloat16 is often saved"));
    const TensorFile decode = opened("decode.npz");
    CHECK(std::ranges::any_of(decode.notes, [](const Note& note) {
        return contains(note.text,
                        "causal=top-left puts the query at position 0, so that keys from 1 on are "
                        "never attended to; for decoding use causal=bottom-right");
    }));
}

TEST_CASE("an array that means nothing is named in a note") {
    const TensorFile file = opened("unused.npz");
    REQUIRE(file.notes.size() == 1);
    CHECK(contains(file.notes[0].text,
                   "unused.npz: arrays 'attention_mask', 'W_extra' are not used; attention_mask: "
                   "call it mask, "
                   "true = may attend; known arrays are Q, K, V, X, X_kv, W_Q"));
    CHECK(contains(file.notes[0].text, "mask, bias, tokens, tokens_kv, options"));
    const Scratch scratch;
    write_alike(scratch / "odd.npz",
                {"Q", "K", "V", "l1.mask", "l01.Q", "l.Q", "l-1.Q", "lx.Q", "q"}, {2, 1}, {1, 2});
    const auto odd = must(read_tensors(scratch.at("odd.npz")));
    REQUIRE(odd.notes.size() == 1);
    CHECK(contains(odd.notes[0].text,
                   "arrays 'l1.mask', 'l01.Q', 'l.Q', 'l-1.Q', 'lx.Q', 'q' are not"));
}

TEST_CASE_FIXTURE(OnDisk, "a note names eight arrays and counts the others") {
    std::vector<std::string> names{"Q", "K", "V"};
    for (int n = 0; n < 20; ++n) names.push_back(fmt::format("a{}", n));
    write_alike(scratch / "many.npz", names, {2, 1}, {1, 2});
    const auto many = must(read_tensors(scratch.at("many.npz")));
    CHECK(contains(many.notes.at(0).text, "'a7' and 12 more are not used"));
}

TEST_CASE_FIXTURE(OnDisk, "an error in a layer names it") {
    const std::vector<float> values{1, 2};
    std::vector<NpzEntry> entries;
    for (const char* name : {"l0.Q", "l0.K", "l0.V", "l3.Q", "l3.K"})
        entries.push_back({name, {2, 1}, values});
    REQUIRE(write_npz(scratch / "f.npz", entries));
    CHECK(contains(sentence_in(read_tensors(scratch.at("f.npz"))), "f.npz: layer 3: "));
    entries.back() = {"l3.K", {2}, values};
    REQUIRE(write_npz(scratch / "f.npz", entries));
    CHECK(contains(sentence_in(read_tensors(scratch.at("f.npz"))), "f.npz: l3.K is [2]; expected"));
}

TEST_CASE_FIXTURE(OnDisk, "a layer may have options of its own, in place of those of all") {
    const std::string path = scratch.at("layers.npz");
    const std::vector<float> rows(12, 1.0F);
    std::vector<NpzEntry> entries;
    for (const char* layer : {"l0.", "l1.", "l2."})
        for (const char* name : {"Q", "K", "V"})
            entries.push_back({std::string(layer) + name, {3, 4}, rows});
    entries.push_back({"options", {}, {}, {R"({"causal":"top-left","window_left":1})"}});
    entries.push_back({"l1.options", {}, {}, {R"({"causal":"top-left","rope":"half"})"}});
    REQUIRE(write_npz(path, entries));
    const TensorFile file = must(read_tensors(path));
    REQUIRE(file.layer_specs.size() == 3);
    CHECK(file.spec_of(0).mask.window_left == 1);
    CHECK_FALSE(file.spec_of(1).mask.window_left);
    CHECK(file.spec_of(1).rope);
    CHECK_FALSE(file.spec_of(2).rope);
    CHECK(file.spec_of(2).mask.window_left == 1);
    for (const Note& note : file.notes) CHECK_FALSE(contains(note.text, "not used"));
    CHECK(must(read_call(path, {}, 1)).spec.rope);
    CHECK_FALSE(must(read_call(path, {}, 2)).spec.rope);
    const OptionValues typed{{"window-left", {"--window-left", "0"}}};
    const TensorFile other = must(read_tensors(path, typed));
    for (std::size_t n = 0; n < 3; ++n) CHECK(other.spec_of(n).mask.window_left == 0);
    for (const char* own : {R"({"operation":"linear"})", R"({"sinks":true})", R"({"heads":2})",
                            R"({"layout":"joined"})", R"({"d_k":99})", R"({"group":"encoder"})",
                            R"({"tokens":"t.txt"})", R"({"chunk":2})"}) {
        CAPTURE(own);
        entries.back().texts = {own};
        REQUIRE(write_npz(path, entries));
        const std::string sentence = sentence_in(read_tensors(path));
        CHECK(contains(sentence, "layers.npz: layer 1: options: "));
        CHECK(contains(sentence, "; expected it in options, which apply to all layers"));
    }
    entries.back().texts = {R"({"temperature":2})"};
    entries[entries.size() - 2].texts = {R"({"operation":"linear"})"};
    REQUIRE(write_npz(path, entries));
    CHECK(contains(sentence_in(read_tensors(path)), "temperature"));
}

TEST_CASE_FIXTURE(OnDisk, "a layer's own options leave the heads that all have") {
    const std::vector<float> numbers(16, 0.5F);
    std::vector<NpzEntry> entries{{"options", {}, {}, {R"({"heads":2})"}},
                                  {"l1.options", {}, {}, {R"({"temperature":2})"}}};
    for (const char* layer : {"l0.", "l1."})
        for (const char* name : {"X", "W_Q", "W_K", "W_V"})
            entries.push_back({std::string(layer) + name, {4, 4}, numbers});
    REQUIRE(write_npz(scratch / "f.npz", entries));
    CHECK(must(read_call(scratch.at("f.npz"), {}, 1)).spec.heads == 2);
}
