// Fields of the call: each set by its action, its stage against the formula in double, and what is kept and refused.

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/common/document/call_code.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/document/reference.h"
#include "app/common/document/toy.h"
#include "app/common/explain/backward.h"
#include "app/common/explain/explain.h"
#include "core/narrow.h"
#include "core/rotary.h"
#include "core/scores/score.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "tests/support/random.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// A seeded toy of four tokens.
AppState seeded(Index heads, const Actions& actions = {}) {
    AppState state =
        state_of(make_document("a b c d", 5, 4, heads, 3, AttentionSpec{}).value()).value();
    return after(std::move(state), actions);
}

double at(const AppState& state, Stage stage, Index h, Index i, Index c) {
    return (*state.trace)[stage](0, h, i, c);
}

double param(const AppState& state, Param which, Index r, Index c) {
    return state.document().inputs->params[which](0, 0, r, c);
}

/// Σ_c a(row, c) · b(row', c), in double.
double dot(const AppState& state, Stage a, Index h, Index i, Stage b, Index g, Index j) {
    double sum = 0.0;
    for (Index c = 0; c < (*state.trace)[a].shape().d; ++c)
        sum += at(state, a, h, i, c) * at(state, b, g, j, c);
    return sum;
}

doctest::Approx near(double value) { return doctest::Approx(value).epsilon(2e-5); }

/// The formula holds for every pair of every head.
template <class Wanted>
void check_pairs(const AppState& state, Stage stage, Wanted wanted) {
    for (const auto [h, i] : each_cell(state.document().heads, 4))
        for (Index j = 0; j < 4; ++j) {
            INFO("h ", h, ", i ", i, ", j ", j);
            CHECK(at(state, stage, h, i, j) == near(wanted(h, i, j)));
        }
}

/// What the action says when it is refused; nothing else of the document changes.
std::string refused(const AppState& state, const Action& action) {
    const AppState tried = after(state, {action});
    CHECK(tried.shared_document() == state.shared_document());
    CHECK(tried.message.severity != Severity::info);
    return tried.message.text;
}

/// q and k turned by position, of head h: columns c and d turn together by i · base^(−c̄), c̄ = 0 and 1/2.
std::pair<double, double> turned(const AppState& state, Stage from, Index i,
                                 std::pair<Index, Index> columns, double speed) {
    const double x = at(state, from, 0, i, columns.first);
    const double y = at(state, from, 0, i, columns.second);
    const double angle = static_cast<double>(i) * speed;
    return {x * std::cos(angle) - y * std::sin(angle), x * std::sin(angle) + y * std::cos(angle)};
}

/// One value for every field, each other than as a toy begins.
const Actions& every_field() {
    static const Actions kAll{SetKeyHeads{2},     SetValueWidth{3},  SetScore{Score::additive},
                              SetSoftCap{1.5},    SetSinks{true},    SetRope{RopeTurn::interleaved},
                              SetRopeBase{100.0}, SetAlibi{true},    SetQueryOffset{2},
                              SetDropout{0.25},   SetDropoutSeed{9}, SetTraining{false},
                              SetSinusoid{false}, SetQkNorm{true}};
    return kAll;
}

}  // namespace

TEST_CASE("ALiBi subtracts slope · |i − j|, of four heads 1/4, 1/16, 1/64 and 1/256") {
    const double slopes[] = {0.25, 0.0625, 0.015625, 0.00390625};
    const AppState state = seeded(4, {SetAlibi{true}});
    check_pairs(state, Stage::biased, [&](Index h, Index i, Index j) {
        return at(state, Stage::scaled, h, i, j) - slopes[h] * std::abs(static_cast<double>(i - j));
    });
    CHECK(state.history[state.now].text == "ALiBi on");
}

TEST_CASE("a soft cap bends scores to cap · tanh(S / cap)") {
    const AppState state = seeded(2, {SetSoftCap{0.5}});
    check_pairs(state, Stage::biased, [&](Index h, Index i, Index j) {
        return 0.5 * std::tanh(at(state, Stage::scaled, h, i, j) / 0.5);
    });
    CHECK(state.history[state.now].text == "soft cap = 0.50");
    CHECK(!after(state, {SetSoftCap{0.0}}).document().spec.softcap);
    CHECK(refused(state, SetSoftCap{-1.0}) ==
          "Softcap is -1: it must be a number from 1e-18 to 1e18.");
}

TEST_CASE("queries and keys times d_k^(−1/4) each: their scores are ÷ √d_k, and S is as before") {
    const AppState by_scores = seeded(2);
    const AppState state = after(by_scores, {SetScaleOperands{true}});
    for (const Stage stage : {Stage::scores, Stage::scaled})
        check_pairs(state, stage, [&](Index h, Index i, Index j) {
            return dot(by_scores, Stage::q, h, i, Stage::k, h, j) / 2.0;  // √d_k
        });
    CHECK((*state.trace)[Stage::q] == (*by_scores.trace)[Stage::q]);
    CHECK(state.document().spec.scale == ScaleKind::q_and_k);
    CHECK(call_of(reopened_alike(state).document()) == call_of(state.document()));
    CHECK(after(state, {Undo{}}).shared_document() == by_scores.shared_document());
    CHECK(
        document_to_json(after(by_scores, {through_journal(SetScaleOperands{true})}).document()) ==
        document_to_json(state.document()));
    CHECK(after(state, {SetScaleOperands{false}}).document().spec.scale == ScaleKind::sqrt_dk);
    CHECK(refused(state, SetScore{Score::cosine}) ==
          "Scale is q_and_k with score cosine: it scales the queries and keys of dot products, so "
          "score dot is expected.");
    const auto stated = [&](Stage stage) {
        return build_step_view(after(state, {GoToStage{stage}}));
    };
    CHECK(stated(Stage::scores).formula == "scores[i,j] = (d_k^−1/4 q_i) · (d_k^−1/4 k_j)");
    CHECK(has(stated(Stage::scores).text,
              "Queries and keys were first multiplied by 4^(−¼) = 0.7071."));
    CHECK(has(stated(Stage::scaled).text,
              "The scores do not change: queries and keys were scaled before their product."));
    CHECK(stated(Stage::scaled).formula == "S = scores");
}

TEST_CASE("without the sinusoid a computed row of X is its word's vector; a given row stays") {
    const AppState given = seeded(1, {SetCell{{Stage::x, 2, 1}, 9.0}});
    const AppState state = after(given, {SetSinusoid{false}});
    for (const auto [i, c] : each_cell(4, 5)) {
        const double word = word_value(hash_text(std::string(1, "abcd"[i])), c);
        const float with = given.document().inputs->x(0, 0, i, c);
        if (i != 2) CHECK(with == near(word + position_value(i, c)));
        CHECK(state.document().inputs->x(0, 0, i, c) == (i == 2 ? with : near(word)));
    }
    CHECK(has(state.document().note, "else from the words alone"));
    CHECK(build_step_view(seeded(1, {SetSinusoid{false}})).formula == "X = embedding(token)");
    const AppState wider = after(state, {SetModelWidth{6}});
    CHECK(wider.document().inputs->x(0, 0, 1, 5) == near(word_value(hash_text("b"), 5)));
    CHECK(after(state, {SetSinusoid{true}}).document().inputs->x == given.document().inputs->x);
    CHECK(reopened(state).document().inputs->x == state.document().inputs->x);
}

TEST_CASE("RoPE that is switched off and on again is as it was, a file's with its scaling") {
    Document document = document_of({normal_inputs({1, 2, 4, 4}, 5)}, "x.npz");
    document.spec.rope = Rope{RopePairs::half, 500.0, 2, {RopeScale::linear, 4.0}};
    const AppState file = state_of(document).value();
    const auto again = [](const AppState& state) {
        return call_of(after(state, {SetRope{RopeTurn::half}}).document());
    };
    const AppState off = after(file, {SetRope{RopeTurn::off}});
    CHECK_FALSE(off.document().spec.rope);
    CHECK(again(off) == call_of(file.document()));
    CHECK(again(off).rope_scaled);
    const auto session = nlohmann::json::parse(document_to_json(off.document()));
    const auto reference = reference_from_json(session, "session");
    REQUIRE(reference);
    CHECK(again(state_of(resolved(file.document(), *reference).value()).value()) ==
          call_of(file.document()));
    const AppState toy = seeded(1, {SetRope{RopeTurn::half}, SetRopeBase{50.0}});
    CHECK(again(after(toy, {SetRope{RopeTurn::off}, SetSentence{"a b"}})).rope_base == 50.0);
    CHECK(again(seeded(1)).rope_base == 10000.0);
    const AppState left =
        reopened_alike(after(toy, {SetRope{RopeTurn::interleaved}, SetRope{RopeTurn::off}}));
    CHECK_FALSE(left.document().spec.rope);
    CHECK(again(left).rope_base == 50.0);
    CHECK(left.document().rope_before->pairs == RopePairs::interleaved);
    const AppState set = after(file, {SetRopeBase{60.0}, SetRope{RopeTurn::off}});
    const auto retained =
        reference_from_json(nlohmann::json::parse(document_to_json(set.document())), "session");
    REQUIRE(retained);
    const AppState back = state_of(resolved(file.document(), *retained).value()).value();
    CHECK(again(back).rope_base == 60.0);
    CHECK(again(back).rope_dims == 2);
    CHECK(again(back).rope_scaled);
}

TEST_CASE("RoPE turns pairs of columns by position · base^(−2c/d_k), halves or neighbours") {
    using Pairs = std::pair<Index, Index>;
    for (const bool half : {true, false}) {
        CAPTURE(half);
        const AppState state =
            seeded(1, {SetRope{half ? RopeTurn::half : RopeTurn::interleaved}, SetRopeBase{100.0}});
        for (Index i = 0; i < 4; ++i)
            for (const Index c : {Index{0}, Index{1}}) {
                const Pairs columns = half ? Pairs{c, c + 2} : Pairs{2 * c, 2 * c + 1};
                const double speed = c == 0 ? 1.0 : 0.1;  // 100^(−2/4)
                for (const auto& [from, to] :
                     {std::pair{Stage::q, Stage::q_rot}, std::pair{Stage::k, Stage::k_rot}}) {
                    const auto [x, y] = turned(state, from, i, columns, speed);
                    CHECK(at(state, to, 0, i, columns.first) == near(x));
                    CHECK(at(state, to, 0, i, columns.second) == near(y));
                }
            }
        check_pairs(state, Stage::scores, [&](Index h, Index i, Index j) {
            return dot(state, Stage::q_rot, h, i, Stage::k_rot, h, j);
        });
    }
    const AppState turns = seeded(1, {SetRope{RopeTurn::half}});
    const std::string odd =
        "rope.dims is 3: RoPE turns pairs of columns, so an even number from 2 to d_k = 3 is "
        "expected.";
    CHECK(refused(turns, SetKeyWidth{3}) == odd);
    CHECK(refused(seeded(1, {SetKeyWidth{3}}), SetRope{RopeTurn::half}) == odd);
    CHECK(refused(seeded(1), SetRopeBase{10.0}) ==
          "RoPE is off and has no base: choose half or interleaved first.");
    CHECK(refused(turns, SetRopeBase{0.0}) ==
          "rope.base is 0: it must be a number from 1e-6 to 1e18.");
}

TEST_CASE("a sink takes exp(sink) of every row's sum, and its logit comes from the seed") {
    const AppState state = seeded(2, {SetSinks{true}});
    for (Index h = 0; h < 2; ++h) {
        const double sink = param(state, Param::sinks, 0, h);
        CHECK(sink == near(weight_value(3, Param::sinks, h, 0, 0)));
        for (Index i = 0; i < 4; ++i) {
            double sum = 0.0, weights = 0.0;
            for (Index j = 0; j < 4; ++j) {
                sum += std::exp(at(state, Stage::masked, h, i, j));
                weights += at(state, Stage::weights, h, i, j);
            }
            CHECK(weights == near(sum / (sum + std::exp(sink))));
            CHECK(weights < 0.999);
        }
    }
    CHECK(after(state, {SetSinks{false}}).document().inputs->params[Param::sinks].empty());
    CHECK(refused(state, SetEmptyRows{true}) ==
          "empty_rows is nan, but with sinks no row is empty: a sink takes the whole weight of a "
          "row without keys.");
}

TEST_CASE("four heads share two key/value heads: heads 0, 1 the first, heads 2, 3 the second") {
    const AppState first = seeded(4);
    const AppState state = after(first, {SetKeyHeads{2}});
    CHECK((*state.trace)[Stage::k].shape() == Shape{1, 2, 4, 4});
    check_pairs(state, Stage::scores, [&](Index h, Index i, Index j) {
        double sum = 0.0;  // q of the four heads before, k of the two that are left
        for (Index c = 0; c < 4; ++c)
            sum += at(first, Stage::q, h, i, c) * at(first, Stage::k, h / 2, j, c);
        return sum;
    });
    for (const auto [h, i] : each_cell(4, 4)) {
        double sum = 0.0;
        for (Index j = 0; j < 4; ++j)
            sum += at(state, Stage::weights, h, i, j) * at(first, Stage::v, h / 2, j, 1);
        CHECK(at(state, Stage::context, h, i, 1) == near(sum));
    }
    CHECK(refused(first, SetKeyHeads{3}) ==
          "4 query heads do not divide among 3 key/value heads: H must be a multiple of Hkv.");
    CHECK(refused(state, SetHeads{5}) ==
          "5 query heads do not divide among 2 key/value heads: H must be a multiple of Hkv.");
    CHECK(refused(first, SetKeyHeads{0}) == "Kv heads = 0: it must be 1 to 16.");
    CHECK(after(state, {SetHeads{6}}).document().size.kv_heads == 2);
    CHECK(after(first, {SetHeads{6}}).document().size.kv_heads == 6);
}

TEST_CASE("values have a width of their own, which W_O follows") {
    const AppState first = seeded(2);
    const AppState state = after(first, {SetValueWidth{2}});
    CHECK(state.document().inputs->params[Param::w_v].shape() == Shape{1, 1, 5, 4});
    CHECK(state.document().inputs->params[Param::w_o].shape() == Shape{1, 1, 4, 5});
    for (const auto [h, j] : each_cell(2, 4))
        for (Index c = 0; c < 2; ++c)
            CHECK(at(state, Stage::v, h, j, c) == at(first, Stage::v, h, j, c));
    // output = Σ_h context_h W_O of its rows
    double sum = 0.0;
    for (const auto [h, c] : each_cell(2, 2))
        sum += at(state, Stage::context, h, 1, c) * param(state, Param::w_o, 2 * h + c, 3);
    CHECK(at(state, Stage::output, 0, 1, 3) == near(sum));
    CHECK(after(state, {SetKeyWidth{6}}).document().size.d_v == 2);
    CHECK(after(first, {SetKeyWidth{6}}).document().size.d_v == 6);
    CHECK(refused(first, SetValueWidth{129}) == "d_v = 129: it must be 1 to 128.");
}

TEST_CASE("cosine and Student-t scores need no parameter") {
    const AppState cosine = seeded(2, {SetScore{Score::cosine}});
    check_pairs(cosine, Stage::scores, [&](Index h, Index i, Index j) {
        return dot(cosine, Stage::q, h, i, Stage::k, h, j) /
               std::sqrt(dot(cosine, Stage::q, h, i, Stage::q, h, i) *
                         dot(cosine, Stage::k, h, j, Stage::k, h, j));
    });
    CHECK(cosine.history[cosine.now].text == "score: cosine");
    const AppState student = seeded(2, {SetScore{Score::student_t}});
    check_pairs(student, Stage::scores, [&](Index h, Index i, Index j) {
        const double apart = dot(student, Stage::q, h, i, Stage::q, h, i) -
                             2.0 * dot(student, Stage::q, h, i, Stage::k, h, j) +
                             dot(student, Stage::k, h, j, Stage::k, h, j);
        return -std::log1p(apart);
    });
}

TEST_CASE("general and additive scores bring parameters from the seed, dot takes them away") {
    const AppState general = seeded(2, {SetScore{Score::general}});
    check_pairs(general, Stage::scores, [&](Index h, Index i, Index j) {
        double sum = 0.0;
        for (Index r = 0; r < 4; ++r)
            for (Index c = 0; c < 4; ++c)
                sum += at(general, Stage::q, h, i, r) * param(general, Param::w_score, r, c) *
                       at(general, Stage::k, h, j, c);
        return sum;
    });
    CHECK(param(general, Param::w_score, 2, 1) == near(weight_value(3, Param::w_score, 0, 2, 1)));
    const AppState additive = after(general, {SetScore{Score::additive}});
    CHECK(additive.document().inputs->params[Param::w_score].empty());
    check_pairs(additive, Stage::scores, [&](Index h, Index i, Index j) {
        double sum = 0.0;
        for (Index n = 0; n < 4; ++n) {
            double inner = 0.0;
            for (Index c = 0; c < 4; ++c)
                inner += at(additive, Stage::q, h, i, c) * param(additive, Param::w_score_q, c, n) +
                         at(additive, Stage::k, h, j, c) * param(additive, Param::w_score_k, c, n);
            sum += param(additive, Param::w_score_row, 0, n) * std::tanh(inner);
        }
        return sum;
    });
    // every head reads all of W_score: its sheet is the whole matrix, whichever head is shown
    for (Index head = 0; head < 2; ++head) {
        CAPTURE(head);
        const AppState shown = after(general, {ShowHead{head}, GoToStage{Stage::scores}});
        CHECK(head_columns(shown, Param::w_score).count == 0);
        const Sheet sheet = sheet_of(shown, Param::w_score);
        REQUIRE(sheet.values.rows == 4);
        REQUIRE(sheet.values.columns == 4);
        for (const auto [r, c] : each_cell(4, 4))
            CHECK(sheet.values(r, c) == param(general, Param::w_score, r, c));
        const AppState edited = after(shown, {SetCell{{Param::w_score, 2, 1}, 0.5F}});
        CHECK(param(edited, Param::w_score, 2, 1) == 0.5);
    }
    const AppState dot = after(additive, {SetScore{Score::dot}});
    CHECK(dot.document().inputs->params.tensors == seeded(2).document().inputs->params.tensors);
    CHECK(after(additive, {SetSeed{8}, SetKeyWidth{6}}).document().inputs->params.tensors ==
          seeded(2, {SetSeed{8}, SetKeyWidth{6}, SetScore{Score::additive}})
              .document()
              .inputs->params.tensors);
}

TEST_CASE("the explanation of every score computes it from q and k") {
    for (const ScoreInfo& score : score_table()) {
        CAPTURE(score.key);
        const AppState state = seeded(2, {SetScore{score.score}});
        for (const auto [i, j] : each_cell(state.document().size.tq, state.document().size.tk)) {
            const Explanation explanation = explain(state, {Stage::scores, i, j});
            REQUIRE_FALSE(explanation.steps.empty());
            CHECK(evaluate(explanation.steps.back().expr) ==
                  doctest::Approx(explanation.value).epsilon(1e-5));
            CHECK_FALSE(explanation.formula.empty());
        }
    }
}

TEST_CASE("dropout drops weights by its seed and divides the others by 1 − p") {
    const AppState state = seeded(4, {SetDropout{0.5}, SetDropoutSeed{2}});
    Index dropped = 0;
    check_pairs(state, Stage::dropped, [&](Index h, Index i, Index j) {
        const bool gone = at(state, Stage::dropped, h, i, j) == 0.0;
        dropped += gone;
        return gone ? 0.0 : at(state, Stage::weights, h, i, j) / 0.5;
    });
    CHECK(dropped > 10);  // of 64
    CHECK(dropped < 54);
    const AppState other = after(state, {SetDropoutSeed{3}});
    CHECK_FALSE((*other.trace)[Stage::dropped] == (*state.trace)[Stage::dropped]);
    CHECK((*after(state, {SetTraining{false}}).trace)[Stage::dropped].empty());
    CHECK(refused(state, SetDropout{1.0}) == "Dropout is 1: it must be at least 0 and below 1.");
}

TEST_CASE("a query offset moves the causal mask: query i sees keys up to i + offset") {
    const AppState state = seeded(1, {SetCausal{true}, SetQueryOffset{2}});
    for (const auto [i, j] : each_cell(4, 4))
        CHECK((at(state, Stage::weights, 0, i, j) > 0.0) == (j <= i + 2));
    CHECK(state.document().spec.query_offset == 2);
    CHECK_FALSE(after(state, {SetQueryOffset{0}}).document().spec.query_offset);
    CHECK(refused(state, SetQueryOffset{-1}) == "query_offset is -1: it must be 0 to 2^40.");
}

TEST_CASE("W_K := W_Q copies every number: scores are symmetric, undo brings the old ones back") {
    const AppState first = seeded(2);
    const AppState state = after(first, {CopyQueryWeights{}});
    const Params& params = state.document().inputs->params;
    CHECK(params[Param::w_k] == params[Param::w_q]);
    CHECK_FALSE(params[Param::w_k] == first.document().inputs->params[Param::w_k]);
    check_pairs(state, Stage::scores,
                [&](Index h, Index i, Index j) { return at(state, Stage::scores, h, j, i); });
    CHECK(has(state.document().note, "W from seed 3, edited"));
    CHECK(after(state, {Undo{}}).shared_document() == first.shared_document());
    CHECK(after(state, {CopyQueryWeights{}}).message.text == "W_K already equals W_Q.");
    CHECK(refused(seeded(2, {SetKeyHeads{1}}), CopyQueryWeights{}) ==
          "W_Q has 2 heads and W_K 1: to make them equal, set as many key/value heads as heads.");
    reopened_alike(state);
}

TEST_CASE("every field is undone, done again, journaled and kept by a session") {
    AppState state = seeded(4);
    for (const Action& action : every_field()) {
        CAPTURE(name_of(action));
        const AppState next = after(state, {action});
        REQUIRE(next.now == state.now + 1);
        CHECK(after(next, {Undo{}}).shared_document() == state.shared_document());
        CHECK(after(next, {Undo{}, Redo{}}).shared_document() == next.shared_document());
        CHECK(document_to_json(after(state, {through_journal(action)}).document()) ==
              document_to_json(next.document()));
        const AppState opened = reopened_alike(next);
        CHECK(call_of(opened.document()) == call_of(next.document()));
        CHECK(opened.document().inputs->params.tensors == next.document().inputs->params.tensors);
        state = next;
    }
    CHECK(call_fields().size() == every_field().size() + 1);  // scale_q_k: of dot products alone
}

TEST_CASE("another sentence, other sizes and another seed keep what was chosen") {
    const AppState state = seeded(4, every_field());
    const CallSettings call = call_of(state.document());
    for (const Action& action :
         Actions{SetSentence{"one two three"}, SetSentence{"a b c d e f"}, SetKeyWidth{6},
                 SetModelWidth{9}, SetHeads{8}, SetSeed{12}, SetScaling{false}}) {
        CAPTURE(name_of(action));
        const AppState other = after(state, {action});
        REQUIRE(other.now == state.now + 1);
        CHECK(call_of(other.document()) == call);
    }
    CHECK(call_of(after(state, {LoadPreset{"the-cat-sat-down"}}).document()).score == Score::dot);
}

TEST_CASE("the palette offers each switch and each choice") {
    const auto offered = [](const AppState& state, const std::string& text) {
        const auto list = commands(state);
        return one_of(list, text, &Command::text);
    };
    const AppState state = seeded(2);
    CHECK(after(state, {offered(state, "Call: ALiBi on").action}).document().spec.alibi);
    CHECK(after(state, {offered(state, "Call: score additive").action}).document().spec.score ==
          Score::additive);
    CHECK(after(state, {offered(state, "Call: soft cap on").action}).document().spec.softcap ==
          1.0);
    const AppState file = state_of(document_of({normal_inputs({1, 2, 4, 4}, 5)}, "x.npz")).value();
    CHECK_FALSE(offered(file, "Call: sinks on").enabled);
    CHECK(offered(file, "Call: ALiBi on").enabled);
}

TEST_CASE("a file's call can be switched where that needs no tensor; else it says what it lacks") {
    Document document = document_of({normal_inputs({1, 2, 4, 4}, 5)}, "x.npz");
    document.title = "x.npz";
    const AppState file = state_of(document).value();
    const std::string lack =
        "Sinks, the number of key/value heads and d_v come from the tensors of “x.npz”. You can "
        "set them only for "
        "a toy "
        "sentence.";
    CHECK(refused(file, SetSinks{true}) == lack);
    CHECK(refused(file, SetKeyHeads{1}) == lack);
    CHECK(refused(file, SetValueWidth{2}) == lack);
    CHECK(refused(file, SetScore{Score::general}) ==
          "Score general needs W_score, which is not given.");
    CHECK(refused(file, CopyQueryWeights{}) ==
          "W_Q and W_K are tensors of x.npz. You can set them only for a toy sentence.");
    const AppState changed =
        after(file, {SetScore{Score::cosine}, SetSoftCap{2.0}, SetRope{RopeTurn::half},
                     SetAlibi{true}, SetQueryOffset{1}, SetDropout{0.5}});
    CHECK(changed.now == file.now + 6);
    // its session says all of it, also what was switched off
    const auto again = [&](const AppState& state, Document from) {
        const auto written = nlohmann::json::parse(document_to_json(state.document()));
        const auto reference = reference_from_json(written, "session");
        REQUIRE(reference);
        return call_of(resolved(std::move(from), *reference).value());
    };
    CHECK(again(changed, file.document()) == call_of(changed.document()));
    CHECK(again(file, changed.document()) == call_of(file.document()));
}

TEST_CASE("a preset by hand names fields of the call; parameters that it lacks are seeded") {
    const AppState state = json_state(
        R"("heads": 2, "d_model": 5, "d_k": 4, "kv_heads": 1, "d_v": 3, "seed": 3,
           "score": "additive", "sinks": true, "rope": "interleaved", "rope_base": 50)");
    const AppState set =
        seeded(2, {SetKeyHeads{1}, SetValueWidth{3}, SetScore{Score::additive}, SetSinks{true},
                   SetRope{RopeTurn::interleaved}, SetRopeBase{50.0}});
    CHECK(call_of(state.document()) == call_of(set.document()));
    CHECK(state.document().inputs->params.tensors == set.document().inputs->params.tensors);
    const auto fault = [](const std::string& spec) {
        return document_from_json(R"({"title": "t", "note": "n", "sentence": "a b", )" + spec + "}",
                                  "p.json")
            .error()
            .text();
    };
    CHECK(
        fault(R"("heads": 4, "kv_heads": 3)") ==
        "p.json: 4 query heads do not divide among 3 key/value heads: H must be a multiple of Hkv");
    CHECK(fault(R"("score": "cosin")") ==
          fmt::format(R"(p.json has 'score' = "cosin": expected one of {})",
                      fmt::join(score_keys(), ", ")));
    CHECK(fault(R"("rope_base": 50)") ==
          "p.json has 'rope_base' without RoPE: expected 'rope' as well, half or interleaved");
    CHECK(fault(R"("rope": "off", "rope_dims": 2)") ==
          "p.json has 'rope_dims' without RoPE: expected 'rope' as well, half or interleaved");
    CHECK(fault(R"("rope": "half", "rope_scaled": true)") ==
          "p.json has 'rope_scaled': only a model's RoPE has scaling");
    CHECK(fault(R"("d_v": 2, "W_V": [[1, 2, 3, 4]])") ==
          "p.json W_V has 1 rows, expected d_model = 4");
}

TEST_CASE("the whole call is copied as code, or it is said why not") {
    for (const MaskCode code : {MaskCode::numpy, MaskCode::pytorch}) {
        const AppState copied = after(initial_state(), {CopyCall{code}});
        CHECK(copied.effects.clipboard == call_code(copied.document(), code).value());
        CHECK(has(*copied.effects.clipboard, "weights"));
    }
    const auto refused = [](const AppState& state, const char* why) {
        const AppState asked = after(state, {CopyCall{MaskCode::numpy}});
        CHECK_FALSE(asked.effects.clipboard);
        CHECK(has(asked.message.text, why));
    };
    refused(after(initial_state(), {SetCell{{Stage::x, 0, 0}, std::nan("")}}), "NaN or infinity");
    refused(call_state("step", [](Inputs&, AttentionSpec&) {}, {1, 8, 64, 64}), "expected at most");
    refused(preset_state("empty"), empty_text(preset_state("empty").document()).c_str());
}

TEST_CASE("RoPE by given cosines and sines: the arithmetic of each cell is the cell") {
    Inputs inputs;
    inputs.q = test::normal_tensor<float>({2, 1, 3, 5}, 1);
    inputs.k = test::normal_tensor<float>({2, 1, 3, 5}, 2);
    inputs.v = test::normal_tensor<float>({2, 1, 3, 2}, 3);
    const auto table = [](std::uint64_t seed) {
        return test::normal_tensor<float>({2, 1, 3, 2}, seed);
    };
    Document document = document_of({std::make_shared<const Inputs>(std::move(inputs))}, "call");
    document.spec.rope = Rope{.pairs = RopePairs::interleaved, .dims = 4, .tables = {}};
    document.spec.rope->tables = make_rotary_tables({table(4), table(5)}, {table(6), table(7)});
    const AppState state =
        after(state_of(std::move(document)).value(), {ShowHead{0, 1}, SetWorkspace{"step"}});
    const AppState back = after(state, {ShowGradients{true}});
    const RotaryTables& tables = *state.document().spec.rope->tables;
    const auto& trace = *state.trace;
    for (const auto [i, c] : each_cell(3, 2)) {
        const double x = trace[Stage::k](1, 0, i, 2 * c), y = trace[Stage::k](1, 0, i, 2 * c + 1);
        const double cosine = tables.k_cos(1, 0, i, c), sine = tables.k_sin(1, 0, i, c);
        CHECK(explain(state, {Stage::k_rot, i, 2 * c}).steps.back().result ==
              near(x * cosine - y * sine));
        CHECK(explain(state, {Stage::k_rot, i, 2 * c + 1}).steps.back().result ==
              near(x * sine + y * cosine));
    }
    for (const auto [i, c] : each_cell(3, 5)) {
        for (const Stage stage : {Stage::q_rot, Stage::k_rot}) {
            const Explanation forward = explain(state, {stage, i, c});
            CHECK(forward.steps.back().result == near(trace[stage](1, 0, i, c)));
            CHECK(std::ranges::none_of(forward.notes, [](const std::string& note) {
                return has(note, "position") || has(note, "radians");
            }));
        }
        for (const Stage stage : {Stage::q, Stage::k}) {
            const Explanation backward = explain_gradient(back, {stage, i, c});
            REQUIRE(!backward.steps.empty());
            CHECK(backward.steps.back().result == near(backward.value));
        }
    }
    CHECK(has(build_step_view(after(state, {GoToStage{Stage::q_rot}})).text,
              "Columns 2c and 2c + 1 of each query rotate together, by the given cosine and sine "
              "of the token and c. The columns from 4 on do not rotate."));
    CHECK(refused(state, SetRopeBase{50.0}) ==
          "RoPE rotates by given cosines and sines, so its base has no effect.");
    const AppState off = after(state, {SetRope{RopeTurn::off}});
    CHECK(after(off, {SetRope{RopeTurn::half}}).document().spec.rope->tables ==
          state.document().spec.rope->tables);
    CHECK(has(call_code(state.document(), MaskCode::numpy).value(), "k = rotate(k, k_cos, k_sin)"));
}

TEST_CASE("QK-norm divides each query and key by the root of its mean square, before RoPE") {
    const AppState state = seeded(2, {SetQkNorm{true}, SetRope{RopeTurn::half}});
    CHECK(state.document().spec.qk_norm == 1e-6);
    for (const auto& [from, to] :
         {std::pair{Stage::q, Stage::q_norm}, std::pair{Stage::k, Stage::k_norm}})
        for (const auto [h, i] : each_cell(2, 4)) {
            const double mean = dot(state, from, h, i, from, h, i) / 4.0;
            for (Index c = 0; c < 4; ++c)
                CHECK(at(state, to, h, i, c) ==
                      near(at(state, from, h, i, c) / std::sqrt(mean + 1e-6)));
        }
    check_pairs(state, Stage::scores, [&](Index h, Index i, Index j) {
        return dot(state, Stage::q_rot, h, i, Stage::k_rot, h, j);
    });
    CHECK(!after(state, {SetQkNorm{false}}).document().spec.qk_norm);
    CHECK(call_of(reopened_alike(state).document()) == call_of(state.document()));
    CHECK(build_step_view(after(state, {GoToStage{Stage::q_rot}})).formula == "q′_i = R_p_i qⁿ_i");
    const AppState alone = seeded(1, {SetQkNorm{true}, GoToStage{Stage::scores}});
    CHECK(build_step_view(alone).formula == "scores[i,j] = qⁿ_i · kⁿ_j");
}

TEST_CASE("QK-norm with weights: the arithmetic of each cell and gradient is the cell") {
    for (const bool turns : {false, true}) {
        Inputs inputs;
        inputs.q = test::normal_tensor<float>({2, 2, 3, 4}, 1);
        inputs.k = test::normal_tensor<float>({2, 1, 3, 4}, 2);
        inputs.v = test::normal_tensor<float>({2, 1, 3, 2}, 3);
        inputs.params[Param::q_norm_weight] = test::normal_tensor<float>({1, 1, 1, 4}, 4);
        inputs.params[Param::k_norm_weight] = test::normal_tensor<float>({1, 1, 1, 4}, 5);
        Document document =
            document_of({std::make_shared<const Inputs>(std::move(inputs))}, "call");
        document.spec.qk_norm = 0.1;
        if (turns) document.spec.rope = Rope{};
        const AppState state =
            after(state_of(std::move(document)).value(), {ShowHead{1, 1}, SetWorkspace{"step"}});
        const AppState back = after(state, {ShowGradients{true}});
        for (const auto [i, c] : each_cell(3, 4)) {
            for (const Stage stage : {Stage::q_norm, Stage::k_norm}) {
                const Explanation forward = explain(state, {stage, i, c});
                CHECK(forward.steps.back().result == near(forward.value));
                CHECK(forward.value != 0.0);
            }
            for (const Stage stage : {Stage::q_norm, Stage::k_norm, Stage::q, Stage::k}) {
                CAPTURE(info(stage).key);
                const Explanation backward = explain_gradient(back, {stage, i, c});
                REQUIRE(!backward.steps.empty());
                CHECK(backward.steps.back().result == near(backward.value));
            }
        }
        for (const Param param : {Param::q_norm_weight, Param::k_norm_weight})
            for (Index c = 0; c < 4; ++c) {
                const Explanation backward = explain_gradient(back, {param, 0, c});
                REQUIRE(!backward.steps.empty());
                CHECK(backward.steps.back().result == near(backward.value));
                CHECK(has(explain(state, {param, 0, c}).notes.front(), "after its RMSNorm"));
            }
    }
}
