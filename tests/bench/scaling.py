"""The scaling experiment: the same model, seeds and sequences with and without ÷√d_k, over d_k; prints a Markdown table.

    scaling.py ATTNSCOPE [--seeds 5] [--steps 400] [--widths 4,16,64,256,512] [--causes]

With --causes instead what parts its causes from each other: other spreads of W_Q and W_K at first, and a narrow model.
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


CAUSES = [
    ("with scaling", SPEC | {"d_k": 64}),
    ("without scaling", SPEC | {"d_k": 64, "scaling": False}),
    ("without scaling, same initial logits: W_Q, W_K × 64^−¼", SPEC | {"d_k": 64, "scaling": False, "initial_spread": 64 ** -0.25}),
    ("with scaling, wide initial logits: W_Q, W_K × 64^¼", SPEC | {"d_k": 64, "initial_spread": 64 ** 0.25}),
]
NARROW = {"task": "reverse", "tokens": 16, "symbols": 16, "layers": 1, "heads": 1, "d_model": 64, "d_k": 4, "learning_rate": 0.01,
          "batch": 32}
CAUSES += [("narrow (reverse, d_k 4), with scaling", NARROW), ("narrow, without scaling", NARROW | {"scaling": False})]


def runs_of(binary, spec, seeds):
    """Of each seed: loss, share of right answers and of saturated rows, as `attnscope train` prints them; saturated at step 0."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "spec.json"
        path.write_text(json.dumps(spec))
        runs = pathlib.Path(folder) / "runs"
        done = subprocess.run([binary, "train", path, "--seeds", str(seeds), "-o", runs], check=True, capture_output=True, text=True)
        rows = [line.replace("%", "").split() for line in done.stdout.splitlines()[1:]]
        first = [100 * json.loads((runs / f"seed-{row[0]}" / "run.json").read_text())["records"][0]["saturated"] for row in rows]
    return [(float(loss), float(right), float(saturated), birth) for (_, _, loss, right, saturated), birth in zip(rows, first)]


def cell(values, form):
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:{form}} ({least:{form}}–{most:{form}})"


def print_causes(given):
    print("| model | right % | loss | saturated rows %, at step 0 | at the end |\n| --- | --- | --- | --- | --- |", flush=True)
    for name, spec in CAUSES:
        loss, right, saturated, birth = zip(*runs_of(given.binary, spec | {"steps": given.steps}, given.seeds))
        print(f"| {name} | {cell(right, '.1f')} | {cell(loss, '.3f')} | {cell(birth, '.1f')} | {cell(saturated, '.1f')} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--widths", default="4,16,64,256,512")
    parser.add_argument("--causes", action="store_true")
    given = parser.parse_args()
    if given.causes:
        return print_causes(given)
    print("| d_k | ÷√d_k | right % | loss | saturated rows % |\n| --- | --- | --- | --- | --- |", flush=True)
    for width in map(int, given.widths.split(",")):
        for scaling in (True, False):
            runs = runs_of(given.binary, SPEC | {"d_k": width, "scaling": scaling, "steps": given.steps}, given.seeds)
            loss, right, saturated, _ = zip(*runs)
            print(f"| {width} | {'on' if scaling else 'off'} | {cell(right, '.1f')} | {cell(loss, '.3f')} | {cell(saturated, '.1f')} |",
                  flush=True)


if __name__ == "__main__":
    main()
