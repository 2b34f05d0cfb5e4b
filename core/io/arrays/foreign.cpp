#include "core/io/arrays/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "core/io/arrays/array_file.h"

namespace attn {
namespace {

/// PyTorch before 1.6.
bool begins_old_torch(std::string_view bytes) {
    return bytes.starts_with("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19.");
}
bool begins_gguf(std::string_view bytes) { return bytes.starts_with("GGUF"); }
bool begins_hdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }
/// {from}, {to}: the file and what is saved of it, as Python's texts.
struct Foreign {
    std::string_view extensions;  // each with a space after it; "": by its first bytes alone
    bool (*begins)(std::string_view bytes);
    std::string_view text;
    std::string_view saved;   // extension of what Python saves
    std::string_view python;  // "": it is a model that is opened as it is
};
constexpr Foreign kForeign[] = {
    {"", begins_old_torch, "a file of PyTorch before 1.6", ".pt",
     R"(import torch; torch.save(torch.load({from}, map_location="cpu", weights_only=True), {to}))"},
    {".gguf ", begins_gguf, "a GGUF model of llama.cpp", "", ""},
    {".h5 .hdf5 ", begins_hdf5, "an HDF5 file, as Keras saves weights", ".npz",
     R"(import h5py, numpy; a = {{}}; h5py.File({from}).visititems(lambda n, d: a.update({{n: d[()]}}) if isinstance(d, h5py.Dataset) else None); numpy.savez({to}, **a))"},
};

const Foreign* find_foreign(const std::filesystem::path& path, std::string_view bytes) {
    const auto* found =
        std::ranges::find_if(kForeign, [&](const Foreign& each) { return each.begins(bytes); });
    if (found != std::end(kForeign)) return found;
    std::string extension = path.extension().string() + ' ';
    std::ranges::transform(extension, extension.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (extension == " ") return nullptr;
    found = std::ranges::find_if(kForeign, [&](const Foreign& each) {
        return each.extensions.find(extension) != std::string_view::npos;
    });
    return found == std::end(kForeign) ? nullptr : found;
}

}  // namespace

std::string python_text(std::string_view text) {
    std::string literal = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') literal += '\\';
        literal += c;
    }
    return literal + '"';
}

std::string widening_code(const std::string& file) {
    const std::filesystem::path path(file);
    const auto wide =
        path.parent_path() / fmt::format("{}-float32.safetensors", path.stem().string());
    return fmt::format(
        "import torch, safetensors.torch as st; f = st.load_file({}); "
        "st.save_file({{n: t.float() * f.get(n + \"_scale\", torch.ones(1)).float() for n, t in "
        "f.items()}}, {})",
        python_text(file), python_text(wide.string()));
}

std::string foreign_text(std::string_view what, const std::filesystem::path& path,
                         std::string_view bytes) {
    const Foreign* const found = find_foreign(path, bytes);
    if (found == nullptr) return {};
    if (found->python.empty())
        return fmt::format("{} is {}, not arrays of attention; expected it where a model is read",
                           what, found->text);
    // What transformers calls pytorch_model.bin is model.safetensors in a model's folder.
    std::string stem = path.stem().string();
    if (stem == "pytorch_model") stem = "model";
    if (path.extension() == found->saved) stem += "-saved";  // it must not write over what it reads
    const auto to = path.parent_path() / fmt::format("{}{}", stem, found->saved);
    const auto from_text = python_text(path.string()), to_text = python_text(to.string());
    const std::string python = fmt::format(fmt::runtime(found->python), fmt::arg("from", from_text),
                                           fmt::arg("to", to_text));
    return fmt::format("{} is {}; expected {}, which Python saves: {}", what, found->text,
                       array_format_text(), python);
}

std::string foreign_file(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return {};
    return foreign_text(path.string(), path, first_bytes(path));
}

std::string first_bytes(const std::filesystem::path& path) {
    std::string bytes(kFormatBytes, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(file.gcount());
    return bytes;
}

}  // namespace attn
