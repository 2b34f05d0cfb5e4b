#include "core/threads.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace attn {

int run_at_once(int count, const std::function<void(int n)>& body) {
    std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(std::max(count, 0)));
    int begun = 0;
    {
        std::vector<std::jthread> running;
        running.reserve(thrown.size());
        try {
            for (int n = 0; n < count; ++n)
                running.emplace_back([&body, &each = thrown[static_cast<std::size_t>(n)], n] {
                    try {
                        body(n);
                    } catch (...) {
                        each = std::current_exception();
                    }
                });
        } catch (const std::system_error&) {  // no thread to be had: what runs is enough
        }
        begun = static_cast<int>(running.size());
        if (running.empty() && count > 0) body(0);
    }
    for (const std::exception_ptr& each : thrown)
        if (each) std::rethrow_exception(each);
    return std::max(begun, std::min(count, 1));
}

}  // namespace attn
