"""A figure of one call: its picture, its numbers, and its window."""

import csv
import html
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import weakref
from typing import Any, Dict, List, Optional, Sequence, Union

import numpy
from numpy.typing import NDArray

from ._arrays import Arrays
from ._program import program, run

FEW = 128  # queries of which one is looked at first
Path = Union[str, "os.PathLike[str]"]
Table = Any  # a pandas.DataFrame, or a dict of arrays where pandas is not installed


def table(columns: Dict[str, NDArray[Any]]) -> Table:
    """Returns a pandas.DataFrame if pandas is installed, otherwise the columns."""
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


def write(folder: Path, arrays: Arrays, name: str = "attention.npz") -> str:
    """Writes the file whole or not at all, because a window may be reading it. Returns the path."""
    path = os.path.join(os.fspath(folder), name)
    with open(path + ".part", "wb") as file:
        numpy.savez(file, **arrays)
    os.replace(path + ".part", path)
    return path


class TrainedModel:
    """A model that the program opens by its name ("stories") or folder, and the text it reads; None: the model's own."""

    def __init__(self, name: str, words: Sequence[str], owner: Any = None) -> None:
        self.name = name
        self.arguments = [name, *words]
        self.owner = owner  # of a temporary folder, which lives as long as it

    def traced(self, layer: Optional[int] = None, *asked: Any) -> Arrays:
        """Returns the stages of a layer by their keys; None: every array, "l0.weights", …, "logits"."""
        found = traced(["--model", *self.arguments], None, *asked)
        start = "" if layer is None else f"l{layer}."
        return {name[len(start):]: values for name, values in found.items() if name.startswith(start)}


Contents = Union[Arrays, TrainedModel]


def as_options(**values: Any) -> List[str]:
    """Returns options as words, ["--layer", "3"]; None is left out."""
    return [word for name, value in values.items() if value is not None for word in (f"--{name}", str(value))]


def traced(source: Sequence[str], layer: Optional[int] = None, keep: Optional[Sequence[str]] = None, grad: bool = False,
           backend: Optional[str] = None) -> Arrays:
    """Returns the arrays that `attnscope trace` computes."""
    with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
        out = os.path.join(folder, "trace.npz")
        asked = as_options(layer=layer, keep=",".join(keep) if keep else None, backend=backend)
        run(["trace", *source, "-o", out, *asked, *(["--grad"] if grad else [])])
        with numpy.load(out) as found:
            return dict(found)


def measured(source: Sequence[str]) -> Table:
    """Returns the measures of `attnscope heads`, one row per head."""
    rows = list(csv.reader(io.StringIO(run(["heads", *source, "-o", "-"]).decode())))
    return table({name: _column(name, [row[n] for row in rows[1:]]) for n, name in enumerate(rows[0])})


def _column(name: str, cells: List[str]) -> NDArray[Any]:
    if name == "label":
        return numpy.array(cells, str)
    whole = name in ("layer", "head", "rows", "rows_excluded")
    return numpy.array(cells, int) if whole else numpy.array([float(cell or "nan") for cell in cells])


def place_of(query: Union[str, int], tokens: Optional[Sequence[str]]) -> int:
    """Returns the number of a query, given its number or word. Raises ValueError if no token or several are that word."""
    if not isinstance(query, str):
        return int(query)
    places = [n for n, token in enumerate(tokens or ()) if token == query]
    if len(places) != 1:
        among = f"is at positions {', '.join(map(str, places))}: pass one of them" if places else f"is not one of the tokens: {', '.join(tokens or ())}"
        raise ValueError(f"'{query}' {among}")
    return places[0]


def words_in(arrays: Arrays, name: str) -> Optional[List[str]]:
    """Returns the strings of an array, or of one that holds a JSON list."""
    if name not in arrays:
        return None
    return list(map(str, arrays[name])) if arrays[name].ndim else json.loads(str(arrays[name]))


def places_of(tokens: Optional[Sequence[str]], row: Union[str, int, None] = None, **places: Any) -> List[str]:
    """Returns the selection as options of the program."""
    select = None if row is None else f"weights:{place_of(row, tokens)},0"
    return as_options(**places, select=select)


def first_look(arrays: Arrays, **places: Any) -> Dict[str, Any]:
    """Returns the default selection: the weights of Q and K, and for few tokens the last query, which may attend to the most keys. An image is
    shown in Heads."""
    q = arrays.get("Q", arrays.get("l0.Q"))
    if not places.get("workspace") and not places.get("stage") and any(name in arrays for name in ("image_tokens", "image_queries", "image_grid")):
        return {**places, "workspace": "heads"}
    if q is None or places.get("workspace") or places.get("stage"):
        return places
    few = q.ndim >= 2 and q.shape[-2] <= FEW and "layout" not in str(arrays.get("options"))
    return {"row": q.shape[-2] - 1 if few else None, **{name: value for name, value in places.items() if value is not None}, "stage": "weights"}


class Figure:
    """One call as attnscope draws it. A notebook shows its picture, in which each cell has a tooltip with its words and its number."""

    def __init__(self, source: Contents, *, titles: bool = True, page: bool = False, theme: Optional[str] = None, size: Optional[str] = None, **places: Any) -> None:
        self._model = source if isinstance(source, TrainedModel) else None
        arrays = source.traced(None, ["weights"]) if isinstance(source, TrainedModel) else source
        self._layers = sum(name.split(".")[-1] in ("Q", "weights") for name in arrays)
        self.tokens, self.tokens_kv = (words_in(arrays, name) for name in ("tokens", "tokens_kv"))
        self.layer, self.head = places.get("layer") or 0, places.get("head") or 0
        self.window: Optional["subprocess.Popen[bytes]"] = None
        if self._model:
            self.path = self._model.name
            self._source = self._model.arguments
        else:
            self._folder = tempfile.mkdtemp(prefix="attnscope-")
            self._remove = weakref.finalize(self, shutil.rmtree, self._folder, True)
            self.path = write(self._folder, arrays)
            self._source = [self.path]
        self._asked = as_options(theme=theme or "light", size=size or "1280x800") + places_of(self.tokens, **first_look(arrays, **places))
        self._titles, self._page = titles, page
        self._pictures: Dict[str, bytes] = {}
        self.picture("html" if page else "svg")  # reports invalid tensors now

    def picture(self, kind: str) -> bytes:
        """Returns the bytes of an "svg", "pdf" or "png", or of "html": the program with the document in it."""
        if kind == "html" and kind not in self._pictures:
            self._pictures[kind] = run(["page", *self._source, "-o", "-", *self._asked])
        if kind not in self._pictures:
            plain = ["--no-titles"] if kind == "svg" and not self._titles else []
            self._pictures[kind] = run(["render", *self._source, "--format", kind, "-o", "-", *plain, *self._asked])
        return self._pictures[kind]

    def _repr_svg_(self) -> str:
        """Returns the SVG, as wide as the cell allows and at most as wide as it was drawn."""
        return self.picture("svg").decode().replace('class="attn"', 'class="attn" style="max-width:100%;height:auto"', 1)

    def _repr_html_(self) -> str:
        """Returns the SVG as part of the page, because an SVG drawn as an image has no tooltips; or the program in a frame."""
        if not self._page:
            return self._repr_svg_()
        page = html.escape(self.picture("html").decode())
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" style="width:100%;height:800px;border:0"></iframe>'

    def _repr_png_(self) -> bytes:
        return self.picture("png")

    def save(self, path: Path) -> str:
        """Writes the picture as .svg, .pdf or .png, by the extension of the path; .html is the program with the document in it. Returns the path.

        Raises ValueError for another extension, and RuntimeError for .html if the package attnscope-web is not installed."""
        kind = pathlib.Path(path).suffix[1:].lower()
        if kind not in ("svg", "pdf", "png", "html"):
            raise ValueError(f"{os.fspath(path)} ends in '.{kind}'; expected .svg, .pdf, .png or .html")
        pathlib.Path(path).write_bytes(self.picture(kind))
        return os.fspath(path)

    def heads(self) -> Table:
        """Returns one row per head of each layer: layer, head, label, and the measures of `attnscope heads --help`; NaN for an undefined
        measure. The result is a pandas.DataFrame, or a dict of arrays if pandas is not installed."""
        return measured(self._source)

    @property
    def weights(self) -> NDArray[numpy.float32]:
        """The weights [B, H, Tq, Tk] of the shown layer."""
        return self.trace("weights")["weights"]

    def trace(self, *keep: str, grad: bool = False, backend: Optional[str] = None) -> Arrays:
        """Returns the stages of the shown layer by their keys (`attnscope stages`): all, or only the named ones."""
        if self._model:
            return self._model.traced(self.layer, keep, grad, backend)
        return traced(self._source, self.layer if self._layers > 1 else None, keep, grad, backend)

    def row(self, query: Union[str, int], head: Optional[int] = None, batch: int = 0) -> Table:
        """Returns the keys of one query and their weights [Tk], for the shown head or another one. query: its number, or its word.

        Raises ValueError if no token or several are that word."""
        weights = self.weights[batch, self.head if head is None else head]
        tokens = self.tokens or list(map(str, range(weights.shape[0])))
        keys = self.tokens_kv or (tokens if weights.shape[0] == weights.shape[1] else list(map(str, range(weights.shape[1]))))
        return table({"key": numpy.array(keys), "weight": weights[place_of(query, tokens)]})


class Window:
    """A running window, and the file that it follows; a window with a model follows no file."""

    def __init__(self, source: Contents, places: Sequence[str]) -> None:
        self.folder: Optional[str] = None
        self.source = source if isinstance(source, TrainedModel) else None
        if isinstance(source, TrainedModel):
            arguments = source.arguments
        else:
            self.folder = tempfile.mkdtemp(prefix="attnscope-")
            arguments = [write(self.folder, source), "--follow"]
        self.process = subprocess.Popen([program(), *arguments, *places])

    def takes(self, source: Contents) -> bool:
        """Whether it is open and can show these arrays too."""
        return self.folder is not None and not isinstance(source, TrainedModel) and self.process.poll() is None

    def update(self, arrays: Arrays) -> None:
        assert self.folder is not None
        write(self.folder, arrays)


def has_display() -> bool:
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"
