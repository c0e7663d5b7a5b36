"""The processes of a dataflow region at level 3: which op belongs to which, and is that sound?

A region is the body of the function or that of a loop. A process is named by its statements, which every
pass keeps; an op of the body belongs to the process of the statements in it, or of the next ones if there
are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from dsl.errors.errors import IRError
from dsl.schedules.loop_requests import PipelineStyle
from mlir_passes.dialect import hls
from mlir_passes.dialect.attributes import array_info, local_info, span_of, stmt_info
from mlir_passes.dialect.element_types import int_attribute
from mlir_passes.dialect.regions import region_attribute, region_of
from mlir_passes.provider import ir

_LOCALS = frozenset({"memref.alloc", "memref.alloca"})
_ENDS = frozenset({"func.return", "affine.yield"})
_Users = dict[int, set[bool]]
"""The processes that access a memory, by number, and for each access whether it writes."""
_LOADS, _STORES = ("affine.load", "memref.load"), ("affine.store", "memref.store")


def function_attributes(
    processes: tuple[tuple[str, ...], ...],
    control: str = "",
    pipeline: tuple[int, PipelineStyle] | None = None,
) -> dict[str, Any]:
    """The attributes of the kernel's function: that it is the kernel, its processes if any, and how
    it is started if that is said; interval and style of the pipeline that it is, if it is one.
    """
    found: dict[str, Any] = {"hls.top": ir.UnitAttr.get()}
    if control:
        found["hls.control"] = ir.StringAttr.get(control)
    if processes:
        found["hls.dataflow"] = region_attribute(processes)
    if pipeline is not None:
        ii, style = pipeline
        found["hls.pipeline"] = hls.Pipeline.get(int_attribute(ii))
        if style:
            found["hls.style"] = ir.StringAttr.get(style)
    return found


def pipeline_of(function: Any) -> tuple[int, PipelineStyle] | None:
    """Interval and style of the pipeline that the kernel is, if it is one."""
    attributes = function.operation.attributes
    if "hls.pipeline" not in attributes:
        return None
    style = str(attributes["hls.style"].value) if "hls.style" in attributes else ""
    ii = int(attributes["hls.pipeline"].params[0].maybe_downcast().value)
    return ii, cast("PipelineStyle", style)


def control_of(function: Any) -> str:
    """How the kernel is started, as its function says it; empty where it says nothing."""
    attributes = function.operation.attributes
    return str(attributes["hls.control"].value) if "hls.control" in attributes else ""


def processes_of(function: Any) -> tuple[tuple[str, ...], ...]:
    """The statements of each process of a ``func.func``; empty where it is no dataflow region."""
    return region_of(function.operation.attributes)


def verify_processes(function: Any) -> None:
    """Check the processes and the channels between them.

    Raises:
        IRError: W335: a statement in no process or in two, processes out of order or sharing a
            value; an array that more than one process writes or more than one other reads, an
            argument that more than one uses; a stream that is no channel.
    """
    numbers = _numbers(function.operation, processes_of(function))
    body = list(function.operation.regions[0].blocks[0].operations)
    for view in body:
        if view.operation.name in _LOCALS and not numbers:
            _check_stream(view.operation, {}, False)
    if not numbers:
        return
    touching = _touching(body, numbers)
    for memory, users in touching.items():
        _check_shared(memory, users, function.operation)
    for view in body:
        if view.operation.name in _LOCALS:
            op = view.operation
            _check_stream(op, touching.get(op.results[0], {}), True)


def verify_region(loop: Any, processes: Sequence[Sequence[str]]) -> None:
    """Check the processes of a loop: what two of them share lives in one iteration.

    Args:
        loop: an ``affine.for``.
        processes: the statements of each; none where its body is no region.

    Raises:
        IRError: W335, as `verify_processes`.
    """
    if not processes:
        return
    block = loop.regions[0].blocks[0]
    body = list(block.operations)
    inside = {view.operation.results[0] for view in body if view.operation.name in _LOCALS}
    for memory, users in _touching(body, _numbers(loop, processes)).items():
        if len(users) > 1 and memory not in inside and not _by_two_pointers(memory, users):
            raise _refuse(
                f"processes {min(users)} and {max(users)} share an array that is not of one iteration",
                loop,
            )
        _check_shared(memory, users, loop)


def _touching(body: list[Any], numbers: dict[str, int]) -> dict[Any, _Users]:
    """The memory that processes access."""
    owners = _owners(body, numbers)
    _check_values(body, owners)
    touching: dict[Any, _Users] = {}
    for op, number in owners:
        for memory, writes in _touched(op):
            touching.setdefault(memory, {}).setdefault(number, set()).add(writes)
    return touching


def _by_two_pointers(memory: Any, users: _Users) -> bool:
    """Whether one process reads an argument and a later one writes it, each by a pointer of its own."""
    if not isinstance(memory.owner, ir.Block) or len(users) != 2:
        return False
    attributes = memory.owner.owner.attributes.get("arg_attrs")
    number = ir.BlockArgument(memory).arg_number
    info = array_info(attributes[number], memory.type) if attributes else None
    in_order = (users[min(users)], users[max(users)]) == ({False}, {True})
    return info is not None and bool(info.axi.reads) and in_order


def _numbers(op: Any, processes: Sequence[Sequence[str]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, names in enumerate(processes):
        for name in names:
            if name in found:
                raise _refuse(f"statement '{name}' is in two processes", op)
            found[name] = number
    return found


def _owners(body: list[Any], numbers: dict[str, int]) -> list[tuple[Any, int]]:
    """The ops that are no locals, with their processes, in order."""
    owners: list[tuple[Any, int]] = []
    waiting: list[Any] = []
    last = 0
    for view in body:
        op = view.operation
        if op.name in _LOCALS or op.name in _ENDS:
            continue
        waiting.append(op)
        inside = {_number(store, numbers) for store in _below(op, _STORES)}
        if not inside:
            continue
        if len(inside) > 1:
            raise _refuse("statements of two processes are in one nest", op)
        number = inside.pop()
        if number < last:
            raise _refuse(f"process {number} stands behind process {last}", op)
        last = number
        owners += [(w, number) for w in waiting]
        waiting = []
    return owners


def _number(store: Any, numbers: dict[str, int]) -> int:
    name = stmt_info(store).name
    if name not in numbers:
        raise _refuse(f"statement '{name}' is in no process", store)
    return numbers[name]


def _check_values(body: list[Any], owners: list[tuple[Any, int]]) -> None:
    """A value of one process is not used in another: only memory goes between them."""
    made = {result: number for op, number in owners for result in op.results}
    for op, number in owners:
        for inner in _below(op, None):
            for operand in inner.operands:
                if made.get(operand, number) != number:
                    raise _refuse(
                        f"process {number} uses a value of process {made[operand]}", inner
                    )


def _touched(op: Any) -> Iterator[tuple[Any, bool]]:
    """Memory that an op and those below access, and whether they write it."""
    for inner in _below(op, None):
        if inner.name in _LOADS:
            yield inner.operands[0], False
        elif inner.name in _STORES:
            yield inner.operands[1], True


def _below(op: Any, names: tuple[str, ...] | None) -> Iterator[Any]:
    """The op and those in its regions, of the given names or all."""
    if names is None or op.name in names:
        yield op
    for region in op.regions:
        for block in region.blocks:
            for view in block.operations:
                yield from _below(view.operation, names)


def _check_shared(memory: Any, users: _Users, function: Any) -> None:
    if len(users) < 2 or _by_two_pointers(memory, users):
        return
    writing = [number for number, accesses in users.items() if True in accesses]
    owner = memory.owner
    if isinstance(owner, ir.Block):
        raise _refuse(f"processes {min(users)} and {max(users)} use one argument", function)
    name = local_info(owner).name
    if len(writing) > 1:
        raise _refuse(f"'{name}' is written by processes {writing[0]} and {writing[1]}", owner)
    if len(users) > 2:
        raise _refuse(f"'{name}' is read by {len(users) - 1} processes", owner)
    if not writing or min(users) != writing[0]:
        raise _refuse(f"'{name}' is read by a process before the one that writes it", owner)


def _check_stream(op: Any, users: _Users, is_region: bool) -> None:
    info = local_info(op)
    if info.stream is None:
        return
    if info.stream < 1:
        raise _refuse(f"the stream '{info.name}' has a depth of {info.stream}", op)
    if not is_region or len(users) != 2:
        raise _refuse(f"the stream '{info.name}' does not go from one process to another", op)


def _refuse(message: str, op: Any) -> IRError:
    return IRError("W335", message, span=span_of(op))
