#!/usr/bin/env python3
"""Checks the Markdown pages of the tree.

    docs.py TREE               sizes of the front pages, and every relative link
    docs.py TREE ATTNSCOPE     runs the examples of README.md as well

Sizes: README.md, CHANGELOG.md and CONTRIBUTING.md stay short enough to be read.
Versions: places that write the version out agree with CMakeLists.txt.
Links: a relative link names a file of the tree, #part a heading of that page, and images.sh#L12 the line that draws the picture.
Examples: each line of README.md that begins with "attnscope" or "./run" is run in a folder with inputs. Commands that open a
window run without a display: they may fail with 1 (no display), never with 2 (bad usage). The block of Python is run too.
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import string
import struct
import subprocess
import sys
import tempfile
import zipfile

MOST_BYTES = {"README.md": 9216, "CHANGELOG.md": 6144, "CONTRIBUTING.md": 2048}
SKIPPED = {".git", "build", "out", "__pycache__", ".cache"}
LINK = re.compile(r"\]\(([^()\s]+)\)|<(?:img|a)\s[^>]*?(?:src|href)=\"([^\"]+)\"")
SUBCOMMANDS = {"trace", "diff", "heads", "sparse", "merge", "generate", "lens", "circuits", "train", "saturate", "sheet", "lecture", "render", "page",
               "stages", "options", "info", "bench"}


def pages(tree):
    for folder, folders, files in os.walk(tree):
        folders[:] = sorted(set(folders) - SKIPPED)
        yield from (pathlib.Path(folder) / name for name in sorted(files) if name.endswith(".md"))


def prose(text):
    """The page without blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def anchors(text):
    """The parts that a link may name, as GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", prose(text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return found


def check_sizes(tree):
    for name, most in MOST_BYTES.items():
        size = (tree / name).stat().st_size
        if size > most:
            yield f"{name}: {size} bytes; expected at most {most}"


def check_versions(tree):
    """CMakeLists.txt has the version; other places that must write it out agree."""
    version = re.search(r"^project\(.*?VERSION ([\d.]+)", (tree / "CMakeLists.txt").read_text(), re.M | re.S)[1]
    places = {"CITATION.cff": r"^version: (\S+)$", "python/pyproject.toml": r'^version = "(.+)"$',
              "python/attnscope/__init__.py": r'^__version__ = "(.+)"$', "README.md": r"attnscope-(\d[\d.]*\d)-",
              "docs/install.md": r"attnscope[-_](\d[\d.]*\d)[-_.]"}
    for name, pattern in places.items():
        found = re.findall(pattern, (tree / name).read_text(), re.M)
        if not found or set(found) != {version}:
            yield f"{name}: version {', '.join(sorted(set(found))) or 'missing'}; expected {version}, as in CMakeLists.txt"


def line_of(script, picture):
    """The number of the line of images.sh that draws it."""
    for number, line in enumerate(script.read_text().splitlines(), 1):
        if line.startswith((f"draw {picture} ", f"film {picture} ")):
            return number
    return None


def check_link(page, link):
    target, _, part = link.partition("#")
    path = page.parent / target if target else page
    if not path.exists():
        return f"{link}: no such file"
    if part and path.suffix == ".md" and part not in anchors(path.read_text()):
        return f"{link}: {path.name} has no such heading"
    return None


def check_links(tree):
    for page in pages(tree):
        text = prose(page.read_text())
        for found in LINK.findall(text):
            link = found[0] or found[1]
            problem = None if re.match(r"[a-z]+:", link) else check_link(page, link)
            if problem:
                yield f"{page.relative_to(tree)}: {problem}"
        for picture, line in re.findall(r"src=\"images/([\w-]+\.png)\"[^>]*>\]\(images\.sh#L(\d+)\)", text):
            drawn = line_of(page.parent / "images.sh", picture)
            if drawn != int(line):
                yield f"{page.relative_to(tree)}: {picture} links to line {line} of images.sh; line {drawn} draws it"


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def npy(values, shape):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}f", *values)


def make_inputs(tree, program, folder):
    """The files in the examples: qkv.npz, the results of a correct kernel, and a small GPT-2 with a token for each letter."""
    with zipfile.ZipFile(folder / "qkv.npz", "w") as archive:
        for seed, name in enumerate("QKV", 1):
            archive.writestr(f"{name}.npy", npy([(n * seed * 37 % 101) / 50 - 1 for n in range(2 * 4 * 8)], (2, 4, 8)))
    shutil.copytree(tree / "tests/goldens/models/gpt2", folder / "gpt2")
    letters = "Ġ" + string.ascii_lowercase + "CSTW"
    (folder / "gpt2/vocab.json").write_text(json.dumps({letter: n for n, letter in enumerate(letters)}))
    (folder / "gpt2/merges.txt").write_text("#version: 0.2\n")
    subprocess.run([program, "trace", "qkv.npz", "-o", "kernel.npz", "--causal", "--keep", "context"], cwd=folder, check=True,
                   capture_output=True)


def without_display():
    return {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}


def check_command(words, program, folder):
    """A line of the README, its words without the comment."""
    arguments = words[1:]
    if words[0] == "./run" and (not arguments or arguments[0] == "model"):
        return None  # builds, and fetches from a network
    allowed = (0,) if arguments and arguments[0] in SUBCOMMANDS else (0, 1)
    done = subprocess.run([program, *arguments], cwd=folder, env=without_display(), capture_output=True, text=True, timeout=120,
                          check=False, stdin=subprocess.DEVNULL)
    if done.returncode in allowed:
        return None
    return f"README.md: {shlex.join(words)} ended with {done.returncode}: {done.stderr.strip()[-300:]}"


def check_python(tree, program, code, folder):
    python = next((name for name in (sys.executable, "/usr/bin/python3")
                   if subprocess.run([name, "-c", "import numpy"], capture_output=True, check=False).returncode == 0), None)
    if python is None:
        print("the Python example is not run: NumPy is not installed")
        return None
    env = {**without_display(), "PYTHONPATH": str(tree / "python"), "ATTNSCOPE": program, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([python, "-c", code], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode == 0 and done.stdout:
        return None
    return f"README.md: the Python example ended with {done.returncode}: {done.stderr.strip()[-300:]}"


def check_examples(tree, program):
    text = (tree / "README.md").read_text()
    lines = [line for block in blocks(text, "sh") for line in block.splitlines()]
    commands = [words for words in (shlex.split(line, comments=True) for line in lines) if words and words[0] in ("attnscope", "./run")]
    code = blocks(text, "python")
    if len(commands) < 5 or not code:
        yield f"README.md: {len(commands)} examples of commands and {len(code)} of Python; expected at least 5 and 1"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_inputs(tree, program, folder)
        for words in commands:
            problem = check_command(words, program, folder)
            if problem:
                yield problem
        for each in code:
            problem = check_python(tree, program, each, folder)
            if problem:
                yield problem


def main():
    tree = pathlib.Path(sys.argv[1]).resolve()
    problems = [*check_sizes(tree), *check_versions(tree), *check_links(tree)]
    if len(sys.argv) > 2:
        problems += check_examples(tree, os.path.abspath(sys.argv[2]))
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
