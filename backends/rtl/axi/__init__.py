"""A kernel whose arrays are in memory outside: AXI4 masters for the bundles, AXI4-Lite for the control.

`ports` says what is behind which port, `ahead` makes the addresses of reads before the kernel asks for
them, `fifo` and `runs` are what `reader` and `writer` of an array are made of, `channels` shares a port
among them, `control` has the registers of the host, and `wrapper` puts all of it around a kernel.
"""
