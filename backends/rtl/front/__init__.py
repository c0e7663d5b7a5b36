"""From a level 3 module to the graph that the RTL backend schedules.

`read` makes plain values of it, `flat` applies unrolling; `values` builds operations, `accesses` says what loads
and stores see, `blocks` makes blocks of statement copies, `registers` keeps elements around loops; `regions` puts
them together, and `lower` is asked for the whole.
"""
