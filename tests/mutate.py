#!/usr/bin/env python3
"""Makes random one-operator changes in core and in what views are made by, builds, runs the tests, and counts what they catch.

    mutate.py BUILD [--count N] [--seed S] [--folders a,b] [--only FILE:LINE[:COLUMN],...] [--limit SECONDS] [--list]

BUILD is a build folder of this tree with the tests of TESTS; one that is not built is not run. Quick to build and to run:
cmake -G Ninja -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS="-O1 -g0" -DATTN_PCH=ON. A change is one operator of one line:
< to <=, + to -, && to ||, == to !=, true to false and the like, outside comments, strings, assertions and includes. The
same seed makes the same changes of the same lines. A change in app is met with the tests of views alone, one in core with
all, the quick ones first; a test whose program is the same bytes is not run, and a change that leaves them all so is no change. It is caught when a test fails, hangs or outgrows its memory; one that survives is printed with its line:
either it makes an equal program, or a test is missing. --only makes every change of seed's order there, such as those of
an earlier run's survivors. The file is put back after each change, also when this is interrupted. Takes about a minute a
change; not part of ./test.
"""
import argparse
import functools
import hashlib
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
VIEW_TESTS = ["view", "journals"]
TESTS = ["known", "gradients", "goldens", "operations", "io", "models", "verify", "train", "backends", "weight_rows", "large",
         *VIEW_TESTS]
LONGEST_BUILD = 900
# A test may take this many times the processor's time that it takes of the unchanged tree, and so much more; of a clock's
# time, which other programs share, it may take more again.
PATIENCE, PATIENCE_SECONDS, PATIENCE_CLOCK = 6, 20, 20
MOST_BYTES = 18 << 30

CHANGES = [(" < ", " <= "), (" <= ", " < "), (" > ", " >= "), (" >= ", " > "), (" == ", " != "), (" != ", " == "),
           (" + ", " - "), (" - ", " + "), (" * ", " / "), (" / ", " * "), (" && ", " || "), (" || ", " && "),
           ("true", "false"), ("false", "true"), (" += ", " -= "), ("std::max", "std::min"), ("std::min", "std::max"),
           ("++", "--"), ("(!", "("), (" 0.5", " 0.6"), (" 1.0 ", " 2.0 "), (" + 1", ""), (" - 1", ""), ("return {};", "std::abort();")]
LEFT_ALONE = re.compile(r"^\s*(//|#|static_assert|using|template|ATTN_CHECK|CHECK|R?\"|namespace|constexpr std::array)|HWY_|operator|requires|concept|<<|::iterator|&&\)|auto&&|&& \w+\)|\w&& |fmt::format|bad_input|failed\(")
# Changes that cannot change what a program gives: how much is reserved.
EQUAL = re.compile(r"\.reserve\(")


def places(folders):
    """Every change that may be made: (file, line number, column, from, to)."""
    found = []
    # What draws has its tests in tests/ui, which take too long.
    files = sorted(path for folder in folders for path in (TREE / folder).rglob("*.cpp") if "draw" not in path.parts)
    for path in files:
        for number, line in enumerate(lines_of(path)):
            code = line.split("//")[0]
            if LEFT_ALONE.search(line):
                continue
            for old, new in CHANGES:
                for match in re.finditer(re.escape(old), code):
                    if code[: match.start()].count('"') % 2 == 0:
                        found.append((path, number, match.start(), old, new))
    return found


@functools.cache
def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def changed(text, number, column, old, new):
    lines = text.split("\n")
    line = lines[number]
    lines[number] = line[:column] + new + line[column + len(old):]
    return "\n".join(lines), lines[number]


def limits(seconds):
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, seconds, **more):
    """Whether it ended well; what takes too long did not."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=seconds, check=False, **more).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def built(build, tests):
    return run(["cmake", "--build", str(build), "-j1", "--target", *(f"test_{test}" for test in tests)], LONGEST_BUILD)


def passes(build, test, seconds):
    return run([build / f"test_{test}", "--abort-after=1"], PATIENCE_CLOCK * seconds, cwd=build,
               preexec_fn=lambda: limits(seconds))


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def program(build, test):
    return hashlib.sha256((build / f"test_{test}").read_bytes()).digest()


class Tests:
    """Of one build: what each is and may take, known from the unchanged tree."""

    def __init__(self, build, limit):
        self.build = build
        self.seconds = {}
        self.programs = {}
        present = [test for test in TESTS if (build / f"test_{test}").exists()]
        if not present or not built(build, present):
            sys.exit("the unchanged tree does not build")
        for test in present:
            begin = processor_seconds()
            if not limit and not passes(build, test, LONGEST_BUILD):
                sys.exit(f"{test} fails of the unchanged tree")
            self.seconds[test] = limit or round(PATIENCE * (processor_seconds() - begin)) + PATIENCE_SECONDS
            self.programs[test] = program(build, test)

    def verdict(self, view_only):
        """"does not compile", "equal", "survived", or "caught by" a test."""
        same = True
        for test in self.seconds:
            if view_only and test not in VIEW_TESTS:
                continue
            if not built(self.build, [test]):
                return "does not compile"
            if program(self.build, test) == self.programs[test]:
                continue
            same = False
            if not passes(self.build, test, self.seconds[test]):
                return f"caught by {test}"
        return "equal" if same else "survived"


def draw(place, seed):
    """A random number that belongs to the change: edits of other lines leave the order as it is."""
    path, number, column, old, new = place
    line = lines_of(path)[number]
    return hashlib.sha256(f"{seed} {path.relative_to(TREE)} {line} {column} {old} {new}".encode()).digest()


class Change:
    def __init__(self, place):
        self.path, number, column, old, new = place
        self.text = self.path.read_text(encoding="utf-8")
        self.mutant, self.line = changed(self.text, number, column, old, new)
        self.file = str(self.path.relative_to(TREE))
        self.where = f"{self.file}:{number + 1}:{column + 1}"
        self.what = f"{self.where}: '{old.strip()}' to '{new.strip()}': {self.line.strip()}"

    def equal(self):
        return EQUAL.search(self.line) is not None

    def verdict(self, tests):
        self.path.write_text(self.mutant, encoding="utf-8")
        try:
            return tests.verdict(self.file.startswith("app/"))
        finally:
            self.path.write_text(self.text, encoding="utf-8")


def is_at(change, only):
    return any((change.where + ":").startswith(place + ":") for place in only)


def try_all(changes, tests, count):
    """Until `count` have an answer."""
    counts = {"caught": 0, "survived": 0, "does": 0, "equal": 0}
    for change in changes:
        if counts["caught"] + counts["survived"] >= count:
            break
        begin = time.monotonic()
        found = change.verdict(tests)
        counts[found.split()[0]] += 1
        print(f"{found}: {change.what} ({time.monotonic() - begin:.0f} s)", flush=True)
    total = counts["caught"] + counts["survived"]
    print(f"{counts['caught']} of {total} caught; {counts['does']} more did not compile, "
          f"{counts['equal']} changed no test's program")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folders", default="core,app/common,app/workspaces")
    parser.add_argument("--only", help="FILE:LINE or FILE:LINE:COLUMN, joined by commas")
    parser.add_argument("--limit", type=int, help="seconds of the processor that a test may take: the unchanged tree is not tested first")
    parser.add_argument("--list", action="store_true", help="only print the changes")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    chosen = sorted(places(options.folders.split(",")), key=lambda place: draw(place, options.seed))
    changes = (change for change in map(Change, chosen) if not change.equal())
    if options.only:
        changes = (change for change in changes if is_at(change, options.only.split(",")))
    if options.list:
        for change, _ in zip(changes, range(options.count)):
            print(change.what)
        return
    try_all(changes, Tests(options.build.resolve(), options.limit), options.count)


if __name__ == "__main__":
    main()
