#!/usr/bin/env python3
"""The sources of the page with 32-bit sizes: what only compiles where std::size_t has 64 bits, as a braced uint64 in place of a size
or a minimum of an Index and a difference of pointers, stops the page's build. Here GCC checks the syntax alone, with -m32.

    bits32.py TREE BUILD [FILE.cpp ...]

Without a file every source of the page is checked. BUILD has the compile_commands.json. Sources of a folder are read as one, for
most of the time goes into headers; where that fails the group is halved until the sources that fail alone are found.
BUILD/bits32.json lists the groups that passed, with the contents of every file that they read: an unchanged group is not read again.
Exit 77 (skipped), with the reason, where GCC has no 32-bit headers.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from commands import entries, settings

TREE, BUILD = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
WANTED = sys.argv[3:]
# Debian has one folder of headers for both sizes; only its gcc-multilib, which excludes cross compilers, links it where -m32 looks.
TARGET = ["-m32", "-isystem", "/usr/include/x86_64-linux-gnu", "-Werror=narrowing", "-fmax-errors=3", "-std=c++20",
          "-DEIGEN_DEFAULT_DENSE_INDEX_TYPE=__INT64_TYPE__"]
UNNAMED = re.compile(r"namespace \{(.*?)\n\}  // namespace\n", re.DOTALL)
# Read by most sources: parsed once.
COMMON = ["<algorithm>", "<filesystem>", "<functional>", "<map>", "<ranges>", "<fmt/format.h>", "<fmt/ranges.h>", "<nlohmann/json.hpp>",
          '"app/common/actions.h"', '"app/common/inspector.h"', '"app/common/workspace.h"', '"core/kinds.h"', '"core/large/weight_map.h"']


def of_page(path):
    """web/PATH stands in for PATH, and some sources are left out (cmake/overlay.cmake)."""
    left_out = re.findall(r"^\s*(app/\S+\.cpp)", (TREE / "web/left_out.cmake").read_text(), re.MULTILINE)
    return path not in left_out and not (TREE / "web" / path).exists()


def own_names(text):
    """What a source names for itself alone: functions with their parameters, types, constants."""
    found = set()
    for block in UNNAMED.findall(text):
        for line in block.splitlines():
            if line[:1].isalpha() and not line.startswith(("template", "using namespace", "namespace")):
                kind = re.match(r"(?:struct|class|enum class|using) (\w+)(?!::)\b", line)
                value = None if line.startswith("using") else re.search(r"\b(?!struct|enum)(\w+)\s*[(=\[{](.*)", line)
                if kind:
                    found.add(kind[1])
                elif value:
                    found.add((value[1], re.sub(r"\w+(?=[,)])", "", value[2]) if "(" in line else ""))
    return found


def grouped(sources):
    """The sources of a folder together, but for those that give one name to two things, or that include themselves for each
    processor."""
    folders, alone = {}, []
    for path in sources:
        text = (TREE / path).read_text()
        if "foreach_target" in text:
            alone.append([path])
            continue
        names = own_names(text)
        groups = folders.setdefault(os.path.dirname(path), [])
        group = next((group for group in groups if not group[0] & names), None)
        if group is None:
            groups.append(group := [set(), []])
        group[0].update(names)
        group[1].append(path)
    return [group[1] for groups in folders.values() for group in groups] + alone


@functools.cache
def digest(path):
    """Of a file's contents; "" where there is none."""
    try:
        return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    except OSError:
        return ""


def names_in(dependencies):
    """The files that the compiler lists in a rule of make."""
    return dependencies.read_text().replace("\\\n", " ").split(":", 1)[1].split()


class Passed:
    """The groups that passed with one compiler and its arguments: for each its sources, and every file that was read with its digest."""

    def __init__(self, path, compiler):
        self.path, self.compiler = path, compiler
        try:
            known = json.loads(path.read_text())
        except (OSError, ValueError):
            known = {}
        self.known = known.get("groups", {}) if known.get("compiler") == compiler else {}
        self.now = {}

    def has(self, group):
        key = " ".join(group)
        files = self.known.get(key)
        if not files or any(digest(name) != value for name, value in files.items()):
            return False
        self.now[key] = files
        return True

    def add(self, group, names):
        self.now[" ".join(group)] = {name: digest(name) for name in names}

    def join(self, group, *parts):
        """A group that passed in parts."""
        self.now[" ".join(group)] = {name: value for part in parts for name, value in self.now.pop(" ".join(part)).items()}

    def save(self):
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps({"compiler": self.compiler, "groups": self.now}))
        part.replace(self.path)


def main():
    commands = {path: words for path, words in entries(TREE, BUILD) if path.startswith(("core/", "app/"))}
    sources = WANTED or sorted(path for path in commands if of_page(path))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        used = dict.fromkeys(each for words in commands.values() for each in settings(words))
        compiler = ["g++", *TARGET, f"-I{TREE}/web", *(word for each in used for word in each)]

        def compile_alone(name, text, *more):
            (folder / name).write_text(text)
            return subprocess.run([*compiler, *more, str(folder / name)], capture_output=True, text=True, check=False)

        probe = compile_alone("probe.cpp", "#include <string>\n", "-fsyntax-only")
        if probe.returncode != 0:
            print("skipped: g++ -m32 has no headers here (Debian: libc6-dev-i386 lib32stdc++-12-dev)")
            print(probe.stderr)
            return 77
        common, read_by_all = [], []
        version = subprocess.run(["g++", "--version"], capture_output=True, text=True, check=True).stdout
        passed = Passed(BUILD / "bits32.json", [version, *compiler, *COMMON])
        groups = grouped(sources)
        left = groups if WANTED else [group for group in groups if not passed.has(group)]
        if left and not WANTED:
            made = compile_alone("common.h", "".join(f"#include {name}\n" for name in COMMON), "-x", "c++-header", "-o",
                                 str(folder / "common.h.gch"), "-MMD", "-MF", str(folder / "common.d"))
            if made.returncode != 0:
                print(made.stderr)
                return 1
            common = ["-include", str(folder / "common.h")]
            read_by_all = names_in(folder / "common.d")

        def check(group, number):
            """The errors of these sources."""
            read = folder / f"{number}.d"
            done = compile_alone(f"{number}.cpp", "".join(f'#include "{TREE / path}"\n' for path in group), *common, "-fsyntax-only",
                                 "-MMD", "-MF", str(read))
            if done.returncode == 0:
                passed.add(group, [name for name in read_by_all + names_in(read) if not name.startswith(str(folder))])
                return []
            if len(group) == 1:
                return [done.stderr]
            print(f"{group[0]} … {group[-1]}: not as one", flush=True)
            half = len(group) // 2
            errors = check(group[:half], f"{number}a") + check(group[half:], f"{number}b")
            if not errors:
                passed.join(group, group[:half], group[half:])
            return errors

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            failed = [text for errors in pool.map(check, left, range(len(left))) for text in errors]
        if not WANTED:
            passed.save()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    for text in failed:
        print(text)
    print(f"{len(sources)} sources in {len(groups)} groups, {len(left)} of them read, {len(failed)} fail with -m32; {used.ru_utime + used.ru_stime:.0f} s of CPU")
    return 1 if failed else 0


sys.exit(main())
