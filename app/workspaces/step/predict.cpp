#include "app/workspaces/step/predict.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/opened.h"
#include "app/common/fields.h"
#include "app/common/format.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/view.h"
#include "core/metrics.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostGuessed = 64;  // entries of a row

bool is_share(Stage stage) { return stage == Stage::weights; }

/// What is guessed of `state`: the row that is looked at, of a stage that is computed and is there. nullopt: nothing.
std::optional<Prediction> asked(const AppState& state) {
    const StepLook& look = step_look(state);
    if (!look.predicts || state.show_gradients || look.editing) return std::nullopt;
    if (state.stage == Stage::x || state.stage == Stage::x_kv) return std::nullopt;
    if (map_form(state, state.stage) != MapForm::own || !is_stored_stage(state, state.stage))
        return std::nullopt;
    const auto values = sheet_of(state, state.stage).values;
    const auto columns = static_cast<std::size_t>(values.columns);
    if (values.rows == 0 || columns == 0 || columns > kMostGuessed) return std::nullopt;
    const bool here = state.selected && state.selected->tensor == OperandId(state.stage);
    const Index row = std::min(here ? state.selected->row : values.rows - 1, values.rows - 1);
    const double even = is_share(state.stage) ? 1.0 / static_cast<double>(columns) : 0.0;
    return Prediction{state.stage, state.batch, state.head, row,
                      std::vector<double>(columns, even)};
}

bool is_same_row(const Prediction& a, const Prediction& b) {
    return a.stage == b.stage && a.batch == b.batch && a.head == b.head &&
           a.guess.size() == b.guess.size();
}

/// The guess as it stands of what is looked at now: a guess of another row is over. nullopt: nothing is guessed.
std::optional<Prediction> present(const AppState& state) {
    auto now = asked(state);
    const auto& cached = step_look(state).prediction;
    const bool same =
        now && cached && is_same_row(*cached, *now) && (cached->row == now->row || cached->closed);
    return same ? cached : now;
}

/// The axis: shares from 0 to 1, anything else around 0 as far as the stage's largest number.
double axis_end(const AppState& state, Stage stage) {
    if (is_share(stage)) return 1.0;
    double most = 0.0;
    const auto values = sheet_of(state, stage).values;
    for (Index i = 0; i < values.rows; ++i)
        for (const float value : values.row(i))
            if (std::isfinite(value)) most = std::max(most, std::abs(double{value}));
    return most > 0.0 ? most : 1.0;
}

/// The guess that stands, where there is something to be guessed.
Prediction* open_guess(AppState& state) {
    update_prediction(state);
    auto& prediction = step_look(state).prediction;
    return prediction && !prediction->closed ? &*prediction : nullptr;
}

std::string question_of(const AppState& state, const Prediction& of) {
    const StageInfo& stage = info(of.stage);
    const std::string row = axis_label(state, stage.rows, of.row);
    if (of.revealed)
        return fmt::format("Row “{}” of {}: your guess and the result.", row, stage.symbol);
    if (is_share(of.stage))
        return fmt::format("Guess first: what does “{}” attend to? Drag the bars.", row);
    return fmt::format("Guess first: row “{}” of {}. Drag the bars.", row, stage.symbol);
}

/// One twentieth of the axis.
constexpr int kGuessSteps = 20;

std::string largest_label(const std::vector<double>& values,
                          const std::vector<std::string>& labels) {
    const auto most = largest_places(std::span<const double>(values), kTied);
    return most.size() > 1 ? "" : labels[most.front()];
}

void describe_guess(PredictView& view, std::span<const float> row, bool share, bool sinks) {
    const double sum = std::accumulate(view.guess.begin(), view.guess.end(), 0.0);
    const double whole = std::accumulate(row.begin(), row.end(), 0.0);
    // not where all is forbidden or dropped, nor where a weight is NaN
    const bool is_whole = whole > 0.0 && whole < 1.001 && (sinks || whole > 0.999);
    if (share)
        view.total = fmt::format("The guess sums to {}{}{}.", number(sum),
                                 is_whole ? "; a row of weights must sum to 1" : "",
                                 is_whole && sinks ? " together with the sink's weight" : "");
    view.notes = {"The keys , and . choose a bar, ↑ and ↓ change it, and Enter reveals the row."};
}

/// "furthest off at cat, by 0.25"; "" where nothing is off.
std::string furthest_text(const std::vector<double>& apart,
                          const std::vector<std::string>& labels) {
    const auto places = largest_places(std::span<const double>(apart), kTied);
    const auto worst = static_cast<std::size_t>(places.front());
    if (apart[worst] == 0.0) return {};
    const auto ties = std::ssize(places) - 1;
    return fmt::format("furthest off at {}{}, by {}", labels[worst],
                       ties == 0 ? "" : " and " + counted(ties, "other"), number(apart[worst]));
}

void describe_difference(PredictView& view, bool share) {
    std::vector<double> guess, truth, apart;
    std::vector<std::string> labels;
    for (std::size_t n = 0; n < view.truth.size(); ++n) {
        if (!std::isfinite(view.truth[n])) continue;
        guess.push_back(view.guess[n]);
        truth.push_back(view.truth[n]);
        apart.push_back(std::abs(view.guess[n] - view.truth[n]));
        labels.push_back(view.labels[n]);
    }
    const std::size_t others = view.truth.size() - truth.size();
    if (truth.empty()) {
        view.total = "No entry of this row is a finite number.";
    } else {
        const double sum = std::accumulate(apart.begin(), apart.end(), 0.0);
        // Of shares: half of what has to be moved from one row to the other, 0 … 1 where both sum to 1.
        const double mean = sum / (share ? 2.0 : static_cast<double>(truth.size()));
        const char* const name = share ? "Total variation ½ Σ |guess − A|" : "Mean |guess − row|";
        const std::string furthest = furthest_text(apart, labels);
        view.total = furthest.empty() ? "The guess is exact."
                                      : fmt::format("{} = {}; {}.", name, number(mean), furthest);
        const std::string guessed = largest_label(guess, labels),
                          found = largest_label(truth, labels);
        if (!guessed.empty() && guessed == found)
            view.notes.push_back(fmt::format("The largest is {}, as you guessed.", found));
        else if (!found.empty())
            view.notes.push_back(
                guessed.empty()
                    ? fmt::format("The largest is {}; the guess has no single largest entry.",
                                  found)
                    : fmt::format("The largest is {}; you guessed {}.", found, guessed));
    }
    if (others > 0)
        view.notes.push_back(
            fmt::format("{} entr{} no finite number and {} left out of the difference.", others,
                        others == 1 ? "y is" : "ies are", others == 1 ? "is" : "are"));
    view.notes.push_back("Enter shows the whole stage; → goes to the next one.");
}

}  // namespace

void update_prediction(AppState& state) { step_look(state).prediction = present(state); }

std::optional<Prediction> present_prediction(const AppState& state) {
    return step_look(state).prediction ? present(state) : std::nullopt;
}

void describe(Visitor& visit, Prediction& guess) {
    const About index{.low = 0, .high = static_cast<double>(kMostIndex), .needed = true};
    visit("stage", guess.stage);
    visit("batch", guess.batch, index);
    visit("head", guess.head, index);
    visit("row", guess.row, index);
    visit("entries", guess.guess, {.needed = true});
    visit("column", guess.column, {.low = 0, .high = index.high});
    visit("revealed", guess.revealed);
    visit("closed", guess.closed);
    if (!visit.reads()) return;
    guess.revealed = guess.revealed || guess.closed;  // the canvas is shown after the row
    const std::size_t count = guess.guess.size();
    if (count == 0 || count > kMostGuessed)
        return visit.complain(
            fmt::format("has {} 'entries': expected 1 to {}", count, kMostGuessed));
    if (guess.column >= std::ssize(guess.guess))
        return visit.complain(
            fmt::format("has 'column' = {}: expected 0 to {}", guess.column, count - 1));
    // An edit of the document may leave a guess beyond the axis of its stage; shares have one axis.
    const bool share = is_share(guess.stage);
    const double most = share ? 1.0 : double{std::numeric_limits<float>::max()};
    for (const double entry : guess.guess)
        if (!(entry >= (share ? 0.0 : -most) && entry <= most))
            return visit.complain(fmt::format("has the entry {}: expected a number from {} to {}",
                                              entry, share ? 0.0 : -most, most));
}

Action nudged_guess(const AppState& state, int steps) {
    const Prediction guess = present(state).value_or(Prediction{.guess = {0.0}});
    const double end = axis_end(state, guess.stage);
    const double step = (is_share(guess.stage) ? end : 2.0 * end) / kGuessSteps;
    const double now = guess.guess[guess.column];
    return GuessEntry{guess.column, now + step * steps};
}

bool is_guessing(const AppState& state) {
    const auto now = present(state);
    return now && !now->closed;
}

std::optional<PredictView> build_predict_view(const AppState& state) {
    const auto prediction = present(state);
    if (!prediction || prediction->closed) return std::nullopt;
    const StageInfo& stage = info(prediction->stage);
    const Sheet sheet = sheet_of(state, prediction->stage);
    const bool share = is_share(prediction->stage);
    PredictView view;
    view.question = question_of(state, *prediction);
    view.labels = sheet.column_labels;
    view.guess = prediction->guess;
    const auto set_axis = [&](double end) {
        view.high = end;
        view.low = share ? 0.0 : -end;
        view.high_text = number(view.high);
        view.low_text = number(view.low);
    };
    set_axis(axis_end(state, prediction->stage));
    view.zero_text = share ? "" : "0";
    view.column = std::min<Index>(prediction->column, std::ssize(view.guess) - 1);
    view.revealed = prediction->revealed;
    view.role = stage.role;
    for (const double value : view.guess) view.guess_text.push_back(number(value));
    if (!view.revealed) {
        describe_guess(view, sheet.values.row(prediction->row), share, has_sinks(state.document()));
        return view;
    }
    for (const float value : sheet.values.row(prediction->row)) {
        view.truth.push_back(value);
        view.truth_text.push_back(number(value));
    }
    describe_difference(view, share);
    double most = 0.0;  // the axis of what is seen now
    for (const auto* values : {&view.guess, &view.truth})
        for (const double value : *values)
            if (std::isfinite(value)) most = std::max(most, std::abs(value));
    if (most > 0.0) set_axis(std::min(view.high, most));
    return view;
}

void carry_out(AppState& state, const SetPredicting& action) {
    step_look(state).predicts = action.on;
    step_look(state).prediction.reset();
    if (action.on) step_look(state).playing = false;
    update_prediction(state);
    if (!action.on) return show_message(state, "Stages are shown without a guess.");
    show_message(state, step_look(state).prediction
                            ? "Drag the bars to your guess, then press Enter."
                            : "→ goes to the next stage to guess.");
}

void carry_out(AppState& state, const GuessEntry& action) {
    Prediction* const guess = open_guess(state);
    if (guess == nullptr || guess->revealed) return warn(state, "There is no row to guess here.");
    if (action.column < 0 || action.column >= std::ssize(guess->guess))
        return warn(state, "The guess has no entry {}; expected 0 to {}.", action.column,
                    std::ssize(guess->guess) - 1);
    if (!std::isfinite(action.value))
        return warn(state, "Entry {} of the guess is {}; expected a finite number.", action.column,
                    number(action.value));
    const double end = axis_end(state, guess->stage);
    guess->column = action.column;
    guess->guess[action.column] =
        std::clamp(action.value, is_share(guess->stage) ? 0.0 : -end, end);
}

void carry_out(AppState& state, const PickGuess& action) {
    if (Prediction* const guess = open_guess(state))
        guess->column = std::clamp<Index>(action.column, 0, std::ssize(guess->guess) - 1);
}

void carry_out(AppState& state, const RevealGuess&) {
    Prediction* const guess = open_guess(state);
    if (guess == nullptr) return;
    if (guess->revealed) {
        guess->closed = true;
        return show_message(state, description_of(state, guess->stage));
    }
    guess->revealed = true;
    if (const auto view = build_predict_view(state)) show_message(state, view->total);
}

void carry_out(AppState& state, const GuessAgain&) {
    step_look(state).prediction.reset();
    update_prediction(state);
}

}  // namespace attn::view
