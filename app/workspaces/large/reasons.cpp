#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/map/state.h"
#include "app/common/state.h"
#include "app/workspaces/large/view.h"

namespace attn::view {

std::vector<std::string> large_reasons(const AppState& state) {
    const Index keys = map_look(state).size.columns;
    if (keys < 3) return {};
    return {fmt::format("Equal scores give each of {} keys a weight of 1/{}.", grouped(keys),
                        grouped(keys)),
            fmt::format("Over equal scores, a key needs a lead of ln {} = {} to take half of its "
                        "row.",
                        grouped(keys - 1), significant(std::log(static_cast<double>(keys - 1)), 3)),
            "Among unrelated keys such a lead is rare, so a key that has it is easy to find."};
}

}  // namespace attn::view
