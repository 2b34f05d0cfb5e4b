#pragma once

#include <memory>
#include <optional>

#include "app/workspaces/learn/state.h"
#include "core/stopwatch.h"
#include "core/train/course.h"

namespace attn::view {

struct AppState;

/// Brings two runs to where a plan wants them, one step at a time: what app/jobs does on a thread of its own, and tests on theirs.
class Training {
  public:
    /// The new request. Steps that it shares with the previous plan are kept.
    void request(const LearnRequest& request);
    /// One piece of work. False: all that was requested is done, or it was stopped.
    bool work(std::stop_token stop);
    /// What there is now, with the maps of the moment shown.
    std::shared_ptr<const LearnSeries> series();

  private:
    void begin();
    bool advance_seed(std::stop_token stop);
    /// The held-out accuracy of the present step belongs to the curve and is unknown.
    bool needs_held_out(std::size_t run) const;
    bool measure_held_out(std::size_t run, std::stop_token stop);
    void answer_own(const train::Spec& spec, const train::State& state);
    std::shared_ptr<const train::Probe> probe_of(std::size_t run);

    std::optional<LearnRequest> request_;
    std::array<std::optional<train::Course>, 2> courses_;
    std::array<std::optional<train::Course>, 2>
        others_;  // of the seed that is trained for the spread
    std::array<std::vector<LearnHeldOut>, 2> held_out_;
    std::vector<LearnSeed> seeds_;
    std::array<std::shared_ptr<const train::Probe>, 2> probes_;
    std::array<train::Moment, 2> probed_;
    std::shared_ptr<const train::OwnAnswer> answer_;  // of A, where probes_[0] is
    std::string probed_sentence_;
    std::string fault_;
    bool complete_ = false;
    Index counted_ = 0;  // steps since `since_`
    double rate_ = 0.0;
    Stopwatch since_;
};

}  // namespace attn::view
