// The window over T5 and CLIP: one of their attentions at a time, each with its own tokens, options and layers.

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/call_actions.h"
#include "app/common/document/document.h"
#include "app/common/document/image_tokens.h"
#include "app/common/document/intervention_actions.h"
#include "app/common/document/interventions.h"
#include "app/common/document/model_text.h"
#include "app/common/document/swept.h"
#include "app/common/sheet.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "app/common/document/intervention_effects.h"
#include "app/common/document/model_read.h"
#include "app/files/model.h"
#include "app/files/open.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "app/workspaces/generate/actions.h"
#include "app/workspaces/generate/view.h"
#include "app/workspaces/step/view.h"
#include "core/backend.h"
#include "core/io/arrays/array_file.h"
#include "core/models/circuits.h"
#include "core/models/groups.h"
#include "core/train/run.h"
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
    CAPTURE(state.message.text);
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

constexpr const char* kSource = "1 44 20 20 5 9 33 2";

/// What came of it, after the answer.
view::AppState answered(view::AppState state, view::Actions actions) {
    actions.emplace_back(view::DocumentReady{});
    view::play(state, actions, files::opener(backends()));
    return state;
}

bool is_shown_text(const view::AppState& state, const char* text) {
    return state.message.text.find(text) != std::string::npos;
}

std::string clip_images() {
    const auto path = test::golden_model("clip");
    return fmt::format("{} || {}", (path / "image.png").string(), (path / "tall.png").string());
}

Result<view::Opened> swept(const view::SweepModel& what, const view::SweepAsked& asked) {
    return files::opener(backends())({what, 0, view::options_of(asked)}, {});
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
    CHECK(view::model_of(state.document())->second_input == "7 30 30 12 41 3");
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
    CHECK(state.message.text.find("here is no group match") != std::string::npos);
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
        CAPTURE(state.message.text);
        REQUIRE(state.document().effects);
        double largest = 0.0;
        for (const HeadEffect& effect : state.document().effects->run.heads)
            largest = std::max(largest, effect.largest);
        CHECK(largest > 0.0);
    }
    CHECK(patched("decoder", "9").message.text.find("has 2 tokens and the decoder's text 3") !=
          std::string::npos);
}

TEST_CASE("texts that are the same one after the other are not taken for each other") {
    const Scratch scratch;
    files::ModelCache cache;
    const auto entry = must(cache.open(test::readable_model(scratch, "t5").folder));
    const auto tokens = [&](const Reading& reading) {
        const auto run = files::untouched(*entry, reading, {});
        return std::pair(run->tokens_kv.size(), run->tokens.size());
    };
    const auto one = tokens({"a\nb", "c", "cross"}), other = tokens({"b", "c\na", "cross"});
    CHECK(one.first > other.first);
    CHECK(one.second < other.second);
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
    CHECK(view::model_of(*opened.document)->second_input ==
          fmt::format("{} || {}", scratch.at("a.png"), scratch.at("moved/b.png")));
    std::filesystem::remove(scratch / "a.png");
    CHECK(contains(sentence_in(open({scratch.at("moved/s.json"), 0}, {})), "a.png is neither at "));
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

TEST_CASE("what the decoder wrote is typed, undone and kept; the message is of what is shown") {
    const std::string folder = test::golden_model("t5").string();
    auto state = shown_group({folder, kSource});
    CHECK_FALSE(view::groups_view(state).reads_beside);
    show_group(state, "decoder");
    CHECK(state.document().tokens.size() == 1);
    state = answered(state, {view::TypeBeside{"7 30 30"}});
    CHECK(state.document().tokens.size() == 4);
    CHECK(is_shown_text(state, "decoder: 4 × 4 weights of each head; the model's next token: "));
    CHECK(view::build_step_view(state).controls.badge.starts_with("T5 decoder, trained weights"));
    const view::GroupsView shown = view::groups_view(state);
    CHECK(shown.names == Tokens{"encoder", "decoder", "cross"});
    CHECK(shown.current == 1);
    CHECK(shown.reads_beside);
    CHECK(shown.label == "decoder");
    CHECK(shown.second_input == "7 30 30");
    // another text of the encoder: the decoder's tokens are as many as they were
    state = answered(state, {view::TypeText{"1 44"}});
    CHECK(is_shown_text(state, "decoder: 4 × 4"));
    CHECK(view::model_of(state.document())->second_input == "7 30 30");
    show_group(state, "cross");
    state = answered(state, {view::TypeText{"1 44 20"}});
    CHECK(is_shown_text(state, "“1 44 20”: 3 tokens"));
    // both wait for one answer
    state = answered(state, {view::TypeBeside{"7"}, view::TypeText{"1 44"}});
    CHECK(state.document().size.tq == 2);
    CHECK(state.document().size.tk == 2);
    view::apply(state, view::Undo{});
    CHECK(state.document().size.tq == 4);
    const auto session = must(
        view::session_from_json(view::session_to_json(state), "it",
                                {backends(), view::workspaces(), files::opener(backends()), {}}));
    CHECK(view::group_of(session.document()) == "cross");
    CHECK(session.document().size.tq == 4);
}

TEST_CASE("a change of group says what it drops, is undone, has interventions of stacks alone") {
    const std::string folder = test::golden_model("t5").string();
    auto state = shown_group({folder, kSource, {}, {}, "7 30", "decoder"});
    view::apply(state, view::ShowGroup{"cross"});
    CHECK(is_shown_text(state, "Reading cross."));
    REQUIRE(state.opening);
    view::apply(state, view::ShowGroup{"decoder"});
    CHECK(is_shown_text(state, "Showing decoder."));
    CHECK_FALSE(state.opening);
    view::apply(state, view::AskPatch{0, 0, Stage::v});
    REQUIRE(state.prompt);
    CHECK(state.prompt->path == "7 30");
    view::apply(state, view::ShowPrompt{});
    state = answered(state, {view::SwitchHead{0, 0, false}});
    CHECK(view::interventions_lack(state.document()).empty());
    view::apply(state, view::SetTemperature{2.0});
    view::apply(state, view::SetScaling{true});
    state = answered(state, {view::ShowGroup{"cross"}});
    CHECK(is_shown_text(
        state,
        "; dropped (the other group's): 1 head that was off, the scaling, the temperature."));
    CHECK_FALSE(view::interventions_lack(state.document()).empty());
    view::apply(state, view::SwitchHead{0, 0, false});
    CHECK(is_shown_text(state, "Interventions need self-attention, which cross does not have."));
    CHECK_FALSE(state.opening);
}

TEST_CASE("CLIP takes a PNG that is dropped, and in its match several") {
    const auto path = test::golden_model("clip");
    auto state = shown_group({path.string(), kSource});
    state = answered(state, {view::OpenFile{(path / "image.png").string()}});
    CHECK(view::group_of(state.document()) == "image");
    CHECK(state.document().tokens.size() == 10);
    CHECK(is_shown_text(state, "image: 10 × 10 weights of each head"));
    CHECK_FALSE(view::groups_view(state).reads_text);
    CHECK(view::groups_view(state).label == "images");
    show_group(state, "match");
    state = answered(state, {view::OpenFile{(path / "tall.png").string()}});
    CHECK(state.document().tokens == Tokens{"tall.png"});
    state = answered(state, {view::TypeBeside{clip_images()}});
    CHECK(state.document().tokens == Tokens{"image.png", "tall.png"});
    state = answered(state, {view::TypeText{"1 44 || 1 5 2"}});
    CHECK(is_shown_text(state, "match: 2 × 2 weights"));
    state.stage = Stage::q;
    CHECK(view::build_step_view(state).text.starts_with("Each image is a query"));
    state.stage = Stage::k;
    CHECK(view::build_step_view(state).text.starts_with("The vector of each text is its key"));
    state.stage = Stage::context;
    CHECK(view::build_step_view(state).text.starts_with("The context of an image is"));
    show_group(state, "text");
    state = answered(state, {view::TypeText{"1 44 2 || 1 5 2"}});
    CHECK(is_shown_text(state, "“1 44 2”: 3 tokens"));
    state = answered(state, {view::ReadImage{"none.png"}});
    CHECK(is_shown_text(state, "the shown document stays"));
    CHECK(view::group_of(state.document()) == "text");
}

TEST_CASE("LLaVA's decoder is shown over words and patches, of the PNG that is dropped or named") {
    const auto path = test::golden_model("llava");
    const std::string image = (path / "image.png").string();
    auto state = shown_group({path.string(), "1 44 20 43 20 5 9 33 2", {}, image});
    CHECK(state.document().groups == Tokens{"text", "image"});
    CHECK(view::group_of(state.document()) == "text");
    REQUIRE(state.document().tokens.size() == 17);
    CHECK(state.document().tokens[3] == "0,0");
    REQUIRE(state.document().image);
    const auto patches = view::image_keys(state);
    REQUIRE(patches);
    CHECK(*patches == view::ImageTokens{3, 3, 3});
    check_weights(state, 0, path.string(), "l0.weights");
    check_weights(state, 1, path.string(), "l1.weights");
    CHECK(state.document().read_out.next.size() == 5);
    const view::GroupsView groups = view::groups_view(state);
    CHECK(groups.label == "image");
    CHECK(groups.reads_text);
    CHECK(groups.reads_beside);
    CHECK(groups.second_input == image);
    // a text without an image token has the image before it; without an image it is a text
    state = answered(state, {view::TypeText{"1 5 2"}});
    CHECK(state.document().tokens.size() == 12);
    CHECK(state.document().tokens[0] == "0,0");
    state = answered(state, {view::TypeBeside{""}});
    CHECK(state.document().tokens.size() == 3);
    CHECK_FALSE(state.document().image);
    // a PNG that is dropped stays among the tokens
    state = answered(state, {view::OpenFile{image}});
    CHECK(view::group_of(state.document()) == "text");
    CHECK(state.document().tokens.size() == 12);
    CHECK(view::generate_missing_data(state).empty());
    CHECK(view::interventions_lack(state.document()).empty());
    show_group(state, "image");
    CHECK(state.document().tokens.size() == 10);
    check_weights(state, 1, path.string(), "i1.weights");
    CHECK(view::interventions_lack(state.document()).empty());
    CHECK_FALSE(view::generate_missing_data(state).empty());
    view::SweepAsked asked;
    asked.circuit = HeadPlace{1, 0};
    CHECK(sentence_in(swept({path.string(), "1 5", false, Ablation::zero, image, ""}, asked)) ==
          "circuits and sweeps of LLaVA are not computed: its text has tokens of an image; "
          "expected a model of texts or of images");
}

TEST_CASE("circuits and sweeps are of the stack that is shown, and refused between two by name") {
    const std::string clip = test::golden_model("clip").string();
    const Model model = must(Model::open(clip));
    view::SweepAsked asked;
    asked.circuit = HeadPlace{1, 0};
    const auto of = [&](const char* group) {
        return swept({clip, kSource, false, Ablation::zero, clip_images(), group}, asked);
    };
    const auto image = must(of("image")).swept->circuit, text = must(of("")).swept->circuit;
    CHECK(image->head.qk == must(head_circuit(*model.second(), {1, 0}, {})).qk);
    CHECK(text->head.qk == must(head_circuit(model, {1, 0}, {})).qk);
    CHECK(image->head.qk != text->head.qk);
    // of weights alone: nothing is run
    CHECK(must(swept({clip, kSource, false, Ablation::zero, "no such file.png", "image"}, asked))
              .swept->circuit->head.qk == image->head.qk);
    CHECK(sentence_in(of("match")) ==
          "circuits and sweeps are of a stack's own attention; match is between the two: expected "
          "text or image");
    const std::string t5 = test::golden_model("t5").string();
    const auto fault = [&](const char* group) {
        return swept({t5, kSource, false, Ablation::zero, "7 30", group}, {});
    };
    CHECK(must(fault("decoder")).swept->fault.starts_with("a decoder that reads an encoder"));
    CHECK(sentence_in(fault("cross")).find("cross is between the two") != std::string::npos);
}

TEST_CASE("Generate writes with the decoder of T5: each step is what all its tokens at once give") {
    const std::string folder = test::golden_model("t5").string();
    const auto open = files::opener(backends());
    const auto made =
        must(open({view::GenerateText{folder, kSource, {30, 12}, 1, "7 30"}}, {})).generated;
    CHECK(made->prompt.size() == 3);
    CHECK_FALSE(made->no_lens.empty());
    const Model model = must(Model::open(folder));
    const auto run = must(
        read_group(model, {kSource, "7 30 30 12", "decoder"}, *find_backend("staged"), {}, {}));
    for (Index n = 0; n < 3; ++n) {
        const auto row = run.read_out.matrix(0, 0).row(2 + n);
        const auto& logits = made->steps[n]->logits;
        REQUIRE(logits.size() == row.size());
        for (std::size_t id = 0; id < row.size(); ++id)
            CHECK(std::abs(logits[id] - row[id]) < 1e-4F);
    }
    auto state = shown_group({folder, kSource});
    view::apply(state, view::SetWorkspace{"generate"});
    CHECK(view::generate_missing_data(state) == "The encoder is shown, but the decoder generates");
    CHECK(view::build_generate_view(state).shows_decoder);
    for (const char* group : {"decoder", "cross"}) {
        show_group(state, group);
        CHECK(view::generate_missing_data(state).empty());
    }
    view::apply(state, view::ShowLens{true});
    view::play(state, {view::GenerationReady{}, view::TakeToken{0, 7}, view::GenerationReady{}},
               open);
    CHECK(view::taken_of(state) == std::vector<Index>{7});
    CHECK(view::written_of(state).tokens == std::vector<Index>{7});
    CHECK_FALSE(view::requested_generation(state));  // no lens, asked for again and again
    state = answered(state, {view::TypeBeside{"30"}});
    CHECK(view::taken_of(state).empty());
}

TEST_CASE("numbers by distance are labelled by it, and go where another score is chosen") {
    auto state = shown_group({test::golden_model("t5").string(), "1 44 20"});
    CHECK(view::axis_labels(state, Axis::distance, 5) == Tokens{"−2", "−1", "0", "1", "2"});
    view::apply(state, view::SetScore{Score::dot});
    CAPTURE(state.message.text);
    CHECK(state.document().spec.score == Score::dot);
    CHECK(state.document().inputs->params[Param::b_score].empty());
    view::apply(state, view::ShowLayer{1});
    CHECK(state.document().layer == 1);
    view::apply(state, view::Undo{});
    CHECK(state.document().spec.score == Score::relative);
    CHECK_FALSE(state.document().inputs->params[Param::b_score].empty());
}
