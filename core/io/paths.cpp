#include "core/io/paths.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace attn {
namespace {

namespace fs = std::filesystem;

fs::path whole_path(const fs::path& path) {
    std::error_code ignored;
    const fs::path whole = fs::absolute(path, ignored).lexically_normal();
    return whole.empty() ? path : whole;
}

bool is_no_path(const std::string& path) { return path.empty() || path == "-"; }

}  // namespace

std::string path_from(const fs::path& folder, const std::string& path) {
    if (is_no_path(path) || folder.empty()) return path;
    const fs::path whole = whole_path(path);
    const fs::path relative = whole.lexically_relative(whole_path(folder / ""));
    return relative.empty() ? whole.string() : relative.string();
}

std::string absolute_path(const std::string& path) { return whole_path(path).string(); }

Result<std::string> find_named(const fs::path& folder, const std::string& named,
                               const std::string& at) {
    if (is_no_path(named)) return named;
    std::vector<fs::path> places{(folder / named).lexically_normal()};
    for (const fs::path& place :
         {fs::path(at), whole_path(named), folder / fs::path(named).filename()})
        if (!place.empty() && std::ranges::count(places, place) == 0) places.push_back(place);
    std::string looked;
    for (const fs::path& place : places) {
        std::error_code ignored;
        if (!fs::exists(place, ignored)) {
            looked += (looked.empty() ? "" : " nor at ") + place.string();
            continue;
        }
        return place == whole_path(named) ? named : place.string();
    }
    return bad_input(places.size() == 1 ? fmt::format("{} is not there", looked)
                                        : fmt::format("{} is neither at {}", named, looked));
}

}  // namespace attn
