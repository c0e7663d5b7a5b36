"""Values of the data types in NumPy arrays, and arithmetic on them."""
