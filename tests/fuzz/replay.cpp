// Plays the files of the folders that it is given, then mutations of each from a fixed seed, through the
// fuzz target.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "core/io/file.h"
#include "core/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::uint64_t kMutations = ATTN_MUTATIONS;

void play(const std::string& bytes) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// One to four edits: a byte changed, a run removed, a run repeated, or the end cut off.
std::string mutated(std::string bytes, std::uint64_t seed) {
    std::uint64_t counter = 0;
    const auto below = [&](std::size_t limit) {
        return static_cast<std::size_t>(attn::mix(seed, counter++) % (limit == 0 ? 1 : limit));
    };
    for (std::size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) {
        const std::size_t at = below(bytes.size());
        const std::size_t length = 1 + below(16);
        switch (below(4)) {
            case 0:
                bytes[at] = static_cast<char>(below(256));
                break;
            case 1:
                bytes.erase(at, length);
                break;
            case 2:
                bytes.insert(at, bytes.substr(at, length));
                break;
            default:
                bytes.resize(at);
                break;
        }
    }
    return bytes;
}

bool play_file(const std::filesystem::path& path) {
    const attn::Result<std::string> bytes = attn::read_text_file(path);
    if (!bytes) return false;
    play(*bytes);
    for (std::uint64_t seed = 0; seed < kMutations; ++seed) play(mutated(*bytes, seed));
    return true;
}

}  // namespace

int main(int count, char** folders) {
    std::size_t played = 0;
    for (int i = 1; i < count; ++i)
        for (const auto& file : std::filesystem::directory_iterator(folders[i]))
            played += play_file(file.path()) ? 1 : 0;
    std::printf("%zu files, %llu mutations of each\n", played,
                static_cast<unsigned long long>(kMutations));
    return played == 0 ? 1 : 0;
}
