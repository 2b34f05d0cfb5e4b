// The window over T5 and CLIP: one of their attentions at a time, each with its own tokens, options and layers.

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/model_text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "app/files/model.h"
#include "app/files/open.h"
#include "app/jobs/jobs.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "core/io/arrays/array_file.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

using Tokens = std::vector<std::string>;

view::AppState shown_group(const view::OpenFile& open) {
    view::AppState state = view::initial_state();
    view::play(state, {open, view::DocumentReady{}}, files::opener(backends()));
    REQUIRE(!view::group_of(state.document()).empty());
    return state;
}

void show_group(view::AppState& state, const char* group) {
    view::play(state, {view::ShowGroup{group}, view::DocumentReady{}}, files::opener(backends()));
    CAPTURE(state.message.words);
    REQUIRE(view::group_of(state.document()) == group);
}

/// Step's weights of a layer are PyTorch's.
void check_weights(view::AppState& state, Index layer, const std::string& folder,
                   const std::string& array) {
    CAPTURE(array);
    view::apply(state, view::ShowLayer{layer});
    const auto file = must(open_arrays(std::filesystem::path(folder) / "expected.safetensors"));
    const auto read = must(file->read(array));
    const auto& expected = std::get<std::vector<float>>(read.values);
    REQUIRE(state.trace);
    const auto weights = (*state.trace)[Stage::weights].values();
    REQUIRE(weights.size() == expected.size());
    for (std::size_t n = 0; n < expected.size(); ++n)
        CHECK(std::abs(weights[n] - expected[n]) < 1e-5F);
}

}  // namespace

TEST_CASE("T5 is shown as encoder, decoder and cross attention, each by itself") {
    const std::string folder = test::golden_model("t5").string();
    auto state = shown_group({folder, "1 44 20 20 5 9 33 2", {}, {}, "7 30 30 12 41 3", "cross"});
    CHECK(state.document().groups == Tokens{"encoder", "decoder", "cross"});
    CHECK(state.document().size.tq == 7);
    CHECK(state.document().size.tk == 8);
    CHECK(state.document().tokens.front() == "#0");
    CHECK(state.document().tokens_kv.front() == "#1");
    CHECK(state.document().layers.size() == 3);
    CHECK(state.document().spec.score == Score::dot);
    CHECK_FALSE(state.document().spec.mask.causal);
    check_weights(state, 1, folder, "c1.weights");
    show_group(state, "decoder");
    CHECK(state.document().tokens_kv.empty());
    CHECK(state.document().spec.score == Score::relative);
    CHECK(state.document().spec.mask.causal);
    CHECK(state.document().read_out.next.size() == 5);
    check_weights(state, 2, folder, "d2.weights");
    show_group(state, "encoder");
    CHECK(state.document().layers.size() == 2);
    CHECK_FALSE(state.document().spec.mask.causal);
    check_weights(state, 0, folder, "l0.weights");
    CHECK(view::model_of(state.document())->beside == "7 30 30 12 41 3");
    view::apply(state, view::Undo{});
    CHECK(view::group_of(state.document()) == "decoder");
    check_weights(state, 0, folder, "d0.weights");
    // another text leaves the group and what the decoder has written
    show_group(state, "cross");
    view::play(state, {view::TypeText{"1 44"}, view::DocumentReady{}}, files::opener(backends()));
    CHECK(view::group_of(state.document()) == "cross");
    CHECK(state.document().size.tk == 2);
    CHECK(state.document().size.tq == 7);
    view::apply(state, view::ShowGroup{"match"});
    CHECK(state.message.words.find("here is no group match") != std::string::npos);
}

TEST_CASE("a patch is of the text that the stack of the group reads") {
    const std::string folder = test::golden_model("t5").string();
    const auto patched = [&](const char* group, const char* text) {
        auto state = shown_group({folder, "1 44 20", {}, {}, "7 30", group});
        view::play(state, {view::PatchHead{0, 0, Stage::v, text}, view::DocumentReady{}},
                   files::opener(backends()));
        return state;
    };
    for (const auto& [group, text] : {std::pair{"encoder", "1 5 9"}, std::pair{"decoder", "9 5"}}) {
        const auto state = patched(group, text);
        CAPTURE(state.message.words);
        REQUIRE(state.document().effects);
        double largest = 0.0;
        for (const HeadEffect& effect : state.document().effects->run.heads)
            largest = std::max(largest, effect.largest);
        CHECK(largest > 0.0);
    }
    CHECK(patched("decoder", "9")
              .message.words.find("has 2 tokens and what the decoder has written 3") !=
          std::string::npos);
}

TEST_CASE("an image that changed is read anew by CLIP's tower") {
    const auto path = test::golden_model("clip");
    const Scratch scratch;
    const std::string image = scratch.at("a.png");
    std::filesystem::copy_file(path / "image.png", image);
    files::ModelCache cache;
    const auto entry = must(cache.open(path.string()));
    const Reading reading{"1 44 2", image, "image"};
    const auto before = files::untouched(*entry, reading, {});
    CHECK(files::untouched(*entry, reading, {}) == before);
    std::filesystem::copy_file(path / "tall.png", image,
                               std::filesystem::copy_options::overwrite_existing);
    CHECK(files::untouched(*entry, reading, {})->read_out != before->read_out);
}

TEST_CASE("a session of CLIP finds its images beside it, or where they were") {
    const auto path = test::golden_model("clip");
    const Scratch scratch;
    std::filesystem::copy_file(path / "image.png", scratch / "a.png");
    std::filesystem::copy_file(path / "tall.png", scratch / "b.png");
    const std::string images = fmt::format("{} || {}", scratch.at("a.png"), scratch.at("b.png"));
    const auto state = shown_group({path.string(), "1 44", {}, images, {}, "match"});
    std::filesystem::create_directories(scratch / "moved");
    std::ofstream(scratch / "moved/s.json") << view::session_to_json(state, scratch / "");
    std::filesystem::rename(scratch / "b.png", scratch / "moved/b.png");
    const auto open = files::opener(backends());
    const auto opened = must(open({scratch.at("moved/s.json"), 0}, {}));
    CHECK(view::model_of(*opened.document)->beside ==
          fmt::format("{} || {}", scratch.at("a.png"), scratch.at("moved/b.png")));
    std::filesystem::remove(scratch / "a.png");
    CHECK(says(sentence_in(open({scratch.at("moved/s.json"), 0}, {})), "a.png is neither at "));
}

TEST_CASE("CLIP is shown as two towers and as the match of texts with images") {
    const auto path = test::golden_model("clip");
    const std::string folder = path.string();
    const std::string images =
        fmt::format("{} || {}", (path / "image.png").string(), (path / "tall.png").string());
    auto state = shown_group(
        {folder, "1 44 20 20 5 9 33 2 || 43 7 33 || 43 5 9 9 33 44 2", {}, images, {}, "match"});
    CHECK(state.document().tokens == Tokens{"image.png", "tall.png"});
    CHECK(state.document().tokens_kv.size() == 3);
    CHECK(state.document().size.heads == 1);
    view::apply(state, view::ShowLayer{0});
    const auto file = must(open_arrays(path / "expected.safetensors"));
    const auto logits = std::get<std::vector<float>>(must(file->read("logits")).values);
    const auto scaled = (*state.trace)[Stage::scaled].values();
    REQUIRE(scaled.size() == logits.size());
    for (std::size_t n = 0; n < logits.size(); ++n) CHECK(std::abs(scaled[n] - logits[n]) < 1e-4F);
    show_group(state, "image");
    CHECK(state.document().tokens.size() == 10);
    CHECK(state.document().layers.size() == 3);
    check_weights(state, 2, folder, "i2.weights");
    show_group(state, "text");
    CHECK(state.document().spec.mask.causal);
    check_weights(state, 1, folder, "l1.weights");
}
