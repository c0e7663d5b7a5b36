"""The operations of one block as hardware, each value in every cycle that needs it.

An iteration carries a bit from stage to stage (`Stages.at`); in a pipeline of interval 1 values
move along with it, otherwise a register keeps what it took at its stage until the next iteration
is there, and in straight code for good. The counters of a pipeline are those of the iteration
that is in its first ``ii`` stages; what later stages need of them moves along as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from backends.rtl.bind.units import numbers
from backends.rtl.control.affine import Env, Number, holds, is_side_by_side, modulo
from backends.rtl.control.memories import Memories
from backends.rtl.control.units import Units
from backends.rtl.graph import Kind, Memory, Op, Place, Use
from backends.rtl.ir import Expr, Lit, ModuleBuilder, Ref, concat, lit, mux
from backends.rtl.operators.library import instantiate
from backends.rtl.schedule.result import BlockSchedule
from backends.rtl.schedule.timing import SpecOf, is_wire, key_of
from dsl.expressions.affine import Affine


class Stages:
    """The bit of an iteration, stage by stage.

    Args:
        builder: The module.
        name: Of the registers.
        first: High in the first cycle of each iteration.
    """

    def __init__(self, builder: ModuleBuilder, name: str, first: Expr) -> None:
        self._builder = builder
        self._name = name
        self._bits = [first]

    def at(self, stage: int) -> Expr:
        """High in that cycle of an iteration."""
        while len(self._bits) <= stage:
            bit = self._builder.reg(
                f"{self._name}_s{len(self._bits)}", 1, next=self._bits[-1], reset=0
            )
            self._bits.append(bit)
        return self._bits[stage]


@dataclass(slots=True)
class _Kept:
    """A value from its first cycle on, and the registers behind it."""

    expr: Expr
    ready: int
    chain: list[Expr] = field(default_factory=list)


class Datapath:
    """Makes the operations of a block.

    Args:
        builder: The module.
        memories: Of the kernel.
        units: The operators that are shared.
        scalars: The scalar arguments.
        schedule: Of the block.
        stages: Of its iterations.
        env: The counters: those of the block's own pipeline, as they are in its first stages,
            and those around it.
        moving: The counters of its own pipeline; all others stand still.
        spec: The operator library.
        name: Of its signals.
    """

    def __init__(
        self,
        builder: ModuleBuilder,
        memories: Memories,
        units: Units,
        scalars: dict[str, Expr],
        schedule: BlockSchedule,
        stages: Stages,
        env: Env,
        moving: frozenset[str],
        spec: SpecOf,
        name: str,
    ) -> None:
        self.builder = builder
        self.memories = memories
        self.units = units
        self.scalars = scalars
        self.schedule = schedule
        self.stages = stages
        self.env = env
        self.moving = moving
        self.spec = spec
        self.name = name
        self._values: dict[object, _Kept] = {}
        self._ready = schedule.ready
        self._shared = numbers(schedule)

    def emit(self) -> None:
        """Make every operation; loads and stores go to the memories."""
        back: dict[int, Ref] = {}
        for op in self.schedule.block.ops:
            match op.kind:
                case Kind.LOAD if op.id in self.schedule.back:
                    back[op.id] = self.builder.declare(f"{self.name}_v{op.id}", op.width)
                    self._keep(op, back[op.id])
                case Kind.STORE if op.id in self.schedule.back.values():
                    pass
                case Kind.CONST | Kind.INPUT | Kind.INDEX | Kind.HOLDS | Kind.RESIZE:
                    pass
                case Kind.LOAD:
                    self._keep(op, self._load(op))
                case Kind.STORE:
                    self._store(op)
                case _:
                    self._keep(op, self._compute(op))
        for load, wire in back.items():
            stored = self.schedule.block.ops[self.schedule.back[load]].operands[0]
            cycle = self.schedule.start[load] + self.schedule.ii
            value = self.value(stored, cycle).resize(wire.width, stored.signed)
            self.builder.drive(wire, value)

    def _keep(self, op: Op, expr: Expr) -> None:
        self._values[op.id] = _Kept(expr, self._ready[op.id])

    def value(self, use: Use | int, cycle: int) -> Expr:
        """A result in a cycle of the iteration, not before it is ready."""
        op = self.schedule.block.ops[use if isinstance(use, int) else use.op]
        match op.kind:
            case Kind.CONST:
                return lit(op.value, op.width)
            case Kind.INPUT:
                return self.scalars[op.name]
            case Kind.INDEX:
                affine = op.affine
                assert affine is not None
                return self.affine(affine, op.width, cycle)
            case Kind.HOLDS:
                return self.guard(op, cycle)
            case Kind.RESIZE:
                source = self.schedule.block.ops[op.operands[0].op]
                if source.width <= op.width or self._ready[op.id] == cycle:
                    wide = self.value(op.operands[0], cycle)
                    return wide.resize(op.width, op.operands[0].signed)
                if op.id not in self._values:
                    early = self.value(op.operands[0], self._ready[op.id])
                    self._keep(op, early.resize(op.width, op.operands[0].signed))
        return self._later(self._values[op.id], cycle, f"{self.name}_v{op.id}")

    def _later(self, kept: _Kept, cycle: int, name: str) -> Expr:
        ii, wait = self.schedule.ii, cycle - kept.ready
        assert wait >= 0, f"{name} is used in cycle {cycle}, ready in {kept.ready}"
        if wait == 0:
            return kept.expr
        count = -(-wait // ii) if ii else 1
        while len(kept.chain) < count:
            at = kept.ready + len(kept.chain) * ii
            before = kept.chain[-1] if kept.chain else kept.expr
            enable = None if ii == 1 else self.stages.at(at)
            kept.chain.append(self.builder.reg(name, before.width, next=before, enable=enable))
        return kept.chain[count - 1]

    # -- counters ------------------------------------------------------------------------------

    def _counters(self, key: object, cycle: int, make: Callable[[Env], Expr]) -> Expr:
        """Something of the counters, of the iteration whose cycle it is."""
        if not self.moving:
            cycle = 0
        memo = (key, "counters")
        if memo not in self._values:
            # The counters of a pipeline stand still for its first `ii` cycles.
            ready = self.schedule.ii - 1 if self.moving else 0
            self._values[memo] = _Kept(make(self.env), ready)
        kept = self._values[memo]
        if isinstance(kept.expr, Lit) or cycle <= kept.ready:
            return kept.expr
        return self._later(kept, cycle, f"{self.name}_c")

    def _moved(self, names: frozenset[str], cycle: int) -> Env:
        """The counters of the iteration whose cycle it is."""
        moved: dict[str, Number] = {}
        for name in names:
            found = self.env[name]
            expr = found.expr
            if name in self.moving:
                expr = self._counters(name, cycle, partial(_counter, name))
            moved[name] = Number(expr, found.low, found.high)
        return moved

    def affine(self, affine: Affine, width: int, cycle: int) -> Expr:
        """The value modulo ``2**width`` in a cycle of the iteration."""
        names = affine.variables()
        if len(affine.terms) <= 1 or is_side_by_side(affine, width, self.env):
            return modulo(affine, width, self._moved(names, cycle))
        if not names & self.moving:
            return modulo(affine, width, self.env)
        return self._counters((affine, width), cycle, lambda env: modulo(affine, width, env))

    def guard(self, op: Op, cycle: int) -> Expr:
        """Whether the guard of an operation holds."""
        if not op.guard:
            return lit(1, 1)
        return self._counters(op.guard, cycle, lambda env: holds(op.guard, env))

    # -- operations ----------------------------------------------------------------------------

    def _compute(self, op: Op) -> Expr:
        cycle = self.schedule.start[op.id]
        operands = tuple(self.value(use, cycle) for use in op.operands)
        block = self.schedule.block
        if is_wire(block, op):
            amount = block.ops[op.operands[1].op].value
            wide = operands[0].resize(max(op.width, operands[0].width), op.operands[0].signed)
            if op.kind is Kind.SHL:
                return wide.shl(amount).low(op.width)
            shifted = wide.sar(amount) if op.operands[0].signed else wide.shr(amount)
            return shifted.low(op.width)
        key = key_of(block, op)
        # A constant may have fewer bits than the float that it is.
        operands = tuple(
            e.resize(width, signed)
            for e, (width, signed) in zip(operands, key.operands, strict=True)
        )
        if op.id in self._shared:
            enable = self.stages.at(cycle)
            return self.units.use(*self._shared[op.id], enable, operands)
        return instantiate(self.builder, key, self.spec(key), operands, f"{self.name}_v{op.id}")

    def _bank(self, place: Place, cycle: int) -> Expr:
        """The number of a bank that differs between iterations."""
        affine = place.bank_affine
        assert affine is not None
        banks = self.memories.array(place.array).banks
        return self.affine(affine, max(1, (banks - 1).bit_length()), cycle)

    def _load(self, op: Op) -> Expr:
        place, cycle = op.place, self.schedule.start[op.id]
        assert place is not None
        if op.address:
            return self._gather(op, place, cycle)
        array = self.memories.array(place.array)
        registers = array.memory is Memory.REGISTERS
        if registers:
            words = [self.memories.value(array.name, b) for b in self._banks(place)]
        else:
            enable = self.stages.at(cycle) & self.guard(op, cycle)
            address = self._address(place, cycle)
            words = [
                self.memories.read(array.name, b, here, address)
                for b, here in self._in_banks(place, enable, cycle)
            ]
        if place.bank is not None:
            return words[0]
        chosen = cycle if registers else self._ready[op.id]
        return select(words, self._bank(place, chosen))

    def _gather(self, op: Op, place: Place, cycle: int) -> Expr:
        """A load at a computed address, of each bank if that is computed, too."""
        array = self.memories.array(place.array)
        number = self._computed_bank(op, place, cycle)
        if array.memory is Memory.REGISTERS:
            words = [self.memories.value(array.name, b) for b in self._banks(place)]
            return words[0] if number is None else select(words, number)
        address = self._computed_address(op, place, cycle)
        enable = self.stages.at(cycle) & self.guard(op, cycle)
        words = []
        for b in self._banks(place):
            here = enable if number is None else enable & number.eq(lit(b, number.width))
            words.append(self.memories.read(array.name, b, here, address))
        late = self._computed_bank(op, place, self._ready[op.id])
        return words[0] if late is None else select(words, late)

    def _computed_bank(self, op: Op, place: Place, cycle: int) -> Expr | None:
        """The number of the bank of a computed address; None where that is known."""
        if len(op.address) < 2:
            return None
        banks = self.memories.array(place.array).banks
        return self.value(op.address[1], cycle).resize(max(1, (banks - 1).bit_length()), False)

    def _computed_address(self, op: Op, place: Place, cycle: int) -> Expr:
        width = self.memories.addr_width(place.array)
        return self.value(op.address[0], cycle).resize(width, False)

    def _banks(self, place: Place) -> range:
        if place.bank is not None:
            return range(place.bank, place.bank + 1)
        return range(self.memories.array(place.array).banks)

    def _in_banks(self, place: Place, enable: Expr, cycle: int) -> list[tuple[int, Expr]]:
        """The banks that an access may go to, and whether it does."""
        if place.bank is not None:
            return [(place.bank, enable)]
        number = self._bank(place, cycle)
        return [(b, enable & number.eq(lit(b, number.width))) for b in self._banks(place)]

    def _address(self, place: Place, cycle: int) -> Expr:
        return self.affine(place.offset, self.memories.addr_width(place.array), cycle)

    def _store(self, op: Op) -> None:
        place, cycle = op.place, self.schedule.start[op.id]
        assert place is not None
        array = self.memories.array(place.array)
        enable = self.stages.at(cycle) & self.guard(op, cycle)
        registers = array.memory is Memory.REGISTERS
        lanes = op.operands[: len(op.operands) - len(op.address)]
        values = [self.value(u, cycle).resize(array.width, u.signed) for u in lanes]
        data = concat(*reversed(values)) if len(values) > 1 else values[0]
        if op.address:
            address = None if registers else self._computed_address(op, place, cycle)
            number = self._computed_bank(op, place, cycle)
            for b in self._banks(place):
                here = enable if number is None else enable & number.eq(lit(b, number.width))
                self.memories.write(array.name, b, here, address, data)
            return
        address = None if registers else self._address(place, cycle)
        for bank, here in self._in_banks(place, enable, cycle):
            self.memories.write(array.name, bank, here, address, data)


def _counter(name: str, env: Env) -> Expr:
    return env[name].expr


def select(words: list[Expr], number: Expr) -> Expr:
    """The word of that number, by a tree of choices."""
    level = words
    for bit in range(number.width):
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [mux(number[bit], p[1], p[0]) if len(p) == 2 else p[0] for p in pairs]
    return level[0]
