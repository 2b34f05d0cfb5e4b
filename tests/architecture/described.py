#!/usr/bin/env python3
"""Fails when a field of what a workspace keeps (Look<T>, Controls<T>) is neither described nor transient.

    described.py TREE

A field of T is described when its name is in describe(Visitor&, T&). It is transient when its declaration follows a comment
"// transient …" or "// from jobs …". Older comments have "of the moment" instead.
"""
import pathlib
import re
import sys

# What no session has had so far: chosen again where it is needed.
NOT_KEPT = {"CompareLook::blink", "TensorsLook::roles", "TensorsLook::axes", "TensorsLook::options", "VerifyLook::cell", "PositionsCurves::scores"}
MOMENT = re.compile(r"//.*\b(of the moment|from a job|from jobs)\b|//\s*[Tt]ransient\b")


def body_after(text, start):
    depth = 0
    for n in range(text.index("{", start), len(text)):
        depth += {"{": 1, "}": -1}.get(text[n], 0)
        if depth == 0:
            return text[text.index("{", start) + 1 : n]
    return ""


def kept_fields(body):
    """Names of the members above the line of the moment; of functions none."""
    names, code = [], ""
    for line in body.split("\n"):
        if MOMENT.search(line):
            break
        code += re.sub(r"//.*", "", line) + "\n"
    code = re.sub(r"\{[^{}]*\}", "", code)
    for statement in code.split(";"):
        if "(" in statement.split("=")[0] and "std::function" not in statement:
            continue
        if "operator" in statement:
            continue
        declared = re.search(r"[\w>\]]\s+&?((?:\w+(?:\s*=[^,;]*)?\s*,?\s*)+)$", statement.split("=")[0].strip() + " ")
        if declared and not re.search(r"\b(using|static|friend|enum|struct)\b", statement):
            names += [statement.split("=")[0].strip().split()[-1]] if "," not in declared[1] else re.findall(r"\w+", declared[1])
    return names


def faults(tree):
    for room in sorted((tree / "app/workspaces").iterdir()) + [tree / "app/common/map"]:
        sources = "".join(path.read_text() for path in sorted(room.glob("*.h")) + sorted(room.glob("*.cpp")))
        for kind in re.findall(r"inline constexpr (?:Look|Controls)<(\w+)>", sources):
            declared = re.search(r"((?:^//[^\n]*\n)*)struct " + kind + r" \{", sources, re.M)
            if declared and MOMENT.search(declared[1]):
                continue
            described = re.search(r"void describe\(Visitor& visit, " + kind + r"& (\w+)\) \{", sources)
            fields = kept_fields(body_after(sources, declared.start())) if declared else []
            said = body_after(sources, described.start()) if described else ""
            for written in re.finditer(r"\b(?:write_\w+|\w+_to)\([^;{)]*\)[^;{]*\{", sources):  # by hand
                said += body_after(sources, written.start())
            for field in fields:
                if f"{kind}::{field}" in NOT_KEPT:
                    continue
                if not re.search(r"\." + field + r"\b", said):
                    yield f"{room.relative_to(tree)}: {kind}::{field} is not described, and not below a comment // transient"


found = list(faults(pathlib.Path(sys.argv[1])))
print("\n".join(found))
sys.exit(bool(found))
