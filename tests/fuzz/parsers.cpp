// Bytes that nobody should trust, through every parser of core/io. Nothing may crash, hang, or give an
// array whose values do not fill its shape.
#include <cstdlib>
#include <string_view>

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    if (const Result<NpyArray> array = parse_npy(bytes, "fuzz")) check_filled(*array);
    if (const Result<Npz> npz = parse_npz(bytes, "fuzz"))
        for (const auto& [name, array] : npz->arrays) check_filled(array);
    if (const auto json = parse_json(bytes, "fuzz")) static_cast<void>(json->dump());
    return 0;
}
