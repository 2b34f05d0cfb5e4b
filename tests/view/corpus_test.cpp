// Sessions and journals of released versions (tests/corpus): they open, and nothing of them is lost.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "app/window/former_names.h"
#include "app/window/journal.h"
#include "app/window/session.h"
#include "attn_tree.h"
#include "tests/support/persisted_names.h"

using namespace attn;
using namespace attn::view;
using nlohmann::json;

namespace {

std::filesystem::path corpus_folder() {
    return std::filesystem::path(ATTN_TEST_DATA).parent_path() / "corpus";
}

std::vector<std::filesystem::path> corpus(std::string_view extension) {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus_folder()))
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

/// A name of tests/corpus/names.txt as this version has it.
std::string present_path(std::string name) {
    if (!name.starts_with('/')) {
        const std::size_t end = std::min(name.find('.'), name.size());
        name = std::string(present_name(name.substr(0, end))) + name.substr(end);
    }
    const char separator = name.starts_with('/') ? '/' : '.';
    for (const FormerName& row : former_names()) {
        if (row.former.find(separator) == row.former.npos || !name.starts_with(row.former))
            continue;
        const std::size_t end = row.former.size();
        if (end < name.size() && name[end] != '/' && name[end] != '=') continue;
        name = std::string(row.former.substr(0, row.former.rfind(separator) + 1)) +
               std::string(row.now) + name.substr(end);
    }
    return name;
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
    REQUIRE(files.size() == 2);
    for (const auto& path : files) {
        std::ifstream lines(path);
        int count = 0;
        for (std::string line; std::getline(lines, line); ++count) {
            CAPTURE(line);
            const auto action = from_journal(line);
            REQUIRE_MESSAGE(action, (action ? std::string() : action.error().text()));
            CHECK(without_later_fields(to_journal(*action).value_or("")) ==
                  without_later_fields(line));
        }
        CHECK(count > 200);
    }
}

// A new name needs no line: the next release's corpus appends it (tests/corpus/make.cpp).
TEST_CASE("every name of tests/corpus/names.txt is still read") {
    const std::set<std::string> present = test::persisted_names();
    CHECK(present.size() > 1400);
    int listed = 0;
    std::ifstream lines(corpus_folder() / "names.txt");
    for (std::string name; std::getline(lines, name); ++listed)
        CHECK_MESSAGE(present.contains(present_path(name)), name,
                      ": old files hold it; add it to app/window/former_names.cpp");
    CHECK(listed > 1600);
}

TEST_CASE("files under former names are read under the present ones") {
    constexpr FormerName kNames[] = {{"turn_scaling", "set_scaling"},
                                     {"set_scaling.enabled", "on"},
                                     {"/learn/picture", "page"},
                                     {"/maps", "masks"}};
    const auto line =
        with_present_names(json::parse(R"({"action": "turn_scaling", "enabled": true})"), kNames);
    CHECK(line == json::parse(R"({"action": "set_scaling", "on": true})"));
    CHECK(session_with_present_names(
              json::parse(R"({"learn": {"picture": 3, "run": 1}, "maps": {"a": 0}, "step": 2})"),
              kNames) ==
          json::parse(R"({"learn": {"page": 3, "run": 1}, "masks": {"a": 0}, "step": 2})"));
    // the present name wins; what is no object stays for the reader to refuse
    CHECK(session_with_present_names(json::parse(R"({"learn": {"picture": 3, "page": 1}})"),
                                     kNames) == json::parse(R"({"learn": {"page": 1}})"));
    for (const char* text : {"[1]", "3", R"({"action": 3})", R"({"learn": [1]})"}) {
        CHECK(with_present_names(json::parse(text), kNames) == json::parse(text));
        CHECK(session_with_present_names(json::parse(text), kNames) == json::parse(text));
    }
    CHECK(present_name("choose_head") == "show_head");
}

TEST_CASE("every session of a released version opens, and is saved as it was") {
    const auto files = corpus(".json");
    CHECK(files.size() >= 54);
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
    CHECK(files.size() >= 54);
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
