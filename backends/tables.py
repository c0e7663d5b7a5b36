"""JSON of the package's tables to frozen dataclasses: nothing is unknown, missing or of another type.

A table whose figures have to say where they come from is a list of groups, each of which says it for its
values: ``[{"evidence": "…", "values": {"load": 2}}, …]``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Set
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from dsl.errors.errors import ToolError, did_you_mean

T = TypeVar("T")

_SHOWN = 40  # characters of a value in an error


def table(file: Path, keys: Set[str] | None) -> tuple[dict[str, Any], str]:
    """The JSON object of a file, and what an error calls that; ``keys`` are those that it has.

    Raises:
        ToolError: W453, it cannot be read, or has not these keys.
    """
    where = f"{file.parent.name}/{file.name}"
    try:
        found = _object(json.loads(file.read_text(encoding="utf-8")), where)
    except (OSError, ValueError, RecursionError) as error:
        raise fault(where, f"cannot be read: {error}") from error
    if keys is None:
        return found, where
    for key in sorted(found.keys() - keys):
        raise fault(where, f"has '{key}'", did_you_mean(key, keys))
    for key in sorted(keys - found.keys()):
        raise fault(where, f"lacks '{key}'")
    return found, where


def described(file: Path, keys: Set[str] | None) -> tuple[dict[str, Any], str]:
    """As `table`, of a file that says once, as ``evidence``, where all that it holds comes from."""
    found, where = table(file, None if keys is None else {"evidence", *keys})
    _evidence(found, where)
    return found, where


def _evidence(found: dict[str, Any], where: str) -> None:
    """Takes out where figures come from."""
    text = found.pop("evidence", None)
    if not isinstance(text, str) or not text.strip():
        raise fault(where, "does not say where its figures come from", 'add "evidence"')


def evidenced(kind: type[T], groups: object, where: str) -> T:
    """A dataclass of groups of values, each of which says where it comes from.

    Args:
        kind: the dataclass; a field that has a default may be left out.
        groups: the list of them.
        where: what an error calls it.

    Raises:
        ToolError: W453, a group without evidence, or as `parsed`.
    """
    values: dict[str, Any] = {}
    for n, group in enumerate(_list(groups, where)):
        place = f"{where}[{n}]"
        found = dict(_object(group, place))
        _evidence(found, place)
        for key in sorted(found.keys() - {"values"}):
            raise fault(place, f"has '{key}'", "a group has evidence and values")
        for key, value in _object(found.get("values"), f"{place}.values").items():
            if key in values:
                raise fault(place, f"gives '{key}' again")
            values[key] = value
    return parsed(kind, values, where)


def parsed(kind: type[T], data: object, where: str) -> T:
    """A dataclass of a JSON object with a value for each field that has no default.

    Raises:
        ToolError: W453, a field that is unknown, missing, of another type, or negative.
    """
    of: Any = kind
    types, needed = _fields(of)
    values = _object(data, where)
    for key in sorted(values.keys() - types.keys()):
        raise fault(where, f"has no '{key}'", did_you_mean(key, types))
    for key in sorted(needed - values.keys()):
        raise fault(where, f"lacks '{key}'")
    return kind(**{key: _value(types[key], x, f"{where}.{key}") for key, x in values.items()})


@cache
def _fields(kind: Any) -> tuple[dict[str, Any], frozenset[str]]:
    """Types of a dataclass's fields, and those of them that have no default."""
    needed = (f for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING)
    return get_type_hints(kind), frozenset(f.name for f in needed)


def _value(kind: Any, found: object, where: str) -> object:
    """A value of a field of that type."""
    origin, of = get_origin(kind), get_args(kind)
    if origin is Literal:
        if found not in of or isinstance(found, bool):
            known = ", ".join(map(repr, of))
            raise fault(where, f"is {_shown(found)}", f"it is one of {known}")
        return found
    if origin is UnionType:
        (other,) = (one for one in of if one is not NoneType)
        return None if found is None else _value(other, found, where)
    if origin is tuple:
        return _tuple(of, _list(found, where), where)
    if origin is Mapping:
        rows = _object(found, where)
        return {name: _value(of[1], row, f"{where}.{name}") for name, row in rows.items()}
    if is_dataclass(kind) and isinstance(kind, type):
        return parsed(kind, found, where)
    wanted = (int, float) if kind is float else kind
    if not isinstance(found, wanted) or (isinstance(found, bool) and kind is not bool):
        raise fault(where, f"is {_shown(found)}", f"it is of type {kind.__name__}")
    if kind is int and isinstance(found, int) and found < 0:
        raise fault(where, f"is {found}", "it is 0 or more")
    return found


def _tuple(of: tuple[Any, ...], items: list[Any], where: str) -> tuple[object, ...]:
    kinds = [of[0]] * len(items) if of[-1] is ... else list(of)
    if len(kinds) != len(items):
        raise fault(where, f"has {len(items)} values", f"it has {len(kinds)}")
    pairs = zip(kinds, items, strict=True)
    return tuple(_value(kind, x, f"{where}[{n}]") for n, (kind, x) in enumerate(pairs))


def mapping(kind: type[T], data: object, where: str) -> dict[str, T]:
    """Dataclasses by name."""
    rows = _object(data, where)
    return {name: parsed(kind, row, f"{where}.{name}") for name, row in rows.items()}


def _object(found: object, where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise fault(where, f"is {_shown(found)}", "it is a JSON object")
    return found


def _list(found: object, where: str) -> list[Any]:
    if not isinstance(found, list):
        raise fault(where, f"is {_shown(found)}", "it is a JSON list")
    return found


def _shown(found: object) -> str:
    return "missing" if found is None else json.dumps(found, ensure_ascii=False)[:_SHOWN]


def fault(where: str, what: str, help_line: str | None = None) -> ToolError:
    """What is wrong with a table."""
    return ToolError("W453", f"{where} {what}", help=help_line)
