#!/usr/bin/env python3
"""Numbers that are made to harm a program, for every option that takes one.

  number_options.py ATTNSCOPE MODEL [--runs N] [--seed S] [--jobs J]

MODEL: a small GPT-2 folder. The options come from `attnscope --man`: every option with a value, of every command and of the
window; one that takes a number has its range at the end of its words, "; 1 to 65536". Each gets each of VALUES by a flag and,
where the options of a file have it, from the array `options` of a file, in every command that reads one. Of all these runs N
are drawn (0: all). Each must end by itself within the time, by no signal, with exit code 0, 1 or 2; an option that takes a
number refuses one outside of its range with exit code 2 and one line of at most 4 KiB that names the option and the value.
An option that speaks of numbers but has no range is a failure too. 77: built with sanitizers. Standard library only.
"""

import argparse
import concurrent.futures
import io
import json
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import zipfile

GIB = 1 << 30
MOST_MEMORY = 6 * GIB
MOST_SECONDS = 60.0  # for a machine that does other things
VALUES = ("0", "-1", str(1 << 31), str(1 << 62), str(((1 << 64) + 2) // 3), str((1 << 63) - 1), "NaN", "1e308")
# What else an option needs, so that its own value is what is refused.
BESIDE = {
    "rope-base": {"rope": "half"}, "rope-dims": {"rope": "half"},
    "chunk": {"operation": "chunked"}, "latents": {"operation": "latents"}, "rank": {"operation": "linformer"},
    "selected-blocks": {"operation": "nsa"}, "recent": {"operation": "nsa"},
    "state": {"operation": "state-space"}, "global-tokens": {"window": "1"},
}
COMMANDS_WITH_FILE = ("trace", "diff", "heads", "render")


def npy(descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * ((-11 - len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def npz(options=None, **arrays):
    """float32 arrays of these shapes, and the text `options`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, shape in arrays.items():
            count = 1
            for extent in shape:
                count *= extent
            numbers = struct.pack(f"<{count}f", *(0.25 * (n % 7) - 0.5 for n in range(count)))
            archive.writestr(f"{name}.npy", npy("<f4", tuple(shape), numbers))
        if options is not None:
            archive.writestr("options.npy", npy(f"<U{len(options)}", (), options.encode("utf-32-le")))
    return out.getvalue()


INPUTS = {"packed": {"qkv": (3, 6)}, "thin": {"qkv": (3, 2)}, "three": {n: (4, 2) for n in ("Q", "K", "V")}}


class Option:
    """One that takes a value, of one command ("": the window)."""

    def __init__(self, command, head, words):
        self.command = command
        self.flag = re.findall(r"--[\w-]+|(?<!-)-\w", head)[-1]
        bounds = re.search(r"; (\S+) to (\S+(?: - 1)?)(?: \(default .*\))?$", words)
        self.range = tuple(number_of(bound) for bound in bounds.groups()) if bounds else None

    @property
    def name(self):
        return self.flag.lstrip("-")


def number_of(text):
    if text == "2^64 - 1":
        return (1 << 64) - 1
    return 1 << int(text[2:]) if text.startswith("2^") else float(text)


def plain(roff):
    text = re.sub(r"\\f[BIR]", "", roff).replace("\\-", "-").replace("\\&", "")
    for escape, character in (("(ha", "^"), ("(ti", "~"), ("(aq", "'"), ("(ga", "`"), ("e", "\\")):
        text = text.replace("\\" + escape, character)
    return text


def options_of(app):
    """Every option with a value of every command, as the manual has them."""
    manual = subprocess.run([app, "--man"], capture_output=True, text=True, check=True).stdout
    command, found, lines = "", [], manual.split("\n")
    for n, line in enumerate(lines):
        if line.startswith(".SS attnscope "):
            command = line.split()[2]
        if line.startswith(".SH EXIT"):
            break
        head = lines[n + 1] if line == ".TP" else ""
        if "\\-" in head and "\\fI" in head:
            found.append(Option(command, plain(head), plain(lines[n + 2])))
    return found


def lies_within(option, value):
    try:
        number = float(value) if value in ("NaN", "1e308") else int(value)
    except ValueError:
        return False
    return option.range[0] <= number <= option.range[1]


def flags(options):
    return [word for name, value in options.items() for word in (f"--{name}", str(value))]


class Run:
    def __init__(self, words, option, value):
        self.words, self.option, self.value = words, option, value


def command_line(command, model, file):
    """That would succeed without the option."""
    reads_text = [model, "--text", "a b"]
    return {"trace": ["trace", file, "-o", "out.npz"], "diff": ["diff", file], "heads": ["heads", file], "sparse": ["sparse", file],
            "render": ["render", file, "-o", "out.svg"], "generate": ["generate", *reads_text],
            "lens": ["lens", *reads_text], "circuits": ["circuits", *reads_text], "train": ["train", "spec.json"],
            "saturate": ["saturate"], "sheet": ["sheet", "causal-row", "--json"],
            "bench": ["bench", "--quick", "--only", "none"]}.get(command, [command] if command else [file])


def of_flags(options, model):
    for option in options:
        for value in VALUES:
            for file in INPUTS if option.command in COMMANDS_WITH_FILE else ("three",):
                words = command_line(option.command, model, f"{file}.npz")
                if "--" + option.name in words or option.flag in words:
                    continue
                if option.name in ("texts", "batch", "save-every") and option.command == "heads":
                    words = ["heads", model, "--texts", "lines.txt"]
                yield Run(words + flags(BESIDE.get(option.name, {})) + [option.flag, value], option, value)


def of_files(options):
    """The options of trace, in a file, where it can have them."""
    for option in options:
        if option.command != "trace" or option.name not in FILE_OPTIONS:
            continue
        for value in VALUES:
            for quoted in (False, True):
                for kind in INPUTS:
                    beside = json.dumps(BESIDE.get(option.name, {}) | ({"layout": "joined"} if kind != "three" else {}))
                    given = f'"{option.name}": ' + (f'"{value}"' if quoted else value)
                    text = "{" + ", ".join(part for part in (beside[1:-1], given) if part) + "}"
                    for command in COMMANDS_WITH_FILE:
                        run = Run(None, option, value)
                        run.file, run.command = npz(text, **INPUTS[kind]), command
                        yield run


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def played(app, model, root, run):
    """Exit code (None: it still ran), error."""
    with tempfile.TemporaryDirectory(dir=root) as folder:
        for name, arrays in INPUTS.items():
            (pathlib.Path(folder) / f"{name}.npz").write_bytes(npz(**arrays))
        (pathlib.Path(folder) / "spec.json").write_text('{"task":"induction","steps":1}')
        (pathlib.Path(folder) / "lines.txt").write_text("a b\n")
        words = run.words
        if words is None:
            (pathlib.Path(folder) / "in.npz").write_bytes(run.file)
            words = command_line(run.command, model, "in.npz")
        home = {"HOME": folder, "DISPLAY": "", "WAYLAND_DISPLAY": "", "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
        try:
            done = subprocess.run([app, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=MOST_SECONDS, preexec_fn=limited, env=os.environ | home, check=False)
        except subprocess.TimeoutExpired:
            return words, None, ""
        return words, done.returncode, done.stderr.decode(errors="replace")


def names_of(value):
    """How an error may write the value: as it is, or as JSON has a float."""
    return {value, value.lower(), value.replace("1e308", "1e+308"), "inf"} if value == "1e308" else {value, value.lower()}


def faults_of(run, code, error):
    if code is None:
        # What is asked for may take long where the number is in the range.
        if run.option.range is None or not lies_within(run.option, run.value):
            yield f"still ran after {MOST_SECONDS} s"
        return
    if code not in (0, 1, 2):
        yield f"exit code {code}"
    if len(error) > 4096 * max(error.count("\n"), 1):
        yield f"{len(error)} bytes of error"
    refusal = error.rstrip("\n").split("\n")[-1]
    if run.option.range is None:
        if code == 2 and re.search(rf"--{run.option.name} is \S+; expected (a|a whole) number", refusal):
            yield "it takes a number, but its help has no range"
        return
    if lies_within(run.option, run.value):
        return
    if code != 2:
        yield f"exit code {code}; expected 2"
    if not re.search(run.option.name.replace("-", "[-_.]"), refusal):
        yield "the error does not name the option"
    if run.value != "NaN" and not any(name in refusal for name in names_of(run.value)):
        yield "the error does not name the value"


# Of a file's array `options`: what trace has in its groups, by the program's own list.
FILE_OPTIONS = set()


def file_options(app, root):
    """What the options of a file may be, of the error that lists them."""
    path = pathlib.Path(root) / "unknown.npz"
    path.write_bytes(npz('{"no-such-option": 1}', **INPUTS["three"]))
    error = subprocess.run([app, "trace", str(path), "-o", "x.npz"], cwd=root, capture_output=True, text=True,
                           check=False).stderr
    return set(re.findall(r"[\w-]+", error.split("expected", 1)[1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("app")
    parser.add_argument("model")
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    app, model = (str(pathlib.Path(path).resolve()) for path in (given.app, given.model))
    binary = pathlib.Path(app).read_bytes()
    if b"__asan_init" in binary or b"__tsan_init" in binary:
        print("sanitizers reserve more than any limit")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as root:
        options = options_of(app)
        FILE_OPTIONS.update(file_options(app, root))
        runs = [*of_flags(options, model), *of_files(options)]
        numeric = [option for option in options if option.range]
        if len(numeric) < 60 or len(FILE_OPTIONS) < 30:
            sys.exit(f"FAILED: {len(numeric)} options with a range, {len(FILE_OPTIONS)} options of files")
        whole = len(runs)
        if given.runs:
            runs = random.Random(given.seed).sample(runs, min(given.runs, whole))
        failures, codes = 0, {}
        with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
            for run, (words, code, error) in zip(runs, pool.map(lambda each: played(app, model, root, each), runs)):
                codes[code] = codes.get(code, 0) + 1
                for fault in faults_of(run, code, error):
                    failures += 1
                    print(f"FAILED {' '.join(words)} ({run.option.flag} {run.value}): {fault}: {error.strip()[:300]}")
        told = ", ".join(f"{count} exit {code}" for code, count in sorted(codes.items(), key=str))
        print(f"{len(options)} options with a value, {len(numeric)} of them numbers; {len(runs)} of {whole} runs, "
              f"seed {given.seed}: {told}; signals {sum(n for code, n in codes.items() if code is not None and code < 0)}")
    if failures:
        sys.exit(f"{failures} failures")


main()
