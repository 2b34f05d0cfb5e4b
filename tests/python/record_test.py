"""attnscope.record(): what fused kernels receive, in files from which the program computes the model's own weights.

    record_test.py ATTNSCOPE PACKAGE
"""
import json
import os
import subprocess
import sys
import threading
import unittest

try:
    import torch
except ImportError:
    print("python3-torch is not installed")
    sys.exit(77)
try:
    import transformers
except ImportError:
    transformers = None
import numpy
from case import BINARY, PACKAGE, Case, attnscope

F = torch.nn.functional
LOOKED_FOR = "no call of torch.nn.functional.scaled_dot_product_attention, torch.nn.MultiheadAttention or flex_attention was seen"

EAGER = "but softmax ran: the model computes attention itself; expected one of these calls. attnscope.save(path, model, inputs) records its projections"


def reference(q, k, v, allowed=True, bias=0.0, scale=None):
    """Weights and context [B, H, Tq, Tk], in float64."""
    q, k, v = (each.detach().double() for each in (q, k, v))
    k, v = (each.repeat_interleave(q.shape[1] // each.shape[1], 1) for each in (k, v))  # grouped heads
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    scores = scores.masked_fill(~torch.as_tensor(allowed).expand(scores.shape), float("-inf"))
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights.numpy(), (weights @ v).numpy()


class Attention(torch.nn.Module):
    """4 heads of width 4 on kv_heads of keys over a model of width 16; options are those of scaled_dot_product_attention."""

    def __init__(self, kv_heads=4, **options):
        super().__init__()
        self.qkv = torch.nn.Linear(16, 16 + 8 * kv_heads)
        self.kv_heads, self.options = kv_heads, options

    def operands(self, x):
        parts = self.qkv(x).split((16, 4 * self.kv_heads, 4 * self.kv_heads), -1)
        return [part.unflatten(-1, (-1, 4)).transpose(1, 2) for part in parts]

    def forward(self, x, **more):
        out = F.scaled_dot_product_attention(*self.operands(x), **{**self.options, **more})
        return x + out.transpose(1, 2).flatten(2)


class Stack(torch.nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x, **more):
        for layer in self.layers:
            x = layer(x, **more)
        return x


class RecordCase(Case):
    def setUp(self):
        super().setUp()
        torch.manual_seed(1)
        self.out = self.folder / "a.npz"

    def record(self, model, *args, out=None, kwargs=None, **options):
        """The recording of one run."""
        with torch.no_grad(), attnscope.record(model, out or self.out, **options) as recording:
            model(*args, **(kwargs or {}))
        return recording

    def check(self, path, layer, q, k, v, **call):
        found = self.trace(path, "--layer", str(layer))
        weights, context = reference(q, k, v, **call)
        numpy.testing.assert_allclose(found["weights"], weights, atol=1e-6)
        numpy.testing.assert_allclose(found["context"], context, atol=1e-5)

    def refusal(self, model, *args, kwargs=None, **options):
        with self.assertRaises(ValueError) as refused:
            self.record(model, *args, kwargs=kwargs, **options)
        self.assertEqual(os.listdir(self.folder), [])
        return str(refused.exception)


class Calls(RecordCase):
    def test_masks_scales_and_shared_keys(self):
        tril = torch.ones(5, 5).tril().bool()
        random = torch.rand(2, 1, 5, 5) < 0.6
        random[..., 0] = True
        bias = torch.randn(4, 5, 5)[None]
        low = torch.zeros(5, 5).masked_fill(~tril, torch.finfo(torch.float32).min)
        padded = (torch.arange(5) < torch.tensor([[5], [3]]))[:, None, None, :]
        x = torch.randn(2, 5, 16)
        for number, (options, expected) in enumerate((
                ({}, {}), ({"is_causal": True}, {"allowed": tril}), ({"scale": 0.3}, {"scale": 0.3}), ({"attn_mask": tril}, {"allowed": tril}),
                ({"attn_mask": random}, {"allowed": random}), ({"attn_mask": bias}, {"bias": bias.double()}), ({"attn_mask": low}, {"allowed": tril}),
                ({"attn_mask": padded}, {"allowed": padded}),
                ({"attn_mask": padded & tril, "kv_heads": 2, "enable_gqa": True, "scale": 1.0}, {"allowed": padded & tril, "scale": 1.0}),
                ({"is_causal": True, "kv_heads": 1, "enable_gqa": True}, {"allowed": tril}))):
            with self.subTest(options=options):
                model = Stack(Attention(**options))
                out = self.folder / f"{number}.npz"
                self.record(model, x, out=out)
                self.check(out, 0, *model.layers[0].operands(x), **expected)

    def test_the_run_is_the_same_and_nothing_remains(self):
        x = torch.randn(2, 5, 16)
        model = Stack(Attention(is_causal=True), torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True))
        for training in (False, True):
            model.train(training)
            torch.manual_seed(2)
            expected = model(x) if training else model(x).detach()
            draw = torch.rand(3)
            torch.manual_seed(2)
            with self.subTest(training=training), self.warned() if training else torch.no_grad():
                with attnscope.record(model, self.folder / f"{training}.npz"):
                    found = model(x)
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
            torch.testing.assert_close(torch.rand(3), draw, rtol=0, atol=0)
        for module in model.modules():
            self.assertFalse(module._forward_hooks or module._forward_pre_hooks)
        self.assertFalse(torch.overrides._get_current_function_mode_stack())

    def warned(self):
        return self.assertWarnsRegex(attnscope.Note, "attention dropout is 0.1, and the file has the weights before it; model.eval\\(\\) switches it off")

    def test_layers_steps_and_heads_are_chosen(self):
        model = Stack(*(Attention(2, enable_gqa=True) for _ in range(3)))
        inputs = [torch.randn(1, count, 16) for count in (4, 5, 6)]
        with torch.no_grad(), attnscope.record(model, self.out, layers=[0, 2], steps=range(1, 3), heads=[3, 0]) as recording:
            for x in inputs:
                model(x)
        self.assertEqual([os.path.basename(path) for path in recording.paths], ["a-step1.npz", "a-step2.npz"])
        self.assertEqual((recording.calls, recording.layers, recording.steps), (4, {0: "layers.0", 2: "layers.2"}, [1, 2]))
        for path, x in zip(recording.paths, inputs[1:]):
            self.assertEqual(sorted(numpy.load(path)), sorted(f"l{layer}.{role}" for layer in (0, 2) for role in "QKV"))
            q, k, v = model.layers[0].operands(x)
            self.check(path, 0, q[:, [3, 0]], k[:, [1, 0]], v[:, [1, 0]])
        recording = self.record(model, inputs[0], out=self.folder / "b.npz", layers=["*.1"])
        self.assertEqual(recording.layers, {1: "layers.1"})
        self.assertEqual(os.fspath(recording), str(self.folder / "b.npz"))
        numpy.testing.assert_allclose(attnscope.trace(recording)["weights"], reference(*model.layers[1].operands(model.layers[0](inputs[0])))[0], atol=1e-6)

    def test_a_selection_that_does_not_exist(self):
        model, x = Stack(Attention(), Attention()), torch.randn(1, 5, 16)
        self.assertEqual(self.refusal(model, x, layers=[7]), "nothing was recorded: layers is [7] and steps is None; expected some of layers 0 to 1 "
                                                             "(layers.0, layers.1, …) and of steps 0 to 0")
        self.assertIn("steps is [3]", self.refusal(model, x, steps=3))
        self.assertEqual(self.refusal(model, x, layers=[-1]), "layers has -1; expected whole numbers from 0 on, or names of modules such as '*.cross_attn'")
        self.assertEqual(self.refusal(model, x, steps=["a"]), "steps has 'a'; expected whole numbers from 0 on")
        self.assertEqual(self.refusal(model, x, heads=[]), "heads is empty; expected at least one number, or None for all")
        self.assertEqual(self.refusal(model, x, heads=[4]), "heads has 4, and layer 0 (layers.0) has 4; expected numbers below that")
        with self.assertWarnsRegex(attnscope.Note, "layers has 5, which did not run; recorded are 1"):
            self.record(model, x, layers=[1, 5])

    def test_repeated_heads_of_keys_are_written_once(self):
        q, k, v = torch.randn(1, 6, 5, 8), torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8)
        other = v.repeat_interleave(3, 1).clone()
        other[0, 4, 1, 0] += 1
        for number, (values, heads) in enumerate(((v.repeat_interleave(3, 1), 2), (other, 6))):
            out = self.folder / f"{number}.npz"
            with attnscope.record(None, out):
                F.scaled_dot_product_attention(q, k.repeat_interleave(3, 1), values)
            self.assertEqual([numpy.load(out)[name].shape[1] for name in ("l0.Q", "l0.K", "l0.V")], [6, heads, heads])
            self.check(out, 0, q, k, values[:, ::3] if heads == 2 else values)

    def test_every_call_of_a_block_without_a_model(self):
        q, k, v = torch.randn(3, 2, 4, 5, 8)
        with attnscope.record(None, self.out):
            F.scaled_dot_product_attention(q, k, v)
            F.scaled_dot_product_attention(q[0], k[0], v[0], is_causal=True)  # [H, T, d]
        paths = [self.folder / "a-1.npz", self.folder / "a-2.npz"]
        self.check(paths[0], 0, q, k, v)
        self.check(paths[1], 1, q[:1], k[:1], v[:1], allowed=torch.ones(5, 5).tril().bool())

    def test_a_module_that_runs_several_times_is_several_layers(self):
        class Shared(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Attention(is_causal=True)

            def forward(self, x):
                return self.block(self.block(x))

        model, x = Shared(), torch.randn(1, 5, 16)
        recording = self.record(model, x)
        self.assertEqual(recording.layers, {0: "block", 1: "block"})
        self.check(self.out, 1, *model.block.operands(model.block(x)), allowed=torch.ones(5, 5).tril().bool())

    def test_recomputation_for_gradients_is_not_recorded(self):
        from torch.utils.checkpoint import checkpoint

        model = Stack(Attention(), Attention())
        with attnscope.record(model, self.out) as recording:
            x = torch.randn(1, 5, 16, requires_grad=True)
            for use_reentrant in (True, False):
                checkpoint(model, x, use_reentrant=use_reentrant).sum().backward()
        self.assertEqual((recording.calls, recording.steps), (4, [0, 1]))


class Modules(RecordCase):
    def heads_of(self, module, query, key, value):
        parts = [F.linear(x, w, b) for x, w, b in zip((query, key, value), module.in_proj_weight.chunk(3), module.in_proj_bias.chunk(3))]
        return [part.unflatten(-1, (module.num_heads, -1)).transpose(1, 2) for part in parts]

    def test_multihead_attention(self):
        module = torch.nn.MultiheadAttention(16, 4, batch_first=True).eval()
        query, key = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
        shut = torch.arange(7) >= torch.tensor([[7], [4]])
        for number, (need_weights, inference) in enumerate(((False, False), (True, False), (False, True), (True, True))):
            out = self.folder / f"{number}.npz"
            with torch.inference_mode(inference), attnscope.record(module, out):
                _, weights = module(query, key, key, key_padding_mask=shut, need_weights=need_weights, average_attn_weights=False)
            self.check(out, 0, *self.heads_of(module, query, key, key), allowed=~shut[:, None, None, :])
            if need_weights:
                numpy.testing.assert_allclose(self.trace(out)["weights"], weights.detach().numpy(), atol=1e-6)

    def test_an_encoder_that_has_a_path_of_its_own_in_inference(self):
        model = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2).eval()
        x = torch.randn(2, 5, 16)
        causal = torch.nn.Transformer.generate_square_subsequent_mask(5)
        expected = model(x, mask=causal, is_causal=True).detach()
        with torch.inference_mode(), attnscope.record(model, self.out) as recording:
            found = model(x, mask=causal, is_causal=True)
        torch.testing.assert_close(found, expected)
        self.assertEqual(recording.layers, {0: "layers.0.self_attn", 1: "layers.1.self_attn"})
        self.check(self.out, 0, *self.heads_of(model.layers[0].self_attn, x, x, x), allowed=torch.ones(5, 5).tril().bool())

    def test_a_decoder_attends_to_itself_and_across(self):
        model = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(16, 4, 32, batch_first=True), 1).eval()
        x, memory = torch.randn(1, 3, 16), torch.randn(1, 6, 16)
        recording = self.record(model, x, memory, tokens=list("abc"), tokens_kv=list("tuvwxy"))
        self.assertEqual(recording.layers, {0: "layers.0.self_attn", 1: "layers.0.multihead_attn"})
        self.check(recording.paths[0], 0, *self.heads_of(model.layers[0].self_attn, x, x, x))
        self.assertEqual(self.trace(recording.paths[1])["weights"].shape, (1, 4, 3, 6))
        with self.assertRaisesRegex(ValueError, "the recording has 2 files; expected one of its paths"):
            os.fspath(recording)

    def test_flex_attention(self):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention

        documents = torch.tensor([0, 0, 0, 1, 1, 1, 1])
        slopes = torch.tensor([0.5, 0.25, 0.125, 0.0625])
        i, j = torch.arange(7)[:, None], torch.arange(7)[None, :]
        masks = ((lambda b, h, q, k: q >= k, i >= j), (lambda b, h, q, k: (q >= k) & (documents[q] == documents[k]), (i >= j) & (documents[:, None] == documents)))
        q, k, v = torch.randn(2, 4, 7, 8), torch.randn(2, 2, 7, 8), torch.randn(2, 2, 7, 8)
        compiled = torch.compile(flex_attention)
        for number, (function, (mask_mod, allowed)) in enumerate(zip((flex_attention, compiled), masks)):
            block_mask = create_block_mask(mask_mod, None, None, 7, 7, device="cpu")
            out = self.folder / f"{number}.npz"
            with torch.no_grad(), attnscope.record(None, out):
                context = function(q, k, v, block_mask=block_mask, enable_gqa=True)
            self.check(out, 0, q, k, v, allowed=allowed)
            numpy.testing.assert_allclose(self.trace(out)["context"], context.numpy(), atol=1e-5)
        out = self.folder / "bias.npz"
        with torch.no_grad(), attnscope.record(None, out):
            flex_attention(q, k, v, score_mod=lambda score, b, h, q, k: score - slopes[h] * (q - k).abs(), enable_gqa=True, scale=0.5)
        self.check(out, 0, q, k, v, bias=-(slopes[:, None, None] * (i - j).abs()).double(), scale=0.5)
        with self.assertRaisesRegex(ValueError, "layer 0: its score_mod does more than add a number to a score, such as a soft cap"), torch.no_grad(), \
                attnscope.record(None, self.folder / "cap.npz"):
            flex_attention(q, k, v, score_mod=lambda score, b, h, q, k: 5 * torch.tanh(score / 5), enable_gqa=True)
        self.assertFalse((self.folder / "cap.npz").exists())

        class Sinks(torch.nn.Module):  # as GptOssAttention applies them
            def __init__(self):
                super().__init__()
                self.sinks = torch.nn.Parameter(torch.zeros(4))

            def forward(self, q, k, v):
                return flex_attention(q, k, v, enable_gqa=True)

        with self.assertRaises(ValueError) as refused:
            self.record(Sinks(), q, k, v, out=self.folder / "sinks.npz")
        self.assertEqual(str(refused.exception), "layer 0 (Sinks): its module has sinks, which take weight after flex_attention; expected a module without "
                                                 "them. attnscope.save(path, q, k, v, sinks=module.sinks) writes one call")


class Conditions(RecordCase):
    def test_16_bit_numbers_are_those_of_the_kernel(self):
        x = torch.randn(1, 5, 16)
        for dtype in (torch.bfloat16, torch.float16):
            model = Stack(Attention(is_causal=True)).to(dtype)
            out = self.folder / f"{dtype}.npz"
            self.record(model, x.to(dtype), out=out)
            q, k, v = model.layers[0].operands(x.to(dtype))
            numpy.testing.assert_array_equal(numpy.load(out)["l0.K"], k.detach().float().numpy())
            self.check(out, 0, q, k, v, allowed=torch.ones(5, 5).tril().bool())
        model = Stack(Attention(is_causal=True))
        with torch.autocast("cpu", torch.bfloat16):
            self.record(model, x)
            k = model.layers[0].operands(x)[1]
        self.assertEqual(k.dtype, torch.bfloat16)
        numpy.testing.assert_array_equal(numpy.load(self.out)["l0.K"], k.detach().float().numpy())
        with torch.autocast("cpu", torch.bfloat16), attnscope.record(None, self.folder / "cast.npz"):
            F.scaled_dot_product_attention(x[None], x[None], x[None])  # casts by itself
        numpy.testing.assert_array_equal(numpy.load(self.folder / "cast.npz")["l0.Q"], x[None].bfloat16().float().numpy())

    def test_compiled_models_run_uncompiled(self):
        x = torch.randn(1, 5, 16)
        whole, part = Stack(Attention(is_causal=True)), Stack(Attention(is_causal=True))
        part.layers[0].compile(backend="eager")
        for number, (model, name) in enumerate(((torch.compile(whole, backend="eager"), "OptimizedModule"), (part, "layers.0"))):
            model(x)  # compiled before
            out = self.folder / f"{number}.npz"
            with self.assertWarnsRegex(attnscope.Note, f"^{name} is compiled, and its calls are recorded from a run without torch.compile"):
                recording = self.record(model, x, out=out)
            self.assertEqual(recording.calls, 1)
            self.check(out, 0, *(whole, part)[number].layers[0].operands(x), allowed=torch.ones(5, 5).tril().bool())

    def test_exported_models_and_operators(self):
        x, model = torch.randn(1, 5, 16), Stack(Attention(is_causal=True, scale=0.3))
        exported = torch.export.export(model, (x,)).module()
        expected = {"allowed": torch.ones(5, 5).tril().bool(), "scale": 0.3}
        self.record(exported, x)
        self.check(self.out, 0, *model.layers[0].operands(x), **expected)
        q, k, v = model.layers[0].operands(x)
        with torch.no_grad(), attnscope.record(None, self.folder / "b.npz"):
            torch.ops.aten.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3)
        self.check(self.folder / "b.npz", 0, q, k, v, **expected)

    def test_calls_that_python_does_not_see_whole_are_refused(self):
        x, model = torch.randn(1, 5, 16), Stack(Attention())
        self.assertEqual(self.refusal(torch.nn.Sequential(torch.jit.trace(model, x)), x),
                         "0 is a TorchScript module, whose calls Python does not see; expected the model before torch.jit.script or torch.jit.trace")
        self.assertFalse(model._forward_hooks)
        with self.assertRaises(ValueError) as refused, attnscope.record(None, self.out):
            torch.vmap(lambda each: F.scaled_dot_product_attention(each, each, each))(x[None])
        self.assertEqual(str(refused.exception), "layer 0: query is inside a transform of torch.func, such as vmap; expected a call outside of it, with a "
                                                 "batch axis")

    def test_an_exception_leaves_finished_calls(self):
        class Failing(torch.nn.Module):
            def forward(self, x):
                raise KeyError("x")

        model, x = Stack(Attention(), Attention(), Failing()), torch.randn(1, 5, 16)
        with self.assertRaises(KeyError):
            self.record(model, x)
        self.assertEqual(os.listdir(self.folder), ["a.npz"])
        self.check(self.out, 0, *model.layers[0].operands(x))
        self.assertFalse(model._forward_hooks or torch.overrides._get_current_function_mode_stack())
        with self.assertRaises(KeyError):
            self.record(model, x, out=self.folder / "b.npz", join=True)
        with self.assertRaises(KeyError):
            self.record(Stack(Failing(), Attention()), x, out=self.folder / "c.npz")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.npz", "trace.npz"])

    def test_a_caught_exception_does_not_shift_names(self):
        model, x = Stack(Attention(), Attention()), torch.randn(1, 5, 16)
        with torch.no_grad(), attnscope.record(model, self.out) as recording:
            with self.assertRaises(RuntimeError):
                model(torch.randn(1, 5, 15))
            model(x)
        self.assertEqual(recording.layers, {0: "layers.0", 1: "layers.1"})
        self.check(self.out, 0, *model.layers[0].operands(x))

    def test_two_recordings_at_once(self):
        model, x = Stack(Attention(), Attention()), torch.randn(1, 5, 16)
        with torch.no_grad(), attnscope.record(model, self.out) as outer:
            with attnscope.record(model.layers[1], self.folder / "b.npz") as inner:
                model(x)
            model(x)
        self.assertEqual((outer.calls, outer.steps, inner.calls), (4, [0, 1], 1))
        operands = model.layers[1].operands(model.layers[0](x))
        self.check(outer.paths[0], 1, *operands)
        self.check(inner.paths[0], 0, *operands)

    def test_a_recording_is_used_once(self):
        recording = attnscope.record(Stack(Attention()), self.out)
        with self.assertRaisesRegex(ValueError, "no file yet"):
            os.fspath(recording)
        with self.assertRaises(ValueError), recording:
            pass
        with self.assertRaisesRegex(RuntimeError, "begun before"), recording:
            pass

    def test_another_thread_is_reported(self):
        model, x = Stack(Attention()), torch.randn(1, 5, 16)
        with self.assertRaises(ValueError) as refused, attnscope.record(model, self.out):
            other = threading.Thread(target=model, args=(x,))
            other.start()
            other.join()
        self.assertEqual(str(refused.exception), f"{LOOKED_FOR}: Stack ran in another thread; expected the model to run in the thread of the with "
                                                 "block. Open the with block in that thread")

    def test_nothing_to_record_names_the_cause(self):
        class Eager(Attention):
            def forward(self, x):
                q, k, v = self.operands(x)
                return (q @ k.transpose(-1, -2) / 2).softmax(-1) @ v

        x = torch.randn(1, 5, 16)
        self.assertEqual(self.refusal(Stack(Eager()), x), f"{LOOKED_FOR}, {EAGER}")
        self.assertEqual(self.refusal(torch.nn.Linear(16, 4), x), f"{LOOKED_FOR}, and no softmax either; expected a model with softmax attention")
        with self.assertRaises(ValueError) as refused, attnscope.record(Stack(Attention()), self.out):
            pass
        self.assertEqual(str(refused.exception), f"{LOOKED_FOR}: the model did not run; expected model(inputs) or model.generate(inputs) inside the with block")
        with self.assertRaises(ValueError) as refused, attnscope.record(Stack(Attention()), self.out):
            F.scaled_dot_product_attention(x, x, x)
        self.assertEqual(str(refused.exception), f"{LOOKED_FOR} inside the model, and 1 outside; expected calls of its modules. Pass None as the model to "
                                                 "record every call")
        self.assertEqual(os.listdir(self.folder), [])

    def test_tensors_without_numbers_are_refused(self):
        model = Stack(Attention())
        self.assertEqual(self.refusal(model.to("meta"), torch.randn(1, 5, 16, device="meta")),
                         "layer 0 (layers.0): query is on the device 'meta', which has no numbers; expected 'cpu' or 'cuda'")
        jagged = torch.nested.nested_tensor([torch.randn(n, 4, 8) for n in (3, 5)], layout=torch.jagged).transpose(1, 2)
        with self.assertRaises(ValueError) as refused, attnscope.record(None, self.out):
            F.scaled_dot_product_attention(jagged, jagged, jagged)
        self.assertEqual(str(refused.exception), "layer 0: query is a nested tensor; expected a padded one, tensor.to_padded_tensor(0.0) with an attn_mask, "
                                                 "or one sequence at a time")
        with self.assertRaises(ValueError) as refused, attnscope.record(None, self.out):
            F.scaled_dot_product_attention(*torch.randn(3, 2, 2, 2, 5, 4))
        self.assertEqual(str(refused.exception), "layer 0: query is [2, 2, 2, 5, 4]; expected [T, d], [H, T, d] or [B, H, T, d]")
        with self.assertRaisesRegex(ValueError, "model is a function; expected a torch.nn.Module, or None"):
            attnscope.record(softmax_of, self.out)
        with self.assertRaisesRegex(ValueError, "steps is given without a model; expected layers alone"):
            attnscope.record(None, self.out, steps=[0])


def softmax_of(x):
    return x.softmax(-1)


SMALL = {"vocab_size": 60, "hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "max_position_embeddings": 64,
         "initializer_range": 0.3}  # weights far from uniform
DECODER = {**SMALL, "num_hidden_layers": 3, "num_key_value_heads": 2, "bos_token_id": 0, "eos_token_id": None, "pad_token_id": 0}

MEMORY = r"""
import re, sys
sys.path.insert(0, {package!r})
import torch, transformers, attnscope
torch.set_num_threads(1)
torch.manual_seed(1)
config = transformers.LlamaConfig(vocab_size=100, hidden_size=256, intermediate_size=256, num_attention_heads=8, num_key_value_heads=2, num_hidden_layers=8,
                                  max_position_embeddings=1024, attn_implementation={implementation!r})
model = transformers.LlamaModel(config).eval()
ids = torch.arange(1024)[None] % 100
model(ids[:, :8])
def memory(name):
    return int(re.search(name + r":\s*(\d+) kB", open("/proc/self/status").read()).group(1))
open("/proc/self/clear_refs", "w").write("5")  # the peak begins at the present size
before = memory("VmRSS")
with torch.no_grad():
    {run}
print(memory("VmHWM") - before)
"""


@unittest.skipIf(transformers is None, "python3-transformers is not installed")
class Transformers(RecordCase):
    def model(self, kind, config, implementation="sdpa", **options):
        torch.manual_seed(1)
        return getattr(transformers, kind)(getattr(transformers, config)(attn_implementation=implementation, **options)).eval()

    def both(self, *kind, **options):
        """The model by scaled_dot_product_attention, and the same by its own softmax, which gives weights."""
        fused, eager = self.model(*kind, **options), self.model(*kind, implementation="eager", **options)
        eager.load_state_dict(fused.state_dict())
        return fused, eager

    def check_weights(self, path, layer, expected, rows=None):
        found = self.trace(path, "--layer", str(layer), "--keep", "weights")["weights"]
        self.assertEqual(found.shape, tuple(expected.shape))
        rows = numpy.ones(found.shape[:-1], bool) if rows is None else numpy.broadcast_to(rows, found.shape[:-1])
        numpy.testing.assert_allclose(found[rows], expected.detach().numpy()[rows], atol=1e-5)
        if found.shape[-2] > 1:  # so that a wrong scale, position or mask exceeds rounding
            self.assertGreater(found[rows].max(-1).mean(), 1.3 * (1 / (found[rows] > 0).sum(-1)).mean())

    def test_weights_are_those_of_eager_attention(self):
        gemma = {**DECODER, "num_hidden_layers": 6, "head_dim": 8, "sliding_window": 4, "query_pre_attn_scalar": 2}
        for kind, config, options in (
                ("GPT2LMHeadModel", "GPT2Config", {"n_layer": 3, "n_head": 4, "n_embd": 32, "initializer_range": 0.3, "vocab_size": 60, "n_positions": 64, "bos_token_id": 0, "eos_token_id": 0}),
                ("LlamaForCausalLM", "LlamaConfig", DECODER), ("Qwen3ForCausalLM", "Qwen3Config", {**DECODER, "head_dim": 16}),
                ("Gemma3ForCausalLM", "Gemma3TextConfig", gemma), ("MistralForCausalLM", "MistralConfig", {**DECODER, "sliding_window": 3}),
                ("BertModel", "BertConfig", {**SMALL, "num_hidden_layers": 3}), ("ViTModel", "ViTConfig", {**SMALL, "num_hidden_layers": 2, "image_size": 24, "patch_size": 8})):
            fused, eager = self.both(kind, config, **options)
            ids = torch.randint(1, 60, (2, 11))
            padding = torch.ones(2, 11, dtype=torch.long)
            padding[1, :3] = 0
            inputs = {"plain": {"input_ids": ids}, "padded": {"input_ids": ids, "attention_mask": padding}}
            if kind == "ViTModel":
                inputs = {"image": {"pixel_values": torch.randn(2, 3, 24, 24)}}
            for name, kwargs in inputs.items():
                with self.subTest(kind=kind, inputs=name):
                    out = self.folder / f"{kind}-{name}.npz"
                    recording = self.record(fused, out=out, kwargs=kwargs)
                    expected = eager(**kwargs, output_attentions=True).attentions
                    self.assertEqual(list(recording.layers), list(range(len(expected))))
                    rows = padding.bool()[:, None, :].numpy() if name == "padded" else None
                    for layer, weights in enumerate(expected):
                        self.check_weights(out, layer, weights, rows)
                    table = attnscope.heads(recording)
                    self.assertEqual(len(numpy.asarray(table["head"])), 4 * len(expected))

    def test_encoders_decoders_and_what_is_between(self):
        options = {"vocab_size": 60, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
                   "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "init_std": 0.3, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 1}
        whisper = {**options, "num_mel_bins": 8, "max_source_positions": 10}
        for kind, config, more, inputs in (("BartModel", "BartConfig", options, {"input_ids": torch.randint(2, 60, (1, 9))}),
                                           ("WhisperModel", "WhisperConfig", whisper, {"input_features": torch.randn(1, 8, 20)})):
            fused, eager = self.both(kind, config, **more)
            inputs["decoder_input_ids"] = torch.randint(2, 60, (1, 5))
            expected = eager(**inputs, output_attentions=True)
            for group, pattern in (("encoder", "encoder.*"), ("decoder", "decoder.*.self_attn"), ("cross", "*.encoder_attn")):
                recording = self.record(fused, out=self.folder / f"{kind}-{group}.npz", kwargs=inputs, layers=pattern)
                for layer, weights in zip(recording.layers, expected[f"{group}_attentions"], strict=True):
                    self.check_weights(recording, layer, weights)
            recording = self.record(fused, out=self.folder / f"{kind}.npz", kwargs=inputs)
            self.assertEqual((recording.calls, len(recording.paths)), (6, 3))

    def test_text_and_image_towers(self):
        text, image = ({**SMALL, "num_hidden_layers": 2}, {**SMALL, "num_hidden_layers": 2, "image_size": 24, "patch_size": 8})
        text.pop("max_position_embeddings")
        fused, eager = self.both("SiglipModel", "SiglipConfig", text_config={**text, "max_position_embeddings": 16}, vision_config=image)
        inputs = {"input_ids": torch.randint(2, 60, (1, 7)), "pixel_values": torch.randn(1, 3, 24, 24)}
        recording = self.record(fused, kwargs=inputs, layers="vision_model.encoder.*")
        expected = eager.vision_model(inputs["pixel_values"], output_attentions=True).attentions
        for layer, weights in zip(recording.layers, expected, strict=True):
            self.check_weights(recording, layer, weights)

    def test_windows_with_a_bias_of_each_layer(self):
        fused, eager = self.both("SwinModel", "SwinConfig", image_size=32, patch_size=4, embed_dim=8, depths=[2, 1], num_heads=[2, 4], window_size=4, initializer_range=0.3)
        inputs = {"pixel_values": torch.randn(1, 3, 32, 32)}
        recording = self.record(fused, kwargs=inputs)
        for layer, path in enumerate(recording.paths):
            stage, block = ((0, 0), (0, 1), (1, 0))[layer]
            attention = eager.encoder.layers[stage].blocks[block].attention
            seen = []
            hook = attention.register_forward_hook(lambda _, __, output: seen.append(output[1]))
            eager(**inputs, output_attentions=True)
            hook.remove()
            self.check_weights(path, layer, seen[0])

    def generated(self, kind, config, **options):
        fused, eager = self.both(kind, config, **options)
        ids = torch.randint(1, 60, (1, 6))

        def generate(**recorded):
            with torch.no_grad(), attnscope.record(fused, self.folder / f"{kind}{len(os.listdir(self.folder))}.npz", **recorded) as recording:
                made = fused.generate(ids, max_new_tokens=5, do_sample=False, pad_token_id=0)
                recording.tokens = [f"t{n}" for n in made[0].tolist()]
            return recording, made

        _, made = generate()
        return generate, made, eager(made[:, :-1], output_attentions=True).attentions

    def test_generation_with_a_cache(self):
        sliding = {**DECODER, "num_hidden_layers": 2, "sliding_window": 4, "head_dim": 8, "query_pre_attn_scalar": 2, "layer_types": ["sliding_attention", "full_attention"]}
        for kind, config, options in (("LlamaForCausalLM", "LlamaConfig", DECODER), ("Gemma3ForCausalLM", "Gemma3TextConfig", sliding)):
            generate, made, expected = self.generated(kind, config, **options)
            full = [layer for layer in range(len(expected)) if kind == "LlamaForCausalLM" or layer == 1]
            recording, _ = generate(layers=full)
            self.assertEqual(recording.steps, [0, 1, 2, 3, 4])
            for step, path in enumerate(recording.paths):
                first, end = (0, 6) if step == 0 else (5 + step, 6 + step)
                for layer in full:
                    self.check_weights(path, layer, expected[layer][:, :, first:end, :end])
            last = numpy.load(recording.paths[-1])
            self.assertEqual([json.loads(str(last[name])) for name in ("tokens", "tokens_kv")],
                             [[f"t{made[0, -2]}"], [f"t{n}" for n in made[0, :-1].tolist()]])
            joined, _ = generate(layers=full, join=True)
            for layer in full:
                self.check_weights(joined, layer, expected[layer])
            self.assertEqual(json.loads(str(numpy.load(joined)["tokens"])), [f"t{n}" for n in made[0, :-1].tolist()])
            late, _ = generate(layers=full, join=True, steps=range(2, 5))
            for layer in full:
                self.check_weights(late, layer, expected[layer][:, :, 7:])

    def test_a_sliding_cache_is_not_joined(self):
        options = {**DECODER, "num_hidden_layers": 1, "sliding_window": 4, "head_dim": 8, "layer_types": ["sliding_attention"]}
        fused = self.model("Gemma3ForCausalLM", "Gemma3TextConfig", **options)
        with self.assertRaisesRegex(ValueError, "of layer 0 .*pass join=False"), torch.no_grad(), attnscope.record(fused, self.out, join=True):
            fused.generate(torch.randint(1, 60, (1, 6)), max_new_tokens=5, do_sample=False, pad_token_id=0)
        self.assertEqual(os.listdir(self.folder), [])

    def test_eager_attention_is_named(self):
        ids = torch.randint(1, 60, (1, 6))
        self.assertEqual(self.refusal(self.model("LlamaModel", "LlamaConfig", "eager", **DECODER), ids),
                         f"{LOOKED_FOR}: attn_implementation is 'eager'; expected 'sdpa' or 'flex_attention'. Pass attn_implementation=\"sdpa\" to "
                         "from_pretrained(), or call model.set_attn_implementation(\"sdpa\")")
        model = transformers.T5EncoderModel(transformers.T5Config(vocab_size=60, d_model=32, d_kv=8, num_heads=4, num_layers=2, d_ff=32)).eval()
        self.assertEqual(self.refusal(model, ids), f"{LOOKED_FOR}, {EAGER}")
        model = self.model("MambaModel", "MambaConfig", "eager", vocab_size=60, hidden_size=16, num_hidden_layers=1)
        self.assertEqual(self.refusal(model, ids), f"{LOOKED_FOR}, and no softmax either; expected a model with softmax attention")

    def test_the_lines_of_a_refusal_record_models_of_other_families(self):
        import tokenizers
        from PIL import Image

        letters = tokenizers.Tokenizer(tokenizers.models.WordLevel({letter: n for n, letter in enumerate("_abcdefgh?")}, "?"))
        letters.pre_tokenizer = tokenizers.pre_tokenizers.Split("", "isolated")
        letters = transformers.PreTrainedTokenizerFast(tokenizer_object=letters, pad_token="_", unk_token="?")
        size = {"height": 24, "width": 24}
        pixels = transformers.SiglipImageProcessor(size=size)
        options = {"vocab_size": 60, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
                   "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "pad_token_id": 0, "bos_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 1}
        text, image = {**SMALL, "num_hidden_layers": 2}, {**SMALL, "num_hidden_layers": 2, "image_size": 24, "patch_size": 8}
        Image.new("RGB", (30, 20), "red").save(self.folder / "image.png")
        for kind, more, processor, calls in (
                ("MBart", options, letters, 6),
                ("Whisper", {**options, "num_mel_bins": 8, "max_source_positions": 50}, transformers.WhisperFeatureExtractor(feature_size=8, chunk_length=1), 6),
                ("Siglip", {"text_config": text, "vision_config": image}, transformers.SiglipProcessor(pixels, letters), 5),
                ("Swin", {"image_size": 24, "patch_size": 4, "embed_dim": 8, "depths": [1, 1], "num_heads": [2, 2], "window_size": 3}, transformers.ViTImageProcessor(size=size), 2),
                ("Mamba", {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 1}, letters, 0)):
            with self.subTest(kind=kind):
                folder = self.folder / kind
                getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")(**more)).save_pretrained(folder)
                processor.save_pretrained(folder)
                refused = subprocess.run([BINARY, "heads", folder, "--text", "a", "-o", "-", "--json"], capture_output=True, text=True, check=False)
                python = json.loads(refused.stderr.splitlines()[-1])["text"].split("opened alone: ")[1]
                for name, value in (('"TEXT"', '"abc"'), ('"IMAGE"', '"../image.png"'), ("SAMPLES", "[0.1, -0.1] * 8000")):
                    python = python.replace(name, value)
                done = subprocess.run([sys.executable, "-W", "ignore", "-c", python], cwd=folder, capture_output=True, text=True, check=False,
                                      env={**os.environ, "PYTHONPATH": PACKAGE})
                written = sorted(folder.glob("attention*.npz"))
                self.assertEqual(sum(sum(name.endswith(".Q") for name in numpy.load(path)) for path in written), calls, done.stderr)
                for path in written:
                    self.assertGreater(len(numpy.asarray(attnscope.heads(path)["head"])), 0)
                if not calls:
                    self.assertIn(f"{LOOKED_FOR}, and no softmax either", done.stderr)

    def test_a_causal_model_needs_no_option(self):
        for implementation in ("eager", "sdpa"):
            model = self.model("LlamaForCausalLM", "LlamaConfig", implementation, **DECODER)
            ids = torch.randint(1, 60, (1, 6))
            weights = attnscope.trace(model, {"input_ids": ids}, layer=1)["weights"]
            expected = self.both("LlamaForCausalLM", "LlamaConfig", **DECODER)[1](ids, output_attentions=True).attentions[1]
            numpy.testing.assert_allclose(weights, expected.detach().numpy(), atol=1e-5)

    @unittest.skipUnless(os.access("/proc/self/clear_refs", os.W_OK), "Linux's /proc is needed to measure a peak of memory")
    def test_half_the_memory_of_eager_weights(self):
        used = []
        for implementation, run in (("eager", "model(ids, output_attentions=True)"), ("sdpa", f"\n    with attnscope.record(model, {str(self.out)!r}): model(ids)")):
            done = subprocess.run([sys.executable, "-c", MEMORY.format(package=PACKAGE, implementation=implementation, run=run)],
                                  capture_output=True, text=True, check=True)
            used.append(int(done.stdout.split()[-1]) / 1024)
        print(f"peak memory of the run, MB: eager with weights {used[0]:.0f}, recorded {used[1]:.0f}", file=sys.stderr)
        self.assertLess(used[1], used[0] / 2)
        self.assertEqual(self.trace(self.out, "--layer", "7", "--keep", "weights")["weights"].shape, (1, 8, 1024, 1024))


unittest.main()
