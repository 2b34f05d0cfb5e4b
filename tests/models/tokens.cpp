// The numbers of the tokens of lines, for against_tokenizers.py: tokens FILE < lines.json > ids.json, where FILE is a
// tokenizer.json or a .gguf. A line that cannot be tokenized gives the error in place of its numbers.
#include <iostream>
#include <iterator>

#include "core/io/file.h"
#include "core/io/gguf.h"
#include "core/io/json.h"
#include "core/models/gguf.h"
#include "core/models/tokenizer.h"

using namespace attn;
using nlohmann::json;

namespace {

Result<Tokenizer> opened(const std::string& file) {
    if (file.ends_with(".gguf")) {
        const auto found = open_gguf(file);
        if (!found) return tl::unexpected(found.error());
        return tokenizer_of_gguf(found->header.values, file);
    }
    return read_text_file(file).and_then(
        [&](const std::string& text) { return Tokenizer::parse(text, file); });
}

json ids_of(const Tokenizer& tokenizer, const std::string& line) {
    json ids = json::array();
    try {
        for (const ModelToken& token : tokenizer.encode(line)) ids.push_back(token.id);
    } catch (const Failure& found) {
        return found.value().text();
    }
    return ids;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    const auto tokenizer = opened(arguments[1]);
    if (!tokenizer) {
        std::cerr << tokenizer.error().text() << '\n';
        return 1;
    }
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    json all = json::array();
    for (const json& line : json::parse(text)) all.push_back(ids_of(*tokenizer, line));
    std::cout << all.dump() << '\n';
}
