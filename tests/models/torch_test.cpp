// Models of random weights against what PyTorch computed with them, layer by layer: goldens/models by make_models.py.

#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/backend.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"
#include "core/io/png_image.h"
#include "core/models/family.h"
#include "core/models/generate.h"
#include "core/models/groups.h"
#include "core/models/image_prompt.h"
#include "core/models/patches.h"
#include "core/models/sound.h"
#include "tests/io/bytes.h"
#include "tests/models/error.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

std::vector<double> numbers(const ArrayFile& file, const std::string& name) {
    CAPTURE(name);
    const auto array = must(file.read(name));
    if (const auto* floats = std::get_if<std::vector<float>>(&array.values))
        return {floats->begin(), floats->end()};
    return std::get<std::vector<double>>(array.values);
}

std::vector<ModelToken> tokens_of(const std::vector<double>& ids) {
    std::vector<ModelToken> tokens;
    for (const double id : ids) tokens.push_back({static_cast<Index>(id), ""});
    return tokens;
}

/// "1 44 20".
std::string as_text(const std::vector<double>& ids, std::size_t first = 0) {
    std::string text;
    for (std::size_t n = first; n < ids.size(); ++n) text += fmt::format(" {}", ids[n]);
    return text;
}

/// Each family, and "phi3~longrope" and the like of goldens/models: its configuration in other ways.
std::vector<std::string> golden_models() {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(ATTN_TEST_DATA) / "models"))
        names.push_back(entry.path().filename().string());
    for (const ModelFamily& family : model_families())
        CHECK(std::ranges::find(names, family.key) != names.end());
    return names;
}

/// Of the ids that PyTorch was given, or of the image or sound that it was given the pixels or the spectrogram of.
Result<ModelRun> run_golden(const Model& model, const ArrayFile& expected, const Backend& backend,
                            StageSet keep) {
    if (const auto& input = model.config().sound) {
        const auto file = test::golden_model(model.config().family->key) / "sound.wav";
        const Tensor spectrogram = must(mel_spectrogram(must(read_wav(file)), *input));
        const std::vector<double> features = numbers(expected, "features");  // [mels, frames]
        for (Index frame = 0; frame < input->frames; ++frame)
            for (Index mel = 0; mel < input->mels; ++mel)
                CHECK(spectrogram(0, 0, frame, mel) ==
                      doctest::Approx(features[mel * input->frames + frame]).epsilon(1e-5));
        return model.read(file.string(), backend, keep);
    }
    if (model.config().image_prompt)
        return read_group(model,
                          {as_text(numbers(expected, "ids")),
                           (test::golden_model(model.config().family->key) / "image.png").string()},
                          backend, keep);
    if (!model.config().image) return model.run(tokens_of(numbers(expected, "ids")), backend, keep);
    const auto image = must(read_png(test::golden_model(model.config().family->key) / "image.png"));
    const Tensor pixels =
        pixels_of(must(fitted_image(image, *model.config().image)), *model.config().image);
    CHECK(error_of(pixels.values(), numbers(expected, "pixels")) < 1e-6);
    return model.run_image(pixels, backend, keep);
}

// How far float32 sums in another order are apart, of the largest; GCC 16 makes 1.3e-5 of T5's decoder.
constexpr double kOtherOrder = 1e-5, kOtherOrderInDecoder = 2e-5;

/// Layers "l0", "l1", … of `what` = 'l'.
void check_layers(const std::vector<ModelLayer>& layers, char what, StageSet keep,
                  const ArrayFile& expected, double bound = kOtherOrder) {
    for (std::size_t n = 0; n < layers.size(); ++n) {
        const ModelLayer& layer = layers[n];
        const auto check = [&](const char* key, const Tensor& values) {
            const std::string array = fmt::format("{}{}.{}", what, n, key);
            CAPTURE(array);
            CHECK(error_of(values.values(), numbers(expected, array)) < bound);
        };
        const auto stage_or_input = [&](Stage stage, const Tensor& given) -> const Tensor& {
            return layer.trace[stage].empty() ? given : layer.trace[stage];
        };
        // of make_transformers.py's: the weights and the residual follow from them
        if (expected.contains(fmt::format("{}{}.q", what, n))) {
            check("q", stage_or_input(Stage::q, layer.inputs->q));
            check("k", stage_or_input(Stage::k, layer.inputs->k));
            check("v", stage_or_input(Stage::v, layer.inputs->v));
        }
        if (keep[index_of(Stage::weights)]) check("weights", layer.trace[Stage::weights]);
        if (expected.contains(fmt::format("{}{}.residual", what, n)))  // not of cross there
            check("residual", layer.residual);
        if (!layer.routing.empty()) check("routing", layer.routing);
        CHECK(layer.trace[Stage::output].empty());  // was not asked for
    }
}

StageSet retained_by(const Backend& backend) {
    StageSet keep;
    for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::weights})
        keep.set(index_of(stage));
    return keep & (backend.stages() | all_stages().reset(index_of(Stage::weights)));
}

}  // namespace

TEST_CASE("every layer of a model equals PyTorch's") {
    for (const std::string& name : golden_models()) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        CHECK(model.notes().size() == (name.find("longrope") == std::string::npos ? 0 : 1));
        const auto expected = must(open_arrays(test::golden_model(name) / "expected.safetensors"));
        const ModelFamily& family = *model.config().family;
        for (const Backend* backend : backends()) {
            CAPTURE(backend->name());
            if (backend->name() == "fused" && !family.names.distances.empty()) continue;
            const StageSet keep = retained_by(*backend);
            const auto run = must(run_golden(model, *expected, *backend, keep));
            REQUIRE(std::ssize(run.layers) == model.config().layers);
            check_layers(run.layers, 'l', keep, *expected);
            const bool labels = family.read_out == ReadOut::token_classes;
            if (family.read_out == ReadOut::none || (labels && !model.gives_logits())) {
                CHECK(run.read_out.empty());
                continue;
            }
            if (expected->contains("l.embedding")) {  // of the text, or of an image alone
                CHECK(error_of(run.read_out.values(), numbers(*expected, "l.embedding")) < 1e-5);
                continue;
            }
            if (family.read_out == ReadOut::projected) {
                const auto texts = numbers(*expected, "texts");  // the first is this one
                const auto width = static_cast<std::ptrdiff_t>(run.read_out.shape().d);
                CHECK(error_of(run.read_out.values(), {texts.begin(), texts.begin() + width}) <
                      1e-5);
                continue;
            }
            const char* stated = family.read_out == ReadOut::sentence ? "embedding" : "logits";
            CHECK(error_of(run.read_out.values(), numbers(*expected, stated)) < 1e-5);
        }
    }
}

TEST_CASE("a decoder's own attention, that over the encoder, and its logits equal PyTorch's") {
    for (const char* name : {"t5", "t5~gated", "mt5", "bart", "marian", "whisper"}) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        const auto expected = must(open_arrays(test::golden_model(name) / "expected.safetensors"));
        const auto written = numbers(*expected, "written");
        const std::string text = model.config().sound
                                     ? (test::golden_model(name) / "sound.wav").string()
                                     : as_text(numbers(*expected, "ids"));
        for (const char* backend_name : {"reference", "staged"}) {
            const Backend& backend = *find_backend(backend_name);
            const StageSet keep = retained_by(backend);
            const auto read = [&](const char* group) {
                return must(read_group(model, {text, as_text(written, 1), group}, backend, keep));
            };
            const auto encoder = read("encoder"), decoder = read("decoder"), cross = read("cross");
            check_layers(encoder.layers, 'l', keep, *expected);
            REQUIRE(std::ssize(decoder.layers) == model.second()->config().layers);
            check_layers(decoder.layers, 'd', keep, *expected, kOtherOrderInDecoder);
            REQUIRE(cross.layers.size() == decoder.layers.size());
            check_layers(cross.layers, 'c', keep, *expected, kOtherOrderInDecoder);
            CHECK(cross.tokens == decoder.tokens);
            CHECK(cross.tokens_kv == encoder.tokens);
            CHECK(decoder.tokens.front().id == static_cast<Index>(written.front()));
            CHECK(error_of(decoder.read_out.values(), numbers(*expected, "logits")) < 1e-5);
        }
    }
}

TEST_CASE("towers of texts and of images, and the match of their vectors, equal PyTorch's") {
    const auto folder = test::golden_model("clip");
    const auto model = must(Model::open(folder));
    CHECK(model.notes().empty());
    const auto expected = must(open_arrays(folder / "expected.safetensors"));
    const std::string images =
        fmt::format("{} || {}", (folder / "image.png").string(), (folder / "tall.png").string());
    const std::string texts =
        as_text(numbers(*expected, "ids")) + " || 43 7 33 || 43 5 9 9 33 44 2";
    const ImageInput& input = *model.second()->config().image;
    const auto fitted = must(fitted_image(must(read_png(folder / "image.png")), input));
    CHECK(error_of(pixels_of(fitted, input).values(), numbers(*expected, "pixels")) < 1e-6);
    for (const Backend* backend : backends()) {
        CAPTURE(backend->name());
        const StageSet keep = retained_by(*backend);
        const auto read = [&](const char* group) {
            return must(read_group(model, {texts, images, group}, *backend, keep));
        };
        const auto text = read("text"), image = read("image"), match = read("match");
        check_layers(text.layers, 'l', keep, *expected);
        REQUIRE(image.layers.size() == 3);
        check_layers(image.layers, 'i', keep, *expected);
        CHECK(image.tokens.size() == 10);
        REQUIRE(match.layers.size() == 1);
        CHECK(match.tokens.size() == 2);
        CHECK(match.tokens[1].text == "tall.png");
        CHECK(match.tokens_kv.size() == 3);
        const Tensor& q = match.layers[0].inputs->q;
        CHECK(error_of(q.values(), numbers(*expected, "images")) < 1e-5);
        CHECK(error_of(match.layers[0].inputs->k.values(), numbers(*expected, "texts")) < 1e-5);
    }
    const auto logits =
        must(read_group(model, {texts, images, "match"}, *find_backend("reference")));
    CHECK(error_of(logits.layers[0].trace[Stage::scaled].values(), numbers(*expected, "logits")) <
          1e-5);
}

TEST_CASE(
    "towers whose texts read both ways, with a pooling head and a bias of their match, equal "
    "PyTorch's") {
    const auto folder = test::golden_model("siglip");
    const auto model = must(Model::open(folder));
    const auto expected = must(open_arrays(folder / "expected.safetensors"));
    const std::string image = (folder / "image.png").string();
    for (const Backend* backend : backends()) {
        CAPTURE(backend->name());
        const StageSet keep = retained_by(*backend);
        const auto read = [&](const char* group, StageSet stages) {
            return must(read_group(model, {as_text(numbers(*expected, "ids")), image, group},
                                   *backend, stages));
        };
        const auto images = read("image", keep);
        REQUIRE(images.layers.size() == 2);
        CHECK(images.tokens.front().text == "0,0");  // no class token
        check_layers(images.layers, 'i', keep, *expected);
        CHECK(error_of(images.read_out.values(), numbers(*expected, "i.embedding")) < 1e-5);
        CHECK_FALSE(layer_spec(model.config(), 0).mask.causal);
    }
    const auto match = must(read_group(model, {as_text(numbers(*expected, "ids")), image, "match"},
                                       *find_backend("reference")));
    CHECK(error_of(match.layers[0].trace[Stage::biased].values(), numbers(*expected, "m0.biased")) <
          1e-5);
    CHECK(match.layers[0].trace[Stage::biased](0, 0, 0, 0) !=
          match.layers[0].trace[Stage::scaled](0, 0, 0, 0));
}

/// The folder with its arrays under other names.
void copy_renamed(const std::filesystem::path& from, const std::filesystem::path& to,
                  const std::vector<std::pair<std::string, std::string>>& names) {
    std::filesystem::create_directories(to);
    for (const char* file : {"config.json", "preprocessor_config.json"})
        std::filesystem::copy_file(from / file, to / file);
    const std::string bytes = must(read_text_file(from / "model.safetensors"));
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    const auto stored = nlohmann::json::parse(bytes.substr(sizeof size, size));
    auto header = nlohmann::json::object();
    for (const auto& each : stored.items()) {
        std::string name = each.key();
        for (const auto& [before, after] : names)
            if (name.starts_with(before)) {
                name.replace(0, before.size(), after);
                break;
            }
        header[name] = each.value();
    }
    write_bytes(to / "model.safetensors",
                safetensors(header.dump(), bytes.substr(sizeof size + size)));
}

TEST_CASE("an image among the tokens of a text, its tower and their logits equal PyTorch's") {
    const auto folder = test::golden_model("llava");
    const auto expected = must(open_arrays(folder / "expected.safetensors"));
    const std::string text = as_text(numbers(*expected, "ids"));
    const std::string image = (folder / "image.png").string();
    const Scratch scratch;
    const std::vector<std::pair<std::string, std::string>> layouts[] = {
        {},
        {{"language_model.model.", "model.language_model."},  // transformers 5
         {"language_model.lm_head", "lm_head"},
         {"vision_tower.", "model.vision_tower."},
         {"multi_modal_projector.", "model.multi_modal_projector."}},
        {{"vision_tower.", "vision_tower.vision_model."}}};  // the published folders
    for (std::size_t n = 0; n < std::size(layouts); ++n) {
        CAPTURE(n);
        const auto named = scratch / fmt::format("layout{}", n);
        copy_renamed(folder, named, layouts[n]);
        const auto model = std::make_shared<const Model>(must(Model::open(named)));
        CHECK(model->notes().empty());
        REQUIRE(groups_of(*model).size() == 2);
        const Backend& staged = *find_backend("staged");
        const StageSet keep = retained_by(staged);
        const auto read = must(read_group(*model, {text, image}, staged, keep));
        check_layers(read.layers, 'l', keep, *expected);
        CHECK(error_of(read.read_out.values(), numbers(*expected, "logits")) < kOtherOrder);
        const auto tower = must(read_group(*model, {text, image, "image"}, staged, keep));
        check_layers(tower.layers, 'i', keep, *expected);
        CHECK(tower.tokens.front().text == "CLS");
        // each patch by its place among the words
        REQUIRE(read.tokens.size() == 17);
        CHECK(read.tokens[2].text == "#20");
        CHECK(read.tokens[3].text == "0,0");
        CHECK(read.tokens[11].text == "2,2");
        CHECK(read.tokens[11].id == 43);
        REQUIRE(read.image);
        CHECK(read.image->width == 12);  // 3 patches of 4 pixels
        // the same, token by token against a cache
        auto decoding = must(decoding_of(*model, {text, image}, staged));
        auto generation = must(
            Generation::of(std::make_shared<const Model>(std::move(decoding.decoder)), staged));
        const std::vector<ModelToken>& all = decoding.tokens;
        must(generation.read({all.begin(), all.begin() + 7}));
        const auto step = must(generation.read({all.begin() + 7, all.end()}));
        const auto logits = numbers(*expected, "logits");
        CHECK(error_of(step.logits(), {logits.end() - std::ssize(step.logits()), logits.end()}) <
              kOtherOrder);
    }
}

TEST_CASE("an image token stands for the image, and other numbers of them are refused") {
    const auto folder = test::golden_model("llava");
    const auto model = must(Model::open(folder));
    const std::string image = (folder / "image.png").string();
    const Backend& staged = *find_backend("staged");
    const auto prompt = [&](const std::string& text, const std::string& file) {
        return must(image_prompt(model, text, file));
    };
    const auto one = prompt("1 43 5", image);
    CHECK(one.tokens.size() == 11);
    CHECK(one.has_image);
    CHECK(one.note.empty());
    const auto each = prompt("1 43 43 43 43 43 43 43 43 43 5", image);
    CHECK(each.tokens == one.tokens);
    const auto before = prompt("1 5", image);
    CHECK(before.tokens.front().text == "0,0");
    CHECK(before.tokens.size() == 11);
    CHECK(before.note == "the text has no image token: the image is before it");
    CHECK(prompt("", image).tokens.size() == 9);
    CHECK_FALSE(prompt("1 5", "").has_image);
    CHECK(sentence_in(image_prompt(model, "43 1 43", image)) ==
          "the text has 2 image tokens, #43; expected 1 in place of the image, or 9, one for each "
          "of its vectors");
    CHECK(sentence_in(image_prompt(model, "43 1", image + " || " + image)) ==
          "LLaVA reads one image; expected one file in place of 2");
    CHECK(sentence_in(model.run({{1, ""}, {43, ""}}, staged)) ==
          "the text has 1 image token, and the image that is read here 0 vectors; expected the "
          "same number");
    // the mean of every pixel, and another image, give other weights of the words behind it
    const auto last = [&](const std::string& file) {
        const auto run = must(read_group(model, {"43 1 5", file}, staged));
        return run.layers[1].trace[Stage::weights];
    };
    CHECK_FALSE(last("") == last(image));
    CHECK(must(read_group(model, {"43 1 5", ""}, staged)).note ==
          "no image is given: every pixel is the mean");
    // switching a head off changes the next layer, as of a text
    const auto off =
        must(read_group(model, {"43 1 5", image}, staged, all_stages(), {}, {{{0, 0}}, {}, {}}));
    CHECK_FALSE(off.layers[1].trace[Stage::weights] == last(image));
}

TEST_CASE("an image is prepared as processor_config.json has it, which agrees with config.json") {
    const auto folder = test::golden_model("llava");
    const Scratch scratch;
    const auto opened = [&](const std::string& more) {
        const auto to = scratch / "model";
        std::filesystem::remove_all(to);
        copy_renamed(folder, to, {});
        const std::string preparation = must(read_text_file(to / "preprocessor_config.json"));
        std::filesystem::remove(to / "preprocessor_config.json");
        write_bytes(to / "processor_config.json",
                    fmt::format(R"({{{}"image_processor":{}}})", more, preparation));
        return Model::open(to);
    };
    const auto model =
        must(opened(R"("patch_size":4,"vision_feature_select_strategy":"default",)"));
    CHECK(model.notes().empty());
    const auto whole = must(Model::open(folder));
    const Reading reading{"1 43 5", (folder / "image.png").string()};
    const Backend& staged = *find_backend("staged");
    CHECK(must(read_group(model, reading, staged)).read_out ==
          must(read_group(whole, reading, staged)).read_out);
    CHECK(sentence_in(opened(R"("patch_size":5,)"))
              .ends_with("processor_config.json has 'patch_size' = 5; expected 4, as config.json"));
    CHECK(
        sentence_in(opened(R"("vision_feature_select_strategy":"full",)"))
            .ends_with("has 'vision_feature_select_strategy' = \"full\"; expected \"default\", as "
                       "config.json"));
}

TEST_CASE("a decoder reads on against a cache what it reads as a whole") {
    for (const char* const name : {"bart", "marian", "t5"}) {
        CAPTURE(name);
        const auto model = must(Model::open(test::golden_model(name)));
        const auto expected = must(open_arrays(test::golden_model(name) / "expected.safetensors"));
        const Backend& staged = *find_backend("staged");
        auto decoding =
            must(decoding_of(model, {as_text(numbers(*expected, "ids")), "", ""}, staged));
        REQUIRE(decoding.tokens.size() == 1);
        const auto decoder = std::make_shared<const Model>(std::move(decoding.decoder));
        auto generation = must(Generation::of(decoder, staged));
        const auto written = tokens_of(numbers(*expected, "written"));
        const auto logits = numbers(*expected, "logits");
        const auto text = static_cast<std::ptrdiff_t>(logits.size() / written.size());
        for (std::size_t n = 0; n < written.size(); n += 2) {
            const std::size_t end = std::min(n + 2, written.size());
            const auto step =
                must(generation.read({written.begin() + static_cast<std::ptrdiff_t>(n),
                                      written.begin() + static_cast<std::ptrdiff_t>(end)}));
            const auto row = logits.begin() + static_cast<std::ptrdiff_t>(end - 1) * text;
            CHECK(error_of(step.logits(), {row, row + text}) < 1e-5);
            CHECK(step.rows.cross.empty());
        }
        if (model.config().family->key != "t5") continue;
        // K and V of the encoder are made once, and what it gave is held once
        KvCache cache;
        must(decoder->read_on(cache, {written[0]}, staged));
        REQUIRE(cache.cross.size() == 3);
        const float* const k = std::as_const(cache.cross[1].k).data();
        must(decoder->read_on(cache, {written[1]}, staged));
        CHECK(std::as_const(cache.cross[1].k).data() == k);
        const auto whole = must(decoder->run(written, staged));
        CHECK(whole.cross[0].inputs->x_kv.data() == whole.cross[2].inputs->x_kv.data());
    }
}

TEST_CASE("layers of linear attention are a group, and a longer text is read again as a whole") {
    const auto folder = test::golden_model("qwen3_next");
    const auto model = std::make_shared<const Model>(must(Model::open(folder)));
    const auto expected = must(open_arrays(folder / "expected.safetensors"));
    const Backend& staged = *find_backend("staged");
    const auto ids = numbers(*expected, "ids"), logits = numbers(*expected, "logits");
    REQUIRE(groups_of(*model).size() == 2);
    for (const auto& [group, first] : {std::pair{"linear", 0}, std::pair{"full", 1}}) {
        const auto run = must(read_group(*model, {as_text(ids), "", group}, staged));
        REQUIRE(run.layers.size() == 2);
        for (std::size_t n = 0; n < 2; ++n) {
            CHECK(run.number(n) == static_cast<Index>(2 * n) + first);
            const auto weights = numbers(*expected, fmt::format("l{}.weights", run.number(n)));
            CHECK(error_of(run.layers[n].trace[Stage::weights].values(), weights) < kOtherOrder);
        }
    }
    const auto tokens = tokens_of(ids);
    auto generation = must(Generation::of(model, staged));
    must(generation.read({tokens.begin(), tokens.end() - 1}));
    const auto step = must(generation.read({tokens.back()}));
    CHECK(step.first == 0);
    const auto vocabulary = static_cast<std::ptrdiff_t>(step.logits().size());
    CHECK(error_of(step.logits(), {logits.end() - vocabulary, logits.end()}) < kOtherOrder);
    KvCache cache;
    must(model->read_on(cache, {tokens[0]}, staged));
    CHECK(sentence_in(model->read_on(cache, {tokens[1]}, staged)) ==
          "Qwen3-Next reads a text as a whole: the state of its linear attention is not stored");
}

TEST_CASE("what a model of two stacks cannot read is refused by name") {
    const auto model = must(Model::open(test::golden_model("t5")));
    const Backend& staged = *find_backend("staged");
    const auto fault = [&](const Reading& reading, const Interventions& with = {}) {
        return sentence_in(read_group(model, reading, staged, {}, {}, with));
    };
    CHECK(fault({"1 2", "", "memory"}) ==
          "group is 'memory'; expected one of encoder, decoder, cross");
    CHECK(fault({"1 2", "", "cross"}, {{{0, 0}}, {}, {}}) ==
          "interventions are of a stack's own attention; expected none in cross");
    CHECK(fault({"1 2", "99", "decoder"}) == "token 99 is not one of 45");
    CHECK(sentence_in(model.second()->run({{0, ""}}, staged)) ==
          "the decoder of T5 reads what its other stack gave; expected that");
    CHECK(sentence_in(decoding_of(must(Model::open(test::golden_model("clip"))), {"1"}, staged)) ==
          "CLIP gives no next token: it has no decoder");
    const auto gpt2 = must(Model::open(test::golden_model("gpt2")));
    CHECK(groups_of(gpt2).empty());
    CHECK(sentence_in(read_group(gpt2, {"1", "", "cross"}, staged)) ==
          "group is 'cross', but GPT-2 has one kind of attention");
}

TEST_CASE("attention's output is kept where it is asked for") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const auto expected = open_arrays(test::golden_model("gpt2") / "expected.safetensors");
    const auto run =
        must(model.run(tokens_of(numbers(**expected, "ids")), *find_backend("staged")));
    for (std::size_t n = 0; n < run.layers.size(); ++n)
        CHECK(error_of(run.layers[n].trace[Stage::output].values(),
                       numbers(**expected, fmt::format("l{}.output", n))) < 1e-5);
}

TEST_CASE("what a model cannot run is refused by its number") {
    const auto model = must(Model::open(test::golden_model("gpt2")));
    const Backend& staged = *find_backend("staged");
    CHECK(model.run({}, staged).error().text() == "the text has no token");
    CHECK(model.run({{50, ""}}, staged).error().text() == "token 50 is not one of 50");
    CHECK(model.run({{-1, ""}}, staged).error().text() == "token -1 is not one of 50");
    const auto long_run = model.run(std::vector<ModelToken>(17, {1, ""}), staged);
    CHECK(long_run.error().text() == "the text has 17 tokens; this model takes 16");
    CHECK(
        model.tokens_of("a").error().text() ==
        "this model's folder has no tokenizer.json, vocab.json, vocab.txt, tokenizer.model or "
        "spiece.model; without a tokenizer a text is the numbers of its tokens, such as 15496 995");
    const auto numbered = must(model.tokens_of(" 7, 0 49"));
    REQUIRE(numbered.size() == 3);
    CHECK(numbered[2].id == 49);
    CHECK(numbered[2].text == "#49");
    for (const char* text : {"", " ", "7 -1", "7 a", "7.5"}) CHECK_FALSE(model.tokens_of(text));
}

TEST_CASE("a run ends soon after it was stopped") {
    const auto model = must(Model::open(test::golden_model("llama")));
    CHECK_FALSE(model.run({{1, ""}, {2, ""}}, *find_backend("staged"), all_stages(),
                          RunControl{stopped(), {}}));
}
