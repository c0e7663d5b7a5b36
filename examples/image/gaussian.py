"""gaussian: a separable 7x7 filter of a three-channel image."""

import numpy as np

import weft
from weft import f32

SIZES = {
    "mini": {"H": 16, "W": 24},
    "small": {"H": 64, "W": 96},
    "medium": {"H": 240, "W": 320},
    "large": {"H": 1080, "W": 1920},
    "pom": {"H": 4096, "W": 4096},
}
H, W = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def gaussian(
    image: weft.const[f32[H, W, 3]],
    vertical: weft.const[f32[7]],
    horizontal: weft.const[f32[7]],
    out: f32[H, W, 3],
):
    columns: f32[H, W, 3]
    for y in range(H - 6):
        for x in range(W):
            for c in range(3):
                columns[y, x, c] = 0.0
                for r in range(7):
                    columns[y, x, c] += image[y + r, x, c] * vertical[r]
    for y in range(H - 6):
        for x in range(W - 6):
            for c in range(3):
                out[y, x, c] = 0.0
                for r in range(7):
                    out[y, x, c] += columns[y, x + r, c] * horizontal[r]


@gaussian.schedule
def unrolled(s):
    # Down the columns: one row of the image at a time, 8 pixels of all channels in each cycle.
    s.distribute(["S1"], 1)
    s.pipeline("S0.x")
    s.reorder(["S1.r", "S1.x", "S1.c"])
    s.split("S1.x", 8)
    s.pipeline("S1.x_0")
    s.unroll("S1.x_1")
    s.unroll("S1.c")
    # Along the rows: one channel at a time, 8 pixels with all their 7 terms every other cycle.
    s.distribute(["S3"], 1)
    s.pipeline("S2.x")
    s.interchange("S3.x", "S3.c")
    s.split("S3.x", 8)
    s.pipeline("S3.x_0", ii=2)
    s.unroll("S3.x_1")
    s.unroll("S3.r")
    for array in ("image", "columns", "out"):
        s.partition(array, 1, "cyclic", 8)
        s.partition(array, 2, "complete")
    s.partition("horizontal", 0, "complete")


def reference(image, vertical, horizontal, out):
    h, w, _ = image.shape
    columns = sum(image[r : r + h - 6] * vertical[r] for r in range(7))
    out[: h - 6, : w - 6] = sum(columns[:, r : r + w - 6] * horizontal[r] for r in range(7))


def weights(sigma):
    """The 7 taps of a Gaussian with that standard deviation, in pixels; their sum is 1."""
    taps = np.exp(-0.5 * (np.arange(-3, 4) / sigma) ** 2)
    return taps / taps.sum()


@gaussian.inputs
def picture(kernel, seed):
    rng = np.random.default_rng(seed)
    shape = kernel.program.array("image").shape
    return {
        "image": rng.uniform(0, 255, shape),
        "vertical": weights(1.5),
        "horizontal": weights(1.0),
    }
