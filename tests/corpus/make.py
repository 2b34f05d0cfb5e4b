#!/usr/bin/env python3
"""Makes the corpus of sessions and journals that later versions must open.

    tests/corpus/make.py ATTNSCOPE SOURCE OUT

ATTNSCOPE is a released program, SOURCE its tree. For every workspace two journals of its actions with seeded values are
played in the real window (xvfb-run), and the session that it saved is kept beside each: NAME.jsonl and NAME.json.
version_1 is of commit fbe271c, the last before workspaces owned themselves.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import sys

WORDS = ["recall", "window", "rope", "a", "b", "scaling", "d_k", "entropy", "previous", "two-near", "nan", "w_q",
         "scores", "weights", "the-cat-sat-down", "three-heads", "cross-attention", "causal", "score", "cosine", "0.5"]


def actions(source):
    """{folder: [(name, {field: type})]} of the old form of action structs."""
    found = {}
    for path in sorted(pathlib.Path(source).glob("app/view/*/actions.h")):
        for body in re.findall(r"struct \w+ \{(.*?)\n\};", path.read_text(), re.S):
            meta = re.search(r'meta\(\s*"(\w+)"(.*?)\);', body, re.S)
            if not meta or meta[1] == "quit":
                continue
            fields = {}
            for key, member in re.findall(r'field\(\s*"(\w+)",\s*&\w+::(\w+)\)', meta[2]):
                kind = re.search(r"\n    ([\w:<>]+)[^;]*\b" + member + r"\b[^;]*;", body)
                fields[key] = kind[1] if kind else "?"
            found.setdefault(path.parent.name, []).append((meta[1], fields))
    return found


def enum_names(source):
    """{type: names} of the enumerations that a journal holds."""
    text = "".join(path.read_text() for path in sorted(pathlib.Path(source).glob("app/view/**/*.*")))
    arrays = {name: re.findall(r'"([^"]*)"', body)
              for name, body in re.findall(r"std::string_view(?:, \d+>)? (k\w+)(?:\[\] = )?\{(.*?)\};", text, re.S)}
    return {kind: arrays[name]
            for kind, name in re.findall(r"names_of\(Type<(\w+)>\) \{\s*return (k\w+);", text) if name in arrays}


def value(kind, key, draw, enums):
    kind = re.sub(r"std::optional<(.*)>", r"\1", kind)
    if kind in ("Index", "int", "std::uint64_t"):
        return draw.choice([0, 0, 1, 1, 2, 3, 4, 8])
    if kind == "double":
        return draw.choice([0.25, 0.5, 1.0, 2.0])
    if kind == "bool":
        return draw.random() < 0.6
    if kind == "std::vector<double>":
        return [draw.choice([0.0, 0.5, 1.5, -1.0]) for _ in range(4)]
    if kind == "CellRef":
        return {"tensor": draw.choice(["x", "q", "w_q", "scores", "weights"]), "row": draw.randrange(4),
                "column": draw.randrange(4)}
    if kind == "Stage":
        return draw.choice(["q", "scores", "scaled", "masked", "weights", "context"])
    if kind == "large::Cell":
        return {"row": draw.randrange(4), "column": draw.randrange(4)}
    if kind == "MapCamera":
        return {"row": 120.5, "column": 80.0, "cells_per_unit": draw.choice([0.25, 1.0, 2.0])}
    if kind == "MapColors":
        return {"pooling": draw.choice(["max", "mean"]), "log_scale": draw.random() < 0.5, "low_percentile": 1.0,
                "high_percentile": 99.0}
    if kind == "large::TopChoice":
        return {"skip_first_key": draw.random() < 0.5, "one_per_query": draw.random() < 0.5}
    if kind == "large::Search":
        return {"of": draw.choice(["key", "query"]), "index": draw.randrange(4)}
    if kind == "large::PlantedSpec":
        return {"tokens": 256, "d_k": 32, "seed": draw.randrange(4), "band": True, "sink": draw.random() < 0.5,
                "induction": True, "documents": False, "needle": True, "causal": draw.random() < 0.5}
    if kind in enums:
        return draw.choice(enums[kind])
    return None if kind != "std::string" else draw.choice(WORDS)


def journal(folder, rows, seed, enums):
    draw = random.Random(f"{folder} {seed}")
    lines = [{"action": "set_workspace", "workspace": folder}] if folder not in ("document", "window") else []
    for name, fields in rows * 2:
        line = {"action": name}
        for key, kind in fields.items():
            made = value(kind, key, draw, enums)
            line[key] = "?" if made is None else made
        lines.append(line)
    return lines


def main():
    program, source, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    skipped = {"open_file", "read_image", "save_session", "export_figure", "take_screenshot", "save_runs", "type_text",
               "set_backend", "check_file", "measure_cost", "set_ui_scale", "document_ready",
               "trace_ready", "open_learn_moment", "train", "train_more"}
    enums = enum_names(source)
    for folder, rows in actions(source).items():
        rows = [row for row in rows if row[0] not in skipped]
        for seed in (1, 2):
            name = out / f"{folder}-{seed}.jsonl"
            kept = journal(folder, rows, seed, enums)
            draw = random.Random(seed)
            while True:  # a line that is refused names what its field may be; else it is left out
                name.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in kept))
                done = subprocess.run([program, "--replay", str(name)], capture_output=True, text=True,
                                      env={**os.environ, "DISPLAY": ""})
                bad = re.search(r"line (\d+): (.*)", done.stderr)
                if not bad:
                    break
                choices = re.search(r"has '(\w+)' = .*: expected one of (.*)", bad[2])
                if choices and choices[1] in kept[int(bad[1]) - 1]:
                    kept[int(bad[1]) - 1][choices[1]] = draw.choice(choices[2].strip().split(", "))
                else:
                    del kept[int(bad[1]) - 1]
            name.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in kept
                                    if "?" not in each.values()))
            session = name.with_suffix(".json")
            session.unlink(missing_ok=True)
            subprocess.run(["xvfb-run", "-a", program, "--replay", str(name), "--exit-after-replay",
                            "--save-session", str(session)], capture_output=True, timeout=120)
            print(name, len(kept), session.exists())


if __name__ == "__main__":
    main()
