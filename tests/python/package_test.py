"""The package: what it writes is what attnscope reads, to the number; what it shows is what attnscope computes.

    package_test.py ATTNSCOPE PACKAGE
"""
import base64
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import unittest
import warnings
import xml.etree.ElementTree as xml
from unittest import mock

import numpy
from case import BINARY, PACKAGE, Case, attnscope, causal, softmax
from attnscope import _arrays


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

    def test_more_heads_than_tokens_may_be_another_layout(self):
        q, k, v = self.qkv(12, 4, 8)
        path = self.folder / "a.npz"
        with self.assertWarns(attnscope.Note) as noted:
            attnscope.save(path, q, k, v)
        self.assertEqual(str(noted.warning), 'q [12, 4, 8] is read as [H, T, d], 12 heads of 4 tokens; if it is [T, H, d], 12 tokens of 4 heads, '
                                             'pass layout="tokens-first"')
        keep = numpy.tril(numpy.ones((4, 4), bool))
        for shown in ({"tokens": list("abcd")}, {"mask": keep}, {"layout": "tokens-first"}, {"layout": "heads-first"}):
            attnscope.save(path, q, k, v, **shown)  # a Note would be an error
        attnscope.save(path, q.swapaxes(0, 1), k.swapaxes(0, 1), v.swapaxes(0, 1))
        with self.assertWarns(attnscope.Note):
            attnscope.save(path, [q, q], [k[:3, :2], k[:3, :2]], [v[:3, :2], v[:3, :2]])
        attnscope.save(path, q, k[:, :3], v[:, :3])  # 3 heads of keys do not fit 4 of queries

    def test_a_file_is_shown_without_its_arrays(self):
        q, k, v = self.qkv(2, 3, 5, 4)
        path = attnscope.save(self.folder / "a.npz", q, k, v, causal=True)
        for given in (path, str(path)):
            numpy.testing.assert_allclose(attnscope.trace(given)["weights"], softmax(q @ k.transpose(0, 1, 3, 2) / 2 + causal(5)), atol=1e-6)
        self.assertEqual(len(numpy.asarray(attnscope.heads(path)["layer"])), 3)
        with self.assertRaisesRegex(ValueError, "has its own arrays and options; expected the file alone"):
            attnscope.trace(path, causal=True)

    def test_a_mask_is_an_array_and_not_an_option(self):
        q, k, v = self.qkv(5, 4)
        keep = numpy.tril(numpy.ones((5, 5), bool))
        for mask in (keep, numpy.where(keep, 0.0, -numpy.inf)):
            path = attnscope.save(self.folder / "a.npz", q, k, v, mask=mask, scale=numpy.float32(0.25))
            numpy.testing.assert_allclose(self.trace(path)["weights"][0, 0], softmax(q @ k.T * 0.25 + causal(5)), atol=1e-6)
        with self.assertRaises(ValueError) as refused:
            attnscope.save(path, q, k, v, mask=keep.astype(int))
        self.assertEqual(str(refused.exception), "mask is int64; expected bool, True = may attend, or floats that are added to the scores")

    def test_floats_are_added_to_the_scores(self):
        q, k, v = self.qkv(5, 4)
        bias = self.random.standard_normal((5, 5))
        bias[0, 3] = -numpy.inf
        for name in ("bias", "mask"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = attnscope.trace(q, k, v, grad=True, **{name: bias})
            numpy.testing.assert_allclose(got["weights"][0, 0], softmax(q @ k.T / 2 + bias), atol=1e-6)
            numpy.testing.assert_allclose(got["biased"][0, 0], q @ k.T / 2 + bias, atol=1e-5)
            numpy.testing.assert_array_equal(got["d_bias"], got["d_biased"])

    def test_selected_keys_are_a_mask(self):
        q, k, v = self.qkv(5, 4)
        keep = numpy.zeros((5, 5), bool)
        selected = numpy.array([[0, -1], [0, 4], [2, 1], [3, 3], [1, 2]])
        for query, keys in enumerate(selected):
            keep[query, keys[keys >= 0]] = True
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = attnscope.trace(q, k, v, selected=selected)
        numpy.testing.assert_allclose(got["weights"][0, 0], softmax(numpy.where(keep, q @ k.T / 2, -numpy.inf)), atol=1e-6)
        with self.assertRaisesRegex(ValueError, r"selected\[0, 0, 1, 1\] is 5; expected a key from 0 to 4"):
            attnscope.trace(q, k, v, selected=numpy.where(selected == 4, 5, selected))

    def test_a_score_has_its_arrays(self):
        q, k, v = self.qkv(2, 5, 4)
        b = self.random.standard_normal((2, 9))
        path = attnscope.save(self.folder / "a.npz", q, k, v, score="relative", b_score=b)
        near = b[:, numpy.arange(5)[None] - numpy.arange(5)[:, None] + 4]
        numpy.testing.assert_allclose(self.trace(path)["weights"][0], softmax((q @ k.transpose(0, 2, 1) + near) / 2.0), atol=1e-6)

    def test_options_are_those_of_the_program(self):
        said = subprocess.run([BINARY, "trace", "--help"], check=True, capture_output=True, text=True).stdout
        listed = set(re.findall(r"^  (?:-\w,)?--([a-z-]+)", said, re.M))
        others = {"help", "json", "tokens", "output", "backend", "keep", "grad", "layer", "threads", "model", "text", "token-ids", "image", "audio", "decoder", "off", "row", "patch", "stream"}
        self.assertEqual(set(_arrays.known_options()), listed - others)

    def test_without_the_program_it_checks_the_options_later(self):
        _arrays.known_options.cache_clear()
        try:
            with mock.patch.dict(os.environ, {"ATTNSCOPE": str(self.folder / "none")}):
                path = attnscope.save(self.folder / "a.npz", *self.qkv(5, 4), causla=True)
        finally:
            _arrays.known_options.cache_clear()
        with self.assertRaisesRegex(ValueError, "unknown key 'causla'; did you mean causal"):
            attnscope._program.run(["heads", str(path), "-o", "-"])

    def test_a_misspelt_option_is_refused(self):
        with self.assertRaises(ValueError) as refused:
            attnscope.save(self.folder / "a.npz", *self.qkv(5, 4), causla=True)
        self.assertEqual(str(refused.exception), "there is no option causla; did you mean causal?")

    def test_layers_that_do_not_match_are_refused(self):
        q, k, v = self.qkv(3, 5, 4)
        with self.assertRaisesRegex(ValueError, "q has 2 layers, k 1"):
            attnscope.save(self.folder / "a.npz", [q, q], [k], [v])


class Borrowed:
    """An array of another library, in main memory or on a device, that has DLPack alone."""

    def __init__(self, values, device=1):
        self.values, self.device = values, device

    def __dlpack__(self, **_):
        return self.values.__dlpack__()

    def __dlpack_device__(self):
        return (self.device, 0)


class Given(Case):
    def test_arrays_of_other_libraries(self):
        ones = numpy.ones((2, 3), numpy.float32)
        numpy.testing.assert_array_equal(attnscope.array(Borrowed(ones)), ones)
        numpy.testing.assert_array_equal(attnscope.array(ones.tolist()), ones)
        with self.assertRaisesRegex(TypeError, "Borrowed is on DLPack's device 2; expected one in main memory"):
            attnscope.array(Borrowed(ones, 2))

    def test_what_is_no_number_is_refused(self):
        for values in (numpy.ones(2, complex), ["a"], numpy.array([None])):
            with self.assertRaisesRegex(TypeError, "expected real numbers"):
                attnscope.array(values)

    def test_arrays_beside_by_their_names(self):
        q, k, v = self.qkv(2, 5, 4)
        upstream, sinks = self.random.standard_normal((2, 5, 4)), numpy.array([0.5, -1.0])
        found = attnscope.trace(q, k, v, dO=upstream, sinks=sinks, grad=True)
        scores = q @ k.transpose(0, 2, 1) / 2
        weights = numpy.exp(scores) / (numpy.exp(scores).sum(-1, keepdims=True) + numpy.exp(sinks)[:, None, None])
        numpy.testing.assert_allclose(found["weights"][0], weights, atol=1e-6)
        numpy.testing.assert_allclose(found["d_v"][0], weights.transpose(0, 2, 1) @ upstream, atol=1e-5)

    def test_a_note_of_the_program_is_a_warning(self):
        q, k, v = self.qkv(5, 4)
        with self.assertWarnsRegex(attnscope.Note, "Q \\(int64\\).* converted to float32"):
            attnscope.trace(numpy.full((5, 4), 2**25 + 1), k, v)


class Numbers(Case):
    def test_trace_has_every_stage_or_those_that_are_named(self):
        q, k, v = self.qkv(2, 3, 5, 4)
        found = attnscope.trace(q, k, v, rope="half", softcap=5.0)
        self.assertLessEqual({"q_rot", "scores", "scaled", "biased", "weights", "context", "logsumexp"}, set(found))
        self.assertEqual(found["weights"].shape, (2, 3, 5, 5))
        self.assertEqual(set(attnscope.trace(q, k, v, keep=["weights"])) & {"scores", "weights", "context"}, {"weights"})
        with self.assertRaisesRegex(ValueError, "no_such"):
            attnscope.trace(q, k, v, keep=["no_such"])

    def test_heads_are_columns(self):
        weights = softmax(self.random.standard_normal((2, 3, 5, 5)))
        found = attnscope.heads(weights)
        self.assertEqual(list(numpy.asarray(found["layer"])), [0, 0, 0, 1, 1, 1])
        entropy = -(weights * numpy.log(weights)).sum(-1).mean(-1).ravel()
        numpy.testing.assert_allclose(numpy.asarray(found["entropy"]), entropy, atol=1e-5)
        self.assertEqual(set(map(type, list(found["label"]))) <= {str, numpy.str_}, True)

    def test_diff_names_the_fault_of_a_kernel(self):
        q, k, v = self.qkv(2, 6, 4)
        right = softmax(q @ k.transpose(0, 2, 1) / 2 + causal(6)) @ v
        twice = softmax(q @ k.transpose(0, 2, 1) / 4 + causal(6)) @ v
        self.assertTrue(attnscope.diff(q, k, v, right, causal=True)["equal"])
        found = attnscope.diff(q, k, v, {"context": twice}, causal=True)
        self.assertFalse(found["equal"])
        self.assertIn("scale", found["verdict"] + str(found["examined"][0]["diagnosis"]["named"]))
        self.assertTrue(attnscope.diff(q, k, v, twice, causal=True, tolerance=100.0)["equal"])
        with self.assertRaises(ValueError):
            attnscope.diff(q, k, v, {"context": twice[:, :5]}, causal=True)


class Figures(Case):
    def figure(self, **more):
        q, k, v = self.qkv(2, 5, 4)
        self.weights = softmax(q @ k.transpose(0, 2, 1) / 2 + causal(5))
        return attnscope.figure(q, k, v, tokens=["the", "cat", "saw", "it", "it"], causal=True, **more)

    def titles(self, svg):
        return [each.text for each in xml.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]

    def test_every_cell_says_its_pair_and_its_weight(self):
        titles = self.titles(self.figure(stage="weights", workspace="step", head=1)._repr_svg_())
        weight = f"{self.weights[1, 2, 0]:.4f}"
        self.assertIn(f"A[saw, the] = {weight}", titles)
        self.assertEqual(len({each for each in titles if each.startswith("A[")}), 25)
        self.assertEqual(len({each for each in titles if each.startswith("A[") and each.endswith("(masked)")}), 10)

    def test_without_titles_where_they_are_not_wanted(self):
        plain, said = self.figure(titles=False), self.figure()
        self.assertEqual(self.titles(plain._repr_svg_()), [])
        self.assertTrue(plain._repr_png_().startswith(b"\x89PNG"))
        self.assertGreater(len(said._repr_svg_()), len(plain._repr_svg_()))

    def test_it_is_saved_by_its_extension(self):
        figure = self.figure()
        for name, begins in (("a.svg", b"<svg"), ("a.PDF", b"%PDF-"), ("a.png", b"\x89PNG")):
            figure.save(self.folder / name)
            self.assertTrue((self.folder / name).read_bytes().startswith(begins))
        with self.assertRaisesRegex(ValueError, "ends in '.jpg'; expected .svg, .pdf, .png or .html"):
            figure.save(self.folder / "a.jpg")

    def test_a_page_of_it_is_the_program_with_the_tensors_in_it(self):
        q, k, v = self.qkv(2, 5, 4)
        with mock.patch.dict(os.environ, ATTNSCOPE_ASSETS=str(self.folder)):
            with self.assertRaisesRegex(RuntimeError, "attnscope-web"):
                attnscope.show(q, k, v, inline="page")
            (self.folder / "web").mkdir()
            (self.folder / "web" / "attnscope-page.html").write_text('<p title="1"><!--document--></p>')
            shown = attnscope.show(q, k, v, inline="page", head=1)
            shown.save(self.folder / "a.html")
        page = (self.folder / "a.html").read_text()
        session = json.loads(base64.b64decode(re.search(r"""data-name="session.json" data-words='.*'>(.*)<""", page)[1]))
        self.assertEqual(session["document"]["file"], "attention.npz")
        self.assertNotIn("absolute", session["document"])
        self.assertEqual(session["place"]["head"], 1)
        self.assertIn('data-name="attention.npz"', page)
        self.assertRegex(shown._repr_html_(), r'^<iframe srcdoc="&lt;p title=&quot;1&quot;&gt;[^"]*" sandbox="allow-scripts')
        with self.assertRaisesRegex(ValueError, "inline is 'window'; expected 'figure' or 'page'"):
            attnscope.show(q, k, v, inline="window")

    def test_two_in_one_page_name_nothing_alike(self):
        names = [set(re.findall(r' id="([^"]+)"', self.figure(head=head)._repr_html_())) for head in (0, 1)]
        self.assertTrue(names[0] and names[1])
        self.assertFalse(names[0] & names[1])

    def test_weights_and_a_row_of_them(self):
        figure = self.figure(head=1)
        numpy.testing.assert_allclose(figure.weights[0], self.weights, atol=1e-6)
        row = figure.row("saw")
        self.assertEqual(list(numpy.asarray(row["key"])), ["the", "cat", "saw", "it", "it"])
        numpy.testing.assert_allclose(numpy.asarray(row["weight"]), self.weights[1, 2], atol=1e-6)
        numpy.testing.assert_allclose(numpy.asarray(figure.row(4, head=0)["weight"]), self.weights[0, 4], atol=1e-6)
        with self.assertRaisesRegex(ValueError, "'it' is at positions 3, 4: pass one of them"):
            figure.row("it")
        with self.assertRaisesRegex(ValueError, "'dog' is not one of the tokens: the, cat"):
            figure.row("dog")

    def test_a_layer_or_head_that_is_not_there_is_refused(self):
        for place, words in (({"head": 2}, "no head 2"), ({"layer": 1}, "no layer 1")):
            with self.assertRaisesRegex(ValueError, words):
                self.figure(**place)

    def test_its_file_goes_with_it(self):
        figure = self.figure()
        folder = pathlib.Path(figure.path).parent
        self.assertTrue(folder.exists())
        del figure
        self.assertFalse(folder.exists())


class Show(Case):
    def fake_program(self):
        """A program that computes as attnscope does; in place of a window it writes down what it was asked to show, and waits."""
        script = self.folder / "program"
        script.write_text(f'#!/bin/sh\ncase "$1" in trace | heads | render | options) exec {BINARY} "$@" ;; esac\n'
                          f'echo "$@" >>{self.folder}/shown\nexec >/dev/null 2>&1; while [ -e {self.folder}/program ] && [ ! -e {self.folder}/closed ]; do sleep 0.05; done\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        os.environ["ATTNSCOPE"], os.environ["DISPLAY"] = str(script), ":0"
        self.addCleanup((self.folder / "closed").touch)
        self.addCleanup(setattr, attnscope, "_window", None)

    def shown(self):
        return (self.folder / "shown").read_text().splitlines()

    def wait_shown(self, count):
        for _ in range(200):
            if (self.folder / "shown").exists() and len(self.shown()) == count:
                return
            subprocess.run(["sleep", "0.05"], check=True)
        self.fail(f"{count} windows were expected")

    def test_a_second_call_goes_to_the_window_that_is_open(self):
        self.fake_program()
        q, k, v = self.qkv(2, 5, 4)
        attnscope.show(q, k, v, head=1)
        self.wait_shown(1)
        path, *options = self.shown()[0].split()
        self.assertEqual(options, ["--follow", "--head", "1"])
        before = pathlib.Path(path).stat().st_mtime_ns
        attnscope.show(q * 2, k, v)
        self.assertGreater(pathlib.Path(path).stat().st_mtime_ns, before)
        numpy.testing.assert_array_equal(numpy.load(path)["Q"], q * 2)
        self.assertEqual(len(self.shown()), 1)
        with self.assertRaisesRegex(ValueError, "the window is open and keeps its selection: layer, head, row"):
            attnscope.show(q, k, v, head=0)
        attnscope.show(q, k, v, new=True)
        self.wait_shown(2)

    def test_a_model_is_shown_by_its_name(self):
        self.fake_program()
        text = "the dog didn't cross the river because it was too deep"
        shown = attnscope.show("pronouns", text, layer=1, row="it", stage="weights")
        self.wait_shown(1)
        self.assertEqual(self.shown()[0], f"pronouns --text {text} --layer 1 --stage weights --select weights:7,0")
        weights = shown.weights
        self.assertEqual(weights.shape, (1, 2, 11, 11))
        numpy.testing.assert_allclose(weights.sum(-1), 1.0, atol=1e-5)
        row = shown.row("it", head=1)
        self.assertEqual(list(row["key"]), text.split())
        numpy.testing.assert_array_equal(row["weight"], weights[0, 1, 7])
        self.assertIn(b"<svg", shown.picture("svg"))
        everything = attnscope.trace("pronouns", text)
        numpy.testing.assert_array_equal(everything["l1.weights"], weights)
        numpy.testing.assert_array_equal(attnscope.trace("pronouns", text, layer=0, keep=["weights"])["weights"], everything["l0.weights"])
        self.assertEqual(len(attnscope.heads("pronouns", text)["head"]), 4)
        attnscope.show("pronouns", "the cat saw the bridge")
        self.wait_shown(2)
        attnscope.show(weights)
        self.wait_shown(3)
        with self.assertRaisesRegex(ValueError, "causal: a model by name has no such option"):
            attnscope.show("pronouns", text, causal=True)
        with self.assertRaisesRegex(ValueError, "'pronouns' is the name of a model; expected only a text after it"):
            attnscope.show("pronouns", weights)
        with self.assertRaisesRegex(ValueError, "no-such-model"):
            attnscope.show("no-such-model", text)

    def test_a_window_that_was_closed_is_opened_anew(self):
        self.fake_program()
        (self.folder / "closed").touch()
        weights = softmax(self.random.standard_normal((3, 5, 5)))
        attnscope.show(weights, wait=True)
        attnscope.show(weights, wait=True)
        self.assertEqual(len(self.shown()), 2)

    def test_what_is_wrong_is_said_before_a_window_opens(self):
        self.fake_program()
        q, k, v = self.qkv(5, 4)
        with self.assertRaisesRegex(ValueError, "K"):
            attnscope.show(q, k[:, :3], v)
        with self.assertRaisesRegex(ValueError, "^there is no option no_such_option$"):
            attnscope.show(q, k, v, no_such_option=1)
        self.assertFalse((self.folder / "shown").exists())

    def test_without_a_display_it_is_a_figure(self):
        figure = attnscope.show(*self.qkv(5, 4))
        self.assertIsNone(figure.window)
        self.assertTrue(figure._repr_svg_().startswith("<svg"))


class Program(Case):
    def test_where_it_is_looked_for(self):
        os.environ["ATTNSCOPE"] = "/no/such/program"
        with self.assertRaisesRegex(FileNotFoundError, "ATTNSCOPE is /no/such/program, which is not a program. Install the wheel that has the program in it, or build it with ./run"):
            attnscope.program()
        del os.environ["ATTNSCOPE"]
        found = subprocess.run([sys.executable, "-c", "import attnscope; print(attnscope.program())"], capture_output=True, text=True, check=True,
                               env={**os.environ, "PATH": str(pathlib.Path(BINARY).parent), "PYTHONPATH": PACKAGE})
        self.assertEqual(pathlib.Path(found.stdout.strip()), pathlib.Path(BINARY))

    def test_it_says_how_to_get_it(self):
        code = "import attnscope._program as p; p._source_folders = list; p.program()"
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False,
                              env={"PATH": "/nowhere", "PYTHONPATH": PACKAGE, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertIn("FileNotFoundError: the program attnscope is not on the PATH, and ATTNSCOPE is not set. Install the wheel that has the program in it, or build it with ./run", said.stderr)


unittest.main()
