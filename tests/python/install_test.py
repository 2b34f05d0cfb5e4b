"""The package in an environment of its own, installed by pip without a network; every Python that is here reads it.

    install_test.py ATTNSCOPE PACKAGE
"""
import os
import pathlib
import shutil
import subprocess
import unittest
import venv

from case import BINARY, PACKAGE, Case

FIVE_LINES = """
import numpy, attnscope
q = k = v = numpy.eye(3, dtype=numpy.float32)
figure = attnscope.show(q, k, v, tokens=["The", "cat", "sat"], causal=True)
figure.save("figure.svg")
print(attnscope.program(), attnscope.__file__, list(figure.row("cat")["weight"])[2])
"""


class Install(Case):
    def setUp(self):
        super().setUp()
        try:
            import ensurepip  # noqa: F401
        except ImportError:
            self.skipTest("python3-venv is not installed")
        self.project = self.folder / "project"
        shutil.copytree(PACKAGE, self.project / "python", ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        (self.project / "build" / "release").mkdir(parents=True)
        os.symlink(BINARY, self.project / "build" / "release" / "attnscope")
        venv.create(self.folder / "venv", with_pip=True, system_site_packages=True)
        self.python = self.folder / "venv" / "bin" / "python"

    def run_python(self, *arguments, **more):
        environment = {name: value for name, value in os.environ.items() if name not in ("ATTNSCOPE", "PYTHONPATH")}
        done = subprocess.run([self.python, *arguments], capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**environment, "PIP_NO_INDEX": "1", "PATH": "/usr/bin:/bin", **more})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def check_five_lines(self, package):
        program, file, weight = self.run_python("-c", FIVE_LINES).split()
        self.assertEqual(pathlib.Path(program), self.project / "build" / "release" / "attnscope")
        self.assertEqual(pathlib.Path(file).parents[1], package)
        self.assertEqual(float(weight), 0.0)  # masked
        self.assertIn("<title>", (self.folder / "figure.svg").read_text())

    def test_installed_from_the_folder_it_finds_the_program_beside(self):
        self.run_python("-m", "pip", "install", "--quiet", str(self.project / "python"))
        site = pathlib.Path(self.run_python("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
        self.check_five_lines(site)
        self.assertTrue((site / "attnscope" / "py.typed").exists())
        self.assertIn("Version: 0.2.0", self.run_python("-m", "pip", "show", "attnscope"))
        self.assertFalse((self.project / "python" / "build").exists())
        self.run_python("-m", "pip", "uninstall", "--quiet", "--yes", "attnscope")
        self.assertFalse((site / "attnscope").exists())
        self.run_python("-m", "pip", "install", "--quiet", "--editable", str(self.project / "python"))
        self.check_five_lines(self.project / "python")


class Syntax(Case):
    def test_every_python_here_reads_it(self):
        code = "import ast, sys; [ast.parse(open(name).read()) for name in sys.argv[1:]]"
        for minor in range(9, 14):
            there = shutil.which(f"python3.{minor}")
            if there and subprocess.run([there, "--version"], capture_output=True, check=False).returncode == 0:
                files = map(str, pathlib.Path(PACKAGE).rglob("*.py"))
                done = subprocess.run([there, "-c", code, *files], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, f"{there}: {done.stderr}")


unittest.main()
