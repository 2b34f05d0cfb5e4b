// WAV files of each coding, made byte by byte, and those that are refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/io/wav.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

std::string little(std::uint64_t value, std::size_t bytes) {
    std::string made;
    for (std::size_t n = 0; n < bytes; ++n) made += static_cast<char>(value >> (8 * n) & 0xFF);
    return made;
}

struct Format {
    std::uint64_t kind = 1, channels = 1, bits = 16, rate = 16000;
};

std::string wav(const Format& format, const std::string& samples, std::uint64_t stated) {
    const std::string head = little(format.kind, 2) + little(format.channels, 2) +
                             little(format.rate, 4) + little(0, 6) + little(format.bits, 2);
    return "RIFF" + little(0, 4) + "WAVE" + "LIST" + little(3, 4) + "abc" + '\0' + "fmt " +
           little(head.size(), 4) + head + "data" + little(stated, 4) + samples;
}
std::string wav(const Format& format, const std::string& samples) {
    return wav(format, samples, samples.size());
}

template <class Number>
std::string bytes_of(Number value) {
    std::string made(sizeof value, '\0');
    std::memcpy(made.data(), &value, sizeof value);
    return made;
}

std::vector<float> samples_of(const std::string& bytes) {
    return must(parse_wav(bytes, "x.wav")).samples;
}
std::string fault_of(const std::string& bytes) { return sentence_in(parse_wav(bytes, "x.wav")); }

}  // namespace

TEST_CASE("samples of each coding are numbers from -1 to 1") {
    using Samples = std::vector<float>;
    CHECK(samples_of(wav({1, 1, 8}, little(0, 1) + little(128, 1) + little(192, 1))) ==
          Samples{-1.0F, 0.0F, 0.5F});
    CHECK(samples_of(wav({}, little(0x8000, 2) + little(0x4000, 2) + little(0xFFFF, 2))) ==
          Samples{-1.0F, 0.5F, -1.0F / 32768.0F});
    CHECK(samples_of(wav({1, 1, 24}, little(0x800000, 3) + little(1, 3))) ==
          Samples{-1.0F, 1.0F / 8388608.0F});
    CHECK(samples_of(wav({1, 1, 32}, little(0xC0000000, 4))) == Samples{-0.5F});
    CHECK(samples_of(wav({3, 1, 32}, bytes_of(0.25F))) == Samples{0.25F});
    CHECK(samples_of(wav({3, 1, 64}, bytes_of(-0.25))) == Samples{-0.25F});
    CHECK(samples_of(wav({1, 2, 16}, little(0x4000, 2) + little(0, 2))) == Samples{0.25F});
    CHECK(must(parse_wav(wav({1, 1, 16, 44100}, ""), "x.wav")).rate == 44100);
    CHECK(samples_of(wav({}, little(0x4000, 2), 0xFFFFFFFF)) == Samples{0.5F});
}

TEST_CASE("what is no whole WAV file is refused by what it lacks") {
    CHECK(fault_of("ID3 of an mp3, which is longer").starts_with("x.wav is not a WAV file"));
    CHECK(fault_of("").starts_with("x.wav is not a WAV file"));
    CHECK(fault_of("RIFF").starts_with("x.wav is not a WAV file"));
    CHECK(fault_of(wav({}, little(0, 2), 4)) ==
          "x.wav has 2 bytes of samples; expected 4: it is cut short");
    CHECK(fault_of("RIFF____WAVE") == "x.wav has no chunk 'fmt '; expected a whole WAV file");
    CHECK(fault_of(wav({6, 1, 8}, "a")).starts_with("x.wav has samples of coding 6 and 8 bits"));
    CHECK(fault_of(wav({1, 1, 12}, "aa")).starts_with("x.wav has samples of coding 1 and 12 bits"));
    CHECK(fault_of(wav({1, 0, 16}, "aa")) ==
          "x.wav has 0 channels and 16000 samples a second; expected at least 1 of each");
    CHECK(fault_of(wav({3, 1, 32}, bytes_of(std::numeric_limits<float>::infinity()))) ==
          "x.wav: sample 0 is inf; expected a finite number");
    const std::string whole = wav({}, little(0x4000, 2));
    for (std::size_t end = 0; end < whole.size(); ++end)
        CHECK(!parse_wav(whole.substr(0, end), ""));
}
