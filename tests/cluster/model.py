#!/usr/bin/env python3
"""How long attnscope-mpi takes for a map: the table of docs/cluster.md.

    model.py [--gflops F] [--d D]
    model.py --gflops F --d D --wire W N RANKS SECONDS     what was measured beside the model, W in bytes a second

F: of one rank's core. A round: every rank takes R rows, and n / 1024 pieces of 1,024 keys pass it. A piece is computed in
R · 1024 · 2 d / F, and (P − 1) / P of them come over a wire in 1024 · d · 4 bytes / bandwidth + latency each; the longer of the two
counts, and the way of one piece around all ranks.
"""
import argparse
import math

PIECE, LATENCY, RECORDS = 1024, 5e-6, 16
WIRES = {"10 Gb/s": 1.25e9, "100 Gb/s": 12.5e9}


def layout(n):
    """Side of a block and rows of a strip, as core/large/pyramid.cpp chooses them."""
    levels = max(0, math.ceil(math.log2(n / 256)))
    side = 2 ** min(5, max(levels - 1, 0))
    while sum(12 * math.ceil(n / (side << k)) ** 2 for k in range(levels)) > 384 * 2**20 and side < 2**levels:
        side *= 2
    whole = math.lcm(48, side)
    unit = whole if whole <= 384 else side
    return side, math.ceil(192 / unit) * unit


def seconds(n, ranks, wire, gflops, d):
    side, strip = layout(n)
    strips = math.ceil(n / strip)
    share = max(1, min(math.ceil(strips / ranks), max(1, 2048 // strip)))
    rounds = math.ceil(strips / (share * ranks))
    pieces = math.ceil(n / PIECE)
    passing = PIECE * d * 4 / wire + LATENCY if ranks > 1 else 0.0
    compute = pieces * share * strip * PIECE * 2 * d / (gflops * 1e9)
    on_wire = pieces * passing * (ranks - 1) / ranks
    way = (ranks - 1) * passing
    total = rounds * (max(compute, on_wire) + way)
    bound = "wire" if on_wire > compute else "compute"
    if bound == "compute" and rounds * share * ranks > 1.15 * strips:
        bound = "strips"
    if way > 0.15 * max(compute, on_wire):
        bound = "latency"
    kept = n * d * 4 / ranks + 4 * n + 8 * PIECE * d * 4 + share * strip * math.ceil(n / side) * RECORDS
    return total, bound, kept


def words(value):
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if value >= 2 * size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.2g} s"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gflops", type=float, default=70.0)
    parser.add_argument("--d", type=int, default=64)
    parser.add_argument("--wire", type=float, default=1e18)
    parser.add_argument("measured", nargs="*", type=float)
    args = parser.parse_args()
    if args.measured:
        n, ranks, took = args.measured
        total = seconds(int(n), int(ranks), args.wire, args.gflops, args.d)[0]
        print(f"model {total:.2f} s, measured {took:.2f} s: {100 * (took / total - 1):+.0f} %")
        return
    sizes = (10**5, 10**6, 10**7)
    print("| P | " + " | ".join(f"n = {n:.0e}, {wire}".replace("e+0", "e") for n in sizes for wire in WIRES) + " | memory per rank, n = 1e7 |")
    print("|---|" + "---|" * (len(sizes) * len(WIRES) + 1))
    for ranks in (1, 4, 16, 64, 256, 1024):
        cells = [seconds(n, ranks, wire, args.gflops, args.d) for n in sizes for wire in WIRES.values()]
        row = " | ".join(f"{words(total)}, {bound}" for total, bound, _ in cells)
        print(f"| {ranks:,} | {row} | {cells[-1][2] / 1e6:,.0f} MB |")


main()
