#!/usr/bin/env python3
"""ONNX's own node tests of the operators Attention and RotaryEmbedding, as calls of `attnscope trace`.

    onnx_cases.py make FOLDER     # where python3-onnx, python3-numpy and libonnx-testdata are installed: FOLDER/*.npz with
                                  # inputs, options and expected outputs
    onnx_cases.py run FOLDER ATTNSCOPE [BACKEND ...]   # counts right, wrong and refused calls of each backend

`make` hands the inputs on as arrays under the operators' own names and translates attributes into options; a mask that has fewer
keys than there are forbids the others. RotaryEmbedding's input becomes Q, K and V of a call, whose stage q_rot is the output. A case is
right where every output that `trace` has a stage for agrees within the tolerance of its type.
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


def attributes_of(node):
    """The numbers among them, by name."""
    return {each.name: each.f if each.type == 1 else each.i for each in node.attribute}


def joined_heads(heads, kv_heads):
    """The options of inputs [B, T, H·d]."""
    return {"layout": "joined", "heads": heads, "kv-heads": kv_heads}


def attention(inputs, attributes):
    """The arrays of a call, and its options."""
    options = {}
    if inputs["Q"].ndim == 3:
        options.update(joined_heads(attributes["q_num_heads"], attributes["kv_num_heads"]))
    arrays = {role: value for role, value in inputs.items() if role != "attn_mask"}
    if "attn_mask" in inputs:
        mask = inputs["attn_mask"]
        past = inputs["past_key"].shape[2] if "past_key" in inputs else 0
        missing = past + inputs["K"].shape[-2] - mask.shape[-1]
        if missing:
            fill = False if mask.dtype == bool else -numpy.inf
            mask = numpy.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, missing)], constant_values=fill)
        arrays["mask" if mask.dtype == bool else "bias"] = mask
    if attributes.get("is_causal"):
        options["causal"] = "top-left"
    if "scale" in attributes:
        options["scale"] = float(numpy.float32(attributes["scale"]))
    if attributes.get("softcap"):
        options["softcap"] = float(numpy.float32(attributes["softcap"]))
        if "bias" in arrays:  # of libonnx-testdata 1.20 and before: onnx pull request 7867 turned the order around
            options["bias-before-softcap"] = True
    return arrays, options


def expected_of_attention(wanted, attributes):
    """By the key of a stage."""
    found = {"context": heads_first(wanted["Y"], attributes.get("q_num_heads"))}
    for key, name in (("k", "present_key"), ("v", "present_value")):
        if name in wanted:
            found[key] = wanted[name]
    if "qk_matmul_output" in wanted:
        mode = attributes.get("qk_matmul_output_mode", 0)
        found[("scaled", "masked", "biased", "weights")[mode]] = wanted["qk_matmul_output"]
    return found


def rotary(inputs, attributes):
    """A call whose queries are the input; it has no other keys and values."""
    options = {"rope": "interleaved" if attributes.get("interleaved") else "half"}
    if attributes.get("rotary_embedding_dim"):
        options["rope-dims"] = attributes["rotary_embedding_dim"]
    if inputs["X"].ndim == 3:
        options.update(joined_heads(attributes["num_heads"], attributes["num_heads"]))
    arrays = {**{role: inputs["X"] for role in "QKV"}, **{name: value for name, value in inputs.items() if name != "X"}}
    return arrays, options


OPERATORS = {  # inputs and outputs in their order
    "Attention": (("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"), ("Y", "present_key", "present_value", "qk_matmul_output")),
    "RotaryEmbedding": (("X", "cos_cache", "sin_cache", "position_ids"), ("Y",)),
}


def make(folder):
    import onnx

    folder.mkdir(parents=True, exist_ok=True)
    for case in folders():
        node = onnx.load(case / "model.onnx").graph.node[0]
        data = case / "test_data_set_0"
        given = tensors(list(dict.fromkeys(node.input)), data, "input")
        wanted = tensors(list(node.output), data, "output")
        name = case.name[len("test_"):]
        attributes = attributes_of(node)
        roles, results = OPERATORS[node.op_type]
        inputs = {role: given[each] for role, each in zip(roles, node.input) if each}
        outputs = {role: wanted[each] for role, each in zip(results, node.output) if each}
        if node.op_type == "Attention":
            arrays, options = attention(inputs, attributes)
            expected = expected_of_attention(outputs, attributes)
        else:
            arrays, options = rotary(inputs, attributes)
            expected = {"q_rot": heads_first(outputs["Y"], attributes.get("num_heads"))}
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
    if not stages.keys() & expected.keys():
        return f"none of {', '.join(expected)} was written"
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
                result = trace(program, arrays, options, backend, [key for key in ("context", "k", "v", "q_rot") if key in expected])
                if isinstance(result, str):
                    refused.append(f"{file.stem}: {result}")
                elif fault := wrong_output(result, expected):
                    wrong.append(f"{file.stem}: {fault}")
                else:
                    right += 1
            print(f"{operator}, {backend}: {right} of {len(files)} right, {len(wrong)} wrong, {len(refused)} refused")
            for line in wrong + refused:
                print("   ", line)
            failures += len(wrong) + len(refused)
    return failures


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]))
    elif len(sys.argv) >= 4 and sys.argv[1] == "run":
        sys.exit(run(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:] or BACKENDS))
    else:
        sys.exit(__doc__)
