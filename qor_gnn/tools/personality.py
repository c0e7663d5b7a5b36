"""Tool personalities: what one version of an HLS tool does at one clock on one device, as data.

The files are in ``personalities/``; nothing in the model is keyed on a tool's name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from dsl.errors.errors import ToolError, did_you_mean

_FILES = Path(__file__).parent / "personalities"
DEFAULT = "vitis-2022.1-zu9eg-10ns"
_OPEN_FAMILY = "ecp5"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator at one type: when its result may be used, and what a unit costs.

    Attributes:
        core: the kind of unit; operators of one core share units.
        distance: states from its start to the start of what uses it; 0 is combinational.
        delay: of a combinational operator in ns, for chaining.
        dsp, lut, ff, bram18: of one unit. A combinational operator is not shared.
        measured: the figures come from reports of this tool, else they are assumed.
        integer: it works on integers.
    """

    core: str
    distance: int
    delay: float = 0.0
    dsp: int = 0
    lut: int = 0
    ff: int = 0
    bram18: int = 0
    measured: bool = True
    integer: bool = False

    @property
    def shared(self) -> bool:
        """Units of it are worth sharing: it is no mere logic."""
        return self.distance > 0


@dataclass(frozen=True, slots=True)
class Ports:
    """What one bank can do in a cycle: accesses of each kind, and of both together."""

    read: int
    write: int
    both: int


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the tool that change what it does."""

    unsafe_math: bool = False
    auto_pipeline: bool = False
    auto_partition: bool = False
    auto_unroll: bool = False  # short innermost loops into their parents
    inline: bool = False
    flatten: bool = True  # a nest that may be flattened is, even where nobody asked


@dataclass(frozen=True, slots=True)
class Rules:
    """Distances and overheads in states; see docs/qor-model.md for each.

    Attributes:
        load: from a load to the arithmetic that uses it.
        load_register: the same where only a multiplexer of registers is left.
        load_switched: added in a flattened nest to a load that does not move with the innermost
            loop and whose bank is not known.
        store: a store; also from a store to a load of the same bank.
        reload: from a store to a load in the same iteration that may be of its element.
        closing: saved on a register recurrence of a single operator.
        memory_cycle: states of a recurrence through memory besides its operators.
        element_cycle: the same where the innermost loop of a flattened nest stays at the element;
            None where that makes no difference.
        call: states of a pipeline called by its parent besides its iterations.
        switch_cases: from how many banks on a store of unknown bank ends its state.
        address, address_dsp: states and DSP slices of a row's number times its length, where an
            address of a flattened nest needs it.
        flatten_imperfect: nests flatten around statements that are not in the innermost loop.
        ports_apart: a load and a store of one bank, which has two ports, do not share one, nor do two loads
            of one state.
        operands_merged: operations of a pipeline that take one value take it through one input of a
            unit's multiplexer.
        promote_first: accumulators go into registers before nests flatten, and so prevent it.
        whole_copies: a partial last iteration of an unrolled loop counts as a whole one.
        partial_copies_free: of an unrolled loop around a single other one that does not start at 0 a
            partial last iteration does not count at all.
        reassociate: under unsafe math sums are trees; `tree_saved` states of each addition of one,
            and ``exit`` added to a sum in front of the exit of a flattened, partly unrolled loop.
        tree_carries: the accumulator is a leaf of that tree, instead of being added to its sum.
        product_saved: states of each product on a recurrence of several operators through registers,
            which then closes a state later.
        shared_product: states for which what is loaded waits besides, at intervals of three states and
            more, where it is multiplied by a product that several copies share.
        guarded_loads: what is loaded only under a guard that changes from one iteration to the next is
            loaded in the loop, though its subscripts do not move.
        guards_compared: what a guard compares has its LUTs, and the register of a guarded sum selects
            between the sum and what it holds.
        guards_flatten: a nest flattens although its inner loop updates, under a guard, an element that
            it stays at.
        banks_rotate: accesses with one moving subscript are known to be in different banks where
            their offsets are, though not in which.
        banks_hide: where a dimension is split completely and the innermost counter of a flattened nest
            chooses the bank, its subscript does not tell when an element is accessed again.
        counters_hide: in a pipeline counters that do not move a subscript by multiples of what the
            innermost one does hide its remainder by a number of banks that is no power of two.
        alap_remainders: a load whose bank is the remainder of a division reads every bank, where ports
            take those of all copies in an interval, and what they deliver waits.
        blurred: copies of a loop that does not start at 0 and may end behind some of them: the tool
            cannot tell elements that different copies access apart.
        modulus, wide_modulus: states of an address of which only the remainder of a division by the number of
            banks tells the bank, if that is no power of two; ``wide_modulus`` where the tool knows no
            bound of the index.
        division_dsp: DSP slices of an index's division by a number of banks that is no power of
            two; ``narrow`` bits are multiplied, or divided, in logic.
        exit_dsp: DSP slices of such a division behind an exit of an unrolled loop around others.
        asap_integers: in pipelines operations on integers do not wait for units: there are as many as
            start at once. Not so where what an iteration loads of an array takes several states.
        cycles_in_step: parallel recurrences of several operators run in step, on units of their own.
        rows_wait: what a pipeline keeps of memory in registers is loaded and stored, as ports allow,
            between it and the calls around; else all of it is done beside those.
        alap_loads: in bodies that are not pipelined what is loaded is loaded when it is wanted.
        loads_together: what a pipeline loads of an array in one state it uses at once: where a
            recurrence through the array would wait for a unit, there is one more.
        readers_together: loops inside of one run at the same time if they share nothing but scalars,
            and arrays of which each element has a bank, that they only read.
        nests_choose: the modules of a nest share units by multiplexers of their own, and nests by further
            ones; else all modules by one.
        exits_unbounded: behind the exit of a loop that can end between its copies the tool knows no bound
            of its counter: guards compare all of its bits.
        longest_interval: from which on a loop is not pipelined; 0 where it always is.
        concurrent_nests: loops that share no memory run at the same time, whatever is inside.
        blocks_rise: a block between two pipelines moves above the first, and has units of its own.
        blocks_once: the states of a block in a loop, in front of another one, are those in which that
            one waits; else the state machine has both.
        deeper: by how much a pipeline may grow for want of units before it gets more of them.
        copies_counted: a nest that copies an array in the order of its elements has one counter, and
            its pipeline is not one of those of which each further one costs LUTs; one loop by itself keeps
            nothing that it copies in a register.
        each_flattened: a flattened nest has its LUTs for each loop around the innermost one; else once.
        shifted_registers: the address of a store that is shifted along is in flip-flops, in each
            bank that it may go to; else in LUTs alone, once for an element of an array of one
            dimension that is updated in place.
        each_selected: where the bank is not known in several dimensions, what is selected in each has
            a register.
        constants_folded: what is computed from constants alone is a constant, also where copies of a loop
            pass it on through elements of an array.
        each_decoded: where the bank of a store is not known in several dimensions, each is decoded by itself.
        stores_unmerge: loads of an array are merged only where no store to it is in between.
        interval_states: the state machine of a pipeline has the states of its interval, and an enable
            for each iteration that overlaps (at interval 1 none; without such, registers are those of a
            sequential body); else its LUTs go with the states of an iteration.
        speculative_blocks: what a block behind pipelines computes of arrays that nothing beside it stores to
            is there before them, in registers of its own.
        rows_divided: what does not move with a pipeline is divided around it, once; a nest that updates an
            array whose rows are in banks by a remainder is not flattened.
        loads_wait: in pipelines that do not start in each state addresses of loads of an array that they
            update as well wait in registers; and only remainders that an iteration has to divide for come
            so late that each bank's value is kept.
        ports_by_address: a port that several blocks of code use has an input for each address and each register
            that is stored; else for each access.
        alap_updates: pipelines that do not start in each state load the old value of what they update in place
            when it is wanted; the counter waits for it, the address for the store.
        loads_decoded: loads of a state that may all be in one bank, of several dimensions, are decoded for each
            bank as stores are; else its port has a multiplexer.
        elements_apart: where every element of an array has a register, each module has its own; else
            those that read the same row share them.
    """

    load: int = 2
    load_register: int = 1
    load_switched: int = 1
    store: int = 1
    reload: int = 1
    closing: int = 1
    memory_cycle: int = 3
    element_cycle: int | None = None
    call: int = 4
    switch_cases: int = 8
    address: int = 0
    address_dsp: int = 1
    deeper: float = 1.5
    flatten_imperfect: bool = False
    promote_first: bool = True
    whole_copies: bool = False
    partial_copies_free: bool = False
    reassociate: bool = False
    tree_saved: int = 0
    product_saved: int = 0
    shared_product: int = 0
    exit: int = 0
    tree_carries: bool = False
    guarded_loads: bool = False
    guards_compared: bool = False
    guards_flatten: bool = True
    banks_rotate: bool = False
    banks_hide: bool = False
    counters_hide: bool = False
    alap_remainders: bool = False
    blurred: bool = False
    modulus: int = 0
    wide_modulus: int = 0
    division_dsp: int = 0
    narrow: int = 0
    exit_dsp: int = 0
    asap_integers: bool = False
    cycles_in_step: bool = False
    rows_wait: bool = False
    alap_loads: bool = False
    loads_together: bool = False
    readers_together: bool = False
    nests_choose: bool = False
    exits_unbounded: bool = False
    longest_interval: int = 0
    concurrent_nests: bool = False
    blocks_rise: bool = True
    blocks_once: bool = False
    copies_counted: bool = False
    each_flattened: bool = False
    shifted_registers: bool = True
    elements_apart: bool = True
    ports_apart: bool = False
    operands_merged: bool = False
    interval_states: bool = False
    constants_folded: bool = False
    stores_unmerge: bool = False
    each_decoded: bool = False
    each_selected: bool = False
    speculative_blocks: bool = False
    rows_divided: bool = False
    loads_wait: bool = False
    ports_by_address: bool = False
    loads_decoded: bool = False
    alap_updates: bool = False


@dataclass(frozen=True, slots=True)
class Personality:
    """A tool version with its clock, device family, options, operators and memories."""

    name: str
    tool: str
    version: str
    family: str
    device: str
    clock_ns: float
    uncertainty: float  # share of the period that is kept free
    argument_memory: str
    local_memory: str
    options: Options
    rules: Rules
    ports: Mapping[str, Ports] = field(hash=False)
    operators: Mapping[str, Mapping[str, Operator]] = field(hash=False)
    integers: Mapping[str, Mapping[str, Any]] = field(hash=False)
    implementations: Mapping[str, Mapping[str, Mapping[str, Operator]]] = field(
        default_factory=dict, hash=False
    )

    def operator(self, kind: str, type_: str, width: int, impl: str = "") -> Operator:
        """The operator ``kind`` on values of ``type_`` (``f32``, …, ``int``) and ``width`` bits.

        ``impl`` is the implementation asked for; where no report shows it, it is the tool's choice.

        Raises:
            ToolError: W451, the library has no such operator.
        """
        chosen = self.implementations.get(impl, {}).get(type_, {}).get(kind)
        return _operator(self, kind, type_, width) if chosen is None else chosen

    @property
    def is_open(self) -> bool:
        """It is the open backend: it answers for its own designs, nothing is emulated."""
        return self.family == _OPEN_FAMILY

    @property
    def usable_ns(self) -> float:
        """What a chain of combinational operators may take."""
        return self.clock_ns * (1 - self.uncertainty)


def allowed(personality: Personality, reassociates: bool) -> Personality:
    """The tool as it is run for a design: without unsafe math where no sum may be reassociated.

    Args:
        personality: as measured.
        reassociates: the schedule allows some sum to be done in any order.
    """
    if reassociates or not personality.options.unsafe_math:
        return personality
    options = replace(personality.options, unsafe_math=False)
    return replace(
        personality, options=options, rules=replace(personality.rules, reassociate=False)
    )


_OPERATORS: dict[tuple[str, str, str, int], Operator] = {}


def _operator(personality: Personality, kind: str, type_: str, width: int) -> Operator:
    key = (personality.name, kind, type_, width)
    found = _OPERATORS.get(key)
    if found is None:
        found = _OPERATORS[key] = _looked_up(personality, kind, type_, width)
    return found


def _looked_up(personality: Personality, kind: str, type_: str, width: int) -> Operator:
    if type_ == "int" and kind in personality.integers:
        return _integer(kind, personality.integers[kind], width)
    table = personality.operators.get(type_, {})
    if kind not in table:
        known = sorted({*table, *personality.integers})
        message = f"{personality.name} has no operator '{kind}' on {type_}"
        raise ToolError("W451", message, help=did_you_mean(kind, known))
    return table[kind]


def _integer(kind: str, row: Mapping[str, Any], width: int) -> Operator:
    """An operator on integers: steps by width, or figures linear in the width."""
    for step in row.get("steps", ()):
        if width <= step["width"]:
            row = {**row, **step}
            break
    base, slope = row.get("delay", (0.0, 0.0))
    lut_base, lut_slope = row.get("lut", (0, 0))
    return Operator(
        core=f"{kind}_{width}",
        distance=row.get("distance", 0),
        delay=base + slope * width,
        dsp=row.get("dsp", 0),
        lut=round(lut_base + lut_slope * width),
        ff=row.get("ff", 0),
        measured=row.get("measured", False),
        integer=True,
    )


def available() -> tuple[str, ...]:
    """Names of the personalities that ship with the package."""
    return tuple(sorted(path.stem for path in _FILES.glob("*.json")))


@cache
def personality(name: str = DEFAULT) -> Personality:
    """A personality by name.

    Raises:
        ToolError: W450, there is none of that name.
    """
    if name not in available():
        message = f"no tool personality is called '{name}'"
        raise ToolError("W450", message, help=did_you_mean(name, available()))
    return read(json.loads((_FILES / f"{name}.json").read_text(encoding="utf-8")))


def read(data: Mapping[str, Any]) -> Personality:
    """A personality from the JSON object that the files hold."""
    tables = _tables(data["operators"])
    asked = {impl: _tables(rows) for impl, rows in data.get("implementations", {}).items()}
    plain = ("name", "tool", "version", "family", "device", "clock_ns", "uncertainty")
    return Personality(
        **{key: data[key] for key in plain},
        argument_memory=data["argument_memory"],
        local_memory=data["local_memory"],
        options=Options(**data["options"]),
        rules=Rules(**data["rules"]),
        ports={name: Ports(*row) for name, row in data["ports"].items()},
        operators=tables,
        integers=data["integers"],
        implementations=asked,
    )


def _tables(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Operator]]:
    return {
        type_: {kind: Operator(**row) for kind, row in table.items()}
        for type_, table in rows.items()
    }
