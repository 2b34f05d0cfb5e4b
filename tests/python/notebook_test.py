"""docs/attnscope.ipynb, executed by Jupyter; in the page that it gives every picture says what the pointer rests on, in Chromium too.

    notebook_test.py ATTNSCOPE PACKAGE
"""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

for needed in ("nbconvert", "ipykernel"):
    if importlib.util.find_spec(needed) is None:
        print(f"{needed} is not installed (Debian: jupyter-nbconvert, python3-ipykernel)")
        sys.exit(77)
from case import BINARY, PACKAGE, Case

NOTEBOOK = pathlib.Path(PACKAGE).parent / "docs" / "attnscope.ipynb"
# Of each picture: how large it is on the page, and what the title is of what lies at the middle of its first weight's number, or colour where it has none.
PROBE = """<script>
const look = svg => {
  const cell = [...svg.querySelectorAll("g")].find(g => /^A\\[/.test(g.querySelector(":scope > title")?.textContent ?? ""));
  cell?.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
  const box = cell?.querySelector("text, rect").getBoundingClientRect();
  const over = box && document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return {width: svg.getBoundingClientRect().width, titles: svg.querySelectorAll("title").length,
          wanted: cell?.querySelector("title").textContent, said: over?.closest("g")?.querySelector("title")?.textContent};
};
window.addEventListener("load", () => {
  const found = [...document.querySelectorAll("svg.attn")].map(look);
  document.body.innerHTML = "<pre id=found>" + JSON.stringify(found).replace(/</g, "&lt;") + "</pre>";
});
</script>"""


class Notebook(Case):
    @classmethod
    def setUpClass(cls):
        cls.cells = ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]

    def setUp(self):
        super().setUp()
        done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "html", "--execute", NOTEBOOK, "--output-dir", self.folder],
                              capture_output=True, text=True, check=False,
                              env={**os.environ, "ATTNSCOPE": BINARY, "PYTHONPATH": PACKAGE, "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.page = (self.folder / "attnscope.html").read_text()
        self.pictures = len([cell for cell in self.cells if "attnscope.show(" in cell])
        if importlib.util.find_spec("torch") is None:
            self.pictures -= 1

    def test_its_pictures_say_what_the_pointer_rests_on(self):
        svgs = re.findall(r'<svg xmlns="http://www.w3.org/2000/svg" class="attn".*?</svg>\n', self.page, re.S)
        self.assertEqual(len(svgs), self.pictures)
        for svg in svgs:
            self.assertGreater(svg.count("<title>"), 0)
        self.assertIn("scale", re.findall(r"explained by: (.*)", self.page)[0])
        self.in_chromium()

    def in_chromium(self):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not chromium:
            print("chromium is not installed: the page was not opened")
            return
        alone = re.sub(r"<script.*?</script>", "", self.page, flags=re.S)  # nbconvert's own come from the network
        (self.folder / "probed.html").write_text(alone.replace("</head>", PROBE + "</head>", 1))
        done = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000", "--virtual-time-budget=20000",
                               f"--user-data-dir={self.folder}/chromium", "--dump-dom", f"file://{self.folder}/probed.html"],
                              capture_output=True, text=True, check=False, timeout=120)
        found = re.findall(r'<pre id="found">(.*?)</pre>', done.stdout, re.S)
        self.assertTrue(found, done.stderr[-2000:])
        pictures = json.loads(found[0].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
        self.assertEqual(len(pictures), self.pictures)
        for picture in pictures:
            self.assertGreater(picture["width"], 300)
            self.assertEqual(picture.get("said"), picture.get("wanted"))
        self.assertTrue(any(picture.get("wanted") for picture in pictures))


unittest.main()
