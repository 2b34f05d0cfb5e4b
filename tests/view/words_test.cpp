// Words of any length, script and bytes: bounded on screen, linear in time.

#include "app/common/document/document.h"
#include "app/common/glossary.h"
#include "app/common/inspector.h"
#include "app/common/text.h"
#include "app/common/tokens.h"
#include "app/workspaces/saturation/actions.h"
#include "tests/view/view_test.h"

using namespace attn::view;
using Tokens = std::vector<std::string>;

namespace {

std::size_t code_points(std::string_view text) {
    std::size_t count = 0;
    for (; !text.empty(); ++count) text.remove_prefix(first_code_point(text).bytes);
    return count;
}

AppState typed(const std::string& sentence) {
    return after(initial_state(), {SetSentence{sentence}});
}

}  // namespace

TEST_CASE("text is split at white space, or into characters; what is no UTF-8 is replaced") {
    CHECK(tokenize("the cat\tsat\n down ") == Tokens{"the", "cat", "sat", "down"});
    CHECK(tokenize("我爱你。") == Tokens{"我", "爱", "你", "。"});
    CHECK(tokenize("ひらカタ漢字") == Tokens{"ひ", "ら", "カ", "タ", "漢", "字"});
    CHECK(tokenize("한국어 text") == Tokens{"한", "국", "어", "text"});
    CHECK(tokenize("GPT模型v2") == Tokens{"GPT", "模", "型", "v2"});
    CHECK(tokenize("ＡＢ！１２") == Tokens{"ＡＢ", "！", "１２"});
    CHECK(tokenize("か\u3099く") == Tokens{"か\u3099", "く"});  // a combining voiced mark
    CHECK(tokenize("a\u00A0b\u3000c\u2003d\u2028e") == Tokens{"a", "b", "c", "d", "e"});
    CHECK(tokenize("Über die Brücke") == Tokens{"Über", "die", "Brücke"});
    CHECK(tokenize("") == Tokens{});
    CHECK(tokenize("\u3000 \u00A0") == Tokens{});
    CHECK(tokenize("a\xFF b\xE2\x88") == Tokens{"a\uFFFD", "b\uFFFD\uFFFD"});
    const AppState state = typed("the \xC3( cat \x80");
    CHECK(state.document().sentence == "the \uFFFD( cat \uFFFD");
    CHECK(reopened(state).document().tokens == state.document().tokens);
}

TEST_CASE("a long token keeps its ends, in the name of a cell too") {
    CHECK(shown_token("attention") == "attention");
    CHECK(shown_token("abcdefghijklmnopqrstuvwx") == "abcdefghijklmnopqrstuvwx");
    CHECK(shown_token("abcdefghijklmnopqrstuvwxy") == "abcdefghijkl…opqrstuvwxy");
    CHECK(code_points(shown_token(std::string(12000, 'x'))) == kMostShown);
    std::string cats;
    for (int n = 0; n < 1000; ++n) cats += "√";
    CHECK(code_points(shown_token(cats)) == kMostShown);
    const AppState state = typed(std::string(300, 'x') + " b c");
    CHECK(cell_name(state, {Stage::scores, 0, 1}) == "scores[xxxxxxx…xxxxxx, b]");
}

TEST_CASE("a sentence begins with a capital unless it begins with a name, and ends") {
    CHECK(sentence("the sentence is empty") == "The sentence is empty.");
    CHECK(sentence("d_k is 0") == "d_k is 0.");
    CHECK(sentence("weights.npz: there is no such file") == "weights.npz: there is no such file.");
    CHECK(sentence("Done.") == "Done.");
    CHECK(sentence("computing …") == "Computing …");
    CHECK(sentence("") == "");
    CHECK(after(initial_state(), {SetSentence{""}}).message.text ==
          "The sentence is empty: type at least one word and press Enter.");
    CHECK(after(initial_state(), {SetSaturationWidth{5}}).message.text == "d_k = 5.");
    CHECK(after(initial_state(), {SetCausal{true}, Undo{}})
              .message.text.starts_with("Undone: Causal mask on"));
}

TEST_CASE("what cannot be seen shows its code") {
    CHECK(shown_token("a\nb\t") == "a\\nb\\t");
    CHECK(shown_token("a\u200Bb") == "a\\u200Bb");
    CHECK(shown_token(std::string_view("\0\x7F", 2)) == "\\u0000\\u007F");
    CHECK(shown_token("\u202Eevil") == "\\u202Eevil");
    CHECK(shown_token("\xFF") == "\uFFFD");
}

TEST_CASE("what shapes the letters around it is seen in them, and has its code alone") {
    for (const char* token : {"می\u200Cخواهم", "क्\u200Dष", "👩\u200D👧", "❤\uFE0F\u200D🔥"})
        CHECK(shown_token(token) == token);
    CHECK(shown_token("\u200D") == "\\u200D");
    CHECK(shown_token("क\u200C") == "क\\u200C");
    CHECK(shown_token("a\u200Cb") == "a\\u200Cb");
    CHECK(shown_token("a\uFE0F") == "a\\uFE0F");
}

TEST_CASE("a word of 12,000 characters is short wherever it is shown") {
    const AppState state = after(typed("the " + std::string(12000, 'x')),
                                 {GoToStage{Stage::weights}, SelectCell{{Stage::weights, 1, 0}}});
    CHECK(state.message.text.size() < 100);
    const StepView step = build_step_view(state);
    for (const std::string& label : step.result.row_labels) CHECK(label.size() < 80);
    CHECK(step.controls.badge.size() <= 4 * kMostTip);
    const InspectorView inspector = step_inspector(state);
    CHECK(inspector.title.size() < 100);
    CHECK(inspector.as_text.size() < 4000);
    CHECK(inspector.as_latex.size() < 4000);
    CHECK(inspector.as_python.size() < 4000);
    for (const Line& line : inspector.lines)
        for (const Piece& piece : line.pieces) CHECK(piece.text.size() < 300);
    CHECK(typed(std::string(12000, 'x')).message.text.size() <= 4 * kMostMessage);
}

// With a cost that grows as the square of the text this would not end.
TEST_CASE("a megabyte of text is shown, or refused, in time that is linear in it") {
    const AppState word = after(typed(std::string(1000000, 'x')),
                                {GoToStage{Stage::x}, SelectCell{{Stage::x, 0, 1}}});
    CHECK(word.document().tokens.size() == 1);
    build_step_view(word);
    step_inspector(word);
    std::string many;
    for (int n = 0; n < 250000; ++n) many += "abc ";
    CHECK(typed(many).message.text ==
          "The sentence has 250000 tokens; a toy sentence has at most 64.");
    std::string chinese;
    for (int n = 0; n < 300000; ++n) chinese += "猫";
    CHECK(typed(chinese).message.severity == Severity::error);
}

TEST_CASE("the palette finds words without their commas, underscores and accents") {
    const AppState state = after(initial_state(), {SetWorkspace{"large"}});
    const auto first = [&](std::string_view query) {
        const std::vector<Command> found = find_commands(state, query);
        return found.empty() ? std::string() : found.front().text;
    };
    CHECK(first("4096") == "Generate 4,096 tokens");
    CHECK(first("generate 4,096") == "Generate 4,096 tokens");
    CHECK(first("gènérâte 16384") == "Generate 16,384 tokens");
    CHECK(first("save_screenshot") == "Save screenshot");
}

TEST_CASE("the palette finds terms, and looks them up") {
    const AppState state = after(initial_state(), {ShowPalette{true}});
    const std::vector<Command> found = find_commands(state, "attention sink");
    const auto term = std::ranges::find(found, "Glossary", &Command::group);
    REQUIRE(term != found.end());
    CHECK(term->text == "Glossary: attention sink");
    const AppState there = after(state, chosen(*term));
    CHECK_FALSE(there.show_palette);
    CHECK(there.glossary.shown);
    REQUIRE_FALSE(found_terms(there).empty());
    CHECK(found_terms(there).front()->term == "attention sink");
    for (const Command& command : find_commands(state, "")) CHECK(command.group != "Glossary");
}
