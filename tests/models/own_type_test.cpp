// Weights in the type of their file: float16 and bfloat16 against the same numbers in float32.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include <nlohmann/json.hpp>

#include "core/backend.h"
#include "core/halves.h"
#include "core/io/arrays/array_file.h"
#include "core/io/gguf.h"
#include "core/io/json.h"
#include "core/kernels/matmul.h"
#include "core/models/circuits.h"
#include "core/models/family.h"
#include "core/models/generate.h"
#include "core/models/interventions.h"
#include "core/models/lens.h"
#include "core/models/model.h"
#include "core/models/sweep.h"
#include "core/models/weight_matrix.h"
#include "core/models/weights.h"
#include "core/narrow.h"
#include "tests/io/bytes.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

/// Towards 0; of float16 what is below 2^-14 becomes 0, what is above 65504 that.
std::uint16_t half_of(float value, HalfFormat format) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (format == HalfFormat::bfloat16) return static_cast<std::uint16_t>(bits >> 16U);
    const std::uint32_t sign = bits >> 16U & 0x8000U;
    const int exponent = static_cast<int>(bits >> 23U & 0xFFU) - 112;
    if (exponent < 1) return static_cast<std::uint16_t>(sign);
    if (exponent > 30) return static_cast<std::uint16_t>(sign | 0x7BFFU);
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent) << 10U |
                                      (bits >> 13U & 0x03FFU));
}

struct FloatArray {
    std::vector<Index> extents;
    std::vector<float> values;
};
using FloatArrays = std::map<std::string, FloatArray>;

/// The family's weights, rounded to what 16 bits hold.
FloatArrays rounded_weights(std::string_view family, HalfFormat format) {
    const auto file = must(open_arrays(test::golden_model(family) / "model.safetensors"));
    FloatArrays arrays;
    for (const std::string& name : file->names()) {
        CAPTURE(name);
        const auto array = must(file->read(name));
        const auto* const floats = std::get_if<std::vector<float>>(&array.values);
        if (name.ends_with("position_ids")) continue;  // whole numbers, which are not read
        REQUIRE(floats);
        FloatArray& to = arrays[name];
        to.extents = array.extents;
        for (const float value : *floats)
            to.values.push_back(widened(half_of(value, format), format));
    }
    return arrays;
}

/// As float32 where `format` is nullptr.
std::string file_of(const FloatArrays& arrays, const HalfFormat* format) {
    nlohmann::json header = nlohmann::json::object();
    std::string data;
    for (const auto& [name, array] : arrays) {
        const std::size_t begin = data.size();
        for (const float value : array.values)
            data +=
                format ? little<std::uint16_t>({half_of(value, *format)}) : little<float>({value});
        const char* const dtype = !format                           ? "F32"
                                  : *format == HalfFormat::bfloat16 ? "BF16"
                                                                    : "F16";
        header[name] = {
            {"dtype", dtype}, {"shape", array.extents}, {"data_offsets", {begin, data.size()}}};
    }
    return safetensors(header.dump(), data);
}

Model model_with(const Scratch& scratch, std::string_view family, std::string_view bytes) {
    std::filesystem::copy_file(test::golden_model(family) / "config.json", scratch / "config.json");
    write_bytes(scratch / "model.safetensors", bytes);
    return must(Model::open(scratch.path()));
}

Result<ModelRun> run_image_of(const Model& model, const Interventions& with) {
    const ImageInput& input = *model.config().image;
    Tensor pixels({1, input.channels, input.size, input.size});
    for (Index n = 0; n < pixels.count(); ++n)
        pixels.data()[n] = static_cast<float>(n % 7) / 4 - 0.75F;
    return model.run_image(pixels, *find_backend("staged"), all_stages(), {}, with);
}

/// Of five tokens, of an image, or of silence.
ModelRun run_of(const Model& model, const Interventions& with = {}) {
    if (model.config().sound)
        return must(model.read("", *find_backend("staged"), all_stages(), {}, with));
    return must(model.config().image ? run_image_of(model, with)
                                     : model.run({{3, ""}, {1, ""}, {4, ""}, {1, ""}, {5, ""}},
                                                 *find_backend("staged"), all_stages(), {}, with));
}

void check_equal(const ModelRun& a, const ModelRun& b) {
    REQUIRE(a.layers.size() == b.layers.size());
    for (std::size_t n = 0; n < a.layers.size(); ++n) {
        CHECK(a.layers[n].residual == b.layers[n].residual);
        for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::weights, Stage::output})
            CHECK(a.layers[n].trace[stage] == b.layers[n].trace[stage]);
    }
    CHECK(a.read_out == b.read_out);
}

}  // namespace

TEST_CASE("every 16 bits are the float16 that IEEE 754 says") {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const int exponent = static_cast<int>(bits >> 10U & 0x1FU);
        const int fraction = static_cast<int>(bits & 0x3FFU);
        const float found = from_half(static_cast<std::uint16_t>(bits));
        REQUIRE(std::signbit(found) == (bits >= 0x8000U));
        if (exponent == 31 && fraction != 0) {
            REQUIRE(std::isnan(found));
            continue;
        }
        const double magnitude = exponent == 31  ? INFINITY
                                 : exponent == 0 ? std::ldexp(fraction, -24)
                                                 : std::ldexp(1024 + fraction, exponent - 25);
        REQUIRE(std::abs(static_cast<double>(found)) == magnitude);
    }
}

TEST_CASE("a vocabulary of more words than are multiplied at a time: each word has its own logit") {
    FloatArrays arrays = rounded_weights("gpt2", HalfFormat::float16);
    const Scratch few_folder, many_folder;
    const ModelRun few = run_of(model_with(few_folder, "gpt2", file_of(arrays, nullptr)));
    constexpr Index kDescriptions = 9000;
    FloatArray& table = arrays.at("transformer.wte.weight");
    const Index word_count = table.extents[0];
    const std::vector<float> own = table.values;
    while (std::ssize(table.values) < kDescriptions * table.extents[1])
        table.values.insert(table.values.end(), own.begin(), own.end());
    table.extents[0] = std::ssize(table.values) / table.extents[1];
    write_bytes(many_folder / "model.safetensors", file_of(arrays, nullptr));
    std::ifstream golden(test::golden_model("gpt2") / "config.json");
    auto config = nlohmann::json::parse(golden);
    config["vocab_size"] = table.extents[0];
    std::ofstream(many_folder / "config.json") << config;
    const ModelRun many = run_of(must(Model::open(many_folder.path())));
    REQUIRE(many.read_out.shape().d >= kDescriptions);
    REQUIRE(few.read_out(0, 0, 0, 1) != few.read_out(0, 0, 0, 2));
    for (Index t = 0; t < many.read_out.shape().t; ++t)
        for (Index word = 0; word < many.read_out.shape().d; ++word)
            REQUIRE(many.read_out(0, 0, t, word) ==
                    doctest::Approx(few.read_out(0, 0, t, word % word_count)).epsilon(1e-5));
}

TEST_CASE("a model in 16 bits runs, bit for bit, as the same numbers in float32") {
    for (const ModelFamily& family : model_families())
        for (const HalfFormat format : {HalfFormat::float16, HalfFormat::bfloat16}) {
            CAPTURE(family.key);
            const FloatArrays arrays = rounded_weights(family.key, format);
            const Scratch narrow_folder, wide_folder;
            const Model narrow = model_with(narrow_folder, family.key, file_of(arrays, &format));
            const Model wide = model_with(wide_folder, family.key, file_of(arrays, nullptr));
            const auto table = [](const Model& model) {
                const ModelWeights& weights = model.weights();
                return model.config().reads_text() ? weights.embedding : weights.positions;
            };
            const Index entries = table(wide).shape().count();
            CHECK(table(wide).bytes() == 4 * entries);
            CHECK(table(narrow).bytes() == 2 * entries);
            const BlockWeights& block = narrow.weights().blocks.front();
            const LinearWeights& down =
                block.experts.empty() ? block.mlp.down : block.experts.front().down;
            CHECK(down.weight.bytes() == 2 * down.weight.shape().count());
            for (const Param param : {Param::w_q, Param::w_k, Param::w_v, Param::w_o})
                CHECK(block.attention[param].narrow() != nullptr);

            const ModelRun run = run_of(narrow);
            check_equal(run, run_of(wide));
            const auto unrounded = must(Model::open(test::golden_model(family.key)));
            CHECK_FALSE(run.layers.back().residual == run_of(unrounded).layers.back().residual);

            if (family.gated_heads) continue;  // interventions are refused
            const Interventions off{{{0, 1}}, {}, {}};
            check_equal(run_of(narrow, off), run_of(wide, off));
        }
}

TEST_CASE("in 16 bits lens, sweeps, circuits and a text that goes on have the bits of float32") {
    const std::vector<ModelToken> tokens{{3, ""}, {1, ""}, {4, ""}, {1, ""}, {5, ""}};
    const Backend& staged = *find_backend("staged");
    for (const char* const family : {"gpt2", "llama", "gpt_neox", "gemma2"})
        for (const HalfFormat format : {HalfFormat::float16, HalfFormat::bfloat16}) {
            CAPTURE(family);
            const FloatArrays arrays = rounded_weights(family, format);
            const Scratch narrow_folder, wide_folder;
            const auto narrow = std::make_shared<const Model>(
                model_with(narrow_folder, family, file_of(arrays, &format)));
            const auto wide = std::make_shared<const Model>(
                model_with(wide_folder, family, file_of(arrays, nullptr)));
            const auto both = [&](const auto& of) {
                const auto a = of(*narrow), b = of(*wide);
                CHECK(a == b);
            };
            both([&](const Model& model) {
                const ModelRun run = must(model.run(tokens, staged, attribution_stages()));
                const auto parts = must(attribute_logit(model, run, 4, 2, 1));
                std::vector<double> values{parts.logit, parts.sum};
                for (const LogitPart& part : parts.parts) values.push_back(part.value);
                const HeadSweep sweep = must(sweep_heads(model, run, staged));
                for (const SweptHead& head : sweep.swept)
                    values.insert(values.end(), {head.difference, head.kl});
                return values;
            });
            both([&](const Model& model) {
                const HeadCircuit circuit = must(head_circuit(model, {1, 1}));
                std::vector<double> values = circuit.qk;
                values.insert(values.end(), circuit.ov.begin(), circuit.ov.end());
                values.push_back(circuit.copying.value_or(0.0));
                return values;
            });
            both([&](const Model& model) {
                return must(token_circuit(model, {1, 0}, tokens)).qk.values;
            });
            both([&](const Model& model) {  // the reference takes its weights to float64
                return must(model.run(tokens, *find_backend("reference"))).read_out;
            });
            const auto grown = [&](const std::shared_ptr<const Model>& model) {
                auto text = must(Generation::of(model, staged));
                must(text.read(tokens));
                const Tensor logits = must(text.read(2)).rows.read_out;
                return logits;
            };
            CHECK(grown(narrow) == grown(wide));
        }
}

TEST_CASE("a copy of a tensor in 16 bits has its own floats, and a written one its own numbers") {
    const Tensor narrow =
        Tensor::narrow({1, 1, 1, 3}, {0x3F80, 0xC000, 0x7F80}, HalfFormat::bfloat16);
    CHECK(narrow == Tensor({1, 1, 1, 3}, std::vector<float>{1.0F, -2.0F, INFINITY}));
    Tensor changed = narrow;
    CHECK(changed.narrow() != narrow.narrow());
    CHECK(changed.narrow()->data() == narrow.narrow()->data());
    CHECK(std::as_const(changed).data() != narrow.data());
    changed.data()[0] = 7.0F;
    CHECK(changed.narrow() == nullptr);
    CHECK(changed(0, 0, 0, 1) == -2.0F);
    CHECK(narrow(0, 0, 0, 0) == 1.0F);
    const Tensor moved = std::move(changed);
    CHECK(moved(0, 0, 0, 0) == 7.0F);
}

TEST_CASE("shards in 16 bits are held in 16 bits") {
    const HalfFormat format = HalfFormat::bfloat16;
    const FloatArrays arrays = rounded_weights("llama", format);
    const Scratch one_folder, shards_folder;
    const Model one = model_with(one_folder, "llama", file_of(arrays, &format));
    nlohmann::json index;
    for (const auto& [name, array] : arrays) index["weight_map"][name] = "part.safetensors";
    std::filesystem::copy_file(test::golden_model("llama") / "config.json",
                               shards_folder / "config.json");
    write_bytes(shards_folder / "part.safetensors", file_of(arrays, &format));
    write_bytes(shards_folder / "model.safetensors.index.json", index.dump());
    const auto shards = must(Model::open(shards_folder.path()));
    CHECK(shards.weights().embedding.bytes() == one.weights().embedding.bytes());
    check_equal(run_of(shards), run_of(one));
}

TEST_CASE("a matrix in 16 bits of a wrong shape is refused as one in float32 is") {
    const HalfFormat format = HalfFormat::float16;
    FloatArrays arrays = rounded_weights("llama", format);
    FloatArray& up = arrays.at("model.layers.0.mlp.up_proj.weight");
    std::swap(up.extents[0], up.extents[1]);
    const auto fault = [&](const HalfFormat* as) {
        const Scratch folder;
        std::filesystem::copy_file(test::golden_model("llama") / "config.json",
                                   folder / "config.json");
        write_bytes(folder / "model.safetensors", file_of(arrays, as));
        const auto model = must_fail(Model::open(folder.path()));
        const std::string& sentence = model.text();
        return sentence.substr(sentence.find("model.safetensors"));
    };
    CHECK(contains(fault(&format), "array 'model.layers.0.mlp.up_proj.weight' is ["));
    CHECK(fault(&format) == fault(nullptr));
}

TEST_CASE("gate and up of experts in one matrix are as wide: an odd number of columns is refused") {
    const Scratch folder;
    FloatArrays arrays = rounded_weights("gpt_oss", HalfFormat::float16);
    for (const char* end : {"", "_bias"}) {
        FloatArray& both = arrays.at(std::string("model.layers.0.mlp.experts.gate_up_proj") + end);
        const auto columns = static_cast<std::size_t>(both.extents.back());
        both.values.resize(both.values.size() / columns * (columns - 1));
        --both.extents.back();
    }
    auto config = must(read_json_file(test::golden_model("gpt_oss") / "config.json"));
    config.erase("intermediate_size");
    std::ofstream(folder / "config.json") << config;
    write_bytes(folder / "model.safetensors", file_of(arrays, nullptr));
    CHECK(
        contains(sentence_in(Model::open(folder.path())),
                 "layer 0 has one matrix of 71 columns for gate and up; expected an even number"));
}

namespace {

/// Blocks of Q4_K, Q6_K or Q8_0 of random bytes, whose scales are small numbers.
std::vector<unsigned char> random_blocks(const BlockCode& code, Index count, std::uint32_t seed) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(count * code.bytes));
    for (unsigned char& byte : bytes) {
        seed = seed * 1664525U + 1013904223U;
        byte = static_cast<unsigned char>(seed >> 24U);
    }
    for (Index n = 0; n < count; ++n) {
        unsigned char* const block = bytes.data() + n * code.bytes;
        if (code.bytes == 210)
            block[209] = 0x1C;  // 2^-8, a little more
        else
            block[1] = 0x1C, block[3] = code.bytes == 144 ? 0x1C : block[3];
    }
    return bytes;
}

Tensor random_rows(Index rows, Index columns) {
    Tensor a({1, 1, rows, columns});
    std::uint32_t seed = 7;
    for (float& value : a.values()) {
        seed = seed * 1664525U + 1013904223U;
        value = static_cast<float>(seed >> 8U) * 0x1p-23F - 1.0F;
    }
    return a;
}

/// out = a B, or out += a B.
Tensor product(const Tensor& a, const WeightPart& b, Into into) {
    Tensor out({1, 1, a.shape().t, b.transposed ? b.rows : b.columns}, 0.5F);
    multiply({a.matrix(0, 0)}, b, out.matrix(0, 0), into);
    return out;
}

}  // namespace

TEST_CASE("a product with blocks of codes is the one with their numbers in float32") {
    constexpr Index kRows = 512, kColumns = 768;
    for (const std::uint32_t type : {8U, 12U, 14U})
        for (const bool turned : {false, true}) {
            CAPTURE(type);
            CAPTURE(turned);
            const BlockCode& code = gguf_type(type)->code;
            const auto owner = std::make_shared<const std::vector<unsigned char>>(
                random_blocks(code, kRows * kColumns / code.items, type));
            const BlockMatrix blocks{&code, *owner, kRows, kColumns, turned};
            const Shape shape =
                turned ? Shape{1, 1, kColumns, kRows} : Shape{1, 1, kRows, kColumns};
            const Tensor coded =
                Tensor::stored(shape, std::make_shared<const Narrow>(blocks, owner));
            const Tensor wide(shape,
                              std::vector<float>(coded.data(), coded.data() + coded.count()));
            CHECK(wide(0, 0, 5, 7) == WeightMatrix(coded)(5, 7));
            std::vector<float> row(static_cast<std::size_t>(shape.d));
            WeightMatrix(coded).copy_row(3, row);
            CHECK(std::ranges::equal(row, wide.matrix(0, 0).row(3)));
            const auto parts = [&](const Tensor& of) {
                return std::vector<WeightPart>{
                    WeightPart{of}, rows_of_weight(of, 64, 300), columns_of_weight(of, 100, 264),
                    transposed(WeightPart{of}), transposed(columns_of_weight(of, 3, 500))};
            };
            const auto of_codes = parts(coded), of_floats = parts(wide);
            for (std::size_t n = 0; n < of_codes.size(); ++n)
                for (const Index rows : {1, 2, 7, 200})
                    for (const Into into : {Into::replace, Into::add}) {
                        CAPTURE(n);
                        CAPTURE(rows);
                        const WeightPart& b = of_codes[n];
                        const Tensor a = random_rows(rows, b.transposed ? b.columns : b.rows);
                        const Tensor ours = product(a, b, into);
                        const Tensor theirs = product(a, of_floats[n], into);
                        if (rows > 1) {
                            CHECK(ours == theirs);
                            continue;
                        }
                        // One row: another order of sums, each within k ε Σ |a b|.
                        const auto k = static_cast<float>(a.shape().d);
                        for (Index column = 0; column < ours.shape().d; ++column) {
                            float size = 0.5F;
                            for (Index i = 0; i < a.shape().d; ++i)
                                size += std::abs(a(0, 0, 0, i) *
                                                 (b.transposed
                                                      ? wide(0, 0, b.row + column, b.column + i)
                                                      : wide(0, 0, b.row + i, b.column + column)));
                            REQUIRE(std::abs(ours(0, 0, 0, column) - theirs(0, 0, 0, column)) <=
                                    k * 0x1p-24F * size);
                        }
                    }
        }
}

TEST_CASE("a row with a number of another size times blocks of codes is the one in float32") {
    constexpr Index kRows = 640, kColumns = 512;
    for (const std::uint32_t type : {12U, 14U}) {  // Q4_K, Q6_K
        const BlockCode& code = gguf_type(type)->code;
        const auto owner = std::make_shared<const std::vector<unsigned char>>(
            random_blocks(code, kRows * kColumns / code.items, type));
        const BlockMatrix blocks{&code, *owner, kRows, kColumns, false};
        const Tensor coded =
            Tensor::stored({1, 1, kRows, kColumns}, std::make_shared<const Narrow>(blocks, owner));
        const Tensor wide({1, 1, kRows, kColumns},
                          std::vector<float>(coded.data(), coded.data() + coded.count()));
        for (const float other :
             {0.0F, 1e-40F, 1e-30F, 1e6F, 1e30F, -1e30F, std::numeric_limits<float>::quiet_NaN()}) {
            CAPTURE(type);
            CAPTURE(other);
            Tensor a = random_rows(1, kColumns);
            a(0, 0, 0, 100) = other;
            const Tensor ours = product(a, transposed(WeightPart{coded}), Into::replace);
            for (Index n = 0; n < kRows; ++n) {
                double sum = 0.0, size = 1e-6;
                for (Index k = 0; k < kColumns; ++k) {
                    const double one = double{a(0, 0, 0, k)} * double{wide(0, 0, n, k)};
                    sum += one;
                    size += std::abs(one);
                }
                // The integers of 16 numbers are as exact as the largest of them.
                for (Index k = 96; k < 112 && std::isfinite(other); ++k)
                    size += std::abs(double{other} * double{wide(0, 0, n, k)});
                if (std::isnan(sum))
                    REQUIRE(std::isnan(ours(0, 0, 0, n)));
                else
                    REQUIRE(std::abs(ours(0, 0, 0, n) - sum) <= 64 * 0x1p-24 * size);
            }
        }
    }
}
