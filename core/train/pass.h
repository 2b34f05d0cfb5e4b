#pragma once

#include "core/check.h"
#include "core/train/plan.h"
#include "core/train/worker.h"

namespace attn::train {

struct Spec;

/// A model at one moment that reads one sequence after another.
class Pass {
  public:
    Pass(const Spec& spec, const State& moment)
        : plan_(plan_of(spec, Sequences(spec).size())),
          turns_(spec),
          packed_(plan_),
          weights_{plan_, packed_, moment.weights.data(), moment.switches},
          worker_(plan_, turns_) {
        for (std::size_t m = 0; m < plan_.matrices.size(); ++m)
            packed_.pack(plan_, m, moment.weights.data());
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    /// 1 to T tokens with a target or none each; `example` stays until logits() were read.
    void read(const Example& example) {
        ATTN_CHECK(!example.tokens.empty() && std::ssize(example.tokens) <= plan_.spec.tokens &&
                       example.targets.size() == example.tokens.size(),
                   "an example has 1 to T tokens, with a target or none each");
        Sums sums;
        worker_.forward(weights_, {&example, 1}, sums);
    }
    /// Of every token that was read, [T, V].
    MatrixView<const float> logits() { return worker_.all_logits(weights_); }

    const Plan& plan() const { return plan_; }
    const Weights& weights() const { return weights_; }
    const Worker& worker() const { return worker_; }

  private:
    const Plan plan_;  // before what reads it
    const Turns turns_;
    Packed packed_;
    const Weights weights_;
    Worker worker_;
};

}  // namespace attn::train
