"""Steps that make loops over other ranges: one loop of two, two of one, and iterations apart from the rest, with names of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dsl.schedules.steps import Step

End = Literal["start", "end"]


@dataclass(frozen=True, slots=True)
class Join(Step):
    """Make one loop of two, of which ``inner`` stands alone in ``outer``: the inverse of `Split`. Tiles that a program is
    written in become one range again, also where the last one is cut short. ``name`` is that of the
    new loop, the inner one's by default.
    """

    kind = "join"
    other_names = ("coalesce", "collapse", "untile")
    outer: str
    inner: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Unflatten(Step):
    """Make two loops of one that was flattened: ``outer`` over quotients by ``size`` and ``inner`` over remainders,
    which subscripts that divide by it then name. Default names are ``<loop>_0`` and ``<loop>_1``.
    """

    kind = "unflatten"
    other_names = ("delinearize", "unlinearize")
    loop: str
    size: int
    outer: str = ""
    inner: str = ""


@dataclass(frozen=True, slots=True)
class Peel(Step):
    """Let the first or the last ``n`` iterations of a loop stand in a nest of their own (index-set splitting); or those
    in front of ``before``, a sum of loops around it and whole numbers like ``"16*i_0"``, in the place of ``n``.
    """

    kind = "peel"
    other_names = ("index_set_split",)
    loop: str
    n: int = 1
    at: End = "start"
    before: str = ""


@dataclass(frozen=True, slots=True)
class Separate(Step):
    """Give each nest that a statement stands in a statement of its own, with loops of its own (``S0_2``, `S0_2.i` behind
    ``S0``, `S0.i`), so that later steps say of each what becomes of it. Loops of one iteration are left out.
    """

    kind = "separate"
    other_names = ("clone", "split_statement")


@dataclass(frozen=True, slots=True)
class Unite(Step):
    """Make one statement of two that do the same in neighbouring ranges of a loop, in one loop over both."""

    kind = "unite"
    other_names = ("merge_statements", "merge_ranges")
    stmt: str
    other: str


@dataclass(frozen=True, slots=True)
class IfConvert(Step):
    """Let what is under the innermost condition around a statement run always, and choose what it assigns: ``if i != k:`` around
    an update leaves loops over two ranges, ``a -= f * b if i != k else 0`` one.
    """

    kind = "if_convert"
    other_names = ("predicate", "predication")
    stmt: str


@dataclass(frozen=True, slots=True)
class Trim(Step):
    """Leave out the iterations of a statement whose values nothing reads, as most of what ``m: i32[60, 60] = 0`` assigns
    where the program itself assigns all but the diagonal before it reads it.
    """

    kind = "trim"
    other_names = ("dead_stores", "eliminate_dead_stores")
    stmt: str
