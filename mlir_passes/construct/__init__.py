"""From a loop tree to level 3: annotated affine MLIR."""
