"""The designs of Gao, Zhao, Lin and Guo (DATE 2024): Vitis HLS 2022.1, xczu9eg, 10 ns.

Reads ``kernels.csv``, ``loops_pipelined.csv`` and ``loops_sequential.csv`` of a folder outside of
the package, or the same of a checkout of the authors' repository (`CHECKOUT`). Six f32 kernels with
every extent 64; each nest is a function of its own.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

from dsl.builder.program import ProgramBuilder
from dsl.builder.terms import Element, LoopVar, Placeholder
from dsl.errors.errors import InputError, ScheduleError
from dsl.expressions.types import f32
from dsl.programs.program import Program
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Flatten, Partition, Pipeline, Step, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.scop.scheduled import build
from qor_gnn.design.directives import with_directives
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Kernel, body_as_kernel, split_functions
from qor_gnn.fit.labelled.rows import cell, count, csv_rows

EXTENT = 64
PERSONALITY = "vitis-2022.1-zu9eg-10ns"
DEVICE = "xczu9eg"
STORAGE = "ram_s2p"  # one port that reads and one that writes, of each bank
FILES = ("kernels", "loops_pipelined", "loops_sequential")

File = Literal["kernels", "loops_pipelined", "loops_sequential"]

CHECKOUT: Mapping[File, str] = {
    "kernels": "GNNg/data/raw/source_label.csv",
    "loops_pipelined": "GNNp/data/raw/source_label.csv",
    "loops_sequential": "GNNnp/data/raw/source_label.csv",
}
"""Where the files are in the authors' repository. II and IL of whole kernels say nothing there."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What the tool reported; ``ii`` and ``il`` are given for single loops only."""

    latency: int
    lut: int
    ff: int
    dsp: int
    ii: int | None = None
    il: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """A labelled design.

    Attributes:
        kernel: name of the kernel.
        config: the directives as the data set writes them.
        nest: which of the kernel's nests it is; None for all of them.
        outer: loops that were left out, outermost first: their variables are arguments.
        file: which of the files it is from.
        where: the file and line, for messages.
    """

    kernel: str
    config: str
    file: File
    nest: int | None
    outer: tuple[str, ...]
    schedule: Schedule
    labels: Labels
    where: str = field(default="", compare=False, repr=False)

    @property
    def program(self) -> Program:
        """The kernel, or the nest that the loop is in."""
        return program(self.kernel) if self.nest is None else nest(self.kernel, self.nest)


def samples(folder: Path, file: File) -> Iterator[Sample]:
    """The rows of one file, those left out that do not say what they hold.

    Rows of other kernels than `KERNELS` are left out too.

    Raises:
        FileNotFoundError: the folder has no such file.
        InputError: W512: it cannot be read; W511: a row is not what it should be.
    """
    path = folder / f"{file}.csv"
    if not path.exists():
        path = folder / CHECKOUT[file]
    if not path.exists():
        missing = folder / f"{file}.csv"
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(missing))
    for where, row in csv_rows(path):
        if cell(row, "kernel", where) in _KERNELS:
            found = _sample(row, file, where)
            if file == "kernels" or not _faulty(found):
                yield found


def _faulty(sample: Sample) -> bool:
    """The rows of gesummv's loop lp2 alone ignore the partitions that they name."""
    return sample.kernel == "gesummv" and min(_loops_of(sample.config)) == 2


def _sample(row: Mapping[str, str], file: File, where: str) -> Sample:
    single = file != "kernels"
    labels = Labels(
        **{name: count(row, name, where) for name in ("latency", "lut", "ff", "dsp")},
        ii=count(row, "II", where) if single and row.get("II") else None,
        il=count(row, "IL", where) if single and row.get("IL") else None,
    )
    kernel, config = row["kernel"], cell(row, "config", where)
    if not _CONFIG.fullmatch(config):
        raise InputError("W511", f"{where}: '{config[:80]}' is no configuration", help=_LIKE)
    which: int | None = None
    outer: tuple[str, ...] = ()
    if single:
        first = f"lp{min(_loops_of(config))}"
        nests = _NESTS[kernel]
        inside = [n for n, loops in enumerate(nests) if first in loops]
        if not inside:
            raise InputError("W511", f"{where}: {kernel} has no loop {first}")
        which = inside[0]
        outer = nests[which][: nests[which].index(first)]
    return Sample(kernel, config, file, which, outer, schedule(config), labels, where)


# ----------------------------------------------------------------------------------------- configs


_CONFIG = re.compile(
    r"([A-Za-z]+_[1-9]\d?_[1-9]\d{0,5}(_[A-Za-z]+_[1-9]\d?_[1-9]\d{0,5})*)?_"
    r"(_lp[1-9]\d?_[pn]_[1-9]\d{0,5}_[fn])+"
)
_LIKE = (
    "one is ARRAY_DIMENSION_FACTOR_..__lpNUMBER_p_UNROLL_f_.., with n for not pipelined, not flat"
)


def _loops_of(config: str) -> dict[int, tuple[bool, int, bool]]:
    words = config.partition("__")[2].split("_")
    return {
        int(words[n][2:]): (words[n + 1] == "p", int(words[n + 2]), words[n + 3] == "f")
        for n in range(0, len(words), 4)
    }


def schedule(config: str) -> Schedule:
    """The steps that a configuration stands for."""
    arrays, _, _ = config.partition("__")
    steps: list[Step] = []
    words = arrays.split("_") if arrays else []
    for n in range(0, len(words), 3):
        factor = int(words[n + 2])
        if factor > 1:
            steps.append(Partition(words[n], int(words[n + 1]) - 1, "cyclic", factor))
    for place, (pipeline, unroll, flatten) in _loops_of(config).items():
        loop = f"lp{place}"
        if pipeline:
            steps.append(Pipeline(loop))
        if unroll > 1:
            steps.append(Unroll(loop, 0 if unroll >= EXTENT else unroll))
        if not flatten:
            steps.append(Flatten(loop, False))
    return Schedule(tuple(steps))


# ----------------------------------------------------------------------------------------- designs


def kernel_of(sample: Sample) -> Kernel:
    """The design as a region tree: the nests as functions, or one loop with what is inside it.

    Raises:
        InputError: W2xx: the configuration names what the kernel has not; with the sample's row.
    """
    tree = structure(sample.kernel, sample.nest, sample.outer)
    try:
        return with_directives(tree, sample.schedule)
    except ScheduleError as error:
        raise error.at(f"{sample.where}: '{sample.config[:80]}'") from error


@cache
def structure(kernel: str, number: int | None = None, outer: tuple[str, ...] = ()) -> Kernel:
    """A kernel (or one nest) without directives; the body of the ``outer`` loops on its own. Its arrays are bound to
    `STORAGE`, as all of the data set are.
    """
    one = program(kernel) if number is None else nest(kernel, number)
    whole = kernel_of_tree(loop_tree(build(one)))
    memories = tuple(
        replace(m, storage=STORAGE, impl="auto") if m.shape else m for m in whole.memories
    )
    whole = replace(whole, memories=memories)
    if outer:
        return body_as_kernel(whole, outer[-1])
    return split_functions(whole, tuple((n,) for n in range(len(whole.functions[0].body))))


@cache
def nest(kernel: str, number: int) -> Program:
    """One nest of a kernel as a program."""
    return replace(program(kernel), body=(program(kernel).body[number],))


@cache
def program(kernel: str) -> Program:
    """The kernel; loops are called ``lp1``, ``lp2``, … in order.

    Raises:
        KeyError: it is none of the six.
    """
    build_it = _KERNELS[kernel]
    p = ProgramBuilder(kernel)
    build_it(p)
    return p.build()


Build = Callable[[ProgramBuilder], None]


def _loops(p: ProgramBuilder, first: int, count: int) -> tuple[LoopVar, ...]:
    return p.loops(**{f"lp{first + n}": EXTENT for n in range(count)})


def _square(p: ProgramBuilder, *names: str) -> tuple[Placeholder, ...]:
    return tuple(p.placeholder(name, f32, (EXTENT, EXTENT)) for name in names)


def _vector(p: ProgramBuilder, *names: str) -> tuple[Placeholder, ...]:
    return tuple(p.placeholder(name, f32, (EXTENT,)) for name in names)


def _scalars(p: ProgramBuilder, *names: str) -> tuple[Element, ...]:
    return tuple(p.placeholder(name, f32) for name in names)


def _atax(p: ProgramBuilder) -> None:
    (a,) = _square(p, "A")
    x, y, tmp = _vector(p, "x", "y", "tmp")
    i, j = _loops(p, 1, 2)
    p.compute("S0", (i, j), tmp[i], tmp[i] + a[i, j] * x[j])
    i, j = _loops(p, 3, 2)
    p.compute("S1", (i, j), y[j], y[j] + a[i, j] * tmp[i])


def _gemm(p: ProgramBuilder) -> None:
    alpha, beta = _scalars(p, "alpha", "beta")
    a, b, c = _square(p, "A", "B", "C")
    i, j = _loops(p, 1, 2)
    p.compute("S0", (i, j), c[i, j], beta * c[i, j])
    i, j, k = _loops(p, 3, 3)
    p.compute("S1", (i, j, k), c[i, j], c[i, j] + (alpha * a[i, k]) * b[k, j])


def _gesummv(p: ProgramBuilder) -> None:
    alpha, beta = _scalars(p, "alpha", "beta")
    a, b = _square(p, "A", "B")
    tmp, x, y = _vector(p, "tmp", "x", "y")
    i, j = _loops(p, 1, 2)
    p.compute("S0", (i, j), tmp[i], tmp[i] + a[i, j] * x[j])
    p.compute("S1", (i, j), y[i], y[i] + b[i, j] * x[j], after=("S0", j))
    (i,) = _loops(p, 3, 1)
    p.compute("S2", (i,), y[i], alpha * tmp[i] + beta * y[i])


def _k2mm(p: ProgramBuilder) -> None:
    alpha, beta = _scalars(p, "alpha", "beta")
    a, b, c, d, tmp = _square(p, "A", "B", "C", "D", "tmp")
    i, j, k = _loops(p, 1, 3)
    p.compute("S0", (i, j, k), tmp[i, j], tmp[i, j] + (alpha * a[i, k]) * b[k, j])
    i, j, k = _loops(p, 4, 3)
    p.compute("S1", (i, j), d[i, j], d[i, j] * beta)
    p.compute("S2", (i, j, k), d[i, j], d[i, j] + tmp[i, k] * c[k, j], after=("S1", j))


def _k3mm(p: ProgramBuilder) -> None:
    a, b, c, d, e, f, g = _square(p, "A", "B", "C", "D", "E", "F", "G")
    i, j, k = _loops(p, 1, 3)
    p.compute("S0", (i, j, k), e[i, j], e[i, j] + a[i, k] * b[k, j])
    p.compute("S1", (i, j, k), f[i, j], f[i, j] + c[i, k] * d[k, j], after=("S0", k))
    i, j, k = _loops(p, 4, 3)
    p.compute("S2", (i, j, k), g[i, j], g[i, j] + e[i, k] * f[k, j])


def _syr2k(p: ProgramBuilder) -> None:
    alpha, beta = _scalars(p, "alpha", "beta")
    a, b, c = _square(p, "A", "B", "C")
    i, j = _loops(p, 1, 2)
    p.compute("S0", (i, j), c[i, j], c[i, j] * beta)
    i, j, k = _loops(p, 3, 3)
    terms = (a[j, k] * alpha) * b[i, k] + (b[j, k] * alpha) * a[i, k]
    p.compute("S1", (i, j, k), c[i, j], c[i, j] + terms)


_KERNELS: dict[str, Build] = {
    "atax": _atax,
    "gemm": _gemm,
    "gesummv": _gesummv,
    "k2mm": _k2mm,
    "k3mm": _k3mm,
    "syr2k": _syr2k,
}
_NESTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "atax": (("lp1", "lp2"), ("lp3", "lp4")),
    "gemm": (("lp1", "lp2"), ("lp3", "lp4", "lp5")),
    "gesummv": (("lp1", "lp2"), ("lp3",)),
    "k2mm": (("lp1", "lp2", "lp3"), ("lp4", "lp5", "lp6")),
    "k3mm": (("lp1", "lp2", "lp3"), ("lp4", "lp5", "lp6")),
    "syr2k": (("lp1", "lp2"), ("lp3", "lp4", "lp5")),
}
KERNELS = tuple(_KERNELS)
