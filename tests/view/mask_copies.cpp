// For mask_copies.py: cases of masks with the code that is copied of each, and the engine's own mask. Writes
// FOLDER/<n>.numpy.py, FOLDER/<n>.pytorch.py, FOLDER/<n>.flex.py and FOLDER/<n>.txt, "B H Tq Tk" and a digit for each pair.
//   mask_copies FOLDER

#include <cstdio>
#include <fstream>

#include "app/common/document/document.h"
#include "core/masks.h"
#include "tests/view/sample_states.h"

using namespace attn::view;

namespace {

/// Masks of every kind over that many sequences, heads, queries and keys.
std::vector<Document> cases(Index batch, Index heads, Index queries, Index keys) {
    std::vector<Document> documents;
    const auto add = [&](const MaskSpec& mask, Index offset) {
        Document document;
        document.size = {
            .batch = batch, .heads = heads, .kv_heads = heads, .tq = queries, .tk = keys};
        document.size.query_offset = offset;
        document.spec.mask = mask;
        documents.push_back(document);
    };
    for (const Index offset : {Index{0}, keys - queries, Index{2}}) {
        MaskSpec mask;
        add(mask, offset);
        mask.causal = CausalAlign::top_left;
        add(mask, offset);
        mask.causal = CausalAlign::bottom_right;
        add(mask, offset);
        mask.window = 2;
        add(mask, offset);
        mask.window_left = 1;
        mask.global_tokens = 2;
        add(mask, offset);
        MaskSpec right;
        right.window_right = 1;
        add(right, offset);
        right.block = 2;
        right.padding.assign(batch, keys - 1);
        right.padding.back() = 1;
        add(right, offset);
        Mask painted(Shape{1, heads, queries, keys}, 1);
        painted(0, heads - 1, queries - 1, 0) = 0;
        right.custom = std::make_shared<const Mask>(painted);
        add(right, offset);
        Mask by_key(Shape{batch, 1, 1, keys}, 1);
        by_key(batch - 1, 0, 0, keys - 1) = 0;
        mask.custom = std::make_shared<const Mask>(by_key);
        add(mask, offset);
    }
    return documents;
}

void write(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

void write_case(const std::filesystem::path& folder, std::size_t n, const Document& document) {
    const std::string name = std::to_string(n);
    write(folder / (name + ".numpy.py"), mask_code(document, MaskCode::numpy));
    write(folder / (name + ".pytorch.py"), mask_code(document, MaskCode::pytorch));
    write(folder / (name + ".flex.py"), mask_code(document, MaskCode::flex_attention));
    const Dimensions& size = document.size;
    std::string text = std::to_string(size.batch) + " " + std::to_string(size.heads) + " " +
                       std::to_string(size.tq) + " " + std::to_string(size.tk) + "\n";
    const Mask all = materialise(document.spec.mask, size);
    for (const std::uint8_t each : all.values()) text += each != 0 ? '1' : '0';
    write(folder / (name + ".txt"), text + "\n");
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) return 2;
    std::vector<Document> all;
    for (const auto& [b, h, q, k] :
         {std::array<Index, 4>{1, 1, 4, 4}, {1, 2, 3, 5}, {2, 1, 5, 3}, {3, 2, 1, 4}})
        for (Document& document : cases(b, h, q, k)) all.push_back(std::move(document));
    std::filesystem::create_directories(arguments[1]);
    for (std::size_t n = 0; n < all.size(); ++n) write_case(arguments[1], n, all[n]);
    std::printf("%zu\n", all.size());
    return 0;
}
