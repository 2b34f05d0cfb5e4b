#!/usr/bin/env python3
"""Builds the image of the Containerfile, and runs trace and render in it without a network.

    container.py PROJECT

The build compiles the program, about 10 minutes on two cores, and installs packages from Debian's archive. It needs the images
debian:12 and debian:12-slim, and does not pull them. Without a registry, make each of them from a folder that
`debootstrap --variant=minbase bookworm ROOT` filled: `tar -C ROOT -c . | podman import - docker.io/library/debian:12`.
ATTN_IMAGE=build asks for that; another value is the name of an image that is built. 77: neither is asked for, or podman, NumPy or an
image is missing.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROJECT = pathlib.Path(sys.argv[1]).resolve()
BASES = ("docker.io/library/debian:12", "docker.io/library/debian:12-slim")
LARGEST = 250 << 20  # Debian without recommended packages is 75 to 175 MB, the program 60 MB
IMAGE = os.environ.get("ATTN_IMAGE", "")


def podman(*command):
    return subprocess.run(["podman", *map(str, command)], capture_output=True, text=True, check=False)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


class Container(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build = IMAGE == "build"
        cls.image = f"localhost/attnscope-test-{os.getpid()}" if build else IMAGE
        if build:
            cls.addClassCleanup(podman, "rmi", "--force", cls.image)
            begin = time.monotonic()
            # The host's network, because a bridge needs more rights than a test may have.
            built = podman("build", "--network", "host", "--tag", cls.image, PROJECT)
            assert built.returncode == 0, (built.stdout + built.stderr)[-4000:]
            print(f"built in {time.monotonic() - begin:.0f} s")

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def attnscope(self, *arguments):
        done = podman("run", "--rm", "--network", "none", "--volume", f"{self.folder}:/data:Z", self.image, *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_it_is_small(self):
        size = int(podman("image", "inspect", "--format", "{{.Size}}", self.image).stdout)
        print(f"{size / 1e6:.0f} MB")
        self.assertLess(size, LARGEST)

    def test_trace_computes_attention(self):
        rng = numpy.random.default_rng(1)
        q, k, v = (rng.standard_normal((2, 6, 4)).astype(numpy.float32) for _ in range(3))
        numpy.savez(self.folder / "qkv.npz", Q=q, K=k, V=v)
        self.attnscope("trace", "qkv.npz", "-o", "out.npz", "--causal")
        scores = numpy.where(numpy.tri(6, dtype=bool), q @ k.transpose(0, 2, 1) / 2, -numpy.inf)
        weights = numpy.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        out = numpy.load(self.folder / "out.npz")
        numpy.testing.assert_allclose(out["weights"].reshape(weights.shape), weights, atol=1e-6)
        numpy.testing.assert_allclose(out["context"].reshape(v.shape), weights @ v, atol=1e-5)

    def test_a_built_in_model_is_in_the_image(self):
        self.attnscope("trace", "--model", "pronouns", "--text", "the dog saw the street", "-o", "out.npz")
        self.assertIn("l0.weights", numpy.load(self.folder / "out.npz"))

    def test_render_draws_with_the_fonts_of_the_image(self):
        for name, begins in (("a.svg", b"<svg"), ("a.pdf", b"%PDF-"), ("a.png", b"\x89PNG")):
            self.attnscope("render", "--preset", "exercise", "--width", "85mm", "-o", name)
            self.assertTrue((self.folder / name).read_bytes().startswith(begins), name)
        self.assertRegex((self.folder / "a.pdf").read_bytes(), rb"FontName /[A-Z]*\+Inter")

    def test_without_a_display_it_names_render(self):
        done = podman("run", "--rm", "--network", "none", self.image)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("attnscope render", done.stderr)


if __name__ == "__main__":
    if not IMAGE:
        skip("ATTN_IMAGE is not set: build, or the name of a built image")
    if not shutil.which("podman"):
        skip("podman is not installed")
    try:
        import numpy
    except ImportError:
        skip("NumPy is not installed (Debian: python3-numpy)")
    for base in BASES if IMAGE == "build" else ():
        if podman("image", "exists", base).returncode:
            skip(f"there is no image {base}: run podman pull {base}")
    unittest.main(argv=sys.argv[:1])
