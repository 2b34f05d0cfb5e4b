#!/usr/bin/env python3
"""ONNX's own node tests of the operators Attention and RotaryEmbedding, as calls of `attnscope trace`.

    onnx_cases.py make FOLDER     # where python3-onnx, python3-numpy and libonnx-testdata are installed: FOLDER/*.npz with
                                  # inputs, options and expected outputs
    onnx_cases.py run FOLDER ATTNSCOPE [BACKEND ...]   # counts right, wrong and refused calls of each backend

`make` translates names and attributes and computes nothing but what the operator defines as its inputs: past keys and values come
before the new ones, and a mask that has fewer keys than there are forbids the others. A case is right where every output that
`trace` has a stage for agrees within the tolerance of its type.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy

BACKENDS = ("reference", "staged", "fused")
# Of the largest number of an output: three roundings of its type, and float32's sums.
TOLERANCE = {"float16": 3 * 2.0**-11, "float32": 2e-5}
TESTS = ("/usr/share/libonnx-testdata", "/usr/share/onnx", "/usr/lib/python3/dist-packages/onnx/backend/test/data")


def folders():
    """Of each test of the two operators."""
    for root in map(pathlib.Path, TESTS):
        found = sorted(path.parent for path in root.glob("**/test_*/model.onnx")
                       if path.parent.name.startswith(("test_attention_", "test_rotary_embedding")) and "expanded" not in path.parent.name)
        if found:
            return found
    sys.exit("the tests of ONNX are missing; expected the package libonnx-testdata")


def tensors(names, folder, what):
    """By name; "" is an input that is not there, and has no file."""
    import onnx
    from onnx import numpy_helper

    found, files = {}, sorted(folder.glob(f"{what}_*.pb"), key=lambda path: int(path.stem.split("_")[1]))
    for name, file in zip((name for name in names if name), files):
        proto = onnx.TensorProto()
        proto.ParseFromString(file.read_bytes())
        found[name] = numpy_helper.to_array(proto)
    return found


def heads_first(x, heads):
    """[B, T, H·d] -> [B, H, T, d]; 4 axes are so already."""
    return x if x.ndim == 4 else x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def attention(node, given):
    """The arrays of a call, and its options."""
    attributes = {each.name: each for each in node.attribute}

    def number(name, default=None):
        return default if name not in attributes else attributes[name].f if attributes[name].type == 1 else attributes[name].i

    roles = ("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")
    inputs = {role: given[name] for role, name in zip(roles, node.input) if name}
    arrays = {role: heads_first(inputs[role], number("q_num_heads" if role == "Q" else "kv_num_heads")) for role in "QKV"}
    options = {}
    past = 0
    for role, name in (("K", "past_key"), ("V", "past_value")):
        if name in inputs:
            past = inputs[name].shape[2]
            arrays[role] = numpy.concatenate([inputs[name], arrays[role]], 2)
    keys = arrays["K"].shape[2]
    if "attn_mask" in inputs:
        mask = inputs["attn_mask"]
        missing = keys - mask.shape[-1]
        if missing:
            fill = False if mask.dtype == bool else -numpy.inf
            mask = numpy.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)], constant_values=fill)
        arrays["mask" if mask.dtype == bool else "bias"] = mask
    if "nonpad_kv_seqlen" in inputs:
        options["padding"] = inputs["nonpad_kv_seqlen"].tolist()
    if number("is_causal"):
        options["causal"] = "top-left"
        if past:
            options["query-offset"] = past
    if number("scale") is not None:
        options["scale"] = float(numpy.float32(number("scale")))
    if number("softcap"):
        options["softcap"] = float(numpy.float32(number("softcap")))
        if "bias" in arrays:  # of libonnx-testdata 1.20 and before: onnx pull request 7867 turned the order around
            options["bias-before-softcap"] = True
    return arrays, options, int(number("qk_matmul_output_mode", 0))


def expected_of_attention(node, wanted, mode, arrays):
    """By the key of a stage."""
    names = list(node.output) + [""] * 4
    found = {"context": heads_first(wanted[names[0]], arrays["Q"].shape[1])}
    for key, name in (("k", names[1]), ("v", names[2])):
        if name:
            found[key] = wanted[name]
    if names[3]:
        found[("scaled", "biased", "biased", "weights")[mode]] = wanted[names[3]]
        if mode == 1:
            found["masked"] = found.pop("biased")
    return found


def rotary(node, given):
    attributes = {each.name: each.i for each in node.attribute}
    names = list(node.input) + [""] * 4
    x = given[names[0]]
    heads = attributes.get("num_heads", 0)
    x = heads_first(x, heads) if x.ndim == 3 else x
    cos, sin = given[names[1]], given[names[2]]
    positions = given[names[3]] if names[3] else None
    return {"Q": x, "cos": cos, "sin": sin, **({} if positions is None else {"positions": positions})}, attributes


def make(folder):
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    for case in folders():
        node = onnx.load(case / "model.onnx").graph.node[0]
        data = case / "test_data_set_0"
        given = tensors(list(dict.fromkeys(node.input)), data, "input")
        wanted = tensors(list(node.output), data, "output")
        name = case.name[len("test_"):]
        if node.op_type == "Attention":
            arrays, options, mode = attention(node, given)
            expected = expected_of_attention(node, wanted, mode, arrays)
        else:
            arrays, options = rotary(node, given)
            expected = {"q_rot": heads_first(wanted[node.output[0]], options.get("num_heads", 0))}
        numpy.savez(folder / f"{name}.npz", options=numpy.array(json.dumps(options)), **arrays,
                    **{f"expected.{key}": value for key, value in expected.items()})
        print(name, node.op_type, options, {key: value.shape for key, value in arrays.items()})


def trace(program, arrays, options, backend, keep):
    """The stages, or the line that refuses the call."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        numpy.savez(path / "in.npz", options=numpy.array(json.dumps(options)), **arrays)
        command = [program, "trace", str(path / "in.npz"), "-o", str(path / "out.npz"), "--backend", backend]
        if backend == "fused":
            command += ["--keep", ",".join(keep)]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            return run.stderr.strip().splitlines()[-1]
        with numpy.load(path / "out.npz") as out:
            return {key: out[key] for key in out.files}


def wrong_output(stages, expected):
    """The first output that is not as expected; "" of none."""
    for key, wanted in expected.items():
        if key not in stages:
            continue
        got, exact = stages[key].astype(float), wanted.astype(float)
        if got.shape != exact.shape:
            return f"{key} is {got.shape}, expected {exact.shape}"
        finite = numpy.isfinite(exact)
        if not numpy.array_equal(numpy.isneginf(got), numpy.isneginf(exact)) and key != "scaled":
            return f"{key} has −inf elsewhere"
        if not finite.any():
            continue
        most = numpy.abs(exact[finite]).max()
        off = numpy.abs(got[finite] - exact[finite]).max()
        if not off <= TOLERANCE.get(str(wanted.dtype), 2e-5) * max(most, 1.0):
            return f"{key} is off by {off:.3g} of {most:.3g}"
    return ""


def run(folder, program, backends):
    failures = 0
    for operator in ("attention", "rotary_embedding"):
        files = sorted(folder.glob(f"{operator}_*.npz")) + sorted(folder.glob(f"{operator}.npz"))
        for backend in backends:
            right, wrong, refused = 0, [], []
            for file in files:
                with numpy.load(file) as archive:
                    arrays = {key: archive[key] for key in archive.files}
                expected = {key[len("expected."):]: arrays.pop(key) for key in list(arrays) if key.startswith("expected.")}
                options = json.loads(str(arrays.pop("options")))
                if operator == "rotary_embedding":
                    refused.append(f"{file.stem}: cos and sin are given as arrays")
                    continue
                result = trace(program, arrays, options, backend, [key for key in ("context", "k", "v") if key in expected])
                if isinstance(result, str):
                    refused.append(f"{file.stem}: {result}")
                elif fault := wrong_output(result, expected):
                    wrong.append(f"{file.stem}: {fault}")
                else:
                    right += 1
            print(f"{operator}, {backend}: {right} of {len(files)} right, {len(wrong)} wrong, {len(refused)} refused")
            for line in wrong + refused:
                print("   ", line)
            failures += len(wrong)
    return failures


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]))
    elif len(sys.argv) >= 4 and sys.argv[1] == "run":
        sys.exit(run(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:] or BACKENDS))
    else:
        sys.exit(__doc__)
