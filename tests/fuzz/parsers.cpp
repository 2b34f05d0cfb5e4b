// Bytes that nobody should trust, through every parser of core/io. Nothing may crash, hang, or give an
// array whose values do not fill its shape.
#include <cstdlib>
#include <string_view>

#include "core/io/arrays/formats.h"
#include "core/io/json.h"
#include "core/io/npz.h"

using namespace attn;

namespace {

void check_filled(const NpyArray& array) {
    if (std::holds_alternative<std::string>(array.values)) return;
    std::size_t items = 1;
    for (const Index extent : array.extents) items *= static_cast<std::size_t>(extent);
    const std::size_t values =
        std::visit([](const auto& held) { return held.size(); }, array.values);
    if (values != items) std::abort();
}

/// What a file says of an array is what it gives.
void check_arrays(const ArrayFile& file) {
    for (const std::string& name : file.names()) {
        const Result<ArrayInfo> info = file.about(name);
        const Result<NpyArray> array = file.read(name);
        if (!array) continue;
        check_filled(*array);
        if (!info || info->extents != array->extents || info->dtype != array->dtype) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (const Result<NpyArray> array = parse_npy(bytes, "fuzz")) check_filled(*array);
    if (const Result<Npz> npz = parse_npz(bytes, "fuzz"))
        for (const auto& [name, array] : npz->arrays) check_filled(array);
    if (const auto file = parse_safetensors(bytes, "fuzz")) check_arrays(**file);
    if (const auto file = parse_npy_file(bytes, "fuzz")) check_arrays(**file);
    if (const auto file = parse_torch(bytes, "fuzz")) check_arrays(**file);
    if (const auto file = parse_pickled(bytes, "fuzz")) check_arrays(**file);
    if (const auto file = parse_onnx(bytes, "fuzz")) check_arrays(**file);
    if (const auto json = parse_json(bytes, "fuzz")) static_cast<void>(json->dump());
    return 0;
}
