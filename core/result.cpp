#include "core/result.h"

#include <fmt/format.h>

#include <new>

#include "core/note.h"
#include "core/sizes.h"
#include "core/stop.h"
#include "core/text.h"

namespace attn {
namespace {

/// What the window calls an option that is no control of the same name.
struct WindowRemedy {
    std::string_view option, text;
};
constexpr WindowRemedy kWindowRemedies[] = {
    {"image", "Open an image (.png)"},
    {"text", "Type a text"},
};

/// "--layout joined", "layout joined"; a causal mask's value belongs to its flag: "--causal=top-left".
std::string option_text(const Remedy& remedy, OptionStyle style) {
    if (style == OptionStyle::controls)
        return fmt::format("{}{}{}", remedy.option, remedy.value.empty() ? "" : " ", remedy.value);
    const std::string_view sign = remedy.value.empty() ? "" : remedy.option == "causal" ? "=" : " ";
    return fmt::format("--{}{}{}", remedy.option, sign, remedy.value);
}

std::string with_reason(std::string text, const Remedy& remedy) {
    if (!remedy.meaning.empty()) text += fmt::format(" ({})", remedy.meaning);
    if (!remedy.when.empty()) text += fmt::format(" if {}", remedy.when);
    return text;
}

/// "Pass --scale none (…), --scale X (…) or --d-k N (…). Save Q, K and V"
std::string remedies_text(const std::vector<Remedy>& remedies, OptionStyle style) {
    std::vector<std::string> options, sentences;
    for (const Remedy& remedy : remedies) {
        if (remedy.option.empty()) {
            sentences.push_back(remedy.advice);
            continue;
        }
        const WindowRemedy* named = nullptr;
        for (const WindowRemedy& each : kWindowRemedies)
            if (style == OptionStyle::controls && each.option == remedy.option) named = &each;
        if (named)
            sentences.emplace_back(named->text);
        else
            options.push_back(with_reason(option_text(remedy, style), remedy));
    }
    if (!options.empty())
        sentences.insert(
            sentences.begin(),
            fmt::format("{} {}", style == OptionStyle::controls ? "In Arrays choose" : "Pass",
                        choices(options)));
    std::string text;
    for (const std::string& sentence : sentences) text += ". " + sentence;
    return text;
}

}  // namespace

std::string_view key_of(const Error& error) {
    if (error.kind == ErrorKind::failure) return "failure";
    switch (error.code) {
        case ErrorCode::invalid_input:
            return "invalid_input";
        case ErrorCode::unexpected_value:
            return "unexpected_value";
        case ErrorCode::ambiguous:
            return "ambiguous";
        case ErrorCode::missing:
            return "missing";
    }
    return "invalid_input";
}

std::string_view key_of(NoteCode code) {
    switch (code) {
        case NoteCode::general:
            return "general";
        case NoteCode::file_options:
            return "file_options";
        case NoteCode::given_pairs:
            return "given_pairs";
        case NoteCode::packed:
            return "packed";
        case NoteCode::rounded:
            return "rounded";
        case NoteCode::rounded_float64:
            return "rounded_float64";
    }
    return "general";
}

std::string text_of(std::span<const Note> notes) {
    std::string text;
    for (const Note& note : notes) text += (text.empty() ? "" : "; ") + note.text;
    return text;
}

std::string bounded_text(std::string text) {
    if (text.size() <= kMostErrorBytes) return text;
    constexpr std::string_view kGap = " … ";
    constexpr std::size_t kEnd = kMostErrorBytes / 3;
    std::size_t begin = kMostErrorBytes - kEnd - kGap.size(), end = text.size() - kEnd;
    const auto splits_code_point = [&](std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    for (int n = 0; n < 3 && splits_code_point(begin); ++n) --begin;
    for (int n = 0; n < 3 && splits_code_point(end); ++n) ++end;
    return text.replace(begin, end - begin, kGap);
}

Failure::Failure(Error error) : tl::unexpected<Error>(std::move(error)), text_(value().text()) {}

Failure bad_input(std::string problem, std::vector<Remedy> remedies, ErrorCode code) {
    return Failure(
        Error{.problem = std::move(problem), .code = code, .remedies = std::move(remedies)});
}

Failure unexpected_value(std::string subject, std::string value, std::string expected) {
    return Failure(Error{.problem = {},
                         .code = ErrorCode::unexpected_value,
                         .subject = std::move(subject),
                         .value = std::move(value),
                         .expected = std::move(expected)});
}

Failure failed(std::string problem) {
    return Failure(Error{.problem = std::move(problem), .kind = ErrorKind::failure});
}

std::string Error::text() const {
    std::string text = where.empty() ? "" : where + ": ";
    text += problem.empty() ? fmt::format("{} is {}", subject, value) : problem;
    if (!expected.empty()) text += "; expected " + expected;
    return bounded_text(text + remedies_text(remedies, style));
}

Error within(std::string_view where, Error error) {
    error.where =
        error.where.empty() ? std::string(where) : fmt::format("{}: {}", where, error.where);
    return error;
}

Error error_of(const std::exception_ptr& thrown) {
    try {
        std::rethrow_exception(thrown);
    } catch (const tl::unexpected<Error>& failure) {
        return failure.value();
    } catch (const std::bad_alloc&) {
        return {"there is not enough memory", ErrorKind::failure};
    } catch (const Stopped&) {
        return {"it was stopped", ErrorKind::failure};
    } catch (const SizeError& error) {
        return {error.what(), ErrorKind::input};
    } catch (const std::exception& error) {
        return {error.what(), ErrorKind::failure};
    } catch (...) {
        return {"an unknown exception was thrown", ErrorKind::failure};
    }
}

}  // namespace attn
