"""Which iterations depend on which: exactly, how far apart, and through which values."""
