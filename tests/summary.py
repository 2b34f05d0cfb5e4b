#!/usr/bin/env python3
"""What ctest leaves untold: the longest tests, and every skipped test with its reason.

    summary.py RESULTS.xml... [--accept tests/skips.txt]

RESULTS.xml is of `ctest --output-junit`. With --accept the exit code is 1 where a skipped test is not in that list, whose lines
are a test's name and the reason why it may be skipped.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree

LONGEST = 8
REASON = re.compile(r"skipped|not (here|installed|built|tested|checked|found)|no module", re.IGNORECASE)


def cases(path):
    for case in xml.etree.ElementTree.parse(path).iter("testcase"):
        skipped = case.find("skipped") is not None or case.get("status") in ("notrun", "disabled")
        text = (case.findtext("system-out") or "").strip()
        yield case.get("name"), float(case.get("time") or 0), skipped, text


def reason_of(text):
    """The line that says why; else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if REASON.search(line)]
    return re.sub(r"^skipped: ", "", (named or lines or ["it gives no reason"])[0 if named else -1])


def accepted(path):
    """{name: reason}; a line without a reason is an error."""
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.partition(" ")
            if not reason.strip():
                sys.exit(f"{path}: '{name}' has no reason")
            table[name] = reason.strip()
    return table


def main(words):
    accept = None
    if "--accept" in words:
        at = words.index("--accept")
        accept = accepted(pathlib.Path(words[at + 1]))
        del words[at:at + 2]
    every = [case for path in words for case in cases(path)]
    longest = sorted((case for case in every if not case[2]), key=lambda case: -case[1])[:LONGEST]
    if longest:
        print("== longest: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds, _, _ in longest))
    skipped = {name: reason_of(text) for name, _, is_skipped, text in every if is_skipped}
    for name, reason in sorted(skipped.items()):
        print(f"== skipped: {name}: {reason}")
    refused = sorted(set(skipped) - set(accept)) if accept is not None else []
    for name in refused:
        print(f"== {name} may not be skipped: make it run, or give the reason in tests/skips.txt")
    return 1 if refused else 0


sys.exit(main(sys.argv[1:]))
