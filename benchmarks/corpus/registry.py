"""Which kernels the corpus has: style, group of variants, the budget, and what they are judged by.

A style is a file of `benchmarks.corpus.kernels`. Its ``GROUPS`` name the kernels that are variants
of one algorithm; a kernel that is in none is a group of its own. A kernel is judged by the schedule
``expert`` of its own, or, where the language cannot say what an expert would do, by that of
another kernel: ``NAME_expert``, or the one that the file's ``JUDGED_BY`` has for it. Kernels that
only others are judged by are no entries. Where the expert's program does other arithmetic, or knows something
of the data, the file's ``OTHER_ALGORITHM`` says what: no reordering, storage or schedule comes to that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from dsl.kernels.kernel import Kernel

KERNELS = Path(__file__).resolve().parent / "kernels"
EXPERT = "expert"


@dataclass(frozen=True)
class Budget:
    """What designs may use: a share of a device, and whether sums of floats may be reordered."""

    device: str = "xc7z020"
    share: float = 0.8
    reassociate: bool = True


@dataclass(frozen=True)
class Entry:
    """A kernel of the corpus.

    Attributes:
        name: of the kernel; no other of the corpus has it.
        style: name of its file.
        group: of variants of one algorithm.
        judged_by: the kernel whose schedule ``expert`` it is judged by, of the same file.
        budget: that the expert's design keeps to, and that is explored.
        other_algorithm: what the expert computes in place of what the kernel says, if anything.
    """

    name: str
    style: str
    group: str
    judged_by: str
    budget: Budget = Budget()
    other_algorithm: str = ""

    @property
    def path(self) -> Path:
        """Its file."""
        return KERNELS / f"{self.style}.py"

    @property
    def kernel(self) -> Kernel:
        """The kernel as it was written."""
        return kernels(self.style)[self.name]

    @property
    def expert(self) -> Kernel:
        """The kernel that has the expert's schedule."""
        return kernels(self.style)[self.judged_by]

    @property
    def rewritten(self) -> bool:
        """Whether the expert's schedule is that of another kernel."""
        return self.judged_by != self.name


def styles() -> list[str]:
    """The styles, in alphabetical order."""
    return sorted(path.stem for path in KERNELS.glob("*.py") if path.stem != "__init__")


@cache
def kernels(style: str) -> dict[str, Kernel]:
    """Every kernel of a style's file, by name, those that others are judged by as well."""
    module = import_module(f"{__package__}.kernels.{style}")
    return {name: value for name, value in vars(module).items() if isinstance(value, Kernel)}


@cache
def entries(style: str) -> tuple[Entry, ...]:
    """The kernels of a style."""
    module = import_module(f"{__package__}.kernels.{style}")
    groups: dict[str, list[str]] = getattr(module, "GROUPS", {})
    judged_by: dict[str, str] = getattr(module, "JUDGED_BY", {})
    group_of = {name: group for group, names in groups.items() for name in names}
    other: dict[str, str] = getattr(module, "OTHER_ALGORITHM", {})
    found = kernels(style)
    judges = {name: judged_by.get(name, _own_judge(name, found)) for name in found}
    rewritten = {judge for name, judge in judges.items() if judge != name}
    listed = set(judged_by) | set(group_of)
    return tuple(
        Entry(
            name,
            style,
            group_of.get(name, name),
            judges[name],
            other_algorithm=other.get(name, ""),
        )
        for name in found
        if name not in rewritten or name in listed
    )


def _own_judge(name: str, found: dict[str, Kernel]) -> str:
    return f"{name}_{EXPERT}" if f"{name}_{EXPERT}" in found else name


def all_entries() -> list[Entry]:
    """Every kernel of the corpus, style by style."""
    return [entry for style in styles() for entry in entries(style)]
