"""A row of a table: what is recorded of one design under one personality, as one line of text.

``KEY PERSONALITY figure=value … | LOOPS:KIND figure=value … | …``, with a part for each loop row. A
number is written exactly (floats by their repr; whole ones without a fraction), a latency or a trip
count as ``average/minimum/maximum`` where these differ. Left out are figures of the usual value: 0
of ``bram18`` and ``uram``, 1 of ``copies`` and ``unroll``, no units, an interval that is the depth,
a limit that is what was asked for. What is too long is there by a digest, ``#`` and six digits, so
that a change is seen; ``python -m tests.qor.figures KEY`` shows it in full:

- ``sums``: what LUT and FF are summed from;
- ``flow``: the processes and channels of a dataflow region;
- ``rest``: of each loop row its function and statements, its units, all its limits, its path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import sha256

from qor_gnn.area.terms import Sums
from qor_gnn.design.region import Trips
from qor_gnn.result.qor_estimate import Cycles, LoopEstimate, QorEstimate
from qor_gnn.schedule.reasons import Conflict, Limit, PortLimit, Recurrence, Requested, Step

_SEPARATOR = " | "
_DIGITS = 9  # of amounts in digests: the order in which they are added is not a figure
_USUAL = {"bram18": "0", "uram": "0", "copies": "1", "unroll": "1"}

Figures = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """A line that was read.

    Attributes:
        key: the design.
        tool: the personality.
        parts: for the design and for each loop row, in order, its name and its figures.
    """

    key: str
    tool: str
    parts: tuple[tuple[str, Figures], ...]

    @property
    def figures(self) -> dict[str, str]:
        """All figures by name; those of loops are called ``LOOPS:KIND FIGURE``, with a number
        in front where there are several of that name.
        """
        found: dict[str, str] = {}
        for n, (name, figures) in enumerate(self.parts):
            again = any(name == other for other, _ in self.parts[:n])
            head = f"{n} {name}" if again else name
            for figure, value in figures.items():
                found[f"{head} {figure}".strip()] = value
        return found


def read(line: str) -> Row:
    """The row of a line."""
    head, *loops = line.split(_SEPARATOR)
    key, tool, *fields = head.split(" ")
    parts = [("", _figures(fields))]
    for loop in loops:
        name, *fields = loop.split(" ")
        parts.append((name, _figures(fields)))
    return Row(key, tool, tuple(parts))


def value_of(figures: Figures, name: str) -> str:
    """A figure by its name; the usual value where it was left out."""
    return figures.get(name, _USUAL.get(name.rpartition(" ")[2], "-"))


def _figures(fields: Iterable[str]) -> dict[str, str]:
    pairs = (field.partition("=") for field in fields)
    return {name: value for name, _, value in pairs}


def line(key: str, tool: str, answer: QorEstimate | str) -> str:
    """The line of an estimate, or of the code of an error."""
    if isinstance(answer, str):
        return f"{key} {tool} error={answer}"
    parts = [f"{key} {tool} {_joined(_whole(answer))}"]
    parts += [f"{_name(row)} {_joined(_loop(row))}" for row in answer.loops]
    return _SEPARATOR.join(parts)


def _joined(figures: Iterable[tuple[str, str]]) -> str:
    return " ".join(f"{name}={value}" for name, value in figures)


def _whole(answer: QorEstimate) -> Iterator[tuple[str, str]]:
    """The figures of a design."""
    yield "latency", _cycles(answer.latency)
    for name in ("dsp", "lut", "ff"):
        yield name, number(getattr(answer, name))
    for name in ("bram18", "uram"):
        if (value := number(getattr(answer, name))) != _USUAL[name]:
            yield name, value
    yield "period", number(answer.period_ns)
    if answer.region is not None:
        yield "interval", number(answer.region.interval)
        yield "flow", digest(flow(answer))
    if answer.units:
        yield "units", _units(answer.units)
    yield "sums", digest(sums(answer.sums))
    yield "rest", digest([rest(row) for row in answer.loops])


def _name(row: LoopEstimate) -> str:
    return f"{','.join(row.loops)}:{row.kind}"


def _loop(row: LoopEstimate) -> Iterator[tuple[str, str]]:
    """The figures of a loop row."""
    if row.kind == "pipeline" or row.ii != row.depth:
        yield "ii", number(row.ii)
    yield "depth", number(row.depth)
    yield "latency", _cycles(row.latency)
    yield "trips", _cycles(row.trips)
    for name in ("copies", "unroll"):
        if (value := number(getattr(row, name))) != _USUAL[name]:
            yield name, value
    if row.asked is not None:
        yield "asked", number(row.asked)
    if row.limits and not isinstance(row.limits[0], Requested):
        yield "limit", _limit(row.limits[0])


def _limit(limit: Recurrence | PortLimit | Conflict) -> str:
    """What bounds an interval most, in a word."""
    match limit:
        case Recurrence():
            return f"{limit.array}:{limit.delay}/{limit.distance}"
        case PortLimit():
            return f"{limit.array}:{limit.count}{limit.port}s/{limit.ports}"
        case Conflict():
            return f"{','.join(limit.arrays)}:conflict"


def number(value: float | None) -> str:
    """A number exactly; a whole one without a fraction."""
    if value is None:
        return "-"
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _cycles(of: Cycles | Trips) -> str:
    several = number(of.average), number(of.minimum), number(of.maximum)
    return several[0] if len({*several}) == 1 else "/".join(several)


def _units(units: Sequence[tuple[str, int]]) -> str:
    return ",".join(core if n == 1 else f"{core}*{n}" for core, n in units)


# ------------------------------------------------------------------------------------------ digests


def digest(lines: Iterable[str]) -> str:
    """A few characters that are others where the lines are."""
    return f"#{sha256(chr(10).join(lines).encode()).hexdigest()[:6]}"


def sums(found: Sums | None) -> list[str]:
    """What LUT and FF are summed from, a term a line."""
    if found is None:
        return []
    terms = {f"lut {name}": value for name, value in found.lut.items()}
    terms |= {f"ff {name}": value for name, value in found.ff.items()}
    terms |= {"lut operators": found.lut_fixed, "ff operators": found.ff_fixed}
    shown = {name: f"{value:.{_DIGITS}g}" for name, value in terms.items()}
    return [f"{name} {shown[name]}" for name in sorted(shown) if shown[name] != "0"]


def flow(answer: QorEstimate) -> list[str]:
    """The processes and the channels of a dataflow region."""
    region = answer.region
    if region is None:
        return []
    found = [f"latency {number(region.latency)}"]
    for process in region.processes:
        times = (process.latency, process.start, process.end, process.waited)
        shown = " ".join(number(time) for time in times)
        found.append(f"process {process.name} {shown} {process.waits_for}".rstrip())
    for channel in region.channels:
        ends = f"{channel.producer} {channel.consumer} {number(channel.depth)}"
        words = f"{number(channel.first)} {number(channel.last)}"
        found.append(f"channel {channel.memory} {ends} {words}")
    return found


def rest(row: LoopEstimate) -> str:
    """What else there is of a loop row: where it is, what it needs, what limits it, its path."""
    parts = [
        f"{row.function} {row.level} {','.join(row.statements)}",
        f"units {_units(row.units)} dsp {number(row.dsp)}",
        *(f"limit {type(limit).__name__} {_values(limit)}" for limit in row.limits),
        *(f"path {_values(step)}" for step in row.path),
    ]
    return "\n".join(parts)


def _values(found: Limit | Step) -> str:
    return " ".join(map(str, astuple(found)))
