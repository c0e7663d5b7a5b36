"""The C++ testbench and its golden data: inputs and the results of the kernel without a schedule."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from backends.compare import ulp
from backends.rawdata import to_bytes
from backends.reference import Reference
from dsl.expressions.types import FixedType, FloatType
from dsl.programs.program import Array, Program
from mlir_passes.emit.cpp import extents
from mlir_passes.emit.hls import Argument, pack_call, unpack_call


@dataclass(frozen=True, slots=True)
class Golden:
    """One argument's data: the file of its initial value and, if the kernel writes it, of its
    final one, with the absolute distance from it that is allowed (0: the same bits).
    """

    argument: Argument
    initial: tuple[str, bytes]
    final: tuple[str, bytes] | None
    tolerance: float = 0.0

    @property
    def initial_file(self) -> str:
        """The name of the file of its initial value, in the folder of the data."""
        return _base(self.initial[0])

    @property
    def final_file(self) -> str | None:
        """That of its final one; None where the kernel does not write it."""
        return None if self.final is None else _base(self.final[0])


def written_arrays(program: Program) -> frozenset[str]:
    """Names of the arrays that some statement writes."""
    return frozenset(stmt.target.array for stmt in program.statements())


def golden(
    program: Program, right: Reference, arguments: tuple[Argument, ...]
) -> tuple[Golden, ...]:
    """Inputs, results and tolerances of every argument, in order.

    Args:
        program: The kernel.
        right: What is right for the inputs.
        arguments: What the emitted C++ calls the program's arguments, in order.
    """
    written = written_arrays(program)
    found = []
    for n, (array, argument) in enumerate(zip(program.arguments, arguments, strict=True)):
        stem = f"data/{n:02d}_{argument.cpp}"
        initial = (f"{stem}.in.bin", to_bytes(array, right.inputs[array.name]))
        if array.name not in written:
            found.append(Golden(argument, initial, None))
            continue
        final = (f"{stem}.out.bin", to_bytes(array, right.results[array.name]))
        found.append(Golden(argument, initial, final, _absolute(array, right)))
    return tuple(found)


def _absolute(array: Array, right: Reference) -> float:
    """A tolerance in units in the last place as a distance: those of the largest magnitude."""
    units = right.tolerances.get(array.name, 0)
    if not units:
        return 0.0
    match array.dtype:
        case FloatType():
            values = np.abs(right.results[array.name].astype(np.float64))
            largest = values[np.isfinite(values)].max(initial=0.0)
            if array.name in right.scales:
                largest = max(largest, right.scales[array.name].max(initial=0.0))
            return float(units * ulp(array.dtype, np.asarray(largest)))
        case FixedType(width=width, integer=integer):
            return 2.0 ** (integer - width)
        case _:
            return 1.0


_TEXT = """\
// Testbench of @TOP@: runs it once on the inputs in data/ and compares what it wrote with the
// results of the kernel without a schedule (see README.md). Returns 0 when all elements agree.

#include "@TOP@.h"
#include "weft_tb.h"

int main(int @ARGC@, char **@ARGV@) {
  const weft_tb::folder @GOLDEN@(@ARGC@, @ARGV@, "@FIRST@");

@DECLARATIONS@
@LOADS@

  ::@TOP@(@ARGUMENTS@);
@UNPACKED@
  long @WRONG@ = 0;
@CHECKS@
  std::printf(@WRONG@ ? "FAILED\\n" : "PASSED\\n");
  return @WRONG@ ? 1 : 0;
}
"""
_OWN = ("argc", "argv", "golden", "wrong")


def testbench(top: str, data: tuple[Golden, ...], behind: tuple[Argument, ...]) -> str:
    """The testbench's text. Its own names give way to those of the arguments.

    Args:
        top: the function.
        data: its arguments, with what is expected.
        behind: what it takes behind them: memory that is neither filled nor looked at, and second pointers.
    """
    scratch = [a for a in behind if not a.of]
    taken = {g.argument.cpp for g in data} | {a.cpp for a in scratch}
    words = words_names(data, taken)
    taken |= set(words.values())
    own = {name: _free(name, taken) for name in _OWN}
    golden, wrong = own["golden"], own["wrong"]
    checks = []
    for g in data:
        if g.final is not None:
            if g.tolerance:
                checks.append(
                    "  // A reduction in another order, or exp, log, tanh: not bit exact."
                )
            checks.append(f"  {wrong} += {check_call(g, golden, g.argument.cpp)};")
    packed = [(g, g.argument.cpp, words[g.argument.cpp]) for g in data if g.argument.lanes]
    values = {
        "TOP": top,
        **{name.upper(): value for name, value in own.items()},
        "FIRST": data[0].initial_file if data else "",
        # Static: they may be large. In here: out of the way of the C library's names.
        "DECLARATIONS": "".join(
            f"  static {text};\n"
            for text in (
                *(declaration(g.argument, g.argument.cpp) for g in data),
                *(words_declaration(g.argument, name) for g, _, name in packed),
                *(passed_as(a) for a in scratch),
            )
        ),
        "LOADS": "\n".join(
            [
                *(f"  {load_call(g, golden, g.argument.cpp)};" for g in data),
                *(f"  {packing(g, *names)};" for g, *names in packed),
                *(f"  weft_tb::leave_unfilled({a.cpp});" for a in scratch),
            ]
        ),
        "ARGUMENTS": ", ".join(
            words.get(variable, variable)
            for variable in (*(g.argument.cpp for g in data), *(a.of or a.cpp for a in behind))
        ),
        "UNPACKED": "".join(
            f"  {unpacking(g, *names)};\n" for g, *names in packed if g.final is not None
        ),
        "CHECKS": "\n".join(checks),
    }
    return re.sub(r"@([A-Z]+)@", lambda m: values[m[1]], _TEXT)


def load_call(g: Golden, golden: str, variable: str) -> str:
    """The C++ that reads an argument's initial value into a variable; ``golden`` is the ``weft_tb::folder``."""
    return f'{golden}.load("{g.initial_file}", {variable})'


def check_call(g: Golden, golden: str, variable: str) -> str:
    """The C++ that counts the elements of a variable which are not as they should be."""
    bound = f", {g.tolerance!r}" if g.tolerance else ""
    return f'{golden}.check("{g.final_file}", "{g.argument.cpp}", {variable}{bound})'


def _free(name: str, taken: set[str]) -> str:
    return next(n for n in (name, *(f"{name}_{k}" for k in range(2, 10_000))) if n not in taken)


def declaration(argument: Argument, variable: str) -> str:
    """``float A[200][240]``."""
    return f"{argument.type} {variable}{extents(argument.shape)}"


# ------------------------------------------------------------------------- packed arguments


def words_names(data: tuple[Golden, ...], taken: set[str]) -> dict[str, str]:
    """By packed arguments the variables of their words, which are called as nothing else is."""
    found: dict[str, str] = {}
    for g in data:
        if g.argument.lanes:
            found[g.argument.cpp] = _free(f"{g.argument.cpp}_words", taken | set(found.values()))
    return found


def passed_as(argument: Argument) -> str:
    """As it is declared in the function: ``float A[200][240]``, or in words."""
    declare = words_declaration if argument.lanes else declaration
    return declare(argument, argument.cpp)


def words_declaration(argument: Argument, variable: str) -> str:
    """``weft::word<float, 16> A_words[200][15]``."""
    return f"{argument.kept} {variable}{extents(argument.words)}"


def packing(g: Golden, elements: str, words: str) -> str:
    """The C++ that makes words of the elements of a variable."""
    return pack_call(g.argument, f"weft_tb::elements({elements})", f"weft_tb::elements({words})")


def unpacking(g: Golden, elements: str, words: str) -> str:
    """The C++ that makes elements of words."""
    return unpack_call(g.argument, f"weft_tb::elements({elements})", f"weft_tb::elements({words})")


def _base(path: str) -> str:
    return path.rpartition("/")[2]
