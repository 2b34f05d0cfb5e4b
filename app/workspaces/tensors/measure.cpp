#include "app/workspaces/tensors/measure.h"

#include <algorithm>
#include <new>

#include "app/workspaces/tensors/requests.h"
#include "app/workspaces/tensors/view.h"
#include "core/io/arrays/array_file.h"

namespace attn::view {
namespace {

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
        return bad_input("standard input can be read once only: its arrays are not listed again");
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
        if (auto listed = list_file(listing, *path); !listed)
            listing.fault = listed.error().sentence;
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
        none.fault = array.error().sentence;
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
    none.fault = "it is not there any more";
    return none;
}

}  // namespace

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
    if (look.listing->find(look.selected) != nullptr && !look.stats.contains(look.selected))
        return TensorsRequest{document, look.listing, look.selected};
    const auto rows = tensor_rows(state);
    for (Index n = look.seen.first; n < std::min(look.seen.second, std::ssize(rows)); ++n)
        if (const TensorRow& row = *rows[static_cast<std::size_t>(n)];
            row.bytes <= kMostUnasked && !look.stats.contains(row.name))
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

}  // namespace attn::view
