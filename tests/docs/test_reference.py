"""The reference tells all: every error code, every command with its options, every folder."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from dse import cli
from dsl.errors.codes import CODES
from dsl.schedules.steps import STEPS
from tests.docs.errors_page import PAGE, page

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("dsl", "polyhedral", "mlir_passes", "backends", "qor_gnn", "dse")
COMMANDS = (ROOT / "docs" / "reference" / "command-line.md").read_text(encoding="utf-8")


def raised() -> set[str]:
    """Every code that occurs in the packages."""
    files = [f for p in PACKAGES for f in (ROOT / p).rglob("*.py") if f.name != "codes.py"]
    return {c for f in files for c in re.findall(r'"(W[1-5]\d\d)"', f.read_text("utf-8"))}


def test_the_table_has_the_codes_that_are_raised() -> None:
    missing, stale = sorted(raised() - set(CODES)), sorted(set(CODES) - raised())
    assert not missing, (
        "say in dsl/errors/codes.py what they stand for; then test_the_page_shows_the_table"
    )
    assert not stale, "nothing raises them"


# What no user can cause, and no test can without a fault of ours.
NOT_TESTED = "310"


def test_every_code_is_tested() -> None:
    files = [f for f in (ROOT / "tests").rglob("*") if f.suffix in (".py", ".txt")]
    told = {c for f in files for c in re.findall(r"W[1-5]\d\d", f.read_text("utf-8"))}
    assert set(CODES) - told == {f"W{NOT_TESTED}"}


def test_the_table_is_in_order() -> None:
    assert list(CODES) == sorted(CODES)


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m tests.docs.errors_page writes it"


def sections() -> dict[str, str]:
    """The section of each command."""
    parts = re.split(r"(?m)^## `weft (\w+)`\n", COMMANDS)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def command_named(name: str) -> click.Command:
    found = cli.weft.get_command(click.Context(cli.weft), name)
    assert found is not None
    return found


def test_every_command_has_its_section() -> None:
    assert list(sections()) == list(cli.COMMANDS), "in docs/reference/command-line.md, in order"


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_option_is_told(name: str) -> None:
    command = command_named(name)
    options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
    told = set(re.findall(r"(?m)^\| `(--?[\w-]+)", sections()[name]))
    common = {"--format"} if name != "doctor" else set()
    assert told | common == options


def test_exit_codes_are_those_of_the_program() -> None:
    told = dict(re.findall(r"(?m)^\| (\d+) \| (.*) \|$", COMMANDS))
    assert set(map(int, told)) >= {0, cli.ERROR, cli.USAGE, cli.INTERNAL, cli.INTERRUPTED}


def test_the_layout_names_every_folder() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"(?m)^\| `(\w+)/` \|", text))
    assert named >= {p for p in PACKAGES if (ROOT / p).is_dir()}
    assert named >= {"examples", "benchmarks", "tests", "docs"}
    assert {name for name in named if not (ROOT / name).is_dir()} == set()


def test_the_guide_names_every_step() -> None:
    guide = (ROOT / "docs" / "guide" / "schedules.md").read_text(encoding="utf-8")
    told = set(re.findall(r"(?m)^\| `(\w+)\(", guide))
    assert told == set(STEPS)


@pytest.mark.parametrize(
    "document", sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]), ids=lambda p: p.name
)
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"(?ms)^```.*?^```|`[^`\n]*`", "", document.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#\s]+)", text)
    gone = [x for x in links if "://" not in x and not (document.parent / x).exists()]
    assert not gone
