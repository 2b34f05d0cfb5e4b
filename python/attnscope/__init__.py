"""attnscope from Python: show, measure and check the attention that a program computes.

    import attnscope
    attnscope.show(q, k, v, tokens=["The", "cat", "sat"], causal=True)    # a window; in a notebook the figure
    attnscope.show(weights)                  # weights alone: [T, T], [H, T, T], [L, H, T, T], or a list of layers
    attnscope.show(model, inputs)            # every layer of a PyTorch model
    attnscope.show("stories", "Anna and Tom went to the")                 # a trained model by its name or folder
    attnscope.diff(q, k, v, {"context": mine}, causal=True)["verdict"]    # is my kernel right?
    attnscope.verify(my_kernel, {"causal": "top-left"})                   # is it right for every size?
    with attnscope.record(model, "attention.npz"): model(inputs)          # its attention, from fused kernels

The first arguments of every function are one of these:
    q, k, v              [T, d], [H, T, d] or [B, H, T, d]; for several layers a list of each. layout="tokens-first", or "joined" with
                         heads=H, selects another layout
    weights              attention weights alone
    model, inputs        a torch.nn.Module and its inputs: a tensor, a tuple of arguments, or a dict of them. Hooks record its attention
                         and compare it with the model's own weights
    name, text           a trained model that the program opens ("pronouns", or a folder), and a text; without one the model's own
    file                 an .npz of attention by its path, or the recording that wrote it; for show, figure, heads and trace
Arrays can be NumPy, PyTorch (any dtype and device), JAX, or any object with DLPack or __array__. The program computes in float32.

Every function takes the options of `attnscope trace` with _ for -:
    tokens, tokens_kv    the words of the queries, and of the keys if they differ
    image                the picture whose patches are tokens, [height, width, 3], 0 to 1 or uint8; image_tokens=slice(1, 197) and
                         grid=(14, 14), the keys that are its patches, row by row (of the queries too, if they are the same tokens);
                         image_queries, the queries of cross-attention from an image
    mask                 bool, True = may attend, [Tq, Tk] or 4-D that broadcasts to [B, H, Tq, Tk]; or an additive mask of 0 and -inf
    causal, window, window_left, window_right, global_tokens, block, padding
    qk_norm              True, or the ε of RMSNorm; arrays q_norm_weight and k_norm_weight
    scale                "sqrt_dk", "none" or a number; temperature, softcap
    rope                 "half" or "interleaved"; rope_base, rope_dims, rope_scaling, rope_sections; query_offset; alibi=True
    cos, sin, positions  arrays of RoPE: cosines and sines of each token, or its position; past_k, past_v, nonpad_kv_seqlen
    score, sinks, W_O, b_O, W_score, …, dO, dY    arrays by name, as in the file
An unknown option raises ValueError with its name. Notes of the program about the tensors are warnings (Note). The program is
$ATTNSCOPE, the attnscope on the PATH, or the one built in the source folder of this package.
"""

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Dict, Mapping, Optional, Sequence, Union

import numpy

from . import _figure, _verify
from ._arrays import Arrays, array, contents
from ._figure import Figure, Path, Table
from ._models import Labelled, Model
from ._program import Note, program, run
from ._verify import Fault, Verification

if TYPE_CHECKING:
    from ._attach import Attached
    from ._record import Recording

# Not open: `import *` would replace the one of Python.
__all__ = ["show", "save", "figure", "heads", "trace", "diff", "verify", "record", "attach", "Fault", "Figure", "Labelled", "Model", "Note",
           "Verification", "array", "program"]
__version__ = "0.2.0"

_window: Optional[_figure.Window] = None


def open(source: Any, tokenizer: Any = None) -> Model:  # pylint: disable=redefined-builtin
    """Returns a trained model, whose methods have the names of the program's commands: trace(), lens(), sweep(), attribution(), edges(), circuit(),
    heads(), generate(), figure() and show().

        model = attnscope.open("stories")                  # a built-in model, a folder of Hugging Face's format, or a .gguf
        model = attnscope.open(module, tokenizer)          # a model of transformers: written to a temporary folder
        model.sweep("Anna and Tom went to the").table()

    Raises ValueError if the program does not compute the model; the error names record(), which records the attention of any model."""
    return Model(source, tokenizer)


def save(path: Path, q: Any, k: Any = None, v: Any = None, **options: Any) -> Path:
    """Writes an .npz that attnscope opens. Returns the path."""
    numpy.savez(os.fspath(path), **contents(q, k, v, **options))
    return path


def figure(q: Any, k: Any = None, v: Any = None, *, layer: Optional[int] = None, head: Optional[int] = None,
           row: Union[str, int, None] = None, workspace: Optional[str] = None, stage: Optional[str] = None, theme: Optional[str] = None,
           size: Optional[str] = None, titles: bool = True, **options: Any) -> Figure:
    """Returns a figure of the call, without a window.

    layer, head: the ones to show, from 0
    row: the selected query, its number or its word
    workspace: "step", "heads", "masks" or another one of `attnscope render --help`
    stage: the stage of Step, "weights" or another key of `attnscope stages`
    theme: "light" or "dark"
    size: the size of the drawn window in pixels, "1280x800"
    titles: whether an SVG has tooltips

    Raises ValueError if the program refuses the tensors or an option."""
    return Figure(_source(q, k, v, **options), layer=layer, head=head, row=row, workspace=workspace, stage=stage, theme=theme, size=size,
                  titles=titles)


def show(q: Any, k: Any = None, v: Any = None, *, layer: Optional[int] = None, head: Optional[int] = None,
         row: Union[str, int, None] = None, workspace: Optional[str] = None, stage: Optional[str] = None, theme: Optional[str] = None,
         size: Optional[str] = None, titles: bool = True, inline: str = "figure", new: bool = False, wait: bool = False, **options: Any) -> Figure:
    """Shows the call in a window while your program continues, and returns its figure.

    In a notebook it only returns the figure, which the cell shows; inline="page" shows the whole program in the cell (it needs the package
    attnscope-web). Without a notebook and a display it only returns the figure too. A second call shows its tensors in the open window,
    which keeps the selection; new=True opens another window, and wait=True returns after the window was closed.

    The other arguments are those of figure(). An open window keeps its layer, head, row, workspace, stage, theme and size, so passing them raises
    ValueError."""
    global _window
    if inline not in ("figure", "page"):
        raise ValueError(f"inline is '{inline}'; expected 'figure' or 'page'")
    source = _source(q, k, v, **options)
    places = {"layer": layer, "head": head, "row": row, "workspace": workspace, "stage": stage, "theme": theme, "size": size}
    shown = Figure(source, titles=titles, page=inline == "page", **places)
    if _figure.in_notebook() or not _figure.has_display():
        return shown
    if _window is None or new or not _window.takes(source):
        _window = _figure.Window(source, _figure.places_of(shown.tokens, **places))
    elif any(value is not None for value in places.values()):
        raise ValueError(f"the window is open and keeps its selection: {', '.join(places)} apply only to a new window; pass new=True")
    else:
        _window.update(source)
    shown.window = _window.process
    if wait:
        _window.process.wait()
    return shown


def _source(q: Any, k: Any = None, v: Any = None, **options: Any) -> _figure.Contents:
    if isinstance(q, (Model, _figure.TrainedModel)):
        if options or v is not None:
            raise ValueError(f"{', '.join(options) or 'v'}: not an option of a model; expected the model and its text: show(model, 'Anna and Tom')")
        return q._trained(k) if isinstance(q, Model) else q
    if not isinstance(q, (str, os.PathLike)):
        return contents(q, k, v, **options)
    if os.fspath(q).endswith(".npz"):
        if k is not None or v is not None or options:
            raise ValueError(f"'{os.fspath(q)}' has its own arrays and options; expected the file alone")
        with numpy.load(q, allow_pickle=False) as file:
            return dict(file)
    if v is not None or not (k is None or isinstance(k, str)):
        raise ValueError(f"'{os.fspath(q)}' is the name of a model; expected only a text after it: show('stories', 'Anna and Tom')")
    if options:
        raise ValueError(f"{', '.join(options)}: a model by name has no such option; expected the model and its text: show('stories', 'Anna and Tom')")
    return _figure.TrainedModel(os.fspath(q), _figure.as_options(text=k))


def _with_file(arrays: Arrays) -> "tempfile.TemporaryDirectory[str]":
    folder = tempfile.TemporaryDirectory(prefix="attnscope-")
    _figure.write(folder.name, arrays)
    return folder


def heads(q: Any, k: Any = None, v: Any = None, **options: Any) -> Table:
    """Returns one row per head of each layer: layer, head, label, and the measures of `attnscope heads --help`; NaN for an undefined measure.
    The result is a pandas.DataFrame, or a dict of arrays if pandas is not installed."""
    source = _source(q, k, v, **options)
    if isinstance(source, _figure.TrainedModel):
        return _figure.measured(source.arguments)
    with _with_file(source) as folder:
        return _figure.measured([os.path.join(folder, "attention.npz")])


def trace(q: Any, k: Any = None, v: Any = None, *, layer: Optional[int] = None, keep: Optional[Sequence[str]] = None, grad: bool = False,
          backend: Optional[str] = None, **options: Any) -> Arrays:
    """Returns every stage of one call by its key (`attnscope stages`): "scores", "weights" [B, H, Tq, Tk], "context" [B, H, Tq, d], "logsumexp"
    [B, H, Tq], …, in float32.

    keep: only these stages
    grad: also the gradient of each, "d_scores", …, from dO or dY
    layer: one of several layers, from 0
    backend: "reference" computes in float64"""
    source = _source(q, k, v, **options)
    if isinstance(source, _figure.TrainedModel):
        return source.traced(layer, keep, grad, backend)
    with _with_file(source) as folder:
        return _figure.traced([os.path.join(folder, "attention.npz")], layer, keep, grad, backend)


def diff(q: Any, k: Any, v: Any, results: Union[Mapping[str, Any], Any], *, layer: Optional[int] = None, tolerance: Optional[float] = None,
         rtol: Optional[float] = None, **options: Any) -> Dict[str, Any]:
    """Compares results with the float64 reference on the same q, k and v.

    results: arrays by the keys of stages ("weights", "context", "output", "logsumexp", "dQ", …), or the context alone
    tolerance, rtol: a and b are equal if |a − b| ≤ tolerance + rtol · |b|; by default the tolerance follows from sizes and dtypes

    Returns the result of `attnscope diff --json`: "equal", "verdict" in words, "arrays" with their errors, and "examined" with the fault
    that explains them."""
    arrays = contents(q, k, v, **options)
    given = results if isinstance(results, Mapping) else {"context": results}
    with _with_file(arrays) as folder:
        kernel = _figure.write(folder, {name: array(values) for name, values in given.items()}, "results.npz")
        asked = _figure.as_options(layer=layer, tolerance=tolerance, rtol=rtol)
        said = run(["diff", os.path.join(folder, "attention.npz"), kernel, "--json", *asked], also=(1,))
        return dict(json.loads(said))


def verify(kernel: Callable[..., Any], reference_call: _verify.Reference = None, *,
           sizes: Union[None, Mapping[str, Any], Sequence[Mapping[str, int]]] = None, seed: int = 0, arrays: Optional[str] = None,
           dtype: str = "float32", device: str = "cpu", layout: str = "heads-first", tolerance: Optional[float] = None,
           rtol: Optional[float] = None, path: Optional[Path] = None, raises: bool = False,
           backward: _verify.Backward = None) -> Verification:
    """Runs a kernel over generated calls and compares each result with the float64 reference.

    kernel: a function of q, k and v that returns the context [B, H, Tq, d_v], or results by their keys ("weights", "logsumexp", …). Parameters
        named mask, bias or sinks get generated arrays (mask: bool, True = may attend, with a row without keys in some calls); those of
        FlexAttention, block_mask, score_mod, enable_gqa and scale, get their values from the call
    reference_call: options of the call that the kernel computes, as for trace(): {"causal": "top-left", "window_left": 7}; also mask_mod and
        score_mod, functions as FlexAttention has them; or a function from a size to such options
    sizes: a list of calls ({"batch": 2, "heads": 4, "kv_heads": 2, "tq": 7, "tk": 9, "d": 64}; d_v if it differs), or fixed axes of the usual
        calls ({"d": 64, "kv_heads": "heads"})
    arrays: "torch" or "numpy", what the kernel takes; by default torch if its code refers to torch
    dtype, device: of the arrays; the tolerance follows from the dtype. bfloat16 needs torch
    layout: "tokens-first": q, k, v and the context are [B, T, H, d]
    path: the file for the failing call; by default attnscope-NAME.npz in the current folder
    raises: raises AssertionError in place of returning a result that is not ok
    backward: whether dQ, dK and dV are compared with the reference's gradients of Σ dO ∘ context, for a generated dO. By default they are if
        torch's autograd has them; True requires that, False leaves them out. A function of q, k, v and dO that returns dQ, dK and dV is a
        backward kernel of its own

    It stops at the first call that differs, looks for the smallest call with the same fault, and writes that call with the kernel's result to
    a file. Returns a Verification: ok, calls, fault (code, text, remedy, size), path, command."""
    return _verify.verify(kernel, reference_call, sizes=sizes, seed=seed, arrays=arrays, dtype=dtype, device=device, layout=layout,
                          tolerance=tolerance, rtol=rtol, path=path, raises=raises, backward=backward)


def record(model: Any, out: Path, *, layers: Any = None, steps: Any = None, heads: Optional[Sequence[int]] = None, dtype: Optional[str] = None,
           join: bool = False, tokens: Optional[Sequence[Any]] = None, tokens_kv: Optional[Sequence[Any]] = None,
           overwrite: bool = False, image: Any = None, image_tokens: Any = None, grid: Any = None) -> "Recording":
    """Returns a context manager that writes the attention of a PyTorch model to an .npz while the model runs.

        with attnscope.record(model, "attention.npz", layers=[0, 5]):
            model(inputs)

    It writes q, k, v (after RoPE, as the kernel receives them), masks, bias and scale of every call of scaled_dot_product_attention,
    torch.nn.MultiheadAttention and flex_attention inside the model. Kernels stay fused, and each call is written before the next one runs. The
    program computes the weights from the file. Compiled code runs without torch.compile in the meantime.

    model: a torch.nn.Module; None records every call of the with block, each as a layer
    out: the .npz. Calls of several steps or sizes become several files, out-step0.npz, out-1.npz, …; see `paths` of the recording
    layers: numbers of attention calls in order of execution, from 0, or names of modules ("*.cross_attn"); None for all
    steps: numbers of forward passes, from 0; None for all
    heads: query heads to write; the file numbers them from 0
    dtype: "float16" rounds; None writes the exact numbers, those of bfloat16 as float32
    join: all steps of a generation with a key/value cache become one call, written at the end
    tokens, tokens_kv: words of the text, or of the queries and the keys if they differ
    overwrite: replaces existing files
    image, image_tokens, grid: the picture that the model reads, the tokens that are its patches (slice(5, 581)), and their rows and columns; a
        file of the image alone, as of a vision tower, has its patches at the end

    After an exception in the with block the file has all finished calls; join=True leaves no file.

    Raises ValueError if out exists, an argument has a wrong value, or no call was recorded; the error names the cause, such as
    attn_implementation="eager"."""
    from ._record import Recording

    return Recording(model, os.fspath(out), layers, steps, heads, dtype, join, tokens, tokens_kv, overwrite, image, image_tokens, grid)


def attach(model: Any, tokenizer: Any = None, text: Optional[str] = None, *, layers: Any = None, heads: Optional[Sequence[int]] = None,
           sequence: int = 0, limit_mb: float = 24) -> "Attached":
    """Records the last call of a PyTorch model, and returns its attention as a page for a notebook: the grid of heads, the lines of one head, and
    the text coloured by one query.

        attnscope.attach(model, tokenizer, "The cat sat on the mat")        # the last line of a cell
        attached = attnscope.attach(model, tokenizer)                       # or each later call of the model
        model(**inputs)
        attached.save("attention.html")                                     # one file without a network

    Kernels stay fused, as for record(); the program computes the weights. The page has them as float16. Detach with attached.detach(), or use
    `with attnscope.attach(model) as attached`.

    tokenizer: of the words; without it tokens are shown by their numbers
    text: the model runs over it now
    layers, heads: as for record()
    sequence: of a batch, from 0
    limit_mb: the most megabytes of weights on the page

    Raises ValueError for a model whose calls are not recorded: compiled, or with eager attention."""
    from ._attach import Attached

    attached = Attached(model, tokenizer, layers, heads, sequence, limit_mb)
    return attached(text) if text is not None else attached
