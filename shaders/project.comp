#version 430 core
// Stages q, k, v: Y[z] = X[b] W[:, h·d … h·d + d] + bias, where z = b · source_heads + h.
// 0 x     [B, rows, depth]
// 1 w     [depth, source_heads · d_k]
// 2 bias  [source_heads · d_k], with kWithBias
// 3 y     [B, source_heads, rows, columns]; columns beyond d_k are 0
// Call: d_k is the width of a head of this stage, `columns` its stride. Group and limits: product.glsl.
#include "layout.h"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer W { float w[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) buffer Y { float y[]; };

int joined_column(int z, int column) { return z % call.source_heads * call.d_k + column; }

float left(int z, int row, int n) {
    return x[(z / call.source_heads * call.rows + row) * call.depth + n];
}
float right(int z, int n, int column) {
    if (column >= call.d_k) return 0.0;
    return w[n * call.source_heads * call.d_k + joined_column(z, column)];
}
float start(int z, int row, int column) {
    if (call.depth_first > 0) return y[(z * call.rows + row) * call.columns + column];
    bool biased = (call.flags & kWithBias) != 0 && column < call.d_k;
    return biased ? bias[joined_column(z, column)] : 0.0;
}
void store(int z, int row, int column, float sum) {
    y[(z * call.rows + row) * call.columns + column] = column < call.d_k ? sum : 0.0;
}

#include "product.glsl"
