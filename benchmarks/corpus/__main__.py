"""A corpus of kernels with experts' schedules: one line of JSON a kernel, then a summary.

Each kernel is verified, as it was written and under the expert's schedule; the expert's design is
estimated and compared with the lower bound; and the kernel is explored, within the same budget and by
the same model, in a process of its own. `--record` writes the experts' figures to `recorded.json` and does nothing
else. Exit status 1: something was not verified, not feasible, or crashed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from benchmarks._row import say
from benchmarks.corpus.measure import FULL, QUICK, line_of
from benchmarks.corpus.recorded import record
from benchmarks.corpus.registry import Entry, all_entries, styles
from benchmarks.corpus.summary import passed, summary_of


def chosen(kernels: Sequence[str], wanted: Sequence[str]) -> list[Entry]:
    """The entries of these names and styles; all of them where none is named.

    Raises:
        KeyError: there is no kernel of a name.
    """
    every = all_entries()
    unknown = set(kernels) - {entry.name for entry in every}
    if unknown:
        raise KeyError(f"the corpus has no kernel {', '.join(sorted(unknown))}")
    return [
        entry
        for entry in every
        if (not kernels or entry.name in kernels) and (not wanted or entry.style in wanted)
    ]


def emit(line: dict[str, Any], streams: Sequence[TextIO]) -> None:
    """Print an object as one line."""
    for stream in streams:
        print(json.dumps(line, ensure_ascii=False), file=stream, flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.corpus", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--quick", action="store_true", help="short explorations, no C++ compiled")
    parser.add_argument("--style", action="append", default=[], choices=styles())
    parser.add_argument("--kernel", action="append", default=[], metavar="NAME")
    parser.add_argument("--no-explore", action="store_true", help="only verify and estimate")
    parser.add_argument("--record", action="store_true", help="write recorded.json, nothing else")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the lines here as well")
    options = parser.parse_args(argv)
    try:
        entries = chosen(options.kernel, options.style)
    except KeyError as error:
        parser.error(error.args[0])
    if options.record:
        record(entries)
        return 0
    effort = QUICK if options.quick else FULL
    lines = []
    with contextlib.ExitStack() as stack:
        streams = [sys.stdout]
        if options.out is not None:
            options.out.parent.mkdir(parents=True, exist_ok=True)
            streams.append(stack.enter_context(options.out.open("w", encoding="utf-8")))
        for number, entry in enumerate(entries, start=1):
            say(f"{number} of {len(entries)}: {entry.name}")
            lines.append(line_of(entry, effort, explore=not options.no_explore))
            emit(lines[-1], streams)
        summary = summary_of(lines)
        emit({"summary": summary}, streams)
    return 0 if passed(summary) else 1


if __name__ == "__main__":
    sys.exit(main())
