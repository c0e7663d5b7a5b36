"""Makes hardware of a scheduled graph.

`affine` turns quasi-affine expressions into logic, `memories` collects who uses which port,
`datapath` makes the operations of a block, `regions` the machine that runs the regions one after
the other, and `emit` the module of a kernel.
"""
