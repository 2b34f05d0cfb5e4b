// The Large workspace from the command line: start options, files, and the worker beside the window.
#include "app/cli/desktop_options.h"
#include "app/cli/map_worker.h"
#include "app/cli/render_parts.h"
#include "app/cli/start.h"
#include "tests/cli/command.h"

using namespace attn;

namespace {

cli::StartOptions desktop(const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    const auto options = cli::parse_desktop(words, {out, err});
    CAPTURE(err.str());
    REQUIRE(std::holds_alternative<cli::DesktopOptions>(options));
    return std::get<cli::DesktopOptions>(options).start;
}

view::AppState started(const std::vector<std::string>& words) {
    auto start = cli::read_start(desktop(words), attn::backends());
    REQUIRE(start);
    for (const view::Action& action : start->actions) view::apply(start->state, action);
    return start->state;
}

std::string start_fault(const std::vector<std::string>& words) {
    return cli::read_start(desktop(words), attn::backends()).error().sentence;
}

/// The worker's answers until there are none.
void settle(cli::MapWorker& worker, view::AppState& state) {
    for (bool news = true; news;) {
        worker.want(view::wanted_map(state));
        worker.settle();
        const view::Actions answers = worker.take();
        news = !answers.empty();
        for (const view::Action& answer : answers) view::apply(state, answer);
    }
}

}  // namespace

TEST_CASE("the window starts with a file of tensors, a generated matrix, at a cell") {
    const view::AppState file = started({golden("qkv.npz")});
    CHECK(file.workspace == view::Workspace::large);
    CHECK(file.large.origin == view::MapOrigin(view::MapFile{golden("qkv.npz")}));
    const view::AppState planted = started({"--planted", "4096", "--go-to", "4000,5"});
    CHECK(std::get<large::PlantedSpec>(planted.large.origin).tokens == 4096);
    CHECK(planted.large.selected == large::Cell{4000, 5});
    const view::AppState first = started({"--workspace", "large"});
    CHECK(std::get<large::PlantedSpec>(first.large.origin) == large::PlantedSpec{});
    CHECK(started({"--go-to", "7"}).large.selected == large::Cell{7, 7});
    CHECK(std::get<large::PlantedSpec>(
              started({"--workspace", "large", "--planted", "300"}).large.origin)
              .tokens == 300);
}

TEST_CASE("start options that cannot be carried out name what was expected") {
    CHECK(
        says(start_fault({"--planted", "10"}), "--planted is 10; expected 256 to 1048576 tokens"));
    CHECK(says(start_fault({"--planted", "2000000"}), "256 to 1048576"));
    CHECK(says(start_fault({"--planted", "512", "--go-to", "here"}),
               "--go-to is 'here'; expected a query and a key"));
    CHECK(says(start_fault({golden("qkv.npz"), "--planted", "512"}), "expected one of the two"));
    CHECK(says(start_fault({"--workspace", "huge"}), "expected step or saturation or large"));
}

TEST_CASE("a file that is no matrix is refused by name") {
    const auto fault = [](const std::string& path) {
        const auto input = cli::make_map_input(view::MapFile{path}, {});
        REQUIRE_FALSE(input);
        CAPTURE(input.error().sentence);
        CHECK(says(input.error().sentence, path));
        view::AppState state = started({path});
        const auto drawn = cli::complete_map(state);
        REQUIRE_FALSE(drawn);
        CHECK(drawn.error().sentence == input.error().sentence);
        return input.error().sentence;
    };
    CHECK(says(start_fault({"/nowhere/at-all.npz"}), "/nowhere/at-all.npz: No such file"));
    fault(golden("structured.npz"));
    fault(golden("complex.npz"));
}

TEST_CASE("the worker makes the input, completes the view and explains the cell") {
    view::AppState state = started({golden("qkv.npz")});
    view::apply(state, view::GoToCell{{0, 1}});
    cli::MapWorker worker([] {}, cli::MapWorker::Measure::nothing);
    settle(worker, state);
    CAPTURE(state.large.fault);
    REQUIRE(state.large.input);
    REQUIRE(state.large.snapshot);
    CHECK(state.large.snapshot->complete);
    REQUIRE(state.large.inspected);
    CHECK(state.large.inspected->cell == large::Cell{0, 1});
    const auto weights = traced("qkv.npz");
    CHECK(state.large.inspected->arithmetic.weight ==
          doctest::Approx(floats(weights, "weights")[1]).epsilon(1e-6));
}

TEST_CASE("the worker opens one matrix after another, the same one again too") {
    view::AppState state = started({"--planted", "600"});
    cli::MapWorker worker([] {}, cli::MapWorker::Measure::nothing);
    for (const Index tokens : {600, 700, 700, 512}) {
        view::apply(state, view::OpenPlanted{{.tokens = tokens}});
        worker.want(view::wanted_map(state));
        view::apply(state, view::OpenPlanted{{.tokens = tokens}});  // before the first is there
        settle(worker, state);
        REQUIRE(state.large.input);
        CHECK(state.large.input->source.size.tq == tokens);
        REQUIRE(state.large.snapshot);
        CHECK(state.large.snapshot->complete);
    }
    view::apply(state, view::OpenMapFile{"/nowhere/at-all.npz"});
    settle(worker, state);
    CHECK(says(state.large.fault, "/nowhere/at-all.npz"));
    view::apply(state, view::OpenPlanted{{.tokens = 600}});
    settle(worker, state);
    CHECK(state.large.fault.empty());
    CHECK(state.large.input->source.size.tq == 600);
}

TEST_CASE("a worker that is let go in the middle of its work ends") {
    for (const Index tokens : {1024, 65536})
        for (int rounds = 0; rounds < 3; ++rounds) {
            view::AppState state = started({"--planted", std::to_string(tokens)});
            cli::MapWorker worker([] {}, cli::MapWorker::Measure::nothing);
            for (int round = 0; round < rounds; ++round) {
                worker.want(view::wanted_map(state));
                for (const view::Action& answer : worker.take()) view::apply(state, answer);
            }
        }
}

TEST_CASE("the worker measures the machine once, before the first matrix") {
    view::AppState state = started({"--planted", "512"});
    cli::MapWorker worker([] {}, cli::MapWorker::Measure::machine);
    settle(worker, state);
    CHECK(state.large.peak_gflops > 0.0);
    CHECK(state.large.stream_gbytes > 0.0);
}
