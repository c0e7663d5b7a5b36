"""Labelled designs from whatever holds them: data sets, `weft label`, projects, files of examples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from backends.vitis.manifest import NAME as PROJECT
from dse.labels import open_examples
from dse.labels.dataset import MANIFEST
from dse.labels.report_examples import report_examples
from dse.labels.trusted import NOBODY, Trusted
from dsl.errors.errors import InputError
from qor_gnn.fit.labelled.zu9eg import CHECKOUT
from qor_gnn.gnn.examples import convert_u200, convert_zu9eg
from qor_gnn.gnn.examples.convert import Progress, Source, convert
from qor_gnn.gnn.examples.example import Example
from qor_gnn.gnn.examples.files import load

CACHE = Path("build/gnn")

KINDS = (
    "a dataset of `weft label`, exported projects with reports, vitis2022-zu9eg or a checkout of its "
    "authors' repository, hlsfactory-u200, a file of examples (.npz)"
)


def examples_of(
    path: Path,
    cache: Path = CACHE,
    jobs: int = 2,
    progress: Progress = lambda _, __: None,
    *,
    trusted: Trusted = NOBODY,
    remark: Callable[[str], None] = lambda _: None,
) -> list[Example]:
    """The labelled designs that a path holds.

    Args:
        path: a file of examples, or a folder: see `KINDS`.
        cache: folder for what was converted.
        jobs: processes at once.
        progress: is told how far it is.
        trusted: what the user named of kernels; no other Python is run.
        remark: is told what is left out, and why.

    Raises:
        InputError: W532: it holds none; W5xx: what it holds is damaged.
    """
    if path.is_file():
        return load(path)
    if (path / MANIFEST).exists():
        return convert(open_examples.source(path, trusted, remark), cache, jobs, progress)
    source = _data_set(path, remark)
    if source is not None:
        return convert(source, cache, jobs, progress)
    if path.is_dir() and next(path.rglob(PROJECT), None) is not None:
        return report_examples(path, trusted, remark)
    raise InputError("W532", f"{path} does not hold labelled designs", help=f"there is {KINDS}")


def _data_set(path: Path, remark: Callable[[str], None]) -> Source | None:
    if (path / "nests.json").exists():
        return convert_u200.source(path, remark)
    if (path / "kernels.csv").exists() or (path / CHECKOUT["kernels"]).exists():
        return convert_zu9eg.source(path)
    return None
