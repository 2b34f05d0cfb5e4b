#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "app/common/action.h"
#include "app/common/document/opened.h"
#include "app/common/opener.h"

namespace attn {
struct RunControl;
}  // namespace attn

namespace attn::view {

struct AppState;
struct FailedRequest;

// A "request" is something that the screen needs and that takes too long for the window's thread. What a state requests
// now is a pure function of it; run() computes it and answers with an action, which apply() takes; then nothing is
// requested any more. app/jobs runs them beside the window.

/// A request of any kind: a value R with == and `Action run(const R&, const RunControl&)`, or with an Opener between them.
class Request {
  public:
    template <class R>
    requires(!std::is_same_v<R, Request>) Request(R what)  // NOLINT: converts
        : what_(std::make_shared<const R>(std::move(what))), type_(&kType<R>) {}

    bool operator==(const Request& other) const {
        return type_ == other.type_ && type_->same(what_.get(), other.what_.get());
    }
    Action answer(const Opener& open, const RunControl& control) const {
        return type_->answer(what_.get(), open, control);
    }
    /// nullptr when it is of another type.
    template <class R>
    const R* as() const {
        return type_ == &kType<R> ? static_cast<const R*>(what_.get()) : nullptr;
    }

  private:
    struct Type {
        bool (*same)(const void* a, const void* b);
        Action (*answer)(const void* what, const Opener& open, const RunControl& control);
    };
    template <class R>
    static Action answer_one(const void* what, const Opener& open, const RunControl& control) {
        const R& request = *static_cast<const R*>(what);
        if constexpr (requires { run(request, open, control); })
            return run(request, open, control);
        else
            return run(request, control);
    }
    template <class R>
    static constexpr Type kType{[](const void* a, const void* b) {
                                    return *static_cast<const R*>(a) == *static_cast<const R*>(b);
                                },
                                answer_one<R>};

    std::shared_ptr<const void> what_;
    const Type* type_;
};

/// One kind of request, answered on another thread.
class Job {
  public:
    virtual ~Job() = default;
    /// Updates the request of `state`. A request that is new begins, one that is not made any more is cancelled: the newest
    /// wins. Never waits.
    virtual void update(const AppState& state) = 0;
    /// Answers since the last call, oldest first.
    virtual Actions take() = 0;
    /// Waits until the last request is answered in full; take() brings the answer.
    virtual void wait_until_idle() = 0;
};

/// A row of a workspace's table of requests.
struct RequestKind {
    std::string_view name;  // used in its progress messages
    std::optional<Request> (*requested)(const AppState& state);
    /// A job of its own for one that is answered again and again; `wake` is called from other threads when something can
    /// be taken. Null: one answer, by jobs/worker.h.
    std::unique_ptr<Job> (*make)(std::function<void()> wake) = nullptr;
    bool lasts = false;  // a map: there is no one answer to wait for
};
/// The answer for an exception of a job: too little memory, or the error of a library.
FailedRequest failed_request(std::string_view job, Request request,
                             const std::exception_ptr& thrown);
/// Its answer; RequestFailed where something is thrown.
Action answered(std::string_view job, const Request& request, const Opener& open,
                const RunControl& control);
/// What the state requests of that kind and was not tried in vain: what failed is not tried again until something else is
/// requested, or nothing.
std::optional<Request> open_request(const RequestKind& kind, const AppState& state);

/// The row of a function that returns a request of one type.
template <auto Requested>
constexpr RequestKind request_kind(std::string_view name) {
    return {name, [](const AppState& state) -> std::optional<Request> {
                auto request = Requested(state);
                if (!request) return std::nullopt;
                return Request(*std::move(request));
            }};
}

}  // namespace attn::view
