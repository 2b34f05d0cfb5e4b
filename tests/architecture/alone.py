#!/usr/bin/env python3
"""Each source compiles by itself. The release compiles ten sources as one, where a source may use what only another one includes.

    alone.py TREE BUILD [FILE.cpp ...]

Checks the syntax of the sources of core/, app/ and web/ that BUILD compiles in a group or with a precompiled header, or of the given
files. `platform_windows_syntax` checks windows/ and portable/, and the build compiles cluster/ one by one.

The headers take most of the time. So there are some precompiled headers here, and each serves only sources that include all its
headers anyway: it hides no missing include.

BUILD/alone.json has the sources that passed, with all headers that they reach and the names that they find there. A source is read
again when its text changes, or when it no longer reaches a header, a name, or the definition of a class.
"""
import concurrent.futures
import functools
import hashlib
import itertools
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
INCLUDE = re.compile(r'^\s*#\s*include\s*("[^"]+"|<[^>]+>)', re.MULTILINE)
DEFINITION = re.compile(r"\b(?:struct|class|enum|union) (?:class )?(\w+)[^;{}()]*\{")
LIBRARY_WEIGHT = 800  # lines; of a library's header, which brings others
PRECOMPILED_COST = 4  # to make a precompiled header, in readings of its headers
FLAGS = ["-std=c++20", "-fmax-errors=3", "--param=ggc-min-expand=200", "--param=ggc-min-heapsize=1000000"]
# What the page takes from Emscripten.
EMSCRIPTEN = """#pragma once
#include <GLES3/gl3.h>
#define EM_JS(result, name, parameters, ...) extern "C" result name parameters;
#define MAIN_THREAD_ASYNC_EM_ASM(...)
#define EMSCRIPTEN_KEEPALIVE
extern "C" double emscripten_get_now();
"""


LEFT_OUT = ["web/app/gl/window.cpp", "web/app/gl/window_events.cpp"]  # want the Dear ImGui of the page, 1.92


def resolve(name, folder, overlays):
    """The project's file of an include, or the include itself."""
    for place in (*overlays, ".", folder):
        if name[0] == '"' and (TREE / place / name[1:-1]).is_file():
            return os.path.normpath(os.path.join(place, name[1:-1]))
    return name


@functools.cache
def text_of(path):
    return (TREE / path).read_text()


@functools.cache
def direct(path, overlays):
    return [resolve(name, os.path.dirname(path), overlays) for name in INCLUDE.findall(text_of(path))]


@functools.cache
def names_of(path):
    return frozenset(re.findall(r"\b[A-Za-z_]\w+", text_of(path)))


@functools.cache
def definitions_of(path):
    return frozenset(DEFINITION.findall(text_of(path)))


def is_own(header):
    return header[0] not in '"<'


def reached(source, overlays):
    found, waiting = set(), [source]
    while waiting:
        for header in direct(waiting.pop(), overlays):
            if header not in found:
                found.add(header)
                if is_own(header):
                    waiting.append(header)
    return found


def state_of(source, headers):
    """What decides whether a source compiles by itself, as far as its text alone tells."""
    own = [header for header in headers if is_own(header)]
    names = names_of(source) & frozenset().union(*map(names_of, own))
    defined = frozenset().union(*map(definitions_of, own))
    return {"text": hashlib.sha256(text_of(source).encode()).hexdigest(), "headers": sorted(headers), "names": sorted(names),
            "defined": sorted(defined)}


def still_passes(before, now):
    return bool(before) and before["text"] == now["text"] and all(
        set(before[part]) <= set(now[part]) for part in ("headers", "names", "defined"))


def lines_of(header):
    return text_of(header).count("\n") if is_own(header) else LIBRARY_WEIGHT


def precompiled_sets(reach):
    """Sets of headers, largest gain first: each is what two sources have in common. A gain counts lines that are read less."""
    bits = {header: 1 << n for n, header in enumerate(sorted(set().union(*reach.values())))}
    masks = {source: sum(bits[header] for header in headers) for source, headers in reach.items()}
    ordered = [masks[source] for source in sorted(masks)]
    pairs = {a & b for n, a in enumerate(ordered) for b in ordered[n + 1:n + 12]}
    candidates = {mask: sum(lines_of(header) for header, bit in bits.items() if mask & bit) for mask in pairs}
    users = {mask: [source for source, own in masks.items() if mask & own == mask] for mask in candidates}
    saved, chosen = dict.fromkeys(reach, 0), []

    def gain(mask):
        return sum(max(0, candidates[mask] - saved[source]) for source in users[mask]) - PRECOMPILED_COST * candidates[mask]

    while candidates:
        best = max(candidates, key=gain)
        if gain(best) <= 0:
            break
        chosen.append({header for header, bit in bits.items() if best & bit})
        saved.update((source, max(saved[source], candidates[best])) for source in users[best])
        del candidates[best]
    return chosen


class Check:
    """The sources of one system with one compiler."""

    def __init__(self, compiler, folder):
        self.compiler, self.folder = compiler, folder

    def precompile(self, number, headers):
        """The path to include, or None: some headers of libraries want another order."""
        path = self.folder / f"{number}.h"
        path.write_text("".join(f'#include "{header}"\n' if is_own(header) else f"#include {header}\n" for header in sorted(headers)))
        done = subprocess.run([*self.compiler, "-x", "c++-header", str(path), "-o", f"{path}.gch"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"no precompiled header {number}: {done.stderr}")
        return path if done.returncode == 0 else None

    def compiles(self, source, before):
        """One source, after the header `before`, if there is one. Prints the errors."""
        more = ["-include", str(before)] if before else []
        done = subprocess.run([*self.compiler, *more, "-fsyntax-only", str(TREE / source)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{source} does not compile by itself:\n{done.stderr}", flush=True)
        return done.returncode == 0

    def run(self, reach, pool):
        """{source: whether it compiles}."""
        sets = precompiled_sets(reach)
        made = list(pool.map(self.precompile, itertools.count(), sets))
        ready = [(sum(map(lines_of, headers)), headers, path) for headers, path in zip(sets, made) if path]
        best = {source: max(((lines, path) for lines, headers, path in ready if headers <= own), default=(0, None))[1] for source, own in reach.items()}
        return dict(zip(reach, pool.map(self.compiles, reach, best.values())))


def main():
    commands = list(entries(TREE, BUILD))
    compile_commands = json.loads((BUILD / "compile_commands.json").read_text())
    by_itself = {entry["file"] for entry in compile_commands if "cmake_pch" not in entry["command"]}
    joined = [path for path, _ in commands if path.startswith(("core/", "app/")) and str(TREE / path) not in by_itself]
    page = [str(path.relative_to(TREE)) for path in (TREE / "web").rglob("*.cpp")]
    used = dict.fromkeys(each for path, line in commands if path.startswith(("core/", "app/")) for each in settings(line))
    options = [word for each in used for word in each]
    known_path = BUILD / "alone.json"
    known = json.loads(known_path.read_text()) if known_path.exists() and not WANTED else {}
    passed, failed, read = {}, 0, 0
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(name)
        for header in ("emscripten.h", "emscripten/html5.h", "emscripten/threading.h"):
            (folder / "page" / header).parent.mkdir(parents=True, exist_ok=True)
            (folder / "page" / header).write_text(EMSCRIPTEN)
        overlays = ("web", "portable", "web/include")
        of_page = [*(f"-I{TREE / place}" for place in overlays), f"-I{folder}/page"]
        systems = [((), [], joined), (overlays, of_page, [path for path in page if path not in LEFT_OUT])]
        for places, more, sources in systems:
            if WANTED:
                sources = [source for source in WANTED if source.startswith("web/") == bool(places)]
            reach = {source: reached(source, places) for source in sorted(sources)}
            now = {source: state_of(source, headers) for source, headers in reach.items()}
            left = {source: headers for source, headers in reach.items() if not still_passes(known.get(source), now[source])}
            done = Check(["g++", *FLAGS, *more, *options], folder).run(left, pool) if left else {}
            passed.update((source, now[source]) for source in reach if done.get(source, True))
            failed += sum(not compiles for compiles in done.values())
            read += len(left)
    if not WANTED:
        known_path.write_text(json.dumps(passed))
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{len(passed) + failed} sources, {read} of them read, {failed} do not compile by themselves; "
          f"{cpu.ru_utime + cpu.ru_stime:.0f} s of CPU")
    return 1 if failed else 0


sys.exit(main())
