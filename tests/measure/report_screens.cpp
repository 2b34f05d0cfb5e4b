#include <fmt/format.h>

#include <iterator>
#include <ostream>

#include "app/common/document/document.h"
#include "app/common/workspace.h"
#include "tests/measure/measures.h"
#include "tests/measure/report.h"
#include "tests/measure/screens.h"

namespace attn::test {
namespace {

constexpr std::array<Index, 2> kSizes[] = {{1024, 640}, {1280, 720}, {1600, 1000}, {2560, 1440}};
constexpr double kScales[] = {1.0, 1.5, 2.0};
constexpr Index kTokens[] = {4, 14, 40, 64};
constexpr Index kHeads[] = {1, 16};
constexpr std::size_t kWorst = 10;

struct Screen {
    Case at;
    Measures measures;
};

std::vector<Case> all_cases(std::string_view workspace) {
    std::vector<Case> cases;
    for (const Index tokens : kTokens)
        for (const Index heads : kHeads)
            for (const auto& [width, height] : kSizes)
                for (const double scale : kScales)
                    for (const auto theme : {view::ThemeName::dark, view::ThemeName::light})
                        cases.push_back({.tokens = tokens,
                                         .heads = heads,
                                         .key_width = least_key_width(heads),
                                         .width = width,
                                         .height = height,
                                         .scale = scale,
                                         .theme = theme,
                                         .workspace = workspace});
    return cases;
}

/// As many as ./test has the time for: in every workspace a laptop's window, a large one, the lowest, and one of the others.
std::vector<Case> part_of_cases(std::string_view workspace, std::size_t row) {
    std::vector<Case> cases;
    cases.push_back({.tokens = 14, .width = 1280, .height = 720, .workspace = workspace});
    cases.push_back({.tokens = 14,
                     .heads = 16,
                     .key_width = 16,
                     .width = 2560,
                     .height = 1440,
                     .workspace = workspace});
    cases.push_back(
        {.tokens = 14, .width = 1024, .height = 640, .scale = 2.0, .workspace = workspace});
    const std::array<Case, 3> others{
        Case{.tokens = 4, .heads = 16, .key_width = 16, .theme = view::ThemeName::light},
        Case{.tokens = 40, .width = 1280, .height = 720, .scale = 1.5},
        Case{.tokens = 14, .width = 1024, .height = 640, .theme = view::ThemeName::light}};
    cases.push_back(others[row % others.size()]);
    cases.back().workspace = workspace;
    if (workspace == "step")  // few words in a large window
        for (const Stage stage : {Stage::scores, Stage::weights})
            cases.push_back({.tokens = 4,
                             .width = 2560,
                             .height = 1440,
                             .stage = stage,
                             .workspace = workspace});
    return cases;
}

/// Numbers under the pointer that their tooltip covers: of so many, evenly chosen among all.
void find_covered(const view::AppState& state, const Log& log, Screen& screen) {
    constexpr std::size_t kAsked = 6;
    std::vector<TextLine> numbers;
    for (const TextLine& text : seen_of(log))
        if (text.font.face == view::Face::mono && !text.turned) numbers.push_back(text);
    const std::size_t step = std::max<std::size_t>(1, numbers.size() / kAsked);
    for (std::size_t n = 0; n < numbers.size(); n += step) {
        const Rect box = numbers[n].bounds();
        const view::Point middle{(box.low.x + box.high.x) / 2, (box.low.y + box.high.y) / 2};
        const auto tip = tooltip_at(state, screen.at, middle);
        if (tip && !shared_part(*tip, box).is_empty())
            screen.measures.faults.push_back(
                {Fault::Kind::covered, "by its tooltip: " + where(numbers[n])});
    }
}

Screen look(const Case& at) {
    const view::AppState state = screen_of(at);
    const Rect window{{0.0F, 0.0F}, {static_cast<float>(at.width), static_cast<float>(at.height)}};
    Looking looking{window, view::shown_scale(state, window.height()),
                    view::theme(at.theme).background};
    for (const auto& token : state.document().tokens) looking.tokens.insert(token);
    const Log log = laid_out(state, at);
    Screen screen{at, measured(log, looking)};
    find_covered(state, log, screen);
    return screen;
}

// ---- what is told

/// One measure, the worst first.
void print_worst(const char* what, std::vector<Screen> screens,
                 const std::function<double(const Measures&)>& badness,
                 const std::function<std::string(const Measures&)>& text, std::ostream& out) {
    std::ranges::stable_sort(screens, std::greater<>(),
                             [&](const Screen& each) { return badness(each.measures); });
    out << what << ", the worst:\n";
    for (std::size_t n = 0; n < std::min(screens.size(), kWorst); ++n)
        out << fmt::format("  {}: {}\n", text(screens[n].measures), name_of(screens[n].at));
}

constexpr Fault::Kind kFaults[] = {Fault::Kind::elided, Fault::Kind::overlap, Fault::Kind::cut,
                                   Fault::Kind::small,  Fault::Kind::missing, Fault::Kind::faint,
                                   Fault::Kind::covered};

/// Each fault once, with the number of screens that have it: what stands in it, without its place.
void print_faults_of(Fault::Kind kind, const std::vector<Screen>& screens, std::ostream& out) {
    std::map<std::string, std::pair<int, std::string>> found;
    for (const Screen& screen : screens)
        for (const Fault& fault : screen.measures.faults) {
            if (fault.kind != kind) continue;
            const auto quote = fault.text.find('"');
            const auto end = fault.text.find('"', quote + 1);
            auto& [count, first] =
                found[std::string(screen.at.workspace) + fault.text.substr(quote, end - quote)];
            if (count++ == 0) first = name_of(screen.at) + ": " + fault.text;
        }
    std::vector<std::pair<int, std::string>> worst;
    for (const auto& each : found) worst.push_back(each.second);
    std::ranges::sort(worst, std::greater<>());
    out << fmt::format("{}: {} texts\n", name_of(kind), worst.size());
    for (std::size_t n = 0; n < std::min(worst.size(), kWorst); ++n)
        out << fmt::format("  {} screens, the first: {}\n", worst[n].first, worst[n].second);
}

int count_of(const Measures& measures, Fault::Kind kind) {
    return static_cast<int>(std::ranges::count(measures.faults, kind, &Fault::kind));
}

/// The worst of a workspace's screens.
void print_row(std::string_view workspace, const std::vector<Screen>& screens, std::ostream& out) {
    double height = 1.0, area = 1.0, empty = 0.0, text = 100.0, contrast = 21.0;
    Index word_count = 0, numbers = 0;
    std::map<Fault::Kind, int> faults;
    for (const Screen& each : screens) {
        const Measures& m = each.measures;
        height = std::min(height, m.hero_height);
        area = std::min(area, m.hero_area);
        empty = std::max(empty, m.empty);
        text = std::min(text, m.least_text);
        contrast = std::min(contrast, m.least_contrast);
        word_count = std::max(word_count, m.word_count - m.rail);
        numbers = std::max(numbers, m.numbers);
        for (const Fault::Kind kind : kFaults) faults[kind] += count_of(m, kind);
    }
    out << fmt::format("  {:<11}{:5.0f} %{:6.1f} %{:5.0f} %{:7}{:9}{:7.1f}{:10.2f}", workspace,
                       100.0 * height, 100.0 * area, 100.0 * empty, word_count, numbers, text,
                       contrast);
    for (const Fault::Kind kind : kFaults) out << fmt::format("{:9}", faults[kind]);
    out << '\n';
    out.flush();
}

void print_texts(const std::vector<Screen>& screens, std::ostream& out) {
    for (const Screen& each : screens) {
        out << fmt::format("{}: {} words, {} numbers\n", name_of(each.at),
                           each.measures.word_count - each.measures.rail, each.measures.numbers);
        for (const std::string& text : each.measures.texts) out << "    " << text << '\n';
    }
}

// What holds of the screens that ./test looks at.
constexpr double kLeastHeight = 0.35;  // where there is a picture
constexpr double kMostEmpty =
    0.35;  // of the canvas with 4 tokens at 1600x1000; of Step's larger ones too
constexpr Index kMostWords = 80, kMostNumbers = 120;
constexpr std::pair<Fault::Kind, int> kMostFaults[] = {
    {Fault::Kind::elided, 6}, {Fault::Kind::overlap, 0}, {Fault::Kind::cut, 0},
    {Fault::Kind::small, 0},  {Fault::Kind::missing, 0}, {Fault::Kind::faint, 0},
    {Fault::Kind::covered, 0}};

bool keep_limits(const std::vector<Screen>& screens, std::ostream& out) {
    bool valid = true;
    const auto hold = [&](bool holds, const std::string& text) {
        if (!holds) out << "NOT REACHED: " << text << '\n';
        valid = valid && holds;
    };
    std::map<Fault::Kind, int> faults;
    for (const Screen& each : screens) {
        const Measures& m = each.measures;
        const std::string name = name_of(each.at);
        // Tensors shows a narrow array as a wide and low picture.
        hold(m.hero_area == 0.0 || m.hero_height >= kLeastHeight ||
                 each.at.workspace == "tensors" ||
                 each.at.workspace == "saturation",  // the open sentence is half of its hero
             fmt::format("{:.0f} % of the height: {}", 100.0 * m.hero_height, name));
        // Generate has no model here.
        const bool asked =
            each.at.tokens == 4 && (each.at.width == 1600 || each.at.workspace == "step");
        hold(m.empty <= kMostEmpty || !asked || each.at.workspace == "generate",
             fmt::format("{:.0f} % empty: {}", 100.0 * m.empty, name));
        hold(m.word_count - m.rail <= kMostWords,
             fmt::format("{} words: {}", m.word_count - m.rail, name));
        hold(m.numbers <= kMostNumbers, fmt::format("{} numbers: {}", m.numbers, name));
        for (const Fault& fault : m.faults) ++faults[fault.kind];
    }
    for (const auto& [kind, most] : kMostFaults)
        hold(faults[kind] <= most,
             fmt::format("{} {}, {} at most", faults[kind], name_of(kind), most));
    return valid;
}

}  // namespace

bool print_screens(bool all, bool texts, std::string_view only, std::ostream& out) {
    out << "Workspaces, the worst of each: the largest picture's share of the height and of the "
           "window; of the canvas what is empty;\nwords and numbers outside grids; the smallest "
           "text, the least contrast; "
           "faults\n";
    out << fmt::format("  {:<11}{:>7}{:>8}{:>7}{:>7}{:>9}{:>7}{:>10}", "", "height", "area",
                       "empty", "words", "numbers", "text", "contrast");
    for (const Fault::Kind kind : kFaults) out << fmt::format("{:>9}", name_of(kind));
    out << '\n';
    std::vector<Screen> screens;
    std::size_t row = 0;
    for (const view::WorkspaceInfo* const workspace : view::workspaces()) {
        if (!only.empty() && workspace->key != only) continue;
        std::vector<Screen> here;
        for (const Case& at :
             all ? all_cases(workspace->key) : part_of_cases(workspace->key, row++))
            here.push_back(look(at));
        print_row(workspace->key, here, out);
        if (texts) print_texts(here, out);
        std::ranges::move(here, std::back_inserter(screens));
    }
    print_worst(
        "Share of the height", screens, [](const Measures& m) { return -m.hero_height; },
        [](const Measures& m) { return fmt::format("{:.0f} %", 100.0 * m.hero_height); }, out);
    print_worst(
        "Empty", screens, [](const Measures& m) { return m.empty; },
        [](const Measures& m) { return fmt::format("{:.0f} %", 100.0 * m.empty); }, out);
    print_worst(
        "Words", screens,
        [](const Measures& m) { return static_cast<double>(m.word_count - m.rail); },
        [](const Measures& m) { return fmt::format("{} + {}", m.word_count - m.rail, m.rail); },
        out);
    print_worst(
        "Numbers", screens, [](const Measures& m) { return static_cast<double>(m.numbers); },
        [](const Measures& m) { return fmt::format("{}", m.numbers); }, out);
    for (const Fault::Kind kind : kFaults) print_faults_of(kind, screens, out);
    return all || keep_limits(screens, out);
}

}  // namespace attn::test
