"""A calibration out of a user's own projects: what helps on projects left out, and how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dsl.errors.errors import InputError
from qor_gnn.fit.projects.facts import Facts
from qor_gnn.fit.projects.judged import Measure, Verdict, judged, total
from qor_gnn.fit.projects.own import pieces, together
from qor_gnn.fit.projects.routing import Share, shares
from qor_gnn.tools.operators.calibration import Calibration
from qor_gnn.tools.operators.calibration_file import calibration_of, document
from qor_gnn.tools.operators.timing import Tables, tables

MEASURES: tuple[Measure, ...] = ("latency", "dsp", "ff", "lut")


@dataclass(frozen=True, slots=True)
class Calibrated:
    """What came of it.

    Attributes:
        document: the JSON of the file: the measurements, where they are from, and how they were judged.
        calibration: the measurements.
        verdicts: of all pieces, saved or not.
        shares: what routing leaves, of what two projects or more show.
    """

    document: dict[str, Any]
    calibration: Calibration
    verdicts: tuple[Verdict, ...]
    shares: tuple[Share, ...]


def judged_pieces(facts: Facts, known: Tables | None = None) -> tuple[Verdict, ...]:
    """Each core and size that projects show, judged on what is left out in turn.

    Args:
        facts: of `qor_gnn.fit.projects.facts.facts_of`.
        known: the tables that are there without; None for the shipped ones.
    """
    shipped = known or tables()
    return tuple(judged(piece, rows, shipped) for piece, rows in pieces(facts.rows).items())


def calibrated_to(facts: Facts, verdicts: Sequence[Verdict]) -> Calibrated:
    """A calibration of what helps.

    Args:
        facts: of the projects.
        verdicts: of `judged_pieces`.

    Raises:
        InputError: W553: nothing of them may be saved.
    """
    kept = {v.piece: v.own for v in verdicts if v.kept}
    found = tuple(shares(facts.totals))
    if not kept and not any(share.kept for share in found):
        raise _nothing(facts, verdicts)
    more = {
        "sources": _sources(facts),
        "judged": [_judged(v) for v in verdicts],
        "routing": {s.resource: _plain(s) for s in found if s.kept},
        "routed": [_judged_share(s) for s in found],
    }
    data = document(together(kept), more)
    return Calibrated(data, calibration_of(data, "the calibration"), tuple(verdicts), found)


def _nothing(facts: Facts, verdicts: Sequence[Verdict]) -> InputError:
    if not verdicts:
        return InputError(
            "W553",
            "the reports show no product, and no operator on floats",
            help="those of a kernel with floats or products say how long these take",
        )
    return InputError(
        "W553",
        f"nothing that {len(facts.projects)} projects show makes estimates of those left out better",
        help="the operators that come with Weft stay as they are: nothing is written",
    )


def _sources(facts: Facts) -> list[dict[str, Any]]:
    """The projects that it is made of."""
    rows = Counter(one.row.repo for one in facts.rows)
    found: dict[str, dict[str, Any]] = {}
    for project, about in facts.headings:
        one = found.setdefault(
            project,
            {"project": project, "tools": [], "parts": [], "clocks_ns": [], "facts": rows[project]},
        )
        told = ("tools", f"{about.tool}-{about.version}"), ("parts", about.part)
        for name, value in (*told, ("clocks_ns", about.clock)):
            if value is not None and value not in one[name]:
                one[name].append(value)
    return list(found.values())


def _judged(verdict: Verdict) -> dict[str, Any]:
    errors = {
        f"{measure}_{when}": round(total(measure, found[measure]), 4)
        for measure in MEASURES
        for when, found in (("before", verdict.before), ("after", verdict.after))
        if measure in found
    }
    return {
        **asdict(verdict.piece),
        "left_out": verdict.left_out,
        "of": verdict.units,
        "saved": verdict.kept,
        **errors,
    }


def _plain(share: Share) -> dict[str, Any]:
    told = {name: round(getattr(share, name), 4) for name in ("median", "least", "most")}
    return {"projects": share.projects, **told}


def _judged_share(share: Share) -> dict[str, Any]:
    errors = {"before": round(share.before, 4), "after": round(share.after, 4)}
    return {"resource": share.resource, "designs": share.designs, "saved": share.kept, **errors}
