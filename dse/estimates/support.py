"""What the labels of a tool say of an estimated design: its `Marks`, and intervals around its figures."""

from __future__ import annotations

from dataclasses import replace

from dse.estimates.estimation import Estimation
from dse.estimates.marks import Marks
from qor_gnn.design.directives import written_unrolls
from qor_gnn.schedule.alike import Alike
from qor_gnn.schedule.automatic_directives import automatic
from qor_gnn.support.error_sources import class_of, error_sources
from qor_gnn.support.features import features
from qor_gnn.support.handed_on import unlabelled
from qor_gnn.support.intervals import Intervals, intervals, widths_of
from qor_gnn.support.labelled import shown, support
from qor_gnn.support.perturbed import robust


def marks_of(found: Estimation) -> Marks | None:
    """e and n of a design; None where its figures are those of what is built, and need no labels."""
    tool = found.setting.tool
    labels = shown(tool)
    if labels is None:
        return None
    kernel = automatic(found.regions, tool, written_unrolls(found.schedule))
    of = support(features(kernel, tool, found.answer), labels)
    return Marks(round(of.excess, 4), of.unseen, largest=of.largest)


def intervals_of(found: Estimation) -> Intervals | None:
    """90% intervals of what the tool would report; None where the figures are those of what is built."""
    tool = found.setting.tool
    labels, widths = shown(tool), widths_of(tool)
    if labels is None or widths is None:
        return None
    kernel = automatic(found.regions, tool, written_unrolls(found.schedule))
    has = features(kernel, tool, found.answer)
    of = support(has, labels)
    most = (of.largest,) if of.excess > 1 else ()
    beyond = (*most, *of.unseen, *unlabelled(kernel, widths.handed_on))
    sources = error_sources(kernel, tool, found.answer, has)
    return intervals(found.answer, widths, class_of(sources), sources, beyond)


def with_phi(marks: Marks, found: Estimation, dsp: int | None, known: Alike | None = None) -> Marks:
    """The marks of a design with phi.

    Args:
        marks: from `marks_of`.
        found: the design.
        dsp: slices that it may use.
        known: scopes of the design, whose bodies are used again.
    """
    where = found.setting
    kept = written_unrolls(found.schedule)
    of = robust(found.regions, where.tool, found.answer, kept=kept, dsp=dsp, known=known)
    return replace(marks, phi=round(of.ratio, 4), rule=of.rule)
