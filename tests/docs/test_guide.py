"""The guide and the README are true: what they show runs, and prints what they say.

The blocks of a page run in order in one namespace, each from a file (a kernel needs its source):
`file.py` where the block says ```` ```python title="file.py" ````; blocks of one title continue its
file. A `text` block right behind a Python or shell block is what that prints. Shell blocks run
their `weft` commands where those files are; other commands in them install things, and are not run.
A `console` block is what takes hours, or needs data that are not here: its commands are only read, as
the command line reads them, and the files of ours that they name have to be there.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from dse import cli
from dse.labels.variants import subjects

ROOT = Path(__file__).resolve().parent.parent.parent
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
PAGES = (*GUIDE, ROOT / "docs" / "dse.md", ROOT / "README.md")
WEFT = Path(sys.executable).parent / "weft"
TYPED = (
    "README",
    "getting-started",
)  # commands are processes; elsewhere Weft need not start for each
_FENCE = re.compile(r'^```(\w+)?(?: title="([^"]+)")?[ ]*\n(.*?)^```[ ]*$', re.M | re.S)


@dataclass(frozen=True)
class Block:
    """One fenced block, and what the text block right behind it says it prints."""

    language: str
    title: str
    line: int
    code: str
    prints: str | None


def blocks(page: Path) -> list[Block]:
    """The Python and shell blocks of a page."""
    text = page.read_text(encoding="utf-8")
    matches = list(_FENCE.finditer(text))
    found = []
    for n, match in enumerate(matches):
        language, title, code = match[1] or "", match[2] or "", match[3]
        line = text.count("\n", 0, match.start()) + 2
        prints = None
        if n + 1 < len(matches) and matches[n + 1][1] == "text":
            between = text[match.end() : matches[n + 1].start()]
            prints = matches[n + 1][3] if not between.strip() else None
        if language in ("python", "sh"):
            found.append(Block(language, title, line, code, prints))
    return found


def run_python(block: Block, folder: Path, namespace: dict[str, object]) -> str:
    """Run a block as the next lines of its file in ``folder``; what it prints."""
    path = folder / (block.title or f"line_{block.line}.py")
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(before + block.code, encoding="utf-8")
    linecache.checkcache(str(path))
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.chdir(folder):
        exec(compile("\n" * before.count("\n") + block.code, str(path), "exec"), namespace)
    return out.getvalue()


def run_shell(block: Block, folder: Path, apart: bool = True) -> str:
    """Run the `weft` commands of a block in ``folder``, each as a process or in this one; what they print."""
    out = ""
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] != ["weft"]:
            continue
        if not apart:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), contextlib.chdir(folder):
                assert cli.run(words[1:]) == 0, line
            out += printed.getvalue()
            continue
        command = [str(WEFT), *words[1:]]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        out += done.stdout
    return out


def stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_guide_has_its_pages() -> None:
    assert {p.stem for p in PAGES} >= {"getting-started", "language", "schedules"}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    namespace: dict[str, object] = {"__name__": f"guide_{page.stem}"}
    for block in blocks(page):
        if block.language == "python":
            printed = run_python(block, tmp_path, namespace)
        else:
            printed = run_shell(block, tmp_path, page.stem in TYPED)
        if block.prints is not None:
            assert stripped(printed) == stripped(block.prints), f"{page.name}:{block.line}"


CONSOLE = re.compile(r"^```console\n(.*?)^```", re.M | re.S)


def typed(page: Path) -> list[list[str]]:
    """The words behind `weft` of the commands that are typed in console blocks."""
    text = "\n".join(CONSOLE.findall(page.read_text(encoding="utf-8")))
    lines = text.replace("\\\n", " ").splitlines()
    words = [shlex.split(line[1:], comments=True) for line in lines if line.startswith("$")]
    return [line[1:] for line in words if line[0] == "weft"]


@pytest.mark.parametrize("page", [p for p in PAGES if typed(p)], ids=lambda p: p.stem)
def test_commands_that_are_not_run_are_commands(page: Path) -> None:
    for name, *words in typed(page):
        command = cli.weft.get_command(click.Context(cli.weft), name)
        assert command is not None, name
        command.make_context(name, list(words))  # refuses what is no option of it
        for word in words:
            if word.startswith("examples/"):
                assert (ROOT / word.partition(":")[0]).exists(), word


def test_commands_in_console_blocks_are_found() -> None:
    commands = typed(ROOT / "docs" / "guide" / "predict.md")
    assert ["label", "examples/polybench", "--out", "labels"] in commands
    assert {name for name, *_ in commands} >= {"estimate", "label", "train", "evaluate", "explore"}


def test_a_folder_of_the_guide_has_what_is_labelled() -> None:
    assert len(list(subjects([str(ROOT / "examples" / "polybench")], ["mini"], ["f32"]))) > 20


def test_a_block_knows_its_title_its_line_and_what_it_prints(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        '# T\n\n```python title="a.py"\nprint(1)\n```\n\n```text\n1\n```\n\n```sh\nls\n```\n'
    )
    first, second = blocks(page)
    assert (first.title, first.line, first.prints) == ("a.py", 4, "1\n")
    assert (second.language, second.prints) == ("sh", None)
    assert run_python(first, tmp_path, {}) == "1\n"
