"""Words of packed arguments: variables that a loop over lanes distributes, or collects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mlir_passes.emit.affine import Lin, Ranges, read_map
from mlir_passes.emit.cpp import Cpp, name, subscript
from mlir_passes.emit.nodes import Memory, Word
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
    place = subscript(memory.name, (*row, scope.ranges.cpp(word)))
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
    """Constraints without those that end the rows of a packed argument: the padding of its last word is copied with
    the row, as the copy on the chip is of whole words (`polyhedral.transforms.words`). Whether there is such a word
    is still asked.
    """
    found = list(constraints)
    for view in region.blocks[0].operations:
        op = view.operation
        if op.name not in ("affine.load", "affine.store"):
            continue
        operands = list(op.operands)[op.name == "affine.store" :]
        memory = scope.memories.get(operands[0])
        if memory is not None and memory.info.axi.lanes:
            *_, last = read_map(
                op.attributes["map"].value, scope.lins(operands[1:], op), scope.ranges
            )
            rest = Lin((), memory.info.shape[-1] - 1) - last
            found = [
                (_without(e, scope.loops[-1]), is_eq)
                if not is_eq and _same(e, rest)
                else (e, is_eq)
                for e, is_eq in found
            ]
    return tuple(found)


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
