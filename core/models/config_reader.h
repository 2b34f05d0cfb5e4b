#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/io/json.h"
#include "core/models/config_keys.h"
#include "core/sizes.h"
#include "core/text.h"

namespace attn {

struct ModelConfig;

inline constexpr Index kMostSize = Index{1} << 31;

/// Reads keys of which families have different names, and keeps the first fault.
class ConfigReader {
  public:
    ConfigReader(const nlohmann::json& config, std::string_view where)
        : config_(config), where_(where) {}

    /// Under the first of the names that is there.
    const nlohmann::json* find(std::initializer_list<std::string_view> names) {
        know(names);
        for (const std::string_view name : names) {
            if (!asked_.contains(name)) continue;
            const auto found = config_.find(std::string(name));
            if (found != config_.end() && !found->is_null()) {
                key_ = name;
                return &*found;
            }
        }
        return nullptr;
    }
    /// Settings of the family, whether they count or not.
    void know(std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (family_ == nullptr || is_own_key(*family_, name)) asked_.emplace(name);
    }
    /// Its keys alone are read from now on.
    void set_family(const ModelFamily* family) { family_ = family; }
    /// Those that nobody asked for, but for what is no setting.
    std::vector<std::string> unused() const {
        std::vector<std::string> keys;
        for (const auto& each : config_.items())
            if (!asked_.contains(each.key()) && !each.value().is_null() &&
                !is_no_setting(each.key()))
                keys.push_back(each.key());
        return keys;
    }
    /// Settings of other architectures: refused, or without effect. `width`: of a token's vector.
    void refuse_foreign(Index width) {
        for (const auto& each : config_.items()) {
            const auto plain = plain_value(each.key());
            if (!plain || !asked_.emplace(each.key()).second) continue;
            key_ = each.key();
            if (*plain == ViewActions::one && !each.value().is_null() && each.value() != 1.0)
                wrong(each.value(), "1: it is not computed here");
            if (*plain == ViewActions::none && !is_none(each.value()))
                wrong(each.value(), "none: it is not computed here");
            if (*plain == ViewActions::width && !is_none(each.value()) && each.value() != width)
                wrong(each.value(), fmt::format("{}, the width of the others", width));
        }
    }
    /// Said to be none.
    bool is_null(std::string_view name) const {
        const auto found = config_.find(std::string(name));
        return found != config_.end() && found->is_null();
    }
    std::optional<Index> size(std::initializer_list<std::string_view> names) {
        return whole(names, 1);
    }
    std::optional<Index> whole(std::initializer_list<std::string_view> names, Index least = 0) {
        const nlohmann::json* found = find(names);
        if (found == nullptr) return std::nullopt;
        const double value = found->is_number() ? found->get<double>() : -1.0;
        if (value >= static_cast<double>(least) && value <= static_cast<double>(kMostSize) &&
            value == std::trunc(value))
            return static_cast<Index>(value);
        wrong(*found, fmt::format("a whole number from {} to {}", least, kMostSize));
        return std::nullopt;
    }
    Index need_size(std::initializer_list<std::string_view> names) {
        if (find(names) == nullptr) complain(fmt::format("has no '{}'", *names.begin()));
        return size(names).value_or(0);
    }
    double positive(std::initializer_list<std::string_view> names, double otherwise) {
        const nlohmann::json* found = find(names);
        if (found == nullptr) return otherwise;
        if (found->is_number() && found->get<double>() > 0.0) return found->get<double>();
        wrong(*found, "a number above 0");
        return otherwise;
    }
    /// Not null, where the key is present.
    double need_positive(std::string_view name, double otherwise) {
        if (is_null(name))
            complain(fmt::format("has '{}' = null; expected a number above 0", name));
        return positive({name}, otherwise);
    }
    double need_positive(std::string_view name) {
        if (find({name}) == nullptr) complain(fmt::format("has no '{}'", name));
        return positive({name}, 1.0);
    }
    /// nullopt: it is not said, or none.
    std::optional<double> factor(std::string_view name, std::optional<double> otherwise) {
        if (is_null(name)) return know({name}), std::nullopt;
        if (find({name}) == nullptr) return otherwise;
        return positive({name}, 1.0);
    }
    /// So many numbers above 0; none after a fault, for `count` is what the file claims.
    std::vector<double> list(std::string_view name, Index count) {
        const nlohmann::json* found = find({name});
        const auto fits = [](const nlohmann::json& each) {
            return each.is_number() && std::isfinite(each.get<double>()) &&
                   each.get<double>() > 0.0;
        };
        if (found == nullptr)
            complain(fmt::format("has no '{}'", name));
        else if (!found->is_array() || std::ssize(*found) != count ||
                 !std::all_of(found->begin(), found->end(), fits))
            wrong(*found, fmt::format("a list of {} numbers above 0", count));
        else
            return found->get<std::vector<double>>();
        return {};
    }
    /// Of an object that was found last.
    ConfigReader within(const nlohmann::json& object) const {
        return {object, fmt::format("{} '{}'", where_, key_)};
    }
    void take_fault(const ConfigReader& inner) {
        if (fault_.empty()) fault_ = inner.fault_;
    }
    bool flag(std::string_view name, bool otherwise) {
        const nlohmann::json* found = find({name});
        if (found == nullptr) return otherwise;
        if (found->is_boolean()) return found->get<bool>();
        wrong(*found, "true or false");
        return otherwise;
    }
    /// One number for each channel of an image, or one for all. `least`: they are above it.
    std::vector<double> channels(std::string_view name, const std::vector<double>& defaults,
                                 double least) {
        const auto count = defaults.size();
        const nlohmann::json* found = find({name});
        if (found == nullptr) return defaults;
        const auto fits = [least](const nlohmann::json& each) {
            return each.is_number() && std::isfinite(each.get<double>()) &&
                   each.get<double>() > least;
        };
        if (fits(*found)) return std::vector<double>(count, found->get<double>());
        if (found->is_array() && found->size() == defaults.size() &&
            std::all_of(found->begin(), found->end(), fits))
            return found->get<std::vector<double>>();
        wrong(*found, fmt::format("{} number{}{}", count, count == 1 ? "" : "s",
                                  least == 0.0 ? " above 0" : ""));
        return defaults;
    }
    void wrong(const nlohmann::json& value, std::string_view expected) {
        complain(fmt::format(
            "has '{}' = {}; expected {}", key_,
            shortened(value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)),
            expected));
    }
    void complain(std::string_view sentence) {
        if (fault_.empty()) fault_ = fmt::format("{} {}", where_, sentence);
    }
    std::string_view where() const { return where_; }
    Result<void> finish() const {
        if (!fault_.empty()) return bad_input(fault_);
        return {};
    }

  private:
    static bool is_none(const nlohmann::json& value) {
        return value.is_null() || value == false || value == 0 || value == "" ||
               ((value.is_array() || value.is_object()) && value.empty());
    }

    const nlohmann::json& config_;
    std::string where_;
    std::string_view key_;
    std::string fault_;
    const ModelFamily* family_ = nullptr;
    std::set<std::string, std::less<>> asked_;
};

/// Of a family that reads images: sizes, channels, names of classes.
/// id2label: {"0": "cat", …}.
void read_class_names(ConfigReader& reader, std::map<Index, std::string>& classes);
void read_image(ConfigReader& reader, ModelConfig& config);
/// Which layers are gated delta nets (`layer_types`, `full_attention_interval`), and their sizes.
void read_delta_net(ConfigReader& reader, ModelConfig& config);
/// How queries and keys turn: rope_theta and rope_scaling, or rope_parameters as newer files have it, which holds both.
void read_rope(ConfigReader& reader, ModelConfig& config);

}  // namespace attn
