#include "app/common/exercise/exercise.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/exercise/text.h"
#include "app/common/format.h"
#include "app/common/typed.h"
#include "core/rng.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::uint64_t kMostDraws = 1000;  // until the requirements are met
constexpr double kWholeTolerance = 0.01;
constexpr double kHair = 1e-9;  // of rounding, relative: a tie may go either way

std::uint64_t stream_of(const ExerciseSheet& sheet, std::uint64_t seed) {
    return mix(hash_text(sheet.key), seed);
}

void draw_values(const ExerciseSheet& sheet, std::uint64_t seed, std::uint64_t attempt,
                 NamedMatrices& values) {
    std::uint64_t n = 0;
    const std::uint64_t stream = mix(stream_of(sheet, seed), attempt);
    for (const ExerciseDraw& draw : sheet.draw) {
        SmallMatrix& made = values[draw.name];
        made = {draw.rows, draw.columns, {}};
        const auto count = static_cast<std::size_t>(draw.rows * draw.columns);
        while (made.entries.size() < count) {
            const double share = uniform(stream, n++) * static_cast<double>(draw.from.size());
            made.entries.push_back(draw.from[static_cast<std::size_t>(share)]);
        }
    }
}

Result<void> compute_values(const ExerciseSheet& sheet, NamedMatrices& values) {
    for (const auto& [name, formula] : sheet.compute) {
        auto value = evaluate_formula(formula, values);
        if (!value) return tl::unexpected(std::move(value.error()));
        values[name] = *std::move(value);
    }
    return {};
}

Result<bool> meets(const ExerciseSheet& sheet, const NamedMatrices& values) {
    for (const std::string& formula : sheet.require) {
        const auto value = evaluate_formula(formula, values);
        if (!value) return tl::unexpected(value.error());
        for (const double entry : value->entries)
            if (entry == 0.0) return false;
    }
    return true;
}

Result<NamedMatrices> values_of(const ExerciseSheet& sheet, std::uint64_t seed) {
    for (std::uint64_t attempt = 0; attempt < kMostDraws; ++attempt) {
        NamedMatrices values;
        draw_values(sheet, seed, attempt, values);
        if (auto computed = compute_values(sheet, values); !computed)
            return tl::unexpected(std::move(computed.error()));
        const auto valid = meets(sheet, values);
        if (!valid) return tl::unexpected(valid.error());
        if (*valid) return values;
    }
    return bad_input(fmt::format("sheet {}: {} draws met no 'require'", sheet.key, kMostDraws));
}

std::string precision_of(const ExerciseTask& task, bool one) {
    if (!task.choices.empty()) return "";
    if (task.significant > 0) return "to " + counted(task.significant, "significant digit");
    if (task.decimals > 0) return "to " + counted(task.decimals, "decimal");
    return one ? "a whole number" : "whole numbers";
}

double tolerance_of(const ExerciseTask& task) {
    if (task.tolerance) return *task.tolerance;
    if (task.significant > 0) return std::pow(10.0, 1.0 - static_cast<double>(task.significant));
    return task.decimals > 0 ? std::pow(10.0, -static_cast<double>(task.decimals))
                             : kWholeTolerance;
}

Result<std::vector<ExerciseParagraph>> paragraphs(const std::vector<std::string>& texts,
                                                  const NamedMatrices& values) {
    std::vector<ExerciseParagraph> all;
    for (const std::string& text : texts) {
        auto paragraph = exercise_paragraph(text, values);
        if (!paragraph) return tl::unexpected(std::move(paragraph.error()));
        all.push_back(*std::move(paragraph));
    }
    return all;
}

/// Puts what `made` holds into `into`; false, and the error kept, where it holds none.
template <class T>
bool take(Result<T> made, T& into, Result<void>& fault) {
    if (made)
        into = *std::move(made);
    else if (fault)
        fault = tl::unexpected(std::move(made.error()));
    return fault.has_value();
}

Result<ExerciseQuestion> make_question(const ExerciseTask& task, const NamedMatrices& values) {
    ExerciseQuestion question;
    Result<void> fault;
    take(evaluate_formula(task.answer, values), question.answer, fault);
    take(paragraphs(task.text, values), question.text, fault);
    take(paragraphs(task.solution, values), question.solution, fault);
    take(exercise_paragraph(task.hint, values), question.hint, fault);
    take(checked_tex(task.label, values), question.label, fault);
    for (const std::string& choice : task.choices)
        take(filled_text(choice, values), question.choices.emplace_back(), fault);
    if (!fault) return tl::unexpected(std::move(fault.error()));
    question.precision = precision_of(task, question.answer.is_number());
    question.tolerance = tolerance_of(task);
    question.relative = !task.tolerance && task.significant > 0;
    question.decimals = static_cast<int>(task.decimals);
    question.significant = static_cast<int>(task.significant);
    const double chosen = question.answer.entries[0];
    const auto choices = static_cast<double>(question.choices.size());
    if (choices > 0.0 && !(question.answer.is_number() && chosen >= 0.0 && chosen < choices))
        return bad_input(fmt::format("the answer '{}' is {}; expected a choice, 0 to {}",
                                     task.answer, chosen, choices - 1.0));
    return question;
}

EntryMark mark_of(const ExerciseQuestion& question, double answer, const std::string& text) {
    if (text.find_first_not_of(' ') == text.npos) return EntryMark::empty;
    const auto typed = typed_answer(text);
    if (!typed) return EntryMark::unreadable;
    return is_close_enough(question, answer, *typed) ? EntryMark::right : EntryMark::wrong;
}

std::string verdict_of(const CheckedAnswer& checked, std::span<const std::string> entries) {
    const auto count = [&](EntryMark mark) { return std::ranges::count(checked.marks, mark); };
    const auto odd = std::ranges::find(checked.marks, EntryMark::unreadable);
    if (odd != checked.marks.end())
        return fmt::format("\"{}\" is not a number.",
                           shortened(entries[odd - checked.marks.begin()]));
    const Index all = std::ssize(checked.marks);
    const Index empty = count(EntryMark::empty);
    if (empty == all) return all == 1 ? "The answer is empty." : "All entries are empty.";
    if (empty > 0) return fmt::format("Empty entries: {} of {}.", empty, all);
    const Index right = count(EntryMark::right);
    if (right == all) return "Right.";
    return all == 1 ? "Wrong." : fmt::format("Right entries: {} of {}.", right, all);
}

}  // namespace

double ExerciseQuestion::allowed(double entry) const {
    return tolerance * (relative ? std::abs(entry) : 1.0) + kHair * std::abs(entry);
}

std::string ExerciseQuestion::written(double entry) const {
    if (!std::isfinite(entry)) return number(entry);
    if (significant > 0) return rounded_number(entry, significant);
    return decimals > 0 ? fixed_number(entry, decimals) : plain_number(entry);
}

Result<Exercise> make_exercise(const ExerciseSheet& sheet, std::uint64_t seed) {
    Exercise exercise{sheet.key, sheet.title, seed, {}, {}, {}, {}};
    Result<void> fault;
    if (take(values_of(sheet, seed), exercise.values, fault))
        take(paragraphs(sheet.text, exercise.values), exercise.text, fault);
    if (fault)
        for (const ExerciseTask& task : sheet.tasks)
            take(make_question(task, exercise.values), exercise.questions.emplace_back(), fault);
    if (!fault) return tl::unexpected(std::move(fault.error()));
    for (const ExerciseDraw& draw : sheet.draw) {
        exercise.drawn.push_back(draw.name);
        if (!draw.label.empty())
            exercise.quantities.push_back(
                {draw.name, plain_number(exercise.values.at(draw.name).entries[0]), draw.label});
    }
    return exercise;
}

bool is_close_enough(const ExerciseQuestion& question, double answer, double typed) {
    if (std::isnan(answer) || std::isnan(typed)) return std::isnan(answer) && std::isnan(typed);
    if (std::isinf(answer)) return typed == answer;
    return std::abs(typed - answer) <= question.allowed(answer);
}

std::optional<double> typed_answer(std::string_view text) {
    if (const auto number = typed_number(text)) return number;
    if (const auto whole = typed_whole(text)) return static_cast<double>(*whole);
    constexpr std::pair<std::string_view, char> kTypeset[] = {{"−", '-'}, {"·", '*'}, {"×", '*'}};
    std::string plain;
    while (!text.empty()) {
        const auto* const sign = std::ranges::find_if(
            kTypeset, [&](const auto& one) { return text.starts_with(one.first); });
        const bool typeset = sign != std::end(kTypeset);
        plain += typeset ? sign->second : text.front();
        text.remove_prefix(typeset ? sign->first.size() : 1);
    }
    const auto value = evaluate_formula(plain, {});
    return value && value->is_number() ? std::optional(value->entries[0]) : std::nullopt;
}

CheckedAnswer check_answer(const ExerciseQuestion& question, std::span<const std::string> entries) {
    CheckedAnswer checked;
    const std::vector<double>& answers = question.answer.entries;
    for (std::size_t n = 0; n < answers.size(); ++n)
        checked.marks.push_back(n < entries.size() ? mark_of(question, answers[n], entries[n])
                                                   : EntryMark::empty);
    checked.text = verdict_of(checked, entries);
    checked.right = std::ranges::count(checked.marks, EntryMark::right) == std::ssize(answers);
    return checked;
}

}  // namespace attn::view
