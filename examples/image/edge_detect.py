"""edge detect: a ring blur, then Roberts' cross, on a three-channel image."""

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
def edge_detect(image: f32[H, W, 3], out: f32[H, W, 3]):
    ring: f32[H, W, 3]
    for y in range(H - 2):
        for x in range(W - 2):
            for c in range(3):
                ring[y, x, c] = (
                    image[y, x, c] + image[y, x + 1, c] + image[y, x + 2, c]
                    + image[y + 1, x, c] + image[y + 1, x + 2, c]
                    + image[y + 2, x, c] + image[y + 2, x + 1, c] + image[y + 2, x + 2, c]
                ) / 8.0  # fmt: skip
    for y in range(H - 3):
        for x in range(W - 3):
            for c in range(3):
                out[y, x, c] = abs(ring[y + 1, x + 1, c] - ring[y, x, c]) + abs(
                    ring[y + 1, x, c] - ring[y, x + 1, c]
                )


@edge_detect.schedule
def fused(s):
    # The second pass runs a row and a column behind the first, in the same loop. The 8 pixels
    # around a point come from one memory for each channel: a new point every fourth cycle.
    s.shift("S1", "y", 1)
    s.shift("S1", "x", 1)
    s.fuse(["S0", "S1"], 3)
    s.pipeline("x", ii=4)
    s.unroll("c")
    for array in ("image", "ring", "out"):
        s.partition(array, 2, "complete")


@edge_detect.schedule
def streamed(s):
    # Two processes, each with line buffers and a window: the image and the ring pass once, in order,
    # and a channel of a pixel starts in each cycle.
    s.reuse("image", at="S0.y")
    s.reuse("ring", at="S1.y")
    s.pipeline("S0.c")
    s.pipeline("S1.c")
    s.dataflow()
    s.stream("ring")


def reference(image, out):
    h, w, _ = image.shape
    ring = sum(
        image[r : r + h - 2, q : q + w - 2] for r in range(3) for q in range(3) if (r, q) != (1, 1)
    )
    ring = ring / 8
    rising = abs(ring[1:, 1:] - ring[:-1, :-1])
    falling = abs(ring[1:, :-1] - ring[:-1, 1:])
    out[: h - 3, : w - 3] = rising + falling
