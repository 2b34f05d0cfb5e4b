// What a person opens: queries and keys without values, and files that a session names from another folder.
#include "app/common/actions.h"
#include "app/common/map/actions.h"
#include "app/common/map/requests.h"
#include "app/files/tensors.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/learn/actions.h"
#include "core/large/map_input.h"
#include "core/stopwatch.h"

#include <fstream>

#include <fmt/format.h>

#include "app/common/workspace.h"
#include "app/window/requests.h"
#include "app/window/session.h"
#include "app/workspaces/compare/view.h"
#include "app/workspaces/tensors/view.h"
#include "attn_tree.h"
#include "core/io/array_stats.h"
#include "tests/files/opened.h"
#include "tests/support/learning.h"
#include "tests/support/small_models.h"

using namespace attn;
using namespace attn::files;
namespace fs = std::filesystem;

namespace {

constexpr Index kTokens = 5;
constexpr Index kWidth = 3;

/// Arrays of those names, [2, 5, 3] each.
void write_arrays(const fs::path& path, const std::vector<std::string>& names) {
    std::vector<float> values;
    for (int n = 0; n < 2 * kTokens * kWidth; ++n) values.push_back(0.1F * static_cast<float>(n));
    fs::create_directories(path.parent_path());
    write_alike(path, names, {2, kTokens, kWidth}, values);
}

std::string refused(const fs::path& path) { return sentence_in(open(path)); }

void write_session(const view::AppState& state, const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << view::session_to_json(state, path.parent_path());
}

}  // namespace

TEST_CASE("queries and keys without values open, and are shown as a map") {
    const Scratch scratch;
    write_arrays(scratch / "qk.npz", {"Q", "K"});
    const view::AppState state = opened_state(scratch / "qk.npz");
    CHECK(state.document().inputs->v.empty());
    CHECK(state.document().size.heads == 2);
    CHECK(state.document().size.tq == kTokens);
    CHECK(state.document().size.d_k == kWidth);
    CHECK(state.workspace == "large");
    CHECK(contains(view::stages_lack(state.document()), "without values"));
    const auto request = must(view::requested_map_input(state));
    const auto answer = *view::run(request, {}).as<view::MapInputReady>();
    CHECK(answer.fault.empty());
    REQUIRE(answer.input);
    CHECK(answer.input->source.size.tk == kTokens);
    // a mask, tokens and layers as with values
    write_arrays(scratch / "layers.npz", {"l0.Q", "l0.K", "l4.Q", "l4.K"});
    CHECK(opened_state(scratch / "layers.npz").document().layers.size() == 2);
}

TEST_CASE("a file's dO is a loss where there is no W_O: heads side by side; a session keeps it") {
    const Scratch scratch;
    write_arrays(scratch / "a.npz", {"Q", "K", "V", "dO"});
    view::AppState state = opened_state(scratch / "a.npz");
    REQUIRE(state.document().d_output.size() == 1);
    const Tensor& given = *state.document().d_output[0];
    CHECK(given.shape() == Shape{1, 1, kTokens, 2 * kWidth});
    CHECK(given(0, 0, 2, 1) == doctest::Approx(0.7));                 // head 0, row 2, column 1
    CHECK(given(0, 0, 2, kWidth + 1) == doctest::Approx(0.7 + 1.5));  // head 1
    CHECK(contains(state.document().note, "its gradient of the output can be the loss"));
    view::apply(state, view::SetLoss{view::LossKind::file});
    CHECK((*state.gradients)[Stage::output](0, 0, 2, kWidth + 1) == given(0, 0, 2, kWidth + 1));
    write_session(state, scratch / "s.json");
    const auto again = must(open(scratch / "s.json"));
    CHECK(again.session->loss.kind == view::LossKind::file);

    write_arrays(scratch / "plain.npz", {"Q", "K", "V"});
    CHECK_FALSE(opened_state(scratch / "plain.npz").document().d_output.at(0));

    const std::vector<float> ones(6, 1.0F);
    std::vector<NpzEntry> entries;
    for (const std::string name : {"Q", "K", "V"})
        entries.push_back({name, {2, 2, 1}, std::span(ones).first(4)});
    entries.push_back({"dO", {2, 3, 1}, ones});
    REQUIRE(write_npz(scratch / "other.npz", entries));
    const view::AppState other = opened_state(scratch / "other.npz");
    CHECK_FALSE(other.document().d_output.at(0));
    CHECK(contains(other.document().note, "not used: dO is [1, 2, 3, 1], expected [1, 2, 2, 1]"));
    CHECK(other.document().note.find("can be the loss") == std::string::npos);
}

TEST_CASE("V is in every layer or in none, and of keys alone no attention is made") {
    const Scratch scratch;
    write_arrays(scratch / "mixed.npz", {"l0.Q", "l0.K", "l0.V", "l1.Q", "l1.K"});
    CHECK(contains(open(scratch / "mixed.npz")->document->no_attention,
                   "layer 1 lacks V, layer 0 has it"));
    write_arrays(scratch / "k.npz", {"K"});
    CHECK(contains(open(scratch / "k.npz")->document->no_attention, "it holds K"));
    CHECK_FALSE(read_tensors(scratch.at("mixed.npz")));
}

TEST_CASE("a session finds its file where both were moved to, and where it was") {
    const Scratch scratch;
    const fs::path old = scratch / "old";
    write_arrays(old / "data/in.npz", {"Q", "K", "V"});
    write_session(opened_state(old / "data/in.npz"), old / "s.json");
    // the session alone was moved
    fs::create_directories(scratch / "other");
    fs::copy_file(old / "s.json", scratch / "other/s.json");
    const auto there = must(open(scratch / "other/s.json"));
    CHECK(there.document->title == "in.npz");
    // both were
    fs::rename(old, scratch / "new");
    const auto moved = must(open(scratch / "new/s.json"));
    REQUIRE(moved.session);
    CHECK(std::get<view::FileOrigin>(moved.document->origin).path == scratch.at("new/data/in.npz"));
    // neither is there: both places are named
    const std::string fault = refused(scratch / "other/s.json");
    CHECK(contains(fault, scratch.at("other/data/in.npz")));
    CHECK(contains(fault, scratch.at("old/data/in.npz")));
}

TEST_CASE("of a model of more than 8 GiB the table opens, and no weight is read for it") {
    const Scratch scratch;
    const fs::path folder = scratch / "large", weights = folder / "model.safetensors";
    fs::create_directories(folder);
    std::ofstream(folder / "config.json") << R"({"model_type": "llama"})";
    constexpr std::uint64_t kBytes = 9663676416;
    const std::string header = fmt::format(
        R"({{"w":{{"dtype":"BF16","shape":[1048576,4608],"data_offsets":[0,{}]}}}})", kBytes);
    std::ofstream(weights, std::ios::binary)
        << static_cast<char>(header.size()) << std::string(7, '\0') << header;
    fs::resize_file(weights, 8 + header.size() + kBytes);  // of holes
    const Stopwatch watch;
    view::AppState state = opened_state(folder);
    CHECK(contains(state.document().no_attention, "its 9.7 GB of weights are read once there is"));
    view::apply(state, view::SetWorkspace{"tensors"});
    view::answer_all(state, opener(backends()));
    const view::TensorsView table = view::build_tensors_view(state);
    REQUIRE(table.lines.size() == 1);
    CHECK(table.lines[0].cells[0] == "w");
    CHECK(table.lines[0].cells[4] == "select it");
    CHECK(watch.seconds() < 1.0);
}

TEST_CASE("links that lead in a circle, and what is thrown while a file is opened, are said") {
    const Scratch scratch;
    const fs::path folder = test::gpt2_folder(scratch);
    for (const char* name : {"vocab.json", "preprocessor_config.json", "added_tokens.json"}) {
        fs::remove(folder / name);
        fs::create_symlink(name, folder / name);
    }
    const auto model = opener(backends())({view::ModelText{{folder.string(), "1 2 3"}}}, {});
    CHECK(must(model).document->tokens.size() == 3);  // it has no tokenizer
    view::OpenRequest trained{view::TrainedOrigin{}};
    std::get<view::TrainedOrigin>(trained.what).step = 1;
    const RunControl throws{{}, [](double) { throw std::runtime_error("no more of it"); }};
    CHECK(sentence_in(opener(backends())(trained, throws)) == "no more of it");
}

TEST_CASE("a model's folder opens with every layer over a sentence, also where widths differ") {
    const Scratch scratch;
    const fs::path folder = scratch / "sentences";
    test::copy_model("use_lite", folder);
    test::write_pieces(folder, R"(["The animal didn't cross ",-1],["the",-1],["t",-2])");
    view::AppState state = opened_state(folder);
    const view::Document& first = state.document();
    CHECK(first.title == "sentences");
    CHECK(first.note == "Universal Sentence Encoder Lite, trained weights: 2 layers, 4 heads");
    CHECK(view::text_of(first) == "The animal didn't cross the street because it was too tired");
    CHECK(state.sentence_draft == view::text_of(first));
    REQUIRE(first.tokens.size() > 4);
    CHECK(first.tokens[0] == "The animal didn't cross ");
    CHECK(first.tokens[1] == "the");
    CHECK(first.tokens[2] == " s");
    CHECK(first.layers.size() == 2);
    CHECK(first.size.d_model == 16);
    CHECK(first.size.d_k == 4);
    view::apply(state, view::ShowLayer{1});
    CHECK(state.document().layer == 1);
    CHECK(state.document().size.d_model == 32);
    CHECK(state.document().size.d_k == 8);
    CHECK(state.document().size.heads == 4);
    CHECK((*state.trace)[Stage::q].shape().d == 8);
    fs::remove(folder / "tokenizer.json");
    CHECK(
        refused(folder) ==
        "this model's folder has no tokenizer.json, vocab.json, vocab.txt, tokenizer.model or "
        "spiece.model; without a tokenizer a text is the numbers of its tokens, such as 15496 995");
}

TEST_CASE("the open file, read again, keeps what is looked at; undo goes back to what it was") {
    const Scratch scratch;
    const fs::path path = scratch.at("again.npz");
    const auto write = [&](float number, const std::vector<std::string>& names, Index heads) {
        const std::vector<float> numbers(heads * 3 * 2, number);
        write_alike(path, names, {1, heads, 3, 2}, numbers);
    };
    const std::vector<std::string> two{"l0.Q", "l0.K", "l0.V", "l1.Q", "l1.K", "l1.V"};
    const auto read_again = [&](view::AppState& state) {
        view::apply(state, view::OpenFile{path.string(), {}, ""});
        view::apply(state,
                    view::DocumentReady{path.string(), "",
                                        std::make_shared<const view::Opened>(must(open(path)))});
    };
    write(0.5F, two, 2);
    view::AppState state = opened_state(path);
    view::apply(state, view::ShowHead{1, {}, 1});
    write(2.0F, two, 2);
    read_again(state);
    CHECK(state.document().layer == 1);
    CHECK(state.head == 1);
    CHECK((*state.trace)[Stage::q].values()[0] == 2.0F);
    CHECK(state.message.text.find("again.npz, read again") == 0);
    view::apply(state, view::Undo{});
    CHECK((*state.trace)[Stage::q].values()[0] == 0.5F);
    CHECK(state.document().layer == 1);
    write(3.0F, {"l0.Q", "l0.K", "l0.V"}, 1);  // fewer of each
    read_again(state);
    CHECK(state.document().layer == 0);
    CHECK(state.head == 0);
    CHECK((*state.trace)[Stage::q].values()[0] == 3.0F);
    fs::copy_file(path, scratch.at("other.npz"));
    CHECK(opened_state(scratch.at("other.npz")).head == 0);
}

TEST_CASE("two moments of a training are compared by one key each; a session brings both back") {
    const view::Opener open = opener(backends());
    view::AppState state = test::small_learning();
    const auto doing = [&](const view::Action& action) {
        view::apply(state, action);
        view::answer_all(state, open);
    };
    doing(view::TrainTo{3});
    doing(view::OpenLearnMoment{"a", "compare", 0});
    CHECK(view::compare_look(state).pins.empty());
    doing(view::OpenLearnMoment{"a", "compare", 0});
    CHECK(view::compare_look(state).pins.empty());  // the same moment again
    view::apply(state, view::OpenLearnMoment{"a", "compare", 1});
    view::apply(state, view::OpenLearnMoment{"a", "compare", 3});  // before that one was there
    CHECK(contains(state.message.text, "after 1 training steps is still opening"));
    view::answer_all(state, open);
    CHECK(std::get<view::TrainedOrigin>(state.document().origin).step == 1);
    doing(view::OpenLearnMoment{"a", "compare", 0});
    view::apply(state, view::Unpin{0});
    view::apply(state, view::Unpin{0});
    CHECK(view::compare_look(state).pins.empty());
    doing(view::OpenLearnMoment{"a", "compare", 3});
    REQUIRE(view::compare_look(state).pins.size() == 1);
    const auto named = [](const view::AppState& of) {
        std::string all;
        for (const auto& each : view::differences(of, view::compare_look(of).pins.at(0)))
            all += view::difference_text(each) + "; ";
        return all;
    };
    CHECK(contains(named(state), "step 0” → “"));
    CHECK(contains(named(state), "step 3”"));

    const std::string text = view::session_to_json(state);
    view::SessionContext context;
    context.open = open;
    const auto read = must(view::session_from_json(text, "session", context));
    CHECK(view::session_to_json(read) == text);
    REQUIRE(view::compare_look(read).pins.size() == 1);
    CHECK(named(read) == named(state));
    CHECK((*view::compare_look(read).pins[0].trace)[Stage::weights] ==
          (*view::compare_look(state).pins[0].trace)[Stage::weights]);
}

TEST_CASE("a session whose pinned file is gone opens without that pin, and says so") {
    const Scratch folder;
    write_arrays(folder / "pinned.npz", {"q", "k", "v"});
    view::AppState state = opened_state(folder / "pinned.npz");
    view::apply(state, view::PinBaseline{});
    view::apply(state, view::LoadPreset{"the-cat-sat-down"});
    write_session(state, folder / "s.json");
    fs::remove(folder / "pinned.npz");
    const auto opened = must(open(folder / "s.json"));
    CHECK(view::compare_look(*opened.session).pins.empty());
    CHECK(contains(text_of(opened.notes), "Not pinned: "));
    CHECK(contains(text_of(opened.notes), "pinned.npz"));
}
