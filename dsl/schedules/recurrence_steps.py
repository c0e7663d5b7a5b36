"""Steps that shorten what one iteration hands to the next, beside those of `dsl.schedules.steps`."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.schedules.steps import Reassociate, Step, Tail


@dataclass(frozen=True, slots=True)
class Locate(Step):
    """Make ``t = value if condition else t``, done in each iteration of ``loop``, a search for the last that counts."""

    kind = "locate"
    other_names = ("argmin", "argmax", "find_first")
    stmt: str
    loop: str
    reassociated = Reassociate.reassociated


@dataclass(frozen=True, slots=True)
class Scan(Step):
    """Let a recurrence ``t = f(t)`` run in blocks of ``factor`` iterations of ``loop``: the functions of each block are
    composed by themselves, and it waits for the one before only to apply what they come to. ``stmt`` is one of its
    statements, as ``t = t + e`` whose values in between are used. On floats it may round otherwise. What the factor leaves
    runs behind as it was, or is a last block under a guard.
    """

    kind = "scan"
    other_names = ("prefix_sum", "blocked_scan")
    stmt: str
    loop: str
    factor: int
    tail: Tail = "remainder"

    @property
    def reassociated(self) -> frozenset[str]:
        """Its statement."""
        return frozenset({self.stmt})


@dataclass(frozen=True, slots=True)
class Tree(Step):
    """Combine the terms of a reduction ``t = t op e`` along ``loop``, and all loops inside it, as a balanced tree: terms first,
    then pairs of them, then pairs of pairs. On floats it may round otherwise.
    """

    kind = "tree"
    other_names = ("adder_tree", "tree_reduction", "balance")
    stmt: str
    loop: str
    reassociated = Reassociate.reassociated


@dataclass(frozen=True, slots=True)
class Carry(Step):
    """Keep in shift registers what iterations of the loop ``at`` hand to later ones through ``array``, always the same
    number of iterations on: they read registers then, no memory.
    """

    kind = "carry"
    other_names = ("shift_registers", "scalar_replacement")
    array: str
    at: str


@dataclass(frozen=True, slots=True)
class CriticalLast(Step):
    """Add the terms of a sum of floats so that those last that come from the nearest iterations: the recurrence waits
    for them alone. It may round otherwise.
    """

    kind = "critical_last"
    other_names = ("height_reduction", "rebalance")
    stmt: str

    @property
    def reassociated(self) -> frozenset[str]:
        """Its statement."""
        return frozenset({self.stmt})


@dataclass(frozen=True, slots=True)
class Versions(Step):
    """Keep a version for each iteration of ``loop`` of an array that it updates in place (``count`` of them, which take
    turns), so that no iteration overwrites what another one needs.
    """

    kind = "versions"
    other_names = ("array_expansion", "rename")
    array: str
    loop: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class Pivot(Step):
    """Let nests in ``loop`` read copies of the pivot row and column that they update, as they are before and behind each
    element's own update: no iteration of the nest then waits for another one (Floyd-Warshall, transitive closures).
    """

    kind = "pivot"
    other_names = ("pivot_row", "pivot_copies")
    loop: str


@dataclass(frozen=True, slots=True)
class TwoPass(Step):
    """Find a running extremum of ``loop`` first, and then add up, in a loop of its own, the sums that are rescaled whenever
    it changes: ``stmts`` has a statement of each sum. On floats it may round otherwise.
    """

    kind = "two_pass"
    other_names = ("online_softmax", "safe_softmax")
    stmts: tuple[str, ...]
    loop: str

    @property
    def reassociated(self) -> frozenset[str]:
        """Its statements."""
        return frozenset(self.stmts)


@dataclass(frozen=True, slots=True)
class Reciprocal(Step):
    """Divide once by what all iterations of ``loop`` divide by, in ``stmt``, and multiply by the reciprocal then. Floats round
    otherwise.
    """

    kind = "reciprocal"
    other_names = ("invert_divisor", "reciprocal_math")
    stmt: str
    loop: str
    reassociated = Reassociate.reassociated


@dataclass(frozen=True, slots=True)
class StrengthReduce(Step):
    """Divide by numbers without a divider in ``stmt``: by comparisons where the quotient is one of a few numbers, else by
    products with an inverse. Integers only, and exact.
    """

    kind = "strength_reduce"
    other_names = ("divide_by_multiplying", "magic_division", "multiply_by_inverse")
    stmt: str
