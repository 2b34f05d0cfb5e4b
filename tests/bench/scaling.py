"""The scaling experiment: the same model, seeds and sequences with and without ÷√d_k, over d_k; prints a Markdown table.

    scaling.py ATTNSCOPE [--seeds 5] [--steps 400] [--widths 4,16,64,256,512]

Each cell is the median over seeds of the mean of the last 50 steps, with the smallest and largest in parentheses.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

SPEC = {"task": "induction", "tokens": 32, "symbols": 16, "layers": 2, "heads": 2, "d_model": 64, "batch": 16,
        "learning_rate": 3e-3, "warmup": 50}


def runs_of(binary, spec, seeds):
    """Of each seed: loss, share of right answers and of saturated rows, as `attnscope train` prints them."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "spec.json"
        path.write_text(json.dumps(spec))
        done = subprocess.run([binary, "train", path, "--seeds", str(seeds)], check=True, capture_output=True, text=True)
    rows = [line.replace("%", "").split() for line in done.stdout.splitlines()[1:]]
    return [(float(loss), float(right), float(saturated)) for _, _, loss, right, saturated in rows]


def cell(values, form):
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:{form}} ({least:{form}}–{most:{form}})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--widths", default="4,16,64,256,512")
    given = parser.parse_args()
    print("| d_k | ÷√d_k | right % | loss | saturated rows % |\n| --- | --- | --- | --- | --- |", flush=True)
    for width in map(int, given.widths.split(",")):
        for scaling in (True, False):
            runs = runs_of(given.binary, SPEC | {"d_k": width, "scaling": scaling, "steps": given.steps}, given.seeds)
            loss, right, saturated = zip(*runs)
            print(f"| {width} | {'on' if scaling else 'off'} | {cell(right, '.1f')} | {cell(loss, '.3f')} | {cell(saturated, '.1f')} |",
                  flush=True)


if __name__ == "__main__":
    main()
