#pragma once

#include <windows.h>

#include <string>

namespace attn {

/// What Windows calls its error, in UTF-8 and without a period: "Access is denied".
inline std::string windows_error(DWORD code) {
    constexpr DWORD kFlags = FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS;
    wchar_t wide[512];
    const DWORD length = ::FormatMessageW(kFlags, nullptr, code, 0, wide, 512, nullptr);
    char text[2048];
    const int bytes = ::WideCharToMultiByte(CP_UTF8, 0, wide, static_cast<int>(length), text,
                                            sizeof(text), nullptr, nullptr);
    std::string message(text, static_cast<std::size_t>(bytes));
    while (!message.empty() && (message.back() <= ' ' || message.back() == '.')) message.pop_back();
    return message.empty() ? "Windows error " + std::to_string(code) : message;
}

}  // namespace attn
