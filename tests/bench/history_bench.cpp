// An edit of the document with 500 steps in the history beside the same edit with none, in turns.
//
//   attn_history_bench

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "app/common/document/actions.h"
#include "app/common/state.h"
#include "core/stopwatch.h"

namespace {

using namespace attn::view;

constexpr int kTurns = 401;

void edit(AppState& state, int n) {
    apply(state, SetCell{{attn::Stage::x, 0, 0}, n % 2 == 0 ? 0.5 : 0.25});
}

double seconds_of_edit(AppState state, int n) {
    edit(state, n + 1);  // a copy's history has no room left, as one that grew has
    const attn::Stopwatch watch;
    edit(state, n);
    return watch.seconds();
}

double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + kTurns / 2);
    return values[kTurns / 2];
}

}  // namespace

int main() {
    const AppState none = initial_state();
    AppState full = none;
    for (int n = 0; n < 600; ++n) edit(full, n);
    std::vector<double> first, last;
    for (int n = 0; n < kTurns; ++n) {
        first.push_back(seconds_of_edit(none, n));
        last.push_back(seconds_of_edit(full, n));
    }
    fmt::print("{} steps: {:.1f} us an edit; {} steps: {:.1f} us; ratio {:.3f}\n",
               none.history.size(), 1e6 * median(first), full.history.size(), 1e6 * median(last),
               median(last) / median(first));
}
