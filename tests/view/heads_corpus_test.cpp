// Heads over the texts of a corpus: when its file is read, what the table has, what a row opens.

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/workspace.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/corpus.h"
#include "app/workspaces/heads/view.h"
#include "core/corpus/file.h"
#include "core/io/file.h"
#include "tests/io/scratch.h"
#include "tests/view/swept_sample.h"

using namespace attn::view;

namespace {

/// Two layers of two heads over three texts: previous is 0.1 n + 0.2 of text n in head 0.1, less in the others.
CorpusResult corpus_by_hand() {
    CorpusResult result(CorpusModel{"fake", "0", "fake", 2, 2, 1});
    for (Index n = 0; n < 3; ++n) {
        const auto text = std::make_shared<const CorpusText>(
            CorpusText{n, "t.txt", fmt::format("the cat number {}", n), {}});
        std::vector<HeadMeasures> heads(4);
        for (std::size_t h = 0; h < 4; ++h) {
            heads[h][HeadMeasure::sink] = 0.15;
            heads[h][HeadMeasure::previous] =
                h == 1 ? 0.2 + 0.1 * static_cast<double>(n) : 0.02 * static_cast<double>(h);
        }
        result.add(text, 4, heads);
    }
    return result;
}

AppState corpus_state(const std::string& path) {
    AppState state = swept_model();
    heads_look(state).corpus = path;
    return after(state, {SetHeadsList{"corpus"}});
}

}  // namespace

TEST_CASE("a corpus is read while it is shown, and once") {
    const Scratch scratch;
    const std::string path = scratch.at("c.jsonl");
    REQUIRE(write_file_atomically(path, corpus_lines(corpus_by_hand())));
    AppState state = corpus_state(path);
    CHECK(requested_head_corpus(state) == CorpusRequest{path});
    CHECK(has(build_all_heads_view(state).list_missing_data, "Reading "));
    CHECK_FALSE(requested_head_corpus(after(state, {SetHeadsList{"table"}})));
    CHECK_FALSE(requested_head_corpus(after(state, {SetWorkspace{"step"}})));
    state = after(state, {run(CorpusRequest{path}, {})});
    CHECK_FALSE(requested_head_corpus(state));
    CHECK(build_all_heads_view(state).list_missing_data.empty());
    CHECK(heads_look(reopened(state, {.open = open_swept})).corpus == path);
    const AppState none = after(corpus_state(""), {});
    CHECK_FALSE(requested_head_corpus(none));
    CHECK(has(build_all_heads_view(none).list_missing_data, "No corpus is open"));
    const AppState wrong =
        after(corpus_state("/nowhere/x.npz"), {run(CorpusRequest{"/nowhere/x.npz"}, {})});
    CHECK(has(build_all_heads_view(wrong).list_missing_data, "/nowhere/x.npz"));
    CHECK_FALSE(build_all_heads_view(wrong).table);
}

TEST_CASE("its table has mean and deviation; a row the text that shows most") {
    const Scratch scratch;
    const std::string path = scratch.at("c.jsonl");
    REQUIRE(write_file_atomically(path, corpus_lines(corpus_by_hand())));
    AppState state = after(corpus_state(path), {run(CorpusRequest{path}, {})});
    AllHeadsView view = build_all_heads_view(state);
    REQUIRE(view.table);
    REQUIRE(view.table->rows.size() == 4);
    REQUIRE(view.table->columns.size() == kCorpusMeasures);
    CHECK(view.table->columns[2].key == "previous");
    const HeadsTableRow row = view.table->rows[1];
    CHECK(row.name == "L0 H1");
    CHECK(row.tip.starts_with("previous token: mean 0.30"));  // 0.3 in the mean, the sink 0.15
    CHECK(view.table->rows[0].tip.starts_with("first token: mean 0.15"));
    CHECK(row.cells[2] == "0.30±.08");  // √(0.02 / 3)
    CHECK(row.cells[0] == "–");
    CHECK(row.text == "the cat number 2");
    CHECK(has(row.tip, "most 0.40 in text 2: the cat number 2"));
    CHECK(has(row.tip, "least 0.20 in text 0: the cat number 0"));
    CHECK(has(row.tip, "Click: run the model on the text"));
    // it is made once: pointing at a head changes nothing of it
    CHECK(build_all_heads_view(after(state, {HoverHead{HeadPlace{0, 1}}})).table == view.table);
    view = build_all_heads_view(after(state, {SortHeads{"previous"}}));
    CHECK(view.table->rows[0].name == "L0 H1");
    view = build_all_heads_view(after(state, {SortHeads{"sink"}}));
    CHECK(view.table->rows[1].text == "the cat number 0");  // of equal ones the first
    const std::pair<const char*, const char*> points[] = {
        {"", "Over 3 texts, L0 H1 has the largest “previous token”: 0.30 ± 0.082."},
        {"previous", "Over 3 texts, L0 H1 has the largest “previous token”: 0.30 ± 0.082."},
        {"sink",
         "Over 3 texts, L0 H0 has the largest “first token”: 0.15 ± 0.000, tied with 3 others."},
        {"entropy", "Over 3 texts, “entropy” is not defined for any head."}};
    for (const auto& [sort, point] : points)
        CHECK(build_all_heads_view(after(state, {SortHeads{sort}})).point == point);
    // what a click does
    state = swept_play(state, {ShowHead{1, {}, 0}, TypeText{row.text}, DocumentReady{}});
    CHECK(text_of(state.document()) == "the cat number 2");
    CHECK(build_all_heads_view(state).table->rows[1].shown);
}

TEST_CASE("another model that is opened has no corpus; sums that no numbers have are refused") {
    const Scratch scratch;
    const std::string path = scratch.at("c.jsonl");
    std::string lines = corpus_lines(corpus_by_hand());
    REQUIRE(write_file_atomically(path, lines));
    const AppState state = after(corpus_state(path), {run(CorpusRequest{path}, {})});
    AppState other = state;
    shown_workspace(other).clear_cache(other);
    CHECK(heads_look(other).corpus.empty());
    CHECK_FALSE(build_all_heads_view(other).table);
    const std::size_t squares = lines.rfind("\"squares\":\"") + 11;
    lines.replace(squares, lines.find('"', squares) - squares, "00000001p-3");
    REQUIRE(write_file_atomically(path, lines));
    CHECK_FALSE(read_corpus(path));
}

TEST_CASE("without its model the table is there, and which model is missing is said") {
    const Scratch scratch;
    const std::string path = scratch.at("c.jsonl");
    REQUIRE(write_file_atomically(path, corpus_lines(corpus_by_hand())));
    Document document;
    document.origin = FileOrigin{path};
    document.title = "c.jsonl";
    document.no_attention = "the model fake was not found";
    document.inputs = std::make_shared<const Inputs>();
    document.layers = {document.inputs};
    AppState state = saved_state(document, {});
    state.workspace = "heads";
    heads_look(state).corpus = path;
    heads_look(state).list = HeadsList::corpus;
    CHECK(requested_head_corpus(state) == CorpusRequest{path});
    CHECK_FALSE(build_all_heads_view(state).missing_data.empty());
    state = after(state, {run(CorpusRequest{path}, {})});
    const AllHeadsView view = build_all_heads_view(state);
    CHECK(view.missing_data.empty());
    CHECK(has(view.large_missing_data, "The model fake was not found"));
    CHECK(view.point.starts_with("Over 3 texts, L0 H1 "));
    REQUIRE(view.table);
    CHECK(view.table->rows[1].text.empty());
    CHECK_FALSE(has(view.table->rows[1].tip, "Click"));
    CHECK(has(view.table->rows[1].tip, "the cat number 2"));
}
