"""The emitted C++ of examples under their schedules, as files that a person has read.

After a change that is meant, write them anew with ``WEFT_UPDATE_GOLDEN=1`` in the environment, and
read the difference.
"""

import os
from pathlib import Path

import pytest

from backends.cxx import need_cxx
from backends.harness import Unit, build
from dsl.kernels.loader import load
from dsl.programs.program import Program
from mlir_passes.emit.hls import include_directory
from mlir_passes.emit.layout import LIMIT
from mlir_passes.pipeline import compile_design
from tests.emit.running import WARNINGS, arguments_of

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "cpp"
DESIGNS = [
    ("polybench/gemm.py", "gemm", "tiled"),
    ("polybench/gemm.py", "gemm", "pipelined"),
    ("polybench/k3mm.py", "k3mm", "tiled"),
    ("polybench/cholesky.py", "cholesky", "pipelined"),
    ("polybench/correlation.py", "correlation", "rows"),
    ("polybench/jacobi_2d.py", "jacobi_2d", "skewed"),
    ("polybench/lu.py", "lu", "pipelined"),
    ("polybench/lu.py", "lu", "right_looking"),
    ("polybench/seidel_2d.py", "seidel_2d", "wavefront"),
    ("polybench/trmm.py", "trmm", "columns"),
    ("stencil/heat_1d.py", "heat_1d", "unrolled"),
    ("image/edge_detect.py", "edge_detect", "fused"),
    ("image/edge_detect.py", "edge_detect", "streamed"),
    ("fixed_point/conv2d_i8.py", "conv2d_i8", "channels"),
    ("fixed_point/fir.py", "fir", "streaming"),
    ("outside/gemm_tiles.py", "gemm_tiles", "tiled"),
    ("outside/gemm_tiles.py", "gemm_tiles", "overlapped"),
    ("outside/blur_strips.py", "blur_strips", "strips"),
    ("outside/edge_strips.py", "edge_strips", "strips"),
    ("tutorial/blocks.py", "blocks", "chosen"),
    ("dataflow/two_products.py", "two_products", "streamed"),
]


@pytest.fixture(scope="module")
def sources():
    found = {}
    for file, name, schedule in DESIGNS:
        kernel = load(f"{ROOT / 'examples' / file}:{name}")
        design = compile_design(kernel.program, kernel.schedules[schedule])
        found[name, schedule] = design.hls
    return found


@pytest.mark.parametrize(("file", "name", "schedule"), DESIGNS)
def test_the_text_is_the_one_that_was_read(sources, file, name, schedule):
    text = sources[name, schedule].text
    golden = GOLDEN / f"{name}_{schedule}.cpp"
    if os.environ.get("WEFT_UPDATE_GOLDEN"):
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_lines_are_short_and_end_in_no_space(sources):
    for source in sources.values():
        for line in source.text.splitlines():
            assert len(line) <= LIMIT or line.startswith("#pragma"), line  # cannot be broken
            assert line == line.rstrip()


def test_the_compiler_has_nothing_to_say(sources, tmp_path):
    units = [
        Unit(Program(s.name, arguments_of(s), ()), *s.over_elements(), s.uses_ap)
        for s in sources.values()
    ]
    built = build(
        need_cxx(), units, tmp_path, "golden", includes=[include_directory()], flags=WARNINGS
    )
    assert built.executable is not None, built.compilation.log[:3000]
    assert built.compilation.log == ""
