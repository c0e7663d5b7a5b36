"""Operators that operations take turns in: one instance, with registers and a choice in front."""

from __future__ import annotations

from dataclasses import dataclass, field

from backends.rtl.ir import Expr, ModuleBuilder, Ref, any_of, mux
from backends.rtl.operators.library import Key, instantiate
from backends.rtl.schedule.timing import SpecOf


@dataclass(slots=True)
class _Unit:
    """An operator: the registers of its operands, its result, and who uses it when."""

    operands: tuple[Ref, ...]
    result: Expr
    uses: list[tuple[Expr, tuple[Expr, ...]]] = field(default_factory=list)


class Units:
    """The shared operators of a kernel.

    Args:
        builder: The module.
        spec: The operator library.
    """

    def __init__(self, builder: ModuleBuilder, spec: SpecOf) -> None:
        self._builder = builder
        self._spec = spec
        self._units: dict[tuple[Key, int], _Unit] = {}

    def use(self, key: Key, number: int, enable: Expr, operands: tuple[Expr, ...]) -> Expr:
        """The result of an operation, one cycle later than its own operator would give it.

        Args:
            key: The kind of operator.
            number: Which one.
            enable: High in the cycle in which the operation starts, and for no other use then.
            operands: In that cycle.
        """
        at = (key, number)
        if at not in self._units:
            name = f"{key.kind.value}{number}"
            taken = tuple(self._builder.reg(f"{name}_x", e.width) for e in operands)
            result = instantiate(self._builder, key, self._spec(key), taken, name)
            self._units[at] = _Unit(taken, result)
        self._units[at].uses.append((enable, operands))
        return self._units[at].result

    def close(self) -> None:
        """Drive the operands of every operator."""
        for unit in self._units.values():
            for n, register in enumerate(unit.operands):
                choices = [(enable, operands[n]) for enable, operands in unit.uses]
                self._builder.drive(register, choose(choices))


def choose(choices: list[tuple[Expr, Expr]]) -> Expr:
    """The value whose bit is set: of many a sum of masked values, which is flat."""
    if len({id(value) for _, value in choices}) == 1:
        return choices[0][1]
    if len(choices) <= 3:
        result = choices[-1][1]
        for enable, value in reversed(choices[:-1]):
            result = mux(enable, value, result)
        return result
    width = choices[0][1].width
    return any_of((e.sext(width) & value for e, value in choices), width)
