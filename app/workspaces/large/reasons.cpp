#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/map/state.h"
#include "app/common/state.h"
#include "app/workspaces/large/view.h"

namespace attn::view {

std::vector<std::string> large_reasons(const AppState& state) {
    const Index keys = map_look(state).size.columns;
    if (keys < 3 || has_sinks(state.document())) return {};
    const std::string others = grouped(keys - 1);
    return {fmt::format("Softmax gives each of {0} equal scores the weight 1/{0}.", grouped(keys)),
            fmt::format("Over {} equal scores, one more needs a lead of ln {} = {} to get half of "
                        "the weight.",
                        others, others, significant(std::log(static_cast<double>(keys - 1)), 3)),
            "If scores have standard deviation 1, this lead is rare among many unrelated keys: a "
            "key that has it stands out."};
}

}  // namespace attn::view
