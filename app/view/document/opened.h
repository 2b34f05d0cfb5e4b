#pragma once

#include <memory>
#include <string>
#include <variant>

#include "app/view/document/document.h"

namespace attn::view {

struct AppState;

/// What is to be opened: a file by its path (tensors, a session, a preset), or a matrix to generate.
struct OpenRequest {
    std::variant<std::string, large::PlantedSpec> what;
    std::uint64_t number = 0;  // parts one request from the next, also for the same file
    bool operator==(const OpenRequest&) const = default;
};
/// "in.npz", or "131,072 generated tokens".
std::string words_of(const OpenRequest& request);

/// What came of it: a document, or a whole session.
struct Opened {
    std::shared_ptr<const Document> document;
    std::shared_ptr<const AppState> session;  // null: a document alone
    std::string notes;                        // what the reader wants to be known; "": nothing
};

}  // namespace attn::view
