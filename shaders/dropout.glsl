// Dropout as in core/dropout.h and core/rng.h: 64-bit numbers are (low, high) pairs of 32 bits.

uvec2 plus(uvec2 a, uvec2 b) {
    uint carry;
    uint low = uaddCarry(a.x, b.x, carry);
    return uvec2(low, a.y + b.y + carry);
}

uvec2 times(uvec2 a, uvec2 b) {
    uint high, low;
    umulExtended(a.x, b.x, high, low);
    return uvec2(low, high + a.x * b.y + a.y * b.x);
}

/// a ^ (a >> n), 0 < n < 32.
uvec2 fold(uvec2 a, int n) { return a ^ uvec2((a.x >> n) | (a.y << (32 - n)), a.y >> n); }

/// mix(seed, counter): SplitMix64.
uvec2 mix_bits(uvec2 seed, uvec2 counter) {
    uvec2 z = plus(seed, times(uvec2(0x7F4A7C15u, 0x9E3779B9u), plus(counter, uvec2(1u, 0u))));
    z = times(fold(z, 30), uvec2(0x1CE4E5B9u, 0xBF58476Du));
    z = times(fold(z, 27), uvec2(0x133111EBu, 0x94D049BBu));
    return fold(z, 31);
}

/// The factor of the weight of pair (bh, i, j), 0 or 1 / (1 − p): kept when the top 53 bits of its number are at
/// least p · 2^53.
float dropout_factor(int bh, int i, int j) {
    uvec2 row = uvec2(uint(bh * call.tq + i), 0u);
    uvec2 flat_index = plus(times(row, uvec2(uint(call.tk), 0u)), uvec2(uint(j), 0u));
    uvec2 bits = mix_bits(uvec2(call.seed_low, call.seed_high), flat_index);
    uvec2 top = uvec2((bits.x >> 11) | (bits.y << 21), bits.y >> 11);
    bool dropped = top.y < call.drop_high || (top.y == call.drop_high && top.x < call.drop_low);
    return dropped ? 0.0 : call.kept;
}
