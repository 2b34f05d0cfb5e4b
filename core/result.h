#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace attn {

/// Whose fault it is.
enum class ErrorKind { input, failure };

/// What is wrong with an input, for programs. Append-only: scripts compare key_of().
enum class ErrorCode : std::uint8_t {
    invalid_input,     // `problem` says what is wrong
    unexpected_value,  // `subject` is `value`, which is not `expected`
    ambiguous,         // the input has several readings; each remedy selects one
    missing,           // the input lacks something that the call needs
};

/// One way to repair an Error: an option with its value, or, without an option, an `advice`.
struct Remedy {
    std::string option;        // key of an option: "layout"
    std::string value = {};    // "tokens-first"; "N" where the reader chooses
    std::string meaning = {};  // "times 1/√N, N the width of a query"
    std::string when = {};     // "the axes of Q are [T, H, d]"; "": always
    std::string advice = {};   // "save Q, K and V"
};

/// How a text names options: `flags` of a command ("Pass --layout joined"), or `controls` of the window ("In Arrays choose
/// layout joined").
enum class OptionStyle : std::uint8_t { flags, controls };

/// What is wrong, the value, what is expected, and how to repair it. Front ends make the text.
struct Error {
    std::string problem;  // "": `subject` is `value`
    ErrorKind kind = ErrorKind::input;
    ErrorCode code = ErrorCode::invalid_input;
    std::string where = {};  // the file, and what of it: "in.npz: layer 3"
    std::string subject = {}, value = {}, expected = {};
    std::vector<Remedy> remedies = {};
    OptionStyle style = OptionStyle::flags;  // of text(); the front end sets it

    /// "in.npz: window is −1; expected 0 or more. Pass --window 2": one line without a period at its end.
    std::string text() const;
};

/// "unexpected_value"; of whatever was no fault of the input "failure".
std::string_view key_of(const Error& error);

/// An error that a user can cause is a Result; one that only a bug can cause is an ATTN_CHECK (check.h).
template <class T>
using Result = tl::expected<T, Error>;

/// An error that is returned, as the error of a Result, or thrown: where it is thrown it is a std::exception, so that no
/// border that catches those lets it through.
struct Failure : std::exception, tl::unexpected<Error> {
    explicit Failure(Error error);
    const char* what() const noexcept override { return text_.c_str(); }

  private:
    std::string text_;
};

/// The longest text of an error in bytes: a value that it quotes may be a whole file.
inline constexpr std::size_t kMostErrorBytes = 2048;
/// A longer text without its middle: the beginning says what is wrong, the end what is expected.
std::string bounded_text(std::string text);

/// `return bad_input(fmt::format(...))`: the caller's file, shape or option is wrong.
[[nodiscard]] Failure bad_input(std::string problem, std::vector<Remedy> remedies = {},
                                ErrorCode code = ErrorCode::invalid_input);

/// `return unexpected_value("heads", "0", "1 or more")`: "heads is 0; expected 1 or more".
[[nodiscard]] Failure unexpected_value(std::string subject, std::string value,
                                       std::string expected);

/// `return failed(...)`: the input was fine, the machine was not (disk full, out of memory).
[[nodiscard]] Failure failed(std::string problem);

/// The same error of a part of `where`: "in.npz: " comes before its text.
[[nodiscard]] Error within(std::string_view where, Error error);

/// Of whatever was thrown, also what is no std::exception. A SizeError (sizes.h) is a fault of the input.
Error error_of(const std::exception_ptr& thrown);

}  // namespace attn
