#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "attn_tree.h"
#include "core/io/npz.h"
#include "tests/io/scratch.h"

/// What a command left behind.
struct Ran {
    int code = -1;  // -1: the arguments were for the desktop app
    std::string out;
    std::string err;
};

inline Ran command(const std::vector<std::string>& words) {
    std::ostringstream out;
    std::ostringstream err;
    const std::optional<int> code = attn::cli::run(words, {out, err});
    return {code.value_or(-1), out.str(), err.str()};
}

/// Bad usage or input: exit code 2 and one line that says `words`.
inline void check_refused(const std::vector<std::string>& arguments, const std::string& words) {
    const Ran ran = command(arguments);
    CAPTURE(ran.err);
    CAPTURE(words);
    CHECK(ran.code == attn::cli::kBadInput);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(says(ran.err, words));
}

inline std::string golden(const std::string& name) {
    return std::string(ATTN_TEST_DATA "/npz/") + name;
}

/// `attnscope trace` of a golden file, which must succeed; the arrays that it wrote.
inline attn::Npz traced(const std::string& name, std::vector<std::string> options = {}) {
    const Scratch scratch;
    const std::string target = (scratch / "out.npz").string();
    std::vector<std::string> words{"trace", golden(name), "-o", target};
    words.insert(words.end(), options.begin(), options.end());
    const Ran ran = command(words);
    CAPTURE(ran.err);
    REQUIRE(ran.code == attn::cli::kSuccess);
    return attn::read_npz(target).value();
}

inline const std::vector<float>& floats(const attn::Npz& npz, const std::string& name) {
    REQUIRE(npz.arrays.contains(name));
    return std::get<std::vector<float>>(npz.arrays.at(name).values);
}

inline std::vector<attn::Index> extents(const attn::Npz& npz, const std::string& name) {
    REQUIRE(npz.arrays.contains(name));
    return npz.arrays.at(name).extents;
}
