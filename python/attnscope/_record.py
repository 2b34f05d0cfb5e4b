"""Records what scaled_dot_product_attention, flex_attention and torch.nn.MultiheadAttention receive while a model runs.

A torch function mode passes each call on and then writes its operands. Module hooks name the module that calls. torch.compile is
replaced by eager execution in the meantime, because compiled code bypasses both.
"""

import collections
import contextlib
import fnmatch
import inspect
import itertools
import math
import threading
import types
import warnings
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy
import torch
from numpy.typing import NDArray
from torch.overrides import TorchFunctionMode

from ._arrays import array, image_arrays
from ._program import Note
from ._recording import Options, Pairs, Writer, allowed_of, split_additive, split_mask

LOOKED_FOR = "torch.nn.functional.scaled_dot_product_attention, torch.nn.MultiheadAttention or flex_attention"
FUSED = ("sdpa", "flex_attention")  # of attn_implementation, those that reach the functions above
Selection = Union[None, int, str, Sequence[Union[int, str]]]


class _Site:
    """A place of the model that computes attention: a module, and which of its calls in one forward pass."""

    def __init__(self, layer: int, name: str) -> None:
        self.layer, self.name = layer, name
        self.step, self.run = -1, -1

    def __str__(self) -> str:
        return f"layer {self.layer}" + (f" ({self.name})" if self.name else "")


class _Mode(TorchFunctionMode):
    def __init__(self, recording: "Recording") -> None:
        super().__init__()
        self.recording = recording

    def __torch_function__(self, func: Any, types: Any, args: Tuple[Any, ...] = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").split(".")[0]  # of torch.export: scaled_dot_product_attention.default
        if func is torch.nn.functional.multi_head_attention_forward:
            return _multi_head(self.recording, func, args, kwargs)
        out = func(*args, **kwargs)
        if name == "scaled_dot_product_attention":
            self.recording._take(*args, **kwargs)
        elif name == "flex_attention":
            self.recording._take_flex(*args, **kwargs)
        elif name == "softmax" and (self.recording._running or self.recording._model is None):
            self.recording._softmax = True
        return out


def _multi_head(recording: "Recording", func: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Any:
    """torch.nn.MultiheadAttention's function, with a scaled_dot_product_attention that records."""
    def recorded(*operands: Any, **more: Any) -> Any:
        out = torch.nn.functional.scaled_dot_product_attention(*operands, **more)
        recording._take(*operands, **more)
        return out

    same = types.FunctionType(func.__code__, {**func.__globals__, "scaled_dot_product_attention": recorded}, func.__name__, func.__defaults__)
    given = inspect.signature(func).bind(*args, **kwargs)
    given.apply_defaults()
    if not given.arguments["need_weights"]:
        return same(*args, **kwargs)
    if given.arguments["training"] and given.arguments["dropout_p"]:
        recording._note_dropout(given.arguments["dropout_p"])
    # With weights it multiplies without scaled_dot_product_attention. Without dropout the extra call draws no random number.
    given.arguments.update(need_weights=False, training=False)
    with torch.no_grad():
        same(*given.args, **given.kwargs)
    return func(*args, **kwargs)


def _in_backward() -> bool:
    """Whether this is a recomputation for gradients (activation checkpointing)."""
    task = getattr(torch._C, "_current_graph_task_id", None)
    return task is not None and task() != -1


def _of_pairs(function: Any, batch: int, heads: int, q: Any, k: Any) -> NDArray[Any]:
    """A mask_mod of FlexAttention for every pair, [batch, heads, Tq, Tk]."""
    for axis in (3, 2, 1, 0):
        function = torch.vmap(function, tuple(0 if n == axis else None for n in range(4)))
    made = function(*(torch.arange(count, device=q.device) for count in (batch, heads, q.shape[2], k.shape[2])))
    return array(made)


def _added(site: "_Site", score_mod: Any, q: Any, k: Any) -> Optional[NDArray[Any]]:
    """The numbers that a score_mod adds to the scores, [B, H, Tq, Tk]; None: only zeros. It is evaluated a head at a time."""
    found = []
    for b, h in itertools.product(range(q.shape[0]), range(q.shape[1])):
        of_score = []
        for score in (0.0, 1.0, -30.0):
            given = torch.tensor(score, dtype=torch.float64, device=q.device)
            made = _of_pairs(lambda _b, _h, i, j: score_mod(given, _b + b, _h + h, i, j) + 0 * (i + j), 1, 1, q, k)
            of_score.append(made[0, 0].astype(numpy.float64) - score)
        if not all(numpy.allclose(each, of_score[0], rtol=1e-5, atol=1e-5) for each in of_score[1:]):
            raise ValueError(f"{site}: its score_mod does more than add a number to a score, such as a soft cap; expected one that adds. Call "
                             "attnscope.save(path, q, k, v, softcap=30.0) with the operands")
        found.append(of_score[0].astype(numpy.float32))
    made = numpy.stack(found).reshape(*q.shape[:2], q.shape[2], k.shape[2])
    return made if made.any() else None


def _unrepeated(q: Any, k: Any, v: Any) -> Tuple[Any, Any]:
    """k and v with the fewest heads that, each repeated, are the given ones. Models repeat heads for some calls and pass enable_gqa in others."""
    heads = k.shape[1]
    if heads != q.shape[1] or 0 in k.shape or 0 in v.shape:
        return k, v
    for count in (n for n in range(1, heads) if heads % n == 0):
        parts = [each.unflatten(1, (count, heads // count)) for each in (k, v)]
        # The last token alone shows almost always that the heads differ.
        if all(bool((part[..., rows, :] == part[:, :, :1, rows]).all()) for rows in (slice(-1, None), slice(None)) for part in parts):
            k, v = (part[:, :, 0].contiguous() for part in parts)
            break
    return k, v


def _is_compiled(module: Any) -> bool:
    return hasattr(module, "_orig_mod") or getattr(module, "_compiled_call_impl", None) is not None


def _chosen(given: Any, name: str, texts: bool) -> Optional[List[Any]]:
    """The selection as a list; None: everything."""
    if given is None:
        return None
    chosen = [given] if isinstance(given, (int, str)) else list(given)
    for each in chosen:
        is_number = isinstance(each, (int, numpy.integer)) and not isinstance(each, bool) and each >= 0
        if not is_number and not (texts and isinstance(each, str)):
            names = ", or names of modules such as '*.cross_attn'" if texts else ""
            raise ValueError(f"{name} has {each!r}; expected whole numbers from 0 on{names}")
    if not chosen:
        raise ValueError(f"{name} is empty; expected at least one number, or None for all")
    return chosen


class Recording:
    """The context manager of attnscope.record().

    paths: the files, in order of the steps; empty inside the with block
    layers: the name of each recorded layer's module, {0: "model.layers.0.self_attn"}
    steps: the recorded steps
    calls: how many calls were written
    tokens, tokens_kv: the words of the files; they can be set inside the with block, for text that the model generates"""

    def __init__(self, model: Any, out: str, layers: Selection, steps: Any, heads: Optional[Sequence[int]], dtype: Optional[str], join: bool,
                 tokens: Optional[Sequence[Any]], tokens_kv: Optional[Sequence[Any]], overwrite: bool, image: Any = None,
                 image_tokens: Any = None, grid: Any = None) -> None:
        if model is not None and not isinstance(model, torch.nn.Module):
            raise ValueError(f"model is a {type(model).__name__}; expected a torch.nn.Module, or None for every call of the with block")
        self._model, self._join = model, join
        self._layers, self._steps, self._heads = _chosen(layers, "layers", True), _chosen(steps, "steps", False), _chosen(heads, "heads", False)
        if model is None and self._steps is not None:
            raise ValueError("steps is given without a model; expected layers alone: each call is a layer")
        self._writer = Writer(out, join, dtype, overwrite)
        self.tokens, self.tokens_kv = tokens, tokens_kv
        self._picture = image_arrays(image, image_tokens, None, grid)
        self.paths: List[str] = []
        self.layers: Dict[int, str] = {}
        self.steps: List[int] = []
        self.calls = 0
        self._undo: Optional[contextlib.ExitStack] = None
        self._in_call = False
        self._running: List[Tuple[str, Any]] = []
        self._ordinals: Dict[str, int] = collections.Counter()
        self._sites: Dict[Tuple[str, int], _Site] = {}
        self._runs = self._outside = self._seen = self._last_step = 0
        self._threads: List[str] = []
        self._mask: Tuple[Any, ...] = (None,)
        self._dropout, self._softmax = 0.0, False

    # ---- the with block

    def __enter__(self) -> "Recording":
        if self._undo is not None:
            raise RuntimeError("this recording has begun before; expected attnscope.record(…) for each with block")
        self._thread = threading.get_ident()
        modules = [(name or type(module).__name__, module) for name, module in self._model.named_modules()] if self._model is not None else []
        for name, module in modules:
            if isinstance(module, torch.jit.ScriptModule):
                raise ValueError(f"{name} is a TorchScript module, whose calls Python does not see; expected the model before torch.jit.script or "
                                 "torch.jit.trace")
        with contextlib.ExitStack() as stack:
            for name, module in modules:
                if not (self._in_call and module is self._model):
                    self._hook(stack, name, module)
            stance = getattr(torch.compiler, "set_stance", None)
            compiled = [name for name, module in modules if _is_compiled(module)]
            if compiled and stance is None:
                raise ValueError(f"{compiled[0]} is compiled, and torch {torch.__version__} cannot run it uncompiled; expected the model before "
                                 "torch.compile (model._orig_mod), or torch 2.6 and later")
            if compiled:
                warnings.warn(f"{compiled[0]} is compiled, and its calls are recorded from a run without torch.compile", Note, stacklevel=3)
            if stance is not None:
                stack.enter_context(stance("force_eager"))
            stack.enter_context(_Mode(self))
            self._undo = stack.pop_all()
        return self

    def enter_call(self) -> None:
        """Enters from a hook of the model itself: its call has begun. The model gets no further hook, because torch may be iterating over them."""
        self._in_call = True
        self.__enter__()
        self._runs += 1
        self._running.append((type(self._model).__name__, self._model))

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Returns model(*args, **kwargs), recorded, without gradients."""
        with torch.no_grad(), self:
            return self._model(*args, **kwargs)

    def _hook(self, stack: contextlib.ExitStack, name: str, module: Any) -> None:
        def enter(*_: Any) -> None:
            if threading.get_ident() != self._thread:
                self._threads.append(name)
                return
            if not self._running:
                self._runs += 1
                self._ordinals.clear()
            self._running.append((name, module))

        def leave(*_: Any) -> None:
            if threading.get_ident() == self._thread and self._running:
                self._running.pop()

        stack.callback(module.register_forward_pre_hook(enter, prepend=True).remove)
        stack.callback(module.register_forward_hook(leave, always_call=True).remove)

    def __exit__(self, kind: Any, *_: Any) -> None:
        assert self._undo is not None
        self._undo.close()
        self._mask = (None,)
        try:
            if kind is not None and (self._join or not self.calls):
                return
            if not self.calls:
                raise ValueError(self._why_nothing())
            if kind is None:
                self._note_unused()
            self.paths = self._writer.finish(self.tokens, self.tokens_kv, self._picture)
        finally:
            self._writer.remove()

    # ---- calls

    def _next_site(self) -> Optional[_Site]:
        """The site of the call that just ran; None: it is not recorded."""
        if _in_backward():
            return None
        if self._model is not None and not self._running:
            self._outside += 1
            return None
        self._seen += 1
        name = self._running[-1][0] if self._running else ""
        key = (name, self._ordinals[name])
        self._ordinals[name] += 1
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = _Site(len(self._sites), name)
        if site.run != self._runs:
            site.run, site.step = self._runs, site.step + 1
        self._last_step = max(self._last_step, site.step)
        chosen = self._layers is None or any(fnmatch.fnmatchcase(name, each) if isinstance(each, str) else each == site.layer
                                             for each in self._layers)
        return site if chosen and (self._steps is None or site.step in self._steps) else None

    def _take(self, query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
              scale: Optional[float] = None, enable_gqa: bool = False) -> None:
        """The arguments of scaled_dot_product_attention."""
        site = self._next_site()
        if site is None:
            return
        if dropout_p:
            self._note_dropout(dropout_p)
        q, k, v = self._operands(site, query, key, value)
        self._write(site, q, k, v, self._pairs(attn_mask, bool(is_causal), q, k), scale)

    def _take_flex(self, query: Any, key: Any, value: Any, score_mod: Any, block_mask: Tuple[Any, ...], scale: float, *_: Any, **__: Any) -> None:
        """The arguments of FlexAttention's operator: block_mask ends in its mask_mod."""
        site = self._next_site()
        if site is None:
            return
        q, k, v = self._operands(site, query, key, value)
        if self._running and getattr(self._running[-1][1], "sinks", None) is not None:
            raise ValueError(f"{site}: its module has sinks, which take weight after flex_attention; expected a module without them. "
                             "attnscope.save(path, q, k, v, sinks=module.sinks) writes one call")
        blocks = next(each for each in block_mask if isinstance(each, torch.Tensor))  # their numbers, [B|1, H|1, rows]
        keep = _of_pairs(block_mask[-1], *blocks.shape[:2], q, k)
        bias = _added(site, score_mod, q, k)
        if self._heads is not None:
            keep, bias = (each[:, self._heads] if each is not None and each.shape[1] > 1 else each for each in (keep, bias))
        pairs = split_mask(keep) if bias is None else split_additive(numpy.where(keep, bias, -numpy.inf).astype(numpy.float32))
        self._write(site, q, k, v, pairs, scale)

    def _operands(self, site: _Site, *operands: Any) -> List[Any]:
        """[B, H, T, d] of each, in the dtype that the kernel computes in."""
        found = []
        for name, tensor in zip(("query", "key", "value"), operands):
            if tensor.is_nested:
                raise ValueError(f"{site}: {name} is a nested tensor; expected a padded one, tensor.to_padded_tensor(0.0) with an attn_mask, or "
                                 "one sequence at a time")
            if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
                raise ValueError(f"{site}: {name} is inside a transform of torch.func, such as vmap; expected a call outside of it, with a batch axis")
            if tensor.is_meta:
                raise ValueError(f"{site}: {name} is on the device 'meta', which has no numbers; expected 'cpu' or 'cuda'")
            if tensor.ndim not in (2, 3, 4):
                raise ValueError(f"{site}: {name} is {list(tensor.shape)}; expected [T, d], [H, T, d] or [B, H, T, d]")
            device = tensor.device.type
            if tensor.is_floating_point() and torch.is_autocast_enabled(device):
                tensor = tensor.to(torch.get_autocast_dtype(device))
            found.append(tensor.detach().reshape((1,) * (4 - tensor.ndim) + tuple(tensor.shape)))
        q, k, v = found
        batch = max(each.shape[0] for each in found)
        q, k, v = (each.expand(batch, -1, -1, -1) for each in (q, k, v))
        if v.shape[1] != k.shape[1]:
            k, v = (each.repeat_interleave(q.shape[1] // each.shape[1], 1) for each in (k, v))
        return [q, *_unrepeated(q, k, v)]

    def _pairs(self, mask: Any, causal: bool, q: Any, k: Any) -> Pairs:
        """The pairs of attn_mask and is_causal. The same tensor gives the same object, so that layers share its array."""
        if mask is None:
            return CAUSAL if causal else FULL
        tq, tk = q.shape[2], k.shape[2]
        try:
            version = mask._version
        except RuntimeError:  # of inference mode
            version = None
        key = (mask, version, causal, tq, tk)
        if version is not None and self._mask[0] is mask and self._mask[1:5] == key[1:]:
            return self._mask[5]
        numbers = mask.detach()
        numbers = (numbers if numbers.dtype == torch.bool else numbers.to(torch.promote_types(numbers.dtype, torch.float32))).cpu().numpy()
        numbers = numbers.reshape((1,) * (4 - numbers.ndim) + numbers.shape)
        numbers = numpy.broadcast_to(numbers, (*numbers.shape[:2], tq, tk))
        if self._heads is not None and numbers.shape[1] > 1:
            numbers = numbers[:, self._heads]
        if causal:
            seen = allowed_of(CAUSAL, tq, tk)
            numbers = numbers & seen if numbers.dtype == bool else numpy.where(seen, numbers, -numpy.inf).astype(numbers.dtype)
        pairs = split_mask(numbers) if numbers.dtype == bool else split_additive(numbers)
        self._mask = (*key, pairs)
        return pairs

    def _write(self, site: _Site, q: Any, k: Any, v: Any, pairs: Pairs, scale: Optional[float]) -> None:
        if self._heads is not None:
            if max(self._heads) >= q.shape[1]:
                raise ValueError(f"heads has {max(self._heads)}, and {site} has {q.shape[1]}; expected numbers below that")
            shared = [head * k.shape[1] // q.shape[1] for head in self._heads]
            q, k, v = q[:, self._heads], k[:, shared], v[:, shared]
        is_default = scale is None or math.isclose(scale, q.shape[3] ** -0.5, rel_tol=1e-9)
        options: Options = {} if is_default else {"scale": float(scale)}  # type: ignore[arg-type]
        self._writer.add(site.layer, site.step, q, k, v, pairs, options)
        self.calls += 1
        self.layers[site.layer] = site.name
        if site.step not in self.steps:
            self.steps.append(site.step)

    def _note_dropout(self, share: float) -> None:
        if not self._dropout:
            self._dropout = share
            warnings.warn(f"attention dropout is {share:g}, and the file has the weights before it; model.eval() switches it off", Note, stacklevel=2)

    # ---- what to report

    def _why_nothing(self) -> str:
        if self._seen:
            return (f"nothing was recorded: layers is {self._layers} and steps is {self._steps}; expected some of layers 0 to {len(self._sites) - 1} "
                    f"({', '.join(sorted({site.name for site in self._sites.values()})[:4])}, …) and of steps 0 to {self._last_step}")
        what = f"no call of {LOOKED_FOR} was seen"
        if self._threads:
            return (f"{what}: {self._threads[0]} ran in another thread; expected the model to run in the thread of the with block. "
                    "Open the with block in that thread")
        if self._outside:
            return f"{what} inside the model, and {self._outside} outside; expected calls of its modules. Pass None as the model to record every call"
        if self._model is not None and not self._runs:
            return f"{what}: the model did not run; expected model(inputs) or model.generate(inputs) inside the with block"
        for module in self._model.modules() if self._model is not None else ():
            used = getattr(getattr(module, "config", None), "_attn_implementation", None)
            if used is not None and used not in FUSED and getattr(module, "_supports_sdpa", False):
                return (f"{what}: attn_implementation is '{used}'; expected 'sdpa' or 'flex_attention'. Pass attn_implementation=\"sdpa\" to "
                        "from_pretrained(), or call model.set_attn_implementation(\"sdpa\")")
        if self._softmax:
            return (f"{what}, but softmax ran: the model computes attention itself; expected one of these calls. attnscope.save(path, model, inputs) records "
                    "its projections")
        return f"{what}, and no softmax either; expected a model with softmax attention"

    def _note_unused(self) -> None:
        """Layers and steps that did not run."""
        for name, chosen, found in (("layers", self._layers, self.layers), ("steps", self._steps, self.steps)):
            missing = [each for each in chosen or () if not isinstance(each, str) and each not in found]
            if missing:
                warnings.warn(f"{name} has {missing[0]}, which did not run; recorded are {', '.join(map(str, sorted(found)))}", Note, stacklevel=3)
        if self._threads:
            warnings.warn(f"{self._threads[0]} ran in another thread, and its calls are not recorded; open the with block in that thread", Note,
                          stacklevel=3)

    def __fspath__(self) -> str:
        if len(self.paths) != 1:
            raise ValueError(f"the recording has {len(self.paths)} files; expected one of its paths" if self.paths else
                             "the recording has no file yet; it is complete after the with block")
        return self.paths[0]

    def __repr__(self) -> str:
        shown = self.paths if len(self.paths) <= 4 else [*self.paths[:2], "…", self.paths[-1]]
        return f"<recording of {self.calls} calls, {len(self.layers)} layers, {len(self.steps)} steps: {', '.join(shown) or 'not complete'}>"


FULL, CAUSAL = Pairs({}), Pairs({"causal": "top-left"})
