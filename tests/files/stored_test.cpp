// Weights and scores beside the queries and keys that make them: shown as they are, and compared.

#include <cmath>
#include <fstream>

#include "app/common/actions.h"
#include "app/common/document/heads.h"
#include "app/files/tensors.h"
#include "app/window/session.h"
#include "app/workspaces/step/view.h"
#include "tests/files/opened.h"

using namespace attn;
using namespace attn::files;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

/// q·k = 0 of every pair: rows are even, ½ and ½, causal 1 and 0.
const std::vector<float> kZeros(2, 0.0F), kValues{3.0F, 5.0F};
using Entries = std::vector<NpzEntry>;

Entries call_of(const char* q, const char* k, const char* v) {
    return {{q, {2, 1}, kZeros}, {k, {2, 1}, kZeros}, {v, {2, 1}, kValues}};
}

std::string write(const Scratch& scratch, Entries entries, const Entries& more) {
    entries.insert(entries.end(), more.begin(), more.end());
    REQUIRE(write_npz(scratch / "f.npz", entries));
    return scratch.at("f.npz");
}

TensorFile shown(const std::string& path, const OptionValues& given = {}) {
    return must(read_tensors(path, given, Values::optional));
}

bool has_note(const TensorFile& file, const std::string& note) {
    INFO("file.notes ", text_of(file.notes), ", note ", note);
    return std::ranges::count(file.notes, note, &Note::text) == 1;
}

HeadsResult heads_of(const view::AppState& state) {
    return compute_heads(view::heads_input(state.document()), {backends()});
}

}  // namespace

TEST_CASE("stored weights that Q and K give are computed, and that is said") {
    const Scratch scratch;
    const std::vector<float> even(4, 0.5F);
    const std::string path = write(scratch, call_of("Q", "K", "V"), {{"weights", {2, 2}, even}});
    const TensorFile file = shown(path);
    CHECK(file.given.empty());
    CHECK_FALSE(file.spec.mask.causal);
    CHECK(text_of(file.notes) == path + ": weights match the results of Q and K, bit for bit");
    CHECK(file.roles.at("weights") == "weights");
}

TEST_CASE("stored weights that are others are shown as they are, with the difference") {
    const Scratch scratch;
    const std::vector<float> odd{0.5F, 0.5F, 0.25F, 0.75F};
    const std::string path = write(scratch, call_of("q", "k", "v"), {{"weights", {2, 2}, odd}});
    const TensorFile file = shown(path);
    REQUIRE(file.given.size() == 1);
    CHECK(has_note(file, path + ": weights are shown as they are stored; the results of Q and K "
                                "differ by at most 0.25 (head 0, query 1, key 0)"));
    // trace computes, and says the same
    const TensorFile traced = must(read_tensors(path));
    CHECK(traced.given.empty());
    CHECK(has_note(traced, path + ": weights are computed again; the stored ones differ by at "
                                  "most 0.25 (head 0, query 1, key 0)"));
    view::AppState state = opened_state(path);
    const auto result = heads_of(state);
    CHECK(result.weights({0, 0})(1, 0) == 0.25F);
    CHECK(result.layers[0].value_norms[0][1] == 5.0);
    CHECK(result.layers[0].q.shape() == Shape{1, 1, 2, 1});
    CHECK(result.layers[0].gradient_fault == "the file stores the weights");
    CHECK(view::stages_lack(state.document()).empty());  // the others see the call of Q and K
    const auto step_text = [&](Stage stage) {
        view::apply(state, view::GoToStage{stage});
        return view::build_step_view(state).text;
    };
    constexpr auto kStored = "the weights in the file differ; Heads shows them.";
    CHECK(contains(step_text(Stage::context), kStored));
    CHECK_FALSE(contains(step_text(Stage::masked), kStored));
    CHECK(contains(step_text(Stage::weights), kStored));
    // of another call all is computed; undo brings them back
    view::apply(state, view::SetScaling{false});
    CHECK(state.document().given.empty());
    CHECK(heads_of(state).weights({0, 0})(1, 0) == 0.5F);
    CHECK_FALSE(contains(step_text(Stage::weights), kStored));
    view::apply(state, view::Undo{});
    CHECK(heads_of(state).weights({0, 0})(1, 0) == 0.25F);
    std::ofstream(scratch / "s.json") << view::session_to_json(state, scratch / "");
    CHECK(must(open(scratch / "s.json")).document->given.size() == 1);
    view::apply(state, view::SetScaling{false});
    std::ofstream(scratch / "s.json") << view::session_to_json(state, scratch / "");
    CHECK(must(open(scratch / "s.json")).document->given.empty());
}

TEST_CASE("a cache of TransformerLens is causal where its pattern is") {
    const Scratch scratch;
    const std::vector<float> lower{1.0F, 0.0F, 0.5F, 0.5F}, scores{0.0F, -kInf, 0.0F, 0.0F};
    const auto hook = [](const char* name) { return std::string("blocks.3.attn.hook_") + name; };
    const Entries cache{{hook("q"), {1, 2, 1, 1}, kZeros},
                        {hook("k"), {1, 2, 1, 1}, kZeros},
                        {hook("v"), {1, 2, 1, 1}, kValues}};
    const std::string path = write(scratch, cache, {{hook("pattern"), {1, 1, 2, 2}, lower}});
    const TensorFile file = shown(path);
    CHECK(file.given.empty());
    CHECK(file.spec.mask.causal == CausalAlign::top_left);
    CHECK(has_note(file,
                   path + ": weights are 0 above the diagonal in every row: the call is causal"));
    CHECK(has_note(file, path + ": weights match the results of Q and K, bit for bit"));
    write(scratch, cache, {{hook("attn_scores"), {1, 1, 2, 2}, scores}});
    CHECK(has_note(shown(path),
                   path + ": masked are −inf above the diagonal in every row: the call is causal"));
    const TensorFile plain = shown(write(scratch, cache, {}));
    CHECK_FALSE(plain.spec.mask.causal);
}

TEST_CASE("rows of weights alone that are 0 above the diagonal are causal in all of them") {
    const Scratch scratch;
    const auto causal = [&](std::vector<Index> extents, const std::vector<float>& values) {
        const TensorFile file =
            shown(write(scratch, {}, {{"weights", std::move(extents), values}}));
        return file.spec.mask.causal;
    };
    CHECK(causal({2, 2}, {1.0F, 0.0F, 0.5F, 0.5F}) == CausalAlign::top_left);
    CHECK_FALSE(causal({2, 2}, {0.5F, 0.5F, 0.5F, 0.5F}));
    CHECK_FALSE(causal({2, 2, 2}, {1, 0, 0.5F, 0.5F, 0.5F, 0.5F, 1, 0}));  // one head of two
    CHECK_FALSE(causal({2, 2}, {1.0F, NAN, 0.5F, 0.5F}));
    CHECK_FALSE(causal({1, 1}, {1.0F}));  // no pair says anything
    CHECK_FALSE(causal({1, 3}, {0.2F, 0.3F, 0.5F}));
    CHECK(causal({2, 3}, {0.5F, 0.5F, 0.0F, 0.2F, 0.3F, 0.5F}) == CausalAlign::bottom_right);
    CHECK(causal({2, 3}, {1.0F, 0.0F, 0.0F, 0.5F, 0.5F, 0.0F}) == CausalAlign::top_left);
    // the evenness of ½ and ½ over two allowed keys is 1; over four it would be ½
    const std::vector<float> lower{1, 0, 0, 0, 0.5F, 0.5F, 0, 0, 0.5F, 0.5F, 0, 0, 1, 0, 0, 0};
    const auto result = heads_of(opened_state(write(scratch, {}, {{"A", {4, 4}, lower}})));
    // rows 1 to 3 have 2, 3, 4 keys and entropies ln 2, ln 2, 0: mean of 1, ln 2 / ln 3 and 0
    CHECK(*result.heads[0].measures[HeadMeasure::evenness] ==
          doctest::Approx((1.0 + std::log(2.0) / std::log(3.0)) / 3.0));
    CHECK(std::ranges::count(result.allowed({0, 0}), 1) == 10);
}

TEST_CASE("arrays without names of four axes are layers, and one of them too") {
    const Scratch scratch;
    std::vector<float> first(8, 0.5F), second(8, 0.5F), both;
    second[0] = 0.25F, second[1] = 0.75F;
    both = first;
    both.insert(both.end(), second.begin(), second.end());
    const TensorFile two = shown(
        write(scratch, {}, {{"arr_0", {1, 2, 2, 2}, first}, {"arr_1", {1, 2, 2, 2}, second}}));
    CHECK(two.numbers == std::vector<Index>{0, 1});
    REQUIRE(two.given.size() == 2);
    CHECK(two.given[1].values(0, 0, 0, 1) == 0.75F);
    for (const char* name : {"arr_0", "attentions", "of_my_model"})
        for (const std::vector<Index>& extents :
             {std::vector<Index>{2, 2, 2, 2}, {2, 1, 2, 2, 2}}) {
            CAPTURE(name);
            const std::string path = write(scratch, {}, {{name, extents, both}});
            const TensorFile one = shown(path);
            REQUIRE(one.given.size() == 2);
            CHECK(one.size.batch == 1);
            CHECK(one.size.heads == 2);
            CHECK(one.given[1].values(0, 0, 0, 1) == 0.75F);
            if (extents.size() == 4)
                CHECK(has_note(
                    one, std::string(name) + " [2, 2, 2, 2] is read as [L, H, Tq, Tk], 2 layers"));
            CHECK(read_layer(path, {}, 1).given.front().values(0, 0, 0, 1) == 0.75F);
        }
    CHECK(shown(write(scratch, {}, {{"weights", {2, 2, 2, 2}, both}})).size.batch == 2);
    for (const char* name : {"arr_0", "of_my_model"})  // says nothing
        CHECK_FALSE(read_tensors(write(scratch, {}, {{name, {4, 4}, both}})));
    for (const char* name : {"Q", "mask"})  // says what it is
        CHECK_FALSE(read_tensors(write(scratch, {}, {{name, {2, 2, 2, 2}, both}})));
}
