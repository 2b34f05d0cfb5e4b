#include "app/workspaces/tensors/measure.h"

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/tensors/requests.h"
#include "app/workspaces/tensors/view.h"
#include "core/io/arrays/array_file.h"

namespace attn::view {
namespace {

constexpr double kUnitRow = 1e-3;      // how far from 1 the sum of a row of weights may be
constexpr double kMaskedBelow = -1e4;  // what libraries write for −inf lies below
constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Index [.., i, j] of the n-th number, C order.
std::vector<Index> place_of(const std::vector<Index>& extents, std::size_t n) {
    std::vector<Index> place(extents.size());
    auto rest = static_cast<Index>(n);
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        place[axis] = rest % extents[axis];
        rest /= extents[axis];
    }
    return place;
}

template <class Value>
bool add_numbers(TensorStats& stats, const std::vector<Index>& extents,
                 const std::vector<Value>& values, const RunControl& control) {
    double sum = 0.0;
    for (std::size_t n = 0; n < values.size(); ++n) {
        if (n % kPiece == 0 && control.stop.stop_requested()) return false;
        const auto value = static_cast<double>(values[n]);
        if (std::isfinite(value)) {
            stats.low = stats.finite ? std::min(stats.low, value) : value;
            stats.high = stats.finite ? std::max(stats.high, value) : value;
            stats.finite = true;
            stats.zeros += value == 0.0 ? 1 : 0;
            sum += value;
        } else if (std::isnan(value)) {
            if (stats.nans++ == 0) stats.first_nan = place_of(extents, n);
        } else if (stats.infs++ == 0) {
            stats.first_inf = place_of(extents, n);
        }
    }
    stats.count = static_cast<double>(values.size());
    if (stats.finite) stats.mean = sum / (stats.count - stats.nans - stats.infs);
    return true;
}

template <class Value>
bool add_bins(TensorStats& stats, const std::vector<Value>& values, const RunControl& control) {
    if (!stats.finite) return true;
    const double width = stats.high - stats.low;
    double squares = 0.0;
    for (std::size_t n = 0; n < values.size(); ++n) {
        if (n % kPiece == 0 && control.stop.stop_requested()) return false;
        const auto value = static_cast<double>(values[n]);
        if (!std::isfinite(value)) continue;
        squares += (value - stats.mean) * (value - stats.mean);
        const double share = width > 0.0 ? (value - stats.low) / width : 0.0;
        const auto bin = static_cast<std::size_t>(share * kTensorBins);
        ++stats.bins[std::min(bin, kTensorBins - 1)];
    }
    stats.deviation = std::sqrt(squares / (stats.count - stats.nans - stats.infs));
    return true;
}

/// Sums of rows, and what stands above the diagonals.
template <class Value>
void add_rows(TensorStats& stats, const std::vector<Index>& extents,
              const std::vector<Value>& values) {
    if (extents.size() < 2 || values.empty()) return;
    const Index columns = extents.back();
    const Index rows = extents[extents.size() - 2];
    const bool square = rows == columns && rows > 1;
    stats.nonnegative = stats.nans == 0 && stats.finite && stats.low >= 0.0;
    stats.lower = stats.masked_above = square;
    const auto count = static_cast<Index>(values.size());
    for (Index row = 0; row * columns < count; ++row) {
        double sum = 0.0;
        for (Index j = 0; j < columns; ++j) {
            const auto value =
                static_cast<double>(values[static_cast<std::size_t>(row * columns + j)]);
            sum += value;
            if (!square || j <= row % rows) continue;
            stats.lower = stats.lower && value == 0.0;
            stats.masked_above = stats.masked_above && value < kMaskedBelow;
        }
        stats.least_sum = row == 0 ? sum : std::min(stats.least_sum, sum);
        stats.most_sum = row == 0 ? sum : std::max(stats.most_sum, sum);
        stats.unit_rows += std::abs(sum - 1.0) <= kUnitRow ? 1 : 0;
        ++stats.rows;
    }
}

/// The number of largest size among those of a cell; NaN before all.
template <class Value>
void add_preview(TensorStats& stats, const std::vector<Index>& extents,
                 const std::vector<Value>& values) {
    if (extents.empty() || values.empty()) return;
    const Index columns = extents.back();
    const Index rows = extents.size() > 1 ? extents[extents.size() - 2] : 1;
    stats.preview_rows = std::min(rows, kMostPreview);
    stats.preview_columns = std::min(columns, kMostPreview);
    stats.preview.assign(static_cast<std::size_t>(stats.preview_rows * stats.preview_columns),
                         0.0F);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) {
            const auto value =
                static_cast<float>(values[static_cast<std::size_t>(i * columns + j)]);
            const Index at = i * stats.preview_rows / rows * stats.preview_columns +
                             j * stats.preview_columns / columns;
            float& kept = stats.preview[static_cast<std::size_t>(at)];
            if (std::isnan(value) || std::abs(value) > std::abs(kept)) kept = value;
        }
}

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

TensorStats measure_named(const Document& document, const std::string& name,
                          const RunControl& control) {
    TensorStats none;
    if (const std::string* const path = path_of(document)) {
        const auto file = open_arrays(*path);
        const auto array =
            file ? (*file)->read(name) : Result<NpyArray>(tl::unexpected(file.error()));
        if (array) return measure_tensor(*array, control);
        none.fault = array.error().sentence;
        return none;
    }
    for (const auto& [each, tensor] : tensors_of(document))
        if (each == name) {
            const Shape& s = tensor->shape();
            const auto values = tensor->values();
            return measure_tensor(
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

TensorStats measure_tensor(const NpyArray& array, const RunControl& control) {
    TensorStats stats;
    const auto measure = [&](const auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (!std::is_arithmetic_v<Value> || std::is_same_v<Value, char>) {
            stats.fault = "text: it has no numbers";
        } else if (values.empty()) {
            stats.fault = "it holds no numbers: an axis has length 0";
        } else if (add_numbers(stats, array.extents, values, control) &&
                   add_bins(stats, values, control)) {
            add_rows(stats, array.extents, values);
            add_preview(stats, array.extents, values);
        } else {
            stats.fault = "it was not measured to the end";
        }
    };
    std::visit(measure, array.values);
    return stats;
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
    TensorStats stats;
    try {
        stats = measure_named(*request.document, request.name, control);
    } catch (const std::bad_alloc&) {
        stats.fault = "there is not enough memory to read it";
    }
    return TensorMeasured{request.listing, request.name,
                          std::make_shared<const TensorStats>(std::move(stats))};
}

}  // namespace attn::view
