"""The front end: a kernel's Python syntax tree read into a `Program`, never executed."""
