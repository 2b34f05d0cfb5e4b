"""The Python module and the script of hooks: what they write is what attnscope reads, to the number.

    tools_test.py ATTNSCOPE TOOLS
"""
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    print("python3-numpy is not installed")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

BINARY, TOOLS = sys.argv.pop(1), sys.argv.pop(1)
sys.path.insert(0, TOOLS)
sys.dont_write_bytecode = True
import attnscope


def softmax(scores):
    powers = numpy.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def causal(tokens):
    return numpy.where(numpy.tril(numpy.ones((tokens, tokens), bool)), 0.0, -numpy.inf)


class Case(unittest.TestCase):
    def setUp(self):
        self.made = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.made.name)
        self.random = numpy.random.default_rng(1)
        os.environ["ATTNSCOPE"] = BINARY

    def tearDown(self):
        self.made.cleanup()

    def trace(self, path, *options):
        out = self.folder / "trace.npz"
        subprocess.run([BINARY, "trace", path, "-o", out, *options], check=True, capture_output=True)
        return dict(numpy.load(out))

    def qkv(self, *shape):
        return [self.random.standard_normal(shape).astype(numpy.float32) for _ in range(3)]


class Files(Case):
    def test_numbers_tokens_and_options_arrive(self):
        q, k, v = self.qkv(2, 3, 5, 4)
        path = attnscope.save(self.folder / "a.npz", q, k, v, tokens=list("abcde"), causal=True, scale=0.25)
        weights = softmax(q @ k.transpose(0, 1, 3, 2) * 0.25 + causal(5))
        found = self.trace(path)
        numpy.testing.assert_allclose(found["weights"], weights, atol=1e-6)
        numpy.testing.assert_allclose(found["context"], weights @ v, atol=1e-6)
        self.assertEqual(list(numpy.load(path)), ["Q", "K", "V", "tokens", "options"])

    def test_a_list_is_layers(self):
        layers = [self.qkv(3, 5, 4) for _ in range(2)]
        path = attnscope.save(self.folder / "a.npz", *map(list, zip(*layers)))
        for number, (q, k, v) in enumerate(layers):
            found = self.trace(path, "--layer", str(number))
            context = softmax(q @ k.transpose(0, 2, 1) / 2.0) @ v
            numpy.testing.assert_allclose(found["context"][0], context, atol=1e-6)

    def test_weights_alone_are_layers_and_heads(self):
        weights = softmax(self.random.standard_normal((2, 3, 5, 5)))
        for given, names in ((weights[0, 0], ["weights"]), (weights[0], ["weights"]), (weights, ["l0.weights", "l1.weights"]),
                             (list(weights), ["l0.weights", "l1.weights"])):
            path = attnscope.save(self.folder / "w.npz", given)
            found = numpy.load(path)
            self.assertEqual(list(found), names)
            numpy.testing.assert_array_equal(found[names[-1]], given if len(names) == 1 else weights[1])
        csv = self.folder / "heads.csv"
        subprocess.run([BINARY, "heads", path, "-o", csv], check=True, capture_output=True)
        rows = csv.read_text().splitlines()
        self.assertEqual(len(rows), 1 + 2 * 3)
        entropy = -(weights[1, 2] * numpy.log(weights[1, 2])).sum(-1).mean()
        self.assertAlmostEqual(float(rows[-1].split(",")[3]), entropy, places=5)

    def test_weights_of_other_axes_are_refused(self):
        with self.assertRaisesRegex(ValueError, "expected \\[T, T\\]"):
            attnscope.save(self.folder / "w.npz", numpy.ones(4))
        with self.assertRaisesRegex(ValueError, "v is given without k"):
            attnscope.save(self.folder / "w.npz", numpy.ones((2, 2)), v=numpy.ones((2, 2)))

    def test_a_mask_is_an_array_and_not_an_option(self):
        q, k, v = self.qkv(5, 4)
        keep = numpy.tril(numpy.ones((5, 5), bool))
        for mask in (keep, numpy.where(keep, 0.0, -numpy.inf)):
            path = attnscope.save(self.folder / "a.npz", q, k, v, mask=mask, scale=numpy.float32(0.25))
            numpy.testing.assert_allclose(self.trace(path)["weights"][0, 0], softmax(q @ k.T * 0.25 + causal(5)), atol=1e-6)
        with self.assertRaises(ValueError) as refused:
            attnscope.save(path, q, k, v, mask=keep * 0.5)
        self.assertEqual(str(refused.exception),
                         "mask is float64 with other numbers than 0 and -inf; expected bool, True = may attend, or 0 and -inf")

    def test_options_are_those_of_the_program(self):
        said = subprocess.run([BINARY, "trace", "--help"], check=True, capture_output=True, text=True).stdout
        listed = set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", said, re.M))
        others = {"help", "tokens", "output", "backend", "keep", "grad", "layer", "threads", "model", "text", "image", "off", "row", "patch"}
        self.assertEqual(set(attnscope.OPTIONS), listed - others)

    def test_a_misspelt_option_is_refused(self):
        with self.assertRaises(ValueError) as refused:
            attnscope.save(self.folder / "a.npz", *self.qkv(5, 4), causla=True)
        self.assertEqual(str(refused.exception), "there is no option causla; did you mean causal?")

    def test_layers_that_do_not_match_are_refused(self):
        q, k, v = self.qkv(3, 5, 4)
        with self.assertRaisesRegex(ValueError, "q has 2 layers, k 1"):
            attnscope.save(self.folder / "a.npz", [q, q], [k], [v])


class Window(Case):
    def stand_in(self):
        """A program that computes as attnscope does, and writes down what it was asked to show."""
        script = self.folder / "program"
        script.write_text(f'#!/bin/sh\nif [ "$1" = trace ]; then exec {BINARY} "$@"; fi\necho "$@" >{self.folder}/shown\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        os.environ["ATTNSCOPE"] = str(script)

    def test_show_opens_the_file_and_takes_it_away_after_the_window(self):
        self.stand_in()
        attnscope.show(*self.qkv(5, 4), tokens=list("abcde"), wait=True)
        shown = pathlib.Path((self.folder / "shown").read_text().strip())
        self.assertEqual(shown.name, "attention.npz")
        self.assertFalse(shown.exists())

    def test_show_opens_weights_alone(self):
        self.stand_in()
        program = self.folder / "program"
        program.write_text(program.read_text().replace('"$1" = trace ]', '"$1" = trace ] || [ "$1" = heads ]'))
        attnscope.show(softmax(self.random.standard_normal((3, 5, 5))), wait=True)
        self.assertIn("attention.npz", (self.folder / "shown").read_text())

    def test_show_says_what_is_wrong_before_a_window_opens(self):
        self.stand_in()
        q, k, v = self.qkv(5, 4)
        with self.assertRaisesRegex(ValueError, "K"):
            attnscope.show(q, k[:, :3], v)
        with self.assertRaisesRegex(ValueError, "^there is no option no_such_option$"):
            attnscope.show(q, k, v, no_such_option=1)
        self.assertFalse((self.folder / "shown").exists())


# Attention as the classes of that name compute it in Hugging Face's transformers and diffusers, with their submodules' names.

def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def apply_rotary_pos_emb(q, k, cos, sin):
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


def rope_of(tokens, dims):
    angles = torch.arange(tokens)[:, None] * 10000.0 ** (-torch.arange(0, dims, 2) / dims)
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


class Attention(torch.nn.Module if torch else object):
    """4 heads of width 4 over a model of width 16."""
    last = None

    def __init__(self, *parts):
        super().__init__()
        self.num_heads = 4
        for name, outputs in parts:
            setattr(self, name, torch.nn.Linear(16, outputs))

    def attend(self, q, k, v, bias=0.0, mask=True):
        k, v = (part.repeat_interleave(4 // part.shape[1], 1) for part in (k, v))
        scores = q @ k.transpose(-1, -2) / 2 + bias
        if mask:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), float("-inf"))
        type(self).last, self.weights = self, scores.softmax(-1)
        self.context = self.weights @ v
        return self.context.transpose(1, 2).flatten(2)


class GPTNeoXAttention(Attention):
    def __init__(self):
        super().__init__(("query_key_value", 48), ("dense", 16))

    def forward(self, x):
        q, k, v = self.query_key_value(x).view(*x.shape[:2], 4, 12).transpose(1, 2).chunk(3, -1)
        turned = apply_rotary_pos_emb(q[..., :2], k[..., :2], *rope_of(x.shape[1], 2))
        q, k = (torch.cat((new, old[..., 2:]), -1) for new, old in zip(turned, (q, k)))
        return self.dense(self.attend(q, k, v)), self.weights


class BloomAttention(Attention):
    def __init__(self):
        super().__init__(("query_key_value", 48), ("dense", 16))

    def forward(self, x):
        fused = self.query_key_value(x).view(*x.shape[:2], 4, 3, 4)
        q, k, v = (fused[..., n, :].transpose(1, 2) for n in range(3))
        slopes = torch.tensor([2.0 ** (-8 * (h + 1) / 4) for h in range(4)])
        return self.dense(self.attend(q, k, v, slopes[:, None, None] * torch.arange(x.shape[1])))


class Norm(torch.nn.Module if torch else object):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(4) + 0.5)

    def forward(self, x):
        return self.weight * x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt()


class Qwen3Attention(Attention):
    def __init__(self):
        super().__init__(("q_proj", 16), ("k_proj", 8), ("v_proj", 8), ("o_proj", 16))
        self.q_norm, self.k_norm = Norm(), Norm()

    def forward(self, x):
        split = [part(x).unflatten(-1, (-1, 4)) for part in (self.q_proj, self.k_proj, self.v_proj)]
        q, k, v = (part.transpose(1, 2) for part in (self.q_norm(split[0]), self.k_norm(split[1]), split[2]))
        q, k = apply_rotary_pos_emb(q, k, *rope_of(x.shape[1], 4))
        return self.o_proj(self.attend(q, k, v)), self.weights


class Phi3Attention(Attention):
    def __init__(self):
        super().__init__(("qkv_proj", 32), ("o_proj", 16))
        self.num_key_value_heads = 2

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (-1, 4)).transpose(1, 2) for part in self.qkv_proj(x).split((16, 8, 8), -1))
        q, k = apply_rotary_pos_emb(q, k, *rope_of(x.shape[1], 4))
        return self.o_proj(self.attend(q, k, v)), None


class DiffusersAttention(Attention):
    def __init__(self):
        super().__init__(("to_q", 16), ("to_k", 16), ("to_v", 16))
        self.heads = 4
        self.to_out = torch.nn.ModuleList([torch.nn.Linear(16, 16), torch.nn.Dropout(0.0)])

    def forward(self, x, other):
        q, k, v = (part.unflatten(-1, (-1, 4)).transpose(1, 2) for part in (self.to_q(x), self.to_k(other), self.to_v(other)))
        return self.to_out[1](self.to_out[0](self.attend(q, k, v, mask=False)))


@unittest.skipIf(torch is None, "python3-torch is not installed")
class Hooks(Case):
    def test_every_layer_of_a_model_with_grouped_heads(self):
        class Attention(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.q_proj, self.k_proj, self.v_proj = (torch.nn.Linear(16, n) for n in (16, 8, 8))

            def forward(self, x):
                q, k, v = (part(x).unflatten(-1, (-1, 4)).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj))
                k, v = (part.repeat_interleave(2, 1) for part in (k, v))
                mask = torch.from_numpy(causal(x.shape[1])).float()
                self.context = (q @ k.transpose(-1, -2) / 2 + mask).softmax(-1) @ v
                return self.context.transpose(1, 2).flatten(2)

        from save_attention import save_attention

        torch.manual_seed(1)
        model = torch.nn.Sequential(Attention(), Attention())
        path = self.folder / "a.npz"
        save_attention(path, model, (torch.randn(1, 5, 16),), heads=4, kv_heads=2, tokens=list("abcde"), causal=True)
        for number, layer in enumerate(model):
            found = self.trace(path, "--layer", str(number))
            numpy.testing.assert_allclose(found["context"], layer.context.detach().numpy(), atol=1e-6)
        self.assertFalse(model[0].q_proj._forward_hooks)

    def test_a_packed_projection(self):
        class Attention(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.c_attn = torch.nn.Linear(8, 24)

            def forward(self, x):
                q, k, v = (part.unflatten(-1, (2, 4)).transpose(1, 2) for part in self.c_attn(x).split(8, -1))
                self.context = (q @ k.transpose(-1, -2) / 2).softmax(-1) @ v
                return self.context

        from save_attention import save_attention

        torch.manual_seed(1)
        model, path = Attention(), self.folder / "a.npz"
        save_attention(path, model, (torch.randn(1, 5, 8),), heads=2)
        numpy.testing.assert_allclose(self.trace(path)["context"], model.context.detach().numpy(), atol=1e-6)

    def saved(self, model, *args, **options):
        """The file, and what `attnscope trace` makes of its first layer."""
        from save_attention import save_attention

        path = self.folder / "a.npz"
        save_attention(path, model, args, **options)
        return self.trace(path, "--layer", "0")

    def refusal(self, model, *args, **options):
        from save_attention import save_attention

        with self.assertRaises(ValueError) as refused:
            save_attention(self.folder / "a.npz", model, args, **options)
        self.assertFalse((self.folder / "a.npz").exists())
        return str(refused.exception)

    def check(self, found, model):
        numpy.testing.assert_allclose(found["weights"], model.weights.detach().numpy(), atol=1e-6)
        numpy.testing.assert_allclose(found["context"], model.context.detach().numpy(), atol=1e-5)

    def test_gpt_neox_interleaves_heads_and_turns_a_part_of_each(self):
        torch.manual_seed(1)
        self.check(self.saved(GPTNeoXAttention(), torch.randn(1, 5, 16), causal=True), GPTNeoXAttention.last)

    def test_bloom_interleaves_heads_and_has_alibi(self):
        torch.manual_seed(1)
        self.check(self.saved(BloomAttention(), torch.randn(1, 5, 16), causal=True, alibi=True), BloomAttention.last)

    def test_qwen3_has_norms_before_rope(self):
        torch.manual_seed(1)
        self.check(self.saved(Qwen3Attention(), torch.randn(1, 5, 16), causal=True), Qwen3Attention.last)

    def test_phi3_has_one_projection_with_fewer_keys(self):
        torch.manual_seed(1)
        self.check(self.saved(Phi3Attention(), torch.randn(1, 5, 16), causal=True), Phi3Attention.last)

    def test_diffusers_attends_to_other_states(self):
        torch.manual_seed(1)
        self.check(self.saved(DiffusersAttention(), torch.randn(1, 5, 16), torch.randn(1, 7, 16)), DiffusersAttention.last)

    def test_pytorch_s_own_module_in_its_own_encoder(self):
        torch.manual_seed(1)
        for batch_first in (True, False):
            layer = torch.nn.TransformerEncoderLayer(16, 4, 32, batch_first=batch_first)
            x = torch.randn(2, 5, 16)
            closed = torch.ones(5, 5).triu(1).bool()
            found = self.saved(torch.nn.TransformerEncoder(layer, 1), x if batch_first else x.transpose(0, 1), closed)
            heads, q, k, v = layer.self_attn, *layer.self_attn.in_proj_weight.chunk(3)
            split = [(x @ w.T).unflatten(-1, (4, 4)).transpose(1, 2) for w in (q, k, v)]
            scores = split[0] @ split[1].transpose(-1, -2) / 2
            weights = scores.masked_fill(closed, float("-inf")).softmax(-1)
            numpy.testing.assert_allclose(found["weights"], weights.detach().numpy(), atol=1e-6)
            numpy.testing.assert_allclose(found["context"], (weights @ split[2]).detach().numpy(), atol=1e-5)
            self.assertNotIn("forward", vars(heads))

    def test_what_differs_is_not_saved(self):
        torch.manual_seed(1)
        model = torch.nn.Sequential(Qwen3Attention())
        words = self.refusal(model, torch.randn(1, 5, 16))
        self.assertRegex(words, r"^0: the (weights|context) of what would be saved differ from the model's own by \d\.?\d*, more than 0\.0001: say what "
                                r"the call has besides \(causal, scale, alibi, rope, window, mask\)$")
        self.assertFalse(model[0].q_proj._forward_hooks)
        self.assertFalse(hasattr(apply_rotary_pos_emb, "attnscope"))

    def test_what_cannot_be_compared_is_not_saved(self):
        torch.manual_seed(1)
        self.assertEqual(self.refusal(Qwen3Attention(), torch.randn(1, 5, 16), sinks=True),
                         "sinks is an option that the model's weights are not compared under; expected alibi, causal, rope, rope_base, "
                         "rope_dims, scale, softcap, temperature, window, window_left, window_right")
        self.assertEqual(self.refusal(torch.nn.Linear(2, 2), torch.randn(1, 2), heads=1),
                         "no attention of this model ran: none is a MultiheadAttention or has a submodule of q_proj, k_proj, v_proj, query, key, "
                         "value, q_lin, k_lin, v_lin, to_q, to_k, to_v, c_attn, query_key_value, qkv, qkv_proj, q_norm, k_norm")
        model = Qwen3Attention()
        del model.num_heads
        self.assertEqual(self.refusal(model, torch.randn(1, 5, 16)), "Qwen3Attention does not say how many heads it has; say heads=H")

    def test_tensors_of_any_type_become_numbers(self):
        half = torch.ones(2, 3, dtype=torch.bfloat16, requires_grad=True)
        self.assertEqual(attnscope.array(half).dtype, numpy.float32)


unittest.main()
