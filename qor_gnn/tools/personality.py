"""Tool versions as the model sees them: policies and tables at one clock on one device family.

Each is a folder here, see docs/architecture.md: what it is (``tool.json``), what it does (``policies.json``),
its operators and memories, and what the terms of its LUTs and flip-flops cost (``area.json``). Nothing in
the model is keyed on a tool's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path

from dsl.errors.errors import ToolError, did_you_mean
from qor_gnn.tools.memories import Memories, memories
from qor_gnn.tools.operators import Library, Operator, Table, library
from qor_gnn.tools.parse import described, parsed, table

_FOLDERS = Path(__file__).parent
DEFAULT = "vitis-2022.1-zu9eg-10ns"


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
class Version:
    """Which tool it is.

    Attributes:
        name: what a user calls it.
        tool, version: in the vendor's words.
        family, device: for which its operators are known.
        clock_ns: at which they are.
        uncertainty: share of the period that is kept free.
        is_open: it is the open backend: it answers for its own designs, nothing is emulated.
    """

    name: str
    tool: str
    version: str
    family: str
    device: str
    clock_ns: float
    uncertainty: float
    is_open: bool


@dataclass(frozen=True, slots=True)
class Personality:
    """A tool version with its clock, device family, policies, operators and memories.

    Attributes:
        name, tool, version, family, device, clock_ns, uncertainty, is_open: see `Version`.
        folder: its tables.
    """

    name: str
    tool: str
    version: str
    family: str
    device: str
    clock_ns: float
    uncertainty: float
    is_open: bool
    folder: Path
    options: Options
    rules: Rules
    memories: Memories = field(hash=False)
    library: Library = field(hash=False)

    def operator(self, kind: str, type_: str, width: int, impl: str = "") -> Operator:
        """The operator ``kind`` on values of ``type_`` (``f32``, …, ``int``) and ``width`` bits.

        ``impl`` is the implementation asked for; where no report shows it, it is the tool's choice.

        Raises:
            ToolError: W451, the library has no such operator.
        """
        key = (self.name, kind, type_, width, impl)
        found = _OPERATORS.get(key)
        if found is None:
            found = self.library.operator(self.name, kind, type_, width, impl)
            _OPERATORS[key] = found
        return found

    @property
    def implementations(self) -> Mapping[str, Table]:
        """Operators by an implementation that may be asked for."""
        return self.library.implementations

    @property
    def usable_ns(self) -> float:
        """What a chain of combinational operators may take."""
        return self.clock_ns * (1 - self.uncertainty)


_OPERATORS: dict[tuple[str, str, str, int, str], Operator] = {}


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


def available() -> tuple[str, ...]:
    """Names of the tool versions that ship with the package."""
    return tuple(sorted(_folders()))


@cache
def _folders() -> Mapping[str, Path]:
    """The folders of tool versions by name."""
    return {_version(file.parent).name: file.parent for file in _FOLDERS.glob("*/tool.json")}


def folder_of(name: str) -> Path:
    """The folder of a tool version.

    Raises:
        ToolError: W450, there is none of that name.
    """
    if name not in _folders():
        message = f"no tool personality is called '{name}'"
        raise ToolError("W450", message, help=did_you_mean(name, available()))
    return _folders()[name]


@cache
def personality(name: str = DEFAULT) -> Personality:
    """A tool version by name.

    Raises:
        ToolError: W450, there is none of that name.
    """
    return read(folder_of(name))


def read(folder: Path) -> Personality:
    """The tool version that a folder describes.

    Raises:
        ToolError: W453, a table of it is missing, or is not as it should be.
    """
    what = _version(folder)
    policies, _ = table(folder / "policies.json", {"options", "rules"})
    return Personality(
        name=what.name,
        tool=what.tool,
        version=what.version,
        family=what.family,
        device=what.device,
        clock_ns=what.clock_ns,
        uncertainty=what.uncertainty,
        is_open=what.is_open,
        folder=folder,
        options=Options(**policies["options"]),
        rules=Rules(**policies["rules"]),
        memories=memories(folder / "memories.json"),
        library=library(folder / "operators.json"),
    )


def _version(folder: Path) -> Version:
    data, where = described(folder / "tool.json", {f.name for f in fields(Version)})
    return parsed(Version, data, where)
