/// 2^x for x <= 0: exactly 1 at 0, exactly 0 below -126 (-inf included), NaN for NaN. The built-in exp2 may be
/// off by more, and may turn NaN or -inf into a small number (Mesa's software renderer does).
/// x = n + r, |r| <= 1/2: the polynomial is 2^r, relative error <= 1.6e-7; n goes into the exponent.
float exp2_below(float x) {
    float n = floor(x + 0.5);
    float r = x - n;
    float p = 0.001326472719;
    p = p * r + 0.00967151264;
    p = p * r + 0.05550733743;
    p = p * r + 0.2402224209;
    p = p * r + 0.6931469776;
    p = p * r + 1.0;
    return x < -126.0 ? 0.0 : p * intBitsToFloat((int(n) + 127) << 23);
}

/// By their bits, because a compiler may take it that no number is NaN (Mesa 26 does): !(x < 0) becomes x >= 0.
bool is_nan(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
/// -1, the weight of a pair that is left out of a sum.
bool is_left_out(float weight) { return floatBitsToUint(weight) == 0xBF800000u; }

const float kLog2E = 1.4426950408889634;
const float kLowest = -3.402823466e38;  // below every score but -inf
#define kInfinity uintBitsToFloat(0x7F800000u)
#define kNan uintBitsToFloat(0x7FC00000u)

vec4 exp2_below(vec4 x) {
    return vec4(exp2_below(x.x), exp2_below(x.y), exp2_below(x.z), exp2_below(x.w));
}
