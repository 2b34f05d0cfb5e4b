// The image of a file of arrays: its pixels, and which tokens are its patches.

#include "app/files/image_arrays.h"

#include <cmath>

#include <fmt/format.h>

#include "app/files/call.h"
#include "core/io/png_image.h"
#include "tests/files/opened.h"

using namespace attn;
using namespace attn::files;

namespace {

/// Weights alone, all even, with these arrays.
struct WeightsFile {
    Scratch scratch;
    std::vector<float> weights;
    std::vector<NpzEntry> entries;
    std::string path = scratch.at("f.npz");

    WeightsFile(Index queries, Index keys)
        : weights(static_cast<std::size_t>(queries * keys), 1.0F / static_cast<float>(keys)) {
        entries.push_back({"weights", {1, queries, keys}, weights});
    }
    WeightsFile& with(const char* name, const std::vector<float>& numbers) {
        const auto& stored = *numbers_.emplace_back(std::make_unique<std::vector<float>>(numbers));
        entries.push_back({name, {std::ssize(stored)}, stored});
        return *this;
    }
    WeightsFile& with_pixels(std::vector<Index> extents, const std::vector<float>& values) {
        const auto& stored = *numbers_.emplace_back(std::make_unique<std::vector<float>>(values));
        entries.push_back({"image", std::move(extents), stored});
        return *this;
    }
    WeightsFile& with_texts(const char* name, std::vector<std::string> texts) {
        entries.push_back({name, {}, {}, std::move(texts)});
        return *this;
    }
    TensorFile read() {
        REQUIRE(write_npz(path, entries));
        return must(read_tensors(path, {}, Values::optional));
    }
    std::string refused() {
        REQUIRE(write_npz(path, entries));
        return sentence_in(read_tensors(path, {}, Values::optional));
    }

  private:
    std::vector<std::unique_ptr<std::vector<float>>> numbers_;
};

std::vector<float> grey(Index pixels) {
    return std::vector<float>(static_cast<std::size_t>(pixels), 0.5F);
}

}  // namespace

TEST_CASE(
    "tokens of an image are named by row and column, for keys and for queries that are the same") {
    const TensorFile file =
        WeightsFile(7, 7).with("image_tokens", {1, 6}).with("image_grid", {2, 3}).read();
    CHECK(file.tokens == std::vector<std::string>{"0", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2"});
    CHECK(file.tokens_kv.empty());
    CHECK(file.image == nullptr);
    const TensorFile square = WeightsFile(5, 5)
                                  .with("image_tokens", {1, 4})
                                  .with_texts("tokens", {"a", "*", "*", "*", "*"})
                                  .read();
    CHECK(square.tokens == std::vector<std::string>{"a", "0,0", "0,1", "1,0", "1,1"});
}

TEST_CASE("cross-attention has patches on one side; the other keeps its words") {
    const TensorFile cross =
        WeightsFile(2, 4).with("image_grid", {2, 2}).with_texts("tokens", {"a", "cat"}).read();
    CHECK(cross.tokens == std::vector<std::string>{"a", "cat"});
    CHECK(cross.tokens_kv == std::vector<std::string>{"0,0", "0,1", "1,0", "1,1"});
    const TensorFile diffusion = WeightsFile(4, 4)
                                     .with("image_queries", {0, 4})
                                     .with_texts("tokens_kv", {"<s>", "a", "cat", "</s>"})
                                     .read();
    CHECK(diffusion.tokens == std::vector<std::string>{"0,0", "0,1", "1,0", "1,1"});
    CHECK(diffusion.tokens_kv == std::vector<std::string>{"<s>", "a", "cat", "</s>"});
    const TensorFile unnamed = WeightsFile(4, 4).with("image_queries", {0, 4}).read();
    CHECK(unnamed.tokens[3] == "1,1");
    CHECK(unnamed.tokens_kv == std::vector<std::string>{"0", "1", "2", "3"});
}

TEST_CASE("pixels: floats 0 to 1, grey, alpha over white; a large image is resized") {
    const auto of = [](std::vector<Index> extents, const std::vector<float>& values) {
        return WeightsFile(1, 1)
            .with("image_tokens", {0, 1})
            .with_pixels(std::move(extents), values)
            .read()
            .image;
    };
    CHECK(of({1, 2, 3}, {0, 0.5F, 1, 1, 0.2F, 0})->rgb ==
          std::vector<std::uint8_t>{0, 128, 255, 255, 51, 0});
    CHECK(of({1, 2}, {0, 1})->rgb == std::vector<std::uint8_t>{0, 0, 0, 255, 255, 255});
    CHECK(of({1, 1, 4}, {0, 0, 1, 0.2F})->rgb == std::vector<std::uint8_t>{204, 204, 255});
    const auto large = of({4, 2 * kMostShownSide}, grey(8 * kMostShownSide));
    CHECK(large->width == kMostShownSide);
    CHECK(large->height == 2);
    CHECK(large->rgb[0] == 128);
}

TEST_CASE("a wrong image is named, with its value and what to do") {
    const auto has = [](const std::string& text, std::initializer_list<const char*> parts) {
        for (const char* const part : parts) {
            CAPTURE(text);
            CHECK(contains(text, part));
        }
    };
    has(WeightsFile(5, 5).with("image_tokens", {1, 5}).refused(),
        {"image_tokens is [1, 5]", "ends at token 6", "5 keys (Tk)", "at most 5"});
    has(WeightsFile(5, 5).with("image_queries", {0, 9}).refused(),
        {"image_queries is [0, 9]", "5 queries (Tq)"});
    has(WeightsFile(5, 5).with("image_tokens", {-1, 4}).refused(),
        {"image_tokens is [-1, 4]", "at least 0"});
    has(WeightsFile(5, 5).with("image_tokens", {0.5F, 4}).refused(),
        {"image_tokens is [0.5, 4]", "whole numbers"});
    has(WeightsFile(5, 5).with("image_tokens", {0, 0}).refused(),
        {"image_tokens is [0, 0]", "at least 1"});
    has(WeightsFile(5, 5).with("image_tokens", {0, 1e30F}).refused(), {"image_tokens is [0, 1"});
    has(WeightsFile(5, 5).with("image_tokens", {1}).refused(),
        {"image_tokens is float32 [1]", "two whole numbers"});
    has(WeightsFile(5, 5).with("image_tokens", {0, 5}).refused(),
        {"5 patches, which is not a square", "image_grid"});
    has(WeightsFile(5, 5).with("image_tokens", {1, 4}).with("image_grid", {1, 3}).refused(),
        {"image_grid is [1, 3], 3 patches", "rows · columns = 4"});
    has(WeightsFile(5, 5).with("image_tokens", {1, 4}).with("image_grid", {0, 4}).refused(),
        {"image_grid is [0, 4]"});
    has(WeightsFile(5, 5).with("image_grid", {2, 2}).refused(),
        {"image_grid is [2, 2], 4 patches", "5 queries and 5 keys", "Add image_tokens"});
    has(WeightsFile(4, 4).with("image_tokens", {0, 4}).with_pixels({3, 8, 9}, grey(216)).refused(),
        {"image is [3, 8, 9]", "[height, width, 3]", "image.transpose(1, 2, 0)"});
    has(WeightsFile(4, 4)
            .with("image_tokens", {0, 4})
            .with_pixels({1, 2, 2, 3}, grey(12))
            .refused(),
        {"image is [1, 2, 2, 3]", "one image alone"});
    has(WeightsFile(4, 4).with("image_tokens", {0, 4}).with_pixels({1, 2}, {0, 2.5F}).refused(),
        {"image has the value 2.5 at place 1", "0 to 1", "Undo the model's normalisation"});
    has(WeightsFile(4, 4)
            .with("image_tokens", {0, 4})
            .with_pixels({1, 2}, {0, std::nanf("")})
            .refused(),
        {"image has the value nan"});
    has(WeightsFile(4, 4)
            .with("image_tokens", {0, 4})
            .with_pixels({1, kMostImageSide + 1}, grey(kMostImageSide + 1))
            .refused(),
        {"image is [1, 32769]", "32768 pixels along a side"});
}

TEST_CASE("an image without patches is named in a note and not shown") {
    const TensorFile file = WeightsFile(5, 5).with_pixels({1, 2}, {0, 1}).read();
    CHECK(file.image == nullptr);
    REQUIRE_FALSE(file.notes.empty());
    CHECK(std::ranges::any_of(file.notes, [](const Note& note) {
        return contains(note.text, "image is not shown") && contains(note.text, "image_tokens");
    }));
}

TEST_CASE("a file of patches by name needs the image alone, as trace writes it") {
    WeightsFile file(5, 5);
    const TensorFile read = file.with_texts("tokens", {"CLS", "0,0", "0,1", "1,0", "1,1"})
                                .with_pixels({2, 2}, {0, 1, 1, 0})
                                .read();
    REQUIRE(read.image);
    CHECK(read.image->width == 2);
    const FileCall call = must(read_call(file.path, {}, kOnlyLayer, Values::optional));
    CHECK(call.image->rgb == read.image->rgb);
    const auto opened = must(open(file.path));
    CHECK(opened.document->image->rgb == read.image->rgb);
    CHECK(opened.document->tokens[4] == "1,1");
}
