"""The file of a calibration: JSON that ``weft calibrate`` writes and ``--calibration`` reads."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from backends.tables import mapping
from dsl.errors.errors import InputError, ToolError
from qor_gnn.tools.operators.calibration import Calibration, OwnClass, OwnCore, Routing
from qor_gnn.tools.operators.timing import Tables, tables, timing_classes

SCHEMA_VERSION = 1
KIND = "weft-calibration"
_LARGEST = 8 << 20  # bytes: a class has some ten thousand at most
_DEEPEST, _LONGEST, _MOST = 400, 1e6, 10**9  # cycles; ns; units of a resource


def read(path: Path) -> Calibration:
    """A calibration from a file.

    Raises:
        InputError: W512: it cannot be read; W552: it holds none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise InputError("W512", f"cannot read {path}: {error.strerror}") from error
    if len(data) > _LARGEST:
        raise _broken(str(path), "it is far too large")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _broken(str(path), f"it is no JSON: {error}") from error
    return calibration_of(found, str(path))


def calibration_of(data: object, where: str) -> Calibration:
    """A calibration from JSON.

    Args:
        data: as `Calibration.facts`.
        where: what an error calls it.

    Raises:
        InputError: W552: it is none, or its figures cannot be.
    """
    if isinstance(data, dict) and {"tool", "lut", "ff"} <= data.keys():
        raise _broken(where, "it has the coefficients of a tool, area.json of its folder")
    if not isinstance(data, dict) or data.get("kind") != KIND:
        raise _broken(where, f'it is not of the kind "{KIND}"')
    if data.get("schema_version") != SCHEMA_VERSION:
        raise _broken(where, f"its schema_version is not {SCHEMA_VERSION}")
    try:
        classes = mapping(OwnClass, data.get("classes"), "classes")
        routing = mapping(Routing, data.get("routing", {}), "routing")
    except ToolError as error:
        raise _broken(where, error.message) from error
    known = tables()
    for timing, own in classes.items():
        if timing not in timing_classes():
            raise _broken(where, f"there is no timing class '{timing[:40]}'")
        _check(own, timing, known, where)
    for resource, share in routing.items():
        if resource not in ("lut", "ff") or not _ordered(share):
            raise _broken(where, f"the routing of '{resource[:40]}' cannot be")
    names = ("schema_version", "kind", "classes", "routing")
    facts = {name: data[name] for name in names if name in data}
    text = json.dumps(facts, sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    return Calibration(digest, classes, routing, facts)


def _ordered(share: Routing) -> bool:
    return share.projects > 0 and 0 <= share.least <= share.median <= share.most <= _LONGEST


def _check(own: OwnClass, timing: str, known: Tables, where: str) -> None:
    """That the figures of a class can be."""
    of = timing_classes()[timing]
    names = {
        "floats": {c for t, c in known.floats if t == of.floats},
        "areas": {c for t, c in known.floats if t == of.floats},
        "multipliers": {s for t, s in known.multipliers if t == of.fabric},
    }
    for group, wanted in names.items():
        for name in getattr(own, group):
            if name not in wanted:
                raise _broken(where, f"{timing}.{group} has no '{name[:40]}'")
    for name, core in (*own.floats.items(), *own.multipliers.items()):
        if not _possible(core):
            raise _broken(where, f"the figures of {timing}: {name} cannot be")
    for name, rows in own.areas.items():
        if not all(0 < stages <= _DEEPEST and max(row) <= _MOST for stages, *row in rows):
            raise _broken(where, f"the area of {timing}: {name} cannot be")


def _possible(core: OwnCore) -> bool:
    """Budgets rise and latencies fall; delays are positive, and fall with the latency."""
    if not all(0 < b <= _LONGEST and n <= _DEEPEST for b, n in core.seen):
        return False
    if not all(0 < d <= _LONGEST and n <= _DEEPEST for n, d in core.delays):
        return False
    budgets = [b for b, _ in core.seen]
    chosen = [n for _, n in core.seen]
    stages = [n for n, _ in core.delays]
    return (
        budgets == sorted(set(budgets))
        and chosen == sorted(chosen, reverse=True)
        and stages == sorted(set(stages))
        and all(map(math.isfinite, budgets))
    )


def _broken(where: str, why: str) -> InputError:
    return InputError(
        "W552",
        f"{where} is no calibration: {why}",
        help="weft calibrate PROJECT --out FILE writes one of your Vitis HLS projects",
    )


def document(classes: Mapping[str, OwnClass], more: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON of a calibration.

    Args:
        classes: what it has of each timing class.
        more: where it is from, and how good it was.
    """
    told = {name: _plain(own) for name, own in sorted(classes.items()) if not own.empty}
    data = {"schema_version": SCHEMA_VERSION, "kind": KIND, **more, "classes": told}
    found: dict[str, Any] = json.loads(json.dumps(data))  # lists for tuples, as it is read again
    return found


def _plain(own: OwnClass) -> dict[str, Any]:
    return {
        "floats": {name: asdict(core) for name, core in sorted(own.floats.items())},
        "areas": {name: list(rows) for name, rows in sorted(own.areas.items())},
        "multipliers": {name: asdict(core) for name, core in sorted(own.multipliers.items())},
    }
