"""What a run-time error tells: the statement, the iteration, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping

from dsl.errors.errors import WeftError
from dsl.expressions.numeric import Fault, FaultKind
from dsl.programs.program import Stmt

_CODES = {
    FaultKind.DIVISION_BY_ZERO: "W190",
    FaultKind.UNINITIALISED: "W191",
    FaultKind.NEGATIVE_SHIFT: "W192",
    FaultKind.OUT_OF_BOUNDS: "W193",
    FaultKind.NOT_FINITE: "W194",
}
_HELP = {
    FaultKind.DIVISION_BY_ZERO: "guard the division, as in x // d if d != 0 else 0",
    FaultKind.UNINITIALISED: "locals are undefined until written, afresh in each iteration of the "
    "loops around their declaration",
    FaultKind.NEGATIVE_SHIFT: "use an unsigned amount, or shift the other way",
    FaultKind.OUT_OF_BOUNDS: "guard the access with an `if` on the loop variables",
    FaultKind.NOT_FINITE: "guard the conversion, as in i32(x) if abs(x) < 1e9 else 0",
}


class ExecutionError(WeftError):
    """W190 to W194: a statement did, in one iteration, what no data may make it do.

    The iteration is one that fails; where several do it need not be the first in program order.
    """

    def __init__(self, fault: Fault, stmt: Stmt, iteration: Mapping[str, int]) -> None:
        at = ", ".join(f"{name} = {value}" for name, value in iteration.items())
        detail = f" ({fault.detail})" if fault.detail else ""
        notes = [f"in the iteration {at}"] if at else []
        super().__init__(
            _CODES[fault.kind],
            f"{stmt.name}: {fault.kind.value}{detail}",
            span=stmt.span,
            notes=notes,
            help=_HELP[fault.kind],
        )
        self.kind = fault.kind
        self.stmt = stmt.name
        self.iteration = dict(iteration)
