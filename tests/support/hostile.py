"""What users and damaged files hand over: values, words, snippets of Python, broken JSON and bytes."""

from __future__ import annotations

import ast
import copy
import io
import json
import random
import tokenize
from typing import Any

NUMBERS = (
    "0", "1", "-1", "2", "3", "7", "64", "2147483647", "2147483648", "9223372036854775807",
    "9223372036854775808", "10**30", "-(10**30)", "10**5000", "1" + "0" * 400, "2**4096", "0.5",
    "1e308", "1e400", "-0.0", "1j", "True", "0x" + "f" * 40, "1 << 70", "3 // 0", "1 << -1",
)  # fmt: skip
EXPRESSIONS = """
None; ...; "text"; b"x"; f"{1}"; lambda: 0; [1, 2]; (1, 2); {1: 2}; {1}; [i for i in range(3)]
(yield); (y := 3); not 1; 1 < 2 < 3; 1 in (1, 2); "a" == "b"; 1 if True else 2; 1 and 2; -1; ~1
f32; f32[4]; i8; u70; i5000; fixed; fixed[16]; fixed[8, 99]; weft; weft.grid; weft.grid(3); weft.stmt
weft.nothing; weft.i7(3); weft.select(1, 2, 3); range; range(3); len; print; abs; min; max; min(1)
min(); max(1, 2, 3); abs(1, 2); weft.sqrt(2); weft.exp; unknown; unknown(1); unknown[1]; A; A[0]
A[0, 0]; A[0][0]; A[0:2]; A[:]; A[...]; A[A[0]]; A.T; A.shape; A.shape[0]; A + 1; i; i.j; i[0]; i()
i * i; i * j; i // 0; i % 0; i // -3; i / 2; i ** 2; i << 1; i & 1; i == j; 2 ** i; 1.5 * i
i32(i); f32(i); i1(2); f64(1e400); bf16(1); u3(-1); fixed[8, 4](0.1); i8(1.5); float("nan"); int(2.5)
range(2 ** 3); weft.compile; __import__; globals(); open; open("x"); type(1); super(); *A; await_
(i + 1) % 4 // 2; max(i, j) - min(i, j); 3 * i - 2 * j; A[i] if i > 0 else 2; A[i] > 0 and A[i] < 9
A[i] ** 64; A[i] ** -1; A[i] << 70; 1 << i; A[i] / A[j]; A[i] // 2; A[i] % 3; A[i] @ A[j]; -A[i]
"""
STATEMENTS = """
pass|break|continue|return|return 1|raise ValueError|assert 1|import os|global A|nonlocal A|del A
x = 1|x: f32 = 0.0|x: f32|x: int = 3|x = y = 1|x, y = 1, 2|A = 1|A[0] = 1|A[0] += 1|A[0] @= 1|A[i] = A[j]
i = 3|N = 3|f32 = 3|while True: pass|while i < 3: i += 1|for x in f32: pass|for x in A: A[0] = x
for x in range(3): pass|for i in range(3): A[i] = 1|for x in range(10**30): A[0] = 1|for x in [1, 2]: pass
for x in range(0, 9, 0): A[0] = x|for x in range(3, 0): A[0] = x|for x in range(2.5): pass|for in_ in weft.grid(2, 2): pass
for x, y in weft.grid(3): pass|for x in range(2 ** i): A[0] = 1|for x in range(A[0]): A[0] = 1
for x in "abc": A[0] = 1|for x in range("3"): A[0] = 1|for x in range(i, i * i): A[0] = 1
if A[0] > 0: A[0] = 1|if "a" == "b": A[0] = 1|if i: A[0] = 1|if i in (1, 2): A[0] = 1|if i is None: A[0] = 1
if i < 3 < 5: A[0] = 1|if not i % 2: A[0] = 1|if True: A[0] = 1|if i * i < 3: A[0] = 1|if A: pass
try: pass
except: pass|with weft.stmt("a"): A[0] = 1|with weft.stmt(3): A[0] = 1|with open("x") as f: pass|with weft.stmt("S0"): A[0] = 1
def inner(): pass|class C: pass|lambda: 0|print(A)|A.append(1)|"text"|3|A[0]|yield|await x|x = yield
match i:
    case 1: pass|async def g(): pass|x = lambda: 0|x = [i for i in range(3)]|x = (y := 3)|x = f"{i}"|x = "s"
t: f32[4]|t: f32[4] = 0.0|t: f32[0]|t: f32[10**30]|t: f32[2**40] = 0.0|t: i8[i]|t: "f32"|t: unknown = 1|t: weft.const[f32[4]] = 0.0
"""
WORDS = (
    "", " ", "-", "--", "i", "S0", "A", "nothing", "i.j", "S0.i", "S9.i", "../x", "a b", "é", "\\", "0",
    "cyclic", "complete", "remainder", "guard", "ram_2p", "m_axi", "axis", "x" * 300, "$(x)", "%s", "{",
)  # fmt: skip


def _cut(text: str, mark: str) -> list[str]:
    return [
        part.strip("\n") for part in text.strip().replace("\n", mark).split(mark) if part.strip()
    ]


def _statements() -> list[str]:
    """The statements; those of several lines are joined again."""
    found: list[str] = []
    for part in _cut(STATEMENTS, "|"):
        if part.startswith((" ", "except")) and found:
            found[-1] += "\n" + part
        else:
            found.append(part.strip())
    return found


ALL_EXPRESSIONS = [part.strip() for part in _cut(EXPRESSIONS, ";")]
ALL_STATEMENTS = _statements()


# --------------------------------------------------------------------------- trees of Python


def _places(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """Every place below that holds an expression."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, name, None))
            elif isinstance(value, list):
                found += [(node, name, n) for n, v in enumerate(value) if isinstance(v, ast.expr)]
    return found


def _blocks(tree: ast.AST) -> list[list[ast.stmt]]:
    return [
        block
        for node in ast.walk(tree)
        for name in ("body", "orelse")
        if isinstance(block := getattr(node, name, None), list) and block
    ]


def _get(place: tuple[ast.AST, str, int | None]) -> Any:
    owner, name, index = place
    return getattr(owner, name) if index is None else getattr(owner, name)[index]


def _put(place: tuple[ast.AST, str, int | None], new: ast.AST) -> None:
    owner, name, index = place
    if index is None:
        setattr(owner, name, new)
    else:
        getattr(owner, name)[index] = new


def _expression(rng: random.Random, tree: ast.AST) -> ast.expr:
    match rng.randrange(3):
        case 0:
            text = rng.choice(NUMBERS)
        case 1:
            text = rng.choice(ALL_EXPRESSIONS)
        case _:
            return copy.deepcopy(_get(rng.choice(_places(tree))))
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:  # (*A): only within a call
        return ast.Constant(0)


_OPERATORS: tuple[type[ast.operator], ...] = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.LShift,
    ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor,
)  # fmt: skip
_COMPARISONS: tuple[type[ast.cmpop], ...] = (
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot,
)  # fmt: skip
DEPTHS = (2, 20, 90, 180, 300)
_WRAPS = (("-", ""), ("abs(", ")"), ("(1 + ", ")"), ("(", " * 2)"), ("min(", ", 3)"), ("f32(", ")"))


def mutated_function(rng: random.Random, source: str) -> str:
    """The text of a function with one to three changes in its tree."""
    tree = ast.parse(source)
    deep: dict[str, str] = {}
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change(rng, tree, deep)
    text = ast.unparse(ast.fix_missing_locations(tree))
    for name, value in deep.items():
        text = text.replace(name, value)
    return text + "\n"


def _change(rng: random.Random, tree: ast.Module, deep: dict[str, str]) -> None:
    block = rng.choice(_blocks(tree.body[0]))
    position = rng.randrange(len(block))
    place = rng.choice(_places(tree))
    match rng.randrange(10):
        case 0 | 1 | 2:
            _put(place, _expression(rng, tree))
        case 3:
            _change_operator(rng, tree)
        case 4:
            del block[position]
            block += [] if block else [ast.Pass()]
        case 5:
            block.insert(position, copy.deepcopy(rng.choice(rng.choice(_blocks(tree)))))
        case 6 | 7:
            block[position:position] = ast.parse(rng.choice(ALL_STATEMENTS)).body
        case 8:
            name, (before, after) = f"deep_{len(deep)}_", rng.choice(_WRAPS)
            count = rng.choice(DEPTHS)
            if isinstance(old := _get(place), ast.expr):
                deep[name] = before * count + ast.unparse(old) + after * count
                _put(place, ast.Name(name, ast.Load()))
        case _:
            around = rng.choice(("for z in range(2): pass", "if i > 0: pass", "if 1: pass"))
            (outer,) = ast.parse(around).body
            assert isinstance(outer, ast.For | ast.If)
            outer.body = [block[position]]
            block[position] = outer


def _change_operator(rng: random.Random, tree: ast.Module) -> None:
    nodes = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.BinOp | ast.AugAssign | ast.Compare | ast.For)
    ]
    if not nodes:
        return
    match rng.choice(nodes):
        case ast.BinOp() | ast.AugAssign() as node:
            node.op = rng.choice(_OPERATORS)()
        case ast.Compare() as node:
            node.ops[0] = rng.choice(_COMPARISONS)()
        case ast.For() as node:
            node.iter = _expression(rng, tree)


TRIES = 12


def mutated_tokens(rng: random.Random, source: str) -> str:
    """The text with a token deleted, doubled or replaced: seldom such that Python refuses it."""
    changed = source
    for _ in range(TRIES):
        changed = _with_a_token_changed(rng, source)
        try:
            ast.parse(changed)
        except (SyntaxError, ValueError, MemoryError):
            continue
        break
    return changed


def _with_a_token_changed(rng: random.Random, source: str) -> str:
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    words = [t for t in tokens if t.string.strip() and t.start[0] == t.end[0]]
    chosen = rng.choice(words)
    alike = [t.string for t in words if t.type == chosen.type]
    new = rng.choice(
        ("", f"{chosen.string} {chosen.string}", rng.choice(alike), rng.choice(alike),
         rng.choice(words).string, rng.choice(NUMBERS))
    )  # fmt: skip
    lines = source.splitlines(keepends=True)
    row, (start, end) = chosen.start[0] - 1, (chosen.start[1], chosen.end[1])
    lines[row] = lines[row][:start] + new + lines[row][end:]
    return "".join(lines)


# ------------------------------------------------------------------------------ JSON and bytes


def hostile_json(rng: random.Random) -> Any:
    """A value that a field does not expect."""
    return rng.choice(
        (None, True, -1, 0, 1, 2**31, 2**63, 10**30, 10**4000, 0.5, 1e308, float("nan"), "", "x",
         "x" * 1000, "\ud800", [], [None], [[]], {}, {"a": 1}, "../../x", [1, "a"], "A", "i", "S0")
    )  # fmt: skip


def mutated_json(rng: random.Random, text: str) -> str:
    """The text with one to three of its values replaced, dropped, doubled or renamed."""
    data = json.loads(text)
    for _ in range(rng.choice((1, 1, 2, 3))):
        owners = [node for node in _containers(data) if node]
        if not owners:
            return json.dumps(hostile_json(rng))
        owner = rng.choice(owners)
        key: Any = rng.choice(list(owner)) if isinstance(owner, dict) else rng.randrange(len(owner))
        match rng.randrange(6):
            case 0:
                del owner[key]
            case 1 if isinstance(owner, dict):
                owner[rng.choice(WORDS)] = owner.pop(key)
            case 1:
                owner.insert(key, owner[key])
            case _:
                owner[key] = hostile_json(rng)
    return json.dumps(data)


def _containers(data: Any) -> list[Any]:
    found, pending = [], [data]
    while pending:
        node = pending.pop()
        if isinstance(node, dict | list):
            found.append(node)
            pending += node.values() if isinstance(node, dict) else node
    return found


def mutated_bytes(rng: random.Random, data: bytes) -> bytes:
    """The bytes cut, overwritten, doubled or with others among them."""
    if not data:
        return b"\xff\xfe"
    at, length = rng.randrange(len(data)), rng.choice((1, 1, 4, 40))
    match rng.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + rng.randbytes(length) + data[at + length :]
        case 2:
            return data[:at] + data[at:][:400] + data[at:]
        case 3:
            return data[:at] + rng.choice((b"\xff", b"\0", b"\n\n", b"{", b"9" * 5000)) + data[at:]
        case _:
            return data[:at] + data[at + length :]
