#include "app/workspaces/verify/view.h"

namespace attn::view {

std::vector<std::string> verify_reasons(const AppState&) {
    return {
        "Two correct programs may differ by rounding, because they may add in different orders. "
        "By default, the tolerance is what rounding explains at this precision.",
        "A larger error points to a fault. The cells where it occurs help to find the wrong rule."};
}

}  // namespace attn::view
