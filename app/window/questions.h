#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/common/set_field.h"
#include "app/common/state.h"
#include "core/result.h"

namespace attn::view {

/// A question of a newcomer and the actions that show its answer.
struct Question {
    std::string key;       // "why-scale"
    std::string question;  // "Why are scores divided by √d_k?"
    std::string synonyms;  // other words to find it by
    std::string
        answer;  // quotes numbers as a tour does, see filled(); "": the last action has a message
    std::vector<std::string> actions;  // journal lines, from any state
    std::vector<std::string> seen;     // words or numbers on the screen that hold the answer
};
/// assets/questions. An error names the question, the key or the journal line, and the expected form.
Result<std::vector<Question>> questions_from_json(std::string_view text, std::string_view where);
/// Those of the program, read once; an error where no file is there, or it is broken.
const Result<std::vector<Question>>& questions();

/// Opens the document and the place where the question is answered, with the settings of a first launch. One step of undo brings the document back.
struct AskQuestion {
    std::string key;
    static constexpr auto kJournalNames = journal_names("ask_question", "key");
};
/// Shows the answer below the headline; see AnswerLook.
struct AnswerQuestion {
    std::string key;
    static constexpr auto kJournalNames = journal_names("answer_question", "key");
};
using QuestionActions = ActionList<ViewActions<AskQuestion, AnswerQuestion>>;
template <ListedIn<QuestionActions> A>
inline constexpr Meta kMetaOf<A> = QuestionActions::kMeta<A>;

}  // namespace attn::view
