#!/usr/bin/env python3
"""Calls as serving engines hold them, computed by PyTorch in float64, against attnscope.

    serving_cases.py make FOLDER [--calls 60] [--seed 1] [--small]  # needs PyTorch: writes case files with the expected output
    serving_cases.py check ATTNSCOPE FOLDER                 # needs NumPy: `trace` and `diff` of every case

Each case has pages with a block table or packed sequences, GQA, sequences of several lengths and numbers of new tokens, and perhaps a causal
mask, a window, codes of float8_e4m3fn, float8_e5m2, MXFP8 or NVFP4 with their scales. PyTorch gathers by indexing, one sequence at a time,
and calls scaled_dot_product_attention; codes and scales are its own types. Nothing here shares a line with the program. `check` gives the
program the same arrays in one of several forms: unchanged; both caches in one array, in either order of its axes; in a .safetensors file
with its own types of float8; as one of two layers that share the table.

A case is right where every number of `context` of each backend is within the rounding of its arithmetic, and where `diff` finds the expected
output equal. The exit status is 1 if one is not.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

BACKENDS = {"reference": 2.0**-22, "staged": 2.0**-17, "fused": 2.0**-17}  # of the largest value
E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)


def quantised(torch, rng, x, kind, kv_axes):
    """Codes as bytes, scale, and the exact numbers that they mean, of x [..., G, d]."""
    if kind in ("e4m3", "e5m2"):
        dtype = torch.float8_e4m3fn if kind == "e4m3" else torch.float8_e5m2
        shape = [(), (x.shape[-2],), tuple(x.shape[:-1])][int(rng.integers(3))]
        scale = torch.tensor(rng.uniform(0.01, 0.2, shape), dtype=torch.float32)
        whole = scale if shape == () else scale[..., None]
        codes = (x / whole).to(dtype)
        return codes.view(torch.uint8).numpy(), scale.numpy(), codes.double() * whole.double()
    blocks = x.reshape(*x.shape[:-1], -1, 32 if kind == "mxfp8" else 16)
    largest = blocks.abs().amax(-1, keepdim=True)
    if kind == "mxfp8":
        scale = torch.exp2(torch.floor(torch.log2(largest)) - 8).to(torch.float8_e8m0fnu)
        codes = (blocks / scale.float()).clamp(-448, 448).to(torch.float8_e4m3fn)
        exact = (codes.double() * scale.double()).reshape(x.shape)
        return codes.reshape(x.shape).view(torch.uint8).numpy(), scale[..., 0].view(torch.uint8).numpy(), exact
    scale = (largest / 6).to(torch.float8_e4m3fn)
    table = torch.tensor(E2M1)
    size = (blocks / scale.float().clamp(min=2.0**-9)).abs()
    index = (size[..., None] - table).abs().argmin(-1)
    codes = (index + 8 * (blocks < 0)).reshape(x.shape).to(torch.uint8)
    exact = (torch.sign(blocks).double() * table[index].double() * scale.double()).reshape(x.shape)
    packed = (codes[..., 0::2] | codes[..., 1::2] << 4).numpy()
    return packed, scale[..., 0].view(torch.uint8).numpy(), exact


def make_case(torch, seed, path, small):
    import torch.nn.functional as F

    rng = np.random.default_rng(seed)
    B, G, group = int(rng.integers(1, 5)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    H, d = G * group, 64 if small else int(rng.choice([32, 64]))
    lens = [int(n) for n in rng.integers(1, 12 if small else 90, B)]
    new = [int(rng.integers(1, min(n, 6) + 1)) for n in lens]
    kind = str(rng.choice(["none", "none", "e4m3", "e5m2", "mxfp8", "nvfp4"]))
    paged, causal = bool(rng.integers(2)), bool(rng.integers(4))
    window = int(rng.integers(1, 30)) if causal and rng.integers(3) == 0 else None
    page = int(rng.choice([4, 8, 16]))
    heads_first = paged and bool(rng.integers(3) == 0)
    width = -(-max(lens) // page)
    pages = B * width + 3
    shape = (pages, page, G, d) if paged else (sum(lens), G, d)
    k, v = (torch.tensor(rng.standard_normal(shape), dtype=torch.float32) for _ in range(2))
    q = torch.tensor(rng.standard_normal((sum(new), H, d)), dtype=torch.float32)
    options, arrays, dtypes = {}, {}, []
    exact_k, exact_v = k.double(), v.double()
    names = ("k_cache", "v_cache") if paged else ("k", "v")
    if kind == "none":
        stored = [k.numpy(), v.numpy()]
    else:
        stored = []
        for name, x in zip(names, (k, v)):
            codes, scale, exact = quantised(torch, rng, x, kind, shape)
            arrays[f"{name[0]}_scale"] = scale
            dtypes.append(f"{name}={'e2m1' if kind == 'nvfp4' else 'e5m2' if kind == 'e5m2' else 'e4m3'}")
            stored.append(codes)
            if name[0] == "k":
                exact_k = exact
            else:
                exact_v = exact
        if heads_first and kind not in ("e4m3", "e5m2"):
            heads_first = False  # scales by block keep the axes of the codes: here those of the pages
        if heads_first and any(arrays[f"{n[0]}_scale"].ndim > 1 for n in names):
            heads_first = False
    if heads_first:
        stored = [np.ascontiguousarray(np.swapaxes(x, 1, 2)) for x in stored]
        options["layout"] = "heads-first"
    arrays.update(dict(zip(names, stored)), q=q.numpy(), cu_seqlens_q=np.cumsum([0, *new]).astype(np.int32))
    table = torch.tensor(rng.permutation(pages)[: B * width].reshape(B, width))
    if paged:
        arrays.update(block_tables=table.numpy().astype(np.int32), seq_lens=np.array(lens, np.int32))
    else:
        arrays["cu_seqlens_k"] = np.cumsum([0, *lens]).astype(np.int32)
    if causal:
        options["causal"] = True
    if window is not None:
        options["window-left"] = window
    if dtypes:
        options["dtype"] = ",".join(dtypes)
    forms = ["plain"]
    if paged:
        forms += ["both_first", "both_second"] + (["layers"] if kind == "none" else [])
    if kind in ("e4m3", "e5m2", "mxfp8"):
        forms += ["safetensors"]
    form = str(rng.choice(forms))
    out = []
    for b in range(B):
        first = sum(lens[:b])
        of = (lambda x: x[table[b]].reshape(-1, G, d)[: lens[b]]) if paged else (lambda x: x[first : first + lens[b]])
        kb, vb = (of(x).transpose(0, 1).repeat_interleave(group, 0) for x in (exact_k, exact_v))
        at = sum(new[:b])
        qb = q[at : at + new[b]].double().transpose(0, 1)
        i = torch.arange(lens[b] - new[b], lens[b])[:, None]
        j = torch.arange(lens[b])[None]
        allowed = (j <= i) if causal else torch.ones(new[b], lens[b], dtype=torch.bool)
        if window is not None:
            allowed = allowed & (i - j <= window)
        out.append(F.scaled_dot_product_attention(qb, kb, vb, attn_mask=allowed).transpose(0, 1))
    expected = torch.cat(out).numpy()
    np.savez_compressed(path, options=np.array(json.dumps(options)), expected=expected, new=np.array(new), kind=np.array(kind), form=np.array(form), **arrays)


def write_safetensors(path, arrays, types):
    """The format in plain lines: 8 bytes of length, a header in JSON, the numbers. `types`: of arrays of bytes, their own dtype."""
    names = {"float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64", "uint8": "U8"}
    header, data = {}, b""
    for name, array in arrays.items():
        if name == "options":
            header["__metadata__"] = {"options": str(array)}
            continue
        part = np.ascontiguousarray(array).tobytes()
        dtype = types.get(name, names[str(array.dtype)])
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def in_form(case, form, kind):
    """The arrays, their types in .safetensors, and the options that choose the layer."""
    case, types, options = dict(case), {}, json.loads(str(case["options"]))
    if form.startswith("both"):
        case["kv_cache"] = np.stack([case.pop("k_cache"), case.pop("v_cache")], 0 if form == "both_first" else 1)
        if "dtype" in options:
            options["dtype"] = "kv_cache=" + options["dtype"].split("=")[-1]
    if form == "safetensors":
        code = "F8_E5M2" if kind == "e5m2" else "F8_E4M3"
        types = {name: code for name in ("k", "v", "k_cache", "v_cache")}
        if kind == "mxfp8":
            types.update(k_scale="F8_E8M0", v_scale="F8_E8M0")
        options.pop("dtype")
    if form == "layers":  # layer 4 has the values of the other sign
        for name in [n for n in ("q", "k_cache", "v_cache", "out") if n in case]:
            array = case.pop(name)
            case[f"l7.{name}"] = array
            case[f"l4.{name}"] = -array if name in ("v_cache", "out") else array
    case["options"] = np.array(json.dumps(options))
    return case, types


def check_case(program, path, folder):
    """The error, or an empty text."""
    case = dict(np.load(path))
    expected, new = case.pop("expected"), case.pop("new")
    kind, form = str(case.pop("kind")), str(case.pop("form", "plain"))
    end = "safetensors" if form == "safetensors" else "npz"
    call, both, traced = folder / f"call.{end}", folder / f"both.{end}", folder / "traced.npz"
    for to, more in ((call, {}), (both, {"out": expected.astype(np.float32)})):
        arrays, types = in_form({**case, **more}, form, kind)
        if end == "npz":
            np.savez(to, **arrays)
        else:
            write_safetensors(to, arrays, types)
    layers = [4, 7] if form == "layers" else [None]
    for backend, layer in ((b, n) for b in BACKENDS for n in layers):
        share = BACKENDS[backend]
        chosen = [] if layer is None else ["--layer", str(layer)]
        run = subprocess.run([program, "trace", call, "-o", traced, "--backend", backend, *chosen], capture_output=True, text=True)
        if run.returncode != 0:
            return f"trace {backend}: {run.stderr.strip()}"
        context = np.load(traced)["context"] * (-1 if layer == 4 else 1)
        tq, at = context.shape[2], 0
        for b, n in enumerate(new):
            mine = context[b, :, tq - n :].swapaxes(0, 1)
            error = np.abs(mine - expected[at : at + n]).max()
            if not error <= share * np.abs(expected).max():
                return f"{backend}: sequence {b} is off by {error:.3g}"
            at += n
    for layer in layers:
        chosen = [] if layer is None else ["--layer", str(layer)]
        run = subprocess.run([program, "diff", both, *chosen], capture_output=True, text=True)
        if run.returncode != 0:
            return f"diff: {(run.stdout + run.stderr).strip().splitlines()[-1]}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("make")
    make.add_argument("folder", type=pathlib.Path)
    make.add_argument("--calls", type=int, default=60)
    make.add_argument("--seed", type=int, default=1)
    make.add_argument("--small", action="store_true", help="short sequences, as tests/goldens/serving has them")
    check = commands.add_parser("check")
    check.add_argument("program")
    check.add_argument("folder", type=pathlib.Path)
    given = parser.parse_args()
    if given.command == "make":
        import torch

        given.folder.mkdir(parents=True, exist_ok=True)
        for n in range(given.calls):
            make_case(torch, 1000 * given.seed + n, given.folder / f"case_{n:03}.npz", given.small)
        return 0
    paths = sorted(given.folder.glob("case_*.npz"))
    wrong, forms = 0, {}
    with tempfile.TemporaryDirectory() as scratch:
        for path in paths:
            problem = check_case(given.program, path, pathlib.Path(scratch))
            if problem:
                wrong += 1
                print(f"{path.name}: {problem}")
            else:
                form = str(np.load(path)["form"]) if "form" in np.load(path) else "plain"
                forms[form] = forms.get(form, 0) + 1
    print(f"{len(paths) - wrong} of {len(paths)} cases are right on {', '.join(BACKENDS)} and in diff: {forms}")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
