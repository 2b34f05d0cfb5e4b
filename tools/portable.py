#!/usr/bin/env python3
"""Packs the built program so that it runs where nothing of it is installed: with its assets, its fonts and every library but glibc.

    portable.py BUILD FOLDER            FOLDER gets the wheel and the archive
    portable.py BUILD FOLDER --wheel    the wheel alone, or --archive

    attnscope-VERSION-py3-none-manylinux_2_36_x86_64.whl    pip install: the Python package, and the program as its script
    attnscope-VERSION-linux-x86_64.tar.xz                   unpack and run; ./attnscope --install adds a menu entry and file types

A library is taken from the system where the system has it, and from the package else: a driver of OpenGL that loads a newer
libexpat or libstdc++ gets its own. So the program's RPATH names the folders of the system first. OpenGL itself always comes from
the system; without it the window does not open, and everything else works.

Wants cmake, patchelf, strip and fontconfig's fc-match. Ends with an error when the program is not built, needs a newer glibc than
the tag says, or a package is larger than LARGEST.
"""
import argparse
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GLIBC = (2, 36)  # Debian 12's
LARGEST = 30 << 20
MACHINE = platform.machine()
TAG = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_{MACHINE}"
# Of glibc, or of the driver of OpenGL: never packed.
SYSTEM = re.compile(r"^(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libresolv|libutil|libGL|libEGL|libGLX|libGLdispatch|libOpenGL)\b")
FOLDERS = [f"/usr/lib/{MACHINE}-linux-gnu", f"/lib/{MACHINE}-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib", "$ORIGIN/../lib/attnscope"]
# The families of app/fonts/families.cpp.
FONTS = ["Inter:style=Regular", "Inter:style=Bold", "JetBrains Mono:style=Regular", "STIXGeneral:style=Regular", "STIXGeneral:style=Italic",
         "DejaVu Sans:style=Book", "DejaVu Sans:style=Bold", "DejaVu Sans Mono:style=Book"]
FONTS_CONF = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">.</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""
LAUNCHER = """#!/bin/sh
# Starts attnscope. --install: a menu entry and the file types for this user, --uninstall takes them away.
here=$(dirname "$(readlink -f "$0")")
data=${XDG_DATA_HOME:-$HOME/.local/share}
caches() {
    for of in "update-mime-database $data/mime" "update-desktop-database $data/applications"; do
        if command -v "${of%% *}" >/dev/null; then ${of%% *} "${of#* }"; fi
    done
}
entry=$data/applications/attnscope.desktop types=$data/mime/packages/attnscope.xml
icon=$data/icons/hicolor/scalable/apps/attnscope.svg
case ${1:-} in
--install)
    set -e
    mkdir -p "${entry%/*}" "${types%/*}" "${icon%/*}"
    awk -v program="$here/attnscope" '{
        if ($0 ~ /^(Exec|TryExec)=attnscope/) {
            split($0, part, "=attnscope")
            # The desktop entry specification: quoted, and these four escaped in it (twice: once for the key file).
            quoted = program; gsub(/[\\\\"`$]/, "\\\\\\\\&", quoted); gsub(/%/, "%%", quoted)
            print part[1] "=" (part[1] == "Exec" ? "\\"" quoted "\\"" : program) part[2]
        } else print }' "$here/share/applications/attnscope.desktop" >"$entry"
    cp "$here/share/mime/packages/attnscope.xml" "$types"
    cp "$here/share/icons/hicolor/scalable/apps/attnscope.svg" "$icon"
    caches
    echo "The menu starts $here/attnscope. Keep this folder where it is, or run --install again."
    ;;
--uninstall)
    rm -f "$entry" "$types" "$icon"
    caches
    ;;
*) exec "$here/bin/attnscope" "$@" ;;
esac
"""


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """The files that the loader takes for the program, by the names it asks for, without those of SYSTEM."""
    found = {}
    for name, path in re.findall(r"^\s*(\S+) (?:=> (.*?) )?\(0x", run("ldd", str(program)), re.M):
        if not SYSTEM.match(pathlib.Path(name).name):
            found[name] = path
    missing = re.findall(r"(\S+) => not found", run("ldd", str(program)))
    if missing:
        sys.exit(f"portable: the loader does not find {', '.join(missing)}")
    return found


def newest_glibc(file):
    """The newest version of glibc that the file asks for."""
    versions = re.findall(r"\(GLIBC_(\d+)\.(\d+)", run("objdump", "-T", str(file)))
    return max(((int(major), int(minor)) for major, minor in versions), default=(0, 0))


def font_file(pattern):
    family, file = run("fc-match", "-f", "%{family}\n%{file}", pattern).split("\n")
    if pattern.split(":")[0] not in family.split(","):
        sys.exit(f"portable: no font {pattern}: fontconfig has {family} in its place. Install the fonts of third_party/packages.sh.")
    return file


def make_tree(build, tree):
    """The installed program in the folder, complete."""
    program = build / "attnscope"
    if not program.is_file():
        sys.exit(f"portable: {program} is not built. Build it first: ./run --version")
    run("cmake", "--install", str(build), "--component", "program", "--prefix", str(tree))
    libs = tree / "lib" / "attnscope"
    libs.mkdir(parents=True)
    for name, path in libraries(program).items():
        shutil.copyfile(path, libs / name)
    installed = tree / "bin" / "attnscope"
    packed = [installed, *sorted(libs.iterdir())]
    for file in packed:
        run("strip", "--strip-unneeded", str(file))
        if newest_glibc(file) > GLIBC:
            sys.exit(f"portable: {file.name} needs glibc {'.'.join(map(str, newest_glibc(file)))}; "
                     f"expected at most {'.'.join(map(str, GLIBC))}. Build on Debian 12.")
    run("patchelf", "--force-rpath", "--set-rpath", ":".join(FOLDERS), str(installed))  # DT_RPATH: for its libraries' libraries too
    fonts = tree / "share" / "attnscope" / "fonts"
    fonts.mkdir()
    for pattern in FONTS:
        shutil.copy(font_file(pattern), fonts)
    (fonts / "fonts.conf").write_text(FONTS_CONF)
    licences = tree / "share" / "doc" / "attnscope" / "licences"
    licences.mkdir(parents=True)
    for package in sorted(owners([*libraries(program).values(), *map(font_file, FONTS)])):
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", licences / package)


def owners(files):
    """The Debian packages that the files come from, whose licences go along."""
    names = set()
    for file in files:
        real = os.path.realpath(file)
        for path in (real, real.removeprefix("/usr"), f"/usr{real}"):
            said = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, check=False)
            if said.returncode == 0:
                names.add(said.stdout.split(":")[0])
                break
        else:
            sys.exit(f"portable: no package owns {real}, so its licence is not known")
    return names


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def make_wheel(tree, folder):
    sys.path.insert(0, str(ROOT / "python"))
    import build_backend as backend  # the package's own: its files and metadata

    files = backend.package_files()
    top = f"{backend.NAME}-{backend.VERSION}.data"
    for path in files_of(tree):
        place = path.relative_to(tree)
        place = f"{top}/scripts/attnscope" if str(place) == "bin/attnscope" else f"{top}/data/{place}"
        files[place] = path.read_bytes()
    return folder / backend.write(folder, files, TAG)


def make_archive(tree, folder, version):
    name = f"attnscope-{version}-linux-{MACHINE}"
    (tree / "attnscope").write_text(LAUNCHER)
    (tree / "attnscope").chmod(0o755)

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    path = folder / f"{name}.tar.xz"
    with tarfile.open(path, "w:xz", preset=3) as archive:
        archive.add(tree, name, filter=plain)
    (tree / "attnscope").unlink()
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--wheel", action="store_true")
    only.add_argument("--archive", action="store_true")
    asked = parser.parse_args()
    for tool in ("cmake", "patchelf", "strip", "objdump", "fc-match", "dpkg"):
        if not shutil.which(tool):
            sys.exit(f"portable: {tool} is not installed")
    asked.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        tree = pathlib.Path(work) / "tree"
        make_tree(asked.build.resolve(), tree)
        version = re.search(r"^project\(\s*attnscope\s+VERSION\s+([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
        made = []
        if not asked.archive:
            made.append(make_wheel(tree, asked.folder))
        if not asked.wheel:
            made.append(make_archive(tree, asked.folder, version))
    for path in made:
        size = path.stat().st_size
        print(f"{path}  {size:,} bytes")
        if size > LARGEST:
            sys.exit(f"portable: {path.name} has {size:,} bytes; expected at most {LARGEST:,}")


main()
