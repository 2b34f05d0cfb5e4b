#include "app/platform/video.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "core/io/file.h"

extern char** environ;  // NOLINT: as POSIX has it

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr int kLastLine = 300;  // bytes of a message of ffmpeg, at most

bool has_ffmpeg() {
    const char* const folders = std::getenv("PATH");
    std::istringstream all(folders == nullptr ? "" : folders);
    for (std::string folder; std::getline(all, folder, ':');)
        if (access((fs::path(folder) / "ffmpeg").c_str(), X_OK) == 0) return true;
    return false;
}

std::vector<std::string> arguments_of(VideoFormat format, const fs::path& from,
                                      const fs::path& to) {
    std::vector<std::string> all{
        "ffmpeg",   "-hide_banner", "-loglevel", "error",
        "-nostdin", "-y",           "-f",        "apng",
        "-i",       from.string(),  "-vf",       "fps=30,pad=ceil(iw/2)*2:ceil(ih/2)*2",
        "-pix_fmt", "yuv420p"};
    const std::vector<std::string> of_format =
        format == VideoFormat::mp4
            ? std::vector<std::string>{"-c:v", "libx264", "-preset",   "fast",
                                       "-crf", "18",      "-movflags", "+faststart"}
            : std::vector<std::string>{"-c:v", "libvpx-vp9", "-crf", "24",        "-b:v",
                                       "0",    "-row-mt",    "1",    "-cpu-used", "4"};
    all.insert(all.end(), of_format.begin(), of_format.end());
    all.push_back(to.string());
    return all;
}

/// Its exit code; nullopt: it did not start, or was ended. Its standard error goes to `log`.
std::optional<int> run(const std::vector<std::string>& items, const fs::path& log) {
    std::vector<char*> arguments;
    for (const std::string& item : items)
        arguments.push_back(const_cast<char*>(item.c_str()));  // NOLINT: as POSIX has it
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t process = 0;
    const int fault =
        posix_spawnp(&process, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (fault != 0 || waitpid(process, &status, 0) != process || !WIFEXITED(status))
        return std::nullopt;
    return WEXITSTATUS(status);
}

/// A folder of this process alone, gone with this value.
class ScratchFolder {
  public:
    ScratchFolder() {
        std::error_code ignored;
        std::string name = (fs::temp_directory_path(ignored) / "attnscope-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) path_ = name;
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    ~ScratchFolder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    bool is_made() const { return !path_.empty(); }
    fs::path at(std::string_view name) const { return path_ / name; }

  private:
    fs::path path_;
};

std::string last_line(const fs::path& log) {
    std::string text = read_text_file(log).value_or("");
    text.erase(text.find_last_not_of(" \r\n") + 1);
    if (const auto line = text.rfind('\n'); line != text.npos) text.erase(0, line + 1);
    if (text.size() > kLastLine) text.resize(kLastLine);
    return text.empty() ? "it gave no reason" : text;
}

}  // namespace

std::optional<VideoFormat> video_format_of(std::string_view name) {
    if (name.ends_with(".mp4")) return VideoFormat::mp4;
    if (name.ends_with(".webm")) return VideoFormat::webm;
    return std::nullopt;
}

Result<void> check_ffmpeg() {
    if (has_ffmpeg()) return {};
    return failed(
        "ffmpeg is not on the path: MP4 and WebM need it. Install ffmpeg, or write an animated "
        "PNG, as in clip.png");
}

Result<std::string> video_of(std::string_view animated_png, VideoFormat format) {
    if (auto found = check_ffmpeg(); !found) return tl::unexpected(std::move(found.error()));
    const ScratchFolder folder;
    if (!folder.is_made()) return failed("the video cannot be made: no temporary folder");
    const fs::path from = folder.at("clip.png"), log = folder.at("log.txt");
    const fs::path to = folder.at(format == VideoFormat::mp4 ? "clip.mp4" : "clip.webm");
    if (auto written = write_file_atomically(from, std::string(animated_png)); !written)
        return tl::unexpected(std::move(written.error()));
    const auto code = run(arguments_of(format, from, to), log);
    if (code != 0) return failed(fmt::format("ffmpeg made no video: {}", last_line(log)));
    return read_text_file(to);
}

}  // namespace attn
