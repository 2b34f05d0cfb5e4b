#include "app/common/inspector.h"

#include <fmt/format.h>

namespace attn::view {

std::string text_of(const InspectorView& view) {
    std::string text = fmt::format("{}: {}\n", view.title, view.value);
    if (!view.formula.empty()) text += view.formula + '\n';
    for (const std::vector<Line>* lines : {&view.lines, &view.geometry})
        for (const Line& line : *lines) {
            if (!line.label.empty()) text += line.label + ": ";
            for (const Piece& piece : line.pieces) text += piece.text;
            text += '\n';
        }
    return text;
}

}  // namespace attn::view
