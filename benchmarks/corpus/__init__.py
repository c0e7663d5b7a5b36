"""A frozen corpus of kernels with hand-made schedules, by which the exploration is judged."""
