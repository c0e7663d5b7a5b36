"""Gives every operation of a `backends.rtl.graph.Graph` its cycle.

`normal` rewrites loops to count from zero, `timing` says how long operations take, `solve` finds
the least schedule of a block, `compact` moves operations to where they need fewer registers, and
`regions` does all of it for a graph.
"""
