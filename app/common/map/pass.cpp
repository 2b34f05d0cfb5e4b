#include "app/common/map/pass.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/map/words.h"

namespace attn::view {
namespace {

std::string rows_words(const large::PassState& pass) {
    return fmt::format("{} of {} rows", grouped(pass.rows_done), grouped(pass.rows));
}

/// Down to what rounding shows: never 100 % before the end.
std::string done_words(double fraction) {
    return fmt::format("{:.0f} %", std::floor(100 * fraction));
}

std::string pass_words(const large::PassState& pass, double fraction, bool wanted) {
    if (fraction >= 1.0) {
        const std::string rows = fmt::format("exact overview of {} rows", grouped(pass.rows));
        return pass.seconds > 0.0 ? rows + " in " + duration(pass.seconds) : rows;
    }
    if (pass.running)
        return fmt::format("exact overview {}, {} left", done_words(fraction),
                           duration(pass.seconds_left));
    if (wanted) return fmt::format("exact overview {}: the view comes first", done_words(fraction));
    return fmt::format("exact overview paused at {}: {}", done_words(fraction), rows_words(pass));
}

std::string preview_words(const large::PreviewState& preview, const large::PassState& pass) {
    const std::string rows =
        fmt::format("sampled: {} of {} rows", grouped(preview.rows_sampled), grouped(pass.rows));
    return preview.seconds > 0.0 ? rows + fmt::format(" in {:.2f} s", preview.seconds) : rows;
}

std::string error_words(const large::PreviewState& preview) {
    return fmt::format("standard error of a texel's mean: median {}, 95 % of texels below {}",
                       percent(preview.relative_error_median), percent(preview.relative_error_95));
}

}  // namespace

PassView pass_view(const MapLook& look) {
    PassView view;
    if (!look.snapshot) {
        view.words = "sampling rows";
        return view;
    }
    const large::PassState& pass = look.snapshot->pass;
    const large::PreviewState& preview = look.snapshot->preview;
    view.fraction =
        pass.rows > 0 ? static_cast<double>(pass.rows_done) / static_cast<double>(pass.rows) : 0.0;
    view.done = view.fraction >= 1.0;
    const bool begun = pass.rows_done > 0 || pass.running;
    const bool wanted = wants_full_pass(look);
    view.offer_pause = wanted && view.fraction < 1.0;
    view.offer_start = !wanted && view.fraction < 1.0;
    if (view.offer_start) view.start_words = begun ? "resume" : "exact pass";
    if (view.offer_start && pass.seconds_left > 0.0)  // 0: no speed is known yet
        view.start_words += fmt::format(": about {}", duration(pass.seconds_left));
    if (begun)
        view.words = pass_words(pass, view.fraction, wanted);
    else
        view.words = preview.ready ? preview_words(preview, pass) : "sampling rows";
    if (preview.ready && view.fraction < 1.0) view.detail = error_words(preview);
    return view;
}

}  // namespace attn::view
