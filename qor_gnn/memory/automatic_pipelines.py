"""Which loops a tool with automatic pipelining makes pipelines of, and what one iteration touches.

Innermost loops are pipelined; a short loop
inside that nobody gave an unroll factor is unrolled into its parent, which is then innermost, and so are
perfectly nested loops that are short as one loop; the
loops above flatten as long as each holds a single loop and is not unrolled itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod

from dsl.expressions.affine import Affine
from qor_gnn.design.loops import dissolved
from qor_gnn.design.region import Guard, Kernel, Loop, Node, Statement, Trips, loops_in
from qor_gnn.tools.policies.directives import Short


@dataclass(frozen=True, slots=True)
class Touch:
    """An access of a statement in a pipeline: ``order`` counts statements in program order."""

    memory: str
    indices: tuple[Affine, ...]
    write: bool
    guarded: bool
    order: int

    @property
    def variables(self) -> frozenset[str]:
        """The loop variables in its subscripts."""
        return frozenset(v for i in self.indices for v in i.variables())


@dataclass(frozen=True, slots=True)
class Pipe:
    """A loop that becomes a pipeline, or straight-line code where it is unrolled completely.

    Attributes:
        loop: what is pipelined; all inside is unrolled.
        flattened: the loops around that are one with it, outermost first.
        parent: the loop right around, if any.
        touches: what its body accesses, in execution order; of scalars nothing.
        around: accesses of the statements around it in the flattened nest.
        outside: all loops around it, outermost first.
    """

    loop: Loop
    flattened: tuple[Loop, ...]
    parent: Loop | None
    touches: tuple[Touch, ...]
    around: tuple[Touch, ...]
    outside: tuple[Loop, ...] = ()

    @property
    def inner(self) -> tuple[Loop, ...]:
        """The loops that it unrolls."""
        return loops_in(self.loop.body)

    @property
    def straight(self) -> bool:
        """No loop is left of it."""
        return self.loop.ii is None and self.loop.factor >= max(1, self.loop.trips.maximum)

    @property
    def blurred(self) -> bool:
        """It does not start at 0 and can end behind some of its copies (`Unrolling.compares_copies`)."""
        return _blurred(self.loop)

    @property
    def copies(self) -> dict[str, int]:
        """How many copies of the body each unrolled variable makes."""
        found = {x.iv: max(1, x.trips.maximum) for x in self.inner}
        return {**found, self.loop.iv: self.loop.factor}

    @property
    def variables(self) -> frozenset[str]:
        """The variables that run from one iteration to the next."""
        return frozenset((self.loop.iv, *(x.iv for x in self.flattened)))

    @property
    def unrolled_by_tool(self) -> bool:
        """The loops inside were unrolled without anybody's asking."""
        asked = self.loop.ii is not None or any(_dissolved(x) for x in self.inner)
        return bool(self.inner) and not asked

    @property
    def partly_by_tool(self) -> bool:
        """Some loop inside was unrolled without anybody's asking, whatever was asked of others."""
        if self.loop.ii is not None:
            return False
        below = [y for x in self.inner if x.ii is not None for y in loops_in(x.body)]
        return any(not _dissolved(x) and x not in below for x in self.inner)


def pipes(
    kernel: Kernel, short: Short | None, kept: frozenset[str] = frozenset()
) -> Iterator[Pipe]:
    """The pipelines of a design, in program order.

    Args:
        kernel: with its directives.
        short: the loops that are unrolled into their parent (`Directives.short`).
        kept: names of loops whose unroll factor somebody wrote, a factor of 1 included: the tool
            does not unroll them by itself.
    """
    for function in kernel.functions:
        yield from _pipes(function.body, (), short, kept)


def _pipes(
    nodes: tuple[Node, ...], around: tuple[Loop, ...], short: Short | None, kept: frozenset[str]
) -> Iterator[Pipe]:
    for node in nodes:
        match node:
            case Loop() if fails(node):
                pass
            case Loop() if innermost(node, short, kept):
                flattened = () if _ends_between_loops(node) else _flattened(around, node)
                parent = around[-1] if around else None
                touches = tuple(_touches((node,), False, [0], True))
                beside = tuple(t for x in flattened for t in _touches(x.body, False, [0], False))
                yield Pipe(node, flattened, parent, touches, beside, around)
            case Loop() | Guard():
                path = (*around, node) if isinstance(node, Loop) else around
                yield from _pipes(node.body, path, short, kept)
            case Statement():
                pass


def _blurred(loop: Loop) -> bool:
    late = any(b.is_const and b.const for b in loop.lowers)
    return late and loop.trips.maximum % loop.factor > 0


def _ends_between_loops(loop: Loop) -> bool:
    """It can end between copies that hold loops, and so is not flattened into the one around."""
    return _blurred(loop) and bool(loops_in(loop.body))


def reaches_beyond(pipe: Pipe, touch: Touch, shape: tuple[int, ...]) -> bool:
    """Some iteration accesses what is no element, as far as loops with constant bounds tell."""
    spans = zip(_spans(pipe, touch), shape, strict=False)
    return any(least < 0 or most >= extent for (least, most), extent in spans)


def starts_beyond(pipe: Pipe, touch: Touch, shape: tuple[int, ...]) -> bool:
    """No iteration accesses an element."""
    return any(n >= extent for (n, _), extent in zip(_spans(pipe, touch), shape, strict=False))


def copy_of(pipe: Pipe, last: bool) -> Pipe:
    """The pipeline in the first or the last copy of each loop around it that is unrolled."""
    return replace(pipe, outside=tuple([_copy(x, last) for x in pipe.outside]))


def _copy(loop: Loop, last: bool) -> Loop:
    number = (loop.factor - 1) * last
    trips = -(-(loop.trips.maximum - number) // loop.factor)
    return replace(
        loop,
        lowers=tuple([b + number * loop.step for b in loop.lowers]),
        step=loop.step * loop.factor,
        trips=Trips(trips, trips, trips),
        unroll=1,
    )


def _spans(pipe: Pipe, touch: Touch) -> list[tuple[int, int]]:
    """The least and the most of each subscript; nothing where that is not known."""
    loops = {x.iv: x for x in (*pipe.outside, pipe.loop, *pipe.inner)}
    if touch.guarded or any(v not in loops for v in touch.variables):
        return []
    if not all(b.is_const for v in touch.variables for b in loops[v].lowers):
        return []
    found = []
    for index in touch.indices:
        least = most = index.const
        for v, c in index.terms:
            if not isinstance(v, str):
                return []
            first = max(b.const for b in loops[v].lowers)
            last = first + (loops[v].trips.maximum - 1) * loops[v].step
            least += min(c * first, c * last)
            most += max(c * first, c * last)
        found.append((least, most))
    return found


def fails(loop: Loop) -> bool:
    """A pipeline that has to unroll a loop of unknown trip count: nothing of it is pipelined."""
    return loop.ii is not None and any(x.constant_trips is None for x in loops_in(loop.body))


def innermost(loop: Loop, short: Short | None, kept: frozenset[str]) -> bool:
    """Nothing is left of the loops inside: asked for, or because they are short."""
    inside = loops_in(loop.body)
    if not inside or loop.ii is not None:
        return True
    direct = [x for x in inside if not any(x in loops_in(y.body) for y in inside)]
    if all(_dissolved(x) and innermost(x, short, kept) for x in direct):
        return True
    return all(_absorbed(x, short, kept) for x in direct) and not _perfect(loop, short)


def without_eliminated(kernel: Kernel) -> Kernel:
    """The design once directives are carried out: of a pipeline that is unrolled completely as well nothing is left.

    Its pipeline has unrolled all loops inside, which are straight-line code then, too.
    """
    functions = tuple(replace(f, body=_eliminated(f.body)) for f in kernel.functions)
    return replace(kernel, functions=functions)


def _eliminated(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Loop() if node.ii is not None and node.unroll == 0:
                found.append(replace(node, ii=None, body=dissolved(node.body)))
            case Loop() | Guard():
                found.append(replace(node, body=_eliminated(node.body)))
            case Statement():
                found.append(node)
    return tuple(found)


def _perfect(loop: Loop, short: Short | None) -> bool:
    """It makes one loop with the only loop inside: what stands around stores to no array, nor (`Short.sums`) does
    what that sums up, which is stored behind it.
    """
    around = [n for n in loop.body if not isinstance(n, Loop)]
    alone = len(loop.body) == len(around) + 1 and loop.factor == 1
    inner = next((n for n in loop.body if isinstance(n, Loop)), None)
    if not alone or inner is None:
        return False
    if short is not None and short.sums and any(_sums_up(n, inner.iv) for n in inner.body):
        return False
    return all(isinstance(n, Statement) and not n.target.indices for n in around)


def _sums_up(node: Node, counter: str) -> bool:
    """A statement updates an element of an array that the loop stays at."""
    if not isinstance(node, Statement) or not node.target.indices:
        return False
    stays = not any(counter in index.variables() for index in node.target.indices)
    return stays and any(op.access == node.target for op in node.ops)


def _dissolved(loop: Loop) -> bool:
    return loop.constant_trips is not None and loop.factor >= loop.constant_trips


def _absorbed(loop: Loop, short: Short | None, kept: frozenset[str]) -> bool:
    """The tool unrolls it into its parent: one loop with those inside, all perfectly nested, it is short.

    Nests flatten first: what is compared with the threshold are the iterations of the flattened loop.
    """
    if short is None:
        return False
    chain, body = [loop], loop.body
    while inside := [n for n in body if loops_in((n,))]:
        if len(body) > 1 or not isinstance(inside[0], Loop):
            return False
        chain.append(inside[0])
        body = inside[0].body
    if any(x.name in kept or x.ii is not None or x.constant_trips is None for x in chain):
        return False
    return prod(x.constant_trips or 0 for x in chain) < short.below


def _flattened(around: tuple[Loop, ...], loop: Loop) -> tuple[Loop, ...]:
    found: list[Loop] = []
    inner = loop
    for outer in reversed(around):
        loops = [n for n in outer.body if not isinstance(n, Statement)]
        alone = loops == [inner] and inner.constant_trips is not None
        if not alone or outer.factor > 1 or outer.ii is not None:
            break
        found.insert(0, outer)
        inner = outer
    return tuple(found)


def _touches(
    nodes: tuple[Node, ...], guarded: bool, count: list[int], deep: bool
) -> Iterator[Touch]:
    for node in nodes:
        match node:
            case Statement():
                for op in node.ops:
                    if op.kind == "load" and op.access is not None and op.access.indices:
                        access = op.access
                        yield Touch(access.memory, access.indices, False, guarded, count[0])
                if node.target.indices:
                    target = node.target
                    yield Touch(target.memory, target.indices, True, guarded, count[0])
                count[0] += 1
            case Loop() if deep:
                yield from _touches(node.body, guarded, count, deep)
            case Guard():
                yield from _touches(node.body, True, count, deep)
            case Loop():
                pass


def follows(pipe: Pipe, touches: Iterable[Touch]) -> int:
    """Whether an iteration loads of an array what the one before has stored, and nothing else.

    Returns:
        1 where its subscripts count up: the value is in a register; −1 where they count down: the
        tool does not see it; else 0.
    """
    if pipe.inner or pipe.flattened:
        return 0
    reads = {t.indices for t in touches if not t.write}
    writes = {t.indices for t in touches if t.write}
    if len(reads) != 1 or len(writes) != 1:
        return 0
    before = {pipe.loop.iv: Affine(((pipe.loop.iv, 1),), -1)}
    (read,), (write,) = reads, writes
    steps = {c for i in write for v, c in i.terms if v == pipe.loop.iv}
    if len(steps) != 1 or tuple(i.substitute(before) for i in write) != read:
        return 0
    return 1 if steps.pop() > 0 else -1
