"""What values cost no more than they have to, whatever a program says of them: rewritings that change no result and are always better."""

from __future__ import annotations

from dsl.programs.exact_inverses import exact_inverses
from dsl.programs.flag_bits import flag_bits
from dsl.programs.kept_bits import kept_bits
from dsl.programs.program import Program
from dsl.programs.single_bits import single_bits


def lean(program: Program) -> Program:
    """The program with products for divisions by powers of two, flags of one bit, and locals of no more bits than are used of them."""
    return kept_bits(single_bits(flag_bits(exact_inverses(program))))
