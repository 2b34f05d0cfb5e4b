#include "app/files/renamed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

namespace attn::files {
namespace {

constexpr std::string_view kWrappers[] = {"_orig_mod.", "module.", "language_model."};
/// Of functions and modules that take a query, a key and a value.
constexpr std::pair<std::string_view, std::string_view> kOperands[] = {
    {"query", "Q"},        {"key", "K"},        {"value", "V"},
    {"query_states", "Q"}, {"key_states", "K"}, {"value_states", "V"},
};
/// Of caches.
constexpr std::pair<std::string_view, std::string_view> kCaches[] = {{"past_key", "past_k"},
                                                                     {"past_value", "past_v"}};
/// With one of these names a file names its queries, keys and values itself.
constexpr std::string_view kOwn[] = {"Q", "K", "V", "X", "q", "k", "v", "x", "qkv", "QKV"};
constexpr std::size_t kMostShown = 8;

std::string unwrapped(std::string_view name) {
    for (bool found = true; found;) {
        found = false;
        for (const std::string_view wrapper : kWrappers)
            if (name.starts_with(wrapper) && name.size() > wrapper.size()) {
                name.remove_prefix(wrapper.size());
                found = true;
            }
    }
    return std::string(name);
}

class RenamedArrays final : public ArrayFile {
  public:
    static Arrays rename(Arrays file, const std::map<std::string, std::string>& here_by_there) {
        auto renamed = std::unique_ptr<RenamedArrays>(new RenamedArrays(file->what()));
        std::vector<std::string> names;
        for (const std::string& there : file->names()) {
            const auto found = here_by_there.find(there);
            names.push_back(found == here_by_there.end() ? there : found->second);
        }
        renamed->file_ = std::move(file);
        if (!renamed->set_names(std::move(names)))
            return std::move(renamed->file_);  // none is twice
        return renamed;
    }
    Result<std::optional<std::string>> text(std::string_view key) const override {
        return file_->text(key);
    }

  private:
    explicit RenamedArrays(std::string what) : ArrayFile(std::move(what)) {}
    const std::string& there(std::size_t at) const { return file_->names()[at]; }
    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        return file_->about(there(at));
    }
    Result<NpyArray> read_at(std::size_t at, const std::string&, double held) const override {
        return file_->read(there(at), held);
    }
    Result<std::optional<HalfArray>> read_halves_at(std::size_t at, const std::string&,
                                                    double held) const override {
        return file_->read_halves(there(at), held);
    }

    Arrays file_;
};

}  // namespace

std::vector<OtherName> other_names(std::span<const std::string> names,
                                   const std::set<std::string>& fixed) {
    std::map<std::string, std::string> here;  // by the name there
    std::set<std::string> taken(names.begin(), names.end());
    const auto rename = [&](const std::string& there, std::string to) {
        if (fixed.contains(there) || !taken.insert(to).second) return;
        taken.erase(here.contains(there) ? here[there] : there);
        here[there] = std::move(to);
    };
    const auto now = [&](const std::string& there) {
        return here.contains(there) ? here.at(there) : there;
    };
    for (const std::string& name : names)
        if (std::string plain = unwrapped(name); plain != name) rename(name, std::move(plain));
    const bool own = std::ranges::any_of(
        kOwn, [&](std::string_view name) { return taken.contains(std::string(name)); });
    for (const std::string& name : names)
        for (const auto& [operand, role] : kOperands)
            if (!own && now(name) == operand) rename(name, std::string(role));
    for (const std::string& name : names)
        for (const auto& [cache, role] : kCaches)
            if (now(name) == cache) rename(name, std::string(role));
    for (const std::string& name : names)
        if (now(name) == "cu_seqlens_q" && !taken.contains("cu_seqlens_k"))
            rename(name, "cu_seqlens");
    std::vector<OtherName> renamed;
    for (const std::string& name : names)
        if (here.contains(name)) renamed.push_back({name, here[name]});
    return renamed;
}

Arrays renamed(Arrays file, const std::vector<OtherName>& names) {
    if (names.empty()) return file;
    std::map<std::string, std::string> here;
    for (const auto& [there, to] : names) here.emplace(there, to);
    return RenamedArrays::rename(std::move(file), here);
}

std::string renamed_note(const std::vector<OtherName>& names, const std::string& path) {
    if (names.empty()) return {};
    std::vector<std::string_view> there, here;
    for (const OtherName& name : names) {
        if (there.size() == kMostShown) break;
        there.push_back(name.there);
        here.push_back(name.here);
    }
    const std::string more =
        names.size() > kMostShown ? fmt::format(" and {} more", names.size() - kMostShown) : "";
    return fmt::format("{}: {}{} {} read as {}", path, fmt::join(there, ", "), more,
                       names.size() == 1 ? "is" : "are", fmt::join(here, ", "));
}

}  // namespace attn::files
