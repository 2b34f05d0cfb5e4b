#include "core/mla.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/entries.h"

namespace attn {
namespace {

struct LatentSizes {
    Index batch, heads, tq, tk, d_r, d_n, d_c, d_v;
};
LatentSizes latent_sizes(const LatentHeads& in) {
    return {in.q_nope.shape().b, in.q_nope.shape().h, in.q_nope.shape().t, in.c_kv.shape().t,
            in.q_rope.shape().d, in.q_nope.shape().d, in.c_kv.shape().d,   in.w_uv.shape().d};
}

Result<void> check_latent(const LatentHeads& in) {
    const LatentSizes n = latent_sizes(in);
    const struct {
        std::string_view name;
        const Tensor& tensor;
        Shape expected;
        bool optional = false;
    } all[] = {
        {"q_nope", in.q_nope, {n.batch, n.heads, n.tq, n.d_n}},
        {"q_rope", in.q_rope, {n.batch, n.heads, n.tq, n.d_r}, true},
        {"c_kv", in.c_kv, {n.batch, 1, n.tk, n.d_c}},
        {"k_rope", in.k_rope, {n.batch, 1, n.tk, n.d_r}, true},
        {"W_UK", in.w_uk, {1, n.heads, n.d_c, n.d_n}},
        {"W_UV", in.w_uv, {1, n.heads, n.d_c, n.d_v}},
    };
    for (const auto& each : all) {
        if (each.tensor.empty() && each.optional && n.d_r == 0) continue;
        if (each.tensor.empty())
            return bad_input(
                fmt::format("{} is missing; latent attention needs q_nope, c_kv, W_UK "
                            "and W_UV, and both of q_rope and k_rope or neither",
                            each.name));
        if (each.tensor.shape() != each.expected)
            return bad_input(fmt::format("{} is {}; expected {} beside q_nope {} and c_kv {}",
                                         each.name, to_string(each.tensor.shape()),
                                         to_string(each.expected), to_string(in.q_nope.shape()),
                                         to_string(in.c_kv.shape())));
    }
    const Shape w_o = in.params[Param::w_o].shape();
    if (!in.params[Param::w_o].empty() && w_o.t != n.heads * n.d_v)
        return bad_input(
            fmt::format("W_O is [{}, {}]; expected {} rows, W_UV's width {} of {} heads", w_o.t,
                        w_o.d, n.heads * n.d_v, n.d_v, n.heads));
    return {};
}

/// Each row of x [B,1 or H,T,a] times W_h [1,H,a,b], or W_hᵀ of [1,H,b,a]; sums in double.
Tensor times_of_head(const Tensor& x, const Tensor& w, bool transposed) {
    const Index width = transposed ? w.shape().t : w.shape().d;
    Tensor y(Shape{x.shape().b, w.shape().h, x.shape().t, width});
    for_each_entry(y.shape(), [&](Index b, Index h, Index t, Index c) {
        const std::span<const float> row = x.matrix(b, x.shape().h == 1 ? 0 : h).row(t);
        double sum = 0.0;
        for (Index a = 0; a < x.shape().d; ++a)
            sum += static_cast<double>(row[static_cast<std::size_t>(a)]) *
                   static_cast<double>(transposed ? w(0, h, c, a) : w(0, h, a, c));
        y(b, h, t, c) = static_cast<float>(sum);
    });
    return y;
}

/// [first, second] of every row; `first` may be empty, or of one head for all.
Tensor beside(const Tensor& first, const Tensor& second) {
    if (first.empty()) return second;
    const Shape a = first.shape(), b = second.shape();
    Tensor both(Shape{b.b, b.h, b.t, a.d + b.d});
    for_each_row(both.shape(), [&](Index n, Index h, Index t) {
        const std::span<float> row = both.matrix(n, h).row(t);
        std::ranges::copy(first.matrix(n, a.h == 1 ? 0 : h).row(t), row.begin());
        std::ranges::copy(second.matrix(n, h).row(t), row.begin() + a.d);
    });
    return both;
}

/// W_UV_h W_O_h below one another, [1,1,H·d_c,d_out]; without W_O each W_UV_h in the columns of its head.
Tensor absorbed_output(const LatentHeads& in) {
    const LatentSizes n = latent_sizes(in);
    const Tensor& w_o = in.params[Param::w_o];
    const Index columns = w_o.empty() ? n.heads * n.d_v : w_o.shape().d;
    Tensor made(Shape{1, 1, n.heads * n.d_c, columns});
    for_each_entry({1, n.heads, n.d_c, columns}, [&](Index, Index h, Index a, Index c) {
        double sum = 0.0;
        if (w_o.empty() && c / n.d_v == h) sum = static_cast<double>(in.w_uv(0, h, a, c % n.d_v));
        for (Index v = 0; v < n.d_v && !w_o.empty(); ++v)
            sum += static_cast<double>(in.w_uv(0, h, a, v)) *
                   static_cast<double>(w_o(0, 0, h * n.d_v + v, c));
        made(0, 0, h * n.d_c + a, c) = static_cast<float>(sum);
    });
    return made;
}

}  // namespace

Result<Inputs> latent_call(const LatentHeads& heads, LatentForm form) {
    if (auto fits = check_latent(heads); !fits) return tl::unexpected(fits.error());
    Inputs call;
    call.params = heads.params;
    if (form == LatentForm::expanded) {
        call.q = beside(heads.q_rope, heads.q_nope);
        call.k = beside(heads.k_rope, times_of_head(heads.c_kv, heads.w_uk, false));
        call.v = times_of_head(heads.c_kv, heads.w_uv, false);
        return call;
    }
    call.q = beside(heads.q_rope, times_of_head(heads.q_nope, heads.w_uk, true));
    call.k = beside(heads.k_rope, heads.c_kv);
    call.v = heads.c_kv;
    call.params[Param::w_o] = absorbed_output(heads);
    return call;
}

Index cached_numbers(const LatentHeads& heads, LatentForm form) {
    const LatentSizes n = latent_sizes(heads);
    return form == LatentForm::absorbed ? n.d_c + n.d_r : n.heads * (n.d_r + n.d_n + n.d_v);
}

}  // namespace attn
