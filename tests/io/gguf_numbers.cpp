// gguf_numbers FILE.gguf: the numbers of its arrays in float32, one array behind the other, on standard output. For
// gguf_types_test.py.
#include <cstdio>
#include <variant>
#include <vector>

#include "core/io/gguf.h"

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const auto file = attn::open_gguf(arguments[1]);
    if (!file) return std::fprintf(stderr, "%s\n", file.error().text().c_str()), 1;
    for (const std::string& name : file->arrays->names()) {
        const auto array = file->arrays->read(name);
        if (!array) return std::fprintf(stderr, "%s\n", array.error().text().c_str()), 1;
        const auto& numbers = std::get<std::vector<float>>(array->values);
        if (std::fwrite(numbers.data(), sizeof(float), numbers.size(), stdout) != numbers.size())
            return 1;
    }
    return 0;
}
