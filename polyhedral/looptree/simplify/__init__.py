"""What makes loops plainer, and partitions of what accesses say: rules on plain values, and what they make
of a `LoopTree`.

The passes on level 3 (`mlir_passes.passes`) go by the same rules. Trees are simplified where points
are ranked, thousands of them, and no module is built.
"""
