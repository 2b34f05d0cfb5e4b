// Every model family opens in Step, Heads and the Map, every kind of call in Step and Heads, by one command, with
// PyTorch's weights: goldens/models (make_models.py) and goldens/kinds (make_kinds.py).
#include <cmath>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/map/actions.h"
#include "app/common/map/pictures.h"
#include "app/common/map/requests.h"
#include "app/common/workspace.h"
#include "app/files/axes.h"
#include "app/window/requests.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/state.h"
#include "core/io/arrays/array_file.h"
#include "core/large/cell_arithmetic.h"
#include "core/large/map_input.h"
#include "core/models/config.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "tests/cli/start.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

constexpr double kNear = 1e-5;  // of float32 against float64

using Numbers = std::vector<double>;

Numbers numbers(const ArrayFile& file, const std::string& name) {
    CAPTURE(name);
    const auto array = must(file.read(name));
    return std::visit(
        [](const auto& values) -> Numbers {
            if constexpr (std::is_arithmetic_v<typename std::decay_t<decltype(values)>::value_type>)
                return {values.begin(), values.end()};
            return {};
        },
        array.values);
}

/// V of all heads, each after its values of earlier tokens.
Numbers values_of(const ArrayFile& file, Index heads) {
    const Numbers now = numbers(file, "V");
    if (!file.contains("past_v")) return now;
    const Numbers past = numbers(file, "past_v");
    const Index each_past = std::ssize(past) / heads, each_now = std::ssize(now) / heads;
    Numbers all;
    for (Index h = 0; h < heads; ++h) {
        all.insert(all.end(), past.begin() + h * each_past, past.begin() + (h + 1) * each_past);
        all.insert(all.end(), now.begin() + h * each_now, now.begin() + (h + 1) * each_now);
    }
    return all;
}

/// What one head of PyTorch's is: its weights, and the lengths of the values that its group shares.
struct Expected {
    Numbers weights;  // [Tq,Tk]
    Numbers value_norms;
};
/// Arrays of one sequence: weights [H,Tq,Tk] and v [Hkv,Tk,d_v].
Expected head_of(const Numbers& weights, const Numbers& v, std::size_t head,
                 const HeadsLayer& layer, std::size_t kv_heads) {
    const auto cells = static_cast<std::size_t>(layer.tq * layer.tk);
    const auto keys = static_cast<std::size_t>(layer.tk);
    const std::size_t group = static_cast<std::size_t>(layer.heads) / kv_heads;
    const std::size_t width = v.size() / kv_heads / keys;
    Expected expected;
    for (std::size_t n = 0; n < cells; ++n) expected.weights.push_back(weights[head * cells + n]);
    for (std::size_t j = 0; j < keys; ++j) {
        double squares = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
            const double value = v[((head / group) * keys + j) * width + c];
            squares += value * value;
        }
        expected.value_norms.push_back(std::sqrt(squares));
    }
    return expected;
}

void check_near(std::span<const float> values, const Numbers& expected) {
    REQUIRE(values.size() == expected.size());
    for (std::size_t n = 0; n < expected.size(); ++n)
        CHECK(std::abs(double{values[n]} - expected[n]) < kNear);
}

/// −Σ a ln a / ln n of rows of n ≥ 2 keys of weight, and a[i, i + offset − 1]: means over rows of any weight.
struct Measured {
    double evenness = 0.0, previous = 0.0;
};
Measured measured(const Numbers& weights, Index queries, Index keys, Index offset) {
    Measured mean;
    double even = 0.0, before = 0.0;
    for (Index i = 0; i < queries; ++i) {
        const double* const a = weights.data() + i * keys;
        const auto count = std::count_if(a, a + keys, [](double one) { return one > 0.0; });
        if (count == 0) continue;
        double entropy = 0.0;
        for (Index j = 0; j < keys; ++j)
            if (a[j] > 0.0) entropy -= a[j] * std::log(a[j]);
        if (count >= 2) mean.evenness += entropy / std::log(static_cast<double>(count)), ++even;
        if (const Index key = i + offset - 1; key >= 0 && key < keys)
            mean.previous += a[key], ++before;
    }
    return {mean.evenness / even, mean.previous / before};
}

view::AppState started(const cli::StartOptions& options) {
    auto start = must(read_start(options));
    view::play(start.state, start.actions, start.open);
    return start.state;
}

void check_open_in(const view::AppState& state, std::string_view key) {
    CAPTURE(key);
    const auto found =
        std::ranges::find(state.workspaces, key, [](const auto* each) { return each->key; });
    REQUIRE(found != state.workspaces.end());
    CHECK((*found)->missing_data(state) == "");
}

/// The Map workspace opens over that layer and head: each weight that it draws, and that a cell's arithmetic ends with.
void check_mapped(view::AppState& state, HeadPlace place, const Expected& expected) {
    check_open_in(state, "large");
    view::apply(state, view::ShowHead{place.head, {}, place.layer});
    view::apply(state, view::SetWorkspace{"large"});
    view::apply(state, view::SetMapCanvas{{1000.0, 800.0}});
    if (const auto input = view::requested_map_input(state))
        view::apply(state, view::run(*input, {}));
    REQUIRE(view::map_look(state).fault == "");
    const auto request = view::requested_map(state);
    REQUIRE(request);
    large::WeightMap map(request->input, {}, [] {});
    map.want(request->view);
    map.wait_until_idle();
    view::apply(state, view::MapReady{request->input, map.snapshot()});
    const auto [tq, tk] = std::pair{state.document().size.tq, state.document().size.tk};
    REQUIRE(std::ssize(expected.weights) == tq * tk);
    for (Index i = 0; i < tq; ++i)
        for (Index j = 0; j < tk; ++j) {
            const double weight = expected.weights[i * tk + j];
            const auto drawn = view::drawn_weight(view::map_look(state), {i, j});
            REQUIRE(drawn);
            CHECK(drawn->side == 1);
            CHECK(std::abs((drawn->masked ? 0.0 : drawn->weight) - weight) < kNear);
            const auto cell =
                large::cell_arithmetic(request->input->source, request->view.head, {i, j});
            CHECK(std::abs(cell.weight - weight) < kNear);
        }
}

/// Both workspaces show these numbers.
void check_shown(view::AppState& state, HeadPlace place, Index batch, const Expected& expected) {
    INFO("place.layer ", place.layer, ", place.head ", place.head);
    view::apply(state, view::ShowHead{place.head, batch, place.layer});
    view::apply(state, view::SetWorkspace{"heads"});
    const auto& result = view::heads_look(state).result;
    REQUIRE(result);
    REQUIRE(result->batch == batch);
    const HeadsLayer& layer = result->layers[place.layer];
    CHECK(layer.fault == "");
    check_near({layer.weights.matrix(batch, place.head).data, expected.weights.size()},
               expected.weights);
    const auto& norms = layer.value_norms[place.head];
    for (std::size_t j = 0; j < norms.size(); ++j)
        CHECK(norms[j] == doctest::Approx(expected.value_norms[j]).epsilon(kNear));
    view::apply(state, view::SetWorkspace{"step"});
    REQUIRE(state.trace);
    check_near(
        {(*state.trace)[Stage::weights].matrix(batch, place.head).data, expected.weights.size()},
        expected.weights);
}

Arguments reading(const test::ReadableModel& model) {
    Arguments what{model.folder};
    if (!model.text.empty()) what = joined(what, {"--text", model.text});
    if (!model.image.empty()) what = joined(what, {"--image", model.image});
    return what;
}

/// One column of the CSV that `attnscope heads` prints.
std::vector<double> listed(const Arguments& what, std::size_t column) {
    const Ran ran = succeeds(joined(joined({"heads"}, what), {"-o", "-"}));
    std::istringstream lines(ran.out);
    std::string line;
    std::getline(lines, line);
    std::vector<double> values;
    while (std::getline(lines, line)) {
        std::istringstream cells(line);
        std::string cell;
        for (std::size_t n = 0; n <= column; ++n) std::getline(cells, cell, ',');
        values.push_back(std::stod(cell));
    }
    return values;
}
constexpr std::size_t kEvenness = 4, kPrevious = 5;

}  // namespace

TEST_CASE("a folder of each family opens in Step, Heads and Map with PyTorch's weights") {
    for (const ModelFamily& each : model_families()) {
        const std::string family(each.key);
        CAPTURE(family);
        if (each.read_out == ReadOut::sentence) continue;
        const Scratch scratch;
        const test::ReadableModel model = test::readable_model(scratch, family);
        cli::StartOptions options;
        options.files = {model.folder};
        if (!model.text.empty()) options.text = model.text;
        if (!model.image.empty()) options.image = model.image;
        REQUIRE(cli::resolve_start(options, {}));
        view::AppState state = started(options);
        check_open_in(state, "step");
        check_open_in(state, "heads");
        view::apply(state, view::SetWorkspace{"heads"});
        REQUIRE(view::heads_look(state).result);
        const auto file = must(open_arrays(test::golden_model(family) / "expected.safetensors"));
        const auto even = listed(reading(model), kEvenness);
        const auto previous = listed(reading(model), kPrevious);
        const auto layers = view::heads_look(state).result->layers.size();
        REQUIRE(layers == 2);
        std::size_t line = 0;
        for (std::size_t n = 0; n < layers; ++n) {
            // layers 0 and 2 of these are of linear attention, another group
            const std::size_t number = each.names.delta_net.empty() ? n : 2 * n + 1;
            const std::string at = "l" + std::to_string(number) + ".";
            const Numbers weights = numbers(*file, at + "weights");
            const Numbers k = numbers(*file, at + "k");
            const Numbers q = numbers(*file, at + "q");
            const HeadsLayer& layer = view::heads_look(state).result->layers[n];
            const auto heads = static_cast<std::size_t>(layer.heads);
            const std::size_t kv_heads = k.size() * heads / q.size();
            CHECK(kv_heads == (heads == 4 && !family.ends_with("bert") ? 2 : heads));
            for (std::size_t head = 0; head < heads; ++head, ++line) {
                const Expected expected =
                    head_of(weights, numbers(*file, at + "v"), head, layer, kv_heads);
                const Measured mean = measured(expected.weights, layer.tq, layer.tk, 0);
                REQUIRE(line < even.size());
                CHECK(even[line] == doctest::Approx(mean.evenness).epsilon(1e-4));
                CHECK(previous[line] == doctest::Approx(mean.previous).epsilon(1e-4));
                const HeadPlace place{static_cast<Index>(n), static_cast<Index>(head)};
                check_shown(state, place, 0, expected);
                check_mapped(state, place, expected);
            }
        }
        CHECK(even.size() == line);
    }
}

TEST_CASE("every kind of call opens in Step and Heads with PyTorch's weights of every sequence") {
    const std::map<std::string, Index> offsets{{"causal_bottom_right", 6},
                                               {"offset_window", 4},
                                               {"rope_offset", 6},
                                               {"past", 4},
                                               {"past_window", 4}};
    std::size_t calls = 0;
    for (const auto& entry : std::filesystem::directory_iterator(ATTN_TEST_DATA "/kinds")) {
        const std::string name = entry.path().stem().string();
        CAPTURE(name);
        ++calls;
        cli::StartOptions options;
        options.files = {entry.path().string()};
        Arguments call{entry.path().string()};
        if (name == "additive_masked") {  // causal, and 7 queries of 9 keys
            options.reading["causal"] = "top-left";
            call.push_back("--causal=top-left");
        }
        REQUIRE(cli::resolve_start(options, {}));
        view::AppState state = started(options);
        check_open_in(state, "step");
        check_open_in(state, "heads");
        const auto file = must(open_arrays(entry.path()));
        const Numbers weights = numbers(*file, "weights");
        const auto size = state.document().size;
        const Numbers v = values_of(*file, size.batch * size.kv_heads);
        const auto offset = offsets.contains(name) ? offsets.at(name) : 0;
        const bool square = size.tq == size.tk || offset != 0;
        const auto even = listed(call, kEvenness);
        const auto previous = square ? listed(call, kPrevious) : std::vector<double>();
        REQUIRE(std::ssize(even) == size.heads);
        for (Index batch = 0; batch < size.batch; ++batch) {
            const auto part = [&](const Numbers& all) {
                const auto one = std::ssize(all) / size.batch;
                return Numbers(all.begin() + batch * one, all.begin() + (batch + 1) * one);
            };
            for (Index head = 0; head < size.heads; ++head) {
                HeadsLayer layer;
                layer.heads = size.heads, layer.tq = size.tq, layer.tk = size.tk;
                const auto at = static_cast<std::size_t>(head);
                const Expected expected = head_of(part(weights), part(v), at, layer, 2);
                check_shown(state, {0, head}, batch, expected);
                if (batch != 0) continue;
                const Measured mean = measured(expected.weights, size.tq, size.tk, offset);
                CHECK(even[at] == doctest::Approx(mean.evenness).epsilon(1e-4));
                if (square) CHECK(previous[at] == doctest::Approx(mean.previous).epsilon(1e-4));
            }
        }
    }
    CHECK(calls >= 43);
}

TEST_CASE("a call's options are taken by heads and render as by trace, and refused with a model") {
    const Scratch scratch;
    const std::string out = scratch.at("out.npz");
    const Arguments decoding{golden("decode.npz"), "--causal=bottom-right", "--softcap", "1.5",
                             "--alibi"};
    succeeds(joined(joined({"trace"}, decoding), {"-o", out}));
    const Npz traced = read_npz(out).value();
    const auto& weights = floats(traced, "weights");
    const Numbers row(weights.begin(), weights.begin() + 3);
    CHECK(listed(decoding, kPrevious)[0] == doctest::Approx(row[1]).epsilon(1e-5));
    CHECK(listed(decoding, kEvenness)[0] ==
          doctest::Approx(measured(row, 1, 3, 2).evenness).epsilon(1e-5));
    // what an option needs beside it may stand in the file
    const std::string turned = scratch.at("turned.npz");
    succeeds({"trace", golden("decode.npz"), "--rope", "half", "-o", turned});
    succeeds({"heads", turned, "--rope-base", "50"});
    check_refused({"heads", golden("decode.npz"), "--rope-base", "50"}, "without rope");
    check_refused({"heads", golden("decode.npz"), "--window", "x"},
                  "--window is 'x'; expected a whole number");
    const std::string folder = test::gpt2_folder(scratch).string();
    for (const std::string command : {"heads", "render"})
        check_refused({command, folder, "--text", "ab", "--causal", "-o",
                       command == "heads" ? "-" : scratch.at("x.svg")},
                      "--causal is for a file of tensors; '" + folder + "' is a trained model");
}
