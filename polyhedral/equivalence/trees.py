"""Does a tree combine the terms of a reduction, each once?

The step puts statements over a new array in the place of the loop of ``X[f] = X[f] op e``. All else must be as it was. What
these statements come to is found by executing them on sets of terms: their loops have constant numbers of iterations,
and their subscripts name nothing else. The array must be assigned before it is read, each element once, and what X is
assigned at the end must be all terms and X as it was, each once; X may be left out where a statement in front of the loop has
made it neutral. That the order is free is what the step asked for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from dsl.expressions import typing
from dsl.expressions.expr import Binary, BinaryOp, Load
from dsl.programs.program import Array, If, Loop, Node, Program, Stmt, Storage, has_statement
from dsl.programs.treed import (
    Reduced,
    has_constant_range,
    is_neutral_before,
    node_type,
    reduced,
)
from polyhedral.equivalence.refutation import Refutation, source_note
from polyhedral.scop.scop import build_scop, reduction_access

_OLD = -1
"""The element as it was, among the numbers of terms."""


class _OtherError(Exception):
    """What is wrong."""


def check_tree(before: Program, after: Program, name: str, depth: int) -> Refutation | None:
    """Compare a program with what a tree of one of its reductions made of it.

    Args:
        before: the program.
        after: the other one.
        name: the statement.
        depth: loops around the outermost one of the tree's.
    """
    statement = build_scop(before).statement(name)
    found = reduced(statement.loops[depth], name)
    try:
        if found is None or reduction_access(statement) is None:
            raise _OtherError("it is no reduction alone in its loops")
        array = _new_array(before, after, found, depth)
        nodes = _in_its_place(before.body, after.body, found)
        own = Load(found.stmt.target, before.array(found.stmt.target.array).dtype)
        _Terms(found, own, array, is_neutral_before(before, found)).check(nodes)
    except _OtherError as error:
        text = f"tree of {name}: {error}"
        return Refutation("W339", text, statement.stmt.span, source_note(statement))
    return None


def _new_array(before: Program, after: Program, found: Reduced, depth: int) -> Array:
    known = set(before.arrays)
    added = [a for a in after.arrays if a not in known]
    if len(added) != 1 or len(after.arrays) != len(known) + 1:
        raise _OtherError("they do not add one array to the program")
    (array,) = added
    dtype = node_type(before, found)
    if array.storage is not Storage.LOCAL or array.scope_depth != depth or array.dtype != dtype:
        raise _OtherError("the array of the tree is not what it should be")
    if array.name in {a.name for a in before.arrays}:
        raise _OtherError("an array is another one")
    return array


def _in_its_place(old: Sequence[Node], new: Sequence[Node], found: Reduced) -> Sequence[Node]:
    """The nodes that stand where the loop was; all others are as they were."""
    at = next(n for n, node in enumerate(old) if has_statement(node, found.stmt.name))
    count = len(new) - len(old) + 1
    node = old[at]
    behind = at + (count if node is found.loops[0] else 1)
    if tuple(old[:at]) != tuple(new[:at]) or tuple(old[at + 1 :]) != tuple(new[behind:]):
        raise _OtherError("something else has changed")
    if node is found.loops[0]:
        return new[at:behind]
    other = new[at]
    match node, other:
        case Loop(), Loop() if replace(node, body=()) == replace(other, body=()):
            return _in_its_place(node.body, other.body, found)
        case If(), If() if replace(node, then=(), orelse=()) == replace(other, then=(), orelse=()):
            first = any(has_statement(n, found.stmt.name) for n in node.then)
            sides = ((node.then, other.then), (node.orelse, other.orelse))
            (own, kept) = sides if first else sides[::-1]
            if kept[0] == kept[1]:
                return _in_its_place(*own, found)
    raise _OtherError("something else has changed")


@dataclass(slots=True)
class _Terms:
    """Which terms each element of the tree's array is made of."""

    found: Reduced
    own: Load
    array: Array
    neutral: bool  # the element before
    known: dict[int, Counter[int]] = field(default_factory=dict)
    ended: bool = False

    def check(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            for stmt, values in _instances(node, {}):
                if self.ended:
                    raise _OtherError(f"{stmt.name} runs behind the end of it")
                self._run(stmt, values, node)
        if not self.ended:
            raise _OtherError("it has no end")

    def _run(self, stmt: Stmt, values: Mapping[str, int], node: Node) -> None:
        mine = self.found.stmt
        if stmt.target == mine.target:
            whole = self._end(stmt, values)
            terms = Counter(range(self.found.count))
            if whole != terms + Counter([_OLD]) and not (self.neutral and whole == terms):
                raise _OtherError("its terms are not each there once")
            self.ended = True
            return
        at = self._element(stmt.target.array, stmt.target.indices, values)
        if at in self.known:
            raise _OtherError(f"{stmt.name} assigns an element again")
        self.known[at] = self._value(stmt, values, node)

    def _value(self, stmt: Stmt, values: Mapping[str, int], node: Node) -> Counter[int]:
        """What an element of the tree is assigned: a term, the element, or what two of the tree come to."""
        value, found = stmt.value, self.found
        if value == found.term and _loops(node) == _loops(found.loops[0]):
            return Counter({found.number.evaluate(values): 1})
        if value == self.own:
            return Counter({_OLD: 1})
        if isinstance(value, Binary):
            return self._pair(value, found.op, values)
        raise _OtherError(f"{stmt.name} assigns something else")

    def _end(self, stmt: Stmt, values: Mapping[str, int]) -> Counter[int]:
        """What the element is assigned."""
        value, own = stmt.value, self.own
        if isinstance(value, Load):
            return self._read(value, values)
        assert isinstance(self.found.stmt.value, Binary)
        op = self.found.stmt.value.op
        match value:
            case Binary(lhs=Load() as lhs, rhs=Load() as rhs) if lhs == own:
                if value == typing.binary(op, lhs, rhs):
                    return self._read(rhs, values) + Counter({_OLD: 1})
        raise _OtherError(f"{stmt.name} assigns something else")

    def _pair(self, value: Binary, op: BinaryOp, values: Mapping[str, int]) -> Counter[int]:
        first, second = value.lhs, value.rhs
        if not isinstance(first, Load) or not isinstance(second, Load):
            raise _OtherError("what is combined is not of the tree")
        if value != typing.binary(op, first, second):
            raise _OtherError("terms are combined by something else")
        both = self._read(first, values) + self._read(second, values)
        if self.found.stmt.value.op is BinaryOp.SUB and _OLD in both:  # type: ignore[union-attr]
            raise _OtherError("the element is added to what is subtracted")
        return both

    def _read(self, load: Load, values: Mapping[str, int]) -> Counter[int]:
        at = self._element(load.access.array, load.access.indices, values)
        if at not in self.known:
            raise _OtherError("an element is read before it is assigned")
        return self.known[at]

    def _element(self, array: str, indices: Sequence[object], values: Mapping[str, int]) -> int:
        if array != self.array.name or len(indices) != 1:
            raise _OtherError("something else is assigned, or read")
        (index,) = indices
        if index.variables() - values.keys():  # type: ignore[attr-defined]
            raise _OtherError("an element of the tree moves with a loop around")
        return index.evaluate(values)  # type: ignore[attr-defined,no-any-return]


def _loops(node: Node) -> list[Loop]:
    """The loops one inside the other."""
    found: list[Loop] = []
    while isinstance(node, Loop):
        found.append(replace(node, body=()))
        node = node.body[0]
    return found


def _instances(node: Node, values: Mapping[str, int]) -> Iterator[tuple[Stmt, Mapping[str, int]]]:
    """Each statement that a node executes, in order, with the values of its loops."""
    loops: list[Loop] = []
    while isinstance(node, Loop):
        if not has_constant_range(node) or len(node.body) != 1:
            raise _OtherError("a loop is no loop over terms")
        loops.append(node)
        node = node.body[0]
    if not isinstance(node, Stmt):
        raise _OtherError("something stands under a condition")
    for point in product(*map(_values, loops)):
        yield node, dict(zip((loop.var for loop in loops), point, strict=True))


def _values(loop: Loop) -> range:
    """Those of a loop's variable, in order."""
    first, end = loop.lowers[0].const, loop.uppers[0].const
    return range(first, end, loop.step) if loop.step > 0 else range(end - 1, first - 1, loop.step)
