#include "core/verify/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/cast.h"
#include "core/entries.h"
#include "core/halves.h"
#include "core/memory.h"
#include "core/norms.h"
#include "core/numerics.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/verify/extent.h"
#include "core/verify/sides.h"
#include "core/verify/splits.h"

namespace attn::verify {
namespace {

/// Codes times scales that float32 cannot hold exactly.
void take_exact(const Serving& serving, InputsD& inputs) {
    if (!serving.q.empty()) inputs.q = serving.q;
    if (!serving.k.empty()) inputs.k = serving.k;
    if (!serving.v.empty()) inputs.v = serving.v;
}

/// The call, and what the reference makes of it. Without V what needs it is left out.
Result<Subject> subject_of(const Side& file) {
    InputsD inputs = cast<double>(file.inputs);
    const Shape k = inputs.k.shape();
    if (!file.has_values) inputs.v = TensorD({k.b, k.h, k.t, 1});
    if (file.serving) take_exact(*file.serving, inputs);
    auto subject = make_subject(std::move(inputs), file.spec, cast<double>(file.gate));
    if (!subject) return tl::unexpected(within(file.path, subject.error()));
    subject->serving = file.serving;
    return subject;
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

    /// What is not taken is said.
    void adopt_options(const Side& source) {
        for (const Side& other : read_) {
            if (!other.mentions_call || same_call(source.spec, other.spec)) continue;
            if (source.mentions_call) {
                report_.notes.push_back(fmt::format(
                    "{} gives other options ({}) than {} ({}), which are used", other.path,
                    options_text(other), source.path, options_text(source)));
                continue;
            }
            report_.notes.push_back(fmt::format("the options are those of {}", other.path));
            Side& into = read_[&source - read_.data()];
            const AttentionSpec own = std::exchange(into.spec, other.spec);
            into.spec.heads = own.heads, into.spec.kv_heads = own.kv_heads;
            into.options = other.options;
        }
    }

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
        adopt_options(**source);
        share_inputs(**source, read_);
        auto subject = subject_of(**source);
        if (!subject) return tl::unexpected(subject.error());
        subject_ = *std::move(subject);
        if (auto begun = begin_splits(); !begun) return begun;
        report_.size = subject_->size;
        report_.inputs_from = (*source)->path;
        report_.options = (*source)->options;
        if (!(*source)->has_values) leave_out_values();
        if (auto fits = check_memory(); !fits) return fits;
        read_formats();
        begin_gradients(**source);
        return {};
    }

    /// What the comparison holds beside the sides and the reference: both numbers of each array that is kept, and, of two
    /// sides, the results of the first in double.
    Result<void> check_memory() const {
        double bytes = 0.0;
        for (const Named& stage : shared_stages(actual().results, subject_->reference))
            if (keeping_.keep) bytes += (sizeof(float) + sizeof(double)) * entries(*stage.actual);
        if (two())
            for (const Tensor& stage : read_.front().results.stages)
                bytes += sizeof(double) * entries(stage);
        return check_fits_in_memory(bytes, "the arrays to compare", "save fewer heads or queries",
                                    subject_->size);
    }
    static double entries(const Tensor& tensor) { return static_cast<double>(tensor.count()); }

    /// The upstream gradient of the inputs' side comes first, then what a trace has of it at output or at context.
    void begin_gradients(const Side& source) {
        const auto has = [](const Side& side) { return has_gradients(side.gradients); };
        if (std::ranges::none_of(read_, has)) return;
        const Upstream* upstream = source.upstream ? &*source.upstream : nullptr;
        for (const Side& side : read_)
            if (upstream == nullptr && side.upstream) upstream = &*side.upstream;
        const auto leave = [&](std::string_view why) {
            report_.notes.push_back(
                fmt::format("gradients are not compared with the reference: {}", why));
        };
        if (upstream == nullptr) return leave("where they start, dO or dY, is not given");
        if (!source.has_values) return leave("there is no V");
        if (!subject_->gate.empty()) return leave("the call has a gate");
        auto made = make_backward(*subject_, *upstream);
        if (!made) return leave(made.error().text());
        backward_ = *std::move(made);
    }

    void leave_out_values() {
        report_.size->d_v = 0;
        for (const Stage stage : {Stage::v, Stage::context, Stage::output})
            subject_->reference[stage] = {};
    }

    /// The most that one side's results may be off by. Those of the reference are computed once.
    Bounds bounds_of(const TraceD& expected, const Side& side,
                     BoundsDetail detail = BoundsDetail::entries) const {
        if (given_) return *given_;
        if (!subject_ || &expected != &subject_->reference || detail == BoundsDetail::arrays)
            return new_bounds(expected, side, detail);
        auto found = right_bounds_.find(&side);
        if (found == right_bounds_.end())
            found = right_bounds_.emplace(&side, new_bounds(expected, side, detail)).first;
        return found->second;
    }
    Bounds new_bounds(const TraceD& expected, const Side& side, BoundsDetail detail) const {
        Bounds made = subject_ ? forward_bounds(*subject_, expected, kFloatRoundoff, detail)
                               : bounds_of_stages(expected);
        if (subject_ && subject_->serving && subject_->serving->weights_roundoff > 0.0)
            widen_by_weights(*subject_, expected, subject_->serving->weights_roundoff, made);
        if (side.formats.empty()) return made;
        const double grown = growth(expected);
        const auto widen = [&](std::string_view key) {
            made.widen(key, short_tolerance(key, format_of(side, key), expected, grown));
        };
        for (const StageInfo& stage : stage_table()) widen(stage.key);
        widen("logsumexp");
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
    double growth(const TraceD& expected) const {
        if (!subject_) return 1.0;
        const double right = largest_finite(subject_->reference[Stage::masked]);
        return largest_finite(expected[Stage::masked]) / right;
    }

    Tolerance short_tolerance(std::string_view key, FloatFormat format, const TraceD& expected,
                              double grown) const {
        if (!subject_) return format_tolerance(tensor_of(expected, key), format);
        const Tolerance made = short_.at(format).of(key);
        return {made.absolute * (grown > 1.0 ? grown : 1.0), made.relative, nullptr};
    }

    static const TensorD& tensor_of(const TraceD& trace, std::string_view key) {
        const auto stage = find_stage(key);
        return stage ? trace[*stage] : trace.logsumexp;
    }

    /// Of gradients; those that are not short were computed from what is.
    Bounds gradient_bounds_of(const Side& side, const TraceD& expected) const {
        if (given_) return *given_;
        double roundoff = kFloatRoundoff;
        if (!side.formats.empty())
            roundoff = std::exp2(-1.0 - info(format_of(side, "")).fraction_bits);
        if (backward_) return gradient_bounds(*subject_, *backward_, expected, roundoff);
        Bounds bounds;
        for (const Named& one : shared_gradients(side.gradients, expected))
            bounds.gradients[std::string(one.key)] = gradient_tolerance(*one.expected, roundoff);
        return bounds;
    }

    /// B's against A's, and against the reference's where A has none.
    Result<void> compare_gradients(const TraceD& a, std::vector<std::string_view>& compared) {
        const TraceD& right = backward_ ? backward_->reference : a;
        const Bounds own = gradient_bounds_of(actual(), right);
        const auto add = [&](const TraceD& expected, const std::string& from,
                             const Bounds* other) -> Result<void> {
            for (const Named& one : shared_gradients(actual().gradients, expected)) {
                if (std::ranges::count(compared, one.key) > 0) continue;
                const Tolerance most = own.of(one.key);
                if (auto added = add_row(one.key, *one.actual, *one.expected, from,
                                         other && !given_ ? most + other->of(one.key) : most);
                    !added)
                    return added;
                compared.push_back(one.key);
            }
            return {};
        };
        if (two()) {
            const Bounds other = gradient_bounds_of(read_.front(), right);
            if (auto added = add(a, read_.front().path, &other); !added) return added;
        }
        return backward_ ? add(backward_->reference, "reference", nullptr) : Result<void>{};
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
    static std::string layout_text(const Shape& mine, const Shape& theirs) {
        const bool swapped = mine == Shape{theirs.b, theirs.t, theirs.h, theirs.d};
        return swapped ? "; it fits as [B,T,H,d], where [B,H,T,d] is expected: say its layout"
                       : std::string();
    }

    Result<void> add_row(std::string_view key, const Tensor& mine, const TensorD& theirs,
                         const std::string& from, const Tolerance& tolerance) {
        auto compared = compare(mine, theirs, tolerance);
        if (!compared)
            return bad_input(fmt::format(
                "{} is {} in {} and {} {} {}{}", key, to_string(mine.shape()), actual().path,
                to_string(theirs.shape()), from == "reference" ? "by the" : "in", from,
                layout_text(mine.shape(), theirs.shape())));
        const auto stage = stage_of(key);
        const bool pairs = stage && info(*stage).columns == Axis::key;
        report_.rows.push_back(
            {std::string(key), from, *std::move(compared),
             extent_text(mine, theirs, tolerance, pairs ? ColumnsAre::keys : ColumnsAre::features),
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
        const TraceD gradients = two() ? cast<double>(read_.front().gradients) : TraceD{};
        if (auto added = compare_gradients(gradients, compared); !added) return added;
        if (auto added = compare_splits(compared); !added) return added;
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
                            "inputs to compute it from{}",
                            read_[0].path, held(read_[0]), read_[1].path, held(read_[1]),
                            has_gradients(actual().gradients)
                                ? ", for gradients with dO or dY, where they start"
                                : ""));
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
        if (splits_) examine_splits();
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
        const BoundsOf bounds = [&](const TraceD& expected, BoundsDetail detail) {
            return bounds_of(expected, file, detail);
        };
        made.beyond =
            cells_beyond(file.results, subject_->reference, bounds_of(subject_->reference, file));
        if (!report_.equal && made.beyond > 0 && !too_large())
            made.diagnosis = diagnose(*subject_, file.results, bounds, control_);
        if (backward_) examine_gradients(file, made);
        return made;
    }

    /// Where the forward pass is right, they are diagnosed.
    void examine_gradients(const Side& file, Examined& made) const {
        const BoundsOf bounds = [&](const TraceD& expected, BoundsDetail) {
            return gradient_bounds_of(file, expected);
        };
        const Bounds right = gradient_bounds_of(file, backward_->reference);
        Index beyond = 0;
        for (const Named& one : shared_gradients(file.gradients, backward_->reference)) {
            if (one.actual->shape() != one.expected->shape()) return;
            beyond += total_errors(*one.actual, *one.expected, right.of(one.key)).beyond;
        }
        if (!report_.equal && beyond > 0 && made.beyond == 0 && !too_large())
            made.diagnosis =
                diagnose_gradients(*subject_, *backward_, file.gradients, bounds, control_);
        made.beyond += beyond;
    }

    // ---- results of splits of the keys

    /// The side that is checked, with the splits merged where it has no merged results of its own.
    Result<void> begin_splits() {
        Side& side = read_.back().parts ? read_.back() : read_.front();
        if (!side.parts) return {};
        if (subject_->spec.drops()) {
            report_.notes.push_back(
                fmt::format("{}: its splits are not checked: the call has dropout", side.path));
            return {};
        }
        auto made = make_split_call(*subject_, *side.parts, side.serving.get());
        if (!made) return tl::unexpected(within(side.path, made.error()));
        splits_ = *std::move(made);
        auto serving = subject_->serving ? std::make_shared<Serving>(*subject_->serving)
                                         : std::make_shared<Serving>();
        const auto batch = static_cast<std::size_t>(subject_->size.batch);
        if (serving->keys.empty()) serving->keys.assign(batch, subject_->size.tk);
        if (serving->queries.empty()) serving->queries.assign(batch, subject_->size.tq);
        serving->splits = splits_->starts;
        subject_->serving = serving;
        report_.notes.push_back(fmt::format("{}: {}", side.path, splits_->text));
        if (!side.results[Stage::context].empty()) return {};
        Merged whole =
            merged(*side.parts, subject_->size.batch, subject_->inputs.params[Param::sinks]);
        for_each_row(whole.context.shape(), [&](Index b, Index h, Index i) {
            open_gate(*subject_, b, h, i, whole.context.matrix(b, h).row(i));
        });
        side.results[Stage::context] = cast<float>(whole.context);
        side.keys.emplace_back("context");
        if (side.results.logsumexp.empty()) {
            side.results.logsumexp = cast<float>(whole.logsumexp);
            side.keys.emplace_back("logsumexp");
        }
        if (side.parts_format) side.formats.emplace("context", *side.parts_format);
        report_.notes.push_back(fmt::format(
            "{}: context comes from its splits, merged in double precision", side.path));
        return {};
    }

    Bounds split_bounds(const TraceD& expected, BoundsDetail detail = BoundsDetail::entries) const {
        if (given_) return *given_;
        Bounds made = forward_bounds(splits_->subject, expected, kFloatRoundoff, detail);
        if (subject_->serving->weights_roundoff > 0.0)
            widen_by_weights(splits_->subject, expected, subject_->serving->weights_roundoff, made);
        const std::optional<FloatFormat> format = actual().parts_format || actual().formats.empty()
                                                      ? actual().parts_format
                                                      : format_of(actual(), "");
        if (!format) return made;
        const Bounds of_format = format_bounds(splits_->subject, *format);
        made.widen("context", of_format.of("context"));
        made.widen("logsumexp", of_format.of("logsumexp"));
        return made;
    }

    Result<void> compare_splits(std::vector<std::string_view>& compared) {
        if (!splits_) return {};
        const TraceD& right = splits_->subject.reference;
        const Bounds bounds = split_bounds(right);
        for (const Named& one : shared_stages(splits_->results, right)) {
            const std::string_view key = one.key == "context" ? "o_partial" : "lse_partial";
            if (auto added =
                    add_row(key, *one.actual, *one.expected, "reference", bounds.of(one.key));
                !added)
                return added;
            compared.push_back(key);
        }
        return {};
    }

    void examine_splits() {
        const BoundsOf bounds = [&](const TraceD& expected, BoundsDetail detail) {
            return split_bounds(expected, detail);
        };
        Examined made;
        made.path = fmt::format("{}: splits", actual().path);
        made.has_reference = true;
        made.beyond = cells_beyond(splits_->results, splits_->subject.reference,
                                   split_bounds(splits_->subject.reference));
        if (made.beyond == 0) return;
        if (splits_->subject.allowed.count() <= kMostDiagnosedPairs)
            made.diagnosis = diagnose(splits_->subject, splits_->results, bounds, control_);
        report_.examined.push_back(std::move(made));
    }

    bool too_large() const { return subject_ && subject_->allowed.count() > kMostDiagnosedPairs; }

    bool same_shapes(const Trace& results) const {
        for (const Named& stage : shared_stages(results, subject_->reference))
            if (stage.actual->shape() != stage.expected->shape()) return false;
        return true;
    }

    Verdict verdict() const {
        using enum Verdict::Kind;
        const auto beyond = std::ranges::count_if(
            report_.rows, [](const DiffRow& row) { return row.comparison.all.beyond > 0; });
        const Index arrays = std::ssize(report_.rows);
        if (!subject_ && !two())
            return report_.equal ? Verdict{unchecked, arrays, 0, {}}
                                 : Verdict{suspicious, arrays, 0, first_suspicion()};
        if (!report_.equal) return {different, arrays, beyond, cause()};
        const auto odd = std::ranges::find_if(report_.examined,
                                              [](const Examined& file) { return file.beyond > 0; });
        if (odd != report_.examined.end()) return {equal_sides, arrays, 0, odd->path};
        return {equal, arrays, 0, {}};
    }

    std::string first_suspicion() const {
        for (const Examined& file : report_.examined) {
            for (const Sign& sign : file.signs)
                if (sign.fits) return std::string(sign.fault->text);
            for (const Fact& fact : file.facts)
                if (fact.suspicious) return fact.text;
        }
        return {};
    }

    /// Of the backward pass with the arrays that show it.
    static std::string description_of(const Outcome& outcome) {
        const auto own = backward_fault_table();
        const bool backward =
            outcome.fault >= own.data() && outcome.fault < own.data() + own.size();
        return std::string(outcome.fault->text) + (backward ? ": " + outcome.variant : "");
    }

    std::string cause() const {
        if (!subject_) return "there are no inputs for finding the cause";
        if (too_large())
            return fmt::format(
                "not diagnosed: {} pairs are more than {}; save fewer heads or queries",
                subject_->allowed.count(), kMostDiagnosedPairs);
        std::vector<std::string> causes;
        for (const Examined& file : report_.examined) {
            if (!file.diagnosis) continue;
            const Diagnosis& found = *file.diagnosis;
            std::string text;
            for (const std::size_t n : found.named)
                text += (text.empty() ? "" : ", or ") + description_of(found.outcomes[n]);
            if (text.empty())
                text = "no known fault explains it";
            else if (!found.explained)
                text += " explains most of it";
            causes.push_back(two() ? fmt::format("{}: {}", file.path, text) : text);
        }
        if (causes.empty()) return "each agrees with the reference by itself";
        return fmt::format("{}", fmt::join(causes, "; "));
    }

    std::vector<Side> read_;
    std::optional<Bounds> given_;
    Keeping keeping_;
    const RunControl& control_;
    std::optional<Subject> subject_;
    std::optional<SplitCall> splits_;
    std::optional<Backward> backward_;     // where gradients are compared with it
    std::map<FloatFormat, Bounds> short_;  // what an array of that format may be off by
    mutable std::map<const Side*, Bounds> right_bounds_;  // of the reference, by side
    DiffReport report_;
};

}  // namespace

std::string_view Verdict::code() const {
    constexpr std::string_view kCodes[] = {"unchecked", "suspicious", "equal", "equal_sides",
                                           "different"};
    return kCodes[static_cast<std::size_t>(kind)];
}

std::string Verdict::text() const {
    switch (kind) {
        case Kind::unchecked:
            return "these arrays alone show nothing wrong: add Q, K (and V) to check their numbers";
        case Kind::suspicious:
            return "suspicious: " + detail;
        case Kind::equal:
            return "equal within tolerance: " + counted(arrays, "array");
        case Kind::equal_sides:
            return fmt::format(
                "equal within tolerance, but {} differs from the reference of these inputs and "
                "options",
                detail);
        case Kind::different:
            return fmt::format("different: {} of {} beyond tolerance; {}", beyond,
                               counted(arrays, "array"), detail);
    }
    return {};
}

Result<DiffReport> compare_sides(std::vector<Side> sides, std::optional<Bounds> bounds,
                                 Keeping keeping, const RunControl& control) {
    return Comparer(std::move(sides), std::move(bounds), keeping, control).run();
}

}  // namespace attn::verify
