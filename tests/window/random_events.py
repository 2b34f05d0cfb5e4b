#!/usr/bin/env python3
"""Prints xdotool commands: random input of a person.   random_events.py SEED COUNT WINDOW

Keys, clicks, drags, the wheel, text and sizes of the window, in every workspace; never what ends the program (Ctrl+Q) and
never what depends on the clipboard (Ctrl+V).
"""
import random
import sys

WORKSPACES = ["1 s", "1 m", "1 l", "2 s", "2 g", "2 l", "2 n", "3 h", "3 m", "3 t", "4 v", "4 c", "1 p", "5 v", "5 c", "5 e"]
KEYS = (["Left", "Right", "Up", "Down", "Home", "End", "Prior", "Next", "space", "Return", "Escape", "Tab", "BackSpace",
         "Delete", "F1", "comma", "period", "plus", "minus"]
        + [chr(letter) for letter in range(ord("a"), ord("z") + 1)] + [str(digit) for digit in range(10)])
TEXTS = ["0", "1", "-1.5", "1e9", "nan", "7", "k", "the ", "W_Q", "cat sat", ",", "100000"]


def main(seed, count, window):
    chance = random.Random(seed)
    at = [800, 500]

    def move():
        if chance.random() < 0.3:
            at[:] = [max(0, c + chance.randint(-60, 60)) for c in at]
        else:
            at[:] = [chance.randint(0, 1599), chance.randint(0, 999)]
        print("mousemove", *at)

    for _ in range(count):
        kind = chance.randrange(14)
        if kind < 4:
            move()
            print("click 1" if kind else "click --repeat 2 --delay 40 1")
        elif kind < 6:
            move()
            print("mousedown 1")
            for _ in range(3):
                move()
            print("mouseup 1")
        elif kind == 6:
            move()
            print("click", chance.choice([4, 5]))
        elif kind < 10:
            held = chance.choice(["", "", "", "", "shift+", "ctrl+"])
            print("key", held + chance.choice([key for key in KEYS if held != "ctrl+" or key not in "qv"]))
        elif kind == 10:
            print("type --delay 5", "'" + chance.choice(TEXTS) + "'")
        elif kind == 11 and chance.random() < 0.3:
            print("windowsize", window, chance.randint(200, 4000), chance.randint(150, 3000))
        elif kind == 12:
            print("key Escape")
        else:
            print("key Escape key", " key ".join(chance.choice(WORKSPACES).split()))
        print("sleep", chance.choice([0, 0, 0.01, 0.05]))


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
