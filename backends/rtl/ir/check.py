"""What `ModuleBuilder.build` holds: signals are known, driven once, and follow no cycle."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from backends.rtl.ir.expr import Expr
from backends.rtl.ir.module import Instance, Memory, Module, Read, Reg, Wire
from backends.rtl.ir.nodes import Ref, children


class NetlistError(ValueError):
    """Parts that make no module."""


Driver = Wire | Reg | Read | Instance
"""What makes signals."""


def finish(module: Module, known: Mapping[str, Ref]) -> Module:
    """The checked module, without what no output needs, wires in order, `Module.paths` filled.

    Args:
        module: As built.
        known: Every signal of it that may be read, by name.

    Raises:
        NetlistError: As `ModuleBuilder.build` says.
    """
    _widths(module, known)
    live = _alive(module)
    order, paths = _order(live)
    rank = {name: i for i, name in enumerate(order)}
    wires = tuple(sorted(live.wires, key=lambda w: rank[w.ref.name]))
    return replace(live, wires=wires, paths=paths)


def refs(roots: Iterable[Expr]) -> Iterator[Ref]:
    """The signals that expressions read, each once, in the order of the text."""
    seen: set[int] = set()
    stack = [*roots]
    stack.reverse()
    while stack:
        e = stack.pop()
        if id(e) in seen:
            continue
        seen.add(id(e))
        if isinstance(e, Ref):
            yield e
        else:
            stack.extend(reversed(children(e)))


def _widths(module: Module, known: Mapping[str, Ref]) -> None:
    for ref in refs(module.roots()):
        if known.get(ref.name) is not ref:
            raise NetlistError(f"{ref.name} is no signal of {module.name}")
    for e in module.enables():
        if e.width != 1:
            raise NetlistError(f"an enable of {e.width} bits in {module.name}")
    for w in module.writes:
        if w.data.width != w.memory.width:
            raise NetlistError(
                f"{w.memory.name} has words of {w.memory.width} bits, not {w.data.width}"
            )
    for reg in module.regs:
        if reg.reset is not None and not 0 <= reg.reset < 1 << reg.ref.width:
            raise NetlistError(f"{reg.ref.name} of {reg.ref.width} bits is reset to {reg.reset}")
    for memory in module.memories:
        if memory.depth < 1 or memory.width < 1 or len(memory.init) > memory.depth:
            raise NetlistError(f"{memory.name}: {memory.depth} words of {memory.width} bits")
        if any(not 0 <= v < 1 << memory.width for v in memory.init):
            raise NetlistError(f"{memory.name} begins with a word of more than its bits")


def drivers_of(module: Module) -> dict[str, Driver]:
    """What makes each signal that is no input, by its name."""
    drivers: dict[str, Driver] = {}
    drivers.update((w.ref.name, w) for w in module.wires)
    drivers.update((r.ref.name, r) for r in module.regs)
    drivers.update((r.ref.name, r) for r in module.reads)
    for i in module.instances:
        drivers.update((ref.name, i) for _, ref in i.outputs)
    return drivers


def _alive(module: Module) -> Module:
    """What the outputs need."""
    drivers = drivers_of(module)
    writes: dict[int, list[Expr]] = {}
    for w in module.writes:
        writes.setdefault(id(w.memory), []).extend((w.addr, w.data, w.enable))
    seen: set[str] = set()
    kept: set[int] = set()
    memories: set[int] = set()
    todo: list[Expr] = [w.expr for w in module.outputs]
    while todo:
        fresh = [r.name for r in refs(todo) if r.name not in seen]
        todo = []
        for name in fresh:
            if name in seen:
                continue
            seen.add(name)
            driver = drivers.get(name)
            if driver is None or id(driver) in kept:
                continue
            kept.add(id(driver))
            todo += needs(driver)
            if isinstance(driver, Read) and id(driver.memory) not in memories:
                memories.add(id(driver.memory))
                todo += writes.get(id(driver.memory), [])

    def stays(memory: Memory) -> bool:
        return id(memory) in memories

    return replace(
        module,
        wires=tuple(w for w in module.wires if id(w) in kept),
        regs=tuple(r for r in module.regs if id(r) in kept),
        reads=tuple(r for r in module.reads if id(r) in kept),
        instances=tuple(i for i in module.instances if id(i) in kept),
        memories=tuple(m for m in module.memories if stays(m)),
        writes=tuple(w for w in module.writes if stays(w.memory)),
    )


def needs(driver: Driver) -> Sequence[Expr]:
    """The expressions that it reads."""
    match driver:
        case Wire():
            return [driver.expr]
        case Reg():
            return [e for e in (driver.next, driver.enable) if e is not None]
        case Read():
            return [e for e in (driver.addr, driver.enable) if e is not None]
        case Instance():
            return [e for _, e in driver.inputs]


def _order(module: Module) -> tuple[list[str], tuple[tuple[str, frozenset[str]], ...]]:
    """Names in the order in which they settle within a cycle, and `Module.paths`."""
    follows = {w.ref.name: [r.name for r in refs([w.expr])] for w in module.wires}
    for read in module.reads:
        if not read.clocked:
            follows[read.ref.name] = [r.name for r in refs([read.addr])]
    for i in module.instances:
        inputs, paths = dict(i.inputs), dict(i.module.paths)
        for port, ref in i.outputs:
            through = [inputs[p] for p in sorted(paths[port])]
            follows[ref.name] = [r.name for r in refs(through)]
    order = _settle(module.name, follows)
    reach: dict[str, frozenset[str]] = {ref.name: frozenset([ref.name]) for ref in module.inputs}
    nothing: frozenset[str] = frozenset()
    for name in order:
        reach[name] = nothing.union(*(reach.get(f, nothing) for f in follows[name]))
    ends = {w.ref.name: [r.name for r in refs([w.expr])] for w in module.outputs}
    paths_out = (
        (name, nothing.union(*(reach.get(f, nothing) for f in used))) for name, used in ends.items()
    )
    return order, tuple(paths_out)


def _settle(where: str, follows: Mapping[str, Sequence[str]]) -> list[str]:
    order: list[str] = []
    state: dict[str, bool] = {}  # False: being visited
    for start in follows:
        stack = [(start, False)]
        while stack:
            name, done = stack.pop()
            if done:
                state[name] = True
                order.append(name)
            elif name not in state:
                state[name] = False
                stack.append((name, True))
                for f in follows[name]:
                    if f in follows and state.get(f) is False:
                        raise NetlistError(f"{f} of {where} follows itself within a cycle")
                    if f in follows and f not in state:
                        stack.append((f, False))
    return order
