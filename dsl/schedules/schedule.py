"""A `Schedule`: an immutable tuple of steps, the only description of a design point.

`ScheduleBuilder` is the pleasant way to write one; it records where each step was asked for.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal

from dsl.errors.errors import InputError, did_you_mean
from dsl.errors.shown import shown
from dsl.schedules import steps
from dsl.schedules.loop_requests import PipelineStyle
from dsl.schedules.port_steps import Mirror, Replicate, Spread, SpreadKind
from dsl.schedules.recurrence_methods import RecurrenceMethods
from dsl.schedules.step_calls import (
    NoSuchStepError,
    UnfitError,
    field_types,
    fitted,
    nearest_step,
    step_method,
)
from dsl.schedules.steps import STEPS, PartitionKind, Step, Tail

SCHEMA_VERSION = 1
_WRITTEN = "weft compile FILE.py:KERNEL --emit schedule-json writes one"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Steps, applied in order. Iterable; equality ignores source spans."""

    steps: tuple[Step, ...] = ()

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def then(self, *steps: Step) -> Schedule:
        """This schedule with more steps at its end."""
        return Schedule((*self.steps, *steps))

    @property
    def reassociated(self) -> frozenset[str]:
        """The statements whose reduction may be done in any order."""
        return frozenset().union(*(step.reassociated for step in self.steps))

    def to_json(self, kernel: str = "") -> str:
        """JSON text with ``schema_version``; `from_json` reads it back to an equal schedule."""
        rows = [{"step": step.kind, **_arguments(step)} for step in self.steps]
        head = {"schema_version": SCHEMA_VERSION, "kernel": kernel}
        body = ",\n".join("    " + json.dumps(row) for row in rows)
        listed = f"[\n{body}\n  ]" if rows else "[]"
        return f'{json.dumps(head, indent=2)[:-2]},\n  "steps": {listed}\n}}\n'

    @staticmethod
    def from_json(text: str, source: str = "<schedule>") -> Schedule:
        """Read `to_json`'s format. Every field is checked; a bad one is an `InputError`."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as e:  # ValueError: an integer of too many digits
            raise InputError("W510", f"{source} is not JSON: {e}", help=_WRITTEN) from e
        if not isinstance(data, dict) or not isinstance(data.get("steps"), list):
            raise InputError("W511", f"{source} is not a schedule: no list 'steps'", help=_WRITTEN)
        if data.get("schema_version") != SCHEMA_VERSION:
            found = shown(data.get("schema_version"))
            message = f"{source} has schema_version {found}, not {SCHEMA_VERSION}"
            raise InputError("W511", message, help=_WRITTEN)
        read = (_read_step(d, f"{source}: step {n}") for n, d in enumerate(data["steps"]))
        return Schedule(tuple(read))

    @staticmethod
    def load(path: Path) -> Schedule:
        """Read a JSON file written by `to_json`."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as e:
            message = f"cannot read the schedule {path}: {e}"
            raise InputError("W512", message, help=_WRITTEN) from e
        return Schedule.from_json(text, str(path))

    def to_python(self, name: str = "schedule", kernel: str = "kernel") -> str:
        """Python source that builds this schedule, ready to paste under the kernel."""
        lines = [f"@{kernel}.schedule", f"def {name}(s):"]
        lines += [f"    s.{step.kind}({_call_text(step)})" for step in self.steps] or ["    pass"]
        return "\n".join(lines) + "\n"


def _arguments(step: Step) -> dict[str, Any]:
    """Field values but the span, those at their default left out."""
    found = {}
    for f in fields(step):
        value = getattr(step, f.name)
        if f.name != "span" and (f.default is MISSING or value != f.default):
            found[f.name] = list(value) if isinstance(value, tuple) else value
    return found


def _call_text(step: Step) -> str:
    parts = []
    for f in fields(step):
        value = getattr(step, f.name)
        if f.name == "span":
            continue
        if f.default is MISSING:
            parts.append(_literal(value))
        elif value != f.default:
            parts.append(f"{f.name}={_literal(value)}")
    return ", ".join(parts)


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _read_step(data: object, where: str) -> Step:
    if not isinstance(data, dict) or not isinstance(data.get("step"), str):
        raise InputError("W511", f"{where}: not an object with a field 'step'")
    cls = STEPS.get(data["step"])
    if cls is None:
        message = f"{where}: no step is called {shown(data['step'])}"
        raise InputError("W511", message, help=nearest_step(data["step"]))
    known = {f.name: f for f in fields(cls) if f.name != "span"}
    hints = field_types(cls.kind)
    for key in data:
        if key != "step" and key not in known:
            help_line = did_you_mean(key, known)
            message = f"{where}: {cls.kind} has no field {shown(key)}"
            raise InputError("W511", message, help=help_line)
    values: dict[str, Any] = {}
    for name, f in known.items():
        if name in data:
            values[name] = _checked(data[name], hints[name], f"{where}: {cls.kind}.{name}")
        elif f.default is MISSING:
            raise InputError("W511", f"{where}: {cls.kind} needs the field '{name}'")
    return cls(**values)


def _checked(value: object, hint: Any, where: str) -> object:
    """``value`` as the annotated type, or an error: no coercion, and a bool is no int."""
    try:
        found = fitted(value, hint)
    except UnfitError as e:
        raise InputError("W511", f"{where}: {shown(value)} does not fit: it is {e}") from None
    if typing.get_origin(hint) is Literal and found not in typing.get_args(hint):
        raise InputError("W511", f"{where}: {shown(value)} does not fit")
    return found


class ScheduleBuilder(RecurrenceMethods):
    """Collects steps: ``s.tile(["i", "j"], [32, 32]); s.pipeline("j_1")``. Methods chain."""

    def __init__(self) -> None:
        self._steps: list[Step] = []

    def build(self) -> Schedule:
        """The schedule so far."""
        return Schedule(tuple(self._steps))

    def __getattr__(self, name: str) -> typing.NoReturn:
        """A step that there is not: an error with the user's place, not an AttributeError's text.

        It is an AttributeError as well, so that ``hasattr`` and ``copy`` work as ever.
        """
        if name.startswith("_"):
            raise AttributeError(name)
        raise NoSuchStepError(name)

    @step_method
    def interchange(self, a: str, b: str) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Interchange`."""
        return self._add(steps.Interchange, a, b)

    @step_method
    def reorder(self, loops: typing.Sequence[str]) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Reorder`."""
        return self._add(steps.Reorder, loops)

    @step_method
    def split(
        self,
        loop: str,
        factor: int,
        outer: str | None = None,
        inner: str | None = None,
        tail: Tail = "remainder",
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Split`."""
        return self._add(steps.Split, loop, factor, outer, inner, tail)

    @step_method
    def tile(
        self, loops: typing.Sequence[str], factors: typing.Sequence[int], tail: Tail = "remainder"
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Tile`."""
        return self._add(steps.Tile, loops, factors, tail)

    @step_method
    def skew(self, outer: str, inner: str, factor: int) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Skew`."""
        return self._add(steps.Skew, outer, inner, factor)

    @step_method
    def reverse(self, loop: str) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Reverse`."""
        return self._add(steps.Reverse, loop)

    @step_method
    def shift(self, stmt: str, loop: str, amount: int) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Shift`."""
        return self._add(steps.Shift, stmt, loop, amount)

    @step_method
    def fuse(self, stmts: typing.Sequence[str], depth: int, last: bool = False) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Fuse`."""
        return self._add(steps.Fuse, stmts, depth, last)

    @step_method
    def distribute(self, stmts: typing.Sequence[str], depth: int = 0) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Distribute`."""
        return self._add(steps.Distribute, stmts, depth)

    @step_method
    def align(
        self,
        stmts: typing.Sequence[str],
        times: typing.Sequence[str],
        loop: str | None = None,
        depth: int = 0,
        promote: bool = False,
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Align`."""
        return self._add(steps.Align, stmts, times, loop, depth, promote)

    @step_method
    def reassociate(self, stmt: str) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Reassociate`."""
        return self._add(steps.Reassociate, stmt)

    @step_method
    def partial_sums(
        self, stmt: str, loop: str, count: int, block: int = 1, around: str = ""
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.PartialSums`."""
        return self._add(steps.PartialSums, stmt, loop, count, block, around)

    @step_method
    def replicate(self, array: str, loop: str, count: int) -> ScheduleBuilder:
        """See `dsl.schedules.port_steps.Replicate`."""
        return self._add(Replicate, array, loop, count)

    @step_method
    def mirror(self, array: str, access: str, name: str = "") -> ScheduleBuilder:
        """See `dsl.schedules.port_steps.Mirror`."""
        return self._add(Mirror, array, access, name)

    @step_method
    def spread(self, loop: str, ports: int = 2, scheme: SpreadKind = "block") -> ScheduleBuilder:
        """See `dsl.schedules.port_steps.Spread`."""
        return self._add(Spread, loop, ports, scheme)

    @step_method
    def expand(self, array: str, loop: str) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Expand`."""
        return self._add(steps.Expand, array, loop)

    @step_method
    def buffer(
        self, array: str, at: str = "", name: str = "", access: str = "", apart: bool = False
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Buffer`."""
        return self._add(steps.Buffer, array, at, name, access, apart)

    @step_method
    def reuse(self, array: str, at: str) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Reuse`."""
        return self._add(steps.Reuse, array, at)

    @step_method
    def unroll(
        self,
        loop: str,
        factor: int = 0,
        tail: Tail = "remainder",
        skip_exit_check: bool = False,
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Unroll`."""
        return self._add(steps.Unroll, loop, factor, tail, skip_exit_check)

    @step_method
    def pipeline(
        self, loop: str, ii: int = 1, style: PipelineStyle = "", rewind: bool = False
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Pipeline`."""
        return self._add(steps.Pipeline, loop, ii, style, rewind)

    @step_method
    def flatten(self, loop: str, enabled: bool = True) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Flatten`."""
        return self._add(steps.Flatten, loop, enabled)

    @step_method
    def partition(
        self, array: str, dim: int, scheme: PartitionKind = "cyclic", factor: int = 0
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Partition`."""
        return self._add(steps.Partition, array, dim, scheme, factor)

    @step_method
    def auto_partition(self, array: str) -> ScheduleBuilder:
        """See `dsl.schedules.steps.AutoPartition`."""
        return self._add(steps.AutoPartition, array)

    @step_method
    def bind_storage(
        self, array: str, type: str, impl: str = "auto", latency: int = -1
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.BindStorage`."""
        return self._add(steps.BindStorage, array, type, impl, latency)

    @step_method
    def bind_op(self, stmt: str, op: str, impl: str = "auto", latency: int = -1) -> ScheduleBuilder:
        """See `dsl.schedules.steps.BindOp`."""
        return self._add(steps.BindOp, stmt, op, impl, latency)

    @step_method
    def interface(
        self,
        argument: str,
        mode: str,
        bundle: str = "",
        width: int = 0,
        burst: int = 0,
        outstanding: int = 0,
        latency: int = -1,
        offset: str = "",
        bank: str = "",
        reads: str = "",
        also: typing.Sequence[str] = (),
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Interface`."""
        values = (bundle, width, burst, outstanding, latency, offset, bank, reads, also)
        return self._add(steps.Interface, argument, mode, *values)

    @step_method
    def pack(self, array: str, bits: int = 512) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Pack`."""
        return self._add(steps.Pack, array, bits)

    @step_method
    def dataflow(
        self, processes: typing.Sequence[typing.Sequence[str]] = (), at: str = ""
    ) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Dataflow`."""
        return self._add(steps.Dataflow, processes, at)

    @step_method
    def stream(self, array: str, depth: int = 2) -> ScheduleBuilder:
        """See `dsl.schedules.steps.Stream`."""
        return self._add(steps.Stream, array, depth)
