"""Steps that change which loops there are, and in which order they run."""
