#pragma once

#include "core/io/arrays/array_file.h"

namespace attn {

/// Several files as one.
class JoinedArrays : public ArrayFile {
  public:
    /// Where an array stands.
    struct Place {
        std::size_t file;
        std::string name;  // in that file
    };
    /// `names` and `places` go together.
    static Result<Arrays> join(std::string what, std::vector<Arrays> files,
                               std::vector<std::string> names, std::vector<Place> places);

    /// Of whichever file has it; an error where two have different ones.
    Result<std::optional<std::string>> text(std::string_view key) const override;

  private:
    explicit JoinedArrays(std::string what) : ArrayFile(std::move(what)) {}
    Result<ArrayInfo> about_at(std::size_t at, const std::string& what) const override;
    Result<NpyArray> read_at(std::size_t at, const std::string& what, double held) const override;
    Result<std::optional<HalfArray>> read_halves_at(std::size_t at, const std::string& what,
                                                    double held) const override;
    Result<std::optional<CodeArray>> read_codes_at(std::size_t at, const std::string& what,
                                                   double held) const override;

    std::vector<Arrays> files_;
    std::vector<Place> places_;
};

}  // namespace attn
