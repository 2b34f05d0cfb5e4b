#!/usr/bin/env python3
"""The sources of windows/ and portable/ are C++ for mingw-w64, with the headers of libraries that this machine has. It checks the syntax alone.

    windows_syntax.py TREE BUILD

Exit 77 (skipped), with the reason, where mingw-w64 is missing.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILER = "x86_64-w64-mingw32-g++-posix"
# Those of /usr/include itself are Linux's: each of these alone is linked into a folder.
HEADERS = ["CLI", "eigen3/Eigen", "fmt", "nlohmann", "tl", "zip.h", "zipconf.h", "png.h", "pngconf.h", "pnglibconf.h", "zlib.h", "zconf.h",
           "x86_64-linux-gnu/zconf.h", "imgui/imgui.h", "imgui/imconfig.h", "imgui/imstb_truetype.h"]
OPTIONS = ["-std=c++20", "-fsyntax-only", "-fmax-errors=3", "-Wall", "-Wextra", "-Werror", "-DNOMINMAX", "-DWIN32_LEAN_AND_MEAN",
           '-DATTN_INSTALL_ASSETS="share"']


def link_headers(folder):
    for header in HEADERS:
        found, place = pathlib.Path("/usr/include") / header, pathlib.Path(folder) / pathlib.Path(header).name
        if found.exists() and not place.exists():
            place.symlink_to(found)


def main():
    tree, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    if shutil.which(COMPILER) is None:
        print(f"{COMPILER} is not installed (Debian: g++-mingw-w64-x86-64-posix)")
        return 77
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        link_headers(folder)
        for source in sorted([*(tree / "windows").rglob("*.cpp"), *(tree / "portable").rglob("*.cpp")]):
            done = subprocess.run([COMPILER, *OPTIONS, f"-I{tree}/windows", f"-I{tree}/portable", f"-I{tree}", f"-I{build}/generated", "-isystem", folder, source],
                                  capture_output=True, text=True, check=False)
            faults += done.returncode != 0
            if done.returncode != 0:
                print(f"{source.relative_to(tree)}:\n{done.stderr}")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
