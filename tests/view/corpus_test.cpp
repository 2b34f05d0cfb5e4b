// Sessions and journals of released versions (tests/corpus): they open, and nothing of them is lost.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "app/window/journal.h"
#include "app/window/session.h"
#include "attn_tree.h"

using namespace attn;
using namespace attn::view;
using nlohmann::json;

namespace {

std::vector<std::filesystem::path> corpus(std::string_view extension) {
    std::vector<std::filesystem::path> found;
    const auto folder = std::filesystem::path(ATTN_TEST_DATA).parent_path() / "corpus";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == extension) found.push_back(entry.path());
    std::ranges::sort(found);
    return found;
}

std::string text_of_file(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// What two sessions have otherwise, as JSON pointers.
std::vector<std::string> differences(const json& was, const json& now) {
    std::vector<std::string> found;
    for (const json& change : json::diff(was, now))
        found.push_back(change.at("op").get<std::string>() + " " +
                        change.at("path").get<std::string>());
    return found;
}

/// What an action has since may be left out, and is null then.
std::string without_later_fields(std::string line) {
    for (const std::string_view later : {",\"beside\":null", ",\"group\":null"})
        if (const auto at = line.find(later); at != line.npos) line.erase(at, later.size());
    return line;
}

}  // namespace

TEST_CASE("every action of a released version is read, and written as it was") {
    const auto files = corpus(".lines");
    REQUIRE(files.size() == 1);
    std::ifstream lines(files[0]);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        CAPTURE(line);
        const auto action = from_journal(line);
        REQUIRE_MESSAGE(action, (action ? std::string() : action.error().text()));
        CHECK(without_later_fields(to_journal(*action).value_or("")) == line);
    }
    CHECK(count > 200);
}

TEST_CASE("every session of a released version opens, and is saved as it was") {
    const auto files = corpus(".json");
    CHECK(files.size() >= 30);
    for (const auto& path : files) {
        CAPTURE(path);
        const std::string text = text_of_file(path);
        const auto opened = session_from_json(text, path.filename().string());
        REQUIRE_MESSAGE(opened, (opened ? std::string() : opened.error().text()));
        const json saved = json::parse(session_to_json(*opened));
        for (const std::string& each : differences(json::parse(text), saved))
            CHECK_MESSAGE(each.starts_with("add "), each);  // a later version may keep more
    }
}

TEST_CASE("every journal of a released version is read and written alike, and played") {
    const auto files = corpus(".jsonl");
    CHECK(files.size() >= 30);
    for (const auto& path : files) {
        CAPTURE(path);
        std::ifstream lines(path);
        AppState state = initial_state();
        for (std::string line; std::getline(lines, line);) {
            CAPTURE(line);
            const auto action = from_journal(line);
            REQUIRE_MESSAGE(action, (action ? std::string() : action.error().text()));
            const json was = json::parse(line), now = json::parse(*to_journal(*action));
            for (const auto& [key, value] :
                 was.items())  // an action may have another name, and more fields, by now
                if (key != "action") CHECK(now.at(key) == value);
            apply(state, *action);
        }
    }
}
