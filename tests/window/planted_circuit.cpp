// Writes a Llama of random weights with an induction circuit set by hand:   planted_circuit FOLDER
#include "tests/support/planted_circuit.h"

int main(int count, char** text) {
    if (count != 2) return 2;
    attn::test::planted_circuit(text[1]);
}
