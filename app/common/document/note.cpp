#include "app/common/document/note.h"

#include <utility>

#include "app/common/document/edits.h"
#include "app/common/document/toy.h"

namespace attn::view {
namespace {

/// Whether the same Q, K and V make the same weights under both.
bool weighs_alike(const AttentionSpec& a, const AttentionSpec& b) {
    const bool windows =
        a.mask.window == b.mask.window && a.mask.window_left == b.mask.window_left &&
        a.mask.window_right == b.mask.window_right && a.mask.global_tokens == b.mask.global_tokens;
    const bool masks = a.mask.causal == b.mask.causal && windows && a.mask.block == b.mask.block &&
                       a.mask.padding == b.mask.padding && a.mask.custom == b.mask.custom;
    const bool values = a.scale != ScaleKind::value || a.scale_value == b.scale_value;
    return masks && values && a.scale == b.scale && a.temperature == b.temperature;
}

}  // namespace

void settle_note(const AppState& state, Document& document) {
    for (auto edit = state.history.rbegin(); edit != state.history.rend(); ++edit) {
        const Document& said = *edit->document;
        if (said.inputs != document.inputs || !weighs_alike(said.spec, document.spec)) continue;
        document.note = said.note;
        document.head_names = said.head_names;
        return;
    }
    constexpr std::string_view kEdited = ", edited";
    const bool edited = document.note.ends_with(kEdited);
    document.note = toy_note(document);
    if (edited && !document.note.ends_with(kEdited)) document.note += kEdited;
    document.head_names.clear();
}

void edit_spec(AppState& state, Document document, const std::string& words) {
    if (is_toy(document)) settle_note(state, document);
    edit_document(state, std::move(document), words);
}

}  // namespace attn::view
