#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.h"

namespace attn {

// Pickles of Python, protocols 2 to 5, read as data: a call of a function is a value that names the function and its arguments,
// and nothing is looked up or run. Who reads one decides which calls it knows. Source: Lib/pickletools.py of CPython.

/// The place of a value in Pickle::values.
using PickleId = std::uint32_t;

struct PickleNone {};
struct PickleBytes {
    std::string_view bytes;
};
/// A list, a tuple or a set.
struct PickleList {
    std::vector<PickleId> items;
};
struct PickleDict {
    std::vector<std::pair<PickleId, PickleId>> items;
};
/// A function or class of a module.
struct PickleName {
    std::string_view module, name;
};
/// function(*arguments), and its state and items, which are set afterwards.
struct PickleCall {
    PickleId function = 0;
    std::vector<PickleId> arguments;
    std::optional<PickleId> state = {};  // of __setstate__
    std::vector<std::pair<PickleId, PickleId>> items = {};
};
/// What the writer keeps elsewhere, by its name there.
struct PicklePersistent {
    PickleId name = 0;
};

using PickleValue =
    std::variant<PickleNone, bool, std::int64_t, double, std::string_view, PickleBytes, PickleList,
                 PickleDict, PickleName, PickleCall, PicklePersistent>;

/// The values of one pickle, which refer to each other by place. A value can contain itself.
struct Pickle {
    std::deque<PickleValue> values;
    PickleId root = 0;

    /// The value at a place as one type; null: it is another.
    template <class T>
    const T* as(PickleId id) const {
        return std::get_if<T>(&values[id]);
    }
};

/// A pickle of more values is refused.
inline constexpr std::size_t kMostPickleValues = std::size_t{1} << 22;

/// `bytes` must outlive the result, whose texts are parts of it. Bytes after the end are let pass. Refuses codes of protocols 0
/// and 1 as text, extensions, and buffers that lie outside of the pickle; `what` names it in errors.
Result<Pickle> parse_pickle(std::string_view bytes, std::string_view what);

}  // namespace attn
