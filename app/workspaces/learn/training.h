#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "app/workspaces/learn/state.h"

namespace attn::view {

struct AppState;

/// Brings two runs to where a plan wants them, one step at a time: what app/jobs does on a thread of its own, and tests on theirs.
class Training {
  public:
    /// What is wanted from now on; what the plan before has in common with it is kept.
    void request(const LearnRequest& request);
    /// One piece of work. False: all that was requested is done, or it was stopped.
    bool work(std::stop_token stop);
    /// What there is now, with the maps of the moment shown.
    std::shared_ptr<const LearnSeries> series();

  private:
    using Clock = std::chrono::steady_clock;
    void begin();
    bool advance_seed(std::stop_token stop);
    std::shared_ptr<const train::Probe> probe_of(std::size_t run);

    std::optional<LearnRequest> request_;
    std::array<std::optional<train::Course>, 2> courses_;
    std::array<std::optional<train::Course>, 2>
        others_;  // of the seed that is trained for the spread
    std::vector<LearnSeed> seeds_;
    std::array<std::shared_ptr<const train::Probe>, 2> probes_;
    std::array<train::Moment, 2> probed_;
    std::string probed_sentence_;
    std::string fault_, sentence_fault_;
    bool complete_ = false;
    Index counted_ = 0;  // steps since `since_`
    double rate_ = 0.0;
    Clock::time_point since_ = Clock::now();
};

/// The moment that is kept at or before `step`; nullopt: the newest. Of a list that is not empty.
const train::Moment& moment_at(const std::vector<train::Moment>& moments,
                               std::optional<Index> step);
/// The moment as the switches of its step have it.
train::State switched(const train::Spec& spec, const train::State& moment,
                      std::span<const train::Switch> switches);
/// What was trained, as it is saved: A, and B where there is one. Empty before the first step.
std::vector<train::Run> learn_runs(const AppState& state);
/// The tokens that the maps are of: `sentence`, or where it is "" the fixed sequence.
Result<train::Example> learn_example(const train::Sequences& sequences,
                                     const std::string& sentence);

}  // namespace attn::view
