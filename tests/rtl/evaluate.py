"""Expressions of the register-transfer language as Python integers, and random ones; netlists too."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from backends.rtl.area.net import Gate
from backends.rtl.area.netlist import Adder, Bits, Comparator, Hard, Multiplier, Netlist
from backends.rtl.ir import all_of, any_of, concat, lit, mux
from backends.rtl.ir import nodes as x
from backends.rtl.ir.expr import Expr, ShiftOp


def signed(v: int, width: int) -> int:
    return v - (v >> (width - 1) << width)


def value(e: Expr, env: dict[str, int]) -> int:
    """The bits of an expression, given those of its signals."""
    known: dict[int, int] = {}
    for node in x.topological([e]):
        known[id(node)] = _value(node, env, known) & ((1 << node.width) - 1)
    return known[id(e)]


def _value(e: Expr, env: dict[str, int], known: dict[int, int]) -> int:
    args = [known[id(c)] for c in x.children(e)]
    match e:
        case x.Ref():
            return env[e.name]
        case x.Lit():
            return e.value
        case x.Slice():
            return args[0] >> e.lo
        case x.Concat():
            total = 0
            for part, v in zip(e.parts, args, strict=True):
                total = total << part.width | v
            return total
        case x.Extend():
            return signed(args[0], e.arg.width) if e.signed else args[0]
        case x.Not():
            return ~args[0]
        case x.Reduce():
            return int(args[0] == (1 << e.arg.width) - 1 if e.every else args[0] != 0)
        case x.Mux():
            return args[1] if args[0] else args[2]
        case x.Shift():
            if e.op is ShiftOp.SHL:
                return args[0] << args[1]
            return (signed(args[0], e.width) if e.op is ShiftOp.SAR else args[0]) >> args[1]
        case x.Compare():
            a, b = (signed(v, e.lhs.width) if e.signed else v for v in args)
            return _operator(e.op.value, a, b)
        case x.Binary():
            return _operator(e.op.value, *args)
        case _:
            raise TypeError(type(e))


def _operator(op: str, a: int, b: int) -> int:
    table = {"&": a & b, "|": a | b, "^": a ^ b, "+": a + b, "-": a - b, "*": a * b}
    table |= {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b}
    return int(table[op])


def random_expr(rng, leaves, env, depth):
    """A random expression, and its value by Python's own operators at each step."""
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.4:
            width = rng.choice([1, 1, 2, 5, 8])
            v = rng.choice([0, -1, 1, -1 << (width - 1), rng.getrandbits(width)])
            return lit(v, width), v & ((1 << width) - 1)
        leaf = rng.choice(leaves)
        return leaf, env[leaf.name]
    a, va = random_expr(rng, leaves, env, depth - 1)
    b, vb = random_expr(rng, leaves, env, depth - 1)
    c, vc = random_expr(rng, leaves, env, depth - 1)
    kind = rng.choice(
        ["cut", "concat", "extend", "not", "binary", "compare", "shift", "fixed", "reduce", "mux"]
    )
    match kind:
        case "cut":
            lo = rng.randrange(a.width)
            hi = rng.randrange(lo, a.width)
            return a.bits(hi, lo), (va >> lo) & ((1 << (hi - lo + 1)) - 1)
        case "concat":
            return concat(a, b, c), (va << b.width | vb) << c.width | vc
        case "extend":
            width, sign = a.width + rng.randrange(4), rng.random() < 0.5
            v = signed(va, a.width) if sign else va
            return a.resize(width, sign), v & ((1 << width) - 1)
        case "not":
            return ~a, ~va & ((1 << a.width) - 1)
        case "shift" | "fixed":
            amount, v = (b, vb) if kind == "shift" else (vb % 9, vb % 9)
            op = rng.choice(["shl", "shr", "sar"])
            made = getattr(a, op)(amount)
            exact = va << v if op == "shl" else (signed(va, a.width) if op == "sar" else va) >> v
            return made, exact & ((1 << a.width) - 1)
        case "reduce":
            if rng.random() < 0.5:
                return a.all(), int(va == (1 << a.width) - 1)
            return a.any(), int(va != 0)
    width = max(a.width, b.width)
    wa, wb = a.sext(width), b.zext(width)
    va = signed(va, a.width) & ((1 << width) - 1)
    if kind == "mux":
        return mux(c.any(), wa, wb), va if vc else vb
    if kind == "binary":
        op = rng.choice(["&", "|", "^", "+", "-", "*", "all", "any"])
        if op in ("all", "any"):
            made = all_of([wa, wb], width) if op == "all" else any_of([wa, wb], width)
            return made, va & vb if op == "all" else va | vb
        made = {"&": wa & wb, "|": wa | wb, "^": wa ^ wb, "+": wa + wb, "-": wa - wb, "*": wa * wb}
        return made[op], _operator(op, va, vb) & ((1 << width) - 1)
    sign, op = rng.random() < 0.5, rng.choice(["==", "!=", "<", "<="])
    made = {
        "==": wa.eq(wb),
        "!=": wa.ne(wb),
        "<": wa.lt(wb, signed=sign),
        "<=": wa.le(wb, signed=sign),
    }
    x1, x2 = (signed(va, width), signed(vb, width)) if sign else (va, vb)
    return made[op], _operator(op, x1, x2)


def evaluated(netlist: Netlist, values: Sequence[int]) -> int:
    """The value of the outputs of a combinational netlist."""
    net = netlist.net
    found = {0: 0}
    given = zip(netlist.inputs, values, strict=True)
    found.update((bit >> 1, v) for bit, v in given if bit > 1)  # others are known

    def of(bit: int) -> int:
        return found[bit >> 1] ^ (bit & 1)

    def word(bits: Bits) -> int:
        return sum(of(bit) << n for n, bit in enumerate(bits))

    hard = iter(netlist.hard)
    for node in range(1, len(net.gates)):
        if net.gates[node] is not Gate.LEAF:
            a = [of(bit) for bit in net.inputs[node]]
            found[node] = {
                Gate.AND: lambda a=a: a[0] & a[1],
                Gate.XOR: lambda a=a: a[0] ^ a[1],
                Gate.MUX: lambda a=a: a[1] if a[0] else a[2],
            }[net.gates[node]]()
        elif node not in found:
            made, bits = computed(next(hard), word)
            found.update((bit >> 1, made >> n & 1) for n, bit in enumerate(bits))
    return word(netlist.outputs)


def computed(hard: Hard, word: Callable[[Bits], int]) -> tuple[int, Bits]:
    match hard:
        case Adder():
            a, b = word(hard.lhs), word(hard.rhs)
            return a - b if hard.subtract else a + b, hard.total
        case Comparator():
            a, b = word(hard.lhs), word(hard.rhs)
            if hard.signed:
                a, b = signed(a, len(hard.lhs)), signed(b, len(hard.rhs))
            return int(a <= b if hard.equal else a < b), [hard.result]
        case Multiplier():
            a, b = word(hard.lhs), word(hard.rhs)
            a = signed(a, len(hard.lhs)) if hard.signed[0] else a
            b = signed(b, len(hard.rhs)) if hard.signed[1] else b
            return a * b, hard.product
        case _:
            raise TypeError(type(hard))
