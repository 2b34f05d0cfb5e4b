#include "core/large/weight_map.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/large/coarse_tile.h"
#include "core/large/map_snapshot.h"
#include "core/large/map_state.h"
#include "core/large/score_tile.h"
#include "core/large/stored_strips.h"
#include "core/large/top_cells.h"
#include "core/platform.h"
#include "core/threads.h"

// One lock guards what is known (MapState). A thread takes the most urgent task under it, computes
// without it, and notes the result under it again. A task that a new request makes needless is stopped.

namespace attn::large {
namespace {

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Copies the rows of a part into its place in the tile. An empty `allowed` of the part means all pairs,
/// and so it does in the tile.
void place(const Texels& part, Index first_row, Texels& tile) {
    const auto at = static_cast<Index>(tile.at(first_row, 0));
    std::ranges::copy(part.mean, tile.mean.begin() + at);
    std::ranges::copy(part.max, tile.max.begin() + at);
    std::ranges::copy(part.log_mean, tile.log_mean.begin() + at);
    if (!part.allowed.empty()) std::ranges::copy(part.allowed, tile.allowed.begin() + at);
}

}  // namespace

struct WeightMap::Work {
    Work(std::shared_ptr<const MapInput> input, MapLimits limits, std::function<void()> wake,
         std::filesystem::path folder)
        : state_(std::move(input), limits), wake_(std::move(wake)), folder_(std::move(folder)) {
        const int count = std::max(thread_count(), 1);
        const std::lock_guard lock(mutex_);  // a thread that runs reads threads_ (rest())
        threads_.reserve(count);
        try {
            for (int n = 0; n < count; ++n) threads_.emplace_back([this, n] { serve(n); });
        } catch (const std::system_error&) {  // fewer than wanted are enough; for none see work()
        }
    }

    ~Work() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
            for (Task* task : running_) task->stop.request_stop();
        }
        news_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    void want(const ViewRequest& request) {
        std::shared_ptr<HeadState> forgotten;  // freed without the lock
        {
            const std::lock_guard lock(mutex_);
            if (stopping_ || state_.request == request) return;
            forgotten = state_.head;
            adopt(state_, request);
            for (Task* task : running_)
                if (!is_needed(*task)) task->stop.request_stop();
            resolved_ = false;
        }
        news_.notify_all();
    }

    std::shared_ptr<const MapSnapshot> snapshot() const {
        const std::lock_guard lock(mutex_);
        return snapshot_;
    }

    bool work(double seconds) {
        if (!threads_.empty()) return false;
        const double end = seconds_now() + seconds;
        try {
            std::unique_lock lock(mutex_);
            while (!stopping_ && !resolved_ && state_.request && seconds_now() < end)
                take_task(0, lock);
            return !stopping_ && !resolved_ && state_.request;
        } catch (...) {
            end_with(fault_of(std::current_exception()));
            return false;
        }
    }

    bool wait_until_idle(const std::stop_token& stop) {
        while (!stop.stop_requested() && work(0.1)) {
        }
        std::unique_lock lock(mutex_);
        return idle_.wait(lock, stop, [this] { return resolved_ || stopping_ || !state_.request; });
    }

  private:
    // ---- threads

    /// Too little memory, or whatever else is thrown: the map ends, the program does not.
    void serve(int thread) {
        platform::lower_thread_priority();
        try {
            if (thread == 0 && !folder_.empty()) look_for_strips();
            take_tasks(thread);
        } catch (...) {
            end_with(fault_of(std::current_exception()));
        }
    }

    void look_for_strips() {
        std::filesystem::path strips = find_strips(folder_, source());
        if (strips.empty()) return;
        const std::lock_guard lock(mutex_);
        state_.strips = std::move(strips);
        if (state_.head) state_.head->count_begun = false;
    }

    void take_tasks(int thread) {
        std::unique_lock lock(mutex_);
        while (!stopping_) take_task(thread, lock);
    }

    void take_task(int thread, std::unique_lock<std::mutex>& lock) {
        std::optional<Task> task =
            may_work(thread) ? next_task(state_, seconds_now()) : std::optional<Task>{};
        if (!task) return rest(thread, lock);
        running_.push_back(&*task);
        resolved_ = false;
        lock.unlock();
        const std::exception_ptr thrown = perform_caught(*task);
        lock.lock();
        std::erase(running_, &*task);
        if (thrown) std::rethrow_exception(thrown);
        news_.notify_all();
        lock.unlock();
        task.reset();  // the last of another head is freed without the lock
        lock.lock();
    }

    /// While a person moves the view only the first thread computes.
    bool may_work(int thread) const {
        return thread == 0 || !(state_.request && state_.request->moving);
    }

    /// Waits for something to do; the first thread notices that all is done.
    void rest(int thread, std::unique_lock<std::mutex>& lock) {
        const bool all_seen = !state_.changed && !state_.progressed;
        if (thread == 0 && running_.empty() && all_seen && state_.request && !resolved_) {
            note_idle(lock);
            return;
        }
        if (!threads_.empty()) news_.wait(lock);
    }

    void note_idle(std::unique_lock<std::mutex>& lock) {
        auto last = std::make_shared<MapSnapshot>(*snapshot_);
        last->working = false;
        last->version = ++version_;
        snapshot_ = std::move(last);
        resolved_ = true;
        idle_.notify_all();
        lock.unlock();
        if (wake_) wake_();
        lock.lock();
    }

    /// Whether a task that runs is still worth its end.
    bool is_needed(const Task& task) const {
        if (task.head != state_.head) return task.kind == Task::Kind::describe;
        const auto visible = [&](const auto& seen) {
            return std::ranges::any_of(state_.visible, seen);
        };
        switch (task.kind) {
            case Task::Kind::part:
                return visible([&](const TileId& id) { return id == task.tile; });
            case Task::Kind::strip:
                return state_.request->full_pass || visible([&](const TileId& id) {
                           const KeyRange strips = state_.head->strips_of(id, state_.size());
                           return task.index >= strips.begin && task.index < strips.end;
                       });
            case Task::Kind::score:
                return std::ranges::count(wanted_scores(state_), task.tile) > 0;
            case Task::Kind::search:
                return state_.request->search == state_.searching;
            default:
                return true;
        }
    }

    /// What it threw; null: nothing.
    std::exception_ptr perform_caught(Task& task) {
        try {
            perform(task);
            return nullptr;
        } catch (...) {
            return std::current_exception();
        }
    }

    static std::string fault_of(const std::exception_ptr& thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::bad_alloc&) {
            return "The map does not fit in this machine's memory; one of fewer tokens would.";
        } catch (...) {
            return error_of(thrown).text();
        }
    }

    /// Ends the map: what a task left half done is never looked at. What was known stays in the snapshot
    /// where there is memory for it.
    void end_with(const std::string& fault) {
        std::unique_lock lock(mutex_);
        if (stopping_) return;
        try {
            if (snapshot_) *last_ = *snapshot_;
        } catch (const std::bad_alloc&) {
            *last_ = MapSnapshot{};
        }
        if (state_.request) last_->request = *state_.request;
        last_->fault = fault;
        last_->working = false;
        last_->version = ++version_;
        snapshot_ = last_;
        stopping_ = true;
        for (Task* task : running_) task->stop.request_stop();
        idle_.notify_all();
        news_.notify_all();
        lock.unlock();
        if (wake_) wake_();
    }

    void perform(Task& task) {
        switch (task.kind) {
            case Task::Kind::describe:
                return describe();
            case Task::Kind::census:
                return look_through_inputs(task);
            case Task::Kind::count:
                return count_pairs(task);
            case Task::Kind::score:
                return make_scores(task);
            case Task::Kind::preview:
                return sample_rows(task);
            case Task::Kind::strip:
                return pool_strip(task);
            case Task::Kind::part:
                return pool_part(task);
            case Task::Kind::blocks:
                return gather_blocks(task);
            case Task::Kind::top:
                return find_top(task);
            case Task::Kind::search:
                return find_cells(task);
        }
    }

    // ---- tasks; each is called without the lock

    void describe() {
        std::unique_lock lock(mutex_);
        SnapshotParts parts = begin_snapshot(state_, seconds_now());
        const auto before = snapshot_;
        lock.unlock();
        finish_snapshot(parts, before.get(), state_.size());
        auto snapshot = std::make_shared<MapSnapshot>(std::move(parts.snapshot));
        lock.lock();
        snapshot->version = ++version_;
        snapshot_ = std::move(snapshot);
        state_.describing = false;
        lock.unlock();
        if (wake_) wake_();
    }

    void look_through_inputs(Task& task) {
        auto census = take_census(source(), task.head->head, task.stop.get_token());
        if (!census) return;
        const std::lock_guard lock(mutex_);
        task.head->keep_census(source(), *std::move(census));
        state_.changed = true;
    }

    void count_pairs(Task& task) {
        std::unique_lock lock(mutex_);
        const std::filesystem::path strips = state_.strips;
        lock.unlock();
        std::vector<double> counted = task.head->count_pairs(source(), strips);
        lock.lock();
        if (strips != state_.strips) return;  // these are counted anew
        task.head->strip_pairs = std::move(counted);
        state_.affordability_known = false;
    }

    void make_scores(Task& task) {
        HeadState& head = *task.head;
        auto tile = score_tile(source(), head.head, task.tile, task.stop.get_token());
        const std::lock_guard lock(mutex_);
        head.scoring.erase(task.tile);
        if (!tile) return;
        tile->version = ++tile_version_;
        head.scores.put(std::make_shared<const Tile>(*std::move(tile)), 0, seconds_now());
        if (task.head == state_.head)
            head.scores.trim(state_.limits.tile_bytes, wanted_scores(state_));
        state_.changed = true;
    }

    void sample_rows(Task& task) {
        HeadState& head = *task.head;
        const KeyRange chunk = head.chunk_rows(task.index);
        const std::span<const Index> rows(head.plan.rows.data() + chunk.begin,
                                          static_cast<std::size_t>(chunk.end - chunk.begin));
        const Index side = Index{1} << head.plan.level;
        PooledRows pooled;
        if (!pool_rows(source(), head.head, rows, 1, side, task.stop.get_token(), pooled)) return;
        const TexelAxis keys{side, source().size.tk};
        for (Index r = 0; r < pooled.texels.rows; ++r) {
            const RowPart part{&pooled.texels, r, 1};
            head.sampled[chunk.begin + r] =
                std::make_shared<const Texels>(join_rows({&part, 1}, keys, 1));
        }
        if (is_last_chunk(head)) finish(head);
    }

    bool is_last_chunk(HeadState& head) {
        const std::lock_guard lock(mutex_);
        return ++head.chunks_done == head.chunk_count();
    }

    void finish(HeadState& head) {
        auto preview =
            std::make_shared<const Preview>(finish_preview(head.plan, head.sampled, source().size));
        const std::lock_guard lock(mutex_);
        head.preview = std::move(preview);
        head.preview_seconds = seconds_now() - head.preview_started;
        head.preview_gflops = state_.gflop(head.preview_pairs) / head.preview_seconds;
        head.sampled.clear();
        state_.changed = true;
    }

    void pool_strip(Task& task) {
        HeadState& head = *task.head;
        const KeyRange range = head.pyramid.strip_rows(task.index);
        std::vector<Index> rows;
        for (Index i = range.begin; i < range.end; ++i) rows.push_back(i);
        const Index side = head.pyramid.block_side();
        PooledRows pooled;
        const bool finished =
            is_read(head, task.index, pooled) ||
            pool_rows(source(), head.head, rows, side, side, task.stop.get_token(), pooled);
        if (finished) head.pyramid.add_strip(task.index, std::move(pooled));
        const std::lock_guard lock(mutex_);
        const auto strip = static_cast<std::size_t>(task.index);
        head.strips[strip] = finished ? HeadState::Strip::done : HeadState::Strip::missing;
        const double now = seconds_now();
        if (--head.strips_running == 0) head.pass_seconds += now - head.pass_resumed;
        if (!finished) {
            if (head.strips_running == 0)
                state_.progressed = true;  // who looks sees it run no more
            return;
        }
        ++head.strips_done;
        head.rows_done += range.end - range.begin;
        head.resolve_fates(source(), range);
        head.pass_pairs += head.strip_pairs[strip];
        state_.progressed = true;
    }

    bool is_read(const HeadState& head, Index strip, PooledRows& out) {
        std::filesystem::path strips;
        {
            const std::lock_guard lock(mutex_);
            strips = state_.strips;
        }
        return !strips.empty() &&
               read_strip(strip_file(strips, head.head, strip), head.pyramid, strip, source(), out);
    }

    void pool_part(Task& task) {
        TileJob& job = *task.job;
        const CellBox cells = cells_of(task.tile, source().size);
        const Index side = task.tile.side();
        const Index first = cells.rows.begin + task.index * job.part_rows * side;
        const KeyRange rows{first, std::min(first + job.part_rows * side, cells.rows.end)};
        Texels part;
        if (!pool_cells(source(), task.head->head, task.head->pyramid.logsumexp(rows), rows.begin,
                        cells.columns.begin, rows.end - rows.begin,
                        cells.columns.end - cells.columns.begin, side, task.stop.get_token(), part))
            return;
        prepare(job, cells, !part.allowed.empty());
        place(part, task.index * job.part_rows, job.tile->texels);
        const std::lock_guard lock(mutex_);
        if (++job.done < job.parts) return;
        task.head->jobs.erase(task.tile);
        const KeyRange strips = task.head->strips_of(task.tile, source().size);
        keep_tile(*task.head, job.tile, strips.end - strips.begin);
    }

    /// Makes room in a tile, once.
    void prepare(TileJob& job, const CellBox& cells, bool masked) {
        const std::lock_guard lock(mutex_);
        Texels& texels = job.tile->texels;
        if (!texels.mean.empty()) return;
        const Index side = job.tile->id.side();
        texels.rows = TexelAxis{side, cells.rows.end - cells.rows.begin}.texels();
        texels.columns = TexelAxis{side, cells.columns.end - cells.columns.begin}.texels();
        const auto count = static_cast<std::size_t>(texels.rows * texels.columns);
        texels.mean.resize(count);
        texels.max.resize(count);
        texels.log_mean.resize(count);
        if (masked) texels.allowed.resize(count);
    }

    /// Under the lock.
    void keep_tile(HeadState& head, const std::shared_ptr<Tile>& tile, Index strips_known) {
        tile->version = ++tile_version_;
        head.tiles.put(tile, strips_known, seconds_now());
        std::vector<TileId> needed = ground_tiles(state_);
        needed.insert(needed.end(), state_.visible.begin(), state_.visible.end());
        head.tiles.trim(state_.limits.tile_bytes, needed);
        state_.changed = true;
    }

    void gather_blocks(Task& task) {
        HeadState& head = *task.head;
        auto tile = std::make_shared<Tile>(coarse_tile(task.tile, head.pyramid, *head.preview));
        const std::lock_guard lock(mutex_);
        head.building.erase(task.tile);
        keep_tile(head, tile, task.strips_known);
    }

    void find_top(Task& task) {
        auto top =
            top_cells({source(), task.head->head, task.head->pyramid}, task.tiles, task.view->view,
                      task.view->choice, state_.limits.top_cells, task.stop.get_token());
        const std::lock_guard lock(mutex_);
        if (state_.top_key != task.view || task.stop.stop_requested()) return;
        state_.top = std::move(top);
        state_.top_ready = true;
        state_.changed = true;
    }

    void find_cells(Task& task) {
        std::unique_lock lock(mutex_);
        const Search search = *state_.searching;
        const std::vector<KeyRange> known = task.head->known_rows();
        lock.unlock();
        auto found = search_cells({source(), task.head->head, task.head->pyramid}, search, known,
                                  state_.limits.top_cells, task.stop.get_token());
        lock.lock();
        state_.searching.reset();
        if (!found || task.head != state_.head) return;
        state_.found = std::move(found);
        state_.found_strips = task.strips_known;
        state_.found_at = seconds_now();
        state_.changed = true;
    }

    const WeightSource& source() const { return state_.input->source; }

    mutable std::mutex mutex_;
    std::condition_variable news_;
    std::condition_variable_any idle_;
    MapState state_;
    std::vector<Task*> running_;
    std::shared_ptr<const MapSnapshot> snapshot_;
    /// For the end: made while there is memory.
    std::shared_ptr<MapSnapshot> last_ = std::make_shared<MapSnapshot>();
    std::uint64_t version_ = 0;
    std::uint64_t tile_version_ = 0;
    bool resolved_ = false;
    bool stopping_ = false;
    std::function<void()> wake_;
    std::filesystem::path folder_;  // that may have strips
    std::vector<std::thread> threads_;
};

WeightMap::WeightMap(std::shared_ptr<const MapInput> input, MapLimits limits,
                     std::function<void()> wake, std::filesystem::path folder)
    : work_(std::make_unique<Work>(std::move(input), limits, std::move(wake), std::move(folder))) {}

WeightMap::~WeightMap() = default;

void WeightMap::want(const ViewRequest& request) { work_->want(request); }

std::shared_ptr<const MapSnapshot> WeightMap::snapshot() const { return work_->snapshot(); }

bool WeightMap::work(double seconds) { return work_->work(seconds); }

bool WeightMap::wait_until_idle(const std::stop_token& stop) {
    return work_->wait_until_idle(stop);
}

}  // namespace attn::large
