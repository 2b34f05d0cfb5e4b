#!/usr/bin/env bash
# memcheck.sh with stand-ins for valgrind: one that cannot run anything is a skip, one that finds an error is a failure.
# Usage: memcheck_test.sh memcheck.sh
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# expect CODE SCRIPT: what memcheck.sh returns when valgrind is this script; $program is what it is to run.
expect() {
    printf '#!/bin/sh\nfor program; do :; done\n%s\n' "$2" >"$folder/valgrind"
    chmod +x "$folder/valgrind"
    local code=0
    PATH="$folder:$PATH" "$script" probe program >"$folder/said" 2>&1 || code=$?
    if ((code != $1)); then
        echo "expected exit code $1, got $code, from: $2"
        cat "$folder/said"
        exit 1
    fi
}

script=$1
expect 0 'exit 0'
expect 77 'kill -ILL $$'
expect 77 'test $program != probe'
expect 1 'test $program = probe'
expect 132 'test $program = probe || kill -ILL $$'
