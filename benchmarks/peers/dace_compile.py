"""Time DaCe from kernel source to HLS C++; runs in DaCe's own environment, asked by compile_time.

Answers each line `{"case": NAME}` on stdin with `{"seconds": S, "characters": N, ...}`. The time
is that of parsing (with DaCe's default simplification), the FPGA transformation and the
generation of code for Xilinx, in process and after imports; nothing is compiled, and the source
map for debuggers, which DaCe would write to a file meanwhile, is left out.

Each kernel is written with maps, the form DaCe wants for an FPGA. It is also the form that DaCe
generates code from fastest: with `for` loops it takes about 1.4 to 2 times as long, with NumPy
expressions 1.3 to 1.7 times.
"""

import inspect
import json
import sys
import time

import dace
from dace import sourcemap
from dace.codegen.codegen import generate_code
from dace.config import Config
from dace.transformation.interstate import FPGATransformSDFG

f32 = dace.float32

N = 1024  # gemm
NI, NJ, NK, NL, NM = 800, 900, 1000, 1100, 1200  # 3mm, PolyBench's large size
K2, L2 = 1100, 1200  # 2mm, whose other extents are NI and NJ
T, S = 500, 1300  # jacobi-2d, PolyBench's large size


def gemm(alpha: f32, beta: f32, A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    """C = alpha A B + beta C."""
    for i, j in dace.map[0:N, 0:N]:
        C[i, j] *= beta
    for i, j, k in dace.map[0:N, 0:N, 0:N]:
        C[i, j] += alpha * A[i, k] * B[k, j]


def k2mm(
    alpha: f32,
    beta: f32,
    A: f32[NI, K2],
    B: f32[K2, NJ],
    C: f32[NJ, L2],
    D: f32[NI, L2],
):
    """D = alpha A B C + beta D."""
    tmp = dace.define_local([NI, NJ], f32)
    for i, j in dace.map[0:NI, 0:NJ]:
        tmp[i, j] = 0.0
    for i, j, k in dace.map[0:NI, 0:NJ, 0:K2]:
        tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i, j in dace.map[0:NI, 0:L2]:
        D[i, j] *= beta
    for i, j, k in dace.map[0:NI, 0:L2, 0:NJ]:
        D[i, j] += tmp[i, k] * C[k, j]


def k3mm(
    A: f32[NI, NK],
    B: f32[NK, NJ],
    C: f32[NJ, NM],
    D: f32[NM, NL],
    G: f32[NI, NL],
):
    """G = (A B) (C D)."""
    E = dace.define_local([NI, NJ], f32)
    F = dace.define_local([NJ, NL], f32)
    for i, j in dace.map[0:NI, 0:NJ]:
        E[i, j] = 0.0
    for i, j, k in dace.map[0:NI, 0:NJ, 0:NK]:
        E[i, j] += A[i, k] * B[k, j]
    for i, j in dace.map[0:NJ, 0:NL]:
        F[i, j] = 0.0
    for i, j, k in dace.map[0:NJ, 0:NL, 0:NM]:
        F[i, j] += C[i, k] * D[k, j]
    for i, j in dace.map[0:NI, 0:NL]:
        G[i, j] = 0.0
    for i, j, k in dace.map[0:NI, 0:NL, 0:NJ]:
        G[i, j] += E[i, k] * F[k, j]


def jacobi_2d(A: f32[S, S], B: f32[S, S]):
    """T sweeps of a five-point stencil, back and forth between A and B."""
    for _t in range(T):
        for i, j in dace.map[1 : S - 1, 1 : S - 1]:
            B[i, j] = dace.float32(0.2) * (
                A[i, j] + A[i, j - 1] + A[i, j + 1] + A[i + 1, j] + A[i - 1, j]
            )
        for i, j in dace.map[1 : S - 1, 1 : S - 1]:
            A[i, j] = dace.float32(0.2) * (
                B[i, j] + B[i, j - 1] + B[i, j + 1] + B[i + 1, j] + B[i - 1, j]
            )


CASES = {"gemm": gemm, "2mm": k2mm, "3mm": k3mm, "jacobi-2d": jacobi_2d}


def generate(function) -> str:
    """The device code of `function`: HLS C++ for Vitis."""
    sdfg = dace.program(function).to_sdfg()
    if sdfg.apply_transformations(FPGATransformSDFG) != 1:
        raise RuntimeError("the FPGA transformation does not apply")
    device = [
        part.code
        for part in generate_code(sdfg)
        if part.title == "Xilinx" and part.target_type == "device"
    ]
    return "\n".join(device)


def answer(question: dict) -> dict:
    """Generate the code of one case once; seconds by a monotonic clock."""
    function = CASES[question["case"]]
    start = time.perf_counter()
    code = generate(function)
    seconds = time.perf_counter() - start
    if "#pragma HLS PIPELINE" not in code:
        raise RuntimeError("what was generated is not HLS C++")
    return {
        "seconds": seconds,
        "characters": len(code),
        "source_lines": len(inspect.getsource(function).splitlines()),
        "version": dace.__version__,
    }


def main() -> None:
    """Answer until stdin ends; what DaCe itself prints goes to stderr."""
    Config.set("compiler", "fpga", "vendor", value="xilinx")
    sourcemap.create_maps = lambda sdfg, code, target: None
    replies, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
