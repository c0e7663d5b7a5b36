"""Products of integers and the sums behind them, which one DSP slice does.

A slice multiplies two factors and adds a third value to their product. Where a product that fits into one is only
added to something, or subtracted from it, Vitis HLS makes one operation of both, ``mac_muladd``, of four stages at any clock:
the first takes the factors in, in the state in which they are loaded, and what is added is wanted in the last, so
that a sum in a register closes in a state (docs/lab/schedule.md, Settings of 2020.1 to 2022.1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from qor_gnn.body.graph import LOAD, Graph
from qor_gnn.design.region import Statement
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.operators.integers import MULTIPLY_ADD
from qor_gnn.tools.personality import Personality

_SUMS = ("add", "sub")


def multiply_added(graph: Graph, kept_out: list[bool]) -> None:
    """Make one operation of each product that fits a slice and the sum that is its only use; the graph is changed.

    Args:
        graph: the operations of a body, sums as they are balanced.
        kept_out: of each operation whether it runs before the loop.
    """
    users = graph.users()
    stored = [*graph.stores.items(), *((a, c.value) for a, c in graph.conditional.items())]
    held = {value for _, value in stored}
    for n, kind in enumerate(graph.kind):
        added = graph.operator[n]
        if kind not in _SUMS or added is None or not added.integer or added.registered:
            continue
        for d in reversed(graph.deps[n]):
            product = graph.operator[d]
            alone = len(users[d]) == 1 and graph.deps[n].count(d) == 1 and d not in held
            if product is None or not product.slice or not alone or kept_out[d] != kept_out[n]:
                continue
            if _comes_again(graph, d, n, stored):
                continue
            graph.operator[d], graph.operator[n] = in_a_slice(product, added)
            break


def within(statement: Statement, tool: Personality) -> dict[int, Operator]:
    """The operators of products and sums that slices do together, by their positions among the operations of a statement;
    what another statement makes of a product is not known here.
    """
    found: dict[int, Operator] = {}
    users = Counter(k for op in statement.ops for k in op.operands)
    for n, op in enumerate(statement.ops):
        if op.kind not in _SUMS or op.type != "int":
            continue
        added = tool.operator_of(op)
        for k in () if added.registered else reversed(op.operands):
            taken = statement.ops[k]
            if taken.kind != "mul" or users[k] != 1:
                continue
            product = tool.operator_of(taken)
            if product.slice:
                found[k], found[n] = in_a_slice(product, added)
                break
    return found


def _comes_again(graph: Graph, product: int, total: int, stored: Sequence[tuple[int, int]]) -> bool:
    """The product may take what the sum has made in an iteration before: four stages would be in a recurrence.

    Two of 39 projects have `mac_muladd` of one or two stages; when the tool takes these is not known.
    """
    table, pending, seen, loaded = graph.addresses, [product], {product}, set()
    while pending:
        n = pending.pop()
        if graph.kind[n] == LOAD:
            loaded.add(table.shape(graph.address[n]).memory)
        for d in graph.deps[n]:
            if d not in seen:
                seen.add(d)
                pending.append(d)
    return any(
        value >= total and table.shape(a).memory in loaded and graph.needs(value, total)
        for a, value in stored
    )


def early(graph: Graph, load: int, user: int) -> int:
    """States that an operation starts before a load would let others start."""
    operator = graph.operator[user]
    return int(graph.kind[load] == LOAD and operator is not None and operator.takes_in)


def in_a_slice(product: Operator, added: Operator) -> tuple[Operator, Operator]:
    """A product up to the stage of its slice that adds, and the sum."""
    total = Operator(
        f"muladd_{added.core}",
        1,
        integer=True,
        measured=added.measured,
        origin="derived",
        gives_out=True,
    )
    multiplied = replace(
        product,
        core=f"muladd_{product.core}",
        distance=MULTIPLY_ADD,
        delay=0.0,
        dsp=1,
        lut=0,
        ff=0,
        origin="derived",
        least=MULTIPLY_ADD,
        most=MULTIPLY_ADD,
        slice=False,
        takes_in=True,
        gives_out=True,
    )
    return multiplied, total
