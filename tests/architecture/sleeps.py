#!/usr/bin/env python3
"""No test waits for a fixed time: it waits for a line of a journal, a frame or a file, looking again and again by one helper.

    sleeps.py TREE

ALLOWED has each place where a pause is right, with the number of its pauses and the reason.
"""
import pathlib
import re
import sys

PAUSE = re.compile(r'\bsleep "?[0-9.$]|\btime\.sleep\(|\bsleep_(?:for|until)\(|\[ *"sleep"')
ALLOWED = {
    "bench/feel.sh": (4, "a benchmark measures over a time"),
    "cli/corpus.py": (2, "between two looks; a program is killed at a random moment"),
    "cli/hostile.py": (1, "between two looks at memory"),
    "cluster/ranks.py": (5, "between two looks; a rank is killed at a random moment"),
    "jobs/learn_test.cpp": (2, "a job ends at any moment of its work"),
    "jobs/worker_test.cpp": (1, "a job ends at any moment of its work"),
    "autosave/autosave_test.cpp": (3, "between two looks"),
    "large/weight_map_test.cpp": (3, "requests come and maps go at any moment of the work"),
    "python/package_test.py": (2, "between two looks"),
    "python/window_test.py": (2, "between two looks; nothing happens for half a second"),
    "web/browser.py": (2, "between two looks; between two keys"),
    "window/exits.sh": (1, "the program ends at a random moment"),
    "window/files.sh": (1, "between two looks, of a stand-in for the desktop's dialog"),
    "window/random_input.sh": (1, "between two looks"),
    "window/window.sh": (2, "between two looks, of a length drawn by chance"),
}


def main(tree):
    faults, found = [], {}
    for path in sorted((tree / "tests").rglob("*")):
        name = str(path.relative_to(tree / "tests"))
        if path.suffix not in (".sh", ".py", ".cpp", ".h") or name.startswith("architecture/sleeps"):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            pauses = len(PAUSE.findall(line))
            if pauses:
                found.setdefault(name, []).extend([f"tests/{name}:{number}: {line.strip()}"] * pauses)
    for name, lines in found.items():
        count = ALLOWED.get(name, (0, ""))[0]
        if len(lines) > count:
            faults.append(f"{len(lines)} pauses, {count} expected; wait for an event:\n  " + "\n  ".join(lines))
    for name, (count, _) in ALLOWED.items():
        if len(found.get(name, [])) < count:
            faults.append(f"tests/{name} has {len(found.get(name, []))} pauses, not {count}: ALLOWED in sleeps.py is out of date")
    print("\n".join(faults) or f"{sum(map(len, found.values()))} pauses, each with its reason")
    return 1 if faults else 0


sys.exit(main(pathlib.Path(sys.argv[1])))
