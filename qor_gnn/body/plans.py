"""A statement as it is appended to a `qor_gnn.body.graph.Graph` copy by copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace

from dsl.expressions.affine import Affine
from qor_gnn.body.choices import Choices, choices_of, placed, tables_among
from qor_gnn.body.graph import LOAD
from qor_gnn.body.outside import Outside
from qor_gnn.design.region import Access, Loop, Memory, Statement
from qor_gnn.memory.addresses import Site
from qor_gnn.tools.operators import Operator
from qor_gnn.tools.personality import Personality

_OUTSIDE = ("const", "input")


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a statement: a load, a value from outside, an index, or an operator."""

    kind: str
    site: Site | None = None
    operator: Operator | None = None
    operands: tuple[int, ...] = ()
    head: tuple[str, str, int, str, str] = ("", "", 0, "", "")
    index: Access | None = None
    outside: int = 0
    gather: Access | None = None  # of which the ``operands`` are subscripts


@dataclass(frozen=True, slots=True)
class Plan:
    """A statement whose accesses are placed but for what differs between copies."""

    steps: tuple[Step, ...]
    target: Site | None  # None where values tell the element
    subscripts: tuple[int, ...]  # the steps that tell it
    regrouped: tuple[Step, ...] = ()
    early: tuple[Site, ...] = ()  # what is regrouped is loaded from
    at_data: tuple[Access, ...] = ()  # what is accessed where values tell


@dataclass(slots=True)
class Plans:
    """Of statements, and of what copies leave of those whose choices they decide.

    Attributes:
        site_of: places an access of a statement.
        outside: numbers what statements take from outside.
        personality: of the tool.
        memories: of the design.
        copied: variables of loops that are unrolled.
        tables: those of constants, by name.
    """

    site_of: Callable[[Access], Site]
    outside: Outside
    personality: Personality
    memories: InitVar[Sequence[Memory]]
    copied: frozenset[str]
    tables: dict[str, Memory] = field(init=False)
    _known: dict[int, Plan] = field(default_factory=dict)  # by the statement's identity
    _choices: dict[int, Choices] = field(default_factory=dict)
    _read: list[Statement] = field(default_factory=list)  # kept: others would get their identities

    def __post_init__(self, memories: Sequence[Memory]) -> None:
        self.tables = tables_among(memories)

    def forget(self) -> None:
        """What statements were placed by has changed."""
        self._known.clear()
        self._choices.clear()

    def read(self, statement: Statement, env: Mapping[str, Affine]) -> Plan | None:
        """Prepare a statement as it is written; None where it was read before."""
        if id(statement) in self._known or id(statement) in self._choices:
            return None
        choices = choices_of(statement, env, self.tables, self.copied)
        if choices is None:
            return self._of(statement)
        self._choices[id(statement)] = choices
        if not choices.placed:
            return self._of(statement)
        # With any numbers: copies are alike but for constants.
        self._read.append(placed(statement, [0] * len(statement.ops)))
        return self._of(self._read[-1])

    def at(self, statement: Statement, copies: Mapping[str, int]) -> Plan:
        """Of what is left of a statement in a copy."""
        choices = self._choices.get(id(statement))
        return self._of(statement if choices is None else choices.at(copies))

    def _of(self, statement: Statement) -> Plan:
        found = self._known.get(id(statement))
        if found is None:
            found = plan_of(statement, self.site_of, self.outside, self.personality)
            self._known[id(statement)] = found
        return found


def plan_of(
    statement: Statement,
    site_of: Callable[[Access], Site],
    outside: Outside,
    personality: Personality,
) -> Plan:
    """Prepare a statement.

    Args:
        statement: to be appended.
        site_of: places an access of it.
        outside: numbers what it takes from outside.
        personality: of the tool.
    """
    steps = []
    for op in statement.ops:
        if op.gathers:
            steps.append(Step("", operands=op.operands, gather=op.access))
        elif op.kind == LOAD:
            assert op.access is not None
            steps.append(Step("", site=site_of(op.access)))
        elif op.kind in _OUTSIDE:
            steps.append(Step("", outside=outside.of(op)))
        elif op.kind == "index":
            steps.append(Step("", index=op.access))
        else:
            operator = personality.operator_of(op)
            head = (op.kind, op.type, op.width, op.impl, op.value)
            steps.append(Step(op.kind, operator=operator, operands=op.operands, head=head))
    inside = personality.guards.loads == "inside"
    regroups = inside and personality.sums.reassociates and not statement.scatters
    at_data = tuple(step.gather for step in steps if step.gather is not None)
    if statement.scatters:
        at_data = (*at_data, statement.target)
    target = None if statement.scatters else site_of(statement.target)
    own = statement.subscripts
    return Plan(tuple(steps), target, own, *(regrouped(steps) if regroups else ((), ())), at_data)


def first_of(loop: Loop, copies: Mapping[str, int], env: Mapping[str, Affine]) -> int:
    """Where a loop begins, in one copy of the loops around it."""
    values = {v: Affine((), c) for v, c in copies.items()}
    lowers = [b.substitute(values).substitute(env) for b in loop.lowers]
    return max((b.const for b in lowers if b.is_const), default=0)


def regrouped(steps: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Site, ...]]:
    """The steps with products of three so that the two factors come first which fewer copies tell
    apart: ``(a·x)·b`` as ``(x·b)·a`` where ``x·b`` is the same in copies of which each has its ``a``.

    Returns:
        The steps, and what the factors that come first are loaded from; nothing where no product is
        such.
    """
    uses = Counter(k for step in steps for k in step.operands)
    moved: list[frozenset[str]] = []
    for step in steps:
        own = step.site.moved if step.site is not None else frozenset()
        moved.append(own.union(*(moved[k] for k in step.operands)))
    order, changed, sites = list(range(len(steps))), list(steps), list[Site]()
    for k, step in enumerate(steps):
        if step.kind != "mul" or len(step.operands) != 2 or step.index is not None:
            continue
        first, last = step.operands
        inner = steps[first]
        if inner.head != step.head or len(inner.operands) != 2 or uses[first] > 1 or last < first:
            continue
        stays, goes = sorted(inner.operands, key=lambda n: len(moved[n]))
        if not moved[stays] | moved[last] < moved[first]:
            continue
        changed[first] = replace(inner, operands=(stays, last))
        changed[k] = replace(step, operands=(first, goes))
        order.remove(last)
        order.insert(order.index(first), last)
        sites += [site for n in (stays, last) if (site := steps[n].site) is not None]
    if changed == list(steps):
        return (), ()
    place = {k: at for at, k in enumerate(order)}
    return tuple(
        replace(changed[k], operands=tuple(place[n] for n in changed[k].operands)) for k in order
    ), tuple(sites)
