#include "app/workspaces/large/pass.h"

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

RooflineView roofline_view(const MapLook& look) {
    RooflineView view;
    view.peak = look.machine.peak_gflops;
    view.bandwidth = look.machine.stream_gbytes;
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
