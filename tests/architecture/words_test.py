#!/usr/bin/env python3
"""Plants words of the old dialect in a small tree: each row of words.py must be seen, plain English must not."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).parent
spec = importlib.util.spec_from_file_location("words", here / "words.py")
words = importlib.util.module_from_spec(spec)
spec.loader.exec_module(words)

# A line for each row; of its replacement nothing may be found.
PLANTED = {
    "name told": "bool is_told();",
    "name said": "int kSaidSize;",
    "name room": "float room_left;",
    "name lacks": "bool LacksValues();",
    "name settle": "void settle();",
    "name doors": "bool ShowDoors;",
    "name way": "enum class CausalWay { a };",
    "name keeper": "class Keeper;",
    "name kept": "int kept;",
    "name nobody": "bool nobody;",
    "name stands": "void say_stands();",
    "name words": "int row_words();",
    "name anew": "void begin_anew();",
    "name forget": "void forget();",
    "name say": "void say();",
    "name fine": "bool fine();",
    "name foot": "float foot;",
    "name lit": "bool lit;",
    "member preposition": "int x = look.of + a->from;",
    "told": "// the row is told of",
    "said": "/// Nothing is said of it.",
    "says": "// The file says which.",
    "room": "// Where there is room.",
    "stands": "// The title stands above.",
    "asked": "// It is asked for.",
    "nobody": "// nobody reads this",
    "whoever": "/* for whoever calls */",
    "such a": "// such a row",
    "so many": "// so many rows",
    "what is": "// what is shown",
    "What": "/// What the mask forbids.",
    "of which": "// a row of which all keys are masked",
    "for whoever": "// for who reads",
    "anew": "// computed anew",
    "the one": "// the one that is largest",
    "is no": "// there is no row",
    "of the moment": "// of the moment",
    "as it is": "// stays as it is",
    "beside": "// beside the row",
    "lacks": "// the file lacks V",
}
PLAIN = """/// Returns the weights of a row. Shape [queries, keys]; an empty row follows `policy`.
struct Settings { int source, target; };  // Width of a head, in elements.
int always = text.from(3) + away + "told, said, room, nobody stands here".size();
std::from_chars(first, last);
"""

failed = False


def check(holds, why):
    global failed
    if not holds:
        failed = True
        print(why)


rows = {row for row, _, _ in words.NAMES + words.COMMENTS} | {words.MEMBER[0]}
check(rows == set(PLANTED), f"rows without a planted line: {sorted(rows ^ set(PLANTED))}")
with tempfile.TemporaryDirectory() as folder:
    tree = pathlib.Path(folder)
    (tree / "core").mkdir()
    source = tree / "core/a.cpp"

    def run(text, allowed=""):
        source.write_text(text)
        (tree / "left.txt").write_text(allowed)
        return subprocess.run([sys.executable, here / "words.py", tree, "--list", tree / "left.txt"], capture_output=True, text=True)

    for row, line in PLANTED.items():
        done = run(line + "\n")
        check(done.returncode == 1 and f"{row}: 1 times" in done.stdout or f"{row}: 2 times" in done.stdout, f"{row} is not seen in: {line}\n{done.stdout}")
    done = run(PLAIN)
    check(done.returncode == 0, "plain English is refused:\n" + done.stdout)
    line = PLANTED["anew"] + "\n"
    check(run(line, "1 anew\n").returncode == 0, "an allowed number is refused")
    check(run(line * 2, "1 anew\n").returncode == 1, "a number that grew is not seen")
    check(run("", "1 no row\n").returncode == 1, "an unknown row is not seen")
sys.exit(failed)
