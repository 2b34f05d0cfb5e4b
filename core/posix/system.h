#pragma once

#include <cstddef>

namespace attn::platform {

// What differs between the systems of POSIX: core/posix/system.cpp implements it, and platform.h's memory and threads, for Linux;
// macos/core/posix replaces that.

/// Without huge pages, pages stay small.
void ask_for_huge_pages(void* pages, std::size_t bytes) noexcept;

}  // namespace attn::platform
