"""attnscope.verify: kernels written here, right ones and wrong ones; the fault's code, the smallest call, the file that repeats it.

    verify_test.py ATTNSCOPE PACKAGE
"""
import functools
import os
import subprocess
import unittest

import numpy
from case import BINARY, Case, attnscope


def attention(q, k, v, *, keep=None, scale=None, bias=None, tiled=False, sinks=None, dtype=numpy.float64):
    """softmax(q kᵀ scale + bias) v where `keep` allows. `tiled`: heads of K and V follow one another in place of in groups."""
    q, k, v = (each.astype(dtype) for each in (q, k, v))
    times = q.shape[1] // k.shape[1]
    repeat = (lambda x: numpy.tile(x, (1, times, 1, 1))) if tiled else (lambda x: numpy.repeat(x, times, axis=1))
    k, v = repeat(k), repeat(v)
    scores = q @ k.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if bias is not None:
        scores = scores + bias
    if keep is not None:
        scores = numpy.where(keep, scores, -numpy.inf)
    most = scores.max(-1, keepdims=True, initial=-1e30)
    powers = numpy.exp(scores - most)
    total = powers.sum(-1, keepdims=True)
    if sinks is not None:
        with numpy.errstate(over="ignore"):
            total = total + numpy.exp(sinks[:, None, None] - most)
    with numpy.errstate(invalid="ignore"):
        return (numpy.where(total > 0, powers / total, 0.0) @ v).astype(numpy.float32)


def places(q, k):
    return numpy.arange(q.shape[2])[:, None], numpy.arange(k.shape[2])[None]


def top_left(q, k, v):
    i, j = places(q, k)
    return attention(q, k, v, keep=j <= i)


def bottom_right(q, k, v):
    i, j = places(q, k)
    return attention(q, k, v, keep=j <= i + k.shape[2] - q.shape[2])


def window(width):
    def kernel(q, k, v):
        i, j = places(q, k)
        return attention(q, k, v, keep=(j <= i) & (i - j <= width))
    return kernel


FEW = [{"tq": 1, "tk": 3}, {"tq": 7, "tk": 9, "heads": 4, "kv_heads": 2, "batch": 2, "d": 8}]


class Verify(Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def verify(self, kernel, *args, **options):
        return attnscope.verify(kernel, *args, path=self.folder / "fault.npz", **options)

    def test_right_kernels_agree_in_every_call(self):
        for kernel, call, sizes in ((attention, None, None), (top_left, {"causal": "top-left"}, FEW), (bottom_right, {"causal": "bottom-right"}, FEW),
                             (window(3), {"causal": "top-left", "window_left": 3}, FEW),
                             (functools.partial(attention, scale=0.25), {"scale": 0.25}, FEW)):
            found = self.verify(kernel, call, sizes=sizes)
            self.assertTrue(found.ok and found, repr(found))
            self.assertEqual((found.fault, found.path, found.command), (None, None, None))
            self.assertEqual(len(found.calls), 14 if sizes is None else 2)
            self.assertGreater(found.worst, 0.0)
            self.assertLess(found.worst, 1.0)
            self.assertIn(f"agrees with the reference in {len(found.calls)} calls", repr(found))
        self.assertFalse((self.folder / "fault.npz").exists())

    def test_the_calls_have_every_shape(self):
        calls = []
        self.verify(lambda q, k, v: calls.append(1) or attention(q, k, v), sizes=FEW)
        self.assertEqual(len(calls), 2)
        calls = attnscope._verify._sizes(None)
        for shape in (lambda n: n["tq"] == 1 < n["tk"], lambda n: n["tq"] % 2 and n["tq"] > 64, lambda n: n["heads"] > n["kv_heads"] > 1,
                      lambda n: n["kv_heads"] == 1 < n["heads"], lambda n: 1 < n["tq"] < n["tk"], lambda n: n["tq"] > n["tk"],
                      lambda n: n["batch"] > 1, lambda n: n["d"] <= 4, lambda n: n["d"] >= 256):
            self.assertTrue(any(map(shape, calls)))

    def test_wrong_kernels_are_named_at_the_smallest_call(self):
        def unscaled(q, k, v):
            return attention(q, k, v, scale=1.0)

        def tiled(q, k, v):
            return attention(q, k, v, tiled=True)

        def last_tile_left_out(q, k, v):
            whole = max(k.shape[2] // 16 * 16, 1) if k.shape[2] > 16 else k.shape[2]
            return attention(q, k[:, :, :whole], v[:, :, :whole])

        def uniform_empty_rows(q, k, v, mask=None):
            made = attention(q, k, v, keep=mask)
            if mask is not None:
                mean = numpy.repeat(v, q.shape[1] // v.shape[1], axis=1).mean(2, keepdims=True)
                made = numpy.where(mask.any(-1, keepdims=True), made, mean).astype(numpy.float32)
            return made

        cases = (
            (top_left, {"causal": "bottom-right"}, "causal_alignment", {"tq": 1, "heads": 1, "batch": 1, "tk": 2}),
            (unscaled, None, "scale", {"tq": 1, "tk": 2, "heads": 1, "batch": 1}),
            (tiled, None, "gqa_tiled", {"tq": 1, "tk": 2, "heads": 4, "kv_heads": 2, "batch": 1}),
            (window(4), {"causal": "top-left", "window_left": 3}, "window_off_by_one", {"heads": 1, "batch": 1}),
            (last_tile_left_out, None, "tail", {"tq": 1, "tk": 17, "heads": 1, "batch": 1}),
            (uniform_empty_rows, None, "empty_rows", {"heads": 1, "batch": 1}),
            (lambda q, k, v, bias: attention(q, k, v), None, "bias", {"tq": 1, "tk": 2, "heads": 1, "batch": 1}),
        )
        for kernel, call, code, size in cases:
            with self.subTest(code):
                found = self.verify(kernel, call)
                self.assertFalse(found.ok)
                self.assertEqual(found.fault.codes, (code,), repr(found))
                self.assertTrue(found.fault.explained)
                self.assertEqual({axis: found.fault.size[axis] for axis in size}, size, repr(found))
                self.assertEqual(set(found.fault.report["sizes"].values()) - {None}, set(found.fault.size.values()))
                self.assertIn(f"fault:    {found.fault.code}: {found.fault.text}", repr(found))
                self.assertIn("smallest: ", repr(found))

    def test_generated_arrays_go_to_parameters_of_their_names(self):
        seen = []

        def kernel(q, k, v, attn_mask=None, bias=None, sinks=None):
            seen.append((attn_mask is not None, bias.shape, sinks.shape))
            return attention(q, k, v, keep=attn_mask, bias=bias, sinks=sinks)

        found = self.verify(kernel, sizes=FEW)
        self.assertTrue(found.ok, repr(found))
        self.assertEqual({each[0] for each in seen}, {True, False})

    def test_the_file_repeats_the_fault(self):
        found = self.verify(lambda q, k, v: attention(q, k, v, scale=1.0), {"temperature": 2.0})
        self.assertEqual(found.command, f"attnscope diff {self.folder}/fault.npz")
        with numpy.load(found.path) as file:
            self.assertEqual(file["Q"].shape, (1, 1, found.fault.size["tq"], found.fault.size["d"]))
            self.assertEqual(str(file["options"]), '{"temperature": 2.0}')
        again = subprocess.run([BINARY, *found.command.split()[1:], "--json"], capture_output=True, text=True, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn('"verdict_code": "different"', again.stdout)
        attnscope.verify(lambda q, k, v: attention(q, k, v, scale=1.0))
        self.assertTrue((self.folder / "attnscope-lambda.npz").exists())

    def test_functions_of_flexattention_are_evaluated(self):
        def mask_mod(b, h, i, j):
            return (j <= i) & (i - j < 3)

        def score_mod(score, b, h, i, j):
            return score - 0.25 * (h + 1) * (i - j)

        def kernel(q, k, v):
            i, j = places(q, k)
            slope = 0.25 * (numpy.arange(q.shape[1]) + 1)[:, None, None]
            return attention(q, k, v, keep=mask_mod(0, 0, i, j), bias=-slope * (i - j))

        call = {"mask_mod": mask_mod, "score_mod": score_mod}
        self.assertTrue(self.verify(kernel, call, sizes=FEW).ok)
        found = self.verify(attention, call, sizes=FEW)
        self.assertFalse(found.ok)
        with self.assertRaisesRegex(ValueError, "score_mod does more than add a number"):
            self.verify(attention, {"score_mod": lambda score, b, h, i, j: 2.0 * numpy.tanh(score / 2.0)})

    def test_an_exception_or_a_shape_is_a_fault(self):
        def without_groups(q, k, v):
            if q.shape[1] != k.shape[1]:
                raise NotImplementedError("no GQA")
            return attention(q, k, v)

        found = self.verify(without_groups)
        self.assertEqual((found.fault.code, found.fault.text), ("raised", "NotImplementedError: no GQA"))
        self.assertEqual((found.fault.size["tq"], found.fault.size["heads"], found.fault.size["kv_heads"]), (1, 2, 1))
        self.assertTrue(self.verify(without_groups, sizes=FEW[:1]).ok)
        self.assertEqual({n["heads"] - n["kv_heads"] for n in attnscope._verify._sizes({"kv_heads": "heads"})}, {0})
        found = self.verify(lambda q, k, v: attention(q, k, v)[..., :1])
        self.assertEqual((found.fault.code, found.fault.text), ("shape", "context has the shape [1, 1, 1, 1]; expected [1, 1, 1, 2]"))

    def test_sizes_layouts_dtypes_and_weights(self):
        found = self.verify(attention, sizes=[{"tq": 3, "tk": 5, "heads": 2}, {"d": 6, "d_v": 4}])
        self.assertEqual([n["tk"] for n in found.calls], [5, 16])
        turned = lambda q, k, v: attention(*(x.swapaxes(1, 2) for x in (q, k, v))).swapaxes(1, 2)
        self.assertTrue(self.verify(turned, layout="tokens-first", sizes=FEW).ok)
        half = self.verify(lambda q, k, v: attention(q, k, v, dtype=numpy.float32).astype(numpy.float16), dtype="float16", sizes=FEW)
        self.assertTrue(half.ok, repr(half))
        both = self.verify(lambda q, k, v: {"context": attention(q, k, v), "logsumexp": numpy.zeros(q.shape[:3])})
        self.assertIn("logsumexp", [row["array"] for row in both.fault.report["arrays"] if row["errors"]["beyond"]])
        for wrong, text in (([], "sizes is empty"), ([{"t": 3}], "a size has 't'"), ([{"heads": 3, "kv_heads": 2}], "expected a divisor"),
                             ([{"tq": 0}], "whole numbers from 1 on")):
            with self.assertRaisesRegex(ValueError, text):
                self.verify(attention, sizes=wrong)
        with self.assertRaisesRegex(ValueError, "causal is True, and a call has Tq ≠ Tk"):
            self.verify(top_left, {"causal": True})
        with self.assertRaisesRegex(ValueError, "did you mean causal"):
            self.verify(top_left, {"causla": "top-left"})
        with self.assertRaisesRegex(ValueError, "bfloat16, which NumPy does not have"):
            self.verify(attention, dtype="bfloat16")

    def test_a_backward_kernel_is_compared_and_its_fault_named_at_the_smallest_call(self):
        def gradients(q, k, v, d_out, *, row_sum=True, summed=True, scale_of_k=True):
            """dS = A ∘ (dO Vᵀ − rowsum(dO ∘ O)); dK, dV summed over the query heads that share them."""
            q, k, v, d_out = (x.astype(numpy.float64) for x in (q, k, v, d_out))
            times, scale = q.shape[1] // k.shape[1], q.shape[-1] ** -0.5
            wide_k, wide_v = (numpy.repeat(x, times, axis=1) for x in (k, v))
            powers = numpy.exp(q @ wide_k.swapaxes(-1, -2) * scale)
            weights = powers / powers.sum(-1, keepdims=True)
            d_weights = d_out @ wide_v.swapaxes(-1, -2)
            of_row = (d_weights * weights).sum(-1, keepdims=True) if row_sum else 0.0
            d_scores = weights * (d_weights - of_row) * scale
            shared = lambda x: x.reshape(x.shape[0], k.shape[1], times, *x.shape[2:])
            joined = lambda x: shared(x).sum(2) if summed else shared(x)[:, :, 0]
            d_k = joined(d_scores.swapaxes(-1, -2) @ q) / (1.0 if scale_of_k else scale)
            return d_scores @ wide_k, d_k, joined(weights.swapaxes(-1, -2) @ d_out)

        plain = lambda q, k, v: attention(q, k, v)  # takes no other array
        right = self.verify(plain, backward=gradients)
        self.assertTrue(right.ok and right.backward, repr(right))
        self.assertIn("in 14 calls, forward and backward", repr(right))
        self.assertFalse(self.verify(plain, sizes=FEW).backward)
        for wrong, code, size in (({"row_sum": False}, "backward_row_sum", {"tq": 1, "heads": 1, "batch": 1}),
                                  ({"summed": False}, "backward_groups", {"tq": 1, "heads": 2, "kv_heads": 1, "batch": 1}),
                                  ({"scale_of_k": False}, "backward_scale", {"tq": 1, "tk": 2, "heads": 1, "batch": 1})):
            with self.subTest(code):
                found = self.verify(plain, backward=functools.partial(gradients, **wrong))
                self.assertIn(code, found.fault.codes, repr(found))
                self.assertEqual({axis: found.fault.size[axis] for axis in size}, size, repr(found))
                with numpy.load(found.path) as file:
                    self.assertLessEqual({"Q", "K", "V", "dO", "context", "dQ", "dK", "dV"}, set(file.files))
        noisy = lambda q, k, v, d: [x + 0.5 if n == 1 else x for n, x in enumerate(gradients(q, k, v, d))]
        found = self.verify(plain, backward=noisy)
        self.assertFalse(found.ok)
        self.assertEqual({row["array"] for row in found.fault.report["arrays"] if row["errors"]["beyond"]}, {"d_k"}, repr(found))
        self.assertEqual((found.fault.size["tq"], found.fault.size["heads"], found.fault.size["batch"]), (1, 1, 1))
        self.assertTrue(self.verify(plain, backward=False, sizes=FEW).ok)
        with self.assertRaisesRegex(ValueError, "backward is True, and NumPy has no gradients"):
            self.verify(plain, backward=True)

    def test_it_raises_only_if_asked(self):
        with self.assertRaisesRegex(AssertionError, "fault:    scale"):
            self.verify(lambda q, k, v: attention(q, k, v, scale=1.0), raises=True)
        self.assertTrue(self.verify(attention, raises=True, sizes=FEW).ok)

    def test_options_may_depend_on_the_size(self):
        def call(size):
            return {"padding": [max(1, size["tk"] - 1)] * size["batch"]}

        def padded(q, k, v):
            return attention(q, k, v, keep=numpy.arange(k.shape[2]) < max(1, k.shape[2] - 1))

        self.assertTrue(self.verify(padded, call, sizes=FEW).ok)
        self.assertFalse(self.verify(attention, call, sizes=FEW).ok)


unittest.main()
