// A trained model over a text: read again for each, its weights once.
#include "app/files/model.h"
#include "app/common/assets.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/intervention_actions.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "app/common/command.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/model_read.h"
#include "app/common/document/swept.h"
#include "app/common/inspector.h"
#include "app/files/circuits.h"
#include "app/files/open.h"
#include "app/jobs/jobs.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "core/backend.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"
#include "core/models/family.h"
#include "core/models/patches.h"
#include "core/models/read_out.h"
#include "core/train/run.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;
using namespace attn::files;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

view::OpenRequest reads(const fs::path& folder, const std::string& text,
                        const std::string& before = {}) {
    return {view::ModelText{{folder.string(), text, before}}, 0};
}

std::string refused(const view::OpenRequest& request, const RunControl& control = {}) {
    return sentence_in(opener(backends())(request, control));
}

/// The window over a model and a text.
view::AppState opened_over(const fs::path& folder, const std::string& text) {
    view::AppState state = view::initial_state();
    view::play(state, {view::OpenFile{folder.string(), text}, view::DocumentReady{}},
               opener(backends()));
    return state;
}

ModelRun run_over(const Model& model, const std::string& text, const Interventions& with = {},
                  const char* backend = "staged") {
    return must(
        model.run(must(model.tokens_of(text)), *find_backend(backend), all_stages(), {}, with));
}

std::vector<float> vector_of(const fs::path& folder, const std::string& text) {
    const ModelRun run = run_over(must(Model::open(folder)), text, {}, "reference");
    const auto values = run.read_out.values();
    return {values.begin(), values.end()};
}

const fs::path kVit = fs::path(ATTN_TEST_DATA) / "models/vit";

/// The largest difference from the logits that PyTorch's modules gave for the folder's image is tested in tests/models.
std::vector<float> classes_of(const std::string& image) {
    const auto model = must(Model::open(kVit));
    const auto pixels = must(read_png(image).map([&](const RgbImage& read) {
        return pixels_of(must(fitted_image(read, *model.config().image)), *model.config().image);
    }));
    const auto run = must(model.run_image(pixels, *find_backend("reference")));
    const auto values = run.read_out.values();
    return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a model's folder opens over a text, with every layer's inputs as it computed them") {
    const Scratch scratch;
    const fs::path folder = test::encoder_folder(scratch);
    const auto opened = must(opener(backends())(reads(folder, "ab c"), {}));
    const view::Document& document = *opened.document;
    REQUIRE(view::model_of(document) != nullptr);
    CHECK(view::model_of(document)->path == folder.string());
    CHECK(view::text_of(document) == "ab c");
    CHECK_FALSE(view::is_toy(document));
    CHECK(document.tokens == Words{"a", "b", " ", "c"});
    CHECK(document.note == "Universal Sentence Encoder Lite, trained weights: 2 layers, 4 heads");
    REQUIRE(document.layers.size() == 2);
    const auto model = Model::open(folder);
    const ModelRun run = run_over(*model, "ab c");
    for (std::size_t n = 0; n < 2; ++n)
        CHECK(std::ranges::equal(document.layers[n]->x.values(), run.layers[n].inputs->x.values()));
    CHECK(document.read_out.has_vector);
    CHECK_FALSE(document.read_out.similarity);
    CHECK(document.read_out.next.empty());
}

TEST_CASE("the model stays in memory until its files change") {
    const Scratch scratch;
    const fs::path folder = test::encoder_folder(scratch);
    const fs::path other = test::gpt2_folder(scratch);
    ModelCache cache;
    const auto first = cache.open(folder.string()).value();
    CHECK(cache.open(folder.string()).value() == first);
    test::write_pieces(folder, R"(["ab",-1],["c",-1])");
    const auto second = cache.open(folder.string()).value();
    CHECK(second != first);
    CHECK(second->model.tokens_of("abc")->size() == 2);
    CHECK(cache.open(other.string()).value() != second);
    fs::remove(folder / "tokenizer.json");
    CHECK_FALSE(open_text(cache, {folder.string(), "abc"}, {}));
    // the opener of a window goes by it
    test::write_pieces(folder, R"(["ab",-1],["c",-1])");
    const view::Opener open = opener(backends());
    CHECK(open(reads(folder, "abc"), {})->document->tokens == Words{"ab", "c"});
    test::write_pieces(folder, R"(["a",-1],["bc",-1])");
    CHECK(open(reads(folder, "abc"), {})->document->tokens == Words{"a", "bc"});
}

TEST_CASE("a model's five likeliest next tokens, of the whole vocabulary") {
    const Scratch scratch;
    const fs::path folder = test::gpt2_folder(scratch);
    const auto opened = must(opener(backends())(reads(folder, "abba c"), {}));
    const auto& next = opened.document->read_out.next;
    REQUIRE(next.size() == 5);
    const std::vector<float> logits = vector_of(folder, "abba c");
    REQUIRE(logits.size() == 5 * 50);
    const auto last = std::span(logits).last(50);
    double sum = 0.0;
    for (const float x : last) sum += std::exp(static_cast<double>(x));
    std::vector<float> sorted(last.begin(), last.end());
    std::ranges::sort(sorted, std::greater<>());
    for (std::size_t n = 0; n < 5; ++n)
        CHECK(next[n].probability == doctest::Approx(std::exp(sorted[n]) / sum).epsilon(1e-4));
    const auto best = std::ranges::max_element(last) - last.begin();
    const Words vocabulary{"a", "b", "ab", "▁", "c"};
    CHECK(next[0].text == (best < 5 ? vocabulary[best] : "#" + std::to_string(best)));
}

TEST_CASE("a text is compared with the one before") {
    const Scratch scratch;
    const fs::path folder = test::encoder_folder(scratch);
    const view::Opener open = opener(backends());
    const auto similarity = [&](const std::string& text, const std::string& before) {
        return open(reads(folder, text, before), {})->document->read_out.similarity;
    };
    const double expected = *cosine(vector_of(folder, "ab c"), vector_of(folder, "cab"));
    CHECK(std::abs(expected) < 0.999);
    CHECK(*similarity("ab c", "cab") == doctest::Approx(expected).epsilon(1e-5));
    CHECK(*similarity("cab", "ab c") == doctest::Approx(expected).epsilon(1e-5));
    CHECK(*similarity("cab", "cab") == doctest::Approx(1.0).epsilon(1e-6));
    CHECK_FALSE(similarity("cab", ""));
}

TEST_CASE("what cannot be read says why") {
    const Scratch scratch;
    const fs::path folder = test::gpt2_folder(scratch);
    CHECK(refused(reads(folder, std::string(17, 'c'))) ==
          "the text has 17 tokens; this model takes 16");
    CHECK(refused(reads(folder, "")) == "the text has no token");
    CHECK(refused(reads("/nowhere/gpt2", "a")) ==
          "/nowhere/gpt2: expected a trained model, a folder whose config.json has a model_type, "
          "or a .gguf");
    CHECK_FALSE(refused(reads(folder, "abc"), {stopped(), {}}).empty());
}

TEST_CASE("a text whose weights are too many to keep is not compared under interventions") {
    const Scratch scratch;
    const std::string folder = test::readable_model(scratch, "llama").folder;
    std::string config = must(read_text_file(fs::path(folder) / "config.json"));
    config.replace(config.rfind("64"), 2, "99999");  // tokens that it takes
    std::ofstream(fs::path(folder) / "config.json") << config;
    view::OpenRequest request = reads(folder, std::string(6000, 'a'));
    std::get<view::ModelText>(request.what).model.changes.off = {{0, 1}};
    CHECK(contains(refused(request), "all are kept for comparison; expected at most 5792 tokens"));
}

TEST_CASE("typed on, only the last text is computed, and a text that is too long changes nothing") {
    const Scratch scratch;
    const fs::path folder = test::gpt2_folder(scratch);
    view::AppState state = opened_over(folder, "a");
    jobs::Jobs jobs(opener(backends()), [] {});
    for (const char* text : {"ab", "abb", "abba"}) {
        view::apply(state, view::TypeText{text});
        jobs.update(state);
    }
    CHECK(view::text_of(state.document()) == "a");  // until the answer is there
    jobs.wait_until_idle();
    std::size_t answers = 0;
    for (const view::Action& answer : jobs.take()) {
        answers += answer.is<view::DocumentReady>() ? 1 : 0;
        view::apply(state, answer);
    }
    CHECK(answers == 1);
    CHECK(view::text_of(state.document()) == "abba");
    CHECK(state.document().tokens == Words{"ab", "b", "a"});
    CHECK((*state.trace)[Stage::weights].shape().t == 3);
    view::apply(state, view::TypeText{std::string(20, 'c')});
    jobs::answer(state, jobs);
    CHECK(view::text_of(state.document()) == "abba");
    CHECK(state.message.text ==
          "The text has 20 tokens; this model takes 16; the screen still shows “abba”.");
    CHECK(state.message.severity == view::Severity::error);
}

TEST_CASE("a session brings back model, text and edits, also after both were moved") {
    const Scratch scratch;
    fs::create_directories(scratch / "old");
    fs::rename(test::encoder_folder(scratch), scratch / "old/sentences");
    view::AppState state = opened_over(scratch / "old/sentences", "ab c");
    const view::CellRef cell{Stage::x, 1, 2};
    view::play(state,
               {view::TypeText{"ba c"}, view::DocumentReady{}, view::ShowLayer{1},
                view::SetCell{cell, 2.5}},
               opener(backends()));
    REQUIRE(state.document().edits.size() == 1);
    const std::string saved = view::session_to_json(state, scratch / "old");
    std::ofstream(scratch / "old/s.json") << saved;
    fs::rename(scratch / "old", scratch / "new");
    const auto opened = must(opener(backends())({scratch.at("new/s.json"), 0}, {}));
    const view::Document& document = *opened.document;
    CHECK(view::model_of(document)->path == scratch.at("new/sentences"));
    CHECK(view::text_of(document) == "ba c");
    CHECK(view::model_of(document)->before == "ab c");
    CHECK(document.layer == 1);
    CHECK(document.inputs->x(0, 0, 1, 2) == 2.5F);
    CHECK(document.read_out.similarity == state.document().read_out.similarity);
    CHECK(opened.session->sentence_draft == "ba c");
    CHECK(view::session_to_json(*opened.session, scratch / "new").size() == saved.size());
    fs::remove_all(scratch / "new/sentences");
    CHECK(contains(refused({scratch.at("new/s.json"), 0}), scratch.at("new/sentences")));
}

TEST_CASE("a session names a built-in model, which another installation has elsewhere") {
    const Scratch scratch;
    const std::string here = model_path("pronouns");
    REQUIRE(here != "pronouns");
    const view::AppState state = opened_over(here, "the dog saw the bridge");
    const std::string saved = view::session_to_json(state, scratch / "");
    CHECK_FALSE(contains(saved, here));
    CHECK(view::built_in_name(fs::relative(here)) == "pronouns");
    CHECK(view::built_in_name(scratch / "pronouns").empty());
    std::ofstream(scratch / "s.json") << saved;
    fs::create_directories(scratch / "assets/models");
    fs::copy(here, scratch / "assets/models/pronouns");
    setenv("ATTNSCOPE_ASSETS", scratch.at("assets").c_str(), 1);
    const auto opened = opener(backends())({scratch.at("s.json"), 0}, {});
    unsetenv("ATTNSCOPE_ASSETS");
    REQUIRE_MESSAGE(opened, opened.error().text());
    CHECK(view::model_of(*opened->document)->path == scratch.at("assets/models/pronouns"));
    CHECK(view::text_of(*opened->document) == "the dog saw the bridge");

    std::string unknown = saved;
    const std::string_view name = "\"built_in\": \"pronouns\"";
    unknown.replace(unknown.find(name), name.size(), "\"built_in\": \"prononce\"");
    std::ofstream(scratch / "unknown.json") << unknown;
    const std::string why = refused({scratch.at("unknown.json"), 0});
    CHECK(contains(why, "'prononce'"));
    CHECK(contains(why, "pronouns, stories, translate"));
}

TEST_CASE("a model of images opens without one, reads a PNG, and a session brings it back") {
    const Scratch scratch;
    const std::string image = scratch.at("a.png");
    fs::copy_file(kVit / "image.png", image);
    view::AppState state = view::initial_state();
    view::play(state, {view::OpenFile{kVit.string()}, view::DocumentReady{}}, opener(backends()));
    REQUIRE(view::reads_image(state.document()));
    CHECK(contains(state.message.text, "no image is given: every pixel is the mean"));
    CHECK(contains(state.message.text, "rop a PNG, or open one"));
    const auto blank = state.document().inputs;
    view::play(state, {view::TypeText{"a cat"}}, opener(backends()));
    CHECK(contains(state.message.text, "reads images, not texts"));

    view::play(state, {view::OpenFile{image}, view::DocumentReady{}}, opener(backends()));
    CHECK(view::text_of(state.document()) == image);
    CHECK(state.sentence_draft == image);
    CHECK(state.document().tokens.size() == 10);
    CHECK(state.document().tokens[0] == "CLS");
    CHECK(state.document().tokens[6] == "1,2");
    CHECK(state.document().inputs->x.values()[30] != blank->x.values()[30]);
    REQUIRE(state.document().image);
    const auto vit = Model::open(kVit);
    const ImageInput& input = *vit->config().image;
    const RgbImage fitted = resized_image(read_png(image).value(), input.size, input.size);
    const Index edge = input.patch * 3;
    CHECK(state.document().image->width == edge);
    CHECK(state.document().image->height == edge);
    for (Index y = 0; y < edge; ++y)
        for (Index n = 0; n < 3 * edge; ++n)
            REQUIRE(state.document().image->rgb[3 * y * edge + n] ==
                    fitted.rgb[3 * y * input.size + n]);
    CHECK_FALSE(state.history.front().document->image);
    const auto& next = state.document().read_out.next;
    const std::vector<float> logits = classes_of(image);
    REQUIRE(!next.empty());
    double sum = 0.0;
    for (const float x : logits) sum += std::exp(static_cast<double>(x));
    CHECK(next[0].probability ==
          doctest::Approx(std::exp(std::ranges::max(logits)) / sum).epsilon(1e-4));
    CHECK(contains(state.message.text, "the model's class: "));

    view::play(state, {view::SwitchHead{0, 1, false}, view::DocumentReady{}}, opener(backends()));
    REQUIRE(state.document().effects);
    CHECK(contains(state.message.text, "the class "));
    CHECK_FALSE(contains(state.message.text, "next token"));

    fs::create_directories(scratch / "moved");
    const std::string saved = view::session_to_json(state, scratch / "");
    std::ofstream(scratch / "moved/s.json") << saved;
    fs::rename(image, scratch / "moved/a.png");
    const auto opened = must(opener(backends())({scratch.at("moved/s.json"), 0}, {}));
    CHECK(view::text_of(*opened.document) == scratch.at("moved/a.png"));
    CHECK(view::model_of(*opened.document)->changes.off == std::vector<HeadPlace>{{0, 1}});
    fs::remove(scratch / "moved/a.png");
    CHECK(contains(refused({scratch.at("moved/s.json"), 0}), "a.png"));
}

TEST_CASE("an image that changed is read again; a text for a model of images is refused") {
    const Scratch scratch;
    const std::string image = scratch.at("a.png");
    fs::copy_file(kVit / "image.png", image);
    const view::Opener open = opener(backends());
    view::OpenRequest request{view::ModelText{{kVit.string(), image, "", {{{0, 1}}}, true}}, 0};
    REQUIRE(open(request, {}));
    std::ofstream(image, std::ios::binary) << "no PNG";
    CHECK(contains(open(request, {}).error().text(), image + " is not a PNG image"));
    CHECK(contains(refused(reads(kVit, "a cat")), "ViT reads an image, and 'a cat' is a text"));
    const fs::path gpt2 = test::gpt2_folder(scratch);
    CHECK(contains(refused({view::ModelText{{gpt2.string(), image, "", {}, true}}, 0}),
                   "GPT-2 reads a text"));
    view::AppState state = view::initial_state();
    view::play(state, {view::ReadImage{image}}, open);
    CHECK(contains(state.message.text, "no model that reads images is open"));
}

TEST_CASE("a model with heads off: its layers' inputs, W_O without them, and what both runs say") {
    const Scratch scratch;
    const fs::path folder = test::encoder_folder(scratch);
    view::OpenRequest request = reads(folder, "ab c", "ca");
    const view::ReadOut on = opener(backends())(request, {}).value().document->read_out;
    std::get<view::ModelText>(request.what).model.changes.off = {{0, 1}, {0, 3}};
    const auto opened = must(opener(backends())(request, {}));
    const view::Document& document = *opened.document;
    CHECK(document.note ==
          "Universal Sentence Encoder Lite, trained weights: 2 layers, 4 heads; without L0 H1 and "
          "L0 H3");
    CHECK(document.own_heads == 4);
    const auto model = Model::open(folder);
    const Interventions off{{{0, 1}, {0, 3}}, {}, {}};
    const ModelRun run = run_over(*model, "ab c", off);
    for (std::size_t n = 0; n < 2; ++n)
        CHECK(std::ranges::equal(document.layers[n]->x.values(), run.layers[n].inputs->x.values()));
    const Tensor& w_o = document.layers[0]->params[Param::w_o];
    const Index width = w_o.shape().t / 4;
    for (Index row = 0; row < w_o.shape().t; ++row)
        CHECK((w_o(0, 0, row, 0) == 0.0F) == (row / width == 1 || row / width == 3));
    REQUIRE(document.effects);
    const RunEffects expected = effects_of(run_over(*model, "ab c"), run, {});
    CHECK(*document.effects->run.cosine == *expected.cosine);
    CHECK(*expected.cosine < 1.0);
    CHECK_FALSE(document.effects->run.next);
    REQUIRE(document.effects->run.heads.size() == 8);
    for (const HeadEffect& effect : document.effects->run.heads)
        CHECK(effect.changed() == (effect.at.layer == 1));
    // the text before is read without them too
    REQUIRE(document.read_out.similarity);
    const ModelRun before = run_over(*model, "ca", off);
    CHECK(*document.read_out.similarity ==
          *cosine(run.read_out.values(), before.read_out.values()));
    CHECK(*document.read_out.similarity != *on.similarity);
    std::get<view::ModelText>(request.what).model.changes.off = {{5, 0}};
    CHECK(refused(request) == "there is no layer 5: the model has 2, counted from 0");
}

TEST_CASE("rows and patches of a model equal its own run; another intervention reads no text") {
    const Scratch scratch;
    const fs::path folder = test::encoder_folder(scratch);
    const auto model = Model::open(folder);
    const auto plain = run_over(*model, "ab c");
    const auto source = run_over(*model, "ca b");
    const auto tokens = std::ssize(plain.tokens);
    REQUIRE(std::ssize(source.tokens) == tokens);
    std::vector<Index> positions(tokens);
    for (Index n = 0; n < tokens; ++n) positions[n] = n;
    Interventions with;
    with.rows = {{{0, 1}, 0, std::vector<double>(positions.size(), 0.0)}};
    with.rows[0].weights.back() = 1.0;
    with.patches = {patch_from(source, {0, 2}, Stage::v, positions).value()};
    const auto expected = run_over(*model, "ab c", with);
    view::OpenRequest request = reads(folder, "ab c", "");
    view::ModelChanges& changes = std::get<view::ModelText>(request.what).model.changes;
    changes.rows = with.rows;
    changes.patches = {{{0, 2}, Stage::v, "ca b"}};
    const auto opened = must(opener(backends())(request, {}));
    const view::Document& document = *opened.document;
    CHECK(
        std::ranges::equal(document.layers[1]->x.values(), expected.layers[1].inputs->x.values()));
    REQUIRE(document.effects);
    CHECK(*document.effects->run.cosine == *effects_of(plain, expected, {}).cosine);
    changes.patches[0].text = "ab c ab";
    CHECK(contains(refused(request), "expected the same number"));
}

TEST_CASE("each layer is looked at with its own window and RoPE, and what is set stays with it") {
    const fs::path folder = test::golden_model("gemma3_text");
    const std::string ids = "1 44 20 20 5 9 33 2";
    view::AppState state = opened_over(folder, ids);
    REQUIRE(state.document().layers.size() == 2);
    const auto expected = must(open_arrays(folder / "expected.safetensors"));
    const auto check_layer = [&](Index layer) {
        const auto array = must(expected->read(fmt::format("l{}.weights", layer)));
        const auto& weights = std::get<std::vector<float>>(array.values);
        const auto shown = (*state.trace)[Stage::weights].values();
        REQUIRE(shown.size() == weights.size());
        for (std::size_t n = 0; n < weights.size(); ++n)
            CHECK(std::abs(shown[n] - weights[n]) < 1e-5F);
    };
    CHECK(state.document().spec.mask.window_left == 2);
    CHECK(state.document().spec.rope->base == 20.0);
    check_layer(0);
    view::apply(state, view::ShowLayer{1});
    CHECK_FALSE(state.document().spec.mask.window_left);
    CHECK(state.document().spec.rope->base == 500.0);
    CHECK(state.document().spec.rope->scaling.kind == RopeScale::linear);
    check_layer(1);
    CHECK(view::spec_of(state.document(), 0).mask.window_left == 2);
    view::apply(state, view::SetTemperature{2.0});
    view::apply(state, view::ShowLayer{0});
    CHECK(state.document().spec.temperature == 1.0);
    check_layer(0);
    view::apply(state, view::ShowLayer{1});
    CHECK(state.document().spec.temperature == 2.0);
}

TEST_CASE("a circuit reads the tokens of a text alone, a sweep runs the model and keeps the run") {
    ModelCache cache;
    const std::string folder = test::golden_model("llama").string();
    const view::SweepModel of{folder, "1 44 20"};
    view::SweepAsked asked;
    asked.circuit = HeadPlace{1, 0};
    const auto made = must(sweep_model(cache, of, view::options_of(asked), {}));
    REQUIRE(made->circuit);
    CHECK(made->circuit->over.qk.values.shape().t == 3);
    const auto entry = must(cache.open(folder));
    CHECK_FALSE(entry->runs.find({Reading{of.text}, ""}));
    must(sweep_model(cache, of, view::options_of(view::SweepAsked{}), {}));
    CHECK(entry->runs.find({Reading{of.text}, ""}));
    CHECK_FALSE(sweep_model(cache, {folder, "1 99999"}, view::options_of(asked), {}));
}

TEST_CASE("a model's stages: of one layer, with a head off, and the run is read once") {
    ModelCache cache;
    const std::string folder = test::golden_model("llama").string();
    view::ReadModel asked{{folder, "1 44 20 5"}, 1, 2, true, HeadPlace{1, 0}};
    const view::ReadModel same = view::read_asked(asked.model, view::options_of(asked));
    CHECK(same == asked);
    const auto made = must(read_model(cache, asked, {}));
    CHECK(made->stages.layer == 1);
    CHECK(made->stages.row == 2);
    REQUIRE(made->sum);
    CHECK(made->sum->against == made->answers[1].id);
    CHECK(made->sum->logit ==
          doctest::Approx(made->answers[0].logit - made->answers[1].logit).epsilon(1e-5));
    REQUIRE(made->ablated);
    const auto without = must(must(Model::open(folder))
                                  .run(must(must(Model::open(folder)).tokens_of("1 44 20 5")),
                                       *find_backend("staged"), {}, {},
                                       {.off = {{1, 0}}, .rows = {}, .patches = {}}));
    CHECK(*made->ablated == doctest::Approx(double{without.read_out(0, 0, 2, made->answers[0].id)} -
                                            without.read_out(0, 0, 2, made->answers[1].id))
                                .epsilon(1e-5));
    asked.layer = 0;
    asked.off.reset();
    const auto other = must(read_model(cache, asked, {}));
    CHECK(other->run == made->run);
    CHECK_FALSE(other->ablated);
    asked.layer = 9;
    CHECK_FALSE(read_model(cache, asked, {}));
    asked.model.text = "1 99999";
    CHECK_FALSE(read_model(cache, asked, {}));
}
