#include "app/common/fields.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "core/text.h"

namespace attn::view {
namespace {

/// A whole number: 3 and 3.0, not 3.5, 1e300 or one beyond 64 bits. Unsigned has its own range.
template <class Whole>
std::optional<Whole> whole(const nlohmann::json& value) {
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (!std::in_range<Whole>(number)) return std::nullopt;
        return static_cast<Whole>(number);
    }
    if (value.is_number_integer()) {
        const auto number = value.get<std::int64_t>();
        if (!std::in_range<Whole>(number)) return std::nullopt;
        return static_cast<Whole>(number);
    }
    if (!value.is_number_float()) return std::nullopt;
    const double number = value.get<double>();
    const double low = static_cast<double>(std::numeric_limits<Whole>::min());
    const double end = std::ldexp(1.0, std::numeric_limits<Whole>::digits);  // one above the last
    if (!(number >= low && number < end) || number != std::trunc(number)) return std::nullopt;
    return static_cast<Whole>(number);
}

}  // namespace

Fields::Fields(const nlohmann::json& object, std::string where)
    : object_(object), where_(std::move(where)) {
    if (!object_.is_object())
        complain(fmt::format("is {}: expected an object, {{\"key\": value, …}}", quoted(object_)));
}

const nlohmann::json* Fields::find(std::string_view key) {
    if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(std::string(key));
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const nlohmann::json* Fields::find_list(std::string_view key) {
    const nlohmann::json* found = find(key);
    if (found == nullptr || found->is_array()) return found;
    wrong(key, *found, "a list");
    return nullptr;
}

void Fields::read_index(std::string_view key, Index& value, Index low, Index high) {
    const nlohmann::json* found = find(key);
    if (found == nullptr) return;
    Index given = value;
    fill(key, *found, given);
    if (given < low || given > high)
        wrong(key, *found, fmt::format("{} to {}", low, high));
    else
        value = given;
}

void Fields::complain(std::string_view sentence) {
    const std::string_view gap = sentence.starts_with(':') ? "" : " ";
    if (fault_.empty()) fault_ = fmt::format("{}{}{}", where_, gap, sentence);
}

void Fields::complain(const Error& error) {
    if (fault_.empty()) fault_ = error.text();
}

void Fields::wrong(std::string_view key, const nlohmann::json& value, std::string_view expected) {
    complain(fmt::format("has '{}' = {}: expected {}", key, quoted(value), expected));
}

void Fields::keep_as(const Fields& outer, std::string_view key) {
    unknown_ = outer.unknown_;
    if (unknown_ != nullptr)
        pointer_ = (nlohmann::json::json_pointer(outer.pointer_) / std::string(key)).to_string();
}

Result<void> Fields::finish() {
    if (!fault_.empty()) return bad_input(fault_);
    for (const auto& [key, value] : object_.items()) {
        if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
        if (unknown_ == nullptr)
            return bad_input(fmt::format("{} has the unknown key '{}': the keys are {}", where_,
                                         shortened(key), fmt::join(asked_, ", ")));
        unknown_->insert_or_assign((nlohmann::json::json_pointer(pointer_) / key).to_string(),
                                   value.dump());
    }
    return {};
}

void Fields::fill(std::string_view key, const nlohmann::json& found, bool& value) {
    if (!found.is_boolean()) return wrong(key, found, "true or false");
    value = found.get<bool>();
}

void Fields::fill(std::string_view key, const nlohmann::json& found, int& value) {
    const auto number = whole<int>(found);
    if (!number)
        return wrong(key, found, whole<Index>(found) ? "a smaller whole number" : "a whole number");
    value = *number;
}

void Fields::fill(std::string_view key, const nlohmann::json& found, Index& value) {
    const auto number = whole<Index>(found);
    if (!number) return wrong(key, found, "a whole number");
    value = *number;
}

void Fields::fill(std::string_view key, const nlohmann::json& found, std::uint64_t& value) {
    const auto number = whole<std::uint64_t>(found);
    if (!number) return wrong(key, found, "a whole number of at least 0");
    value = *number;
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

void Fields::fill(std::string_view key, const nlohmann::json& found,
                  std::vector<std::string>& value) {
    if (!found.is_array() || !std::ranges::all_of(found, &nlohmann::json::is_string))
        return wrong(key, found, "a list of texts");
    value = found.get<std::vector<std::string>>();
}

void Fields::pick(std::string_view key, const nlohmann::json& found,
                  std::span<const std::string_view> names, std::size_t& n) {
    const std::string name = found.is_string() ? found.get<std::string>() : std::string();
    const auto match = std::find(names.begin(), names.end(), name);
    if (match == names.end())
        return wrong(key, found, fmt::format("one of {}", fmt::join(names, ", ")));
    n = static_cast<std::size_t>(match - names.begin());
}

void read_object(Fields& fields, std::string_view key, const ReadFields& read) {
    const nlohmann::json* found = fields.find(key);
    if (found == nullptr) return;
    Fields inner(*found, fmt::format("{} '{}'", fields.where(), key));
    inner.keep_as(fields, key);
    read(inner);
    if (auto valid = inner.finish(); !valid) fields.complain(valid.error());
}

void read_all(Fields& fields, std::string_view key, std::string_view one, const ReadFields& read) {
    const nlohmann::json* const found = fields.find_list(key);
    for (std::size_t n = 0; found != nullptr && n < found->size(); ++n) {
        Fields inner((*found)[n], fmt::format("{} {} {}", fields.where(), one, n));
        read(inner);
        if (auto valid = inner.finish(); !valid) fields.complain(valid.error());
    }
}

std::string quoted(const nlohmann::json& value) {
    using nlohmann::json;
    return shortened(value.dump(-1, ' ', false, json::error_handler_t::replace));
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

nlohmann::ordered_json numbers_to(const std::vector<double>& numbers) {
    auto list = nlohmann::ordered_json::array();
    for (const double number : numbers) list.push_back(number_to(number));
    return list;
}

}  // namespace attn::view
