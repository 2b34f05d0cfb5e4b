#include "app/common/document/reference.h"

#include <fmt/format.h>

#include "core/result.h"

namespace attn::view {
namespace {

/// A session's options over those of its file. It holds what the window can change; the kind of attention, and the
/// mask's own array where nothing was painted, stay as the file says.
AttentionSpec with_kind_of(const AttentionSpec& file, const DocumentReference& reference) {
    AttentionSpec session = reference.spec;
    session.score = file.score;
    session.rope = file.rope;
    session.softcap = file.softcap;
    session.alibi = file.alibi;
    session.query_offset = file.query_offset;
    if (!reference.painted) session.mask.custom = file.mask.custom;
    if (reference.has_rules) return session;
    session.mask.window_left = file.mask.window_left;
    session.mask.window_right = file.mask.window_right;
    session.mask.global_tokens = file.mask.global_tokens;
    return session;
}

}  // namespace

Result<Document> resolved(Document document, const DocumentReference& reference) {
    const Index layers = static_cast<Index>(document.layers.size());
    if (reference.layer < 0 || reference.layer >= layers)
        return bad_input(fmt::format("{} has no layer {}: it has {}, counted from 0",
                                     document.title, reference.layer, layers));
    document.spec = with_kind_of(document.spec, reference);
    document.painted = reference.painted;
    document.layer = reference.layer;
    document.inputs = document.layers[static_cast<std::size_t>(reference.layer)];
    for (const InputEdit& edit : reference.edits) {
        if (auto fine = check_input(document, edit); !fine)
            return bad_input(fmt::format("{}: {}", document.title, fine.error().sentence));
        set_input(document, edit);
        document.edits.push_back(edit);
    }
    document.targets = reference.targets;
    if (!document.edits.empty()) document.note += ", edited";
    return with_size(std::move(document));
}

}  // namespace attn::view
