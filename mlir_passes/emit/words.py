"""Words of packed arguments: variables that a loop over lanes distributes, or collects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mlir_passes.emit.affine import Lin, Ranges
from mlir_passes.emit.cpp import Cpp, name, subscript
from mlir_passes.emit.nodes import Memory, Word
from mlir_passes.emit.read_affine import read_map
from mlir_passes.emit.scope import Scope


def lane(
    scope: Scope, memory: Memory, subscripts: tuple[Lin, ...], row: tuple[Cpp, ...], written: bool
) -> Cpp:
    """The element of a packed argument as a lane of a word, whose lanes the loop around goes over.

    Args:
        scope: where it stands; its loop gets the word. The module is verified (`mlir_passes.dialect.words`).
        memory: the argument.
        subscripts: of the element.
        row: the texts of those but the last.
        written: whether it is assigned.
    """
    counter, lanes = scope.loops[-1], memory.info.axi.lanes
    rest = subscripts[-1] - Lin.of(counter)
    word = Lin(tuple((atom, c // lanes) for atom, c in rest.terms), rest.const // lanes)
    place = subscript(memory.named(written, scope.port), (*row, scope.ranges.cpp(word)))
    own, tests = scope.words.setdefault(counter, []), tuple(dict.fromkeys(scope.tests))
    for known in own:
        same = (known.memory, known.place, known.written) == (memory, place, written)
        if same and known.conditions == tests:
            return subscript(known.name, (name(counter),))
    new = Word(scope.names.fresh(f"{memory.name}_word"), memory, place, written, tests)
    own.append(new)
    return subscript(new.name, (name(counter),))


def with_padding(
    scope: Scope, region: Any, constraints: Sequence[tuple[Lin, bool]]
) -> tuple[tuple[Lin, bool], ...]:
    """Constraints without those that end the rows of a packed argument, where the copy on the chip has room for the
    padding of the last word, which is copied with the row then. Whether there is such a word is still asked.
    """
    accesses = [
        access
        for view in region.blocks[0].operations
        if (access := _access(scope, view.operation)) is not None
    ]
    packed = [a for a in accesses if a[0].info.axi.lanes]
    if not packed or not all(_has_room(scope, *a, packed[0][0]) for a in accesses):
        return tuple(constraints)
    found = list(constraints)
    for memory, subscripts in packed:
        rest = Lin((), memory.info.shape[-1] - 1) - subscripts[-1]
        found = [
            (_without(e, scope.loops[-1]), is_eq) if not is_eq and _same(e, rest) else (e, is_eq)
            for e, is_eq in found
        ]
    return tuple(found)


def _access(scope: Scope, op: Any) -> tuple[Memory, tuple[Lin, ...]] | None:
    """The memory that an op accesses, and its subscripts."""
    if op.name not in ("affine.load", "affine.store"):
        return None
    operands = list(op.operands)[op.name == "affine.store" :]
    memory = scope.memories.get(operands[0])
    if memory is None or not memory.info.shape:
        return None
    indices = scope.lins(operands[1:], op)
    return memory, read_map(op.attributes["map"].value, indices, scope.ranges)


def _has_room(scope: Scope, memory: Memory, subscripts: tuple[Lin, ...], packed: Memory) -> bool:
    """Whether a memory has an element for the last lane of each word, too; a packed argument has its padding."""
    if memory.info.axi.lanes:
        return True
    counter, last = scope.loops[-1], packed.info.axi.lanes - 1
    for index, extent in zip(subscripts, memory.info.shape, strict=True):
        steps = sum(c for atom, c in index.terms if atom == counter)
        most = scope.ranges.greatest(_without(index, counter) + steps * last)
        if most is None or most >= extent:
            return False
    return True


def _same(a: Lin, b: Lin) -> bool:
    return not (a - b).terms and a.const == b.const


def _without(e: Lin, counter: str) -> Lin:
    return Lin(tuple((atom, c) for atom, c in e.terms if atom != counter), e.const)


def at_first(ranges: Ranges, counter: str, constraints: Iterable[tuple[Lin, bool]]) -> list[Cpp]:
    """What is left of constraints (``e >= 0``, or ``e == 0`` where True) at the first lane of a word, if the loop
    goes over lanes: those of a packed argument only end its rows (`mlir_passes.dialect.words`), so that a word
    is moved exactly where its first lane is.
    """
    found = []
    for e, is_equality in constraints:
        test = ranges.condition(_without(e, counter), is_equality)
        if isinstance(test, Cpp):
            found.append(test)
    return found
