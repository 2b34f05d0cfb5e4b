"""A browser without a screen, driven through its WebDriver (https://www.w3.org/TR/webdriver2/)."""
import base64
import json
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

ARGUMENTS = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
             "--force-device-scale-factor=1", "--disable-dev-shm-usage", "--hide-scrollbars"]


class Browser:
    """Chromium by chromedriver; `folder` gets its profile and what is downloaded."""

    def __init__(self, folder, width=1600, height=1000):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        options = {"binary": shutil.which("chromium"),
                   "args": [*ARGUMENTS, f"--user-data-dir={folder}/profile", f"--window-size={width},{height}"],
                   "prefs": {"download.default_directory": str(folder), "download.prompt_for_download": False}}
        self.session = ""
        wanted = {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options,
                                                   "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}}
        self.session = "/session/" + self.wait(lambda: self.try_to(lambda: self.ask("POST", "/session", wanted)), 60)["sessionId"]

    @staticmethod
    def try_to(ask):
        try:
            return ask()
        except (ConnectionError, urllib.error.URLError):
            return None

    @staticmethod
    def wait(ask, seconds):
        """Until `ask` gives something that is not false; else what it gave last."""
        end = time.monotonic() + seconds
        while not (given := ask()) and time.monotonic() < end:
            time.sleep(0.1)
        return given

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

    def words(self):
        """What the screen says."""
        return self.script("return document.getElementById('words').textContent")

    def says(self, part, seconds=60):
        return bool(self.wait(lambda: part in self.words(), seconds))

    def press(self, *keys):
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def chord(self, *keys):
        actions = [{"type": "keyDown", "value": key} for key in keys] + [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def click(self, x, y):
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "x": x, "y": y, "duration": 50}, {"type": "pause", "duration": 100},
            {"type": "pointerDown", "button": 0}, {"type": "pause", "duration": 100}, {"type": "pointerUp", "button": 0}]}]})

    def drop(self, name, data):
        """A file as a person drags one onto the page."""
        self.script("""
            const bytes = Uint8Array.from(atob(arguments[1]), c => c.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes], arguments[0]));
            document.getElementById("canvas").dispatchEvent(new DragEvent("drop", {dataTransfer: transfer, bubbles: true, cancelable: true}));
            """, name, base64.b64encode(data).decode())

    def picture(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.ask("GET", "/screenshot")))

    def log(self, kind="browser"):
        return self.ask("POST", "/se/log", {"type": kind})

    def requests(self):
        """Addresses that the page asked for since the last call."""
        sent = [json.loads(line["message"])["message"] for line in self.log("performance")]
        return [each["params"]["request"]["url"] for each in sent if each["method"] == "Network.requestWillBeSent"]

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
