"""Programs and kernels as data: JSON that is read without running anything.

What a kernel's Python file says ends up in a `Program`; that is what run folders, studies, data sets
and exported projects keep, so that nobody has to run a stranger's Python to work with them. What is
read is checked as strictly as what the front doors make: see `dsl.stored.read`.
"""
