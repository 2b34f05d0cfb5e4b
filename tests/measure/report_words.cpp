#include <fmt/format.h>

#include <ostream>

#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/measure/faults.h"
#include "tests/measure/report.h"

namespace attn::test {
namespace {

constexpr Index kTokens[] = {4, 12, 20, 40, 64};
constexpr Index kHeads[] = {1, 4, 16};
constexpr std::array<Index, 2> kSizes[] = {{1280, 720}, {1600, 1000}, {2560, 1440}};
constexpr double kScales[] = {1.0, 1.5, 2.0};
constexpr Index kKeyWidths[] = {4, 16, 64};

// Up to so many tokens no label is dropped, in a window of at least that many design units. In a smaller one a row is
// asked for its label where two columns of lines have room, a column where an upright line has; the selected row and
// column always.
constexpr Index kMostLabelled = 40;
constexpr double kLeastWidth = 1000.0;
constexpr double kLeastHeight = 640.0;
constexpr double kRowPitch = 5.25;
constexpr double kColumnPitch = 10.5;

// A part of the cases that ./test has the time for: each token count, head count, size and scale is in it.
constexpr struct {
    Index tokens, heads, width, height;
    double scale;
} kPart[] = {{4, 1, 1600, 1000, 1.0},  {4, 4, 1280, 720, 1.5},    {12, 4, 1600, 1000, 1.0},
             {20, 1, 1280, 720, 1.0},  {20, 16, 1600, 1000, 1.0}, {40, 4, 1600, 1000, 1.0},
             {64, 1, 2560, 1440, 1.0}, {4, 1, 1600, 1000, 2.0},   {12, 16, 2560, 1440, 1.5}};

std::vector<Case> part_of_cases() {
    std::vector<Case> cases;
    for (const auto& [tokens, heads, width, height, scale] : kPart)
        cases.push_back({tokens, heads, least_key_width(heads), width, height, scale});
    cases.push_back({.tokens = 20, .heads = 4, .width = 1280, .height = 720, .presenter = true});
    return cases;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    for (const auto& [width, height] : kSizes)
        for (const double scale : kScales)
            for (const Index tokens : kTokens)
                for (const Index heads : kHeads)
                    for (const Index key_width : kKeyWidths)
                        cases.push_back({tokens, heads, key_width, width, height, scale});
    for (const auto& [width, height] : kSizes)
        for (const Index tokens : kTokens)
            for (const Index heads : kHeads) {
                cases.push_back({tokens, heads, 16, width, height});
                cases.back().presenter = true;
            }
    return cases;
}

bool has_tokens_on_both_sides(const view::GridView& grid) {
    return grid.row_role == Role::query && grid.column_role == Role::key;
}

Asked asked_of(const Case& at, const view::GridView& grid, const Hero& hero, double unit) {
    if (at.tokens > kMostLabelled) return {false, false};
    const bool large = static_cast<double>(at.width) >= kLeastWidth * unit &&
                       static_cast<double>(at.height) >= kLeastHeight * unit;
    const double row = hero.at.height() / static_cast<double>(grid.rows);
    const double column = hero.at.width() / static_cast<double>(grid.columns);
    return {large || row >= kRowPitch * unit, large || column >= kColumnPitch * unit};
}

std::vector<Fault> faults_at(const Case& at) {
    const Scene scene = scene_of(at);
    const Log log = laid_out(scene.state, at);
    const Rect window{{0.0F, 0.0F}, {static_cast<float>(at.width), static_cast<float>(at.height)}};
    const double unit = view::shown_scale(scene.state, window.height());
    std::vector<Fault> faults = faults_of_text(log, window, unit);
    const view::GridView grid = view::build_step_view(scene.state).result;
    const auto hero = find_hero(log, grid);
    if (!hero || !has_tokens_on_both_sides(grid)) return faults;
    for (Fault& fault : missing_labels(log, grid, *hero, asked_of(at, grid, *hero, unit)))
        faults.push_back(std::move(fault));
    return faults;
}

std::vector<Stage> stages_at(const Case& at) { return stages_of(scene_of(at).state); }

/// How many of each kind there are, and the first of it.
struct Tally {
    std::map<Fault::Kind, int> counts;
    std::map<Fault::Kind, std::string> first;

    void add(const Case& at, const Fault& fault) {
        if (counts[fault.kind]++ == 0) first[fault.kind] = name_of(at) + ": " + fault.text;
    }
};

/// One line for a case: how many faults in which stages.
void print_case(Case at, Tally& tally, std::ostream& out) {
    const std::string refused = scene_of(at).refused;
    if (!refused.empty()) {
        out << fmt::format("  {}: refused, {}\n", name_of(at), refused);
        return;
    }
    std::string line;
    for (const Stage stage : stages_at(at)) {
        at.stage = stage;
        std::map<Fault::Kind, int> here;
        for (const Fault& fault : faults_at(at)) {
            tally.add(at, fault);
            ++here[fault.kind];
        }
        for (const auto& [kind, count] : here)
            line += fmt::format(" {}: {} {},", info(stage).key, count, name_of(kind));
    }
    at.stage = Stage::weights;
    out << fmt::format("  {}:{}\n", name_of(at), line.empty() ? " clean" : line);
}

}  // namespace

bool print_text(bool all, view::ThemeName theme, std::ostream& out) {
    out << "Words: under 11 px, over each other, cut, missing\n";
    Tally tally;
    for (Case at : all ? all_cases() : part_of_cases()) {
        at.theme = theme;
        print_case(at, tally, out);
        out.flush();
    }
    for (const auto& [kind, count] : tally.counts)
        out << fmt::format("  {} {}, the first: {}\n", count, name_of(kind), tally.first[kind]);
    return tally.counts.empty();
}

bool print_faults(const Case& at, std::ostream& out) {
    const std::vector<Fault> faults = faults_at(at);
    for (const Fault& fault : faults)
        out << fmt::format("{}: {}: {}\n", info(at.stage).key, name_of(fault.kind), fault.text);
    return faults.empty();
}

}  // namespace attn::test
