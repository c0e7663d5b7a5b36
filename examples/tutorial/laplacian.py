"""A program that writes a program: the Laplacian to any order, in any number of dimensions."""

import weft
from weft import f32

# Central differences for the second derivative: the weights at distance 0, 1, 2, ...
WEIGHTS = {
    2: (-2.0, 1.0),
    4: (-5 / 2, 4 / 3, -1 / 12),
    6: (-49 / 18, 3 / 2, -3 / 20, 1 / 90),
}


def build(shape, order):
    """The kernel for arrays of that shape; the border, as wide as the stencil, is left alone."""
    centre, *sides = WEIGHTS[order]
    reach = len(sides)
    p = weft.Program("laplacian")
    u = p.placeholder("u", f32, shape, const=True)
    out = p.placeholder("out", f32, shape)
    point = tuple(p.loop("ijk"[d], reach, n - reach) for d, n in enumerate(shape))
    value = len(shape) * centre * u[point]
    for axis in range(len(shape)):
        for distance, weight in enumerate(sides, start=1):
            before, after = list(point), list(point)
            before[axis], after[axis] = point[axis] - distance, point[axis] + distance
            value = value + weight * (u[tuple(before)] + u[tuple(after)])
    p.compute("S0", point, into=out[point], value=value)
    return p


laplacian = build((40, 48), order=4)


@laplacian.schedule
def pipelined(s):
    # 9 reads of one memory with two ports: a point every fifth cycle.
    s.pipeline("j", ii=5)


@laplacian.schedule
def unrolled(s):
    # 4 points of a row at a time: each of 4 memories serves 2 reads of the row and 4 of others.
    s.split("j", 4)
    s.pipeline("j_0", ii=3)
    s.unroll("j_1")
    s.partition("u", 1, "cyclic", 4)
    s.partition("out", 1, "cyclic", 4)


def reference(u, out):
    n, m = u.shape
    centre, *sides = WEIGHTS[4]
    total = 2 * centre * u[2 : n - 2, 2 : m - 2]
    for d, weight in enumerate(sides, start=1):
        total += weight * (u[2 - d : n - 2 - d, 2 : m - 2] + u[2 + d : n - 2 + d, 2 : m - 2])
        total += weight * (u[2 : n - 2, 2 - d : m - 2 - d] + u[2 : n - 2, 2 + d : m - 2 + d])
    out[2 : n - 2, 2 : m - 2] = total
