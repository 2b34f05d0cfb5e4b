#include "core/models/sound.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "core/models/config.h"
#include "core/threads.h"

namespace attn {
namespace {

constexpr Index kWindow = SoundInput::kWindow, kHop = SoundInput::kHop;
constexpr Index kFrequencies = kWindow / 2 + 1;

double mel_of(double hertz) {
    return hertz < 1000.0 ? 3.0 * hertz / 200.0
                          : 15.0 + 27.0 * std::log(hertz / 1000.0) / std::log(6.4);
}
double hertz_of(double mel) {
    return mel < 15.0 ? 200.0 * mel / 3.0 : 1000.0 * std::exp(std::log(6.4) * (mel - 15.0) / 27.0);
}

/// M transposed, [mels, frequencies].
std::vector<double> mel_filters(Index mels) {
    const double most = mel_of(SoundInput::kRate / 2.0);
    std::vector<double> edges, filters;
    for (Index n = 0; n < mels + 2; ++n)
        edges.push_back(hertz_of(most * static_cast<double>(n) / static_cast<double>(mels + 1)));
    for (Index m = 0; m < mels; ++m) {
        const double low = edges[m], middle = edges[m + 1], high = edges[m + 2];
        for (Index f = 0; f < kFrequencies; ++f) {
            const double hertz = static_cast<double>(f * SoundInput::kRate) / double{kWindow};
            const double height =
                std::min((hertz - low) / (middle - low), (high - hertz) / (high - middle));
            filters.push_back(std::max(0.0, height) * 2.0 / (high - low));
        }
    }
    return filters;
}

/// The first samples, silence behind them, and their reflections at both ends.
std::vector<double> reflected(const std::vector<float>& samples, Index count) {
    constexpr Index kEdge = kWindow / 2;
    std::vector<double> made;
    const auto sample = [&](Index n) {
        return n < std::ssize(samples) ? static_cast<double>(samples[n]) : 0.0;
    };
    for (Index n = -kEdge; n < count + kEdge; ++n)
        made.push_back(sample(n < 0 ? -n : n < count ? n : 2 * (count - 1) - n));
    return made;
}

/// |Σ_n w[n] x[n] e^(−2πi f n / 400)|² for each frequency.
std::array<double, kFrequencies> powers_of(const double* x) {
    static const auto kCircle = [] {  // cos and sin of n parts of 400
        std::array<std::pair<double, double>, kWindow> circle;
        for (Index n = 0; n < kWindow; ++n) {
            const double angle = 2.0 * std::numbers::pi * static_cast<double>(n) / double{kWindow};
            circle[n] = {std::cos(angle), std::sin(angle)};
        }
        return circle;
    }();
    std::array<double, kWindow> windowed;
    for (Index n = 0; n < kWindow; ++n) windowed[n] = (1.0 - kCircle[n].first) / 2.0 * x[n];
    std::array<double, kFrequencies> powers;
    for (Index f = 0; f < kFrequencies; ++f) {
        double real = 0.0, imaginary = 0.0;
        for (Index n = 0, turn = 0; n < kWindow; ++n) {
            real += windowed[n] * kCircle[turn].first;
            imaginary -= windowed[n] * kCircle[turn].second;
            turn += f;
            if (turn >= kWindow) turn -= kWindow;
        }
        powers[f] = real * real + imaginary * imaginary;
    }
    return powers;
}

}  // namespace

Result<Tensor> mel_spectrogram(const Sound& sound, const SoundInput& input) {
    if (sound.rate != SoundInput::kRate)
        return bad_input(fmt::format(
            "the sound has {} samples a second; expected {}, which ffmpeg makes: ffmpeg -i SOUND "
            "-ar {} -ac 1 sound.wav",
            sound.rate, SoundInput::kRate, SoundInput::kRate));
    const Index frames = input.frames, mels = input.mels;
    const std::vector<double> filters = mel_filters(mels);
    const std::vector<double> x = reflected(sound.samples, frames * kHop);
    auto spectrogram = Tensor::uninitialised({1, 1, frames, mels});
    const auto rows = spectrogram.matrix(0, 0);
    parallel_for(frames, {}, [&](Index frame, int) {
        const double* const from = x.data() + frame * kHop;
        const bool silent = std::all_of(from, from + kWindow, [](double v) { return v == 0.0; });
        const auto powers = silent ? std::array<double, kFrequencies>{} : powers_of(from);
        for (Index m = 0; m < mels; ++m) {
            double sum = 0.0;
            for (Index f = 0; f < kFrequencies; ++f)
                sum += filters[m * kFrequencies + f] * powers[f];
            rows(frame, m) = static_cast<float>(std::log10(std::max(1e-10, sum)));
        }
    });
    const float most = *std::ranges::max_element(spectrogram.values());
    for (float& value : spectrogram.values()) value = (std::max(value, most - 8.0F) + 4.0F) / 4.0F;
    return spectrogram;
}

Tensor neighbours_of(const Tensor& rows, Index stride) {
    const Index count = rows.shape().t, channels = rows.shape().d;
    Tensor made({1, 1, count / stride, 3 * channels});
    for (Index t = 0; t < made.shape().t; ++t)
        for (Index k = 0; k < 3; ++k)
            if (const Index from = stride * t + k - 1; from >= 0 && from < count)
                for (Index c = 0; c < channels; ++c) made(0, 0, t, 3 * c + k) = rows(0, 0, from, c);
    return made;
}

std::vector<ModelToken> sound_tokens(const SoundInput& input) {
    std::vector<ModelToken> tokens;
    for (Index n = 0; n < input.tokens(); ++n)
        tokens.push_back({n, fmt::format("{:.2f}", static_cast<double>(2 * n * kHop) /
                                                       double{SoundInput::kRate})});
    return tokens;
}

}  // namespace attn
