"""blur: a 3x3 box blur of a three-channel image, as two passes of three points."""

import weft
from weft import f32

SIZES = {
    "mini": {"H": 16, "W": 18},
    "small": {"H": 64, "W": 96},
    "medium": {"H": 240, "W": 320},
    "large": {"H": 1080, "W": 1920},
    "pom": {"H": 4096, "W": 4096},
}
H, W = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def blur(image: f32[H, W, 3], out: f32[H, W, 3]):
    rows: f32[H, W, 3]
    for y in range(H):
        for x in range(W - 2):
            for c in range(3):
                rows[y, x, c] = (image[y, x, c] + image[y, x + 1, c] + image[y, x + 2, c]) / 3.0
    for y in range(H - 2):
        for x in range(W - 2):
            for c in range(3):
                out[y, x, c] = (rows[y, x, c] + rows[y + 1, x, c] + rows[y + 2, x, c]) / 3.0


@blur.schedule
def fused(s):
    # The second pass runs two rows behind the first, in the same loop: one pass over the image.
    # Its three reads of one column of `rows` are what limits the interval.
    s.shift("S1", "y", 2)
    s.fuse(["S0", "S1"], 3)
    s.pipeline("x", ii=2)
    s.unroll("c")
    for array in ("image", "rows", "out"):
        s.partition(array, 2, "complete")


@blur.schedule
def unrolled(s):
    # 4 pixels start every other cycle in each pass.
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.x", 4)
        s.pipeline(f"{stmt}.x_0", ii=2)
        s.unroll(f"{stmt}.x_1")
        s.unroll(f"{stmt}.c")
    for array in ("image", "rows", "out"):
        s.partition(array, 1, "cyclic", 4)
        s.partition(array, 2, "complete")


def reference(image, out):
    h, w, _ = image.shape
    rows = sum(image[:, n : n + w - 2] for n in range(3)) / 3
    out[: h - 2, : w - 2] = sum(rows[n : n + h - 2] for n in range(3)) / 3
