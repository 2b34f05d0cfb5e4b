// Which keys a query may attend to: key_runs() and fill_allowed() of core/masks.cpp for the numbers of Call.
// b batch entry, h query head, i query row, j key column.
layout(std430, binding = 5) readonly buffer Padding { int valid_keys[]; };
layout(std430, binding = 6) readonly buffer Custom { uint custom_words[]; };

/// Keys x <= j < y of query i, before the custom mask; none when x >= y. Neither end ever falls as i grows.
ivec2 key_range(int b, int i) {
    int position = i + call.query_offset;
    // A query before key 0 is in a block without keys.
    int block_begin = position < 0 ? -call.block : position / call.block * call.block;
    int begin = max(max(0, position - call.window), block_begin);
    int end = min(min(position + call.causal_end, position + call.window + 1), block_begin + call.block);
    return ivec2(begin, min(end, min(valid_keys[b], call.tk)));
}

bool custom_allows(int b, int h, int i, int j) {
    if (call.custom == 0) return true;
    int at = call.custom_b * b + call.custom_h * h + call.custom_i * i + call.custom_j * j;
    return ((custom_words[at >> 2] >> ((at & 3) * 8)) & 0xFFu) != 0u;
}

bool may_attend(int bh, int i, int j) {
    int b = bh / call.heads;
    ivec2 keys = key_range(b, i);
    return j >= keys.x && j < keys.y && custom_allows(b, bh - b * call.heads, i, j);
}
