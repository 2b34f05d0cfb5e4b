"""Attention of a running PyTorch model on a page: a grid of heads, the lines of one head, and the text coloured by one query."""

import base64
import html
import inspect
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import warnings
import weakref
import webbrowser
import zipfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy
from numpy.typing import NDArray

from . import _figure
from ._arrays import array, is_module
from ._figure import Path
from ._program import Note

TEMPLATE = pathlib.Path(__file__).with_name("attention.html")
MASKED = -1.0  # in place of the weight of a pair that the mask forbids
HEIGHT = 760  # of the frame in a notebook


def page_of(groups: Sequence[Dict[str, Any]], notice: str = "") -> str:
    """Returns the page. A group: name, queries, keys (their words), same (they are the same tokens), layers [{number, name}], head_numbers, and
    weights [layer, head, query, key], -1 of a masked pair."""
    found = []
    for group in groups:
        weights = numpy.ascontiguousarray(group["weights"], "<f2")
        found.append({**{name: value for name, value in group.items() if name != "weights"}, "heads": weights.shape[1],
                      "data": base64.b64encode(weights.tobytes()).decode()})
    data = json.dumps({"groups": found, "notice": notice}).replace("<", "\\u003c")
    return TEMPLATE.read_text(encoding="utf-8").replace('id="data">{}<', f'id="data">{data}<', 1)


def token_labels(tokenizer: Any, ids: Sequence[int]) -> List[str]:
    """Returns the words of tokens, "▁" for a space; without a tokenizer their numbers."""
    if tokenizer is None:
        return [f"#{number}" for number in ids]
    labels = []
    for number, piece in zip(ids, tokenizer.convert_ids_to_tokens(list(ids))):
        piece = str(piece)
        text = str(tokenizer.decode([number]))
        keeps_piece = piece.startswith(("▁", "##")) or "\ufffd" in text or not text
        labels.append(re.sub(r"\s", lambda space: "↵" if space[0] == "\n" else "▁", piece if keeps_piece else text))
    return labels


def _kind(name: str) -> str:
    """Which attention of an encoder and a decoder the module of that name computes."""
    name = name.lower()
    if any(part in name for part in ("cross", "encoder_attn", "encdec", "multihead_attn")):
        return "cross"
    return next((kind for kind in ("decoder", "encoder") if kind in name), "")


def _shapes(path: str) -> Dict[int, Tuple[Tuple[int, ...], Tuple[int, ...]]]:
    """Returns the shapes of Q and K of each layer of a recording, without reading them."""
    shapes = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            with file.open(name) as entry:
                numpy.lib.format.read_magic(entry)
                shapes[name] = numpy.lib.format.read_array_header_1_0(entry)[0]
    return {int(name[1:-6]): (shape, shapes[f"{name[:-5]}K.npy"]) for name, shape in shapes.items() if re.fullmatch(r"l\d+\.Q\.npy", name)}


def _numbers(layers: Sequence[int], names: Sequence[str]) -> List[int]:
    """Returns the numbers of layers as the names of their modules have them (1 of "decoder.layers.1.encoder_attn"); those of the recorded calls where
    the names have none, several, or the same."""
    found = [re.findall(r"(?<=\.)\d+(?=\.|$)", f".{name}") for name in names]
    numbers = [int(each[0]) for each in found if len(each) == 1]
    return numbers if len(numbers) == len(set(numbers)) == len(layers) else list(layers)


class Attached:
    """The attention of the last call of a model, made by attnscope.attach(). A notebook shows it as a page, and again after each cell that ran the model.

    calls: how many calls of the model were recorded
    paths: the files of the last one, which attnscope opens
    error: why the last call was not recorded, or None"""

    def __init__(self, model: Any, tokenizer: Any, layers: Any, heads: Optional[Sequence[int]], sequence: int, limit_mb: float) -> None:
        if not is_module(model):
            raise ValueError(f"model is a {type(model).__name__}; expected a torch.nn.Module")
        from ._record import FUSED, Recording, _is_compiled

        if _is_compiled(model):
            raise ValueError("model is compiled, and its calls bypass hooks; expected the model before torch.compile: model._orig_mod")
        used = getattr(getattr(model, "config", None), "_attn_implementation", None)
        if used is not None and used not in FUSED:
            raise ValueError(f"attn_implementation is '{used}'; expected 'sdpa' or 'flex_attention', which are recorded. Call "
                             "model.set_attn_implementation(\"sdpa\"); a model without it is shown by attnscope.show(model, inputs)")
        if not isinstance(sequence, int) or sequence < 0:
            raise ValueError(f"sequence is {sequence!r}; expected its number in the batch, from 0")
        self._model, self._tokenizer, self._layers, self._heads = model, tokenizer, layers, heads
        self._sequence, self._limit = sequence, limit_mb
        self._folder = tempfile.mkdtemp(prefix="attnscope-")
        self._remove = weakref.finalize(self, shutil.rmtree, self._folder, True)
        self._new, self._recording = Recording, None
        self._ids: Dict[str, List[int]] = {}
        self.calls, self.error = 0, None  # type: int, Optional[str]
        self.paths: List[str] = []
        self._names: Dict[int, str] = {}
        self._page: Optional[str] = None
        self._display: Any = None
        own = weakref.proxy(self)
        self._hooks = [model.register_forward_pre_hook(lambda *call: own._before(*call), with_kwargs=True, prepend=True),
                       model.register_forward_hook(lambda *call: own._after(call[-1]), with_kwargs=True, always_call=True)]
        self._unhook = weakref.finalize(self, lambda hooks: [hook.remove() for hook in hooks], self._hooks)

    # ---- calls of the model

    def detach(self) -> None:
        """Records no further call. The page of the last one stays."""
        self._unhook()

    def __enter__(self) -> "Attached":
        return self

    def __exit__(self, *_: Any) -> None:
        self.detach()

    def __call__(self, text: str, **options: Any) -> "Attached":
        """Runs the model over a text without gradients; options are those of the tokenizer. Returns this object."""
        if self._tokenizer is None:
            raise ValueError("there is no tokenizer; expected attnscope.attach(model, tokenizer), or call model(**inputs)")
        import torch

        device = next((each.device for each in self._model.parameters()), None)
        inputs = self._tokenizer(text, return_tensors="pt", **options)
        with torch.no_grad():
            self._model(**{name: tensor.to(device) for name, tensor in inputs.items()})
        return self

    def _before(self, module: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        if self._recording is not None:  # a call inside a call
            return
        try:
            given = inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments
        except TypeError:
            given = {}
        texts = {name: self._ids_of(given.get(argument)) for name, argument in (("input", "input_ids"), ("decoder", "decoder_input_ids"))}
        if texts["input"] is None and given:
            texts["input"] = self._ids_of(next(iter(given.values())))
        self._given = {name: ids for name, ids in texts.items() if ids}
        out = os.path.join(self._folder, "next.npz")
        self._recording = self._new(self._model, out, self._layers, None, self._heads, None, False, None, None, True)
        try:
            self._recording.enter_call()
        except Exception as error:  # the model runs, and is not recorded
            self._recording = None
            self._failed(str(error))

    def _ids_of(self, ids: Any) -> Optional[List[int]]:
        if not hasattr(ids, "shape") or len(ids.shape) not in (1, 2):
            return None
        found = array(ids)
        found = found if found.ndim == 2 else found[None]
        return found[self._sequence].tolist() if found.dtype.kind in "iu" and self._sequence < len(found) else None

    def _after(self, output: Any) -> None:
        recording, self._recording = self._recording, None
        if recording is None:
            return
        failed = output is None and sys.exc_info()[0] is not None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", Note)  # of words that fit no call: _labels() has them for each group
                recording.tokens = token_labels(self._tokenizer, self._given["input"]) if "input" in self._given else None
                recording.__exit__(*(sys.exc_info() if failed else (None, None, None)))
        except ValueError as error:
            self._failed(str(error))
            return
        if not failed:
            self._keep(recording)

    def _keep(self, recording: Any) -> None:
        for path in self.paths:
            os.remove(path)
        self.paths = []
        for path in recording.paths:
            moved = os.path.join(self._folder, os.path.basename(path).replace("next", "attention", 1))
            os.replace(path, moved)
            self.paths.append(moved)
        # Of a generation with a cache each call has the new tokens alone.
        self._ids = {name: self._ids.get(name, []) + ids if self._goes_on(name, ids) else ids for name, ids in self._given.items()}
        self._names, self.calls, self.error, self._page = dict(recording.layers), self.calls + 1, None, None

    def _goes_on(self, name: str, ids: Sequence[int]) -> bool:
        (_, _, tq, _), (_, _, tk, _) = next(iter(_shapes(self.paths[0]).values()))
        return tq == len(ids) and tk == len(self._ids.get(name, [])) + tq > tq

    def _failed(self, why: str) -> None:
        self.error, self._page = why, None
        warnings.warn(f"the call is not recorded: {why}", Note, stacklevel=2)

    # ---- the page

    def _labels(self, kind: str, count: int, keys: int) -> Optional[List[str]]:
        """The words of queries (the last of them), where they are known: those of `kind`."""
        text = self._ids.get("decoder" if kind == "decoder" else "input")
        crossing = getattr(getattr(self._model, "config", None), "is_encoder_decoder", False)
        if text is None and kind == "decoder" and not crossing:
            text = self._ids.get("input")
        return token_labels(self._tokenizer, text)[-count:] if text is not None and len(text) in (count, keys) and len(text) >= count else None

    def _groups(self) -> List[Dict[str, Any]]:
        groups = []
        for path in self.paths:
            shapes = _shapes(path)
            kinds: Dict[str, List[int]] = {}
            for layer in sorted(shapes):
                kinds.setdefault(_kind(self._names[layer]), []).append(layer)
            for kind, layers in kinds.items():
                (batch, heads, tq, _), (_, _, tk, _) = shapes[layers[0]]
                if self._sequence >= batch:
                    raise ValueError(f"sequence is {self._sequence}, and the batch has {batch}; expected a number below that")
                queries = self._labels("decoder" if kind == "cross" else kind, tq, tq if kind == "cross" else tk)
                keys = self._labels("encoder" if kind == "cross" else kind, tk, tk)
                known = queries is not None and keys is not None
                groups.append({"name": f"{kind or 'all layers'}, {tq} × {tk}", "path": path, "numbers": layers, "batch": batch, "size": (heads, tq, tk),
                               "queries": queries if known else [str(n) for n in range(tk - tq, tk)] if kind != "cross" else [str(n) for n in range(tq)],
                               "keys": keys if known else [str(n) for n in range(tk)], "same": kind != "cross" and tq == tk})
        return groups

    def _weights(self, path: str, layer: int) -> NDArray[Any]:
        found = _figure.traced([path], layer, ["weights", "masked"])
        weights = found["weights"][self._sequence]
        return numpy.where(numpy.isneginf(found["masked"][self._sequence]), MASKED, weights)

    def page(self) -> str:
        """Returns the page of the last call as HTML: one file without a network or another file.

        Raises ValueError if no call was recorded, or if its weights are more than limit_mb."""
        if self._page is not None:
            return self._page
        if not self.paths:
            raise ValueError(self.error or "no call was recorded yet; expected model(**inputs), or attached(\"a text\") with a tokenizer")
        groups = self._groups()
        megabytes = sum(2e-6 * len(group["numbers"]) * numpy.prod(group["size"], dtype=float) for group in groups)
        if megabytes > self._limit:
            heads, tq, tk = groups[0]["size"]
            raise ValueError(f"the weights of {len(groups[0]['numbers'])} layers of {heads} heads, {tq} × {tk}, are {megabytes:.0f} MB on the page; expected "
                             f"at most {self._limit:g} MB. Pass layers=[0, 5], heads=[0, 1] or limit_mb={megabytes * 1.1:.0f} to attach()")
        for group in groups:
            path, layers, heads = group.pop("path"), group.pop("numbers"), group.pop("size")[0]
            group["weights"] = numpy.stack([self._weights(path, layer) for layer in layers])
            names = [self._names[layer] for layer in layers]
            group["layers"] = [{"number": number, "name": name} for number, name in zip(_numbers(layers, names), names)]
            group["head_numbers"] = list(self._heads) if self._heads is not None else list(range(heads))
        batch = groups[0]["batch"]
        notice = f"sequence {self._sequence} of a batch of {batch}" if batch > 1 else ""
        self._page = page_of(groups, notice)
        return self._page

    def save(self, path: Path) -> str:
        """Writes the page of the last call. Returns the path."""
        if pathlib.Path(path).suffix.lower() not in (".html", ".htm"):
            raise ValueError(f"path is '{os.fspath(path)}'; expected a name that ends in .html")
        pathlib.Path(path).write_text(self.page(), encoding="utf-8")
        return os.fspath(path)

    def show(self) -> "Attached":
        """Shows the last call: in a notebook in the cell, elsewhere in the browser. Returns this object."""
        if _figure.in_notebook():
            self._ipython_display_()
        elif _figure.has_display():
            webbrowser.open(pathlib.Path(self.save(os.path.join(self._folder, "attention.html"))).as_uri())
        return self

    def _repr_html_(self) -> str:
        """Returns the page in a frame, which keeps its styles from the notebook's; or the reason why it has no page."""
        try:
            page = html.escape(self.page())
        except ValueError as error:
            return f"<p>attnscope: {html.escape(str(error))}</p>"
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts" style="width:100%;height:{HEIGHT}px;border:0"></iframe>'

    def _ipython_display_(self) -> None:
        from IPython import get_ipython
        from IPython.display import HTML, display

        if self._display is None and get_ipython() is not None:
            own = weakref.ref(self)
            get_ipython().events.register("post_run_cell", lambda *_: own() and own()._update())  # type: ignore[union-attr]
        self._display, self._displayed = display(HTML(self._repr_html_()), display_id=True), self.calls

    def _update(self) -> None:
        """Shows the last call where an earlier one was shown."""
        if self._display is not None and self._displayed != self.calls:
            from IPython.display import HTML

            self._display.update(HTML(self._repr_html_()))
            self._displayed = self.calls

    def __repr__(self) -> str:
        return f"<attnscope attached to {type(self._model).__name__}: {self.calls} calls recorded>"
