"""Every command on every kernel that people write first, on those of the guide, and on random ones.

A command may refuse with a code; an internal error, or a trial that ends by one, is a fault of ours.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.cli import run
from dsl.errors.errors import LanguageError
from dsl.kernels.kernel import Kernel
from dsl.kernels.loader import load_kernels
from dsl.schedules.schedule import Schedule
from polyhedral.schedule import apply
from tests.docs.test_guide import GUIDE, ROOT, blocks
from tests.everyday import kernels as everyday
from tests.examples.discovery import FILES
from tests.support.amount import TIMES, programs, sample

pytest.importorskip("optuna")

HERE = Path(__file__).parent
RANDOM = HERE.parent / "support" / "random_kernels.py"
TOOLS = (
    "vitis-2022.1-zu9eg-10ns", "vitis-2023.2-u280-3.33ns", "vitis-2025.1-u200-4ns",
    "open-ecp5-10ns",
)  # fmt: skip
LEVELS = ("program", "depgraph", "polyhedral", "affine", "hls-cpp")
EVERYDAY = [name for name, value in vars(everyday).items() if isinstance(value, Kernel)]
ACCUMULATORS = ("dot", "norm", "batch_norm")
SEARCHES = (
    ("--device", "xc7z020"),
    ("--device", "xcu200", "--clock", "4", "--reassociate"),
    ("--device", "xcu280", "--strategy", "random", "--objectives", "seconds,lut"),
)
REFUSING = (0, 1)  # no tool has everything: half floats, logarithms in fixed point, ...
FINE = ("ok", "infeasible", "illegal", "duplicate")


class Commands:
    """Runs commands on one kernel and demands that they end with an answer."""

    def __init__(self, target: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
        self.target, self.folder, self.capfd = target, folder, capfd

    def run(self, *words: str | Path, codes: tuple[int, ...] = (0,)) -> None:
        code = run([str(word) for word in words])
        out, err = self.capfd.readouterr()
        assert code in codes, f"weft {' '.join(map(str, words))} -> {code}\n{err}"
        assert "Traceback" not in out + err
        assert code != 1 or "error[W" in err or words[0] == "verify", err

    def look(self) -> None:
        for tool in TOOLS:
            self.run("estimate", self.target, "--tool", tool, "--explain")
        for device in ("xc7z020", "xcu200"):
            self.run("space", self.target, "--device", device)
        self.run("space", self.target, "--reassociate")
        self.run("graph", self.target, "--out", self.folder / "graph.svg")

    def lower(self) -> None:
        for level in LEVELS:
            self.run("compile", self.target, "--emit", level)
        self.run("verify", self.target, "--no-cxx", codes=(0, 1))  # 1: all results are NaN

    def explore(self, name: str, *words: str, predicted: bool = False) -> Path:
        """A search; where it is not `predicted` PyTorch is not loaded, which takes longer than most of them."""
        folder = self.folder / name
        how = ("--trials", "4", *(() if predicted else ("--evaluator", "model")))
        self.run("explore", self.target, *how, "--out", folder, *words, codes=(0, 3))
        for line in (folder / "events.jsonl").read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            assert event["event"] != "trial" or event["status"] in FINE, line
        return folder

    def search(self, number: int) -> None:
        """One of the kinds of searches; all of them on one kernel of six."""
        kinds = [SEARCHES[number % 3]] if number % 6 else list(SEARCHES)
        folders = [self.explore(str(n), *words) for n, words in enumerate(kinds)]
        self.run("compare", folders[0], folders[-1])
        self.run("report", folders[-1])
        self.run("export", folders[0], "--best", "--out", self.folder / "project", codes=(0, 1))


def on(target: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> Commands:
    return Commands(target, folder, capfd)


@pytest.mark.parametrize("name", sample(EVERYDAY[1:], 4))
def test_estimates_and_spaces_of_everyday_kernels(name, tmp_path, capfd):
    on(f"{HERE / 'kernels.py'}:{name}", tmp_path, capfd).look()


@pytest.mark.parametrize("name", ACCUMULATORS)
def test_searches_of_scalars_that_accumulate(name, tmp_path, capfd):
    on(f"{HERE / 'kernels.py'}:{name}", tmp_path, capfd).explore("run", "--device", "xc7z020")


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(EVERYDAY, 6))
def test_all_commands_on_everyday_kernels(name, tmp_path, capfd):
    commands = on(f"{HERE / 'kernels.py'}:{name}", tmp_path, capfd)
    commands.lower()
    commands.search(EVERYDAY.index(name))


def guide(folder: Path) -> Iterator[str]:
    """The files of the guide, and of the README, that have kernels, as their readers have them."""
    for page in (*GUIDE, ROOT / "README.md"):
        for block in blocks(page):
            if block.language == "python" and block.title:
                path = folder / page.stem / block.title
                path.parent.mkdir(exist_ok=True)
                with path.open("a", encoding="utf-8") as file:
                    file.write(block.code)
    for path in sorted(folder.glob("*/*.py")):
        for name, kernel in load_kernels(path).items():
            with contextlib.suppress(LanguageError):  # some are there to show an error
                apply(kernel.program, Schedule())
                yield f"{path}:{name}"


def test_kernels_of_the_guide(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    targets = list(guide(tmp_path))
    assert len(targets) > 15
    for number, target in enumerate(targets):
        commands = on(target, tmp_path / str(number), capfd)
        commands.folder.mkdir()
        if number % 2 == 0 or TIMES > 1:
            commands.run("estimate", target, "--explain")
        if number % 8 == 0 or TIMES > 1:
            commands.run("space", target)
        if number % 48 == 0:
            commands.explore("run", "--device", "xc7z020")


@pytest.mark.parametrize("seed", programs(6))
def test_random_programs(seed, tmp_path, capfd):
    commands = on(f"{RANDOM}:p{seed}", tmp_path, capfd)
    target, tool = commands.target, TOOLS[seed % 4]
    commands.run("estimate", target, "--tool", tool, "--explain", codes=REFUSING)
    commands.run("space", target, "--device", "xc7z020")
    commands.explore("run", "--device", "xc7z020", "--trials", "2")


@pytest.mark.slow
@pytest.mark.parametrize("seed", programs(3, 40))
def test_more_random_programs(seed, tmp_path, capfd):
    kind = "pipeline_" if seed % 5 == 0 else "p"
    commands = on(f"{RANDOM}:{kind}{seed}", tmp_path, capfd)
    for tool in TOOLS:
        commands.run("estimate", commands.target, "--tool", tool, "--explain", codes=REFUSING)
    commands.run("space", commands.target, "--reassociate")
    commands.run("graph", commands.target)
    commands.explore("run", "--device", "xc7z020")


@pytest.mark.slow
@pytest.mark.parametrize("path", sample(FILES, 4), ids=lambda path: path.stem)
def test_all_commands_on_examples(path, tmp_path, capfd):
    for name, kernel in load_kernels(path).items():
        size = next(iter(kernel.sizes), None)
        commands = on(f"{path}:{name}", tmp_path / name, capfd)
        commands.folder.mkdir()
        sized = () if size is None else ("--size", size)
        for schedule in kernel.schedules:
            words = ("--schedule", schedule, "--explain", *sized)
            commands.run("estimate", commands.target, *words)
        commands.run("space", commands.target, *sized)
        number = FILES.index(path) // 4
        if number % 3 == 2:
            continue  # each example is exported and built elsewhere: two of three are searched here
        # The fourth trial of many is of the refined front, which all points of a small space are estimated for.
        predicted = number % 3 == 0
        words = ("--device", "xc7z020", "--trials", str(3 + predicted), *sized)
        commands.explore("run", *words, predicted=predicted)
