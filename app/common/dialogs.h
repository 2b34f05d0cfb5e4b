#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "app/common/document/text_patch.h"

namespace attn::view {

// Messages, prompts and questions of the window: actions carry these values, the state holds them.

class Request;

enum class Severity : std::uint8_t { info, warning, error };
inline constexpr std::string_view kSeverityNames[] = {"info", "warning", "error"};
/// The bottom line: what just happened, in plain language.
struct Message {
    std::string text;
    Severity severity = Severity::info;
    bool restored = false;  // it stood there when the session that was opened was saved
    bool muted = false;     // the muted line says it too, in windows that have one
};

/// What is asked for: the path of a file to open, of a session to save, of a figure to write; a text to patch from; the path
/// of results to check; what a model's second stack reads.
enum class PromptKind : std::uint8_t { open, save, figure, runs, patch, check, beside };
struct Prompt {
    PromptKind kind = PromptKind::open;
    std::string path;        // as typed so far
    bool confirmed = false;  // the file exists, and a message said so
    TextPatch patch = {};    // what the text is for
};

/// Unsaved work of a program that was ended before it could save.
struct Recovery {
    std::string path;  // of what was kept
    std::string text;  // "The cat sat down, 2026-01-31 14:32"
    bool operator==(const Recovery&) const = default;
};
enum class RecoveryAnswer : std::uint8_t { resume, discard, later };
/// What is not saved as the program is to end.
struct UnsavedWork {
    bool shown = true;  // changes of the present document
    std::string
        left;  // "“The cat sat down”": changed documents that others took the place of; "": none
};
/// What is done with changes that are not saved when the program is to end: `keep`: they are offered at the next start.
enum class QuitAnswer : std::uint8_t { save, discard, keep, stay };

/// A request that could not be answered, because something was thrown meanwhile.
struct FailedRequest {
    std::string job;  // RequestKind::name
    std::shared_ptr<const Request> request;
    std::string text;  // a sentence, with the job's name
};

/// What is being typed in place of a slider's or a number field's value.
struct Typing {
    std::uint32_t control = 0;  // the ui's number of that control
    std::string text;
    bool selected = true;  // all of it at the start; false: its first letter was typed already
    bool operator==(const Typing&) const = default;
};

}  // namespace attn::view
