#!/usr/bin/env python3
"""Builds the site of attnscope as plain files, which need no network to be read.

    docs/site/build.py OUT [--program attnscope] [--page-folder build/web/attnscope-web] [--page attnscope-page.html] [--download FILE]...

OUT            the folder to write; only an empty folder, or an earlier site, is replaced
--program      draws every picture and clip; without it the site has the pictures of docs/images
--page-folder  the browser page as a folder: the first page starts it, and every picture opens its state in it
--page         the browser page as one file, to download
--download     a wheel, an archive or a package to offer; any number of times

--states       writes states.json (the states behind the pictures) with --program, and builds nothing

Needs Python 3.9 and python3-markdown. python3-pil, where it is installed, makes the pictures smaller.
"""
import argparse
import base64
import concurrent.futures
import html
import html.parser
import importlib.util
import json
import os
import pathlib
import posixpath
import re
import shutil
import string
import struct
import subprocess
import sys
import tempfile
import urllib.parse
import zlib

import markdown

sys.dont_write_bytecode = True
SITE = pathlib.Path(__file__).resolve().parent
TREE = SITE.parents[1]
THEMES = ("dark", "light")
SIZE = "1280x800"
LESSONS = sorted(path.stem for path in (TREE / "assets/lectures").glob("lesson-*.json"))
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
MARK = ".attnscope-site"  # an earlier site has this file


def fail(text):
    sys.exit(f"build.py: {text}")


# ---- pictures: each is the window after the lines of a journal


def gallery():
    return json.loads((SITE / "gallery.json").read_text(encoding="utf-8"))


def screens():
    """{name: (lines of a journal, options)} of every picture: the gallery, and each screen of a lesson."""
    every = {row["name"]: (row["actions"], row.get("options", [])) for row in gallery()["pictures"]}
    for lesson in LESSONS:
        lecture = json.loads((TREE / f"assets/lectures/{lesson}.json").read_text(encoding="utf-8"))
        for number, screen in enumerate(lecture["screens"], 1):
            every[f"{lesson}-{number}"] = (screen["actions"], [])
    return every


def run(program, command, actions, options, folder, env=None):
    """`attnscope COMMAND` after the lines of a journal, in a folder of its own."""
    journal = pathlib.Path(folder) / "actions.journal"
    journal.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in actions), encoding="utf-8")
    words = [str(program), command, *(("--replay", str(journal)) if actions else ()), *map(str, options)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL)
    if done.returncode:
        fail(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-600:]}")


def smaller(path):
    """The picture in 256 colours, where Pillow is installed."""
    if not importlib.util.find_spec("PIL"):
        return
    from PIL import Image
    picture = Image.open(path).convert("RGB")
    fewer = picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    # Each colour of the palette becomes the most frequent one that it stands for, so that grounds stay exact.
    pairs = Image.merge("RGBA", (*picture.split(), Image.frombytes("L", picture.size, fewer.tobytes()))).getcolors(1 << 18)
    palette = (fewer.getpalette() + [0] * 768)[:768]
    for _, (*color, index) in sorted(pairs or []):
        palette[3 * index:3 * index + 3] = color
    fewer.putpalette(palette)
    fewer.save(path, optimize=True)


def png_chunks(data):
    at = 8
    while at < len(data):
        length = struct.unpack(">I", data[at:at + 4])[0]
        yield data[at + 4:at + 8], data[at:at + 12 + length]
        at += 12 + length


def first_frame(film, still):
    """The first frame of an animated PNG, as a PNG that does not move."""
    data = film.read_bytes()
    kept = (chunk for name, chunk in png_chunks(data) if name not in (b"acTL", b"fcTL", b"fdAT"))
    still.write_bytes(data[:8] + b"".join(kept))


def size_of(path):
    """Width and height of a PNG."""
    return struct.unpack(">II", path.read_bytes()[16:24])


def draw(program, name, theme, to):
    actions, options = screens()[name]
    with tempfile.TemporaryDirectory() as folder:
        run(program, "render", actions, ["--chrome", *(() if "--size" in options else ("--size", SIZE)), "--theme", theme, *options, "-o", to], folder)
    smaller(to)


def film(program, clip, to):
    with tempfile.TemporaryDirectory() as folder:
        run(program, "render", clip.get("actions", []), ["--film", "--size", "1120x720", "--theme", "dark", *clip.get("options", []), "-o", to], folder)
    if importlib.util.find_spec("PIL"):
        subprocess.run([sys.executable, SITE.parent / "smaller_film.py", to], check=True)


# ---- states: the text that the page restores from its address (app/window/state_text.cpp)


def packed(text, usual=b""):
    """As core/io/packed_text.cpp packs a text."""
    data = text.encode()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, *([usual] if usual else []))
    bytes_ = b"\1" + struct.pack(">I", zlib.crc32(data)) + deflate.compress(data) + deflate.flush()
    return base64.urlsafe_b64encode(bytes_).decode().rstrip("=")


def usual_text():
    """The dictionary of the packing and the version of the defaults, from the source that defines them."""
    source = (TREE / "app/window/state_text.cpp").read_text(encoding="utf-8")
    usual = re.search(r"kUsual =(.*?);\n", source, re.S)[1]
    return "".join(re.findall(r'R"\((.*?)\)"', usual)).encode(), int(re.search(r"kDefaults = (\d+);", source)[1])


def session(program, actions, options, start=()):
    """The session of the window after these lines: the one that `attnscope page` puts into a page."""
    with tempfile.TemporaryDirectory() as folder:
        assets, out = pathlib.Path(folder) / "assets", pathlib.Path(folder) / "page.html"
        shutil.copytree(TREE / "assets", assets)
        (assets / "web").mkdir()
        (assets / "web/attnscope-page.html").write_text("<!--document-->")
        run(program, "page", actions, [*options, *start, "-o", out], folder, {"ATTNSCOPE_ASSETS": str(assets)})
        held = re.search(r'data-name="session\.json"[^>]*>([^<]*)<', out.read_text(encoding="utf-8"))[1]
    made = json.loads(base64.b64decode(held))
    for name in ("message", "severity"):
        made["window"].pop(name, None)
    return made


def patch_between(before, after):
    """The JSON merge patch (RFC 7386)."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return after
    patch = {name: None for name in before if name not in after}
    for name, value in after.items():
        if name not in before or json.dumps(before[name]) != json.dumps(value):
            patch[name] = patch_between(before[name], value) if name in before else value
    return patch


def state_of(program, actions, options):
    usual, version = usual_text()
    text = lambda patch: packed(json.dumps({**patch, "defaults": version}, ensure_ascii=False, separators=(",", ":")), usual)
    opened = lambda state: session(program, [], [], ["attnscope:" + state])
    after = session(program, actions, options)
    patch = patch_between(opened(text({})), after)
    patch.get("window", {}).pop("theme", None)  # that of the visitor
    # A matrix is left out where the state opens alike without it: words and seed give the same.
    whole = opened(text(patch))
    for name in [name for name, value in patch.get("document", {}).items() if isinstance(value, list) and re.fullmatch(r"W_\w+|X|X_kv", name)]:
        less = {**patch, "document": {**patch["document"], name: None}}
        try:
            if opened(text(less)) == whole:
                patch = less
        except SystemExit:
            pass  # the document does not open without it
    return text(patch)


def write_states(program):
    every = screens()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = dict(zip(every, pool.map(lambda name: state_of(program, *every[name]), every)))
    (SITE / "states.json").write_text(json.dumps(made, indent=0) + "\n")


# ---- pages


class Rewriter(html.parser.HTMLParser):
    """HTML of a page of Markdown again, with the addresses of the site, sizes of pictures, and tables that scroll by themselves."""

    def __init__(self, site, page):
        super().__init__(convert_charrefs=False)
        self.site, self.page, self.parts, self.tables, self.dropped, self.code = site, page, [], 0, [], 0

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        if tag == "a" and "href" in attributes:
            attributes["href"] = self.site.address(self.page, attributes["href"])
            if attributes["href"] is None:  # a folder of the source: its name stays
                self.dropped.append(tag)
                return
            self.dropped.append("")
        if tag == "img":
            attributes = self.site.image(self.page, attributes)
        if tag == "table":
            self.tables += 1
            self.parts.append(f'<div class="table" role="group" aria-label="Table {self.tables}" tabindex="0">')
        if tag == "pre":
            attributes["tabindex"] = "0"
        self.code += tag in ("code", "pre")
        attributes.pop("style", None)
        attributes.pop("markdown", None)
        self.parts.append(f"<{tag}{attribute_text(attributes)}>")

    def handle_endtag(self, tag):
        if tag == "a" and self.dropped and self.dropped.pop():
            return
        self.code -= tag in ("code", "pre")
        if tag not in VOID:
            self.parts.append(f"</{tag}>")
        if tag == "table":
            self.parts.append("</div>")

    def handle_startendtag(self, tag, pairs):
        self.handle_starttag(tag, pairs)

    def handle_data(self, data):
        self.parts.append(data.replace("\\|", "|") if self.code else indexed(data))

    def handle_entityref(self, name):
        self.parts.append(f"&{name};")

    def handle_charref(self, name):
        self.parts.append(f"&#{name};")


def attribute_text(attributes):
    return "".join(f' {name}="{html.escape(str(value))}"' if value is not None else f" {name}" for name, value in attributes.items())


def slug(text, separator="-"):
    """As GitHub names the part that a heading begins."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def indexed(text):
    """d_k and W_Q with an index in place of the underscore."""
    return re.sub(r"\b([A-Za-z])_([A-Za-z])\b", r"\1<sub>\2</sub>", text)


def plain(text):
    return html.unescape(re.sub(r"<[^>]+>", "", text)).strip()


class Site:
    def __init__(self, options):
        self.out, self.program = pathlib.Path(options.out), options.program
        self.folder, self.one_file, self.downloads = options.page_folder, options.page, options.download
        self.states = json.loads((SITE / "states.json").read_text(encoding="utf-8"))
        self.queue, self.done = [], set()
        self.version = re.search(r"project\(\s*attnscope\s+VERSION ([\d.]+)", (TREE / "CMakeLists.txt").read_text())[1]
        self.template = string.Template((SITE / "page.html").read_text(encoding="utf-8"))
        self.contents = list(self.read_contents())

    # ---- addresses

    @staticmethod
    def place(path):
        """The place in the site of a file of the repository; None for a folder."""
        if not (TREE / path).is_file():
            return None
        if path.endswith(".md"):
            path = posixpath.splitext(path)[0] + ".html"
            return path[len("docs/site/"):] if path.startswith("docs/site/") else path
        return path if path.endswith((".png", ".svg", ".ipynb")) else f"source/{path}.html"

    def address(self, page, link):
        """A link of a page of the repository, from its page in the site; None where it leads nowhere in the site."""
        if re.match(r"[a-z]+:", link):
            return link
        target, _, part = link.partition("#")
        part = "#" + part if part else ""
        if not target:
            return part
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        there = self.place(path)
        if there is None:
            return None
        self.queue.append(path)
        return self.relative(self.place(page), there) + part

    @staticmethod
    def relative(here, there):
        return posixpath.relpath(there, posixpath.dirname(here) or ".")

    def image(self, page, attributes):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), attributes["src"]))
        self.queue.append(path)
        width, height = size_of(TREE / path) if path.endswith(".png") else (None, None)
        shown = {"src": self.relative(self.place(page), self.place(path)), "alt": attributes.get("alt", "")}
        return {**shown, **({"width": width, "height": height, "loading": "lazy"} if width else {})}

    def state_address(self, here, name):
        """The browser page with the state behind a picture; None without the browser page."""
        if not self.folder:
            return None
        return self.relative(here, "program/index.html") + "#" + self.states[name]

    # ---- files

    def write(self, place, data):
        path = self.out / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)

    def copy(self, path):
        self.write(self.place(path), (TREE / path).read_bytes())

    def source(self, path):
        """A file of the source, with a number and an anchor for each line."""
        lines = (TREE / path).read_text(encoding="utf-8").splitlines()
        rows = "\n".join(f'<span class="line" id="L{n}">{html.escape(line)}</span>' for n, line in enumerate(lines, 1))
        body = f'<h1>{html.escape(path)}</h1>\n<pre class="source" tabindex="0">{rows}</pre>'
        self.page(self.place(path), path, body, f"The file {path} of attnscope.", kind="source")

    # ---- pictures of the site

    def pictures(self):
        """Draws every picture with the program; without it takes those of docs/images."""
        folder = self.out / "pictures"
        folder.mkdir(parents=True)
        if self.program:
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                jobs = [pool.submit(draw, self.program, name, theme, folder / f"{name}-{theme}.png") for name in screens() for theme in THEMES]
                jobs += [pool.submit(film, self.program, clip, folder / f"{clip['name']}-clip.png") for clip in gallery()["clips"]]
                for job in jobs:
                    job.result()
        else:
            for row in gallery()["pictures"]:
                if (stored := SITE.parent / "images" / row.get("stored", "")).is_file():
                    shutil.copy(stored, folder / f"{row['name']}-dark.png")
            for clip in gallery()["clips"]:
                if (stored := SITE.parent / "images" / clip.get("stored", "")).is_file():
                    shutil.copy(stored, folder / f"{clip['name']}-clip.png")
        for clip in folder.glob("*-clip.png"):
            first_frame(clip, folder / clip.name.replace("-clip", "-still"))

    def picture(self, here, name, alt, lazy=True):
        """The picture in the theme of the reader; "" where there is none."""
        dark, light = (self.out / f"pictures/{name}-{theme}.png" for theme in THEMES)
        if not dark.exists():
            return ""
        width, height = size_of(dark)
        there = lambda path: self.relative(here, f"pictures/{path.name}")
        img = attribute_text({"src": there(dark), "alt": alt, "width": width, "height": height, **({"loading": "lazy"} if lazy else {})})
        source = f'<source srcset="{there(light)}" media="(prefers-color-scheme: light)">' if light.exists() else ""
        return f"<picture>{source}<img{img}></picture>"

    # ---- parts that a page names as {{part argument}}

    def part(self, here, words):
        name, *arguments = words.split()
        if not hasattr(self, "part_" + name):
            fail(f"{here}: there is no part '{name}'; expected {', '.join(each[5:] for each in dir(self) if each.startswith('part_'))}")
        pictures = {row["name"] for row in gallery()["pictures"]}
        if name in ("gallery", "picture") and set(arguments) - pictures:
            fail(f"{here}: there is no picture '{' '.join(sorted(set(arguments) - pictures))}' in gallery.json")
        return getattr(self, "part_" + name)(here, *arguments)

    def part_program(self, here):
        """The program: a click on its picture starts it."""
        row = gallery()["pictures"][0]
        shown = self.picture(here, row["name"], row["alt"], lazy=False)
        if self.folder:
            address = self.relative(here, "program/index.html")
            return (f'<div class="program"><a class="start" href="{address}" data-frame="{address}">{shown}<span class="button">Start it here</span></a></div>\n'
                    f'<p class="note">The whole program starts in this page: {self.weight():.1f} MB, no account, no request to any other address. '
                    f'<a href="{address}">Open it alone</a>.</p>')
        return (f'<div class="program">{shown}</div>\n<p class="note">This copy of the site was built without the browser page. '
                f'{self.link(here, "docs/web.md", "How to build the browser page")}.</p>')

    def weight(self):
        """What a visitor loads: index.html takes the program with or without threads."""
        files = [path for path in pathlib.Path(self.folder).rglob("*") if path.is_file() and "-threads." not in path.name]
        return sum(path.stat().st_size for path in files) / 1e6

    def link(self, here, path, text):
        self.queue.append(path)
        return f'<a href="{self.relative(here, self.place(path))}">{text}</a>'

    def part_ways(self, here):
        """Browser, pip, archive or source."""
        wheel = next((path for path in self.downloads if path.name.endswith(".whl")), None)
        archives = [path for path in self.downloads if not path.name.endswith(".whl")]
        files = lambda paths: "".join(f'<li><a href="{self.relative(here, "downloads/" + path.name)}" download>{html.escape(path.name)}</a>, '
                                      f"{path.stat().st_size / 1e6:.1f} MB</li>" for path in paths)
        browser = [f'<p>Nothing to install. <a href="{self.relative(here, "program/index.html")}">Start attnscope</a> in this browser.</p>' if self.folder else
                   "<pre tabindex=\"0\"><code>cmake --preset web\ncmake --build --preset web</code></pre>"
                   "<p>The whole program as WebAssembly: a folder for any web server, or one HTML file that works offline.</p>"]
        if self.one_file:
            browser.append(f'<p>Without a network: <a href="{self.relative(here, "downloads/attnscope-page.html")}" download>attnscope-page.html</a>, one file of '
                           f"{pathlib.Path(self.one_file).stat().st_size / 1e6:.1f} MB that a double click opens.</p>")
        browser.append(f'<p>{self.link(here, "docs/web.md", "How it differs from the window")}</p>')
        pip = f"<ul>{files([wheel])}</ul>\n<pre tabindex=\"0\"><code>pip install {wheel.name}</code></pre>" if wheel else \
            '<pre tabindex="0"><code>pip install ./python</code></pre>\n<p>From a copy of the source. The package starts the program that you built or installed.</p>'
        source = (f"<ul>{files(archives)}</ul>" if archives else "") + \
            '<pre tabindex="0"><code>./run</code></pre>\n<p>From a copy of the source, on Debian 12 or later: installs missing packages, builds, and opens the window.</p>'
        return ('<div class="cards three">'
                f'<section><h3>In a browser</h3>{"".join(browser)}</section>'
                f'<section><h3>In Python</h3>{pip}<p>{self.link(here, "docs/python.md", "The Python package")}</p></section>'
                f'<section><h3>{"Download or build" if archives else "From source"}</h3>{source}<p>{self.link(here, "docs/install.md", "Where everything is installed")}</p></section></div>')

    def card(self, here, row, level):
        shown = self.picture(here, row["name"], row["alt"])
        name = row["name"]
        full = f'<a class="full" href="{self.relative(here, f"pictures/{name}-dark.png")}" aria-label="{html.escape(row["title"])}, in full size">{shown}</a>' if shown else \
            f'<p class="empty">{html.escape(row["alt"])}</p>'
        opens = self.state_address(here, name)
        opens = f'<p><a class="open" href="{opens}">Open this screen<span class="hidden">: {html.escape(row["title"])}</span></a></p>' if opens else ""
        return (f'<section class="card" id="{name}">{full}<h{level}>{indexed(html.escape(row["title"]))}</h{level}><p>{indexed(html.escape(row["text"]))}</p>{opens}'
                f'<details><summary>Command<span class="hidden"> for {html.escape(row["title"])}</span></summary>'
                f'<pre tabindex="0"><code>{html.escape(self.command(row))}</code></pre></details></section>')

    def command(self, row):
        """One line that opens the same screen in the window."""
        return f"attnscope 'attnscope:{self.states[row['name']]}'"

    def part_gallery(self, here, *names):
        rows = [row for row in gallery()["pictures"] if not names or row["name"] in names]
        return f'<div class="cards gallery">{"".join(self.card(here, row, 3 if names else 2) for row in rows)}</div>'

    def part_clips(self, here):
        cards = []
        for clip in gallery()["clips"]:
            moving = self.out / f"pictures/{clip['name']}-clip.png"
            if not moving.exists():
                continue
            still = moving.with_name(moving.name.replace("-clip", "-still"))
            width, height = size_of(still)
            there, title = self.relative(here, f"pictures/{moving.name}"), html.escape(clip["title"])
            opens = self.state_address(here, clip["state"])
            opens = f'<p><a class="open" href="{opens}">Open this screen<span class="hidden">: {title}</span></a></p>' if opens else ""
            img = attribute_text({"src": self.relative(here, f"pictures/{still.name}"), "alt": clip["alt"], "width": width, "height": height, "loading": "lazy"})
            cards.append(f'<section class="card" id="clip-{clip["name"]}"><a class="start" href="{there}" data-clip="{there}"><img{img}><span class="button">Play'
                         f'<span class="hidden">: {title}</span></span></a><h3>{title}</h3><p>{html.escape(clip["text"])}</p>{opens}</section>')
        return f'<div class="cards clips">{"".join(cards)}</div>'

    def part_picture(self, here, name):
        row = next(row for row in gallery()["pictures"] if row["name"] == name)
        shown = self.picture(here, name, row["alt"])
        opens = self.state_address(here, name)
        opens = f' <a class="open" href="{opens}">Open this screen<span class="hidden">: {html.escape(row["title"])}</span></a>' if opens else ""
        return f'<figure>{shown}<figcaption>{indexed(html.escape(row["text"]))}{opens}</figcaption></figure>' if shown else ""

    def part_screen(self, here, lesson, number):
        """A screen of a lesson: its picture, and the way into it."""
        name = f"{lesson}-{number}"
        lecture = json.loads((TREE / f"assets/lectures/{lesson}.json").read_text(encoding="utf-8"))
        screen = lecture["screens"][int(number) - 1]
        shown = self.picture(here, name, f"The screen “{screen['title']}”: {screen['line']}")
        opens = self.state_address(here, name)
        open_it = f'<a class="open" href="{opens}">Open this screen<span class="hidden">: {html.escape(screen["title"])}</span></a>' if opens else \
            f"In the program: <code>attnscope lecture {lesson}</code>, screen {number}."
        return f"<figure>{shown}<figcaption>{indexed(html.escape(screen['line']))} {open_it}</figcaption></figure>"

    def part_lessons(self, here):
        cards = []
        for lesson in LESSONS:
            path = f"docs/site/lessons/{lesson}.md"
            text = (TREE / path).read_text(encoding="utf-8")
            title, lead = re.search(r"^# (.*)$", text, re.M)[1], re.search(r"^# .*\n\n(.*)$", text, re.M)[1]
            cards.append(f"<section class=\"card\"><h2>{self.link(here, path, html.escape(title))}</h2><p>{indexed(html.escape(lead))}</p></section>")
        return f'<div class="cards lessons">{"".join(cards)}</div>'

    # ---- a page

    def read_contents(self):
        """(heading, [(title, path), ...]) of docs/index.md, which lists every page."""
        for block in re.split(r"^## ", (TREE / "docs/index.md").read_text(encoding="utf-8"), flags=re.M)[1:]:
            heading = block.splitlines()[0]
            links = re.findall(r"\[([^\]<]+)\]\(([^)#]+\.md)\)", block)
            if heading != "Gallery":
                yield heading, [(title, posixpath.normpath("docs/" + path)) for title, path in links]

    def navigation(self, place):
        parts = []
        for heading, links in self.contents:
            items = "".join(f'<li><a href="{self.relative(place, self.place(path))}"{self.current(place, self.place(path))}>{html.escape(title)}</a></li>'
                            for title, path in links if path != "README.md")
            self.queue += [path for _, path in links]
            parts.append(f"<h2>{html.escape(heading)}</h2><ul>{items}</ul>")
        return "".join(parts)

    @staticmethod
    def current(place, there):
        return ' aria-current="page"' if place == there else ""

    def menu(self, place):
        """The first links of every page."""
        entries = [("gallery.html", "Gallery"), ("lessons.html", "Lessons"), ("teachers.html", "Teachers"), ("engineers.html", "Engineers"), ("docs/index.html", "Docs")]
        items = [f'<li><a href="{self.relative(place, there)}"{self.current(place, there)}>{title}</a></li>' for there, title in entries]
        return "".join(items)

    def start(self, place):
        return f'<a class="button" href="{self.relative(place, "program/index.html")}">Start</a>' if self.folder else ""

    def page(self, place, title, body, description, kind="text", parts=""):
        here = lambda there: self.relative(place, there)
        side = ""
        if kind == "docs":
            side = f'<nav class="side" id="pages" aria-label="Documentation">{self.navigation(place)}</nav>'
            body = f'<p class="to-pages"><a href="#pages">All pages</a></p>\n{body}'
        first = place == "index.html"
        self.write(place, self.template.substitute(
            title=html.escape("attnscope" if first else f"{title} · attnscope"), description=html.escape(description), css=here("site.css"), js=here("site.js"),
            icon=here("assets/attnscope.svg"), home=here("index.html"), menu=self.menu(place), start=self.start(place), side=side, kind="landing" if first else kind, body=body, parts=parts,
            version=self.version, licence=self.link(place, "LICENSE", "MIT licence"), docs=here("docs/index.html"),
            changes=self.link(place, "CHANGELOG.md", "Changes"), current=self.current(place, "index.html")))

    def markdown_page(self, path):
        place, text = self.place(path), (TREE / path).read_text(encoding="utf-8")
        converter = markdown.Markdown(extensions=["tables", "fenced_code", "sane_lists", "md_in_html", "toc"],
                                      extension_configs={"toc": {"slugify": slug, "toc_depth": "2-3"}})
        body = converter.convert(text)
        body = re.sub(r"<thead>\s*<tr>\s*(<th[^>]*></th>\s*)+</tr>\s*</thead>", "", body)  # a table without a heading
        body = re.sub(r"<th[^>]*></th>", "<td></td>", body)
        rewriter = Rewriter(self, path)
        rewriter.feed(body)
        rewriter.close()
        body, is_docs = "".join(rewriter.parts), not path.startswith("docs/site/")
        if not is_docs:
            body = re.sub(r"(?:<p>)?\{\{([^{}]+)\}\}(?:</p>)?", lambda found: self.part(place, html.unescape(found[1])), body)
        title = plain(re.search(r"<h1[^>]*>(.*?)</h1>", body, re.S)[1])
        if path.endswith("/README.md"):
            title += f" in {posixpath.dirname(path)}"
        lead = re.search(r"<p>(.*?)</p>", body, re.S)
        parts = [entry for entry in converter.toc_tokens for entry in entry["children"]] if converter.toc_tokens and converter.toc_tokens[0]["level"] == 1 else converter.toc_tokens
        items = "".join(f'<li><a href="#{entry["id"]}">{indexed(entry["name"])}</a></li>' for entry in parts)
        parts = f'<nav class="parts" aria-label="On this page"><h2>On this page</h2><ul>{items}</ul></nav>' if is_docs and len(parts) > 2 else ""
        self.page(place, title, body, " ".join(plain(lead[1]).split())[:160] if lead else title, "docs" if is_docs else "text", parts)

    def build(self):
        if self.out.exists() and any(self.out.iterdir()) and not (self.out / MARK).exists():
            fail(f"'{self.out}' is not empty and is no earlier site; expected an empty folder, or a name that is free")
        shutil.rmtree(self.out, ignore_errors=True)
        self.write(MARK, "")
        for name in ("site.css", "site.js"):
            self.write(name, (SITE / name).read_bytes())
        self.copy("assets/attnscope.svg")
        self.pictures()
        if self.folder:
            shutil.copytree(self.folder, self.out / "program")
        for path in self.downloads:
            self.write("downloads/" + path.name, path.read_bytes())
        if self.one_file:
            self.write("downloads/attnscope-page.html", pathlib.Path(self.one_file).read_bytes())
        self.queue += ["docs/site/index.md", "docs/index.md", *(f"docs/site/{path.relative_to(SITE)}" for path in sorted(SITE.rglob("*.md")))]
        while self.queue:
            path = self.queue.pop(0)
            if path in self.done:
                continue
            self.done.add(path)
            if path.endswith(".md"):
                self.markdown_page(path)
            elif self.place(path).startswith("source/"):
                self.source(path)
            else:
                self.copy(path)


def options_of(words):
    parser = argparse.ArgumentParser(description="Builds the site of attnscope as plain files.")
    parser.add_argument("out", nargs="?", help="the folder to write")
    parser.add_argument("--program", type=pathlib.Path, help="attnscope, which draws the pictures")
    parser.add_argument("--page-folder", type=pathlib.Path, help="the browser page as a folder")
    parser.add_argument("--page", type=pathlib.Path, help="the browser page as one file")
    parser.add_argument("--download", type=pathlib.Path, action="append", default=[], help="a wheel, an archive or a package to offer")
    parser.add_argument("--states", action="store_true", help="write states.json with --program")
    options = parser.parse_args(words)
    for path in (options.program, options.page_folder, options.page, *options.download):
        if path and not path.exists():
            parser.error(f"'{path}' does not exist")
    if options.program:
        options.program = options.program.resolve()
    if options.states and not options.program:
        parser.error("--states needs --program")
    if not options.states and not options.out:
        parser.error("expected the folder to write")
    return options


def main():
    options = options_of(sys.argv[1:])
    if options.states:
        write_states(options.program)
    else:
        Site(options).build()


if __name__ == "__main__":
    main()
