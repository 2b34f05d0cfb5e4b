#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/train/moment.h"

namespace attn::train {

/// One head over all rows of a batch that may attend to at least two keys. All are 0 where there is none.
struct HeadRecord {
    float entropy = 0.0F;          // mean of H = −Σ a ln a, nats
    float max_probability = 0.0F;  // mean of p_max
    float saturated = 0.0F;        // share of rows whose p_max > kSaturated
    bool operator==(const HeadRecord&) const = default;
};
inline constexpr float kSaturated = 0.99F;

/// What one optimisation step measured, before it changed the weights.
struct Record {
    Index step = 0;                     // of this batch, from 0
    double loss = 0.0;                  // nats, mean over the answers of the batch
    double accuracy = 0.0;              // share of answers that are the largest logit
    double gradient_norm = 0.0;         // of all matrices, before clipping
    double learning_rate = 0.0;         // of this step
    std::vector<HeadRecord> heads;      // [L·H]
    double saturated = 0.0;             // their mean
    std::vector<float> gradient_norms;  // ‖d_W‖_F by matrices(), before clipping
    Switches switches;
    bool operator==(const Record&) const = default;
};

/// The last `count` records before `step` as one: means of loss, accuracy and the shares.
struct Ending {
    Index first = 0, steps = 0;  // which were averaged; 0: there is none
    double loss = 0.0, accuracy = 0.0, saturated = 0.0;
};
Ending ending_of(std::span<const std::shared_ptr<const Record>> records, Index step,
                 Index count = 50);

}  // namespace attn::train
