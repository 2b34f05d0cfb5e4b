#include "app/common/typed.h"
#include "tests/view/view_test.h"

using namespace attn::view;

TEST_CASE("a seed is typed exactly up to 2^64 - 1, numbers as people write them") {
    CHECK(typed_seed("18446744073709551615") == 18446744073709551615ULL);
    CHECK(typed_seed(" 1,048,576 ") == 1048576);
    for (const char* text : {"", "18446744073709551616", "-1", "1.5", "1e3", "0x10", "seed"})
        CHECK_FALSE(typed_seed(text));
    CHECK(typed_whole("−5") == -5);
    CHECK(typed_whole("+64") == 64);
    CHECK_FALSE(typed_whole("9223372036854775808"));
    CHECK(typed_number("-1e-3") == -0.001);
    CHECK(typed_number("−∞") == -HUGE_VAL);
    CHECK(std::isnan(typed_number("nan").value()));
    CHECK_FALSE(typed_number("1,5"));
    CHECK(not_typed("1.5", "a whole number", "d_k", "4") ==
          "'1.5' is not a whole number; d_k stays 4");
}

TEST_CASE("what the keyboard is on is of the moment: in no journal, and it ends no gesture") {
    for (const Action& action :
         std::vector<Action>{FocusControl{7}, TypeInto{Typing{7, "1", true}}, MoveInList{2}}) {
        CHECK_FALSE(to_journal(action));
        const AppState dragged =
            after(initial_state(),
                  {BeginGesture{}, SetTemperature{1.1}, action, SetTemperature{1.2}, EndGesture{}});
        CHECK(dragged.now == 1);
    }
}
