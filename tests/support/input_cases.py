"""Inputs of every kind put wrong: files to write and a command line, the same for the same seed."""

from __future__ import annotations

import ast
import importlib
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dse.cli import COMMANDS
from dsl.programs.pretty import pretty
from dsl.schedules.steps import STEPS
from tests.support.hostile import (
    NUMBERS,
    WORDS,
    hostile_json,
    mutated_bytes,
    mutated_function,
    mutated_json,
    mutated_tokens,
)
from tests.support.input_materials import material_of, materials, part_of, with_lines
from tests.support.profiles import BALANCED, FAST
from tests.support.random_programs import random_program

ROOT = Path(__file__).resolve().parents[2]
HERE = "{here}"
"""Stands in a command line for the folder of the case."""
RUN = "{run}"
"""Stands for a copy of a run of `weft explore`; the case's files are written over it."""


@dataclass(frozen=True, slots=True)
class InputCase:
    """Files by their paths in the folder of the case, and the command line to run there."""

    seed: int
    kind: str
    arguments: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)

    def uses_run(self) -> bool:
        """Whether a copy of a run has to be there."""
        return any(RUN in a for a in self.arguments)


def input_case(seed: int, run_files: tuple[str, ...] = ()) -> InputCase:
    """The case of that seed. ``run_files`` are those of a run, relative to its folder."""
    rng = random.Random(seed)
    kinds: list[tuple[int, Callable[..., InputCase]]] = [
        (50, _kernel_case),
        (18, _schedule_case),
        (10, _schedule_file_case),
        (7, _command_case),
        (4, _builder_case),
        (4, _table_case),
        (7, _run_case),
    ]
    make = rng.choices([m for _, m in kinds], [w for w, _ in kinds])[0]
    return make(seed, rng, run_files) if make is _run_case else make(seed, rng)


# ------------------------------------------------------------------------ kernels, schedules

SHORT = ("--device", "xc7z020", "--trials", "2", "--evaluator", "model")


def _on_kernel(rng: random.Random, spec: str) -> tuple[str, ...]:
    """A command on a kernel: most often the cheapest, which runs the whole front end."""
    out = f"{HERE}/out"
    return rng.choices(
        (
            ("compile", spec),
            (
                "compile",
                spec,
                "--emit",
                rng.choice(("program", "depgraph", "polyhedral", "affine")),
            ),
            ("estimate", spec, "--explain"),
            ("space", spec),
            ("graph", spec),
            ("verify", spec, "--no-cxx"),
            ("verify", spec, "--equivalence"),
            ("export", spec, "--out", out),
            ("explore", spec, *SHORT, "--out", out),
        ),
        (60, 6, 12, 5, 3, 6, 2, 2, 4),
    )[0]


def _small(rng: random.Random, text: str) -> tuple[str, ...]:
    return ("--size", "mini") if '"mini"' in text and rng.random() < 0.8 else ()


def _kernel_case(seed: int, rng: random.Random) -> InputCase:
    if rng.random() < 0.3:
        program = random_program(rng.randrange(10**6), rng.choice((FAST, BALANCED)))
        material = material_of(pretty(program))
    else:
        material = rng.choice(materials())
    assert material is not None
    name, lines = rng.choice(list(material.kernels.items()))
    part = part_of(material.text, lines)
    change = mutated_tokens if rng.random() < 0.3 else mutated_function
    text = with_lines(material.text, lines, _ended(change(rng, part)))
    arguments = (*_on_kernel(rng, f"{HERE}/k.py:{name}"), *_small(rng, material.text))
    return InputCase(seed, "kernel", arguments, {"k.py": text})


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _argument(rng: random.Random) -> str:
    return rng.choice(
        (repr(rng.choice(WORDS)), rng.choice(NUMBERS), '"i"', '["i", "j"]', '[4, 4]', "[]", "None",
         '"S0"', '"A"', "[[]]", '{"i": 1}', "weft.f32", "weft", "lambda: 1", "range(3)", "b'x'", "...")
    )  # fmt: skip


def _schedule_line(rng: random.Random) -> str:
    step = rng.choice((*STEPS, "vectorize", "splitt", "build", "nothing"))
    named = [
        rng.choice(("loop=", "factor=", "ii=", "dim=", "depth=", "tail=", "x=", "stmts="))
        for _ in range(rng.choice((0, 0, 0, 1)))
    ]
    given = [_argument(rng) for _ in range(rng.randint(0, 4))]
    return f"    s.{step}({', '.join([*given, *(n + _argument(rng) for n in named)])})\n"


def _schedule_case(seed: int, rng: random.Random) -> InputCase:
    """A schedule of an example with an argument, a line or a token changed."""
    material = rng.choice([m for m in materials() if m.schedules])
    name, (kernel, lines) = rng.choice(list(material.schedules.items()))
    part = part_of(material.text, lines)
    match rng.randrange(4):
        case 0:
            part += "".join(_schedule_line(rng) for _ in range(rng.randint(1, 3)))
        case 1:
            body = part.splitlines(keepends=True)
            head, steps = body[:1], body[1:]
            rng.shuffle(steps)
            part = "".join(head + steps[: rng.randint(1, len(steps))])
        case 2:
            part = mutated_tokens(rng, part)
        case _:
            literals = list(re.finditer(r'"[^"\n]*"|\b\d+\b', part))
            if literals:
                chosen = rng.choice(literals)
                part = part[: chosen.start()] + _argument(rng) + part[chosen.end() :]
    text = with_lines(material.text, lines, _ended(part))
    spec = f"{HERE}/k.py:{kernel}"
    arguments = [*_on_kernel(rng, spec), *_small(rng, material.text)]
    if arguments[0] not in ("space", "explore"):
        arguments += ["--schedule", name]
    return InputCase(seed, "schedule", tuple(arguments), {"k.py": text})


def _schedule_file_case(seed: int, rng: random.Random) -> InputCase:
    """A schedule in a JSON file that is damaged, or asks for odd things."""
    material = rng.choice([m for m in materials() if m.schedules])
    kernel = rng.choice(list(material.kernels))
    steps = [
        {"step": kind, **{name: hostile_json(rng) for name in cls.__dataclass_fields__ if name != "span"}}
        for kind, cls in rng.sample(list(STEPS.items()), 2)
    ]  # fmt: skip
    plain = [
        {"step": "pipeline", "loop": "i", "ii": 2},
        {"step": "split", "loop": "j", "factor": 4},
        {"step": "partition", "array": "A", "dim": 0, "scheme": "block", "factor": 2},
        {"step": "tile", "loops": ["i", "j"], "factors": [4, 4]},
        {"step": "unroll", "loop": "i", "factor": 3},
    ]
    chosen = rng.sample(plain, rng.randint(1, 3)) + (steps if rng.random() < 0.3 else [])
    text = json.dumps({"schema_version": 1, "kernel": kernel, "steps": chosen})
    if rng.random() < 0.8:
        text = mutated_json(rng, text)
    data = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        data = mutated_bytes(rng, data)
    arguments = [*_on_kernel(rng, f"{HERE}/k.py:{kernel}"), *_small(rng, material.text)]
    if arguments[0] not in ("space", "explore"):
        arguments += ["--schedule", f"{HERE}/s.json"]
    files = {"k.py": material.text.encode(), "s.json": data}
    return InputCase(seed, "schedule file", tuple(arguments), files)


_BUILDER = """\
import weft
from weft import f32, i8, i32, fixed

p = weft.Program("k")
A = p.placeholder("A", f32, (8, 8))
B = p.placeholder("B", i32, (8,))
w = p.placeholder("w", f32)
t = p.local("t", f32, (8,))
(i,) = p.loops(i=8)
j = p.loop("j", 0, i + 1)
p.compute("S0", (i,), into=t[i], value=0.0)
p.compute("S1", (i, j), into=A[i, j], value=A[i, j] * w + t[i], after=("S0", i))
p.compute("S2", (i, j), into=B[i], value=weft.select(B[i] > 3, B[i] - 1, B[j]), where=i > j)
"""
_TERMS = (
    "i", "j", "w", "A", "B", "t", "A[i, j]", "B[i]", "A[i]", "A[0.5, 1]", "A[i * j, 0]", "i * j",
    "B[i] + 1", "i + 1", "i > j", "A[i, j] > 0", "(i > 1) & (j < 3)", "f32", "weft", "p", "(i, j)",
    "f32(B[i])", "i8(A[i, j])", "weft.sqrt(B[i])", "weft.min(i, 3)", "A == A", "not i", "i in (1,)",
    "A[i, j] ** 70", "A[i, j] << 2", "B[i] << 90", "fixed[8, 4](w)", "list(A)", "A.shape", "-i",
)  # fmt: skip


def _builder_case(seed: int, rng: random.Random) -> InputCase:
    """A program of `weft.Program` with an argument of a call replaced."""
    lines = _BUILDER.splitlines()
    for _ in range(rng.choice((1, 1, 2))):
        n = rng.randrange(3, len(lines))
        tree = ast.parse(lines[n])
        calls = [c for c in ast.walk(tree) if isinstance(c, ast.Call) and (c.args or c.keywords)]
        if not calls:
            continue
        call = rng.choice(calls)
        text = rng.choice((*_TERMS, *NUMBERS, _argument(rng)))
        new = ast.parse(text, mode="eval").body
        match rng.randrange(4):
            case 0 if call.keywords:
                rng.choice(call.keywords).value = new
            case 1:
                call.keywords.append(ast.keyword(rng.choice(("after", "where", "x", "const")), new))
            case _ if call.args:
                call.args[rng.randrange(len(call.args))] = new
        lines[n] = ast.unparse(tree)
    if rng.random() < 0.3:
        del lines[rng.randrange(3, len(lines))]
    text_bytes = ("\n".join(lines) + "\n").encode()
    return InputCase(seed, "builder", _on_kernel(rng, f"{HERE}/k.py:p"), {"k.py": text_bytes})


# ------------------------------------------------------------------- command lines and files


_COMMANDS = (
    "compile", "estimate", "space", "graph", "explore", "report", "compare", "export", "evaluate",
    "verify", "calibrate", "label", "train", "worker", "doctor", "synth", "nothing",
)  # fmt: skip
_VALUES = (
    *NUMBERS, *WORDS, "9" * 5000, "nan", "inf", "1e-320", "N=64", "N=0", "N=-1", f"N={'9' * 30}", "N=",
    "=3", "N=1.5", "N=3,N=4", "mini", "xc7z020", "xcu280", "model", "gnn", "latency", "latency,latency",
    "lut=20%", "lut=200%", "lut=-1", "lut=nan%", "dsp=10", "5ms", "150us", "-5ms", "json", "tpe",
    "exhaustive", "hls-cpp", "schedule-py", "postgresql://nobody@127.0.0.1:1/x", "sqlite:///x", "P1",
    "x.json", "x.safetensors", "/", "/dev/null", ".", "x.svg", "a/b/c", "\udcff",
)  # fmt: skip


def _options(command: str) -> list[str]:
    """The options of a command, without those that start tools for minutes."""
    if command not in COMMANDS:
        return []
    module = importlib.import_module(f"dse.commands.{command}")
    names = [name for p in module.command.params for name in p.opts if name.startswith("-")]
    return [name for name in names if name not in ("--help", "--all", "--csim", "--run")]


def _command_case(seed: int, rng: random.Random) -> InputCase:
    """Options that a command has or has not, with values that fit or do not."""
    material = rng.choice(materials())
    kernel = rng.choice(list(material.kernels))
    command = rng.choice(_COMMANDS)
    what = rng.choices(
        (
            f"{HERE}/k.py:{kernel}",
            f"{HERE}/k.py",
            f"{HERE}",
            f"{HERE}/none.py:k",
            rng.choice(WORDS),
        ),
        (12, 1, 1, 1, 1),
    )[0]
    arguments = [command, what, *_small(rng, material.text)]
    options = [*_options(command), "--nothing"]
    for _ in range(rng.randint(0, 3)):
        option, value = rng.choice(options), rng.choice(_VALUES)
        if option == "--idle" and value.isdigit() and len(value) < 20:
            value = value[:1]  # a worker that is to wait for years does
        arguments += [option, value]
    if command in ("explore", "export", "train", "label", "calibrate") and rng.random() < 0.9:
        arguments += ["--out", f"{HERE}/out"]
    if command in ("explore", "label"):
        arguments += ["--trials" if command == "explore" else "--limit", "2"]
    clean = tuple(a.replace("\0", "") for a in arguments)
    return InputCase(seed, "command line", clean, {"k.py": material.text.encode()})


def _table_case(seed: int, rng: random.Random) -> InputCase:
    """Weights and tables of labelled designs, damaged."""
    name, folder = rng.choice(
        (("designs.csv", "data"), ("manifest.json", "data"), ("w.safetensors", "."))
    )
    header = "kernel,file,schedule,tool,device,clock,lut,ff,dsp,bram18,cycles,status\n"
    row = ",".join(rng.choice((*NUMBERS, *WORDS)) for _ in range(rng.randint(0, 14)))
    plain = {
        "designs.csv": (header + row + "\n").encode("utf-8", "replace"),
        "manifest.json": b'{"schema_version": 1, "weft": "0", "options": {"seed": 0}, "kernels": []}',
        "w.safetensors": _weights(rng),
    }
    files = {f"{folder}/{name}": mutated_bytes(rng, plain[name])}
    if folder == "data":
        files.setdefault("data/designs.csv", plain["designs.csv"])
    files["k.py"] = materials()[0].text.encode()
    data, spec = f"{HERE}/data", f"{HERE}/k.py:{next(iter(materials()[0].kernels))}"
    by_weights = ("estimate", spec, "--with", "gnn", "--weights", f"{HERE}/w.safetensors")
    by_data = rng.choice(
        (
            ("evaluate", "--data", data),
            ("train", "--data", data, "--out", f"{HERE}/w", "--epochs", "1"),
            ("calibrate", "--tool", "vitis-2023.2", "--data", data, "--out", f"{HERE}/c.json"),
        )
    )
    return InputCase(seed, "table", by_weights if folder == "." else by_data, files)


def _weights(rng: random.Random) -> bytes:
    shipped = sorted((ROOT / "qor_gnn").rglob("*.safetensors"))
    data = rng.choice(shipped).read_bytes() if shipped else b"\x02\0\0\0\0\0\0\0{}"
    length = int.from_bytes(data[:8], "little")
    try:
        header = mutated_json(rng, data[8 : 8 + length].decode()).encode()
    except ValueError:
        return data
    if rng.random() < 0.5:
        return data
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


def _run_case(seed: int, rng: random.Random, run_files: tuple[str, ...]) -> InputCase:
    """A file of a run's folder damaged: the marker says how, the file is changed where it lies."""
    commands = (
        ("report", RUN),
        ("compare", RUN, RUN),
        ("export", RUN, "--best", "--out", f"{HERE}/out"),
        ("export", RUN, "--point", rng.choice(WORDS), "--out", f"{HERE}/out"),
        ("worker", RUN, "--idle", "0"),
        ("explore", f"{HERE}/k.py:axpy", "--resume", "--trials", "3", "--out", RUN),
    )
    name = rng.choice(run_files) if run_files else "manifest.json"
    return InputCase(seed, "run", rng.choice(commands), {f"damage:{name}": b""})


def damaged(seed: int, data: bytes) -> bytes:
    """The contents of a run's file after the damage of that seed."""
    rng = random.Random(seed)
    if rng.random() < 0.5:
        try:
            lines = data.decode().splitlines()
            if len(lines) > 1 and lines[0].startswith("{") and lines[0].endswith("}"):
                n = rng.randrange(len(lines))
                lines[n] = mutated_json(rng, lines[n])
                return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass")
            return mutated_json(rng, data.decode()).encode("utf-8", "surrogatepass")
        except ValueError:
            pass
    return mutated_bytes(rng, data)
