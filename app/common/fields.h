#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/result.h"
#include "core/sizes.h"

namespace attn::view {

// Users of this header link attn::json too.

/// More rows, columns or heads than anything that can be opened has.
inline constexpr Index kMostIndex = Index{1} << 40;

/// Reads one JSON object key by key and keeps the first fault, so that a reader is a plain list of
/// keys with one check at the end. `read` leaves the value alone when the key is missing (or null),
/// `need` makes that a fault. A whole number may be written 3.0. finish() also refuses keys that were not read: they are typos.
class Fields {
  public:
    /// `where` begins every sentence: "cats.json", "journal line 3".
    Fields(const nlohmann::json& object, std::string where);

    template <class T>
    void read(std::string_view key, T& value) {
        if (const nlohmann::json* found = find(key)) fill(key, *found, value);
    }
    template <class T>
    void need(std::string_view key, T& value) {
        if (!find(key)) complain(std::string("has no '") + std::string(key) + "'");
        read(key, value);
    }
    /// An enum written as one of `names`, in order of its values.
    template <class Enum>
    void read_name(std::string_view key, Enum& value, std::span<const std::string_view> names) {
        std::size_t n = static_cast<std::size_t>(value);
        if (const nlohmann::json* found = find(key)) pick(key, *found, names, n);
        value = static_cast<Enum>(n);
    }
    /// An index: `low` … `high`, so that nothing that counts on from it overflows. Another number leaves `value` alone.
    void read_index(std::string_view key, Index& value, Index low = 0, Index high = kMostIndex);
    void need_index(std::string_view key, Index& value, Index low = 0, Index high = kMostIndex) {
        if (!find(key)) complain(std::string("has no '") + std::string(key) + "'");
        read_index(key, value, low, high);
    }
    /// nullptr when the key is missing or null.
    const nlohmann::json* find(std::string_view key);
    /// The same for a value that is not a list.
    const nlohmann::json* find_list(std::string_view key);
    /// Keeps the first complaint: "<where> <sentence>", or "<where>: …" where the sentence begins so.
    void complain(std::string_view sentence);
    void complain(const Error& error);
    bool ok() const { return fault_.empty(); }
    /// finish() then puts keys that were not read into `kept`, JSON by JSON pointer, instead of refusing them; so do
    /// the objects in it that read_object() reads.
    void keep_unknown(std::map<std::string, std::string>& unknown) { unknown_ = &unknown; }
    /// For the object under `key` of `outer`: as that one does.
    void keep_as(const Fields& outer, std::string_view key);
    const std::string& where() const { return where_; }

    /// The first fault, or an unknown key.
    Result<void> finish();

  private:
    void wrong(std::string_view key, const nlohmann::json& value, std::string_view expected);
    void fill(std::string_view key, const nlohmann::json& found, bool& value);
    void fill(std::string_view key, const nlohmann::json& found, int& value);
    void fill(std::string_view key, const nlohmann::json& found, Index& value);
    void fill(std::string_view key, const nlohmann::json& found, std::uint64_t& value);
    void fill(std::string_view key, const nlohmann::json& found, double& value);
    void fill(std::string_view key, const nlohmann::json& found, std::string& value);
    void fill(std::string_view key, const nlohmann::json& found, std::vector<double>& value);
    void fill(std::string_view key, const nlohmann::json& found, std::vector<std::string>& value);
    void pick(std::string_view key, const nlohmann::json& found,
              std::span<const std::string_view> names, std::size_t& n);

    const nlohmann::json& object_;
    std::string where_;
    std::string fault_;
    std::vector<std::string> asked_;
    std::map<std::string, std::string>* unknown_ = nullptr;
    std::string pointer_;  // of this object
};

using ReadFields = std::function<void(Fields& fields)>;
/// The object under `key`, read by `read`; nothing happens when it is missing.
void read_object(Fields& fields, std::string_view key, const ReadFields& read);
/// The objects of the list under `key`, each read by `read`; an error of one begins with "<where> <one> <number>".
void read_all(Fields& fields, std::string_view key, std::string_view one, const ReadFields& read);
template <class T>
void read_list(Fields& fields, std::string_view key, std::string_view one, std::vector<T>& list,
               T (*read_one)(Fields& fields)) {
    read_all(fields, key, one, [&](Fields& inner) { list.push_back(read_one(inner)); });
}
template <class T>
void need_list(Fields& fields, std::string_view key, std::string_view one, std::vector<T>& list,
               T (*read_one)(Fields& fields)) {
    read_list(fields, key, one, list, read_one);
    if (list.empty())
        fields.complain("has no '" + std::string(key) + "': expected a list of at least one");
}

/// A wrong value as an error quotes it: its JSON, at most 40 characters.
std::string quoted(const nlohmann::json& value);
/// A number, or "nan", "inf", "-inf" as text, which JSON has no numbers for. False when neither.
bool number_from(const nlohmann::json& value, double& number);
/// The other way: a JSON number or one of the three texts.
nlohmann::ordered_json number_to(double number);
nlohmann::ordered_json numbers_to(const std::vector<double>& numbers);

}  // namespace attn::view
