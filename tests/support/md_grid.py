"""A kernel whose one condition has eight cases in eight loops."""

import weft
from weft import f32


@weft.kernel
def md_grid(force: f32[4, 4, 4, 10, 3], position: f32[4, 4, 4, 10, 3]) -> None:
    """Molecular dynamics on a grid, after md/grid of MachSuite (Reagen et al., 2014): each point
    with all others in the cells around.
    """
    for b0x, b0y, b0z in weft.grid(4, 4, 4):
        for b1x in range(max(0, b0x - 1), min(4, b0x + 2)):
            for b1y in range(max(0, b0y - 1), min(4, b0y + 2)):
                for b1z in range(max(0, b0z - 1), min(4, b0z + 2)):
                    for p in range(10):
                        sx: f32 = 0.0
                        sy: f32 = 0.0
                        sz: f32 = 0.0
                        for q in range(10):
                            if b0x != b1x or b0y != b1y or b0z != b1z or p != q:
                                dx: f32 = (
                                    position[b0x, b0y, b0z, p, 0] - position[b1x, b1y, b1z, q, 0]
                                )
                                dy: f32 = (
                                    position[b0x, b0y, b0z, p, 1] - position[b1x, b1y, b1z, q, 1]
                                )
                                dz: f32 = (
                                    position[b0x, b0y, b0z, p, 2] - position[b1x, b1y, b1z, q, 2]
                                )
                                r2inv: f32 = 1.0 / (dx * dx + dy * dy + dz * dz)
                                r6inv: f32 = r2inv * r2inv * r2inv
                                f: f32 = r2inv * r6inv * (1.5 * r6inv - 2.0)
                                sx += f * dx
                                sy += f * dy
                                sz += f * dz
                        force[b0x, b0y, b0z, p, 0] += sx
                        force[b0x, b0y, b0z, p, 1] += sy
                        force[b0x, b0y, b0z, p, 2] += sz
