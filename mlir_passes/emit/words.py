"""Words of packed arguments: variables that a loop over lanes distributes, or collects."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_passes.emit.affine import Lin, Ranges
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


def at_first(ranges: Ranges, counter: str, constraints: Iterable[tuple[Lin, bool]]) -> list[Cpp]:
    """What is left of constraints (``e >= 0``, or ``e == 0`` where True) at the first lane of a word, if the loop
    goes over lanes: those of a packed argument only end its rows (`mlir_passes.dialect.words`), so that a word
    is moved exactly where its first lane is.
    """
    found = []
    for e, is_equality in constraints:
        first = Lin(tuple((atom, c) for atom, c in e.terms if atom != counter), e.const)
        test = ranges.condition(first, is_equality)
        if isinstance(test, Cpp):
            found.append(test)
    return found
