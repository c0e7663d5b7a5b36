"""Generated RTL in Verilator: the data of the graph bit for bit, in exactly the predicted cycles."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from backends.rtl.generate import Options, generate
from backends.rtl.graph import (
    DepKind,
    Graph,
    Guarded,
    Kind,
    Loop,
    Memory,
    Pipeline,
    Scalar,
    Straight,
)
from backends.rtl.tools import find_verilator, find_yosys, lint, yosys
from dsl.expressions.affine import Affine, Constraint
from tests.rtl.support.batch import Case, check, combined
from tests.rtl.support.graphs import Maker, affine, array, counter, mac
from tests.rtl.support.simulate import faults, simulate

N, J = affine({"i": 1}), affine({"j": 1})


def data(graph: Graph, seed: int):
    rng = random.Random(f"{graph.name} {seed}")
    arrays = {
        a.name: [rng.getrandbits(a.width) for _ in range(a.depth * a.banks)]
        for a in graph.arrays
        if a.argument
    }
    return arrays, {s.name: rng.getrandbits(s.width) for s in graph.scalars}


def add_one(m: Maker, offset: Affine, *, again: bool = False, **more) -> None:
    """``a[offset] += k``, for ``k`` the scalar; ``again``: for one element more than once."""
    word = m.load("a", 12, offset, **more)
    k = m.op(Kind.INPUT, 12, name="k")
    total = m.op(Kind.ADD, 12, word, k)
    store = m.store("a", 12, total, offset, **more)
    m.dep(word, store, DepKind.ANTI)
    if again:
        m.dep(store, word, DepKind.FLOW, 1)
        m.dep(store, store, DepKind.OUTPUT, 1)


def step(offset: Affine, **more) -> Straight:
    m = Maker()
    add_one(m, offset, **more)
    return Straight(m.block)


def pipe(counters, offset: Affine, ii: int = 1, **more) -> Pipeline:
    m = Maker()
    add_one(m, offset, **more)
    return Pipeline(tuple(counters), m.block, ii)


def kernel(name: str, *body, depth: int = 64, banks: int = 1, **more) -> Graph:
    arrays = (array("a", 12, depth, banks, **more),)
    return Graph(name, arrays, (Scalar("k", 12),), tuple(body))


def triangular() -> Graph:
    inner = pipe([counter("j", 7, lower="i")], N * 8 + J)
    return kernel("triangular", Loop(counter("i", 9), (inner, step(N))), depth=80)


def flattened() -> Graph:
    counters = [counter("i", 5, lower=1), counter("j", Affine.of("i") + 1)]
    return kernel("flattened", pipe(counters, N * 8 + J))


def skewed() -> Graph:
    """Bounds as of a skewed nest: what is no iteration is passed over, in a cycle of its own."""
    t = Affine.of("t")
    first = counter("i", 6, lower=(0, t * 2 - 3))
    second = counter("j", (5, Affine.of("i") + 4 - t * 2), lower=(0, t - 3))
    pipeline = pipe([first, second], N * 8 + J, again=True)
    return kernel("skewed", Loop(counter("t", 4), (pipeline,)))


def guards() -> Graph:
    even = (Constraint(N - (N // 2) * 2, "=="),)
    odd = (Constraint(N - (N // 2) * 2 - 1, "=="),)
    inner = Guarded(odd, (step(J + 30), Guarded(even, (step(J + 40),))))
    small = (Constraint(-J + 1),)
    body = Loop(counter("j", 3), (Guarded(small, (step(J),)), inner, step(J + 50)))
    return kernel("guards", Loop(counter("i", 5), (Guarded(even, (step(N + 8),)), body)))


def strides() -> Graph:
    thirds = (N * 7 + J * 3) // 5
    loop = Loop(counter("i", 9, lower=2, step=3), (pipe([counter("j", 6)], thirds, again=True),))
    return kernel("strides", loop, step(affine()))


def intervals() -> Graph:
    return kernel(
        "intervals", *(pipe([counter("i", 9)], N * 3 + n, ii) for n, ii in enumerate((1, 2, 5)))
    )


def banks(memory: Memory) -> Graph:
    which = (N * 3) % 4
    dynamic = pipe([counter("i", 11)], N // 4, ii=3, bank=None, bank_affine=which)
    same = pipe([counter("j", 1, lower=-3)], affine(), bank=2, again=True)
    name = f"banks_{memory.value}"
    return kernel(name, dynamic, same, depth=4, banks=4, memory=memory)


def registers() -> Graph:
    m = Maker()
    word = m.load("a", 12, affine(), bank=None, bank_affine=N % 4)
    other = m.load("r", 12, affine(), bank=None, bank_affine=(N + 1) % 3)
    total = m.op(Kind.ADD, 12, word, other)
    first = m.store("r", 12, total, affine(), bank=None, bank_affine=(N + 2) % 3)
    second = m.store("a", 12, total, affine(), bank=1, guard=(Constraint(N - 3),))
    m.dep(word, second, DepKind.ANTI)
    m.dep(second, word, DepKind.FLOW, 1)
    m.dep(other, first, DepKind.ANTI)
    m.dep(first, other, DepKind.FLOW, 1)
    m.dep(first, first, DepKind.OUTPUT, 1)
    m.dep(second, second, DepKind.OUTPUT, 1)
    start = Maker()
    zero = start.op(Kind.CONST, 12, value=5)
    for bank in range(3):
        start.store("r", 12, zero, affine(), bank=bank)
    arrays = (
        array("a", 12, 1, 4, memory=Memory.REGISTERS),
        array("r", 12, 1, 3, memory=Memory.REGISTERS, argument=False),
    )
    body = (Straight(start.block), Pipeline((counter("i", 9),), m.block))
    return Graph("registers", arrays, (), body)


def local() -> Graph:
    """Through a local memory, with many reads of it and long-lived values."""
    fill, use = Maker(), Maker()
    fill.store("t", 20, fill.load("a", 12, N), N)
    words = [use.load("t", 20, (N + n) % 16) for n in range(5)]
    total = use.op(Kind.MUL, 20, words[0], words[4])
    for word in words[1:]:
        total = use.op(Kind.SUB, 20, total, word)
    index = use.op(Kind.INDEX, 9, affine=N * 11 - 30)
    total = use.op(Kind.XOR, 20, total, index)
    use.store("a", 12, use.op(Kind.RESIZE, 12, total), N)
    arrays = (array("a", 12, 16), array("t", 20, 16, memory=Memory.LUTRAM, argument=False))
    body = (
        Pipeline((counter("i", 16),), fill.block),
        Pipeline((counter("i", 16),), use.block),
        Loop(counter("i", 3), (Straight(use.block),)),
    )
    return Graph("local", arrays, (), body)


def shared() -> Graph:
    """Divisions that take turns in one divider, of a pipeline and of straight code."""
    m = Maker()
    words = [m.load("a", 12, (N * 5 + n) % 16) for n in range(5)]
    total = words[0]
    for word in words[1:]:
        positive = m.op(Kind.OR, 12, word, m.op(Kind.CONST, 12, value=1))
        total = m.op(Kind.DIV, 12, total, positive, signed=False)
    m.store("b", 12, total, N)
    arrays = (array("a", 12, 16), array("b", 12, 16))
    body = (Pipeline((counter("i", 9),), m.block), Loop(counter("i", 3), (Straight(m.block),)))
    return Graph("shared", arrays, (), body)


FLOATS = replace(mac(9, floats=True), name="floats")
GRAPHS = [
    mac(),
    mac(5, 4),
    FLOATS,
    triangular(),
    flattened(),
    skewed(),
    guards(),
    strides(),
    intervals(),
]
GRAPHS += [banks(Memory.BRAM), banks(Memory.LUTRAM), registers(), local(), shared()]


@pytest.mark.parametrize("options", [Options(), Options(period_ns=3.0, bram_latency=2)], ids=str)
def test_every_kind_of_region_gives_the_data_of_the_graph(options, tmp_path, runtime):
    cases = [Case(generate(g, options), g, [data(g, n) for n in range(3)]) for g in GRAPHS]
    found = check(cases, tmp_path, runtime)
    assert {g.name: f for g, f in zip(GRAPHS, found, strict=True) if f} == {}


def test_verilator_has_nothing_to_say(tmp_path):
    whole = combined([generate(g) for g in GRAPHS])
    run = lint(find_verilator(), whole.verilog, whole.top.name, tmp_path)
    assert run.ok, run.log


@pytest.mark.usefixtures("warm_tools")
def test_yosys_finds_nothing_wrong(tmp_path):
    whole = combined([generate(g) for g in GRAPHS])
    run = yosys.check(find_yosys(), whole.verilog, whole.top.name, tmp_path)
    assert run.ok, run.log


def test_a_wrong_prediction_or_datum_is_seen(tmp_path, runtime):
    graph = mac()
    design = generate(graph)
    given = [data(graph, 0)]
    got = simulate(design, given, tmp_path, runtime=runtime, hold=True)
    assert faults(design, graph, given, got) == []
    assert faults(design, mac(11), given, got) != []
    other = generate(mac(11))
    assert "cycles, not" in faults(other, graph, given, got)[-1]


def test_the_same_graph_gives_the_same_text():
    assert generate(local()).verilog == generate(local()).verilog


def test_ports_are_those_that_are_needed():
    design = generate(mac())
    a, b, s = (next(design.banks_of(name)) for name in "abs")
    assert (a.reads, a.writes, s.reads, s.writes) == (True, False, True, True)
    assert (a.raddr, b.rdata, s.we) == ("a_0_raddr", "b_0_rdata", "s_0_we")
    assert (s.addr_width, s.depth, s.width) == (2, 4, 32)
    names = {ref.name for ref in design.top.inputs} | {w.ref.name for w in design.top.outputs}
    assert names >= {"start", "done", "a_0_raddr", "a_0_re", "a_0_rdata"}


def test_names_of_users_do_no_harm(tmp_path):
    m = Maker()
    m.store("start", 8, m.load("wire", 8, N), N)
    loop = Pipeline((counter("i", 4),), m.block)
    graph = Graph("module", (array("start", 8, 4), array("wire", 8, 4)), (), (loop,))
    design = generate(graph)
    assert design.start == "start"
    run = lint(find_verilator(), design.verilog, design.top.name, tmp_path)
    assert run.ok, run.log


def test_a_mac_loop_takes_a_cycle_an_iteration():
    design = generate(mac(100))
    (region,) = design.regions
    assert (region.ii, region.why) == (1, "")
    assert design.cycles == 1 + 99 + region.depth


@pytest.mark.parametrize("options", [Options(period_ns=0), Options(bram_latency=3)])
def test_options_that_are_none(options):
    with pytest.raises(ValueError, match="no clock or memory"):
        generate(mac(), options)
