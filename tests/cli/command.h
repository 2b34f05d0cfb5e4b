#pragma once

#include <doctest/doctest.h>

#include <algorithm>
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

using Arguments = std::vector<std::string>;

inline Arguments joined(Arguments arguments, const Arguments& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

inline Ran command(const Arguments& arguments) {
    std::ostringstream out;
    std::ostringstream err;
    const std::optional<int> code = attn::cli::run(arguments, {out, err});
    return {code.value_or(-1), out.str(), err.str()};
}

/// The command, which must end with that code.
inline Ran ends(int code, const Arguments& arguments) {
    const Ran ran = command(arguments);
    CAPTURE(ran.err);
    REQUIRE(ran.code == code);
    return ran;
}
inline Ran succeeds(const Arguments& arguments) { return ends(attn::cli::kSuccess, arguments); }

/// Bad usage or input: exit code 2 and one line that says `words`.
inline void check_refused(const Arguments& arguments, const std::string& text) {
    CAPTURE(text);
    const Ran ran = ends(attn::cli::kBadInput, arguments);
    CAPTURE(ran.err);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(contains(ran.err, text));
}

inline std::string golden(const std::string& name) {
    return std::string(ATTN_TEST_DATA "/npz/") + name;
}

/// `attnscope trace` of a golden file, which is refused.
inline void check_trace_refused(const std::string& name, const Arguments& options,
                                const std::string& text) {
    check_refused(joined({"trace", golden(name), "-o", "/nowhere/x.npz"}, options), text);
}
inline void check_option_refused(const Arguments& options, const std::string& text) {
    check_trace_refused("qkv.npz", options, text);
}

/// `attnscope trace` of a golden file, which must succeed; the arrays that it wrote.
inline attn::Npz traced(const std::string& name, const Arguments& options = {}) {
    const Scratch scratch;
    const std::string target = (scratch / "out.npz").string();
    succeeds(joined({"trace", golden(name), "-o", target}, options));
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
