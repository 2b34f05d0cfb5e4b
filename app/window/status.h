#pragma once

#include <string>

namespace attn::view {

struct Message;

/// Words of the bottom line at most.
inline constexpr int kLongestStatus = 10;

/// The message as the bottom line shows it: of a remark its first sentences or clauses, as many as have few words, and
/// the first of them at any length. Warnings and errors whole.
std::string status_text(const Message& message);

}  // namespace attn::view
