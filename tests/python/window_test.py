"""show() in a real window: a second call goes to the same one, which keeps its place.

    window_test.py ATTNSCOPE PACKAGE
"""
import json
import os
import signal
import time
import unittest

DISPLAY = os.environ["DISPLAY"]
from case import BINARY, Case, attnscope


class Window(Case):
    def test_what_is_looked_at_stays_while_the_numbers_change(self):
        journal, session, script = (self.folder / name for name in ("journal.jsonl", "session.json", "program"))
        script.write_text(f'#!/bin/sh\ncase "$1" in render) exec {BINARY} "$@" ;; esac\n'
                          f'echo "$@" >>{self.folder}/started\nexec {BINARY} "$@" --journal {journal} --save-session {session}\n')
        script.chmod(0o755)
        os.environ["ATTNSCOPE"], os.environ["DISPLAY"] = str(script), DISPLAY
        q, k, v = ([layer for layer in self.qkv(2, 3, 5, 4)] for _ in range(3))
        first = attnscope.show(q, k, v, tokens=list("abcde"), workspace="step", stage="weights", layer=1, head=2)
        self.addCleanup(first.window.kill)
        self.wait_for(journal, '"action":"show_head"', 1)
        again = attnscope.show([each * 3 for each in q], k, v, tokens=list("abcde"))
        self.assertIs(again.window, first.window)
        self.wait_for(journal, '"action":"document_ready"', 2)
        time.sleep(0.5)  # read again once, not again and again
        self.assertEqual(journal.read_text().count('"action":"open_file"'), 2)
        first.window.send_signal(signal.SIGTERM)
        first.window.wait(20)
        self.assertEqual(len((self.folder / "started").read_text().splitlines()), 1)
        saved = json.loads(session.read_text())
        self.assertEqual((saved["place"]["head"], saved["document"]["layer"], saved["window"]["workspace"]), (2, 1, "step"))
        self.assertEqual(saved["step"]["stage"], "weights")
        self.assertIn("read again", saved["window"]["message"])

    def wait_for(self, journal, words, count):
        for _ in range(400):
            if journal.exists() and journal.read_text().count(words) >= count:
                return
            time.sleep(0.05)
        self.fail(f"{words} was expected {count} times in {journal.read_text() if journal.exists() else 'no journal'}")


unittest.main()
