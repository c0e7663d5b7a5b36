"""What is wrong with a raised module: a code, what it is and where, with a witness."""

from __future__ import annotations

from dataclasses import dataclass

from dsl.errors.errors import IRError, Span
from polyhedral.scop.scop import Statement

HELP = (
    "this is a fault of Weft: the design must not be used. Please report it, with the kernel and "
    "its schedule; weft verify shows whether results differ on data"
)


@dataclass(frozen=True, slots=True)
class Refutation:
    """Proof that level 3 does something else than the program.

    Attributes:
        code: W326 the arrays; W327 the expression or W328 an element of a statement; W336 the
            iterations that are executed; W337 their order; W338 a local's or a stream's memory; W339
            partial sums.
        message: what is wrong.
        span: the statement's place in the user's file.
        notes: the witness and what helps to see it.
    """

    code: str
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()

    def error(self) -> IRError:
        """The same as an error to be raised or rendered."""
        return IRError(self.code, self.message, span=self.span, notes=self.notes, help=HELP)


def source_note(statement: Statement) -> tuple[str, ...]:
    """What the statement is in the kernel's text, where that is known."""
    source = statement.stmt.source
    return (f"{statement.name}: {source}",) if source else ()
