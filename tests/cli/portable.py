#!/usr/bin/env python3
"""The wheel and the archive of tools/portable.py: complete, of the size that is promised, and they start.

    portable.py PROJECT BUILD

tools/try_portable.sh tries both in a bare Debian. 77: a tool is not here.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROJECT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
GLIBC_AND_OPENGL = re.compile(r"^(ld-linux.*|lib(c|m|dl|pthread|rt|resolv|util|GL|EGL|GLX|GLdispatch|OpenGL))\.so")


def run(*command, **more):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **more)


class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.work.name)
        made = run(sys.executable, PROJECT / "tools" / "portable.py", BUILD, cls.folder)
        assert made.returncode == 0, made.stderr
        print(made.stdout, end="")
        cls.version = run(BUILD / "attnscope", "--version").stdout
        [cls.wheel] = cls.folder.glob("*.whl")
        [archive] = cls.folder.glob("*.tar.xz")
        # A name that a menu entry must quote.
        cls.place = cls.folder / "a place with \"$HOME\" and 100%"
        cls.place.mkdir()
        assert run("tar", "-xf", archive, "-C", cls.place).returncode == 0
        [cls.unpacked] = cls.place.iterdir()

    @classmethod
    def tearDownClass(cls):
        cls.work.cleanup()

    def test_without_the_program_nothing_is_made(self):
        empty = self.folder / "empty"
        empty.mkdir()
        done = run(sys.executable, PROJECT / "tools" / "portable.py", empty, self.folder / "none")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not built", done.stderr)
        self.assertEqual(list((self.folder / "none").iterdir()), [])

    def test_every_library_that_is_needed_is_packed(self):
        libraries = sorted((self.unpacked / "lib" / "attnscope").iterdir())
        names = {path.name for path in libraries}
        self.assertGreater(len(names), 10)
        for file in [self.unpacked / "bin" / "attnscope", *libraries]:
            for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", file).stdout):
                self.assertTrue(needed in names or GLIBC_AND_OPENGL.match(needed), f"{file.name} needs {needed}")
        self.assertIn("$ORIGIN/../lib/attnscope", run("readelf", "-d", self.unpacked / "bin" / "attnscope").stdout)

    def test_the_archive_starts_with_its_own_fonts(self):
        program = self.unpacked / "attnscope"
        self.assertEqual(run(program, "--version").stdout, self.version)
        traced = run(program, "trace", "--model", "pronouns", "--text", "the dog saw the street", "-o", self.folder / "out.npz")
        self.assertEqual(traced.returncode, 0, traced.stderr)
        fonts = {path.name for path in (self.unpacked / "share" / "attnscope" / "fonts").iterdir()}
        self.assertIn("fonts.conf", fonts)
        self.assertGreaterEqual(len(fonts), 8)

    def test_the_menu_entry_comes_and_goes(self):
        home = self.folder / "home"
        home.mkdir()
        environment = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home / "data")}
        done = run(self.unpacked / "attnscope", "--install", env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        entry = (home / "data" / "applications" / "attnscope.desktop").read_text()
        [command] = re.findall(r"^Exec=(.*)$", entry, re.M)
        quoted = re.fullmatch(r'"(.*)" %F', command)[1]
        # As the specification undoes it: the key file's escapes, then those of the quoted string, then %%.
        shown = re.sub(r"\\(.)", r"\1", quoted.replace("\\\\", "\\")).replace("%%", "%")
        self.assertEqual(shown, str(self.unpacked / "attnscope"))
        if shutil.which("desktop-file-validate"):
            self.assertEqual(run("desktop-file-validate", home / "data" / "applications" / "attnscope.desktop").returncode, 0)
        self.assertEqual(run(self.unpacked / "attnscope", "--uninstall", env=environment).returncode, 0)
        self.assertEqual([path for path in home.rglob("attnscope*")], [])

    def test_the_wheel_is_whole(self):
        self.assertRegex(self.wheel.name, r"^attnscope-[\d.]+-py3-none-manylinux_2_36_\w+\.whl$")
        with zipfile.ZipFile(self.wheel) as wheel:
            names = set(wheel.namelist())
            [record] = (name for name in names if name.endswith(".dist-info/RECORD"))
            for line in wheel.read(record).decode().splitlines():
                name, digest, size = line.rsplit(",", 2)
                self.assertIn(name, names)
                if digest:
                    content = wheel.read(name)
                    self.assertEqual(len(content), int(size))
                    self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode())
            scripts = [name for name in names if "/scripts/" in name]
            self.assertEqual([name.split("/", 1)[1] for name in scripts], ["scripts/attnscope"])
            self.assertEqual(wheel.getinfo(scripts[0]).external_attr >> 16 & 0o111, 0o111)  # pip keeps it
            about = wheel.read(record.replace("RECORD", "WHEEL")).decode()
            self.assertIn("Root-Is-Purelib: false", about)
            # As pip places it.
            prefix = self.folder / "prefix"
            for name in names:
                for part, place in ((".data/scripts/", "bin"), (".data/data/", "")):
                    if part in name:
                        path = prefix / place / name.split(part)[1]
                        path.parent.mkdir(parents=True, exist_ok=True)
                        path.write_bytes(wheel.read(name))
        (prefix / "bin" / "attnscope").chmod(0o755)
        self.assertEqual(run(prefix / "bin" / "attnscope", "--version").stdout, self.version)


if __name__ == "__main__":
    for tool in ("patchelf", "strip", "objdump", "readelf", "fc-match", "dpkg", "xz"):
        if not shutil.which(tool):
            print(f"portable: {tool} is not installed")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])
