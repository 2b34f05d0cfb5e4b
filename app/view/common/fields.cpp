#include "app/view/common/fields.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace attn::view {
namespace {

constexpr std::size_t kQuoted = 40;  // characters of a wrong value in a sentence

std::string quoted(const nlohmann::json& value) {
    using nlohmann::json;
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    if (text.size() <= kQuoted) return text;
    std::size_t end = kQuoted;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    return text.substr(0, end) + "…";
}

/// Whole numbers only: 3.0 passes, 3.5 and 1e300 do not.
bool whole(const nlohmann::json& value) { return value.is_number_integer(); }

}  // namespace

Fields::Fields(const nlohmann::json& object, std::string where)
    : object_(object), where_(std::move(where)) {
    if (!object_.is_object())
        complain(fmt::format("is {}: wanted an object, {{\"key\": value, …}}", quoted(object_)));
}

const nlohmann::json* Fields::find(std::string_view key) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(std::string(key));
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void Fields::complain(std::string_view sentence) {
    const std::string_view gap = sentence.starts_with(':') ? "" : " ";
    if (fault_.empty()) fault_ = fmt::format("{}{}{}", where_, gap, sentence);
}

void Fields::complain(const Error& error) {
    if (fault_.empty()) fault_ = error.sentence;
}

void Fields::wrong(std::string_view key, const nlohmann::json& value, std::string_view wanted) {
    complain(fmt::format("has '{}' = {}: wanted {}", key, quoted(value), wanted));
}

Result<void> Fields::finish() {
    if (!fault_.empty()) return bad_input(fault_);
    for (const auto& [key, value] : object_.items())
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
            return bad_input(fmt::format("{} has the unknown key '{}': the keys are {}", where_,
                                         key, fmt::join(asked_, ", ")));
    return {};
}

void Fields::fill(std::string_view key, const nlohmann::json& found, bool& value) {
    if (!found.is_boolean()) return wrong(key, found, "true or false");
    value = found.get<bool>();
}

void Fields::fill(std::string_view key, const nlohmann::json& found, int& value) {
    Index wide = value;
    fill(key, found, wide);
    if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max())
        return wrong(key, found, "a smaller whole number");
    value = static_cast<int>(wide);
}

void Fields::fill(std::string_view key, const nlohmann::json& found, Index& value) {
    const bool too_large =
        found.is_number_unsigned() &&
        found.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
    if (!whole(found) || too_large) return wrong(key, found, "a whole number");
    value = found.get<Index>();
}

void Fields::fill(std::string_view key, const nlohmann::json& found, std::uint64_t& value) {
    if (!found.is_number_unsigned()) return wrong(key, found, "a whole number of at least 0");
    value = found.get<std::uint64_t>();
}

void Fields::fill(std::string_view key, const nlohmann::json& found, double& value) {
    if (!number_from(found, value)) wrong(key, found, "a number");
}

void Fields::fill(std::string_view key, const nlohmann::json& found, std::string& value) {
    if (!found.is_string()) return wrong(key, found, "a text");
    value = found.get<std::string>();
}

void Fields::fill(std::string_view key, const nlohmann::json& found, std::vector<double>& value) {
    if (!found.is_array()) return wrong(key, found, "a list of numbers");
    value.assign(found.size(), 0.0);
    for (std::size_t n = 0; n < found.size(); ++n)
        if (!number_from(found[n], value[n])) return wrong(key, found, "a list of numbers");
}

void Fields::pick(std::string_view key, const nlohmann::json& found,
                  std::span<const std::string_view> names, std::size_t& n) {
    const std::string name = found.is_string() ? found.get<std::string>() : std::string();
    const auto match = std::find(names.begin(), names.end(), name);
    if (match == names.end())
        return wrong(key, found, fmt::format("one of {}", fmt::join(names, ", ")));
    n = static_cast<std::size_t>(match - names.begin());
}

bool number_from(const nlohmann::json& value, double& number) {
    if (value.is_number()) {
        number = value.get<double>();
        return true;
    }
    const std::string name = value.is_string() ? value.get<std::string>() : std::string();
    constexpr double kInf = std::numeric_limits<double>::infinity();
    if (name == "nan") number = std::numeric_limits<double>::quiet_NaN();
    if (name == "inf") number = kInf;
    if (name == "-inf") number = -kInf;
    return name == "nan" || name == "inf" || name == "-inf";
}

nlohmann::ordered_json number_to(double number) {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    return number;
}

}  // namespace attn::view
