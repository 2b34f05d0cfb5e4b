#include "app/autosave/settings.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "app/autosave/autosave.h"
#include "app/autosave/places.h"
#include "app/autosave/recent.h"
#include "core/io/file.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::autosave;

namespace {

std::string fault_of(const Scratch& scratch, const std::string& text) {
    std::ofstream(scratch / "settings.json") << text;
    return sentence_in(read_settings(scratch / "settings.json"));
}

}  // namespace

TEST_CASE("keep: settings come back as they were, with fields that this version does not know") {
    const Scratch scratch;
    const auto file = scratch / "new" / "settings.json";
    CHECK_FALSE(*read_settings(file));
    Settings settings{view::ThemeName::light, 1.5, true, false, {}, true};
    REQUIRE(write_settings(file, settings));
    CHECK(**read_settings(file) == settings);
    std::ofstream(file) << R"({"theme":"light","hue":{"of":7}})";
    settings = **read_settings(file);
    CHECK(settings.theme == view::ThemeName::light);
    CHECK(settings.ui_scale == 1.0);
    REQUIRE(write_settings(file, settings));
    CHECK(contains(*read_text_file(file), "\"hue\""));
    CHECK(**read_settings(file) == settings);
}

TEST_CASE("keep: wrong settings are named and change nothing") {
    const Scratch scratch;
    CHECK(contains(fault_of(scratch, "{"), "settings.json"));
    CHECK(contains(fault_of(scratch, R"({"theme":"pink"})"), "pink"));
    CHECK(contains(fault_of(scratch, R"({"ui_scale":9})"), "expected 1 to 2"));
    CHECK(contains(fault_of(scratch, R"({"reduced_motion":1})"), "true or false"));
}

TEST_CASE("keep: places are those of XDG, and of HOME where these are not absolute") {
    ::setenv("XDG_CONFIG_HOME", "/somewhere", 1);
    ::setenv("XDG_STATE_HOME", "relative", 1);
    ::setenv("HOME", "/home/someone", 1);
    CHECK(config_folder() == "/somewhere/attnscope");
    CHECK(state_folder() == "/home/someone/.local/state/attnscope");
    ::unsetenv("HOME");
    CHECK(state_folder().empty());
}

TEST_CASE("keep: a pipe in the place of a kept file is not opened") {
    const Scratch scratch;
    for (const char* name : {"settings.json", "recent.json", "unsaved-1-2.json"})
        REQUIRE(::mkfifo(scratch.at(name).c_str(), 0600) == 0);
    CHECK(contains(sentence_in(read_settings(scratch / "settings.json")), "is not a regular file"));
    CHECK(read_recent(scratch / "recent.json").empty());
    write_recent(scratch / "recent.json", {"a"});
    CHECK_FALSE(Leftovers(scratch.path()).first());
}
