"""The recorded tables: a file a group, a line a row, in the order of the designs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.qor.figures.answers import TOOLS, estimates
from tests.qor.figures.designs import Design, designs
from tests.qor.figures.lines import line, read, value_of

FOLDER = Path(__file__).resolve().parent / "recorded"
COMMAND = "python -m tests.qor.figures"

RowName = tuple[str, str]
"""A design's key and a personality."""


def names(found: Iterable[Design]) -> Iterator[RowName]:
    """The rows that designs have."""
    for design in found:
        yield from ((design.key, tool) for tool in TOOLS)


def lines_now(found: Iterable[Design]) -> Iterator[str]:
    """What the model says of designs today, in the order of `names`."""
    for design in found:
        program, schedule = design.make()
        for tool, answer in estimates(program, schedule):
            yield line(design.key, tool, answer)


def recorded_lines() -> list[str]:
    """Every line of every table."""
    files = sorted(FOLDER.glob("*.txt"))
    return [text for file in files for text in file.read_text(encoding="utf-8").splitlines()]


def by_name(lines: Iterable[str]) -> dict[RowName, str]:
    """Lines by their rows."""
    found = {}
    for text in lines:
        key, tool, _ = text.split(" ", 2)
        found[key, tool] = text
    return found


def write(now: Mapping[RowName, str]) -> None:
    """Write the tables anew; what is in the folder for a group that is no more goes."""
    groups: dict[str, list[str]] = {}
    for design in designs():
        groups.setdefault(design.group, []).extend(now[name] for name in names((design,)))
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.txt"):
        if file.stem not in groups:
            file.unlink()
    for group, lines in groups.items():
        text = "".join(f"{text}\n" for text in lines)
        (FOLDER / f"{group}.txt").write_text(text, encoding="utf-8")


def differences(old: str, new: str) -> Iterator[tuple[str, str, str]]:
    """The figures that differ between two lines of a row: name, old and new value.

    Of an estimate that became an error, or the other way round, only that; where there are other
    loops, these as a whole.
    """
    before, after = read(old), read(new)
    loops = [" ".join(name for name, _ in row.parts[1:]) for row in (before, after)]
    one, other = before.figures, after.figures
    names = dict.fromkeys((*one, *other))
    if "error" in names:
        names = {"error": None}
    elif loops[0] != loops[1]:
        yield "loops", loops[0] or "-", loops[1] or "-"
        names = dict.fromkeys((*before.parts[0][1], *after.parts[0][1]))
    pairs = [(name, value_of(one, name), value_of(other, name)) for name in names]
    yield from (pair for pair in pairs if pair[1] != pair[2])
