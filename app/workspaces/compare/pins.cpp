#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/document/document.h"
#include "app/common/document/saved.h"
#include "app/common/fields.h"
#include "app/workspaces/compare/view.h"
#include "core/text.h"

namespace attn::view {

using nlohmann::json;

std::string write_pins(const AppState& state, const std::filesystem::path& folder) {
    const CompareLook& look = compare_look(state);
    std::string line;
    for (std::size_t n = 0; n < look.pins.size(); ++n) {
        const ComparePin& pin = look.pins[n];
        std::string document = document_to_json(*pin.document, folder);
        document.pop_back();  // its last line break
        line +=
            fmt::format("{}{{{}\"batch\": {}, \"head\": {}, \"backend\": {}, \"document\": {}}}",
                        line.empty() ? "" : ",\n", n == look.baseline ? "\"baseline\": true, " : "",
                        pin.batch, pin.head, json(pin.backend).dump(), document);
    }
    return line.empty() ? line : fmt::format("\"pins\": [{}],\n", line);
}

namespace {

/// Computed again; from what is open where it is of the same document. `unknown`: its fields of a later version;
/// `chosen`: whether it is the baseline.
Result<ComparePin> read_pin(const SessionReader& session, const json& value,
                            const std::string& where, UnknownFields& unknown, bool& chosen) {
    Fields fields(value, where);
    fields.keep_unknown(unknown);
    fields.read("baseline", chosen);
    std::string backend(kAuto);
    fields.read("backend", backend);
    const json* const document = fields.find("document");
    const json& open = *session.fields.find("document");
    if (document != nullptr && *document == open && backend == session.read.backend) {
        AppState same = session.read;
        read_place(fields, same);
        return fields.finish().map([&] { return pin_of(same); });
    }
    return read_saved_document(fields, session.context)
        .and_then([&](Document&& found) -> Result<ComparePin> {
            AppState pinned = saved_state(std::move(found), session.context);
            pinned.backend = backend;
            read_place(fields, pinned);
            if (auto valid = fields.finish(); !valid) return tl::unexpected(valid.error());
            if (auto done = compute_saved(pinned); !done)
                return tl::unexpected(within(where, done.error()));
            ComparePin pin = pin_of(pinned);
            pin.backend = backend;
            return pin;
        });
}

}  // namespace

/// One that cannot be had (a file that is no longer there) is left out, with a warning.
void read_pins(const SessionReader& session) {
    Fields& fields = session.fields;
    const json* const pins = fields.find("pins");
    if (pins == nullptr) return;
    if (!pins->is_array() || pins->size() > kMostPins)
        return fields.complain(
            fmt::format("has 'pins': expected a list of at most {} baselines", kMostPins));
    CompareLook& look = compare_look(session.read);
    std::string description;
    const auto note = [&](const std::string& each) {
        description += (description.empty() ? "" : " ") + each;
    };
    for (std::size_t n = 0; n < pins->size(); ++n) {
        const std::string where = fmt::format("{} pin {}", fields.where(), n + 1);
        UnknownFields unknown;
        bool chosen = false;
        auto pin = read_pin(session, (*pins)[n], where, unknown, chosen);
        if (!pin) note(fmt::format("Not pinned: {}.", pin.error().text()));
        if (pin && chosen) look.baseline = look.pins.size();
        if (pin) look.pins.push_back(*std::move(pin));
        for (const auto& [pointer, text] : unknown)
            note(fmt::format("Not used, and not kept, of {}: '{}'.", where,
                             shortened(pointer.substr(1))));
    }
    if (!description.empty()) session.read.notice = {description, Severity::warning};
}

}  // namespace attn::view
