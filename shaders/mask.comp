#version 430 core
// Stages scaled and masked: S = scores · factor; M = S where query i may attend to key j, else -inf.
// 0 scores  [heads of the slab, row_count, Tk]
// 1 scaled  same
// 2 masked  same
// Group: kRowGroup entries of one row; task call.task_first + x of the tasks (row of the slab, run of keys).
#include "layout.h"
#include "exponential.glsl"
#include "mask.glsl"

layout(local_size_x = 128) in;  // kRowGroup
layout(std430, binding = 0) readonly buffer Scores { float scores[]; };
layout(std430, binding = 1) writeonly buffer Scaled { float scaled[]; };
layout(std430, binding = 2) writeonly buffer Masked { float masked[]; };

void main() {
    int runs = (call.tk + kRowGroup - 1) / kRowGroup;
    int task = call.task_first + int(gl_WorkGroupID.x);
    int row = task / runs;
    int j = task % runs * kRowGroup + int(gl_LocalInvocationIndex);
    if (j >= call.tk) return;
    int bh = call.head_first + row / call.row_count;
    int i = call.row_first + row % call.row_count;
    float s = scores[row * call.tk + j] * call.factor;
    scaled[row * call.tk + j] = s;
    masked[row * call.tk + j] = may_attend(bh, i, j) ? s : -kInfinity;
}
