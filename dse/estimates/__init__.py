"""What the models say of one design, why, and what would help it."""
