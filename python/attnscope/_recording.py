"""Writes attention calls to .npz files as they come: one call in memory at a time, each call whole or not at all.

A file has one set of sizes, one mask and one bias, and per layer l<N>.Q, l<N>.K, l<N>.V and options. So calls of other sizes or other
steps go to other files. Masks that are causal, windows or padding become options and a mask of the keys alone, so that layers which
differ in them share a file.
"""

import collections
import hashlib
import json
import os
import pathlib
import re
import tempfile
import uuid
import warnings
import zipfile
from typing import Any, Dict, IO, List, NamedTuple, Optional, Sequence, Tuple

import numpy
from numpy.typing import NDArray

from ._arrays import Arrays, _text
from ._program import Note

Options = Dict[str, Any]
Bools = NDArray[numpy.bool_]
ROWS = 256  # of a mask that are compared at once
OPEN = 16  # files at once: a generation has one for each step


class Sizes(NamedTuple):
    batch: int
    heads: int
    tq: int
    d: int
    kv_heads: int
    tk: int
    d_v: int


class Pairs(NamedTuple):
    """The allowed pairs of a call and the numbers added to their scores: options of the program, and arrays that broadcast to [B, H, Tq, Tk]."""
    options: Options
    mask: Optional[Bools] = None
    bias: Optional[NDArray[Any]] = None


# ---- masks


def _narrow(values: NDArray[Any]) -> NDArray[Any]:
    """[B, H, Tq, Tk] with 1 in place of B or H if all sequences or heads have the same numbers."""
    for axis in (0, 1):
        first = values.take([0], axis)
        if all(numpy.array_equal(values.take([n], axis), first, equal_nan=values.dtype.kind == "f") for n in range(1, values.shape[axis])):
            values = first
    return values


def _rows_allowed(options: Options, rows: NDArray[Any], tq: int, tk: int) -> Bools:
    """Which keys the options allow for these queries, [rows, tk]."""
    offset = tk - tq if options.get("causal") == "bottom-right" else 0
    ahead = numpy.arange(tk)[None, :] - (rows + offset)[:, None]
    allowed = numpy.ones(ahead.shape, bool)
    if options.get("causal"):
        allowed &= ahead <= 0
    if "window-left" in options:
        allowed &= -ahead <= options["window-left"]
    if "window-right" in options:
        allowed &= ahead <= options["window-right"]
    return allowed


def allowed_of(pairs: Pairs, tq: int, tk: int) -> Bools:
    """Every pair that the options and the mask allow, [B|1, H|1, Tq, Tk]."""
    keep = _rows_allowed(pairs.options, numpy.arange(tq), tq, tk)[None, None]
    return keep if pairs.mask is None else keep & pairs.mask


def _is_product(keep: Bools, options: Options, keys: Bools) -> bool:
    """Whether the mask allows the same pairs as the options and the keys together."""
    tq, tk = keep.shape[-2:]
    return all(numpy.array_equal(keep[:, :, start:start + ROWS],
                                 numpy.broadcast_to(_rows_allowed(options, numpy.arange(start, min(start + ROWS, tq)), tq, tk) & keys,
                                                    keep[:, :, start:start + ROWS].shape))
               for start in range(0, tq, ROWS))


def split_mask(keep: Bools) -> Pairs:
    """The mask as options (causal, window) and a mask of keys [B|1, 1, 1, Tk]; unchanged if it is neither. keep: [B, H, Tq, Tk]."""
    keep = _narrow(keep)
    tq, tk = keep.shape[-2:]
    keys = keep.any((1, 2), keepdims=True)
    some = keep.any(-1)
    first, last = keep.argmax(-1), tk - 1 - keep[..., ::-1].argmax(-1)
    candidates: List[Options] = [{}]
    for causal in ("top-left", "bottom-right") if tq != tk else ("top-left",):
        place = numpy.arange(tq) + (tk - tq if causal == "bottom-right" else 0)
        left = int((place - first)[some].max()) if some.any() else 0
        candidates += [{"causal": causal}, *([{"causal": causal, "window-left": left}] if left >= 0 else [])]
    place = numpy.arange(tq)
    if some.any():
        left, right = max(0, int((place - first)[some].max())), max(0, int((last - place)[some].max()))
        candidates += [{"window-left": left}, {"window-right": right}, {"window-left": left, "window-right": right}]
    for options in candidates:
        if _is_product(keep, options, numpy.ones((1, 1, 1, tk), bool)):
            return Pairs(options)
    if not keys.all():
        for options in candidates:
            if _is_product(keep, options, keys):
                return Pairs(options, keys)
    return Pairs({}, keep)


def split_additive(values: NDArray[Any]) -> Pairs:
    """A mask that is added to the scores: a mask if it is only 0 and a number that leaves no weight, otherwise a bias."""
    zero = values == 0
    forbids = values < -1e4
    # A finite number at every key of a row forbids nothing: the row is the average of V.
    if (zero | forbids).all() and (zero.any(-1) | numpy.isneginf(values).all(-1)).all():
        return split_mask(zero)
    return Pairs({}, None, _narrow(values))


def joined_pairs(steps: Sequence[Tuple[Pairs, int, int]]) -> Pairs:
    """The pairs of all steps as one call. steps: the pairs, Tq and Tk of each, in order."""
    tk = steps[-1][2]
    parts = []
    for pairs, tq, keys in steps:
        keep = allowed_of(pairs, tq, keys)
        parts.append(numpy.pad(keep, ((0, 0), (0, 0), (0, 0), (0, tk - keys))))
    batch, heads = (max(part.shape[axis] for part in parts) for axis in (0, 1))
    return split_mask(numpy.concatenate([numpy.broadcast_to(part, (batch, heads, *part.shape[2:])) for part in parts], 2))


# ---- files


def exact(values: Any, dtype: Optional[str] = None) -> NDArray[Any]:
    """The same numbers in a dtype that .npz has: bfloat16 and 8-bit floats become float32. dtype "float16" rounds."""
    if hasattr(values, "detach"):
        values = values.detach()
        if values.is_floating_point() and str(values.dtype) not in ("torch.float16", "torch.float32", "torch.float64"):
            values = values.float()  # before the copy from another device, which may be asynchronous
        values = values.cpu().numpy()
    found = numpy.asarray(values)
    if dtype is None or found.dtype == numpy.float16:
        return found
    with numpy.errstate(over="ignore"):
        rounded = found.astype(dtype)
    if numpy.isinf(rounded).any() and not numpy.isinf(found).any():
        raise ValueError(f"dtype is {dtype}, but a number is {abs(found).max():.4g}; expected at most 65504: leave dtype out")
    return rounded


def _digest(values: Optional[NDArray[Any]]) -> str:
    if values is None:
        return ""
    made = hashlib.sha1(str((values.shape, values.dtype)).encode())
    for part in values.reshape(-1, values.shape[-1]):
        made.update(numpy.ascontiguousarray(part).data)
    return made.hexdigest()


class _File:
    """One .npz that grows by a layer at a time, under a temporary name."""

    def __init__(self, folder: pathlib.Path, step: Optional[int], sizes: Sizes, pairs: Pairs) -> None:
        self.step, self.sizes = step, sizes
        self.part = folder / f".attnscope-{uuid.uuid4().hex}.part"
        self.open("x+b", "w")
        self.options: Dict[int, Options] = {}
        if pairs.mask is not None:
            self.write("mask", pairs.mask)
        if pairs.bias is not None:
            self.write("bias", pairs.bias)

    def open(self, mode: str = "r+b", zip_mode: Any = "a") -> None:
        self.stream: IO[Any] = open(self.part, mode)
        self.zip = zipfile.ZipFile(self.stream, zip_mode, zipfile.ZIP_STORED)

    def write(self, name: str, values: NDArray[Any]) -> None:
        with self.zip.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
            numpy.lib.format.write_array(entry, values, allow_pickle=False)

    def add(self, layer: int, parts: Dict[str, NDArray[Any]], options: Options) -> None:
        """Writes a call; after an exception the file has none of its arrays."""
        before, start = len(self.zip.filelist), self.zip.start_dir
        try:
            for role, values in parts.items():
                self.write(f"l{layer}.{role}", values)
        except BaseException:
            for entry in self.zip.filelist[before:]:
                self.zip.NameToInfo.pop(entry.filename, None)
            del self.zip.filelist[before:]
            self.zip.start_dir, self.zip._didModify = start, True  # so that it writes its directory there
            self.stream.truncate(start)
            raise
        self.options[layer] = options

    def finish(self, texts: Dict[str, Sequence[str]], picture: Arrays) -> None:
        for name, values in picture.items():
            self.write(name, values)
        for name, labels in texts.items():
            self.write(name, numpy.array(json.dumps(list(labels))))
        options = list(self.options.values())
        if all(each == options[0] for each in options):
            if options[0]:
                self.write("options", numpy.array(json.dumps(options[0])))
        else:
            for layer, own in self.options.items():
                self.write(f"l{layer}.options", numpy.array(json.dumps(own)))
        self.close()

    def close(self) -> None:
        self.zip.close()
        self.stream.close()

    def remove(self) -> None:
        self.zip.fp = None  # so that it writes no directory
        self.stream.close()
        self.part.unlink(missing_ok=True)


class _Joined:
    """One layer over several steps: queries in a temporary file, keys and values of the newest step."""

    def __init__(self) -> None:
        self.queries: IO[bytes] = tempfile.TemporaryFile()
        self.steps: List[Tuple[Pairs, int, int]] = []
        self.options: Options = {}
        self.k: Any = None
        self.v: Any = None


def _begins_with(values: Any, before: Any) -> bool:
    values = values[..., :before.shape[-2], :]
    if values.shape != before.shape:
        return False
    return bool((values == before).all()) if values is not before else True


class Writer:
    """The files of one recording. layers whose steps are joined are written at the end, others at once."""

    def __init__(self, out: str, join: bool, dtype: Optional[str], overwrite: bool) -> None:
        self.out, self.join, self.dtype = pathlib.Path(out), join, dtype
        if dtype not in (None, "float16", "float32"):
            raise ValueError(f"dtype is {dtype!r}; expected 'float16', 'float32', or None for the exact numbers")
        if self.out.suffix != ".npz":
            raise ValueError(f"out is '{out}'; expected a name that ends in .npz")
        if not self.out.parent.is_dir():
            raise ValueError(f"out is '{out}', and there is no folder '{self.out.parent}'; expected one that exists")
        mine = re.compile(re.escape(self.out.stem) + r"(-step\d+)?(-\d+)?\.npz")
        there = sorted(path for path in self.out.parent.iterdir() if mine.fullmatch(path.name))
        if there and not overwrite:
            raise ValueError(f"'{there[0]}' exists, and this recording may write it; expected another out, or overwrite=True")
        self.files: Dict[Tuple[Any, ...], _File] = {}
        self.joined: Dict[int, _Joined] = {}
        self.used: List[_File] = []
        self.digested: Tuple[Any, str] = (None, "")

    def add(self, layer: int, step: int, q: Any, k: Any, v: Any, pairs: Pairs, options: Options) -> None:
        """One call: q, k, v [B, H, T, d] of NumPy or PyTorch."""
        if self.join:
            self._join(layer, step, q, k, v, pairs, options)
        else:
            self._write(layer, step, q, k, v, pairs, options)

    def _write(self, layer: int, step: Optional[int], q: Any, k: Any, v: Any, pairs: Pairs, options: Options) -> None:
        sizes = Sizes(*q.shape, *k.shape[1:3], v.shape[3])
        if self.digested[0] is not pairs:
            self.digested = (pairs, _digest(pairs.mask) + "." + _digest(pairs.bias))
        key = (step, sizes, self.digested[1])
        file = self.files.get(key)
        if file is not None and layer in file.options:
            raise RuntimeError(f"layer {layer} of step {step} was recorded twice")
        if file is None:
            file = self.files[key] = _File(self.out.parent, step, sizes, pairs)
        self._use(file)
        file.add(layer, {role: exact(part, self.dtype) for role, part in zip("QKV", (q, k, v))}, {**options, **pairs.options})

    def _use(self, file: _File) -> None:
        """Opens the file, and closes the least recently used one of too many."""
        if file in self.used:
            self.used.remove(file)
        elif file.stream.closed:
            file.open()
        self.used.append(file)
        if len(self.used) > OPEN:
            self.used.pop(0).close()

    def _join(self, layer: int, step: int, q: Any, k: Any, v: Any, pairs: Pairs, options: Options) -> None:
        if pairs.bias is not None:
            raise ValueError(f"layer {layer} adds a bias to the scores, and join=True joins masks alone; expected join=False")
        joined = self.joined.get(layer)
        if joined is None:
            joined = self.joined[layer] = _Joined()
        tq, tk = q.shape[2], k.shape[2]
        if joined.k is not None:
            before = joined.k.shape[2]
            if tk not in (before, before + tq):
                raise ValueError(f"step {step} of layer {layer} has {tk} keys after {before}; expected {before + tq}, those and one for each "
                                 "query, to join the steps. A static or sliding cache has others: pass join=False")
            if not (_begins_with(k, joined.k) and _begins_with(v, joined.v)) or options != joined.options:
                raise ValueError(f"step {step} of layer {layer} changes keys, values or options of earlier steps; expected a cache that only "
                                 "grows, to join the steps (not another text, a beam search or a sliding cache): pass join=False")
        joined.k, joined.v, joined.options = k, v, options
        numpy.save(joined.queries, exact(q, self.dtype), allow_pickle=False)
        joined.steps.append((pairs, tq, tk))

    def _write_joined(self) -> None:
        made: Dict[Tuple[Any, ...], Pairs] = {}
        for layer, joined in self.joined.items():
            joined.queries.seek(0)
            q = numpy.concatenate([numpy.load(joined.queries) for _ in joined.steps], 2)
            joined.queries.close()
            key = tuple((id(pairs), tq, tk) for pairs, tq, tk in joined.steps)
            if key not in made:
                made[key] = joined_pairs(joined.steps)
            self._write(layer, None, q, joined.k, joined.v, made[key], joined.options)
            joined.k = joined.v = None

    def finish(self, tokens: Optional[Sequence[Any]], tokens_kv: Optional[Sequence[Any]], picture: Optional[Arrays] = None) -> List[str]:
        """Writes the rest and gives the files their names. Returns the paths, in order of the steps."""
        self._write_joined()
        files = sorted((file for file in self.files.values() if file.options), key=lambda file: file.step or 0)  # stable
        for file in self.files.values():
            if not file.options:  # its first call failed
                file.remove()
        of_step = collections.Counter(file.step for file in files)
        texts = _texts_of(files, tokens, tokens_kv)
        pictures = _pictures_of(files, picture or {})
        seen: Dict[Optional[int], int] = collections.Counter()
        paths = []
        for file, labels, shown in zip(files, texts, pictures):
            seen[file.step] += 1
            name = self.out.stem + (f"-step{file.step}" if len(of_step) > 1 else "")
            name += f"-{seen[file.step]}" if of_step[file.step] > 1 else ""
            self._use(file)
            file.finish(labels, shown)
            self.used.remove(file)
            path = self.out.with_name(name + ".npz")
            os.replace(file.part, path)
            paths.append(os.fspath(path))
        self.files.clear()
        return paths

    def remove(self) -> None:
        for file in self.files.values():
            file.remove()
        for joined in self.joined.values():
            joined.queries.close()
        self.files.clear()
        self.joined.clear()


def _pictures_of(files: Sequence[_File], picture: Arrays) -> List[Arrays]:
    """The picture of each file, where its keys have the patches: those of image_tokens; in a file of the image alone, as of a vision tower, all
    keys, or all after one class token."""
    if not picture:
        return [{} for _ in files]
    tokens, grid = picture.get("image_tokens"), picture.get("image_grid")
    count = int(tokens[1]) if tokens is not None else int(numpy.prod(grid)) if grid is not None else 0
    found: List[Arrays] = []
    for tk in (file.sizes.tk for file in files):
        if tk - count in (0, 1):
            found.append({**picture, "image_tokens": numpy.array([tk - count, count])})
        elif tokens is not None and int(tokens.sum()) <= tk:
            found.append(dict(picture))
        else:
            found.append({})
    if not any(found):
        keys = ", ".join(sorted({str(file.sizes.tk) for file in files}))
        warnings.warn(f"the image has {count} patches, and no call has these keys; the calls have {keys} keys. The files have no image", Note, stacklevel=5)
    return found


def _texts_of(files: Sequence[_File], tokens: Optional[Sequence[Any]], tokens_kv: Optional[Sequence[Any]]) -> List[Dict[str, List[str]]]:
    """The words of the queries and keys of each file, where the counts fit. The words of a generation are those of its last step, and may
    have one more, the token that this step gave."""
    texts = {name: [_text(word) for word in given] for name, given in (("tokens", tokens), ("tokens_kv", tokens_kv)) if given is not None}
    longest = max((file.sizes.tk for file in files), default=0)
    grows = all(file.sizes.tq < file.sizes.tk for file in files if file.step)
    found = []
    for tq, tk in ((file.sizes.tq, file.sizes.tk) for file in files):
        labels: Dict[str, List[str]] = {}
        if len(texts) == 2 and (len(texts["tokens"]), len(texts["tokens_kv"])) == (tq, tk):
            labels = texts
        else:
            for each in texts.values():
                fits = len(each) == tk or (grows and len(each) in (longest, longest + 1))
                if not labels and fits and tq <= tk:
                    labels = {"tokens": each[tk - tq:tk], **({"tokens_kv": each[:tk]} if tq < tk else {})}
        found.append(labels)
    if texts and not any(found):
        counts = " and ".join(f"{name} has {len(each)}" for name, each in texts.items())
        shapes = ", ".join(sorted({f"{file.sizes.tq} × {file.sizes.tk}" for file in files}))
        warnings.warn(f"{counts}, and no call has as many queries or keys: {shapes}. The files have no words", Note, stacklevel=5)
    return found
