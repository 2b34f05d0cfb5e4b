#!/usr/bin/env python3
"""Fails when identifiers or comments use more words of the old dialect than words_left.txt allows; names what to write instead.

    words.py TREE            checks
    words.py TREE --show W   prints the places of the row W
    words.py TREE --lower    lowers the numbers of words_left.txt to those of the tree; none is ever raised
    words.py TREE --count    writes them anew, for somebody who adds a row

A row that words_left.txt does not name is allowed nowhere.
"""
import pathlib
import re
import sys

FOLDERS = ("core", "app", "cluster", "tests", "web", "python", "shaders")
C_LIKE = (".cpp", ".h", ".in", ".comp", ".glsl", ".js", ".mjs")
HASH = (".py", ".sh", ".cmake", "CMakeLists.txt")
LEFT = "words_left.txt"
SELF = ("architecture/words",)

# Name of the row, pattern of a whole word of an identifier (its parts are lower case: kOfRoom is "of room"), and its replacement.
NAMES = [
    ("name told", r"told", "reported, described"),
    ("name said", r"said|unsaid", "declared, stated, explicit"),
    ("name room", r"rooms?|roomy", "space, folder, available"),
    ("name lacks", r"lacks|lacking", "missing_data, unavailable"),
    ("name settle", r"settles?|settled", "is_idle, clamp, resolve, finish"),
    ("name doors", r"doors?", "start buttons"),
    ("name way", r"ways?", "mode, variant, direction"),
    ("name keeper", r"keepers?", "manager, cache"),
    ("name kept", r"kept|unkept", "saved, stored, cached"),
    ("name nobody", r"nobody|whoever|somebody", "the caller, the user"),
    ("name stands", r"stands?", "is, holds"),
    ("name words", r"words", "text, description; words of a language alone are words"),
    ("name anew", r"anew", "again, from the start"),
    ("name forget", r"forgets?", "clear, reset, truncate"),
    ("name say", r"say|says", "show_message, contains"),
    ("name fine", r"fine", "ok, is_valid"),
    ("name foot", r"foot|feet", "bottom"),
    ("name lit", r"lit", "highlighted"),
]
# A data member that is a preposition alone.
MEMBERS = r"of|from|over|to|by|than|within|upon|against|beside|with|without"
MEMBER = ("member preposition", "a noun: key, source, target, first, last, average_over")
# Patterns of comments.
COMMENTS = [
    ("told", r"\btold\b", "reported, described"),
    ("said", r"\bsaid\b", "stated, declared; name who says it"),
    ("says", r"\bsays?\b", "states, reports, names"),
    ("room", r"\brooms?\b", "space, folder"),
    ("stands", r"\bstand(s|ing)?\b|\bstood\b", "is, are, lies"),
    ("asked", r"\basks?\b|\basked\b", "requests, requested"),
    ("nobody", r"\bnobody\b", "no caller, no user"),
    ("whoever", r"\bwho(m|so)?ever\b|\bsomebody\b", "the caller, the user"),
    ("such a", r"\b[Ss]uch (an?|is|are)\b|\bno such\b", "name the thing again"),
    ("so many", r"\b[Ss]o (many|much|few)\b", "a number, n"),
    ("what is", r"\b[Ww]hat (is|are|was|were|has|have|it|they|a|an|the)\b", "a noun instead of the clause"),
    ("What", r"(?:^|[.;:] )What\b", "a sentence that begins with its subject"),
    ("of which", r"\bof (which|whom|what)\b", "its, whose, or the noun"),
    ("for whoever", r"\b[Ff]or who(ever)? \b", "for callers that"),
    ("anew", r"\banew\b", "again, from the start"),
    ("the one", r"\bthe one that\b|\bthe ones that\b|\bone that is none\b", "the noun"),
    ("is no", r"\b(is|are) no(ne)?\b", "is not a"),
    ("of the moment", r"\bof the moment\b", "transient"),
    ("as it is", r"\bas (it|they) (is|are|stands?)\b", "unchanged"),
    ("beside", r"\bbeside\b", "next to, with"),
    ("lacks", r"\blacks?\b|\blacking\b", "has no, is missing"),
]
TOKEN = re.compile(r'''(?P<comment>//[^\n]*|/\*.*?\*/)|R"(?P<d>[^()\\ ]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F_])'(?:\\.|[^'\\\n])+'|^[ \t]*\#[ \t]*include[^\n]*|(?P<id>[A-Za-z_]\w*)''',
                   re.S | re.M)
PYTHON = re.compile(r'''(?P<comment>\#[^\n]*|""".*?""")|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?P<id>[A-Za-z_]\w*)''', re.S)
SHELL = re.compile(r'''(?P<comment>(?:^|(?<=\s))\#[^\n]*)|(?P<id>(?!))''', re.M)


def parts(name):
    """The words of an identifier: kMostRoomOf -> most room of."""
    name = re.sub(r"^k(?=[A-Z])", "", name)
    return [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def is_member(text, start, end):
    before, after = text[:start].rstrip(), text[end:end + 40].lstrip()
    return before.endswith((".", "->")) and not before.endswith("..") and not after.startswith("(") and after[:1] != "\""


def places(tree):
    """(row, file, line, what was found) of each word of the dialect."""
    names = [(row, re.compile(rf"(?:{pattern})$")) for row, pattern, _ in NAMES]
    comments = [(row, re.compile(pattern, re.M)) for row, pattern, _ in COMMENTS]
    member = re.compile(rf"(?:{MEMBERS})$")
    known = {}
    for folder in FOLDERS:
        for path in sorted((tree / folder).rglob("*")):
            file = str(path.relative_to(tree))
            if not path.is_file() or not file.endswith(C_LIKE + HASH) or any(part in file for part in SELF) or "__pycache__" in file:
                continue
            text = path.read_text(errors="replace")
            lexer = TOKEN if file.endswith(C_LIKE) else PYTHON if file.endswith(".py") else SHELL
            line, at = 1, 0
            for found in lexer.finditer(text):
                if not found.lastgroup or not (found["comment"] or found["id"]):
                    continue
                line, at = line + text.count("\n", at, found.start()), found.start()
                if found["id"]:
                    name = found["id"]
                    if name not in known:
                        known[name] = [row for row, pattern in names if any(pattern.match(part) for part in parts(name))]
                    for row in known[name]:
                        yield row, file, line, name
                    if lexer is TOKEN and file.endswith((".cpp", ".h")) and member.match(name) and is_member(text, found.start(), found.end()):
                        yield MEMBER[0], file, line, name
                else:
                    words = re.sub(r"^\s*(///?|\*|#)\s?", "", found["comment"], flags=re.M)
                    for row, pattern in comments:
                        for hit in pattern.finditer(words):
                            yield row, file, line + words.count("\n", 0, hit.start()), hit[0]


def main():
    tree = pathlib.Path(sys.argv[1])
    option = sys.argv[2] if len(sys.argv) > 2 else ""
    list_file = pathlib.Path(__file__).parent / LEFT
    if option == "--list":
        list_file = pathlib.Path(sys.argv[3])
        option = ""
    instead = {row: text for row, _, text in NAMES + COMMENTS} | {MEMBER[0]: MEMBER[1]}
    found = {row: [] for row in instead}
    for row, file, line, what in places(tree):
        found[row].append(f"{file}:{line}: {what}")
    if option == "--show":
        print("\n".join(found[sys.argv[3]]))
        return 0
    left = {}
    if list_file.exists():
        for entry in list_file.read_text().splitlines():
            if entry and not entry.startswith("#"):
                number, row = entry.split(None, 1)
                left[row] = int(number)
    if option in ("--lower", "--count"):
        lines = ["# Words of the old dialect that are still in identifiers (name …, member …) and comments: see words.py.",
                 "# The numbers may only become smaller: tests/architecture/words.py . --lower"]
        for row in instead:
            number = len(found[row]) if option == "--count" else min(len(found[row]), left.get(row, 0))
            if number:
                lines.append(f"{number} {row}")
        list_file.write_text("\n".join(lines) + "\n")
        return 0
    wrong = 0
    for row, hits in found.items():
        if len(hits) <= left.get(row, 0):
            continue
        wrong += 1
        print(f"{row}: {len(hits)} times, {left.get(row, 0)} are allowed. Write instead: {instead[row]}.")
        print("".join(f"    {hit}\n" for hit in hits[:12]) + ("    …" if len(hits) > 12 else ""))
    for row in left:
        if row not in found:
            wrong += 1
            print(f"{LEFT} has the unknown row '{row}'")
    print(f"{sum(map(len, found.values()))} words of the old dialect are left.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
