"""A module with a clock enable: it stands still in every cycle in which that is low."""

from __future__ import annotations

from dataclasses import replace

from backends.rtl.ir.expr import Expr
from backends.rtl.ir.module import Instance, Module, Read, Reg, Write
from backends.rtl.ir.names import Names
from backends.rtl.ir.nodes import Ref

ENABLE = "ce"
"""The name of the new input, where the module has no signal of that name."""


def gated(module: Module) -> tuple[Module, str]:
    """The same module with an input that stops every register, memory and instance in it.

    Args:
        module: Checked, as `ModuleBuilder.build` gives it. Reset goes before the enable.

    Returns:
        The module, called ``<name>_ce``, and the name of its input. A module that is not clocked has nothing
        to stop, and comes back as it is, with an empty name.
    """
    return _gated(module, {})


def _gated(module: Module, known: dict[int, tuple[Module, str]]) -> tuple[Module, str]:
    if not module.clocked:
        return module, ""
    if id(module) in known:
        return known[id(module)]
    names = Names()
    for name in _signals(module):
        names.take(name)
    ref = Ref(names.take(ENABLE), 1)
    instances = []
    for i in module.instances:
        inner, port = _gated(i.module, known)
        inputs = (*i.inputs, (port, ref)) if port else i.inputs
        instances.append(Instance(i.name, inner, inputs, i.outputs))
    known[id(module)] = made = (
        replace(
            module,
            name=f"{module.name}_{ENABLE}",
            inputs=(*module.inputs, ref),
            regs=tuple(Reg(r.ref, r.next, _both(r.enable, ref), r.reset) for r in module.regs),
            reads=tuple(
                Read(
                    r.ref, r.memory, r.addr, _both(r.enable, ref) if r.clocked else None, r.clocked
                )
                for r in module.reads
            ),
            writes=tuple(Write(w.memory, w.addr, w.data, w.enable & ref) for w in module.writes),
            instances=tuple(instances),
        ),
        ref.name,
    )
    return made


def _both(enable: Expr | None, ref: Ref) -> Expr:
    return ref if enable is None else enable & ref


def _signals(module: Module) -> list[str]:
    """Every name that stands in the module."""
    made = [ref.name for i in module.instances for _, ref in i.outputs]
    return [
        *(r.name for r in module.inputs),
        *(w.ref.name for w in (*module.wires, *module.outputs)),
        *(r.ref.name for r in module.regs),
        *(r.ref.name for r in module.reads),
        *made,
        *(m.name for m in module.memories),
        *(i.name for i in module.instances),
    ]
