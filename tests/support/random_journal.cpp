#include "tests/support/random_journal.h"

#include "app/window/journal.h"
#include "core/rng.h"
#include "tests/support/scramble.h"

namespace attn::test {

using namespace attn::view;

Actions random_journal(std::uint64_t seed) {
    constexpr int kLines = 30;
    static const std::vector<const ActionType*> all = [] {
        std::vector<const ActionType*> types = all_actions();
        std::erase_if(types, [](const ActionType* type) {
            return type->name.empty() || type == &kActionType<Quit>;
        });
        return types;
    }();
    Scramble scramble(mix(seed, 77));
    Actions actions;
    for (int n = 0; n < kLines; ++n) {
        const ActionType& type = *all[scramble.below(all.size())];
        const auto action = type.make();
        type.describe(scramble, action.get());
        // as a journal would have it: a value that no journal holds is no case
        const auto line = to_journal(Action(type, action));
        if (const auto read = from_journal(*line)) actions.push_back(*read);
    }
    return actions;
}

}  // namespace attn::test
