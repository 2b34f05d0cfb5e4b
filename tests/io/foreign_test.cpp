// Files of other programs: what each is, and the Python that saves what is needed of it.
#include "core/io/arrays/foreign.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/io/arrays/array_file.h"
#include "tests/io/bytes.h"
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

using namespace std::string_literals;

const std::string kOldTorch = "\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20j\xa8P\x19.\x80\x02";

std::string complaint(const std::filesystem::path& path) { return sentence_in(open_arrays(path)); }

constexpr std::string_view kExpected =
    "expected .npz, .npy, .safetensors, .pt, .pth, .onnx, .pkl, .index.json or a folder, which "
    "Python saves: ";

std::string torch_text(const std::string& what, const std::string& from, const std::string& to) {
    return fmt::format(
        "{} is a file of PyTorch before 1.6; {}import torch; torch.save(torch.load(\"{}\", "
        "map_location=\"cpu\", weights_only=True), \"{}\")",
        what, kExpected, from, to);
}

}  // namespace

TEST_CASE("a file of another program is known by its first bytes, whatever its name") {
    const Scratch scratch;
    const auto at = [&](const std::string& name, const std::string& bytes) {
        write_bytes(scratch / name, bytes);
        return complaint(scratch / name);
    };
    const auto path = [&](const std::string& name) { return scratch.at(name); };
    CHECK(at("old.bin", kOldTorch) == torch_text(path("old.bin"), path("old.bin"), path("old.pt")));
    CHECK(at("w.safetensors", kOldTorch) ==
          torch_text(path("w.safetensors"), path("w.safetensors"), path("w.pt")));
    CHECK(at("m.bin", "GGUF\x03") == fmt::format("{0} is a GGUF model of llama.cpp, not arrays of "
                                                 "attention; expected it where a model is read",
                                                 path("m.bin")));
    CHECK(at("h.h5", "\x89HDF\r\n\x1a\n") ==
          fmt::format("{} is an HDF5 file, as Keras saves weights; {}import h5py, numpy; a = {{}}; "
                      "h5py.File(\"{}\").visititems(lambda n, d: a.update({{n: d[()]}}) if "
                      "isinstance(d, h5py.Dataset) else None); numpy.savez(\"{}\", **a)",
                      path("h.h5"), kExpected, path("h.h5"), path("h.npz")));
}

TEST_CASE("of other bytes the extension tells; what is of no other program is none") {
    const Scratch scratch;
    for (const auto& [name, text] :
         {std::pair{"x.gguf", "is a GGUF model"}, {"x.hdf5", "is an HDF5 file"}}) {
        write_bytes(scratch / name, "hello");
        CHECK(contains(complaint(scratch / name), text));
        CHECK(contains(foreign_file(scratch / name), text));
    }
    write_bytes(scratch / "x.txt", "hello");
    CHECK(foreign_file(scratch / "x.txt").empty());
    CHECK(foreign_file(scratch / "missing.pt").empty());
    // the length of a header, 640 or 1,184,520, begins as a pickle or an ONNX graph
    for (const std::size_t length : {640, 0x120708})
        CHECK(must(parse_arrays(safetensors("{}" + std::string(length - 2, ' ')), "f"))
                  ->names()
                  .empty());
    CHECK(sentence_in(parse_arrays(kOldTorch, "standard input")) ==
          torch_text("standard input", "FILE", "FILE.pt"));
}

TEST_CASE("a folder with nothing but such a file says what that is") {
    const Scratch scratch;
    write_bytes(scratch / "pytorch_model.bin", kOldTorch);
    CHECK(complaint(scratch.path()) == torch_text(scratch.at("pytorch_model.bin"),
                                                  scratch.at("pytorch_model.bin"),
                                                  scratch.at("model.pt")));
    CHECK(python_text(R"(a"b\c)") == R"("a\"b\\c")");
}
