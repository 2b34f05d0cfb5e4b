#include "app/files/axes.h"

#include <fmt/format.h>

#include "app/files/words.h"
#include "core/io/npy.h"

namespace attn::files {
namespace {

struct Form {
    std::string_view letters;
    std::string_view words;
    HeadAxes layout;  // the option that means it
    bool needs_option = false;
};

constexpr Form kForms[] = {
    {"T3Hd", "[T, 3, H, d]", HeadAxes::tokens_first},
    {"TH3d", "[T, H, 3, d]", HeadAxes::per_head},
    {"BT3Hd", "[B, T, 3, H, d]", HeadAxes::tokens_first},
    {"BTH3d", "[B, T, H, 3, d]", HeadAxes::per_head},
    {"T3E", "[T, 3, H·d]", HeadAxes::tokens_first},
    {"TJ", "[T, 3·H·d], q, k and v one after another", HeadAxes::joined},
    {"BTJ", "[B, T, 3·H·d], q, k and v one after another", HeadAxes::joined},
    {"TN", "[T, H·3·d], q, k and v of each head in turn", HeadAxes::per_head},
    {"BTN", "[B, T, H·3·d], q, k and v of each head in turn", HeadAxes::per_head},
    {"3HTd", "[3, H, T, d]", HeadAxes::heads_first, true},
    {"3BHTd", "[3, B, H, T, d]", HeadAxes::heads_first, true},
};

/// What could have been given, under the option.
std::string_view expected(const CallOptions& options) {
    if (options.layout == HeadAxes::per_head)
        return "expected [T, H, 3, d], [B, T, H, 3, d], or [T, H·3·d] with heads under layout "
               "per-head";
    return "expected [T, 3, H, d], [B, T, 3, H, d], or [T, 3·H·d] with heads";
}

/// Whether the array can be that, under the options.
std::optional<Packed> fit(const Form& form, const std::vector<Index>& extents,
                          const CallOptions& options) {
    const Index heads = options.heads.value_or(1);
    const bool chosen = options.layout ? form.layout == *options.layout : !form.needs_option;
    if (!chosen || (form.letters.ends_with('N') && heads == 1)) return std::nullopt;
    Packed packed;
    for (std::size_t part = 0; part < packed.parts.size(); ++part) {
        const auto place = place_letters(extents, form.letters, heads, static_cast<Index>(part));
        if (!place || (options.heads && place->shape.h != heads)) return std::nullopt;
        packed.parts[part] = *place;
    }
    packed.words = form.words;
    return packed;
}

/// The layout of each way to read it.
std::vector<Remedy> remedies_for(const std::vector<const Form*>& forms) {
    std::vector<Remedy> remedies;
    for (const Form* form : forms)
        remedies.push_back({.option = "layout",
                            .value = std::string(key_of(form->layout)),
                            .meaning = std::string(form->words)});
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
    std::vector<const Form*> forms;
    std::vector<std::string> words;
    Packed packed;
    for (const Form& form : kForms)
        if (auto fits = fit(form, extents, options)) {
            forms.push_back(&form);
            words.emplace_back(form.words);
            packed = *std::move(fits);
        }
    if (forms.empty())
        throw bad_input(fmt::format("{} is {}; {}", what, to_string(extents), expected(options)));
    if (forms.size() == 1) return packed;
    throw bad_input(
        fmt::format("{} is {}, which can be {}", what, to_string(extents), choices(words)),
        remedies_for(forms), ErrorCode::ambiguous);
}

}  // namespace attn::files
