#include <cstdlib>
#include <utility>

#include "app/platform/signals.h"

namespace attn {
namespace {

// A function of atexit() is given nothing: what it needs is global.
struct LastAct {
    std::function<void(Exiting)> save;
    std::thread::id thread;
};
LastAct last_act;

void act_last() {
    if (!last_act.save) return;
    const bool own = last_act.thread == std::this_thread::get_id();
    std::exchange(last_act.save, nullptr)(own ? Exiting::own_thread : Exiting::other_thread);
    std::_Exit(EXIT_FAILURE);  // what else exit() ends is still in use by other threads
}

}  // namespace

AtExit::AtExit(std::function<void(Exiting)> save) {
    static const int registered = std::atexit(act_last);
    static_cast<void>(registered);
    last_act = {std::move(save), std::this_thread::get_id()};
}

AtExit::~AtExit() { last_act = {}; }

}  // namespace attn
