#version 430 core
// Stage scores: scores[i,j] = q_i · k_j, for the slab of rows of Call.
// 0 q       [B, H, Tq, q_stride]
// 1 k       [B, Hkv, Tk, q_stride]
// 2 scores  [heads of the slab, row_count, Tk]
// Call: z is the head of the slab, rows = row_count, columns = Tk, depth = d_k. Group and limits: product.glsl.
#include "layout.h"

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 1) readonly buffer K { float k[]; };
layout(std430, binding = 2) buffer Scores { float scores[]; };

float left(int z, int row, int n) {
    return q[((call.head_first + z) * call.tq + call.row_first + row) * call.q_stride + n];
}
float right(int z, int n, int column) {
    return k[((call.head_first + z) / call.group * call.tk + column) * call.q_stride + n];
}
float start(int z, int row, int column) {
    return call.depth_first > 0 ? scores[(z * call.rows + row) * call.tk + column] : 0.0;
}
void store(int z, int row, int column, float sum) {
    scores[(z * call.rows + row) * call.tk + column] = sum;
}

#include "product.glsl"
