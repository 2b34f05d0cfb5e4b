#include "core/bias.h"

#include <algorithm>
#include <vector>

#include "core/cast.h"
#include "core/dimensions.h"
#include "core/entries.h"
#include "core/masks.h"
#include "core/spec.h"
#include "core/spec_arrays.h"
#include "core/trace.h"

namespace attn {

bool MaskSpec::bias_forbids() const { return bias && bias->forbids; }

std::shared_ptr<const PairBias> make_bias(Tensor values) {
    if (values.empty()) return nullptr;
    PairBias bias{std::move(values), false};
    const std::span<const float> numbers = std::as_const(bias.values).values();
    bias.forbids = std::ranges::find(numbers, kForbidding) != numbers.end();
    return std::make_shared<const PairBias>(std::move(bias));
}

Tensor forgetting_bias(const Tensor& log_f, Index queries, Index offset) {
    const Shape shape = log_f.shape();
    Tensor bias(Shape{shape.b, shape.h, queries, shape.d});
    for_each_row(bias.shape(), [&](Index b, Index h, Index i) {
        const std::span<float> row = bias.matrix(b, h).row(i);
        double sum = 0.0;
        for (Index j = std::min(i + offset, shape.d) - 1; j >= 0; --j) {
            if (j + 1 < shape.d) sum += static_cast<double>(log_f(b, h, 0, j + 1));
            row[static_cast<std::size_t>(j)] = static_cast<float>(sum);
        }
    });
    return bias;
}

double bias_at(const MaskSpec& mask, Index b, Index h, Index i, Index j) {
    if (!mask.bias) return 0.0;
    const std::span<const float> row = broadcast_row(mask.bias->values, b, h, i);
    return row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)];
}

MaskSpec with_forbidden_in_mask(MaskSpec mask, const Dimensions& size) {
    if (!mask.bias_forbids()) return mask;
    MaskSpec array = mask.bias_alone();
    array.custom = mask.custom;
    const Shape bias = mask.bias->values.shape();
    const Shape given = mask.custom ? mask.custom->shape() : Shape{1, 1, 1, 1};
    Mask allowed(Shape{std::max(bias.b, given.b), std::max(bias.h, given.h), size.tq, size.tk});
    for_each_row(allowed.shape(), [&](Index b, Index h, Index i) {
        fill_allowed(array, size, b, h, i, allowed.matrix(b, h).row(i));
    });
    mask.custom = std::make_shared<const Mask>(std::move(allowed));
    return mask;
}

template <class Scalar>
TensorOf<Scalar> bias_gradient(const AttentionSpec& spec, const TraceOf<Scalar>& d) {
    if (!spec.mask.bias) return {};
    const TensorOf<Scalar>& pairs = d[spec.bias_before_softcap ? Stage::scaled : Stage::biased];
    const Shape shape = spec.mask.bias->values.shape();
    TensorD sum(shape);
    for_each_row(pairs.shape(), [&](Index b, Index h, Index i) {
        const std::span<const Scalar> row = pairs.matrix(b, h).row(i);
        const std::span<double> to =
            sum.matrix(shape.b == 1 ? 0 : b, shape.h == 1 ? 0 : h).row(shape.t == 1 ? 0 : i);
        for (std::size_t j = 0; j < row.size(); ++j)
            to[to.size() == 1 ? 0 : j] += static_cast<double>(row[j]);
    });
    return cast<Scalar>(sum);
}

template Tensor bias_gradient(const AttentionSpec&, const Trace&);
template TensorD bias_gradient(const AttentionSpec&, const TraceD&);

}  // namespace attn
