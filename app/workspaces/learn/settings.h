#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/workspaces/learn/state.h"
#include "core/result.h"

namespace attn::view {

/// How a field is set.
enum class LearnFieldKind : std::uint8_t { whole, real, seed, flag, names, text };
struct LearnFieldInfo {
    std::string_view key;  // in JSON
    std::string_view label;
    LearnFieldKind kind;
    std::string_view tip;
    bool log = false;  // of a whole number: over powers of two
};
std::span<const LearnFieldInfo> learn_fields();
const LearnFieldInfo* find_learn_field(std::string_view key);
/// What a field of that kind can be: the keys of tasks, positions, … Empty for others.
std::vector<std::string> learn_names(std::string_view field);

/// As JSON: "64", "true", "\"rotary\"".
std::string learn_value(const train::Spec& spec, std::string_view field);
/// The specification with another value of the field. An error names the field, the value and the expected values.
Result<train::Spec> with_learn_value(const train::Spec& spec, std::string_view field,
                                     std::string_view value);
/// A for both runs, B with another value of `differs` that is worth comparing.
Result<LearnControls> with_difference(const train::Spec& a, std::string_view differs);
/// What distinguishes a run from the other: "without scaling", "d_k 16"; "" where A is alone.
std::string learn_run_text(const LearnControls& controls, std::size_t run);

/// What to begin with.
struct LearnExperiment {
    std::string_view key, text;
    std::string_view spec;  // of A, as JSON; of a model the fields that differ from its recipe
    std::string_view differs;
    std::string_view value;       // of B
    std::string_view model = {};  // of assets/models, whose language and sizes A has
    Index head = 0;               // of the last layer, shown at first
    std::string_view lines = {};  // own data, which A has
};
std::span<const LearnExperiment> learn_experiments();
/// An error names the program's file that is missing or not valid.
const Result<LearnControls>& controls_of(const LearnExperiment& experiment);

}  // namespace attn::view
