#include "app/common/document/paint.h"

#include "app/common/document/document.h"
#include "core/bias.h"
#include "core/masks.h"
#include "core/spec_arrays.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace attn::view {
namespace {

using nlohmann::json;

/// One row of texts of a mask whose rows are all as long.
void read_row(Fields& fields, const json& row, std::size_t width, std::vector<std::uint8_t>& out) {
    const auto* text = row.get_ptr<const json::string_t*>();
    const bool valid = text != nullptr && text->size() == width &&
                       text->find_first_not_of("01") == std::string::npos;
    if (!valid)
        return fields.complain(fmt::format(
            "has the row {} in 'mask': expected a text of {} digits, 0 or 1", quoted(row), width));
    for (const char digit : *text) out.push_back(digit == '1' ? 1 : 0);
}

std::shared_ptr<const Mask> read_rows(Fields& fields, const json& rows, Index batch, Index heads) {
    const auto parts = static_cast<std::size_t>(batch * heads);
    const bool valid = rows.is_array() && !rows.empty() && rows.size() % parts == 0 &&
                       rows.front().is_string() &&
                       !rows.front().get_ref<const json::string_t&>().empty();
    if (!valid) {
        fields.complain("has 'mask': expected a list of texts, one for each query, as \"1011\"");
        return nullptr;
    }
    const std::size_t width = rows.front().get_ref<const json::string_t&>().size();
    std::vector<std::uint8_t> values;
    for (const json& row : rows) read_row(fields, row, width, values);
    if (!fields.ok()) return nullptr;
    const Shape shape{batch, heads, static_cast<Index>(rows.size() / parts),
                      static_cast<Index>(width)};
    return std::make_shared<const Mask>(shape, values);
}

}  // namespace

bool paint_allows(const Document& document, Index batch, Index head, Index query, Index key) {
    if (!document.spec.mask.custom) return true;
    const auto row = broadcast_row(*document.spec.mask.custom, batch, head, query);
    return row[row.size() == 1 ? 0 : static_cast<std::size_t>(key)] != 0;
}

Mask paintable_mask(const Document& document) {
    const auto& given = document.spec.mask.custom;
    const Index batch = given ? given->shape().b : 1;
    const Index heads = given ? given->shape().h : 1;
    Mask mask(Shape{batch, heads, document.size.tq, document.size.tk}, 1);
    for (const auto [b, h] : each_cell(batch, heads))
        for (const auto [i, j] : each_cell(document.size.tq, document.size.tk))
            mask(b, h, i, j) = paint_allows(document, b, h, i, j) ? 1 : 0;
    return mask;
}

void set_paint(Document& document, Mask mask) {
    const bool all =
        std::ranges::all_of(mask.values(), [](std::uint8_t each) { return each != 0; });
    document.spec.mask.custom = all ? nullptr : std::make_shared<const Mask>(std::move(mask));
    document.painted = true;
}

std::shared_ptr<const Mask> resized_paint(const std::shared_ptr<const Mask>& mask, Index queries,
                                          Index keys) {
    if (!mask) return mask;
    const Shape was = mask->shape();
    Mask resized(Shape{was.b, was.h, queries, keys}, 1);
    for (const auto [b, h] : each_cell(was.b, was.h))
        for (const auto [i, j] : each_cell(std::min(queries, was.t), std::min(keys, was.d)))
            resized(b, h, i, j) = (*mask)(b, h, i, j);
    const auto values = resized.values();
    if (std::ranges::count(values, std::uint8_t{0}) == 0) return nullptr;
    return std::make_shared<const Mask>(std::move(resized));
}

std::string paint_json(const std::shared_ptr<const Mask>& mask) {
    if (!mask) return "\"none\"";
    const Shape& shape = mask->shape();
    json rows = json::array();
    const auto values = mask->values();
    const auto width = static_cast<std::size_t>(shape.d);
    for (std::size_t at = 0; at < values.size(); at += width) {
        std::string row;
        for (const std::uint8_t each : values.subspan(at, width)) row += each != 0 ? '1' : '0';
        rows.push_back(row);
    }
    if (shape.b == 1 && shape.h == 1) return rows.dump();
    return json{{"batch", shape.b}, {"heads", shape.h}, {"rows", rows}}.dump();
}

bool read_paint(Fields& fields, std::shared_ptr<const Mask>& mask) {
    const json* found = fields.find("mask");
    if (found == nullptr) return false;
    if (*found == "none") {
        mask.reset();
        return true;
    }
    if (!found->is_object()) {
        mask = read_rows(fields, *found, 1, 1);
        return true;
    }
    Fields inner(*found, fields.where() + " 'mask'");
    Index batch = 1;
    Index heads = 1;
    inner.read_index("batch", batch, 1);
    inner.read_index("heads", heads, 1);
    const json* rows = inner.find("rows");
    if (rows != nullptr && inner.ok() && batch <= kMostCells && heads <= kMostCells)
        mask = read_rows(inner, *rows, batch, heads);
    else
        inner.complain("has no 'rows'");
    if (auto valid = inner.finish(); !valid) fields.complain(valid.error());
    return true;
}

// ---- the bias

bool takes_bias(const Document& document) {
    return !is_empty(document) && (document.spec.mask.bias || is_toy(document));
}

Tensor paintable_bias(const Document& document) {
    const auto& bias = document.spec.mask.bias;
    const Shape was = bias ? bias->values.shape() : Shape{1, 1, 1, 1};
    Tensor values(Shape{was.b, was.h, document.size.tq, document.size.tk});
    for (const auto [b, h] : each_cell(was.b, was.h))
        for (const auto [i, j] : each_cell(document.size.tq, document.size.tk))
            values(b, h, i, j) = static_cast<float>(bias_at(document.spec.mask, b, h, i, j));
    return values;
}

void paint_bias(Document& document, const BiasStroke& stroke) {
    Tensor values = paintable_bias(document);
    const Shape shape = values.shape();
    const MatrixView<float> of_head =
        values.matrix(shape.b == 1 ? 0 : stroke.batch, shape.h == 1 ? 0 : stroke.head);
    const Pair from{stroke.row, stroke.column}, to{stroke.to_row, stroke.to_column};
    for_stroke(from, to, stroke.rectangle, [&](Index i, Index j) { of_head(i, j) = stroke.value; });
    document.bias_strokes.push_back(stroke);
    document.spec.mask.bias = make_bias(std::move(values));
    const auto numbers = std::as_const(document.spec.mask.bias->values).values();
    if (!is_toy(document) || std::ranges::any_of(numbers, [](float x) { return x != 0.0F; }))
        return;
    document.spec.mask.bias.reset();
    document.bias_strokes.clear();
}

Result<Document> with_strokes(Document document, const std::vector<BiasStroke>& strokes) {
    if (strokes.empty()) return document;
    const Index shown = document.layer;
    for (const BiasStroke& stroke : strokes) {
        const Dimensions& size = document.size;
        const auto inside = [](Index value, Index count) { return value >= 0 && value < count; };
        const bool there = inside(stroke.layer, std::ssize(document.layers)) &&
                           inside(stroke.batch, size.batch) && inside(stroke.head, size.heads) &&
                           inside(stroke.row, size.tq) && inside(stroke.to_row, size.tq) &&
                           inside(stroke.column, size.tk) && inside(stroke.to_column, size.tk) &&
                           std::abs(static_cast<double>(stroke.value)) <= kMostBias;
        if (!there || !takes_bias(document))
            return bad_input(
                fmt::format("layer {} has no bias[{}, {}] from {} → {} to {} → {} to paint {}",
                            stroke.layer, stroke.batch, stroke.head, stroke.row, stroke.column,
                            stroke.to_row, stroke.to_column, stroke.value));
        if (!document.layer_specs.empty()) look_at_layer(document, stroke.layer);
        paint_bias(document, stroke);
    }
    look_at_layer(document, shown);
    return document;
}

std::vector<BiasStroke> resized_strokes(const Document& document, Index queries, Index keys) {
    std::vector<BiasStroke> strokes;
    if (!document.spec.mask.bias) return strokes;
    const Tensor values = paintable_bias(document);
    const Shape shape = values.shape();
    for (const auto [b, h] : each_cell(shape.b, shape.h))
        for (const auto [i, j] : each_cell(std::min(queries, shape.t), std::min(keys, shape.d)))
            if (const float value = values(b, h, i, j); value != 0.0F)
                strokes.push_back({document.layer, b, h, i, j, i, j, false, value});
    return strokes;
}

}  // namespace attn::view
