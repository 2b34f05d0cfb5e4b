// Prints the random journal of a seed:   random_journal SEED

#include "tests/support/random_journal.h"
#include "app/window/journal.h"

#include <cstdlib>
#include <iostream>

int main(int count, char** text) {
    if (count != 2) return 2;
    for (const attn::view::Action& action :
         attn::test::random_journal(std::strtoull(text[1], nullptr, 10)))
        std::cout << attn::view::to_journal(action).value() << '\n';
}
