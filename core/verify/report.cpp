#include "core/verify/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/cast.h"
#include "core/verify/extent.h"

namespace attn::verify {
namespace {

/// "" where two calls have the same inputs, else what differs.
std::string different_inputs(const Inputs& a, const Inputs& b) {
    const auto differs = [](const Tensor& x, const Tensor& y) {
        return x.shape() != y.shape() ||
               !std::ranges::equal(x.values(), y.values(), [](float m, float n) {
                   return m == n || (std::isnan(m) && std::isnan(n));
               });
    };
    std::vector<std::string_view> names;
    const auto check = [&](std::string_view name, const Tensor& x, const Tensor& y) {
        if (differs(x, y)) names.push_back(name);
    };
    check("X", a.x, b.x), check("X_kv", a.x_kv, b.x_kv);
    check("Q", a.q, b.q), check("K", a.k, b.k), check("V", a.v, b.v);
    for (const ParamInfo& param : param_table())
        check(param.npz, a.params[param.param], b.params[param.param]);
    return fmt::format("{}", fmt::join(names, ", "));
}

/// The file that brings the inputs; nullptr: none does.
Result<const Side*> input_file(const std::vector<Side>& read) {
    const auto having = [&](InputNames names) {
        std::vector<const Side*> found;
        for (const Side& file : read)
            if (file.input_names == names) found.push_back(&file);
        return found;
    };
    const auto calls = having(InputNames::call);
    if (calls.size() == 2)
        if (const std::string names = different_inputs(calls[0]->inputs, calls[1]->inputs);
            !names.empty())
            return bad_input(
                fmt::format("{} and {} have different inputs: {}; results of different inputs "
                            "cannot be compared",
                            calls[0]->path, calls[1]->path, names));
    if (!calls.empty()) return calls.front();
    const auto stages = having(InputNames::stages);
    return stages.empty() ? nullptr : stages.front();
}

/// The call, and what the reference makes of it. Without V what needs it is left out.
Result<Subject> subject_of(const Side& file) {
    InputsD inputs = cast<double>(file.inputs);
    const Shape k = inputs.k.shape();
    if (!file.has_values) inputs.v = TensorD({k.b, k.h, k.t, 1});
    auto subject = make_subject(std::move(inputs), file.spec);
    if (!subject)
        return tl::unexpected(Error{fmt::format("{}: {}", file.path, subject.error().sentence),
                                    subject.error().kind});
    return subject;
}

/// q, k and v that are inputs in one file and results in the other are compared as results.
void share_inputs(const Side& source, std::vector<Side>& read) {
    for (Side& file : read) {
        if (&file == &source || file.input_names != InputNames::stages) continue;
        file.results[Stage::q] = file.inputs.q;
        file.results[Stage::k] = file.inputs.k;
        file.results[Stage::v] = file.inputs.v;
    }
}

/// More pairs of a query and a key than these are compared but not diagnosed: each way of each fault computes them all in
/// double, some 60 times in all.
constexpr Index kMostDiagnosedPairs = Index{1} << 22;

class Comparer {
  public:
    Comparer(std::vector<Side> read, std::optional<Bounds> bounds, Keeping keeping,
             const RunControl& control)
        : read_(std::move(read)), given_(std::move(bounds)), keeping_(keeping), control_(control) {}

    Result<DiffReport> run() {
        if (auto begun = begin(); !begun) return tl::unexpected(begun.error());
        if (auto compared = compare_all(); !compared) return tl::unexpected(compared.error());
        for (const DiffRow& row : report_.rows)
            report_.equal = report_.equal && row.comparison.all.beyond == 0;
        examine();
        report_.verdict = verdict();
        return std::move(report_);
    }

  private:
    const Side& actual() const { return read_.back(); }
    bool two() const { return read_.size() == 2; }

    Result<void> begin() {
        const auto source = input_file(read_);
        if (!source) return tl::unexpected(source.error());
        report_.equal = true;
        report_.a = read_.front().path;
        report_.b = two() ? read_.back().path : "";
        for (const Side& file : read_)
            report_.notes.insert(report_.notes.end(), file.notes.begin(), file.notes.end());
        if (*source == nullptr) {
            read_formats();
            return {};
        }
        share_inputs(**source, read_);
        auto subject = subject_of(**source);
        if (!subject) return tl::unexpected(subject.error());
        subject_ = *std::move(subject);
        report_.size = subject_->size;
        report_.inputs_from = (*source)->path;
        report_.options = (*source)->options;
        if (!(*source)->has_values) leave_out_values();
        read_formats();
        return {};
    }

    void leave_out_values() {
        report_.size->d_v = 0;
        for (const Stage stage : {Stage::v, Stage::context, Stage::output})
            subject_->reference[stage] = {};
    }

    /// What one side's results may be off by.
    Bounds bounds_of(const TraceD& expected, const Side& side) const {
        if (given_) return *given_;
        Bounds made = subject_ ? forward_bounds(*subject_, expected) : bounds_of_stages(expected);
        if (side.formats.empty()) return made;
        for (const StageInfo& stage : stage_table())
            made.widen(stage.key, short_tolerance(stage.key, format_of(side, stage.key), expected));
        made.widen("logsumexp",
                   short_tolerance("logsumexp", format_of(side, "logsumexp"), expected));
        return made;
    }

    /// An array that is not short itself was computed from what is: the shortest format of the side.
    static FloatFormat format_of(const Side& side, std::string_view key) {
        if (const auto own = side.formats.find(key); own != side.formats.end()) return own->second;
        const auto fewer_bits = [](const auto& a, const auto& b) {
            return info(a.second).fraction_bits < info(b.second).fraction_bits;
        };
        return std::ranges::min_element(side.formats, fewer_bits)->second;
    }

    /// Larger logits, as a fault may make them, are off by more.
    Tolerance short_tolerance(std::string_view key, FloatFormat format,
                              const TraceD& expected) const {
        if (!subject_) return format_tolerance(tensor_of(expected, key), format);
        const double right = largest_of(subject_->reference[Stage::masked]);
        const double grown = largest_of(expected[Stage::masked]) / right;
        const Tolerance made = short_.at(format).of(key);
        return {made.absolute * (grown > 1.0 ? grown : 1.0), made.relative};
    }

    static const TensorD& tensor_of(const TraceD& trace, std::string_view key) {
        const auto stage = find_stage(key);
        return stage ? trace[*stage] : trace.logsumexp;
    }

    static double largest_of(const TensorD& tensor) {
        double largest = 0.0;
        for (const double value : tensor.values())
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        return largest;
    }

    void read_formats() {
        if (given_) return;
        for (const Side& side : read_)
            for (const auto& [key, format] : side.formats) {
                report_.notes.push_back(fmt::format("{}: {} is {}: its tolerance is that of {}",
                                                    side.path, key, info(format).name,
                                                    info(format).name));
                if (subject_ && !short_.contains(format))
                    short_.emplace(format, format_bounds(*subject_, format));
            }
    }

    /// Both programs may be off.
    Tolerance tolerance(std::string_view key, const TraceD& expected) const {
        const TraceD& right = subject_ ? subject_->reference : expected;
        const Tolerance one = bounds_of(right, actual()).of(key);
        return given_ || !two() ? one : one + bounds_of(right, read_.front()).of(key);
    }

    /// "" unless the axes of heads and tokens are swapped.
    static std::string layout_words(const Shape& mine, const Shape& theirs) {
        const bool swapped = mine == Shape{theirs.b, theirs.t, theirs.h, theirs.d};
        return swapped ? "; it fits as [B,T,H,d], where [B,H,T,d] is expected: say its layout"
                       : std::string();
    }

    Result<void> add_row(std::string_view key, const Tensor& mine, const TensorD& theirs,
                         const std::string& from, Tolerance tolerance) {
        auto compared = compare(mine, theirs, tolerance);
        if (!compared)
            return bad_input(fmt::format(
                "{} is {} in {} and {} {} {}{}", key, to_string(mine.shape()), actual().path,
                to_string(theirs.shape()), from == "reference" ? "by the" : "in", from,
                layout_words(mine.shape(), theirs.shape())));
        const auto stage = find_stage(key);
        const bool pairs = stage && info(*stage).columns == Axis::key;
        report_.rows.push_back(
            {std::string(key), from, *std::move(compared),
             extent_words(mine, theirs, tolerance, pairs ? ColumnsAre::keys : ColumnsAre::features),
             nullptr, nullptr});
        if (!keeping_.keep) return {};
        report_.rows.back().actual = std::make_shared<const Tensor>(mine);
        report_.rows.back().expected = std::make_shared<const TensorD>(theirs);
        return {};
    }

    /// B's results against A's, and against the reference where A has none.
    Result<void> compare_all() {
        if (two() && actual().keys.empty() && subject_) std::swap(read_.front(), read_.back());
        const TraceD a = two() ? cast<double>(read_.front().results) : TraceD{};
        std::vector<std::string_view> compared;
        for (const Named& stage : shared_stages(actual().results, a)) {
            if (auto added = add_row(stage.key, *stage.actual, *stage.expected, read_.front().path,
                                     tolerance(stage.key, a));
                !added)
                return added;
            compared.push_back(stage.key);
        }
        if (subject_)
            for (const Named& stage : shared_stages(actual().results, subject_->reference)) {
                if (std::ranges::count(compared, stage.key) > 0) continue;
                if (auto added = add_row(stage.key, *stage.actual, *stage.expected, "reference",
                                         bounds_of(subject_->reference, actual()).of(stage.key));
                    !added)
                    return added;
                compared.push_back(stage.key);
            }
        name_the_rest(compared);
        return check_something(compared);
    }

    void name_the_rest(const std::vector<std::string_view>& compared) {
        const auto rest = [&](const Side& file) {
            std::vector<std::string> names;
            for (const std::string& key : file.keys)
                if (std::ranges::count(compared, key) == 0) names.push_back(key);
            names.insert(names.end(), file.unused.begin(), file.unused.end());
            return names;
        };
        report_.a = read_.front().path;
        report_.only_a = rest(read_.front());
        if (!two()) return;
        report_.b = read_.back().path;
        report_.only_b = rest(read_.back());
    }

    Result<void> check_something(const std::vector<std::string_view>& compared) const {
        if (!compared.empty() || (!two() && !actual().keys.empty())) return {};
        const auto held = [](const Side& file) {
            return file.keys.empty() ? "no results" : fmt::format("{}", fmt::join(file.keys, ", "));
        };
        if (two())
            return bad_input(
                fmt::format("{} has {}, {} has {}; expected an array that both have, or "
                            "inputs to compute it from",
                            read_[0].path, held(read_[0]), read_[1].path, held(read_[1])));
        return bad_input(
            fmt::format("{} has no results; expected arrays that are called scores, "
                        "weights, context, output, logsumexp or by another stage's key",
                        actual().path));
    }

    void examine() {
        for (const Side& file : read_) {
            if (file.keys.empty() && two()) continue;
            report_.examined.push_back(examined(file));
        }
        if (subject_) return;
        for (const Examined& file : report_.examined)
            if (!two() && is_suspicious(file)) report_.equal = false;
    }

    static bool is_suspicious(const Examined& file) {
        return std::ranges::any_of(file.facts, &Fact::suspicious) ||
               std::ranges::any_of(file.signs, &Sign::fits);
    }

    Examined examined(const Side& file) const {
        Examined made;
        made.path = file.path;
        made.has_reference = subject_.has_value();
        const AttentionSpec& spec = subject_ ? subject_->spec : file.spec;
        const bool below_one = spec.drops() || !file.inputs.params[Param::sinks].empty();
        made.facts = facts(file.results, spec, below_one, subject_ ? &subject_->allowed : nullptr);
        if (!subject_) {
            made.signs = signs(file.results, spec);
            return made;
        }
        if (!same_shapes(file.results)) return made;
        const BoundsOf bounds = [&](const TraceD& expected) { return bounds_of(expected, file); };
        made.beyond = cells_beyond(file.results, subject_->reference, bounds(subject_->reference));
        if (!report_.equal && made.beyond > 0 && !too_large())
            made.diagnosis = diagnose(*subject_, file.results, bounds, control_);
        return made;
    }

    bool too_large() const { return subject_ && subject_->allowed.count() > kMostDiagnosedPairs; }

    bool same_shapes(const Trace& results) const {
        for (const Named& stage : shared_stages(results, subject_->reference))
            if (stage.actual->shape() != stage.expected->shape()) return false;
        return true;
    }

    std::string verdict() {
        const auto beyond = std::ranges::count_if(
            report_.rows, [](const DiffRow& row) { return row.comparison.all.beyond > 0; });
        if (!subject_ && !two())
            return report_.equal
                       ? "nothing wrong that these arrays alone can show: add Q, K (and V) to "
                         "check their numbers"
                       : "suspicious: " + first_suspicion();
        if (report_.equal) {
            for (const Examined& file : report_.examined)
                if (file.beyond > 0)
                    return fmt::format(
                        "equal within tolerance, though {} differs from the reference "
                        "of these inputs and options",
                        file.path);
            return fmt::format("equal within tolerance: {} array{}", report_.rows.size(),
                               report_.rows.size() == 1 ? "" : "s");
        }
        return fmt::format("different: {} of {} arrays beyond tolerance; {}", beyond,
                           report_.rows.size(), cause());
    }

    std::string first_suspicion() const {
        for (const Examined& file : report_.examined) {
            for (const Sign& sign : file.signs)
                if (sign.fits) return std::string(sign.fault->words);
            for (const Fact& fact : file.facts)
                if (fact.suspicious) return fact.words;
        }
        return {};
    }

    std::string cause() const {
        if (!subject_) return "no inputs to find the cause with";
        if (too_large())
            return fmt::format(
                "not diagnosed: {} pairs are more than {}; save fewer heads or queries",
                subject_->allowed.count(), kMostDiagnosedPairs);
        std::vector<std::string> causes;
        for (const Examined& file : report_.examined) {
            if (!file.diagnosis) continue;
            const Diagnosis& found = *file.diagnosis;
            std::string words;
            for (const std::size_t n : found.named)
                words +=
                    (words.empty() ? "" : ", or ") + std::string(found.outcomes[n].fault->words);
            if (words.empty())
                words = "no known fault explains it";
            else if (!found.explained)
                words += " explains most of it";
            causes.push_back(two() ? fmt::format("{}: {}", file.path, words) : words);
        }
        if (causes.empty()) return "each agrees with the reference by itself";
        return fmt::format("{}", fmt::join(causes, "; "));
    }

    std::vector<Side> read_;
    std::optional<Bounds> given_;
    Keeping keeping_;
    const RunControl& control_;
    std::optional<Subject> subject_;
    std::map<FloatFormat, Bounds> short_;  // what an array of that format may be off by
    DiffReport report_;
};

}  // namespace

Result<DiffReport> compare_sides(std::vector<Side> sides, std::optional<Bounds> bounds,
                                 Keeping keeping, const RunControl& control) {
    return Comparer(std::move(sides), std::move(bounds), keeping, control).run();
}

}  // namespace attn::verify
