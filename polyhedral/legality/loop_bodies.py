"""The statements of a loop, in order, and what an iteration's own scalars stand for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dsl.expressions.affine import Affine
from dsl.expressions.expr import Access, Scatter, loads
from dsl.programs.expanded import accesses_of
from dsl.programs.program import If, Loop, Program, Stmt, Storage

Around = tuple[Loop | If, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A statement of the loop.

    Attributes:
        number: of those in front of it.
        stmt: the statement.
        around: loops and conditions inside of the loop, outermost first.
    """

    number: int
    stmt: Stmt
    around: Around

    @property
    def accesses(self) -> list[Access]:
        """What it assigns and reads."""
        return accesses_of(self.stmt)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """The loops around it inside of the loop."""
        return tuple(a for a in self.around if isinstance(a, Loop))


@dataclass(frozen=True, slots=True)
class LoopBody:
    """A loop of a program.

    Attributes:
        program: the program.
        loop: the loop.
        level: loops around it.
        places: its statements, in order.
    """

    program: Program
    loop: Loop
    level: int
    places: tuple[Place, ...]

    @staticmethod
    def of(program: Program, name: str, level: int) -> LoopBody:
        """The loop around a statement that so many loops are around."""
        every = [(n, around) for n, around in program.walk() if isinstance(n, Stmt)]
        mine = next(around for stmt, around in every if stmt.name == name)
        loop = [a for a in mine if isinstance(a, Loop)][level]
        found: list[Place] = []
        for stmt, around in every:
            at = next((k for k, a in enumerate(around) if a is loop), None)
            if at is not None:
                found.append(Place(len(found), stmt, around[at + 1 :]))
        return LoopBody(program, loop, level, tuple(found))

    @property
    def variables(self) -> frozenset[str]:
        """Of the loop and of all inside of it."""
        inside = (loop.var for place in self.places for loop in place.loops)
        return frozenset((self.loop.var, *inside))

    def writers(self, array: str) -> list[Place]:
        """The statements that assign to an array."""
        return [place for place in self.places if place.stmt.target.array == array]

    def readers(self, array: str) -> Iterator[tuple[Place, Access]]:
        """The statements that read an array, and what of it."""
        for place in self.places:
            for access in loads(place.stmt.value):
                if access.array == array:
                    yield place, access

    def is_own(self, array: str) -> bool:
        """Whether it is another array in each iteration."""
        found = self.program.array(array)
        return found.storage is Storage.LOCAL and found.scope_depth > self.level

    def temporary(self, access: Access, at: Place) -> Place | None:
        """The statement of which an iteration's own local has its value where it is read; None where there are several,
        or it may not have run.
        """
        writers = self.writers(access.array) if self.is_own(access.array) else []
        if len(writers) != 1 or writers[0].number >= at.number:
            return None
        (writer,) = writers
        plain = not isinstance(writer.stmt.value, Scatter)
        same = plain and writer.stmt.value.dtype == self.program.array(access.array).dtype
        return (
            writer
            if same and writer.stmt.target == access and begins(at.around, writer.around)
            else None
        )


def begins(around: Around, first: Around) -> bool:
    """Whether what is around one statement begins with what is around another one."""
    return len(first) <= len(around) and all(
        a is b for a, b in zip(first, around[: len(first)], strict=True)
    )


def tells(access: Access, var: str) -> bool:
    """Whether one of the subscripts is another number for each value of a variable, whatever others are."""
    return any(_moves_alone(index, var) for index in access.indices)


def tell_alike(a: Access, b: Access, var: str) -> bool:
    """Whether two accesses are of one element only where a variable has the same value for both."""
    if len(a.indices) != len(b.indices):
        return False
    return any(x == y and _moves_alone(x, var) for x, y in zip(a.indices, b.indices, strict=True))


def _moves_alone(index: Affine, var: str) -> bool:
    return index.is_linear and index.variables() == {var}
