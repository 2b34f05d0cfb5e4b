"""The page of the program in Chromium: what it draws, what keys, clicks, files and links do, and that nothing leaves it.

    page_test.py ATTNSCOPE TREE

The page is that of build/web, or what ATTNSCOPE_PAGE names; docs/web.md says how it is made.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BINARY, TREE = sys.argv[1], pathlib.Path(sys.argv[2])
PAGE = pathlib.Path(os.environ.get("ATTNSCOPE_PAGE", TREE / "build/web/web/attnscope-page.html"))
if not PAGE.exists():
    print("the page is not built: it wants Emscripten 4 or later (docs/web.md)")
    sys.exit(77)
for program in ("chromium", "chromedriver"):
    if shutil.which(program) is None:
        print(f"{program} is not installed (Debian: chromium, chromium-driver)")
        sys.exit(77)
from browser import Browser

RIGHT = "\uE014"


class Page(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.browser = Browser(self.folder)
        self.addCleanup(self.browser.close)

    def attnscope(self, *words):
        done = subprocess.run([BINARY, *map(str, words)], capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**os.environ, "ATTNSCOPE_ASSETS": str(PAGE.parent.parent), "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)

    def page_of(self, *words):
        """A page by `attnscope page`, opened from the disk."""
        page = self.folder / "page.html"
        self.attnscope("page", *words, "-o", page)
        self.browser.open(page.as_uri())
        return page


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
