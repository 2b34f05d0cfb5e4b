"""Attention of PyTorch models by hooks: what is recorded is what the model computed, or it is refused.

    hooks_test.py ATTNSCOPE PACKAGE
"""
import sys
import unittest

try:
    import torch
except ImportError:
    print("python3-torch is not installed")
    sys.exit(77)
import numpy
from case import Case, attnscope, causal


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


class Attention(torch.nn.Module):
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


class PlainAttention(Attention):
    def __init__(self):
        super().__init__(("q_proj", 16), ("k_proj", 16), ("v_proj", 16), ("o_proj", 16))

    def forward(self, input):
        return self.o_proj(self.attend(*(part(input).unflatten(-1, (4, 4)).transpose(1, 2) for part in (self.q_proj, self.k_proj, self.v_proj))))


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


class Norm(torch.nn.Module):
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

        torch.manual_seed(1)
        model = torch.nn.Sequential(Attention(), Attention())
        path = self.folder / "a.npz"
        attnscope.save(path, model, (torch.randn(1, 5, 16),), heads=4, kv_heads=2, tokens=list("abcde"), causal=True)
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

        torch.manual_seed(1)
        model, path = Attention(), self.folder / "a.npz"
        attnscope.save(path, model, torch.randn(1, 5, 8), heads=2)
        numpy.testing.assert_allclose(self.trace(path)["context"], model.context.detach().numpy(), atol=1e-6)

    def saved(self, model, *args, **options):
        """The file, and what `attnscope trace` makes of its first layer."""
        path = self.folder / "a.npz"
        attnscope.save(path, model, args, **options)
        return self.trace(path, "--layer", "0")

    def refusal(self, model, *args, **options):
        with self.assertRaises(ValueError) as refused:
            attnscope.save(self.folder / "a.npz", model, args, **options)
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

    def test_a_module_that_is_causal_needs_no_option(self):
        torch.manual_seed(1)
        model = Qwen3Attention()
        self.assertIn("pass the missing options of the call (causal", self.refusal(model, torch.randn(1, 5, 16)))
        model.is_causal = True
        self.check(self.saved(model, torch.randn(1, 5, 16)), model)
        self.assertEqual(str(numpy.load(self.folder / "a.npz")["options"]), '{"causal": true}')
        model.is_causal = False
        (self.folder / "a.npz").unlink()
        self.assertIn("pass the missing options of the call (causal", self.refusal(model, torch.randn(1, 5, 16)))

    def test_the_weights_decide_what_a_module_calls_causal(self):
        class Bidirectional(Qwen3Attention):
            is_causal = True

            def attend(self, q, k, v):
                return super().attend(q, k, v, mask=False)

        torch.manual_seed(1)
        model = torch.nn.Sequential(Bidirectional())
        self.check(self.saved(model, torch.randn(1, 5, 16)), model[0])
        (self.folder / "a.npz").unlink()
        self.assertIn("differ from the model's own", self.refusal(model, torch.randn(1, 5, 16), causal=True))

    def test_what_differs_is_not_saved(self):
        torch.manual_seed(1)
        model = torch.nn.Sequential(Qwen3Attention())
        words = self.refusal(model, torch.randn(1, 5, 16))
        self.assertRegex(words, r"^0: the (weights|context) of what would be saved differ from the model's own by \d\.?\d*, more than 0\.0001: pass "
                                r"the missing options of the call \(causal, scale, alibi, rope, window, mask\)$")
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
        self.assertEqual(self.refusal(model, torch.randn(1, 5, 16)), "Qwen3Attention does not state its number of heads; pass heads=H")

    def test_tensors_of_any_type_become_numbers(self):
        half = torch.ones(2, 3, dtype=torch.bfloat16, requires_grad=True)
        self.assertEqual(attnscope.array(half).dtype, numpy.float32)
        if torch.cuda.is_available():
            numpy.testing.assert_array_equal(attnscope.array(half.cuda()), numpy.ones((2, 3)))

    def test_a_model_is_a_figure_of_all_its_layers(self):
        torch.manual_seed(1)
        model = torch.nn.Sequential(*(PlainAttention() for _ in range(2)))
        figure = attnscope.figure(model, {"input": torch.randn(1, 5, 16)}, tokens=list("abcde"), causal=True, layer=1, head=2)
        self.assertEqual(len(numpy.asarray(figure.heads()["layer"])), 2 * 4)
        numpy.testing.assert_allclose(figure.weights, model[1].weights.detach().numpy(), atol=1e-6)
        numpy.testing.assert_allclose(numpy.asarray(figure.row("c")["weight"]), model[1].weights[0, 2, 2].detach().numpy(), atol=1e-6)

    def test_a_model_without_inputs_is_refused(self):
        with self.assertRaisesRegex(ValueError, "show\\(model, inputs\\)"):
            attnscope.figure(PlainAttention())


unittest.main()
