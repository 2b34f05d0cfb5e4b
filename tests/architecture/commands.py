"""How each source is compiled, from a build folder's compile_commands.json; a group of CMake's unity build gives each of its sources."""
import json
import pathlib
import re
import shlex

INCLUDE = re.compile(r'^#include "(/[^"]+\.cpp)"', re.MULTILINE)


def entries(tree, build):
    """(source below the tree, arguments of the compiler) of every command."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        file = pathlib.Path(entry["file"])
        sources = [file]
        if build in file.parents:
            sources = [pathlib.Path(name) for name in INCLUDE.findall(file.read_text())] if file.exists() else []
        for source in sources:
            if tree in source.parents:
                yield str(source.relative_to(tree)), shlex.split(entry["command"])


def settings(words):
    """The include folders and definitions of one command, each as a tuple of words."""
    for n, word in enumerate(words):
        if word.startswith(("-I", "-D")):
            yield (word,)
        elif word == "-isystem":
            yield (word, words[n + 1])
