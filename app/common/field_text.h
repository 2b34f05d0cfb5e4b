#pragma once

#include <string>

#include "app/common/describe.h"

namespace attn::view {

// Texts from the described fields of settings, for an action that sets all of them.

using DescribeFields = std::function<void(Visitor& visit)>;
/// The first field that is not the same: "d_k 64"; "" where all are.
std::string changed_text(const DescribeFields& before, const DescribeFields& after);
/// The valid range of the first field that is out of it, or the error of the description; "": all fields are valid.
std::string fault_of(const DescribeFields& fields);

template <Described T>
std::string changed_text(T before, T after) {
    return changed_text([&](Visitor& visit) { describe(visit, before); },
                        [&](Visitor& visit) { describe(visit, after); });
}
template <Described T>
std::string fault_of(T value) {
    return fault_of([&](Visitor& visit) { describe(visit, value); });
}

}  // namespace attn::view
