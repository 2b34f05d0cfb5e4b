#include "app/common/field_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/format.h"
#include "core/shape.h"

namespace attn::view {
namespace {

/// The words of every field, "d_k 64", and what is wrong with the first that is.
class FieldText : public IdleVisitor {
  public:
    explicit FieldText(const DescribeFields& fields) { fields(*this); }
    bool reads() const override { return true; }
    void complain(std::string_view sentence) override {
        if (fault.empty()) fault = sentence.substr(sentence.starts_with(": ") ? 2 : 0);
    }

    std::vector<std::string> all;
    std::string fault;

  protected:
    void leaf(std::string_view, Leaf value, const About& about) override {
        if (const auto* on = std::get_if<bool*>(&value)) add(about, **on ? "on" : "off");
        if (const auto* seed = std::get_if<std::uint64_t*>(&value))
            add(about, std::to_string(**seed));
        if (const auto* whole = std::get_if<Index*>(&value)) {
            check(static_cast<double>(**whole), about);
            add(about, grouped(**whole));
        }
        if (const auto* real = std::get_if<double*>(&value)) {
            check(**real, about);
            add(about, significant(**real, 6));
        }
    }
    void choice(std::string_view, std::size_t& n, Names names, const About& about) override {
        add(about, names[n]);
    }

  private:
    void add(const About& about, std::string_view value) {
        all.push_back(fmt::format("{} {}", about.text, value));
    }
    void check(double value, const About& about) {
        if (!(value >= about.low && value <= about.high))
            complain(fmt::format("{} is {} to {}", about.text, significant(about.low, 6),
                                 significant(about.high, 6)));
    }
};

}  // namespace

std::string changed_text(const DescribeFields& before, const DescribeFields& after) {
    const FieldText was(before);
    const FieldText is(after);
    const auto other = std::ranges::mismatch(was.all, is.all).in2;
    return other == is.all.end() ? "" : *other;
}

std::string fault_of(const DescribeFields& fields) { return FieldText(fields).fault; }

}  // namespace attn::view
