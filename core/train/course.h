#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/train/run.h"
#include "core/train/trainer.h"

namespace attn::train {

/// What holds once the model has made `step` steps: of two switches of one step the later in the list counts.
Switches switches_at(const Spec& spec, std::span<const Switch> list, Index step);
/// Those that a run was trained with, from its records.
std::vector<Switch> recorded_switches(const Run& run);
/// An error names the switch that does not fit.
Result<void> check(const Spec& spec, std::span<const Switch> list);

/// A run that goes to any of its steps, forwards or back, and takes up other switches from a step on. What it is at a step is
/// given by specification, switches and step alone, bit for bit on one machine: going back restores a moment that was kept
/// and trains from there. One thread at a time.
class Course {
  public:
    /// From the first weights of the seed.
    static Result<Course> make(const Spec& spec);
    /// From a run that was kept, which has a moment at least. Its switches are those of its records.
    static Result<Course> from(const Run& run);

    /// Replaces the switches: what was trained from the first difference on is dropped.
    void set_switches(std::vector<Switch> switches);
    const std::vector<Switch>& switches() const { return switches_; }

    /// Goes one step towards `step`; towards an earlier one at once as far as the kept moments let it. False: nothing was
    /// left to do, or it was stopped.
    bool advance(Index step, std::stop_token stop = {});
    /// Steps that were made.
    Index step_count() const { return trainer_.step_count(); }

    const Spec& spec() const { return trainer_.spec(); }
    const Sequences& sequences() const { return trainer_.sequences(); }
    const std::vector<Matrix>& matrices() const { return trainer_.matrices(); }
    /// Of steps 0 … step_count() − 1.
    const std::vector<std::shared_ptr<const Record>>& records() const { return records_; }
    /// Those that are kept: ascending, evenly spread over the run, the first, and the last ones as they were made.
    const std::vector<Moment>& moments() const { return moments_; }
    /// Keeps the present one: whoever shows it may come back to it.
    const Moment& keep();
    /// With the present moment as its last.
    Run run() const;

  private:
    Course(Trainer trainer, Run run);
    void go_back(Index step);
    void thin();

    Trainer trainer_;
    std::vector<Switch> switches_;
    std::vector<std::shared_ptr<const Record>> records_;
    std::vector<Moment> moments_;
    Index spacing_ = 1;  // steps between the moments that stay
};

/// The moment that is kept at or before `step`; nullopt: the newest. Of a list that is not empty.
const Moment& moment_at(const std::vector<Moment>& moments, std::optional<Index> step);
/// The moment as the switches of its step have it.
State switched(const Spec& spec, const State& moment, std::span<const Switch> switches);
/// The tokens that the maps are of: `sentence`, or where it is "" the fixed sequence.
Result<Example> example_of(const Sequences& sequences, const std::string& sentence);

/// Moments that a run keeps at most, and the bytes that they may take.
inline constexpr std::size_t kMostMoments = 64;
inline constexpr double kMostMomentBytes = 256.0 * 1024.0 * 1024.0;

}  // namespace attn::train
