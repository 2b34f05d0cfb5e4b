#!/usr/bin/env python3
"""Compiles windows_files.cpp with the files and the memory of windows/core by mingw-w64, and runs it under Wine.

    windows_files.py TREE

Exit 77 (skipped), with the reason, where mingw-w64 or Wine is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from windows_syntax import COMPILER, link_headers

TREE = pathlib.Path(sys.argv[1]).resolve()
SOURCES = ["tests/platform/windows_files.cpp", "windows/core/posix/platform.cpp", "windows/core/io/file.cpp", "windows/utf8_paths.cpp", "core/rng.cpp",
           "core/result.cpp", "core/text.cpp", "core/check.cpp"]
for program, package in ((COMPILER, "g++-mingw-w64-x86-64-posix"), ("wine", "wine, wine64")):
    if shutil.which(program) is None:
        print(f"{program} is not installed (Debian: {package})")
        sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    link_headers(folder)
    program = pathlib.Path(folder) / "windows_files.exe"
    subprocess.run([COMPILER, "-std=c++20", "-O1", "-static", "-Wa,-muse-unaligned-vector-move", "-DFMT_HEADER_ONLY", "-DNOMINMAX",
                    "-DWIN32_LEAN_AND_MEAN", f"-I{TREE}/windows", f"-I{TREE}", "-isystem", folder, "-o", program,
                    *(TREE / source for source in SOURCES)], check=True)
    environment = {**os.environ, "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml=", "LC_ALL": "C.UTF-8",
                   "WINEPREFIX": os.environ.get("WINEPREFIX", f"{folder}/prefix")}
    sys.exit(subprocess.run(["wine", program], cwd=folder, env=environment, check=False).returncode)
