// What `trace` writes, and that it writes all of it or nothing.

#include "core/dimensions.h"
#include "core/io/file.h"
#include "tests/cli/command.h"

using namespace attn;

TEST_CASE_FIXTURE(OnDisk, "the same call writes the same bytes") {
    for (const char* name : {"1.npz", "2.npz"})
        REQUIRE(command({"trace", golden("two_heads.npz"), "--heads", "2", "--kv-heads", "1",
                         "--grad", "-o", scratch.at(name)})
                    .code == 0);
    CHECK(read_text_file(scratch / "1.npz").value() == read_text_file(scratch / "2.npz").value());
    CHECK(scratch.files() == 2);
}

TEST_CASE("keep writes the named stages, their gradients, and always logsumexp") {
    const Npz forward = traced("cat_sat_mat.npz", {"--keep", "weights,context"});
    CHECK(forward.names == std::vector<std::string>{"weights", "context", "logsumexp", "options"});
    const Npz both = traced("cat_sat_mat.npz", {"--keep", "q", "--grad"});
    CHECK(both.names ==
          std::vector<std::string>{"q", "logsumexp", "d_q", "d_w_q", "d_w_k", "d_w_v"});
}

TEST_CASE_FIXTURE(OnDisk, "a kept stage that the call does not have is noted") {
    const Ran ran = succeeds({"trace", golden("cat_sat_mat.npz"), "-o", scratch.at("o.npz"),
                              "--keep", "weights,dropped"});
    CHECK(contains(ran.err, "note: this call has no stage dropped"));
}

TEST_CASE("logsumexp is a name that keep knows: it is written alone") {
    CHECK(traced("cat_sat_mat.npz", {"--keep", "logsumexp"}).names ==
          std::vector<std::string>{"logsumexp"});
    CHECK(traced("cat_sat_mat.npz", {"--keep", "weights,logsumexp"}).names ==
          std::vector<std::string>{"weights", "logsumexp", "options"});
    check_option_refused({"--keep", "logsumexps"}, "did you mean logsumexp?");
}

TEST_CASE_FIXTURE(OnDisk, "the output never replaces the input, under whatever name") {
    const std::string file = scratch.at("io.npz");
    const std::string link = scratch.at("link.npz");
    const std::string twin = scratch.at("twin.npz");
    std::filesystem::copy_file(golden("cat_sat_mat.npz"), file);
    std::filesystem::create_symlink("io.npz", link);
    std::filesystem::create_hard_link(file, twin);
    const std::string before = read_text_file(file).value();
    for (const std::string& output : {file, link, twin, scratch.at("./io.npz")})
        check_refused({"trace", file, "-o", output}, "the same file as the input");
    check_refused({"trace", link, "-o", twin}, "the same file as the input " + link);
    CHECK(read_text_file(file).value() == before);
    CHECK(std::filesystem::is_symlink(link));
    CHECK(scratch.files() == 3);
}

TEST_CASE_FIXTURE(
    OnDisk, "several inputs are a call each, into a folder, and one that fails leaves the others") {
    const std::string folder = scratch.at("out");
    const std::string twin = scratch.at("qkv.npz");
    std::filesystem::copy_file(golden("qkv.npz"), twin);
    const Ran ran =
        ends(attn::cli::kBadInput, {"trace", golden("cat_sat_mat.npz"), golden("complex.npz"),
                                    golden("qkv.npz"), "-o", folder, "--keep", "context"});
    CHECK(contains(ran.out, "2 files -> " + folder + ", 1 failed"));
    CHECK(contains(ran.err, "complex.npz"));
    const Npz alone = traced("qkv.npz", {"--keep", "context"});
    const Npz together = read_npz(folder + "/qkv.npz").value();
    CHECK(floats(together, "context") == floats(alone, "context"));
    CHECK(std::filesystem::exists(folder + "/cat_sat_mat.npz"));
    CHECK(!std::filesystem::exists(folder + "/complex.npz"));
    CHECK(command({"trace", twin, "-o", folder + "/new/"}).code == 0);
    CHECK(std::filesystem::exists(folder + "/new/qkv.npz"));
    check_refused({"trace", golden("qkv.npz"), twin, "-o", folder}, "would both be written to");
    check_refused({"trace", golden("qkv.npz"), golden("complex.npz"), "-o", "-"},
                  "-o is - for 2 inputs; expected a folder");
    check_refused({"trace", twin, "-o", scratch.path().string() + "/"},
                  "the same file as the input");
}

TEST_CASE_FIXTURE(OnDisk,
                  "an extension that is not the format's is refused, and nothing is written") {
    const auto at = [&](const char* name) { return scratch.at(name); };
    check_refused({"trace", golden("qkv.npz"), "-o", at("x.csv")},
                  "x.csv; expected a name that ends in .npz, or -");
    check_refused({"trace", golden("qkv.npz"), "-o", at("x")}, "a name that ends in .npz");
    check_refused({"saturate", "--dk", "4", "-o", at("x.npz")},
                  "x.npz; expected a name that ends in .csv, or -");
    CHECK(scratch.files() == 0);
}

TEST_CASE_FIXTURE(OnDisk, "- is standard output, and carries the file alone") {
    const std::string file = scratch.at("o.npz");
    REQUIRE(command({"trace", golden("qkv.npz"), "-o", file}).code == 0);
    const Ran npz = succeeds({"trace", golden("qkv.npz"), "-o", "-"});
    CHECK(npz.out == read_text_file(file).value());
    CHECK(contains(npz.err, "-> standard output"));
    const std::string table = scratch.at("o.csv");
    REQUIRE(command({"saturate", "--dk", "4,16", "-o", table}).code == 0);
    const Ran csv = succeeds({"saturate", "--dk", "4,16", "-o", "-"});
    CHECK(csv.out == read_text_file(table).value());
    CHECK(csv.err == "standard output: 2 rows\n");
    CHECK(!std::filesystem::exists("-"));
}

TEST_CASE("saturate adds up the percents that it prints") {
    const std::string equal = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0";
    const Ran table = succeeds({"saturate", "--logits", equal, "--dk", "4"});
    CHECK(contains(table.out, "    6.2    6.2"));
    CHECK(contains(table.out, "(rounded: adds up to 99.2)"));
    const Ran steep = succeeds({"saturate", "--logits", "9,0", "--dk", "4"});
    CHECK(contains(steep.out, " > 99.9  < 0.1"));
    CHECK_FALSE(contains(steep.out, "adds to"));
}

TEST_CASE("saturate prints four gradients, and refuses what those are not drawn of") {
    const Ran table = succeeds({"saturate", "--gradients", "--dk", "4,64", "--rows", "64"});
    CHECK(std::ranges::count(table.out, '\n') == 5);  // two lines each
    CHECK(contains(table.out, "dL/dW_Q"));
    const Ran csv = succeeds({"saturate", "--gradients", "--dk", "4", "--rows", "64", "-o", "-"});
    CHECK(csv.out.starts_with("d_k,side,p_max,J_F,dL/dz,dL/ds,dL/dq,dL/dW_Q,mean_dz,"));
    check_refused({"saturate", "--gradients", "--rows", "100"}, "a multiple of 64");
    check_refused({"saturate", "--gradients", "--trials", "9"},
                  "--trials was given with --gradients");
    check_refused({"saturate", "--rows", "64"}, "--rows was given without --gradients");
}

TEST_CASE_FIXTURE(
    OnDisk, "a disk that is full or a folder that is missing is a failure that leaves nothing") {
    const Ran full = ends(cli::kFailure, {"trace", golden("cat_sat_mat.npz"), "-o", "/dev/full"});
    CHECK(full.err == "attnscope trace: cannot write /dev/full: No space left on device\n");
    CHECK(full.out.empty());
    CHECK(command({"trace", golden("cat_sat_mat.npz"), "-o", scratch.at("no/o.npz")}).code ==
          cli::kFailure);
    CHECK(scratch.files() == 0);
    std::filesystem::create_directory(scratch / "folder.npz");
    ends(cli::kFailure, {"trace", golden("cat_sat_mat.npz"), "-o", scratch.at("folder.npz")});
    CHECK(scratch.files() == 1);
}

TEST_CASE("bytes written to a device keep the output free of words") {
    const Ran ran = succeeds({"trace", golden("cat_sat_mat.npz"), "-o", "/dev/null"});
    CHECK(ran.out.empty());
    CHECK(contains(ran.err, "weights"));
}
