#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/forward.h"
#include "core/spec.h"
#include "core/tensor.h"
#include "core/train/matrices.h"
#include "core/train/moment.h"
#include "core/train/record.h"
#include "core/train/tasks.h"

namespace attn::train {

// T tokens, V vocabulary, H heads, L layers.
//   x = embedding[token] (+ positions)
//   x += A V W_O of norm(x), each layer; with an MLP then x += gelu(norm(x) W_up + b_up) W_down + b_down
//   logits = norm(x) W_out;   loss = mean over the answers of −ln softmax(logits)[answer]
// Weights start as N(0, 1/rows), W_Q and W_K times Spec::initial_spread g; embedding and learned positions as N(0, 1), norms as 1
// and 0, biases as 0: with norms and g = 1 entries of q and k then have variance 1, and q·k has variance d_k.

/// What a model does with one sequence.
struct Probe {
    Index step = 0;
    Example example;
    std::vector<Tensor> weights;       // of each layer, [1, H, T, T]; 0 where masked
    std::vector<Index> answers;        // [T]: the largest logit
    std::vector<float> answer_shares;  // [T]: softmax of that logit
    std::vector<float> shares;  // [T]: softmax of the logit of the target; 0 where there is none
    double loss = 0.0;          // NaN where the example has no target
    double accuracy = 0.0;      // the same
    /// Of first weights (step 0), of each layer: standard deviation of what enters softmax, over all pairs that may attend.
    /// Empty at other steps.
    std::vector<double> logit_deviation;
};

/// A model at one moment as attention calls.
struct Layers {
    AttentionSpec spec;  // heads, scale, causal, rope
    std::vector<std::shared_ptr<const Inputs>>
        inputs;  // of each layer: X, normalised, and W_Q, W_K, W_V, W_O; rows of a
                 // silenced head are 0 in W_O
    std::vector<std::string> tokens;
};

// Pure functions of a moment, any thread. `moment` fits `spec`; see fits(). `example`: 1 to T tokens.
Result<void> fits(const Spec& spec, const State& moment);
Probe probe(const Spec& spec, const State& moment, const Example& example);
Layers layers_of(const Spec& spec, const State& moment, const Example& example);

/// A run while it is trained. One thread at a time; what it hands out is immutable and may go to others.
class Trainer {
  public:
    /// From the first weights of the seed.
    static Result<Trainer> make(const Spec& spec);
    /// From a moment: of the same run, or a branch with other settings that do not change the matrices.
    static Result<Trainer> from(const Spec& spec, const State& moment);
    Trainer(Trainer&&) noexcept;
    Trainer& operator=(Trainer&&) noexcept;
    ~Trainer();

    const Spec& spec() const;
    const Sequences& sequences() const;
    const std::vector<Matrix>& matrices() const;
    Index step_count() const;  // steps that were made
    const Switches& switches() const;

    /// One optimisation step, which works on every thread. nullptr: it was stopped, and nothing has changed. A loss or gradient
    /// that is not finite is recorded as it is, and leaves the weights as they were.
    std::shared_ptr<const Record> step(std::stop_token stop = {});

    void set_scaling(bool scaling);
    void silence_head(Index layer, Index head, bool silenced);

    /// A copy of all of it: 3 numbers a weight.
    Moment checkpoint() const;
    /// Of this run: fits(spec(), moment).
    void restore(const State& moment);

    /// Gradient of the loss over one batch at the present weights, by matrices(); no step is made. For checks.
    struct Gradient {
        double loss = 0.0;
        std::vector<float> values;
    };
    Gradient gradient(std::span<const Example> batch);

  private:
    struct Parts;
    explicit Trainer(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace attn::train
