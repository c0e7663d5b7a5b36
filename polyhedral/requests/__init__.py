"""What is asked of loops, arrays and operators: its words, and whether it fits together."""
