"""Scaling in a real learner: the recipe of pronouns with and without ÷√d_k over d_k, same seeds; prints a Markdown table.

    learner.py ATTNSCOPE [--seeds 3] [--steps 1000] [--every 25] [--widths 4,8,16,32,64,128,256] [--model pronouns]

The accuracy is that on 512 held-out texts, which training never reads, at the last step. "Steps to 99 %" is the first evaluation with
99 % or more right, which is exact to --every steps. Each cell is the median over seeds, with the smallest and largest in parentheses;
a run that does not reach 99 % counts as more than its steps.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).parents[2] / "assets" / "models"
EVALUATED = re.compile(r"step (\d+), \d+ held-out texts: ([\d.<>]+) ?%? of answers right")
SOLVED = 99.0


def share(text):
    return {"<0.1": 0.0, ">99.9": 99.95}.get(text) if text[0] in "<>" else float(text)


def curve_of(binary, spec, every):
    """[(step, % of held-out answers right)] of one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "spec.json"
        path.write_text(json.dumps(spec))
        done = subprocess.run([binary, "train", path, "--every", str(every)], check=True, capture_output=True, text=True)
    curve = [(int(step), share(right.replace(" ", ""))) for step, right in EVALUATED.findall(done.stderr.replace("> ", ">").replace("< ", "<"))]
    if not curve or curve[-1][0] != spec["steps"]:
        sys.exit(f"learner.py: no evaluation at step {spec['steps']} in:\n{done.stderr}")
    return curve


def cell(values, write):
    return f"{write(statistics.median(values))} ({write(min(values))}–{write(max(values))})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--every", type=int, default=25)
    parser.add_argument("--widths", default="4,8,16,32,64,128,256")
    parser.add_argument("--model", default="pronouns")
    given = parser.parse_args()
    recipe = json.loads((MODELS / f"{given.model}.json").read_text()) | {"steps": given.steps}
    print("| d_k | scaling | held-out answers right % | steps to 99 % |\n| --- | --- | --- | --- |", flush=True)
    for width in map(int, given.widths.split(",")):
        for scaling in (True, False):
            spec = recipe | {"d_k": width, "scaling": scaling}
            curves = [curve_of(given.binary, spec | {"seed": recipe["seed"] + n}, given.every) for n in range(given.seeds)]
            ends = [curve[-1][1] for curve in curves]
            solved = [next((step for step, right in curve if right >= SOLVED), float("inf")) for curve in curves]
            steps = cell(solved, lambda step: f"> {given.steps}" if step == float("inf") else f"{step:.0f}")
            print(f"| {width} | {'with' if scaling else 'without'} | {cell(ends, lambda right: f'{right:.1f}')} | {steps} |", flush=True)


if __name__ == "__main__":
    main()
