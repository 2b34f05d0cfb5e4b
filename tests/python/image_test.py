"""Tokens that are patches of an image: arrays with their picture, and models of transformers whose weights the picture shows.

    image_test.py ATTNSCOPE PACKAGE
"""
import html
import re
import subprocess
import unittest

from case import BINARY, Case, attnscope, softmax

import numpy

try:
    import torch
    import transformers
    from PIL import Image
except ImportError as missing:
    transformers = None
    print(f"{missing.name} is not installed: models are not compared")

PATCHES = [f"{row},{column}" for row in range(3) for column in range(3)]


def drawn(height, width):
    """A picture of shapes, [height, width, 3]: a disc on a ramp."""
    y, x = numpy.mgrid[0:height, 0:width]
    picture = numpy.stack([255 * x / width, 255 * y / height, numpy.full(x.shape, 80)], -1)
    picture[(y - height / 3) ** 2 + (x - width / 2) ** 2 < (height / 5) ** 2] = (250, 200, 40)
    return picture.astype(numpy.uint8)


def shown(svg):
    """The numbers of patches that a figure gives as tooltips, by row and column."""
    titles = re.findall(r"<title>row (\d+), column (\d+); ([^<]*): ([0-9.·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)</title>", html.unescape(svg.decode()))
    plain = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    return {(int(row), int(column)): float(number.translate(plain).replace("·10", "e")) for row, column, _, number in titles}


class Arrays(Case):
    def test_weights_with_a_picture(self):
        weights = softmax(self.random.standard_normal((2, 10, 10)) * 2).astype(numpy.float32)
        texts = ["CLS"] + ["*"] * 9
        figure = attnscope.figure(weights, tokens=texts, image=drawn(24, 36), image_tokens=slice(1, 10), grid=(3, 3), head=1)
        found = shown(figure.picture("svg"))
        self.assertEqual(len(found), 9)
        for n in range(9):
            self.assertAlmostEqual(found[n // 3, n % 3], weights[1, 0, 1 + n], delta=6e-5)
        self.assertIn(b"<image", figure.picture("svg"))
        self.assertEqual(figure.picture("pdf")[:5], b"%PDF-")
        self.assertEqual(figure.picture("png")[:4], b"\x89PNG")

    def test_the_forms_of_an_image_and_of_tokens(self):
        weights = numpy.full((10, 10), 0.1, numpy.float32)
        for image in (drawn(6, 9), drawn(6, 9).transpose(2, 0, 1), drawn(6, 9) / 255, drawn(6, 9)[None], drawn(6, 9)[..., 0]):
            for tokens in (slice(1, 10), range(1, 10), (1, 9), numpy.array([1, 9])):
                path = self.folder / "a.npz"
                attnscope.save(path, weights, image=image, image_tokens=tokens, grid=(3, 3))
                arrays = numpy.load(path)
                self.assertEqual(arrays["image_tokens"].tolist(), [1, 9])
                self.assertEqual(arrays["image"].shape[:2], (6, 9))
        with self.assertRaisesRegex(ValueError, r"image_tokens is slice\(1, None, None\); expected a slice with its end"):
            attnscope.save(self.folder / "b.npz", weights, image_tokens=slice(1, None))
        with self.assertRaisesRegex(ValueError, "image_grid is .2, 3., 6 patches"):
            attnscope.figure(weights, image_tokens=slice(1, 10), grid=(2, 3))

    def test_a_map_of_diffusion(self):
        weights = softmax(self.random.standard_normal((9, 4))).astype(numpy.float32)
        path = self.folder / "a.npz"
        attnscope.save(path, weights, tokens_kv=["<s>", "a", "cat", "</s>"], image_queries=slice(0, 9))
        self.trace(path, "--keep", "weights")
        subprocess.run([BINARY, "render", "--workspace", "heads", "--select", "weights:0,2", "-o", self.folder / "a.svg", path], check=True, capture_output=True)
        found = shown((self.folder / "a.svg").read_bytes())
        for n in range(9):
            self.assertAlmostEqual(found[n // 3, n % 3], weights[n, 2], delta=6e-5)

    def test_a_trace_keeps_the_picture(self):
        q, k, v = self.qkv(10, 4)
        attnscope.save(self.folder / "a.npz", q, k, v, tokens=["CLS"] + ["*"] * 9, image=drawn(24, 24), image_tokens=(1, 9))
        found = self.trace(self.folder / "a.npz")
        numpy.testing.assert_array_equal(found["image"], drawn(24, 24))
        self.assertEqual(found["image"].dtype, numpy.uint8)
        self.assertEqual(list(found["tokens"]), ["CLS", *PATCHES])


@unittest.skipIf(transformers is None, "transformers, PyTorch and Pillow are needed")
class Models(Case):
    def setUp(self):
        super().setUp()
        torch.manual_seed(1)

    def test_a_vit_shows_the_weights_of_transformers(self):
        config = transformers.ViTConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=24, patch_size=8,
                                        initializer_range=0.4, attn_implementation="eager")
        model = transformers.ViTForImageClassification(config).eval()
        folder = self.folder / "vit"
        model.save_pretrained(folder)
        processor = transformers.ViTImageProcessor(size={"height": 24, "width": 24})
        processor.save_pretrained(folder)
        picture = Image.fromarray(drawn(40, 60))
        picture.save(self.folder / "a.png")
        with torch.no_grad():
            expected = model(**processor(picture, return_tensors="pt"), output_attentions=True).attentions
        subprocess.run([BINARY, "trace", "--model", folder, "--image", self.folder / "a.png", "--keep", "q,k,weights", "-o", self.folder / "trace.npz"],
                       check=True, capture_output=True)
        found = dict(numpy.load(self.folder / "trace.npz"))
        self.assertEqual(list(found["tokens"]), ["CLS", *PATCHES])
        self.assertEqual(found["image"].shape, (24, 24, 3))
        for layer, weights in enumerate(expected):
            numpy.testing.assert_allclose(found[f"l{layer}.weights"], weights.numpy(), atol=1e-5)
        self.assertGreater(expected[1][0, :, 0].max().item(), 0.2)  # far from even
        for source in ([folder, "--image", self.folder / "a.png"], [self.folder / "trace.npz"]):  # of the CLS row of layer 1, head 2
            subprocess.run([BINARY, "render", "--workspace", "heads", "--layer", "1", "--head", "2", "-o", self.folder / "a.svg", *source],
                           check=True, capture_output=True)
            patches = shown((self.folder / "a.svg").read_bytes())
            self.assertEqual(len(patches), 9)
            for n in range(9):
                self.assertAlmostEqual(patches[n // 3, n % 3], expected[1][0, 2, 0, 1 + n].item(), delta=6e-5)
        attnscope.save(self.folder / "hooks.npz", model, dict(processor(picture, return_tensors="pt")), image=picture, image_tokens=slice(1, 10))
        self.assertEqual(list(self.trace(self.folder / "hooks.npz", "--layer", "1")["tokens"][1:]), PATCHES)

    def test_a_word_of_a_vision_language_model_looks_at_its_image(self):
        vision = transformers.CLIPVisionConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=24, patch_size=8)
        text = transformers.LlamaConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=48, vocab_size=60,
                                        initializer_range=0.4)
        config = transformers.LlavaConfig(vision_config=vision, text_config=text, image_token_index=59, vision_feature_layer=-1)
        model = transformers.LlavaForConditionalGeneration(config).eval()
        model.set_attn_implementation("sdpa")
        ids = torch.tensor([[1, 7, *[59] * 9, 12, 4, 30]])
        inputs = {"input_ids": ids, "pixel_values": torch.randn(1, 3, 24, 24)}
        texts = ["<s>", "USER", *["<image>"] * 9, "where", "is", "cat"]
        with torch.no_grad(), attnscope.record(model, self.folder / "vlm.npz", tokens=texts, image=drawn(24, 24), image_tokens=slice(2, 11),
                                               grid=(3, 3)) as recording:
            model(**inputs)
        model.set_attn_implementation("eager")
        with torch.no_grad():
            expected = model(**inputs, output_attentions=True).attentions
        paths = {int(numpy.load(path)["l0.Q" if "l0.Q" in numpy.load(path) else "l2.Q"].shape[2]): path for path in recording.paths}
        self.assertEqual(sorted(paths), [10, 14])  # the tower, and the text with the image in it
        self.assertEqual(numpy.load(paths[10])["image_tokens"].tolist(), [1, 9])
        layers = sorted(int(name[1:-2]) for name in numpy.load(paths[14]) if name.endswith(".Q"))
        for layer, weights in zip(layers, expected, strict=True):
            found = self.trace(paths[14], "--layer", str(layer), "--keep", "weights")
            self.assertEqual(list(found["tokens"]), ["<s>", "USER", *PATCHES, "where", "is", "cat"])
            numpy.testing.assert_allclose(found["weights"][:, :, -1, 2:11], weights[:, :, -1, 2:11].numpy(), atol=1e-5)
        subprocess.run([BINARY, "render", "--workspace", "heads", "--head", "1", "-o", self.folder / "a.svg", paths[14]], check=True, capture_output=True)
        patches = shown((self.folder / "a.svg").read_bytes())  # of the last word: the mask is causal
        for n in range(9):
            self.assertAlmostEqual(patches[n // 3, n % 3], expected[0][0, 1, -1, 2 + n].item(), delta=6e-5)


if __name__ == "__main__":
    unittest.main()
