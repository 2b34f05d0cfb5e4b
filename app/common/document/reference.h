#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/common/document/call.h"
#include "app/common/document/document.h"
#include "app/common/document/opened.h"

namespace attn::view {

/// Of a file's session: where it stands, the session says all options of the call.
inline constexpr std::string_view kCallMark = "alibi";

// For whoever includes this: link attn::json too.

/// A document that a session does not hold but names: a file, a generated matrix, what a model read, and what was changed since.
struct DocumentReference {
    std::variant<std::string, large::PlantedSpec, ModelText, TrainedOrigin> what;
    std::string options;              // of a file, see FileOrigin
    std::string absolute;             // of a file or a model; "": not known
    std::string absolute_image = {};  // of the images that a model reads
    Index layer = 0;
    AttentionSpec spec;
    std::optional<CallSettings> call;  // older sessions did not hold it: as the file says
    std::optional<CallSettings> rope_before = {};  // that was switched off
    bool has_rules = false;                        // what of the mask older sessions did not hold
    bool painted = false;                          // the session has the painted mask, in `spec`
    std::vector<InputEdit> edits;
    std::vector<BiasStroke> bias_strokes;
    std::vector<Target> targets;
};
/// Whether the JSON of a document is one.
bool is_reference(const nlohmann::json& document);
Result<DocumentReference> reference_from_json(const nlohmann::json& value,
                                              std::string_view file_name);
/// The document as it was when it was saved, from the one that was opened.
Result<Document> resolved(Document document, const DocumentReference& reference);

}  // namespace attn::view
