"""A trained model: the commands of the program that take one, as methods whose results are arrays with labels."""

import errno
import functools
import json
import os
import re
import shutil
import tempfile
import weakref
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy
from numpy.typing import NDArray

from . import _figure
from ._arrays import array, is_module
from ._figure import Figure, Path, Table, TrainedModel, table, words_in
from ._program import run

Text = Union[None, str, Sequence[Any]]
Metric = Callable[[NDArray[Any]], float]
Flags = List[str]

AXES = {"B": "batch", "H": "head", "Hkv": "key_head", "Tq": "query", "Tk": "key"}  # of `attnscope stages`; any other is "column"
OTHER_AXES = {"residual": ("batch", "query", "column"), "routing": ("batch", "query", "expert"), "logsumexp": ("batch", "head", "query"),
              "logits": ("batch", "query", "vocabulary"), "token_ids": ("query",), "effect_kl": ("layer", "head"), "effect_change": ("layer", "head")}
RECORD = "To record the attention of one run: with attnscope.record(model, 'attention.npz'): model(**inputs)"
PER_TEXT = ("from_text", "logits", "metric", "token", "against", "align", "patch", "decoder")  # a list has one for each text


class Labelled(Dict[str, Any]):
    """Arrays by name, with labels: result.change is result["change"].

    axes: the names of the axes of each array, {"change": ("layer", "head")}
    labels: of an axis, {"query": the tokens}; an axis without labels counts from 0
    prompts: of a list of texts, the result of each"""

    def __init__(self, values: Mapping[str, Any], axes: Mapping[str, Tuple[str, ...]], labels: Mapping[str, Sequence[Any]]) -> None:
        super().__init__(values)
        self.axes, self.labels = dict(axes), dict(labels)
        self.prompts: List["Labelled"] = []

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"the result has no '{name}'; expected one of {', '.join(self)}")

    def table(self, *names: str) -> Table:
        """Returns one row per entry of the named arrays, which have the same axes: the place on each axis, its label, and the values. Without
        names it has the first array and all others with its axes. The result is a pandas.DataFrame, or a dict of arrays without pandas."""
        for name in names:
            if name not in self.axes:
                raise ValueError(f"'{name}' is not an array of the result; expected some of {', '.join(self.axes)}")
        axes = self.axes[names[0] if names else next(iter(self.axes))]
        shown = names or [name for name, own in self.axes.items() if own == axes]
        different = [name for name in shown if self.axes[name] != axes]
        if different:
            raise ValueError(f"{different[0]} has the axes {self.axes[different[0]]}, and {shown[0]} has {axes}; expected arrays with the same axes")
        columns: Dict[str, NDArray[Any]] = {}
        for axis, places in zip(axes, numpy.indices(self[shown[0]].shape).reshape(len(axes), -1)):
            labels = numpy.array(self.labels[axis]) if axis in self.labels else None
            is_number = labels is not None and labels.dtype.kind in "iu"
            columns[axis] = labels[places] if labels is not None and is_number else places
            if labels is not None and not is_number:
                columns["token" if len(axes) == 1 or axis == "position" else f"{axis}_token"] = labels[places]
        return table({**columns, **{name: self[name].reshape(-1) for name in shown}})

    def __repr__(self) -> str:
        def shown(name: str, value: Any) -> str:
            if not isinstance(value, numpy.ndarray) or value.ndim == 0:
                text = repr(value)
                return f"{name}: {text if len(text) <= 60 else text[:59] + '…'}"
            axes = self.axes.get(name, ("",) * value.ndim)
            return f"{name} [{', '.join(f'{axis} {size}'.strip() for axis, size in zip(axes, value.shape))}] {value.dtype}"

        return "\n".join(shown(name, value) for name, value in self.items())


# ---- texts and options as words of the command line


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, numpy.integer)) and not isinstance(value, bool)


def _token_ids(text: Any, name: str) -> str:
    ids = array(text)
    if ids.ndim != 1 or not ids.size or ids.dtype.kind not in "iu" or (ids < 0).any():
        raise ValueError(f"{name} has the shape {list(ids.shape)} and the dtype {ids.dtype}; expected a text, or the numbers of its tokens, [15496, 995]")
    return ",".join(map(str, ids.tolist()))


def _checked(text: str, name: str) -> str:
    if "\0" in text:
        raise ValueError(f"{name} has a zero byte at {text.index(chr(0))}; expected a text without one")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has half of a surrogate pair at {error.start}; expected valid Unicode") from None
    return text


def _text_flags(text: Text) -> Flags:
    if text is None:
        return []
    if isinstance(text, str) and not text:
        raise ValueError("text is empty; expected at least one word, or the numbers of tokens, [15496, 995]")
    return [f"--text={_checked(text, 'text')}"] if isinstance(text, str) else [f"--token-ids={_token_ids(text, 'text')}"]


def _other_text(text: Any, name: str) -> str:
    return _checked(text, name) if isinstance(text, str) else f"token-ids: {_token_ids(text, name)}"


def _flags(**options: Any) -> Flags:
    """["--top-k=3"] of top_k=3. None and False are left out; True is the flag alone; a list is joined with commas."""
    found = []
    for key, value in options.items():
        name = key.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(f"--{name}")
        elif isinstance(value, (list, tuple)):
            found.append(f"--{name}={','.join(map(str, value))}")
        else:
            found.append(f"--{name}={_checked(str(value), key)}")
    return found


def _interventions(off: Any, row: Optional[Mapping[str, Sequence[float]]], patch: Optional[Mapping[str, Any]]) -> Flags:
    for name, value, example in (("row", row, '{"5.3.2": [0, 0, 1]}'), ("patch", patch, '{"5.3.v": "The dog sat"}')):
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"{name} is {value!r}; expected a dict such as {example}")
    rows = [f"--row={place}={','.join(repr(float(weight)) for weight in weights)}" for place, weights in (row or {}).items()]
    return _flags(off=off) + rows + [f"--patch={place}={_other_text(text, f'patch {place}')}" for place, text in (patch or {}).items()]


def _is_batch(text: Any) -> bool:
    """Whether there are several texts: a list of texts or of lists of token ids, or a matrix of token ids."""
    if isinstance(text, (list, tuple)):
        if not text:
            raise ValueError("text is an empty list; expected at least one text")
        return not all(_is_number(each) for each in text)
    return text is not None and not isinstance(text, str) and getattr(text, "ndim", 1) == 2


def _per_text(name: str, value: Any) -> bool:
    if name not in PER_TEXT or not isinstance(value, list):
        return False
    return not (name == "from_text" and all(_is_number(each) for each in value)) and not (name == "logits" and all(isinstance(e, (str, int)) for e in value))


def _of_each(method: Callable[..., Labelled]) -> Callable[..., Labelled]:
    """The method for a list of texts too: its results stacked."""
    @functools.wraps(method)
    def called(self: "Model", text: Text = None, *arguments: Any, **options: Any) -> Labelled:
        if not _is_batch(text):
            return method(self, text, *arguments, **options)
        assert text is not None
        results = []
        for n, one in enumerate(text):
            own = {}
            for name, value in options.items():
                if _per_text(name, value) and len(value) != len(text):
                    raise ValueError(f"{name} has {len(value)} entries, and there are {len(text)} texts; expected one for each text")
                own[name] = value[n] if _per_text(name, value) else value
            results.append(method(self, one, *arguments, **own))
        return _stacked(results)
    return called


def _stacked(results: List[Labelled]) -> Labelled:
    """Arrays of the same shape become one with the axis "prompt" in front; others are lists, of which each has its own shape."""
    values: Dict[str, Any] = {}
    axes = {}
    for name in results[0]:
        each = [result.get(name) for result in results]
        is_array = all(isinstance(value, numpy.ndarray) and value.ndim > 0 for value in each)
        is_stacked = (is_array and len({value.shape for value in each}) == 1) or all(isinstance(value, (bool, int, float)) for value in each)
        values[name] = numpy.stack(each) if is_stacked else each
        if is_stacked:
            axes[name] = ("prompt", *results[0].axes.get(name, ()))
    labels = {axis: own for axis, own in results[0].labels.items() if all(list(result.labels.get(axis, ())) == list(own) for result in results)}
    made = Labelled(values, axes, labels)
    made.prompts = results
    return made


# ---- results


@functools.lru_cache(maxsize=None)
def _stage_axes() -> Dict[str, Tuple[str, ...]]:
    stages = json.loads(run(["stages", "--json"]))
    return {stage["key"]: tuple(AXES.get(each, "column") for each in stage["shape"].strip("[]").split(",")) for stage in stages}


def _axes_of(name: str, values: NDArray[Any]) -> Tuple[str, ...]:
    key = re.sub(r"^l\d+\.", "", name)
    known = OTHER_AXES.get(key) or _stage_axes().get(key)
    if known and len(known) == values.ndim:
        return known
    return tuple(f"axis_{n}" for n in range(values.ndim))


def _of_trace(arrays: Mapping[str, NDArray[Any]]) -> Labelled:
    values: Dict[str, Any] = dict(arrays)
    labels = {}
    tokens = words_in(values, "tokens")
    if tokens is not None:
        keys = words_in(values, "tokens_kv") or tokens
        labels = {"query": tokens, "key": keys}
        values["tokens"] = tokens
        if "tokens_kv" in values:
            values["tokens_kv"] = keys
    if "interventions" in values:
        values["interventions"] = words_in(values, "interventions")
    for name in values:
        if name == "token_ids" or name.endswith(".token_ids"):
            values[name] = values[name].astype(int)
        elif name.split(".")[-1] == "options":
            values[name] = json.loads(str(values[name].reshape(-1)[0]))
    return Labelled(values, {name: _axes_of(name, found) for name, found in values.items() if isinstance(found, numpy.ndarray)}, labels)


def _numbers(rows: Sequence[Mapping[str, Any]], key: str, dtype: Any = float) -> NDArray[Any]:
    """A column of JSON objects; null and missing are NaN."""
    return numpy.array([row.get(key) if row.get(key) is not None else numpy.nan for row in rows], dtype)


def _measured(metric: Metric, logits: NDArray[Any]) -> float:
    found = array(metric(logits))
    if found.size != 1:
        raise ValueError(f"metric returned an array of shape {list(found.shape)} for logits of shape {list(logits.shape)}; expected one number")
    return float(found.reshape(()))


class Model:
    """A trained model that the program opens; attnscope.open() makes it.

    Methods have the names and the options of the command line (--top-k is top_k). A text is a string, or the numbers of its tokens
    ([15496, 995]); None is the text that comes with a built-in model. A list of texts gives the results of all: arrays of the same shape are
    stacked with the axis "prompt" in front, and `prompts` has the result of each. The options from_text, logits, metric, token, against, align,
    patch and decoder may then be lists with one entry for each text. Every call starts the program, which reads the model again.

    name: the model for the command line; of a model of transformers its temporary folder
    sizes: family, layers, heads, kv_heads, width, vocabulary, most_tokens, …, as `attnscope info` has them"""

    def __init__(self, source: Any, tokenizer: Any = None) -> None:
        self._remove: Optional[Callable[[], Any]] = None
        if is_module(source):
            self.name = self._saved(source, tokenizer)
        elif not isinstance(source, (str, os.PathLike)):
            raise ValueError(f"source is a {type(source).__name__}; expected a model's folder, a .gguf, the name of a built-in model, or a model of "
                             "Hugging Face's transformers")
        elif tokenizer is not None:
            raise ValueError(f"tokenizer is given with '{os.fspath(source)}', which has its own; expected a tokenizer with a model of transformers alone")
        else:
            self.name = os.path.expanduser(os.fspath(source))
        if self.name.endswith(".npz"):
            raise ValueError(f"'{self.name}' has arrays of attention; expected a model. attnscope.show('{self.name}') opens it")
        self.sizes: Dict[str, Any] = json.loads(run(["info", self.name]))

    def _saved(self, module: Any, tokenizer: Any) -> str:
        """Writes the module and its tokenizer to a folder that lives as long as this object. Its config.json is checked before the weights."""
        kind = type(module).__name__
        if not hasattr(module, "save_pretrained") or not hasattr(module, "config"):
            raise ValueError(f"source is a {kind}, which has no save_pretrained; expected a model of Hugging Face's transformers. "
                             f"attnscope.record(model, 'attention.npz') records the attention of any module")
        folder = tempfile.mkdtemp(prefix="attnscope-model-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, True)
        module.config.save_pretrained(folder)
        try:
            run(["info", folder])
        except ValueError as error:  # of another family, or of the weights that are written next
            if "'model_type'" in str(error):
                raise ValueError(f"{kind} has the model_type '{module.config.model_type}', which attnscope does not compute; expected a family of "
                                 f"docs/models.md. {RECORD}") from None
        for each in (module, tokenizer):
            if each is not None:
                each.save_pretrained(folder)
        return folder

    def close(self) -> None:
        """Deletes the temporary folder of a model of transformers. Other models have none."""
        if self._remove is not None:
            self._remove()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<attnscope model {self.sizes['name']}: {self.sizes['layers']} layers, {self.sizes['heads']} heads, {self.name}>"

    # ---- runs

    @_of_each
    def trace(self, text: Text = None, *, keep: Optional[Sequence[str]] = None, off: Any = None, row: Optional[Mapping[str, Sequence[float]]] = None,
              patch: Optional[Mapping[str, Any]] = None, image: Optional[Path] = None, decoder: Optional[str] = None, group: Optional[str] = None,
              backend: Optional[str] = None) -> Labelled:
        """Runs the model over the text. Returns "l0.weights" [batch, head, query, key] and every other stage of each layer, "l0.residual",
        "logits" [batch, query, vocabulary] or "embedding", "tokens" and "token_ids".

        keep: only these stages; [] keeps residuals and logits
        off: heads to switch off, "5.3" or ["0.1", "5.3"]
        row: weights in place of a row's own, {"5.3.2": [0, 0, 1]} for layer 5, head 3, query 2
        patch: see patch()
        image, decoder, group: inputs of a model of images, or of two stacks

        With interventions the result also has "effect_kl" and "effect_change" [layer, head]."""
        stages = ["logsumexp"] if keep is not None and not keep else keep
        flags = [*_flags(image=image, decoder=decoder, group=group, backend=backend, keep=stages), *_interventions(off, row, patch)]
        with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
            return _of_trace(self._arrays(["trace", "--model", self.name, *_text_flags(text), *flags], folder))

    def patch(self, text: Text, patches: Any, **options: Any) -> Labelled:
        """Runs the model over the text with vectors of another text: trace() with {"5.3.v": "The dog sat"}, the v of layer 5 and head 3 from
        that text, which has as many tokens. q and k work alike. The options are those of trace()."""
        return self.trace(text, patch=patches, **options)

    def heads(self, text: Text = None, *, sort: Optional[str] = None, off: Any = None, row: Optional[Mapping[str, Sequence[float]]] = None,
              patch: Optional[Mapping[str, Any]] = None, image: Optional[Path] = None, decoder: Optional[str] = None,
              group: Optional[str] = None) -> Table:
        """Returns one row per head of each layer, as attnscope.heads() does: layer, head, label, and the measures of `attnscope heads --help`."""
        self._one(text, "heads")
        return _figure.measured([self.name, *_text_flags(text), *_flags(sort=sort, image=image, decoder=decoder, group=group),
                                 *_interventions(off, row, patch)])

    @_of_each
    def generate(self, text: Text = None, *, tokens: Optional[int] = None, temperature: Optional[float] = None, top_k: Optional[int] = None,
                 top_p: Optional[float] = None, seed: Optional[int] = None, candidates: Optional[int] = None, decoder: Optional[str] = None) -> Labelled:
        """Continues the text. Returns "text" (the added part), "id" [step], "p" [step] before sampling, "logit" [step], "tokens" (all that the
        model read, and the last one chosen), "logits" [step, vocabulary], and "l0.weights" [batch, head, query, key] of the read tokens.

        tokens: how many to add; 20 by default
        temperature: the divisor of the logits; 0 takes the largest logit
        candidates: also "candidate_id" and "candidate_p" [step, candidate], the likeliest"""
        flags = _flags(tokens=tokens, temperature=temperature, top_k=top_k, top_p=top_p, seed=seed, candidates=candidates, decoder=decoder)
        with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
            out = os.path.join(folder, "out.npz")
            answer = json.loads(self._run(["generate", self.name, *_text_flags(text), *flags, "-o", out]))
            with numpy.load(out) as found:
                traced = _of_trace(found)
        steps = answer["steps"]
        chosen = [step["token"] for step in steps]
        values: Dict[str, Any] = {"text": answer["text"], "id": _numbers(steps, "id", int), "p": _numbers(steps, "before"), "logit": _numbers(steps, "logit")}
        axes = dict.fromkeys(("id", "p", "logit"), ("step",))
        if candidates is not None:
            for name, key, dtype in (("candidate_id", "id", int), ("candidate_p", "before", float)):
                values[name] = numpy.array([_numbers(step["candidates"], key, dtype) for step in steps])
                axes[name] = ("step", "candidate")
        values["tokens"] = [*(token["token"] for token in answer["prompt"]), *chosen]
        values["logits"] = traced["logits"][0]
        layers = {name: found for name, found in traced.items() if name.startswith("l") and "." in name}
        return Labelled({**values, **layers}, {**axes, "logits": ("step", "vocabulary"), **{name: traced.axes[name] for name in layers}},
                        {**traced.labels, "step": chosen})

    # ---- causes of the prediction

    @_of_each
    def lens(self, text: Text = None, *, at: Optional[int] = None, token: Optional[str] = None, against: Optional[str] = None, off: Any = None) -> Labelled:
        """Predicts the next token after every layer: "logit", "p" and "rank" [layer] of a token, "best" and "best_p" [layer, place], the likeliest.
        The layer -1 is the embedding. Rank 0 is the likeliest token.

        at: the position of the prediction; the last by default
        token: "mat" or "#17"; the likeliest by default"""
        answer = self._lens(text, at, token, against, off)
        layers = answer["layers"]
        values: Dict[str, Any] = {name: _numbers(layers, name) for name in ("logit", "p")}
        values["rank"] = _numbers(layers, "rank", int)
        values["best"] = numpy.array([[each["token"] for each in layer["best"]] for layer in layers])
        values["best_p"] = numpy.array([_numbers(layer["best"], "p") for layer in layers])
        axes = {name: ("layer", "place")[:values[name].ndim] for name in values}
        return Labelled({**values, "token": answer["token"]["token"], "position": answer["position"]}, axes, {"layer": [each["layer"] for each in layers]})

    @_of_each
    def attribution(self, text: Text = None, *, at: Optional[int] = None, token: Optional[str] = None, against: Optional[str] = None,
                    off: Any = None) -> Labelled:
        """Writes the token's logit as a sum over the parts of the model: "value" [part] with "part" ("embedding", "head", "b_O", "mlp",
        "norm_shift", …), "layer" and "head" (-1 where a part has none). "heads" [layer, head] has the heads alone. "logit" is the token's logit, or
        its difference to the logit of `against`; "sum" is the sum of the parts and "residue" the rounding error."""
        answer = self._lens(text, at, token, against, off)
        parts = answer["parts"]
        heads = numpy.full((self.sizes["layers"], self.sizes["heads"]), numpy.nan)
        for part in parts:
            if part["part"] == "head":
                heads[part["layer"], part["head"]] = part["value"]
        columns: Dict[str, Any] = {"part": numpy.array([part["part"] for part in parts]), "value": _numbers(parts, "value"),
                                   **{name: numpy.array([part.get(name, -1) for part in parts]) for name in ("layer", "head")}}
        axes: Dict[str, Tuple[str, ...]] = {**dict.fromkeys(columns, ("n",)), "heads": ("layer", "head")}
        against_token = answer["against"]["token"] if answer["against"] else None
        return Labelled({**columns, "heads": heads, "logit": answer["logit"], "sum": answer["sum"], "residue": answer["residue"],
                         "token": answer["token"]["token"], "against": against_token, "position": answer["position"]}, axes, {})

    @_of_each
    def sweep(self, text: Text = None, *, kind: str = "zero", from_text: Text = None, part: str = "heads", by_position: bool = False,
              logits: Optional[Sequence[Any]] = None, align: Optional[Mapping[int, int]] = None, metric: Optional[Metric] = None,
              image: Optional[Path] = None, backend: Optional[str] = None) -> Labelled:
        """Changes each head in turn, and compares the next token's logits with those of the unmodified run. Returns "change" of logit a - logit b and
        "kl" in nats, [layer, head] or with by_position [layer, head, position]; for part="residual" and "mlp" [layer, position].

        kind: what replaces the head's context: "zero", "mean" (over the positions), or "patch" (that of from_text)
        part: "heads", "residual" (the input of a layer), or "mlp" (the output of its MLP)
        logits: the tokens a and b, (" mat", " dog") or ("#17", "#3"); the two likeliest by default
        align: of a patch, {0: 0, 1: 2}: token 2 of from_text for token 0 …; by default equal tokens from both ends. NaN: not paired
        metric: a function of the next token's logits [vocabulary] that returns a number. The result then has "metric" with the axes of "change",
            and "metric_before" of the unmodified run"""
        flags = _flags(sweep=kind, part=part, by_position=by_position, image=image, backend=backend, keep_logits=metric is not None)
        flags += [] if from_text is None else [f"--from={_other_text(from_text, 'from_text')}"]
        flags += [] if align is None else ["--align=" + ",".join(f"{own}={other}" for own, other in align.items())]
        answer, found = self._circuits(text, flags, logits)
        axes: Tuple[str, ...] = ("layer", "head") if part == "heads" else ("layer",)
        axes += ("position",) if by_position or part != "heads" else ()
        values: Dict[str, Any] = {"change": found["sweep_change"], "kl": found["sweep_kl"]}
        if metric is not None:
            rows = found["sweep_logits"]
            measured = [numpy.nan if numpy.isnan(row).all() else _measured(metric, row) for row in rows.reshape(-1, rows.shape[-1])]
            values["metric"] = numpy.array(measured).reshape(rows.shape[:-1])
            values["metric_before"] = _measured(metric, found["sweep_logits_before"])
        arrays = dict.fromkeys(("change", "kl", *(["metric"] if metric is not None else [])), axes)
        if "alignment" in answer:
            values["alignment"] = found["sweep_alignment"].astype(int)
        tokens = words_in(found, "tokens")
        return Labelled({**values, **_compared(answer), "tokens": tokens}, arrays, {"position": tokens} if tokens and "position" in axes else {})

    @_of_each
    def edges(self, text: Text = None, *, kind: str = "zero", layer: Optional[int] = None, head: Optional[int] = None,
              logits: Optional[Sequence[Any]] = None, backend: Optional[str] = None) -> Labelled:
        """Path patching: cuts each edge between a sender (the embedding, a head "5.3", an MLP "5.mlp") and a reader (a head, an MLP, the logits).
        Returns "sender" and "reader" [edge], and the "change" of logit a - logit b [edge]; "q", "k" and "v" are the change where a head's queries,
        keys or values alone read the cut input, NaN for another reader. layer and head: only the edges into that head."""
        answer, found = self._circuits(text, _flags(edges=True, sweep=kind, layer=layer, head=head, backend=backend), logits)
        columns: Dict[str, Any] = {"sender": numpy.array(words_in(found, "edge_sender")), "reader": numpy.array(words_in(found, "edge_reader")),
                                   **dict(zip(("change", "q", "k", "v"), found["edge_change"].T))}
        return Labelled({**columns, **_compared(answer), "tokens": words_in(found, "tokens")}, dict.fromkeys(columns, ("edge",)), {})

    def circuit(self, layer: int, head: int, text: Text = None, *, nearest: Optional[int] = None) -> Labelled:
        """One head's QK = W_Q W_Kᵀ and OV = W_V W_O: "qk_values" and "ov_values" (singular values), "copying", "composition_q", "_k" and "_v" with
        each earlier head [layer, head], and over the tokens of the text "qk" [query, key] and "ov" [query, token].

        nearest: in place of the text's tokens, for each the nearest of the vocabulary"""
        self._one(text, "circuit")
        answer, found = self._circuits(text, _flags(layer=layer, head=head, nearest=nearest), None)
        tokens = words_in(found, "tokens")
        axes: Dict[str, Tuple[str, ...]] = {name: ("layer", "head") for name in found if name.startswith("composition_")}
        axes.update({"qk": ("query", "key"), "ov": ("query", "token"), "qk_values": ("n",), "ov_values": ("n",), "qk_tokens": ("key",), "ov_tokens": ("token",)})
        values: Dict[str, Any] = {name: values for name, values in found.items() if name not in ("tokens", "copying")}
        for name in ("qk_tokens", "ov_tokens"):
            if name in values:
                values[name] = values[name].astype(int)
        values.update(copying=answer["copying"], tokens=tokens)
        return Labelled(values, {name: own for name, own in axes.items() if name in found}, {"query": tokens} if tokens else {})

    # ---- pictures

    def figure(self, text: Text = None, *, off: Any = None, patch: Optional[Mapping[str, Any]] = None, image: Optional[Path] = None,
               decoder: Optional[str] = None, group: Optional[str] = None, **places: Any) -> Figure:
        """attnscope.figure() of the model over the text; places are its layer, head, row (the selected query), workspace, stage, theme and size."""
        from . import figure

        return figure(self._trained(text, off=off, patch=patch, image=image, decoder=decoder, group=group), **places)

    def show(self, text: Text = None, *, off: Any = None, patch: Optional[Mapping[str, Any]] = None, image: Optional[Path] = None,
             decoder: Optional[str] = None, group: Optional[str] = None, **places: Any) -> Figure:
        """attnscope.show() of the model over the text: a window, in a notebook the figure. The arguments are those of figure(), and inline, new
        and wait."""
        from . import show

        return show(self._trained(text, off=off, patch=patch, image=image, decoder=decoder, group=group), **places)

    def _trained(self, text: Text, off: Any = None, patch: Optional[Mapping[str, Any]] = None, **inputs: Any) -> TrainedModel:
        self._one(text, "a figure")
        return TrainedModel(self.name, [*_text_flags(text), *_flags(**inputs), *_interventions(off, None, patch)], self)

    # ---- the program

    @staticmethod
    def _one(text: Text, what: str) -> None:
        if _is_batch(text):
            raise ValueError(f"text is a list of {len(text or ())}, but {what} takes one text; call it for each text")

    def _run(self, flags: Flags) -> bytes:
        try:
            return run(flags)
        except OSError as error:
            if error.errno != errno.E2BIG:
                raise
            raise ValueError(f"text has {max(map(len, flags))} characters, more than the system passes to a program; expected fewer") from None

    def _arrays(self, flags: Flags, folder: str) -> Dict[str, NDArray[Any]]:
        out = os.path.join(folder, "out.npz")
        self._run([*flags, "-o", out])
        with numpy.load(out) as found:
            return dict(found)

    def _lens(self, text: Text, at: Optional[int], token: Optional[str], against: Optional[str], off: Any) -> Dict[str, Any]:
        return dict(json.loads(self._run(["lens", self.name, *_text_flags(text), *_flags(at=at, token=token, against=against, off=off)])))

    def _circuits(self, text: Text, flags: Flags, logits: Optional[Sequence[Any]]) -> Tuple[Dict[str, Any], Dict[str, NDArray[Any]]]:
        """The JSON and the arrays of `attnscope circuits`."""
        if logits is not None:
            tokens = [f"#{each}" if _is_number(each) else each for each in logits] if isinstance(logits, (list, tuple)) else []
            if len(tokens) != 2 or not all(isinstance(each, str) for each in tokens):
                raise ValueError(f"logits is {logits!r}; expected two tokens, (' mat', ' dog') or ('#17', '#3')")
            dashed = [each for each in tokens if each.startswith("-")]
            if dashed:
                raise ValueError(f"logits has '{dashed[0]}', which the command line reads as an option; expected its number, as '#17'")
            flags = [*flags, "--logits", *tokens]
        with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
            out = os.path.join(folder, "out.npz")
            answer = json.loads(self._run(["circuits", self.name, *_text_flags(text), *flags, "--json", "-o", out]))
            with numpy.load(out) as found:
                return answer, dict(found)


def _compared(answer: Mapping[str, Any]) -> Dict[str, Any]:
    """The tokens whose logits are compared, and their difference in the unmodified run."""
    difference = answer["difference"]
    return {"a": answer["a"]["token"], "b": answer["b"]["token"], "a_id": answer["a"]["id"], "b_id": answer["b"]["id"], "position": answer["position"],
            "difference": numpy.nan if difference is None else difference}
