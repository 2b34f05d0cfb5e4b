#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/sizes.h"

namespace attn {

/// The first fault of a tokenizer's file: thrown while it is read, caught where the file is named.
struct TokenizerFault {
    std::string sentence;
};

/// An object of tokenizer.json. What is not as it should be is a TokenizerFault; null counts as not there.
class TokenizerStep {
  public:
    explicit TokenizerStep(const nlohmann::json& object) : object_(object) {}

    const nlohmann::json& need(const char* key) const;
    const nlohmann::json* find(const char* key) const;
    std::string text(const char* key) const;
    std::string text_or(const char* key, std::string_view otherwise) const;
    bool flag(const char* key, bool otherwise) const;
    /// A whole number below kMostTokens.
    Index number(const char* key) const;
    Index number_or(const char* key, Index otherwise) const;
    /// Every key is one of these; `what` is whose they are: "the normalizer 'Replace'".
    void allow_only(std::string_view what, std::span<const std::string_view> keys) const;
    void allow_only(std::string_view what, std::initializer_list<std::string_view> keys) const;

    /// Ids are below this: far more than any vocabulary has, and few enough to be held.
    static constexpr Index kMostTokens = Index{1} << 21;
    static Index id_of(const nlohmann::json& value);
    [[noreturn]] static void fault(std::string sentence) {
        throw TokenizerFault{std::move(sentence)};
    }

  private:
    [[noreturn]] static void wrong(const char* key, const nlohmann::json& value,
                                   std::string_view expected);
    const nlohmann::json& object_;
};

}  // namespace attn
