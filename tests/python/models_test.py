"""attnscope.open: each method gives the numbers of the command of its name, with their labels; errors name their cause. And the page of attach().

    models_test.py ATTNSCOPE PACKAGE
"""
import json
import re
import shutil
import subprocess
import sys
import unittest
from unittest import mock

import numpy
from case import BINARY, Case, attnscope
from attnscope import _attach

TEXT = "the animal didn't cross the street because it was too tired"
NAMES = "Anna and Tom went to the park . Tom gave a ball to"


def columns(table):
    return list(table)


class Models(Case):
    def setUp(self):
        super().setUp()
        self.pronouns, self.stories = attnscope.open("pronouns"), attnscope.open("stories")

    def program(self, *arguments):
        return json.loads(subprocess.run([BINARY, *arguments, "--json"], check=True, capture_output=True).stdout)

    def test_a_model_has_its_sizes(self):
        self.assertEqual([self.pronouns.sizes[name] for name in ("layers", "heads", "has_tokenizer")], [2, 2, True])
        self.assertIn("2 layers, 2 heads, pronouns", repr(self.pronouns))

    def test_a_trace_has_weights_logits_and_labels(self):
        found = self.pronouns.trace(TEXT, keep=["weights"])
        own = attnscope.trace("pronouns", TEXT)
        numpy.testing.assert_array_equal(found["l1.weights"], own["l1.weights"])
        self.assertNotIn("l0.q", found)
        self.assertEqual(found.axes["l0.weights"], ("batch", "head", "query", "key"))
        self.assertEqual(found.axes["logits"], ("batch", "query", "vocabulary"))
        self.assertEqual(found.labels["key"], found.tokens)
        self.assertEqual(len(found.tokens), found["l0.weights"].shape[-1])
        self.assertEqual(found.token_ids.dtype.kind, "i")
        with mock.patch.dict(sys.modules, {"pandas": None}):
            table = found.table("l1.weights")
        it, tired = found.tokens.index("it"), found.tokens.index("tired")
        rows = (table["head"] == 0) & (table["query_token"] == "it") & (table["key_token"] == "tired")
        self.assertEqual(table["l1.weights"][rows].tolist(), [found["l1.weights"][0, 0, it, tired]])

    def test_token_ids_are_a_text(self):
        found = self.pronouns.trace(TEXT, keep=[])
        for ids in (found.token_ids.tolist(), found.token_ids):
            numpy.testing.assert_array_equal(self.pronouns.trace(ids, keep=[]).logits, found.logits)
        numpy.testing.assert_array_equal(self.pronouns.trace(found.token_ids[None], keep=[]).logits, found.logits[None])

    def test_interventions(self):
        off = self.pronouns.trace(TEXT, keep=["context"], off=["0.0", "1.1"])
        self.assertEqual(off.interventions, ["--off 0.0", "--off 1.1"])
        self.assertEqual(off.effect_kl.shape, (2, 2))
        self.assertEqual(off.axes["effect_kl"], ("layer", "head"))
        tokens = len(off.tokens)
        row = self.pronouns.trace(TEXT, keep=["weights"], row={f"1.0.{tokens - 1}": [1.0] + [0.0] * (tokens - 1)})
        self.assertEqual(row["l1.weights"][0, 0, -1].tolist(), [1.0] + [0.0] * (tokens - 1))
        other = TEXT.replace("tired", "wide")
        patched = self.pronouns.patch(TEXT, {"0.0.v": other}, keep=["v"])
        numpy.testing.assert_array_equal(patched["l0.v"][0, 0], self.pronouns.trace(other, keep=["v"])["l0.v"][0, 0])
        ids = self.pronouns.trace(other, keep=[]).token_ids.tolist()
        numpy.testing.assert_array_equal(self.pronouns.patch(TEXT, {"0.0.v": ids}, keep=["v"])["l0.v"], patched["l0.v"])

    def test_the_lens_and_the_attribution(self):
        printed = self.program("lens", "stories", "--text", NAMES)
        found, parts = self.stories.lens(NAMES), self.stories.attribution(NAMES)
        self.assertEqual(found.p.tolist(), [layer["p"] for layer in printed["layers"]])
        self.assertEqual(found.best[-1, 0], printed["layers"][-1]["best"][0]["token"])
        self.assertEqual(found.token, printed["token"]["token"])
        self.assertEqual(columns(found.table())[0], "layer")
        self.assertEqual(list(found.table()["layer"])[0], -1)
        self.assertAlmostEqual(parts.value.sum(), parts["sum"], places=4)
        self.assertAlmostEqual(parts["sum"], parts.logit, places=4)
        self.assertAlmostEqual(found.logit[-1], parts.logit, places=4)
        self.assertEqual(parts.heads[1, 2], next(each["value"] for each in printed["parts"] if each.get("head") == 2 and each["layer"] == 1))
        against = self.stories.attribution(NAMES, token="Anna", against="Tom", off="1.0")
        self.assertEqual((against.token, against.against), ("Anna", "Tom"))

    def test_a_sweep_and_a_metric_of_ones_own(self):
        found = self.pronouns.sweep(TEXT)
        a, b = found.a_id, found.b_id
        measured = self.pronouns.sweep(TEXT, metric=lambda logits: logits[a] - logits[b])
        self.assertEqual(measured.axes["metric"], ("layer", "head"))
        self.assertAlmostEqual(measured.metric_before, found.difference, places=4)
        numpy.testing.assert_allclose(measured.metric - measured.metric_before, found.change, atol=1e-4)
        printed = self.program("circuits", "pronouns", "--text", TEXT)
        self.assertEqual(found.change.reshape(-1).tolist(), [numpy.float32(head["change"]) for head in printed["heads"]])
        self.assertEqual(found.a, printed["a"]["token"])
        self.assertEqual(columns(found.table()), ["layer", "head", "change", "kl"])
        place = numpy.argmax(abs(found.change))
        self.assertEqual(abs(found.table()["change"])[place], abs(found.change).max())

    def test_a_metric_sees_the_logits_of_a_run_with_the_head_off(self):
        seen = []
        self.pronouns.sweep(TEXT, metric=lambda logits: seen.append(logits.copy()) or 0)
        position = self.pronouns.sweep(TEXT).position
        self.assertEqual(len(seen), 5)
        numpy.testing.assert_allclose(seen[2], self.pronouns.trace(TEXT, keep=[], off="1.0").logits[0, position], atol=1e-4)
        numpy.testing.assert_allclose(seen[4], self.pronouns.trace(TEXT, keep=[]).logits[0, position], atol=1e-4)

    def test_sweeps_of_positions_and_other_texts(self):
        other = "the old animal didn't cross the street because it was too wide"
        found = self.pronouns.sweep(TEXT, kind="patch", from_text=other, by_position=True, align={0: 0, 1: 2}, metric=lambda logits: logits[0])
        self.assertEqual(found.axes["change"], ("layer", "head", "position"))
        self.assertEqual(found.alignment[:3].tolist(), [0, 2, -1])
        self.assertTrue(numpy.isfinite(found.change[:, :, :2]).all() and numpy.isnan(found.change[:, :, 2:]).all())
        numpy.testing.assert_array_equal(numpy.isnan(found.metric), numpy.isnan(found.change))
        residual = self.pronouns.sweep(TEXT, part="residual", kind="mean")
        self.assertEqual(residual.axes["change"], ("layer", "position"))
        self.assertEqual(list(residual.table()["token"])[:2], residual.tokens[:2])

    def test_edges_and_the_circuit_of_a_head(self):
        edges = self.pronouns.edges(TEXT)
        printed = self.program("circuits", "pronouns", "--text", TEXT, "--edges")
        self.assertEqual(edges.sender.tolist(), [edge["sender"]["name"] for edge in printed["edges"]])
        numpy.testing.assert_allclose(edges.change, [edge["change"] for edge in printed["edges"]], rtol=1e-6)
        for part in "qkv":
            numpy.testing.assert_allclose(edges[part], [edge.get(part, numpy.nan) for edge in printed["edges"]], rtol=1e-6)
        self.assertTrue(numpy.isnan(edges.q[edges.reader == "logits"]).all())
        self.assertEqual(columns(edges.table()), ["edge", "sender", "reader", "change", "q", "k", "v"])
        into = self.pronouns.edges(TEXT, layer=1, head=0)
        self.assertEqual(set(into.reader), {"1.0"})
        circuit = self.pronouns.circuit(1, 0, TEXT)
        printed = self.program("circuits", "pronouns", "--text", TEXT, "--layer", "1", "--head", "0")
        numpy.testing.assert_allclose(circuit.qk, printed["qk"], rtol=1e-6)
        self.assertEqual(circuit.copying, printed["copying"])
        self.assertEqual(circuit.axes["composition_q"], ("layer", "head"))

    def test_heads_and_figures(self):
        self.assertEqual(len(self.pronouns.heads(TEXT)["head"]), 4)
        self.assertIn("change", columns(self.pronouns.heads(TEXT, off="0.0")))
        figure = self.pronouns.figure(TEXT, layer=1, row="it", stage="weights")
        numpy.testing.assert_array_equal(figure.weights, self.pronouns.trace(TEXT, keep=["weights"])["l1.weights"])
        self.assertEqual(figure.row("it")["weight"].sum().round(4), 1)
        self.assertEqual(attnscope.show(self.pronouns, TEXT, layer=1).weights.shape, figure.weights.shape)
        self.assertIn("<svg", self.pronouns.show(TEXT, off="0.0")._repr_html_())
        with self.assertRaisesRegex(ValueError, "causal: not an option of a model"):
            self.pronouns.figure(TEXT, causal=True)

    def test_generation(self):
        found = self.stories.generate(NAMES, tokens=4, temperature=0, candidates=2)
        printed = subprocess.run([BINARY, "generate", "stories", "--text", NAMES, "--tokens", "4", "--temperature", "0"], check=True,
                                 capture_output=True, text=True).stdout
        self.assertEqual(NAMES + found.text, printed.rstrip("\n"))
        self.assertEqual(found.logits.shape, (len(found.id), self.stories.sizes["vocabulary"]))
        self.assertEqual(found.logits.argmax(-1).tolist(), found.id.tolist())
        self.assertEqual(found.candidate_id[:, 0].tolist(), found.id.tolist())
        self.assertEqual(found["l0.weights"].shape[-1], len(found.tokens) - 1)
        self.assertEqual(len(found.labels["key"]), len(found.tokens) - 1)
        sampled = [self.stories.generate(NAMES, tokens=4, seed=seed).id.tolist() for seed in (3, 3)]
        self.assertEqual(*sampled)

    def test_a_list_of_texts_is_stacked(self):
        texts = [TEXT, TEXT.replace("tired", "wide")]
        found = self.pronouns.sweep(texts, kind="patch", from_text=texts[::-1], logits=("animal", "street"))
        self.assertEqual(found.axes["change"], ("prompt", "layer", "head"))
        for n, text in enumerate(texts):
            alone = self.pronouns.sweep(text, kind="patch", from_text=texts[1 - n], logits=("animal", "street"))
            numpy.testing.assert_array_equal(found.change[n], alone.change)
            self.assertEqual(found.difference[n], alone.difference)
            numpy.testing.assert_array_equal(found.prompts[n].change, alone.change)
        self.assertEqual(columns(found.table()), ["prompt", "layer", "head", "change", "kl"])
        pairs = self.pronouns.sweep(texts, logits=[("animal", "street"), ("street", "animal")], metric=[lambda _: 1, lambda _: 2])
        self.assertEqual(pairs.a, ["animal", "street"])
        self.assertEqual(pairs.metric[:, 0, 0].tolist(), [1, 2])
        other_lengths = self.pronouns.trace([TEXT, "the cat saw the bridge"], keep=["weights"])
        self.assertEqual([each.shape[-1] for each in other_lengths["l0.weights"]], [len(tokens) for tokens in other_lengths.tokens])
        self.assertNotIn("key", other_lengths.labels)

    def test_labelled(self):
        made = attnscope.Labelled({"x": numpy.ones((2, 3)), "y": 1}, {"x": ("layer", "position")}, {"position": list("abc")})
        self.assertEqual(repr(made), "x [layer 2, position 3] float64\ny: 1")
        self.assertEqual(columns(made.table()), ["layer", "position", "token", "x"])
        with self.assertRaisesRegex(AttributeError, "no 'z'; expected one of x, y"):
            made.z
        with self.assertRaisesRegex(ValueError, "'y' is not an array"):
            made.table("y")

    def test_other_sources_are_refused(self):
        for source, why in ((self.folder / "none", "none"), (self.folder, "config.json"), (3, "source is a int; expected a model's folder"),
                            ("attention.npz", "has arrays of attention; expected a model. attnscope.show")):
            with self.subTest(source=source), self.assertRaisesRegex(ValueError, re.escape(why)):
                attnscope.open(source)
        with self.assertRaisesRegex(ValueError, "tokenizer is given with 'stories', which has its own"):
            attnscope.open("stories", object())
        (self.folder / "config.json").write_text('{"model_type": "mamba"}')
        with self.assertRaisesRegex(ValueError, f'"mamba"; expected one of .*from_pretrained."{re.escape(str(self.folder))}".; attnscope.record'):
            attnscope.open(self.folder)

    def test_errors_name_their_cause(self):
        model = self.pronouns
        for call, why in (
                (lambda: model.trace(""), "text"),
                (lambda: model.trace([]), "text is an empty list; expected at least one text"),
                (lambda: model.trace("the\0cat"), "text has a zero byte at 3"),
                (lambda: model.trace("the \ud800"), "text has half of a surrogate pair at 4"),
                (lambda: model.trace([0.5, 1.5]), "expected a text, or the numbers of its tokens"),
                (lambda: model.trace(numpy.array([-1])), "expected a text, or the numbers of its tokens"),
                (lambda: model.trace([99999]), "99999"),
                (lambda: model.trace("x" * 3_000_000), "text has 3000007 characters, more than the system passes"),
                (lambda: model.trace(TEXT, off="7.0"), "layer 7"),
                (lambda: model.trace(TEXT, off="x"), "--off is 'x'; expected LAYER.HEAD"),
                (lambda: model.trace(TEXT, patch="0.0.v"), "patch is '0.0.v'; expected a dict such as"),
                (lambda: model.patch(TEXT, {"0.0.v": "the cat"}), "expected the same number"),
                (lambda: model.trace(TEXT, keep=["wieghts"]), "did you mean weights"),
                (lambda: model.circuit(0, 9, TEXT), "layer 0 has no head 9"),
                (lambda: model.circuit(0, 0, [TEXT]), "takes one text; call it for each text"),
                (lambda: model.lens(TEXT, token="zebra"), "there is no token 'zebra'"),
                (lambda: model.sweep(TEXT, kind="median"), "expected one of zero, mean, patch"),
                (lambda: model.sweep(TEXT, kind="patch"), "--from"),
                (lambda: model.sweep(TEXT, logits="animal"), "logits is 'animal'; expected two tokens"),
                (lambda: model.sweep(TEXT, logits=("-", "animal")), "the command line reads as an option"),
                (lambda: model.sweep(TEXT, metric=lambda logits: logits), "metric returned an array of shape"),
                (lambda: model.sweep([TEXT, TEXT], metric=[len]), "metric has 1 entries, and there are 2 texts"),
                (lambda: model.generate(TEXT), "next token"),
                (lambda: self.stories.generate(NAMES, temperature=-1), "--temperature")):
            with self.subTest(why=why), self.assertRaisesRegex(ValueError, re.escape(why)):
                call()


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Page(Case):
    """The page of attach(), with weights of any kind."""
    tokens = ["The", "</script><b>cat", "▁sat", "ü", ""]

    def groups(self):
        allowed = numpy.tril(numpy.ones((5, 5), bool))
        weights = allowed * self.random.random((2, 3, 5, 5))
        weights = numpy.where(allowed, weights / weights.sum(-1, keepdims=True), -1)
        weights[1, 2, 3] = numpy.nan
        weights[1, 1, 2] = -1
        weights[0, 1, 4] = 0.25, 0, 0.75, 0, 0
        cross = numpy.full((1, 3, 2, 5), 0.2)
        layers = [{"number": n, "name": f"h.{n}"} for n in (0, 5)]
        common = {"head_numbers": [0, 1, 2], "keys": self.tokens}
        return [{"name": "decoder", "queries": self.tokens, "same": True, "layers": layers, "weights": weights, **common},
                {"name": "cross", "queries": ["a", "b"], "same": False, "layers": layers[:1], "weights": cross, **common}]

    def run_in_chromium(self, page, script):
        path = self.folder / "page.html"
        probe = f"<script>const found = [];const read = () => found.push(at('description').textContent);{script}\n" \
                "document.body.innerHTML = '<pre id=found></pre>';at('found').textContent = JSON.stringify(found);</script>"
        path.write_text(page.replace("</body>", probe + "</body>"))
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
                               f"--user-data-dir={self.folder}/chromium", "--dump-dom", f"file://{path}"],
                              capture_output=True, text=True, check=False, timeout=120)
        found = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(found, done.stdout[-500:] + done.stderr[-2000:])
        return json.loads(found[0].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    def test_it_is_one_file_that_loads_nothing(self):
        page = _attach.page_of(self.groups())
        self.assertNotRegex(page, r"https?:|src=|@import|url\(|<link")
        self.assertEqual(page.count("</script>"), 2)

    @unittest.skipUnless(CHROMIUM, "chromium is not installed")
    def test_it_says_the_weights_of_each_row_by_keyboard(self):
        found = self.run_in_chromium(_attach.page_of(self.groups(), "a notice"), """
            const key = (id, name) => at(id).dispatchEvent(new KeyboardEvent("keydown", {key: name}));
            key("grid", "ArrowRight"); read();
            key("grid", "ArrowDown"); key("queries", "ArrowUp"); key("queries", "ArrowUp"); read();
            key("grid", "ArrowRight"); key("queries", "ArrowDown"); read();
            key("queries", "Escape"); read();
            found.push(at("keys").children[1].textContent, at("notice").textContent, at("title").textContent);
            key("grid", "ArrowUp"); key("grid", "ArrowLeft"); key("queries", "ArrowUp");
            found.push([...at("keys").children].map(li => li.title));
            at("keys").children[2].onmouseenter(); read();
            at("keys").children[2].onmouseleave();
            at("group").value = 1; at("group").onchange(); read();
            found.push(at("text").querySelectorAll("[data-query]").length, at("text").querySelectorAll("[data-key]").length);""")
        self.assertEqual(found[0], "Layer 0, head 1: the query “” (4) attends 0.750 to “▁sat” (2), 0.250 to “The” (0).")
        self.assertEqual(found[1], "Layer 5, head 1: the query “▁sat” (2) attends to no key.")
        self.assertEqual(found[2], "Layer 5, head 2: the row of the query “ü” (3) is NaN.")
        weights = self.random_again()
        self.assertEqual(found[3], f"Layer 5, head 2 (h.5). The largest weight is {weights[1, 2][weights[1, 2] > 0].max():.3f}.")
        self.assertEqual(found[4:7], ["</script><b>cat", "a notice", "2 layers × 3 heads, 5 queries × 5 keys"])
        self.assertEqual(found[7], ["0.250", "0", "0.750", "0", "0"])
        self.assertRegex(found[8], r"^Layer 0, head 1: the key “▁sat” gets (\d\.\d+ from “[^”]*” \([234]\)(, )?){3}\.$")
        self.assertRegex(found[9], r"^Layer 0, head 0: the query “b” \(1\) attends (0\.200 to “[^”]*” \(\d\)(, )?){5}\.$")
        self.assertEqual(found[10:], [2, 5])

    def random_again(self):
        self.random = numpy.random.default_rng(1)
        return numpy.float16(self.groups()[0]["weights"]).astype(float)


unittest.main()
