"""Whether a `Program` keeps the rules of the language, by brute force."""

from __future__ import annotations

from dsl.expressions.affine import cond_variables
from dsl.expressions.expr import Access, Index, loads, walk
from dsl.programs.program import If, Loop, Program, Stmt, Storage
from tests.support.enumeration import Element, Toucher, program_events


def faults(program: Program, limit: int = 100_000) -> list[str]:
    """What is wrong with a program, in words; empty where nothing is.

    Checked: names, loop variables in scope and distinct, bounds of stepped loops, arity and range
    of subscripts, locals written before they are read, nothing written that must not be.
    """
    found = [*_shape_faults(program), *_scope_faults(program)]
    return found or _run_faults(program, limit)


def _shape_faults(program: Program) -> list[str]:
    found = []
    names = [s.name for s in program.statements()]
    if len(set(names)) != len(names):
        found.append("a statement's name is used twice")
    arrays = [a.name for a in program.arrays]
    if len(set(arrays)) != len(arrays):
        found.append("an array's name is used twice")
    for a in program.arrays:
        if any(extent < 1 for extent in a.shape):
            found.append(f"{a.name} has an empty shape")
    storage = [a.storage for a in program.arrays]
    if storage != sorted(storage, key=lambda s: s is Storage.LOCAL):
        found.append("a local is listed before an argument")
    return found


def _scope_faults(program: Program) -> list[str]:
    found = []
    arrays = {a.name: a for a in program.arrays}
    homes: dict[str, set[tuple[int, ...]]] = {}
    for node, around in program.walk():
        loops = [n for n in around if isinstance(n, Loop)]
        scope = {n.var for n in loops}
        match node:
            case Loop(var, lowers, uppers, step):
                if var in scope:
                    found.append(f"loop {var} inside of loop {var}")
                if step == 0 or not lowers or not uppers:
                    found.append(f"loop {var} has no step or no bound")
                if abs(step) != 1 and len(lowers if step > 0 else uppers) != 1:
                    found.append(f"loop {var} counts from several bounds")
                used = frozenset().union(*(b.variables() for b in (*lowers, *uppers)))
            case If(cond):
                used = cond_variables(cond)
            case Stmt(target=target, value=value):
                accesses = (target, *loads(value))
                used = frozenset().union(*(_access_variables(a) for a in accesses))
                used |= frozenset().union(
                    *(e.affine.variables() for e in walk(value) if isinstance(e, Index))
                )
                for access in accesses:
                    if len(access.indices) != len(arrays[access.array].shape):
                        found.append(f"{node.name}: {access} has the wrong arity")
                    depth = arrays[access.array].scope_depth
                    if depth > len(loops):
                        found.append(f"{node.name}: {access} is out of the scope of the local")
                    homes.setdefault(access.array, set()).add(tuple(map(id, loops[:depth])))
                array = arrays[target.array]
                if array.const or (array.storage is Storage.ARGUMENT and not array.shape):
                    found.append(f"{node.name} writes {array.name}, which is read only")
        if not used <= scope:
            found.append(f"a variable of {sorted(used - scope)} is not in scope")
    found += [f"{name} is used outside of its scope" for name, h in homes.items() if len(h) > 1]
    return found


def _access_variables(access: Access) -> frozenset[str]:
    return frozenset().union(*(i.variables() for i in access.indices if not i.is_data))


def _run_faults(program: Program, limit: int) -> list[str]:
    toucher = Toucher(program)
    arrays = {a.name: a for a in program.arrays}
    written: set[Element] = set()
    for event in program_events(program, limit):
        touches = toucher.touches(event)
        for touch in touches:
            name, _, indices = touch.element
            extents = zip(indices, arrays[name].shape, strict=True)
            if any(not 0 <= i < extent for i, extent in extents):
                return [f"{event}: {name}{list(indices)} is out of bounds"]
        for touch in touches:
            name = touch.element[0]
            if touch.is_write:
                continue
            if arrays[name].storage is Storage.LOCAL and touch.element not in written:
                return [f"{event} reads {touch.element} before it is written"]
        written |= {touch.element for touch in touches if touch.is_write}
    return []
