#version 430 core
// Stage context: context[i,c] = sum_j Ã[i,j] V[j,c], for the slab of rows of Call.
// With kWithPairs a forbidden pair is left out of the sum, because 0 · NaN is not 0: its weight becomes -1, which no
// weight is. In a row that is empty and NaN every pair takes part.
// 0 dropped  [heads of the slab, row_count, Tk]; weights when there is no dropout
// 1 v        [B, Hkv, Tk, v_stride]
// 2 context  [B, H, Tq, v_stride]
// Call: z is the head of the slab, rows = row_count, columns = v_stride, depth = Tk. Group and limits: product.glsl.
#include "layout.h"
#include "exponential.glsl"
#include "mask.glsl"
#define TERM(sum, a, b) (is_left_out(a) ? (sum) : (sum) + (a) * (b))

layout(std430, binding = 0) readonly buffer Dropped { float dropped[]; };
layout(std430, binding = 1) readonly buffer V { float v[]; };
layout(std430, binding = 2) buffer Context { float context[]; };

float left(int z, int row, int n) {
    float weight = dropped[(z * call.rows + row) * call.tk + n];
    if ((call.flags & kWithPairs) == 0 || is_nan(weight)) return weight;
    return may_attend(call.head_first + z, call.row_first + row, n) ? weight : -1.0;
}
float right(int z, int n, int column) {
    return v[((call.head_first + z) / call.group * call.tk + n) * call.v_stride + column];
}
int place(int z, int row, int column) {
    return ((call.head_first + z) * call.tq + call.row_first + row) * call.v_stride + column;
}
float start(int z, int row, int column) {
    return call.depth_first > 0 ? context[place(z, row, column)] : 0.0;
}
void store(int z, int row, int column, float sum) { context[place(z, row, column)] = sum; }

#include "product.glsl"
