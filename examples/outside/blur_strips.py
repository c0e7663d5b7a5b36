"""blur of an image in memory outside: strips of rows on the chip, with the rows around them."""

import weft
from weft import f32

SIZES = {
    "mini": {"H": 16, "W": 18},
    "small": {"H": 64, "W": 96},
    "medium": {"H": 240, "W": 320},
    "large": {"H": 1080, "W": 1920},
}
H, W = SIZES["medium"].values()


@weft.kernel(sizes=SIZES)
def blur_strips(image: f32[H, W], out: f32[H, W]):
    for y in range(1, H - 1):
        for x in range(1, W - 1):
            rows: f32 = image[y - 1, x - 1] + image[y - 1, x] + image[y - 1, x + 1]
            here: f32 = image[y, x - 1] + image[y, x] + image[y, x + 1]
            below: f32 = image[y + 1, x - 1] + image[y + 1, x] + image[y + 1, x + 1]
            out[y, x] = (rows + here + below) / 9.0


@blur_strips.schedule
def strips(s):
    # 16 rows at a time; the copy has 18, the two more are loaded twice.
    s.interface("image", "m_axi", "gmem0", width=512, burst=64)
    s.interface("out", "m_axi", "gmem1", width=512, burst=64)
    s.split("y", 16, tail="guard")
    s.buffer("image", "y_0")
    s.buffer("out", "y_0")
    for loop in ("load_image_1", "store_out_1"):
        s.pipeline(loop)
    s.pipeline("x", ii=5)  # nine reads of a memory with two ports


def reference(image, out):
    h, w = image.shape
    total = sum(image[y : h - 2 + y, x : w - 2 + x] for y in range(3) for x in range(3))
    out[1:-1, 1:-1] = total / 9.0
