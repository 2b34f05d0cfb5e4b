// Deterministic: the batch is cut into a fixed number of lanes, each a run of groups of sequences whose gradients add up in order;
// lanes add up in order. Which thread takes which lane does not matter.

#include "core/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/threads.h"
#include "core/train/plan.h"
#include "core/train/worker.h"

namespace attn::train {
namespace {

constexpr double kLeastRate = 0.02;  // what Schedule::linear ends with, as a share
constexpr Index kMostLanes = 8;
constexpr Index kLaneWeights = Index{1} << 24;  // of all lanes' gradients together
constexpr Index kGroupRows = 256;  // what a group leaves then fits a second-level cache

Index lanes_of(Index batch, Index weights) {
    return std::min(batch, std::clamp(kLaneWeights / weights, Index{2}, kMostLanes));
}

Index answers_in(std::span<const Example> batch) {
    Index count = 0;
    for (const Example& example : batch)
        count += std::ssize(example.targets) - std::ranges::count(example.targets, kNoTarget);
    return count;
}

Switches first_switches(const Spec& spec) {
    return {spec.scaling, std::vector<bool>(spec.layers * spec.heads)};
}

}  // namespace

Result<void> fits(const Spec& spec, const State& moment) {
    const std::size_t count = plan_of(spec, Sequences(spec).size()).weight_count();
    if (moment.weights.size() != count || moment.first.size() != count)
        return bad_input(fmt::format("weights of the moment: {}; expected {} of this spec",
                                     moment.weights.size(), count));
    const std::size_t squares = spec.optimiser == Optimiser::adamw ? count : 0;
    if (moment.second.size() != squares)
        return bad_input(fmt::format("mean squares of the moment: {}; expected {} of {}",
                                     moment.second.size(), squares, squares > 0 ? "adamw" : "sgd"));
    const auto heads = static_cast<std::size_t>(spec.layers * spec.heads);
    if (moment.switches.silenced.size() != heads)
        return bad_input(fmt::format("heads that the moment names: {}; expected {}",
                                     moment.switches.silenced.size(), heads));
    return {};
}

struct Trainer::Parts {
    struct Lane {
        explicit Lane(const Plan& of) : gradient(of) {}
        GradientRows gradient;
        Sums sums;
    };

    Parts(const Spec& wanted)
        : spec(wanted),
          sequences(spec),
          plan(plan_of(spec, sequences.size())),
          turns(spec),
          packed(plan),
          workers(static_cast<std::size_t>(thread_slots())) {
        state.switches = first_switches(spec);
        gradient.resize(plan.weight_count());
    }

    Weights weights() const { return {plan, packed, state.weights.data(), state.switches}; }

    /// Loss, answers and gradient of a batch at the present weights; false: stopped.
    bool differentiate(std::span<const Example> batch, Record& record, const RunControl& control);
    void run_lane(std::size_t n, std::span<const Example> batch, double weight, int slot);
    void gather(Record& record, Index answers);
    void add_lanes(std::size_t m, Record& record);
    void advance(const Record& record);

    Spec spec;
    Sequences sequences;
    Plan plan;
    Turns turns;
    Packed packed;
    State state;
    std::vector<float> gradient;
    std::vector<std::unique_ptr<Lane>> lanes;
    std::vector<std::unique_ptr<Worker>> workers;
};

bool Trainer::Parts::differentiate(std::span<const Example> batch, Record& record,
                                   const RunControl& control) {
    const auto count = static_cast<Index>(batch.size());
    const Index lane_count = lanes_of(count, static_cast<Index>(plan.weight_count()));
    while (std::ssize(lanes) < lane_count) lanes.push_back(std::make_unique<Lane>(plan));
    lanes.resize(lane_count);
    const auto matrix_count = static_cast<Index>(plan.matrices.size());
    parallel_for(matrix_count, {}, [&](Index m, int) {
        packed.pack(plan, static_cast<std::size_t>(m), state.weights.data());
    });
    const Index answers = answers_in(batch);
    const double weight = answers > 0 ? 1.0 / static_cast<double>(answers) : 0.0;
    const bool whole = parallel_for(lane_count, control, [&](Index n, int slot) {
        const Index first = n * count / lane_count;
        const Index last = (n + 1) * count / lane_count;
        run_lane(static_cast<std::size_t>(n),
                 batch.subspan(first, static_cast<std::size_t>(last - first)), weight, slot);
    });
    if (!whole) return false;
    record.gradient_norms.assign(plan.matrices.size(), 0.0F);
    parallel_for(matrix_count, {},
                 [&](Index m, int) { add_lanes(static_cast<std::size_t>(m), record); });
    gather(record, answers);
    return true;
}

void Trainer::Parts::run_lane(std::size_t n, std::span<const Example> batch, double weight,
                              int slot) {
    Lane& lane = *lanes[n];
    auto& worker = workers[slot];
    if (!worker) worker = std::make_unique<Worker>(plan, turns);
    lane.gradient.clear(plan);
    lane.sums = {};
    const auto group = static_cast<std::size_t>(std::max(kGroupRows / spec.tokens, Index{1}));
    for (std::size_t first = 0; first < batch.size(); first += group) {
        const auto part = batch.subspan(first, std::min(group, batch.size() - first));
        worker->forward(weights(), part, lane.sums);
        worker->answer(weights(), weight, lane.sums);
        worker->backward(weights(), lane.gradient);
    }
}

/// gradient = Σ of the lanes; its norm.
void Trainer::Parts::add_lanes(std::size_t m, Record& record) {
    const Matrix& matrix = plan.matrices[m];
    std::vector<const float*> from(lanes.size());
    double squares = 0.0;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (std::size_t l = 0; l < lanes.size(); ++l)
            from[l] = lanes[l]->gradient[m].view().row(row).data();
        float* const to = gradient.data() + matrix.offset + row * matrix.columns;
        squares += sum_lanes(from, {to, static_cast<std::size_t>(matrix.columns)});
    }
    record.gradient_norms[m] = static_cast<float>(std::sqrt(squares));
}

void Trainer::Parts::gather(Record& record, Index answers) {
    Sums sums;
    sums.heads.resize(spec.layers * spec.heads);
    for (const auto& lane : lanes) {
        sums.loss += lane->sums.loss;
        sums.right += lane->sums.right;
        for (std::size_t h = 0; h < sums.heads.size(); ++h) sums.heads[h] += lane->sums.heads[h];
    }
    const double count = static_cast<double>(std::max(answers, Index{1}));
    record.loss = sums.loss / count;
    record.accuracy = static_cast<double>(sums.right) / count;
    for (const RowSums& head : sums.heads) {
        const double rows = std::max(head.rows, 1.0);
        record.heads.push_back({static_cast<float>(head.entropy / rows),
                                static_cast<float>(head.max_probability / rows),
                                static_cast<float>(head.saturated / rows)});
        record.saturated += head.saturated / rows / static_cast<double>(sums.heads.size());
    }
    double squares = 0.0;
    for (const float norm : record.gradient_norms) squares += static_cast<double>(norm) * norm;
    record.gradient_norm = std::sqrt(squares);
}

/// The optimiser's part of a step.
void Trainer::Parts::advance(const Record& record) {
    if (!std::isfinite(record.loss) || !std::isfinite(record.gradient_norm)) return;
    // PyTorch's clip_grad_norm_ has the same 1e−6.
    const double factor =
        spec.clip > 0.0 ? std::min(1.0, spec.clip / (record.gradient_norm + 1e-6)) : 1.0;
    const auto t = static_cast<double>(state.step + 1);
    const auto rate = static_cast<float>(record.learning_rate);
    const auto part = [&](Index n, int) {
        const Matrix& matrix = plan.matrices[n];
        const auto count = static_cast<std::size_t>(matrix.rows * matrix.columns);
        const std::span<const float> slope = std::span(gradient).subspan(matrix.offset, count);
        const TransientActions at{state.weights.data() + matrix.offset,
                                  state.first.data() + matrix.offset,
                                  state.second.data() + matrix.offset};
        const auto decay = static_cast<float>(matrix.decays ? spec.weight_decay : 0.0);
        if (spec.optimiser == Optimiser::adamw)
            adamw({rate, decay, static_cast<float>(spec.beta1), static_cast<float>(spec.beta2),
                   static_cast<float>(1.0 - spec.beta1), static_cast<float>(1.0 - spec.beta2),
                   static_cast<float>(1.0 - std::pow(spec.beta1, t)),
                   static_cast<float>(std::sqrt(1.0 - std::pow(spec.beta2, t))),
                   static_cast<float>(factor)},
                  slope, at);
        else
            sgd({rate, decay, static_cast<float>(spec.momentum), static_cast<float>(factor)}, slope,
                at);
    };
    parallel_for(static_cast<Index>(plan.matrices.size()), {}, part);
}

Result<Trainer> Trainer::make(const Spec& spec) {
    if (auto valid = check(spec); !valid) return tl::unexpected(std::move(valid.error()));
    auto parts = std::make_unique<Parts>(spec);
    State& state = parts->state;
    state.weights = first_weights(parts->plan);
    state.first.resize(state.weights.size());
    if (spec.optimiser == Optimiser::adamw) state.second.resize(state.weights.size());
    return Trainer(std::move(parts));
}

Result<Trainer> Trainer::from(const Spec& spec, const State& moment) {
    if (auto valid = check(spec); !valid) return tl::unexpected(std::move(valid.error()));
    if (auto valid = fits(spec, moment); !valid) return tl::unexpected(std::move(valid.error()));
    auto parts = std::make_unique<Parts>(spec);
    parts->state = moment;
    return Trainer(std::move(parts));
}

Trainer::Trainer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

const Spec& Trainer::spec() const { return parts_->spec; }
const Sequences& Trainer::sequences() const { return parts_->sequences; }
const std::vector<Matrix>& Trainer::matrices() const { return parts_->plan.matrices; }
Index Trainer::step_count() const { return parts_->state.step; }
const Switches& Trainer::switches() const { return parts_->state.switches; }

std::shared_ptr<const Record> Trainer::step(std::stop_token stop) {
    Parts& parts = *parts_;
    const Spec& spec = parts.spec;
    auto record = std::make_shared<Record>();
    record->step = parts.state.step;
    record->switches = parts.state.switches;
    const double rise = spec.warmup > 0 ? static_cast<double>(parts.state.step + 1) /
                                              static_cast<double>(spec.warmup)
                                        : 1.0;
    record->learning_rate = spec.learning_rate * std::min(1.0, rise);
    if (spec.schedule == Schedule::linear) {
        const double left =
            1.0 - static_cast<double>(parts.state.step) / static_cast<double>(spec.steps);
        record->learning_rate =
            spec.learning_rate * (std::min(1.0, rise) * std::max(left, 0.0) + kLeastRate);
    }
    std::vector<Example> batch;
    for (Index n = 0; n < spec.batch; ++n)
        batch.push_back(parts.sequences.training(parts.state.step, n));
    RunControl control;
    control.stop = std::move(stop);
    if (!parts.differentiate(batch, *record, control)) return nullptr;
    parts.advance(*record);
    ++parts.state.step;
    return record;
}

void Trainer::set_scaling(bool scaling) { parts_->state.switches.scaling = scaling; }

void Trainer::silence_head(Index layer, Index head, bool silenced) {
    const Spec& spec = parts_->spec;
    ATTN_CHECK(layer >= 0 && layer < spec.layers && head >= 0 && head < spec.heads,
               "the head is one of the model's");
    parts_->state.switches.silenced[layer * spec.heads + head] = silenced;
}

Moment Trainer::checkpoint() const { return std::make_shared<const State>(parts_->state); }

void Trainer::restore(const State& moment) {
    ATTN_CHECK(moment.weights.size() == parts_->plan.weight_count() &&
                   moment.second.size() == parts_->state.second.size(),
               "the moment is of this run");
    parts_->state = moment;
}

Trainer::Gradient Trainer::gradient(std::span<const Example> batch) {
    Record record;
    parts_->differentiate(batch, record, {});
    return {record.loss, parts_->gradient};
}

}  // namespace attn::train
