"""The Python module and the script of hooks: what they write is what attnscope reads, to the number.

    tools_test.py ATTNSCOPE TOOLS
"""
import os
import pathlib
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
        with self.assertRaisesRegex(ValueError, "no-such-option"):
            attnscope.show(q, k, v, no_such_option=1)
        self.assertFalse((self.folder / "shown").exists())


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

    def test_a_model_without_such_projections_is_refused(self):
        from save_attention import save_attention

        with self.assertRaisesRegex(ValueError, "no submodule"):
            save_attention(self.folder / "a.npz", torch.nn.Linear(2, 2), (torch.randn(1, 2),), heads=1)

    def test_tensors_of_any_type_become_numbers(self):
        half = torch.ones(2, 3, dtype=torch.bfloat16, requires_grad=True)
        self.assertEqual(attnscope.array(half).dtype, numpy.float32)


unittest.main()
