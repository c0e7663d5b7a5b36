"""Operators in the verbose report of a schedule: which core does each, how long its longest stage is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from backends.vitis.facts.tables import Reported
from backends.vitis.numbers import real

_CORE = re.compile(
    r"Core \d{1,4} '(?P<core>\w{1,60})' <Latency = (?P<latency>\d{1,4})> <II = \d{1,4}> <Delay = (?P<delay>[\d.,]{1,10})>"
)
_CALL = re.compile(r'"%?[\w.]{1,200} = (?P<op>[a-z_0-9]{1,40})\b(?P<rest>[^"]{0,2000})"')
_TYPE = re.compile(r"\b(i\d{1,5}|half|float|double) +[-%@\w]")


def scheduled(text: Iterable[str]) -> Iterator[Reported]:
    """The operators of ``*.verbose.sched.rpt``; what has no core, or has stores and loads, is left out."""
    for line in text:
        # Most lines are wires: looking for the word first saves the expression.
        if "Core " not in line or "<Storage>" in line or "<Adapter>" in line:
            continue
        core, call = _CORE.search(line), _CALL.search(line)
        if core is None or call is None:
            continue
        widths = ",".join(_TYPE.findall(call["rest"]))
        delay = real(core["delay"])
        if delay is None:
            continue
        yield Reported(
            "core", call["op"], core["core"], "", widths, int(core["latency"]), delay or None
        )
