#include "app/common/describe.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/common/describe_json.h"
#include "app/common/fields.h"
#include "core/stages.h"

namespace attn::view {

using nlohmann::json, nlohmann::ordered_json;

namespace {

/// Longest list that a session or a journal may hold.
constexpr std::size_t kLongestList = 100000;

std::vector<std::string_view> stage_keys() {
    std::vector<std::string_view> keys;
    for (const StageInfo& row : stage_table()) keys.push_back(row.key);
    return keys;
}

template <class T>
bool is_inside(const T& value, const About& about) {
    const auto number = static_cast<double>(value);
    if (std::isnan(number)) return !std::isfinite(about.low) && !std::isfinite(about.high);
    return !(number < about.low) && !(number > about.high);
}

/// False where it is no list of whole numbers.
bool read_wholes(const json& found, std::vector<Index>& value) {
    if (!found.is_array() || found.size() > kLongestList) return false;
    value.clear();
    for (const json& each : found) {
        const bool fits =
            !each.is_number_unsigned() || std::in_range<Index>(each.get<std::uint64_t>());
        if (!each.is_number_integer() || !fits) return false;
        value.push_back(each.get<Index>());
    }
    return true;
}

template <class T>
const T& written(const T& value) {
    return value;
}
ordered_json written(double value) { return number_to(value); }
ordered_json written(const std::vector<double>& value) { return numbers_to(value); }

}  // namespace

void Visitor::operator()(std::string_view name, Stage& value, const About& about) {
    (*this)(name, value, Names(stage_keys()), about);
}

// ---- reading

void JsonReader::complain(std::string_view sentence) { fields_.complain(sentence); }

bool JsonReader::has(std::string_view name, const About& about) {
    if (fields_.find(name) != nullptr) return true;
    if (about.needed || missing_ == Missing::complains)
        fields_.complain(fmt::format("has no '{}'", name));
    return false;
}

template <class T>
void JsonReader::read(std::string_view name, T& value, const About& about) {
    T given = value;
    fields_.read(name, given);
    if constexpr (std::is_arithmetic_v<T>)
        if (!is_inside(given, about))
            return fields_.complain(fmt::format("has '{}' = {}: expected {} to {}", name, given,
                                                about.low, about.high));
    value = std::move(given);
}

void JsonReader::read(std::string_view name, std::vector<Index>& value, const About&) {
    if (!read_wholes(*fields_.find(name), value))
        fields_.complain(fmt::format("has '{}' = {}: expected a list of whole numbers", name,
                                     quoted(*fields_.find(name))));
}

void JsonReader::read(std::string_view name, std::vector<std::vector<Index>>& value, const About&) {
    const json& found = *fields_.find(name);
    value.clear();
    const bool valid =
        found.is_array() && std::ranges::all_of(found, [&](const json& row) {
            return value.size() < kLongestList && read_wholes(row, value.emplace_back());
        });
    if (!valid)
        fields_.complain(fmt::format("has '{}' = {}: expected a list of lists of whole numbers",
                                     name, quoted(found)));
}

void JsonReader::read(std::string_view name, std::map<std::string, std::string>& value,
                      const About&) {
    const json& found = *fields_.find(name);
    if (!found.is_object())
        return fields_.complain(fmt::format(
            "has '{}' = {}: expected an object whose values are strings", name, quoted(found)));
    value.clear();
    for (const auto& [key, text] : found.items()) {
        if (!text.is_string())
            return fields_.complain(
                fmt::format("has '{}' with '{}' = {}: expected a text", name, key, quoted(text)));
        value[key] = text.get<std::string>();
    }
}

void JsonReader::leaf(std::string_view name, Leaf value, const About& about) {
    if (has(name, about)) std::visit([&](auto* field) { read(name, *field, about); }, value);
}

void JsonReader::choice(std::string_view name, std::size_t& n, Names names, const About& about) {
    if (has(name, about)) fields_.read_name(name, n, names);
}

void JsonReader::object(std::string_view name, const About& about, const Inside& inside) {
    if (!has(name, about)) return;
    read_object(fields_, name, [&](Fields& fields) {
        JsonReader reader(fields);
        inside(reader);
    });
}

bool JsonReader::maybe(std::string_view name, bool) { return fields_.find(name) != nullptr; }

void JsonReader::list(std::string_view name, std::size_t& count, const About& about,
                      const Each& each) {
    if (!has(name, about)) return;
    const json& found = *fields_.find(name);
    if (!found.is_array() || found.size() > kLongestList)
        return fields_.complain(fmt::format("has '{}' = {}: expected a list", name, quoted(found)));
    count = found.size();
    for (std::size_t n = 0; n < count; ++n) {
        Fields fields(found[n], fmt::format("{} '{}' {}", fields_.where(), name, n));
        JsonReader reader(fields);
        each(reader, n);
        if (auto valid = fields.finish(); !valid) fields_.complain(valid.error());
    }
}

void read_each(Fields& fields, std::string_view key, const Visitor::Inside& read) {
    const json* const found = fields.find(key);
    if (found == nullptr) return;
    if (!found->is_array()) return fields.complain(fmt::format("has '{}': expected a list", key));
    for (const json& each : *found) {
        Fields inner(each, fmt::format("{} '{}'", fields.where(), key));
        JsonReader reader(inner);
        read(reader);
        if (auto valid = inner.finish(); !valid) fields.complain(valid.error());
    }
}

// ---- writing

void JsonWriter::leaf(std::string_view name, Leaf value, const About&) {
    std::visit([&](const auto* field) { object_[std::string(name)] = written(*field); }, value);
}

void JsonWriter::choice(std::string_view name, std::size_t& n, Names names, const About&) {
    object_[std::string(name)] = names[n];
}

void JsonWriter::object(std::string_view name, const About&, const Inside& inside) {
    ordered_json& object = object_[std::string(name)] = ordered_json::object();
    JsonWriter writer(object);
    inside(writer);
}

bool JsonWriter::maybe(std::string_view name, bool there) {
    if (!there && none_ == None::null) object_[std::string(name)] = nullptr;
    return there;
}

void JsonWriter::list(std::string_view name, std::size_t& count, const About&, const Each& each) {
    auto elements = ordered_json::array();
    for (std::size_t n = 0; n < count; ++n) {
        ordered_json element = ordered_json::object();
        JsonWriter writer(element);
        each(writer, n);
        elements.push_back(std::move(element));
    }
    object_[std::string(name)] = std::move(elements);
}

}  // namespace attn::view
