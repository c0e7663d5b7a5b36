"""Level 3: annotated affine MLIR, its passes, the CPU JIT and the emission of HLS C++.

docs/level3.md describes the IR. Only this package knows MLIR; the ones above use `pipeline`.
"""
