#include "core/check.h"

#include <cstdlib>
#include <iostream>

namespace attn {

void check_failed(const char* condition, const char* why, const char* file, int line) {
    std::cerr << file << ':' << line << ": bug: " << why << " (" << condition << ")\n";
    std::abort();
}

}  // namespace attn
