"""Labelled designs of a data set made into examples: in chunks, by several processes, resumable.

What differs between data sets is in ``convert_*.py``: how a row becomes a region tree.
"""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import qor_gnn
from dsl.errors.errors import InputError
from qor_gnn.design.region import Kernel
from qor_gnn.fit.sources import version_of
from qor_gnn.gnn.examples.example import Example, digest
from qor_gnn.gnn.examples.files import load, save
from qor_gnn.gnn.graph.build import design_graph
from qor_gnn.gnn.graph.pragmas import pragmas_of
from qor_gnn.gnn.graph.schema import NodeType
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.personality import personality

CHUNK = 64
"""Designs that are converted, and kept, at a time."""

Progress = Callable[[int, int], None]
"""Is told how many chunks are done, of how many."""

Rows = Sequence[Any]
Maker = Callable[[Path, Rows], list[Example]]


@dataclass(frozen=True, slots=True)
class Source:
    """A data set: its rows, and a function of a module that makes examples of some of them.

    ``make`` and the rows go to other processes, so both can be pickled.
    """

    name: str
    folder: Path
    rows: tuple[Any, ...]
    make: Maker


@dataclass(frozen=True, slots=True)
class Origin:
    """What an example has beside its design and labels; see `Example`.

    ``target`` is a user's own tool, "" for that of the estimate.
    """

    kernel: str
    family: str
    part: str = ""
    weight: float = 1.0
    name: str = ""
    target: str = ""


def example(
    kernel: Kernel,
    seen: Kernel,
    answer: QorEstimate,
    label: Mapping[str, float],
    origin: Origin,
) -> Example:
    """An example of a design.

    Args:
        kernel: the region tree with the directives that somebody wrote.
        seen: the same as the tool sees it, `qor_gnn.schedule.automatic_directives.automatic`.
        answer: the white box's estimate.
        label: what the tool said.
        origin: where it is from.
    """
    tool = personality(answer.tool)
    target = origin.target or tool.name
    values = tuple(sorted(label.items()))
    return Example(
        graph=design_graph(seen, tool, answer),
        base=base_of(answer),
        label=dict(values),
        target=target,
        kernel=origin.kernel,
        family=origin.family,
        group=digest(target, origin.kernel, origin.part, values),
        pragmas=pragmas_of(kernel),
        terms=terms_of(answer),
        part=origin.part,
        weight=origin.weight,
        name=origin.name,
    )


def base_of(answer: QorEstimate) -> dict[str, float]:
    """What the white box says of every metric; cycles at every loop's most, as tools report them."""
    return {
        "latency": float(answer.latency.maximum),
        "lut": max(0.0, float(answer.lut or 0)),
        "ff": max(0.0, float(answer.ff or 0)),
        "dsp": float(answer.dsp),
        "bram18": float(answer.bram18 or 0),
        "period_ns": float(answer.period_ns or answer.clock_ns),
        "uram": float(answer.uram or 0),
    }


def terms_of(answer: QorEstimate) -> dict[str, float]:
    """The resource terms, ``lut.NAME`` and ``ff.NAME``; ``fixed`` is what needs no coefficient.

    A tool whose designs are made here has no terms: all is ``fixed``.
    """
    sums = answer.sums
    if sums is None:
        return {"lut.fixed": float(answer.lut or 0), "ff.fixed": float(answer.ff or 0)}
    lut = {f"lut.{name}": float(amount) for name, amount in sums.lut.items()}
    ff = {f"ff.{name}": float(amount) for name, amount in sums.ff.items()}
    return lut | ff | {"lut.fixed": sums.lut_fixed, "ff.fixed": sums.ff_fixed}


# ------------------------------------------------------------------------------------------ chunks


@dataclass(frozen=True, slots=True)
class _Chunk:
    path: Path
    folder: Path
    rows: tuple[Any, ...]
    make: Maker


def convert(
    source: Source, cache: Path, jobs: int = 2, progress: Progress = lambda _, __: None
) -> list[Example]:
    """The examples of a data set, duplicates merged; chunks that the cache has are not made again.

    Args:
        source: the data set.
        cache: folder for chunks; one that another version of the model made is not used.
        jobs: processes at once; with 1 all is done in this one.
        progress: is told after each chunk.

    Raises:
        WeftError: A row is not what it should be; a chunk cannot be written.
    """
    folder = cache / source.name / version()
    chunks = [
        _Chunk(folder / f"{digest(rows)}.npz", source.folder, rows, source.make)
        for rows in _cut(source.rows)
    ]
    missing = [chunk for chunk in chunks if not _usable(chunk.path)]
    done = len(chunks) - len(missing)
    progress(done, len(chunks))
    for _ in _made(missing, jobs):
        done += 1
        progress(done, len(chunks))
    return merged(e for chunk in chunks for e in load(chunk.path))


def _cut(rows: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    for start in range(0, len(rows), CHUNK):
        yield rows[start : start + CHUNK]


def _usable(path: Path) -> bool:
    """It is there, and not what a dying process or another version left."""
    if not path.exists():
        return False
    try:
        load(path)
    except InputError:
        return False
    return True


def _made(chunks: Sequence[_Chunk], jobs: int) -> Iterator[None]:
    if jobs == 1 or len(chunks) < 2:
        for chunk in chunks:
            _make(chunk)
            yield
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(jobs, len(chunks)), mp_context=context) as pool:
        try:
            for made in as_completed([pool.submit(_make, chunk) for chunk in chunks]):
                yield made.result()
        finally:
            pool.shutdown(cancel_futures=True)


def _make(chunk: _Chunk) -> None:
    save(chunk.path, chunk.make(chunk.folder, chunk.rows))


def version() -> str:
    """A digest of the sources that an example depends on: the model, how graphs are built, and
    what makes loops and, for the open backend, hardware of a schedule.
    """
    here = Path(qor_gnn.__file__).parent
    every = (p for p in here.rglob("*") if p.suffix in (".py", ".json"))
    white_box = (p for p in every if p.relative_to(here).parts[0] != "gnn")
    used = [p for p in white_box if "datasets" not in p.parts]
    used += [*here.glob("gnn/graph/*.py"), *here.glob("gnn/examples/convert*.py")]
    for package in ("dsl", "polyhedral", "mlir_passes", "backends/rtl"):
        used += [p for p in (here.parent / package).rglob("*") if p.suffix in (".py", ".json")]
    return version_of(here.parent, sorted(used))


# ------------------------------------------------------------------------------------------- merge


def merged(examples: Iterable[Example]) -> list[Example]:
    """One example of each set with one group and the same inputs, with their weight together."""
    found: dict[object, Example] = {}
    for one in examples:
        key = (one.group, _inputs(one))
        known = found.get(key)
        found[key] = one if known is None else replace(known, weight=known.weight + one.weight)
    return list(found.values())


def _inputs(one: Example) -> bytes:
    text = hashlib.sha256()
    for kind in NodeType:
        text.update(one.graph.nodes[kind].tobytes())
    for key in sorted(one.graph.edges, key=repr):
        text.update(repr(key).encode() + one.graph.edges[key].tobytes())
    text.update(repr((sorted(one.base.items()), sorted(one.terms.items()))).encode())
    return text.digest()
