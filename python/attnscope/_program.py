"""The program: where it is, and what it says."""

import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
import warnings
from typing import List, Sequence

HOW = ("Build it with ./run in the folder of its source, or install its Debian package (docs/install.md there); then put it on the PATH, or set the "
       "environment variable ATTNSCOPE to it.")


# What the caller has just said, or what this package says of itself: it computes in float32.
KNOWN = re.compile(r"^(options from .*|.* (is|are) read as weights without the queries and keys that make them|"
                   r"([^ ]+ \(float64\)(, )?)+ rounded to float32|\d+ heads?)$")


class Note(UserWarning):
    """What the program says of the tensors beside its results: what was rounded, what was not used."""


def _source_folders() -> List[pathlib.Path]:
    """The project's folder, where this package lies in it or was installed from it."""
    folders = [pathlib.Path(__file__).resolve().parents[2]]
    try:
        origin = importlib.metadata.distribution("attnscope").read_text("direct_url.json")
    except importlib.metadata.PackageNotFoundError:
        origin = None
    url = urllib.parse.urlparse(json.loads(origin)["url"] if origin else "")
    if url.scheme == "file":
        folders.append(pathlib.Path(urllib.request.url2pathname(url.path)).parent)
    return folders


def program() -> str:
    """The attnscope to start: $ATTNSCOPE, the one on the PATH, or the one built in the project's folder that this package comes from.

    FileNotFoundError: there is none; it says how to get it."""
    named = os.environ.get("ATTNSCOPE")
    if named:
        found = shutil.which(named)
        if not found:
            raise FileNotFoundError(f"ATTNSCOPE is {named}, which is no program. {HOW}")
        return found
    found = shutil.which("attnscope")
    for folder in _source_folders():
        found = found or shutil.which(str(folder / "build" / "release" / "attnscope"))
    if not found:
        raise FileNotFoundError(f"the program attnscope is not on the PATH, and ATTNSCOPE is not set. {HOW}")
    return found


def run(arguments: Sequence[str], also: Sequence[int] = ()) -> bytes:
    """Its standard output. What it notes becomes a warning, but for what the caller has just said: the options, and that weights are weights.

    ValueError: it refuses the tensors or an option. RuntimeError: it failed; an exit code of `also` is no failure."""
    done = subprocess.run([program(), *arguments], capture_output=True, check=False)
    said = done.stderr.decode(errors="replace").strip()
    for file in arguments:
        if os.path.isabs(file):  # a temporary one, whose name says nothing
            said = said.replace(f"{file}: ", "").replace(file, os.path.basename(file))
    if done.returncode and done.returncode not in also:
        words = said.splitlines()[-1] if said else f"attnscope {arguments[0]} ended with {done.returncode}"
        raise (ValueError if done.returncode == 2 else RuntimeError)(words)
    for line in said.splitlines():
        words = line.split(": ", 1)[-1]
        notes = [note for note in words[words.startswith("note: ") and len("note: "):].split("; ") if not KNOWN.match(note)]
        if notes:
            warnings.warn("; ".join(notes), Note, stacklevel=4)
    return done.stdout
