// What an edit did, the row that a query looks at, pictures of heads, gradients.

#include "app/common/document/document.h"
#include "app/common/document/effect.h"
#include "app/common/explain/parts.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/exercises/state.h"
#include "app/workspaces/exercises/view.h"
#include "app/workspaces/step/attention_text.h"
#include "app/workspaces/step/grids.h"
#include "core/large/map_input.h"
#include "core/scores/score.h"
#include "core/trace.h"
#include "core/train/task_table.h"
#include "tests/view/claims/claims.h"

namespace attn::view {
namespace {

/// "Q, K and scores" as stages.
std::vector<Stage> stages_in(std::string_view nouns) {
    static const std::map<std::string, Stage, std::less<>> kNouns = [] {
        std::map<std::string, Stage, std::less<>> known;
        for (const StageInfo& each : stage_table()) known[name_of(each.stage)] = each.stage;
        known["output"] = Stage::output;
        known["weights"] = Stage::weights;
        known["weights after dropout"] = Stage::dropped;
        known["scaled scores"] = Stage::scaled;
        known["biased scores"] = Stage::biased;
        known["masked scores"] = Stage::masked;
        return known;
    }();
    std::vector<Stage> stages;
    for (const std::string& some : split(nouns, ", "))
        for (const std::string& noun : split(some, " and "))
            if (const auto found = kNouns.find(noun); found != kNouns.end())
                stages.push_back(found->second);
    return stages;
}

/// The same matrix before the last edit.
Rows before(const AppState& state, Stage stage) {
    const Moment& was = state.effect->before;
    const Tensor& tensor = (*was.trace)[stage];
    const Index h = head_in(was.document->size, info(stage).heads, state.head);
    if (state.batch >= tensor.shape().b || h >= tensor.shape().h) return {};
    return tensor.matrix(state.batch, h);
}
bool changed(const AppState& state, Stage stage) {
    const Rows a = before(state, stage), b = rows_of(state, stage);
    if (a.rows != b.rows || a.columns != b.columns) return true;
    for (const auto [i, j] : each_cell(a))
        if (distance(a(i, j), b(i, j)) != 0.0) return true;
    return false;
}

/// "cat 0.40": a largest weight of the row.
bool largest_is(const AppState& state, Rows rows, Index row, std::string_view match) {
    if (row >= rows.rows) return false;
    const auto space = match.rfind(' ');
    const auto weights = rows.row(row);
    const Index key = labelled(state, Axis::key, match.substr(0, space));
    if (key < 0 || key >= rows.columns) return false;
    const float most = *std::ranges::max_element(weights);
    const float here = weights[key];
    return most - here <= kTie * most && shows(match.substr(space + 1), here);
}

bool check_row(const AppState& state, std::string_view text) {
    const auto [match, others] = tied(text);
    const auto colon = match.find(": key ");
    if (colon == match.npos) return false;
    const Index row = labelled(state, Axis::query, match.substr(0, colon));
    const Rows now = weights_of(state), was = before(state, Stage::weights);
    auto sides = split(match.substr(colon + 2), " → ");
    for (std::string& side : sides) {  // "key sat, 0.40" → "sat 0.40"
        if (side.starts_with("key ")) side.erase(0, 4);
        if (const auto comma = side.rfind(", "); comma != side.npos) side.replace(comma, 2, " ");
    }
    if (row >= 0 && row < now.rows && count_largest(now.row(row)) != 1 + others) return false;
    const std::string& first = sides.front();
    if (row < 0 || row >= now.rows) return false;
    if (const auto still = first.rfind(" still "); sides.size() == 1 && still != first.npos) {
        const std::string cell = first.substr(0, still) + first.substr(still + 6);
        return largest_is(state, now, row, cell) && largest_is(state, was, row, cell);
    }
    if (sides.size() == 1) return largest_is(state, now, row, first);
    const std::string last = sides[1].find(' ') == sides[1].npos
                                 ? first.substr(0, first.rfind(' ') + 1) + sides[1]
                                 : sides[1];
    // another document may name its keys otherwise
    const bool then = state.document().tokens != state.effect->before.document->tokens ||
                      largest_is(state, was, row, first);
    return then && largest_is(state, now, row, last) && first != last;
}

/// "entropy in nats, cat 1.02 → 0.97, …", "entropy rises in 3 and falls in 4 of 9 rows".
bool check_entropies(const AppState& state, std::string_view part) {
    const Rows now = weights_of(state), was = before(state, Stage::weights);
    const auto entropy = [](std::span<const float> row) {
        double sum = 0.0;
        for (const double a : row) sum -= a > 0.0 ? a * std::log(a) : 0.0;
        return sum;
    };
    Index rise = 0, fall = 0;
    for (Index i = 0; i < now.rows; ++i) {
        const double by = entropy(now.row(i)) - entropy(was.row(i));
        rise += by > 1e-6 ? 1 : 0;
        fall += by < -1e-6 ? 1 : 0;
    }
    const auto is = [&](const std::string& text, Index count) {
        return number_of(text) == static_cast<double>(count);
    };
    if (const auto all = parts_of("entropy {} in all {} rows", part))
        return is((*all)[1], now.rows) && ((*all)[0] == "rises" ? rise : fall) == now.rows;
    if (const auto some = parts_of("entropy rises in {} and falls in {} of {} rows", part))
        return is((*some)[0], rise) && is((*some)[1], fall) && is((*some)[2], now.rows);
    const auto rows = split(part.substr(part.find(", ") + 2), ", ");
    Index i = 0;
    for (const std::string& row : rows) {
        const auto sides = split(row, " → ");
        if (sides.size() != 2 || i >= now.rows ||
            !shows(sides[0].substr(sides[0].rfind(' ') + 1), entropy(was.row(i))) ||
            !shows(sides[1], entropy(now.row(i))))
            return false;
        ++i;
    }
    return i == now.rows;
}

/// "scores and weights change; Q cannot change; context could change, but does not, …; largest weight of …".
bool check_effect(const Match& match) {
    if (!match.state.effect) return false;
    std::vector<Stage> listed;
    for (std::string part : split(match.text, "; ")) {
        if (part.starts_with("entropy ")) {
            if (!check_entropies(match.state, part)) return false;
            continue;
        }
        if (const auto at = part.rfind(": ");
            at != part.npos && !part.starts_with("largest weight of row "))
            part = part.substr(at + 2);
        if (const auto at = part.find(", masked scores"); part.starts_with("in "))
            part = at == part.npos ? part : part.substr(at + 2);
        if (part.starts_with("in ")) {  // "in sequence 0, head 0, Q and K change"
            const auto at = part.find("head ");
            part = part.substr(part.find(", ", at == part.npos ? 0 : at) + 2);
        }
        const auto stages =
            stages_in(part.substr(0, std::min({part.rfind(" change"), part.rfind(" cannot"),
                                               part.rfind(" could change, but")})));
        const bool cannot = part.ends_with(" cannot change");
        const bool change = !cannot && (part.ends_with(" change") || part.ends_with(" changes"));
        const bool stay = cannot || part.ends_with("up to rounding");
        if (change || stay)
            for (const Stage stage : stages) {
                if (changed(match.state, stage) != change) return false;
                listed.push_back(stage);
            }
        if (part.find("largest weight of row ") != part.npos &&
            !check_row(match.state, part.substr(part.find("largest weight of row ") + 22)))
            return false;
    }
    const auto has = [&](Stage stage) { return std::ranges::count(listed, stage) > 0; };
    return std::ranges::all_of(ribbon_stages(match.state.document()), [&](Stage stage) {
        const bool goes_with = (stage == Stage::scaled && has(Stage::scores)) ||
                               (stage == Stage::masked &&
                                (has(Stage::scaled) || has(Stage::biased) || has(Stage::scores)));
        const bool given = info(stage).operands[0] == std::nullopt ||
                           (!match.state.document().inputs->projects() && stage <= Stage::v);
        return has(stage) || goes_with || given || !is_stored_stage(match.state, stage);
    });
}

bool check_most(const Match& match) {
    const auto cell = named(match.state, match.part[0]);
    const auto [to, others] = tied(match.part[2]);
    if (!cell) return false;
    const Rows now = rows_of(match.state, cell->stage), was = before(match.state, cell->stage);
    const auto moved = distances(was, now);
    const auto n = static_cast<std::size_t>(cell->row * now.columns + cell->column);
    return is_most(moved, n) && moved[n] > 0.0 && count_largest(moved) == 1 + others &&
           match.part[1] != to && shows(match.part[1], was(cell->row, cell->column)) &&
           shows(to, now(cell->row, cell->column));
}

/// "97.1 % at [The, cat], and 1 other as large; 2 numbers are NaN", of any head; of gradients in size.
bool check_largest_cell(const Match& match, const Trace& trace, bool in_size) {
    const auto stages = stages_in(match.part[0]);
    if (stages.empty()) return false;
    const StageInfo& stage = info(stages.front());
    const auto nans_stated = parts_of("{}; {} number{} NaN", match.part[3]);
    auto [to, others] = tied(split(match.part[3], "; ")[0]);
    if (!to.ends_with("]")) return false;
    to.pop_back();
    const Tensor& tensor = trace[stage.stage];
    const Index row = labelled(match.state, stage.rows, match.part[2]);
    const Index column = labelled(match.state, stage.columns, to);
    const auto as_compared = [&](float value) { return in_size ? std::abs(value) : value; };
    for (Index h = 0; h < tensor.shape().h; ++h) {
        const Rows rows = tensor.matrix(match.state.batch, h);
        if (row < 0 || column < 0 || row >= rows.rows || column >= rows.columns) return false;
        std::vector<float> all;
        for (Index i = 0; i < rows.rows; ++i)
            for (const float each : rows.row(i))
                if (!std::isnan(each)) all.push_back(as_compared(each));
        const auto nans = static_cast<double>(rows.rows * rows.columns - std::ssize(all));
        const float here = as_compared(rows(row, column));
        if (!all.empty() &&
            (here == std::ranges::max(all) ||
             std::ranges::max(all) - here <= kTie * std::abs(here)) &&
            count_largest(all) == 1 + others && shows(match.part[1], rows(row, column)) &&
            (in_size || nans == (nans_stated ? number_of((*nans_stated)[1]) : 0.0)))
            return true;
    }
    return false;
}
bool check_picture(const Match& match) {
    return check_largest_cell(match, *match.state.trace, false);
}
bool check_gradient_picture(const Match& match) {
    return check_largest_cell(match, *match.state.gradients, true);
}

bool check_entries(const Match& match) {  // "Question 3: Empty entries: 3 of 4"
    const Index empty = match.count(1), all = static_cast<Index>(number_of(match.part[2]));
    const std::string question = std::to_string(match.count(0) - 1) + ".";
    const auto filled =
        std::ranges::count_if(exercises_controls(match.state).entries, [&](const auto& entry) {
            return entry.first.starts_with(question) &&
                   entry.second.find_first_not_of(' ') != std::string::npos;
        });
    return empty > 0 && empty < all && empty + filled == all;
}

bool check_same_mark(const Match& match) {
    return match.state.effect != nullptr &&
           std::ranges::any_of(ribbon_stages(match.state.document()),
                               [&](Stage stage) { return !changed(match.state, stage); });
}

bool check_not_entered(const Match& match) {
    const std::string question = std::to_string(match.count(0) - 1) + ".";
    return std::ranges::all_of(exercises_controls(match.state).entries, [&](const auto& entry) {
        return !entry.first.starts_with(question) ||
               entry.second.find_first_not_of(' ') == std::string::npos;
    });
}

/// So many blanks of a question hold its answer.
Index right_entries(const AppState& state, Index n) {
    const Exercise exercise = exercise_of(state).value();
    const ExerciseQuestion& question = exercise.questions[n];
    const auto& entries = exercises_controls(state).entries;
    Index right = 0;
    for (Index k = 0; k < std::ssize(question.answer.entries); ++k) {
        const Index columns = question.answer.columns;
        const auto found = entries.find(entry_key(n, k / columns, k % columns));
        const auto typed = found == entries.end() ? std::nullopt : typed_answer(found->second);
        const double answer = question.answer.entries[k];
        const bool is =
            typed && (std::isfinite(answer) ? std::abs(*typed - answer) <= question.allowed(answer)
                                            : distance(*typed, answer) == 0.0);
        right += is ? 1 : 0;
    }
    return right;
}
bool check_right_entries(const Match& match) {  // of one of the questions, or of that one
    const auto questions = build_exercises_view(match.state).questions;
    const bool one = match.part.size() > 2;
    const std::size_t at = one ? 1 : 0;
    for (Index n = one ? match.count(0) - 1 : 0; n < std::ssize(questions); ++n) {
        const auto all = std::ssize(questions[n].entries);
        if (all == match.count(at + 1) && right_entries(match.state, n) == match.count(at))
            return true;
        if (one) break;
    }
    return false;
}
bool check_checked(const Match& match) {
    const auto questions = build_exercises_view(match.state).questions;
    Index right = 0;
    for (Index n = 0; n < std::ssize(questions); ++n) {
        const auto& question = questions[n];
        const bool all = right_entries(match.state, n) == std::ssize(question.entries);
        right += question.checked && all ? 1 : 0;
    }
    return match.count(0) == right && match.count(1) == std::ssize(questions);
}

bool check_sheets_solved(const Match& match) {
    const auto& solved = exercises_look(match.state).solved;
    Index all = 0;
    for (const ExerciseSheet& sheet : exercise_sheets().value()) {
        Index right = 0;
        for (Index n = 0; n < std::ssize(sheet.tasks); ++n)
            right += solved.contains(question_key(sheet.key, n)) ? 1 : 0;
        all += right == std::ssize(sheet.tasks) ? 1 : 0;
    }
    return match.count(0) == all && match.count(1) == std::ssize(exercise_sheets().value());
}

/// "V[cat, 0] 1 → 2, with W_V solved for it: other rows of V stay; …".
bool check_solved(const Match& match) {
    const auto cell = named(match.state, split(match.part[0], "] ")[0] + "]");
    if (!cell || cell->stage != Stage::v || !match.state.effect) return false;
    const Rows now = rows_of(match.state, Stage::v), was = before(match.state, Stage::v);
    double most = 0.0, size = 0.0;
    for (Index i = 0; i < now.rows; ++i) {
        const double by = distance(was(i, cell->column), now(i, cell->column));
        size = std::max({size, std::abs(double{was(i, cell->column)}), by});
        if (i != cell->row) most = std::max(most, by);
    }
    const auto sides = parts_of("{}] {} → {}, with W_V", match.part[0]);
    const bool stays = match.part[1].starts_with("stay");
    return sides && shows((*sides)[1], was(cell->row, cell->column)) &&
           shows((*sides)[2], now(cell->row, cell->column)) && stays == (most <= 1e-5 * size) &&
           (match.part[1].find("; ") == std::string::npos || check_effect(match));
}

/// "Empty entries: 3 of 4", "All entries are empty": of one of the questions.
bool check_empty(const Match& match) {
    const auto questions = build_exercises_view(match.state).questions;
    return std::ranges::any_of(questions, [&](const ExercisesView::Question& question) {
        const auto empty = std::ranges::count_if(question.entries, [](const std::string& each) {
            return each.find_first_not_of(' ') == each.npos;
        });
        const auto all = std::ssize(question.entries);
        return match.part.empty() ? empty == all
                                  : empty == match.count(0) && all == match.count(1) && empty < all;
    });
}

bool check_given_or_edited(const Match& match) {
    const Rows x = rows_of(match.state, match.state.stage);
    Index given = 0;
    for (Index i = 0; i < x.rows; ++i)
        given += is_embedding(match.state, match.state.stage, i) ? 0 : 1;
    return given == match.count(1) && x.rows == match.count(2) && given > 0 && given < x.rows;
}
constexpr Claim kClaims[] = {
    {"Each token is a row of numbers: {}, except in {} of {} rows, which {} given or edited",
     check_given_or_edited},
    {"All entries are empty", check_empty},
    {"The answer is empty", check_empty},
    {"{} solved for it: other rows of V {}", check_solved},
    {"Question {}: Right entries: {} of {}", check_right_entries},
    {"Right entries: {} of {}", check_right_entries},
    {"{} of {} questions answered right", check_checked},
    {"{} of {} sheets solved", check_sheets_solved},
    {"Question {}: All entries are empty", check_not_entered},
    {"Question {}: The answer is empty", check_not_entered},
    {"Question {}: Empty entries: {} of {}", check_entries},
    {"Empty entries: {} of {}", check_empty},
    {"○ unchanged: {}", check_same_mark},
    {"● changed by the last edit, most at {}: {} → {}", check_most},
    {"largest number in {}: {} at [{}, {}", check_picture},
    {"largest magnitude in ∂L/∂{}: {} at [{}, {}", check_gradient_picture},
    {"{} change; {}", check_effect},
    {"{} changes; {}", check_effect},
};

}  // namespace

std::span<const Claim> step_claims() { return kClaims; }

}  // namespace attn::view
