#version 430 core
// Stage dropped: Ã = A · keep / (1 − p).
// 0 weights  [heads of the slab, row_count, Tk]
// 1 dropped  same
// Group: kRowGroup entries of one row; task call.task_first + x of the tasks (row of the slab, run of keys).
#include "layout.h"
#include "dropout.glsl"

layout(local_size_x = 128) in;  // kRowGroup
layout(std430, binding = 0) readonly buffer Weights { float weights[]; };
layout(std430, binding = 1) writeonly buffer Dropped { float dropped[]; };

void main() {
    int runs = (call.tk + kRowGroup - 1) / kRowGroup;
    int task = call.task_first + int(gl_WorkGroupID.x);
    int row = task / runs;
    int j = task % runs * kRowGroup + int(gl_LocalInvocationIndex);
    if (j >= call.tk) return;
    int bh = call.head_first + row / call.row_count;
    int i = call.row_first + row % call.row_count;
    dropped[row * call.tk + j] = weights[row * call.tk + j] * dropout_factor(bh, i, j);
}
