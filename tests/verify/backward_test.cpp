// Bugs of a backward kernel, planted in code that is none of the hypotheses': seen, and named rightly with the array that
// shows them. Right kernels: clean.
#include "tests/verify/backward.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/verify/report.h"
#include "tests/support/random.h"

using namespace attn;
using namespace attn::test;
using namespace attn::verify;

namespace {

using Bug = BackwardBug;

/// A bug, what names it, and how that ends.
struct BugCase {
    Bug bug;
    std::string_view key;
    std::string_view where = {};
    bool causal = false;
    bool softcap = false, turns = false;
    Index groups = 4, tq = 43;
};

constexpr BugCase kBugs[] = {
    {Bug::mask_missing_in_dk_and_dv, "backward_mask", "in dK and dV", true},
    {Bug::mask_missing_in_dq, "backward_mask", "in dQ", true},
    {Bug::mask_missing_in_dk, "backward_mask", "in dK", true},
    {Bug::mask_one_too_many, "backward_mask", "in dQ, dK and dV", true},
    {Bug::scale_missing_in_dq, "backward_scale", "the scale is missing in dQ"},
    {Bug::scale_missing_in_dk, "backward_scale", "the scale is missing in dK", true},
    {Bug::scale_twice_in_dq, "backward_scale", "the scale is there twice in dQ"},
    {Bug::scale_missing_in_both, "backward_scale", "the scale is missing in dQ and dK", true},
    {Bug::row_sum_left_out, "backward_row_sum", "in dQ and dK"},
    {Bug::row_sum_left_out_in_dk, "backward_row_sum", "in dK", true},
    {Bug::weights_not_normalised, "backward_weights", "in dQ, dK and dV"},
    {Bug::weights_in_twos, "backward_weights", "in dQ, dK and dV", true},
    {Bug::softcap_derivative_left_out, "backward_softcap", "in dQ and dK", false, true},
    {Bug::dv_of_the_next_head, "backward_heads", "of the next head in dV"},
    {Bug::dk_in_reverse, "backward_heads", "heads in reverse in dK", true},
    {Bug::group_not_summed, "backward_groups", "in dK and dV", false, false, false, 2},
    {Bug::group_mean, "backward_groups", "the mean over the query heads in dK and dV", true, false,
     false, 2},
    {Bug::last_query_tile_left_out, "backward_tile", "in dK and dV"},
    {Bug::first_query_tile_left_out, "backward_tile", "in dK and dV", true},
    {Bug::dq_overwritten, "backward_tile", "only the last is stored in dQ"},
    {Bug::dv_not_transposed, "backward_transposed", "in dV"},
    {Bug::dk_not_transposed, "backward_transposed", "in dK", true},
    {Bug::dq_not_turned, "backward_rope", "not rotated in dQ", false, false, true},
    {Bug::dq_turned_forwards, "backward_rope", "rotated forwards in dQ", true, false, true},
};

BackwardKernel kernel_of(const BugCase& one, std::uint64_t seed = 21) {
    BackwardKernel kernel;
    kernel.q = normal_tensor<float>({2, 4, one.tq, 8}, seed);
    kernel.k = normal_tensor<float>({2, one.groups, 43, 8}, seed + 1);
    kernel.v = normal_tensor<float>({2, one.groups, 43, 6}, seed + 2);
    kernel.d_o = normal_tensor<float>({2, 4, one.tq, 6}, seed + 3);
    if (one.causal) kernel.reach = 43 - one.tq;
    if (one.softcap) kernel.softcap = 1.5F;
    kernel.turns = one.turns;
    kernel.bug = one.bug;
    return kernel;
}

/// What diff says of inputs, dO and the gradients of a kernel beside them in one file.
DiffReport report_of(const BackwardKernel& kernel) {
    Side side;
    side.path = "kernel";
    side.inputs.q = kernel.q, side.inputs.k = kernel.k, side.inputs.v = kernel.v;
    side.input_names = InputNames::call;
    side.has_values = true;
    if (kernel.reach) side.spec.mask.causal = CausalAlign::bottom_right;
    if (kernel.softcap) side.spec.softcap = *kernel.softcap;
    if (kernel.turns) side.spec.rope = Rope{};
    side.upstream = Upstream{Stage::context, kernel.d_o};
    BackwardOut out = run_backward(kernel);
    side.gradients[Stage::q] = std::move(out.d_q);
    side.gradients[Stage::k] = std::move(out.d_k);
    side.gradients[Stage::v] = std::move(out.d_v);
    side.keys = {"d_q", "d_k", "d_v"};
    std::vector<Side> sides;
    sides.push_back(std::move(side));
    return compare_sides(std::move(sides), std::nullopt).value();
}

/// "key: variant" of what is named.
std::vector<std::string> named_in(const DiffReport& report) {
    std::vector<std::string> named;
    for (const Examined& one : report.examined)
        for (const std::size_t n :
             one.diagnosis ? one.diagnosis->named : std::vector<std::size_t>{})
            named.push_back(fmt::format("{}: {}", one.diagnosis->outcomes[n].fault->key,
                                        one.diagnosis->outcomes[n].variant));
    return named;
}

}  // namespace

TEST_CASE("bugs of a backward kernel are seen and named with the array that shows them") {
    for (const BugCase& one : kBugs) {
        const DiffReport report = report_of(kernel_of(one));
        const auto named = named_in(report);
        CAPTURE(one.key);
        CAPTURE(one.where);
        CAPTURE(fmt::format("{}", fmt::join(named, "; ")));
        CHECK_FALSE(report.equal);
        REQUIRE(named.size() == 1);
        CHECK(named.front().starts_with(std::string(one.key) + ": "));
        CHECK(named.front().ends_with(one.where));
        CHECK(report.verdict.kind == Verdict::Kind::different);
        CHECK(report.verdict.detail.ends_with(": " + named.front().substr(one.key.size() + 2)));
    }
}

TEST_CASE("bugs of a backward kernel that no row knows are seen and not named") {
    for (const Bug bug : {Bug::upstream_negated, Bug::row_sum_twice, Bug::dv_of_squared_weights,
                          Bug::keys_shifted}) {
        const DiffReport report = report_of(kernel_of({bug, "none"}));
        CHECK_FALSE(report.equal);
        CHECK(named_in(report).empty());
    }
}

TEST_CASE("right backward kernels of every kind are clean") {
    for (std::uint64_t n = 0; n < 32; ++n) {
        BugCase one{Bug::none, ""};
        one.causal = n % 2 == 1, one.softcap = n / 2 % 2 == 1, one.turns = n / 4 % 2 == 1;
        one.groups = n / 8 % 2 == 1 ? 1 : 4;
        if (n >= 16 && !one.turns) one.tq = 12;
        CAPTURE(n);
        const DiffReport report = report_of(kernel_of(one, 100 + 7 * n));
        CHECK(report.equal);
        CHECK(named_in(report).empty());
    }
}
