// What `trace` writes, and that it writes all of it or nothing.
#include "core/io/file.h"
#include "tests/cli/command.h"

using namespace attn;

TEST_CASE("the same call writes the same bytes") {
    const Scratch scratch;
    for (const char* name : {"1.npz", "2.npz"})
        REQUIRE(command({"trace", golden("two_heads.npz"), "--heads", "2", "--kv-heads", "1",
                         "--grad", "-o", (scratch / name).string()})
                    .code == 0);
    CHECK(read_text_file(scratch / "1.npz").value() == read_text_file(scratch / "2.npz").value());
    CHECK(scratch.files() == 2);
}

TEST_CASE("keep writes the named stages, their gradients, and always logsumexp") {
    const Npz forward = traced("cat_sat_mat.npz", {"--keep", "weights,context"});
    CHECK(forward.names == std::vector<std::string>{"weights", "context", "logsumexp"});
    const Npz both = traced("cat_sat_mat.npz", {"--keep", "q", "--grad"});
    CHECK(both.names ==
          std::vector<std::string>{"q", "logsumexp", "d_q", "d_w_q", "d_w_k", "d_w_v"});
}

TEST_CASE("a kept stage that the call does not have is noted") {
    const Scratch scratch;
    const Ran ran = command({"trace", golden("cat_sat_mat.npz"), "-o", (scratch / "o.npz").string(),
                             "--keep", "weights,dropped"});
    CHECK(ran.code == 0);
    CHECK(says(ran.err, "note: this call has no stage dropped"));
}

TEST_CASE("the output never replaces the input") {
    const Scratch scratch;
    const std::string file = (scratch / "io.npz").string();
    std::filesystem::copy_file(golden("cat_sat_mat.npz"), file);
    CHECK(command({"trace", file, "-o", file}).code == 2);
    CHECK(read_npz(file).value().arrays.contains("W_Q"));
}

TEST_CASE("a disk that is full or a folder that is missing is a failure that leaves nothing") {
    const Scratch scratch;
    const Ran full = command({"trace", golden("cat_sat_mat.npz"), "-o", "/dev/full"});
    CHECK(full.code == cli::kFailure);
    CHECK(full.err == "attnscope trace: cannot write /dev/full: No space left on device\n");
    CHECK(full.out.empty());
    CHECK(
        command({"trace", golden("cat_sat_mat.npz"), "-o", (scratch / "no/o.npz").string()}).code ==
        cli::kFailure);
    CHECK(command({"trace", golden("cat_sat_mat.npz"), "-o", scratch.path().string()}).code ==
          cli::kFailure);
    CHECK(scratch.files() == 0);
}

TEST_CASE("bytes written to a device keep the output free of words") {
    const Ran ran = command({"trace", golden("cat_sat_mat.npz"), "-o", "/dev/null"});
    CHECK(ran.code == 0);
    CHECK(ran.out.empty());
    CHECK(says(ran.err, "weights"));
}
