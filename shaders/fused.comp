#version 430 core
// Stage context without scores or weights in memory: context[i] = sum_j exp(S[i,j] - m_i) V[j] / l_i, where
// S[i,j] = q_i · k_j factor, and m, l are the maximum and the sum of exp so far (online softmax).
// Source: Milakov & Gimelshein 2018, arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135.
// 0 q        [B, H, Tq, q_stride]
// 1 k        [B, Hkv, Tk, q_stride]
// 2 v        [B, Hkv, Tk, v_stride]
// 3 context  [B, H, Tq, v_stride]; not yet divided by l until the last keys (kWithLastKeys), nor where l = 0
// 4 sides    [B, H, Tq] of (m, l), m in powers of 2: logsumexp = m ln 2 + ln l
// Group: 16 x 16 invocations for kQueries queries of one head, task call.task_first + x of (head, run of queries), the
// longest runs first: an invocation holds 8 queries x 4 keys of S and 8 x 4 VALUE_QUADS columns of the context, from
// column_first on. Keys key_first … key_end, key_first a multiple of kKeys; what was so far is read unless it is 0.
// VALUE_QUADS 1 or 2: 24 or 32 KiB of shared memory. PAIRWISE: forbidden pairs are left out of the sum over keys one by
// one, because 0 · NaN is not 0. DROPOUT: weights are dropped.
// Why it is fast: each float of shared memory that is read feeds 8 or 4 multiplications, in vec4 loads without bank
// conflicts (swizzled()); Q and K are turned on the way in, so that both products run down columns. Memory traffic per
// 64 keys: one read of K and V and one, from the first-level cache, of Q for 128 queries.
// Limit: an invocation goes round its loops at most 2 q_stride + 256 times for each kKeys keys; C++ cuts the keys so that
// this stays below 65,535, where Mesa's software renderer silently stops.
#include "layout.h"
#include "exponential.glsl"
#include "mask.glsl"
#ifdef DROPOUT
#include "dropout.glsl"
#endif
#ifndef VALUE_QUADS
#define VALUE_QUADS 1
#endif

const int kSide = 16;            // invocations each way
const int kRows = 8;             // queries of an invocation
const int kQuads = kDepth / 4;   // of the terms of a slice
layout(local_size_x = 256) in;    // kSide · kSide

layout(std430, binding = 0) readonly restrict buffer Q { vec4 q[]; };
layout(std430, binding = 1) readonly restrict buffer K { vec4 k[]; };
layout(std430, binding = 2) readonly restrict buffer V { vec4 v[]; };
layout(std430, binding = 3) restrict buffer Context { vec4 context[]; };
layout(std430, binding = 4) restrict buffer Sides { vec2 sides[]; };

// Slices of both factors, [term][quad of queries] and [term][quad of keys or columns]: Qᵀ and Kᵀ, then Pᵀ and V.
shared vec4 left[kDepth][kQueries / 4];
shared vec4 right[kDepth][kSide * VALUE_QUADS];

int me, across, down;          // this invocation, its keys or columns, its queries
vec4 score[kRows];             // of 4 keys; then their weights times l
vec4 mixed[kRows][VALUE_QUADS];  // the context so far, times l
float top[kRows];              // m
float total[kRows];            // l, of this invocation's keys only

/// Where quad `quad` of term `n` lies: a permutation that differs every 4 terms, so that neither the writes of the turned
/// quads nor the reads of a row meet in one bank.
int swizzled(int n, int quad) { return quad ^ ((n >> 2) & (kQuads - 1)); }

/// Four rows of four terms each, turned into columns of a slice. Rows from `limit` on are 0.
#define LOAD_TURNED(slice, source, base, row_first, limit, stride, quad_first, rows)          \
    if (me < (rows) / 4 * kQuads) {                                                           \
        int n = me % kQuads, quad = me / kQuads;                                              \
        mat4 block = mat4(0.0);                                                               \
        for (int r = 0; r < 4; ++r) {                                                         \
            int row = (row_first) + quad * 4 + r;                                             \
            bool inside = row < (limit) && (quad_first) + n < (stride);                       \
            if (inside) block[r] = source[((base) + row) * (stride) + (quad_first) + n];      \
        }                                                                                     \
        mat4 turned = transpose(block);                                                       \
        for (int t = 0; t < 4; ++t) slice[n * 4 + t][swizzled(n * 4, quad)] = turned[t];      \
    }

/// score = Q Kᵀ of this group's queries and the keys from `key` on.
void multiply_scores(int bh, int query, int key) {
    int stride = call.q_stride / 4;
    for (int r = 0; r < kRows; ++r) score[r] = vec4(0.0);
    for (int quad_first = 0; quad_first < stride; quad_first += kQuads) {
        LOAD_TURNED(left, q, bh * call.tq, query, call.tq, stride, quad_first, kQueries)
        LOAD_TURNED(right, k, bh / call.group * call.tk, key, call.tk, stride, quad_first, kKeys)
        barrier();
        for (int n = 0; n < kDepth; ++n) {
            vec4 a = left[n][swizzled(n, down * 2)];
            vec4 b = left[n][swizzled(n, down * 2 + 1)];
            vec4 keys = right[n][swizzled(n, across)];
            score[0] += a.x * keys;
            score[1] += a.y * keys;
            score[2] += a.z * keys;
            score[3] += a.w * keys;
            score[4] += b.x * keys;
            score[5] += b.y * keys;
            score[6] += b.z * keys;
            score[7] += b.w * keys;
        }
        barrier();
    }
}

bvec4 may_attend_to_four(int bh, int i, int j) {
    return bvec4(may_attend(bh, i, j), may_attend(bh, i, j + 1), may_attend(bh, i, j + 2),
                 may_attend(bh, i, j + 3));
}

int query_of(int query, int r) { return min(query + down * kRows + r, call.tq - 1); }

float largest(vec4 x) { return max(max(x.x, x.y), max(x.z, x.w)); }

/// The largest score of each of this invocation's queries among all keys of the tile: by way of `left`, first four
/// partial maxima of each query, then of those.
void find_tops(out vec4 tops[2]) {
    for (int half_of = 0; half_of < 2; ++half_of) {
        int r = half_of * 4;
        left[across][(down * 2 + half_of) ^ (across & 7)] =
            vec4(largest(score[r]), largest(score[r + 1]), largest(score[r + 2]), largest(score[r + 3]));
    }
    barrier();
    int part = me / 32, quad = me % 32;
    if (part < 4) {
        int n = part * 4;
        vec4 x = max(left[n][quad ^ (n & 7)], left[n + 1][quad ^ ((n + 1) & 7)]);
        vec4 y = max(left[n + 2][quad ^ ((n + 2) & 7)], left[n + 3][quad ^ ((n + 3) & 7)]);
        left[kSide + part][quad] = max(x, y);
    }
    barrier();
    for (int half_of = 0; half_of < 2; ++half_of) {
        int quad_of = down * 2 + half_of;
        tops[half_of] = max(max(left[kSide][quad_of], left[kSide + 1][quad_of]),
                            max(left[kSide + 2][quad_of], left[kSide + 3][quad_of]));
    }
    barrier();
}

/// score becomes exp2(score - m); m, l and the context follow the new maximum.
void weigh() {
    vec4 tops[2];
    find_tops(tops);
    for (int r = 0; r < kRows; ++r) {
        float now = max(top[r], tops[r / 4][r % 4]);
        float shrink = exp2_below(top[r] - now);
        top[r] = now;
        score[r] = exp2_below(score[r] - now);
        total[r] = total[r] * shrink + (score[r].x + score[r].y + score[r].z + score[r].w);
        for (int c = 0; c < VALUE_QUADS; ++c) mixed[r][c] *= shrink;
    }
}

/// Dropout, and -1 for the weight of a forbidden pair where it must be left out.
void drop(int bh, int query, int key) {
    for (int r = 0; r < kRows; ++r) {
        int i = query_of(query, r), j = key + across * 4;
#ifdef DROPOUT
        score[r] *= vec4(dropout_factor(bh, i, j), dropout_factor(bh, i, j + 1),
                         dropout_factor(bh, i, j + 2), dropout_factor(bh, i, j + 3));
#endif
#ifdef PAIRWISE
        score[r] = mix(vec4(-1.0), score[r], may_attend_to_four(bh, i, j));
#endif
    }
}

#ifdef PAIRWISE
#define ADD(sum, weight, values) if (!is_left_out(weight)) (sum) += (weight) * (values);
#else
#define ADD(sum, weight, values) (sum) += (weight) * (values);
#endif

/// This invocation's weights of keys part · kDepth …, turned, if it has some.
void store_turned_weights(int part) {
    if (across / kQuads != part) return;
    int n = across % kQuads * 4;
    for (int half_of = 0; half_of < 2; ++half_of) {
        int r = half_of * 4, place = swizzled(n, down * 2 + half_of);
        mat4 turned = transpose(mat4(score[r], score[r + 1], score[r + 2], score[r + 3]));
        for (int t = 0; t < 4; ++t) left[n + t][place] = turned[t];
    }
}

void load_values(int bh, int key) {
    int stride = call.v_stride / 4;
    for (int c = 0; c < VALUE_QUADS * 2; ++c) {
        int entry = c * kSide * kSide + me;
        int n = entry / (kSide * VALUE_QUADS), quad = entry % (kSide * VALUE_QUADS);
        int column = call.column_first / 4 + quad;
        bool inside = key + n < call.tk && column < stride;
        vec4 values = vec4(0.0);
        if (inside) values = v[(bh / call.group * call.tk + key + n) * stride + column];
        right[n][swizzled(n, quad)] = values;
    }
}

/// mixed += P V.
void multiply_values(int bh, int key) {
    for (int part = 0; part < kKeys / kDepth; ++part) {
        store_turned_weights(part);
        load_values(bh, key + part * kDepth);
        barrier();
        for (int n = 0; n < kDepth; ++n) {
            vec4 a = left[n][swizzled(n, down * 2)];
            vec4 b = left[n][swizzled(n, down * 2 + 1)];
            for (int c = 0; c < VALUE_QUADS; ++c) {
                vec4 values = right[n][swizzled(n, c * kSide + across)];
                ADD(mixed[0][c], a.x, values)
                ADD(mixed[1][c], a.y, values)
                ADD(mixed[2][c], a.z, values)
                ADD(mixed[3][c], a.w, values)
                ADD(mixed[4][c], b.x, values)
                ADD(mixed[5][c], b.y, values)
                ADD(mixed[6][c], b.z, values)
                ADD(mixed[7][c], b.w, values)
            }
        }
        barrier();
    }
}

int context_place(int row, int c) {
    return row * (call.v_stride / 4) + call.column_first / 4 + c * kSide + across;
}
bool has_column(int c) { return call.column_first / 4 + c * kSide + across < call.v_stride / 4; }

/// What earlier dispatches left of this group's rows.
void begin_rows(int bh, int query) {
    bool fresh = call.key_first == 0;
    for (int r = 0; r < kRows; ++r) {
        int row = bh * call.tq + query_of(query, r);
        vec2 before = fresh ? vec2(kLowest, 0.0) : sides[row];
        top[r] = before.x;
        total[r] = across == 0 ? before.y : 0.0;
        for (int c = 0; c < VALUE_QUADS; ++c) {
            mixed[r][c] = vec4(0.0);
            if (!fresh && has_column(c)) mixed[r][c] = context[context_place(row, c)];
        }
    }
}

void end_rows(int bh, int query) {
    for (int half_of = 0; half_of < 2; ++half_of) {
        int r = half_of * 4;
        left[across][down * 2 + half_of] = vec4(total[r], total[r + 1], total[r + 2], total[r + 3]);
    }
    barrier();
    for (int r = 0; r < kRows; ++r) {
        float sum = 0.0;
        for (int n = 0; n < kSide; ++n) sum += left[n][down * 2 + r / 4][r % 4];
        bool complete = (call.flags & kWithLastKeys) != 0 && sum != 0.0;
        float shrink = complete ? 1.0 / sum : 1.0;
        int i = query + down * kRows + r, row = bh * call.tq + i;
        if (i >= call.tq) continue;
        for (int c = 0; c < VALUE_QUADS; ++c)
            if (has_column(c)) context[context_place(row, c)] = mixed[r][c] * shrink;
        if (across == 0) sides[row] = vec2(top[r], sum);
    }
}

void main() {
    me = int(gl_LocalInvocationIndex);
    across = me % kSide;
    down = me / kSide;
    int runs = (call.tq + kQueries - 1) / kQueries;
    int task = call.task_first + int(gl_WorkGroupID.x);
    int bh = task / runs, query = (runs - 1 - task % runs) * kQueries;
    ivec2 first = key_range(bh / call.heads, query);
    ivec2 last = key_range(bh / call.heads, min(query + kQueries, call.tq) - 1);
    int begin = max(call.key_first, first.x / kKeys * kKeys), end = min(call.key_end, last.y);

    begin_rows(bh, query);
    for (int key = begin; key < end; key += kKeys) {
        multiply_scores(bh, query, key);
        bool all_allowed = call.custom == 0 && key >= last.x && key + kKeys <= first.y;
        for (int r = 0; r < kRows; ++r) {
            score[r] *= call.factor * kLog2E;
            if (!all_allowed)
                score[r] = mix(vec4(-kInfinity), score[r],
                               may_attend_to_four(bh, query_of(query, r), key + across * 4));
        }
        weigh();
#if defined(DROPOUT) || defined(PAIRWISE)
        drop(bh, query, key);
#endif
        multiply_values(bh, key);
    }
    end_rows(bh, query);
}
