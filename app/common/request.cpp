#include "app/common/request.h"

#include <new>

#include <cctype>

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "core/run_control.h"
#include "core/stop.h"

namespace attn::view {

FailedRequest failed_request(std::string_view job, Request request,
                             const std::exception_ptr& thrown) {
    std::string text;
    try {
        std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        text = "there is not enough memory for it";
    } catch (...) {
        text = error_of(thrown).text();
    }
    text = sentence(fmt::format("{}: {}", job, text));
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return {std::string(job), std::make_shared<const Request>(std::move(request)), text};
}

Action answered(std::string_view job, const Request& request, const Opener& open,
                const RunControl& control) {
    try {
        const StopScope scope(control.stop);
        return request.answer(open, control);
    } catch (...) {
        return RequestFailed{failed_request(job, request, std::current_exception())};
    }
}

std::optional<Request> open_request(const RequestKind& kind, const AppState& state) {
    auto request = kind.requested ? kind.requested(state) : std::nullopt;
    const auto failed = std::ranges::find(state.failures, kind.name, &FailedRequest::job);
    if (request && failed != state.failures.end() && *failed->request == *request)
        return std::nullopt;
    return request;
}

std::string failure_of(const AppState& state, std::string_view job) {
    const auto failed = std::ranges::find(state.failures, job, &FailedRequest::job);
    return failed == state.failures.end() ? std::string() : failed->text;
}

std::string job_status_text(const AppState& state, std::string_view job, std::string text) {
    std::string failure = failure_of(state, job);
    return failure.empty() ? std::move(text) : failure;
}

}  // namespace attn::view
