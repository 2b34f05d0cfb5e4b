// render --film: a journal as an animated PNG.

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/gl/animated_png.h"
#include "app/platform/video.h"
#include "tests/cli/command.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

std::size_t number_at(const std::string& bytes, std::size_t at, std::size_t count = 4) {
    std::size_t value = 0;
    for (std::size_t n = 0; n < count; ++n)
        value = value << 8U | static_cast<unsigned char>(bytes[at + n]);
    return value;
}

/// What a player shows: each frame and its milliseconds, by the chunks of the file.
struct Played {
    std::vector<RgbImage> pictures;
    std::vector<std::size_t> ms;
};

std::string with_sum(const std::string& name, const std::string& data) {
    const std::string summed = name + data;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
    std::string bytes;
    for (const std::size_t value : {data.size(), static_cast<std::size_t>(sum)})
        for (int n = 3; n >= 0; --n) bytes += static_cast<char>(value >> (8 * n) & 0xFFU);
    return bytes.substr(0, 4) + summed + bytes.substr(4);
}

Played played(const std::string& bytes) {
    Played shown;
    std::string header, control;
    RgbImage canvas = must(parse_png(bytes, "the film"));
    for (std::size_t at = 8; at < bytes.size();) {
        const std::size_t length = number_at(bytes, at);
        const std::string name = bytes.substr(at + 4, 4);
        std::string data = bytes.substr(at + 8, length);
        REQUIRE(with_sum(name, data) == bytes.substr(at, length + 12));
        at += length + 12;
        if (name == "IHDR") header = data;
        if (name == "acTL") REQUIRE(number_at(data, 0) > 0);
        if (name == "fcTL") control = data;
        if (name != "IDAT" && name != "fdAT") continue;
        if (name == "fdAT") data = data.substr(4);
        const RgbImage part = must(parse_png(
            bytes.substr(0, 8) + with_sum("IHDR", control.substr(4, 8) + header.substr(8)) +
                with_sum("IDAT", data) + with_sum("IEND", ""),
            "a frame"));
        const auto left = static_cast<Index>(number_at(control, 12));
        const auto top = static_cast<Index>(number_at(control, 16));
        for (Index y = 0; y < part.height; ++y)
            std::copy_n(&part.rgb[3 * y * part.width], 3 * part.width,
                        &canvas.rgb[3 * ((top + y) * canvas.width + left)]);
        shown.pictures.push_back(canvas);
        shown.ms.push_back(number_at(control, 20, 2));
    }
    return shown;
}

/// The variable PATH while it lives.
class PathVariable {
  public:
    explicit PathVariable(const std::string& folders) : former_(std::getenv("PATH")) {
        setenv("PATH", folders.c_str(), 1);
    }
    PathVariable(const PathVariable&) = delete;
    PathVariable& operator=(const PathVariable&) = delete;
    ~PathVariable() { setenv("PATH", former_.c_str(), 1); }

  private:
    std::string former_;
};

RgbImage picture(Index width, Index height, const std::function<int(Index x, Index y)>& grey) {
    RgbImage image{width, height, {}};
    for (Index y = 0; y < height; ++y)
        for (Index x = 0; x < width; ++x)
            image.rgb.insert(image.rgb.end(), 3, static_cast<std::uint8_t>(grey(x, y)));
    return image;
}

}  // namespace

TEST_CASE("an animated PNG plays the pictures that it was given, each for its time") {
    const std::vector<RgbImage> given{
        picture(7, 5, [](Index x, Index y) { return static_cast<int>(10 * x + y); }),
        picture(
            7, 5,
            [](Index x, Index y) { return x == 6 && y == 0 ? 200 : static_cast<int>(10 * x + y); }),
        picture(7, 5, [](Index x, Index) { return static_cast<int>(x); }),
    };
    gl::AnimatedPng film;
    for (const RgbImage& each : given) film.add(each, 100);
    film.add(given.back(), 70);
    const Played shown = played(film.finish());
    REQUIRE(shown.pictures.size() == 3);
    for (std::size_t n = 0; n < 3; ++n) CHECK(shown.pictures[n].rgb == given[n].rgb);
    CHECK(shown.ms == std::vector<std::size_t>{100, 100, 170});
}

TEST_CASE(
    "a video is made by the ffmpeg on the path; without one, or where it fails, the reason is "
    "given") {
    const Scratch scratch;
    const std::string bin = (scratch / "bin").string();
    const PathVariable path(bin);  // a folder that is not there yet
    for (const char* name : {"x.mp4", "x.webm"}) {
        const Ran ran = ends(cli::kFailure,
                             {"render", "--film", "--workspace", "learn", "-o", scratch.at(name)});
        CHECK(contains(ran.err, "ffmpeg is not on the path"));
        CHECK(contains(ran.err, "clip.png"));
    }
    CHECK(contains(sentence_in(video_of("", VideoFormat::mp4)), "ffmpeg is not on the path"));
    std::filesystem::create_directory(bin);
    const auto program = [&](const std::string& lines) {
        const std::string name = bin + "/ffmpeg";
        std::ofstream(name) << "#!/bin/sh\n" << lines;
        std::filesystem::permissions(name, std::filesystem::perms::owner_all);
    };
    // Writes its arguments and the first line of its input into its output.
    program(
        "all=\"$*\"\nwhile [ $# -gt 1 ]; do [ \"$1\" = -i ] && from=$2; shift; done\n"
        "IFS= read -r line <\"$from\"\necho \"$line: $all\" >\"$1\"\n");
    const std::string mp4 = must(video_of("given\n", VideoFormat::mp4));
    CHECK(mp4.starts_with("given: "));
    CHECK(contains(mp4, "libx264"));
    CHECK(contains(must(video_of("given\n", VideoFormat::webm)), "libvpx-vp9"));
    program("echo first >&2\necho 'Unknown encoder' >&2\nexit 1\n");
    CHECK(sentence_in(video_of("given\n", VideoFormat::mp4)) ==
          "ffmpeg made no video: Unknown encoder");
    program("exit 0\n");  // and wrote nothing
    CHECK_FALSE(video_of("given\n", VideoFormat::mp4));
    CHECK(video_format_of("a/b.webm") == VideoFormat::webm);
    CHECK_FALSE(video_format_of("mp4"));
}

TEST_CASE("--film asks for a journal and a PNG, and --rest for a film") {
    const Scratch scratch;
    check_refused({"render", "--film", "-o", scratch.at("x.png")}, "--film needs --replay");
    check_refused({"render", "--film", "-o", scratch.at("x.svg")}, "an animated PNG");
    check_refused({"render", "--rest", "2", "-o", scratch.at("x.svg")}, "--rest is for --film");
}
