"""Runs passes over a module: verified after each, timed, and shown to whoever wants to see them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from dsl.errors.errors import InputError, did_you_mean
from mlir_passes.dialect.verify import verify_module

Listener = Callable[[str, str], None]
"""Receives a pass's name and the module's text after it."""


class Pass(Protocol):
    """A change of a level 3 module; a frozen record whose fields are its options."""

    name: ClassVar[str]

    def apply(self, module: Any) -> bool:
        """Change the module in place.

        Returns:
            Whether it is another module than before: if not, it stays the verified one that it was.
        """


@dataclass(frozen=True, slots=True)
class Printing:
    """Whose result to show (``print_after``: pass names, or ``all``), and to whom."""

    print_after: frozenset[str] = frozenset()
    listener: Listener | None = None

    def show(self, name: str, module: Any) -> None:
        """Give the module's text to the listener, if it is wanted after this pass."""
        if self.listener is not None and not self.print_after.isdisjoint((name, "all")):
            self.listener(name, str(module))


def check_names(wanted: Iterable[str], known: Iterable[str]) -> None:
    """Raise W520 for a pass name that does not exist."""
    names = [*known, "all"]
    for name in wanted:
        if name not in names:
            help_line = did_you_mean(name, names)
            raise InputError("W520", f"no pass is called '{name}'", help=help_line)


def run_passes(
    module: Any, passes: Iterable[Pass], printing: Printing | None = None
) -> dict[str, float]:
    """Apply the passes in order, verifying after each that has changed something.

    Args:
        module: verified.
        passes: what to apply.
        printing: who sees the module after which pass.

    Returns:
        Seconds that each pass took, by name, verification included.

    Raises:
        IRError: a pass left a module that is not level 3 (see `verify_module`).
    """
    seconds = {}
    for step in passes:
        start = time.perf_counter()
        if step.apply(module):
            verify_module(module)
        seconds[step.name] = time.perf_counter() - start
        if printing is not None:
            printing.show(step.name, module)
    return seconds
