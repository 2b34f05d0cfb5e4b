// Bytes that nobody should trust, as a session: opened with what it computes, written, and what was written opened.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "app/window/session.h"

using namespace attn::view;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto opened = session_from_json(bytes, "fuzz");
    if (!opened) {
        if (opened.error().text().empty()) std::abort();
        return 0;
    }
    static_cast<void>(session_from_json(session_to_json(*opened), "fuzz"));
    return 0;
}
