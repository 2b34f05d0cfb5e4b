#include "core/io/arrays/foreign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>

#include "core/io/arrays/array_file.h"

namespace attn {
namespace {

// A local header of a zip: 26 bytes, the length of the name as a u16, that of more, the name.
constexpr std::size_t kZipLength = 26, kZipName = 30;

bool begins_torch(std::string_view bytes) {
    constexpr std::string_view kOld = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19.";
    if (bytes.starts_with(kOld)) return true;
    if (!bytes.starts_with("PK\x03\x04") || bytes.size() < kZipName) return false;
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[kZipLength])) +
                        256 * static_cast<unsigned char>(bytes[kZipLength + 1]);
    return bytes.substr(kZipName, length).ends_with("/data.pkl");
}
bool begins_gguf(std::string_view bytes) { return bytes.starts_with("GGUF"); }
bool begins_hdf5(std::string_view bytes) { return bytes.starts_with("\x89HDF\r\n\x1a\n"); }
/// The length of a .safetensors header, which can be any number, and its first brace.
bool begins_header(std::string_view bytes) { return bytes.size() > 8 && bytes[8] == '{'; }
/// A protocol buffer whose first field is the version of ONNX, its second the producer's name.
bool begins_onnx(std::string_view bytes) {
    return bytes.size() > 2 && bytes[0] == 8 && bytes[1] > 0 && bytes[1] < 32 && bytes[2] == 0x12 &&
           !begins_header(bytes);
}
/// Protocols 2 to 5.
bool begins_pickle(std::string_view bytes) {
    return bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 &&
           !begins_header(bytes);
}

/// {from}, {to}: the file and what is saved of it, as Python's texts.
struct Foreign {
    std::string_view extensions;  // each with a space after it
    bool (*begins)(std::string_view bytes);
    std::string_view text;
    std::string_view saved;   // extension of what Python saves
    std::string_view python;  // "": it is a model that is opened as it is
};
// PyTorch's older files are pickles: it comes first.
constexpr Foreign kForeign[] = {
    {".pt .pth .bin .ckpt ", begins_torch,
     "a file of PyTorch, a pickle, which can run code as it is read", ".safetensors",
     R"(import torch, safetensors.torch; safetensors.torch.save_file({{n: t.clone().contiguous() for n, t in torch.load({from}, map_location="cpu", weights_only=True).items()}}, {to}))"},
    {".pkl .pickle ", begins_pickle, "a pickle, which can run code as it is read", ".npz",
     R"(import pickle, numpy; numpy.savez({to}, **pickle.load(open({from}, "rb"))))"},
    {".gguf ", begins_gguf, "a GGUF model of llama.cpp", "", ""},
    {".onnx ", begins_onnx, "an ONNX graph, which names no attention", ".npz",
     R"(import onnx.numpy_helper, numpy; numpy.savez({to}, **{{t.name: onnx.numpy_helper.to_array(t) for t in onnx.load({from}).graph.initializer}}))"},
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
