"""edge detection of an image that no chip holds: what lies between the two filters is in memory outside, too."""

import weft
from weft import u8

SIZES = {
    "mini": {"H": 16, "W": 18},
    "small": {"H": 64, "W": 96},
    "medium": {"H": 240, "W": 320},
    "large": {"H": 1080, "W": 1920},
}
H, W = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def edge_strips(image: u8[H, W], out: u8[H, W]):
    smooth: u8[H, W]
    for y in range(H):
        for x in range(1, W - 1):
            smooth[y, x] = (image[y, x - 1] + 2 * image[y, x] + image[y, x + 1]) >> 2
    for y in range(1, H - 1):
        for x in range(1, W - 1):
            out[y, x] = abs(smooth[y + 1, x] - smooth[y - 1, x])


@edge_strips.schedule
def strips(s):
    # 16 rows at a time; the second filter copies in the two around them as well.
    for port, array in enumerate(("image", "smooth", "out")):
        s.interface(array, "m_axi", f"gmem{port}")
        s.pack(array, 64)
    for stmt in ("S0", "S1"):
        s.split(f"{stmt}.y", 16, tail="guard")
    s.buffer("image", "S0.y_0")
    s.buffer("smooth", "S0.y_0", "written")
    s.buffer("smooth", "S1.y_0", "read")
    s.buffer("out", "S1.y_0")
    for copy in ("image_buf", "written", "read", "out_buf"):
        s.partition(copy, 1, factor=8)  # a word has eight elements
    for loop in ("load_image_1", "load_smooth.load_smooth_1", "store_smooth_1", "load_smooth_2_1", "store_out_1"):  # fmt: skip
        s.pipeline(loop)
    for stmt in ("S0", "S1"):
        s.pipeline(f"{stmt}.x")


def reference(image, out):
    wide = image.astype(int)
    smooth = (wide[:, :-2] + 2 * wide[:, 1:-1] + wide[:, 2:]) >> 2
    out[1:-1, 1:-1] = abs(smooth[2:] - smooth[:-2])
