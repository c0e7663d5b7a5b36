"""Arrays whose memories hold several elements a word (``reshape``), as memories of these words.

Behind this a memory is one of wide words, and an access is to a word and one of its lanes: ports, banks, storage and
dependences are those of words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dsl.expressions.affine import Affine, FloorDiv, data_index
from dsl.expressions.types import IntType
from polyhedral.banks.splits import Split, lanes_of
from polyhedral.looptree.bounds import Bounds
from polyhedral.looptree.extremes import Scope, maximum, minimum
from qor_gnn.design.operations import type_of
from qor_gnn.design.region import Access, Function, Guard, Kernel, Loop, Memory, Node, Statement


@dataclass(frozen=True, slots=True)
class _Words:
    """How the elements of an array are in words."""

    shape: tuple[int, ...]
    splits: tuple[Split, ...]

    def accessed(self, access: Access, scope: Scope) -> Access:
        """The word of an element, and its lane there, in the loops of a scope."""
        indices: list[Affine] = []
        lane, stride, known = Affine(), 1, True
        for index, extent, split in zip(access.indices, self.shape, self.splits, strict=True):
            if split.factor == 1:
                indices.append(index)
            elif split.factor >= extent:  # the whole dimension is in the word
                indices.append(Affine())
                lane = lane + index * stride
                known = known and not index.is_data
            elif index.is_data:
                indices.append(index)
                known = False
            else:
                indices.append(_settled(split.offset(index, extent), scope))
                lane = lane + _settled(split.bank(index, extent), scope) * stride
            stride *= split.factor
        return Access(access.memory, tuple(indices), lane if known else _ANY_LANE)


_ANY_LANE = data_index(0)


def in_words(kernel: Kernel) -> Kernel:
    """The design with memories of words in the place of those that are reshaped."""
    words = {m.name: _Words(m.shape, m.reshapes) for m in kernel.memories if m.reshapes}
    if not words:
        return kernel
    return replace(
        kernel,
        memories=tuple(_memory(m) if m.reshapes else m for m in kernel.memories),
        functions=tuple(
            Function(f.name, _nodes(f.body, words, Scope()), f.symbols) for f in kernel.functions
        ),
    )


def _memory(memory: Memory) -> Memory:
    dims = list(zip(memory.shape, memory.reshapes, strict=True))
    shape = tuple(1 if s.factor >= extent else s.words(extent) for extent, s in dims)
    count = lanes_of(memory.reshapes)
    _, width = type_of(memory.dtype)
    word = IntType(width * count, signed=False)
    return replace(memory, dtype=word, shape=shape, reshapes=(), lanes=count, element=memory.dtype)


def _settled(e: Affine, scope: Scope) -> Affine:
    """The expression with a constant for each division that has one quotient in all iterations."""
    for atom, k in e.terms:
        if isinstance(atom, FloorDiv):
            low, high = minimum(atom.numerator, scope), maximum(atom.numerator, scope)
            if low is not None and high is not None:
                quotient = low // atom.denominator
                if quotient == high // atom.denominator:
                    e = e + Affine(((atom, -k),)) + k * quotient
    return e


def _nodes(nodes: Sequence[Node], words: Mapping[str, _Words], scope: Scope) -> tuple[Node, ...]:
    found: list[Node] = []
    for node in nodes:
        match node:
            case Statement():
                found.append(_statement(node, words, scope))
            case Loop():
                inside = scope.inside(node.iv, Bounds(node.lowers, node.uppers, node.step))
                found.append(replace(node, body=_nodes(node.body, words, inside)))
            case Guard():
                found.append(replace(node, body=_nodes(node.body, words, scope)))
    return tuple(found)


def _statement(statement: Statement, words: Mapping[str, _Words], scope: Scope) -> Statement:
    ops = tuple(
        replace(op, access=words[op.access.memory].accessed(op.access, scope))
        if op.access is not None and op.access.memory in words
        else op
        for op in statement.ops
    )
    target = statement.target
    if target.memory in words:
        target = words[target.memory].accessed(target, scope)
    return replace(statement, ops=ops, target=target)
