#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/view.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

AppState cost_state(const Actions& actions = {}) { return in_workspace("cost", actions); }

const CostRowView& row(const CostView& view, const std::string& name) {
    return one_of(view.rows, name, &CostRowView::name);
}

}  // namespace

TEST_CASE("the sentence compares what is stored with this machine and with fused") {
    const CostControls controls;
    CHECK(cost_sentence(controls) ==
          "Storing the weights takes 8 GiB; the fused kernel keeps 1 MiB.");
    const std::string note = cost_note(controls, 16.0 * kGiB);
    CHECK(
        note.starts_with("32 heads × 8,192 queries × 8,192 keys in one layer: twice the length "
                         "takes four times the memory. The weights take 50.0 % of this "
                         "machine’s 16 GiB. The fused kernel keeps 1/8,192 of that."));
    CHECK(has(cost_note(controls, 4.0 * kGiB), "2 times this machine’s 4 GiB"));
    CostControls backward;
    backward.pass = CostPass::backward;
    CHECK(cost_notes(controls).front() == "The fused kernel does the same 1.1 TFLOP of products.");
    CHECK(cost_notes(backward).front() ==
          "The fused kernel does 2.749 TFLOP instead of 2.199 TFLOP, because it recomputes the "
          "scores.");
    CostControls one;
    one.sizes.values = {1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 4, 1};
    CHECK(cost_sentence(one) == "Storing the weights takes 4 B; the fused kernel keeps 4 B.");
    CHECK(cost_note(one, kGiB).starts_with("1 head × 1 query × 1 key in one layer: "));
    one.sizes[CostSize::tk] = 2;
    CHECK(has(cost_note(one, kGiB), "twice the keys take twice the memory"));
}

TEST_CASE("the note says what a 32-bit count makes of the number of weights; numbers and stops") {
    CostControls controls;
    CHECK(has(cost_note(controls, kGiB),
              "2,147,483,648 = 2³¹ weights: a signed 32-bit count ends at 2³¹ − 1 and wraps to "
              "−2,147,483,648."));
    controls.sizes[CostSize::tq] = 16384;
    CHECK(
        has(cost_note(controls, kGiB),
            "4,294,967,296 = 2³² weights: a signed 32-bit count ends at 2³¹ − 1 and wraps to 0."));
    controls.sizes[CostSize::tq] = 8191;
    CHECK(has(cost_note(controls, kGiB), "2,147,221,504 weights."));
    controls.sizes[CostSize::kv_heads] = 8;
    CHECK(cost_notes(controls)[1] ==
          "4 query heads share each key/value head: the KV cache is 64 MiB, 1/4 of the multi-head "
          "cache.");
    CHECK(flop_text(0.0) == "0");
    CHECK(flop_text(999.0) == "999 FLOP");
    CHECK(flop_text(2.048e9) == "2.048 GFLOP");
    CHECK(cost_bytes(1023.0) == "1023 B");
    CHECK(cost_bytes(1024.0) == "1 KiB");
    CHECK(cost_bytes(8.0 * kGiB) == "8 GiB");
    CHECK(next_tokens(8192, 1) == 16384);
    CHECK(next_tokens(100, -1) == 64);
    CHECK(next_tokens(1 << 24, 1) == 1 << 24);
    CHECK(nearest_tokens(8000.0) == 8192);
    CHECK(nearest_tokens(12345.0) == 12000);
}

TEST_CASE("the table, the cards and where the curves cross this machine's memory") {
    const CostView view = build_cost_view(cost_state(), 16.0 * kGiB);
    REQUIRE(view.rows.size() == 10);
    CHECK(view.titles[0] == "GFLOP");
    CHECK(view.titles[2] == "written, GiB");
    CHECK(row(view, "scores").numbers[0] == "549.8");
    CHECK(row(view, "scores").numbers[2] == "8");
    CHECK(row(view, "masked").numbers[0] == "0");
    CHECK(row(view, "q").numbers[3] == "0.125");
    CHECK(row(view, "weights").numbers[3] == "8");
    CHECK(row(view, "scaled").numbers[4] == "0.125");
    CHECK(row(view, "all").share == doctest::Approx(1.0));
    CHECK(view.cards[0].value == "8 GiB");
    CHECK(view.cards[0].formula == "B·H·Tq·Tk·s");
    CHECK(view.cards[0].limit == "T ≤ 11,332");  // 128 T² + 65,536 T
    CHECK(view.cards[0].selected);
    CHECK(view.cards[1].formula == "B·H·c·Tk·s");
    CHECK(view.cards[2].value == "1 MiB");
    CHECK(view.cards[3].value == "256 MiB");
    REQUIRE_FALSE(view.plot.marks.empty());
    CHECK(view.plot.marks[0].x == 11332.0);
    CHECK(view.plot.levels[0].text == "this machine’s memory, 16 GiB");
    CHECK(view.plot.marker_texts[0] == "8 GiB");
    const CostView small = build_cost_view(cost_state(), 4.0 * kGiB);
    CHECK_FALSE(small.cards[0].fits);
    CHECK(small.cards[2].fits);
}

TEST_CASE("backward goes the other way, and every count has its formula in the inspector") {
    const AppState state = cost_state({SetCostPass{CostPass::backward}});
    const CostView view = build_cost_view(state, kGiB);
    CHECK(view.rows.front().name == "d_output");
    CHECK(view.titles[0] == "TFLOP");
    CHECK(row(view, "d_context").numbers[0] == "1.1");
    const auto text = [](CostItem item, CostPass pass) {
        return cost_inspector(cost_state({SetCostPass{pass}, SelectCost{item}})).as_text;
    };
    CHECK(has(text(CostItem::scores, CostPass::forward),
              "FLOP: 2·B·H·Tq·Tk·d_k = 2·1·32·8192·8192·128 = 549,755,813,888 = 549.8 GFLOP"));
    CHECK(has(text(CostItem::kv_cache, CostPass::forward),
              "bytes: L·B·G·Tk·d_k·s + L·B·G·Tk·d_v·s = 1·1·32·8192·128·4 + 1·1·32·8192·128·4 = "
              "268,435,456 = 256 MiB"));
    CHECK(has(text(CostItem::fused, CostPass::backward), "6·B·H·Tq·Tk·d_k + 4·B·H·Tq·Tk·d_v"));
    for (std::size_t n = 0; n < kCostItemCount; ++n) {
        const InspectorView inspector =
            cost_inspector(cost_state({SelectCost{static_cast<CostItem>(n)}}));
        CHECK_FALSE(inspector.empty);
        CHECK_FALSE(inspector.value.empty());
        CHECK_FALSE(inspector.as_python.empty());
    }
}

TEST_CASE("operations are compared with softmax, with their caches and formulas") {
    const AppState state =
        cost_state({SetCostPreset{"deepseek-v3"}, ShowCostRows{CostRows::operations},
                    SelectCost{CostItem::mla_absorbed}});
    const CostView view = build_cost_view(state, kGiB);
    REQUIRE(view.rows.size() == kCostOperationCount);
    CHECK(view.rows_title == "forward; shade: FLOP");
    CHECK(view.titles[1] == "cache, GiB");
    CHECK(row(view, "softmax").numbers[3] == "1");
    // 61 · 8192 · (512 + 64) · 2 bytes; multi-head 128 · (128 + 128) numbers a token
    CHECK(row(view, "MLA, absorbed").numbers[1] == "0.5361");
    CHECK(row(view, "MLA, absorbed").numbers[4] == "0.0176");
    CHECK(row(view, "MLA, absorbed").selected);
    CHECK(row(view, "KDA").numbers[2] == "0");
    CHECK(row(view, "softmax").numbers[2] != "0");
    const InspectorView absorbed = cost_inspector(state);
    CHECK(absorbed.title == "MLA, absorbed, forward");
    CHECK(has(absorbed.as_text,
              "bytes of each token: L·B·d_c·s + L·B·d_r·s = 61·1·512·2 + 61·1·64·2 = 70,272 = "
              "68.62 KiB"));
    const InspectorView kda = cost_inspector(after(state, {SelectCost{CostItem::kda}}));
    CHECK(has(kda.as_text, "the state does not grow"));
    CHECK(has(kda.as_text, "bytes of the state: L·B·H·d_k·d_v·s"));
}

TEST_CASE("sharing heads changes G alone, and other heads keep the kind of sharing") {
    AppState state = cost_state();
    const auto share = [&](HeadSharing sharing) {
        return cost_controls(after(state, {shared_heads(cost_controls(state).sizes, sharing)}))
            .sizes;
    };
    CHECK(share(HeadSharing::grouped)[CostSize::kv_heads] == 8);
    CHECK(share(HeadSharing::multi_query)[CostSize::kv_heads] == 1);
    CHECK(sharing_of(share(HeadSharing::multi_query)) == HeadSharing::multi_query);
    state = after(state, {SetCostSize{CostSize::heads, 12}});
    CHECK(cost_controls(state).sizes[CostSize::kv_heads] == 12);
    state = after(state, {SetCostSize{CostSize::kv_heads, 4}, SetCostSize{CostSize::heads, 6}});
    CHECK(cost_controls(state).sizes[CostSize::kv_heads] == 3);
    state = after(state, {SetCostSize{CostSize::kv_heads, 4}});
    CHECK(cost_controls(state).sizes[CostSize::kv_heads] == 6);  // the next that divides
    CHECK(state.message.text == "G = 6.");
    state = after(state, {SetCostSize{CostSize::kv_heads, 5}});
    CHECK(cost_controls(state).sizes[CostSize::kv_heads] == 3);
    state = after(state, {SetCostSize{CostSize::kv_heads, 7}});
    CHECK(cost_controls(state).sizes[CostSize::kv_heads] == 3);
    CHECK(state.message.severity == Severity::error);
}

TEST_CASE("T is Tq and Tk of a square call, Tk alone of a decoding one; presets; undo") {
    AppState state = cost_state({SetCostTokens{1024}});
    CHECK(cost_controls(state).sizes[CostSize::tq] == 1024);
    state = after(state, {SetCostPreset{"llama3-70b"}, SetCostTokens{4096}});
    CHECK(cost_controls(state).sizes[CostSize::tq] == 1);
    CHECK(cost_controls(state).sizes[CostSize::tk] == 4096);
    CHECK(cost_controls(acted(state, {Undo{}, Undo{}})).sizes[CostSize::tk] == 1024);
    CHECK(cost_controls(acted(state, {SetCostPreset{"document"}})).sizes[CostSize::tk] == 4);
    CHECK(cost_controls(state).sizes[CostSize::d_model] == 4);
    CHECK(build_cost_view(state, kGiB).preset_shown == "the current document");
    CHECK(after(state, {SetCostPreset{"attic"}}).message.text == "There are no sizes 'attic'.");
    const AppState none = after(empty_state(), {SetCostPreset{"document"}});
    CHECK(none.message.severity == Severity::error);
    CHECK(cost_controls(none).sizes == CostSizes{});
}

TEST_CASE("nothing is measured by itself; what is measured is said, what is too large refused") {
    AppState state = cost_state();
    CHECK_FALSE(requested_cost(state));
    CHECK_FALSE(requested_cost(acted(state, {MeasureCost{}})));
    CHECK(has(state.message.text, "are too much to measure here: T up to 1,024 can be measured"));
    REQUIRE(requested_cost(acted(state, {SetCostPreset{"document"}, MeasureCost{}})));
    CHECK(requested_cost(state)->of.sizes[CostSize::d_model] == 0);
    answer_all(state);
    CHECK_FALSE(requested_cost(state));
    REQUIRE(cost_look(state).last);
    CHECK(cost_look(state).last->staged_ms > 0.0);
    CHECK(cost_look(state).last->fused_ms > 0.0);
    const CostView view = build_cost_view(state, kGiB);
    REQUIRE(view.measure.times.size() == 2);
    CHECK(
        view.measure.text.starts_with("Forward of B 1, H 1, G 1, Tq 4, Tk 4, d_k 4, d_v 4, fp32"));
    const CostView other = build_cost_view(after(state, {SetCostTokens{8}}), kGiB);
    CHECK(other.measure.times.empty());
}

TEST_CASE("the roofline: the longer of FLOP over peak and bytes over bandwidth, stage by stage") {
    CostControls of;
    of.sizes.values = {1, 1, 1, 1000, 1000, 0, 64, 64, 0, 128, 4, 1};
    // fused forward: 256 MFLOP; Q, K, V, context and logsumexp 4 · (4 · 64,000 + 1000) bytes
    CHECK(predicted_fused_ms(of, 100.0, 1e9) == doctest::Approx(2.56));
    CHECK(predicted_fused_ms(of, 1e9, 1.028) == doctest::Approx(1.0));
    // staged, all bandwidth: pairs read 4 and written 4 times, Q and K read, V read, context written
    CHECK(predicted_staged_ms(of, 1e12, 1.0) == doctest::Approx((8e6 + 4 * 64e3) * 4e-6));
    of.pass = CostPass::backward;
    CHECK(predicted_fused_ms(of, 100.0, 1e9) == doctest::Approx(6.4));
}

TEST_CASE("a session keeps sizes, pass and item; its sizes are checked") {
    const AppState state = cost_state({SetCostPreset{"llama3-8b"}, SetCostPass{CostPass::backward},
                                       SelectCost{CostItem::kv_cache}});
    std::string text = session_to_json(state);
    const auto read = session_from_json(text, "session");
    REQUIRE(read);
    CHECK(cost_controls(*read) == cost_controls(state));
    CHECK(cost_look(*read).item == CostItem::kv_cache);
    const std::size_t at = text.find("\"kv_heads\":8");
    REQUIRE(at != std::string::npos);
    text.replace(at, 12, "\"kv_heads\":7");
    CHECK(has(session_from_json(text, "session").error().text(), "G must divide H"));
}

TEST_CASE("the document's sizes are counted where its score is a dot product") {
    const AppState state =
        call_state("cost", [](Inputs&, AttentionSpec& spec) { spec.score = Score::student_t; });
    const auto sizes = document_sizes(state);
    REQUIRE_FALSE(sizes);
    CHECK(sizes.error().text() ==
          "the document's score is “Student t”: only the products of dot-product scores are "
          "counted here");
    CHECK(document_sizes(call_state("cost", [](Inputs&, AttentionSpec&) {}))
              ->
              operator[](CostSize::tk) == 4);
}
