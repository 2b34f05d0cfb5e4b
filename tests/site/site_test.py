"""The site of docs/site: it is built here, and every page is read.

    site_test.py ATTNSCOPE TREE

The browser page is that of build/web, or what ATTNSCOPE_PAGE names. With node_modules/axe-core in TREE, or with ATTNSCOPE_AXE=axe.min.js, axe checks every page too.
"""
import collections
import concurrent.futures
import contextlib
import functools
import html.parser
import http.server
import importlib.util
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

BINARY, TREE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
if importlib.util.find_spec("markdown") is None:
    print("skipped: python3-markdown is not installed")
    sys.exit(77)
sys.dont_write_bytecode = True
sys.path[:0] = [str(TREE / "docs/site"), str(TREE / "tests/web"), str(TREE / "tests/architecture")]
import build
import docs
from browser import Chromium

SITE = TREE / "docs/site"
AXE = pathlib.Path(os.environ.get("ATTNSCOPE_AXE", TREE / "node_modules/axe-core/axe.min.js"))
WEB = pathlib.Path(os.environ.get("ATTNSCOPE_PAGE", TREE / "build/web/web/attnscope-page.html")).parent.parent / "attnscope-web"
WIDTHS = (360, 1440)
# Which text is written on which ground; both are variables of site.css.
PAIRS = [("ink", "ground"), ("ink", "panel"), ("ink", "raised"), ("muted", "ground"), ("muted", "panel"), ("muted", "raised"), ("link", "ground"),
         ("link", "panel"), ("link", "raised"), ("on-accent", "accent")]
PAGE_OF_PROGRAM = "<!DOCTYPE html><html lang='en'><head><title>attnscope</title></head><body><p>the program</p></body></html>"


class Page(html.parser.HTMLParser):
    """The content of a page: links, resources, headings, pictures, texts."""

    def __init__(self, path):
        super().__init__()
        self.path, self.links, self.resources, self.ids, self.headings = path, [], [], [], []
        self.pictures, self.tags, self.text, self.title, self.open = [], collections.Counter(), [], "", []
        self.attributes = collections.defaultdict(list)
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, pairs):
        named = dict(pairs)
        self.tags[tag] += 1
        self.attributes[tag].append(named)
        if tag not in build.VOID:
            self.open.append(tag)
        if "id" in named:
            self.ids.append(named["id"])
        if tag == "a":
            self.links.append(named.get("href"))
        elif "href" in named:
            self.resources.append(named["href"])
        self.resources += [named[name] for name in ("src", "data-clip", "data-frame") if name in named]
        if "srcset" in named:
            self.resources += [each.split()[0] for each in named["srcset"].split(",")]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append([int(tag[1]), ""])
        if tag == "img":
            self.pictures.append(named)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "title" in self.open:
            self.title += data
        if any(re.fullmatch("h[1-6]", tag) for tag in self.open):
            self.headings[-1][1] += data
        elif not {"code", "pre", "script", "style"} & set(self.open):
            self.text.append(data)


def built(*arguments):
    folder = pathlib.Path(tempfile.mkdtemp(dir=scratch.name))
    build.Site(build.options_of([str(folder / "site"), *map(str, arguments)])).build()
    return folder / "site"


def setUpModule():
    global scratch, plain, whole
    scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    unittest.addModuleCleanup(scratch.cleanup)
    plain = built()
    # The pieces that a release has: here a small page, a wheel and an archive of no content.
    folder = pathlib.Path(scratch.name) / "attnscope-web"
    folder.mkdir()
    (folder / "index.html").write_text(PAGE_OF_PROGRAM)
    files = [pathlib.Path(scratch.name) / name for name in ("attnscope-0.0.0-py3-none-any.whl", "attnscope-0.0.0-linux-x86_64.tar.xz")]
    for path in files:
        path.write_bytes(b"0" * 100000)
    whole = built("--page-folder", folder, "--page", folder / "index.html", "--download", files[0], "--download", files[1])


def pages(site, program=False):
    return [Page(path) for path in sorted(site.rglob("*.html")) if program or "program" not in path.parts and "downloads" not in path.parts]


class Files(unittest.TestCase):
    def test_every_page_of_the_documentation_is_there(self):
        for path in [*(TREE / "docs").glob("*.md"), *(TREE / "docs/workspaces").glob("*.md"), *SITE.rglob("*.md")]:
            place = build.Site.place(str(path.relative_to(TREE)))
            self.assertTrue((plain / place).is_file(), f"{path} is no page: link it from docs/index.md")

    def test_every_link_leads_to_a_file_and_an_anchor(self):
        for site in (plain, whole):
            every = {page.path: page for page in pages(site, program=True)}
            for page in every.values():
                for link in [*page.links, *page.resources]:
                    with self.subTest(page=str(page.path.relative_to(site)), link=link):
                        self.check_link(site, every, page, link)

    def check_link(self, site, every, page, link):
        if re.match(r"https?:", link):
            return self.assertIn(link, page.links)
        target, _, part = link.partition("#")
        path = pathlib.Path(os.path.normpath(page.path.parent / urllib.parse.unquote(target))) if target else page.path
        self.assertTrue(path.is_relative_to(site), "it leaves the site")
        self.assertTrue(path.is_file(), "no such file")
        if part and "program" not in path.parts:
            self.assertIn(part, every[path].ids)

    def test_no_resource_has_another_address(self):
        for page in [*pages(plain), *pages(whole)]:
            policy = [each["content"] for each in page.attributes["meta"] if each.get("http-equiv") == "Content-Security-Policy"]
            self.assertEqual(len(policy), 1, page.path)
            self.assertTrue(policy[0].startswith("default-src 'none'"), policy)
            self.assertNotRegex(policy[0], r"https?:|\*|unsafe")
            for link in page.resources:
                self.assertNotRegex(link, r"^([a-z]+:|//)", page.path)
            for tag in ("style", "base", "object", "embed", "form"):
                self.assertEqual(page.tags[tag], 0, f"{page.path}: <{tag}>")
            for named in (each for tag in page.attributes.values() for each in tag):
                self.assertFalse([name for name in named if name == "style" or name.startswith("on")], f"{page.path}: {named}")
        self.assertNotRegex((SITE / "site.css").read_text(), r"url\(|@import")
        self.assertNotRegex((SITE / "site.js").read_text(), r"https?:|fetch|import|XMLHttpRequest|storage")

    def test_an_unknown_part_or_picture_is_an_error(self):
        site = build.Site(build.options_of([scratch.name]))
        for part, error in (("nothing", "no part 'nothing'; expected clips, gallery"), ("picture nothing", "no picture 'nothing'")):
            with self.assertRaisesRegex(SystemExit, error):
                site.part("index.html", part)

    def test_an_unrelated_folder_is_not_replaced(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=scratch.name))
        (folder / "mine.txt").write_text("mine")
        with self.assertRaisesRegex(SystemExit, "is not empty and is no earlier site"):
            build.Site(build.options_of([str(folder)])).build()
        self.assertEqual(os.listdir(folder), ["mine.txt"])
        with contextlib.redirect_stderr(io.StringIO()) as error, self.assertRaises(SystemExit):
            build.options_of(["out", "--program", "nowhere"])
        self.assertIn("'nowhere' does not exist", error.getvalue())


class Texts(unittest.TestCase):
    def test_language_title_headings_and_texts_of_pictures(self):
        titles = collections.Counter()
        for page in pages(whole):
            with self.subTest(page=str(page.path.relative_to(whole))):
                titles[page.title] += 1
                self.assertEqual(page.attributes["html"], [{"lang": "en"}])
                self.assertTrue(page.title.strip())
                levels = [level for level, _ in page.headings if level]
                self.assertEqual(levels.count(1), 1)
                main = levels[levels.index(1):]
                for before, after in zip(main, main[1:]):
                    self.assertLessEqual(after, before + 1, [text for _, text in page.headings])
                self.assertTrue(all(text.strip() for _, text in page.headings))
                self.assertEqual(len(set(page.ids)), len(page.ids), [name for name in page.ids if page.ids.count(name) > 1])
                self.assertEqual(page.links[0], "#content")
                self.assertEqual(page.tags["main"], 1)
                logo, *pictures = page.pictures
                self.assertEqual(logo["alt"], "")
                for picture in pictures:
                    self.assertGreater(len(picture["alt"].split()), 1, picture)
                for link, named in zip(page.links, page.attributes["a"]):
                    self.assertTrue(link, named)
        self.assertEqual([title for title, n in titles.items() if n > 1], [])

    def test_markdown_is_read_as_it_is_meant(self):
        for page in pages(plain):
            text = "".join(page.text)
            with self.subTest(page=str(page.path.relative_to(plain))):
                self.assertNotRegex(text, r"\{\{|\}\}|@\w+@|\n[-*] |\n\d+\. |\n\|.*\|$|```|\]\(|\*\*|\\\|")
                self.assertEqual(page.attributes["details"], [each for each in page.attributes["details"] if "markdown" not in each])

    def test_contrast_in_both_themes(self):
        css = (SITE / "site.css").read_text()
        dark, light = (dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6,8});", block)) for block in re.findall(r":root \{(.*?)\}", css, re.S))
        self.assertEqual(set(light) - set(dark), set())
        for theme in (dark, {**dark, **light}):
            for text, ground in PAIRS:
                self.assertGreaterEqual(contrast(theme[text], theme[ground]), 4.5, f"{text} {theme[text]} on {ground} {theme[ground]}")
        rules = css[css.index("* {"):]
        self.assertLessEqual(set(re.findall(r"[{;\s]color: ([^;]+);", rules)), {f"var(--{text})" for text, _ in PAIRS} | {"inherit"})
        self.assertNotRegex(re.sub(r"box-shadow: [^;]+;", "", rules), r"#[0-9a-f]{3,8};")

    def test_the_gallery_has_24_pictures_six_clips_and_their_states(self):
        table = build.gallery()
        self.assertEqual((len(table["pictures"]), len(table["clips"])), (24, 6))
        page = Page(whole / "gallery.html")
        states = json.loads((SITE / "states.json").read_text())
        self.assertEqual(set(states), set(build.screens()))
        for row in table["pictures"]:
            self.assertIn(f"program/index.html#{states[row['name']]}", page.links)
            self.assertRegex(states[row["name"]], r"^[\w-]{8,}$")
        for clip in table["clips"]:
            self.assertIn(clip["state"], states)

    def test_the_first_page_offers_the_program_and_the_downloads(self):
        without, offered = Page(plain / "index.html"), Page(whole / "index.html")
        self.assertFalse([link for link in without.links if "program" in link or "download" in link])
        self.assertIn("built without the browser page", "".join(without.text))
        self.assertEqual([each["data-frame"] for each in offered.attributes["a"] if "data-frame" in each], ["program/index.html"])
        for name in ("attnscope-0.0.0-py3-none-any.whl", "attnscope-0.0.0-linux-x86_64.tar.xz", "attnscope-page.html"):
            self.assertIn("downloads/" + name, offered.links)


def contrast(one, other):
    """The ratio of WCAG 2.2 of two colours #rrggbb."""
    def luminance(color):
        parts = [int(color[at:at + 2], 16) / 255 for at in (1, 3, 5)]
        return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4) for weight, part in zip((0.2126, 0.7152, 0.0722), parts))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


class Program(unittest.TestCase):
    """The pages agree with the program."""

    def test_a_state_is_the_screen_of_its_picture(self):
        states, screens = json.loads((SITE / "states.json").read_text()), build.screens()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            drawn = pool.map(lambda name: build.session(BINARY, *screens[name]), screens)
            opened = pool.map(lambda name: build.session(BINARY, [], [], ["attnscope:" + states[name]]), screens)
            for name, one, other in zip(screens, drawn, opened):
                with self.subTest(name=name):
                    for each in (one, other):
                        each["window"].pop("theme", None)
                    self.assertEqual(other, one, "renew it: docs/site/build.py --states --program ATTNSCOPE")

    def test_the_picture_of_a_state_is_that_of_its_command(self):
        states, folder = json.loads((SITE / "states.json").read_text()), pathlib.Path(scratch.name)
        for name in ("scores", "heads"):
            actions, _ = build.screens()[name]
            build.run(BINARY, "render", actions, ["--theme", "dark", "-o", folder / "one.png"], scratch.name)
            build.run(BINARY, "render", [], ["attnscope:" + states[name], "--theme", "dark", "-o", folder / "other.png"], scratch.name)
            self.assertEqual((folder / "one.png").read_bytes(), (folder / "other.png").read_bytes(), name)

    def test_every_number_of_a_lesson_is_one_of_its_screen(self):
        """Numbers with a decimal point or a percent sign are in the text of the screen, or in the notes of its lecture."""
        for lesson in build.LESSONS:
            text = (SITE / f"lessons/{lesson}.md").read_text(encoding="utf-8")
            notes = subprocess.run([BINARY, "lecture", lesson, "--notes"], capture_output=True, text=True, check=True).stdout
            sections = re.split(r"^## ", text, flags=re.M)[1:]
            screens = json.loads((TREE / f"assets/lectures/{lesson}.json").read_text())["screens"]
            self.assertEqual(len(sections), len(screens), lesson)
            for number, (section, screen) in enumerate(zip(sections, screens), 1):
                self.assertRegex(section, r"(?s)\*\*Predict:\*\*.*<details.*{{screen %s %d}}.*</details>" % (lesson, number))
                self.assertNotIn("{{", section[:section.index("<details")])  # no picture before the prediction
                seen = plain_number(notes + drawn_text(screen["actions"]))
                for figure in re.findall(r"[−-]?\d[\d,]*\.\d+(?: ?%)?|\d+ %", section):
                    if f"about {figure}" not in section:  # a choice of the question
                        with self.subTest(lesson=lesson, screen=number, figure=figure):
                            self.assertIn(plain_number(figure), seen)

    def test_the_commands_of_the_pages_run(self):
        lines = []
        for name in ("teachers", "engineers"):
            text = (SITE / f"{name}.md").read_text(encoding="utf-8")
            lines += [line for block in docs.blocks(text, "sh") for line in block.splitlines()]
            lines += [code for code in re.findall(r"`(attnscope \w+ [^`]+)`", text) if shlex.split(code)[1] in docs.SUBCOMMANDS]
        self.assertGreater(len(lines), 8)
        screens = json.loads((TREE / "assets/lectures/attention.json").read_text())["screens"]
        self.assertIn(f"{len(screens)} screens", (SITE / "teachers.md").read_text())
        with tempfile.TemporaryDirectory() as name:
            docs.make_inputs(TREE, BINARY, pathlib.Path(name))
            for line in lines:
                line = re.sub(r"( lecture \S+)$", r"\1 --notes", line)  # without it a window opens
                self.assertIsNone(docs.check_command(shlex.split(line, comments=True), BINARY, pathlib.Path(name)), line)


def plain_number(text):
    return text.replace("−", "-")


def drawn_text(actions):
    """The words and numbers of a screen, each with one space between them."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "screen.svg"
        build.run(BINARY, "render", actions, ["--chrome", "-o", out], folder)
        text = out.read_text(encoding="utf-8")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


if Chromium.missing():
    print(f"the pages are not opened: {Chromium.missing()}")


@unittest.skipIf(Chromium.missing(), Chromium.missing())
class InChromium(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(dir=scratch.name))
        cls.browser = Chromium(cls.folder)
        cls.addClassCleanup(cls.browser.close)
        cls.root = cls.serve(whole)

    @classmethod
    def serve(cls, folder):
        """The address of a server of the folder."""
        quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
        host = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(quiet, directory=folder))
        threading.Thread(target=host.serve_forever, daemon=True).start()
        cls.addClassCleanup(host.server_close)
        cls.addClassCleanup(host.shutdown)
        return f"http://127.0.0.1:{host.server_port}/"

    def test_every_page_is_whole_and_asks_only_its_host(self):
        axe = AXE.read_text(encoding="utf-8") if AXE.is_file() else None
        if axe is None:
            print("axe is not run: no axe-core in node_modules")
        for width in WIDTHS:
            self.browser.resize(width, 900)
            for page in pages(whole):
                place = str(page.path.relative_to(whole))
                if width == WIDTHS[1] and place.startswith(("docs/", "source/", "assets/")):
                    continue  # every page at the small width; at the large one each kind of page
                with self.subTest(page=place, width=width):
                    self.browser.open(self.root + place)
                    self.assertLessEqual(self.browser.script("return document.documentElement.scrollWidth"), width)
                    self.assertEqual(self.browser.script("return [...document.images].filter(i => i.complete && !i.naturalWidth).length"), 0)
                    self.assertEqual(self.browser.faults(), [])
                    self.assertFalse([url for url in self.browser.requests() if not url.startswith(self.root)])
                    if axe and not place.startswith("source/"):
                        self.check_by_axe(axe)

    def check_by_axe(self, axe):
        self.browser.script(axe + "\nwindow.axed = null; axe.run(document, {resultTypes: ['violations']}).then(found => { window.axed = {found: found.violations}; });")
        ended = self.browser.wait(lambda: self.browser.script("return window.axed"), 60)
        self.assertTrue(ended, "axe has not ended")
        self.assertEqual([(each["id"], each["nodes"][0]["html"][:200]) for each in ended["found"] if each["impact"] in ("serious", "critical")], [])

    def test_a_click_starts_the_program_and_a_clip(self):
        self.browser.resize(1440, 900)
        self.browser.open(self.root + "index.html")
        self.browser.script("document.querySelector('a[data-frame]').click()")
        frame = "return document.querySelector('.program iframe')?.contentDocument.body.textContent ?? ''"
        self.assertTrue(self.browser.wait(lambda: "the program" in self.browser.script(frame), 10))
        self.browser.open(self.root + "gallery.html")
        source = "return document.querySelector('a[data-clip] img').src"
        still = self.browser.script(source)
        for expected in ("scaling-clip.png", "scaling-still.png"):
            self.browser.script("document.querySelector('a[data-clip]').click()")
            self.assertIn(expected, self.browser.script(source))
        self.assertEqual(self.browser.script(source), still)
        self.assertEqual(self.browser.faults(), [])

    @unittest.skipUnless((WEB / "index.html").is_file(), f"the page is not built in {WEB}: it wants Emscripten 4 or later (docs/web.md)")
    def test_the_program_starts_in_the_first_page_and_opens_the_states_of_the_gallery(self):
        site = built("--page-folder", WEB)
        root = self.serve(site)
        self.browser.resize(1440, 900)
        self.browser.open(root + "index.html")
        self.browser.script("document.querySelector('a[data-frame]').click()")
        frame = "return (document.querySelector('.program iframe')?.contentDocument.getElementById('words')?.textContent ?? '').split(/\\s+/).join(' ')"
        self.assertTrue(self.browser.wait(lambda: "it looks at animal 99 %" in self.browser.script(frame), 60), self.browser.script(frame))
        for name, shows in (("scores", "1.3500 2.7300 3.6855"), ("heads", "L0 H0")):
            self.browser.open("about:blank")
            self.browser.open(root + "program/index.html#" + json.loads((SITE / "states.json").read_text())[name])
            self.assertTrue(self.browser.says(shows), self.browser.words())
            self.assertEqual(self.browser.script("return document.getElementById('failure').textContent"), "")
        self.assertEqual([fault for fault in self.browser.faults() if "favicon" not in fault], [])

    def test_the_site_opens_from_a_disk(self):
        self.browser.open((whole / "index.html").as_uri())
        self.assertNotEqual(self.browser.script("return getComputedStyle(document.body).backgroundColor"), "rgba(0, 0, 0, 0)")
        self.browser.script("document.querySelector('a[data-frame]').click()")
        self.assertEqual(self.browser.script("return document.querySelectorAll('.program iframe').length"), 1)
        self.assertEqual(self.browser.faults(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
