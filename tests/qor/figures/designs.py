"""The designs whose figures are recorded: all examples, and random programs by their seeds."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from tests.examples.discovery import FILES, label, load
from tests.qor.figures.chosen import CHOSEN, chosen
from tests.qor.figures.nests import KERNELS, nest
from tests.qor.figures.random_designs import RANDOM, with_directives

DIRECTED = 4
"""Random schedules of each example."""
NESTS = 5 * len(KERNELS)
"""Seeds of nests."""

SLOW = frozenset(
    f"{path}:directed{seed}"
    for path, seeds in {
        "dataflow/two_products": (0,),
        "polybench/correlation": (1, 2, 3),
        "polybench/covariance": (1, 2),
        "polybench/doitgen": (2,),
        "polybench/fdtd_2d": (0, 2),
        "polybench/gemm": (0, 1),
        "polybench/jacobi_2d": (3,),
        "polybench/k2mm": (0,),
        "polybench/k3mm": (0,),
        "polybench/lu": (3,),
        "polybench/seidel_2d": (3,),
    }.items()
    for seed in seeds
) | {f"conditions/{seed}" for seed in (3, 8, 15)}
"""Designs that are left out: their estimates take more than half a second of processor time."""


@dataclass(frozen=True, slots=True)
class Design:
    """A design by its name, which is made when it is asked for.

    Attributes:
        group: the table that it is in.
        key: its name, without blanks; no other design has it.
        make: gives its program and its schedule, always the same.
    """

    group: str
    key: str
    make: Callable[[], tuple[Program, Schedule]]


@cache
def designs() -> tuple[Design, ...]:
    """All that are recorded, in the order in which they are."""
    return tuple(design for design in made() if design.key not in SLOW)


def made() -> Iterator[Design]:
    """All that there are, the slow ones included."""
    yield from _examples()
    yield from _directed()
    yield from _random()
    yield from _chosen()


def _examples() -> Iterator[Design]:
    """Each example with each of its schedules and none, at its least size and at its default one."""
    for path in FILES:
        example = load(path)
        for size in _sizes(path):
            for name in ("-", *example.kernel.schedules):
                key = f"{label(path)}{size}:{name}"
                yield Design("examples", key, partial(_example, path, size, name))


def _sizes(path: Path) -> tuple[str, ...]:
    """How a key names the least size and the default one; once where there is a single size."""
    return ("", "@default") if load(path).smallest else ("",)


def _example(path: Path, size: str, name: str) -> tuple[Program, Schedule]:
    example = load(path)
    kernel = example.kernel if size else example.at(example.smallest)
    return kernel.program, kernel.schedules.get(name, Schedule())


def _directed() -> Iterator[Design]:
    """Each example at its least size with random directives."""
    for path in FILES:
        for seed in range(DIRECTED):
            key = f"{label(path)}:directed{seed}"
            yield Design("directed", key, partial(_with_directives, path, seed))


def _with_directives(path: Path, seed: int) -> tuple[Program, Schedule]:
    program, _ = _example(path, "", "-")
    return program, with_directives(random.Random(f"{label(path)}/{seed}"), program)


def _random() -> Iterator[Design]:
    for group, (make, count) in {**RANDOM, "nests": (nest, NESTS)}.items():
        for seed in range(count):
            yield Design(group, f"{group}/{seed}", partial(make, seed))


def _chosen() -> Iterator[Design]:
    for name in CHOSEN:
        yield Design("nests", f"nests/{name}", partial(chosen, name))
