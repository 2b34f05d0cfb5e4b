#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

/// A folder of its own for one test, gone afterwards.
class Scratch {
  public:
    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "attnscope-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~Scratch() { std::filesystem::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    std::string at(const std::string& name) const { return (path_ / name).string(); }
    const std::filesystem::path& path() const { return path_; }

    /// How many files lie in it.
    long files() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

  private:
    std::filesystem::path path_;
};

/// What a test has that writes files: TEST_CASE_FIXTURE(OnDisk, "…").
struct OnDisk {
    const Scratch scratch;
};

/// True when the sentence names what it must.
inline bool contains(const std::string& sentence, const std::string& text) {
    return sentence.find(text) != std::string::npos;
}
