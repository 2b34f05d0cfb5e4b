// Debian's libhwy.so measures the clock while it is loaded, by instructions that valgrind 3.19 refuses on some processors
// (SIGILL in TimerResolution() before main). This definition comes before that of the library in the program that it is linked
// with. The result is used by Highway's benchmarks alone, which this program has none of.
#include <cstdint>

namespace hwy::platform {

std::uint64_t TimerResolution();
std::uint64_t TimerResolution() { return 1; }

}  // namespace hwy::platform
