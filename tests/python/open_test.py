"""Models of Hugging Face's transformers: attnscope.open() gives their numbers.

    open_test.py ATTNSCOPE PACKAGE
"""
import gc
import os
import re
import sys
import unittest
import warnings

try:
    import tokenizers
    import torch
    import transformers
except ImportError as missing:
    print(f"{missing.name} is not installed")
    sys.exit(77)
import numpy
from case import Case, attnscope

TEXT, OTHER = "The cat sat on.", "The dog ran on."  # of as many letters, which are the tokens
MOST = 1e-5


def letters():
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE({letter: n for n, letter in enumerate(alphabet)}, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made)


def gpt2(**more):
    torch.manual_seed(1)
    config = transformers.GPT2Config(vocab_size=256, n_positions=64, n_embd=32, n_layer=3, n_head=4, bos_token_id=None, eos_token_id=None, **more)
    return transformers.GPT2LMHeadModel(config).eval()


def llama():
    torch.manual_seed(2)
    config = transformers.LlamaConfig(vocab_size=256, hidden_size=32, intermediate_size=48, num_hidden_layers=3, num_attention_heads=4,
                                      num_key_value_heads=2, max_position_embeddings=64, bos_token_id=None, eos_token_id=None, pad_token_id=None)
    return transformers.LlamaForCausalLM(config).eval()


def larger(model, factor=8):
    """Weights of attention that are not nearly even."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if re.search(r"c_attn.weight|c_proj.weight|[qkvo]_proj.weight", name):
                weight *= factor
    return model


# Family: the model, its blocks, the final norm, and the matrix from the heads' contexts.
FAMILIES = {"gpt2": (gpt2, lambda m: m.transformer.h, lambda m: m.transformer.ln_f, lambda block: block.attn.c_proj),
            "llama": (llama, lambda m: m.model.layers, lambda m: m.model.norm, lambda block: block.self_attn.o_proj)}


def hooked(model, hooks, ids):
    """The logits of a run with hooks, [(module, function)], before the modules."""
    placed = [module.register_forward_pre_hook(function) for module, function in hooks]
    try:
        with torch.no_grad():
            return model(ids).logits[0].numpy()
    finally:
        for hook in placed:
            hook.remove()


class Open(Case):
    def each(self):
        for name, (make, blocks, norm, out) in FAMILIES.items():
            module = larger(make())
            with self.subTest(family=name), attnscope.open(module, letters()) as model:
                ids = torch.tensor([letters()(TEXT)["input_ids"]])
                yield module, model, ids, blocks(module), norm(module), out

    def near(self, found, expected):
        numpy.testing.assert_allclose(found, expected, atol=MOST * max(1, abs(numpy.asarray(expected)).max()), rtol=0)

    def test_weights_and_logits(self):
        for module, model, ids, *_ in self.each():
            found = model.trace(TEXT, keep=["weights"])
            self.assertEqual(found.token_ids.tolist(), ids[0].tolist())
            module.set_attn_implementation("eager")
            with torch.no_grad():
                own = module(ids, output_attentions=True)
            self.near(found.logits[0], own.logits[0].numpy())
            for n, weights in enumerate(own.attentions):
                self.near(found[f"l{n}.weights"], weights.numpy())
                self.assertGreater(weights[0, :, -1].amax(), 1.5 / 15)  # not even

    def test_lens(self):
        for module, model, ids, blocks, norm, _ in self.each():
            residual = []
            hooks = [blocks[0].register_forward_pre_hook(lambda _, given: residual.append(given[0][0]))]
            hooks += [block.register_forward_hook(lambda *call: residual.append((call[2][0] if isinstance(call[2], tuple) else call[2]).reshape(-1, 32)))
                      for block in blocks]
            with torch.no_grad():
                module(ids)
                logits = torch.stack([module.lm_head(norm(each))[-1] for each in residual]).numpy()
            for hook in hooks:
                hook.remove()
            found = model.lens(TEXT)
            token = logits[-1].argmax()
            self.near(found.logit, logits[:, token])
            self.near(found.p, numpy.exp(logits[:, token] - numpy.log(numpy.exp(logits.astype(float)).sum(-1))))
            self.assertEqual(found["rank"].tolist(), (logits > logits[:, token:token + 1]).sum(-1).tolist())
            self.near(model.attribution(TEXT).value.sum(), logits[-1, token])

    def test_a_head_switched_off_and_a_metric(self):
        for module, model, ids, blocks, _, out in self.each():
            def without(head):
                def zero(_, given):
                    context = given[0].clone()
                    context[..., 8 * head:8 * head + 8] = 0
                    return (context,)
                return zero

            expected = numpy.array([[hooked(module, [(out(block), without(head))], ids) for head in range(4)] for block in blocks])
            self.near(model.trace(TEXT, keep=[], off="1.2").logits[0], expected[1, 2])
            loss = lambda logits: logits[7] - numpy.log(numpy.exp(logits.astype(float)).sum())
            found = model.sweep(TEXT, metric=loss)
            self.near(found.metric, [[loss(head[-1]) for head in layer] for layer in expected])
            self.near(found.change, expected[:, :, -1, found.a_id] - expected[:, :, -1, found.b_id] - found.difference)
            self.assertGreater(abs(found.change).max(), 0.01)

    def test_patched_values(self):
        module, tokenizer = larger(gpt2()), letters()
        ids, others = (torch.tensor([tokenizer(text)["input_ids"]]) for text in (TEXT, OTHER))
        qkv = module.transformer.h[1].attn.c_attn
        seen = []
        hook = qkv.register_forward_hook(lambda *call: seen.append(call[2].clone()))
        hooked(module, [], others)
        hook.remove()

        def patched(_, given, made):
            made = made.clone()
            made[..., 64 + 16:64 + 24] = seen[0][..., 64 + 16:64 + 24]
            return made

        hook = qkv.register_forward_hook(patched)
        expected = hooked(module, [], ids)
        hook.remove()
        with attnscope.open(module, tokenizer) as model:
            found = model.patch(TEXT, {"1.2.v": OTHER}, keep=[])
            self.near(found.logits[0], expected)
            self.assertGreater(abs(model.trace(TEXT, keep=[]).logits - found.logits).max(), 0.01)

    def test_generation(self):
        for module, model, ids, *_ in self.each():
            own = module.generate(ids, max_new_tokens=6, do_sample=False)[0, ids.shape[1]:].tolist()
            found = model.generate(TEXT, tokens=6, temperature=0)
            self.assertEqual(found.id.tolist(), own)
            self.assertEqual(found.text, letters().decode(own).encode("utf-8", "replace").decode())

    def test_16_bit_modules_and_modules_without_a_tokenizer(self):
        module = llama().to(torch.bfloat16)
        with attnscope.open(module) as model:
            self.assertFalse(model.sizes["has_tokenizer"])
            found = model.trace([5, 6, 7], keep=[])
            with torch.no_grad():
                own = module.float()(torch.tensor([[5, 6, 7]])).logits[0].numpy()
            self.near(found.logits[0], own)
            with self.assertRaisesRegex(ValueError, "tokenizer"):
                model.trace(TEXT)

    def test_the_folder_goes_with_the_model(self):
        model = attnscope.open(gpt2(), letters())
        folder = model.name
        figure = model.figure(TEXT)
        del model
        gc.collect()
        self.assertTrue(os.path.isdir(folder))
        self.assertEqual(figure.weights.shape[1], 4)
        del figure
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_what_it_does_not_compute_is_refused(self):
        config = transformers.BloomConfig(vocab_size=16, hidden_size=16, n_layer=1, n_head=2)
        with self.assertRaisesRegex(ValueError, "BloomForCausalLM has the model_type 'bloom', which attnscope does not compute; .*with attnscope.record"):
            attnscope.open(transformers.BloomForCausalLM(config))
        with self.assertRaisesRegex(ValueError, "source is a Linear, which has no save_pretrained; .*attnscope.record"):
            attnscope.open(torch.nn.Linear(2, 2))


warnings.filterwarnings("ignore", category=FutureWarning)
transformers.logging.set_verbosity_error()
unittest.main()
