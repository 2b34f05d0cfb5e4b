#include "app/common/document/saved.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/document/paint.h"
#include "app/common/document/reference.h"
#include "app/common/document/stored.h"
#include "app/common/fields.h"
#include "core/backend.h"
#include "core/io/paths.h"
#include "core/models/groups.h"
#include "core/spec_arrays.h"
#include "core/text.h"

namespace attn::view {
namespace {

/// A session's options over those of its file. It holds what the window can change; what an older one does not hold, and
/// the mask's own array where nothing was painted, stay as the file says.
AttentionSpec with_kind_of(const AttentionSpec& file, const DocumentReference& reference) {
    const AttentionSpec& saved = reference.spec;
    AttentionSpec session = file;
    session.heads = saved.heads, session.kv_heads = saved.kv_heads;
    session.scale = saved.scale, session.scale_value = saved.scale_value;
    session.temperature = saved.temperature;
    session.mask = saved.mask;
    session.empty_rows = saved.empty_rows;
    session.dropout = saved.dropout, session.seed = saved.seed, session.training = saved.training;
    if (reference.call) set_options(session, *reference.call);
    if (!reference.painted) session.mask.custom = file.mask.custom;
    session.mask.bias = file.mask.bias;
    session.bias_before_softcap = file.bias_before_softcap;
    if (reference.has_rules) return session;
    session.mask.window_left = file.mask.window_left;
    session.mask.window_right = file.mask.window_right;
    session.mask.global_tokens = file.mask.global_tokens;
    return session;
}

}  // namespace

using nlohmann::json;

namespace {

/// The options of a file that leaves something open: the session says in which corner its causal mask starts.
std::string with_corner(const DocumentReference& reference) {
    const auto& causal = reference.spec.mask.causal;
    if (!causal || !std::holds_alternative<std::string>(reference.what)) return reference.options;
    json options =
        reference.options.empty() ? json::object() : json::parse(reference.options, nullptr, false);
    if (!options.is_object()) return reference.options;
    options["causal"] = *causal == CausalAlign::top_left ? "top-left" : "bottom-right";
    return options.dump();
}

/// The images that a model reads, each as it is found, beside the session first. `absolute`: see DocumentReference.
Result<void> find_images(ModelOrigin& model, const std::string& absolute,
                         const std::filesystem::path& folder) {
    std::string& files = model.image ? model.text : model.second_input;
    if (files.empty() || (!model.image && absolute.empty())) return {};
    const std::vector<std::string> places = parts_of(absolute);
    std::optional<Error> fault;
    files = with_parts(files, [&, n = std::size_t{0}](const std::string& file) mutable {
        auto found = find_named(folder, file, n < places.size() ? places[n] : "");
        ++n;
        if (found) return *std::move(found);
        fault = found.error();
        return file;
    });
    if (fault) return tl::unexpected(*fault);
    return {};
}

/// A file is looked for beside the session first.
Result<Document> open_reference(const json& value, const std::string& where,
                                const SessionContext& context) {
    auto reference = reference_from_json(value, where);
    if (!reference) return tl::unexpected(reference.error());
    if (!context.open) return failed(where + " is a separate file, which cannot be opened here");
    auto* const text = std::get_if<ModelText>(&reference->what);
    auto* const named = text ? &text->model.path : std::get_if<std::string>(&reference->what);
    if (named && !context.folder.empty()) {
        auto found = find_named(context.folder, *named, reference->absolute);
        if (!found) return bad_input(where + ": " + found.error().text());
        *named = *std::move(found);
    }
    if (text && !context.folder.empty())
        if (auto found = find_images(text->model, reference->absolute_image, context.folder);
            !found)
            return bad_input(where + ": " + found.error().text());
    OpenRequest request{{}, 0, reference->options};
    std::visit([&](const auto& what) { request.what = what; }, reference->what);
    auto opened = context.open(request, {});
    if (opened && opened->document->question) {
        request.options = with_corner(*reference);
        opened = context.open(request, {});
    }
    if (!opened) return tl::unexpected(opened.error());
    return resolved(*opened->document, *reference);
}

}  // namespace

Result<Document> read_saved_document(Fields& fields, const SessionContext& context) {
    const json* found = fields.find("document");
    if (found == nullptr) return bad_input(fields.where() + " has no 'document'");
    const std::string where = fields.where() + " 'document'";
    if (is_reference(*found)) return open_reference(*found, where, context);
    return document_from_json(found->dump(), where);
}

Result<void> compute_saved(AppState& state) {
    const bool known = state.backend == kAuto || find_backend(state.backend, state.backends);
    if (!known) {
        state.backend_failure =
            fmt::format("There is no backend {} here", shortened(state.backend));
        state.backend = kAuto;
    }
    return compute(state);
}

AppState saved_state(Document document, const SessionContext& context) {
    AppState state;
    state.backends = context.backends;
    state.workspaces = context.workspaces;
    state.history.emplace_back().document = std::make_shared<const Document>(std::move(document));
    return state;
}

void read_place(Fields& fields, AppState& state) {
    fields.read("batch", state.batch);
    fields.read("head", state.head);
    const Dimensions& size = state.document().size;
    const auto outside = [](Index value, Index count) {
        return value < 0 || value >= std::max<Index>(count, 1);
    };
    if (outside(state.head, size.heads))
        fields.complain(
            fmt::format("has 'head' = {}: expected 0 to {}", state.head, size.heads - 1));
    if (outside(state.batch, size.batch))
        fields.complain(
            fmt::format("has 'batch' = {}: expected 0 to {}", state.batch, size.batch - 1));
}

Result<Document> resolved(Document document, const DocumentReference& reference) {
    const Index layers = static_cast<Index>(document.layers.size());
    if (reference.layer < 0 || reference.layer >= layers)
        return bad_input(fmt::format("{} has no layer {}: it has {}, counted from 0",
                                     document.title, reference.layer, layers));
    look_at_layer(document, reference.layer);
    const Document opened = document;
    document.spec = with_kind_of(document.spec, reference);
    if (!document.spec.rope) document.rope_before = opened.spec.rope;
    if (const auto& before = reference.rope_before) set_rope(document.rope_before, *before);
    document.painted = reference.painted;
    for (const InputEdit& edit : reference.edits) {
        if (auto valid = check_input(document, edit); !valid)
            return tl::unexpected(within(document.title, valid.error()));
        set_input(document, edit);
        document.edits.push_back(edit);
    }
    auto painted = with_strokes(std::move(document), reference.bias_strokes);
    if (!painted) return tl::unexpected(within(opened.title, painted.error()));
    document = *std::move(painted);
    leave_stored(opened, document);
    document.targets = reference.targets;
    if (!document.edits.empty()) document.note += ", edited";
    return with_size(std::move(document));
}

}  // namespace attn::view
