#include "core/train/spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/check.h"
#include "core/io/json.h"
#include "core/stages.h"
#include "core/text.h"
#include "core/train/field_json.h"
#include "core/train/language.h"
#include "core/train/spec_fields.h"
#include "core/train/trainer.h"
#include "core/train/words.h"

namespace attn::train {
namespace {

using nlohmann::json;

constexpr auto kLimits = std::to_array<Limits>({
    {"tokens", 2, 256},
    {"symbols", 2, 1024},
    {"layers", 1, 4},
    {"heads", 1, 8},
    {"d_model", 2, 512},
    {"d_k", 1, 512},
    {"d_v", 0, 512},
    {"temperature", 0.001, 1000},
    {"initial_spread", 0, 100},
    {"learning_rate", 0, 10},
    {"warmup", 0, 1'000'000},
    {"weight_decay", 0, 10},
    {"clip", 0, 1'000'000},
    {"beta1", 0, 0.9999},
    {"beta2", 0, 0.999999},
    {"momentum", 0, 0.9999},
    {"batch", 1, 512},
    {"steps", 1, 1'000'000},
});

template <class Enum>
std::string choices() {
    std::string words;
    for (const std::string_view name : names_of<Enum>())
        words += fmt::format("{}{}", words.empty() ? "one of " : ", ", name);
    return words;
}

// Each returns what was expected; "": the value was taken.

std::string read(const json& value, bool& to) {
    if (!value.is_boolean()) return "true or false";
    to = value.get<bool>();
    return {};
}
std::string read(const json& value, std::string& to) {
    if (!value.is_string()) return "a text";
    to = value.get<std::string>();
    return {};
}
std::string read(const json& value, double& to) {
    if (!value.is_number()) return "a number";
    to = value.get<double>();
    return {};
}
std::string read(const json& value, Index& to) {
    const bool large =
        value.is_number_unsigned() && !std::in_range<Index>(value.get<std::uint64_t>());
    if (!value.is_number_integer() || large) return "a whole number";
    to = value.get<Index>();
    return {};
}
std::string read(const json& value, std::uint64_t& to) {
    if (!value.is_number_unsigned()) return "a whole number from 0 to 2^64 − 1";
    to = value.get<std::uint64_t>();
    return {};
}
template <class Enum>
requires std::is_enum_v<Enum> std::string read(const json& value, Enum& to) {
    const auto names = names_of<Enum>();
    const auto found = value.is_string()
                           ? std::ranges::find(names, value.template get_ref<const std::string&>())
                           : names.end();
    if (found == names.end()) return choices<Enum>();
    to = static_cast<Enum>(found - names.begin());
    return {};
}

std::string read(const json& value, LanguageRef& to) {
    if (value.is_null()) return {};
    auto language = Language::parse(value.dump(), "language");
    if (!language) return language.error().text();
    to.value = *std::move(language);
    return {};
}

json written(const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_enum_v<Value>)
        return names_of<Value>()[static_cast<std::size_t>(value)];
    else if constexpr (std::is_same_v<Value, LanguageRef>)
        return value.empty() ? json() : json::parse(value->json_text());
    else
        return value;
}

std::string shown(const json& value) {
    return shortened(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string field_names() {
    std::string names;
    Spec spec;
    for_fields(spec, [&](std::string_view name, auto&) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    });
    return names;
}

Result<void> check_limits(const Spec& spec) {
    std::string fault;
    for_fields(spec, [&](std::string_view name, const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, Index> || std::is_same_v<Value, double>) {
            const Limits& limit = limits_of(name);
            const auto number = static_cast<double>(value);
            if (fault.empty() && !(number >= limit.least && number <= limit.most))
                fault = fmt::format("{} is {}; expected {} to {}", name, value, limit.least,
                                    limit.most);
        }
    });
    if (!fault.empty()) return bad_input(std::move(fault));
    if (spec.learning_rate <= 0.0)
        return bad_input(
            fmt::format("learning_rate is {}; expected more than 0", spec.learning_rate));
    return {};
}

Result<void> check_symbols(const Spec& spec) {
    const auto few = [&](Index least, std::string_view why) -> Result<void> {
        if (spec.symbols >= least) return {};
        return bad_input(
            fmt::format("symbols is {}; expected at least {}, {}", spec.symbols, least, why));
    };
    if (spec.task == Task::copy && spec.tokens % 2 != 0)
        return bad_input(
            fmt::format("tokens is {}; expected an even number for copy", spec.tokens));
    if (spec.task == Task::induction && spec.tokens < 4)
        return bad_input(
            fmt::format("tokens is {}; expected at least 4 for induction", spec.tokens));
    if (spec.task == Task::recall && spec.tokens < 3)
        return bad_input(fmt::format("tokens is {}; expected at least 3 for recall", spec.tokens));
    if (spec.task == Task::induction)
        return few(spec.tokens / 2, "because induction uses tokens/2 different symbols");
    if (spec.task == Task::recall)
        return few(spec.tokens / 3, "because recall uses tokens/3 different keys");
    return {};
}

Result<void> check_text(const Spec& spec) {
    if (spec.task != Task::text) return {};
    const Words words = words_of(spec.text);
    if (std::ssize(words.numbers) <= spec.tokens)
        return bad_input(fmt::format("text has {} words; expected more than tokens, {}",
                                     words.numbers.size(), spec.tokens));
    if (words.vocabulary.size() > kMostWords)
        return bad_input(fmt::format("text has {} different words; expected at most {}",
                                     words.vocabulary.size(), kMostWords));
    return {};
}

Result<void> check_language(const Spec& spec) {
    if (!info(spec.task).takes_language) return {};
    if (spec.language.empty())
        return bad_input(
            fmt::format("language is not there; expected an object for {}", info(spec.task).key));
    if (spec.language->longest() > spec.tokens)
        return bad_input(fmt::format("tokens is {}; expected at least {}, the most words of a text",
                                     spec.tokens, spec.language->longest()));
    const Requirements& require = spec.language->requirements();
    const auto beyond = [&](const auto& each) { return each.layer >= spec.layers; };
    if ((require.attention && beyond(*require.attention)) ||
        (require.alignment && beyond(*require.alignment)) ||
        std::ranges::any_of(require.examples, beyond))
        return bad_input(
            fmt::format("layers is {}; expected more: language requires a weight of a "
                        "later layer",
                        spec.layers));
    return {};
}

Result<void> check_size(const Spec& spec) {
    const Matrix last = matrices(spec, Sequences(spec).size()).back();
    const Index count = static_cast<Index>(last.offset) + last.rows * last.columns;
    if (count <= kMostParameters) return {};
    return bad_input(
        fmt::format("layers, heads, d_model and d_k make {} weights; expected at most {}", count,
                    kMostParameters));
}

}  // namespace

std::string_view key_of(Positions positions) {
    return kPositions[static_cast<std::size_t>(positions)];
}
std::string_view key_of(NormPlace norm) { return kNorms[static_cast<std::size_t>(norm)]; }
std::string_view key_of(Optimiser optimiser) {
    return kOptimisers[static_cast<std::size_t>(optimiser)];
}

bool LanguageRef::operator==(const LanguageRef& other) const {
    if (empty() || other.empty()) return empty() == other.empty();
    return value == other.value || value->json_text() == other.value->json_text();
}

std::span<const Limits> limits() { return kLimits; }

const Limits& limits_of(std::string_view field) {
    const auto found = std::ranges::find(kLimits, field, &Limits::field);
    ATTN_CHECK(found != kLimits.end(), "every number has limits");
    return *found;
}

Result<void> check(const Spec& spec) {
    if (auto valid = check_limits(spec); !valid) return valid;
    if (spec.positions == Positions::rotary && spec.d_k % 2 != 0)
        return bad_input(
            fmt::format("d_k is {}; expected an even number with rotary positions", spec.d_k));
    if (auto valid = check_symbols(spec); !valid) return valid;
    if (auto valid = check_text(spec); !valid) return valid;
    if (auto valid = check_language(spec); !valid) return valid;
    return check_size(spec);
}

namespace {

/// Reads one field; the specification is not checked.
Result<void> read_field(Spec& spec, std::string_view key, const json& value,
                        std::string_view what) {
    bool known = false;
    std::string expected;
    for_fields(spec, [&](std::string_view name, auto& member) {
        if (name != key) return;
        known = true;
        expected = read(value, member);
    });
    if (!known)
        return bad_input(fmt::format("{}: there is no field '{}'; expected {}", what,
                                     shortened(key), field_names()));
    if (!expected.empty() && key == "language")
        return bad_input(fmt::format("{}: {}", what, expected));
    if (!expected.empty())
        return bad_input(
            fmt::format("{}: {} is {}; expected {}", what, key, shown(value), expected));
    return {};
}

}  // namespace

Result<Spec> spec_from_json(std::string_view text, std::string_view what) {
    const auto parsed = parse_json(text, what);
    if (!parsed) return tl::unexpected(parsed.error());
    if (!parsed->is_object())
        return bad_input(fmt::format("{} is {}; expected an object", what, shown(*parsed)));
    Spec spec;
    for (const auto& item : parsed->items())
        if (auto valid = read_field(spec, item.key(), item.value(), what); !valid)
            return tl::unexpected(valid.error());
    if (auto valid = check(spec); !valid) return tl::unexpected(within(what, valid.error()));
    return spec;
}

std::string field_to_json(const Spec& spec, std::string_view field) {
    std::string text;
    for_fields(spec, [&](std::string_view name, const auto& value) {
        if (name == field) text = json(written(value)).dump();
    });
    return text;
}

Result<Spec> with_field(Spec spec, std::string_view field, std::string_view value,
                        std::string_view what) {
    const auto parsed = parse_json(value, field);
    if (!parsed) return tl::unexpected(parsed.error());
    if (auto valid = read_field(spec, field, *parsed, what); !valid)
        return tl::unexpected(valid.error());
    if (field == "task" && !info(spec.task).takes_language) spec.language = {};
    if (auto valid = check(spec); !valid) return tl::unexpected(within(what, valid.error()));
    return spec;
}

std::string spec_to_json(const Spec& spec) {
    nlohmann::ordered_json object;
    for_fields(spec, [&](std::string_view name, const auto& value) {
        object[std::string(name)] = written(value);
    });
    return object.dump(2) + "\n";
}

}  // namespace attn::train
