// Writes what this version saves into a folder of the corpus: a line of each action, random journals, and a session of each
// workspace with its fields scrambled; appends new names to names.txt beside the folder. Run once for each released version:
//
//   build/release/tests/view/make_corpus tests/corpus/version_3
//
// version_2 is of commit 4077054a, the last whose names came from the compiler.

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string>

#include "app/common/actions.h"
#include "app/common/workspace.h"
#include "app/window/journal.h"
#include "app/window/session.h"
#include "tests/support/persisted_names.h"
#include "tests/support/random_journal.h"
#include "tests/support/scramble.h"

using namespace attn;
using namespace attn::view;

namespace {

constexpr int kValues = 3;     // of each action
constexpr int kSessions = 2;   // of each workspace
constexpr int kJournals = 24;  // of 30 random actions each
constexpr int kTries = 200;    // scrambled values that a reader may refuse

void append_names(const std::filesystem::path& path) {
    std::set<std::string> names = test::persisted_names();
    std::ifstream lines(path);
    for (std::string name; std::getline(lines, name);) names.erase(name);
    std::ofstream out(path, std::ios::app);
    for (const std::string& name : names) out << name << '\n';
}

/// Lines of journals that read back: those of `type` with scrambled members.
void write_lines(std::ostream& out, const ActionType& type) {
    test::Scramble scramble(type.name.size());
    int written = 0;
    for (int n = 0; n < kTries && written < kValues; ++n) {
        const auto action = type.make();
        type.describe(scramble, action.get());
        const auto line = to_journal(Action(type, action));
        if (!line) return;
        const auto read = from_journal(*line);
        if (!read || to_journal(*read) != line) continue;
        out << *line << '\n';
        ++written;
    }
}

/// The session as it is saved after it was opened, until that changes nothing more.
std::optional<std::string> stable(std::string text) {
    for (int n = 0; n < 4; ++n) {
        const auto opened = session_from_json(text, "session");
        if (!opened) return std::nullopt;
        std::string again = session_to_json(*opened);
        if (again == text) return text;
        text = std::move(again);
    }
    return std::nullopt;
}

/// A session that shows the workspace; each value of it that stays valid is scrambled.
std::string session_of(const WorkspaceInfo& workspace, test::Scramble& scramble) {
    AppState state = initial_state();
    view::apply(state, SetWorkspace{std::string(workspace.key)});
    std::string text = session_to_json(state);
    for (const PersistedValue& retained : workspace.values)
        for (int n = 0; n < kTries; ++n) {
            AppState other = state;
            Slots& values = retained.undone ? other.history[other.now].controls : other.looks;
            retained.type->describe(scramble, values.edit(*retained.type));
            if (auto made = stable(session_to_json(other)); made && *made != text) {
                text = *std::move(made);
                state = std::move(other);
                break;
            }
        }
    return text;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const std::filesystem::path folder = arguments[1];
    std::filesystem::create_directories(folder);
    append_names(folder.parent_path() / "names.txt");
    std::ofstream lines(folder / "actions.lines");
    for (const ActionType* type : all_actions()) write_lines(lines, *type);
    for (const WorkspaceInfo* workspace : workspaces()) {
        test::Scramble scramble(7);
        for (int n = 1; n <= kSessions; ++n)
            std::ofstream(folder /
                          (std::string(workspace->key) + "-" + std::to_string(n) + ".json"))
                << session_of(*workspace, scramble);
    }
    for (std::uint64_t seed = 0; seed < kJournals; ++seed) {
        std::ofstream out(folder / ("random-" + std::to_string(seed) + ".jsonl"));
        for (const Action& action : test::random_journal(seed))
            out << to_journal(action).value() << '\n';
    }
}
