"""The designs of ``vitis2022-zu9eg``, or of a checkout of its authors' repository, as examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from dsl.errors.errors import InputError
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg
from qor_gnn.gnn.examples.convert import Origin, Source, example
from qor_gnn.gnn.examples.example import Example

FAMILIES = (("atax",), ("gemm", "syr2k"), ("k2mm", "k3mm"), ("gesummv",))
"""Kernels that are left out together."""

FILES: tuple[zu9eg.File, ...] = ("kernels", "loops_pipelined", "loops_sequential")


def source(folder: Path, files: Sequence[zu9eg.File] = FILES) -> Source:
    """Its rows: whole kernels, and single nests with interval and iteration latency.

    Raises:
        InputError: W532: the folder does not hold them.
    """
    try:
        rows = tuple(sample for file in files for sample in zu9eg.samples(folder, file))
    except (FileNotFoundError, KeyError, ValueError) as error:
        message = f"{folder} does not hold the labels of {zu9eg.PERSONALITY}"
        raise InputError("W532", message, help=str(error)) from error
    return Source("zu9eg", folder, rows, _make)


def _make(_: Path, rows: Sequence[zu9eg.Sample]) -> list[Example]:
    return [_example(sample) for sample in rows]


def _example(sample: zu9eg.Sample) -> Example:
    kernel = zu9eg.kernel_of(sample)
    answer = estimate(kernel, zu9eg.PERSONALITY)
    label = {name: float(v) for name, v in asdict(sample.labels).items() if v is not None}
    part = "" if sample.file == "kernels" else sample.config.partition("__")[2].split("_")[0]
    family = next(" ".join(f) for f in FAMILIES if sample.kernel in f)
    origin = Origin(sample.kernel, family, part, name=f"{sample.kernel} {sample.config}")
    return example(kernel, kernel, answer, label, origin)
