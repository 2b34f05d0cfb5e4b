#include "app/cli/map_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "app/files/call.h"
#include "core/blocks.h"
#include "core/kernels/peak.h"

namespace attn::cli {
namespace {

constexpr double kProbeMs = 40.0;

Result<large::MapInput> read_map_file(const std::string& path) {
    auto call = files::read_call(path, {}, files::kFirstLayer);
    if (!call) return tl::unexpected(std::move(call.error()));
    auto source = large::weight_source(call->inputs, call->spec);
    if (!source)
        return tl::unexpected(
            Error{fmt::format("{}: {}", path, source.error().sentence), source.error().kind});
    large::MapInput input;
    input.source = *std::move(source);
    return input;
}

bool same_cell(const view::MapCell& cell, const view::WantedMap& wanted) {
    return cell.head == wanted.wish.head && cell.cell == *wanted.inspected;
}

}  // namespace

Result<large::MapInput> make_map_input(const view::MapOrigin& origin,
                                       const RunControl& control) try {
    if (const auto* file = std::get_if<view::MapFile>(&origin)) return read_map_file(file->path);
    return large::plant(std::get<large::PlantedSpec>(origin), control);
} catch (const std::bad_alloc&) {
    return failed("out of memory: a map of weights keeps Q and K");
}

MapWorker::MapWorker(std::function<void()> wake, Measure measure)
    : wake_(std::move(wake)),
      measured_(measure == Measure::nothing),
      thread_([this](const std::stop_token& quit) { work(quit); }) {}

MapWorker::~MapWorker() {
    thread_.request_stop();
    {
        const std::scoped_lock lock(mutex_);
        job_.request_stop();
    }
    thread_.join();
    map_.reset();  // its threads call wake_ until it is gone
}

void MapWorker::want(const std::optional<view::WantedMap>& wanted) {
    if (!wanted) return;
    const std::scoped_lock lock(mutex_);
    const bool another = !wanted_ || wanted_->opened != wanted->opened;
    wanted_ = wanted;
    if (another) {
        job_.request_stop();
        std::erase_if(results_, [](const view::Action& result) {
            return !std::holds_alternative<view::MachineProbed>(result);
        });
    }
    if (announced_ && map_ && made_ == wanted->opened) map_->want(wanted->wish);
    changed_.notify_all();
}

view::Actions MapWorker::take() {
    const std::scoped_lock lock(mutex_);
    view::Actions taken = std::exchange(results_, {});
    announced_ = announced_ || std::ranges::any_of(taken, [](const view::Action& result) {
                     return std::holds_alternative<view::MapInputReady>(result);
                 });
    const auto snapshot = map_ ? map_->snapshot() : nullptr;
    if (snapshot && snapshot->version != seen_) {
        seen_ = snapshot->version;
        taken.emplace_back(view::MapReady{origin_, snapshot});
    }
    return taken;
}

void MapWorker::settle() {
    Lock lock(mutex_);
    changed_.wait(lock, [this] { return !busy_ && !has_work(); });
    const auto map = announced_ ? map_ : nullptr;  // before that it has no wish
    lock.unlock();
    if (map) map->settle();
}

bool MapWorker::has_work() const {
    if (!wanted_) return false;
    if (made_ != wanted_->opened) return true;
    return input_ && wanted_->inspected && !(cell_ && same_cell(*cell_, *wanted_));
}

void MapWorker::work(const std::stop_token& quit) {
    Lock lock(mutex_);
    while (!quit.stop_requested() && changed_.wait(lock, quit, [this] { return has_work(); })) {
        busy_ = true;
        if (!measured_)
            measure(lock);
        else if (made_ != wanted_->opened)
            make(lock);
        else
            inspect(lock);
        busy_ = false;
        changed_.notify_all();
        wake_();
    }
}

/// Now, while no other thread of ours computes.
void MapWorker::measure(Lock& lock) {
    lock.unlock();
    const double peak = fma_peak_gflops(thread_count(), kProbeMs);
    const double bandwidth = stream_gbytes(thread_count(), kProbeMs);
    lock.lock();
    measured_ = true;
    results_.emplace_back(view::MachineProbed{peak, bandwidth});
}

void MapWorker::make(Lock& lock) {
    job_ = std::stop_source();
    const std::stop_token stop = job_.get_token();
    const view::MapOrigin origin = wanted_->origin;
    const std::uint64_t opened = wanted_->opened;
    auto old = std::exchange(map_, nullptr);
    input_.reset();
    cell_.reset();
    made_.reset();
    announced_ = false;
    lock.unlock();
    old.reset();
    release_kept_blocks();  // of the old matrix: nothing as large may come again
    auto made = make_map_input(origin, {stop, {}});
    auto input = made ? std::make_shared<const large::MapInput>(*std::move(made)) : nullptr;
    auto map =
        input ? std::make_shared<large::WeightMap>(input, large::MapLimits{}, wake_) : nullptr;
    lock.lock();
    if (stop.stop_requested()) return;
    made_ = opened;
    origin_ = origin;
    input_ = input;
    map_ = std::move(map);
    seen_ = 0;
    results_.emplace_back(
        view::MapInputReady{origin, input, input ? std::string() : made.error().sentence});
}

void MapWorker::inspect(Lock& lock) {
    const large::Head head = wanted_->wish.head;
    const large::Cell cell = *wanted_->inspected;
    const auto input = input_;
    lock.unlock();
    auto answer = std::make_shared<const view::MapCell>(
        view::MapCell{head, cell, large::cell_arithmetic(input->source, head, cell)});
    lock.lock();
    cell_ = answer;
    if (input == input_) results_.emplace_back(view::MapCellReady{origin_, std::move(answer)});
}

}  // namespace attn::cli
