// CPU seconds of a diagnosis that tries every fault of the table and finds none: noise on the context.
//
//   attn_diagnose_bench [HEADS TOKENS WIDTH]      8 512 64

#include <cstdlib>
#include <ctime>
#include <random>

#include <fmt/format.h>

#include "core/cast.h"
#include "core/verify/report.h"
#include "core/verify/subject.h"

namespace {

using namespace attn;

verify::Side noisy(Index heads, Index tokens, Index width) {
    std::mt19937 draw(7);
    std::normal_distribution<float> normal;
    const Shape shape{1, heads, tokens, width};
    verify::Side side;
    side.path = "noise";
    for (Tensor* const tensor : {&side.inputs.q, &side.inputs.k, &side.inputs.v}) {
        *tensor = Tensor(shape);
        for (float& value : tensor->values()) value = normal(draw);
    }
    side.input_names = verify::InputNames::call;
    side.has_values = true;
    side.spec.heads = side.spec.kv_heads = heads;
    const auto subject = verify::make_subject(cast<double>(side.inputs), side.spec).value();
    Tensor& context = side.results[Stage::context];
    context = cast<float>(subject.reference[Stage::context]);
    for (float& value : context.values()) value += 0.3F * normal(draw);
    side.keys.emplace_back("context");
    return side;
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int n, Index otherwise) {
        return argc > n ? static_cast<Index>(std::atoll(argv[n])) : otherwise;
    };
    const auto side = noisy(number(1, 8), number(2, 512), number(3, 64));
    for (int run = 0; run < 3; ++run) {
        const std::clock_t began = std::clock();
        const auto report = verify::compare_sides({side}, std::nullopt).value();
        fmt::print("{:.2f} s of CPU: {}\n",
                   static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC,
                   report.verdict.code());
    }
}
