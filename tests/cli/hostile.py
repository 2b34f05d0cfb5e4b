#!/usr/bin/env python3
"""Files that are made to harm a program, through trace, diff, heads and render.

  hostile.py ATTNSCOPE MODEL     MODEL: a small GPT-2 folder, of which hostile ones are made

Each must end by itself within the time, in the memory that the program takes for a good file and EXTRA more, with exit code 1
or 2, one line of error of at most 4 KiB that holds its words of SAYS, no output file and nothing else left in its folder. Prints
the longest time and the largest memory of each case; with HOSTILE_WORDS=1 also what the program said. 77: built with sanitizers,
which reserve more than any limit. Standard library only.
"""

import io
import itertools
import json
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib

MIB = 1 << 20
EXTRA = 512 * MIB
WANTED_SECONDS = 2.0
# What the error must name, whichever command reads the file.
SAYS = {
    "divisors_2_29": "'short_factor' = [1]; expected a list of 536870912 numbers above 0",
    "normalizers_double": "step 21 of the normalizer, 'Replace', makes more than",
    "pre_tokenizers_double": "of the pre_tokenizer, 'ByteLevel', makes more than",
    "bomb.npz": "bomb.npz: Q, float32 [1024, 1048576], 4294967296 bytes",
    "huge.npz": "huge.npz: Q has 128 bytes, but its header of float32 [1099511627776, 1] promises 4398046511232",
    "bfloat16.npz": "bfloat16.npz: Q has dtype '|V2', as numpy saves bfloat16",
    "past.safetensors": "past.safetensors: Q has the data_offsets 4611686018427387904 to 4611686018427387920",
    "overflow.safetensors": "overflow.safetensors: Q claims the shape [4294967296, 4294967296], more than 2^63 bytes",
}
MOST_SECONDS = 30.0  # the limit of the test, for a machine that does other things; over 2 s is named


def npy(descr, shape, data=b""):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * ((-11 - len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def npz(entries, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


def safetensors(header, data=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def f32(shape, begin, end):
    return {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}


def bomb():
    """12 GiB of zeros in 12 MB: Q, K and V of 4 GiB each, one deflated part of 64 MiB written 64 times."""
    part, parts = bytes(64 * MIB), 64
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    header = npy("<f4", (1024, MIB))
    packed = deflate.compress(header) + deflate.flush(zlib.Z_FULL_FLUSH)
    packed += (deflate.compress(part) + deflate.flush(zlib.Z_FULL_FLUSH)) * parts + deflate.flush()
    size = len(header) + len(part) * parts
    check = zlib.crc32(header)
    for _ in range(parts):
        check = zlib.crc32(part, check)
    entries, directory = b"", b""
    for name in (b"Q.npy", b"K.npy", b"V.npy"):
        sizes = struct.pack("<HHQQ", 1, 16, size, len(packed))
        common = struct.pack("<HHHHHIIIHH", 45, 0, 8, 0, 33, check, 0xFFFFFFFF, 0xFFFFFFFF, len(name),
                             len(sizes))
        directory += (b"PK\x01\x02" + struct.pack("<H", 45) + common +
                      struct.pack("<HHHII", 0, 0, 0, 0, len(entries)) + name + sizes)
        entries += b"PK\x03\x04" + common + name + sizes + packed
    return entries + directory + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 3, 3, len(directory),
                                                             len(entries), 0)


def lying_zip():
    """The directory says that 12 GiB come out of an entry of 100 bytes."""
    good = bytearray(npz([("Q.npy", npy("<f4", (2, 2), floats(1, 2, 3, 4)))]))
    at = good.rindex(b"PK\x01\x02")
    good[at + 24:at + 28] = struct.pack("<I", 0xFFFFFFF0)
    return bytes(good)


def twice(good):
    """Another name becomes Q's, in the entry and in the directory: two entries of one name."""
    return good.replace(b"K.npy", b"Q.npy")


def files():
    """Name and bytes of each hostile file."""
    two = npy("<f4", (2, 2), floats(1, 2, 3, 4))
    good = npz([(f"{name}.npy", two) for name in "QKV"])
    everything = {name: f32([2, 2], 16 * i, 16 * i + 16) for i, name in enumerate("QKV")}
    yield "empty.npz", b""
    yield "empty.npy", b""
    yield "empty.safetensors", b""
    yield "truncated.npz", good[:len(good) // 2]
    yield "no_end.npz", good[:-1]
    yield "lying.npz", lying_zip()
    yield "bomb.npz", bomb()
    yield "twice.npz", twice(good)
    yield "up.npz", npz([("../Q.npy", two), ("../K.npy", two), ("../V.npy", two)])
    yield "overflow.npz", npz([(f"{n}.npy", npy("<f4", (1 << 62, 4))) for n in "QKV"])
    yield "negative.npz", npz([(f"{n}.npy", npy("<f4", (-1, 4))) for n in "QKV"])
    yield "huge.npz", npz([(f"{n}.npy", npy("<f4", (1 << 40, 1))) for n in "QKV"])
    yield "bfloat16.npz", npz([(f"{n}.npy", npy("|V2", (1, 1), b"\x80\x3f")) for n in "QKV"])
    yield "object.npz", npz([(f"{n}.npy", npy("|O", (1,), b"\x80\x04K\x01.")) for n in "QKV"])
    yield "deep.npz", npz([("Q.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", MIB) + b"(" * MIB)])
    yield "huge.npy", npy("<f4", (1 << 40, 1))
    yield "deep.npy", b"\x93NUMPY\x02\x00" + struct.pack("<I", MIB) + b"(" * MIB
    yield "not_json.safetensors", safetensors(b"{" + b"x" * 100)
    yield "length63.safetensors", safetensors(everything, bytes(48), 1 << 63)
    yield "length64.safetensors", safetensors(everything, bytes(48), (1 << 64) - 1)
    yield "long_header.safetensors", safetensors(b" " * (100 * MIB))
    yield "long_name.safetensors", safetensors(b'{"' + b"a" * (100 * MIB) + b'":1}')
    yield "deep.safetensors", safetensors(b'{"Q":' + b"[" * MIB)
    yield "deep_meta.safetensors", safetensors(b'{"__metadata__":' + b'{"a":' * MIB)
    yield "overlap.safetensors", safetensors({name: f32([2, 2], 0, 16) for name in "QKV"}, bytes(48))
    yield "backward.safetensors", safetensors({"Q": f32([2, 2], 16, 0)}, bytes(48))
    yield "past.safetensors", safetensors({"Q": f32([2, 2], 1 << 62, (1 << 62) + 16)}, bytes(48))
    yield "overflow.safetensors", safetensors({"Q": f32([1 << 32, 1 << 32], 0, 0)}, bytes(48))
    yield "overflow_items.safetensors", safetensors({"Q": f32([1 << 62, 4], 0, 0)}, bytes(48))
    yield "negative.safetensors", safetensors({"Q": f32([-2, 2], 0, 16)}, bytes(48))
    yield "fraction.safetensors", safetensors({"Q": f32([1.5, 2], 0, 16)}, bytes(48))
    yield "hundred_thousand.safetensors", safetensors(
        {f"t{i}": f32([0], 0, 0) for i in range(100000)})
    text = json.dumps(everything)
    yield "twice.safetensors", safetensors((text[:-1] + ", " + text[1:]).encode(), bytes(48))
    yield "up.index.json", json.dumps({"weight_map": {"Q": "../../../../etc/passwd"}}).encode()
    yield "loop.index.json", json.dumps({"weight_map": {"Q": "loop.index.json"}}).encode()
    yield "deep.json", b"[" * MIB
    yield "session.json", json.dumps({"attnscope": 1, "document": [[[]]] * 1000}).encode()


def words(text):
    return struct.pack("<Q", len(text)) + text


def gguf_value(value):
    """A number of 32 bits, a text, or (kind, bytes) as they are."""
    if isinstance(value, tuple):
        return struct.pack("<I", value[0]) + value[1]
    if isinstance(value, bytes):
        return struct.pack("<I", 8) + words(value)
    return struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value)


def gguf(keys=(), arrays=(), data=b"", counts=None):
    """arrays: name, extents, type, offset. counts: as claimed, in place of those that are there."""
    head = b"GGUF" + struct.pack("<IQQ", 3, *(counts or (len(arrays), len(keys))))
    for key, value in dict(keys).items():
        head += words(key.encode()) + gguf_value(value)
    for name, extents, kind, offset in arrays:
        head += words(name) + struct.pack(f"<I{len(extents)}QIQ", len(extents), *extents, kind, offset)
    return head + bytes(-len(head) % 32) + data


LLAMA = {"general.architecture": b"llama", "llama.block_count": 1, "llama.embedding_length": 4,
         "llama.attention.head_count": 2, "llama.attention.layer_norm_rms_epsilon": 1e-5,
         "llama.feed_forward_length": 8, "llama.context_length": 16}
EMBEDDING = (b"token_embd.weight", (4, 6), 0, 0)


def gguf_files():
    """Name and bytes of each hostile GGUF file."""
    most = (1 << 64) - 1
    yield "magic.gguf", b"GGUF"
    yield "arrays.gguf", gguf(counts=(most, 0))
    yield "keys.gguf", gguf(counts=(0, most))
    yield "text.gguf", gguf({"k": (8, struct.pack("<Q", most))})
    yield "list.gguf", gguf({"k": (9, struct.pack("<IQ", 0, most))})
    yield "nested.gguf", gguf({"k": (9, struct.pack("<IQ", 9, 1) * 100000)})
    yield "two_million_texts.gguf", gguf({"k": (9, struct.pack("<IQ", 8, 1 << 21) + bytes(8 << 21))})
    yield "two_million_numbers.gguf", gguf({"k": (9, struct.pack("<IQ", 12, 1 << 21) + bytes(8 << 21))})
    yield "long_texts.gguf", gguf({f"k{n}": b"x" * (20 * MIB) for n in range(4)})
    yield "many_arrays.gguf", gguf((), [(b"%d" % n, (0x10000,), 0, 32 * n) for n in range(65536)])
    yield "extents.gguf", gguf((), [(b"a", (1 << 40, 1 << 40), 0, 0)])
    yield "offset.gguf", gguf((), [(b"a", (4,), 0, most - 31)])
    yield "overlap.gguf", gguf((), [(b"a", (16,), 0, 0), (b"b", (4,), 0, 32)], bytes(96))
    yield "claims_numbers.gguf", gguf(LLAMA, [(b"token_embd.weight", (1 << 30, 1 << 20), 12, 0)])
    for key, value in (("block_count", 0xFFFFFFFF), ("block_count", 0), ("embedding_length", 0xFFFFFFFF),
                       ("attention.head_count", 0), ("attention.head_count", 0x7FFFFFFF),
                       ("feed_forward_length", 0xFFFFFFFF), ("context_length", 0xFFFFFFFF),
                       ("attention.layer_norm_rms_epsilon", float("nan"))):
        yield f"{key}.{value}.gguf", gguf(LLAMA | {f"llama.{key}": value}, [EMBEDDING], bytes(96))
    tokens = (9, struct.pack("<IQ", 8, 6) + words(b"a") * 6)
    for kind in (b"gpt2", b"llama", b"t5"):
        yield f"tokens.{kind.decode()}.gguf", gguf(LLAMA | {
            "tokenizer.ggml.model": kind, "tokenizer.ggml.tokens": tokens}, [EMBEDDING], bytes(96))


def eight_bits(**arrays):
    """A folder of bitsandbytes whose first matrix has these in place of its own: dtype, shape, bytes."""
    def make(folder):
        config = {"model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2,
                  "intermediate_size": 8, "vocab_size": 6,
                  "quantization_config": {"load_in_8bit": True, "quant_method": "bitsandbytes"}}
        (folder / "config.json").write_text(json.dumps(config))
        every = {"model.embed_tokens.weight": ("F32", [6, 4], bytes(96)),
                 "model.layers.0.input_layernorm.weight": ("F32", [4], bytes(16))}
        every |= {f"model.layers.0.self_attn.q_proj.{part}": value for part, value in arrays.items()}
        header, data = {}, b""
        for name, (dtype, shape, numbers) in every.items():
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
            data += numbers
        (folder / "model.safetensors").write_bytes(safetensors(header, data))
    return make


def eight_bit_models():
    """Name and what makes the folder hostile."""
    codes = ("I8", [4, 4], bytes(16))
    yield "int8_no_scales", eight_bits(weight=codes)
    yield "int8_few_scales", eight_bits(weight=codes, SCB=("F32", [3], bytes(12)))
    yield "int8_int_scales", eight_bits(weight=codes, SCB=("I64", [4], bytes(32)))
    yield "int8_nan_scales", eight_bits(weight=("I8", [4, 4], b"\1" * 16), SCB=("F32", [4], b"\xff" * 16))
    yield "int8_layout", eight_bits(weight=codes, SCB=("F32", [4], bytes(16)), weight_format=("U8", [], b"\5"))
    yield "int8_layouts", eight_bits(weight=codes, SCB=("F32", [4], bytes(16)),
                                     weight_format=("U8", [MIB], bytes(MIB)))
    yield "int8_no_columns", eight_bits(weight=("I8", [1 << 40, 0], b""), SCB=("F32", [4], bytes(16)))
    yield "int8_one_axis", eight_bits(weight=("I8", [16], bytes(16)), SCB=("F32", [4], bytes(16)))


def with_config(**changes):
    def change(folder):
        config = json.loads((folder / "config.json").read_text())
        config.update(changes)
        (folder / "config.json").write_text(json.dumps(config))
    return change


def with_bytes(name, data):
    return lambda folder: (folder / name).write_bytes(data)


def million_merges(folder):
    """A million pieces, each the one before and one letter more, up to a length of 64."""
    vocabulary = {chr(97 + i): i for i in range(26)}
    letters = list(vocabulary)
    merges, parts = [], letters
    while len(merges) < 1000000:
        longer = (part + letter for part in parts for letter in letters)
        parts = list(itertools.islice(longer, 1000000 - len(merges)))
        merges += [f"{part[:-1]} {part[-1]}" for part in parts]
        vocabulary |= {part: len(vocabulary) + n for n, part in enumerate(parts)}
    without_tokenizer(folder)
    (folder / "tokenizer.json").write_text(json.dumps({"model": {
        "type": "BPE", "vocab": vocabulary, "merges": merges}}))


def without_tokenizer(folder):
    for name in ("tokenizer.json", "vocab.json", "merges.txt", "vocab.txt"):
        (folder / name).unlink(missing_ok=True)


def broken_merges(folder):
    without_tokenizer(folder)
    (folder / "tokenizer.json").write_text(json.dumps({"model": {
        "type": "BPE", "vocab": {"a": 0}, "merges": ["a b"] * 1000000}}))


def huge_id(folder):
    without_tokenizer(folder)
    (folder / "tokenizer.json").write_text(json.dumps({"model": {
        "type": "BPE", "vocab": {"a": 1 << 62, "b": (1 << 31) - 1}, "merges": []}}))


def doubling(step, count):
    """A tokenizer whose steps, one after the other, double the letters of a text."""
    def make(folder):
        without_tokenizer(folder)
        (folder / "tokenizer.json").write_text(json.dumps({
            **step(count), "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}}))
    return make


def check_signals(app, folder):
    """A start whose tokenizer takes seconds ends at once by Ctrl+C and by SIGTERM."""
    without_tokenizer(folder)
    (folder / "tokenizer.json").write_text(json.dumps({
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}] * 40000},
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}))
    for sent in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([app, "heads", str(folder), "--text", "caf\u00e9 " * 20000],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        try:
            process.wait(timeout=1)
            yield f"heads ended by itself before {sent.name}: {process.returncode}"
            continue
        except subprocess.TimeoutExpired:
            process.send_signal(sent)
        try:
            if process.wait(timeout=2) != -sent:
                yield f"{sent.name} ended heads with {process.returncode}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            yield f"{sent.name} did not end heads"


def models():
    """Name and what makes the folder hostile."""
    yield "config_deep", with_bytes("config.json", b"[" * MIB)
    yield "config_empty", with_bytes("config.json", b"")
    yield "layers_2_40", with_config(n_layer=1 << 40)
    yield "layers_2_62", with_config(n_layer=1 << 62)
    yield "layers_minus", with_config(n_layer=-1)
    yield "heads_0", with_config(n_head=0)
    yield "heads_2_62", with_config(n_head=1 << 62)
    yield "width_2_62", with_config(n_embd=1 << 62)
    yield "width_1e300", with_config(n_embd=1e300)
    yield "vocabulary_2_62", with_config(vocab_size=1 << 62)
    yield "divisors_2_29", with_bytes("config.json", json.dumps({
        "model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2,
        "head_dim": 1 << 30, "intermediate_size": 8, "vocab_size": 6,
        "rope_scaling": {"rope_type": "longrope", "factor": 2, "short_factor": [1], "long_factor": [1]}}).encode())
    yield "million_merges", million_merges
    yield "broken_merges", broken_merges
    yield "huge_id", huge_id
    yield "tokenizer_deep", lambda folder: (without_tokenizer(folder), with_bytes(
        "tokenizer.json", b'{"model":' * MIB)(folder))
    yield "normalizers_double", doubling(lambda count: {"normalizer": {"type": "Sequence", "normalizers": [
        {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * count}}, 62)
    yield "pre_tokenizers_double", doubling(lambda count: {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [
        {"type": "ByteLevel", "use_regex": False}] * count}}, 30)
    yield "weights_truncated", lambda folder: truncate(folder / "model.safetensors")


def truncate(path):
    data = path.read_bytes()
    path.write_bytes(data[:len(data) // 2])


def limited(memory):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return limit


def resident(pid):
    """The most bytes that the process had in memory until now; 0 where it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def measured(command, folder, memory):
    """Exit code (None: too long), seconds, bytes in memory at the most as seen each millisecond, error."""
    words = folder.parent / "error.txt"
    start, most, code = time.monotonic(), 0, None
    with open(words, "wb") as error:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=error, preexec_fn=limited(memory))
        while code is None and time.monotonic() - start < MOST_SECONDS:
            most = max(most, resident(process.pid))
            time.sleep(0.001)
            code = process.poll()
        seconds = time.monotonic() - start
        if code is None:
            process.kill()
            process.wait()
    return code, seconds, most, words.read_text(errors="replace")


def peak_address_space(command, folder):
    """What a good file takes: the least limit, in steps of 64 MiB, under which the command succeeds."""
    low = 64 * MIB
    while measured(command, folder, low)[0] != 0:
        low += 64 * MIB
        if low > 4096 * MIB:
            sys.exit(f"FAILED: a good file needs more than 4 GiB of address space: {command}")
    return low


def commands(app, name):
    yield "trace", [app, "trace", name, "-o", "out.npz"]
    yield "diff", [app, "diff", name]
    yield "heads", [app, "heads", name, "-o", "out.csv"]
    yield "render", [app, "render", name, "-o", "out.png"]


def model_commands(app, name):
    yield "trace", [app, "trace", "--model", name, "--text", "a b", "-o", "out.npz"]
    yield "heads", [app, "heads", name, "--text", "a b", "-o", "out.csv"]
    yield "render", [app, "render", name, "--text", "a b", "-o", "out.png"]


def faults_of(result, folder, before):
    code, seconds, _, error = result
    if code is None:
        yield f"still ran after {seconds:.1f} s"
    elif code not in (1, 2):
        yield f"exit code {code}"
    if error.count("\n") != 1 or len(error) > 4096:
        yield f"{error.count(chr(10))} lines, {len(error)} bytes of error"
    left = sorted(set(os.listdir(folder)) - before)
    if left:
        yield f"left {left}"
    for name in left:
        (folder / name).unlink()


def main():
    app, model = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3])
    binary = pathlib.Path(app).read_bytes()
    if b"__asan_init" in binary or b"__tsan_init" in binary:
        print("sanitizers reserve more than any limit")
        sys.exit(77)
    failures = 0
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root) / "work"
        folder.mkdir()
        (folder / "good.npz").write_bytes(npz(
            [(f"{name}.npy", npy("<f4", (2, 2), floats(1, 2, 3, 4))) for name in "QKV"]))
        base = {verb: peak_address_space(command, folder)
                for verb, command in commands(app, "good.npz") if verb in ("trace", "render")}
        print("base " + ", ".join(f"{verb} {size // MIB} MiB" for verb, size in base.items()))

        def play(name, verbs):
            nonlocal failures
            longest, largest = 0.0, 0
            for verb, command in verbs:
                limit = base["render" if verb == "render" else "trace"] + EXTRA
                before = set(os.listdir(folder))
                result = measured(command, folder, limit)
                for fault in faults_of(result, folder, before):
                    failures += 1
                    print(f"FAILED {verb} {name}: {fault}: {result[3].strip()[:300]}")
                if SAYS.get(name, "") not in result[3]:
                    failures += 1
                    print(f"FAILED {verb} {name}: does not say '{SAYS[name]}': {result[3].strip()[:300]}")
                if result[1] > WANTED_SECONDS:
                    print(f"  slow: {verb} {name} {result[1]:.1f} s")
                if os.environ.get("HOSTILE_WORDS"):
                    print(f"  {verb}: {result[0]} {result[3].strip()[:200]}")
                longest, largest = max(longest, result[1]), max(largest, result[2])
            print(f"{name}: {longest:.2f} s, {largest / MIB:.0f} MiB")

        for name, data in files():
            (folder / name).write_bytes(data)
            play(name, commands(app, name))
            (folder / name).unlink()
        for name, data in gguf_files():
            (folder / name).write_bytes(data)
            play(name, model_commands(app, name))
            (folder / name).unlink()
        for name, change in itertools.chain(models(), eight_bit_models()):
            shutil.copytree(model, folder / name)
            change(folder / name)
            play(name, model_commands(app, name))
            shutil.rmtree(folder / name)
        shutil.copytree(model, folder / "slow")
        for fault in check_signals(app, folder / "slow"):
            failures += 1
            print(f"FAILED {fault}")
    if failures:
        sys.exit(f"{failures} failures")


main()
