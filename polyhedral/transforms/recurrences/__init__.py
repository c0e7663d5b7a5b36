"""Steps that change how sums, choices and running values are worked out."""
