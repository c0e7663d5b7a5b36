"""Is a raised module the program? Instances, values, order and memory, each decided exactly by isl.

The argument: a bijection between what is executed and the program's iterations under which each
iteration assigns the same expression of the same elements to the same element, and under which all
iterations that touch an element of which one writes it run in the program's order, makes each
iteration read what it reads in the program. (Translation validation; Pnueli, Siegel, Singerman,
1998. For loops: Verdoolaege, Janssens, Bruynooghe, 2012.)
"""

from __future__ import annotations

from collections.abc import Mapping

from dsl.expressions.types import DType, IndexType, IntType
from dsl.programs.program import Program, Storage
from polyhedral.equivalence.instances import check_instances
from polyhedral.equivalence.order import check_order
from polyhedral.equivalence.raised import NotProven, RaisedArray, RaisedModule, RaisedStore
from polyhedral.equivalence.refutation import Refutation, source_note
from polyhedral.equivalence.relations import Run
from polyhedral.equivalence.storage import check_storage
from polyhedral.equivalence.values import check_values
from polyhedral.isl.effort import OPERATIONS, TooMuchWork, limited
from polyhedral.scop.scop import Scop, build_scop


def check_equivalence(
    program: Program,
    module: RaisedModule,
    expected: Mapping[str, RaisedStore],
    reassociated: frozenset[str],
    operations: int = OPERATIONS,
) -> Refutation | NotProven | None:
    """Compare a module with the program that it was made of.

    Args:
        program: as it was written.
        module: what is to be compared with it.
        expected: each statement by itself, over its own loop variables.
        reassociated: statements whose accumulations may be done in any order.
        operations: of isl, after which it is left open.

    Returns:
        None where it is proven that the module does what the program does; what is wrong; or why
        it can be neither proven nor refuted.
    """
    try:
        with limited(operations):
            return _checked(program, module, expected, reassociated)
    except TooMuchWork:
        return NotProven(f"isl did not come to an end within {operations:,} operations")


def _checked(
    program: Program,
    module: RaisedModule,
    expected: Mapping[str, RaisedStore],
    reassociated: frozenset[str],
) -> Refutation | NotProven | None:
    scop = build_scop(program)
    found = _check_arrays(program, module.arrays)
    if found is not None:
        return found
    runs = _runs(scop, module.stores)
    if not isinstance(runs, list):
        return runs
    for run in runs:
        found = check_values(run, expected[run.statement.name])
        if found is not None:
            return found
    return (
        check_instances(scop, runs)
        or check_order(scop, runs, reassociated)
        or check_storage(scop, module.arrays, runs)
    )


def _check_arrays(program: Program, arrays: tuple[RaisedArray, ...]) -> Refutation | None:
    """The arguments are the program's in calling order, and locals are of its types."""
    have = tuple((a.name, a.dtype, a.shape) for a in arrays if a.is_argument)
    want = tuple((a.name, _data(a.dtype), a.shape) for a in program.arguments)
    for n, (mine, other) in enumerate(zip(want, have, strict=False)):
        if mine != other:
            note = f"expected {_declared(*mine)}, found {_declared(*other)}"
            return Refutation("W326", f"argument {n} is another one", program.span, (note,))
    if len(have) != len(want):
        text = f"the kernel has {len(want)} arguments, level 3 has {len(have)}"
        return Refutation("W326", text, program.span)
    locals_ = {a.name: a for a in program.arrays if a.storage is not Storage.ARGUMENT}
    for array in arrays:
        if array.is_argument:
            continue
        known = locals_.get(array.name)
        if known is None or (_data(known.dtype), known.shape) != (array.dtype, array.shape):
            found = _declared(array.name, array.dtype, array.shape)
            text = f"the kernel has no local {found}"
            return Refutation("W326", text, program.span)
        if known.contents != array.contents:
            text = f"the table '{array.name}' holds other constants"
            return Refutation("W326", text, program.span)
    return None


def _data(dtype: DType) -> DType:
    return IntType(32) if isinstance(dtype, IndexType) else dtype


def _declared(name: str, dtype: DType, shape: tuple[int, ...]) -> str:
    extents = f"[{', '.join(map(str, shape))}]" if shape else ""
    return f"{name}: {dtype}{extents}"


def _runs(scop: Scop, stores: tuple[RaisedStore, ...]) -> list[Run] | Refutation | NotProven:
    """The stores with the statements that they say they are of."""
    by_name = {s.name: s for s in scop.statements}
    found: list[Run] = []
    for store in stores:
        statement = by_name.get(store.stmt)
        if store.stmt and statement is None:
            return Refutation("W336", f"the kernel has no statement {store.stmt}", store.span)
        if statement is None or store.iteration is None:
            where = f" to '{store.target.array}'"
            return NotProven(f"a store{where} does not say which iteration of a statement it is")
        if len(store.iteration) != len(statement.loops):
            text = f"{store.stmt} has {len(statement.loops)} loops, a store of it says otherwise"
            return Refutation("W336", text, statement.stmt.span, source_note(statement))
        if store.unordered:
            return NotProven(f"{store.stmt}: {store.unordered}")
        found.append(Run(store, statement))
    return found
