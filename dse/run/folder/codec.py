"""Points and results as JSON, and the key under which a design's result is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from dataclasses import fields as fields_of
from typing import Any, TypeVar

from dse.accelerator.summary import OnBoard
from dse.estimates.marks import Marks
from dse.evaluators.base import Check, Evaluator, LoopReport, Request, Result, Status
from dse.space.space import Choice, Point
from dsl.programs.pretty import pretty
from dsl.programs.program import Program

Made = TypeVar("Made", Result, Check, LoopReport, Marks, OnBoard)


def program_digest(program: Program) -> str:
    """A digest of a program as it is written."""
    return hashlib.sha256(pretty(program).encode()).hexdigest()


def key_of(request: Request, evaluator: Evaluator) -> str:
    """A digest of all that the result depends on: program, schedule, device, clock, tool, evaluator."""
    parts = (
        pretty(request.program),
        request.schedule.to_json(),
        json.dumps(asdict(request.device), sort_keys=True),
        repr(request.clock),
        f"{evaluator.name} {evaluator.version}",
        *([] if request.tool is None else [request.tool]),
        *([] if request.calibration is None else [f"calibration {request.calibration.digest}"]),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def point_to_json(point: Point) -> dict[str, Any]:
    """``{"variant": 0, "choices": [[order, [factors], interval], …]}``."""
    choices = [[choice.order, list(choice.vector), choice.ii] for choice in point.choices]
    return {"variant": point.variant, "choices": choices}


def point_from_json(data: dict[str, Any]) -> Point:
    """What `point_to_json` wrote; KeyError, TypeError or ValueError if it is anything else."""
    choices = (
        Choice(int(order), tuple(map(int, vector)), *map(int, ii))
        for order, vector, *ii in data["choices"]
    )
    return Point(int(data["variant"]), tuple(choices))


def result_to_json(result: Result) -> dict[str, Any]:
    """All fields."""
    return {
        **asdict(result),
        "status": result.status.value,
        "resources": dict(result.resources),
        "upper": dict(result.upper),
    }


def result_from_json(data: dict[str, Any]) -> Result:
    """What `result_to_json` wrote; KeyError, TypeError or ValueError if it is anything else."""
    fields = dict(data)
    fields["status"] = Status(fields["status"])
    fields["loops"] = tuple(map(_loop_from_json, fields["loops"]))
    fields["checks"] = tuple(_checked(Check, dict(c)) for c in fields.get("checks", ()))
    if fields.get("marks") is not None:
        marks = dict(fields["marks"])
        marks["unseen"] = tuple(map(str, marks.get("unseen", ())))
        fields["marks"] = _checked(Marks, marks)
    if fields.get("board") is not None:
        board = dict(fields["board"])
        board["notes"] = tuple(map(str, board.get("notes", ())))
        fields["board"] = _checked(OnBoard, board)
    return _checked(Result, fields)


def _loop_from_json(data: dict[str, Any]) -> LoopReport:
    fields = dict(data)
    for name in ("loops", "statements"):
        fields[name] = tuple(map(str, fields.get(name, ())))
    return _checked(LoopReport, fields)


_NUMBER = (int, float)
_KINDS: Mapping[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": _NUMBER,
    "float | None": (*_NUMBER, type(None)),
}
_VALUES = {"Mapping[str, int]": (int,), "Mapping[str, float]": _NUMBER}


def _checked(kind: type[Made], data: Mapping[str, Any]) -> Made:
    """A record whose values are of the types that it declares.

    Raises:
        TypeError: one is not, or there is another field.
    """
    for declared in fields_of(kind):
        if declared.name not in data:
            continue
        value, text = data[declared.name], str(declared.type)
        good = isinstance(value, _KINDS.get(text, (object,)))
        if text in _VALUES:
            good = isinstance(value, dict)
            good = good and all(isinstance(v, _VALUES[text]) for v in value.values())
        if not good:
            raise TypeError(f"{declared.name} is {value!r}")
    return kind(**data)
