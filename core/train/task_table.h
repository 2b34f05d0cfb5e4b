#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/sizes.h"
#include "core/train/spec.h"

namespace attn::train {

struct Spec;
enum class Task : std::uint8_t;

// The tasks, and limits and JSON of a Spec.

/// One task. T = Spec::tokens, n = Spec::symbols; positions count from 0.
struct TaskInfo {
    Task task;
    std::string_view key;     // "induction"
    std::string_view title;   // "Induction"
    std::string_view layout;  // of a sequence, and where the loss counts: "a…, a… again"
    std::string_view solved;  // the attention that solves it, in one sentence
    bool causal;              // else every position sees every other
    bool symbols;             // Spec::symbols counts; else the words of the text are the vocabulary
    bool takes_text;          // of Spec::text
    bool takes_language;      // of Spec::language
};
std::span<const TaskInfo> task_table();
const TaskInfo& info(Task task);

/// Least and most of each number, for programs with a field for it.
struct Limits {
    std::string_view field;  // its name in JSON
    double least = 0.0;
    double most = 0.0;
};
std::span<const Limits> limits();
/// Of the field of that name, which exists.
const Limits& limits_of(std::string_view field);

/// An error names field, value and what was expected: limits, an odd d_k with rotary positions, a length that the task cannot
/// have, too few symbols or words, more parameters than kMostParameters.
Result<void> check(const Spec& spec);
inline constexpr Index kMostParameters = Index{1} << 24;

/// A JSON object with the members' names as keys; what is not there keeps its default. A field that is not known, one of
/// the wrong kind and whatever check() refuses are errors. `what` names the text in them: "spec.json".
Result<Spec> spec_from_json(std::string_view text, std::string_view what);
/// Every field, two spaces deep.
std::string spec_to_json(const Spec& spec);

}  // namespace attn::train
