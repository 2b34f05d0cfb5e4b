#!/usr/bin/env python3
"""Fails when a file knows what its layer must not know:  core <- app/common <- app/workspaces <- app/window <- app.

    layers.py TREE

What draws stands in folders named draw; the rest of common, window and workspaces is plain data and words.
"""
import collections
import fnmatch
import pathlib
import re
import sys

GRAPHICS = "GLFW/|epoxy/|GL/|GLES[0-9]*/|EGL/|KHR/|imgui_impl_"
PLAIN = ["app/common/*", "app/window/*", "app/workspaces/*"]
DRAW = ["app/*/draw/*"]

# Files, those of them that are free, what an include must not name (at its start or after a slash), and why.
INCLUDES = [
    (["core/*"], [], "app/", "core includes nothing above it"),
    (["core/*"], ["core/check.cpp"], f"{GRAPHICS}|imgui|iostream>|cstdio>|stdio.h>|print>",
     "core knows no window, no GL and no printing"),
    (PLAIN, DRAW, "draw/|gl/|cli/|files/|figures/|jobs/|autosave/", "view includes only core"),
    (PLAIN, DRAW, f"{GRAPHICS}|imgui", "view is plain C++: no ImGui, no window, no GL"),
    (DRAW, [], "gl/|cli/|files/|figures/|jobs/|autosave/", "what draws includes only view"),
    (DRAW, [], "core/", "panels compute nothing: what they draw comes from view"),
    (DRAW, [], GRAPHICS, "panels draw with ImGui alone: no window, no GL"),
    (["app/common/*"], [], "app/window/|app/workspaces/", "common is what the others stand on"),
    (["app/gl/*"], [], "common/|window/|workspaces/|cli/|files/|jobs/", "gl includes only core"),
    (["app/files/*"], [], "draw/|gl/|cli/|jobs/", "files includes only core and view"),
    (["app/files/*", "app/jobs/*", "app/figures/*"], [], f"{GRAPHICS}|imgui", "plain C++: no ImGui, no window, no GL"),
    (["app/jobs/*"], [], "draw/|gl/|cli/|files/", "jobs includes only core and view"),
    (["app/figures/*"], [], "draw/|gl/|cli/", "figures includes only view and core"),
    (["app/cli/*"], [], "draw/", "cli draws no panels itself"),
    (["app/platform/*"], [], "draw/|cli/|files/|jobs/|figures/|window/|workspaces/", "platform includes only core, common and gl"),
    (["app/*"], ["app/platform/*", "app/cli/terminal.cpp", "app/files/held_signals.cpp", "app/files/standard.cpp",
                 "app/gl/system.cpp", "app/autosave/session_lock.cpp"],
     r"unistd\.h>|fcntl\.h>|signal\.h>|spawn\.h>|pthread\.h>|semaphore\.h>|dlfcn\.h>|sys/", "app/platform knows the operating system"),
    (["core/*"], ["core/posix/*", "core/io/file.cpp", "core/io/zip_target.cpp"],
     r"unistd\.h>|fcntl\.h>|spawn\.h>|pthread\.h>|dlfcn\.h>|sys/", "core/platform.h is core's operating system"),
    (["core/*", "app/*"], ["core/posix/system.cpp", "core/models/open.cpp", "app/gl/offscreen_context.cpp"],
     r"sys/syscall\.h>|sys/prctl\.h>|sys/epoll\.h>|sys/sysinfo\.h>|linux/|epoxy/egl\.h>|semaphore\.h>|malloc\.h>",
     "windows/ and macos/ replace the files that know Linux alone"),
    (["core/*", "app/*"], [], "cluster/|mpi\\.h>", "only attnscope-mpi knows MPI"),
]
PRINTS = re.compile(r"^([^/]|/[^/])*\b(v?f?printf|f?puts|putchar|perror|exit|_Exit|abort) *\("
                    r"|std::c(out|err|log)\b|(std|fmt)::print")
STATIC = re.compile(r"^\s+static\s")
# Items whose size a caller computes (Dear ImGui ends the program at a size of 0), and text fields (text_fields.h).
SIZED_ITEM = re.compile(r"\bImGui::(InvisibleButton|Dummy|BeginChild|BeginChildFrame|Image|ImageButton|Button|"
                        r"ColorButton|ProgressBar|InputText\w*|VSlider\w+|Plot\w+|BeginListBox) *\(")
SIZES_ITEMS = "app/common/draw/items.cpp"
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]*)', re.M)
GROUPS = {"ViewActions", "EditActions", "DragActions", "Answers", "Awaited", "TransientActions"}  # of an ActionList
CONSTANT = re.compile(r"^(?:inline )?constexpr [A-Za-z_:<>, ]+ (k[A-Z]\w*)\b(?!<)", re.M)


def is_one_of(file, patterns):
    return any(fnmatch.fnmatchcase(file, pattern) for pattern in patterns)


def wrong_includes(file, text):
    for files, free, names, why in INCLUDES:
        if is_one_of(file, files) and not is_one_of(file, free):
            wrong = re.compile(rf'\s*#\s*include\s*[<"]([^>"]*/)?({names})')
            yield from (f"{file}: {line.strip()}: {why}" for line in text.split("\n") if wrong.match(line + ">"))


def wrong_lines(file, text):
    lines = text.split("\n")
    if file.startswith("core/") and file != "core/check.cpp":  # which reports a bug of ours, and stops
        yield from (f"{file}: {line}: core never prints and never exits" for line in lines if PRINTS.search(line))
    if is_one_of(file, DRAW):
        yield from (f"{file}: {line}: panels hold no state" for line in lines if STATIC.match(line))
    if file.startswith("app/") and file != SIZES_ITEMS:
        yield from (f"{file}: {line.strip()}: {SIZES_ITEMS} makes items"
                    for line in lines if SIZED_ITEM.search(line.split("//")[0]))
    if file.endswith(".h") and "#pragma once" not in lines:
        yield f"{file}: no #pragma once"


def names_of(room, sources):
    """What a workspace keeps in the state, its accessors, and its actions."""
    names = set()
    for file, text in sources.items():
        if re.fullmatch(re.escape(room) + r"/[^/]*\.h", file):
            for kept in re.findall(r"^inline constexpr (?:Look|Controls)<(\w+)> (\w+);", text, re.M):
                names |= set(kept)
            for listed in re.findall(r"^using \w+ =\s+ActionList<([^;]*)>;", text, re.M):
                names |= set(re.findall(r"\w+", listed)) - GROUPS
    return names


def trespasses(sources):
    """Nobody outside a workspace's folder includes it, or names its actions or what it keeps in the state."""
    rooms = sorted({"/".join(file.split("/")[:3]) for file in sources if file.startswith("app/workspaces/")})
    owner = {name: room for room in rooms for name in names_of(room, sources)}
    named = re.compile(r"\b(" + "|".join(map(re.escape, owner)) + r")\b") if owner else None
    for file, text in sources.items():
        if not file.startswith("app/"):
            continue
        for path in INCLUDE.findall(text):
            room = "/".join(path.split("/")[:3])
            if re.match("app/workspaces/[^/]+/", path) and not file.startswith(room + "/"):
                yield f"{file}: includes {path}: {room} owns itself"
        code = re.sub(r'"(?:[^"\\\n]|\\.)*"', "", re.sub(r"^\s*//.*", "", text, flags=re.M))
        for name in set(named.findall(code)) if named else ():
            if not file.startswith(owner[name] + "/"):
                yield f"{file}: names {name}: {owner[name]} owns itself"


def doubled_constants(sources):
    """What view names is seen before what core names, in silence."""
    places = collections.defaultdict(set)
    for file, text in sources.items():
        if file.endswith(".h") and is_one_of(file, ["core/*", *PLAIN]) and not is_one_of(file, DRAW):
            for name in CONSTANT.findall(text):
                places[name].add(file)
    for name, files in places.items():
        if len(files) > 1:
            yield f"{', '.join(sorted(files))}: {name}: one constant has one meaning"


def circles(sources):
    state = {}  # False while it is being visited, True afterwards
    includes = {file: [path for path in INCLUDE.findall(text) if path in sources] for file, text in sources.items()}

    def visit(file, way):
        if state.get(file) is False:
            yield " -> ".join([*way[way.index(file):], file]) + ": files that include each other in a circle"
        elif file not in state:
            state[file] = False
            for path in includes[file]:
                yield from visit(path, [*way, file])
            state[file] = True

    for file in sources:
        yield from visit(file, [])


def read(tree):
    return {str(path.relative_to(tree)): path.read_text() for folder in ("core", "app", "cluster", "tests")
            for path in sorted((tree / folder).rglob("*")) if path.suffix in (".h", ".cpp", ".inl")}


def faults(sources):
    for file, text in sources.items():
        yield from wrong_includes(file, text)
        yield from wrong_lines(file, text)
    yield from trespasses(sources)
    yield from doubled_constants(sources)
    yield from circles(sources)


if __name__ == "__main__":
    found = list(faults(read(pathlib.Path(sys.argv[1]))))
    print("\n".join(found))
    sys.exit(bool(found))
