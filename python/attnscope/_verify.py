"""Runs a kernel over generated calls until one differs from the reference, and makes that call small."""

import dataclasses
import inspect
import json
import os
import re
import sys
import tempfile
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy
from numpy.typing import NDArray

from ._arrays import Arrays, array, contents
from ._figure import Path, as_options, write
from ._program import Note, run

Size = Dict[str, int]
Reference = Union[Mapping[str, Any], Callable[[Size], Mapping[str, Any]], None]
Backward = Union[None, bool, Callable[..., Any]]

AXES = ("batch", "heads", "kv_heads", "tq", "tk", "d", "d_v")
# One query, odd lengths, shared keys, fewer queries than keys and more, several sequences, narrow and wide heads; around tiles of 16 to 128.
SIZES: Tuple[Tuple[int, ...], ...] = (
    (1, 1, 1, 1, 1, 16), (1, 1, 1, 5, 5, 16), (1, 2, 2, 7, 7, 32), (1, 2, 2, 1, 9, 16), (1, 4, 2, 17, 17, 8), (2, 2, 2, 33, 33, 32),
    (1, 2, 2, 13, 40, 4), (1, 4, 1, 40, 13, 16), (2, 6, 2, 1, 65, 64), (1, 1, 1, 65, 65, 128), (3, 4, 4, 31, 64, 16), (2, 2, 1, 64, 64, 256),
    (1, 2, 2, 129, 129, 64), (1, 8, 2, 127, 255, 32))
MASKS, BIASES = ("mask", "attn_mask"), ("bias", "attn_bias")  # parameters of a kernel that get the array
RESULTS = ("scores", "scaled", "weights", "context", "output", "logsumexp")
SHAPES = {"weights": ("batch", "heads", "tq", "tk"), "scores": ("batch", "heads", "tq", "tk"), "scaled": ("batch", "heads", "tq", "tk"),
          "context": ("batch", "heads", "tq", "d_v"), "logsumexp": ("batch", "heads", "tq"), "dQ": ("batch", "heads", "tq", "d"),
          "dK": ("batch", "kv_heads", "tk", "d"), "dV": ("batch", "kv_heads", "tk", "d_v")}
GRADIENTS = ("dQ", "dK", "dV")
OPERANDS = ("Q", "K", "V", "dO")  # [B, H, T, d]


@dataclasses.dataclass(frozen=True)
class Fault:
    """Why a kernel's result differs.

    code: the fault of docs/diff.md that explains the result, such as "scale"; "unknown" without one, "raised" if the kernel raised an
        exception, "shape" if its result has another shape
    codes: every fault that explains these numbers equally well; the first is `code`
    explained: whether nothing is left beyond the tolerance once the fault is planted in the reference
    text, variant, remedy: the fault in words, which variant of it, and what to do
    size: the smallest failing call
    report: the result of `attnscope diff --json`; {} without a comparison
    error: the exception that the kernel raised"""

    code: str
    codes: Tuple[str, ...]
    explained: bool
    text: str
    variant: str
    remedy: str
    size: Size
    report: Dict[str, Any] = dataclasses.field(repr=False, default_factory=dict)
    error: Optional[BaseException] = dataclasses.field(repr=False, default=None)


@dataclasses.dataclass(frozen=True)
class Verification:
    """The result of verify().

    ok: whether every call agrees with the reference
    calls: the sizes of the calls that ran, in order; the last one failed if `ok` is false
    fault: None if `ok`
    path: the file with the smallest failing call and the kernel's result; None if `ok`
    worst: the largest error of the agreeing calls, in units of its tolerance
    backward: whether dQ, dK and dV were compared too"""

    name: str
    ok: bool
    calls: Tuple[Size, ...]
    fault: Optional[Fault]
    path: Optional[str]
    worst: float
    backward: bool = False

    @property
    def command(self) -> Optional[str]:
        """The command line that repeats the comparison."""
        if self.path is None or self.fault is None:
            return None
        return f"attnscope {'trace' if self.fault.code in ('raised', 'shape') else 'diff'} {self.path}"

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        if self.fault is None:
            passes = ", forward and backward" if self.backward else ""
            return f"verify: {self.name} agrees with the reference in {len(self.calls)} calls{passes}; largest error: {self.worst:.2g} of its tolerance"
        fault = self.fault
        lines = [f"verify: {self.name} differs from the reference in call {len(self.calls)}, {_size_text(self.calls[-1])}",
                 f"fault:    {fault.code}: {fault.text}" + (f" ({fault.variant})" if fault.variant else "")]
        if fault.codes[1:]:
            lines.append(f"or:       {', '.join(fault.codes[1:])}, which give the same numbers")
        if not fault.explained and fault.report:
            lines.append("          a part of the error remains" if fault.code != "unknown" else "          no fault of docs/diff.md explains it")
        if fault.remedy:
            lines.append(f"remedy:   {fault.remedy}")
        lines.append(f"smallest: {_size_text(fault.size)}")
        lines.extend(_worst_text(fault.report))
        return "\n".join([*lines, f"repeat:   {self.command}"])


def _size_text(size: Size) -> str:
    def plural(count: int, noun: str, several: str = "") -> str:
        return f"{count} {noun if count == 1 else several or noun + 's'}"
    heads = plural(size["heads"], "head") + (f" on {size['kv_heads']} of keys" if size["kv_heads"] != size["heads"] else "")
    width = f"d {size['d']}" + (f" and {size['d_v']}" if size["d_v"] != size["d"] else "")
    return f"{plural(size['tq'], 'query', 'queries')}, {plural(size['tk'], 'key')}, {heads}, batch {size['batch']}, {width}"


def _worst_text(report: Dict[str, Any]) -> Iterator[str]:
    for row in report.get("arrays", ()):
        worst = row["errors"]["worst"]
        if row["errors"]["beyond"] and worst:
            at = ", ".join(map(str, worst["index"]))
            yield f"worst:    {row['array']}[{at}] is {worst['actual']}, expected {worst['expected']}"
            return


# ---- calls


def _full(size: Mapping[str, int]) -> Size:
    unknown = [axis for axis in size if axis not in AXES]
    if unknown:
        raise ValueError(f"a size has '{unknown[0]}'; expected {', '.join(AXES)}")
    full = {"batch": 1, "heads": 1, "tq": 16, "d": 16, **size}
    full = {"kv_heads": full["heads"], "tk": full["tq"], "d_v": full["d"], **full}
    if any(not isinstance(each, (int, numpy.integer)) or each < 1 for each in full.values()):
        raise ValueError(f"a size is {dict(size)}; expected whole numbers from 1 on")
    if full["heads"] % full["kv_heads"]:
        raise ValueError(f"a size has {full['heads']} heads on {full['kv_heads']} of keys; expected a divisor")
    return {axis: int(full[axis]) for axis in AXES}


def _sizes(sizes: Union[None, Mapping[str, Any], Sequence[Mapping[str, int]]]) -> List[Size]:
    """The calls to run: those of SIZES, with the axes that a mapping fixes; or a list of calls."""
    if sizes is not None and not isinstance(sizes, Mapping):
        found = [_full(size) for size in sizes]
        if not found:
            raise ValueError("sizes is empty; expected at least one call, such as {'tq': 7, 'heads': 2}")
        return found
    unique: List[Size] = []
    for usual in SIZES:
        size: Dict[str, Any] = dict(zip(AXES, usual))
        for axis, value in (sizes or {}).items():
            size[axis] = size.get(value, value) if isinstance(value, str) else value
        if "heads" in (sizes or {}) and "kv_heads" not in (sizes or {}):
            size["kv_heads"] = size["heads"]
        full = _full(size)
        if full not in unique:
            unique.append(full)
    return unique


def _rounded(values: NDArray[Any], dtype: str) -> NDArray[Any]:
    """float32 numbers that the dtype holds exactly."""
    if dtype == "float16":
        return values.astype(numpy.float16).astype(numpy.float32)
    if dtype == "bfloat16":
        bits = values.astype(numpy.float32).view(numpy.uint32)
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)
    return values.astype(numpy.float32)


class _Kernel:
    """The function, and how it is called."""

    def __init__(self, function: Callable[..., Any], arrays: Optional[str], dtype: str, device: str, layout: str, backward: Backward) -> None:
        if arrays not in (None, "numpy", "torch"):
            raise ValueError(f"arrays is '{arrays}'; expected 'numpy' or 'torch'")
        if layout not in ("heads-first", "tokens-first"):
            raise ValueError(f"layout is '{layout}'; expected 'heads-first', [B, H, T, d], or 'tokens-first', [B, T, H, d]")
        if dtype not in ("float32", "float16", "bfloat16", "float64"):
            raise ValueError(f"dtype is '{dtype}'; expected float32, float16, bfloat16 or float64")
        self.function, self.dtype, self.device, self.layout = function, dtype, device, layout
        self.torch: Any = None
        if arrays == "torch" or (arrays is None and _reads_torch(function)):
            import torch

            self.torch = torch
        elif dtype == "bfloat16":
            raise ValueError("dtype is bfloat16, which NumPy does not have; expected a kernel of torch tensors: arrays='torch'")
        if backward is True and self.torch is None:
            raise ValueError("backward is True, and NumPy has no gradients; expected a function of q, k, v and dO that returns dQ, dK and dV")
        self.backward, self.differentiated = backward, False
        self.name = re.sub(r"\W+", "_", getattr(function, "__name__", type(function).__name__)).strip("_") or "kernel"
        try:
            self.parameters = set(inspect.signature(function).parameters)
        except (TypeError, ValueError):  # of a built-in function
            self.parameters = set()

    def takes(self, names: Sequence[str]) -> Optional[str]:
        return next((name for name in names if name in self.parameters), None)

    def _given(self, values: NDArray[Any]) -> Any:
        if values.dtype != bool:
            values = values.astype("float32" if self.dtype == "bfloat16" else self.dtype)
        if self.torch is None:
            return values
        tensor = self.torch.from_numpy(numpy.ascontiguousarray(values)).to(self.device)
        return tensor if values.dtype == bool else tensor.to(getattr(self.torch, self.dtype))

    def __call__(self, case: "_Case") -> Dict[str, NDArray[Any]]:
        """The kernel's results by their keys, [B, H, T, d]."""
        operands = [case.arrays[name] for name in OPERANDS]
        if self.layout == "tokens-first":
            operands = [each.swapaxes(1, 2) for each in operands]
        q, k, v, upstream = map(self._given, operands)
        automatic = self.torch is not None and (self.backward is None or self.backward is True)
        if automatic:
            q, k, v = (each.requires_grad_(True) for each in (q, k, v))
        beside: Dict[str, Any] = {}
        for names, key in ((MASKS, "mask"), (BIASES, "bias"), (("sinks",), "sinks")):
            parameter = self.takes(names)
            if parameter and key in case.arrays:
                beside[parameter] = self._given(case.arrays[key])
        beside.update(self._flex(case))
        made = self.function(q, k, v, **beside)
        if isinstance(made, (tuple, list)):
            made = made[0]
        results = dict(made) if isinstance(made, Mapping) else {"context": made}
        if callable(self.backward):
            known = inspect.signature(self.backward).parameters
            found = self.backward(q, k, v, upstream, **{name: values for name, values in beside.items() if name in known})
            results.update(found if isinstance(found, Mapping) else dict(zip(GRADIENTS, found)))
        elif automatic:
            results.update(self._gradients(results.get("context"), (q, k, v), upstream))
        self.differentiated = self.differentiated or any(key in results for key in GRADIENTS)
        return {key: self._result(key, values, case.size) for key, values in results.items()}

    def _gradients(self, context: Any, operands: Tuple[Any, ...], upstream: Any) -> Dict[str, Any]:
        """dQ, dK and dV by autograd; {} of a kernel without gradients."""
        if not getattr(context, "requires_grad", False):
            if self.backward is True:
                raise _NoGradient("backward is True, and the kernel's context has no gradient; expected a kernel of torch operations outside no_grad")
            return {}
        if context.shape != upstream.shape:
            return {}  # reported by its shape
        try:
            found = self.torch.autograd.grad(context, operands, upstream.to(context.dtype), allow_unused=True)
        except (NotImplementedError, RuntimeError) as error:
            if self.backward is True or not re.search("not implemented|not supported|NYI", str(error)):
                raise
            return {}
        return {key: of.new_zeros(of.shape) if each is None else each for key, each, of in zip(GRADIENTS, found, operands)}

    def _flex(self, case: "_Case") -> Dict[str, Any]:
        """What FlexAttention takes, if the kernel has such parameters: block_mask of mask_mod, score_mod, enable_gqa, scale."""
        found: Dict[str, Any] = {}
        size = case.size
        if "block_mask" in self.parameters and case.mask_mod is not None:
            from torch.nn.attention.flex_attention import create_block_mask

            found["block_mask"] = create_block_mask(case.mask_mod, size["batch"], size["heads"], size["tq"], size["tk"], device=self.device)
        if "score_mod" in self.parameters and case.score_mod is not None:
            found["score_mod"] = case.score_mod
        if "enable_gqa" in self.parameters and size["heads"] != size["kv_heads"]:
            found["enable_gqa"] = True
        if "scale" in self.parameters and isinstance(case.options.get("scale"), (int, float)):
            found["scale"] = case.options["scale"]
        return found

    def _result(self, key: str, values: Any, size: Size) -> NDArray[Any]:
        found = array(values.detach() if hasattr(values, "detach") else values)
        if key in ("context", "output", *GRADIENTS) and self.layout == "tokens-first" and found.ndim == 4:
            found = found.swapaxes(1, 2)
        return found.astype(numpy.float16) if self.dtype == "float16" and found.dtype.kind == "f" else found


class _NoGradient(ValueError):
    """The requested gradient does not exist."""


def _reads_torch(function: Any) -> bool:
    """Whether the function is torch's, or its code names something of torch."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    is_of_torch = lambda value: str(getattr(value, "__module__", None) or getattr(value, "__name__", "")).split(".")[0] == "torch"
    function = getattr(function, "func", function)  # of functools.partial
    if isinstance(function, torch.nn.Module) or is_of_torch(function) or is_of_torch(inspect.unwrap(function)):
        return True
    function = getattr(function, "__func__", inspect.unwrap(function))
    function = function if hasattr(function, "__code__") else getattr(type(function), "__call__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    names, codes = set(), [code]
    while codes:
        one = codes.pop()
        names.update(one.co_names)
        codes.extend(each for each in one.co_consts if hasattr(each, "co_names"))
    closure = [cell.cell_contents for cell in function.__closure__ or () if cell is not None]
    return any(is_of_torch(each) for each in [*(function.__globals__.get(name) for name in names), *closure] if each is not None)


class _Case:
    """One call: its arrays, [B, H, T, d], and the options of the reference."""

    def __init__(self, size: Size, arrays: Arrays, reference: Reference) -> None:
        self.size, self.arrays, self.reference = size, dict(arrays), reference
        self.options = dict((reference(dict(size)) if callable(reference) else reference) or {})
        self.mask_mod, self.score_mod = self.options.pop("mask_mod", None), self.options.pop("score_mod", None)
        if self.options.get("causal") is True and size["tq"] != size["tk"]:
            raise ValueError("causal is True, and a call has Tq ≠ Tk; expected 'top-left', PyTorch's is_causal, or 'bottom-right', decoding")
        for name in ("mask", "bias", "sinks"):
            if self.options.get(name) is not None and not isinstance(self.options[name], bool):
                self.arrays[name] = array(self.options.pop(name))
        if self.mask_mod is not None:
            self.arrays["mask"] = _evaluated(self.mask_mod, size)
        if self.score_mod is not None:
            self.arrays["bias"] = _bias_of(self.score_mod, size)

    def smaller(self, size: Size) -> "_Case":
        """The same numbers for fewer tokens, heads, sequences or columns."""
        lengths = {"Q": ("batch", "heads", "tq", "d"), "K": ("batch", "kv_heads", "tk", "d"), "V": ("batch", "kv_heads", "tk", "d_v"),
                   "dO": ("batch", "heads", "tq", "d_v"), "mask": ("batch", "heads", "tq", "tk"), "bias": ("batch", "heads", "tq", "tk"), "sinks": ("heads",)}
        cut = {name: values[tuple(slice(min(size[axis], length)) for axis, length in zip(lengths[name][-values.ndim:], values.shape))]
               for name, values in self.arrays.items()}
        return _Case(size, cut, self.reference)

    def contents(self) -> Arrays:
        """The arrays of a file that `attnscope diff` reads; dO is that of gradients alone."""
        beside = {name: values for name, values in self.arrays.items() if name not in OPERANDS}
        return contents(*(self.arrays[name] for name in "QKV"), **beside, **self.options)


def _indices(size: Size) -> List[Any]:
    """b, h, i and j that broadcast to [B, H, Tq, Tk]; torch's if it is loaded, since functions of FlexAttention take tensors."""
    torch = sys.modules.get("torch")
    found = []
    for axis, name in enumerate(("batch", "heads", "tq", "tk")):
        shape = [1] * 4
        shape[axis] = size[name]
        places = numpy.arange(size[name]).reshape(shape)
        found.append(places if torch is None else torch.from_numpy(places))
    return found


def _evaluated(mask_mod: Callable[..., Any], size: Size) -> NDArray[Any]:
    shape = tuple(size[name] for name in ("batch", "heads", "tq", "tk"))
    return numpy.array(numpy.broadcast_to(array(mask_mod(*_indices(size))), shape), bool)


def _bias_of(score_mod: Callable[..., Any], size: Size) -> NDArray[Any]:
    """What score_mod adds to a score. Raises ValueError if it does more."""
    torch = sys.modules.get("torch")
    shape = tuple(size[name] for name in ("batch", "heads", "tq", "tk"))
    of = []
    for score in (0.0, 1.0, -3.0):
        scores = numpy.full(shape, score)
        made = array(score_mod(scores if torch is None else torch.from_numpy(scores), *_indices(size)))
        of.append(numpy.broadcast_to(made, shape) - score)
    with numpy.errstate(invalid="ignore"):
        alike = all(numpy.allclose(each, of[0], rtol=1e-6, atol=1e-6) for each in of[1:])
    if not alike:
        raise ValueError("score_mod does more than add a number to a score; expected options in its place, such as softcap=30.0")
    return of[0].astype(numpy.float32)


def _case(size: Size, number: int, kernel: _Kernel, reference: Reference, seed: int) -> _Case:
    random = numpy.random.default_rng([seed, number])

    def normal(*axes: str) -> NDArray[Any]:
        return _rounded(random.standard_normal([size[axis] for axis in axes]), kernel.dtype)

    arrays = {"Q": normal("batch", "heads", "tq", "d"), "K": normal("batch", "kv_heads", "tk", "d"), "V": normal("batch", "kv_heads", "tk", "d_v")}
    if kernel.takes(MASKS) and number % 2:
        mask = random.random((size["batch"], 1, size["tq"], size["tk"])) < 0.6
        mask[:, :, :, 0] = True
        if size["tq"] > 2:
            mask[:, :, -1] = False  # a row without keys
        arrays["mask"] = mask
    if kernel.takes(BIASES):
        arrays["bias"] = normal("batch", "heads", "tq", "tk")
    if "sinks" in kernel.parameters:
        arrays["sinks"] = normal("heads")
    arrays["dO"] = normal("batch", "heads", "tq", "d_v")
    return _Case(size, arrays, reference)


# ---- judging


@dataclasses.dataclass(frozen=True)
class _Judgement:
    failed: bool
    codes: Tuple[str, ...] = ()
    report: Dict[str, Any] = dataclasses.field(default_factory=dict)
    results: Dict[str, NDArray[Any]] = dataclasses.field(default_factory=dict)
    text: str = ""
    error: Optional[BaseException] = None
    worst: float = 0.0

    def explains_no_less_than(self, other: "_Judgement") -> bool:
        """Whether a smaller call shows the same fault, as clearly."""
        return self.failed and self.codes[0] in other.codes and len(self.codes) <= len(other.codes) and type(self.error) is type(other.error)


class _Judge:
    def __init__(self, kernel: _Kernel, folder: str, tolerance: Optional[float], rtol: Optional[float]) -> None:
        self.kernel, self.folder, self.asked = kernel, folder, as_options(tolerance=tolerance, rtol=rtol)

    def file(self, case: _Case, results: Mapping[str, NDArray[Any]]) -> Arrays:
        """Inputs, options and results in one file; bfloat16 as its bits."""
        arrays = case.contents()
        for key, values in results.items():
            arrays[key] = values
        if any(key in results for key in GRADIENTS):
            arrays["dO"] = case.arrays["dO"]
        if self.kernel.dtype == "bfloat16":
            options = json.loads(str(arrays["options"])) if "options" in arrays else {}
            options["dtype"] = ",".join(f"{key}=bf16" for key in results)
            arrays["options"] = numpy.array(json.dumps(options))
            for key in results:
                arrays[key] = (_rounded(arrays[key], "bfloat16").view(numpy.uint32) >> 16).astype(numpy.uint16)
        return arrays

    def __call__(self, case: _Case) -> _Judgement:
        try:
            results = self.kernel(case)
        except _NoGradient:
            raise
        except Exception as error:  # whatever a kernel raises is its fault
            return _Judgement(True, ("raised",), text=f"{type(error).__name__}: {error}", error=error)
        for key, values in results.items():
            shape = tuple(case.size[axis] for axis in SHAPES[key]) if key in SHAPES else values.shape
            if values.shape != shape:
                return _Judgement(True, ("shape",), text=f"{key} has the shape {list(values.shape)}; expected {list(shape)}")
        path = write(self.folder, self.file(case, results), "call.npz")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Note)
            report = json.loads(run(["diff", path, "--json", *self.asked], also=(1,)))
        if report["equal"]:
            return _Judgement(False, worst=max((_share(row) for row in report["arrays"]), default=0.0))
        found = report["examined"][0] if report["examined"] else {}
        named = tuple((found.get("diagnosis") or {}).get("named", ()))
        return _Judgement(True, named or ("unknown",), report, results)


def _share(row: Mapping[str, Any]) -> float:
    """The largest error of an array in units of its tolerance."""
    error, tolerance = row["errors"]["max"], row["tolerance"]["absolute"]
    return float(error) / float(tolerance) if isinstance(tolerance, (int, float)) and tolerance > 0 else 0.0


def _smaller_sizes(size: Size) -> Iterator[Size]:
    """Sizes with less of one axis, the largest step first: queries, keys, heads, sequences, columns."""
    group = size["heads"] // size["kv_heads"]

    def with_axes(**axes: int) -> Size:
        return {**size, **axes}

    def steps(value: int, least: int = 1, step: int = 1) -> List[int]:
        return sorted({least, value // 2 // step * step, value - step} - {value} - set(range(least)))

    if size["tq"] == size["tk"]:
        for value in steps(size["tq"]):
            yield with_axes(tq=value, tk=value)
    for axis in ("tq", "tk"):
        for value in steps(size[axis]):
            yield with_axes(**{axis: value})
    for value in steps(group):
        yield with_axes(heads=value * size["kv_heads"])
    for value in steps(size["kv_heads"]):
        yield with_axes(heads=value * group, kv_heads=value)
    for value in steps(size["batch"]):
        yield with_axes(batch=value)
    if size["d"] == size["d_v"]:
        for value in steps(size["d"], 2, 2):
            yield with_axes(d=value, d_v=value)


def _clearest(case: _Case, found: _Judgement, judge: _Judge, sizes: Sequence[Size], number: int, seed: int) -> Tuple[_Case, _Judgement]:
    """Of several faults that give the same numbers, a later call may show which it is."""
    for size in sizes:
        if len(found.codes) < 2:
            break
        later = _case(size, number, judge.kernel, case.reference, seed)
        judged = judge(later)
        number += 1
        if judged.failed and len(judged.codes) < len(found.codes) and set(judged.codes) <= set(found.codes):
            case, found = later, judged
    return case, found


def _shrunk(case: _Case, found: _Judgement, judge: _Judge) -> Tuple[_Case, _Judgement]:
    """The smallest call that shows the same fault, and its judgement."""
    tried = {tuple(case.size.values())}
    going = True
    while going:
        going = False
        for size in _smaller_sizes(case.size):
            if tuple(size.values()) in tried:
                continue
            tried.add(tuple(size.values()))
            try:
                smaller = case.smaller(size)
                judged = judge(smaller)
            except ValueError:  # no call of these options, such as RoPE's columns beyond the width
                continue
            if judged.explains_no_less_than(found):
                case, found, going = smaller, judged, True
                break
    return case, found


def _fault(case: _Case, found: _Judgement) -> Fault:
    diagnosis = ((found.report.get("examined") or [{}])[0].get("diagnosis")) or {}
    row = next((each for each in diagnosis.get("hypotheses", ()) if each["key"] == found.codes[0]), {})
    text = row.get("words") or found.text or "the result differs"
    return Fault(found.codes[0], found.codes, bool(diagnosis.get("explained")), text, row.get("variant", ""), row.get("remedy", ""), case.size,
                 found.report, found.error)


def verify(kernel: Callable[..., Any], reference_call: Reference, *, sizes: Union[None, Mapping[str, Any], Sequence[Mapping[str, int]]],
           seed: int, arrays: Optional[str], dtype: str, device: str, layout: str, tolerance: Optional[float], rtol: Optional[float],
           path: Optional[Path], raises: bool, backward: Backward) -> Verification:
    """See attnscope.verify()."""
    called = _Kernel(kernel, arrays, dtype, device, layout, backward)
    ran: List[Size] = []
    worst = 0.0
    with tempfile.TemporaryDirectory(prefix="attnscope-") as folder:
        judge = _Judge(called, folder, tolerance, rtol)
        for number, size in enumerate(_sizes(sizes)):
            case = _case(size, number, called, reference_call, seed)
            ran.append(size)
            found = judge(case)
            if not found.failed:
                worst = max(worst, found.worst)
                continue
            case, found = _clearest(case, found, judge, _sizes(sizes)[number + 1:], number + 1, seed)
            case, found = _shrunk(case, found, judge)
            file = os.fspath(path) if path is not None else f"attnscope-{called.name}.npz"
            with open(file, "wb") as out:
                numpy.savez(out, **judge.file(case, found.results))
            result = Verification(called.name, False, tuple(ran), _fault(case, found), file, worst, called.differentiated)
            if raises:
                raise AssertionError(repr(result)) from found.error
            return result
    return Verification(called.name, True, tuple(ran), None, None, worst, called.differentiated)
