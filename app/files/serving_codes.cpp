// b sequence, n its queries, m its keys, h head, g key/value head, p position of a key, P rows of a page, S splits.

#include "app/files/serving_reader.h"

#include <fmt/format.h>

#include <numeric>

#include "app/files/layers.h"
#include "core/entries.h"
#include "core/float8.h"

namespace attn::files {
namespace {

bool is_code(std::string_view dtype) {
    return dtype.starts_with("float8") || dtype.starts_with("float4");
}
double roundoff_of(std::string_view dtype) {
    if (dtype == "float8_e5m2") return 0x1.0p-3;
    return dtype.starts_with("float4") ? 0x1.0p-2 : 0x1.0p-4;
}

}  // namespace

Codes ServingReader::codes(const std::string& name) {
    Codes read{name, reader_.dtype_of(name), reader_.axes_of(name), {}};
    read.values = reader_.numbers(name);
    return read;
}

void ServingReader::split_combined() {
    const Codes whole = codes(combined_);
    const bool axes = whole.axes.size() == 5;
    const bool first = axes && whole.axes[0] == 2, second = axes && whole.axes[1] == 2;
    if (!first && !second)
        refuse(fmt::format("{} is {}; expected [2, pages, P, Hkv, d] or [pages, 2, P, Hkv, d]",
                           combined_, to_string(whole.axes)));
    if (first && second)
        refuse(
            fmt::format("{} is {}, which is [2, pages, …] and [pages, 2, …] alike; save the keys "
                        "as k_cache and the values as v_cache",
                        combined_, to_string(whole.axes)));
    const Index outer = first ? 1 : whole.axes[0];
    const Index each = std::ssize(whole.values) / (2 * outer);
    const auto part = [&](Index n) {
        Codes made{combined_, whole.dtype, whole.axes, {}};
        made.axes.erase(made.axes.begin() + (first ? 0 : 1));
        for (Index o = 0; o < outer; ++o) {
            const auto from = whole.values.begin() + (2 * o + n) * each;
            made.values.insert(made.values.end(), from, from + each);
        }
        return made;
    };
    k_ = part(0), v_ = part(1);
    note(fmt::format("{} is {}: keys, then values", combined_,
                     first ? "[2, pages, …]" : "[pages, 2, …]"));
}

// ---- scales

void ServingReader::scale_operands(Index batch) {
    set_scale(q_, kQueryScales, query_axes_, batch);
    set_scale(k_, kKeyScales, key_axes_, batch);
    set_scale(v_, kValueScales, value_axes_, batch);
}

std::vector<double> ServingReader::scale_numbers(const std::string& name, Index block) {
    const NpyArray array = reader_.array(name);
    if (array.dtype == "uint8" && !options_.dtypes.contains(name)) {
        std::vector<double> scales;
        for (const std::uint8_t code : std::get<std::vector<std::uint8_t>>(array.values))
            scales.push_back(block == 16 ? static_cast<double>(from_e4m3(code))
                                         : static_cast<double>(from_e8m0(code)));
        note(fmt::format("{} is uint8 and read as the codes of {}", name,
                         block == 16 ? "E4M3" : "E8M0"));
        return scales;
    }
    if (const auto* const doubles = std::get_if<std::vector<double>>(&array.values))
        return *doubles;
    const auto floats = reader_.numbers(name);
    return {floats.begin(), floats.end()};
}

void ServingReader::set_scale(Codes& codes, Names names, const RowAxes& axes, Index batch) {
    const std::string name = taken(names);
    if (name.empty()) return;
    std::vector<Index> extents = reader_.axes_of(name);
    const std::vector<Index>& whole = codes.axes;
    std::vector<Index> rows(whole.begin(), whole.end() - 1);
    const Index count =
        std::accumulate(extents.begin(), extents.end(), Index{1}, std::multiplies<>());
    const bool of_rows = extents.size() == whole.size() && whole.back() % extents.back() == 0 &&
                         std::equal(rows.begin(), rows.end(), extents.begin());
    const Index block = of_rows ? whole.back() / extents.back() : 0;
    const bool in_blocks = of_rows && extents.back() > 1;
    const auto numbers = std::make_shared<const std::vector<double>>(scale_numbers(name, block));
    const auto number = [numbers](Index n) { return (*numbers)[static_cast<std::size_t>(n)]; };
    const Index width = axes.width;
    codes.blocks = in_blocks;
    if (count == 1)
        codes.scale = [number](Index, Index, Index) { return number(0); };
    else if (extents == std::vector<Index>{axes.heads})
        codes.scale = [number](Index, Index h, Index) { return number(h); };
    else if (extents == rows || (of_rows && !in_blocks))
        codes.scale = [number, width](Index, Index, Index entry) { return number(entry / width); };
    else if (extents == std::vector<Index>{batch, axes.heads})
        codes.scale = [number, heads = axes.heads](Index b, Index h, Index) {
            return number(b * heads + h);
        };
    else if (in_blocks)
        codes.scale = [number, block](Index, Index, Index entry) { return number(entry / block); };
    else
        refuse(
            fmt::format("{} is {} for {} {}; expected one number, [{}], [{}, {}], {} or that "
                        "with blocks of the last axis",
                        name, to_string(extents), codes.name, to_string(whole), axes.heads, batch,
                        axes.heads, to_string(rows)));
    const std::string one_more = std::string(array_part(name).substr(0, 1)) + "_global_scale";
    const std::string_view globals[] = {one_more};
    const std::string global = find_name(globals);
    if (global.empty()) return;
    removed_.insert(global);
    const std::vector<float> factor = reader_.numbers(global);
    if (factor.size() != 1)
        refuse(fmt::format("{} is {}; expected one number", global,
                           to_string(reader_.axes_of(global))));
    codes.scale = [inner = codes.scale, by = static_cast<double>(factor.front())](
                      Index b, Index h, Index entry) { return by * inner(b, h, entry); };
}

// ---- a padded call with scales or splits

void ServingReader::take_plain() {
    const Axes queries{Layout::heads, view::unpacked_axes(options_.layout, HeadAxes::heads_first),
                       options_.heads.value_or(1)};
    Axes keys = queries;
    keys.heads = options_.kv_heads.value_or(queries.heads);
    const auto placed = [&](const Codes& codes, const Axes& axes) {
        const auto placement = place(codes.axes, axes);
        if (!placement)
            refuse(fmt::format("{} is {}; expected {}", codes.name, to_string(codes.axes),
                               expected_axes(axes)));
        return *placement;
    };
    const Placement q = placed(q_, queries), k = placed(k_, keys), v = placed(v_, keys);
    const auto axes_of = [](const Placement& at) {
        return RowAxes{at.shape.h, at.shape.d, at.shape.t};
    };
    query_axes_ = axes_of(q), key_axes_ = axes_of(k), value_axes_ = axes_of(v);
    scale_operands(q.shape.b);
    shape_ = {q.shape.b, q.shape.h, q.shape.t, k.shape.t};
    serving_.queries.assign(at(q.shape.b), q.shape.t);
    serving_.keys.assign(at(q.shape.b), k.shape.t);
    serving_.heads_first = queries.order == HeadAxes::heads_first;
    const auto replace = [&](const Codes& codes, const Placement& place, TensorD& exact,
                             TensorD& scales) {
        if (!codes.scale) {
            removed_.erase(codes.name);
            return;
        }
        const auto entry = [&](Index b, Index h, Index t, Index c) {
            return place.offset + b * place.strides[0] + h * place.strides[1] +
                   t * place.strides[2] + c * place.strides[3];
        };
        exact = TensorD(place.shape);
        Shape of = place.shape;
        if (!codes.blocks) of.d = 1;
        scales = TensorD(of);
        for_each_entry(place.shape, [&](Index b, Index h, Index t, Index c) {
            exact(b, h, t, c) = codes.exact(b, h, entry(b, h, t, c));
            if (c < of.d) scales(b, h, t, c) = codes.scale(b, h, entry(b, h, t, c));
        });
        NpyArray array{"float32", codes.axes, std::vector<float>(codes.values.size())};
        auto& values = std::get<std::vector<float>>(array.values);
        for_each_entry(place.shape, [&](Index b, Index h, Index t, Index c) {
            values[at(entry(b, h, t, c))] = static_cast<float>(exact(b, h, t, c));
        });
        added_[codes.name] = std::move(array);
        drop_if_rounded(exact);
        note(fmt::format("{} is multiplied by its scales", codes.name));
    };
    replace(q_, q, serving_.q, serving_.q_scale);
    replace(k_, k, serving_.k, serving_.k_scale);
    replace(v_, v, serving_.v, serving_.v_scale);
}

void ServingReader::read_format() {
    if (!is_code(q_.dtype) || !is_code(k_.dtype) || !is_code(v_.dtype)) return;
    serving_.weights_roundoff = roundoff_of(v_.dtype);
    note(fmt::format("{}, {} and {} are {}: weights may be rounded to it before they meet V",
                     q_.name, k_.name, v_.name, v_.dtype));
}

}  // namespace attn::files
