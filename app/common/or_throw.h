#pragma once

#include <type_traits>
#include <utility>

#include "core/result.h"

namespace attn {

// Where nearly every line may fail, as in reading a file, an error is thrown (`throw bad_input(...)`) from within a room
// and is a Result at its border.

/// The value of a result; its error is thrown.
template <class T>
T or_throw(Result<T> result) {
    if (!result) throw Failure(std::move(result.error()));
    if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// The result of `work`, or the error that it throws.
template <class Work>
Result<std::invoke_result_t<Work>> caught(const Work& work) try {
    if constexpr (!std::is_void_v<std::invoke_result_t<Work>>) return work();
    work();
    return {};
} catch (const tl::unexpected<Error>& error) {
    return error;
}

/// The same where nothing may get past: on a thread, in a job, in main(). Whatever else is thrown is an error too.
template <class Work>
Result<std::invoke_result_t<Work>> contained(const Work& work) try {
    return caught(work);
} catch (...) {
    return tl::unexpected(error_of(std::current_exception()));
}

}  // namespace attn
