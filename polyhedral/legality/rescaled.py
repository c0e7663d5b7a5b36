"""Sums that are rescaled whenever a running extremum changes, of which only what they come to is used::

    higher = max(top, x[i])
    total = total * exp(top - higher) + exp(x[i] - higher)
    top = higher

Behind each iteration ``total * exp(top)`` is the sum of all ``exp(x[i])``: the extremum in between cancels out. So one
loop may find the last extremum, and another one add up ``exp(x[i] - top)``. In general a sum is multiplied by
``exp(c * (before - after))`` and added to are terms ``w * exp(e - c * after)``, where the loop changes nothing of ``c`` and
neither w nor e depend on the extremum or the sum (`polyhedral.legality.rescaled_terms`). What statements compute for that
alone is computed with the last extremum, too.

In the first pass is all that the extremum needs. What it hands to the second one must be an element of each iteration's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dsl.expressions.expr import (
    Const,
    Gather,
    Index,
    Load,
    loads,
    walk,
)
from dsl.programs.expanded import accesses_of
from dsl.programs.located import trips
from dsl.programs.program import If, Loop, Program, Stmt
from dsl.programs.treed import in_front
from dsl.programs.two_pass import Rescaled, Start
from polyhedral.legality.loop_bodies import (
    LoopBody,
    Place,
    begins,
    tell_alike,
    tells,
)
from polyhedral.legality.masks import Mask, unmasked
from polyhedral.legality.rescaled_terms import (
    NotRescaledError,
    Scale,
    Sum,
    marked,
    scaled_sum,
)
from polyhedral.legality.running_extrema import Extremum, Resolver, extrema
from polyhedral.legality.zeroed import is_zero_before

__all__ = ["NotRescaledError", "rescaled", "sums_in"]


def sums_in(program: Program, name: str, level: int) -> tuple[str, ...]:
    """A statement of each sum that a running extremum of a loop is used for, as far as is seen at once.

    Args:
        program: the kernel.
        name: a statement of the loop.
        level: of the loop, counted from the outermost.
    """
    for body, _ in unmasked(LoopBody.of(program, name, level)):
        for extremum in extrema(body):
            found = _using(body, extremum)
            if found:
                return found
    return ()


def _using(body: LoopBody, extremum: Extremum) -> tuple[str, ...]:
    """A statement of each sum of a loop that uses an extremum."""
    resolver, found = Resolver(body, extremum), dict[str, str]()
    for place in body.places:
        target = place.stmt.target
        sums = Load(target, place.stmt.value.dtype) in walk(place.stmt.value)
        if not sums or place.stmt.name in extremum.chain or body.is_own(target.array):
            continue
        try:
            uses = marked(resolver.resolved(place.stmt.value, place))
        except NotRescaledError:
            uses = False
        if uses:
            found.setdefault(target.array, place.stmt.name)
    return tuple(found.values())


def rescaled(program: Program, names: Sequence[str], level: int) -> Rescaled:
    """What becomes of a loop whose sums are rescaled.

    Args:
        program: the kernel.
        names: a statement of each of the sums.
        level: of the loop, counted from the outermost.

    Raises:
        NotRescaledError: they are none, or the loop cannot be two.
    """
    whole = LoopBody.of(program, names[0], level)
    for name in names:
        if not any(place.stmt.name == name for place in whole.places):
            raise NotRescaledError(f"{name} does not run in '{whole.loop.var}'")
    refused: NotRescaledError | None = None
    for body, mask in unmasked(whole):
        for extremum in extrema(body):
            try:
                return _Passes.of(body, extremum, names, mask).made()
            except NotRescaledError as error:
                refused = error
    raise refused or NotRescaledError(f"nothing in '{whole.loop.var}' is a running extremum")


@dataclass(frozen=True, slots=True)
class _Passes:
    """A loop, its extremum, and its sums.

    Attributes:
        temporaries: statements that compute something for the sums alone, of the extremum.
        mask: the condition that all of these are under; the body is without it.
    """

    body: LoopBody
    extremum: Extremum
    sums: tuple[Sum, ...]
    temporaries: frozenset[str]
    mask: Mask | None = None

    @staticmethod
    def of(
        body: LoopBody, extremum: Extremum, names: Sequence[str], mask: Mask | None = None
    ) -> _Passes:
        """The sums of statements.

        Raises:
            NotRescaledError: one is none.
        """
        resolver = Resolver(body, extremum)
        resolver.check()
        targets = {p.stmt.name: p.stmt.target.array for p in body.places}
        arrays = dict.fromkeys(targets[name] for name in names)
        compared = resolver.resolved(extremum.other, extremum.chosen)
        if marked(compared):
            raise NotRescaledError(f"what {extremum.load.access} is compared with depends on it")
        kind = extremum.value.op
        sums = tuple(scaled_sum(body, a, resolver.resolved, compared, kind) for a in arrays)
        own = {p.stmt.name for each in sums for p in each.places} | extremum.chain
        kept = {p.stmt.name for each in sums for p in each.places} | {extremum.kept.stmt.name}
        if mask is not None and not kept <= mask.names:
            text = f"{min(kept - mask.names)} is not under the condition of {min(mask.names)}"
            raise NotRescaledError(text)
        if mask is not None and marked(resolver.resolved(mask.cond, extremum.kept)):
            raise NotRescaledError(f"which iterations count depends on {extremum.load.access}")
        temporaries = set()
        for place in body.places:
            if place.stmt.name in own or not marked(resolver.resolved(place.stmt.value, place)):
                continue
            resolver.check_temporary(place, own)
            temporaries.add(place.stmt.name)
        return _Passes(body, extremum, sums, frozenset(temporaries), mask)

    # ------------------------------------------------------------------------------- the passes

    def made(self) -> Rescaled:
        """The two passes.

        Raises:
            NotRescaledError: they do not compute the same.
        """
        first, second = self._first(), self._second()
        if self.mask is not None:
            first, second = self.mask.under(first), self.mask.under(second)
        copied = self._check_handed_on(first, second)
        for place in copied:
            second[place.stmt.name] = place.stmt
        starts = tuple(self._starts())
        if starts and self.mask is not None:
            raise NotRescaledError(
                "no iteration may count, and a sum is not 0 in front of the loop"
            )
        inner = tuple(
            loop for loop in self.extremum.kept.loops if tells(self.extremum.load.access, loop.var)
        )
        return Rescaled(
            self.body.level, self.extremum.load, inner if starts else (), first, second, starts
        )

    def _first(self) -> dict[str, Stmt]:
        """All that the extremum needs, and the extremum."""
        needed, pending = set[str](), [*loads(self.extremum.other)]
        if self.mask is not None:
            pending += loads(self.mask.cond)
        seen: set[str] = set()
        while pending:
            array = pending.pop().array
            if array in seen:
                continue
            seen.add(array)
            for place in self.body.writers(array):
                needed.add(place.stmt.name)
                pending += loads(place.stmt.value)
        sums = {p.stmt.name for each in self.sums for p in each.places}
        wrong = needed & (sums | self.temporaries | self.extremum.chain)
        if wrong:
            text = f"what {self.extremum.load.access} is compared with needs {min(wrong)}"
            raise NotRescaledError(text)
        found = {p.stmt.name: p.stmt for p in self.body.places if p.stmt.name in needed}
        value, load = self.extremum.value, self.extremum.load
        own_first = value.rhs is self.extremum.other
        a, b = (load, value.rhs) if own_first else (value.lhs, load)
        source = self.extremum.chosen.stmt.source
        kept = replace(self.extremum.kept.stmt, value=replace(value, lhs=a, rhs=b), source=source)
        return {**found, self.extremum.chosen.stmt.name: kept}

    def _second(self) -> dict[str, Stmt]:
        """All else, with the last extremum, but for what only the rescaling needs."""
        needed = {*self._first(), *self.extremum.chain}
        found = {p.stmt.name: p.stmt for p in self.body.places if p.stmt.name not in needed}
        resolver = Resolver(self.body, self.extremum)
        for each in self.sums:
            for place in each.places:
                added = each.added(place)
                if added is None:
                    del found[place.stmt.name]
                else:
                    value = resolver.settled(added, place)
                    found[place.stmt.name] = replace(place.stmt, value=value)
        for place in self.body.places:
            if place.stmt.name in self.temporaries:
                value = resolver.settled(place.stmt.value, place)
                found[place.stmt.name] = replace(place.stmt, value=value)
        for place in reversed(self.body.places):
            array = place.stmt.target.array
            read = {a.array for stmt in found.values() for a in loads(stmt.value)}
            if place.stmt.name in self.temporaries and array not in read:
                del found[place.stmt.name]
        return found

    def _check_handed_on(self, first: dict[str, Stmt], second: dict[str, Stmt]) -> list[Place]:
        """The second pass finds what it reads as it was; what it needs copies of, in both passes.

        Raises:
            NotRescaledError: it does not.
        """
        body, copies = self.body, list[Place]()
        touched = {a.array for s in first.values() for a in accesses_of(s)}
        for stmt in second.values():
            if stmt.target.array in touched:
                raise NotRescaledError(
                    f"{stmt.name} assigns to '{stmt.target.array}', which the extremum needs"
                )
        writers = [
            p
            for p in body.places
            if p.stmt.name in first and p.stmt.name not in self.extremum.chain
        ]
        for writer in writers:
            array = writer.stmt.target.array
            for reader in body.places:
                if reader.stmt.name not in second:
                    continue
                for access in loads(second[reader.stmt.name].value):
                    if access.array != array:
                        continue
                    if body.is_own(array):
                        self._check_copy(writer)
                        copies.append(writer)
                    else:
                        self._check_private(writer, reader, access)
        return copies

    def _check_copy(self, place: Place) -> None:
        """A local of an iteration is a copy of what no statement of the loop assigns."""
        value, array = place.stmt.value, place.stmt.target.array
        plain = isinstance(value, Const | Index) or (
            isinstance(value, Load) and not self.body.writers(value.access.array)
        )
        if not plain or len(self.body.writers(array)) != 1:
            raise NotRescaledError(
                f"'{array}' is of an iteration, and needed in both passes",
                f'expand("{array}", "{self.body.loop.var}") first',
                array,
            )

    def _check_private(self, writer: Place, reader: Place, access: object) -> None:
        common = [self.body.loop]
        for a, b in zip(writer.around, reader.around, strict=False):
            if a is not b:
                break
            common += [a] if isinstance(a, Loop) else []
        target = writer.stmt.target
        alike = all(tell_alike(target, access, loop.var) for loop in common)  # type: ignore[arg-type]
        if not alike or writer.number >= reader.number:
            text = f"{reader.stmt.name} reads {access}, which is assigned later or elsewhere, too"
            raise NotRescaledError(text)

    # --------------------------------------------------------------- what is there before the loop

    def _starts(self) -> Iterator[Start]:
        """The sums that are not 0 in front of the loop; each sum belongs to one extremum."""
        body, mine = self.body, self.extremum.kept
        own = [loop for loop in mine.loops if tells(self.extremum.load.access, loop.var)]
        _check_element(body, self.extremum.load, own)
        before = in_front(body.program, body.loop)
        for each in self.sums:
            (around,) = {place.around for place in each.places}
            inner = around[len(mine.around) :]
            loops = [node for node in inner if isinstance(node, Loop)]
            same = begins(around, mine.around) and len(loops) == len(inner)
            if not same or any(_moves(body, loop) for loop in loops):
                text = f"{each.load.access} is not rescaled in each iteration in which {self.extremum.load.access} changes"
                raise NotRescaledError(text)
            _check_element(body, each.load, [*own, *loops])
            _check_factor(body, each.scale, own)
            if is_zero_before(body.program, before, each.load, [*own, *loops]):
                continue
            self._check_runs(own)
            yield Start(
                each.places[-1].stmt.name,
                each.load,
                tuple(loops),
                each.scale.expression(self.extremum.load.dtype),
                each.scale.negative,
            )

    def _check_runs(self, own: Sequence[Loop]) -> None:
        """The loop runs whatever loops around it are: an infinite extremum stays in front of it only."""
        mine = self.extremum.kept
        whole = [self.body.loop, *mine.loops]
        if any(isinstance(a, If) for a in mine.around) or not all(map(trips, whole)):
            text = "the loop may not run, and a sum is not 0 in front of it"
            raise NotRescaledError(text)
        if any(_moves(self.body, loop) for loop in own):
            raise NotRescaledError("extrema are other ones in each iteration")


def _moves(body: LoopBody, loop: Loop) -> bool:
    """Whether a loop inside has another range in each iteration."""
    return any(b.variables() & body.variables for b in (*loop.lowers, *loop.uppers))


def _check_element(body: LoopBody, load: Load, loops: Sequence[Loop]) -> None:
    """An access is of another element for each iteration of some loops, and of no others.

    Raises:
        NotRescaledError: it is not.
    """
    used = {v for index in load.access.indices for v in index.variables()}
    told = {loop.var for loop in loops}
    unique = len(told) == len(loops) and used & body.variables == told
    if not unique or not all(tells(load.access, var) for var in told):
        raise NotRescaledError(
            f"which element of '{load.access.array}' it is moves with '{body.loop.var}' or loops inside of it"
        )


def _check_factor(body: LoopBody, scale: Scale, own: Sequence[Loop]) -> None:
    """What extrema are multiplied by is the same in all iterations."""
    free = body.variables - {loop.var for loop in own}
    for part in scale.unknowns():
        match part:
            case Load(access=access):
                read = {v for index in access.indices for v in index.variables()}
                moves = bool(body.writers(access.array)) or any(i.is_data for i in access.indices)
                moves |= bool(read & free)
            case Index(affine=affine):
                moves = bool(affine.variables() & free)
            case _:
                moves = isinstance(part, Gather)
        if moves:
            raise NotRescaledError(f"what '{body.loop.var}' rescales by is not the same each time")
