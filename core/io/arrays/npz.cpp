#include "core/io/npz.h"

#include <fmt/format.h>

#include "core/io/arrays/formats.h"
#include "core/text.h"

namespace attn {
namespace {

class NpzArrays final : public ArrayFile {
  public:
    static Result<Arrays> list(Result<NpzFile> file, std::string what) {
        if (!file) return tl::unexpected(std::move(file.error()));
        auto arrays = std::unique_ptr<NpzArrays>(new NpzArrays(*std::move(file), std::move(what)));
        return arrays->set_names(arrays->file_.names()).map([&]() -> Arrays {
            return std::move(arrays);
        });
    }

  private:
    NpzArrays(NpzFile file, std::string what)
        : ArrayFile(std::move(what)), file_(std::move(file)) {}

    Result<ArrayInfo> about_at(std::size_t at, const std::string&) const override {
        return file_.header(names()[at]).map([](const NpyHeader& header) {
            return ArrayInfo{header.type.name, header.extents,
                             header.total_bytes - header.data_offset};
        });
    }
    Result<NpyArray> read_at(std::size_t at, const std::string& what, double held) const override {
        const auto objects = file_.objects(names()[at]);
        if (!objects) return tl::unexpected(objects.error());
        if (!*objects) return file_.read(names()[at], held);
        return parse_pickled(**objects, what)
            .and_then([&](const Arrays& inside) -> Result<NpyArray> {
                if (inside->names().size() == 1) return inside->read(inside->names().front(), held);
                return bad_input(
                    fmt::format("{} has {} of Python; expected one, numbers or texts. Save each "
                                "under a name of its own",
                                what, counted(inside->names().size(), "array")));
            });
    }

    NpzFile file_;
};

}  // namespace

Result<Arrays> open_npz(const std::filesystem::path& path) {
    return NpzArrays::list(NpzFile::open(path), path.string());
}

Result<Arrays> parse_npz_file(std::string_view bytes, std::string_view what) {
    return NpzArrays::list(NpzFile::open(bytes, what), std::string(what));
}

}  // namespace attn
