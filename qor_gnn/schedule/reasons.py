"""Why: what limits an interval, and what is on a critical path. Data, for people and for search."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recurrence:
    """A value that one iteration hands to a later one.

    Attributes:
        array: the array (or scalar) that carries it.
        element: the element as it is written.
        statements: names of the statements on the cycle, in order.
        operators: the operators on it, in order.
        delay: states around the cycle.
        distance: iterations between the two.
        through: whether it is held in a register or goes through memory.
        interval: ⌈delay / distance⌉ as the tool closes it.
    """

    array: str
    element: str
    statements: tuple[str, ...]
    operators: tuple[str, ...]
    delay: int
    distance: int
    through: str
    interval: int


@dataclass(frozen=True, slots=True)
class PortLimit:
    """A bank that is accessed more often in an iteration than its ports allow in a cycle.

    Attributes:
        array: the array.
        bank: the residue of each dimension's subscript; () for an array that is not split.
        port: ``load``, ``store`` or ``any``.
        ports: how many such accesses a cycle.
        count: accesses in an iteration.
        accesses: the first of them as they are written.
        statements: names of the statements that they are in.
        interval: ⌈count / ports⌉.
    """

    array: str
    bank: tuple[int, ...]
    port: str
    ports: int
    count: int
    accesses: tuple[str, ...]
    statements: tuple[str, ...]
    interval: int


@dataclass(frozen=True, slots=True)
class Requested:
    """Nothing limits it below what was asked for."""

    interval: int


@dataclass(frozen=True, slots=True)
class Conflict:
    """Accesses whose bank is not known take several ports at once, and do not fit together.

    Attributes:
        arrays: the arrays whose accesses compete.
        interval: the first one in which they were placed.
    """

    arrays: tuple[str, ...]
    interval: int


@dataclass(frozen=True, slots=True)
class UnitLimit:
    """An operator of which a schedule allows fewer units than an iteration has operations.

    Attributes:
        operator: by the tool's name.
        units: how many there may be.
        count: operations in an iteration.
        statements: names of the statements that they are in.
        interval: ⌈count / units⌉.
    """

    operator: str
    units: int
    count: int
    statements: tuple[str, ...]
    interval: int


Limit = Recurrence | PortLimit | UnitLimit | Conflict | Requested


@dataclass(frozen=True, slots=True)
class Step:
    """An operation on a critical path: what it is, and the state in which it starts."""

    operation: str
    statement: str
    start: int
    states: int


@dataclass(frozen=True, slots=True)
class Link:
    """What is passed in one state, one after the other: ``what`` it is, and its delay in ns."""

    what: str
    ns: float


@dataclass(frozen=True, slots=True)
class Chain:
    """What a state has to get through.

    Attributes:
        links: in order.
        loops: names of the loops, outermost first, whose iteration the state is of; () outside of loops.
        statements: names of the statements.
        hurried: the tool puts operators into one state, though they do not fit, to close a recurrence.
    """

    links: tuple[Link, ...]
    loops: tuple[str, ...]
    statements: tuple[str, ...]
    hurried: bool = False

    @property
    def ns(self) -> float:
        """The delay of all of it."""
        return sum(link.ns for link in self.links)
