#!/usr/bin/env bash
# Runs a test program under valgrind's memcheck: it fails where a result depends on memory that nobody wrote, and at every
# access outside what was allocated. Exit code 77, and the reason, where valgrind is not installed or cannot run a program
# that does nothing and is linked with the same libraries.
# Usage: memcheck.sh PROBE PROGRAM
set -euo pipefail

check() { valgrind --quiet --error-exitcode=1 --leak-check=no "$1"; }

if ! command -v valgrind >/dev/null; then
    echo "skipped: valgrind is not installed"
    exit 77
fi
if ! said=$(check "$1" 2>&1); then
    echo "skipped: $(valgrind --version) cannot run a program here that does nothing:"
    echo "$said"
    exit 77
fi
check "$2"
