#include "app/window/questions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/answer.h"
#include "app/common/assets.h"
#include "app/common/document/edits.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/common/workspace.h"
#include "app/window/journal.h"
#include "app/window/tour.h"
#include "core/io/file.h"
#include "core/io/json.h"

namespace attn::view {
namespace {

/// Its actions are those after the start.
struct ReadQuestion {
    Question question;
    std::string start;
};

ReadQuestion read_question(Fields& fields) {
    ReadQuestion read;
    Question& question = read.question;
    fields.need("key", question.key);
    fields.need("question", question.question);
    fields.read("synonyms", question.synonyms);
    fields.read("answer", question.answer);
    fields.need("start", read.start);
    read_actions(fields, "actions", question.actions);
    fields.read("seen", question.seen);
    return read;
}

using Starts = std::map<std::string, std::vector<std::string>, std::less<>>;

Starts read_starts(Fields& fields) {
    Starts starts;
    const nlohmann::json* const all = fields.find("starts");
    if (all == nullptr || !all->is_object()) return starts;
    read_object(fields, "starts", [&](Fields& inner) {
        for (const auto& [name, lines] : all->items()) read_actions(inner, name, starts[name]);
    });
    return starts;
}

Result<std::vector<Question>> read_questions() {
    std::vector<Question> all;
    for (const auto& path : asset_files("questions")) {
        auto read = read_text_file(path).and_then(
            [&](const std::string& text) { return questions_from_json(text, path.string()); });
        if (!read) return tl::unexpected(read.error());
        std::ranges::move(*read, std::back_inserter(all));
    }
    return all;
}

/// nullptr, and the reason as a message, for an unknown key.
const Question* question_of(AppState& state, const std::string& key) {
    if (!questions()) {
        show_message(state, questions().error());
        return nullptr;
    }
    const auto found = std::ranges::find(*questions(), key, &Question::key);
    if (found != questions()->end()) return &*found;
    show_error(state, "Question '{}' is unknown.", shortened(key));
    return nullptr;
}

/// The workspaces that the lines go to.
std::set<std::string> workspaces_of(const std::vector<std::string>& lines) {
    std::set<std::string> keys;
    for (const std::string& line : lines)
        if (const auto action = from_journal(line))
            if (const auto* const to = action->as<SetWorkspace>()) keys.insert(to->workspace);
    return keys;
}

/// Settings and views of these workspaces as at a first launch, so that earlier choices do not change the answer. Trained
/// runs stay: they are work, and no question depends on them.
void reset_workspaces(AppState& state, const std::set<std::string>& keys, const std::string& text) {
    const Slots first;
    Slots controls = control_slots(state);
    for (const WorkspaceInfo* const workspace : state.workspaces) {
        if (workspace->key == "learn" || !keys.contains(std::string(workspace->key))) continue;
        for (const PersistedValue& value : workspace->values)
            (value.undone ? controls : look_slots(state)).take(*value.type, first);
    }
    edit_controls(state, std::move(controls), text);
}

}  // namespace

Result<std::vector<Question>> questions_from_json(std::string_view text, std::string_view where) {
    return parse_json(text, where)
        .and_then([&](const nlohmann::json& value) -> Result<std::vector<Question>> {
            Fields fields(value, std::string(where));
            const Starts starts = read_starts(fields);
            std::vector<ReadQuestion> read;
            need_list(fields, "questions", "question", read, read_question);
            std::vector<Question> all;
            for (ReadQuestion& each : read) {
                const auto start = starts.find(each.start);
                if (start == starts.end()) {
                    fields.complain(
                        fmt::format("'{}' has 'start' = \"{}\": expected one of 'starts'",
                                    each.question.key, shortened(each.start)));
                    break;
                }
                auto& actions = each.question.actions;
                actions.insert(actions.begin(), start->second.begin(), start->second.end());
                all.push_back(std::move(each.question));
            }
            if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
            return all;
        });
}

const Result<std::vector<Question>>& questions() {
    static const Result<std::vector<Question>> once = read_questions();
    return once;
}

void carry_out(AppState& state, const AskQuestion& action) {
    const Question* const question = question_of(state, action.key);
    if (question == nullptr) return;
    reset_workspaces(state, workspaces_of(question->actions),
                     fmt::format("settings of the question “{}”", question->question));
    // The answer may wait for a document, as the lines do.
    std::vector<std::string> lines = question->actions;
    if (!question->answer.empty()) lines.push_back(*to_journal(AnswerQuestion{action.key}));
    carry_out_lines(state, lines);
}

void carry_out(AppState& state, const AnswerQuestion& action) {
    const Question* const question = question_of(state, action.key);
    if (question == nullptr) return;
    show_message(state, "{}", filled(state, question->answer));
    answer_look(state) = {question->question, state.message.text};
}

}  // namespace attn::view
