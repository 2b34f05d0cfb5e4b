// Heads where tokens are the patches of an image: a row of the weights over the picture.

#include <numeric>

#include "app/common/document/document.h"
#include "app/common/document/image_tokens.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/image.h"
#include "app/workspaces/heads/view.h"
#include "core/io/png_image.h"
#include "core/rng.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// CLS, 2 × 3 patches, and two words.
const std::vector<std::string> kTokens{"CLS", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2", "a", "cat"};

std::shared_ptr<const RgbImage> picture() {
    RgbImage image{6, 4, {}};
    for (int n = 0; n < 72; ++n) image.rgb.push_back(static_cast<std::uint8_t>(3 * n));
    return std::make_shared<const RgbImage>(std::move(image));
}

std::shared_ptr<Inputs> random_inputs(Index queries, Index keys) {
    auto inputs = std::make_shared<Inputs>();
    std::uint64_t n = 0;
    inputs->q = Tensor(Shape{1, 2, queries, 4});
    inputs->k = Tensor(Shape{1, 2, keys, 4});
    inputs->v = Tensor(Shape{1, 2, keys, 4});
    for (Tensor* const each : {&inputs->q, &inputs->k, &inputs->v})
        for (float& value : each->values()) value = static_cast<float>(normal(7, n++));
    return inputs;
}

AppState shown_with(std::shared_ptr<const Inputs> inputs, std::vector<std::string> tokens,
                    std::vector<std::string> tokens_kv = {}, const Actions& actions = {}) {
    Document document = document_of({std::move(inputs)}, "image.npz");
    document.tokens = std::move(tokens);
    document.tokens_kv = std::move(tokens_kv);
    document.image = picture();
    return after(after(state_of(std::move(document)).value(), {SetWorkspace{"heads"}}), actions);
}

AppState of_image(const Actions& actions = {}) {
    return shown_with(random_inputs(9, 9), kTokens, {}, actions);
}

HeadImageView image_of(const AppState& state) {
    const AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.images.size() == 1);
    return view.images.front();
}

MatrixView<const float> weights(const AppState& state) {
    return heads_look(state).result->weights({0, 0});
}

const HeadImageToken& word(const HeadImageView& view, const std::string& text) {
    const auto found = std::ranges::find(view.tokens, text, &HeadImageToken::text);
    REQUIRE(found != view.tokens.end());
    return *found;
}

/// Of one pixel in the middle of patch n.
Color color_at_patch(const HeadImageView& view, Index n, int scale = 3) {
    const auto columns = static_cast<int>(view.columns);
    const Image image = heat_image(view, scale * columns, scale * static_cast<int>(view.rows));
    const int x = static_cast<int>(n) % columns * scale + scale / 2;
    const int y = static_cast<int>(n) / columns * scale + scale / 2;
    const std::uint8_t* const at = &image.rgba[4 * static_cast<std::size_t>(y * image.width + x)];
    return {at[0], at[1], at[2], at[3]};
}

}  // namespace

TEST_CASE("tokens named by row and column are the patches of an image") {
    const auto of = [](std::vector<std::string> tokens) { return image_tokens(tokens); };
    CHECK(of(kTokens) == ImageTokens{1, 2, 3});
    CHECK(of({"CLS", "0,0"}) == ImageTokens{1, 1, 1});
    CHECK_FALSE(of({"the", "0,0", "point"}));
    const std::vector<std::string> one{"the", "0,0", "point"};
    CHECK(image_tokens(one, 1) == ImageTokens{1, 1, 1});
    CHECK_FALSE(of({"a", "cat"}));
    CHECK_FALSE(of({}));
    CHECK(of({"0,0", "0,1", "0,2"}) == ImageTokens{0, 1, 3});
    CHECK(of({"0,0", "1,0", "x"}) == ImageTokens{0, 2, 1});
    CHECK(of({"0,0", "0,1", "1,0"}) == ImageTokens{0, 1, 2});  // the last row is incomplete
}

TEST_CASE("a document of patches opens as an image; its row is the head's weights") {
    const AppState state = of_image();
    CHECK(heads_look(state).form == HeadForm::text);
    const HeadImageView view = image_of(state);
    CHECK(build_all_heads_view(state).controls.form.names[2] == "image");
    CHECK(view.rows == 2);
    CHECK(view.columns == 3);
    CHECK(view.title == "L0 H0: keys of “CLS”");
    REQUIRE(view.values.size() == 6);
    for (Index n = 0; n < 6; ++n) CHECK(view.values[n] == weights(state)(0, 1 + n));
    CHECK(view.range.high == doctest::Approx(*std::ranges::max_element(view.values)));
    CHECK(view.pixels);
    REQUIRE(view.tokens.size() == 3);
    CHECK(word(view, "cat").share == doctest::Approx(weights(state)(0, 8)));
    CHECK(word(view, "CLS").is_query);
    CHECK(view.tokens_title == "weights of “CLS”");
}

TEST_CASE("a hovered word shows its row; a hovered patch shows which words look at it") {
    AppState state = of_image({HoverHeadsPair{large::Cell{8, -1}}});
    HeadImageView view = image_of(state);
    CHECK(view.title == "L0 H0: keys of “cat”");
    for (Index n = 0; n < 6; ++n) CHECK(view.values[n] == weights(state)(8, 1 + n));
    CHECK(word(view, "cat").is_query);
    state = of_image({HoverHeadsPair{large::Cell{-1, 5}}});
    view = image_of(state);
    CHECK(view.key == 4);
    CHECK(view.tokens_title == "weights to patch 1,1");
    CHECK(word(view, "cat").share == doctest::Approx(weights(state)(8, 5)));
    for (Index n = 0; n < 6; ++n) CHECK(view.values[n] == weights(state)(0, 1 + n));
}

TEST_CASE("a patch as query shows its own row and has a ring") {
    const AppState state = of_image({SelectHeadsPair{4, 2}});
    const HeadImageView view = image_of(state);
    CHECK(view.title == "L0 H0: keys of patch 1,0");
    CHECK(view.query == 3);
    CHECK(view.key == 1);
    for (Index n = 0; n < 6; ++n) CHECK(view.values[n] == weights(state)(4, 1 + n));
}

TEST_CASE("cross-attention: patches as keys of words, and as queries") {
    const std::vector<std::string> patches{"0,0", "0,1", "0,2", "1,0", "1,1", "1,2"};
    const AppState to =
        shown_with(random_inputs(2, 6), {"a", "cat"}, patches, {SelectHeadsPair{1, 0}});
    HeadImageView view = image_of(to);
    for (Index n = 0; n < 6; ++n) CHECK(view.values[n] == weights(to)(1, n));
    CHECK(view.tokens_title == "weight on the image");
    CHECK(word(view, "a").share == doctest::Approx(1.0));
    CHECK(word(view, "cat").is_query);
    const AppState from =
        shown_with(random_inputs(6, 2), patches, {"a", "cat"}, {SelectHeadsPair{4, 1}});
    view = image_of(from);
    CHECK_FALSE(view.of_keys);
    CHECK(view.title == "L0 H0: patches that look at “cat”");
    for (Index n = 0; n < 6; ++n) CHECK(view.values[n] == weights(from)(n, 1));
    CHECK(word(view, "cat").is_key);
    CHECK(word(view, "a").share == doctest::Approx(weights(from)(4, 0)));
    CHECK(has(build_all_heads_view(from).point, "“cat”"));
}

TEST_CASE("a causal mask: the first query sees no patch, so the last one is shown") {
    Document document = document_of({random_inputs(9, 9)}, "image.npz");
    document.tokens = kTokens;
    document.spec.mask.causal = CausalAlign::top_left;
    const AppState state = after(state_of(std::move(document)).value(), {SetWorkspace{"heads"}});
    CHECK(image_of(state).title == "L0 H0: keys of “cat”");
    const HeadImageView first = image_of(after(state, {SelectHeadsPair{0, 0}}));
    CHECK(first.looks == std::vector<PatchLook>(6, PatchLook::masked));
    CHECK(color_at_patch(first, 2) == theme(state.theme).masked);  // without pixels it is opaque
    CHECK(build_all_heads_view(after(state, {SelectHeadsPair{0, 0}})).point ==
          "“CLS” gives no weight to the image.");
}

TEST_CASE("the form that an image has set goes with it; a chosen one stays") {
    const AppState state = of_image();
    CHECK(heads_look(after(state, {LoadPreset{"three-heads"}})).form == HeadForm::matrix);
    CHECK(heads_look(after(state, {SetHeadForm{"matrix"}, SelectHeadsPair{0, 1}})).form ==
          HeadForm::matrix);
    CHECK(heads_look(after(state, {SetHeadForm{"lines"}, LoadPreset{"three-heads"}})).form ==
          HeadForm::lines);
}

TEST_CASE(
    "the heat map: the largest weight has the full colour, patches are flat, smooth lies between") {
    AppState state = of_image({SetImageOpacity{1.0}});
    HeadImageView view = image_of(state);
    const auto most = std::ranges::max_element(view.values) - view.values.begin();
    CHECK(color_at_patch(view, most) == view.ramp.back());
    CHECK(color_at_patch(view, most, 1) == view.ramp.back());
    state = after(std::move(state), {SetImageOpacity{0.5}});
    CHECK(color_at_patch(image_of(state), most).a == 128);
    view = image_of(after(std::move(state), {SetImageSmooth{true}, SetImageOpacity{1.0}}));
    for (Index n = 0; n < 6; ++n)  // an odd scale has a pixel at each centre
        CHECK(color_at_patch(view, n) ==
              color_at_patch(image_of(of_image({SetImageOpacity{1.0}})), n));
    view.values = {0, 1, 0, 0, 0, 0};
    view.range.high = 1.0;
    view.range.curve = ColorCurve::linear;
    const Image image = heat_image(view, 9, 6);
    const std::uint8_t* const between = &image.rgba[4 * (1 * 9 + 3)];  // 1/3 from 0,1 to 0,0
    const Color expected = view.ramp[170];                             // 2/3 of 255
    CHECK(Color{between[0], between[1], between[2], between[3]} == expected);
}

TEST_CASE("keep: the largest weights that hold so much of the image's weight; equal ones alike") {
    HeadImageView view = image_of(of_image({SetImageMass{0.5}}));
    std::vector<float> sorted = view.values;
    std::ranges::sort(sorted, std::greater{});
    const double all = std::reduce(sorted.begin(), sorted.end(), 0.0);
    double sum = 0.0;
    std::size_t n = 0;
    while (sum < 0.5 * all) sum += sorted[n++];
    CHECK(view.cutoff == doctest::Approx(sorted[n - 1]));
    for (Index patch = 0; patch < 6; ++patch)
        CHECK((color_at_patch(view, patch).r ==
                   color_at(view.range.scale, 0.0, view.theme, view.range.map).r &&
               color_at_patch(view, patch).g ==
                   color_at(view.range.scale, 0.0, view.theme, view.range.map).g) ==
              (view.values[patch] < sorted[n - 1]));
    CHECK(has(view.legend[0], "are coloured as 0"));
    CHECK_FALSE(has(image_of(of_image()).legend[0], "are coloured as 0"));
}

TEST_CASE("a sink has at least 8 times the mean of all patches") {
    std::vector<double> means(20, 0.01);
    CHECK(image_sinks(means).empty());
    means[7] = 0.2;  // 20 · 0.2 = 4 ≥ 8 · 0.39 = 3.12
    CHECK(image_sinks(means) == std::vector<Index>{7});
    means[7] = 0.1;  // 2 < 2.32
    CHECK(image_sinks(means).empty());
    CHECK(image_sinks(std::vector<double>(20, 0.0)).empty());
    CHECK(image_sinks(std::vector<double>{1.0}).empty());
    CHECK(image_sinks({}).empty());
}

TEST_CASE("the headline follows from the row: shares, ties, one patch, zeros and NaN") {
    const auto point = [](const std::vector<float>& row) {
        auto inputs = std::make_shared<Inputs>();
        const Index tokens = std::ssize(row);
        inputs->q = inputs->k = inputs->v = Tensor(Shape{1, 1, tokens, tokens});
        for (Index i = 0; i < tokens; ++i) {
            inputs->k(0, 0, i, i) = 1.0F;
            for (Index j = 0; j < tokens; ++j)
                inputs->q(0, 0, i, j) =
                    std::max(std::log(row[j]), -200.0F) * std::sqrt(static_cast<float>(tokens));
        }
        std::vector<std::string> tokens_of{"CLS"};
        for (Index n = 1; n < tokens; ++n)
            tokens_of.push_back(patch_name((n - 1) / 2, (n - 1) % 2));
        if (tokens == 2) tokens_of = {"CLS", "0,0"};
        return build_all_heads_view(shown_with(inputs, tokens_of)).point;
    };
    CHECK(point({0.4F, 0.1F, 0.3F, 0.1F, 0.1F}) ==
          "“CLS” gives 60.0 % of its weight to the image, most (30.0 %) to row 0, column 1.");
    CHECK(point({0.2F, 0.2F, 0.2F, 0.2F, 0.2F}) ==
          "“CLS” gives 80.0 % of its weight to the image, 20.0 % to each patch.");
    CHECK(point({0.75F, 0.25F}) ==
          "“CLS” gives 25.0 % of its weight to the image, which is one patch.");
    CHECK(point({0.4F, 0.2F, 0.2F, 0.1F, 0.1F}) ==
          "“CLS” gives 60.0 % of its weight to the image, most (20.0 % each) to 2 patches.");
    CHECK(point({1.0F, 0.0F, 0.0F, 0.0F, 0.0F}) == "“CLS” gives no weight to the image.");
    CHECK(point({std::nanf(""), 0.1F, 0.3F, 0.1F, 0.1F}) ==
          "Q[CLS, 0] is NaN, so 5 rows of weights here hold NaN.");
}
