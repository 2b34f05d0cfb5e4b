#include <fmt/format.h>

#include <ostream>

#include "app/common/document/document.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/view.h"
#include "core/io/file.h"
#include "core/large/map_input.h"
#include "tests/measure/contrasts.h"
#include "tests/measure/hero.h"
#include "tests/measure/report.h"
#include "tests/support/color_vision.h"

namespace attn::test {
namespace {

constexpr double kLeastOfText = 4.5;
constexpr double kLeastOfControls = 3.0;
constexpr double kLeastDifference = 18.0;  // ΔE00
constexpr double kLeastDrawn = 0.8;        // of the cells whose pixels have the colour of the log
constexpr std::size_t kShown = 3;          // of the worst

/// The share of the window that the result matrix is to take.
struct Target {
    Case at;
    double share;
};

const std::vector<Target>& targets() {
    static const std::vector<Target> all{
        {{.tokens = 4}, 0.15},
        {{.tokens = 12}, 0.18},
        {{.tokens = 20}, 0.20},
        {{.tokens = 40}, 0.22},
        {{.tokens = 20, .width = 1280, .height = 720}, 0.13},
        {{.tokens = 19, .key_width = 64}, 0.18},
        {{.tokens = 4, .scale = 2.0}, 0.10},
        {{.tokens = 4, .presenter = true}, 0.25},
        {{.tokens = 20, .presenter = true}, 0.25},
        {{.tokens = 4, .width = 1280, .height = 720, .presenter = true}, 0.25},
        {{.tokens = 20, .width = 1280, .height = 720, .presenter = true}, 0.25},
    };
    return all;
}

constexpr Stage kPairStages[] = {Stage::scores, Stage::scaled, Stage::weights};

gl::Size size_of(const Case& at) {
    return {static_cast<int>(at.width), static_cast<int>(at.height)};
}

/// "" when the result is where the log says, in its colours, and large enough.
std::string fault_of(const Case& at, const Camera::Shot& shot, const view::GridView& grid,
                     const Target& target, std::ostream& out) {
    const auto hero = find_hero(shot.log, grid);
    if (!hero) return "the result is not found";
    const double drawn = drawn_share(shot, grid, *hero);
    const double share = hero->share(at);
    out << fmt::format("  {:5.1f} % (at least {:.0f} %{}) {}\n", 100.0 * share,
                       100.0 * target.share, share < target.share ? ": NOT REACHED" : "",
                       name_of(at));
    if (drawn < kLeastDrawn)
        return fmt::format("only {:.0f} % of its cells have that colour in the pixels",
                           100.0 * drawn);
    return share < target.share ? "too small" : "";
}

Result<bool> print_shares(std::ostream& out) {
    out << "The share of the window that the result matrix takes\n";
    bool valid = true;
    for (const Target& target : targets()) {
        auto camera = Camera::open(size_of(target.at));
        if (!camera) return tl::unexpected(std::move(camera.error()));
        for (const Stage stage : kPairStages) {
            Case at = target.at;
            at.stage = stage;
            const Scene scene = scene_of(at);
            const auto shot = (*camera)->take(scene.state);
            const std::string fault =
                fault_of(at, shot, view::build_step_view(scene.state).result, target, out);
            if (!fault.empty()) out << "         " << fault << '\n';
            valid = valid && fault.empty();
        }
    }
    return valid;
}

bool print_least(const char* what, const std::vector<Contrast>& all, double limit,
                 std::ostream& out) {
    if (all.empty()) return true;
    out << fmt::format("  {} {}: at least {:.2f} (limit {})\n", all.size(), what, all.front().ratio,
                       limit);
    for (std::size_t n = 0; n < std::min(all.size(), kShown); ++n)
        if (all[n].ratio < limit) out << fmt::format("    {:.2f}: {}\n", all[n].ratio, all[n].of);
    return all.front().ratio >= limit;
}

/// How many of the pixels have each role's colour: what the distances are of is on the screen.
void print_inks(const Camera::Shot& shot, const view::Theme& theme, std::ostream& out) {
    out << "  pixels in role colours:";
    for (const Role role : {Role::query, Role::key, Role::value, Role::weight, Role::score}) {
        const view::Color color = theme.role(role);
        std::size_t count = 0;
        for (std::size_t n = 0; n + 3 < shot.pixels.rgba.size(); n += 4)
            count += shot.pixels.rgba[n] == color.r && shot.pixels.rgba[n + 1] == color.g &&
                             shot.pixels.rgba[n + 2] == color.b
                         ? 1U
                         : 0U;
        out << fmt::format(" {}", count);
    }
    out << '\n';
}

Result<bool> print_contrasts(std::ostream& out) {
    bool valid = true;
    auto camera = Camera::open({1600, 1000});
    if (!camera) return tl::unexpected(std::move(camera.error()));
    for (const auto name : {view::ThemeName::dark, view::ThemeName::light})
        for (const Stage stage : {Stage::q, Stage::scores, Stage::weights, Stage::context}) {
            const Case at{.tokens = 12, .heads = 4, .theme = name, .stage = stage};
            Scene scene = scene_of(at);
            view::apply(scene.state, view::SelectCell{{stage, 1, 2}});
            const auto shot = (*camera)->take(scene.state);
            const view::Theme& theme = view::theme(name);
            out << "Contrast: " << name_of(at) << '\n';
            valid = print_least("lines of words", of_text(shot), kLeastOfText, out) && valid;
            valid =
                print_least("controls", of_controls(shot, theme), kLeastOfControls, out) && valid;
            valid = print_least("rings", of_rings(shot), kLeastOfControls, out) && valid;
            print_inks(shot, theme, out);
        }
    return valid;
}

}  // namespace

bool print_role_distances(std::ostream& out) {
    bool valid = true;
    for (const auto name : {view::ThemeName::dark, view::ThemeName::light}) {
        const view::Theme& t = view::theme(name);
        const std::pair<const char*, view::Color> roles[] = {
            {"q", t.query},     {"k", t.key},         {"v", t.value},    {"a", t.weight},
            {"score", t.score}, {"output", t.output}, {"input", t.input}};
        for (const Sight sight : kSights) {
            out << fmt::format("ΔE00, {}, {}:", name == view::ThemeName::dark ? "dark" : "light",
                               name_of(sight));
            for (std::size_t i = 0; i < std::size(roles); ++i)
                for (std::size_t j = i + 1; j < std::size(roles); ++j) {
                    const double d = difference(roles[i].second, roles[j].second, sight);
                    out << fmt::format(" {}-{} {:.0f}", roles[i].first, roles[j].first, d);
                    valid = valid && (j > 3 || d >= kLeastDifference);
                }
            out << '\n';
        }
    }
    return valid;
}

Result<void> save_picture(const Case& at, const std::string& path) {
    auto camera = Camera::open(size_of(at));
    if (!camera) return tl::unexpected(std::move(camera.error()));
    return write_file_atomically(
        path, encode_png(gl::opaque((*camera)->take(scene_of(at).state).pixels)));
}

Result<bool> print_pixels(std::ostream& out) {
    const auto shares = print_shares(out);
    if (!shares) return shares;
    const auto contrasts = print_contrasts(out);
    if (!contrasts) return contrasts;
    return *shares && *contrasts;
}

}  // namespace attn::test
