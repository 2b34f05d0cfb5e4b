#include <fmt/format.h>

#include <cmath>
#include <new>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/opened.h"
#include "app/common/workspace.h"
#include "app/workspaces/verify/actions.h"
#include "app/workspaces/verify/view.h"
#include "core/cast.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

bool is_file(const AppState& state) {
    return std::holds_alternative<FileOrigin>(state.document().origin);
}

Action checked_beside(const AppState& state, Index step) {
    const verify::DiffRow* const shown = shown_array(state);
    if (shown == nullptr) return ShowChecked{verify_look(state).array};
    const auto& rows = verify_look(state).result->report.rows;
    const Index to = std::clamp<Index>(shown - rows.data() + step, 0, std::ssize(rows) - 1);
    return ShowChecked{rows[to].key};
}

Action moved_cell(const AppState& state, Index rows, Index columns, Index heads = 0) {
    const auto at = shown_cell(state);
    if (!at) return SelectWorst{};
    const Shape shape = shown_array(state)->actual->shape();
    const Index head = std::clamp<Index>(at->b * shape.h + at->h + heads, 0, shape.b * shape.h - 1);
    return SelectChecked{head / shape.h, head % shape.h,
                         std::clamp<Index>(at->t + rows, 0, shape.t - 1),
                         std::clamp<Index>(at->d + columns, 0, shape.d - 1)};
}

Action fault_beside(const AppState& state, Index step) {
    const auto table = verify::fault_table();
    const auto found = std::ranges::find(table, verify_look(state).fault, &verify::Fault::key);
    const Index count = std::ssize(table) + 1;  // with "none"
    const Index at = found == table.end() ? 0 : found - table.begin() + 1;
    const Index to = (at + step + count) % count;
    return PlantFault{to == 0 ? std::string() : std::string(table[to - 1].key)};
}

void enter_verify(AppState& state) {
    if (const std::string missing_data = verify_missing_data(state); !missing_data.empty())
        return show_message(state, missing_data);
    if (applied_fault(state) == kExampleFault)
        return show_message(state, "Esc removes the example's fault, C checks a file.");
    show_message(state, "C checks a file; F plants a fault; W shows the worst number.");
}

void add_verify_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Verify"};
    const VerifyLook& look = verify_look(state);
    add("Check a file of results", Key::c, ShowPrompt{PromptKind::check});
    add("Check the open document", Key::x, CheckFile{""},
        !look.file.empty() || !look.fault.empty());
    const bool computes = stages_lack(state.document()).empty() && !is_empty(state.document());
    add("Plant the next fault", Key::f, fault_beside(state, 1), computes);
    add("Plant the previous fault", shift(Key::f), fault_beside(state, -1), computes);
    for (const verify::Fault& fault : verify::fault_table())
        add(fmt::format("Plant a fault: {}", fault.text), {}, PlantFault{std::string(fault.key)},
            computes && look.fault != fault.key);
    const auto next = static_cast<std::size_t>(look.scale) + 1;
    add("Next error measure", Key::n,
        SetErrorScale{static_cast<ErrorScale>(next % std::size(kScaleText))});
    const bool any = shown_cell(state).has_value();
    add("Select the worst number of the array", Key::w, SelectWorst{}, any);
    add("The previous array", Key::page_up, checked_beside(state, -1), any);
    add("The next array", Key::page_down, checked_beside(state, 1), any);
    add("The number above", Key::up, moved_cell(state, -1, 0), any);
    add("The number below", Key::down, moved_cell(state, 1, 0), any);
    add("The number on the left", Key::left, moved_cell(state, 0, -1), any);
    add("The number on the right", Key::right, moved_cell(state, 0, 1), any);
    add("The previous head", Key::comma, moved_cell(state, 0, 0, -1), any);
    add("The next head", Key::period, moved_cell(state, 0, 0, 1), any);
    const auto in_step = checked_in_step(state);
    add("Open this number in Step", Key::enter, in_step.value_or(OpenCheckedInStep{}),
        in_step.has_value());
    add_document_commands(list, state);
    add_presets(list, state, "Verify");
}

std::optional<Action> escape_verify(const AppState& state) {
    if (!verify_look(state).fault.empty()) return PlantFault{""};
    return std::nullopt;
}

void clear_verify(AppState& state) {
    const VerifyLook was = verify_look(state);
    verify_look(state) = {};
    if (was.fault != kExampleFault) verify_look(state).fault.clear();  // it was chosen once
    verify_look(state).scale = was.scale;
    verify_look(state).allowed = was.allowed;
}

/// Its file, from wherever the session is opened.
void write_verify(Visitor& part, const AppState& state) {
    VerifyLook look = verify_look(state);
    if (!look.file.empty()) look.file = std::filesystem::absolute(look.file).string();
    describe(part, look);
}

std::string verify_figure_name(const AppState& state) {
    const verify::DiffRow* const row = shown_array(state);
    return row == nullptr ? "verify" : fmt::format("verify-{}", row->key);
}

std::vector<Shot> verify_shots() {
    return {{"", {LoadPreset{"three-heads"}, SetCausal{true}, PlantFault{"scale"}}},
            {"example", {LoadPreset{"three-heads"}}},
            {"equal", {LoadPreset{"three-heads"}, PlantFault{""}, SetErrorScale{ErrorScale::ulp}}}};
}

void check(AppState& state, const std::string& path) {
    VerifyLook& look = verify_look(state);
    look.file = path;
    look.fault.clear();
    look.array.clear();
    look.cell.reset();
    look.result = nullptr;
}

constexpr std::string_view kVerifyMouse[] = {
    "Click an array, a head or a row to select its worst number.",
    "Click a cell of the map: the inspector compares it with the expected number.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_check>("check"),
};
constexpr PersistedValue kPersisted[] = {persisted(verify_look)};

// --- what is compared

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

/// The file's side under the call that the window shows, which may be another by now.
Result<Side> side_of_document(const FileOrigin& origin, const Document& document,
                              const Opener& open, const RunControl& control) {
    auto side = side_of_file(origin.path, origin.options, document, open, control);
    if (!side) return side;
    const AttentionSpec own = std::exchange(side->spec, document.spec);
    side->mentions_call = true;
    if (!verify::same_call(own, document.spec)) side->options = "those of the window";
    return side;
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
        auto expected = side_of_document(*origin, document, open, control);
        if (!expected) return tl::unexpected(expected.error());
        sides.push_back(*std::move(expected));
    }
    const std::string options = origin == nullptr ? std::string() : origin->options;
    const bool same = origin != nullptr && origin->path == request.file;
    auto checked = same ? side_of_document(*origin, document, open, control)
                        : side_of_file(request.file, options, document, open, control);
    if (!checked) return tl::unexpected(checked.error());
    const bool own = checked->input_names != verify::InputNames::none;
    if (origin == nullptr && own) sides.clear();  // other inputs: it is checked by its own
    const auto is_silent = [](const Side& side) {
        return side.keys.empty() && side.input_names == verify::InputNames::none;
    };
    std::erase_if(sides, is_silent);
    sides.push_back(*std::move(checked));
    return sides;
}

bool all_finite(const Inputs& inputs) {
    const auto finite = [](const Tensor& tensor) {
        return std::ranges::all_of(tensor.values(),
                                   [](float value) { return std::isfinite(value); });
    };
    return finite(inputs.x) && finite(inputs.x_kv) && finite(inputs.q) && finite(inputs.k) &&
           finite(inputs.v) && std::ranges::all_of(inputs.params.tensors, finite);
}

Result<std::vector<Side>> planted(const CheckRequest& request) {
    const bool example = request.fault == kExampleFault;
    const std::string_view key = example ? "causal_alignment" : std::string_view(request.fault);
    const auto table = verify::fault_table();
    const auto fault = std::ranges::find(table, key, &verify::Fault::key);
    if (fault == table.end())
        return bad_input(fmt::format("there is no fault '{}' in the table", request.fault));
    Side side = inputs_of(*request.document);
    if (example && !all_finite(side.inputs)) return bad_input("an input is NaN or infinite");
    if (example && !side.spec.mask.causal) side.spec.mask.causal = CausalAlign::top_left;
    auto subject = verify::make_subject(cast<double>(side.inputs), side.spec);
    if (!subject) return tl::unexpected(subject.error());
    auto made = verify::plant(*subject, *fault);
    if (!made) return tl::unexpected(made.error());
    side.path = example ? "the example" : "the planted fault";
    side.notes = {
        fmt::format("{}: {}; {}.", example ? "Example" : "Planted", fault->text, made->variant)};
    add_results(side, std::move(made->results));
    return std::vector{std::move(side)};
}

Result<std::vector<Side>> sides_of(const CheckRequest& request, const Opener& open,
                                   const RunControl& control) {
    if (!request.file.empty()) return sides_with_file(request, open, control);
    if (const FileOrigin* const origin = unedited_file(*request.document)) {
        auto side = side_of_document(*origin, *request.document, open, control);
        if (!side) return tl::unexpected(side.error());
        if (!side->keys.empty()) return std::vector{*std::move(side)};
    }
    Side side = inputs_of(*request.document);
    side.path = request.backend;
    add_results(side, *request.trace);
    return std::vector{std::move(side)};
}

/// A fault that cannot be in these tensors is said, and what is open is compared without it.
Result<verify::DiffReport> report_of(const CheckRequest& request, const Opener& open,
                                     const RunControl& control, Checked& made) try {
    Result<std::vector<Side>> sides;
    if (!request.fault.empty()) sides = planted(request);
    const bool example = request.fault == kExampleFault;
    made.example = example && sides;
    if (!sides && !example) made.not_planted = sides.error().text();
    if (request.fault.empty() || !sides) sides = sides_of(request, open, control);
    if (!sides) return tl::unexpected(sides.error());
    std::optional<verify::Bounds> bounds;
    if (const double most = kAllowed[static_cast<std::size_t>(request.allowed)]; most > 0.0)
        bounds = verify::uniform_bounds({most, most});
    return verify::compare_sides(*std::move(sides), bounds, {.keep = true}, control);
} catch (const std::bad_alloc&) {
    return bad_input("there is not enough memory to compare these results");
}

}  // namespace

std::string verify_missing_data(const AppState& state) {
    if (!verify_look(state).file.empty() || is_file(state)) return {};
    const Document& document = state.document();
    if (is_empty(document))
        return "There is nothing to check: open tensors with results (Ctrl+O), or type a sentence "
               "in Step.";
    return stages_lack(document);
}

std::string applied_fault(const AppState& state) {
    const VerifyLook& look = verify_look(state);
    const bool given = !look.file.empty() || is_file(state);
    return look.fault == kExampleFault && given ? std::string() : look.fault;
}

bool shows_example(const AppState& state) {
    const auto& result = verify_look(state).result;
    return result && result->example;
}

std::optional<OpenCheckedInStep> checked_in_step(const AppState& state) {
    const verify::DiffRow* const row = shown_array(state);
    const auto at = shown_cell(state);
    if (row == nullptr || !at) return std::nullopt;
    const auto stage = find_stage(row->key);
    const Document& document = state.document();
    if (!stage || !stages_lack(document).empty()) return std::nullopt;
    const Tensor& shown = (*state.trace)[*stage];
    if (shown.shape() != row->actual->shape()) return std::nullopt;
    if (shows_example(state) && !document.spec.mask.causal) return std::nullopt;  // another call
    const Dimensions& size = document.size;
    Index head = state.head;
    if (info(*stage).heads == HeadAxis::query) head = at->h;
    if (info(*stage).heads == HeadAxis::key_value) head = at->h * (size.heads / size.kv_heads);
    return OpenCheckedInStep{*stage, at->b, head, at->t, at->d};
}

// ---- state and actions

void describe(Visitor& visit, VerifyLook& look) {
    constexpr std::string_view kScales[] = {"tolerance", "difference", "relative", "ulp"};
    visit("file", look.file);
    visit("fault", look.fault);
    visit("array", look.array);
    visit("scale", look.scale, kScales,
          {.tip = "Error measure of the map (key: N)\nFraction of tolerance: 1 is the largest "
                  "allowed error"});
    constexpr std::string_view kNames[] = {"precision", "1e-7", "1e-6", "1e-5",
                                           "1e-4",      "1e-3", "1e-2"};
    visit("allowed", look.allowed, kNames,
          {.tip = "Largest allowed |actual − expected|\nBy the precision of the numbers, or t (1 + "
                  "|expected|)"});
    const auto table = verify::fault_table();
    if (visit.reads() && !look.fault.empty() && look.fault != kExampleFault &&
        std::ranges::find(table, look.fault, &verify::Fault::key) == table.end())
        visit.complain(fmt::format("has 'fault' = \"{}\": expected a key of docs/diff.md's table",
                                   shortened(look.fault)));
}

Result<void> prepare(const AppState&, VerifyLook& next, std::string_view changed) {
    if (changed == "array") next.cell.reset();
    return {};
}

void carry_out(AppState& state, const PlantFault& action) {
    const auto table = verify::fault_table();
    const auto fault = std::ranges::find(table, action.fault, &verify::Fault::key);
    const bool example = action.fault == kExampleFault;
    if (!action.fault.empty() && fault == table.end() && !example)
        return show_error(state, "There is no fault '{}'.", shortened(action.fault));
    if (!action.fault.empty() &&
        (is_empty(state.document()) || !stages_lack(state.document()).empty()))
        return warn(state, "No fault can be planted: this document computes no attention.");
    VerifyLook& look = verify_look(state);
    look.fault = action.fault;
    look.array.clear();
    look.cell.reset();
    show_message(state, action.fault.empty() ? std::string("No fault is planted.")
                        : example            ? std::string("Planted: the example's fault.")
                                             : fmt::format("Planted: {}.", fault->text));
}

void carry_out(AppState& state, const SelectChecked& action) {
    verify_look(state).cell = CheckedCell{action.batch, action.head, action.row, action.column};
}

void carry_out(AppState& state, const SelectWorst&) { verify_look(state).cell.reset(); }

void carry_out(AppState& state, const OpenCheckedInStep& action) {
    carry_out(state, go_to(*find_workspace(state.workspaces, "step")));
    carry_out(state, ShowHead{action.head, action.batch});
    carry_out(state, GoToStage{action.stage});
    carry_out(state, SelectCell{{action.stage, action.row, action.column}});
}

std::optional<CheckRequest> requested_check(const AppState& state) {
    if (state.workspace != "verify" || !verify_missing_data(state).empty()) return std::nullopt;
    const VerifyLook& look = verify_look(state);
    CheckRequest request{state.shared_document(), state.trace, state.backend_used, look.file,
                         applied_fault(state),    look.allowed};
    if (look.result && look.result->request == request) return std::nullopt;
    return request;
}

Action run(const CheckRequest& request, const Opener& open, const RunControl& control) {
    Checked made{request, {}, {}, false, {}};
    auto report = report_of(request, open, control, made);
    if (report)
        made.report = *std::move(report);
    else
        made.error = report.error().text();
    return ResultsChecked{std::make_shared<const Checked>(std::move(made))};
}

extern const WorkspaceInfo kVerifyWorkspace{
    .key = "verify",
    .title = "Verify",
    .tip = "Compares a kernel's results with an exact reference and diagnoses differences.",
    .group = Group::check,
    .letter = Key::v,
    .shows_document = true,
    .actions = VerifyActions::kTypes,
    .values = kPersisted,
    .requests = kRequests,
    .missing_data =
        [](const AppState& state) {
            const auto& result = verify_look(state).result;
            const bool stale = !result || state.workspace != "verify" || requested_check(state);
            std::string why = verify_missing_data(state);
            return why.empty() && !stale ? result->error : why;
        },
    .enter = enter_verify,
    .add_commands = add_verify_commands,
    .escape = escape_verify,
    .clear = [](AppState& state) { verify_look(state).cell.reset(); },
    .clear_cache = clear_verify,
    .reasons = verify_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = verify_inspector,
    .write = write_verify,
    .figure_name = verify_figure_name,
    .check = check,
    .differs = verify_differs,
    .shots = verify_shots,
    .mouse = kVerifyMouse,
};

}  // namespace attn::view
