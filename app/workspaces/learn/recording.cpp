#include "app/workspaces/learn/recording.h"

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/state.h"
#include "app/workspaces/learn/settings.h"
#include "app/workspaces/learn/view.h"
#include "core/dimensions.h"
#include "core/train/recording.h"
#include "core/train/trainer.h"

namespace attn::view {
namespace {

constexpr std::string_view kRecorded = "pronouns";  // experiment and model

Result<std::filesystem::path> recording_file() {
    const std::string name = fmt::format("{}-run.safetensors", kRecorded);
    for (const std::filesystem::path& folder : asset_folders("models")) {
        std::error_code none;
        if (std::filesystem::exists(folder / name, none)) return folder / name;
    }
    return bad_input(fmt::format("the program's files have no models/{}", name));
}

/// One head's row of weights stands in a whole matrix; its other rows are not recorded and are 0.
std::shared_ptr<const train::Probe> probe_of(const train::Spec& spec, const train::Example& example,
                                             Index word, Index step,
                                             const train::RecordedProbe& recorded) {
    const auto tokens = std::ssize(example.tokens);
    train::Probe probe;
    probe.step = step;
    probe.example = example;
    for (Index layer = 0; layer < spec.layers; ++layer) {
        Tensor weights({1, spec.heads, tokens, tokens});
        for (Index h = 0; h < spec.heads; ++h)
            std::copy_n(&recorded.weights[(layer * spec.heads + h) * tokens], tokens,
                        weights.matrix(0, h).row(word).begin());
        probe.weights.push_back(std::move(weights));
    }
    probe.answers.assign(tokens, 0);
    probe.answer_shares.assign(tokens, 0.0F);
    probe.shares.assign(tokens, 0.0F);
    probe.answers[word] = recorded.answer;
    probe.answer_shares[word] = recorded.answer_share;
    probe.shares[word] = recorded.share;
    return std::make_shared<const train::Probe>(std::move(probe));
}

Result<LearnRecording> read_recording() {
    const auto experiments = learn_experiments();
    const auto experiment = std::ranges::find(experiments, kRecorded, &LearnExperiment::key);
    const Result<LearnControls>& controls = controls_of(*experiment);
    if (!controls) return tl::unexpected(controls.error());
    const auto file = recording_file();
    if (!file) return tl::unexpected(file.error());
    auto read = train::open_recording(*file, {controls->a, controls->b});
    if (!read) return tl::unexpected(std::move(read.error()));
    const train::Sequences sequences(controls->a);
    const train::Example example = sequences.fixed();
    LearnRecording made;
    made.experiment = kRecorded;
    made.controls = *controls;
    made.steps = read->steps;
    made.every = read->every;
    made.word = train::answering_position(controls->a, example);
    const auto key = std::ranges::find(example.tokens, read->sides[0].probes.back().answer);
    made.answer = key == example.tokens.end() ? 0 : key - example.tokens.begin();
    made.vocabulary = sequences.vocabulary();
    for (std::size_t run = 0; run < 2; ++run) {
        train::RecordedSide& side = read->sides[run];
        for (std::size_t n = 0; n < side.probes.size(); ++n)
            made.probes[run].push_back(probe_of(controls->of(run), example, made.word,
                                                static_cast<Index>(n) * made.every,
                                                side.probes[n]));
        made.sides[run].records = std::move(side.records);
        made.sides[run].held_out = std::move(side.held_out);
    }
    return made;
}

/// The probe that is shown: at the step of the playback, or the chosen step, or the last.
std::size_t shown_probe(const AppState& state, const LearnRecording& recording) {
    const LearnLook& look = learn_look(state);
    const auto last = recording.probes[0].size() - 1;
    if (look.replay_s) {
        const double part = std::clamp(*look.replay_s / kReplaySeconds, 0.0, 1.0);
        return static_cast<std::size_t>(part * static_cast<double>(last));
    }
    if (!look.shown.step) return last;
    const Index step = std::clamp<Index>(*look.shown.step, 0, recording.steps);
    return static_cast<std::size_t>(step / recording.every);
}

}  // namespace

Index widest_gap(const LearnRecording& recording) {
    const auto& a = recording.sides[0].held_out;
    const auto& b = recording.sides[1].held_out;
    double widest = 0.0;
    Index step = recording.steps;
    for (std::size_t n = 0; n < std::min(a.size(), b.size()); ++n) {
        const double gap = std::abs(a[n].right - b[n].right);
        if (a[n].step != b[n].step || !(gap > widest)) continue;
        widest = gap;
        step = a[n].step;
    }
    return step;
}

const Result<LearnRecording>& learn_recording() {
    static const Result<LearnRecording> once = read_recording();
    return once;
}

bool is_recorded(const AppState& state) {
    const LearnLook& look = learn_look(state);
    return look.recorded && !look.plan && learn_recording().has_value();
}

bool is_replaying(const AppState& state) {
    return learn_look(state).replay_s.has_value() && is_recorded(state);
}

namespace {

/// The playback has ended: the models differ most there.
void rest(LearnLook& look) {
    const LearnRecording& recording = *learn_recording();
    const Index probe = (widest_gap(recording) + recording.every - 1) / recording.every;
    look.replay_s.reset();
    look.shown.step = std::min(probe * recording.every, recording.steps);
}

}  // namespace

void play_recording(AppState& state) {
    const LearnRecording& recording = *learn_recording();
    LearnLook& look = learn_look(state);
    look.recorded = true;
    look.plan.reset();
    look.shown = {};
    look.draft.clear();
    look.series = look.before = nullptr;
    look.layer = recording.controls.layers() - 1;
    look.head = 0;
    look.cell = {recording.word, recording.answer};
    look.measure = LearnMeasure::held_out;
    look.replay_s.reset();
    look.replay_waits = !look.ticks && !state.reduced_motion;
    if (look.ticks && !state.reduced_motion)
        look.replay_s = 0.0;
    else
        rest(look);
}

void resume_recording(AppState& state, Index from) {
    LearnLook& look = learn_look(state);
    if (!look.ticks || state.reduced_motion) return show_recorded_step(state, from);
    const LearnRecording& recording = *learn_recording();
    // In the middle between two probes, so that rounding shows no other one.
    const double step = static_cast<double>(from) + 0.5 * static_cast<double>(recording.every);
    const bool ended = from < 0 || from >= recording.steps;
    look.replay_s = ended ? 0.0 : kReplaySeconds * step / static_cast<double>(recording.steps);
    look.replay_waits = false;
    look.shown.step.reset();
}

void leave_recording(AppState& state) {
    if (!learn_look(std::as_const(state)).recorded) return;
    LearnLook& look = learn_look(state);
    look.recorded = look.replay_waits = false;
    look.replay_s.reset();
    look.shown = {};
    look.series = nullptr;
    if (!look.plan) look.plan = LearnPlan{learn_controls(state), {}, 0, 1, {}};
    // Choices of the recording that nobody changed go back to those of a first start.
    const Result<LearnRecording>& recording = learn_recording();
    const bool chosen =
        recording && look.head == 0 && look.layer == recording->controls.layers() - 1;
    if (chosen) look.layer = 0;
    if (recording && look.cell == large::Cell{recording->word, recording->answer}) look.cell = {};
    if (look.measure == LearnMeasure::held_out) look.measure = LearnMeasure::accuracy;
    clamp_learn(state);
}

void show_recorded_step(AppState& state, std::optional<Index> step) {
    LearnLook& look = learn_look(state);
    look.replay_s.reset();
    look.replay_waits = false;
    look.shown.step = step;
    const Index last = learn_recording()->steps;
    if (step) look.shown.step = std::clamp<Index>(*step, 0, last);
    if (look.shown.step == last) look.shown.step.reset();
}

void follow_recording(AppState& state) {
    const LearnLook& now = learn_look(std::as_const(state));
    if (now.recorded && now.plan) leave_recording(state);
    if (state.workspace != "learn" || !is_recorded(state)) return;
    const LearnRecording& recording = *learn_recording();
    const std::size_t n = shown_probe(state, recording);
    const bool plays = now.replay_s.has_value();
    const Index steps = plays ? static_cast<Index>(n) * recording.every : recording.steps;
    if (now.series && now.series->sides[0].probe == recording.probes[0][n] &&
        std::ssize(now.series->sides[0].records) == steps)
        return;
    auto series = std::make_shared<LearnSeries>();
    series->request.plan = LearnPlan{recording.controls, {}, recording.steps, 1, {}};
    series->vocabulary = recording.vocabulary;
    series->complete = true;
    for (std::size_t run = 0; run < 2; ++run) {
        LearnSide& side = series->sides[run];
        side = recording.sides[run];
        side.records.resize(steps);
        std::erase_if(side.held_out, [&](const LearnHeldOut& each) { return each.step > steps; });
        side.probe = recording.probes[run][n];
    }
    learn_look(state).series = std::move(series);
}

void tick_recording(AppState& state, double seconds) {
    const LearnLook& now = learn_look(std::as_const(state));
    if (!now.ticks) {
        LearnLook& look = learn_look(state);
        look.ticks = true;
        if (look.replay_waits && !state.reduced_motion && is_recorded(state)) {
            look.replay_s = 0.0;
            look.shown.step.reset();
        }
        look.replay_waits = false;
        return;
    }
    if (state.workspace != "learn" || !is_replaying(state)) return;
    LearnLook& look = learn_look(state);
    *look.replay_s += seconds;
    if (*look.replay_s >= kReplaySeconds || state.reduced_motion) rest(look);
}

void end_replay(AppState& state) {
    const LearnLook& now = learn_look(std::as_const(state));
    if (!now.replay_s && !now.replay_waits) return;
    rest(learn_look(state));
    learn_look(state).replay_waits = false;
    follow_recording(state);
}

}  // namespace attn::view
