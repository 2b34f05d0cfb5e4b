#include "core/models/known_models.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace attn;

TEST_CASE("the parameters of known models are those of their files") {
    // num_parameters() of the checkpoints; GPT-3 has none, its paper rounds to 175 billion
    const std::map<std::string, Index> stored{{"GPT-2", 124439808},
                                              {"Llama 3 8B", 8030261248},
                                              {"Llama 3 70B", 70553706496},
                                              {"DeepSeek-V3", 671026419200}};
    for (const KnownModel& model : known_models()) {
        CAPTURE(model.name);
        const KnownParameters counts = parameters_of(model);
        if (const auto found = stored.find(std::string(model.name)); found != stored.end())
            CHECK(counts.total() == found->second);
        else
            CHECK(static_cast<double>(counts.total()) == doctest::Approx(175e9).epsilon(0.005));
    }
}

TEST_CASE("only the products with the context grow with it, by hand for GPT-2") {
    const KnownModel& gpt2 = known_models().front();
    const double matrices = 2.0 * (12.0 * 12.0 * 768.0 * 768.0 + 50257.0 * 768.0);
    for (const Index context : {1, 1024, 131072}) {
        const KnownFlop flop = flop_of(gpt2, context);
        CHECK(flop.matrices == matrices);
        CHECK(flop.pairs == 12.0 * 4.0 * static_cast<double>(context) * 768.0);
        CHECK(flop.share_of_pairs() == flop.pairs / (flop.pairs + matrices));
    }
}

TEST_CASE("a token of DeepSeek-V3 goes through 37 billion parameters") {
    for (const KnownModel& model : known_models())
        if (model.name == "DeepSeek-V3")
            CHECK(flop_of(model, 0).matrices / 2.0 == doctest::Approx(37e9).epsilon(0.02));
}
