#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/common/slots.h"
#include "core/result.h"
#include "core/sizes.h"

namespace attn::view {

struct Checked;

/// How far a number is from what is expected.
enum class ErrorScale : std::uint8_t {
    tolerance,   // |actual − expected| in units of what is allowed
    difference,  // actual − expected
    relative,    // |actual − expected| / |expected|
    ulp          // float32 numbers between the two
};
/// What |actual − expected| may be.
enum class Allowed : std::uint8_t {
    precision,  // what the precision of the numbers makes of it
    e7,         // 1e-7 (1 + |expected|)
    e6,
    e5,
    e4,
    e3,
    e2
};
inline constexpr double kAllowed[] = {0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
/// One number of an array that is checked.
struct CheckedCell {
    Index b = 0;
    Index h = 0;
    Index t = 0;
    Index d = 0;
    bool operator==(const CheckedCell&) const = default;
};

/// In the place of a fault's key: a causal mask that starts at the wrong key, where no results are given to check.
inline constexpr std::string_view kExampleFault = "example";
/// What the Verify workspace looks at. Not undone.
struct VerifyLook {
    std::string file;  // whose results are checked; "": those of what is open
    /// Key of the fault that is planted in the reference; "": none.
    std::string fault = std::string(kExampleFault);
    std::string array;                // key; "": the first that differs, else the weights
    std::optional<CheckedCell> cell;  // nullopt: the worst of the array
    ErrorScale scale = ErrorScale::tolerance;
    Allowed allowed = Allowed::precision;

    // of the moment: in no session and no journal
    std::shared_ptr<const Checked> result;  // null: not computed
};
void describe(Visitor& visit, VerifyLook& look);
/// Of another array its worst number is looked at.
Result<void> prepare(const AppState& state, VerifyLook& next, std::string_view changed);

inline constexpr Look<VerifyLook> verify_look;

}  // namespace attn::view
