#include "core/models/tokenizer_step.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/text.h"

namespace attn {

using nlohmann::json;

const json* TokenizerStep::find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& TokenizerStep::need(const char* key) const {
    if (!object_.is_object() || !object_.contains(key)) fault(fmt::format("has no '{}'", key));
    return object_.at(key);
}

std::string TokenizerStep::text(const char* key) const {
    const json& value = need(key);
    if (!value.is_string()) fault(fmt::format("has '{}': expected a text", key));
    return value.get<std::string>();
}

std::string TokenizerStep::text_or(const char* key, std::string_view otherwise) const {
    return find(key) == nullptr ? std::string(otherwise) : text(key);
}

bool TokenizerStep::flag(const char* key, bool otherwise) const {
    const json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) wrong(key, *value, "true or false");
    return value->get<bool>();
}

Index TokenizerStep::id_of(const json& value) {
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() >= kMostTokens)
        fault(fmt::format("has a token number {}", shortened(value.dump())));
    return value.get<Index>();
}

Index TokenizerStep::number(const char* key) const {
    const json& value = need(key);
    if (!value.is_number_integer() || value.get<std::int64_t>() < 0 ||
        value.get<std::int64_t>() >= kMostTokens)
        wrong(key, value, fmt::format("a whole number from 0 to {}", kMostTokens - 1));
    return value.get<Index>();
}

Index TokenizerStep::number_or(const char* key, Index otherwise) const {
    return find(key) == nullptr ? otherwise : number(key);
}

void TokenizerStep::allow_only(std::string_view what,
                               std::span<const std::string_view> keys) const {
    if (!object_.is_object()) return;
    for (const auto& each : object_.items())
        if (std::ranges::find(keys, each.key()) == keys.end())
            fault(fmt::format("has the key '{}' in {}, which is not known here",
                              shortened(each.key()), what));
}

void TokenizerStep::allow_only(std::string_view what,
                               std::initializer_list<std::string_view> keys) const {
    allow_only(what, std::span<const std::string_view>(keys.begin(), keys.size()));
}

void TokenizerStep::wrong(const char* key, const json& value, std::string_view expected) {
    fault(fmt::format("has '{}' = {}; expected {}", key,
                      shortened(value.dump(-1, ' ', false, json::error_handler_t::replace)),
                      expected));
}

}  // namespace attn
