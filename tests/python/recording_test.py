"""Files of recorded calls, without PyTorch: the program computes the weights of each call from its file.

    recording_test.py ATTNSCOPE PACKAGE
"""
import json
import os
import unittest
from unittest import mock

import numpy
from case import Case, attnscope, softmax
from attnscope import _recording
from attnscope._recording import Pairs, Writer, allowed_of, split_additive, split_mask

FULL, CAUSAL = Pairs({}), Pairs({"causal": "top-left"})


def places(tq, tk):
    return numpy.arange(tq)[:, None], numpy.arange(tk)[None, :]


class Masks(unittest.TestCase):
    def check(self, keep, options, mask=None):
        """split_mask() gives these options and this mask of keys, and both together are the mask."""
        found = split_mask(keep)
        self.assertEqual(found.options, options)
        self.assertIsNone(found.bias)
        if mask is None:
            self.assertIsNone(found.mask)
        else:
            numpy.testing.assert_array_equal(found.mask, mask)
        numpy.testing.assert_array_equal(numpy.broadcast_to(allowed_of(found, *keep.shape[-2:]), keep.shape), keep)

    def test_causal_masks_and_windows_are_options(self):
        i, j = places(6, 6)
        for keep, options in ((j <= i, {"causal": "top-left"}), ((j <= i) & (i - j <= 2), {"causal": "top-left", "window-left": 2}),
                              (abs(i - j) <= 1, {"window-left": 1, "window-right": 1}), (i - j <= 3, {"window-left": 3}),
                              (j - i <= 2, {"window-right": 2}), (numpy.ones((6, 6), bool), {}), (i == j, {"causal": "top-left", "window-left": 0})):
            self.check(numpy.broadcast_to(keep, (2, 3, 6, 6)), options)

    def test_fewer_queries_than_keys_have_one_of_two_corners(self):
        i, j = places(3, 7)
        self.check((j <= i + 4)[None, None], {"causal": "bottom-right"})
        self.check(((j <= i + 4) & (j >= i + 2))[None, None], {"causal": "bottom-right", "window-left": 2})
        self.check(numpy.ones((1, 1, 1, 7), bool), {})

    def test_padding_is_a_mask_of_keys(self):
        i, j = places(5, 5)
        keys = numpy.array([[1, 1, 1, 1, 1], [0, 0, 1, 1, 1]], bool)[:, None, None, :]
        self.check((j <= i) & keys, {"causal": "top-left"}, keys)
        self.check(numpy.broadcast_to(keys, (2, 1, 5, 5)), {}, keys)
        self.check(((j <= i) & (i - j < 2)) & keys[:1, :, :, ::-1], {"causal": "top-left", "window-left": 1})
        same = numpy.broadcast_to(keys[1:], (2, 4, 5, 5))
        self.check(same, {}, keys[1:])

    def test_other_masks_are_arrays(self):
        random = numpy.random.default_rng(1)
        keep = random.random((2, 3, 300, 280)) < 0.5
        self.check(keep, {}, keep)
        i, j = places(6, 6)
        documents = (i // 3 == j // 3) & (j <= i)
        self.check(documents[None, None], {}, documents[None, None])
        self.check(numpy.zeros((1, 1, 2, 2), bool), {}, numpy.zeros((1, 1, 1, 2), bool))

    def test_every_mask_of_few_pairs_is_exact(self):
        for tq, tk in ((1, 3), (2, 2), (2, 3), (3, 2), (3, 3)):
            for bits in range(2 ** (tq * tk)):
                keep = numpy.array([bits >> n & 1 for n in range(tq * tk)], bool).reshape(1, 1, tq, tk)
                numpy.testing.assert_array_equal(numpy.broadcast_to(allowed_of(split_mask(keep), tq, tk), keep.shape), keep)

    def test_added_numbers_are_a_mask_only_without_other_numbers(self):
        i, j = places(4, 4)
        low = numpy.finfo(numpy.float32).min
        for lowest in (-numpy.inf, low):
            self.assertEqual(split_additive(numpy.where(j <= i, numpy.float32(0), numpy.float32(lowest))[None, None]), CAUSAL)
        closed = numpy.where(i > 0, numpy.float32(0), low) + numpy.zeros((1, 1, 4, 4), numpy.float32)  # a row that averages V
        self.assertIsNone(split_additive(closed).mask)
        numpy.testing.assert_array_equal(split_additive(closed).bias, closed)
        biased = numpy.where(j <= i, (j - i).astype(numpy.float32), low)[None, None]
        numpy.testing.assert_array_equal(split_additive(numpy.broadcast_to(biased, (2, 1, 4, 4))).bias, biased)


class Files(Case):
    def writer(self, **options):
        return Writer(str(self.folder / "a.npz"), **{"join": False, "dtype": None, "overwrite": False, **options})

    def check(self, path, layer, q, k, v, keep=True, scale=None, bias=0.0):
        """The file's call has the weights of these operands."""
        found = self.trace(path, "--layer", str(layer))
        heads = q.shape[1] // k.shape[1]
        k, v = (each.astype(numpy.float64).repeat(heads, 1) for each in (k, v))
        scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
        weights = softmax(numpy.where(keep, scores, -numpy.inf))
        numpy.testing.assert_allclose(found["weights"], weights, atol=1e-6)
        numpy.testing.assert_allclose(found["context"], weights @ v, atol=1e-5)

    def test_layers_have_options_of_their_own(self):
        writer = self.writer()
        calls = [self.qkv(2, 3, 5, 4) for _ in range(3)]
        window = Pairs({"causal": "top-left", "window-left": 1})
        for number, (pairs, options) in enumerate(((CAUSAL, {}), (window, {}), (FULL, {"scale": 0.25}))):
            writer.add(2 * number, 0, *calls[number], pairs, options)
        self.assertEqual(writer.finish(list("abcde"), None), [str(self.folder / "a.npz")])
        i, j = places(5, 5)
        for number, (keep, scale) in enumerate(((j <= i, None), ((j <= i) & (j >= i - 1), None), (True, 0.25))):
            self.check(self.folder / "a.npz", 2 * number, *calls[number], keep, scale)
        self.assertEqual(json.loads(str(numpy.load(self.folder / "a.npz")["tokens"])), list("abcde"))
        self.assertEqual(os.listdir(self.folder), ["a.npz", "trace.npz"])

    def test_other_sizes_masks_and_steps_are_other_files(self):
        writer = self.writer()
        self_attention, cross = self.qkv(1, 2, 3, 4), self.qkv(1, 2, 3, 4)
        cross[1], cross[2] = self.qkv(1, 1, 6, 4)[:2]
        keep = self.random.random((1, 1, 3, 3)) < 0.5
        keep[..., 0] = True
        bias = self.random.standard_normal((1, 2, 3, 3)).astype(numpy.float32)
        writer.add(0, 0, *self_attention, CAUSAL, {})
        writer.add(1, 0, *cross, FULL, {})
        writer.add(2, 0, *self_attention, Pairs({}, keep), {})
        writer.add(3, 0, *self_attention, Pairs({}, None, bias), {})
        writer.add(4, 0, *self_attention, Pairs({}, keep.copy()), {})
        writer.add(0, 1, *self_attention, FULL, {})
        paths = writer.finish(list("abc"), list("tuvwxy"))
        self.assertEqual([os.path.basename(path) for path in paths],
                         ["a-step0-1.npz", "a-step0-2.npz", "a-step0-3.npz", "a-step0-4.npz", "a-step1.npz"])
        i, j = places(3, 3)
        self.check(paths[0], 0, *self_attention, j <= i)
        self.check(paths[1], 1, *cross)
        for layer in (2, 4):
            self.check(paths[2], layer, *self_attention, keep)
        self.check(paths[3], 3, *self_attention, bias=bias)
        self.check(paths[4], 0, *self_attention)
        crossed = numpy.load(paths[1])
        self.assertEqual([json.loads(str(crossed[name])) for name in ("tokens", "tokens_kv")], [list("abc"), list("tuvwxy")])
        self.assertEqual(json.loads(str(numpy.load(paths[0])["tokens"])), list("abc"))

    def test_joined_steps_are_one_causal_call(self):
        q, k, v = self.qkv(2, 4, 7, 4)
        k, v = k[:, :2], v[:, :2]
        keys = numpy.array([[1] * 7, [0, 0, 1, 1, 1, 1, 1]], bool)[:, None, None, :]
        for keep, name in ((None, "plain"), (keys, "padded")):
            writer = Writer(str(self.folder / f"{name}.npz"), True, None, False)
            for layer in (0, 1):
                for step, (first, end) in enumerate(((0, 4), (4, 5), (5, 7))):
                    i, j = places(end - first, end)
                    mask = (j <= i + first)[None, None] & (True if keep is None else keep[..., :end])
                    writer.add(layer, step, q[:, :, first:end], k[:, :, :end], v[:, :, :end], split_mask(mask), {})
            [path] = writer.finish(list("abcdefgh"), None)  # the last one was generated, not read
            i, j = places(7, 7)
            for layer in (0, 1):
                found = self.trace(path, "--layer", str(layer))
                seen = numpy.broadcast_to((j <= i) & (True if keep is None else keep), (2, 4, 7, 7))
                scores = numpy.where(seen, q @ k.repeat(2, 1).swapaxes(-1, -2) / 2, -numpy.inf)
                rows = seen.any(-1)
                numpy.testing.assert_allclose(found["weights"][rows], softmax(scores[rows]), atol=1e-6)
            file = numpy.load(path)
            self.assertEqual(json.loads(str(file["options"])), {"causal": "top-left"})
            self.assertEqual(json.loads(str(file["tokens"])), list("abcdefg"))
            self.assertEqual("mask" in file, keep is not None)

    def test_steps_after_the_first_have_an_offset(self):
        q, k, v = self.qkv(1, 2, 7, 4)
        writer = self.writer(join=True)
        for end in (5, 6, 7):
            writer.add(0, end, q[:, :, end - 1:end], k[:, :, :end], v[:, :, :end], FULL, {})
        [path] = writer.finish(list("abcdefg"), None)
        i, j = places(3, 7)
        self.check(path, 0, q[:, :, 4:], k, v, j <= i + 4)
        file = numpy.load(path)
        self.assertEqual([json.loads(str(file[name])) for name in ("tokens", "tokens_kv")], [list("efg"), list("abcdefg")])

    def test_steps_that_are_not_one_text_are_not_joined(self):
        q, k, v = self.qkv(1, 2, 7, 4)

        def refusal(second_k, second_v, tq=1, pairs=FULL, options=None):
            writer = self.writer(join=True)
            writer.add(3, 0, q[:, :, :4], k[:, :, :4], v[:, :, :4], CAUSAL, {})
            with self.assertRaises(ValueError) as refused:
                writer.add(3, 1, q[:, :, :tq], second_k, second_v, pairs, options or {})
            writer.remove()
            return str(refused.exception)

        self.assertEqual(refusal(k, v), "step 1 of layer 3 has 7 keys after 4; expected 5, those and one for each query, to join the steps. A static or "
                                        "sliding cache has others: pass join=False")
        changed = "step 1 of layer 3 changes keys, values or options of earlier steps; expected a cache that only grows"
        self.assertIn(changed, refusal(k[:, :, 1:6], v[:, :, :5]))
        self.assertIn(changed, refusal(k[:, :, :5], v[:, :, 1:6]))
        self.assertIn(changed, refusal(k[:, :, :5], v[:, :, :5], options={"scale": 1.0}))
        self.assertIn("layer 3 adds a bias to the scores", refusal(k[:, :, :5], v[:, :, :5], pairs=Pairs({}, None, numpy.ones((1, 1, 1, 5)))))
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_call_is_written_whole_or_not(self):
        writer, (q, k, v) = self.writer(), self.qkv(1, 2, 5, 4)
        writer.add(0, 0, q, k, v, FULL, {})
        write = numpy.lib.format.write_array

        def full(stream, values, **more):
            if values is k:
                stream.write(b"half")
                raise OSError("No space left on device")
            write(stream, values, **more)

        with mock.patch.object(numpy.lib.format, "write_array", full), self.assertRaises(OSError):
            writer.add(1, 0, q, k, v, FULL, {})
        with mock.patch.object(numpy.lib.format, "write_array", full), self.assertRaises(OSError):
            writer.add(1, 1, q, k, v, FULL, {})
        writer.add(2, 0, q, k, v, FULL, {})
        [path] = writer.finish(None, None)
        self.assertEqual(list(numpy.load(path)), ["l0.Q", "l0.K", "l0.V", "l2.Q", "l2.K", "l2.V"])
        self.assertEqual(os.listdir(self.folder), ["a.npz"])
        (self.folder / "usual").touch()
        self.assertEqual(os.stat(path).st_mode, os.stat(self.folder / "usual").st_mode)
        self.check(path, 0, q, k, v)
        self.check(path, 2, q, k, v)

    def test_a_generation_of_many_steps_opens_few_files(self):
        writer, (q, k, v) = self.writer(), self.qkv(1, 2, 40, 4)
        opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
        for layer in (0, 1):
            for step in range(40):
                writer.add(layer, step, q[:, :, step:step + 1], k[:, :, :step + 1], v[:, :, :step + 1], FULL, {})
        if opened:
            self.assertLessEqual(len(os.listdir("/proc/self/fd")) - opened, _recording.OPEN)
        paths = writer.finish([f"t{n}" for n in range(40)], None)
        self.assertEqual(len(paths), 40)
        for step in (0, 3, 39):
            for layer in (0, 1):
                self.check(paths[step], layer, q[:, :, step:step + 1], k[:, :, :step + 1], v[:, :, :step + 1])
            self.assertEqual(json.loads(str(numpy.load(paths[step])["tokens"])), [f"t{step}"])
        writer = self.writer(overwrite=True)
        for step in range(40):
            writer.add(0, step, q[:, :, step:step + 1], k[:, :, :step + 1], v[:, :, :step + 1], FULL, {})
        writer.remove()
        self.assertFalse([name for name in os.listdir(self.folder) if name.endswith(".part")])

    def test_numbers_are_exact_or_rounded_by_request(self):
        q, k, v = self.qkv(1, 1, 3, 4)
        for dtype, given, expected in ((None, numpy.float64, numpy.float64), (None, numpy.float16, numpy.float16), ("float16", numpy.float32, numpy.float16)):
            writer = self.writer(dtype=dtype, overwrite=True)
            writer.add(0, 0, q.astype(given), k.astype(given), v.astype(given), FULL, {})
            found = numpy.load(writer.finish(None, None)[0])
            self.assertEqual(found["l0.Q"].dtype, expected)
            numpy.testing.assert_array_equal(found["l0.K"], k.astype(given).astype(expected))
        with self.assertRaisesRegex(ValueError, "dtype is float16, but a number is 7e\\+04; expected at most 65504: leave dtype out"):
            self.writer(dtype="float16", overwrite=True).add(0, 0, q, k * 0 + 70000, v, FULL, {})

    def test_what_cannot_be_written_is_refused_before_the_model_runs(self):
        (self.folder / "a.npz").write_bytes(b"")
        for name in ("b-step0.npz", "d-cross.npz", "d2.npz"):
            (self.folder / name).write_bytes(b"")
        Writer(str(self.folder / "d.npz"), False, None, False)
        for out, text in ((self.folder / "a.npz", "a.npz' exists, and this recording may write it; expected another out, or overwrite=True"),
                           (self.folder / "b.npz", "b-step0.npz' exists, and this recording may write it"),
                           (self.folder / "c.safetensors", "c.safetensors'; expected a name that ends in .npz"),
                           (self.folder / "no" / "c.npz", "and there is no folder '")):
            with self.assertRaises(ValueError) as refused:
                Writer(str(out), False, None, False)
            self.assertIn(text, str(refused.exception))
        with self.assertRaisesRegex(ValueError, "dtype is 'int8'; expected 'float16', 'float32', or None"):
            self.writer(dtype="int8", overwrite=True)

    def test_tokens_that_fit_nowhere_are_reported(self):
        writer = self.writer()
        writer.add(0, 0, *self.qkv(1, 2, 5, 4), FULL, {})
        with self.assertWarnsRegex(attnscope.Note, "tokens has 3, and no call has as many queries or keys: 5 × 5. The files have no words"):
            writer.finish(list("abc"), None)


unittest.main()
