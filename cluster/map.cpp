// n tokens, P ranks; a strip is some rows of the map against every key. Each round the ranks take neighbouring strips, which
// a mask makes cost alike, and the keys go around the ring once.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "app/cli/trace_parts.h"
#include "app/common/or_throw.h"
#include "app/common/state.h"
#include "cluster/parts.h"
#include "cluster/ring.h"
#include "cluster/world.h"
#include "core/heads/layer.h"
#include "core/io/file.h"
#include "core/kernels/projections.h"
#include "core/large/pyramid.h"
#include "core/large/row_pool.h"
#include "core/large/stored_strips.h"
#include "core/large/weight_map.h"
#include "core/large/weight_source.h"
#include "core/stages.h"
#include "core/stopwatch.h"

namespace attn::cluster {
namespace {

namespace fs = std::filesystem;
using large::Head;

// So many keys go around at once, and so many rows meet them: the more rows, the fewer bytes a product.
constexpr Index kPieceKeys = 8 * large::RowPool::kPieceKeys;
constexpr Index kRoundRows = 2048;

/// What every rank knows.
struct Job {
    large::WeightSource source;  // on ranks above 0 without q and k
    fs::path strips;             // where the operands and the strips stand
};

fs::path operand_file(const Job& job, const char* name) {
    return job.strips / fmt::format("operand-{}.bin", name);
}

// ---- rank 0: FILE becomes DIR

/// Q, K and V in place of X.
void project_inputs(files::FileCall& call) {
    Inputs& in = call.inputs;
    if (!in.projects()) return;
    const auto made = [&](Stage stage) {
        return project(in, stage, stage_shape(stage, call.size, call.spec));
    };
    Inputs heads;
    heads.q = made(Stage::q);
    heads.k = made(Stage::k);
    heads.v = made(Stage::v);
    for (const ParamInfo& row : param_table())
        if (row.use == ParamUse::score || row.use == ParamUse::sink || row.use == ParamUse::norm)
            heads.params[row.param] = std::move(in.params[row.param]);
    in = std::move(heads);
}

NpzEntry tensor_entry(const char* name, const Tensor& tensor) {
    const Shape s = tensor.shape();
    return {name, {s.b, s.h, s.t, s.d}, tensor.values()};
}

bool same_bytes(const fs::path& one, const fs::path& other) {
    std::error_code none;
    if (fs::file_size(one, none) != fs::file_size(other, none)) return false;
    std::ifstream a(one, std::ios::binary), b(other, std::ios::binary);
    std::vector<char> left(1 << 20), right(left.size());
    const auto size = static_cast<std::streamsize>(left.size());
    while (a.read(left.data(), size), b.read(right.data(), size), a.gcount() > 0)
        if (a.gcount() != b.gcount() ||
            !std::equal(left.begin(), left.begin() + a.gcount(), right.begin()))
            return false;
    return true;
}

/// The call as the window opens it. One that stands there and is another is left.
void write_call(const files::FileCall& call, const fs::path& folder) {
    std::vector<NpzEntry> entries{tensor_entry("Q", call.inputs.q),
                                  tensor_entry("K", call.inputs.k)};
    StageSet held;
    for (const Stage stage : {Stage::q, Stage::k}) held.set(index_of(stage));
    if (!call.inputs.v.empty()) {
        entries.push_back(tensor_entry("V", call.inputs.v));
        held.set(index_of(Stage::v));
    }
    cli::add_call(call, held, entries);
    const fs::path file = folder / "inputs.npz";
    if (std::error_code none; !fs::exists(file, none)) return or_throw(write_npz(file, entries));
    or_throw(replace_file(file, [&](const fs::path& made) -> Result<void> {
        if (auto written = write_npz(made, entries); !written) return written;
        if (same_bytes(made, file)) return {};
        return bad_input(fmt::format(
            "-o is {}, where inputs.npz is of another call; expected a folder without it",
            folder.string()));
    }));
}

void write_operand(const fs::path& file, const Tensor& tensor) {
    const auto values = tensor.values();
    or_throw(replace_file(file, [&](const fs::path& path) -> Result<void> {
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(values.data()),
                  static_cast<std::streamsize>(values.size_bytes()));
        if (!out.flush()) return failed(fmt::format("cannot write {}", path.string()));
        return {};
    }));
}

void begin(const Arguments& text, const files::OptionValues& given, cli::Streams io, Job& job) {
    const fs::path folder(text.output);
    std::error_code none;
    if (fs::exists(folder, none) && !fs::is_directory(folder, none))
        throw bad_input(fmt::format("-o is {}, a file; expected a folder", text.output));
    files::FileCall call = read_call(text, given, io, files::Values::optional);
    project_inputs(call);
    if (call.spec.mask.bias)
        throw bad_input(
            "a bias is given; expected none: each process has its part of Q and K alone");
    Inputs buffer;
    job.source = or_throw(large::weight_source(with_values(call.inputs, buffer), call.spec));
    make_folder(folder);
    job.strips = large::strips_folder(folder, job.source);
    if (!fs::equivalent(text.input, folder, none)) write_call(call, folder);
    make_folder(job.strips);
    write_operand(operand_file(job, "q"), *job.source.q);
    write_operand(operand_file(job, "k"), *job.source.k);
    job.source.q = job.source.k = nullptr;
}

void share_job(Job& job) {
    share(job.source.spec);
    share(&job.source.size, sizeof job.source.size);
    share(job.source.sinks);
    std::string strips = job.strips.string();
    share(strips);
    job.strips = strips;
}

// ---- every rank

/// Rows of one head of an operand, of the file that rank 0 wrote.
std::vector<float> read_rows(const Job& job, const char* name, Index head, Index tokens,
                             KeyRange rows) {
    const Index width = job.source.size.d_k;
    const fs::path path = operand_file(job, name);
    std::vector<float> values(static_cast<std::size_t>((rows.end - rows.begin) * width));
    std::ifstream file(path, std::ios::binary);
    file.seekg((head * tokens + rows.begin) * width * static_cast<Index>(sizeof(float)));
    file.read(reinterpret_cast<char*>(values.data()),
              static_cast<std::streamsize>(values.size() * sizeof(float)));
    if (!file)
        throw failed(
            fmt::format("cannot read {}: every rank needs the folder of -o", path.string()));
    return values;
}

/// A strip that is being computed.
struct Strip {
    Index index = 0;
    std::vector<float> q;
    large::HeldRows held;
    std::optional<large::RowPool> pool;
};

/// The strips of one head.
class HeadPass {
  public:
    HeadPass(const Job& job, Head head, std::vector<Index> missing)
        : job_(job),
          size_(job.source.size),
          head_(head),
          missing_(std::move(missing)),
          pyramid_(job.source, large::MapLimits{}.pyramid_bytes),
          keys_{size_.tk, kPieceKeys} {
        const auto fair = divide_up(static_cast<Index>(missing_.size()), rank_count());
        const Index rows = pyramid_.strip_rows(0).end;
        share_ = std::clamp<Index>(fair, 1, std::max<Index>(kRoundRows / rows, 1));
    }

    void run() {
        if (!large::RowPool::takes(pyramid_.block_side(), size_)) return run_small();
        read_keys();
        for (Index first = 0; first < static_cast<Index>(missing_.size());
             first += share_ * rank_count())
            round(first);
    }
    double seconds_waited() const { return waited_; }

  private:
    Index kv_head() const { return head_.h / (size_.heads / size_.kv_heads); }
    Index count_of(Index first, Index most) const {
        return std::clamp<Index>(static_cast<Index>(missing_.size()) - first, 0, most);
    }
    std::vector<Index> rows_of_strip(Index strip) const {
        const KeyRange range = pyramid_.strip_rows(strip);
        std::vector<Index> rows(static_cast<std::size_t>(range.end - range.begin));
        std::iota(rows.begin(), rows.end(), range.begin);
        return rows;
    }

    /// This rank's pieces of K.
    void read_keys() {
        for (Index n = rank(); n < keys_.count(); n += rank_count())
            pieces_.push_back(
                read_rows(job_, "k", head_.b * size_.kv_heads + kv_head(), size_.tk, keys_.at(n)));
    }

    void start(Index index, Strip& strip) const {
        const KeyRange rows = pyramid_.strip_rows(index);
        strip.index = index;
        strip.q = read_rows(job_, "q", head_.b * size_.heads + head_.h, size_.tq, rows);
        strip.held = {strip.q.data(), rows.begin, nullptr, 0};
        strip.pool.emplace(job_.source, head_, strip.held, rows_of_strip(index),
                           pyramid_.block_side());
    }

    /// Of the strips of all ranks in a round that begins with `first`.
    std::vector<Index> needed_pieces(Index first) const {
        KeyRange keys{size_.tk, 0};
        for (Index n = first; n < first + count_of(first, share_ * rank_count()); ++n)
            keys = with_keys_of(pyramid_.strip_rows(missing_[static_cast<std::size_t>(n)]), keys);
        std::vector<Index> pieces;
        for (Index n = 0; n < keys_.count(); ++n)
            if (keys_.at(n).begin < keys.end && keys_.at(n).end > keys.begin) pieces.push_back(n);
        return pieces;
    }

    KeyRange with_keys_of(KeyRange rows, KeyRange keys) const {
        for (Index i = rows.begin; i < rows.end; ++i) {
            const KeyRange any = key_runs(job_.source.spec.mask, size_, head_.b, i).hull();
            if (any.begin < any.end)
                keys = {std::min(keys.begin, any.begin), std::max(keys.end, any.end)};
        }
        return keys;
    }

    void round(Index first) {
        const Index mine = first + rank() * share_;
        std::vector<Strip> strips(static_cast<std::size_t>(count_of(mine, share_)));
        Index next = mine;
        for (Strip& strip : strips) start(missing_[static_cast<std::size_t>(next++)], strip);
        Ring ring({needed_pieces(first), static_cast<std::size_t>(kPieceKeys * size_.d_k),
                   [](Index n) { return static_cast<int>(n % rank_count()); },
                   [&](Index n, std::span<float> to) {
                       std::ranges::copy(pieces_[static_cast<std::size_t>(n / rank_count())],
                                         to.begin());
                   }});
        ring.each([&](Index n, std::span<const float> numbers) {
            for (Strip& strip : strips) {
                strip.held.k = numbers.data();
                strip.held.first_key = keys_.at(n).begin;
                strip.pool->add(keys_.at(n));
                ring.pass_on();
            }
        });
        waited_ += ring.seconds_waited();
        for (Strip& strip : strips) keep(strip.index, strip.pool->finish());
    }

    /// Of few tokens, which every rank holds.
    void run_small() const {
        large::WeightSource source = job_.source;
        source.q = whole("q", size_.heads, size_.tq);
        source.k = whole("k", size_.kv_heads, size_.tk);
        const Index side = pyramid_.block_side();
        for (Index n = rank(); n < static_cast<Index>(missing_.size()); n += rank_count()) {
            const Index strip = missing_[static_cast<std::size_t>(n)];
            large::PooledRows pooled;
            large::pool_rows(source, head_, rows_of_strip(strip), side, side, {}, pooled);
            keep(strip, pooled);
        }
    }
    std::shared_ptr<const Tensor> whole(const char* name, Index heads, Index tokens) const {
        const Index rows = size_.batch * heads * tokens;
        return std::make_shared<const Tensor>(Shape{size_.batch, heads, tokens, size_.d_k},
                                              read_rows(job_, name, 0, rows, {0, rows}));
    }

    void keep(Index strip, const large::PooledRows& pooled) const {
        or_throw(large::write_strip(large::strip_file(job_.strips, head_, strip), pooled));
    }

    const Job& job_;
    const Dimensions& size_;
    Head head_;
    std::vector<Index> missing_;
    large::Pyramid pyramid_;
    Pieces keys_;
    Index share_ = 1;                         // strips of a rank in a round
    std::vector<std::vector<float>> pieces_;  // of K, every rank_count()th
    double waited_ = 0.0;
};

/// The same on every rank: rank 0 looks.
std::vector<Index> missing_strips(const Job& job, Head head) {
    std::vector<Index> missing;
    if (is_first()) {
        const large::Pyramid pyramid(job.source, large::MapLimits{}.pyramid_bytes);
        large::PooledRows ignored;
        for (Index n = 0; n < pyramid.strip_count(); ++n)
            if (!large::read_strip(large::strip_file(job.strips, head, n), pyramid, n, job.source,
                                   ignored))
                missing.push_back(n);
    }
    share(missing);
    return missing;
}

void compute(const Job& job, cli::Streams io) {
    const Stopwatch watch;
    Index computed = 0;
    double waited = 0.0;
    for (Index b = 0; b < job.source.size.batch; ++b)
        for (Index h = 0; h < job.source.size.heads; ++h) {
            std::vector<Index> missing = missing_strips(job, {b, h});
            computed += static_cast<Index>(missing.size());
            HeadPass pass(job, {b, h}, std::move(missing));
            pass.run();
            waited += pass.seconds_waited();
        }
    meet();
    io.out << fmt::format("{} strips in {:.2f} s on {} ranks; rank 0 waited {:.2f} s for keys\n",
                          computed, watch.seconds(), rank_count(), waited);
}

int map(const CLI::App& app, const Arguments& text, cli::Streams io) {
    if (text.input.empty()) throw bad_input("no FILE; expected tensors with Q and K");
    if (text.output.empty()) throw bad_input("-o is missing; expected a folder");
    const auto given = cli::given_options(app, text.attention);
    Job job;
    on_first([&] { begin(text, given, io, job); });
    share_job(job);
    or_throw(check_one_kind_of_host());
    on_each([&] { compute(job, io); });
    on_first([&] {
        std::error_code none;
        for (const char* name : {"q", "k"}) fs::remove(operand_file(job, name), none);
        io.out << fmt::format("attnscope {} shows it\n", text.output);
    });
    return cli::kSuccess;
}

}  // namespace

int run_map(cli::Args args, cli::Streams io) {
    CLI::App app("Computes the exact overview of an attention map into a folder.",
                 "attnscope-mpi map");
    Arguments text;
    add_description(
        app, text, "tensors with Q and K, or X and its weights",
        {"DIR", "the folder; where it holds strips of the same map already, the rest is computed"});
    return cli::run_command(app, args, io, [&] { return map(app, text, io); });
}

}  // namespace attn::cluster
