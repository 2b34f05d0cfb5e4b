// `attnscope heads`: the measures of every head, as a table and as CSV.
#include <cmath>
#include <fstream>

#include "tests/cli/command.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

using Table = std::vector<std::vector<std::string>>;

/// The cells of each line.
Table cells_of(const std::string& text, char between) {
    Table table;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream cells(line);
        table.emplace_back();
        for (std::string cell; std::getline(cells, cell, between);) table.back().push_back(cell);
    }
    return table;
}

std::size_t column_of(const Table& table, const std::string& name) {
    const auto found = std::ranges::find(table.front(), name);
    REQUIRE(found != table.front().end());
    return static_cast<std::size_t>(found - table.front().begin());
}

/// Mean a[i,i-1] and -Σ a ln a of one head of what `trace` saved.
struct Expected {
    double previous = 0.0, entropy = 0.0;
};
Expected expected_of(const std::vector<float>& weights, std::size_t head, std::size_t t) {
    Expected expected;
    const float* a = weights.data() + head * t * t;
    for (std::size_t i = 0; i < t; ++i)
        for (std::size_t j = 0; j < t; ++j) {
            const double p = a[i * t + j];
            if (p > 0.0) expected.entropy -= p * std::log(p) / static_cast<double>(t);
            if (i == j + 1) expected.previous += p / static_cast<double>(t - 1);
        }
    return expected;
}

std::string printed_csv(const std::string& folder, const Arguments& more = {}) {
    const Ran ran = succeeds(joined({"heads", folder, "--text", "abba c", "-o", "-"}, more));
    CHECK(contains(ran.err, "standard output: 6 heads"));
    return ran.out;
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "heads: every head of every layer has the measures of what trace saves") {
    const std::string folder = test::gpt2_folder(scratch).string();
    const std::string traced = scratch.at("out.npz");
    REQUIRE(command({"trace", "--model", folder, "--text", "abba c", "-o", traced}).code == 0);
    const Npz out = read_npz(traced).value();
    const Table table = cells_of(printed_csv(folder), ',');
    REQUIRE(table.size() == 7);
    const std::size_t previous = column_of(table, "previous");
    const std::size_t entropy = column_of(table, "entropy");
    for (std::size_t n = 0; n < 6; ++n) {
        const auto& row = table[n + 1];
        CHECK(row[0] == std::to_string(n / 3));
        CHECK(row[1] == std::to_string(n % 3));
        const Expected expected = expected_of(floats(out, "l" + row[0] + ".weights"), n % 3, 5);
        CHECK(std::stod(row[previous]) == doctest::Approx(expected.previous).epsilon(1e-5));
        CHECK(std::stod(row[entropy]) == doctest::Approx(expected.entropy).epsilon(1e-5));
        CHECK(expected.previous > 0.0);
    }
}

TEST_CASE_FIXTURE(OnDisk, "heads: sorted, the largest comes first, in CSV and in the table") {
    const std::string folder = test::gpt2_folder(scratch).string();
    const Table csv = cells_of(printed_csv(folder, {"--sort", "previous"}), ',');
    const std::size_t previous = column_of(csv, "previous");
    for (std::size_t n = 2; n < csv.size(); ++n)
        CHECK(std::stod(csv[n - 1][previous]) >= std::stod(csv[n][previous]));
    const Ran ran = succeeds({"heads", folder, "--text", "abba c", "--sort", "previous"});
    const std::string first = ran.out.substr(ran.out.find('\n') + 1, 10);
    CHECK(std::stoi(first.substr(0, 5)) == std::stoi(csv[1][0]));
    CHECK(std::stoi(first.substr(5, 5)) == std::stoi(csv[1][1]));
}

TEST_CASE_FIXTURE(OnDisk,
                  "heads: a measure that asks for what is not there is a dash, never a number") {
    const std::string target = scratch.at("heads.csv");
    const Ran ran = succeeds({"heads", golden("qkv.npz"), "-o", target});
    CHECK(contains(ran.out, "heads.csv: "));
    std::ifstream stream(target);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const Table csv = cells_of(text, ',');
    CHECK(csv[1][column_of(csv, "induction")].empty());  // the file has no tokens
    CHECK_FALSE(csv[1][column_of(csv, "entropy")].empty());
    const Ran table = command({"heads", golden("qkv.npz")});
    CHECK(contains(table.out, " - "));
}

TEST_CASE_FIXTURE(OnDisk, "heads: a measure that is not 0 is not 0.0000 in the table") {
    const std::vector<float> near{0.99999F, 0.00001F, 0.00001F, 0.99999F};
    REQUIRE(write_npz(scratch / "w.npz", std::vector<NpzEntry>{{"weights", {1, 2, 2}, near}}));
    const Ran table = succeeds({"heads", scratch.at("w.npz")});
    CHECK(contains(table.out, "    1.0e-05"));
    CHECK_FALSE(contains(table.out, "    0.0000"));
}

TEST_CASE_FIXTURE(OnDisk, "heads: rows that are not probabilities are counted, not measured") {
    const float nan = std::nanf("");
    const std::vector<float> weights{1.0F, 0.0F, nan, nan, 1.0F, 0.0F, 2.0F, -1.0F};
    REQUIRE(write_npz(scratch / "w.npz", std::vector<NpzEntry>{{"weights", {2, 2, 2}, weights}}));
    const Ran table = succeeds({"heads", scratch.at("w.npz")});
    const auto contains = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(contains(table.out, "1 of 2\n"));
    CHECK(contains(table.err,
                   "layer 0: 2 of 4 rows of weights are not probability distributions; no measure "
                   "counts them"));
    const Table csv = cells_of(succeeds({"heads", scratch.at("w.npz"), "-o", "-"}).out, ',');
    CHECK(csv[1][column_of(csv, "entropy")] == "0");
    CHECK(csv[1][column_of(csv, "rows")] == "1");
    CHECK(csv[2][column_of(csv, "rows_excluded")] == "1");
}

TEST_CASE_FIXTURE(OnDisk, "heads: what is wrong is named") {
    check_refused({"heads"}, "no FILE");
    check_refused({"heads", golden("qkv.npz"), "--sort", "kindness"},
                  "--sort is 'kindness'; expected one of entropy, evenness, previous");
    check_refused({"heads", golden("qkv.npz"), "-o", scratch.at("x.txt")}, ".csv");
    const Ran ran = ends(cli::kBadInput, {"heads", golden("qkv.npz"), "--sequence", "9"});
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, "There is no head 0 of sequence 9"));
    check_refused({"heads", golden("qkv.npz"), "--text", "a"}, "--text");
    check_refused({"heads", golden("nowhere.npz")}, "nowhere.npz");
}

TEST_CASE_FIXTURE(OnDisk, "heads: a file is read as the options of trace say") {
    const std::vector<float> scores{0.0F, 9.0F, 1.0F, 0.0F};
    REQUIRE(write_npz(scratch / "a.npz", std::vector<NpzEntry>{{"mine", {2, 2}, scores}}));
    const std::string path = scratch.at("a.npz");
    const Ran ran =
        succeeds({"heads", path, "--role", "mine=scores", "--d-k", "4", "--causal", "-o", "-"});
    const Table table = cells_of(ran.out, ',');
    // row 1: softmax of ½·(1, 0): 0.6225 on the key before; row 0 sees key 0 alone
    CHECK(std::stod(table[1][column_of(table, "previous")]) ==
          doctest::Approx(1.0 / (1.0 + std::exp(-0.5))).epsilon(1e-6));
    check_refused(
        {"heads", path, "--role", "mine=scores"},
        "a.npz: mine are scores q·k, and the file does not have their scale. Pass --scale none "
        "(they are already scaled, or need no scale), --scale X (multiplies the scores by X before "
        "the softmax) or "
        "--d-k N (N is the width of a query: times 1/√N)");
    check_refused({"heads", path, "--window", "x"},
                  "attnscope heads: --window is 'x'; expected a whole number");
    check_refused({"heads", path, "--operation", "linear"}, "there is no option --operation");
}

TEST_CASE_FIXTURE(
    OnDisk, "heads: options that change nothing of given weights are named, wrong ones refused") {
    const std::vector<float> even(8, 0.5F);
    const std::vector<Index> shape{2, 2, 2};
    REQUIRE(write_npz(scratch / "w.npz", std::vector<NpzEntry>{{"weights", shape, even}}));
    const std::string path = scratch.at("w.npz");
    struct Row {
        Arguments options;
        std::string contains;
    };
    const Row idle[] = {
        {{"--causal"}, "causal changes no number: weights are given"},
        {{"--rope", "half", "--rope-scaling", "linear,2"}, "rope, rope-scaling change no number"},
        {{"--layout", "joined"}, "layout changes no number"},
        {{"--kv-heads", "1", "--heads", "2"}, "kv-heads changes no number"},
        {{"--seed", "3"}, "seed changes no number: no weight is dropped"},
        {{"--dropout", "0.5", "--seed", "3", "--causal"},
         "causal changes no number: weights are given; dropout, seed change no number: results of "
         "dropped weights need V"},
        {{"--dropout", "0.5", "--training", "off"},
         "dropout, training change no number: no weight is dropped"}};
    for (const Row& row : idle)
        CHECK(contains(succeeds(joined({"heads", path}, row.options)).err, row.contains));
    check_refused({"heads", path, "--heads", "7"},
                  path + ": heads is 7, but weights are of 2; leave it out");
    const std::string traced = scratch.at("t.npz");
    const Ran dropped = succeeds({"trace", path, "--dropout", "0.5", "-o", traced});
    CHECK_FALSE(contains(dropped.err, "change"));  // it has a stage of its own there
    check_refused({"heads", traced, "--heads", "7"},
                  traced + ": heads is 7, but weights are of 2; leave it out");
    // stored beside Q and K
    const std::vector<float> odd{1, 0, 0, 1, 1, 0, 0, 1};
    REQUIRE(write_npz(
        scratch / "b.npz",
        std::vector<NpzEntry>{{"Q", shape, odd}, {"K", shape, odd}, {"weights", shape, even}}));
    CHECK(contains(succeeds({"heads", scratch.at("b.npz"), "--scale", "none"}).err,
                   "; in the shown stages, scale changes no number: weights are given"));
    check_refused({"heads", scratch.at("b.npz"), "--role", "Q=K,Q=V"},
                  "--role reads Q as K and as V; expected one role");
    const Ran with_seed =
        succeeds({"heads", scratch.at("b.npz"), "--scale", "none", "--seed", "3"});
    CHECK(
        contains(with_seed.err, "weights are given; seed changes no number: no weight is dropped"));
    REQUIRE(
        write_npz(scratch / "q.npz", std::vector<NpzEntry>{{"Q", shape, odd}, {"K", shape, odd}}));
    CHECK(contains(succeeds({"heads", scratch.at("q.npz"), "--seed", "3"}).err,
                   "seed changes no number: no weight is dropped"));
    // render has another --scale
    REQUIRE(write_npz(scratch / "s.npz", std::vector<NpzEntry>{{"scores", shape, odd}}));
    check_refused({"render", scratch.at("s.npz"), "-o", scratch.at("x.svg")},
                  "the file does not have their scale. Pass --d-k N (N is the width of a query: "
                  "times 1/√N)");
}

TEST_CASE_FIXTURE(
    OnDisk, "heads: raw scores that are stored beside Q and K are shown, scaled as the call says") {
    const std::vector<Index> shape{1, 2, 4};
    const std::vector<float> q{1, 0, 0, 0, 0, 1, 0, 0};
    const std::vector<float> scores{0, 8, 2, 0};  // q·k is 1, 0, 0, 1
    REQUIRE(write_npz(
        scratch / "s.npz",
        std::vector<NpzEntry>{{"Q", shape, q}, {"K", shape, q}, {"scores", {1, 2, 2}, scores}}));
    const Ran ran = succeeds({"heads", scratch.at("s.npz"), "-o", "-"});
    CHECK(contains(ran.err,
                   "scores are shown as they are stored × 0.5; the results of Q and K differ by at "
                   "most 8 (head 0, query 0, key 1)"));
    const Table table = cells_of(ran.out, ',');
    // row 1: softmax of ½·(2, 0)
    CHECK(std::stod(table[1][column_of(table, "previous")]) ==
          doctest::Approx(1.0 / (1.0 + std::exp(-1.0))).epsilon(1e-6));
    CHECK(contains(succeeds({"heads", scratch.at("s.npz"), "--scale", "q_and_k"}).err,
                   "stored × 1;"));
}
