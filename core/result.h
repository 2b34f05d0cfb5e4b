#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace attn {

/// Whose fault it is.
enum class ErrorKind { input, failure };

/// One sentence that names the thing, its value, and what was expected or the valid choices.
struct Error {
    std::string sentence;
    ErrorKind kind = ErrorKind::input;
};

/// What a user can cause is a Result; what only a bug can cause is an ATTN_CHECK (check.h).
template <class T>
using Result = tl::expected<T, Error>;

/// `return bad_input(fmt::format(...))`: the caller's file, shape or option is wrong.
[[nodiscard]] inline tl::unexpected<Error> bad_input(std::string sentence) {
    return tl::unexpected<Error>(Error{std::move(sentence), ErrorKind::input});
}

/// `return failed(...)`: the input was fine, the machine was not (disk full, out of memory).
[[nodiscard]] inline tl::unexpected<Error> failed(std::string sentence) {
    return tl::unexpected<Error>(Error{std::move(sentence), ErrorKind::failure});
}

}  // namespace attn
