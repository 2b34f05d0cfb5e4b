// How a person says what the arrays of a file are: roles of layers, groups, outputs of projections, packed documents; and the
// sentences that propose it, on the command line and in the window.

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/heads.h"
#include "app/common/document/reading.h"
#include "app/common/state.h"
#include "app/files/call.h"
#include "core/engine.h"
#include "core/masks.h"
#include "core/spec_fields.h"
#include "tests/files/opened.h"
#include "tests/io/bytes.h"

using namespace attn;
using namespace attn::files;
namespace fs = std::filesystem;

namespace {

using Extents = std::vector<Index>;
using Floats = std::vector<float>;

/// 0.1, 0.2, … so many of them.
Floats counted(std::size_t count) {
    Floats values(count);
    for (std::size_t n = 0; n < count; ++n) values[n] = 0.1F * static_cast<float>(n + 1);
    return values;
}
/// Weights of one head over t × t: all on the first key.
Floats first_key(Index t) {
    Floats values(static_cast<std::size_t>(t * t));
    for (Index i = 0; i < t; ++i) values[i * t] = 1.0F;
    return values;
}

void write(const fs::path& path, const std::vector<NpzEntry>& entries) {
    REQUIRE(write_npz(path, entries));
}

OptionValues given(std::initializer_list<std::pair<const char*, const char*>> options) {
    OptionValues values;
    for (const auto& [name, text] : options) values[name] = {std::string("--") + name, text};
    return values;
}

bool notes_contain(const std::vector<Note>& notes, const std::string& text) {
    return std::ranges::count(notes, text, &Note::text) == 1;
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "a role can be that of a layer") {
    const Floats one = first_key(2), other{0.5F, 0.5F, 0.0F, 1.0F};
    write(scratch / "a.npz", {{"b", {2, 2}, one}, {"a", {2, 2}, other}});
    const auto file =
        must(read_tensors(scratch.at("a.npz"), given({{"role", "b=l0.weights,a=l3.weights"}})));
    CHECK(file.numbers == Extents{0, 3});
    CHECK(file.given[0].values(0, 0, 1, 0) == 1.0F);
    CHECK(file.given[1].values(0, 0, 0, 1) == 0.5F);
    CHECK(file.roles.at("a") == "weights");
    const Floats q = counted(4);
    write(scratch / "q.npz", {{"a", {2, 2}, q}, {"b", {2, 2}, q}, {"c", {2, 2}, q}});
    const auto call =
        must(read_tensors(scratch.at("q.npz"), given({{"role", "a=l1.Q,b=l1.K,c=l1.V"}})));
    CHECK(call.numbers == Extents{1});
    CHECK(call.layers[0].v(0, 0, 1, 1) == 0.4F);
    CHECK(sentence_in(read_tensors(scratch.at("a.npz"), given({{"role", "a=l0.mask"}}))) ==
          "--role is 'a=l0.mask'; expected NAME=ROLE,... with a role of Q, K, V, qkv, weights, "
          "scores, scaled, masked, X, X_kv, W_Q, W_K, W_V, W_O, W_Q.T, W_K.T, W_V.T, W_O.T, b_Q, "
          "b_K, b_V, b_O, dO, dY, mask, bias, tokens, cu_seqlens or -, of layer N l<N>. before it");
}

TEST_CASE_FIXTURE(OnDisk,
                  "encoder, decoder and cross attention are layers in turn, and said to be") {
    const Floats w = first_key(3);
    write(scratch / "t5.npz", {{"cross_attentions.0", {1, 3, 3}, w},
                               {"encoder_attentions.1", {1, 3, 3}, w},
                               {"encoder_attentions.0", {1, 3, 3}, w},
                               {"decoder_attentions.0", {1, 3, 3}, w}});
    const auto file = must(read_tensors(scratch.at("t5.npz")));
    CHECK(file.numbers == Extents{0, 1, 2, 3});
    CHECK(notes_contain(
        file.notes,
        "layer 0 is encoder 0, layer 1 is encoder 1, layer 2 is decoder 0, layer 3 is cross 0"));
    CHECK(must(read_tensors(scratch.at("t5.npz"), given({{"group", "encoder"}}))).numbers ==
          Extents{0, 1});
    CHECK(sentence_in(read_tensors(scratch.at("t5.npz"), given({{"group", "both"}}))) ==
          "--group is 'both'; expected encoder, decoder or cross");
    const Floats small = first_key(2);
    write(scratch / "u.npz",
          {{"encoder_attentions_0", {1, 3, 3}, w}, {"decoder_attentions_0", {1, 2, 2}, small}});
    const std::string path = scratch.at("u.npz");
    CHECK(sentence_in(read_tensors(path)) ==
          path +
              ": encoder 0 is [1, 3, 3] and decoder 0 [1, 2, 2]: attention blocks of different "
              "sizes open one at a time. Pass --group encoder, --group decoder or --group cross");
    CHECK(must(read_tensors(path, given({{"group", "decoder"}}))).size.tk == 2);
    const auto opened = must(open(path));
    CHECK(opened.document->no_attention ==
          "encoder 0 is [1, 3, 3] and decoder 0 [1, 2, 2]: attention blocks of different sizes "
          "open one at a time. In Arrays choose group encoder, group decoder or group cross");
    REQUIRE(opened.document->question);
    CHECK(opened.document->question->text == "Which attention do you want to see?");
    CHECK(opened.document->question->answers[2].value == "cross");
    CHECK(sentence_in(read_tensors(path, given({{"group", "cross"}}))) ==
          "group is cross, but there is no array cross_attentions.0");
}

TEST_CASE_FIXTURE(OnDisk, "outputs of projections, as nnsight names them, are heads side by side") {
    const Floats q = counted(8), k = counted(4);
    const std::string before = "model.layers.2.self_attn.";
    write(scratch / "n.npz", {{before + "q_proj.output", {1, 2, 4}, q},
                              {before + "k_proj.output", {1, 2, 2}, k},
                              {before + "v_proj.output", {1, 2, 2}, k}});
    const std::string path = scratch.at("n.npz");
    CHECK(sentence_in(read_tensors(path)) ==
          path +
              ": layer 2: model.layers.2.self_attn.q_proj.output is [1, 2, 4], with its heads side "
              "by side, and the file does not give the number of heads. Pass --heads H");
    const auto file = must(read_tensors(path, given({{"heads", "2"}})));
    CHECK(file.numbers == Extents{2});
    CHECK(file.size.heads == 2);
    CHECK(file.size.kv_heads == 1);
    CHECK(file.size.d_k == 2);
    CHECK(file.layers[0].q(0, 1, 0, 0) == q[2]);  // token 0, head 1
    CHECK(file.layers[0].q(0, 0, 1, 1) == q[5]);
    CHECK(notes_contain(
        file.notes, path + ": k_proj.output, q_proj.output, v_proj.output are read as K, Q, V, as "
                           "the outputs of projections, heads side by side and before RoPE; the "
                           "mask, scale and positions of that call are not in the file"));
}

TEST_CASE_FIXTURE(OnDisk, "c_attn.output is all of Q, then K, then V") {
    const Floats qkv = counted(24);
    write(scratch / "n.npz", {{"transformer.h.0.attn.c_attn.output", {1, 2, 12}, qkv}});
    const std::string path = scratch.at("n.npz");
    CHECK(sentence_in(read_tensors(path)).ends_with("Pass --heads H"));
    const auto file = must(read_tensors(path, given({{"heads", "2"}})));
    CHECK(file.layers[0].q(0, 1, 0, 0) == qkv[2]);
    CHECK(file.layers[0].k(0, 0, 1, 1) == qkv[12 + 5]);
    CHECK(file.layers[0].v(0, 1, 1, 0) == qkv[12 + 10]);
}

TEST_CASE_FIXTURE(OnDisk, "cu_seqlens parts packed documents") {
    const Floats q = counted(5);
    write(scratch / "Q.npz", {{"Q", {5, 1}, q}, {"K", {5, 1}, q}, {"V", {5, 1}, q}});
    const auto bounds = [&](std::initializer_list<std::int32_t> numbers) {
        write_bytes(scratch / "cu_seqlens.npy",
                    npy("{'descr': '<i4', 'fortran_order': False, 'shape': (" +
                            std::to_string(numbers.size()) + ",), }",
                        little(numbers)));
        return read_tensors(scratch.path().string());
    };
    const auto file = must(bounds({0, 2, 5}));
    const std::string path = scratch.path().string();
    CHECK(notes_contain(
        file.notes,
        path + ": cu_seqlens is read as 2 documents: a query sees the keys of its own"));
    const auto trace = must(attend(file.layers[0], file.spec));
    for (Index i = 0; i < 5; ++i) {
        double sum = 0.0;  // softmax over the keys of the same document, d_k = 1
        const Index first = i < 2 ? 0 : 2, past = i < 2 ? 2 : 5;
        const auto score = [&](Index j) {
            return std::exp(static_cast<double>(q[i]) * static_cast<double>(q[j]));
        };
        for (Index j = first; j < past; ++j) sum += score(j);
        for (Index j = 0; j < 5; ++j) {
            const double expected = j >= first && j < past ? score(j) / sum : 0.0;
            CHECK(trace[Stage::weights](0, 0, i, j) == doctest::Approx(expected).epsilon(1e-6));
        }
    }
    const auto refused = [&](const std::string& shown) {
        return path + ": cu_seqlens is " + shown +
               "; expected whole numbers that grow from 0 to 5, the number of tokens";
    };
    for (const double middle : {2.5, 1e300, -1.0, 5.0, 0.0, std::nan("")}) {
        write_bytes(scratch / "cu_seqlens.npy",
                    npy("{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
                        little({0.0, middle, 5.0})));
        CHECK(sentence_in(read_tensors(path)) ==
              refused("float64 [3] [0, " + fmt::format("{}", middle) + ", 5]"));
    }
    CHECK(sentence_in(bounds({0, 3})) == refused("int32 [2] [0, 3]"));
    CHECK(sentence_in(bounds({0, 3, 3, 5})) == refused("int32 [4] [0, 3, 3, 5]"));
    CHECK(sentence_in(bounds({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) ==
          refused("int32 [10] [0, 1, 2, 3, 4, 5, 6, 7, …]"));
}

TEST_CASE_FIXTURE(OnDisk, "a layer of options of its own has the mask and the heads of all") {
    const Floats zeros(12, 0.0F);
    const auto layers = [&](std::vector<NpzEntry> more) {
        for (const char* name : {"l0.Q", "l0.K", "l0.V", "l1.Q", "l1.K", "l1.V"})
            more.push_back({name, {6, 2}, zeros});
        more.push_back({"l1.options", {}, {}, {R"({"temperature":2})"}});
        write(scratch / "f.npz", more);
        return must(read_tensors(scratch.at("f.npz")));
    };
    const auto pairs = [](const TensorFile& file, std::size_t layer) {
        const Mask mask = materialise(file.spec_of(layer).mask, file.size);
        return std::ranges::count(mask.values(), 1);
    };
    const std::vector<double> bounds{0, 3, 6};
    const TensorFile parted = layers({{"cu_seqlens", {3}, {}, {}, {}, bounds}});
    Floats lower;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) lower.push_back(j <= i ? 1.0F / static_cast<float>(i + 1) : 0);
    const TensorFile causal =
        layers({{"l0.weights", {6, 6}, lower}, {"l1.weights", {6, 6}, lower}});
    for (const std::size_t layer : {0U, 1U}) {
        CHECK(pairs(parted, layer) == 18);
        CHECK(pairs(causal, layer) == 21);
        CHECK(parted.spec_of(layer).temperature == (layer == 0 ? 1.0 : 2.0));
    }
    CHECK(notes_contain(
        causal.notes, scratch.at("f.npz") + ": weights match the results of Q and K, bit for bit"));
    const auto call = must(read_call(scratch.at("f.npz"), {}, 1));
    CHECK(call.spec.mask.causal == CausalAlign::top_left);
}

TEST_CASE_FIXTURE(OnDisk, "stored weights are compared under the documents of the file") {
    const Floats zeros(6, 0.0F);
    Floats weights;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) weights.push_back(i / 3 == j / 3 ? 1.0F / 3.0F : 0.0F);
    const std::vector<double> bounds{0, 3, 6};
    write(scratch / "f.npz", {{"Q", {6, 1}, zeros},
                              {"K", {6, 1}, zeros},
                              {"V", {6, 1}, zeros},
                              {"weights", {6, 6}, weights},
                              {"cu_seqlens", {3}, {}, {}, {}, bounds}});
    const auto file = must(read_tensors(scratch.at("f.npz")));
    CHECK(notes_contain(
        file.notes, scratch.at("f.npz") + ": weights match the results of Q and K, bit for bit"));
}

TEST_CASE_FIXTURE(OnDisk, "a sentence about a role names the array that has it") {
    const Floats x = counted(8), wide = counted(16), narrow = counted(12);
    write(scratch / "x.npz", {{"X", {2, 4}, x},
                              {"q.weight", {4, 4}, wide},
                              {"k.weight", {4, 3}, narrow},
                              {"v.weight", {4, 4}, wide}});
    CHECK(sentence_in(read_tensors(scratch.at("x.npz"),
                                   given({{"role", "q.weight=W_Q,k.weight=W_K,v.weight=W_V"}}))) ==
          scratch.at("x.npz") +
              ": W_K (k.weight) gives keys of width 3 but W_Q (q.weight) gives queries of width 4: "
              "q·k needs the same d_k (W_Q [1, 1, 4, 4], 1 head; W_K [1, 1, 4, 3], 1 head)");
}

TEST_CASE_FIXTURE(OnDisk, "in the window no sentence proposes an option of the command line") {
    const Floats s = counted(9), q = counted(24), k = counted(16);
    write(scratch / "s.npz", {{"scores", {3, 3}, s}});
    write(scratch / "t.npz", {{"Q", {3, 4, 2}, q}, {"K", {2, 4, 2}, k}, {"V", {2, 4, 2}, k}});
    write(scratch / "l.npz", {{"logits", {3, 3}, s}});
    const auto text = [&](const std::string& name, OptionsBy by) {
        const auto opened =
            must(opener(backends(), view::workspaces(), by)({scratch.at(name), 0}, {}));
        return opened.document->no_attention;
    };
    CHECK(text("s.npz", OptionsBy::flags) ==
          "scores are scores q·k, and the file does not have their scale. Pass --scale none (they "
          "are already scaled, or need no scale), --scale X (multiplies the scores by X before the "
          "softmax) or "
          "--d-k N (N is the width of a query: times 1/√N)");
    CHECK(text("s.npz", OptionsBy::window_flags) ==
          "scores are scores q·k, and the file does not have their scale. Pass --d-k N (N is the "
          "width of a query: times 1/√N)");
    CHECK(text("s.npz", OptionsBy::controls) ==
          "scores are scores q·k, and the file does not have their scale. In Arrays choose scale "
          "none (they are already scaled, or need no scale), scale X (multiplies the scores by X "
          "before the softmax) or d-k N (N is the width of a query: times 1/√N)");
    CHECK(text("t.npz", OptionsBy::flags)
              .ends_with(". Pass --layout tokens-first if Q [3, 4, 2] is [T, H, d]"));
    CHECK(text("t.npz", OptionsBy::controls)
              .ends_with(". In Arrays choose layout tokens-first if Q [3, 4, 2] is [T, H, d]"));
    CHECK(text("l.npz", OptionsBy::controls) ==
          "logits [3, 3] is there, which trace computes from Q, K and V, and those are missing; it "
          "holds logits. In Arrays choose role NAME=weights (or masked, scaled, scores) if the "
          "file has only scores or weights. Save Q, K and V too, or X with W_Q, W_K and W_V");
    Error image = bad_input("'a text' is a text", {{"image", "FILE.png"}}).value();
    CHECK(image.text() == "'a text' is a text. Pass --image FILE.png");
    image.style = OptionStyle::controls;
    CHECK(image.text() == "'a text' is a text. Open an image (.png)");
}

TEST_CASE("what reads a file is an option of the command line, by the same name") {
    for (const view::ReadingOption& option : view::reading_options()) {
        CAPTURE(option.key);
        CHECK(std::ranges::count(attention_options(), option.key, &AttentionOption::name) == 1);
    }
}

TEST_CASE("each field of the spec is one option, and its text reads back as the same value") {
    OptionValues values = options_from_json(
        R"({"score": "cosine", "scale": 0.07, "rope": "interleaved",
            "rope_scaling": "llama3,8,1,4,8192", "training": false, "causal": "bottom-right",
            "padding": [4, 3], "empty_rows": "nan"})",
        "f.npz");
    for (const AttentionOption& option : attention_options()) {  // the others are numbers or flags
        const bool whole = option.range.kind == NumberRange::Kind::whole;
        const std::string text = whole          ? fmt::format("{}", option.range.low + 2)
                                 : option.range ? "0.5"
                                                : std::string(option.alone);
        if (field_of(option) != nullptr)
            values.try_emplace(std::string(option.name), Value{"f", text});
    }
    const AttentionSpec spec = call_options(values).spec, usual;
    const AttentionSpec again =
        call_options(options_from_json(options_to_json(spec), "f.npz")).spec;
    CHECK(options_to_json(usual) == "{}");
    for (const SpecField& field : spec_fields()) {
        CAPTURE(field.key);
        CHECK(std::ranges::count(attention_options(), &field, [](const AttentionOption& option) {
                  return field_of(option);
              }) == 1);
        CHECK(field.text(usual).empty());
        CHECK(!field.text(spec).empty());
        CHECK(field.text(again) == field.text(spec));
        AttentionSpec dropped = usual;  // settings of dropout count where weights are dropped
        dropped.dropout = 0.25;
        CHECK(!same(field, spec, dropped));
        CHECK(same(field, spec, again));
    }
}

TEST_CASE("each layout is found by its key and its letters, and reads an array") {
    CHECK(view::find_head_axes("heads-first") == HeadAxes::heads_first);
    CHECK(view::find_head_axes("tokens-first") == HeadAxes::tokens_first);
    CHECK(view::find_head_axes("joined") == HeadAxes::joined);
    CHECK(view::find_head_axes("per-head") == HeadAxes::per_head);
    for (const view::HeadAxesInfo& row : view::head_axes_table()) {
        CAPTURE(row.key);
        for (const std::string_view text : {row.key, row.letters}) {
            const auto found = view::find_head_axes(text);
            REQUIRE(found);
            CHECK(&view::info(*found) == &row);
        }
        CHECK(row.forms.empty() == row.expected.empty());
        CHECK(row.forms.size() + row.packed.size() > 0);
    }
}

TEST_CASE_FIXTURE(OnDisk,
                  "scores alone take a mask; weights alone do not, and neither is scaled again") {
    const Floats s = counted(9), w(9, 1.0F / 3.0F);
    write(scratch / "s.npz", {{"scaled", {3, 3}, s}});
    write(scratch / "w.npz", {{"weights", {3, 3}, w}});
    view::AppState scores = opened_state(scratch / "s.npz");
    view::apply(scores, view::SetCausal{true});
    CHECK(scores.document().spec.mask.causal == CausalAlign::top_left);
    const auto result = compute_heads(view::heads_input(scores.document()), {backends()});
    CHECK(result.weights({0, 0})(0, 0) == 1.0F);
    CHECK(result.weights({0, 0})(1, 2) == 0.0F);
    view::apply(scores, view::SetScaling{false});
    CHECK(scores.message.text == "s.npz gives scores: they were scaled before.");
    view::AppState weights = opened_state(scratch / "w.npz");
    view::apply(weights, view::SetCausal{true});
    CHECK(weights.message.text == "w.npz has fixed weights, which no mask changes.");
    CHECK_FALSE(weights.document().spec.mask.causal);
    view::apply(weights, view::SetTemperature{2.0});
    CHECK(weights.message.text == "w.npz gives weights: they were scaled before.");
}
