#!/usr/bin/env bash
# Runs a test program under valgrind's memcheck: it fails where a result depends on memory that nobody wrote, and at every
# access outside what was allocated. Exit code 77, and why, where valgrind is not installed.
# Usage: memcheck.sh PROGRAM
set -euo pipefail

if ! command -v valgrind >/dev/null; then
    echo "skipped: valgrind is not installed"
    exit 77
fi
exec valgrind --quiet --error-exitcode=1 --leak-check=no "$1"
