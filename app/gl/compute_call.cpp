// B batch, H query heads, Hkv key/value heads, Tq queries, Tk keys, p dropout.

#include "app/gl/compute_call.h"

#include <cmath>

#include "core/narrow.h"
#include "core/trace.h"

namespace attn::gl {
namespace {

constexpr double kTwoTo53 = 0x1.0p53;

int narrow(Index value) { return static_cast<int>(value); }

// What does not narrow anything is as long as the longer side.
void describe_mask(const MaskSpec& mask, const Dimensions& size, layout::Call& call) {
    const Index longest = size.tq + size.tk + std::abs(size.query_offset);
    call.query_offset = narrow(size.query_offset);
    call.causal_end = narrow(mask.causal ? 1 : longest);
    call.window = narrow(std::min(mask.window.value_or(longest), longest));
    call.block = narrow(std::min(mask.block.value_or(longest), longest));
    if (!mask.custom) return;
    const Shape& shape = mask.custom->shape();
    const auto stride = [](Index extent, Index entries) {
        return extent == 1 ? 0 : narrow(entries);
    };
    call.custom = 1;
    call.custom_b = stride(shape.b, shape.h * shape.t * shape.d);
    call.custom_h = stride(shape.h, shape.t * shape.d);
    call.custom_i = stride(shape.t, shape.d);
    call.custom_j = stride(shape.d, 1);
}

// A weight is kept when the 53 bits of its number are at least p · 2^53: uniform() of rng.h in whole numbers.
void describe_dropout(const AttentionSpec& spec, layout::Call& call) {
    const auto threshold = static_cast<std::uint64_t>(std::ceil(spec.active_dropout() * kTwoTo53));
    call.kept = static_cast<float>(1.0 / (1.0 - spec.active_dropout()));
    call.seed_low = static_cast<std::uint32_t>(spec.seed);
    call.seed_high = static_cast<std::uint32_t>(spec.seed >> 32);
    call.drop_low = static_cast<std::uint32_t>(threshold);
    call.drop_high = static_cast<std::uint32_t>(threshold >> 32);
}

}  // namespace

layout::Call describe_call(const AttentionSpec& spec, const Dimensions& size) {
    layout::Call call{};
    call.heads = narrow(size.heads);
    call.group = narrow(size.heads / size.kv_heads);
    call.tq = narrow(size.tq);
    call.tk = narrow(size.tk);
    call.d_k = narrow(size.d_k);
    call.d_v = narrow(size.d_v);
    call.q_stride = narrow(padded_width(size.d_k));
    call.v_stride = narrow(padded_width(size.d_v));
    call.factor = static_cast<float>(score_factor(spec, size.d_k));
    if (spec.empty_rows == EmptyRows::nan) call.flags |= layout::kWithNanRows;
    describe_mask(spec.mask, size, call);
    describe_dropout(spec, call);
    return call;
}

Buffer upload_padding(Device& device, const MaskSpec& mask, const Dimensions& size) {
    std::vector<std::int32_t> valid(static_cast<std::size_t>(size.batch), narrow(size.tk));
    for (std::size_t b = 0; b < mask.padding.size(); ++b) valid[b] = narrow(mask.padding[b]);
    return device.upload("padding", valid);
}

Buffer upload_custom_mask(Device& device, const MaskSpec& mask) {
    std::vector<std::int32_t> items(1);
    if (mask.custom) {
        items.resize((mask.custom->count() + 3) / 4);
        std::size_t at = 0;
        for (const std::uint8_t allowed : mask.custom->values()) {
            if (allowed != 0) items[at / 4] |= 1 << (at % 4 * 8);
            ++at;
        }
    }
    return device.upload("the mask", items);
}

Buffer upload_rows(Device& device, std::string_view what, const Tensor& tensor) {
    const Index width = tensor.shape().d;
    const Index stride = padded_width(width);
    if (stride == width) return device.upload(what, tensor.values());
    std::vector<float> rows(tensor.count() / width * stride, 0.0F);
    for (Index row = 0; row * width < tensor.count(); ++row)
        std::copy_n(tensor.data() + row * width, width, rows.data() + row * stride);
    return device.upload(what, rows);
}

Tensor read_rows(const Buffer& buffer, const Shape& shape) {
    const Index stride = padded_width(shape.d);
    Tensor tensor(shape);
    if (stride == shape.d) {
        buffer.read(tensor.values());
        return tensor;
    }
    std::vector<float> rows(shape.count() / shape.d * stride);
    buffer.read(rows);
    for (Index row = 0; row * shape.d < shape.count(); ++row)
        std::copy_n(rows.data() + row * stride, shape.d, tensor.data() + row * shape.d);
    return tensor;
}

}  // namespace attn::gl
