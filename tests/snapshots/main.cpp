// Pictures of every workspace beside committed sheets. A sheet has a row for each theme and a column for each size, every
// picture reduced to kWidth pixels; a tile of kTile × kTile pixels may differ by kTolerance of 255 on average.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/io/file.h"
#include "core/io/png_image.h"

using namespace attn;
namespace fs = std::filesystem;

namespace {

constexpr Index kWidth = 320, kTile = 10;
constexpr double kTolerance = 10.0;
constexpr const char* kSizes[] = {"1280x720", "1600x1000", "2560x1440"};
constexpr const char* kThemes[] = {"dark", "light"};

[[noreturn]] void fail(const std::string& text) {
    fmt::print("{}\n", text);
    std::exit(1);
}

template <class T>
T must(Result<T> result) {
    if (!result) fail(result.error().text());
    return *std::move(result);
}

/// Steps of 8 of 255: what a reader cannot see need not be stored.
void coarsen(RgbImage& image) {
    for (std::uint8_t& value : image.rgb) value = static_cast<std::uint8_t>((value & 0xF8) | 4);
}

void paste(const RgbImage& picture, Index left, Index top, RgbImage& sheet) {
    for (Index y = 0; y < picture.height; ++y)
        std::copy_n(picture.rgb.begin() + y * picture.width * 3, picture.width * 3,
                    sheet.rgb.begin() + ((top + y) * sheet.width + left) * 3);
}

/// Workspaces and their shots, by the names of the pictures: "heads", "saturation-softmax".
std::vector<std::string> shots_in(const fs::path& pictures) {
    const std::string ending = "-dark.png";
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(pictures / kSizes[0])) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(ending)) names.push_back(name.substr(0, name.size() - ending.size()));
    }
    std::ranges::sort(names);
    return names;
}

RgbImage sheet_of(const fs::path& pictures, const std::string& shot) {
    std::vector<std::vector<RgbImage>> rows;
    Index height = 0;
    for (const char* theme : kThemes) {
        auto& row = rows.emplace_back();
        for (const char* size : kSizes) {
            const RgbImage picture =
                must(read_png(pictures / size / fmt::format("{}-{}.png", shot, theme)));
            row.push_back(resized_image(picture, kWidth, picture.height * kWidth / picture.width));
            height = std::max(height, row.back().height);
        }
    }
    RgbImage sheet{static_cast<Index>(std::size(kSizes)) * kWidth,
                   static_cast<Index>(std::size(kThemes)) * height,
                   {}};
    sheet.rgb.assign(static_cast<std::size_t>(sheet.width * sheet.height * 3), 128);
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::size_t c = 0; c < rows[r].size(); ++c)
            paste(rows[r][c], static_cast<Index>(c) * kWidth, static_cast<Index>(r) * height,
                  sheet);
    coarsen(sheet);
    return sheet;
}

struct Difference {
    double size = 0.0;  // mean over a tile, of 255
    Index x = 0, y = 0;
};

Difference largest_difference(const RgbImage& a, const RgbImage& b) {
    Difference largest;
    for (Index y = 0; y < a.height; y += kTile)
        for (Index x = 0; x < a.width; x += kTile) {
            const Index bottom = std::min(y + kTile, a.height),
                        right = std::min(x + kTile, a.width);
            double sum = 0.0;
            for (Index v = y; v < bottom; ++v)
                for (Index n = (v * a.width + x) * 3; n < (v * a.width + right) * 3; ++n)
                    sum += std::abs(int{a.rgb[n]} - int{b.rgb[n]});
            const double mean = sum / static_cast<double>((bottom - y) * (right - x) * 3);
            if (mean > largest.size) largest = {mean, x, y};
        }
    return largest;
}

/// "" where the sheet is as committed.
std::string complaint(const RgbImage& sheet, const fs::path& committed) {
    if (!fs::exists(committed)) return "there is no committed sheet";
    const RgbImage before = must(read_png(committed));
    if (before.width != sheet.width || before.height != sheet.height)
        return fmt::format("the sheet is {} × {}, the committed one {} × {}", sheet.width,
                           sheet.height, before.width, before.height);
    const Difference difference = largest_difference(sheet, before);
    if (difference.size <= kTolerance) return {};
    const Index row = difference.y / (sheet.height / static_cast<Index>(std::size(kThemes)));
    return fmt::format("{} at {} differs by {:.1f} of 255 around ({}, {}); at most {} is accepted",
                       kSizes[difference.x / kWidth], kThemes[row], difference.size, difference.x,
                       difference.y, kTolerance);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) fail("test_snapshots PICTURES SHEETS [--renew]");
    const fs::path pictures = argv[1], sheets = argv[2];
    const bool renew = argc > 3 && std::string_view(argv[3]) == "--renew";
    fs::create_directories(sheets);
    int changed = 0;
    std::map<std::string, bool> known;
    for (const std::string& shot : shots_in(pictures)) {
        const RgbImage sheet = sheet_of(pictures, shot);
        const fs::path committed = sheets / (shot + ".png");
        known[committed.filename().string()] = true;
        const std::string text = complaint(sheet, committed);
        if (text.empty()) continue;
        ++changed;
        fmt::print("{}: {}\n", shot, text);
        const fs::path target = renew ? committed : fs::path("snapshots") / (shot + ".png");
        fs::create_directories(target.parent_path());
        if (auto written = write_file_atomically(target, encode_png(sheet)); !written)
            fail(written.error().text());
    }
    for (const auto& entry : fs::directory_iterator(sheets))
        if (!known.contains(entry.path().filename().string())) {
            ++changed;
            fmt::print("{}: no workspace draws this sheet\n", entry.path().filename().string());
            if (renew) fs::remove(entry.path());
        }
    fmt::print("{} sheets, {} changed{}\n", known.size(), changed,
               changed == 0 ? ""
               : renew      ? ", renewed: look at them"
                            : "; the new ones are in snapshots/ of the working folder. If the "
                              "change is meant: tests/snapshots/renew.sh");
    return changed == 0 || renew ? 0 : 1;
}
