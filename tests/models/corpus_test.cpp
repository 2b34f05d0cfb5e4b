// Measures of heads over many texts: sums without rounding, several texts at once, blocks that are read when they are needed.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/ranges.h>

#include "core/corpus/file.h"
#include "core/corpus/measure.h"
#include "core/corpus/texts.h"
#include "core/engine.h"
#include "core/io/json.h"
#include "core/models/groups.h"
#include "core/models/several_texts.h"
#include "core/models/weights.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

ExactSum exact_sum_of(const std::vector<double>& numbers) {
    ExactSum sum;
    for (const double number : numbers) sum.add(ExactSum(number));
    return sum;
}

std::vector<ModelToken> numbered(std::initializer_list<Index> ids) {
    std::vector<ModelToken> tokens;
    for (const Index id : ids) tokens.push_back({id, fmt::format("#{}", id)});
    return tokens;
}

const std::vector<std::vector<ModelToken>> kThreeTexts{numbered({1, 4, 20, 20, 5, 9}),
                                                       numbered({7}), numbered({3, 3, 12, 3, 3})};

StageSet weights_and_context() {
    StageSet keep;
    for (const Stage stage : {Stage::weights, Stage::context}) keep.set(index_of(stage));
    return keep;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
    REQUIRE(a.size() == b.size());
    double largest = 0.0;
    for (std::size_t n = 0; n < a.size(); ++n)
        largest = std::max(largest, std::abs(double{a[n]} - b[n]));
    return largest;
}

void check_same_run(const ModelRun& got, const ModelRun& expected) {
    CHECK(got.read_out == expected.read_out);
    REQUIRE(got.layers.size() == expected.layers.size());
    for (std::size_t n = 0; n < got.layers.size(); ++n) {
        CHECK(got.layers[n].trace[Stage::weights] == expected.layers[n].trace[Stage::weights]);
        CHECK(got.layers[n].residual == expected.layers[n].residual);
        // it is attention of given Q, K and V, without the layer's W
        const auto again = attend(*got.layers[n].inputs, got.layers[n].spec).value();
        CHECK(largest_difference(again[Stage::weights].values(),
                                 std::as_const(expected.layers[n].trace)[Stage::weights].values()) <
              1e-6);
        CHECK_FALSE(got.layers[n].inputs->projects());
        // W_O alone stays, for the output
        CHECK((got.layers[n].inputs->params[Param::w_o] ==
               expected.layers[n].inputs->params[Param::w_o]));
        CHECK(again[Stage::output].shape() == expected.layers[n].trace[Stage::output].shape());
    }
}

void check_read_by_block(const std::filesystem::path& folder) {
    const Model all = Model::open(folder).value();
    const Model one = Model::open(folder, LoadedBlocks::one).value();
    CHECK(all.keeps_blocks());
    CHECK_FALSE(one.keeps_blocks());
    CHECK(one.weights().blocks.empty());
    const auto expected = all.run(kThreeTexts[0], *find_backend("staged")).value();
    check_same_run(one.run(kThreeTexts[0], *find_backend("staged")).value(), expected);
    Model passing = all;
    passing.let_blocks_go();
    CHECK(passing.weights().blocks.empty());
    const auto again = passing.run(kThreeTexts[0], *find_backend("staged"));
    check_same_run(must(again), expected);
    const auto second = must_fail(passing.run(kThreeTexts[0], *find_backend("staged")));
    CHECK(second.text() == "the weights of layer 0 are gone with an earlier run");
    const auto changed = [&](const Model& model) {
        const Interventions off{{{0, 0}}, {}, {}};
        return model.run(kThreeTexts[0], *find_backend("staged"), all_stages(), {}, off);
    };
    Model last = all;
    last.let_blocks_go();
    check_same_run(must(changed(last)), must(changed(all)));
}

}  // namespace

TEST_CASE("an exact sum is the sum rounded once, in any order") {
    struct Row {
        std::vector<double> numbers;
        double sum;
    };
    const double tiny = std::numeric_limits<double>::denorm_min();
    const double half = 0x1p-53;  // half a place of 1
    const Row rows[] = {{{}, 0.0},
                        {{0.0, 0.0}, 0.0},
                        {{1.0, 2.0, 3.5}, 6.5},
                        {{0.1, 0.2, 0.3}, 0.6},  // (0.1 + 0.2) + 0.3 is more in doubles
                        {{1.0, half}, 1.0},      // to the even one
                        {{1.0, half, half}, 1.0 + 2 * half},
                        {{1.0, half, tiny}, 1.0 + 2 * half},
                        {{1.0 + 2 * half, half}, 1.0 + 4 * half},
                        {{tiny, tiny}, 2 * tiny},
                        {{1e300, 1e-300, 1e300}, 2e300},
                        {{4294967295.0, 1.0}, 4294967296.0},
                        {{0x1.fffffffffffffp1023}, 0x1.fffffffffffffp1023}};
    for (Row row : rows) {
        const ExactSum sum = exact_sum_of(row.numbers);
        CHECK(sum.value() == row.sum);
        std::ranges::reverse(row.numbers);
        CHECK(exact_sum_of(row.numbers) == sum);
        CHECK(ExactSum::parse(sum.text()) == sum);
    }
    for (const char* wrong : {"", "0p0", "p1", "1p0", "0000000gp0", "00000001p", "00000001p99",
                              "00000001p-99", "00000001p0 ", "0000000000000001p0"})
        CHECK_MESSAGE(!ExactSum::parse(wrong), wrong);
}

TEST_CASE("exact sums of many numbers: any grouping gives equal bits, products are whole") {
    std::mt19937_64 random(5);
    std::vector<double> numbers;
    for (int n = 0; n < 500; ++n)
        numbers.push_back(std::ldexp(static_cast<double>(random() >> 11),
                                     static_cast<int>(random() % 200) - 150));
    const ExactSum whole = exact_sum_of(numbers);
    for (int turn = 0; turn < 20; ++turn) {
        std::ranges::shuffle(numbers, random);
        const auto cut = numbers.begin() + static_cast<std::ptrdiff_t>(random() % numbers.size());
        ExactSum joined = exact_sum_of({cut, numbers.end()});
        joined.add(exact_sum_of({numbers.begin(), cut}));
        CHECK(joined.text() == whole.text());
    }
    // (a + b)² − a² − 2 a b = b²
    const ExactSum a(0x1.23456789abcdep20), b(0x1.fedcba9876543p-30);
    ExactSum both = a;
    both.add(b);
    CHECK((both * both - a * a - ExactSum(2.0) * a * b) == b * b);
    CHECK((b * b).value() == 0x1.fedcba9876543p-30 * 0x1.fedcba9876543p-30);
    CHECK(b <= a);
    CHECK(a <= a);
    CHECK(ExactSum() <= b);
    CHECK_FALSE(a <= b);
    CHECK_FALSE(both <= a);
}

TEST_CASE("statistics: mean, deviation, extremes; parts in any order and grouping are the whole") {
    const auto text = [](Index number) {
        return std::make_shared<const CorpusText>(
            CorpusText{number, "a.txt", fmt::format("text {}", number), {}});
    };
    const std::vector<double> values{0.25, 0.75, 0.1, 0.75, 0.1, 0.5};
    const auto part = [&](std::initializer_list<Index> numbers) {
        CorpusResult result(CorpusModel{"m", "0", "tiny", 1, 1, 4});
        for (const Index number : numbers) {
            HeadMeasures measures;
            measures[HeadMeasure::sink] = values[number];
            if (number > 0) measures[HeadMeasure::previous] = 1e16 + 1.0;
            result.add(text(number), 3, {measures});
            result.cover("f", "a.txt", {number, number + 1});
        }
        result.leave_out(*text(*numbers.begin() + 100), LeftOut::empty);
        return result;
    };
    const auto joined = [](CorpusResult a, const CorpusResult& b) {
        REQUIRE(a.merge(b));
        return a;
    };
    const CorpusResult a = part({3, 1}), b = part({5, 0}), c = part({4, 2});
    const CorpusResult whole = joined(joined(a, b), c);
    CHECK(corpus_lines(joined(c, joined(b, a))) == corpus_lines(whole));
    CHECK(corpus_lines(joined(b, joined(a, c))) == corpus_lines(whole));
    const MeasureStatistics& sink = whole.heads.front()[HeadMeasure::sink];
    double mean = 0.0, squares = 0.0;
    for (const double value : values) mean += value / 6.0;
    for (const double value : values) squares += (value - mean) * (value - mean) / 6.0;
    CHECK(*sink.mean() == doctest::Approx(mean).epsilon(1e-15));
    CHECK(*sink.deviation() == doctest::Approx(std::sqrt(squares)).epsilon(1e-15));
    CHECK(sink.least->value == 0.1);
    CHECK(sink.least->text->number == 2);  // of equal ones the first
    CHECK(sink.most->text->text == "text 1");
    const MeasureStatistics& previous = whole.heads.front()[HeadMeasure::previous];
    CHECK(previous.texts == 5);
    CHECK(*previous.deviation() == 0.0);  // squares of doubles would say 16
    CHECK(whole.heads.front()[HeadMeasure::next].mean() == std::nullopt);
    CHECK(whole.texts == 6);
    CHECK(whole.left_out[0].count == 3);
    CHECK(whole.files.at("f").ranges == std::vector<TextRange>{{0, 6}});
    CHECK(corpus_lines(parse_corpus_lines(corpus_lines(whole), "x").value()) ==
          corpus_lines(whole));
    CorpusResult again = whole;
    CHECK(again.merge(part({2})).error().text() == "text 2 of a.txt is in both");
    CHECK(corpus_lines(again) == corpus_lines(whole));  // nothing was changed
    CorpusResult other(CorpusModel{"n", "1", "tiny", 1, 1, 4});
    CHECK_FALSE(again.merge(other));
    other.model = whole.model;
    other.model.batch = 8;
    CHECK_FALSE(again.merge(other));
    std::string lines = corpus_lines(whole);
    for (std::size_t end = lines.rfind('\n', lines.size() - 2); end != lines.npos && end > 0;
         end = lines.rfind('\n', end - 1))
        CHECK_FALSE(parse_corpus_lines(lines.substr(0, end + 1), "x"));  // a line is missing
}

TEST_CASE("a text of as many tokens as the model takes is read, of one more left out") {
    const Model model = Model::open(test::golden_model("gpt2")).value();
    const Index most = model.most_tokens().value();
    const auto read = [&](Index count) {
        const std::vector<Index> ids(static_cast<std::size_t>(count), 1);
        return read_text_line(model, fmt::format(R"({{"tokens": [{}]}})", fmt::join(ids, ", ")),
                              true);
    };
    CHECK_FALSE(read(most).left_out);
    CHECK(std::ssize(read(most).tokens) == most);
    CHECK(read(most + 1).left_out == LeftOut::too_long);
}

TEST_CASE("a line longer than the longest is read past, and what follows it is the next line") {
    std::istringstream in(std::string(kMostLineBytes, 'a') + "\n" +
                          std::string(kMostLineBytes + 1, 'a') + "\nthe last");
    std::string line;
    bool too_long = true;
    CHECK(next_line(in, line, too_long));
    CHECK_FALSE(too_long);
    CHECK(line.size() == kMostLineBytes);
    CHECK(next_line(in, line, too_long));
    CHECK(too_long);
    CHECK(line.empty());
    CHECK(next_line(in, line, too_long));
    CHECK_FALSE(too_long);
    CHECK(line == "the last");
    CHECK_FALSE(next_line(in, line, too_long));
}

TEST_CASE("several texts at once: weights and measures of each are those of the text by itself") {
    for (const char* family :
         {"gpt2", "llama", "qwen3", "gemma2", "gemma3_text", "bert", "use_lite", "gpt_neox",
          "mixtral", "gpt_oss", "phi3~longrope", "olmo2"}) {
        CAPTURE(family);
        const Model model = Model::open(test::golden_model(family)).value();
        const Backend& staged = *find_backend("staged");
        std::vector<ModelRun> alone;
        for (const auto& tokens : kThreeTexts)
            alone.push_back(model.run(tokens, staged, weights_and_context()).value());
        Index layers = 0;
        const auto look = [&](const LayerOfTexts& layer) {
            ++layers;
            REQUIRE(layer.traces.size() == 3);
            for (std::size_t n = 0; n < 3; ++n)
                CHECK(largest_difference(
                          layer.traces[n][Stage::weights].values(),
                          std::as_const(alone[n].layers[layer.layer].trace[Stage::weights])
                              .values()) < 2e-6);
        };
        REQUIRE(run_texts(model, kThreeTexts, staged, look));
        CHECK(layers == model.config().layers);
        const auto facts = measure_texts(model, kThreeTexts, true).value();
        for (std::size_t n = 0; n < 3; ++n) {
            std::vector<std::shared_ptr<const Inputs>> inputs;
            std::vector<AttentionSpec> specs;
            std::vector<std::string> items;
            for (const ModelLayer& layer : alone[n].layers) {
                inputs.push_back(layer.inputs);
                specs.push_back(layer.spec);
            }
            for (const ModelToken& token : kThreeTexts[n]) items.push_back(token.text);
            HeadsInput input{inputs, {}, specs.front(), {}, items};
            input.specs = specs;
            const HeadsResult expected = compute_heads(input, {backends(), "staged"});
            REQUIRE(facts[n].size() == expected.heads.size());
            for (std::size_t h = 0; h < facts[n].size(); ++h) {
                CHECK(facts[n][h].place == expected.heads[h].place);
                CHECK(facts[n][h].label.has_value() == expected.heads[h].label.has_value());
                for (std::size_t m = 0; m < kCorpusMeasures; ++m) {
                    const auto& is = facts[n][h].measures.values[m];
                    const auto& should = expected.heads[h].measures.values[m];
                    REQUIRE(is.has_value() == should.has_value());
                    if (is) CHECK(*is == doctest::Approx(*should).epsilon(1e-5));
                }
            }
        }
    }
}

TEST_CASE("blocks that are read when they are needed give the same bits") {
    for (const char* family : {"gpt2", "llama", "bert", "mixtral"}) {
        CAPTURE(family);
        check_read_by_block(test::golden_model(family));
    }
    const Scratch scratch;  // the encoder of a T5 without its decoder
    test::copy_model("t5", scratch / "t5");
    auto config = read_json_file(scratch / "t5" / "config.json").value();
    config["architectures"] = {"T5EncoderModel"};
    std::ofstream(scratch / "t5" / "config.json") << config;
    check_read_by_block(scratch / "t5");
}

TEST_CASE("so do two stacks, each group of them") {
    const std::string clip = (test::golden_model("clip") / "image.png").string();
    const std::pair<const char*, Reading> readings[] = {
        {"t5", {"3 1 4 1 5", "2 7", ""}},      {"t5", {"3 1 4 1 5", "2 7", "decoder"}},
        {"t5", {"3 1 4 1 5", "2 7", "cross"}}, {"clip", {"3 1 4", clip, ""}},
        {"clip", {"3 1 4", clip, "image"}},    {"clip", {"3 1 4 || 5 9", clip, "match"}}};
    for (const auto& [family, reading] : readings) {
        INFO("family ", family, ", reading.group ", reading.group);
        const Model all = Model::open(test::golden_model(family)).value();
        const Model one = Model::open(test::golden_model(family), LoadedBlocks::one).value();
        REQUIRE(one.second());
        CHECK(one.weights().blocks.empty());
        CHECK(one.second()->weights().blocks.empty());
        const Backend& backend = *find_backend("staged");
        const auto expected = read_group(all, reading, backend).value();
        const auto got = read_group(one, reading, backend).value();
        CHECK(got.read_out == expected.read_out);
        REQUIRE(got.layers.size() == expected.layers.size());
        for (std::size_t n = 0; n < got.layers.size(); ++n) {
            CHECK(got.layers[n].trace[Stage::weights] == expected.layers[n].trace[Stage::weights]);
            CHECK(got.layers[n].residual == expected.layers[n].residual);
            CHECK_FALSE(got.layers[n].inputs->projects());
        }
    }
}

TEST_CASE("texts are parted by two bars, and one may have them itself behind a backslash") {
    using Texts = std::vector<std::string>;
    CHECK(parts_of("a cat || a dog") == Texts{"a cat", "a dog"});
    CHECK(parts_of(R"(a \|| b || \||\||| c)") == Texts{"a || b", "||||| c"});
    CHECK(parts_of("||") == Texts{"", ""});
    const auto same = [](const std::string& part) { return part; };
    for (const char* const all : {R"(a \|| b || c)", "x", R"(x \||)", "a | b || c"})
        CHECK(parts_of(with_parts(all, same)) == parts_of(all));
}
