"""Models of Hugging Face's transformers: attnscope.open() gives their numbers, and attach() records their calls and shows them.

    open_test.py ATTNSCOPE PACKAGE
"""
import base64
import gc
import json
import os
import pathlib
import re
import sys
import types
import unittest
import warnings
from unittest import mock

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


def data_of(page):
    groups = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])["groups"]
    for group in groups:
        weights = numpy.frombuffer(base64.b64decode(group["data"]), "<f2").astype(numpy.float32)
        group["weights"] = weights.reshape(len(group["layers"]), group["heads"], len(group["queries"]), len(group["keys"]))
    return groups


class Attach(Case):
    def attached(self, model, *arguments, **options):
        made = attnscope.attach(model, *arguments, **options)
        self.addCleanup(made.detach)
        return made

    def check(self, group, expected):
        """The weights of the page are the model's, rounded to float16; a masked pair is -1."""
        for found, own in zip(group["weights"], expected):
            own = own.float().numpy()
            numpy.testing.assert_allclose(numpy.where(found == -1, 0, found), own, atol=6e-4)
            self.assertTrue((own[found == -1] == 0).all())

    def eager(self, model, **inputs):
        used = model.config._attn_implementation
        model.set_attn_implementation("eager")
        with torch.no_grad():
            made = model(**inputs, output_attentions=True)
        model.set_attn_implementation(used)
        return made

    def test_one_line_shows_a_text(self):
        model, tokenizer = larger(gpt2()), letters()
        attached = self.attached(model, tokenizer, TEXT)
        group, = data_of(attached.page())
        self.assertEqual(group["queries"], list(TEXT.replace(" ", "▁")))
        self.assertTrue(group["same"])
        self.assertEqual([layer["name"] for layer in group["layers"]], [f"transformer.h.{n}.attn" for n in range(3)])
        attached.detach()
        self.check(group, [each[0] for each in self.eager(model, **tokenizer(TEXT, return_tensors="pt")).attentions])
        self.assertTrue((group["weights"][:, :, ~numpy.tril(numpy.ones((15, 15), bool))] == -1).all())
        self.assertIn("<iframe srcdoc=", attached._repr_html_())
        path = attached.save(self.folder / "page.html")
        self.assertEqual(pathlib.Path(path).read_text(encoding="utf-8"), attached.page())
        with self.assertRaisesRegex(ValueError, "page.png.; expected a name that ends in .html"):
            attached.save(self.folder / "page.png")

    def test_each_call_is_recorded_and_kernels_stay_fused(self):
        model = llama()
        attached = self.attached(model)
        self.assertIn("no call was recorded yet", attached._repr_html_())
        ids = torch.tensor([[1, 2, 3, 4]])
        with torch.no_grad():
            plain = model(ids).logits
            model(input_ids=ids[:, :3])
        self.assertEqual(attached.calls, 2)
        group, = data_of(attached.page())
        self.assertEqual(group["keys"], ["#1", "#2", "#3"])
        attached.detach()
        self.assertEqual(model.config._attn_implementation, "sdpa")
        self.assertFalse(model._forward_pre_hooks or model._forward_hooks)
        with torch.no_grad():
            torch.testing.assert_close(model(ids).logits, plain, rtol=0, atol=0)
        self.assertEqual(attached.calls, 2)
        self.assertEqual(attnscope.trace(attached.paths[0], layer=0, keep=["weights"])["weights"].shape, (1, 4, 3, 3))

    def test_a_notebook_shows_it_again_after_a_cell_that_ran_the_model(self):
        shown, events = [], {}

        class Handle:
            def update(self, page):
                shown.append(page)

        def display(page, display_id):
            shown.append(page)
            return Handle()

        shell = types.SimpleNamespace(events=types.SimpleNamespace(register=events.__setitem__))
        notebook = types.ModuleType("IPython")
        notebook.get_ipython = lambda: shell
        notebook.display = types.ModuleType("IPython.display")
        notebook.display.HTML, notebook.display.display = str, display
        model = gpt2()
        attached = self.attached(model)
        with mock.patch.dict(sys.modules, {"IPython": notebook, "IPython.display": notebook.display}), torch.no_grad():
            attached._ipython_display_()
            for ids in ([[1, 2]], [[3, 4, 5]]):
                model(torch.tensor(ids))
            events["post_run_cell"]()
            events["post_run_cell"]()
        self.assertEqual(len(shown), 2)
        self.assertIn("no call was recorded yet", shown[0])
        self.assertIn("#5", shown[1])

    def test_padding_a_batch_and_heads(self):
        model, ids = larger(gpt2()), torch.tensor([[1, 2, 3, 4], [5, 6, 7, 0]])
        mask = torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]])
        attached = self.attached(model, sequence=1, layers=[2], heads=[0, 3])
        with torch.no_grad():
            model(ids, attention_mask=mask)
        page = attached.page()
        self.assertIn("sequence 1 of a batch of 2", page)
        group, = data_of(page)
        self.assertEqual((group["head_numbers"], [layer["number"] for layer in group["layers"]]), ([0, 3], [2]))
        self.assertEqual(group["keys"], ["#5", "#6", "#7", "#0"])
        self.assertTrue((group["weights"][..., 3] == -1).all())
        attached.detach()
        self.check(group, [self.eager(model, input_ids=ids, attention_mask=mask).attentions[2][1, [0, 3]]])

    def test_a_generation_with_a_cache(self):
        model = larger(llama())
        attached = self.attached(model)
        made = model.generate(torch.tensor([[1, 2, 3]]), max_new_tokens=3, do_sample=False)[0].tolist()
        group, = data_of(attached.page())
        self.assertEqual(group["weights"].shape[2:], (1, 5))
        self.assertEqual(group["keys"], [f"#{n}" for n in made[:5]])
        self.assertEqual(group["queries"], group["keys"][-1:])
        self.assertFalse(group["same"])

    def test_an_encoder_and_a_decoder(self):
        torch.manual_seed(3)
        config = transformers.BartConfig(vocab_size=64, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
                                         encoder_ffn_dim=16, decoder_ffn_dim=16, max_position_embeddings=32)
        model = larger(transformers.BartForConditionalGeneration(config).eval())
        inputs = {"input_ids": torch.tensor([[0, 11, 12, 13, 2]]), "decoder_input_ids": torch.tensor([[2, 0, 21, 22, 23]])}
        attached = self.attached(model)
        with torch.no_grad():
            model(**inputs)
        groups = {group["name"].split(",")[0]: group for group in data_of(attached.page())}
        self.assertEqual(sorted(groups), ["cross", "decoder", "encoder"])
        encoder, decoder = ([f"#{n}" for n in inputs[name][0].tolist()] for name in inputs)
        self.assertEqual((groups["cross"]["queries"], groups["cross"]["keys"]), (decoder, encoder))
        self.assertEqual((groups["encoder"]["keys"], groups["decoder"]["keys"]), (encoder, decoder))
        self.assertFalse(groups["cross"]["same"])
        self.assertEqual(groups["cross"]["layers"], [{"number": n, "name": f"model.decoder.layers.{n}.encoder_attn"} for n in (0, 1)])
        attached.detach()
        own = self.eager(model, **inputs)
        for name, expected in (("encoder", own.encoder_attentions), ("decoder", own.decoder_attentions), ("cross", own.cross_attentions)):
            self.check(groups[name], [each[0] for each in expected])

    def test_a_page_has_a_largest_size(self):
        model = llama()
        attached = self.attached(model, limit_mb=0.001)
        with torch.no_grad():
            model(torch.arange(20)[None])
        with self.assertRaisesRegex(ValueError, r"the weights of 3 layers of 4 heads, 20 × 20, are .* MB on the page; expected at most 0.001 MB. Pass layers="):
            attached.page()
        self.assertIn("expected at most 0.001 MB", attached._repr_html_())

    def test_what_cannot_be_recorded_is_named_and_the_model_runs(self):
        with self.assertRaisesRegex(ValueError, "attn_implementation is 'eager'; expected 'sdpa'"):
            attnscope.attach(gpt2(attn_implementation="eager"))
        with self.assertRaisesRegex(ValueError, "model is a int; expected a torch.nn.Module"):
            attnscope.attach(3)
        with self.assertRaisesRegex(ValueError, "there is no tokenizer; expected attnscope.attach"):
            attnscope.attach(gpt2(), None, TEXT)
        linear = torch.nn.Sequential(torch.nn.Linear(2, 2))
        attached = self.attached(linear)
        with self.assertWarnsRegex(attnscope.Note, "the call is not recorded: no call of torch.nn.functional"):
            self.assertEqual(linear(torch.ones(1, 2)).shape, (1, 2))
        self.assertIn("no call of", attached._repr_html_())
        model = gpt2()
        attached = self.attached(model)
        with self.assertRaises(IndexError):
            model(torch.tensor([[9999]]))
        with torch.no_grad():
            model(torch.tensor([[1, 2]]))
        self.assertEqual(attached.calls, 1)
        with self.assertRaisesRegex(ValueError, "sequence is -1"):
            attnscope.attach(model, sequence=-1)

    def test_it_goes_without_detach(self):
        model = gpt2()
        attached = attnscope.attach(model)
        folder = attached._folder
        del attached
        gc.collect()
        self.assertFalse(model._forward_hooks or os.path.exists(folder))


warnings.filterwarnings("ignore", category=FutureWarning)
transformers.logging.set_verbosity_error()
unittest.main()
