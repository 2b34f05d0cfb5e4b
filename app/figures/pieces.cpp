#include "app/figures/pieces.h"

#include <algorithm>

namespace attn::figures {
namespace {

/// The pixels that low … high lies on, of `count`, both of them 0…1.
struct Span {
    int first = 0;
    int count = 0;
    float low = 0.0F, high = 1.0F;  // of these pixels
};

Span span_of(float low, float high, int count) {
    constexpr double kRounding = 1e-3;  // of a pixel: parts are in float
    const double from = static_cast<double>(low) * count;
    const double to = static_cast<double>(high) * count;
    Span span;
    span.first = std::clamp(static_cast<int>(std::floor(from + kRounding)), 0, count - 1);
    const int last = std::clamp(static_cast<int>(std::ceil(to - kRounding)), span.first + 1, count);
    span.count = last - span.first;
    span.low = static_cast<float>((from - span.first) / span.count);
    span.high = static_cast<float>((to - span.first) / span.count);
    return span;
}

}  // namespace

Piece Pieces::take(const view::Picture& picture, const view::Part& part) {
    if (whole_.rgba.empty() || key_ != picture.key) {
        whole_ = picture.paint();
        key_ = picture.key;
    }
    if (whole_.rgba.empty()) return {whole_, part};
    const Span across = span_of(part.low.x, part.high.x, whole_.width);
    const Span down = span_of(part.low.y, part.high.y, whole_.height);
    Piece piece{{across.count, down.count, {}}, {{across.low, down.low}, {across.high, down.high}}};
    for (int y = 0; y < down.count; ++y) {
        const auto row = whole_.rgba.begin() +
                         4 * (std::ptrdiff_t{down.first + y} * whole_.width + across.first);
        piece.image.rgba.insert(piece.image.rgba.end(), row,
                                row + 4 * std::ptrdiff_t{across.count});
    }
    return piece;
}

}  // namespace attn::figures
