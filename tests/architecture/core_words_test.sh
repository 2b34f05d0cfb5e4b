#!/usr/bin/env bash
# Plants one violation of every rule of core_words.sh in a tree of its own, and fails where it goes unseen.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{core/io,app/files}
printf '    {"query-offset", "P", "", kPositions,\n' >"$tree/app/files/options.cpp"
failed=0

# plant FILE TEXT: seen only when core_words.sh fails and names the file.
plant() {
    local said
    printf '%s\n' "$2" >"$tree/$1"
    if said=$("$here/core_words.sh" "$tree") || [[ $said != *"$1"* ]]; then
        echo "unseen: $1: $2"
        failed=1
    fi
    rm "$tree/$1"
}

# allow FILE TEXT: no violation.
allow() {
    printf '%s\n' "$2" >"$tree/$1"
    "$here/core_words.sh" "$tree" || { echo "refused: $1: $2"; failed=1; }
    rm "$tree/$1"
}

plant core/a.cpp '    return "decide what they are (--empty-rows)";'
plant core/a.h '// as --heads says'
plant core/a.cpp '    unless(offset >= 0, "query-offset is {}", offset);'
plant core/io/a.h '/// One line for `attnscope info`.'
plant core/a.h '/// Everything the workspace shows of it.'
plant core/a.h 'struct StepWorkspace {};'
plant core/a.h '    std::string_view key;  // of a session'
plant core/a.h '    std::string_view key;  // npz name, journal'
plant core/a.h '    std::string_view step;  // on the ribbon'
plant core/a.h '/// Whose fault it is; the command line makes an exit code of it.'
plant core/a.cpp '    return failed("no OpenGL");'
plant core/a.cpp '    return "key G opens it";'
plant core/a.inl '// of the app'

allow core/a.cpp '    --depth_;  // a window of 3 keys, query_offset 0'
allow core/a.cpp '    for (Index i = size - 1; i >= 0; --i) text += "x";'
allow core/a.cpp 'constexpr std::string_view kFormat = "attnscope run 1";'
allow core/a.h '/// Key K of head h, its query Q; |i − j| ≤ window.'

rm "$tree/app/files/options.cpp"
touch "$tree/app/files/options.cpp"
! "$here/core_words.sh" "$tree" >/dev/null || { echo "unseen: no options are found"; failed=1; }
exit "$failed"
