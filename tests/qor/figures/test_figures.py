"""The model says of every recorded design what it said when the tables were written.

A change that is meant is recorded by ``python -m tests.qor.figures``: read what it prints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from tests.qor.figures.answers import TOOLS
from tests.qor.figures.designs import SLOW, designs, made
from tests.qor.figures.lines import read
from tests.qor.figures.summary import Change, changes, summary
from tests.qor.figures.tables import COMMAND, FOLDER, by_name, lines_now, names, recorded_lines

PARTS = 20
AT_LEAST = 3000
SHOWN = 12


def told(found: Sequence[Change]) -> str:
    """The first figures that differ, and how many rows."""
    rows = len({change.row for change in found})
    more = [f"… and {len(found) - SHOWN} figures more"] if len(found) > SHOWN else []
    first = [str(change) for change in found[:SHOWN]]
    count = f"{rows} rows of this part differ; where that is meant: {COMMAND}"
    return "\n".join(["", *first, *more, count])


@pytest.mark.parametrize("part", range(PARTS))
def test_the_model_says_what_was_recorded(part: int) -> None:
    now = by_name(lines_now(designs()[part::PARTS]))
    recorded = by_name(recorded_lines())
    found = changes(recorded, now)
    if found:
        pytest.fail(told(found), pytrace=False)
    same = {row: text for row, text in recorded.items() if row in now}
    assert same == now, f"not recorded, or written in another way: {COMMAND}"


def test_every_row_is_recorded_once_and_no_other() -> None:
    lines = recorded_lines()
    found = Counter(tuple(text.split(" ", 2)[:2]) for text in lines)
    wanted = [*names(designs())]
    assert [row for row, n in found.items() if n > 1] == []
    assert sorted(set(found) - set(wanted)) == [], f"no such design any more: {COMMAND}"
    assert sorted(set(wanted) - set(found)) == [], f"not recorded: {COMMAND}"
    assert len(lines) >= AT_LEAST
    parts = [part for text in lines for part in read(text).parts]
    assert all(all(figures.values()) for _, figures in parts), "a name with a blank in it"
    assert {tool for _, tool in found} == set(TOOLS)


def test_the_tables_are_those_of_the_groups() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == {design.group for design in designs()}
    assert all(file.suffix == ".txt" for file in FOLDER.iterdir())


def test_designs_have_names_of_their_own() -> None:
    keys = Counter(design.key for design in made())
    assert max(keys.values()) == 1
    assert keys.keys() >= SLOW


OLD = """\
a:- x latency=10 dsp=2 lut=100 ff=9 period=7.5 sums=#12345a | i:pipeline ii=2 depth=4 latency=10 trips=5
a:- y latency=10 dsp=2 lut=100 ff=9 period=7.5 sums=#12345a
b:- x error=W451
"""
NEW = """\
a:- x latency=15/10/20 dsp=2 lut=101 ff=9 period=7.5 sums=#6789bc | i:pipeline ii=3 depth=4 latency=10 trips=5
b:- x latency=1 dsp=0 lut=1 ff=1 period=7.5 sums=#12345a
c:- x error=W451
"""


def test_the_summary_says_what_changed() -> None:
    old, new = by_name(OLD.splitlines()), by_name(NEW.splitlines())
    text = summary(old, new)
    assert text[0] == "3 rows: 2 changed, 1 added, 1 removed"
    assert "  a:- x: latency 10 -> 15/10/20 (+50.00%)" in text
    assert "  a:- x: i:pipeline ii 2 -> 3 (+50.00%)" in text
    assert text[text.index("added, 1 rows") :][:2] == ["added, 1 rows", "  c:- x"]
    assert text[text.index("removed, 1 rows") :] == ["removed, 1 rows", "  a:- y"]
    assert summary(old, old) == []


def test_a_failure_names_the_figures() -> None:
    found = changes(by_name(OLD.splitlines()), by_name(NEW.splitlines()))
    text = told(found)
    assert "a:- x: sums #12345a -> #6789bc" in text
    assert "b:- x: error W451 -> -" in text
    assert "2 rows of this part differ" in text
    assert COMMAND in text
