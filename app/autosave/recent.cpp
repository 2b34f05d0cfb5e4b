#include "app/autosave/recent.h"

#include <nlohmann/json.hpp>

#include "app/autosave/places.h"
#include "core/io/file.h"
#include "core/io/paths.h"

namespace attn::autosave {

std::vector<std::string> read_recent(const std::filesystem::path& file) {
    std::vector<std::string> recent;
    const auto text = read_saved(file);
    const auto json = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
    if (!json.is_array()) return recent;
    for (const auto& each : json) {
        std::error_code fault;
        if (each.is_string() && std::filesystem::exists(each.get<std::string>(), fault) &&
            recent.size() < kMostRecent)
            recent.push_back(each.get<std::string>());
    }
    return recent;
}

std::vector<std::string> with_recent(std::vector<std::string> recent, const std::string& opened) {
    if (opened.empty() || opened == "-") return recent;
    const std::string path = absolute_path(opened);
    std::erase(recent, path);
    recent.insert(recent.begin(), path);
    if (recent.size() > kMostRecent) recent.resize(kMostRecent);
    return recent;
}

void write_recent(const std::filesystem::path& file, const std::vector<std::string>& recent) {
    std::error_code ignored;
    if (writes_in_place(file)) return;  // a pipe, which may wait for ever
    std::filesystem::create_directories(file.parent_path(), ignored);
    const auto text =
        nlohmann::json(recent).dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    [[maybe_unused]] const auto done = write_file_atomically(file, text + "\n");
}

}  // namespace attn::autosave
