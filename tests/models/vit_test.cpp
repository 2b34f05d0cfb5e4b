// What a model of images reads, and what is refused. Every layer beside PyTorch's is in torch_test.cpp.
#include <doctest/doctest.h>

#include <fstream>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/models/model.h"
#include "core/models/patches.h"
#include "core/models/read_out.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

const std::filesystem::path kVitFolder = test::golden_model("vit");

constexpr const char* kVitSizes =
    R"("model_type":"vit","hidden_size":24,"num_hidden_layers":2,"num_attention_heads":3)";

std::string vit_fault(const std::string& more) {
    return sentence_in(parse_model_config(fmt::format("{{{},{}}}", kVitSizes, more), "c.json"));
}

/// Of 4 × 4 pixels in patches of 2 × 2.
ImageInput four_patches(Index channels) {
    ImageInput input;
    input.size = 4;
    input.patch = 2;
    input.channels = channels;
    input.mean.assign(channels, 0.5);
    input.deviation.assign(channels, 0.5);
    return input;
}

}  // namespace

TEST_CASE("an image's size, patches and classes stand in config.json") {
    const auto config = must(parse_model_config(
        fmt::format(R"({{{},"image_size":224,"patch_size":16,"id2label":{{"1":"dog","0":"cat"}}}})",
                    kVitSizes),
        "c.json"));
    REQUIRE(config.image);
    CHECK(config.image->side() == 14);
    CHECK(config.image->channels == 3);
    CHECK(config.epsilon == 1e-12);
    CHECK(config.image->mean == std::vector<double>{0.5, 0.5, 0.5});
    CHECK(class_text(*config.image, 0) == "cat");
    CHECK(class_text(*config.image, 1) == "dog");
    CHECK(class_text(*config.image, 7) == "#7");
}

TEST_CASE("what is wrong with a ViT's config is named") {
    CHECK(vit_fault(R"("image_size":224)") == "c.json has no 'patch_size'");
    CHECK(vit_fault(R"("patch_size":16)") == "c.json has no 'image_size'");
    CHECK(vit_fault(R"("image_size":8,"patch_size":9)") ==
          "c.json has 'patch_size' = 9; expected at most 'image_size' = 8");
    CHECK(vit_fault(R"("image_size":8192,"patch_size":16)") ==
          "c.json has 'image_size' = 8192; expected at most 4096");
    CHECK(vit_fault(R"("image_size":8,"patch_size":4,"num_channels":4)") ==
          "c.json has 'num_channels' = 4; expected 1 or 3");
    for (const char* labels : {R"(["cat"])", R"({"a":"cat"})", R"({"0":1})", R"({"-1":"cat"})"})
        CHECK(vit_fault(fmt::format(R"("image_size":8,"patch_size":4,"id2label":{})", labels)) ==
              fmt::format("c.json has 'id2label' = {}; expected an object that names classes by "
                          "number: {{\"0\": \"cat\"}}",
                          labels));
}

TEST_CASE("preprocessor_config.json says mean and deviation, and what is not computed is refused") {
    const auto read = [](const std::string& json) {
        return parse_image_preparation(json, "p.json", four_patches(3));
    };
    const auto plain = must(read("{}"));
    CHECK(plain.has_preparation);
    CHECK(plain.factor == 1.0 / 255.0);
    CHECK(plain.mean == std::vector<double>{0.5, 0.5, 0.5});
    const auto own = must(read(
        R"({"image_mean":[0.1,0.2,0.3],"image_std":2,"rescale_factor":0.5,"resample":2,"size":4})"));
    CHECK(own.mean == std::vector<double>{0.1, 0.2, 0.3});
    CHECK(own.deviation == std::vector<double>{2.0, 2.0, 2.0});
    CHECK(own.factor == 0.5);
    const auto off = must(read(R"({"do_normalize":false,"do_rescale":false,"image_std":[1,2,3]})"));
    CHECK(off.factor == 1.0);
    CHECK(off.mean == std::vector<double>{0.0, 0.0, 0.0});
    CHECK(off.deviation == std::vector<double>{1.0, 1.0, 1.0});
    CHECK(read(R"({"size":{"height":4,"width":4}})"));
    const auto fault = [&](const char* json) { return read(json).error().text(); };
    CHECK(fault(R"({"resample":1})") ==
          "p.json has 'resample' = 1; expected 2, bilinear, or 3, bicubic: no other way of "
          "resizing is computed here");
    CHECK(fault(R"({"size":{"shortest_edge":4}})") ==
          "p.json has 'do_center_crop' = false; expected true: the model takes a square");
    CHECK(fault(R"({"size":6})") ==
          "p.json has 'size' = 6; expected 4, which config.json has as 'image_size'");
    CHECK(fault(R"({"size":3,"do_center_crop":true})") ==
          "p.json has 'size' = 3; expected 4 or more, which config.json has as 'image_size'");
    CHECK(fault(R"({"do_center_crop":true,"crop_size":{"height":5,"width":5}})") ==
          "p.json has 'crop_size' = {\"height\":5,\"width\":5}; expected 4, which config.json has "
          "as 'image_size'");
    const auto cut = must(
        read(R"({"do_center_crop":true,"size":{"shortest_edge":6},"crop_size":4,"resample":3})"));
    CHECK(cut.resized == 6);
    CHECK(cut.keeps_shape);
    CHECK(cut.resampling == Resampling::bicubic);
    const RgbImage fitted =
        must(fitted_image({9, 12, std::vector<std::uint8_t>(324, 7), false}, cut));
    CHECK(fitted.width == 4);
    CHECK(fitted.rgb == std::vector<std::uint8_t>(48, 7));
    ImageInput large = cut;
    large.resized = 224;
    CHECK(sentence_in(fitted_image({32768, 1, std::vector<std::uint8_t>(98304), false}, large)) ==
          "an image of 32768 × 1 pixels is resized to 7340032 × 224 before its middle is read; "
          "expected at most 67108864 pixels");
    CHECK(fault(R"({"do_resize":false})") ==
          "p.json has 'do_resize' = false; expected true: every image is resized here");
    CHECK(fault(R"({"image_std":[1,0,1]})") ==
          "p.json has 'image_std' = [1,0,1]; expected 3 numbers above 0");
    CHECK(fault(R"({"image_mean":[1,0]})") ==
          "p.json has 'image_mean' = [1,0]; expected 3 numbers");
    CHECK(fault("[]") == "p.json is not a JSON object");
}

TEST_CASE("patches are cut row by row, and named by row and column") {
    const ImageInput input = four_patches(1);
    Tensor pixels({1, 1, 4, 4});
    for (std::size_t n = 0; n < 16; ++n) pixels.values()[n] = static_cast<float>(n);
    const Tensor patches = patches_of(pixels, input);
    CHECK(patches == Tensor({1, 1, 4, 4}, std::vector<float>{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13,
                                                             10, 11, 14, 15}));
    std::vector<std::string> names;
    for (const ModelToken& token : patch_tokens(input)) {
        CHECK(token.id == std::ssize(names));
        names.push_back(token.text);
    }
    CHECK(names == std::vector<std::string>{"CLS", "0,0", "0,1", "1,0", "1,1"});
}

TEST_CASE("pixels are rescaled and normalised, and one channel is the luminance") {
    RgbImage image{4, 4, std::vector<std::uint8_t>(48, 255), false};
    image.rgb[0] = 0;    // red
    image.rgb[1] = 51;   // green
    image.rgb[2] = 102;  // blue
    const Tensor colours = pixels_of(image, four_patches(3));
    CHECK(colours.shape() == Shape{1, 3, 4, 4});
    CHECK(colours(0, 0, 0, 0) == doctest::Approx(-1.0));
    CHECK(colours(0, 1, 0, 0) == doctest::Approx(-0.6));
    CHECK(colours(0, 2, 0, 0) == doctest::Approx(-0.2));
    CHECK(colours(0, 0, 0, 1) == doctest::Approx(1.0));
    const Tensor grey = pixels_of(image, four_patches(1));
    // 0.587 · 51 + 0.114 · 102 = 41.6
    CHECK(grey(0, 0, 0, 0) == doctest::Approx((42.0 / 255.0 - 0.5) / 0.5));
    CHECK(grey(0, 0, 3, 3) == doctest::Approx(1.0));
    CHECK(patched_part(image, four_patches(3)).rgb == image.rgb);
    const RgbImage shown = patched_part(image, four_patches(1));
    CHECK((shown.rgb[0] == 42 && shown.rgb[1] == 42 && shown.rgb[2] == 42));
    CHECK((shown.rgb[3] == 255 && shown.rgb.size() == 48));
}

TEST_CASE("a ViT names the class of an image, and reads no text") {
    const auto model = must(Model::open(kVitFolder));
    const auto image = must(read_png(kVitFolder / "image.png"));
    const Tensor pixels =
        pixels_of(must(fitted_image(image, *model.config().image)), *model.config().image);
    const Backend& staged = *find_backend("staged");
    const auto run = must(model.run_image(pixels, staged));
    REQUIRE(run.tokens.size() == 10);
    CHECK(run.tokens[0].text == "CLS");
    CHECK(run.tokens[9].text == "2,2");
    const auto first = likeliest(run.read_out.matrix(0, 0).row(0), 2);
    CHECK(class_text(*model.config().image, first[0].id) == "violin");
    CHECK(first[0].probability == doctest::Approx(0.69905352).epsilon(1e-5));
    CHECK(class_text(*model.config().image, first[1].id) == "cat");
    CHECK(model.tokens_of("a").error().text() == "this model reads an image, not a text");
    CHECK(model.run({{0, ""}}, staged).error().text() == "this model reads an image, not a text");
    CHECK(model.run_image(Tensor({1, 3, 14, 13}), staged).error().text() ==
          "the pixels are [1, 3, 14, 13]; this model takes [1, 3, 14, 14]");
    const auto text = must(Model::open(kVitFolder.parent_path() / "gpt2"));
    CHECK(text.run_image(pixels, staged).error().text() == "this model reads a text, not an image");
}

TEST_CASE("without a preprocessor_config.json the pixels are said to be around a half") {
    const Scratch scratch;
    test::copy_model("vit", scratch.path());
    const auto model = must(Model::open(scratch.path()));
    CHECK(model.notes() ==
          std::vector<std::string>{
              "the folder has no preprocessor_config.json; an image is resized to 14 × 14, "
              "bilinear with antialiasing; (v · 0.00392157 − 0.5 0.5 0.5) / 0.5 0.5 0.5"});
}

TEST_CASE("a projection of another patch is named with what was expected") {
    const Scratch scratch;
    std::filesystem::copy_file(kVitFolder / "model.safetensors", scratch / "model.safetensors");
    const auto open = [&](const char* sizes) {
        std::ofstream(scratch / "config.json") << fmt::format("{{{},{}}}", kVitSizes, sizes);
        return sentence_in(Model::open(scratch.path()));
    };
    const std::string file = scratch.at("model.safetensors");
    CHECK(open(R"("image_size":15,"patch_size":5)") ==
          file +
              ": array 'vit.embeddings.patch_embeddings.projection.weight' is [24, 3, 4, 4]; "
              "expected [24, 3, 5, 5]");
    CHECK(open(R"("image_size":16,"patch_size":4)") ==
          file + ": array 'vit.embeddings.position_embeddings' is [1, 10, 24]; expected [17, 24]");
}
