#include "tests/support/scramble.h"

#include <array>

#include "app/common/workspace.h"
#include "core/rng.h"
#include "core/train/task_table.h"

namespace attn::test {
namespace {

using namespace attn::view;

/// What stands in texts of that name; elsewhere any text.
const std::vector<std::string>& texts_of(std::string_view name) {
    static const std::map<std::string, std::vector<std::string>, std::less<>> kTexts{
        {"",
         {"", "a b c", "the cat sat on the mat the cat", "1.5", "-1e-3", "2, 3", "词\n\t“x”", "0"}},
        {"setting", {"score", "position", "mask", "sink", "softcap", "attic"}},
        {"value", {"cosine", "additive", "alibi", "causal", "off", "0.5", "1e9", "rope-half"}},
        {"gradient_of", {"w_q", "scores", "output", "attic"}},
        {"run", {"a", "b", "c"}},
        {"field", {"scaling", "d_k", "positions", "layers", "", "attic"}},
        {"experiment", {"recall", "narrow", "positions", "attic"}},
        {"memory", {"capitals", "two-near", "long-key", "keys-as-values", "tie", "attic"}},
        {"measure", {"", "entropy", "previous", "norm_share", "attic"}},
        {"pair", {"window", "rope", "scaled-unscaled", "none"}},
        {"key",
         {"the-cat-sat-down", "three-heads", "exercise", "cross-attention", "empty", "none"}},
        {"name", {"auto", "reference", "staged", "fused", "abacus"}},
        {"convention", {"nan", "after", "add_lowest", "none"}},
        {"tensor", {"w_q", "x", "q", "scores", "weights", "context", "output"}}};
    const auto found = kTexts.find(name);
    return found == kTexts.end() ? kTexts.at("") : found->second;
}

std::int64_t some_whole(Scramble& draw) {
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr std::array<std::int64_t, 16> kEdges{
        0, 1, 2, 3, 4, 5, 7, 8, -1, 16, 31, 64, 65, 4096, Limits::max(), Limits::min()};
    return draw.below(4) == 0 ? kEdges[draw.below(kEdges.size())]
                              : static_cast<std::int64_t>(draw.below(6));
}

double some_real(Scramble& draw) {
    constexpr std::array<double, 10> kEdges{0.0,   -0.0, 1.0,   -2.5, 0.5,
                                            1e-30, 1e30, 100.0, 99.9, 3.0};
    return kEdges[draw.below(kEdges.size())];
}

void scramble(Scramble& draw, std::string_view, bool& value) { value = draw.below(2) == 0; }
void scramble(Scramble& draw, std::string_view, int& value) {
    value = static_cast<int>(draw.below(7)) - 1;
}
void scramble(Scramble& draw, std::string_view, Index& value) { value = some_whole(draw); }
void scramble(Scramble& draw, std::string_view, std::uint64_t& value) {
    value = static_cast<std::uint64_t>(some_whole(draw));
}
void scramble(Scramble& draw, std::string_view, double& value) { value = some_real(draw); }
void scramble(Scramble& draw, std::string_view name, std::string& value) {
    if (name == "workspace") {
        const auto all = workspaces();
        const std::uint64_t n = draw.below(all.size() + 1);
        value = n < all.size() ? std::string(all[n]->key) : "attic";
        return;
    }
    const auto& texts = texts_of(name);
    value = texts[draw.below(texts.size())];
}
void scramble(Scramble& draw, std::string_view, std::vector<double>& value) {
    value.resize(draw.below(5));
    for (double& each : value) each = some_real(draw);
}
void scramble(Scramble&, std::string_view, std::map<std::string, std::string>& value) {
    value = {{"Q", "q"}, {"attic", "-"}};
}
/// Lists of whole numbers stay.
template <class T>
void scramble(Scramble&, std::string_view, std::vector<T>&) {}

}  // namespace

std::uint64_t Scramble::below(std::uint64_t count) {
    n_ = mix(n_, 1);
    return n_ % count;
}

void Scramble::leaf(std::string_view name, Leaf value, const About&) {
    std::visit([&](auto* field) { scramble(*this, name, *field); }, value);
}

void Scramble::choice(std::string_view, std::size_t& n, Names names, const About&) {
    n = below(names.size());
}

void Scramble::object(std::string_view, const About&, const Inside& inside) { inside(*this); }
bool Scramble::maybe(std::string_view, bool) { return below(3) > 0; }
void Scramble::list(std::string_view, std::size_t& count, const About&, const Each& each) {
    count = below(4);
    for (std::size_t n = 0; n < count; ++n) each(*this, n);
}

}  // namespace attn::test
