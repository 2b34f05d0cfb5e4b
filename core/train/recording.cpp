#include "core/train/recording.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/check.h"
#include "core/io/arrays/array_file.h"
#include "core/io/arrays/safetensors_write.h"
#include "core/io/json.h"
#include "core/kernels/peak.h"
#include "core/rng.h"
#include "core/text.h"
#include "core/train/evaluation.h"
#include "core/train/language.h"
#include "core/train/task_table.h"
#include "core/train/trainer.h"

namespace attn::train {
namespace {

constexpr std::string_view kRecordingFormat = "attention recording 1";
constexpr std::array<std::string_view, 2> kRecordedSides{"with", "without"};
constexpr Index kRecordedMeasures = 3, kRecordedAnswers = 3, kRecordedPoint = 2;
constexpr Index kMostRecordedSteps = 100'000;

/// The word that the recording is about, and the text.
struct RecordedPlace {
    Example example;
    Index position = 0;
};
RecordedPlace recorded_place(const Spec& spec) {
    Example example = Sequences(spec).fixed();
    const Index position = answering_position(spec, example);
    return {std::move(example), position};
}

RecordedProbe recorded(const Spec& spec, const State& moment, const RecordedPlace& place) {
    const Probe made = probe(spec, moment, place.example);
    RecordedProbe stored{made.answers[place.position],
                         made.answer_shares[place.position],
                         made.shares[place.position],
                         {}};
    for (const Tensor& layer : made.weights)
        for (Index h = 0; h < spec.heads; ++h) {
            const auto row = layer.matrix(0, h).row(place.position);
            stored.weights.insert(stored.weights.end(), row.begin(), row.end());
        }
    return stored;
}

std::shared_ptr<const Record> recorded(const Record& record) {
    auto stored = std::make_shared<Record>();
    stored->step = record.step;
    stored->loss = record.loss;
    stored->accuracy = record.accuracy;
    stored->saturated = record.saturated;
    return stored;
}

Result<RecordedSide> record_side(const Spec& spec, Index steps, Index every,
                                 const std::stop_token& stop) {
    auto trainer = Trainer::make(spec);
    if (!trainer) return tl::unexpected(trainer.error());
    const RecordedPlace place = recorded_place(spec);
    RecordedSide side;
    for (Index step = 0;; ++step) {
        const bool measured = is_held_out_step(step) || step == steps;
        const Moment moment = measured || step % every == 0 ? trainer->checkpoint() : nullptr;
        if (step % every == 0) side.probes.push_back(recorded(spec, *moment, place));
        if (measured) {
            auto made = evaluate(spec, *moment, stop, kRecordedTexts);
            if (!made) return tl::unexpected(made.error());
            side.held_out.push_back({step, made->answers_right});
        }
        if (step == steps) return side;
        const auto record = trainer->step(stop);
        if (!record) return failed("the training was stopped");
        side.records.push_back(recorded(*record));
    }
}

/// Of all that decides a training; the requirements of an evaluation do not.
std::string recording_key(const std::array<Spec, 2>& specs) {
    std::uint64_t hash = hash_text(kRecordingFormat);
    for (const Spec& spec : specs) {
        auto json = nlohmann::json::parse(spec_to_json(spec));
        if (json.contains("language")) json["language"].erase("require");
        hash = mix(hash, hash_text(json.dump()));
    }
    return fmt::format("{:016x}", hash);
}

// ---- the file

/// Numbers of the arrays of one side, row-major.
struct SideArrays {
    std::vector<float> measures, weights, answers, held_out;
};

SideArrays arrays_of(const RecordedSide& side) {
    SideArrays arrays;
    const auto add = [](std::vector<float>& to, auto... values) {
        (to.push_back(static_cast<float>(values)), ...);
    };
    for (const auto& record : side.records)
        add(arrays.measures, record->loss, record->accuracy, record->saturated);
    for (const RecordedProbe& each : side.probes) {
        add(arrays.answers, each.answer, each.answer_share, each.share);
        arrays.weights.insert(arrays.weights.end(), each.weights.begin(), each.weights.end());
    }
    for (const HeldOutPoint& each : side.held_out) add(arrays.held_out, each.step, each.right);
    return arrays;
}

/// Reads the arrays of a file and names the first one that is not as expected.
class RecordingReader {
  public:
    RecordingReader(const ArrayFile& file, const std::array<Spec, 2>& specs)
        : file_(file), specs_(specs) {}

    Result<Recording> read() {
        if (const auto format = text("format"); format != kRecordingFormat)
            return bad_input(fmt::format("{}: format is '{}'; expected '{}'", file_.what(),
                                         shortened(format), kRecordingFormat));
        if (text("key") != recording_key(specs_))
            return bad_input(
                fmt::format("{}: recorded from another specification; expected the current one. "
                            "Record it again",
                            file_.what()));
        Recording made;
        made.steps = count("steps");
        made.every = count("every");
        made.target = text("target");
        if (made.steps == 0 || made.every == 0 || made.steps % made.every != 0)
            return bad_input(
                fmt::format("{}: steps is '{}' and every '{}'; expected whole numbers, the second "
                            "a divisor of the first",
                            file_.what(), text("steps"), text("every")));
        for (std::size_t n = 0; n < kRecordedSides.size() && !fault_; ++n)
            made.sides[n] = side(made, kRecordedSides[n], specs_[n]);
        if (fault_) return tl::unexpected(*fault_);
        return made;
    }

  private:
    std::string text(std::string_view key) const {
        const auto found = file_.text(key);
        return found && *found ? **found : std::string();
    }
    /// 0: the text is not a whole number from 1 on.
    Index count(std::string_view key) const {
        const std::string written = text(key);
        Index value = 0;
        const auto end = written.data() + written.size();
        const auto read = std::from_chars(written.data(), end, value);
        const bool valid = read.ec == std::errc() && read.ptr == end && value >= 1;
        return valid && value <= kMostRecordedSteps ? value : 0;
    }

    /// Of `columns` numbers a row; of any number of rows where `rows` is −1.
    std::vector<float> array(std::string_view side, std::string_view name, Index rows,
                             Index columns) {
        if (fault_) return {};
        auto read = file_.read(fmt::format("{}.{}", side, name));
        if (!read) {
            fault_ = read.error();
            return {};
        }
        auto* floats = std::get_if<std::vector<float>>(&read->values);
        const bool fits = floats != nullptr && read->extents.size() == 2 &&
                          (rows < 0 || read->extents[0] == rows) && read->extents[1] == columns;
        const auto finite = [](float value) { return std::isfinite(value); };
        if (fits && std::ranges::all_of(*floats, finite)) return std::move(*floats);
        const std::string expected = rows < 0 ? std::string("points") : fmt::format("{}", rows);
        fault_ = bad_input(fmt::format("{}: {}.{} has another type or shape, or a number that is "
                                       "not finite; expected float32 [{}, {}]",
                                       file_.what(), side, name, expected, columns))
                     .value();
        return {};
    }
    void refuse(std::string_view side, std::string_view name, std::string_view expected) {
        if (!fault_)
            fault_ =
                bad_input(fmt::format("{}: {}.{}: expected {}", file_.what(), side, name, expected))
                    .value();
    }

    RecordedSide side(const Recording& made, std::string_view name, const Spec& spec) {
        const Sequences sequences(spec);
        const Index tokens = std::ssize(sequences.fixed().tokens);
        const Index probes = made.steps / made.every + 1;
        const Index row = spec.layers * spec.heads * tokens;
        const auto measures = array(name, "measures", made.steps, kRecordedMeasures);
        const auto weights = array(name, "weights", probes, row);
        const auto answers = array(name, "answers", probes, kRecordedAnswers);
        const auto points = array(name, "held_out", -1, kRecordedPoint);
        RecordedSide side;
        if (fault_) return side;
        for (Index n = 0; n < made.steps; ++n) {
            auto record = std::make_shared<Record>();
            record->step = n;
            record->loss = static_cast<double>(measures[n * kRecordedMeasures]);
            record->accuracy = static_cast<double>(measures[n * kRecordedMeasures + 1]);
            record->saturated = static_cast<double>(measures[n * kRecordedMeasures + 2]);
            side.records.push_back(std::move(record));
        }
        for (Index n = 0; n < probes; ++n) {
            const float* const answer = &answers[n * kRecordedAnswers];
            if (!(answer[0] >= 0.0F && answer[0] < static_cast<float>(sequences.size())))
                refuse(name, "answers", "tokens of the vocabulary");
            side.probes.push_back({static_cast<Index>(answer[0]),
                                   answer[1],
                                   answer[2],
                                   {&weights[n * row], &weights[n * row] + row}});
        }
        add_points(made, name, points, side);
        return side;
    }
    void add_points(const Recording& made, std::string_view name, const std::vector<float>& points,
                    RecordedSide& side) {
        Index last = -1;
        for (std::size_t n = 0; n < points.size(); n += kRecordedPoint) {
            const auto steps = static_cast<float>(made.steps);
            if (!(points[n] > static_cast<float>(last) && points[n] <= steps))
                return refuse(name, "held_out", "ascending steps");
            last = static_cast<Index>(points[n]);
            side.held_out.push_back({last, static_cast<double>(points[n + 1])});
        }
    }

    const ArrayFile& file_;
    const std::array<Spec, 2>& specs_;
    std::optional<Error> fault_;
};

}  // namespace

Index answering_position(const Spec& spec, const Example& example) {
    const Index last = std::ssize(example.tokens) - 1;
    if (spec.language.empty()) return last;
    for (Index p = last; p >= 0; --p)
        if (spec.language->marks(example.tokens[p])) return p;
    const auto from = spec.language->answers_from();
    const auto found =
        from ? std::ranges::find(example.tokens, *from) : std::ranges::end(example.tokens);
    return found == example.tokens.end() ? last : found - example.tokens.begin();
}

Result<Recording> record_training(const std::array<Spec, 2>& specs, Index steps, Index every,
                                  std::stop_token stop) {
    ATTN_CHECK(every > 0 && steps > 0 && steps % every == 0, "`every` divides `steps`");
    Recording made{steps, every, std::string(simd_target()), {}};
    for (std::size_t n = 0; n < specs.size(); ++n) {
        auto side = record_side(specs[n], steps, every, stop);
        if (!side) return tl::unexpected(side.error());
        made.sides[n] = *std::move(side);
    }
    return made;
}

Result<void> save_recording(const std::filesystem::path& path, const std::array<Spec, 2>& specs,
                            const Recording& recording) {
    std::array<SideArrays, 2> arrays;
    std::vector<NamedMatrix> named;
    for (std::size_t n = 0; n < arrays.size(); ++n) {
        arrays[n] = arrays_of(recording.sides[n]);
        const auto add = [&](std::string_view name, const std::vector<float>& values,
                             Index columns) {
            named.push_back({fmt::format("{}.{}", kRecordedSides[n], name),
                             std::ssize(values) / columns, columns, values});
        };
        add("measures", arrays[n].measures, kRecordedMeasures);
        add("weights", arrays[n].weights, std::ssize(recording.sides[n].probes.front().weights));
        add("answers", arrays[n].answers, kRecordedAnswers);
        add("held_out", arrays[n].held_out, kRecordedPoint);
    }
    const std::pair<std::string, std::string> texts[] = {
        {"format", std::string(kRecordingFormat)},
        {"key", recording_key(specs)},
        {"steps", fmt::format("{}", recording.steps)},
        {"every", fmt::format("{}", recording.every)},
        {"target", recording.target}};
    return write_safetensors(path, named, texts);
}

Result<Recording> open_recording(const std::filesystem::path& path,
                                 const std::array<Spec, 2>& specs) {
    auto file = open_arrays(path);
    if (!file) return tl::unexpected(file.error());
    return RecordingReader(**file, specs).read();
}

}  // namespace attn::train
