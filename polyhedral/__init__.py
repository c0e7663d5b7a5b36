"""isl: from a program and a schedule to loops, each step proven legal or refused.

From below: `isl`, `banks` (where elements of partitioned arrays lie), `scop` (a program, alone and
under a schedule), `dependences`, `legality`, `dataflow` (processes and FIFOs), `requests`
(annotations and words), `transforms` (a file a step), `schedule` (``apply``), `looptree` and
`codegen` (loops); `equivalence` compares level 3 with the program.
"""
