#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/forward.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/sizes.h"
#include "core/stage.h"

namespace attn {

struct Dimensions;

/// One way to compute attention. Stateless; `forward` and `backward` may run on any thread.
/// Both trust the call, which validate() made; engine.h calls supports() before them.
class Backend {
  public:
    virtual ~Backend() = default;

    virtual std::string_view name() const = 0;
    /// One line: arithmetic and purpose.
    virtual std::string_view description() const = 0;
    /// The stages that it can keep.
    virtual StageSet stages() const = 0;
    /// Why it cannot run on this machine; nullopt when it can.
    virtual std::optional<std::string> unavailable() const { return std::nullopt; }
    /// True when it computes on a device of its own, a graphics card: any call of it, unavailable() too, may take long
    /// whatever the sizes, and what must answer at once should not wait for it.
    virtual bool has_device() const { return false; }

    /// Why it cannot compute this call; nullopt when it can. Memory is another matter: forward() counts it.
    virtual std::optional<std::string> supports(const Call& /*call*/) const { return std::nullopt; }
    virtual bool has_backward() const { return true; }

    /// Every stage in `keep` that exists in this call, and logsumexp always. Fails soon after `control` was stopped.
    virtual Result<Trace> forward(const Call& call, StageSet keep,
                                  const RunControl& control = {}) const = 0;
    /// The gradient of every stage, of the inputs and of every parameter. `forward` must hold the
    /// stages of `stages()` in full.
    virtual Result<Trace> backward(const Call& call, const Trace& forward, const Upstream& upstream,
                                   const RunControl& control = {}) const = 0;
};

/// Backends to choose from.
using BackendList = std::span<const Backend* const>;

/// The backends of the core, the reference first. A program with others beside them (a graphics card's) hands its own list
/// to the caller that chooses.
BackendList backends();
/// nullptr when no backend has that name.
const Backend* find_backend(std::string_view name, BackendList among = backends());

/// Up to this number of pairs [B,H,Tq,Tk] "auto" computes every stage when the caller names none. One head of 4096 tokens:
/// 16 bytes a pair are 256 MiB, and as much again for its gradients, which any desktop machine has; beyond it
/// single numbers are read on request only.
inline constexpr Index kMostStagedPairs = Index{1} << 24;

/// The backend that computes a call of `size` when `name` is requested. "auto" is fused unless a stage in `keep` has a
/// number for each pair, which fused never stores; then it is staged, but where `keep` is every stage ("whatever can
/// be kept") only up to kMostStagedPairs. An error lists the names, or states why the named one cannot run here.
Result<const Backend*> choose_backend(std::string_view name, const Dimensions& size, StageSet keep,
                                      BackendList among = backends());
/// The same for one call: "auto" takes staged where fused does not support it.
Result<const Backend*> choose_backend(std::string_view name, const Call& call, StageSet keep,
                                      BackendList among = backends());
/// The error of a backend that has no backward pass; names those of `among` that have one.
Failure no_backward(const Backend& backend, BackendList among = backends());

}  // namespace attn
