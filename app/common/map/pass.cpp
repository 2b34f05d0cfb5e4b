#include "app/common/map/pass.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/map/camera.h"
#include "app/common/map/words.h"
#include "core/large/weight_rows.h"

namespace attn::view {
namespace {

constexpr double kBytesPerFloat = 4.0;

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

/// GFLOP/s of a strip-wise pass move K once for each strip of rows, and Q once.
double bytes_of_pass(const MapLook& look) {
    const Dimensions& size = look.input->source.size;
    const double strip =
        static_cast<double>(large::strip_rows(std::max(look.snapshot->block_side, Index{1})));
    const double strips = std::ceil(static_cast<double>(size.tq) / strip);
    return kBytesPerFloat * static_cast<double>(size.d_k) *
           (strips * static_cast<double>(size.tk) + static_cast<double>(size.tq));
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

RooflineView roofline_view(const MapLook& look) {
    RooflineView view;
    view.peak = look.peak_gflops;
    view.bandwidth = look.stream_gbytes;
    view.ready = view.peak > 0.0 && view.bandwidth > 0.0;
    if (!view.ready) return view;  // measured before the matrix is there; pictures measure nothing
    view.words = fmt::format("peak {:.0f} GFLOP/s, memory {:.0f} GB/s", view.peak, view.bandwidth);
    view.tooltip =
        "The pass counts 2 · pairs · d_k FLOP (Q Kᵀ alone, an exponential a pair comes on top) and "
        "reads K once for each strip of rows, Q once.\nThe roof is min(peak, bandwidth · "
        "FLOP/byte): "
        "the peak of fused multiply-adds in registers and the bandwidth of the triad a = b + s·c "
        "in "
        "memory, both measured on all threads when the first matrix was opened.";
    if (!look.input || !look.snapshot || look.snapshot->pass.gflops <= 0.0) return view;
    const double gflops = look.snapshot->pass.gflops;
    view.points.push_back(
        {"exact pass", pass_flops(look.input->source) / bytes_of_pass(look), gflops});
    view.words = fmt::format("{:.0f} of {:.0f} GFLOP/s: {:.0f} % of the peak", gflops, view.peak,
                             100.0 * gflops / view.peak);
    return view;
}

std::string memory_words(const MapLook& look) {
    if (!look.input) return {};
    const large::WeightSource& source = look.input->source;
    const MapSize size = map_size(look);
    const double cells = static_cast<double>(size.rows) * static_cast<double>(size.columns);
    const double operands =
        static_cast<double>(source.q->shape().count() + source.k->shape().count());
    const auto* snapshot = look.snapshot.get();
    const double blocks = snapshot ? static_cast<double>(snapshot->pyramid_bytes) : 0.0;
    const double tiles = snapshot ? static_cast<double>(snapshot->tile_bytes) : 0.0;
    const double kept = kBytesPerFloat * operands + blocks + tiles;
    if (kept >= kBytesPerFloat * cells) return {};
    return fmt::format(
        "kept: {} of {}; Q and K {}, blocks {}, tiles {} in place of {} float32 weights",
        bytes_words(kept), bytes_words(kBytesPerFloat * cells),
        bytes_words(kBytesPerFloat * operands), bytes_words(blocks), bytes_words(tiles),
        grouped(size.rows * size.columns));
}

}  // namespace attn::view
