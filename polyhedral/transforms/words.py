"""Words of a packed argument: where they begin, what is in one, and the loops that copy them.

An element ``A[.., x]`` is lane ``x mod n`` of word ``x / n`` of its row. A tile of a packed array begins with a
word, so that the loop over the last subscript ``y`` of its copy is one over words and one over lanes, which is
unrolled::

    for y in range(40): ..              # for w in range(3):
                                        #   for lane in range(16): .. y = 16*w + lane ..
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from dsl.expressions.affine import Affine
from dsl.programs.program import Loop
from polyhedral.isl.text import affine_text, dims, map_of, positional


@dataclass(frozen=True, slots=True)
class Words:
    """The words of an array.

    Attributes:
        lanes: elements of a word.
        shape: of the array, in elements.
    """

    lanes: int
    shape: tuple[int, ...]

    @property
    def row(self) -> int:
        """Elements of a row."""
        return self.shape[-1]

    def around(self, offset: Affine, extent: int) -> tuple[Affine, int]:
        """The side of a box, from its first element on, as one that is of whole words."""
        before = offset.const % self.lanes
        return offset - before, -(-(extent + before) // self.lanes) * self.lanes

    def completed(self, elements: isl.Set) -> isl.Set:
        """All elements, as ``[r, x]``, of the words that some are in."""
        rank = elements.dim(isl.dim_type.set)
        same = dims(rank - 1, "t")
        space = ", ".join
        within = map_of(
            f"{{ [{space([*same, 'x'])}] -> [{space([*same, 'y'])}] : exists w : "
            f"{self.lanes}w <= x < {self.lanes}w + {self.lanes} and "
            f"{self.lanes}w <= y < {self.lanes}w + {self.lanes} and 0 <= y < {self.row} }}"
        )
        return elements.apply(within).coalesce()

    def loops(
        self,
        word: str,
        lane: str,
        offset: Affine,
        extent: int,
        starts: isl.Set,
        around: Sequence[str],
    ) -> tuple[Loop, Loop]:
        """The loop over the words of a box that are in the array, and that over the lanes in its row.

        Args:
            word: the variable of the outer one.
            lane: that of the inner one.
            offset: of the box, over the loops around.
            extent: of the box.
            starts: the iterations of the loops around, as ``[r]``.
            around: the names of these.
        """
        n, words = self.lanes, -(-extent // self.lanes)
        low, high = _range(offset, starts, around)
        lowers, uppers = [Affine()], [Affine((), words)]
        if low < 0:
            lowers.append(-offset // n)
        if high + words * n > -(-self.row // n) * n:
            uppers.append((-offset - (-self.row // n) * n) // n)
        lanes = [Affine((), n)]
        if self.row % n and high + words * n > self.row:
            lanes.append(Affine((), self.row) - offset - Affine.of(word) * n)
        outer = Loop(word, tuple(lowers), tuple(uppers), 1, ())
        return outer, Loop(lane, (Affine(),), tuple(lanes), 1, ())


def _range(e: Affine, starts: isl.Set, names: Sequence[str]) -> tuple[int, int]:
    """The least and the greatest value of an expression over some iterations."""
    own = positional(names, "r")
    values = starts.apply(map_of(f"{{ [{', '.join(own.values())}] -> [{affine_text(e, own)}] }}"))
    low, high = values.dim_min_val(0), values.dim_max_val(0)
    return low.to_python(), high.to_python()
