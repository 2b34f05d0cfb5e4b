#include "core/io/npy.h"

#include <fmt/format.h>

#include "core/io/array_memory.h"
#include "core/io/arrays/formats.h"
#include "core/io/arrays/mapped.h"

namespace attn {
namespace {

class NpyFile final : public ArrayFile {
  public:
    /// `mapped`: owns the bytes, or nothing does here.
    static Result<Arrays> list(std::optional<MappedFile> mapped, std::string_view bytes,
                               std::string what, std::string name) {
        if (!bytes.starts_with("\x93NUMPY"))
            return bad_input(
                fmt::format("{} is not a .npy array: it does not start with \\x93NUMPY", what));
        auto file = std::unique_ptr<NpyFile>(new NpyFile(std::move(what)));
        file->mapped_ = std::move(mapped);
        file->bytes_ = bytes;
        return file->set_names({std::move(name)}).map([&]() -> Arrays { return std::move(file); });
    }

  private:
    explicit NpyFile(std::string what) : ArrayFile(std::move(what)) {}

    Result<NpyHeader> header(const std::string& what) const {
        const Result<void> whole = mapped_ ? mapped_->check_whole() : Result<void>();
        return whole.and_then(
            [&] { return parse_npy_header(bytes_.substr(0, kMaxNpyHeader), what); });
    }
    Result<ArrayInfo> about_at(std::size_t, const std::string& what) const override {
        return header(what).map([](const NpyHeader& header) {
            return ArrayInfo{header.type.name, header.extents,
                             header.total_bytes - header.data_offset};
        });
    }
    Result<NpyArray> read_at(std::size_t, const std::string& what, double held) const override {
        return header(what)
            .and_then([&](const NpyHeader& header) -> Result<void> {
                if (is_text(header.type) || header.total_bytes != bytes_.size()) return {};
                return check_array_memory(what, header, held);
            })
            .and_then([&] { return parse_npy(bytes_, what); });
    }

    std::optional<MappedFile> mapped_;
    std::string_view bytes_;
};

}  // namespace

Result<Arrays> open_npy(const std::filesystem::path& path) {
    return MappedFile::open(path).and_then([&](MappedFile&& mapped) {
        const std::string_view bytes = mapped.bytes();
        if (npy_objects(bytes)) return open_pickle(path);
        return NpyFile::list(std::move(mapped), bytes, path.string(), path.stem().string());
    });
}

Result<Arrays> parse_npy_file(std::string_view bytes, std::string_view what) {
    if (npy_objects(bytes)) return parse_pickled(bytes, what);
    return NpyFile::list(std::nullopt, bytes, std::string(what), "array");
}

}  // namespace attn
