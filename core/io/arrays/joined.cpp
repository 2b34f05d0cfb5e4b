#include "core/io/arrays/joined.h"

#include <fmt/format.h>

namespace attn {

Result<Arrays> JoinedArrays::join(std::string what, std::vector<Arrays> files,
                                  std::vector<std::string> names, std::vector<Place> places) {
    auto joined = std::unique_ptr<JoinedArrays>(new JoinedArrays(std::move(what)));
    joined->files_ = std::move(files);
    joined->places_ = std::move(places);
    return joined->set_names(std::move(names)).map([&]() -> Arrays { return std::move(joined); });
}

Result<std::optional<std::string>> JoinedArrays::text(std::string_view key) const {
    std::optional<std::string> found;
    const ArrayFile* where = nullptr;
    for (const Arrays& file : files_) {
        auto text = file->text(key);
        if (!text) return text;
        if (!*text) continue;
        if (where && **text != *found)
            return bad_input(fmt::format("{}: {} and {} have different texts '{}'; expected one",
                                         what(), where->what(), file->what(), key));
        where = file.get();
        found = **std::move(text);
    }
    return found;
}

Result<ArrayInfo> JoinedArrays::about_at(std::size_t at, const std::string&) const {
    return files_[places_[at].file]->about(places_[at].name);
}

Result<NpyArray> JoinedArrays::read_at(std::size_t at, const std::string&, double held) const {
    return files_[places_[at].file]->read(places_[at].name, held);
}

Result<std::optional<HalfArray>> JoinedArrays::read_halves_at(std::size_t at, const std::string&,
                                                              double held) const {
    return files_[places_[at].file]->read_halves(places_[at].name, held);
}

Result<std::optional<CodeArray>> JoinedArrays::read_codes_at(std::size_t at, const std::string&,
                                                             double held) const {
    return files_[places_[at].file]->read_codes(places_[at].name, held);
}

}  // namespace attn
