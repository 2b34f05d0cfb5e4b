#pragma once

#include <cstdint>

#include "app/common/describe.h"

namespace attn::test {

/// Puts other values into every described field: mostly small ones, now and then those at the edges; texts that mean
/// something in a field of that name. The same seed gives the same ones on every machine.
class Scramble : public view::Visitor {
  public:
    explicit Scramble(std::uint64_t seed) : n_(seed) {}
    /// 0 … count − 1.
    std::uint64_t below(std::uint64_t count);

  protected:
    void leaf(std::string_view name, view::Leaf value, const view::About& about) override;
    void choice(std::string_view name, std::size_t& n, Names names,
                const view::About& about) override;
    void object(std::string_view name, const view::About& about, const Inside& inside) override;
    bool maybe(std::string_view name, bool there) override;
    void list(std::string_view name, std::size_t& count, const view::About& about,
              const Each& each) override;

  private:
    std::uint64_t n_;
};

}  // namespace attn::test
