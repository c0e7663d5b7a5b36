"""The terms that LUTs and flip-flops are sums of, and how much of each a design has.

An amount is in LUTs or flip-flops where the tool's own tables give it (its coefficient is then near
1), else a count (its coefficient is the cost of one). ``prior`` is what a coefficient is held to
where labels do not tell; `qor_gnn.fit.calibrate` fits the coefficients.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from backends.rtl.area.costs import KINDS, LUTS


@dataclass(frozen=True, slots=True)
class Term:
    """One term: its name, what to expect of its coefficient, what is counted."""

    name: str
    prior: float
    text: str


LUT_TERMS = (
    Term("one", 24, "a design"),
    Term("fsm", 1, "the state machine of a function: a multiplexer of its states"),
    Term("loop", 1, "counter, increment and comparison of a loop"),
    Term("loop_flat", 68, "a pipeline of a flattened nest"),
    Term("levels", 6, "a loop of a pipeline"),
    Term("outer", 44, "a sequential loop around other loops, by its counter: 1 at eight bits"),
    Term("flattened_outer", 89, "a loop flattened into the sequential loop around it"),
    Term("pipeline", 39, "a pipeline that is a module of its own"),
    Term("stages", 2.6, "a stage of a pipeline"),
    Term("copies_pipelined", 46, "a further pipeline of a function"),
    Term("accumulators", 28, "an array element kept in a register over a loop"),
    Term("operands", 1, "multiplexers in front of shared units"),
    Term("shared_units", 1, "multiplexers in front of units that several modules share"),
    Term("port_reads", 1, "multiplexers of the addresses of a port that is read"),
    Term("port_writes", 1, "multiplexers of address and data of a port that is written"),
    Term("shared_reads", 1, "multiplexers of read ports that modules of a function share"),
    Term("shared_writes", 1, "multiplexers of write ports that modules of a function share"),
    Term("top_reads", 1, "multiplexers of read ports that functions share"),
    Term("top_writes", 1, "multiplexers of write ports that functions share"),
    Term("banks", 1, "multiplexers of banks behind loads of sequential bodies"),
    Term("banks_pipelined", 1, "multiplexers of banks behind loads of pipelines"),
    Term("banks_before", 1, "multiplexers of banks behind loads in front of loops"),
    Term("decoder", 14, "a bank that a store of a pipeline may go to"),
    Term("addresses", 0.5, "address arithmetic of sequential bodies"),
    Term("addresses_pipelined", 0.5, "address arithmetic of pipelines"),
    Term("long", 32, "a shift register: a value kept over two iterations or more"),
)

FF_TERMS = (
    Term("one", 10, "a design"),
    Term("fsm", 1, "one-hot states and loop counters"),
    Term("levels", 7, "a loop of a pipeline"),
    Term("flattened_outer", 47, "a loop flattened into the sequential loop around it"),
    Term("pipeline", 26, "a pipeline that is a module of its own"),
    Term("stages", 0.9, "a stage of a pipeline"),
    Term("loaded", 1, "loaded values that are alive at once, sequential bodies"),
    Term("loaded_pipelined", 1, "loaded values that are alive at once, pipelines"),
    Term("selected", 1, "a loaded value behind a multiplexer of banks"),
    Term("split", 0.5, "banks' values kept until the one that is wanted is known"),
    Term("complete", 1, "the elements of an array whose moving dimensions are split completely"),
    Term("selected_complete", 1, "a value selected from those"),
    Term("results", 1, "results of units that are alive at once, sequential bodies"),
    Term("results_pipelined", 1, "results of units that are alive at once, pipelines"),
    Term("later", 1, "a value kept for one more iteration of a pipeline"),
    Term("long", 1, "a shift register: a value kept over two iterations or more"),
    Term("addresses", 1, "addresses of stores"),
    Term("before", 1, "values computed in front of a loop"),
    Term("accumulators", 1, "array elements kept in registers over a loop, and their addresses"),
    Term("switch", 38, "a store that is a switch over banks"),
)


OPEN_LUT_TERMS = tuple(Term(kind, cost, KINDS[kind]) for kind, cost in LUTS.items())
OPEN_FF_TERMS = (Term("flops", 1, KINDS["flops"]),)
"""Of what the open backend makes: its netlist is there to be counted."""


@dataclass(slots=True)
class Sums:
    """Amounts by term. ``lut_fixed`` and ``ff_fixed`` are the operators: they need no coefficient.

    ``lut_fixed`` and ``ff_fixed`` are in LUTs and flip-flops.
    """

    lut: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    ff: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    lut_fixed: float = 0.0
    ff_fixed: float = 0.0
