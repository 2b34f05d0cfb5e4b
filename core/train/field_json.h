#pragma once

#include <string>
#include <string_view>

#include "core/result.h"
#include "core/train/spec.h"

namespace attn::train {

// One field of a specification, for a program that shows each in a field of its own.

/// The field as JSON: "64", "\"rotary\""; "" of an unknown name.
std::string field_to_json(const Spec& spec, std::string_view field);
/// The specification with another value of the field, as JSON. A task without a language drops the language. `what` names the
/// specification in errors.
Result<Spec> with_field(Spec spec, std::string_view field, std::string_view value,
                        std::string_view what);

}  // namespace attn::train
