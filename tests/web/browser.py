"""Browsers without a screen, driven as WebDriver says (https://www.w3.org/TR/webdriver2/): Chromium by chromedriver, Firefox by its
Marionette, which takes the same commands by another wire."""
import base64
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

SIZE = (1600, 900)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Browser:
    """`folder` gets its profile and what is downloaded. A kind of browser says how a command is sent."""

    def start(self):
        self.resize(*SIZE)

    def resize(self, width, height):
        """The page's own size, in CSS pixels."""
        for _ in range(3):
            inner = self.script("return [innerWidth, innerHeight]")
            outer = self.window()
            if inner == [width, height]:
                return
            self.window(outer["width"] + width - inner[0], outer["height"] + height - inner[1])
            self.wait(lambda: self.script("return [innerWidth, innerHeight]") != inner, 2)

    @staticmethod
    def wait(ask, seconds):
        """Until `ask` gives something that is not false; else what it gave last."""
        end = time.monotonic() + seconds
        while not (given := ask()) and time.monotonic() < end:
            time.sleep(0.1)
        return given

    def words(self):
        """What the screen says."""
        return self.script("return document.getElementById('words')?.textContent ?? ''")

    def wait_until_idle(self):
        """Until the screen says the same three times in a row."""
        seen = []
        self.wait(lambda: (seen.append(self.words()), len(seen) > 2 and len(set(seen[-3:])) == 1)[1], 5)

    def says(self, part, seconds=60):
        return bool(self.wait(lambda: part in " ".join(self.words().split()), seconds))

    def press(self, *keys):
        for key in keys:
            self.actions({"type": "key", "id": "keys", "actions": [
                {"type": "keyDown", "value": key}, {"type": "pause", "duration": 60}, {"type": "keyUp", "value": key}]})
            time.sleep(0.15)

    def chord(self, *keys):
        downs = [{"type": "keyDown", "value": key} for key in keys]
        self.actions({"type": "key", "id": "keys", "actions": [*downs, {"type": "pause", "duration": 60},
                                                               *({"type": "keyUp", "value": key} for key in reversed(keys))]})

    @staticmethod
    def pointer(kind, *actions, name=None):
        return {"type": "pointer", "id": name or kind, "parameters": {"pointerType": kind}, "actions": list(actions)}

    @staticmethod
    def to(x, y, duration=50):
        return {"type": "pointerMove", "x": round(x), "y": round(y), "duration": duration}

    def point(self, kind, x, y, held=100):
        rest = {"type": "pause", "duration": 100}
        self.actions(self.pointer(kind, self.to(x, y), rest, {"type": "pointerDown", "button": 0}, {**rest, "duration": held},
                                  {"type": "pointerUp", "button": 0}))

    def click(self, x, y):
        self.point("mouse", x, y)

    def tap(self, x, y):
        self.point("touch", x, y)

    def press_long(self, x, y):
        self.point("touch", x, y, held=900)

    def pinch(self, x, y, spread, to):
        """Two fingers from `spread` pixels apart to `to`."""
        down, up = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        self.actions(*(self.pointer("touch", self.to(x + side * spread / 2, y), down,
                                    *(self.to(x + side * (spread + (to - spread) * n / 8) / 2, y) for n in range(1, 9)), up, name=f"finger {side}")
                       for side in (-1, 1)))

    def drop(self, **files):
        """Files as a person drags them onto the page together, by name."""
        self.script("""
            const transfer = new DataTransfer();
            for (const [name, base64] of Object.entries(arguments[0]))
                transfer.items.add(new File([Uint8Array.from(atob(base64), c => c.charCodeAt(0))], name));
            document.getElementById("canvas").dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
            """, {name: base64.b64encode(data).decode() for name, data in files.items()})

    def loaded(self):
        """What the page asked for beside itself."""
        return self.script("return performance.getEntriesByType('resource').map(entry => entry.name)")


class Chromium(Browser):
    ARGUMENTS = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
                 "--force-device-scale-factor=1", "--disable-dev-shm-usage", "--hide-scrollbars", "--touch-events=enabled"]

    @staticmethod
    def missing():
        for program in ("chromium", "chromedriver"):
            if shutil.which(program) is None:
                return f"{program} is not installed (Debian: chromium, chromium-driver)"
        return None

    def __init__(self, folder, reduced=False):
        self.port = free_port()
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = {"binary": shutil.which("chromium"), "args": [*self.ARGUMENTS, f"--user-data-dir={folder}/profile",
                                                                            *(["--force-prefers-reduced-motion"] if reduced else [])],
                   "prefs": {"download.default_directory": str(folder), "download.prompt_for_download": False}}
        self.session = ""
        asked = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}
        self.session = "/session/" + self.wait(lambda: self.tried(asked), 60)["sessionId"]
        self.start()
        self.requests()

    def tried(self, asked):
        try:
            return self.ask("POST", "/session", asked)
        except (ConnectionError, urllib.error.URLError):
            return None

    def ask(self, method, path, words=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{self.session}{path}", method=method,
                                         data=None if words is None else json.dumps(words).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)["value"]

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def script(self, text, *args):
        return self.ask("POST", "/execute/sync", {"script": text, "args": list(args)})

    def actions(self, *actions):
        self.ask("POST", "/actions", {"actions": list(actions)})

    def window(self, width=None, height=None):
        return self.ask("GET", "/window/rect") if width is None else self.ask("POST", "/window/rect", {"width": width, "height": height})

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))

    def faults(self):
        return [line["message"] for line in self.ask("POST", "/se/log", {"type": "browser"}) if line["level"] == "SEVERE"]

    def requests(self):
        """Addresses that the page asked for since the last call, as the browser's log has them."""
        sent = [json.loads(line["message"])["message"] for line in self.ask("POST", "/se/log", {"type": "performance"})]
        urls = [each["params"]["request"]["url"] for each in sent if each["method"] == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("chrome:", "data:"))]

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


class Firefox(Browser):
    PREFERENCES = {"webgl.force-enabled": True, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
                   "browser.startup.homepage_override.mstone": "ignore", "layout.css.devPixelsPerPx": "1.0", "dom.w3c_touch_events.enabled": 1}

    @staticmethod
    def missing():
        if not os.environ.get("DISPLAY"):
            return "Firefox has no WebGL without a display"
        return None if shutil.which("firefox-esr") else "firefox-esr is not installed (Debian: firefox-esr)"

    def __init__(self, folder, reduced=False):
        port, profile = free_port(), pathlib.Path(folder) / "profile"
        profile.mkdir(exist_ok=True)
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in {**self.PREFERENCES, "ui.prefersReducedMotion": int(reduced), "marionette.port": port,
                 "browser.download.dir": str(folder), "browser.download.folderList": 2}.items()]
        (profile / "user.js").write_text("\n".join(lines))
        self.driver = subprocess.Popen(["firefox-esr", "--marionette", "--no-remote", "--profile", profile],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wire, self.number = self.wait(lambda: self.connected(port), 90), 0
        self.received()  # its name and version
        self.ask("NewSession", capabilities={"alwaysMatch": {}})
        self.start()

    @staticmethod
    def connected(port):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=300)
        except ConnectionError:
            return None

    def received(self):
        length = b""
        while not length.endswith(b":"):
            length += self.wire.recv(1)
        text = b""
        while len(text) < int(length[:-1]):
            text += self.wire.recv(int(length[:-1]) - len(text))
        return json.loads(text)

    def ask(self, command, **words):
        self.number += 1
        sent = json.dumps([0, self.number, f"WebDriver:{command}", words])
        self.wire.sendall(f"{len(sent.encode())}:{sent}".encode())
        _, _, error, result = self.received()
        if error:
            raise OSError(f"{command}: {error['error']}: {error['message']}")
        return result.get("value", result)

    def open(self, url):
        self.ask("Navigate", url=url)

    def script(self, text, *args):
        return self.ask("ExecuteScript", script=text, args=list(args), sandbox=None)

    def actions(self, *actions):
        self.ask("PerformActions", actions=list(actions))

    def window(self, width=None, height=None):
        return self.ask("GetWindowRect") if width is None else self.ask("SetWindowRect", width=width, height=height)

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.ask("TakeScreenshot", full=False)))

    def faults(self):
        return []  # Marionette has no log

    def requests(self):
        return [self.script("return location.href.split('#')[0]"), *self.loaded()]

    def close(self):
        self.wire.close()
        self.driver.terminate()
        self.driver.wait()


BROWSERS = [Chromium, Firefox]
