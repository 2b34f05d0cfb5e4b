#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "app/workspaces/verify/actions.h"
#include "app/workspaces/verify/requests.h"
#include "app/workspaces/verify/view.h"
#include "core/cast.h"

namespace attn::view {
namespace {

using verify::Side;

/// The inputs of a document, with no results.
Side inputs_of(const Document& document) {
    Side side;
    side.path = document.title;
    side.spec = document.spec;
    if (is_empty(document)) return side;
    side.inputs = *document.inputs;
    side.input_names = verify::InputNames::call;
    side.has_values = !is_without_values(document);
    return side;
}

void add_results(Side& side, Trace results) {
    side.results = std::move(results);
    for (const Stage input : {Stage::x, Stage::x_kv}) side.results[input] = {};
    for (const StageInfo& stage : stage_table())
        if (!side.results[stage.stage].empty()) side.keys.emplace_back(stage.key);
    if (!side.results.logsumexp.empty()) side.keys.emplace_back("logsumexp");
}

/// The file of a document that nobody has edited since.
const FileOrigin* unedited_file(const Document& document) {
    const auto* file = std::get_if<FileOrigin>(&document.origin);
    return file != nullptr && document.edits.empty() ? file : nullptr;
}

Result<Side> side_of_file(const std::string& path, const std::string& options,
                          const Document& document, const Opener& open, const RunControl& control) {
    ResultsOf results{path};
    if (document.layers.size() > 1) results.layer = document.layer;
    const OpenRequest request{std::move(results), 0, options};
    auto opened = open(request, control);
    if (!opened) return tl::unexpected(opened.error());
    return *opened->side;
}

/// As docs/diff.md says of two files: what is open is expected, the file is checked. Of a toy or a model only its inputs
/// can be, and only where the file brings none.
Result<std::vector<Side>> sides_with_file(const CheckRequest& request, const Opener& open,
                                          const RunControl& control) {
    const Document& document = *request.document;
    const FileOrigin* const origin = unedited_file(document);
    std::vector<Side> sides;
    if (origin == nullptr) {
        sides.push_back(inputs_of(document));
    } else if (origin->path != request.file) {
        auto expected = side_of_file(origin->path, origin->options, document, open, control);
        if (!expected) return tl::unexpected(expected.error());
        sides.push_back(*std::move(expected));
    }
    const std::string options = origin == nullptr ? std::string() : origin->options;
    auto checked = side_of_file(request.file, options, document, open, control);
    if (!checked) return tl::unexpected(checked.error());
    const bool own = checked->input_names != verify::InputNames::none;
    if (origin == nullptr && own) sides.clear();  // other inputs: it is checked by its own
    const auto says_nothing = [](const Side& side) {
        return side.keys.empty() && side.input_names == verify::InputNames::none;
    };
    std::erase_if(sides, says_nothing);
    sides.push_back(*std::move(checked));
    return sides;
}

Result<std::vector<Side>> planted(const CheckRequest& request) {
    const auto table = verify::fault_table();
    const auto fault = std::ranges::find(table, request.fault, &verify::Fault::key);
    if (fault == table.end())
        return bad_input(fmt::format("there is no fault '{}' in the table", request.fault));
    Side side = inputs_of(*request.document);
    auto subject = verify::make_subject(cast<double>(side.inputs), side.spec);
    if (!subject) return tl::unexpected(subject.error());
    auto made = verify::plant(*subject, *fault);
    if (!made) return tl::unexpected(made.error());
    side.path = fmt::format("the planted fault “{}”", fault->key);
    side.notes = {fmt::format("Planted: {}; {}.", fault->words, made->variant)};
    add_results(side, std::move(made->results));
    return std::vector{std::move(side)};
}

Result<std::vector<Side>> sides_of(const CheckRequest& request, const Opener& open,
                                   const RunControl& control) {
    if (!request.fault.empty()) return planted(request);
    if (!request.file.empty()) return sides_with_file(request, open, control);
    if (const FileOrigin* const origin = unedited_file(*request.document)) {
        auto side = side_of_file(origin->path, origin->options, *request.document, open, control);
        if (!side) return tl::unexpected(side.error());
        if (!side->keys.empty()) return std::vector{*std::move(side)};
    }
    Side side = inputs_of(*request.document);
    side.path = fmt::format("backend {}", request.backend);
    add_results(side, *request.trace);
    return std::vector{std::move(side)};
}

Result<verify::DiffReport> report_of(const CheckRequest& request, const Opener& open,
                                     const RunControl& control) try {
    return sides_of(request, open, control).and_then([&](std::vector<Side> sides) {
        return verify::compare_sides(std::move(sides), std::nullopt, {.keep = true}, control);
    });
} catch (const std::bad_alloc&) {
    return bad_input("there is not enough memory to compare these results");
}

}  // namespace

std::optional<CheckRequest> requested_check(const AppState& state) {
    if (state.workspace != "verify" || !verify_lacks(state).empty()) return std::nullopt;
    const VerifyLook& look = verify_look(state);
    CheckRequest request{state.shared_document(), state.trace, state.backend_used, look.file,
                         look.fault};
    if (look.result && look.result->request == request) return std::nullopt;
    return request;
}

Action run(const CheckRequest& request, const Opener& open, const RunControl& control) {
    auto report = report_of(request, open, control);
    if (!report)
        return ResultsChecked{
            std::make_shared<const Checked>(Checked{request, report.error().sentence, {}})};
    return ResultsChecked{
        std::make_shared<const Checked>(Checked{request, {}, *std::move(report)})};
}

}  // namespace attn::view
