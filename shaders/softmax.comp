#version 430 core
// Stage weights: A[i,j] = exp(M[i,j] - m_i) / l_i,  m_i = max_j M[i,j],  l_i = sum_j exp(M[i,j] - m_i).
// A forbidden pair weighs exactly 0; a row without an allowed key is 0, or NaN with kWithNanRows; allowed scores
// that are all -inf are 0/0. NaN or +inf at an allowed pair makes the sum NaN, and with it the row.
// 0 masked   [heads of the slab, row_count, Tk]
// 1 weights  same
// 2 sides    [heads of the slab, row_count] of (m, l); logsumexp = m + ln l, -inf where l = 0
// Group: kRowGroup invocations for row call.task_first + x. Limit: 3 Tk / kRowGroup rounds of loops <= 65,535.
#include "layout.h"
#include "exponential.glsl"
#include "mask.glsl"

layout(local_size_x = 128) in;  // kRowGroup
layout(std430, binding = 0) readonly buffer Masked { float masked[]; };
layout(std430, binding = 1) writeonly buffer Weights { float weights[]; };
layout(std430, binding = 2) writeonly buffer Sides { vec2 sides[]; };

shared float partial[kRowGroup];
shared int allowed_keys;

/// The largest of every invocation's value, or their sum: the same number in each.
float combine(float value, bool sum) {
    int me = int(gl_LocalInvocationIndex);
    partial[me] = value;
    for (int half_of = kRowGroup / 2; half_of > 0; half_of /= 2) {
        barrier();
        if (me >= half_of) continue;
        float other = partial[me + half_of];
        partial[me] = sum ? partial[me] + other : max(partial[me], other);
    }
    barrier();
    float result = partial[0];
    barrier();
    return result;
}

void main() {
    int row = call.task_first + int(gl_WorkGroupID.x);
    int bh = call.head_first + row / call.row_count;
    int i = call.row_first + row % call.row_count;
    int me = int(gl_LocalInvocationIndex), base = row * call.tk;
    if (me == 0) allowed_keys = 0;

    float top = kLowest;
    for (int j = me; j < call.tk; j += kRowGroup) top = max(top, masked[base + j]);
    top = combine(top, false);

    float sum = 0.0;
    for (int j = me; j < call.tk; j += kRowGroup) {
        if (!may_attend(bh, i, j)) continue;
        sum += exp2_below((masked[base + j] - top) * kLog2E);
        allowed_keys = 1;
    }
    sum = combine(sum, true);

    bool empty = allowed_keys == 0;
    float nothing = empty && (call.flags & kWithNanRows) != 0 ? kNan : 0.0;
    for (int j = me; j < call.tk; j += kRowGroup) {
        float e = exp2_below((masked[base + j] - top) * kLog2E);
        float weight = sum == 0.0 ? kNan : e / sum;
        weights[base + j] = may_attend(bh, i, j) ? weight : nothing;
    }
    if (me == 0) sides[row] = vec2(top, sum);
}
