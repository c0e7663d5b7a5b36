"""Binding: which operations share units, and which have to wait for one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Binding:
    """How operations are bound to units.

    Attributes:
        integers_wait: in pipelines operations on integers wait for units. Otherwise there are as many as start
            at once, unless what an iteration loads of an array takes several states.
        combinational_shared: products of integers that end in the state that they start in share units. Otherwise
            each operation has its own, as a multiplexer in front of a unit would lengthen the chain that it is in.
        recurrences_in_step: parallel recurrences of several operators run in step, on units of their own.
        loads_used_at_once: what a pipeline loads of an array in one state it uses at once: where a recurrence
            through the array would wait for a unit, there is one more.
        nests_choose: the modules of a nest share units by multiplexers of their own, and nests by further
            ones; otherwise all modules by one.
        shared_product: states for which what is loaded waits besides, at intervals of three states and more,
            where it is multiplied by a product that several copies share.
    """

    integers_wait: bool = True
    combinational_shared: bool = True
    recurrences_in_step: bool = False
    loads_used_at_once: bool = False
    nests_choose: bool = False
    shared_product: int = 0
