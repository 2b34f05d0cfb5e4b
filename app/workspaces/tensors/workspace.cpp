#include <algorithm>
#include <new>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/common/describe_json.h"
#include "app/common/document/actions.h"
#include "app/common/document/commands.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/document/head_axes.h"
#include "app/common/workspace.h"
#include "app/workspaces/tensors/actions.h"
#include "app/workspaces/tensors/measure.h"
#include "app/workspaces/tensors/roles.h"
#include "app/workspaces/tensors/view.h"
#include "core/io/array_stats.h"
#include "core/io/arrays/array_file.h"
#include "core/io/json.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/trace.h"

namespace attn::view {
namespace {

Action neighbour(const AppState& state, Index step) {
    const auto rows = tensor_rows(state);
    if (rows.empty()) return SelectTensor{shown_tensor(state)};
    const auto found = std::ranges::find(rows, shown_tensor(state), &TensorRow::name);
    const Index at = found == rows.end() ? -1 : found - rows.begin();
    const Index to = std::clamp<Index>(at + step, 0, std::ssize(rows) - 1);
    return SelectTensor{rows[to]->name};
}

/// The roles as the file was opened with, for "Apply" to add to.
void take_roles(AppState& state) {
    TensorsLook& look = tensors_look(state);
    look.roles.clear();
    look.axes.clear();
    look.options.clear();
    const auto* file = std::get_if<FileOrigin>(&state.document().origin);
    if (file == nullptr || file->options.empty()) return;
    const auto options = nlohmann::json::parse(file->options, nullptr, false);
    if (!options.is_object()) return;
    look.axes = options.value("layout", "");
    for (const ReadingOption& option : reading_options())
        if (const auto given = options.find(option.key);
            !option.title.empty() && given != options.end())
            look.options[std::string(option.key)] =
                given->is_string() ? given->get<std::string>() : given->dump();
    std::string text = options.value("role", "");
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string one = text.substr(0, end);
        if (const auto sign = one.find('='); sign != std::string::npos)
            look.roles[one.substr(0, sign)] = one.substr(sign + 1);
        text.erase(0, end + 1);
    }
}

void enter_tensors(AppState& state) {
    show_message(state, "↑ and ↓ select an array, N sorts by the next column.");
}

void add_tensors_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Arrays"};
    const bool any = !tensor_rows(state).empty();
    add("Select the next array", Key::down, neighbour(state, 1), any);
    add("Select the previous array", Key::up, neighbour(state, -1), any);
    add("Select the first array", Key::home, neighbour(state, -(Index{1} << 30)), any);
    add("Select the last array", Key::end, neighbour(state, Index{1} << 30), any);
    const auto columns = static_cast<int>(std::size(kNamesOf<TensorColumn>));
    const int next = (static_cast<int>(tensors_look(state).sort) + 1) % columns;
    add("Sort by the next column", Key::n, SortTensors{static_cast<TensorColumn>(next), false},
        any);
    add("Reverse the order", plain(Key::r),
        SortTensors{tensors_look(state).sort, !tensors_look(state).descending}, any);
    if (const auto& question = state.document().question)
        for (std::size_t n = 0; n < std::min(question->answers.size(), std::size(kAnswerKeys)); ++n)
            add(fmt::format("Answer: {}", question->answers[n].title), plain(kAnswerKeys[n]),
                AnswerTensors{question->answers[n].option, question->answers[n].value});
    const bool file = std::holds_alternative<FileOrigin>(state.document().origin);
    const std::string& name = shown_tensor(state);
    for (const TensorRole& role : tensor_roles())
        add(role.key == "-" ? std::string("Do not use the selected array")
                            : fmt::format("Read the selected array as {}: {}", role.key, role.text),
            {}, SetTensorRole{name, std::string(role.key)}, file && !name.empty());
    add("Read the selected array as its name says", {}, SetTensorRole{name, ""},
        file && tensors_look(state).roles.contains(name));
    add("Open the file with the chosen roles, axes and options", plain(Key::enter), ReadTensors{},
        file);
    add_document_commands(list, state);
    add_presets(list, state, "Arrays");
}

std::optional<Action> escape_tensors(const AppState& state) {
    if (!tensors_look(state).filter.empty()) return FilterTensors{""};
    return std::nullopt;
}

void clamp_tensors(AppState& state) {
    TensorsLook& look = tensors_look(state);
    if (!look.listing || look.listing->document == state.shared_document()) return;
    look.listing = nullptr;
    look.stats.clear();
}

void clear_tensors(AppState& state) {
    TensorsLook& look = tensors_look(state);
    look.filter.clear();
    look.listing = nullptr;
    look.stats.clear();
    take_roles(state);
}

void read_tensors_look(Fields& fields, AppState& state) {
    JsonReader reader(fields);
    describe(reader, tensors_look(state));
    take_roles(state);
}

std::vector<Shot> tensors_shots() {
    return {{"", {LoadPreset{"three-heads"}, SelectTensor{"W_Q"}}}};
}

constexpr std::string_view kTensorsMouse[] = {
    "Click a row to measure and draw that array.",
    "Click a column's title to sort by it; click again to reverse the order.",
};
constexpr RequestKind kRequests[] = {
    request_kind<requested_tensors>("tensors"),
};
constexpr PersistedValue kPersisted[] = {persisted(tensors_look)};

const FileOrigin* file_of(const AppState& state) {
    return std::get_if<FileOrigin>(&state.document().origin);
}

/// Roles belong to files: a toy's and a model's arrays are what they are.
bool refuse_roles(AppState& state) {
    if (file_of(state) != nullptr) return false;
    warn(state, fmt::format("{} is not a file of tensors, so its arrays have fixed roles.",
                            state.document().title));
    return true;
}

/// The options that the file was opened with.
nlohmann::ordered_json options_of(const FileOrigin& file) {
    auto options = nlohmann::ordered_json::object();
    if (!file.options.empty())
        if (const auto before = parse_json(file.options, file.path); before && before->is_object())
            for (const auto& [key, value] : before->items()) options[key] = value;
    return options;
}

// --- what is measured

void add_array(TensorListing& listing, std::string name, const Shape& shape) {
    if (shape.count() == 0) return;
    listing.rows.push_back({std::move(name),
                            "float32",
                            {shape.b, shape.h, shape.t, shape.d},
                            4.0 * static_cast<double>(shape.count())});
}

using Named = std::pair<std::string_view, const Tensor*>;

/// What a document without a file computes from.
std::vector<Named> tensors_of(const Document& document) {
    const Inputs& in = *document.inputs;
    std::vector<Named> all{
        {"X", &in.x}, {"X_kv", &in.x_kv}, {"Q", &in.q}, {"K", &in.k}, {"V", &in.v}};
    for (const ParamInfo& param : param_table())
        all.emplace_back(param.npz, &in.params[param.param]);
    std::erase_if(all, [](const Named& each) { return each.second->empty(); });
    return all;
}

/// nullptr: it is of no file.
const std::string* path_of(const Document& document) {
    if (const auto* file = std::get_if<FileOrigin>(&document.origin)) return &file->path;
    const ModelOrigin* const model = model_of(document);
    return model != nullptr ? &model->path : nullptr;
}

Result<void> list_file(TensorListing& listing, const std::string& path) {
    if (path == "-")
        return bad_input(
            "standard input can be read only once, so its arrays are not listed again");
    const auto file = open_arrays(path);
    if (!file) return tl::unexpected(file.error());
    for (const std::string& name : (*file)->names()) {
        const auto about = (*file)->about(name);
        if (about)
            listing.rows.push_back(
                {name, about->dtype, about->extents, static_cast<double>(about->bytes)});
        else
            listing.rows.push_back({name, "unreadable", {}, 0.0});
    }
    return {};
}

TensorListing list_tensors(const std::shared_ptr<const Document>& document) {
    TensorListing listing{document, {}, {}};
    if (const std::string* const path = path_of(*document)) {
        if (auto listed = list_file(listing, *path); !listed) listing.fault = listed.error().text();
        for (const TensorRow& row : listing.rows) listing.bytes += row.bytes;
        return listing;
    }
    for (const auto& [name, tensor] : tensors_of(*document))
        add_array(listing, std::string(name), tensor->shape());
    return listing;
}

ArrayStats measure_named(const Document& document, const std::string& name,
                         const RunControl& control) {
    ArrayStats none;
    if (const std::string* const path = path_of(document)) {
        const auto file = open_arrays(*path);
        const auto array =
            file ? (*file)->read(name) : Result<NpyArray>(tl::unexpected(file.error()));
        if (array) return measure_array(*array, control);
        none.fault = array.error().text();
        return none;
    }
    for (const auto& [each, tensor] : tensors_of(document))
        if (each == name) {
            const Shape& s = tensor->shape();
            const auto values = tensor->values();
            return measure_array(
                {"float32", {s.b, s.h, s.t, s.d}, std::vector<float>(values.begin(), values.end())},
                control);
        }
    none.fault = "it no longer exists";
    return none;
}

}  // namespace

void describe(Visitor& visit, TensorsLook& look) {
    visit("filter", look.filter);
    visit("sort", look.sort, kNamesOf<TensorColumn>);
    visit("descending", look.descending);
    visit("selected", look.selected);
}

void carry_out(AppState& state, const SortTensors& action) {
    tensors_look(state).sort = action.column;
    tensors_look(state).descending = action.descending;
}

void carry_out(AppState& state, const SelectTensor& action) {
    tensors_look(state).selected = action.name;
    const auto& listing = tensors_look(state).listing;
    if (listing && listing->document == state.shared_document() && !action.name.empty() &&
        listing->find(action.name) == nullptr)
        warn(state, fmt::format("There is no array '{}' here.", shortened(action.name)));
}

void carry_out(AppState& state, const SetTensorRole& action) {
    if (refuse_roles(state)) return;
    const auto known = [&](const TensorRole& each) { return each.key == action.role; };
    if (!action.role.empty() && std::ranges::none_of(tensor_roles(), known))
        return show_error(state, fmt::format("There is no role '{}'.", shortened(action.role)));
    if (action.name.find_first_of(",=") != std::string::npos)
        return show_error(state,
                          fmt::format("'{}' has , or = in its name: save it under another name.",
                                      shortened(action.name)));
    if (action.role.empty())
        tensors_look(state).roles.erase(action.name);
    else
        tensors_look(state).roles[action.name] = action.role;
    show_message(state, "Press “Apply” (Enter) to open the file with these roles.");
}

void carry_out(AppState& state, const SetTensorAxes& action) {
    if (refuse_roles(state)) return;
    const bool known = action.axes.empty() ||
                       std::ranges::count(head_axes_table(), action.axes, &HeadAxesInfo::key) > 0;
    if (!known)
        return show_error(state, fmt::format("There are no axes '{}'.", shortened(action.axes)));
    tensors_look(state).axes = action.axes;
    show_message(state, "Press “Apply” (Enter) to open the file with these axes.");
}

void carry_out(AppState& state, const SetTensorOption& action) {
    if (refuse_roles(state)) return;
    const auto row = std::ranges::find(reading_options(), action.option, &ReadingOption::key);
    if (row == reading_options().end() || row->title.empty())
        return show_error(state, fmt::format("There is no option '{}'.", shortened(action.option)));
    if (!action.value.empty() && !row->values.empty() &&
        std::ranges::count(row->values, action.value) == 0)
        return show_error(
            state, fmt::format("{} is '{}'; expected {}.", row->title, shortened(action.value),
                               fmt::join(row->values, " or ")));
    if (action.value.empty())
        tensors_look(state).options.erase(action.option);
    else
        tensors_look(state).options[action.option] = action.value;
    show_message(state, "Press “Apply” (Enter) to open the file with this option.");
}

void carry_out(AppState& state, const ReadTensors&) {
    if (refuse_roles(state)) return;
    const FileOrigin& file = *file_of(state);
    auto options = options_of(file);
    for (const ReadingOption& option : reading_options()) options.erase(std::string(option.key));
    if (const std::string roles = roles_text(tensors_look(state).roles); !roles.empty())
        options["role"] = roles;
    if (!tensors_look(state).axes.empty()) options["layout"] = tensors_look(state).axes;
    for (const auto& [option, value] : tensors_look(state).options) options[option] = value;
    carry_out(state, OpenFile{file.path, {}, options.empty() ? "" : options.dump()});
}

void carry_out(AppState& state, const AnswerTensors& action) {
    const std::optional<FileQuestion> question = state.document().question;
    if (!question || file_of(state) == nullptr)
        return warn(state, "This file has no open question.");
    const auto is_it = [&](const FileQuestion::Answer& each) {
        return each.option == action.option && each.value == action.value;
    };
    if (std::ranges::none_of(question->answers, is_it))
        return show_error(state, fmt::format("{} = {} is not one of the answers.",
                                             shortened(action.option), shortened(action.value)));
    const FileOrigin file = *file_of(state);
    auto options = options_of(file);
    options[action.option] = action.value;
    carry_out(state, OpenFile{file.path, {}, options.dump()});
}

void carry_out(AppState& state, const SeeTensors& action) {
    tensors_look(state).seen = {std::max<Index>(action.first, 0), std::max<Index>(action.past, 0)};
}

void carry_out(AppState& state, const TensorsListed& action) {
    if (!action.listing) return;
    TensorsLook& look = tensors_look(state);
    look.listing = action.listing;
    look.stats.clear();
    const auto& rows = look.listing->rows;
    const double most = look.listing->most_unasked();
    const auto first = std::ranges::find_if(rows, [&](auto& row) { return row.bytes <= most; });
    look.default_array = first == rows.end() ? "" : first->name;
}

void carry_out(AppState& state, const TensorMeasured& action) {
    if (!action.stats || action.of != tensors_look(state).listing) return;
    tensors_look(state).stats[action.name] = action.stats;
}

const std::string& shown_tensor(const AppState& state) {
    const TensorsLook& look = tensors_look(state);
    const bool known = look.listing && look.listing->find(look.selected) != nullptr;
    return known ? look.selected : look.default_array;
}

const TensorRow* TensorListing::find(const std::string& name) const {
    const auto found = std::ranges::find(rows, name, &TensorRow::name);
    return found == rows.end() ? nullptr : &*found;
}

std::optional<TensorsRequest> requested_tensors(const AppState& state) {
    if (state.workspace != "tensors") return std::nullopt;
    const TensorsLook& look = tensors_look(state);
    const auto& document = state.shared_document();
    if (!look.listing || look.listing->document != document)
        return TensorsRequest{document, nullptr, {}};
    const std::string& shown = shown_tensor(state);
    if (look.listing->find(shown) != nullptr && !look.stats.contains(shown))
        return TensorsRequest{document, look.listing, shown};
    const auto rows = tensor_rows(state);
    const double most = look.listing->most_unasked();
    for (Index n = look.seen.first; n < std::min<Index>(look.seen.second, std::ssize(rows)); ++n)
        if (const TensorRow& row = *rows[n]; row.bytes <= most && !look.stats.contains(row.name))
            return TensorsRequest{document, look.listing, row.name};
    return std::nullopt;
}

Action run(const TensorsRequest& request, const RunControl& control) {
    if (!request.listing)
        return TensorsListed{std::make_shared<const TensorListing>(list_tensors(request.document))};
    ArrayStats stats;
    try {
        stats = measure_named(*request.document, request.name, control);
    } catch (const std::bad_alloc&) {
        stats.fault = "there is not enough memory to read it";
    }
    return TensorMeasured{request.listing, request.name,
                          std::make_shared<const ArrayStats>(std::move(stats))};
}

extern const WorkspaceInfo kTensorsWorkspace{
    .key = "tensors",
    .also = "arrays",
    .title = "Arrays",
    .tip = "Every array of the open document: shape, numbers, and role.",
    .group = Group::model,
    .letter = Key::t,
    .shows_document = true,
    .actions = TensorsActions::kTypes,
    .values = kPersisted,
    .requests = kRequests,
    .enter = enter_tensors,
    .add_commands = add_tensors_commands,
    .escape = escape_tensors,
    .clear =
        [](AppState& state) {
            tensors_look(state).selected.clear();
            tensors_look(state).default_array.clear();
        },
    .clamp_to_document = clamp_tensors,
    .clear_cache = clear_tensors,
    .reasons = tensors_reasons,
    .read = read_tensors_look,
    .shots = tensors_shots,
    .mouse = kTensorsMouse,
};

}  // namespace attn::view
