#pragma once

#include <doctest/doctest.h>

#include <source_location>
#include <stop_token>
#include <string>
#include <utility>

#include "core/result.h"
#include "core/trace.h"

/// The sentence of an error; "" where there is none.
template <class T>
std::string sentence_in(const attn::Result<T>& result) {
    return result ? "" : result.error().text();
}

/// What a Result or an optional holds, which must be there. The line that asks is said when it is not.
template <class Maybe>
auto must(Maybe maybe, std::source_location at = std::source_location::current()) {
    const auto line = at.line();
    CAPTURE(line);
    if constexpr (requires { maybe.error().text(); })
        REQUIRE_MESSAGE(maybe, sentence_in(maybe));
    else
        REQUIRE(maybe.has_value());
    return *std::move(maybe);
}

/// The error of what must have failed.
template <class T>
attn::Error must_fail(const attn::Result<T>& result,
                      std::source_location at = std::source_location::current()) {
    const auto line = at.line();
    CAPTURE(line);
    REQUIRE_FALSE(result.has_value());
    return result.error();
}

/// The token of what was asked to stop before it began.
inline std::stop_token stopped() {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
}
