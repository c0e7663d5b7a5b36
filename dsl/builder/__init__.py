"""`weft.Program`: the front door for programs that are built by programs."""
