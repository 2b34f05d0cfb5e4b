#!/usr/bin/env python3
"""How heavy the headers are: for each translation unit the project's headers that it reads, directly or through others.

    tools/headers.py                        the median of lines, and the headers that reach most units
    tools/headers.py core/train/trainer.h   the units that this header reaches, and by which includes

A line of a header counts once a unit. Headers of libraries do not count.
"""
import pathlib
import re
import statistics
import sys

TREE = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("core", "app", "cluster", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def direct(path, known={}):
    """The project's files that one file includes."""
    if path not in known:
        names = INCLUDE.findall((TREE / path).read_text(encoding="utf-8"))
        beside = [str(pathlib.PurePosixPath(path).parent / name) for name in names]
        known[path] = [name if (TREE / name).is_file() else near for name, near in zip(names, beside)
                       if (TREE / name).is_file() or (TREE / near).is_file()]
    return known[path]


def reached(unit):
    """Every project header that a unit reads, each with the file that includes it first."""
    found, waiting = {}, [unit]
    while waiting:
        path = waiting.pop(0)
        for header in direct(path):
            if header not in found and header != unit:
                found[header] = path
                waiting.append(header)
    return found


def lines(path, known={}):
    if path not in known:
        known[path] = (TREE / path).read_text(encoding="utf-8").count("\n")
    return known[path]


def units():
    """The sources; the page's stand-ins for others do not count."""
    return sorted(str(path.relative_to(TREE)) for folder in FOLDERS for path in (TREE / folder).rglob("*.cpp"))


def main(headers):
    trees = {unit: reached(unit) for unit in units()}
    for header in headers:
        reach = [unit for unit, found in trees.items() if header in found]
        print(f"{header} reaches {len(reach)} of {len(trees)} units")
        ways = {}
        for unit in reach:
            ways.setdefault(trees[unit][header], []).append(unit)
        for way, through in sorted(ways.items(), key=lambda each: -len(each[1])):
            print(f"  {len(through):4} by {way}")
    if headers:
        return
    sizes = {unit: sum(lines(header) for header in found) for unit, found in trees.items()}
    print(f"{len(trees)} units; lines of the project's headers in one: median {statistics.median(sizes.values()):.0f}, "
          f"mean {statistics.mean(sizes.values()):.0f}, most {max(sizes.values())}")
    for folder in FOLDERS:
        some = [size for unit, size in sizes.items() if unit.startswith(folder + "/")]
        if some:
            print(f"  {folder:8} {len(some):4} units, median {statistics.median(some):.0f}")
    counts = {}
    for found in trees.values():
        for header in found:
            counts[header] = counts.get(header, 0) + 1
    print("units  lines  units x lines  header")
    for header, count in sorted(counts.items(), key=lambda each: -each[1] * lines(each[0]))[:60]:
        print(f"{count:5}  {lines(header):5}  {count * lines(header):13}  {header}")


main(sys.argv[1:])
