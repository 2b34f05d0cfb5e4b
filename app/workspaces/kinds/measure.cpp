#include "core/bench/measure.h"
#include "app/common/document/edits.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/state.h"
#include "core/stopwatch.h"

namespace attn::view {
namespace {

constexpr int kLeastRuns = 5;
constexpr double kSeconds = 0.1;  // for one side, at least

/// The median in ms; 0 where it was stopped before the first run.
double time_of(const KindComputed& side, const RunControl& control, int& runs) {
    std::vector<double> seconds;
    const Stopwatch all;
    while ((std::ssize(seconds) < kLeastRuns || all.seconds() < kSeconds) &&
           !control.stop.stop_requested()) {
        const Stopwatch each;
        repeat_kind(side);
        seconds.push_back(each.seconds());
    }
    runs = static_cast<int>(seconds.size());
    return seconds.empty() ? 0.0 : 1e3 * bench::median(std::move(seconds));
}

}  // namespace

std::optional<KindsTimeRequest> requested_kinds_time(const AppState& state) {
    const KindsLook& look = kinds_look(state);
    if (!look.measures || !look.result || !look.result->whole()) return std::nullopt;
    return KindsTimeRequest{look.result};
}

Action run(const KindsTimeRequest& request, const RunControl& control) {
    KindsTimes times;
    times.result = request.of;
    times.a_ms = time_of(request.of->a, control, times.a_runs);
    times.b_ms = time_of(request.of->b, control, times.b_runs);
    return KindsMeasured{std::make_shared<const KindsTimes>(std::move(times))};
}

void carry_out(AppState& state, const MeasureKinds&) {
    KindsLook& look = kinds_look(state);
    look.measures = look.result && look.result->whole();
    if (!look.measures) return warn(state, "Nothing to measure: A and B are not both computed.");
    show_message(state, "Both kinds are computed again; the table gets their times.");
}

/// Says nothing: a replay does not wait for it.
void carry_out(AppState& state, const KindsMeasured& action) {
    kinds_look(state).measures = false;
    if (action.measured) kinds_look(state).times = action.measured;
}

}  // namespace attn::view
