#!/usr/bin/env python3
"""What comes from outside the program: names, streams and limits.

  outside.py ATTNSCOPE INPUT.npz

Names with escape sequences go to a terminal written out; an error quotes a long value shortened; standard input that does not
end is refused; a small stack is made larger or refused in a sentence. Standard library
only.
"""

import json
import os
import pathlib
import pty
import re
import resource
import subprocess
import sys
import tempfile
import threading

MOST_ERROR = 4096
ESCAPE = "\x1b[31mred\x1b]0;title\x07\x9b2J"


def fail(what):
    sys.exit(f"FAILED: {what}")


def ended(app, words, folder, **how):
    return subprocess.run([app, *words], cwd=folder, capture_output=True, timeout=120, check=False, **how)


def check_error(done, code, *parts):
    error = done.stderr.decode(errors="replace")
    if done.returncode != code:
        fail(f"exit code {done.returncode}, expected {code}: {error[:300]}")
    if error.count("\n") != 1 or len(done.stderr) > MOST_ERROR:
        fail(f"{error.count(chr(10))} lines, {len(done.stderr)} bytes of error: {error[:300]}")
    for part in parts:
        if part not in error:
            fail(f"the error does not hold '{part}': {error[:300]}")


def control_characters(data):
    return re.findall(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", data.replace(b"\r\n", b"\n"))


def on_terminal(app, words, folder):
    """What arrives at a terminal that is standard output and error."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([app, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower)
    os.close(follower)
    data = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        data += part
    os.close(leader)
    process.wait()
    return data


def escapes(app, source, folder):
    name = f"{ESCAPE}.npz"
    (folder / name).write_bytes(source.read_bytes())
    missing = ended(app, ["trace", f"none{ESCAPE}.npz", "-o", "x.npz"], folder)
    check_error(missing, 2, "\\x1b[31mred")
    (folder / "journal").write_text(json.dumps({"action": "open_file", "path": f"none{ESCAPE}"}) + "\n")
    outputs = [missing.stderr]
    for words in (["render", "--replay", "journal", "-o", "x.svg"], ["trace", name, "-o", "x.npz"],
                  ["heads", name, "--row", ESCAPE], ["trace", name, "--role", f"{ESCAPE}=Q", "-o", "x.npz"]):
        outputs.append(ended(app, words, folder).stderr)
    for words in (["trace", name, "-o", "x.npz"], ["trace", name, "-o", f"{ESCAPE}.out.npz"], ["heads", name]):
        outputs.append(on_terminal(app, words, folder))
    for output in outputs:
        if left := control_characters(output):
            fail(f"{left[:3]} goes to the terminal: {output[:300]}")
    if b"\\x1b[31mred" not in b"".join(outputs[5:]):
        fail("the name does not stand in what trace prints")


def long_values(app, source, folder):
    """Of each option with a value, by the manual; and names of files."""
    manual = subprocess.run([app, "--man"], capture_output=True, text=True, check=True).stdout
    flags = sorted(set(re.findall(r"^\\fB(?:\\-\w\\fR, \\fB)?(\\-\\-[\w\\-]+)\\fR \\fI", manual, re.M)))
    if len(flags) < 60:
        fail(f"{len(flags)} options in the manual")
    value = "x" * 40000
    for flag in (flag.replace("\\", "") for flag in flags):
        for command in (["trace", source, "-o", "x.npz"], ["render", source, "-o", "x.svg"], ["heads", source]):
            done = ended(app, [*command, flag, value], folder)
            if done.returncode not in (0, 1, 2) or len(done.stderr) > MOST_ERROR:
                fail(f"{command[0]} {flag}: exit code {done.returncode}, {len(done.stderr)} bytes of error")
    for words in (["trace", value, "-o", "x.npz"], ["heads", value], [f"--{value}"], ["trace", f"--{value}"], [value]):
        done = ended(app, words, folder, env=os.environ | {"DISPLAY": "", "WAYLAND_DISPLAY": ""})
        if done.returncode not in (1, 2) or len(done.stderr) > MOST_ERROR:
            fail(f"{words[0][:20]}: exit code {done.returncode}, {len(done.stderr)} bytes of error")
    (folder / "long.json").write_text(json.dumps({"attnscope": 1, value: 1}))
    (folder / "long.journal").write_text(json.dumps({"action": value}) + "\n")
    for words in (["render", "long.json", "-o", "x.svg"], ["render", "--replay", "long.journal", "-o", "x.svg"]):
        done = ended(app, words, folder)
        if done.returncode != 2 or len(done.stderr) > MOST_ERROR:
            fail(f"{words}: exit code {done.returncode}, {len(done.stderr)} bytes of error")


def endless(app, beginning, words, folder):
    """Writes `beginning` and then lines without end. The exit code, the error and how many bytes were taken."""
    process = subprocess.Popen([app, *words], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    taken = 0

    def write():
        nonlocal taken
        part = beginning + b"y\n" * 32768
        try:
            while True:
                taken += process.stdin.write(part)
                part = b"y\n" * 32768
        except (BrokenPipeError, ValueError):
            pass

    writer = threading.Thread(target=write)
    writer.start()
    error = process.stderr.read()
    code = process.wait()
    writer.join()
    return subprocess.CompletedProcess(words, code, b"", error), taken


def streams(app, folder):
    header = b"\x93NUMPY\x01\x00\x76\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }".ljust(117) + b"\n"
    for beginning, parts, most in ((b"", ["standard input is not a file of arrays"], 1 << 20),
                                   (header, ["standard input"], 1 << 22)):
        done, taken = endless(app, beginning, ["trace", "-", "-o", "x.npz"], folder)
        check_error(done, 2, *parts)
        if taken > most:
            fail(f"{taken} bytes were taken of a stream that begins with {beginning[:8]}")
    done, taken = endless(app, b"", ["render", "-", "-o", "x.svg"], folder)
    check_error(done, 2, "standard input")
    if taken > 1 << 29:
        fail(f"{taken} bytes of text were taken")


def small_stack(app, source, folder):
    def limit(soft, hard):
        return lambda: resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    least = 64 << 10
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    for words in (["trace", source, "-o", "x.npz"], ["sheet", "causal-row", "--json"], ["render", source, "-o", "x.svg"]):
        done = ended(app, words, folder, preexec_fn=limit(least, hard))
        if done.returncode != 0:
            fail(f"a soft limit of the stack: exit code {done.returncode} of {words}: {done.stderr[:300]}")
        done = ended(app, words, folder, preexec_fn=limit(least, least))
        check_error(done, 1, "the stack is limited to 64 KiB; expected at least 1024", "ulimit -s 8192")


def main():
    app, source = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        escapes(str(app), source, folder)
        long_values(str(app), str(source), folder)
        streams(str(app), folder)
        binary = app.read_bytes()
        if b"__asan_init" not in binary and b"__tsan_init" not in binary:  # these need more stack
            small_stack(str(app), str(source), folder)


main()
