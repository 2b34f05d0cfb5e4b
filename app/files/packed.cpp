#include "app/files/axes.h"

#include <fmt/format.h>

#include "app/files/text.h"
#include "core/io/npy.h"
#include "core/text.h"

namespace attn::files {
namespace {

struct Form {
    const view::PackedAxes& axes;
    const view::HeadAxesInfo& layout;  // the option that selects it
};

/// Every way to pack Q, K and V.
std::vector<Form> all_forms() {
    std::vector<Form> forms;
    for (const view::HeadAxesInfo& row : view::head_axes_table())
        for (const view::PackedAxes& axes : row.packed) forms.push_back({axes, row});
    return forms;
}

/// The axes that the option allows.
std::string expected(const CallOptions& options) {
    if (options.layout && !info(*options.layout).expected_packed.empty())
        return fmt::format("expected {} under layout {}", info(*options.layout).expected_packed,
                           info(*options.layout).key);
    return "expected [T, 3, H, d], [B, T, 3, H, d], or [T, 3·H·d] with heads";
}

/// Whether the array can be that, under the options.
std::optional<Packed> fit(const Form& form, const std::vector<Index>& extents,
                          const CallOptions& options) {
    const Index heads = options.heads.value_or(1);
    const std::string_view letters = form.axes.letters;
    const bool chosen =
        options.layout ? &form.layout == &info(*options.layout) : !form.axes.needs_option;
    if (!chosen || (letters.ends_with('N') && heads == 1)) return std::nullopt;
    Packed packed;
    for (std::size_t part = 0; part < packed.parts.size(); ++part) {
        const auto place = place_letters(extents, letters, heads, static_cast<Index>(part));
        if (!place || (options.heads && place->shape.h != heads)) return std::nullopt;
        packed.parts[part] = *place;
    }
    packed.text = form.axes.title;
    return packed;
}

/// The layout of each way to read it.
std::vector<Remedy> remedies_for(const std::vector<Form>& forms) {
    std::vector<Remedy> remedies;
    for (const Form& form : forms)
        remedies.push_back({.option = "layout",
                            .value = std::string(form.layout.key),
                            .meaning = std::string(form.axes.title)});
    remedies.push_back({.option = {}, .advice = "Or save Q, K and V as three arrays"});
    return remedies;
}

}  // namespace

Packed unpack(const std::vector<Index>& extents, const CallOptions& options,
              const std::string& what) {
    if (options.kv_heads && *options.kv_heads != options.heads.value_or(1))
        throw bad_input(
            fmt::format("{}: kv-heads is {} and heads {}, but a packed array has as many keys as "
                        "queries; save Q, K and V",
                        what, *options.kv_heads, options.heads.value_or(1)));
    std::vector<Form> forms;
    std::vector<std::string> items;
    Packed packed;
    for (const Form& form : all_forms())
        if (auto fits = fit(form, extents, options)) {
            forms.push_back(form);
            items.emplace_back(form.axes.title);
            packed = *std::move(fits);
        }
    if (forms.empty())
        throw bad_input(fmt::format("{} is {}; {}", what, to_string(extents), expected(options)));
    if (forms.size() == 1) return packed;
    throw bad_input(
        fmt::format("{} is {}, which can be {}", what, to_string(extents), choices(items)),
        remedies_for(forms), ErrorCode::ambiguous);
}

}  // namespace attn::files
