#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/train/held_out.h"
#include "core/train/record.h"
#include "core/train/spec.h"

namespace attn::train {

struct Example;

// A recording holds what a screen shows of a training, seen from one word, and no weights of the model. T tokens of the
// language's text, L layers, H heads.

/// The model at one step, at the word.
struct RecordedProbe {
    Index answer = 0;            // token of the largest logit
    float answer_share = 0.0F;   // softmax of that logit
    float share = 0.0F;          // softmax of the target's logit
    std::vector<float> weights;  // [L·H, T]: attention weights from the word, layer·H + head
    bool operator==(const RecordedProbe&) const = default;
};

/// One of the two trainings.
struct RecordedSide {
    /// Of every step; loss, accuracy and saturated rows alone. A file rounds them to float.
    std::vector<std::shared_ptr<const Record>> records;
    std::vector<RecordedProbe> probes;   // after 0, `every`, 2·`every`, … steps
    std::vector<HeldOutPoint> held_out;  // at is_held_out_step() and the last step
};

struct Recording {
    Index steps = 0;
    Index every = 1;                    // steps between probes; divides `steps`
    std::string target;                 // simd_target() that trained it
    std::array<RecordedSide, 2> sides;  // with scaling, without scaling
};

/// The last word of a sequence that its language marks with an answer; else the word from which on it answers, else the last.
Index answering_position(const Spec& spec, const Example& example);

/// Texts of the held-out curve of a recording.
inline constexpr Index kRecordedTexts = 128;

/// Trains both specifications from nothing for their first `steps` steps. They have a language with held-out texts and the same text. Fails if it was
/// stopped.
Result<Recording> record_training(const std::array<Spec, 2>& specs, Index steps, Index every,
                                  std::stop_token stop = {});

/// A .safetensors file: arrays with.measures [steps, 3], with.weights [probes, L·H·T], with.answers [probes, 3],
/// with.held_out [points, 2], the same of `without`, and metadata.
Result<void> save_recording(const std::filesystem::path& path, const std::array<Spec, 2>& specs,
                            const Recording& recording);
/// Errors name file, array and the expected value. A recording of another specification is refused; requirements of the
/// language do not count.
Result<Recording> open_recording(const std::filesystem::path& path,
                                 const std::array<Spec, 2>& specs);

}  // namespace attn::train
