#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

/// One channel of sound: samples from −1 to 1, `rate` of them a second.
struct Sound {
    Index rate = 0;
    std::vector<float> samples;
};

/// A RIFF WAVE file of integers of 8, 16, 24 or 32 bits, or floats of 32 or 64; several channels are averaged.
///   8 bits: (v − 128) / 2⁷;   others of b bits: v / 2^(b − 1)
/// A length of 2³² − 1, which a writer to a pipe puts there, is the rest of the file.
/// An error names `where` and the fault: no WAV, cut short, another coding, a sample that is not finite.
Result<Sound> parse_wav(std::string_view bytes, std::string_view where);
Result<Sound> read_wav(const std::filesystem::path& file);

}  // namespace attn
