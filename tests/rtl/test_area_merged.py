"""What synthesis merges: sums into sums, constants into resets, instances into what is around them."""

import random

import pytest

from backends.rtl.area.cells import cells
from backends.rtl.area.elaborate import elaborate
from backends.rtl.area.joins import joined_words
from backends.rtl.ir import ModuleBuilder, lit, mux
from backends.rtl.ir.fold import concat
from tests.rtl.evaluate import evaluated
from tests.rtl.synthesised import synthesised

TABLES = (
    "pairs",
    "gates",
    "parities",
    "choices",
    "chained_gates",
    "chained_choices",
    "third_choices",
)


def tables(module):
    found = cells(module)
    return sum(found[kind] for kind in TABLES)


def sums(make, width=8):
    """How many sums are joined in a module of what ``make`` makes of a builder and three inputs."""
    b = ModuleBuilder("sums")
    inputs = [b.input(name, width) for name in "xyz"]
    for n, e in enumerate(make(b, *inputs)):
        b.output(f"out{n}", e)
    return len(joined_words(b.build()))


def test_a_sum_that_only_a_sum_takes_is_joined():
    assert sums(lambda b, x, y, z: [(x + y) - z]) == 1
    assert sums(lambda b, x, y, z: [(x + y) + (z - x)]) == 2
    assert sums(lambda b, x, y, z: [b.wire("w", x + y) + z]) == 1


def test_a_sum_that_others_take_is_not():
    assert sums(lambda b, x, y, z: [(x + y) + z, x + y]) == 0
    assert sums(lambda b, x, y, z: [(x + y) + z, (x + y) - x]) == 0  # equal ones are one
    assert sums(lambda b, x, y, z: [((x + y) ^ x) + z]) == 0
    assert sums(lambda b, x, y, z: [(x + y).bits(7, 1) + z.low(7)]) == 0


def extended(inner, signed, other):
    def make(b, x, y, z):
        x, y = (e.sext(inner) if signed else e.zext(inner) for e in (x, y))
        total = x + y
        return [(total.sext(12) if signed else total.zext(12)) + other(z)]

    return make


@pytest.mark.parametrize("signed", [False, True])
def test_an_extended_sum_is_joined_where_it_cannot_overflow(signed):
    assert sums(extended(9, signed, lambda z: z.zext(12))) == 1
    assert sums(extended(8, signed, lambda z: z.zext(12))) == 0


def test_a_sum_extended_by_its_sign_is_joined_with_a_word_that_may_be_signed():
    def other(z):
        return concat(z, z.bits(6, 4), lit(1, 1))

    assert sums(extended(9, True, lambda z: z.sext(12))) == 1
    assert sums(extended(9, True, other)) == 0
    assert sums(extended(9, False, other)) == 1


def test_sums_of_few_bits_are_tables():
    assert sums(lambda b, x, y, z: [(x + y) + z], width=4) == 0
    b = ModuleBuilder("small")
    b.output("y", (b.input("x", 4) + b.input("z", 4)) + b.input("w", 4))
    assert not cells(b.build())["chains"]


def test_full_adders_bring_three_operands_down_to_two():
    found = cells(three(lambda x, y, z: (x + y) + z))
    assert (found["parities"], found["gates"], found["carry"], found["chains"]) == (16, 15, 8, 1)


def three(make):
    """A module of what ``make`` makes of three words."""
    b = ModuleBuilder("three")
    b.output("y", make(*(b.input(name, 16) for name in "xyz")))
    return b.build()


def address(make):
    """A module of what ``make`` makes of two counters."""
    b = ModuleBuilder("address")
    b.output("y", make(b.input("i", 5), b.input("j", 4)))
    return b.build()


def times(word, shift, width=9):
    return (concat(word, lit(0, shift)) if shift else word).zext(width)


def cleared(enable=False, reset=None):
    """A register that takes 0 where one input says so."""
    b = ModuleBuilder("cleared")
    x, clear, enabled = b.input("x", 16), b.input("clear"), b.input("enabled")
    take = b.reg("r", 16, reset=reset)
    b.drive(take, mux(clear, lit(0, 16), x), enabled if enable else None)
    b.output("y", take)
    return b.build()


def test_a_register_that_takes_a_constant_is_reset():
    assert tables(cleared()) == 0
    assert tables(cleared(reset=0)) == 1  # either reset
    assert tables(cleared(reset=1)) == 16  # another constant
    assert tables(cleared(enable=True)) == 1  # only where it is enabled
    assert tables(cleared(enable=True, reset=0)) == 16  # the reset proper is always


def around(copies):
    """Choices inside of instances, and again around them."""
    b = ModuleBuilder("inner")
    b.output("out", mux(b.input("clear"), lit(0, 8), b.input("x", 8)))
    inner = b.build()
    b = ModuleBuilder("around")
    for n in range(copies):
        given = {"clear": b.input(f"clear{n}"), "x": b.input(f"x{n}", 8)}
        y = b.instance(inner, f"inner{n}", given)["out"]
        b.output(f"y{n}", mux(b.input(f"s{n}"), y, b.input(f"z{n}", 8)))
    return b.build()


def test_tables_take_in_what_is_instantiated_once():
    assert tables(around(1)) == 8
    assert tables(around(2)) == 2 * 16  # instances of one module are counted once and alike


def test_the_memories_of_what_is_instantiated_once_count():
    b = ModuleBuilder("inner")
    memory = b.memory("m", 16, 600)
    b.write(memory, b.input("a", 10), b.input("d", 16), b.input("w"))
    b.output("q", b.read(memory, b.input("r", 10)))
    inner = b.build()
    assert cells(inner)["block_rams"] == 1
    b = ModuleBuilder("around")
    given = {ref.name: b.input(ref.name, ref.width) for ref in inner.inputs}
    b.output("q", b.instance(inner, "inner", given)["q"])
    assert cells(b.build())["block_rams"] == 1


def test_a_product_is_made_before_choices_are_seen_to_agree():
    b = ModuleBuilder("inner")
    b.output("p", b.input("x", 16).sext(32) * b.input("y", 16).sext(32))
    inner = b.build()

    def given(y):
        b = ModuleBuilder("around")
        ports = {"x": b.input("x", 16), "y": y(b)}
        b.output("p", b.instance(inner, "inner", ports)["p"])
        return cells(b.build())["multipliers"]

    assert given(lambda b: mux(b.input("c"), lit(5, 16), lit(1, 16))) == 1
    assert given(lambda b: lit(4, 16)) == 0


def chosen(words, width, pick):
    """One of the words by a number of so many bits, of which ``pick`` chooses by one: (bit, 0, 1)."""
    level = words
    for n in range(width):
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [pick(n, x, y) for x, y in pairs] + level[len(level) & ~1 :]
    return level[0]


def choices(words):
    b = ModuleBuilder("choices")
    number = b.input("number", (words - 1).bit_length())
    level = [b.input(f"x{n}", 8) for n in range(words)]
    b.output("y", chosen(level, number.width, lambda n, x, y: mux(number[n], y, x)))
    return b.build()


@pytest.mark.parametrize(("words", "third"), [(2, 0), (4, 1), (8, 1), (16, 5)])
def test_choices_of_four_words_are_found_in_trees(words, third):
    assert tables(choices(words)) == 8 * (words - 1)
    assert cells(choices(words))["third_choices"] == 8 * third


def banks(number, count):
    """One of so many bits, by a number that ``number`` makes of a counter of four bits."""
    b = ModuleBuilder("banks")
    index = number(b.input("x", 4))
    level = [b.input(f"r{n}") for n in range(count)]
    b.output("y", chosen(level, index.width, lambda n, x, y: mux(index[n], y, x)))
    return b.build()


EXACT = {
    "cleared": cleared(),
    "enabled": cleared(enable=True),
    "reset": cleared(reset=0),
    "around": around(1),
    "four": choices(4),
    "three": three(lambda x, y, z: (x + y) + z),
    "negative": three(lambda x, y, z: (x - y) + z),
    "row": address(lambda i, j: (times(i, 1) + times(i, 3)) + j.zext(9)),
}

CHAINS = {
    "before": address(lambda i, j: ((times(i, 1) + times(j, 5)) + lit(37, 9)) - i.zext(9)),
    "offset": address(lambda i, j: j.zext(9) + lit(481, 9)),
    "signs": three(lambda x, y, z: (x.sext(17) + y.sext(17)).sext(20) + z.sext(20)),
    "apart": three(lambda x, y, z: x.sext(17) + y.sext(17) + concat(lit(0, 1), z)),
    "sign": three(lambda x, y, z: (x.low(8).sext(9) + y.low(8).sext(9)).sext(16) + z),
}


def words(rng, inputs):
    """A sum of shifted and extended inputs and constants, and its value for given ones."""
    width = rng.choice((7, 9, 12))

    def term():
        if rng.random() < 0.2:
            value = rng.randrange(1 << width)
            return lit(value, width), lambda env: value
        x = rng.choice(inputs)
        shift = rng.choice((0, rng.randint(0, width - x.width)))
        return times(x, shift, width), lambda env: env[x.name] << shift

    expr, value = term()
    for _ in range(rng.randint(1, 6)):
        (more, given), before, negative = term(), value, rng.random() < 0.4
        expr = expr - more if negative else expr + more
        value = (
            (lambda env, f=before, g=given: f(env) - g(env))
            if negative
            else (lambda env, f=before, g=given: f(env) + g(env))
        )
    return expr, lambda env: value(env) % (1 << width)


@pytest.mark.parametrize("seed", range(8))
def test_a_sum_of_many_words_has_its_value(seed):
    rng = random.Random(seed)
    for _ in range(60):
        b = ModuleBuilder("m")
        inputs = [b.input(name, rng.randint(2, 6)) for name in "xyz"]
        expr, value = words(rng, inputs)
        b.output("y", expr)
        module = b.build()
        env = {ref.name: rng.getrandbits(ref.width) for ref in inputs}
        bits = [env[ref.name] >> n & 1 for ref in module.inputs for n in range(ref.width)]
        assert evaluated(elaborate(module), bits) == value(env)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_yosys_has_carry_chains_of_the_same_length(name, tmp_path, warm_tools):
    module = CHAINS[name]
    done = synthesised(module, tmp_path)
    assert dict(done.cells).get("CCU2C", 0) == cells(module)["carry"]


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_yosys_merges_the_same(name, tmp_path, warm_tools):
    module = EXACT[name]
    done = synthesised(module, tmp_path)
    assert dict(done.cells).get("LUT4", 0) == tables(module)
    assert dict(done.cells).get("CCU2C", 0) == cells(module)["carry"]
    assert done.resources.ff == cells(module)["flops"]


def test_a_number_of_few_values_chooses_among_few_words():
    def of(x):
        return (times(x, 1, 5) + lit(8, 5)) - times(x.bits(3, 2), 3, 5)  # 8, 10, 12 or 14

    assert tables(banks(of, 24)) == 3
    assert not cells(banks(of, 24))["chains"]
    assert tables(banks(lambda x: x, 16)) == 15


@pytest.mark.parametrize("seed", range(4))
def test_a_number_of_few_values_chooses_the_right_word(seed):
    rng = random.Random(seed)
    for _ in range(30):
        count, offset = rng.randint(9, 24), rng.randrange(32)
        shift, below = rng.choice((0, 1)), rng.choice((1, 2))
        module = banks(
            lambda x, o=offset, s=shift, n=below: (
                (times(x, s, 5) + lit(o, 5)) - times(x.bits(3, n), n, 5)
            ),
            count,
        )
        x, given = rng.randrange(16), [rng.randrange(2) for _ in range(count)]
        number = ((x << shift) + offset - (x >> below << below)) % 32
        bits = [x >> n & 1 for n in range(4)] + given
        wanted = chosen(given, 5, lambda n, a, b, number=number: b if number >> n & 1 else a)
        assert evaluated(elaborate(module), bits) == wanted
