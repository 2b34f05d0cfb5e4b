#version 430 core
// Stage output: Y[b] = concat(heads of context[b]) W_O + b_O.
// 0 context  [B, H, Tq, v_stride]
// 1 w_o      [H · d_v, columns]
// 2 b_o      [columns], with kWithBias
// 3 y        [B, Tq, columns]
// Call: z is the batch entry, rows = Tq, columns = d_out, depth = H · d_v. Group and limits: product.glsl.
#include "layout.h"

layout(std430, binding = 0) readonly buffer Context { float context[]; };
layout(std430, binding = 1) readonly buffer W { float w_o[]; };
layout(std430, binding = 2) readonly buffer Bias { float b_o[]; };
layout(std430, binding = 3) buffer Y { float y[]; };

float left(int z, int row, int n) {
    int head = z * call.heads + n / call.d_v;
    return context[(head * call.tq + row) * call.v_stride + n % call.d_v];
}
float right(int z, int n, int column) { return w_o[n * call.columns + column]; }
float start(int z, int row, int column) {
    if (call.depth_first > 0) return y[(z * call.rows + row) * call.columns + column];
    return (call.flags & kWithBias) != 0 ? b_o[column] : 0.0;
}
void store(int z, int row, int column, float sum) {
    y[(z * call.rows + row) * call.columns + column] = sum;
}

#include "product.glsl"
