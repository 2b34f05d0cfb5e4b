// measure: what a person who looks at the window would measure with a ruler, from its pixels and from the log of
// what was drawn.
//
//   test_measure              what ./test runs: the limits below, and the words of a part of the cases
//   test_measure --all        the words of all cases: every stage x {4,12,20,40,64} tokens x {1,4,16} heads x
//                             d_k {4,16,64} x {1280x720, 1600x1000, 2560x1440} x scale {1, 1.5, 2}, and presenting
//   test_measure --faults 20 4 1280 720 1.5      the faults of one document in one window, each by itself; a last
//                                                number is d_k
//   test_measure --faults 20 4 1280 720 1.5 --stage weights --picture FILE.png     and what it looks like
//   test_measure --theme light                   the words in the other theme
//   test_measure --screens [WORKSPACE]           all workspaces, or one: what fills them, their words, numbers and faults;
//                                                with ATTN_MEASURE=all every size x scale x document x theme,
//                                                with ATTN_MEASURE=texts each text that is counted
//
// Exits 0 when all limits are kept, 1 when not, 77 when there is no OpenGL to draw with.

#include <cctype>
#include <cstdlib>
#include <iostream>

#include "core/stages.h"
#include "tests/measure/report.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr int kSkipped = 77;

struct Options {
    bool all = false;
    bool presenter = false;
    view::ThemeName theme = view::ThemeName::dark;
    std::vector<double> one;  // tokens, heads, width, height, scale
    std::optional<Stage> stage;
    std::string picture;
    std::optional<std::string> screens;  // of which workspace; "": of all
};

Options read(int count, char** arguments) {
    Options options;
    for (int n = 1; n < count; ++n) {
        const std::string_view word = arguments[n];
        if (word == "--all") options.all = true;
        const bool more = n + 1 < count;
        if (word == "--presenter") options.presenter = true;
        if (word == "light") options.theme = view::ThemeName::light;
        if (word == "--picture" && more) options.picture = arguments[n + 1];
        if (word == "--stage" && more) options.stage = find_stage(arguments[n + 1]);
        if (word == "--screens") options.screens = more ? arguments[n + 1] : "";
        if (word == "--faults")
            while (n + 1 < count && std::isdigit(static_cast<unsigned char>(*arguments[n + 1])))
                options.one.push_back(std::stod(arguments[++n]));
    }
    return options;
}

Case case_of(const Options& options) {
    std::vector<double> numbers = options.one;
    numbers.resize(6, 0.0);
    Case at;
    at.theme = options.theme;
    at.presenter = options.presenter;
    const auto set = [&](Index& to, double value) {
        to = value > 0.0 ? static_cast<Index>(value) : to;
    };
    set(at.tokens, numbers[0]);
    set(at.heads, numbers[1]);
    at.key_width = least_key_width(at.heads);
    set(at.width, numbers[2]);
    set(at.height, numbers[3]);
    if (numbers[4] > 0.0) at.scale = numbers[4];
    set(at.key_width, numbers[5]);
    return at;
}

/// Every stage, or the one that is named.
int look_at_one(const Options& options) {
    Case at = case_of(options);
    std::vector<Stage> stages = stages_of(scene_of(at).state);
    if (options.stage) stages = {*options.stage};
    bool clean = true;
    for (const Stage stage : stages) {
        at.stage = stage;
        clean = print_faults(at, std::cout) && clean;
    }
    if (clean) std::cout << "no faults\n";
    if (options.picture.empty()) return clean ? 0 : 1;
    const auto done = save_picture(at, options.picture);
    if (!done) std::cerr << done.error().text() << '\n';
    return clean && done ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    const Options options = read(count, arguments);
    if (!options.one.empty()) return look_at_one(options);
    const char* const wanted = std::getenv("ATTN_MEASURE");
    const std::string_view measure = wanted == nullptr ? "" : wanted;
    bool valid = finds_planted(std::cout);
    valid = print_screens(measure == "all", measure == "texts", options.screens.value_or(""),
                          std::cout) &&
            valid;
    if (options.screens) return valid ? 0 : 1;
    valid = print_text(options.all, options.theme, std::cout) && valid;
    valid = print_role_distances(std::cout) && valid;
    const auto pixels = print_pixels(std::cout);
    if (!pixels) {
        std::cout << "no pixels: " << pixels.error().text() << '\n';
        return valid ? kSkipped : 1;
    }
    return valid && *pixels ? 0 : 1;
}
