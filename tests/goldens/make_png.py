#!/usr/bin/env python3
"""Makes png/<kind>.png: a small image of every kind of PNG, with zlib alone; tests/io/png_image_test.cpp has the pixels.

Run from anywhere: python3 tests/goldens/make_png.py. Images of 2 × 1 but `interlaced`, 5 × 6 (Adam7), whose pixel in column x and
row y is (10 x, 20 y, 7 (x + y)).
"""

import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).resolve().parent / "png"
ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(name, width, height, depth, colour, rows, *before, interlace=0):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    body = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows), 9)
    chunks = [chunk(b"IHDR", header), *before, chunk(b"IDAT", body), chunk(b"IEND", b"")]
    (HERE / f"{name}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def interlaced(width, height):
    pixel = lambda x, y: (10 * x, 20 * y, 7 * (x + y))
    rows = []
    for left, top, right, down in ADAM7:
        columns = range(left, width, right)
        if columns:
            rows += [[value for x in columns for value in pixel(x, y)] for y in range(top, height, down)]
    png("interlaced", width, height, 8, 2, rows, interlace=1)


HERE.mkdir(exist_ok=True)
png("grey1", 2, 1, 1, 0, [[0b01000000]])
png("grey8", 2, 1, 8, 0, [[7, 200]])
png("grey16", 2, 1, 16, 0, [[0x80, 0xFF, 0x12, 0x34]])
png("grey_alpha", 2, 1, 8, 4, [[100, 255, 100, 51]])
png("palette", 2, 1, 4, 3, [[0x10]], chunk(b"PLTE", bytes((1, 2, 3, 250, 128, 0))), chunk(b"tRNS", bytes((0,))))
png("rgb8", 2, 1, 8, 2, [[1, 2, 3, 255, 128, 0]])
png("rgb16", 2, 1, 16, 2, [[1, 1, 2, 2, 3, 3, 0xFF, 0xFF, 0x80, 0x80, 0, 0]])
png("rgba", 2, 1, 8, 6, [[10, 20, 30, 255, 10, 20, 30, 128]])
interlaced(5, 6)
