// Every option that takes a number says which, and refuses others: given by a flag, by a file, for sizes that would wrap.

#include "app/files/number_range.h"
#include "app/common/document/document.h"

#include <fmt/format.h>

#include "app/common/or_throw.h"
#include "app/files/options.h"
#include "tests/files/opened.h"

using namespace attn;
using namespace attn::files;

namespace {

std::string fault_of(std::string_view name, const std::string& text) {
    const Value value{fmt::format("--{}", name), text};
    const auto checked = contained([&] { check_values({{std::string(name), value}}); });
    return checked ? "" : checked.error().text();
}

/// The text is a value of the option: it takes that number.
bool takes(const AttentionOption& option, const std::string& text) {
    CallOptions call;
    return contained([&] { option.set(call, {"--x", text}); }).has_value();
}

}  // namespace

TEST_CASE("an option that takes a number has a range, and refuses what lies outside") {
    int numbers = 0;
    for (const AttentionOption& option : attention_options()) {
        CAPTURE(option.name);
        const bool list = option.name == "role" || option.name == "tokens";  // any text
        if (!list)
            CHECK((takes(option, "2") || takes(option, "0.5")) <= static_cast<bool>(option.range));
        if (!option.range) continue;
        ++numbers;
        CHECK(option.range.low < option.range.high);
        const std::string name = fmt::format("--{} is ", option.name);
        for (const char* text : {"9223372036854775808000", "1e308", "nan", "inf", "-1e19"}) {
            CAPTURE(text);
            CHECK(fault_of(option.name, text).starts_with(name));
        }
        for (const char* text : {"-9223372036854775808", "9223372036854775807",
                                 "6148914691236517206", "4611686018427387904"}) {
            CAPTURE(text);
            const bool fits = option.range.high >= 1e18 && (text[0] != '-' || option.range.low < 0);
            const std::string fault = fault_of(option.name, text);
            if (option.range.high < 1e18) CHECK(fault.starts_with(name + text));
            if (!fits) CHECK(fault.starts_with(name));
        }
    }
    CHECK(numbers >= 25);
}

TEST_CASE("the words of a range") {
    const NumberRange heads = whole_numbers(1, kMostHeads);
    CHECK(bounds_of(heads) == "1 to 65536");
    CHECK(bounds_of(whole_numbers(0, kMostPosition)) == "0 to 2^40");
    CHECK(bounds_of(whole_numbers(0, kMostSeed)) == "0 to 2^64 - 1");
    CHECK(bounds_of(real_numbers(1e-6, 1e18)) == "1e-6 to 1e18");
    CHECK(bounds_of(real_numbers(0.05, 60)) == "0.05 to 60");
    CHECK(complaint_about(heads, "7").empty());
    CHECK(complaint_about(heads, "+65536").empty());
    CHECK(complaint_about(heads, "65537") == "is 65537; expected a whole number from 1 to 65536");
    CHECK(complaint_about(heads, "1.5") == "is '1.5'; expected a whole number from 1 to 65536");
    CHECK(complaint_about(real_numbers(0, 1), "nan") == "is nan; expected a number from 0 to 1");
    CHECK(complaint_about(whole_numbers(0, kMostSeed), "18446744073709551615").empty());
    CHECK(complaint_about(whole_numbers(1, 9, NumberRange::Form::parts), "1,2,10") ==
          "is '1,2,10'; expected whole numbers from 1 to 9");
    CHECK(with_bounds("query heads", heads) == "query heads; 1 to 65536");
    CHECK(with_bounds("a name", {}) == "a name");
}

TEST_CASE_FIXTURE(OnDisk, "heads of a packed array whose product with 3 wraps around are refused") {
    const std::vector<float> numbers(6, 1.0F);
    const std::string options = R"({"heads": 6148914691236517206, "layout": "joined"})";
    REQUIRE(write_npz(scratch / "f.npz", std::vector<NpzEntry>{{"qkv", {3, 2}, numbers}}));
    const std::string why = must(open(scratch / "f.npz", options)).document->no_attention;
    CAPTURE(why);
    CHECK(why.ends_with("heads is 6148914691236517206; expected a whole number from 1 to 65536"));
}
