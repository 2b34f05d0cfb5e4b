#pragma once

#include "core/dimensions.h"
#include "core/shape.h"
#include "core/stop.h"

namespace attn {

/// each(b, h, t, d) of every entry of a tensor, in order.
template <class Each>
void for_each_entry(const Shape& shape, const Each& each) {
    for (Index b = 0; b < shape.b; ++b)
        for (Index h = 0; h < shape.h; ++h)
            for (Index t = 0; t < shape.t; ++t) {
                end_if_stopped();
                for (Index d = 0; d < shape.d; ++d) each(b, h, t, d);
            }
}

/// each(b, h, t) of every row.
template <class Each>
void for_each_row(const Shape& shape, const Each& each) {
    for_each_entry({shape.b, shape.h, shape.t, 1},
                   [&](Index b, Index h, Index t, Index) { each(b, h, t); });
}

/// each(b, h, i, j) of every query and key of a head.
template <class Each>
void for_each_pair(const Dimensions& size, const Each& each) {
    for_each_entry({size.batch, size.heads, size.tq, size.tk}, each);
}

/// each(b, h, i) of every query of a head.
template <class Each>
void for_each_query(const Dimensions& size, const Each& each) {
    for_each_row({size.batch, size.heads, size.tq, 1}, each);
}

}  // namespace attn
