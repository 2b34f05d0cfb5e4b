"""The program: where it is, and what it says."""

import importlib.metadata
import json
import os
import pathlib
import shutil
import subprocess
import urllib.parse
import urllib.request
import warnings
from typing import List, Optional, Sequence

HOW = ("Install the wheel that has the program in it, or build it with ./run in the folder of its source (docs/install.md there); then put it on the "
       "PATH, or set the environment variable ATTNSCOPE to it.")


# Notes that repeat what the caller passed, or what this package states: it computes in float32.
KNOWN = {"file_options", "given_pairs", "packed", "rounded_float64"}


class Note(UserWarning):
    """A note of the program beside its results: arrays that were rounded or not used."""


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


def _packed() -> Optional[str]:
    """The program that came in this package's own wheel."""
    try:
        files = importlib.metadata.files("attnscope") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    places = (os.path.normpath(file.locate()) for file in files if file.name == "attnscope" and file.parent.name == "bin")
    return next(filter(shutil.which, places), None)


def program() -> str:
    """The attnscope to start: $ATTNSCOPE, the one in this package's wheel, the one on the PATH, or the one built in the project's
    folder that this package comes from.

    FileNotFoundError: there is none; it says how to get it."""
    named = os.environ.get("ATTNSCOPE")
    if named:
        found = shutil.which(named)
        if not found:
            raise FileNotFoundError(f"ATTNSCOPE is {named}, which is not a program. {HOW}")
        return found
    found = _packed() or shutil.which("attnscope")
    for folder in _source_folders():
        found = found or shutil.which(str(folder / "build" / "release" / "attnscope"))
    if not found:
        raise FileNotFoundError(f"the program attnscope is not on the PATH, and ATTNSCOPE is not set. {HOW}")
    return found


def _messages(lines: bytes, arguments: Sequence[str]) -> List[dict]:
    """The program's errors and notes: one JSON object a line, beside lines of progress."""
    found = []
    for line in lines.decode(errors="replace").splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and "text" in message:
            for file in arguments:
                if pathlib.Path(file).parent.name.startswith("attnscope-"):  # a temporary file, whose folder says nothing
                    message["text"] = message["text"].replace(f"{file}: ", "").replace(file, os.path.basename(file))
            found.append(message)
    return found


def run(arguments: Sequence[str], also: Sequence[int] = ()) -> bytes:
    """Returns the program's standard output. A note of the program becomes a warning, except those of KNOWN.

    ValueError: the program refuses the tensors or an option. RuntimeError: it failed; an exit code of `also` is no failure."""
    asked = [*arguments, *([] if "--json" in arguments else ["--json"])]
    done = subprocess.run([program(), *asked], capture_output=True, check=False)
    messages = _messages(done.stderr, arguments)
    if done.returncode and done.returncode not in also:
        errors = [message["text"] for message in messages if message.get("level") == "error"]
        text = errors[-1] if errors else f"attnscope {arguments[0]} ended with {done.returncode}"
        raise (ValueError if done.returncode == 2 else RuntimeError)(text)
    for message in messages:
        if message.get("level") == "note" and message.get("code") not in KNOWN:
            warnings.warn(message["text"], Note, stacklevel=4)
    return done.stdout
